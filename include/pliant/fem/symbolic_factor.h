#pragma once

#include "pliant/fem/node_graph.h"

#include <cstdint>

namespace pliant {

/// What the factor A = L Lᵀ will look like and cost, without accidental cancellation. Column k
/// belongs to the node eliminated as the k-th. The totals count unknowns, b per node: blocks
/// between coupled nodes and the diagonal blocks are full, inactive nodes have identity rows.
struct SymbolicFactor {
    std::vector<int> parent;           ///< elimination tree; −1 for roots
    std::vector<int> column_counts;    ///< nodes in column k of L, with the diagonal
    std::int64_t matrix_nonzeros = 0;  ///< of A, both triangles
    std::int64_t factor_nonzeros = 0;  ///< of L with its diagonal, Σ d_j: the storage in numbers
    std::int64_t fill = 0;             ///< entries below the diagonal, zero in A but not in L
    double flops = 0;                  ///< of the factorisation, Σ d_j²
};

/// Elimination tree and column counts by the skeleton graph [GilbertNgPeyton1994], in time nearly
/// linear in the edges of the graph. `order` lists the nodes in the order of their elimination.
[[nodiscard]] SymbolicFactor symbolic_factor(const NodeGraph& graph, std::span<const int> order,
                                             int unknowns_per_node = 3);

}  // namespace pliant
