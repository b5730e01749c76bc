#pragma once

#include "pliant/body/body.h"

#include <cstddef>

namespace pliant {

// The display state of a GreensBody: pose; parameters of gravity; factor on the modulus; tolerance,
// 0: that of the build; levels below the finest; number of loads; then for each of the most that
// there can be a node and its traction; then displacements of driven nodes; all nondimensional.
inline constexpr std::size_t kGreensGravity = kPoseFloats;
inline constexpr std::size_t kGreensModulus = kGreensGravity + 3;
inline constexpr std::size_t kGreensTolerance = kGreensModulus + 1;
inline constexpr std::size_t kGreensCoarser = kGreensTolerance + 1;
inline constexpr std::size_t kGreensCount = kGreensCoarser + 1;
inline constexpr int kGreensLoads = static_cast<int>(kGreensCount) + 1;
inline constexpr int kFloatsPerLoad = 4;

}  // namespace pliant
