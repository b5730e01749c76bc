#pragma once

#include <array>

#include <Eigen/Core>

namespace pliant {

/// Places of a handle at rest without the toggling of its encoders: an axis whose readings stay
/// within three neighbouring steps is taken at their slow mean and a part of what they differ from
/// it, docs/haptics.md eq. (9a). Axes that move are taken as they are. Allocates nothing.
class RestFilter {
public:
    explicit RestFilter(double step) noexcept : step_(step) {}  ///< of the encoders [m]

    /// Begins anew at a reading.
    void begin(const Eigen::Vector3d& reading) noexcept;
    /// A reading `dt` seconds after the last one; the place to use.
    [[nodiscard]] Eigen::Vector3d update(const Eigen::Vector3d& reading, double dt) noexcept;

private:
    /// Readings of one axis over a while.
    struct Spell {
        double low = 0, high = 0, sum = 0, time = 0;
        void add(double x, double dt) noexcept;
    };
    struct Axis {
        Spell now, before;
        double mean = 0;    ///< slow, while at rest
        double offset = 0;  ///< of what is used, so that nothing jumps
        double used = 0;
        bool is_at_rest = false;
        void update(double x, double step, double dt) noexcept;
    };
    double step_;
    std::array<Axis, 3> axes_;
};

}  // namespace pliant
