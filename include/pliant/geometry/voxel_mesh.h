#pragma once

#include "pliant/core/progress.h"
#include "pliant/geometry/surface_query.h"
#include "pliant/geometry/volume_mesh.h"

namespace pliant {

struct VoxelOptions {
    int resolution = 64;           ///< cells along each side of the cube-shaped box
    double box_enlargement = 1.2;  ///< side of the cube over the longest side of the surface's box
    bool solid = true;  ///< fill the inside; false keeps only the cells that meet the surface
    int samples_per_axis =
        4;  ///< sub-points per axis that measure the filled fraction of a cut cell
};

/// Equal cubes around or inside any surface, soups included; docs/geometry.md section "Voxels".
/// `filled` holds the fraction of each cell inside the surface; in hollow meshes of soups too.
[[nodiscard]] VolumeMesh build_voxel_mesh(const SurfaceQuery& surface,
                                          const VoxelOptions& options = {},
                                          Progress& progress = Progress::none());

}  // namespace pliant
