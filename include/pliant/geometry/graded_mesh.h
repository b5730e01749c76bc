#pragma once

#include "pliant/core/progress.h"
#include "pliant/geometry/surface_query.h"
#include "pliant/geometry/volume_mesh.h"

namespace pliant {

/// Cube [0, n]³ scaled to `side`, with `w` layers of unit cells at the border, then `w` of twice
/// the size, and so on inwards, while the core stays divisible; docs/geometry.md section "Graded
/// hexes".
[[nodiscard]] VolumeMesh graded_box(int n, int w = 1, double side = 1.0);

struct GradedOptions {
    int resolution = 64;  ///< finest cells along each side of the cube-shaped box; rounded up to a
                          ///< multiple of 2^levels
    double box_enlargement = 1.2;
    double growth =
        0.5;  ///< target cell size h(d) = max(h₀, growth · d) at depth d below the surface
    int max_levels = 4;  ///< coarsest cell is 2^max_levels finest cells wide
    int samples_per_axis = 4;
};

/// Octree hexes, fine at the surface and coarser inwards, 2:1 balanced over faces, edges and
/// vertices; cut and surface cells all have the finest size. `hanging` lists the constrained
/// vertices, whose masters are free.
[[nodiscard]] VolumeMesh build_graded_mesh(const SurfaceQuery& surface,
                                           const GradedOptions& options = {},
                                           Progress& progress = Progress::none());

}  // namespace pliant
