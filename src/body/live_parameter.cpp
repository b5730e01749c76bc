#include "pliant/body/live_parameter.h"

#include <algorithm>
#include <cmath>

namespace pliant {

double clamped(const LiveParameter& parameter, double value) noexcept {
    if (!std::isfinite(value)) return parameter.value;
    return std::clamp(value, parameter.low, parameter.high);
}

}  // namespace pliant
