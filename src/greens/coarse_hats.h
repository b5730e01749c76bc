#pragma once

#include <vector>

#include "pliant/geometry/subdivision.h"
#include "pliant/greens/greens_functions.h"

namespace pliant {

/// A hat function of level L − 1 on the free vertices of the finest level, as HierarchicalBasis has
/// them.
struct CoarseHat {
    std::vector<int> vertices;  ///< its own first
    std::vector<double> weights;
    double area = 0;  ///< ∫ φ_[L−1,k]
};

/// Of each vertex; empty for vertices of the finest level alone and for those that are fixed.
[[nodiscard]] std::vector<CoarseHat> coarse_hats(const SemiRegularMesh& surface,
                                                 const std::vector<NodeKind>& kinds,
                                                 const std::vector<double>& areas);
/// A third of the triangles around each vertex.
[[nodiscard]] std::vector<double> vertex_areas(const SurfaceMesh& mesh);
/// Vertices of level L − 1; all of a surface with one level.
[[nodiscard]] int num_coarse_vertices(const SemiRegularMesh& surface) noexcept;

}  // namespace pliant
