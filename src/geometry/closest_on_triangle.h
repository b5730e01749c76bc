#pragma once

#include "pliant/geometry/surface_query.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pliant::detail {

/// What `closest_on_triangle` measures, without the square root: the inner loop of the queries.
struct TrianglePoint {
    double distance_squared;
    Eigen::Vector3d barycentric;
    Feature feature;
    int feature_index;
};

/// Everything is computed from differences of positions, and the height is measured along itself:
/// so the error is about 1e-16 of the triangle's size and distance, however thin it is and however
/// far both lie from the origin.
inline TrianglePoint nearest_on_triangle(const Eigen::Vector3d& x, const Eigen::Vector3d& a,
                                         const Eigen::Vector3d& b,
                                         const Eigen::Vector3d& c) noexcept {
    const std::array<Eigen::Vector3d, 3> corner{a - x, b - x, c - x};
    const std::array<Eigen::Vector3d, 3> side{b - a, c - b, a - c};
    const std::array<double, 3> length_squared{side[0].squaredNorm(), side[1].squaredNorm(),
                                               side[2].squaredNorm()};

    // feet of c and of x on the line ab, and what stands upright there
    const double inverse = 1.0 / length_squared[0];
    const double foot_c = -side[2].dot(side[0]) * inverse;
    const double foot_x = -corner[0].dot(side[0]) * inverse;
    const Eigen::Vector3d height = -side[2] - foot_c * side[0];
    const Eigen::Vector3d across = -corner[0] - foot_x * side[0];
    // lower than round-off: the direction of the height is noise, and the sides are all there is
    const double height_squared = height.squaredNorm();
    const bool has_area = height_squared > 1e-30 * std::max({length_squared[0], length_squared[1],
                                                             length_squared[2]});

    // barycentric weights of the foot of x on the plane
    const double weight_c = has_area ? across.dot(height) / height_squared : 0.0;
    const double weight_b = has_area ? foot_x - weight_c * foot_c : 0.0;
    const double weight_a = has_area ? 1.0 - weight_b - weight_c : 0.0;
    if (weight_a > 0 && weight_b > 0 && weight_c > 0)
        return {(across - weight_c * height).squaredNorm(),
                {weight_a, weight_b, weight_c},
                Feature::Face,
                0};

    // the nearest point lies on a side that has the foot beyond it
    const std::array<double, 3> weight_opposite{weight_c, weight_a, weight_b};
    TrianglePoint best{std::numeric_limits<double>::infinity(), Eigen::Vector3d::UnitX(),
                       Feature::Vertex, 0};
    for (int from = 0; from < 3; ++from) {
        if (weight_opposite[from] > 0) continue;
        const int to = from == 2 ? 0 : from + 1;
        const double along = -corner[from].dot(side[from]);
        if (along > 0 && along < length_squared[from]) {
            const double t = along / length_squared[from];
            const double d = (corner[from] + t * side[from]).squaredNorm();
            if (d >= best.distance_squared) continue;
            best = {d, Eigen::Vector3d::Zero(), Feature::Edge, from};
            best.barycentric[from] = 1.0 - t;
            best.barycentric[to] = t;
        } else {
            const int end = along > 0 ? to : from;
            const double d = corner[end].squaredNorm();
            if (d >= best.distance_squared) continue;
            best = {d, Eigen::Vector3d::Unit(end), Feature::Vertex, end};
        }
    }
    return best;
}

/// The full answer; `triangle` is left at −1.
inline ClosestPoint to_closest_point(const TrianglePoint& p, const Eigen::Vector3d& a,
                                     const Eigen::Vector3d& b, const Eigen::Vector3d& c) noexcept {
    ClosestPoint result;
    result.distance = std::sqrt(p.distance_squared);
    result.barycentric = p.barycentric;
    result.feature = p.feature;
    result.feature_index = p.feature_index;
    // from one corner, so that corners come out exactly
    const std::array<const Eigen::Vector3d*, 3> corner{&a, &b, &c};
    const int k = p.feature_index;
    if (p.feature == Feature::Vertex)
        result.point = *corner[k];
    else if (p.feature == Feature::Edge)
        result.point =
            *corner[k] + p.barycentric[(k + 1) % 3] * (*corner[(k + 1) % 3] - *corner[k]);
    else
        result.point = a + p.barycentric[1] * (b - a) + p.barycentric[2] * (c - a);
    return result;
}

}  // namespace pliant::detail
