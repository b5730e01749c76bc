#pragma once

#include "fem/fem_model_data.h"

/// Energy and its derivatives of Tet4 bodies that do not lock, eq. (W1)–(W3): the SIMD kernels,
/// and the scalar laws for what they leave out. Vectors hold all nodes; results are written over,
/// not added. Parallel inside, with the same bits for every number of threads.
namespace pliant {

[[nodiscard]] double domain_energy(const FemModelData& d, const double* u);
/// R, and the edge whose det F̃ is smallest, by its lowest element.
template <class T>
SmallestDetF domain_force(const FemModelData& d, const double* u, double* R);
void domain_product(const FemModelData& d, const double* u, const double* p, double* Kp);
/// K and, unless null, R.
void domain_tangent(const FemModelData& d, const double* u, double* R, double* values);
void domain_hessian_contraction(const FemModelData& d, const double* u, const double* v,
                                const double* w, double* Hvw);
[[nodiscard]] SmallestDetF domain_smallest_det_F(const FemModelData& d, const double* u);

/// ∇u of an edge.
[[nodiscard]] inline Eigen::Matrix3d domain_gradient(const TetDomains& domains, int slot,
                                                     const double* u) noexcept {
    const auto nodes = domains.nodes_of(slot);
    const auto gradients = domains.gradients_of(slot);
    Eigen::Matrix3d H = Eigen::Matrix3d::Zero();
    if (nodes.empty()) return H;
    const Eigen::Map<const Eigen::Vector3d> u0(u + 3 * std::ptrdiff_t{nodes[0]});
    for (std::size_t a = 1; a < nodes.size(); ++a) {
        const Eigen::Map<const Eigen::Vector3d> ua(u + 3 * std::ptrdiff_t{nodes[a]});
        H += (ua - u0).lazyProduct(gradients[a].transpose());
    }
    return H;
}

}  // namespace pliant
