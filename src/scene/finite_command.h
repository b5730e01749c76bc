#pragma once

#include "pliant/scene/command.h"

#include <algorithm>
#include <cmath>

namespace pliant {

[[nodiscard]] inline bool is_finite(const Command& command) noexcept {
    const auto is_number = [](double x) { return std::isfinite(x); };
    return std::all_of(command.barycentric.begin(), command.barycentric.end(), is_number) &&
           std::all_of(command.target.begin(), command.target.end(), is_number) &&
           std::all_of(command.rotation.begin(), command.rotation.end(), is_number) &&
           std::isfinite(command.duration) && std::isfinite(command.value);
}

}  // namespace pliant
