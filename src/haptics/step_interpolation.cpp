#include "pliant/haptics/step_interpolation.h"

#include "haptics/input_range.h"

#include <algorithm>
#include <cmath>

namespace pliant {

namespace {

std::uint64_t oldest_of(const FemToolSteps& steps) noexcept {
    return steps.count > FemToolSteps::kSize ? steps.count - FemToolSteps::kSize : 0;
}

/// docs/haptics.md eq. (F1): state j − 1 is shown when state j is due, j when j + 1 is.
double place_at(const FemToolSteps& steps, double now) noexcept {
    const std::uint64_t oldest = oldest_of(steps), newest = steps.count - 1;
    if (now >= steps.next) return static_cast<double>(newest);
    double end = steps.next;
    for (std::uint64_t j = newest; j > oldest; --j) {
        const double start = steps.state(j).time;
        if (now >= start) return static_cast<double>(j - 1) + (now - start) / (end - start);
        end = start;
    }
    return static_cast<double>(oldest);
}

Wrench mixed(const Wrench& a, const Wrench& b, double s) noexcept {
    return {(1 - s) * a.force + s * b.force, (1 - s) * a.torque + s * b.torque};
}

FemToolState mixed(const FemToolState& a, const FemToolState& b, double s) noexcept {
    FemToolState m = b;
    m.time = (1 - s) * a.time + s * b.time;
    m.tool = interpolate(a.tool, b.tool, s);
    m.contact = mixed(a.contact, b.contact, s);
    m.lent = (1 - s) * a.lent + s * b.lent;
    m.depth = (1 - s) * a.depth + s * b.depth;
    return m;
}

}  // namespace

StepInterpolation::StepInterpolation(const StepInterpolationOptions& options) : options_(options) {
    require_range("watchdog.timeout", options.timeout, 1e-3, 10, "s");
    require_range("watchdog.fade_time", options.fade_time, 1e-3, 10, "s");
    require_range("watchdog.return_time", options.return_time, 1e-3, 10, "s");
}

const FemToolState& StepInterpolation::update(const FemToolSteps& steps, double now) noexcept {
    is_anew_ = false;
    const bool is_usable_time = std::isfinite(now) && (!has_last_ || now >= last_);
    if (steps.count == 0 || !is_usable_time) return shown_;
    const double wanted = place_at(steps, now);
    is_anew_ = !has_last_ || steps.epoch != epoch_;
    if (is_anew_) {
        // what was shown has nothing to do with this: begin without force
        if (has_last_) gain_ = 0;
        place_ = wanted;
        epoch_ = steps.epoch;
    } else {
        // what was missed by states that came late is made up for at twice the pace, eq. (F2)
        const double before = place_at(steps, last_);
        const double advance = wanted - before;
        place_ += advance + std::clamp(before - place_, -advance, advance);
        place_ = std::max(place_, static_cast<double>(oldest_of(steps)));
    }
    const double elapsed = has_last_ ? std::min(now - last_, options_.timeout) : 0;
    last_ = now;
    has_last_ = true;

    const auto first = static_cast<std::uint64_t>(place_);
    const double s = place_ - static_cast<double>(first);
    shown_ = s > 0 ? mixed(steps.state(first), steps.state(first + 1), s) : steps.state(first);
    lag_ = now - shown_.time;

    lateness_ = std::max(0.0, now - steps.next);
    if (lateness_ > 0) ++num_late_;
    // eq. (F3)
    gain_ = lateness_ > options_.timeout ? std::max(0.0, gain_ - elapsed / options_.fade_time)
                                         : std::min(1.0, gain_ + elapsed / options_.return_time);
    return shown_;
}

void StepInterpolation::reset() noexcept { *this = StepInterpolation(options_); }

}  // namespace pliant
