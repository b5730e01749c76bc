#include "pliant/contact/coplanarity.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

/// A root of f in [low, high], where f changes its sign: Newton's method kept in the bracket.
double bracketed_root(const Coplanarity& f, double low, double high) noexcept {
    double s = 0.5 * (low + high);
    for (int i = 0; i < 100 && high - low > 1e-15; ++i) {
        const double value = f(s);
        (value > 0 ? low : high) = s;
        const double slope = f.k[1] + s * (2 * f.k[2] + 3 * s * f.k[3]);
        const double newton = s - value / slope;
        const bool is_inside = newton > low && newton < high;
        const double next = is_inside ? newton : 0.5 * (low + high);
        if (is_inside && std::abs(next - s) < 1e-15) return next;
        s = next;
    }
    return s;
}

/// Critical points of f inside (0, 1), in order.
int critical_points(const Coplanarity& f, std::array<double, 2>& points) noexcept {
    const double a = 3 * f.k[3], b = f.k[2], c = f.k[1];  // a s² + 2 b s + c
    int count = 0;
    const auto add = [&](double s) {
        if (s > 0 && s < 1) points[static_cast<std::size_t>(count++)] = s;
    };
    const double discriminant = b * b - a * c;
    if (!(discriminant > 0)) return 0;
    // without cancellation
    const double q = -(b + std::copysign(std::sqrt(discriminant), b));
    if (a != 0) add(q / a);
    if (q != 0) add(c / q);
    if (count == 2 && points[0] > points[1]) std::swap(points[0], points[1]);
    return count;
}

}  // namespace

Coplanarity coplanarity(const Eigen::Vector3d& x, const Corners& start,
                        const Corners& end) noexcept {
    const Eigen::Vector3d A0 = x - start.a, A1 = start.a - end.a;
    const Eigen::Vector3d U0 = start.b - start.a, U1 = (end.b - end.a) - U0;
    const Eigen::Vector3d V0 = start.c - start.a, V1 = (end.c - end.a) - V0;
    const Eigen::Vector3d N0 = U0.cross(V0), N1 = U0.cross(V1) + U1.cross(V0), N2 = U1.cross(V1);
    Coplanarity f;
    f.k = {A0.dot(N0), A0.dot(N1) + A1.dot(N0), A0.dot(N2) + A1.dot(N1), A1.dot(N2)};
    f.scale = (A0.norm() + A1.norm()) * (U0.norm() + U1.norm()) * (V0.norm() + V1.norm());
    return f;
}

int falling_roots(const Coplanarity& f, std::array<double, 3>& roots) noexcept {
    // intervals in which f is monotone
    std::array<double, 4> ends = {0};
    std::array<double, 2> points;
    int num_ends = 1;
    const int num_points = critical_points(f, points);
    for (int i = 0; i < num_points; ++i)
        ends[static_cast<std::size_t>(num_ends++)] = points[static_cast<std::size_t>(i)];
    ends[static_cast<std::size_t>(num_ends++)] = 1;

    const double zero = 1e-14 * f.scale;
    int count = 0;
    bool is_positive = f.k[0] >= -zero;
    double low = 0;  // where f was positive for the last time
    for (int i = 1; i < num_ends; ++i) {
        const double s = ends[static_cast<std::size_t>(i)], value = f(s);
        if (std::abs(value) <= zero) continue;
        if (is_positive && value < 0) {
            roots[static_cast<std::size_t>(count++)] = f(low) > 0 ? bracketed_root(f, low, s) : low;
        }
        is_positive = value > 0;
        low = s;
    }
    return count;
}

}  // namespace pliant
