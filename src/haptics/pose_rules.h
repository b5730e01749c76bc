#pragma once

#include "pliant/core/pose.h"

#include <cmath>

namespace pliant {

/// A pose that can be computed with: finite, not beyond 10⁶ km, a quaternion that has a direction.
[[nodiscard]] inline bool is_usable(const Pose& pose) noexcept {
    constexpr double kFarthest = 1e9;
    const double length = pose.rotation.squaredNorm();
    return is_finite(pose) && pose.position.cwiseAbs().maxCoeff() < kFarthest && length > 1e-12 &&
           length < 1e12;
}

/// A quaternion that a device means as a rotation: its length is 1, but for the digits it was sent
/// with.
[[nodiscard]] inline bool is_rotation(const Quaternion& q) noexcept {
    return std::abs(q.norm() - 1) < 0.01;
}

/// That of a device's matrix, zero for one that is no rotation.
[[nodiscard]] inline Quaternion device_rotation(const Eigen::Matrix3d& m) noexcept {
    const bool is_good =
        (m.transpose() * m - Eigen::Matrix3d::Identity()).norm() < 0.01 && m.determinant() > 0;
    return is_good ? Quaternion(m) : Quaternion(0, 0, 0, 0);
}

[[nodiscard]] inline Eigen::Matrix3d skew(const Eigen::Vector3d& v) noexcept {
    Eigen::Matrix3d m;
    m << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
    return m;
}

/// `v` shortened to at most `largest`.
[[nodiscard]] inline Eigen::Vector3d shortened(const Eigen::Vector3d& v, double largest) noexcept {
    // not stableNorm: its rounding depends on where v lies in memory
    const double size = std::hypot(v.x(), v.y(), v.z());
    return size > largest ? Eigen::Vector3d(v * (largest / size)) : v;
}

}  // namespace pliant
