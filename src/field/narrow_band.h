#pragma once

#include "field/field_walk.h"
#include "field/grid_bricks.h"
#include "pliant/core/progress.h"

#include <vector>

namespace pliant::detail {

/// Values of the source at every vertex of the grid, x fastest.
[[nodiscard]] std::vector<float> dense_values(const FieldSource& source, const GridFrame& frame,
                                              Progress& progress);

/// Blocks of 8³ cells that may have a vertex with a value within `clearance` of zero: all that have
/// one, and a few more, ascending. Costs a few bounded searches for each of them, not one for each
/// block of the box. Numbers of blocks along the sides are equal and a power of two.
[[nodiscard]] std::vector<int> blocks_near_surface(const FieldSource& source,
                                                   const GridFrame& frame, double clearance);
/// Values for a sparse grid, with bricks for those of `blocks` that have a vertex within
/// `clearance`.
[[nodiscard]] BrickParts brick_values(const FieldSource& source, const GridFrame& frame,
                                      double clearance, const std::vector<int>& blocks,
                                      Progress& progress);

}  // namespace pliant::detail
