#pragma once

namespace pliant {

/// Of the loops of these tests [s].
inline constexpr double kLoopStep = 1e-3;

}  // namespace pliant
