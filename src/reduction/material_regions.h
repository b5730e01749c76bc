#pragma once

#include "pliant/geometry/volume_mesh.h"
#include "pliant/reduction/build_reduced.h"

#include <span>

namespace pliant {

/// Throws InputError for a mesh in several parts.
void check_one_part(const VolumeMesh& mesh);
/// Elements of `regions[i]` get region i + 1, all others 0. Throws InputError for a selection
/// without elements and for a region of which later ones leave nothing.
void assign_regions(VolumeMesh& mesh, std::span<const MaterialRegion> regions);

}  // namespace pliant
