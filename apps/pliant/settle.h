#pragma once

#include <cmath>

namespace pliant::cli {

/// Puts `next` of a number in its place until it stays within `tolerance`, at most `max_rounds`
/// times; whether it did, the last round included.
template <class Next>
[[nodiscard]] bool settles(double number, Next&& next, double tolerance, int max_rounds) {
    for (int round = 0; round < max_rounds; ++round) {
        const double before = number;
        number = next(before);
        if (std::abs(number - before) < tolerance) return true;
    }
    return false;
}

}  // namespace pliant::cli
