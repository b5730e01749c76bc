#pragma once

#include "pliant/geometry/surface_mesh.h"

#include <algorithm>

namespace pliant {

/// Coordinates beyond are no lengths in metres, and the sixth powers of those within are finite.
inline constexpr double kMaxCoordinate = 1e30;

/// False for nan and inf too.
inline bool is_usable(const Eigen::Vector3d& x) {
    return (x.array().abs() <= kMaxCoordinate).all();
}

/// Twice the area, along the normal.
inline Eigen::Vector3d area_vector(const Eigen::Vector3d& a, const Eigen::Vector3d& b,
                                   const Eigen::Vector3d& c) {
    return (b - a).cross(c - a);
}

/// Height below 1e-12 of the longest edge: round-off then decides where the normal points.
inline bool has_no_area(const Eigen::Vector3d& a, const Eigen::Vector3d& b,
                        const Eigen::Vector3d& c) {
    const double longest_squared =
        std::max({(b - a).squaredNorm(), (c - b).squaredNorm(), (a - c).squaredNorm()});
    return area_vector(a, b, c).norm() <= 1e-12 * longest_squared;
}

inline bool has_repeated_corner(const Triangle& t) {
    return t[0] == t[1] || t[1] == t[2] || t[2] == t[0];
}

/// Unit vector, or zero where there is no direction.
inline Eigen::Vector3d unit_or_zero(const Eigen::Vector3d& v) {
    const double length = v.stableNorm();
    if (!(length > 0)) return Eigen::Vector3d::Zero();
    return v / length;
}

}  // namespace pliant
