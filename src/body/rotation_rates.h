#pragma once

#include <Eigen/Core>

namespace pliant {

/// Angular velocity and acceleration, in the axes of the rotation vector φ, of the rotation exp(φ).
struct RotationRates {
    Eigen::Vector3d omega, alpha;
};

/// ω = J φ̇ and its rate, J the left Jacobian of SO(3), docs/body.md eq. (8). Any angle.
[[nodiscard]] RotationRates rotation_rates(const Eigen::Vector3d& phi,
                                           const Eigen::Vector3d& phi_rate,
                                           const Eigen::Vector3d& phi_rate_2) noexcept;
/// J(φ).
[[nodiscard]] Eigen::Matrix3d left_jacobian(const Eigen::Vector3d& phi) noexcept;

}  // namespace pliant
