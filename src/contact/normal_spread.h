#pragma once

#include "pliant/contact/pointshell.h"

#include <vector>

namespace pliant {

/// How far the normals around each point spread: the cosine of the largest angle between its normal
/// and those of its eight nearest neighbours; 1 where it is below 20°. Neighbours whose normals are
/// more than 120° away are on the other side of a sheet and do not count. O(n) for even shells.
[[nodiscard]] std::vector<float> normal_spread(const Pointshell& shell);

}  // namespace pliant
