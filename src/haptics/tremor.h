#pragma once

#include <Eigen/Core>

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace pliant {

/// Sum of sines between 8 and 12 Hz with random phases; its root mean square is that of one sine
/// of amplitude 1.
class Tremor {
public:
    explicit Tremor(std::uint64_t seed) {
        std::mt19937_64 random(seed);
        const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
        for (int i = 0; i < kPerAxis; ++i)
            for (Wave& wave : waves_[static_cast<std::size_t>(i)]) {
                // one frequency in each part of the band
                wave.rate = 2 * std::numbers::pi * (8 + 4 * (i + uniform()) / kPerAxis);
                wave.phase = 2 * std::numbers::pi * uniform();
            }
    }

    [[nodiscard]] Eigen::Vector3d offset(double time) const noexcept {
        Eigen::Vector3d sum = Eigen::Vector3d::Zero();
        for (const auto& of_axes : waves_)
            for (int axis = 0; axis < 3; ++axis) {
                const Wave& wave = of_axes[static_cast<std::size_t>(axis)];
                sum[axis] += std::sin(wave.rate * time + wave.phase);
            }
        return sum / std::sqrt(3.0 * kPerAxis);
    }

private:
    static constexpr int kPerAxis = 4;
    struct Wave {
        double rate, phase;
    };
    std::array<std::array<Wave, 3>, kPerAxis> waves_;
};

}  // namespace pliant
