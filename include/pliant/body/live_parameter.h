#pragma once

#include <string>

namespace pliant {

/// A number that may be changed while things run, and what a slider for it says.
struct LiveParameter {
    std::string name;   ///< "stiffness": unique in its owner
    std::string label;  ///< "Stiffness"
    std::string unit;   ///< "N/m"; empty: a factor
    std::string help;   ///< what it feels like and what is safe
    double value = 0;   ///< at the start: what a reset of the slider goes back to
    double low = 0, high = 1;
    bool is_logarithmic = false;  ///< slider; low must be positive
    bool is_integer = false;      ///< whole numbers alone, low and high are some
};

/// The value kept in its range, and whole where that is asked; the start value for one that is not
/// finite.
[[nodiscard]] double clamped(const LiveParameter& parameter, double value) noexcept;

}  // namespace pliant
