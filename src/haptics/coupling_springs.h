#pragma once

#include "haptics/pose_rules.h"
#include "pliant/haptics/static_coupling.h"

namespace pliant {

/// Size of a spring's load over its stretch, docs/haptics.md eq. (14), (15): linear up to half the
/// plateau, then bending towards it.
struct SpringLaw {
    double stiffness = 0, plateau = 0;
    CouplingSaturation saturation = CouplingSaturation::None;

    struct Value {
        double load = 0, slope = 0;
        bool is_saturated = false;
    };
    [[nodiscard]] Value at(double stretch) const noexcept;
};

/// Load on the simulation object and its derivative.
struct SpringLoad {
    Eigen::Vector3d load = Eigen::Vector3d::Zero();
    Eigen::Matrix3d gradient = Eigen::Matrix3d::Zero();
    bool is_saturated = false;
};
/// `stretch`: from the simulation object to the manipulandum; by shifts, eq. (12).
[[nodiscard]] SpringLoad force_spring(const Eigen::Vector3d& stretch,
                                      const SpringLaw& law) noexcept;
/// `phi`: rotation vector from the simulation object to the manipulandum; by rotation vectors of
/// the world, eq. (13).
[[nodiscard]] SpringLoad torque_spring(const Eigen::Vector3d& phi, const SpringLaw& law) noexcept;
/// The published law 2 k_R sin(θ/2).
[[nodiscard]] SpringLoad sine_spring(const Eigen::Vector3d& phi, double stiffness) noexcept;

/// Energy of a spring that is linear up to the load `clamp` and keeps it beyond [J].
[[nodiscard]] double clamped_energy(double stretch, double stiffness, double clamp) noexcept;

}  // namespace pliant
