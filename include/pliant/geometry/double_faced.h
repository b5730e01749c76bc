#pragma once

#include "pliant/geometry/surface_mesh.h"

namespace pliant {

/// A sheet with two faces: every triangle twice, once turned over, on the same vertices. Spheres
/// that touch a surface need it closed; so does a sheet become.
[[nodiscard]] SurfaceMesh double_faced(const SurfaceMesh& sheet);

}  // namespace pliant
