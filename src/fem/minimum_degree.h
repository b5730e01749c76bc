#pragma once

#include "pliant/fem/node_graph.h"

namespace pliant {

/// Minimum degree with exact degrees, on the quotient graph, docs/fem.md "Orderings".
[[nodiscard]] std::vector<int> minimum_degree_order(const NodeGraph& graph);

}  // namespace pliant
