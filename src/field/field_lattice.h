#pragma once

#include "pliant/field/distance_grid.h"

namespace pliant {

inline constexpr int kBlockCells = 8;
inline constexpr int kBrickSide = kBlockCells + 1;  ///< vertices of a block
/// Vertices of a block with one more on each side: local (1, 1, 1) is its first vertex.
inline constexpr int kLocalSide = kBlockCells + 3;
inline constexpr int kLocalVertices = kLocalSide * kLocalSide * kLocalSide;
inline constexpr std::array<int, 3> kLocalStride = {1, kLocalSide, kLocalSide* kLocalSide};

inline constexpr int local_vertex(const std::array<int, 3>& at) {
    return at[0] + kLocalSide * (at[1] + kLocalSide * at[2]);
}
/// From a vertex to corner c of the cell that begins at it.
inline constexpr int corner_offset(unsigned c) {
    return static_cast<int>(c & 1) + static_cast<int>(c >> 1 & 1) * kLocalStride[1] +
           static_cast<int>(c >> 2) * kLocalStride[2];
}

/// The fine vertices of a grid, dense or sparse, by blocks of 8³ cells. Every vertex has one value
/// whatever block it is read from. The numbers of cells need not be multiples of 8 when dense.
class FieldLattice {
public:
    /// Keeps views of the arrays.
    explicit FieldLattice(const GridArrays& arrays);

    /// Whether the block may hold values on both sides of the level, in doubt true.
    [[nodiscard]] bool may_cross(const std::array<int, 3>& block, float level) const noexcept;
    /// Values of the block's 9³ vertices at local places 1 … 9; +infinity beyond the box, as far as
    /// one layer around it, and at local places of no use.
    void fill(const std::array<int, 3>& block, float* values) const noexcept;

    GridFrame frame;
    std::array<int, 3> num_blocks{};

private:
    [[nodiscard]] int brick_of(const std::array<int, 3>& block) const noexcept;
    [[nodiscard]] float corner(int x, int y, int z) const noexcept;  ///< of sparse blocks
    void fill_dense(const std::array<int, 3>& block, float* values) const noexcept;
    void fill_interpolated(const std::array<int, 3>& block, float* values) const noexcept;

    GridArrays arrays_;
};

}  // namespace pliant
