#include "haptics/back_off.h"

#include <algorithm>
#include <cmath>

namespace pliant {

namespace {

constexpr double kWindow = 0.25;         // [s]
constexpr double kLeastShare = 0.25;     // of the variation: below, it is the hand that moves
constexpr double kStill = 1e-3;          // drift of a hand that holds still [m]
constexpr double kMovingFactor = 10;     // of the limits while it moves: edges are felt, too
constexpr double kBeyondPart = 1.0 / 3;  // of the limits for gains beyond the device's
constexpr double kLeastSteps = 0.25;     // of the step limits, then gains follow
constexpr double kLeastGains = 0.05;
constexpr double kGainStep = 0.8;
constexpr double kGainTime = 0.05;      // in which gains follow: no jump of the force [s]
constexpr double kCalmNeeded = 2;       // before anything is taken back [s]
constexpr double kMostCalmNeeded = 60;  // [s]
constexpr double kRecovery = 1.01;      // of gains, each time

OscillationOptions meter_options(double rate) {
    OscillationOptions options;
    options.rate = rate;
    options.window = kWindow;
    return options;
}

}  // namespace

BackOff::BackOff(double rate) : meter_(meter_options(rate)), calm_needed_(kCalmNeeded) {}

bool BackOff::is_shaking() const noexcept {
    const OscillationLevel& l = meter_.level();
    // beyond what the device is made for, the limits are those of what may grow
    const double strict = gain_target_ > safe_ ? kBeyondPart : 1;
    const double factor = drift_ > kStill ? kMovingFactor : strict;
    return (l.force > factor * meter_.options().force_limit && l.force_share > kLeastShare) ||
           (l.torque > factor * meter_.options().torque_limit && l.torque_share > kLeastShare);
}

void BackOff::record(const Wrench& commanded, const Eigen::Vector3d& handle, double dt) noexcept {
    has_changed_ = false;
    const int num_windows = meter_.num_windows();
    meter_.record(commanded);
    sum_ += handle;
    ++count_;
    if (meter_.num_windows() != num_windows) end_window();
    // gains follow smoothly
    if (gain_scale_ != gain_target_) {
        gain_scale_ += std::min(dt / kGainTime, 1.0) * (gain_target_ - gain_scale_);
        if (std::abs(gain_scale_ - gain_target_) < 1e-6) gain_scale_ = gain_target_;
        has_changed_ = true;
    }
}

void BackOff::end_window() noexcept {
    const Eigen::Vector3d mean = sum_ / count_;
    drift_ = (mean - mean_).norm();
    mean_ = mean;
    sum_.setZero();
    count_ = 0;
    if (is_shaking()) {
        calm_time_ = 0;
        // one window alone may be an impact
        if (++num_shaking_ < 2) return;
        if (has_recovered_) calm_needed_ = std::min(2 * calm_needed_, kMostCalmNeeded);
        has_recovered_ = false;
        if (gain_target_ > safe_)
            gain_target_ = ceiling_ = std::max(safe_, kLeastGains);
        else if (step_scale_ > kLeastSteps && gain_target_ == ceiling_)
            step_scale_ *= 0.5;
        else
            gain_target_ = std::max(kGainStep * gain_target_, kLeastGains);
        has_changed_ = true;
        return;
    }
    num_shaking_ = 0;
    if (step_scale_ == 1 && gain_target_ == ceiling_) return;
    calm_time_ += kWindow;
    if (calm_time_ < calm_needed_) return;
    calm_time_ = 0;
    has_recovered_ = true;
    if (step_scale_ < 1)
        step_scale_ = std::min(2 * step_scale_, 1.0);
    else
        gain_target_ = std::min(kRecovery * gain_target_, ceiling_);
    has_changed_ = true;
}

void BackOff::reset() noexcept {
    meter_.reset();
    sum_.setZero();
    mean_.setZero();
    drift_ = 0;
    step_scale_ = gain_target_ = gain_scale_ = ceiling_ = 1;
    calm_time_ = 0;
    calm_needed_ = kCalmNeeded;
    count_ = num_shaking_ = 0;
    has_recovered_ = false;
    has_changed_ = true;
}

}  // namespace pliant
