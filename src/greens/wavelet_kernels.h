#pragma once

#include <cstddef>
#include <cstdint>

/// Sums of sparse columns of 3×3 blocks, compiled for each instruction set. Blocks are stored by
/// columns, nine numbers each; three more must follow the last one (LargePages has zeros there).
namespace pliant {

/// Vectors of sums have a fourth value, which means nothing.
inline constexpr std::size_t kPaddedBlock = 4;

/// Blocks of a column in one domain: floats, or integers with every second unit for its levels.
struct SparseBlocks {
    const int* nodes = nullptr;
    const float* blocks = nullptr;
    const std::int16_t* integers = nullptr;
    const std::uint32_t* level_ends = nullptr;
    const float* units = nullptr;
    std::size_t num_levels = 0, count = 0;
};
/// sum[nodes[k]] += blocks[k] weights
void add_sparse_blocks(const SparseBlocks& column, const float* weights, float* sum) noexcept;
/// out = Σ weights[k] blocks[places[k]], nine values by columns
void sum_blocks(const std::uint32_t* places, const float* weights, int count, const float* blocks,
                float* out) noexcept;
void sum_blocks(const std::uint32_t* places, const float* weights, int count,
                const std::int16_t* integers, float* out) noexcept;
/// Takes the padding out of `count` vectors, in place.
void remove_padding(float* values, std::size_t count) noexcept;
/// out = Σ weights[k] sum[nodes[k]], four values
void sum_padded(const int* nodes, const float* weights, int count, const float* sum,
                float* out) noexcept;

}  // namespace pliant
