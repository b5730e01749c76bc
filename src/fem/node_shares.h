#pragma once

#include "fem/fem_model_data.h"
#include "pliant/fem/mass.h"

namespace pliant {

/// ∫ φ_a dV of a hex that is cut: the mean of that over the part inside and of its filled volume
/// spread evenly. The first alone would leave nodes outside with stiffness but next to no mass, the
/// second those inside with more stiffness than mass: explicit steps would shrink.
inline Eigen::Matrix<double, 8, 1> cut_shares(const FemModelData& d, int place,
                                              const HexWeights& cut) {
    const auto& reference = ReferenceElement<8>::get();
    Eigen::Matrix<double, 8, 1> shares = Eigen::Matrix<double, 8, 1>::Zero();
    for (int k = 0; k < 8; ++k)
        shares += 0.5 * (cut(k, 0) + d.points[static_cast<std::size_t>(place) * 8 + k].weight) *
                  reference.values[k];
    return shares;
}

/// ∫ φ_a dV of the element at a place, by the quadrature of the stiffness, docs/fem.md eq. (E8), or
/// by that of the corners, eq. (E9).
template <int N>
Eigen::Matrix<double, N, 1> node_shares(const FemModelData& d, int place, Lumping lumping) {
    const auto& reference = ReferenceElement<N>::get();
    Eigen::Matrix<double, N, 1> shares = Eigen::Matrix<double, N, 1>::Zero();
    if (N == 8 && lumping == Lumping::Nodal) {
        const int e = d.blocks.elements[place];
        const auto jacobians = corner_jacobians(d.mesh, e);
        for (int a = 0; a < N; ++a)
            shares[a] = jacobians[a] * (d.mesh.filled.empty() ? 1.0 : d.mesh.filled[e]);
        return shares;
    }
    if constexpr (N == 8)
        if (const HexWeights* const cut = d.cut.of(place)) return cut_shares(d, place, *cut);
    for (int k = 0; k < reference.kPoints; ++k)
        shares += d.points[static_cast<std::size_t>(place) * reference.kPoints + k].weight *
                  reference.values[k];
    return shares;
}

}  // namespace pliant
