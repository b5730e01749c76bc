#pragma once

#include <cstddef>
#include <cstdint>

/// Sums of sparse columns of 3×3 blocks, compiled for each instruction set. Blocks are stored by
/// columns, nine floats each; three more floats must follow the last one.
namespace pliant {

/// Vectors of sums have a fourth value, which means nothing.
inline constexpr std::size_t kPaddedBlock = 4;
inline constexpr std::size_t kBlockPad = 3;

struct SparseBlocks {
    const int* nodes;
    const float* blocks;
    std::size_t count;
};
/// sum[nodes[k]] += blocks[k] weights; meanwhile `next` comes into the cache.
void add_sparse_blocks(const SparseBlocks& column, const float* weights, const SparseBlocks& next,
                       float* sum) noexcept;
/// out = Σ weights[k] blocks[places[k]], nine values by columns
void sum_blocks(const std::uint32_t* places, const float* weights, int count, const float* blocks,
                float* out) noexcept;
/// Takes the padding out of `count` vectors, in place.
void remove_padding(float* values, std::size_t count) noexcept;
/// out = Σ weights[k] sum[nodes[k]], four values
void sum_padded(const int* nodes, const float* weights, int count, const float* sum,
                float* out) noexcept;

}  // namespace pliant
