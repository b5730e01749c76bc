#pragma once

#include "pliant/geometry/volume_mesh.h"

#include <Eigen/SparseCore>
#include <span>
#include <vector>

namespace pliant {

/// Which nodes couple in the system matrix: an undirected graph without loops, in compressed rows.
struct NodeGraph {
    std::vector<int> offsets{0};  ///< of each node's first neighbour; one more at the end
    std::vector<int> neighbours;  ///< ascending within a node; every edge is stored twice
    std::vector<int> inactive;    ///< nodes whose rows are identity, ascending; no neighbours

    [[nodiscard]] int num_nodes() const noexcept { return static_cast<int>(offsets.size()) - 1; }
    [[nodiscard]] std::span<const int> of(int node) const noexcept {
        return {neighbours.data() + offsets[node], neighbours.data() + offsets[node + 1]};
    }
};

/// Nodes that share an element. Inactive are the `fixed` ones, those in no element, and hanging
/// ones, whose masters take their place in the element.
[[nodiscard]] NodeGraph node_graph(const VolumeMesh& mesh, std::span<const int> fixed = {});
/// Nodes with a stored entry between their unknowns, in either triangle; node i holds the unknowns
/// i b … i b + b − 1 with b = `unknowns_per_node`. All nodes are active.
[[nodiscard]] NodeGraph node_graph(const Eigen::SparseMatrix<double>& A, int unknowns_per_node = 1);

}  // namespace pliant
