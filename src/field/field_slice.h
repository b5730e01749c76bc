#pragma once

#include "pliant/field/iso_surface.h"
#include "pliant/geometry/picture.h"

namespace pliant {

/// The picture of save_slice_png.
[[nodiscard]] Picture draw_slice(const FieldSlice& slice, double pixel_size, double spacing);

}  // namespace pliant
