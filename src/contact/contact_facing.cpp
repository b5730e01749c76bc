#include "contact/contact_facing.h"

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace pliant {

using Eigen::Vector3f;

namespace {

/// The nearest face is that of entry if its gradient is within 60° of the normal.
constexpr float kFacing = 0.5f;
/// Least cosine of a face that a point is said to have come through.
constexpr float kGrazing = 0.25f;
/// Cosines between which points on the back of something stop counting.
constexpr float kSideways = -0.25f, kBackwards = -0.5f;
/// Looks outwards, each twice as far as the one before.
constexpr int kNumLooks = 3;

float ramp(float cosine) noexcept {
    return std::clamp((cosine - kBackwards) / (kSideways - kBackwards), 0.0f, 1.0f);
}

}  // namespace

ContactFacing::ContactFacing(int most_points) {
    const auto room = static_cast<std::size_t>(most_points);
    left_.resize(room);
    distance_.resize(room);
    for (auto* triple : {&n_, &x_, &g_})
        for (std::vector<float>& list : *triple) list.resize(room);
}

void ContactFacing::turn(const DistanceField& field, const PointBatch& points,
                         const SampleBatch& samples, float* share, float* entry) noexcept {
    num_left_ = 0;
    float deepest_facing = 0;
    deepest_ = 0;
    for (int i = 0; i < points.count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const float cosine =
            n_[0][at] * samples.gx[i] + n_[1][at] * samples.gy[i] + n_[2][at] * samples.gz[i];
        const float depth = -samples.distance[i];
        deepest_ = std::max(deepest_, depth);
        // without a gradient the normal itself is the direction
        const bool has_gradient = samples.gx[i] * samples.gx[i] + samples.gy[i] * samples.gy[i] +
                                      samples.gz[i] * samples.gz[i] >=
                                  kShortestGradient * kShortestGradient;
        entry[i] = 1;
        share[i] = has_gradient ? ramp(cosine) : 1.0f;
        if (cosine >= kFacing)
            deepest_facing = std::max(deepest_facing, depth);
        else
            left_[static_cast<std::size_t>(num_left_++)] = i;
    }
    // contacts of one patch are about as deep as each other
    float step = 2 * (deepest_facing > 0 ? deepest_facing : deepest_);
    for (int k = 0; k < kNumLooks && num_left_ > 0; ++k, step *= 2)
        look(field, points, step, samples, share, entry);
}

void ContactFacing::look(const DistanceField& field, const PointBatch& points, float step,
                         const SampleBatch& samples, float* share, float* entry) noexcept {
    for (int k = 0; k < num_left_; ++k) {
        const auto to = static_cast<std::size_t>(k), i = static_cast<std::size_t>(left_[to]);
        x_[0][to] = points.x[i] + step * n_[0][i];
        x_[1][to] = points.y[i] + step * n_[1][i];
        x_[2][to] = points.z[i] + step * n_[2][i];
    }
    field.samples({x_[0].data(), x_[1].data(), x_[2].data(), num_left_},
                  {distance_.data(), g_[0].data(), g_[1].data(), g_[2].data()});
    int still_inside = 0;
    for (int k = 0; k < num_left_; ++k) {
        const auto from = static_cast<std::size_t>(k);
        const int i = left_[from];
        if (!(distance_[from] >= 0)) {
            left_[static_cast<std::size_t>(still_inside++)] = i;
            continue;
        }
        const auto at = static_cast<std::size_t>(i);
        const Vector3f n(n_[0][at], n_[1][at], n_[2][at]),
            outside(g_[0][from], g_[1][from], g_[2][from]);
        const float cosine = n.dot(outside);
        if (!(cosine >= kGrazing)) continue;
        // the plane of that face, eq. (26b)
        const Vector3f nearest(samples.gx[i], samples.gy[i], samples.gz[i]);
        const float depth = std::min(step * cosine - distance_[from], deepest_);
        const float least = -samples.distance[i];
        if (!(depth > least)) continue;
        const float sine = std::min(1.0f, nearest.cross(outside).norm());
        share[i] = 1;
        entry[i] = 1 - sine * (1 - least / depth);
        samples.distance[i] = -depth;
        samples.gx[i] = outside.x();
        samples.gy[i] = outside.y();
        samples.gz[i] = outside.z();
    }
    num_left_ = still_inside;
}

}  // namespace pliant
