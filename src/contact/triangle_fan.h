#pragma once

#include "pliant/contact/moving_surface.h"

#include <algorithm>

namespace pliant {

/// Unit normal of a triangle; zero where it is so thin that the rounding of its corners, which are
/// floats, would turn it.
[[nodiscard]] inline Eigen::Vector3d clear_normal(const Corners& t) noexcept {
    const Eigen::Vector3d n = t.area_vector();
    const double size = n.norm(),
                 longest = std::max({(t.b - t.a).squaredNorm(), (t.c - t.b).squaredNorm(),
                                     (t.a - t.c).squaredNorm()});
    return size > 1e-4 * longest ? Eigen::Vector3d(n / size) : Eigen::Vector3d::Zero();
}

/// Triangles that meet where a place with these weights is on triangle `t`: itself, those on both
/// sides of an edge, or those around a corner.
class TriangleFan {
public:
    /// Triangles around a corner; more are left out.
    static constexpr int kMaxSize = 64;

    TriangleFan(const MovingSurface& surface, int t, const Eigen::Vector3d& w) noexcept {
        add(t);
        int num_zero = 0, zero = 0, corner = 0;
        for (int k = 0; k < 3; ++k) {
            if (w[k] < 1e-6) {
                num_zero += 1;
                zero = k;
            } else {
                corner = k;
            }
        }
        if (num_zero == 1) add(surface.neighbour(t, (zero + 1) % 3));
        if (num_zero >= 2) add_around(surface, t, corner);
    }
    [[nodiscard]] bool has(int t) const noexcept {
        return std::find(triangles_.begin(), triangles_.begin() + size_, t) !=
               triangles_.begin() + size_;
    }
    /// Mean of the unit normals at the end of the tick; zero where there is none.
    [[nodiscard]] Eigen::Vector3d normal(const MovingSurface& surface) const noexcept {
        Eigen::Vector3d sum = Eigen::Vector3d::Zero();
        for (int i = 0; i < size_; ++i)
            sum += clear_normal(
                surface.corners(triangles_[static_cast<std::size_t>(i)], TickMoment::End));
        return sum.norm() > 1e-6 ? Eigen::Vector3d(sum.normalized()) : Eigen::Vector3d::Zero();
    }
    /// Sum of the normals by area, twice.
    [[nodiscard]] Eigen::Vector3d area_vector(const MovingSurface& surface) const noexcept {
        Eigen::Vector3d sum = Eigen::Vector3d::Zero();
        for (int i = 0; i < size_; ++i)
            sum += surface.corners(triangles_[static_cast<std::size_t>(i)], TickMoment::End)
                       .area_vector();
        return sum;
    }

private:
    void add(int t) noexcept { triangles_[static_cast<std::size_t>(size_++)] = t; }
    /// Leaves each triangle by the side that begins at the corner.
    void add_around(const MovingSurface& surface, int t, int corner) noexcept {
        const int v = surface.triangle(t)[static_cast<std::size_t>(corner)];
        for (int next = t; size_ < kMaxSize;) {
            const Triangle& corners = surface.triangle(next);
            const auto at = std::find(corners.begin(), corners.end(), v);
            if (at == corners.end()) break;
            next = surface.neighbour(next, static_cast<int>(at - corners.begin()));
            if (has(next)) break;
            add(next);
        }
    }

    std::array<int, kMaxSize + 1> triangles_;
    int size_ = 0;
};

}  // namespace pliant
