#include "pliant/fem/stable_step.h"

#include "geometry/option_check.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

/// Differences of lengths below this fraction of a step are rounding.
constexpr double kSame = 1e-9;

}  // namespace

StepPolicy::StepPolicy(double dt_crit_at_rest, const Options& options)
    : options_(options), dt_crit_at_rest_(dt_crit_at_rest), dt_crit_(dt_crit_at_rest) {
    check_option(dt_crit_at_rest > 0 && std::isfinite(dt_crit_at_rest), "dt_crit", dt_crit_at_rest,
                 "0 < value < infinity");
    check_option(options.safety > 0 && options.safety < 1, "safety", options.safety,
                 "0 < value < 1");
    check_option(options.refresh_interval >= 0, "refresh_interval", options.refresh_interval,
                 "value >= 0");
    check_option(options.iterations >= 1, "iterations", options.iterations, "value >= 1");
}

double StepPolicy::next(double remaining) noexcept {
    const double limit = options_.safety * dt_crit_;
    double dt = limit;
    if (remaining <= kSame * limit) return 0;
    if (is_captured_ && last_dt_ > 0) {
        dt = last_dt_;
    } else if (std::isfinite(remaining)) {
        dt = remaining / std::max(1.0, std::ceil(remaining / limit * (1 - kSame)));
        if (std::abs(dt - last_dt_) <= kSame * dt) dt = last_dt_;
    }
    is_captured_ = false;
    last_dt_ = dt;
    ++steps_since_refresh_;
    return dt;
}

bool StepPolicy::wants_refresh() const noexcept {
    return options_.refresh_interval > 0 && steps_since_refresh_ >= options_.refresh_interval;
}

void StepPolicy::refresh(double dt_crit) noexcept {
    steps_since_refresh_ = 0;
    if (dt_crit > 0) dt_crit_ = std::min(dt_crit, dt_crit_at_rest_);
}

}  // namespace pliant
