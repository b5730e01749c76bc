#pragma once

#include <vector>

#include <Eigen/Core>
#include <Eigen/SparseCore>

#include "pliant/geometry/surface_mesh.h"

namespace pliant {

/// Fields on a surface that are known at some vertices, filled in at the others by Laplace's
/// equation with cotangent weights, docs/greens-measured.md eq. (M5). Immutable.
class SurfaceFill {
public:
    explicit SurfaceFill(const SurfaceMesh& mesh);

    /// Replaces the rows of vertices that are not known. False, and nothing else: a connected part
    /// of the surface has no known vertex.
    [[nodiscard]] bool fill(const std::vector<char>& is_known,
                            Eigen::Ref<Eigen::MatrixXd> values) const;

private:
    Eigen::SparseMatrix<double> laplacian_;  // symmetric, positive semi-definite
    std::vector<int> component_;             // of vertices
    int num_components_ = 0;
};

}  // namespace pliant
