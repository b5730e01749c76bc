#include "geometry/surface_spread.h"

#include "core/numbers.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr std::size_t kSpreadGrain = 256;  // vertices a task
constexpr double kSpreadStep = 0.7;        // of the way in a round; at 1 rounds may alternate
// Areas seen along the normal over areas: a ridge of 90° has 0.7. Vertices move freely from kFlat.
constexpr double kRidge = 0.75, kFlat = 0.95;

}  // namespace

SurfaceSpread::SurfaceSpread(const std::vector<Triangle>& triangles,
                             const std::vector<char>& is_pinned, std::vector<Vector3d>& x)
    : triangles_(triangles),
      is_pinned_(is_pinned),
      x_(x),
      start_(x.size() + 1, 0),
      triangles_at_(3 * triangles.size()) {
    for (const Triangle& t : triangles)
        for (const int v : t) ++start_[at(v) + 1];
    for (std::size_t v = 1; v < start_.size(); ++v) start_[v] += start_[v - 1];
    std::vector<int> next(start_.begin(), start_.end() - 1);
    for (std::size_t t = 0; t < triangles.size(); ++t)
        for (const int v : triangles[t]) triangles_at_[at(next[at(v)]++)] = static_cast<int>(t);
}

void SurfaceSpread::round(double evenness, const Pull& pull) {
    take_normals(evenness);
    next_.resize(x_.size());
    parallel_for(x_.size(), kSpreadGrain, [&](std::size_t v) {
        const Fan fan = fan_of(v);
        Vector3d step = fan.middle - x_[v];
        step -= fan.normal * fan.normal.dot(step);
        if (is_pinned_[v]) step.setZero();
        if (keeps_ridges_) step *= std::clamp((fan.flatness - kRidge) / (kFlat - kRidge), 0.0, 1.0);
        next_[v] = pull(x_[v] + kSpreadStep * step, fan.normal, fan.size);
    });
    x_.swap(next_);
}

void SurfaceSpread::pull(std::size_t first, const Pull& pull) {
    take_normals(0);
    next_ = x_;
    parallel_for(x_.size() - first, kSpreadGrain, [&](std::size_t k) {
        const Fan fan = fan_of(first + k);
        next_[first + k] = pull(x_[first + k], fan.normal, fan.size);
    });
    x_.swap(next_);
}

void SurfaceSpread::take_normals(double evenness) {
    const std::size_t count = triangles_.size();
    normal_.resize(count);
    weight_.resize(count);
    parallel_for(count, kSpreadGrain, [&](std::size_t t) {
        const auto [a, b, c] = triangles_[t];
        normal_[t] = (x_[at(b)] - x_[at(a)]).cross(x_[at(c)] - x_[at(a)]);
        weight_[t] = std::pow(normal_[t].norm() + std::numeric_limits<double>::min(), evenness);
    });
}

SurfaceSpread::Fan SurfaceSpread::fan_of(std::size_t v) const {
    Vector3d normal = Vector3d::Zero(), middle = Vector3d::Zero();
    double sum = 0, area = 0;
    for (int k = start_[v]; k < start_[v + 1]; ++k) {
        const std::size_t t = at(triangles_at_[at(k)]);
        const auto [a, b, c] = triangles_[t];
        normal += normal_[t];
        area += normal_[t].norm();
        middle += weight_[t] / 3 * (x_[at(a)] + x_[at(b)] + x_[at(c)]);
        sum += weight_[t];
    }
    return {normal.normalized(), middle / sum, std::sqrt(area), normal.norm() / area};
}

/// Place of a new vertex between its neighbours by the butterfly's weights.
Vector3d butterfly_point(const std::vector<Vector3d>& x, const std::array<int, 8>& near) {
    Vector3d point = Vector3d::Zero();
    for (std::size_t k = 0; k < 8; ++k)
        point += (k < 2 ? 0.5 : k < 4 ? 0.125 : -0.0625) * x[at(near[k])];
    return point;
}

}  // namespace pliant
