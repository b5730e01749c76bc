#pragma once

#include "pliant/geometry/volume_mesh.h"

#include <functional>
#include <span>
#include <vector>

namespace pliant {

/// Elements in an order for parallel assembly: blocks of neighbouring elements, and blocks of one
/// colour share no node. Colours one after the other, the blocks of a colour at once, the elements
/// of a block in order: every sum is formed in the same order whatever the number of threads.
struct ElementBlocks {
    std::vector<int> elements;           ///< element at each place
    std::vector<int> block_offsets{0};   ///< of each block's first place
    std::vector<int> colour_offsets{0};  ///< of each colour's first block

    [[nodiscard]] int num_blocks() const noexcept {
        return static_cast<int>(block_offsets.size()) - 1;
    }
    [[nodiscard]] int num_colours() const noexcept {
        return static_cast<int>(colour_offsets.size()) - 1;
    }
};

[[nodiscard]] ElementBlocks element_blocks(const VolumeMesh& mesh, int elements_per_block);
/// The same for anything that has nodes below num_nodes, in the order given.
[[nodiscard]] ElementBlocks coloured_blocks(
    int num_nodes, const std::vector<int>& order, int per_block,
    const std::function<std::span<const int>(int)>& nodes_of);

}  // namespace pliant
