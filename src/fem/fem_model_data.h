#pragma once

#include "fem/cut_hexes.h"
#include "fem/element_blocks.h"
#include "fem/element_quadrature.h"
#include "fem/hex_kernels.h"
#include "fem/tet_batches.h"
#include "fem/tet_domains.h"
#include "pliant/core/parallel.h"
#include "pliant/fem/fem_model.h"

namespace pliant {

/// Per-element arrays follow the places of `blocks`, not the numbers of the mesh.
struct FemModelData {
    VolumeMesh mesh;
    std::vector<Material> materials;
    ElementFormulation elements = ElementFormulation::Accurate;
    ElementBlocks blocks;
    std::vector<int> nodes;               ///< nodes_per_element each
    std::vector<int> regions;             ///< index of the material
    std::vector<QuadraturePoint> points;  ///< points_per_element each
    /// Nodes coupled to each node, itself among them, ascending: the block columns of K.
    std::vector<int> column_offsets, rows;
    /// For nodes a, b of each element, at b N + a: place of a in the block column of b.
    std::vector<int> slots;
    TetBatches tets;   ///< of plain Tet4 bodies
    std::unique_ptr<TetDomains> domains;  ///< of accurate Tet4 bodies
    std::unique_ptr<DomainScratchPool> domain_scratch;
    HexBatches hexes;  ///< of Hex8 bodies
    CutHexes cut;      ///< of Hex8 bodies of accurate elements

    /// Of the first entry of the block (a, b) whose slot is given; the next column follows
    /// column_height(b) entries later.
    [[nodiscard]] std::size_t value_index(int b, int slot) const noexcept {
        return 9 * static_cast<std::size_t>(column_offsets[b]) + 3 * static_cast<std::size_t>(slot);
    }
    [[nodiscard]] int column_height(int b) const noexcept {
        return 3 * (column_offsets[b + 1] - column_offsets[b]);
    }
};

/// Calls `body(block, first place, end place)` for every block, so that no two calls at a time
/// touch one node; see ElementBlocks.
template <class Body>
void for_each_block(const ElementBlocks& blocks, const Body& body) {
    parallel_phases(blocks.colour_offsets, [&](int block) {
        body(block, blocks.block_offsets[block], blocks.block_offsets[block + 1]);
    });
}

}  // namespace pliant
