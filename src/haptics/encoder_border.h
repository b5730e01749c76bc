#pragma once

#include <Eigen/Core>

#include <cmath>

namespace pliant {

/// Where a handle is for sure: at the border of two steps of its encoder that it crossed last,
/// docs/haptics.md eq. (21a). Readings that toggle between two steps are no motion. `place`: the
/// border before.
[[nodiscard]] inline Eigen::Vector3d crossed_border(const Eigen::Vector3d& now,
                                                    const Eigen::Vector3d& last,
                                                    const Eigen::Vector3d& place,
                                                    double step) noexcept {
    Eigen::Vector3d border = place;
    for (int i = 0; i < 3; ++i)
        if (now[i] != last[i]) border[i] = now[i] - std::copysign(0.5 * step, now[i] - last[i]);
    return border;
}

}  // namespace pliant
