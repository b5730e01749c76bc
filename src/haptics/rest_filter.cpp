#include "haptics/rest_filter.h"

#include <algorithm>
#include <cmath>

namespace pliant {

namespace {

constexpr double kRestSpell = 0.1;    // longer than half a swing of a heavy handle in a hand [s]
constexpr double kRestSpan = 2.25;    // steps that two spells may cover
constexpr double kRestReach = 1.75;   // steps from the mean; beyond, it moves
constexpr double kRestPart = 0.3;     // of what readings differ from the mean
constexpr double kRestMean = 2;       // in which the mean follows them [s]
constexpr double kRestSwitch = 0.01;  // in which rest passes into motion, and back [s]

}  // namespace

void RestFilter::Spell::add(double x, double dt) noexcept {
    low = time > 0 ? std::min(low, x) : x;
    high = time > 0 ? std::max(high, x) : x;
    sum += dt * x;
    time += dt;
}

void RestFilter::Axis::update(double x, double step, double dt) noexcept {
    if (now.time >= kRestSpell) {
        before = now;
        now = {};
    }
    now.add(x, dt);
    const double span = std::max(now.high, before.high) - std::min(now.low, before.low);
    const bool was_at_rest = is_at_rest;
    is_at_rest = before.time > 0 && span <= kRestSpan * step &&
                 (!was_at_rest || std::abs(x - mean) <= kRestReach * step);
    if (is_at_rest && !was_at_rest) mean = (now.sum + before.sum) / (now.time + before.time);
    if (is_at_rest) mean += std::min(dt / kRestMean, 1.0) * (x - mean);
    const double wanted = is_at_rest ? mean + kRestPart * (x - mean) : x;
    offset =
        is_at_rest != was_at_rest ? used - wanted : offset * std::max(0.0, 1 - dt / kRestSwitch);
    used = wanted + offset;
}

void RestFilter::begin(const Eigen::Vector3d& reading) noexcept {
    for (int i = 0; i < 3; ++i) {
        Axis& axis = axes_[static_cast<std::size_t>(i)];
        axis = {};
        axis.used = reading[i];
    }
}

Eigen::Vector3d RestFilter::update(const Eigen::Vector3d& reading, double dt) noexcept {
    Eigen::Vector3d place = reading;
    // without steps there is nothing to leave out, and without time no motion
    if (!(step_ > 0) || !(dt > 0)) return place;
    for (int i = 0; i < 3; ++i) {
        Axis& axis = axes_[static_cast<std::size_t>(i)];
        axis.update(reading[i], step_, dt);
        place[i] = axis.used;
    }
    return place;
}

}  // namespace pliant
