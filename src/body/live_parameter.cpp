#include "pliant/body/live_parameter.h"

#include <algorithm>
#include <cmath>

namespace pliant {

double clamped(const LiveParameter& parameter, double value) noexcept {
    if (!std::isfinite(value)) return parameter.value;
    const double kept = std::clamp(value, parameter.low, parameter.high);
    return parameter.is_integer ? std::round(kept) : kept;
}

}  // namespace pliant
