#pragma once

#include "pliant/core/progress.h"
#include "pliant/geometry/surface_query.h"
#include "pliant/geometry/volume_mesh.h"

namespace pliant {

/// Cube [0, n]³ scaled to `side`, with `w` layers of unit cells at the border, then `w` of twice
/// the size, and so on inwards, while the core stays divisible (odd n: all cells equal);
/// docs/geometry-meshing.md section "Graded hexes".
[[nodiscard]] VolumeMesh graded_box(int n, int w = 1, double side = 1.0);

struct GradedOptions {
    int resolution = 64;  ///< finest cells along each side of the cube-shaped box, 2 to 1024;
                          ///< rounded up to a multiple of 2^max_levels
    double expansion = 1.2;
    double growth = 0.5;  ///< cell size at most max(h₀, growth · d) at depth d below the surface
    int max_levels = 4;   ///< coarsest cell is 2^max_levels finest cells wide; 0 to 8
    int samples_per_axis = 4;  ///< as in VoxelOptions
};

/// Octree hexes that fill the body, fine at the surface and coarser inwards, 2:1 balanced over
/// faces, edges and vertices. Cut cells and the inside cells next to them have the finest size, so
/// that no hanging node lies on the outer surface. `hanging` lists the constrained vertices by
/// rising index; their masters are free. `filled` and errors as in build_voxel_mesh.
[[nodiscard]] VolumeMesh build_graded_mesh(const SurfaceQuery& surface,
                                           const GradedOptions& options = {},
                                           Progress& progress = Progress::none());

}  // namespace pliant
