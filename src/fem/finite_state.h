#pragma once

#include "pliant/fem/fem_state.h"

#include <cmath>

namespace pliant {

[[nodiscard]] inline bool is_finite(const FemState& s) noexcept {
    return s.u.allFinite() && s.v.allFinite() && s.a.allFinite() && std::isfinite(s.time);
}

}  // namespace pliant
