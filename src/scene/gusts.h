#pragma once

#include <array>
#include <cstdint>

namespace pliant {

/// Slow random changes of wind: a smooth function of time in −1 … 1 that the seed determines,
/// whatever the rate at which it is asked, docs/scene.md eq. (4).
class Gusts {
public:
    explicit Gusts(std::uint64_t seed);
    [[nodiscard]] double at(double time) const noexcept;

private:
    struct Wave {
        double frequency, phase;  ///< [rad/s], [rad]
    };
    std::array<Wave, 8> waves_;
};

}  // namespace pliant
