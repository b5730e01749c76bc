#pragma once

#include "pliant/fem/node_graph.h"

#include <cstdint>

namespace pliant {

/// METIS_NodeND on the nodes that have neighbours; the others come first. `weights`: unknowns of
/// each node, empty where all have the same number. Serialised by a lock, because METIS draws from
/// the C library's generator.
[[nodiscard]] std::vector<int> metis_order(const NodeGraph& graph, std::uint64_t seed,
                                           std::span<const int> weights = {});

}  // namespace pliant
