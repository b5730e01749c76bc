#pragma once

#include "fem/element_kernels.h"
#include "fem/fem_model_data.h"
#include "fem/tet_domain_loops.h"

namespace pliant {

// The strain is E = Σ e_P (q q)_P over pairs P = (i, j), i ≤ j, of indices 0 … r with q₀ = 1, so
// that energies are Gram products of the e_P over points and components, docs/reduction.md eq.
// (12).

/// Place of a pair, by rising j.
[[nodiscard]] constexpr int pair_index(int i, int j) noexcept { return j * (j + 1) / 2 + i; }
[[nodiscard]] constexpr int num_pairs(int r) noexcept { return (r + 1) * (r + 2) / 2; }

/// e_P of all pairs at one point, tensor components xx, yy, zz, yz, zx, xy in the columns.
using PairStrains = Eigen::Matrix<double, Eigen::Dynamic, 6>;

/// ∇u of each basis vector at a point, 3 × 3 by columns.
template <int N>
void basis_gradients(const FemModelData& d, const Eigen::MatrixXd& U, int place, int k,
                     Eigen::Matrix<double, 9, Eigen::Dynamic>& G) {
    const auto& reference = ReferenceElement<N>::get();
    const int* const nodes = d.nodes.data() + static_cast<std::size_t>(place) * N;
    const QuadraturePoint& point =
        d.points[static_cast<std::size_t>(place) * reference.kPoints + static_cast<std::size_t>(k)];
    const NodeColumns<N> g = point.inverse_jacobian.transpose().lazyProduct(reference.gradients[k]);
    for (Eigen::Index i = 0; i < U.cols(); ++i) {
        Eigen::Matrix3d sum = Eigen::Matrix3d::Zero();
        for (int a = 0; a < N; ++a) sum += U.col(i).segment<3>(3 * nodes[a]) * g.col(a).transpose();
        G.col(i) = sum.reshaped();
    }
}

/// ∇u of each basis vector at an edge of tetrahedra that do not lock.
inline void edge_gradients(const TetDomains& domains, const Eigen::MatrixXd& U, int slot,
                           Eigen::Matrix<double, 9, Eigen::Dynamic>& G) {
    for (Eigen::Index i = 0; i < U.cols(); ++i)
        G.col(i) = domain_gradient(domains, slot, U.col(i).data()).reshaped();
}

inline void pair_strains(const Eigen::Matrix<double, 9, Eigen::Dynamic>& G, bool is_quadratic,
                         PairStrains& e) {
    const auto r = static_cast<int>(G.cols());
    for (int j = 1; j <= r; ++j) {
        const Eigen::Map<const Eigen::Matrix3d> B(G.col(j - 1).data());
        e.row(pair_index(0, j)) << B(0, 0), B(1, 1), B(2, 2), 0.5 * (B(1, 2) + B(2, 1)),
            0.5 * (B(2, 0) + B(0, 2)), 0.5 * (B(0, 1) + B(1, 0));
        if (!is_quadratic) continue;
        for (int i = 1; i <= j; ++i) {
            // ½ ∇uᵀ∇u; a pair of different vectors appears twice in the sum over all
            const Eigen::Map<const Eigen::Matrix3d> A(G.col(i - 1).data());
            const Eigen::Matrix3d AB = A.transpose().lazyProduct(B);
            const double factor = i == j ? 0.5 : 1.0;
            e.row(pair_index(i, j)) << factor * AB(0, 0), factor * AB(1, 1), factor * AB(2, 2),
                0.5 * factor * (AB(1, 2) + AB(2, 1)), 0.5 * factor * (AB(2, 0) + AB(0, 2)),
                0.5 * factor * (AB(0, 1) + AB(1, 0));
        }
    }
}

}  // namespace pliant
