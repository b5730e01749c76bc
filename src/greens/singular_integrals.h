#pragma once

#include <array>

#include <Eigen/Core>

#include "greens/graded_quadrature.h"

namespace pliant {

/// Integrals over a triangle of φ_s times powers of the distance to a point x of it, d = y − x,
/// docs/greens.md eqs. (B8), (B9), for its three corners s.
struct SingularIntegrals {
    std::array<Eigen::Matrix3d, 3> displacement;  ///< ∫ φ_s d dᵀ / |d|³; its trace is ∫ φ_s / |d|
    std::array<Eigen::Vector3d, 3> traction;  ///< ∫ (φ_s − φ_s(x)) d / |d|³
};

/// Closed forms for x anywhere in the triangle, corners and sides included; `weights` are its
/// barycentric coordinates, exactly zero where it is on a side.
[[nodiscard]] SingularIntegrals singular_integrals(const TriangleCorners& corners,
                                                   const Eigen::Vector3d& weights);

}  // namespace pliant
