#pragma once

#include "pliant/fem/fem_model.h"

namespace pliant {

/// How far rounding of F alone moves the internal force R, docs/fem.md eq. (E15) [N]: no solver can
/// bring a residual below it.
[[nodiscard]] double rounding_of_force(const FemModel& model);

}  // namespace pliant
