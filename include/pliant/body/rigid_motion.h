#pragma once

#include "pliant/core/pose.h"

namespace pliant {

/// Where a rigid body is and how it moves. Both rates are of the frame's origin, in world axes.
struct RigidMotion {
    Pose pose;
    Twist velocity;
    Twist acceleration;  ///< linear [m/s²], angular [rad/s²]

    /// Of the body point now at `x_world`.
    [[nodiscard]] Eigen::Vector3d velocity_at(const Eigen::Vector3d& x_world) const;
    /// α × r + ω × (ω × r) included, docs/body.md eq. (3).
    [[nodiscard]] Eigen::Vector3d acceleration_at(const Eigen::Vector3d& x_world) const;
};
[[nodiscard]] bool is_finite(const RigidMotion& motion) noexcept;

// Where the result would not be finite, both return the motion they were given.

/// After `h` seconds of constant acceleration: exact, but for the rotation when α is not parallel
/// to ω, which is of fourth order, docs/body.md eq. (4).
[[nodiscard]] RigidMotion advance(const RigidMotion& motion, double h);
/// The motion at `pose`, reached `h` seconds after `previous`: rates by differences, of first
/// order, for poses that come from a device or a recording.
[[nodiscard]] RigidMotion follow(const RigidMotion& previous, const Pose& pose, double h);

}  // namespace pliant
