#include "fem/element_blocks.h"

#include "pliant/geometry/mesh_order.h"

#include <algorithm>
#include <numeric>

namespace pliant {
namespace {

/// For each node the blocks around it, ascending, in compressed rows.
struct BlocksOfNodes {
    std::vector<int> offsets, blocks;
};

using NodesOf = std::function<std::span<const int>(int)>;

BlocksOfNodes blocks_of_nodes(int num_nodes, const std::vector<int>& order, int elements_per_block,
                              const NodesOf& nodes_of) {
    BlocksOfNodes table;
    for (const bool counting : {true, false}) {
        const auto size = static_cast<std::size_t>(num_nodes);
        std::vector<int> last(size, -1), count(size + 1, 0);
        for (int i = 0; i < static_cast<int>(order.size()); ++i)
            for (const int node : nodes_of(order[i])) {
                const int block = i / elements_per_block;
                if (last[node] == block) continue;
                last[node] = block;
                if (!counting) table.blocks[table.offsets[node] + count[node]] = block;
                ++count[node];
            }
        if (!counting) break;
        table.offsets.resize(count.size());
        std::exclusive_scan(count.begin(), count.end(), table.offsets.begin(), 0);
        table.blocks.resize(static_cast<std::size_t>(table.offsets.back()));
    }
    return table;
}

}  // namespace

ElementBlocks element_blocks(const VolumeMesh& mesh, int elements_per_block) {
    return coloured_blocks(mesh.num_vertices(), elements_along_curve(mesh), elements_per_block,
                           [&](int e) { return mesh.element(e); });
}

ElementBlocks coloured_blocks(int num_nodes, const std::vector<int>& order, int elements_per_block,
                              const NodesOf& nodes_of) {
    const int n = static_cast<int>(order.size());
    const int num_blocks = (n + elements_per_block - 1) / elements_per_block;
    const BlocksOfNodes around = blocks_of_nodes(num_nodes, order, elements_per_block, nodes_of);
    const auto end_of = [&](int block) { return std::min(n, (block + 1) * elements_per_block); };

    // each block takes the lowest colour that no neighbour has
    std::vector<int> colour(static_cast<std::size_t>(num_blocks), -1);
    std::vector<int> taken_by;  // the block that last saw this colour beside it
    for (int block = 0; block < num_blocks; ++block) {
        for (int i = block * elements_per_block; i < end_of(block); ++i)
            for (const int node : nodes_of(order[i]))
                for (int k = around.offsets[node]; k < around.offsets[node + 1]; ++k)
                    if (const int c = colour[around.blocks[k]]; c >= 0) taken_by[c] = block;
        const auto free = std::ranges::find_if(taken_by, [&](int b) { return b != block; });
        colour[block] = static_cast<int>(free - taken_by.begin());
        if (free == taken_by.end()) taken_by.push_back(-1);
    }

    ElementBlocks blocks;
    for (int c = 0; c < static_cast<int>(taken_by.size()); ++c) {
        for (int block = 0; block < num_blocks; ++block) {
            if (colour[block] != c) continue;
            blocks.elements.insert(blocks.elements.end(),
                                   order.begin() + block * elements_per_block,
                                   order.begin() + end_of(block));
            blocks.block_offsets.push_back(static_cast<int>(blocks.elements.size()));
        }
        blocks.colour_offsets.push_back(blocks.num_blocks());
    }
    return blocks;
}

}  // namespace pliant
