#include "pliant/contact/surface_neighbourhood.h"

#include "contact/triangle_kernels.h"
#include "geometry/closest_on_triangle.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace pliant {
namespace {

int count_triangles(const std::vector<MovingSurface*>& surfaces) {
    return std::accumulate(surfaces.begin(), surfaces.end(), 0, [](int sum, const auto* surface) {
        return sum + surface->num_triangles();
    });
}

}  // namespace

SurfaceNeighbourhood::SurfaceNeighbourhood(std::vector<MovingSurface*> surfaces)
    : surfaces_(std::move(surfaces)),
      patch_(count_triangles(surfaces_)),
      squares_(static_cast<std::size_t>(count_triangles(surfaces_)) + TriangleBlock::kSize),
      found_(squares_.size()),
      ahead_(squares_.size()) {}

void SurfaceNeighbourhood::gather(const Eigen::Vector3d& p, double radius,
                                  SurfaceMoment moment) noexcept {
    patch_.clear();
    is_measured_ = false;
    for (std::size_t s = 0; s < surfaces_.size(); ++s)
        surfaces_[s]->gather(p, radius, moment, static_cast<int>(s), patch_);
    centre_ = p;
    radius_ = radius;
    num_gathers_ += 1;
    num_tested_ += patch_.size();
}

void SurfaceNeighbourhood::gather_swept(const Eigen::Vector3d& p, double reach) noexcept {
    gather(p, reach, SurfaceMoment::Swept);
}

void SurfaceNeighbourhood::require(const Eigen::Vector3d& p, double reach, double spare) noexcept {
    if (covered(p) < reach) gather(p, reach + spare, SurfaceMoment::End);
}

std::span<const int> SurfaceNeighbourhood::crossings(const Eigen::Vector3d& p,
                                                     double radius) noexcept {
    const int count =
        find_crossings(patch_.blocks(), patch_.size(), p.data(), radius, found_.data());
    return {found_.data(), static_cast<std::size_t>(count)};
}

void SurfaceNeighbourhood::measure(const Eigen::Vector3d& p) noexcept {
    if (is_measured_ && p == measured_at_) return;
    measured_at_ = p;
    is_measured_ = true;
    measure_distances(patch_.blocks(), patch_.size(), p.data(), squares_.data());
}

std::span<const int> SurfaceNeighbourhood::within(double distance) noexcept {
    int count = 0;
    for (int i = 0; i < patch_.size(); ++i) {
        found_[static_cast<std::size_t>(count)] = i;
        count += is_within(i, distance);
    }
    // triangles without area are no numbers: at the end, or the order would be none
    const auto key = [&](int i) {
        const double square = squares_[static_cast<std::size_t>(i)];
        return std::isnan(square) ? std::numeric_limits<double>::infinity() : square;
    };
    std::sort(found_.begin(), found_.begin() + count,
              [&](int a, int b) { return key(a) < key(b) || (key(a) == key(b) && a < b); });
    return {found_.data(), static_cast<std::size_t>(count)};
}

std::span<const int> SurfaceNeighbourhood::in_order() noexcept {
    const auto end = found_.begin() + patch_.size();
    std::iota(found_.begin(), end, 0);
    std::sort(found_.begin(), end, [&](int a, int b) {
        return std::pair(patch_.surface(a), patch_.triangle(a)) <
               std::pair(patch_.surface(b), patch_.triangle(b));
    });
    return {found_.data(), static_cast<std::size_t>(patch_.size())};
}

NearTriangle SurfaceNeighbourhood::nearest(int i, const Eigen::Vector3d& p) const noexcept {
    const Corners t = patch_.end(i);
    const detail::TrianglePoint found = detail::nearest_on_triangle(p, t.a, t.b, t.c);
    return {i, std::sqrt(found.distance_squared), t.at(found.barycentric), found.barycentric};
}

double SurfaceNeighbourhood::clearance(const Eigen::Vector3d& p) noexcept {
    measure(p);
    double least = std::max(0.0, covered(p));
    if (patch_.size() == 0) return least;
    // the nearest first: then no others are, except for those as near
    const auto first = squares_.begin(), last = first + patch_.size();
    const auto best = std::min_element(first, last);
    least = std::min(least, nearest(static_cast<int>(best - first), p).distance);
    for (int i = 0; i < patch_.size(); ++i)
        if (is_within(i, least)) least = std::min(least, nearest(i, p).distance);
    return least;
}

std::span<const int> SurfaceNeighbourhood::in_way(const Eigen::Vector3d& from,
                                                  const Eigen::Vector3d& direction,
                                                  double length) noexcept {
    const int count = find_in_way(patch_.blocks(), patch_.size(), from.data(), direction.data(),
                                  length, ahead_.data());
    return {ahead_.data(), static_cast<std::size_t>(count)};
}

std::span<const int> SurfaceNeighbourhood::reached(const Eigen::Vector3d& p,
                                                   const Eigen::Vector3d& to, double rho) noexcept {
    const Eigen::Vector3d d = to - p;
    const int count =
        find_reached(patch_.blocks(), patch_.size(), p.data(), d.data(), rho, ahead_.data());
    return {ahead_.data(), static_cast<std::size_t>(count)};
}

double SurfaceNeighbourhood::crossing_length(int i, const Eigen::Vector3d& from,
                                             const Eigen::Vector3d& direction,
                                             double length) const noexcept {
    const Corners t = patch_.end(i);
    const Eigen::Vector3d n = t.area_vector();
    const double speed = n.dot(direction), height = n.dot(from - t.a);
    if (!(speed < 0) || height < 0 || height > -speed * length) return length;
    const double l = -height / speed;
    const Eigen::Vector3d x = from + l * direction;
    // inclusive: neighbours leave no crack
    const double tolerance = -1e-9 * n.squaredNorm();
    const double wa = n.dot((t.c - t.b).cross(x - t.b)), wb = n.dot((t.a - t.c).cross(x - t.c)),
                 wc = n.dot((t.b - t.a).cross(x - t.a));
    return wa >= tolerance && wb >= tolerance && wc >= tolerance ? l : length;
}

}  // namespace pliant
