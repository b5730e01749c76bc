#include "scene/gusts.h"

#include <cmath>
#include <numbers>
#include <random>

namespace pliant {

Gusts::Gusts(std::uint64_t seed) {
    constexpr double kLowest = 0.05, kHighest = 1.5;  // [Hz]
    // the engine is the same everywhere, distributions of the standard library are not
    std::mt19937_64 engine(seed);
    const auto uniform = [&] { return static_cast<double>(engine() >> 11) * 0x1p-53; };
    const double ratio = kHighest / kLowest;
    for (std::size_t i = 0; i < waves_.size(); ++i) {
        // one in each part of the band
        const double place =
            (static_cast<double>(i) + uniform()) / static_cast<double>(waves_.size());
        waves_[i].frequency = 2 * std::numbers::pi * kLowest * std::pow(ratio, place);
        waves_[i].phase = 2 * std::numbers::pi * uniform();
    }
}

double Gusts::at(double time) const noexcept {
    double sum = 0;
    for (const Wave& wave : waves_) sum += std::sin(wave.frequency * time + wave.phase);
    return sum / static_cast<double>(waves_.size());
}

}  // namespace pliant
