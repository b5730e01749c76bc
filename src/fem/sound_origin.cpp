#include "fem/sound_origin.h"

#include <cmath>

namespace pliant {

double sound_origin(double a, double b, double c) noexcept {
    // the median; fmin and fmax pass NaN over
    const double median = std::fmax(std::fmin(a, b), std::fmin(std::fmax(a, b), c));
    constexpr double kFarthest = 1e15;  // [m]; also false for NaN
    return std::abs(median) < kFarthest ? median : 0.0;
}

}  // namespace pliant
