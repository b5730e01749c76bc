#pragma once

#include "field/field_lattice.h"
#include "pliant/field/distance_grid.h"

#include <vector>

/// Making of sparse grids, docs/field.md section "Sparse storage".
namespace pliant {

/// Parts of a sparse grid as GridArrays has them, with distances wherever there are vertices.
struct BrickParts {
    std::vector<float> coarse, bricks;
    std::vector<int> brick_of_block;
};

/// How far from the surface every vertex of a block without a brick must be, so that values up to
/// `band` are those of a dense grid: cells that touch the band have no vertex in such a block.
[[nodiscard]] double brick_clearance(const GridFrame& frame, double band);

/// Fits the bricks to the blocks without one beside them and sets the margin, eq. (4). Blocks
/// without a brick keep the clearance of `band` [m].
[[nodiscard]] DistanceGrid make_sparse_grid(const GridFrame& frame, BrickParts parts,
                                            float boundary, double band);

}  // namespace pliant
