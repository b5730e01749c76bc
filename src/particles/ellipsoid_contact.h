#pragma once

#include <Eigen/Core>
#include <cmath>

namespace pliant {

/// How far an ellipsoid { E^½ s, |s| ≤ 1 } reaches along a unit vector.
[[nodiscard]] inline float reach(const Eigen::Matrix3f& E, const Eigen::Vector3f& n) noexcept {
    return std::sqrt(std::max(n.dot(E * n), 0.0f));
}

struct EllipsoidGap {
    float gap = 0;                                      ///< [m]; negative: they overlap
    Eigen::Vector3f normal = Eigen::Vector3f::UnitZ();  ///< from the first to the second
};
/// Between two ellipsoids whose centres are `apart`, along the direction that separates them most,
/// docs/particles.md eq. (9): three corrections of the line of centres. Exact for spheres.
[[nodiscard]] EllipsoidGap ellipsoid_gap(const Eigen::Matrix3f& E_first,
                                         const Eigen::Matrix3f& E_second,
                                         const Eigen::Vector3f& apart) noexcept;

}  // namespace pliant
