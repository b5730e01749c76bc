#include "contact/broad_phase.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pliant {

using Eigen::Vector3d;

BroadPhase::BroadPhase(int num_bodies, int max_pairs)
    : pairs_(static_cast<std::size_t>(max_pairs)) {
    order_.reserve(static_cast<std::size_t>(num_bodies));
    endless_.reserve(static_cast<std::size_t>(num_bodies));
}

void BroadPhase::add(std::span<const BoundingSphere> bodies, int i, int j) noexcept {
    const BoundingSphere& a = bodies[static_cast<std::size_t>(i)];
    const BoundingSphere& b = bodies[static_cast<std::size_t>(j)];
    if (!a.is_moving && !b.is_moving) return;
    const bool is_exact = a.is_primitive && b.is_primitive;
    const bool can_a = is_exact || (a.has_points && b.has_solid),
               can_b = is_exact || (b.has_points && a.has_solid);
    if (!can_a && !can_b) return;
    // the smaller one gives the points; of equals the later one
    const bool is_a =
        !can_b ||
        (can_a && (a.rest_radius < b.rest_radius || (a.rest_radius == b.rest_radius && i > j)));
    if (num_pairs_ == static_cast<int>(pairs_.size())) {
        is_complete_ = false;
        return;
    }
    pairs_[static_cast<std::size_t>(num_pairs_++)] = is_a ? BodyPair{i, j} : BodyPair{j, i};
}

std::span<const BodyPair> BroadPhase::find(std::span<const BoundingSphere> bodies,
                                           bool& is_complete) noexcept {
    num_pairs_ = 0;
    is_complete_ = true;
    order_.clear();
    endless_.clear();
    Vector3d low = Vector3d::Constant(INFINITY), high = -low;
    for (int i = 0; i < static_cast<int>(bodies.size()); ++i) {
        const BoundingSphere& body = bodies[static_cast<std::size_t>(i)];
        if (!(body.radius >= 0) || !body.centre.allFinite()) continue;
        if (std::isinf(body.radius)) {
            endless_.push_back(i);
            continue;
        }
        order_.push_back(i);
        low = low.cwiseMin(body.centre);
        high = high.cwiseMax(body.centre);
    }
    int axis = 0;
    if (!order_.empty()) (high - low).maxCoeff(&axis);

    const auto begin_of = [&](int i) {
        const BoundingSphere& body = bodies[static_cast<std::size_t>(i)];
        return body.centre[axis] - body.radius;
    };
    std::ranges::sort(order_, {}, [&](int i) { return std::pair(begin_of(i), i); });
    for (std::size_t a = 0; a < order_.size(); ++a) {
        const BoundingSphere& first = bodies[static_cast<std::size_t>(order_[a])];
        const double end = first.centre[axis] + first.radius;
        for (std::size_t b = a + 1; b < order_.size() && begin_of(order_[b]) <= end; ++b) {
            const BoundingSphere& second = bodies[static_cast<std::size_t>(order_[b])];
            const double reach = first.radius + second.radius;
            if ((first.centre - second.centre).squaredNorm() > reach * reach) continue;
            add(bodies, order_[a], order_[b]);
        }
    }
    // those without end meet all others
    for (std::size_t a = 0; a < endless_.size(); ++a) {
        for (const int i : order_) add(bodies, endless_[a], i);
        for (std::size_t b = a + 1; b < endless_.size(); ++b) add(bodies, endless_[a], endless_[b]);
    }
    const std::span<BodyPair> found(pairs_.data(), static_cast<std::size_t>(num_pairs_));
    std::ranges::sort(found);
    is_complete = is_complete_;
    return found;
}

}  // namespace pliant
