#include "experiment.h"

#include <algorithm>
#include <cmath>

namespace pliant::reproduce {

void Context::done(double fraction) {
    const auto units = static_cast<std::size_t>(
        std::floor(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(share_)));
    progress_.advance(units > reported_ ? units - reported_ : 0);
    reported_ = std::max(reported_, units);
}

}  // namespace pliant::reproduce
