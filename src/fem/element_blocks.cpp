#include "fem/element_blocks.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Spreads 21 bits so that two zero bits follow each.
std::uint64_t spread_bits(std::uint64_t v) {
    v = (v | v << 32) & 0x001f00000000ffffULL;
    v = (v | v << 16) & 0x001f0000ff0000ffULL;
    v = (v | v << 8) & 0x100f00f00f00f00fULL;
    v = (v | v << 4) & 0x10c30c30c30c30c3ULL;
    return (v | v << 2) & 0x1249249249249249ULL;
}

/// Elements along a Morton curve through their centroids.
std::vector<int> elements_along_curve(const VolumeMesh& mesh) {
    const int n = mesh.num_elements();
    std::vector<Vector3d> centroids(static_cast<std::size_t>(n), Vector3d::Zero());
    for (int e = 0; e < n; ++e) {
        for (const int node : mesh.element(e)) centroids[e] += mesh.vertices[node];
        centroids[e] /= nodes_per_element(mesh.kind);
    }
    Vector3d low = Vector3d::Zero(), high = low;
    if (n > 0) low = high = centroids[0];
    for (const Vector3d& c : centroids) {
        low = low.cwiseMin(c);
        high = high.cwiseMax(c);
    }
    const double side = (high - low).maxCoeff();
    const double scale = side > 0 ? static_cast<double>((1 << 21) - 1) / side : 0.0;
    std::vector<std::uint64_t> code(static_cast<std::size_t>(n));
    for (int e = 0; e < n; ++e)
        for (int k = 0; k < 3; ++k)
            code[e] |= spread_bits(static_cast<std::uint64_t>(scale * (centroids[e][k] - low[k])))
                       << k;
    std::vector<int> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order,
                      [&](int a, int b) { return code[a] != code[b] ? code[a] < code[b] : a < b; });
    return order;
}

/// For each node the blocks around it, ascending, in compressed rows.
struct BlocksOfNodes {
    std::vector<int> offsets, blocks;
};

BlocksOfNodes blocks_of_nodes(const VolumeMesh& mesh, const std::vector<int>& order,
                              int elements_per_block) {
    BlocksOfNodes table;
    for (const bool counting : {true, false}) {
        std::vector<int> last(mesh.vertices.size(), -1), count(mesh.vertices.size() + 1, 0);
        for (int i = 0; i < static_cast<int>(order.size()); ++i)
            for (const int node : mesh.element(order[i])) {
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
    const std::vector<int> order = elements_along_curve(mesh);
    const int n = mesh.num_elements();
    const int num_blocks = (n + elements_per_block - 1) / elements_per_block;
    const BlocksOfNodes around = blocks_of_nodes(mesh, order, elements_per_block);
    const auto end_of = [&](int block) { return std::min(n, (block + 1) * elements_per_block); };

    // each block takes the lowest colour that no neighbour has
    std::vector<int> colour(static_cast<std::size_t>(num_blocks), -1);
    std::vector<int> taken_by;  // the block that last saw this colour beside it
    for (int block = 0; block < num_blocks; ++block) {
        for (int i = block * elements_per_block; i < end_of(block); ++i)
            for (const int node : mesh.element(order[i]))
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
