#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "core/numbers.h"
#include "greens/triangle_rules.h"

/// Integration over a flat triangle of what varies like powers of the distance to a point that is
/// not on it, docs/greens.md section "Quadrature".
namespace pliant {

/// Between the point and the centroid, in units of the longest side: nearer triangles are split.
inline constexpr double kSplitDistance = 2;
inline constexpr int kMaxSplits = 8;
/// From here on three points do.
inline constexpr double kThreePointDistance = 12;

using TriangleCorners = std::array<Eigen::Vector3d, 3>;

[[nodiscard]] inline double longest_side(const TriangleCorners& p) {
    return std::max({(p[1] - p[0]).norm(), (p[2] - p[1]).norm(), (p[0] - p[2]).norm()});
}
[[nodiscard]] inline Eigen::Vector3d triangle_centroid(const TriangleCorners& p) {
    return (p[0] + p[1] + p[2]) / 3;
}

/// A part of a triangle, with either orientation.
struct TrianglePart {
    TriangleCorners corners;
    Eigen::Matrix3d barycentric = Eigen::Matrix3d::Identity();  ///< column c: corner c in the whole
    double share = 1;                                           ///< of the area
};

/// Calls `function(part)` on parts that are small against their distance to x: what is too near is
/// split in four.
template <class Function>
void for_each_part(const TrianglePart& part, const Eigen::Vector3d& x, Function&& function,
                   int splits = 0) {
    const double limit = kSplitDistance * longest_side(part.corners);
    if (splits == kMaxSplits ||
        (triangle_centroid(part.corners) - x).squaredNorm() >= limit * limit) {
        function(part);
        return;
    }
    TrianglePart middle;
    middle.share = part.share / 4;
    for (int k = 0; k < 3; ++k) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        middle.corners[at(k)] = (part.corners[at(a)] + part.corners[at(b)]) / 2;
        middle.barycentric.col(k) = (part.barycentric.col(a) + part.barycentric.col(b)) / 2;
    }
    for (int k = 0; k < 3; ++k) {
        TrianglePart corner = middle;
        corner.corners[at(k)] = part.corners[at(k)];
        corner.barycentric.col(k) = part.barycentric.col(k);
        for_each_part(corner, x, function, splits + 1);
    }
    for_each_part(middle, x, function, splits + 1);
}

/// Calls `function(y, barycentric, weight)` at the points of integration; weights add up to one.
template <class Function>
void for_each_point(const TriangleCorners& corners, const Eigen::Vector3d& x, Function&& function) {
    const auto apply = [&](const auto& rule, const TrianglePart& part) {
        for (const TriangleRulePoint& point : rule) {
            const Eigen::Vector3d local(point.barycentric.data());
            const Eigen::Vector3d y = local[0] * part.corners[0] + local[1] * part.corners[1] +
                                      local[2] * part.corners[2];
            function(y, Eigen::Vector3d(part.barycentric * local), part.share * point.weight);
        }
    };
    const TrianglePart whole{corners};
    const double far = kThreePointDistance * longest_side(corners);
    if ((triangle_centroid(corners) - x).squaredNorm() >= far * far)
        apply(triangle_points<ThreePointRule>(), whole);
    else
        for_each_part(whole, x, [&](const TrianglePart& part) {
            apply(triangle_points<SevenPointRule>(), part);
        });
}

}  // namespace pliant
