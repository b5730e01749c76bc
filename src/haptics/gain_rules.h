#pragma once

#include "pliant/haptics/coupling_gains.h"

namespace pliant {

/// Throws InputError for gains that no coupling can work with.
void check_gains(const CouplingGains& gains);
/// `gains` with each number that is not finite as it is in `last`, and the others in the range of
/// check_gains.
[[nodiscard]] CouplingGains sane_gains(const CouplingGains& gains,
                                       const CouplingGains& last) noexcept;
/// That a light handle carries among bodies that answer so many seconds late, docs/haptics.md
/// eq. (F9) [N/m].
[[nodiscard]] double answered_stiffness(double answer_time) noexcept;

}  // namespace pliant
