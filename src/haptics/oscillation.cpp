#include "pliant/haptics/oscillation.h"

#include "haptics/input_range.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pliant {

using Eigen::Vector3d;

namespace {

/// Second-order Butterworth high-pass by the bilinear transform, exact at the cutoff:
/// y = b0 x + b1 x1 + b2 x2 − a1 y1 − a2 y2.
std::array<double, 5> high_pass(double cutoff, double rate) {
    const double K = std::tan(std::numbers::pi * cutoff / rate);
    const double scale = 1 / (1 + std::numbers::sqrt2 * K + K * K);
    return {scale, -2 * scale, scale, 2 * (K * K - 1) * scale,
            (1 - std::numbers::sqrt2 * K + K * K) * scale};
}

}  // namespace

OscillationMeter::OscillationMeter(const OscillationOptions& options) : options_(options) {
    const OscillationOptions& o = options;
    require_good("oscillation.rate", o.rate, o.rate > 0, "value > 0");
    require_good("oscillation.cutoff", o.cutoff, o.cutoff > 0 && o.cutoff < o.rate / 2,
                 "0 < value < rate/2");
    require_good("oscillation.window", o.window, o.window * o.rate >= 2 && o.window * o.rate < 1e9,
                 "at least two samples");
    require_good("oscillation.force_limit", o.force_limit, o.force_limit >= 0, "value >= 0");
    require_good("oscillation.torque_limit", o.torque_limit, o.torque_limit >= 0, "value >= 0");
    require_good("oscillation.quiet_force", o.quiet_force, o.quiet_force >= 0, "value >= 0");
    coefficients_ = high_pass(o.cutoff, o.rate);
    length_ = static_cast<int>(std::lround(o.window * o.rate));
}

void OscillationMeter::record(const Wrench& commanded) noexcept {
    Eigen::Matrix<double, 6, 1> sample;
    sample << commanded.force, commanded.torque;
    if (!sample.allFinite()) {
        sample.setZero();
        has_bad_ = true;
    }
    const auto [b0, b1, b2, a1, a2] = coefficients_;
    for (int i = 0; i < 6; ++i) {
        Filter& f = filters_[static_cast<std::size_t>(i)];
        const double x = sample[i];
        if (!has_first_) f = {x, x, 0, 0};
        const double y = b0 * x + b1 * f.x1 + b2 * f.x2 - a1 * f.y1 - a2 * f.y2;
        f = {x, f.x1, y, f.y1};
        sums_[i < 3 ? 0 : 1].passed += y * y;
    }
    has_first_ = true;
    for (int part = 0; part < 2; ++part) {
        Sums& sums = sums_[static_cast<std::size_t>(part)];
        const Vector3d value = sample.segment<3>(3 * part);
        if (count_ == 0) sums.start = value;
        sums.change += value - sums.start;
        sums.squares += (value - sums.start).squaredNorm();
    }
    if (++count_ == length_) end_window();
}

double OscillationMeter::share(const Sums& sums, int count) noexcept {
    const double variation = sums.squares - sums.change.squaredNorm() / count;
    return variation > 0 ? std::min(1.0, sums.passed / variation) : 0;
}

void OscillationMeter::end_window() noexcept {
    level_.last_force = level_.force;
    level_.last_torque = level_.torque;
    level_.force = std::sqrt(sums_[0].passed / count_);
    level_.torque = std::sqrt(sums_[1].passed / count_);
    level_.force_share = share(sums_[0], count_);
    level_.torque_share = share(sums_[1], count_);
    was_bad_before_ = was_bad_;
    was_bad_ = has_bad_;
    has_bad_ = false;
    sums_ = {};
    count_ = 0;
    ++num_windows_;
}

bool is_growing(std::span<const double> levels, double quiet) noexcept {
    constexpr std::size_t kFewest = 6, kFirst = 2;
    constexpr double kMore = 1.1;
    if (levels.size() < kFewest) return false;
    const auto mean = [](std::span<const double> some) {
        double sum = 0;
        for (const double level : some) sum += level;
        return sum / static_cast<double>(some.size());
    };
    const double first = mean(levels.first(kFirst)), last = mean(levels.last(levels.size() / 3));
    return !(last <= kMore * first || last < quiet);
}

bool OscillationMeter::is_oscillating() const noexcept {
    if (num_windows_ < 2) return false;
    const OscillationLevel& l = level_;
    const bool is_bounded = std::max(l.force, l.last_force) <= options_.force_limit &&
                            std::max(l.torque, l.last_torque) <= options_.torque_limit;
    const bool is_steady = l.force <= 1.1 * l.last_force || l.force < options_.quiet_force;
    return was_bad_ || was_bad_before_ || !is_bounded || !is_steady;
}

void OscillationMeter::set_limits(double force, double torque) noexcept {
    if (std::isfinite(force) && force >= 0) options_.force_limit = force;
    if (std::isfinite(torque) && torque >= 0) options_.torque_limit = torque;
}

void OscillationMeter::reset() noexcept {
    level_ = {};
    filters_ = {};
    sums_ = {};
    count_ = num_windows_ = 0;
    has_first_ = has_bad_ = was_bad_ = was_bad_before_ = false;
}

}  // namespace pliant
