#pragma once

#include "pliant/core/progress.h"
#include "pliant/geometry/surface_query.h"
#include "pliant/geometry/volume_mesh.h"

namespace pliant {

struct VoxelOptions {
    int resolution = 64;       ///< cells along each side of the cube-shaped box; 2 to 1024
    double expansion = 1.2;    ///< side of the cube over the longest side of the surface's box
    bool is_hollow = false;    ///< just the cells that meet the surface
    int samples_per_axis = 4;  ///< s × s rays measure the filled fraction of a cut cell; 1 to 16
};

/// Equal cubes around or inside any surface, soups included; docs/geometry-meshing.md section
/// "Voxels". Inside is where the winding number is positive once holes are closed by fans over
/// their rims. `filled` holds the fraction of each cell inside the surface, in hollow meshes too,
/// and never less than 1/128, so that open sheets have mass. Throws InputError for options out of
/// range and for a surface without triangles or extent.
[[nodiscard]] VolumeMesh build_voxel_mesh(const SurfaceQuery& surface,
                                          const VoxelOptions& options = {},
                                          Progress& progress = Progress::none());

}  // namespace pliant
