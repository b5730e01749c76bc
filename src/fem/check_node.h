#pragma once

#include "pliant/core/error.h"

namespace pliant {

/// Throws InputError unless 0 ≤ node < num_nodes.
inline void check_node(int node, int num_nodes) {
    if (node < 0 || node >= num_nodes)
        throw InputError("", "node", std::to_string(node), "0 to " + std::to_string(num_nodes - 1));
}

}  // namespace pliant
