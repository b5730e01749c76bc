#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace pliant {

/// Unit quaternion, written (w, x, y, z). Unaligned, so that it may sit in any struct and cross any
/// ABI border.
using Quaternion = Eigen::Quaternion<double, Eigen::DontAlign>;

/// Rigid placement of a body frame in the world: x_world = R(rotation) x_body + position [m].
struct Pose {
    Eigen::Vector3d position = Eigen::Vector3d::Zero();
    Quaternion rotation = Quaternion::Identity();

    [[nodiscard]] Eigen::Vector3d to_world(const Eigen::Vector3d& x_body) const;
    [[nodiscard]] Eigen::Vector3d to_body(const Eigen::Vector3d& x_world) const;
    [[nodiscard]] Pose inverse() const;
};
/// First `b`, then `a`.
[[nodiscard]] Pose operator*(const Pose& a, const Pose& b);
[[nodiscard]] bool is_finite(const Pose& pose) noexcept;

/// Velocity of a rigid body: of the frame's origin [m/s] and angular [rad/s], both in world axes.
struct Twist {
    Eigen::Vector3d linear = Eigen::Vector3d::Zero();
    Eigen::Vector3d angular = Eigen::Vector3d::Zero();

    /// Velocity of the body point now at `offset_world` from the frame's origin.
    [[nodiscard]] Eigen::Vector3d at(const Eigen::Vector3d& offset_world) const;
};

/// Force [N] and torque about a reference point [N m], both in world axes.
struct Wrench {
    Eigen::Vector3d force = Eigen::Vector3d::Zero();
    Eigen::Vector3d torque = Eigen::Vector3d::Zero();

    /// The same load about a point shifted by `shift_world`: τ' = τ − shift × f.
    [[nodiscard]] Wrench about(const Eigen::Vector3d& shift_world) const;
    Wrench& operator+=(const Wrench& other);
};
[[nodiscard]] Wrench operator+(Wrench a, const Wrench& b);
[[nodiscard]] Wrench operator-(const Wrench& a);
/// Mechanical power f·v + τ·ω [W], both about the same point.
[[nodiscard]] double power(const Wrench& wrench, const Twist& twist);

/// Rotation by |v| radians about v/|v|; any angle, exact to round-off also near 0 and beyond π.
[[nodiscard]] Quaternion rotation_from_vector(const Eigen::Vector3d& v);
/// The shortest rotation vector of `q`, |v| ≤ π. Accurate near 0 and near π; q and −q give the same
/// vector, at exactly π the one whose first nonzero component is positive.
[[nodiscard]] Eigen::Vector3d rotation_vector(const Quaternion& q);
/// log(to · from⁻¹): the rotation vector in world axes that carries `from` to `to`.
[[nodiscard]] Eigen::Vector3d rotation_difference(const Quaternion& from, const Quaternion& to);
/// Pose after moving with a constant twist for `h` seconds: exact rotation, unit quaternion
/// restored.
[[nodiscard]] Pose advance(const Pose& pose, const Twist& twist, double h);
/// Position linear, rotation along the great circle, t in [0, 1].
[[nodiscard]] Pose interpolate(const Pose& a, const Pose& b, double t);

}  // namespace pliant
