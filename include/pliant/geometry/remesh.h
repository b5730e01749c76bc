#pragma once

#include "pliant/core/progress.h"
#include "pliant/geometry/subdivision.h"

#include <string>

namespace pliant {

struct RemeshOptions {
    int base_vertices =
        150;         ///< of the coarsest level, 4 or more; more stay if topology needs them
    int levels = 3;  ///< rounds of splits
    /// Rounds of relaxation on the coarsest level, a quarter on each finer one; 0 leaves vertices
    /// where lines along the normals meet the surface.
    int smoothing = 16;
    double evenness = 0.5;  ///< of areas against angles, 0 … 1
};

/// How well a remeshed surface is shaped and fits.
struct RemeshReport {
    int num_base_vertices = 0;
    int genus = 0;
    int num_pierced = 0, num_closest = 0, num_averaged = 0;  ///< how new vertices were first placed
    /// Distances over the diagonal of the input's box: from vertices and centroids of the result
    /// to the input, and from those of the input to the result.
    double mean_distance = 0, max_distance = 0, mean_distance_back = 0, max_distance_back = 0;
    double smallest_angle = 0;  ///< [degrees]
    double edge_ratio = 0;      ///< longest over shortest edge of the finest level
    int num_flipped = 0;        ///< triangles that face away from the input beside them
    double volume_ratio = 0;    ///< result over input

    /// Share of new vertices that were not placed by piercing.
    [[nodiscard]] double fallback_fraction() const noexcept;
    [[nodiscard]] std::string text() const;  ///< some lines
};

/// The surface of a closed mesh on a hierarchy, docs/geometry-subdivision.md section "Remeshing":
/// the coarsest level by edge collapses, finer ones by splits and lines along the limit normals
/// of the coarse surface. All vertices lie on the input; coarser levels are prefixes.
/// Deterministic. Throws InputError for an input that is open, not manifold or in several pieces,
/// for options out of range and for sizes beyond those of loop_subdivide.
[[nodiscard]] SemiRegularMesh remesh(const SurfaceMesh& mesh, const RemeshOptions& options = {},
                                     Progress& progress = Progress::none(),
                                     RemeshReport* report = nullptr);

}  // namespace pliant
