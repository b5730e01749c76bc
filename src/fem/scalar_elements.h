#pragma once

#include "fem/accurate_hex.h"
#include "fem/element_kernels.h"
#include "fem/fem_model_data.h"
#include "fem/hex_dilation.h"

#include <Eigen/LU>
#include <limits>

namespace pliant {

// Forces and tangents of single elements with any law: the way of elements that no SIMD kernel
// serves, and the reference of those that one does. `place` counts as in ElementBlocks.

/// What a loop over elements sees of one of them.
template <int N>
struct ElementView {
    static constexpr int kPoints = ReferenceElement<N>::kPoints;

    ElementView(const FemModelData& d, int place)
        : nodes(d.nodes.data() + static_cast<std::size_t>(place) * N),
          points(d.points.data() + static_cast<std::size_t>(place) * kPoints),
          material(d.materials[d.regions[place]]) {}

    const int* nodes;
    const QuadraturePoint* points;
    const Material& material;
    const ReferenceElement<N>& reference = ReferenceElement<N>::get();
};

template <int N>
void add_element_force(const FemModelData& d, int place, const double* u, double* R) noexcept {
    const ElementView<N> element(d, place);
    if constexpr (N == 8)
        if (is_accurate_hex(d, place))
            return scatter_add<N>(AccurateHex(d, place, gather<N>(u, element.nodes)).force(),
                                  element.nodes, R);
    const NodeColumns<N> ue = gather<N>(u, element.nodes);
    NodeColumns<N> fe = NodeColumns<N>::Zero();
    with_law(element.material.law, [&](auto law) {
        for (int k = 0; k < element.kPoints; ++k) {
            const auto& reference = element.reference.gradients[k];
            const Eigen::Matrix3d F = deformation_gradient<N>(ue, reference, element.points[k]);
            add_stress_force<N>(law.stress(element.material, F), reference, element.points[k], fe);
        }
    });
    if constexpr (N == 8)
        if (has_mean_dilation(d, place)) fe += HexDilation(d, place, ue).force();
    scatter_add<N>(fe, element.nodes, R);
}

/// Adds a symmetric element matrix, given by its blocks on and above the diagonal.
template <int N>
void scatter_add_matrix(const FemModelData& d, int place, const ElementMatrix<N>& K,
                        double* values) noexcept {
    const int* const nodes = d.nodes.data() + static_cast<std::size_t>(place) * N;
    const int* const slots = d.slots.data() + static_cast<std::size_t>(place) * N * N;
    for (int b = 0; b < N; ++b) {
        const int height = d.column_height(nodes[b]);
        for (int a = 0; a < N; ++a) {
            double* const block = values + d.value_index(nodes[b], slots[b * N + a]);
            for (int j = 0; j < 3; ++j)
                for (int i = 0; i < 3; ++i) {
                    const bool is_upper = a < b || (a == b && i <= j);
                    block[j * height + i] +=
                        is_upper ? K(3 * a + i, 3 * b + j) : K(3 * b + j, 3 * a + i);
                }
        }
    }
}

/// The element's part of K and, unless null, R.
template <int N>
void add_element_tangent(const FemModelData& d, int place, const double* u, double* R,
                         double* values) noexcept {
    const ElementView<N> element(d, place);
    if constexpr (N == 8)
        if (is_accurate_hex(d, place)) {
            const AccurateHex hex(d, place, gather<N>(u, element.nodes));
            if (R != nullptr) scatter_add<N>(hex.force(), element.nodes, R);
            return scatter_add_matrix<N>(d, place, hex.tangent(), values);
        }
    const NodeColumns<N> ue = gather<N>(u, element.nodes);
    NodeColumns<N> fe = NodeColumns<N>::Zero();
    ElementMatrix<N> Ke = ElementMatrix<N>::Zero();
    with_law(element.material.law, [&](auto law) {
        for (int k = 0; k < element.kPoints; ++k) {
            const auto& reference = element.reference.gradients[k];
            const QuadraturePoint& point = element.points[k];
            const Eigen::Matrix3d F = deformation_gradient<N>(ue, reference, point);
            if (R != nullptr)
                add_stress_force<N>(law.stress(element.material, F), reference, point, fe);
            add_tangent<N>(law.stress_gradient(element.material, F), reference, point, Ke);
        }
    });
    if constexpr (N == 8)
        if (has_mean_dilation(d, place)) {
            const HexDilation dilation(d, place, ue);
            if (R != nullptr) fe += dilation.force();
            Ke += dilation.tangent();
        }
    if (R != nullptr) scatter_add<N>(fe, element.nodes, R);
    scatter_add_matrix<N>(d, place, Ke, values);
}

/// The element's part of K(u) p.
template <int N>
void add_element_product(const FemModelData& d, int place, const double* u, const double* p,
                         double* Kp) noexcept {
    const ElementView<N> element(d, place);
    if constexpr (N == 8)
        if (is_accurate_hex(d, place))
            return scatter_add<N>(AccurateHex(d, place, gather<N>(u, element.nodes))
                                      .product(gather<N>(p, element.nodes)),
                                  element.nodes, Kp);
    const NodeColumns<N> ue = gather<N>(u, element.nodes);
    const NodeColumns<N> pe = gather<N>(p, element.nodes);
    NodeColumns<N> fe = NodeColumns<N>::Zero();
    with_law(element.material.law, [&](auto law) {
        for (int k = 0; k < element.kPoints; ++k) {
            const auto& reference = element.reference.gradients[k];
            const QuadraturePoint& point = element.points[k];
            const Matrix9d dP_dF = law.stress_gradient(
                element.material, deformation_gradient<N>(ue, reference, point));
            const Eigen::Matrix3d dF = displacement_gradient<N>(pe, reference, point);
            Eigen::Matrix3d dP;
            dP.reshaped() = dP_dF.lazyProduct(dF.reshaped());
            add_stress_force<N>(dP, reference, point, fe);
        }
    });
    if constexpr (N == 8)
        if (has_mean_dilation(d, place)) fe += HexDilation(d, place, ue).product(pe);
    scatter_add<N>(fe, element.nodes, Kp);
}

/// No element, and larger than all.
inline constexpr SmallestDetF kNoDetF{std::numeric_limits<double>::infinity(), -1};

/// The smaller of the two; of equal ones that of the lower element. NaN is passed over.
inline void keep_smaller(const SmallestDetF& here, SmallestDetF& smallest) noexcept {
    if (here.value < smallest.value ||
        (here.value == smallest.value && here.element < smallest.element))
        smallest = here;
}

template <int N>
void keep_element_det_F(const FemModelData& d, int place, const double* u,
                        SmallestDetF& smallest) noexcept {
    const ElementView<N> element(d, place);
    const NodeColumns<N> ue = gather<N>(u, element.nodes);
    for (int k = 0; k < element.kPoints; ++k)
        keep_smaller({deformation_gradient<N>(ue, element.reference.gradients[k], element.points[k])
                          .determinant(),
                      d.blocks.elements[place]},
                     smallest);
}

}  // namespace pliant
