#pragma once

#include "pliant/field/distance_grid.h"

/// Culling margins of grids whose vertex values are distances, docs/field.md eq. (4).
namespace pliant {

/// The largest excess of the trilinear interpolation of |v| over |v| on unit cells, rounded up.
inline constexpr double kConeExcess = 0.2594;

[[nodiscard]] CullingMargin dense_margin(const GridArrays& arrays);
/// Values up to `band` are those of a dense grid, and blocks without a brick keep
/// brick_clearance().
[[nodiscard]] CullingMargin sparse_margin(const GridArrays& arrays, double band);

/// How much larger values interpolated over whole blocks may be than the way to any vertex that is
/// at least `band` away from the block, all in fine cells.
[[nodiscard]] double block_excess(double band);

}  // namespace pliant
