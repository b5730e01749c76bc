#pragma once

#include "fem/element_quadrature.h"
#include "fem/material_laws.h"

namespace pliant {

// One element with N nodes; equations in docs/fem.md section "Elements". Products are lazy: at
// these sizes Eigen's blocked ones are slower and may allocate.

/// The deformation gradient of an element at rest.
inline const Eigen::Matrix3d kRestShape = Eigen::Matrix3d::Identity();

/// Something per node, x y z in each column.
template <int N>
using NodeColumns = Eigen::Matrix<double, 3, N>;
template <int N>
using ElementMatrix = Eigen::Matrix<double, 3 * N, 3 * N>;

/// ∇u at a point: Σ u_a g_aᵀ with g_a = J⁻ᵀ ∂φ_a/∂ξ, eq. (E2).
template <int N>
Eigen::Matrix3d displacement_gradient(const NodeColumns<N>& u, const NodeColumns<N>& reference,
                                      const QuadraturePoint& point) noexcept {
    const Eigen::Matrix3d du_dxi = u.lazyProduct(reference.transpose());
    return du_dxi.lazyProduct(point.inverse_jacobian);
}

template <int N>
Eigen::Matrix3d deformation_gradient(const NodeColumns<N>& u, const NodeColumns<N>& reference,
                                     const QuadraturePoint& point) noexcept {
    Eigen::Matrix3d F = displacement_gradient<N>(u, reference, point);
    F.diagonal().array() += 1.0;
    return F;
}

/// f_a += weight · P g_a, eq. (E3).
template <int N>
void add_stress_force(const Eigen::Matrix3d& P, const NodeColumns<N>& reference,
                      const QuadraturePoint& point, NodeColumns<N>& f) noexcept {
    const Eigen::Matrix3d P_reference =
        point.weight * P.lazyProduct(point.inverse_jacobian.transpose());
    f += P_reference.lazyProduct(reference);
}

/// K_ab += weight · Σ_kl g_ak C_kl g_bl over the 3 × 3 blocks C_kl of ∂P/∂F, eq. (E4). Blocks with
/// a ≤ b only.
template <int N>
void add_tangent(const Matrix9d& C, const NodeColumns<N>& reference, const QuadraturePoint& point,
                 ElementMatrix<N>& K) noexcept {
    const Eigen::Matrix3d J_inverse_t = point.inverse_jacobian.transpose();
    const NodeColumns<N> g = J_inverse_t.lazyProduct(reference);
    for (int b = 0; b < N; ++b) {
        // response of the stress to unit displacements of node b, stacked like P
        Eigen::Matrix<double, 9, 3> D = (point.weight * g(0, b)) * C.leftCols<3>();
        D += (point.weight * g(1, b)) * C.middleCols<3>(3);
        D += (point.weight * g(2, b)) * C.rightCols<3>();
        for (int j = 0; j < 3; ++j)
            for (int a = 0; a <= b; ++a)
                K.template block<3, 1>(3 * a, 3 * b + j) += g(0, a) * D.block<3, 1>(0, j) +
                                                            g(1, a) * D.block<3, 1>(3, j) +
                                                            g(2, a) * D.block<3, 1>(6, j);
    }
}

/// The element's nodes' part of a vector of all unknowns.
template <int N>
NodeColumns<N> gather(const double* all, const int* nodes) noexcept {
    NodeColumns<N> columns;
    for (int a = 0; a < N; ++a)
        columns.col(a) = Eigen::Map<const Eigen::Vector3d>(all + 3 * nodes[a]);
    return columns;
}
template <int N>
void scatter_add(const NodeColumns<N>& columns, const int* nodes, double* all) noexcept {
    for (int a = 0; a < N; ++a) Eigen::Map<Eigen::Vector3d>(all + 3 * nodes[a]) += columns.col(a);
}

}  // namespace pliant
