#pragma once

#include <Eigen/Core>
#include <algorithm>

namespace pliant {

/// Signed passages of the edge a → b, seen along x, across the half line from (y, z) towards +y.
/// Evaluated from the lower end, so that f(a, b) = −f(b, a) in floating point as well.
inline int edge_passages(const Eigen::Vector3d& a, const Eigen::Vector3d& b, double y, double z) {
    const bool a_below = a.z() <= z, b_below = b.z() <= z;
    if (a_below == b_below) return 0;
    const Eigen::Vector3d& low = a_below ? a : b;
    const Eigen::Vector3d& high = a_below ? b : a;
    // outside the extent of the edge the answer is plain, and rounding must not change it
    const auto [y_min, y_max] = std::minmax(low.y(), high.y());
    if (y >= y_max) return 0;
    const bool passes =
        y < y_min || (high.y() - low.y()) * (z - low.z()) > (high.z() - low.z()) * (y - low.y());
    return !passes ? 0 : a_below ? 1 : -1;
}

/// Where the line along x through (·, y, z) passes through a triangle.
struct LineCrossing {
    int turns =
        0;  ///< +1 where the line leaves through the front, −1 where it enters, 0: no passage
    double x = 0;
};

/// Over all triangles of a surface without border the turns sum to zero exactly, whatever the
/// rounding: no line leaks through an edge or a vertex.
inline LineCrossing cross_line_along_x(const Eigen::Vector3d& a, const Eigen::Vector3d& b,
                                       const Eigen::Vector3d& c, double y, double z) {
    const int turns =
        edge_passages(a, b, y, z) + edge_passages(b, c, y, z) + edge_passages(c, a, y, z);
    if (turns == 0) return {};
    // slivers seen edge-on have an ill-defined x: their own extent bounds it
    const auto [x_min, x_max] = std::minmax({a.x(), b.x(), c.x()});
    const Eigen::Vector3d normal = (b - a).cross(c - a);
    const double slope = (y - a.y()) * normal.y() + (z - a.z()) * normal.z();
    const double x = normal.x() == 0 ? x_min : a.x() - slope / normal.x();
    return {turns, std::clamp(x, x_min, x_max)};
}

}  // namespace pliant
