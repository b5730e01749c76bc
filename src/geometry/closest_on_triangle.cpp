#include "geometry/closest_on_triangle.h"

namespace pliant {

ClosestPoint closest_on_triangle(const Eigen::Vector3d& x, const Eigen::Vector3d& a,
                                 const Eigen::Vector3d& b, const Eigen::Vector3d& c) noexcept {
    return detail::to_closest_point(detail::nearest_on_triangle(x, a, b, c), a, b, c);
}

}  // namespace pliant
