#pragma once

#include "pliant/geometry/volume_mesh.h"

#include <Eigen/Core>
#include <array>
#include <type_traits>
#include <vector>

namespace pliant {

/// One quadrature point of one element.
struct QuadraturePoint {
    Eigen::Matrix3d inverse_jacobian;  ///< ∂ξ/∂x at rest
    double weight;                     ///< rest volume of the point times the filled fraction [m³]
};

/// Shape functions of an element with N nodes at its quadrature points on the reference shape:
/// eight Gauss points of the cube [−1, 1]³, or the centroid of the unit tetrahedron.
template <int N>
struct ReferenceElement {
    static constexpr int kPoints = N == 8 ? 8 : 1;
    static constexpr double kPointWeight = N == 8 ? 1.0 : 1.0 / 6.0;
    std::array<Eigen::Matrix<double, 3, N>, kPoints> gradients;  ///< ∂φ_a/∂ξ in column a
    std::array<Eigen::Matrix<double, N, 1>, kPoints> values;

    [[nodiscard]] static const ReferenceElement& get();
};
template <>
const ReferenceElement<4>& ReferenceElement<4>::get();
template <>
const ReferenceElement<8>& ReferenceElement<8>::get();

/// Calls `function` with the number of nodes as a constant.
template <class Function>
auto with_element(ElementKind kind, Function function) {
    if (kind == ElementKind::Tet4) return function(std::integral_constant<int, 4>{});
    return function(std::integral_constant<int, 8>{});
}
[[nodiscard]] constexpr int points_per_element(ElementKind kind) noexcept {
    return kind == ElementKind::Tet4 ? 1 : 8;
}

/// det ∂x/∂ξ at the corners of a hex.
[[nodiscard]] std::array<double, 8> corner_jacobians(const VolumeMesh& mesh, int element);

/// The points of all elements in the order of `elements`, points_per_element each. Throws
/// InputError for the first element whose map is not one-to-one: det ∂x/∂ξ must be positive at all
/// points and corners.
[[nodiscard]] std::vector<QuadraturePoint> quadrature_points(const VolumeMesh& mesh,
                                                             const std::vector<int>& elements);

}  // namespace pliant
