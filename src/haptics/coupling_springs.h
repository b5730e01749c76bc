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

/// Part of a load that its limit leaves, 0 to 1.
[[nodiscard]] double kept_part(double load, double limit) noexcept;
/// Energy of springs that keep their load from where `part` of it is left [J], of the energy that
/// they have without a limit: docs/haptics.md eq. (22a).
[[nodiscard]] double cut_energy(double linear, double part) noexcept;
/// The part of the load that leaves no more than `energy` of it, the other way round.
[[nodiscard]] double part_with_energy(double linear, double energy) noexcept;
/// Energy of a spring that is linear up to the load `clamp` and keeps it beyond [J].
[[nodiscard]] double clamped_energy(double stretch, double stiffness, double clamp) noexcept;

/// Springs of one stiffness from a hand to one place or to several, added up about the hand.
struct SpringSum {
    Wrench wrench;      ///< on the hand [N, N m]
    double energy = 0;  ///< of all of them [J]
    /// Means: from where the hand wants a place to where it is, and from the hand to there [m].
    Eigen::Vector3d stretch = Eigen::Vector3d::Zero(), arm = Eigen::Vector3d::Zero();
};
/// The same as a device shows it, eq. (22b).
struct ShownSprings {
    Wrench wrench;
    double energy = 0;      ///< S
    double shift_part = 1;  ///< what is left of the mean stretch
    double turn_part = 1;   ///< and of what springs stretch beyond it
};
[[nodiscard]] ShownSprings shown_springs(const SpringSum& all, double max_force,
                                         double max_torque) noexcept;

}  // namespace pliant
