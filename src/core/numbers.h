#pragma once

#include <cstddef>
#include <limits>

/// Short names for sources and tests.
namespace pliant {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A count or place as the standard containers want it.
[[nodiscard]] inline constexpr std::size_t at(int index) noexcept {
    return static_cast<std::size_t>(index);
}

}  // namespace pliant
