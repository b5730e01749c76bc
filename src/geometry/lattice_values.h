#pragma once

#include "geometry/bcc_lattice.h"
#include "pliant/core/parallel.h"
#include "pliant/core/progress.h"
#include "pliant/geometry/implicit.h"

namespace pliant {

/// Values of a body's function at the nodes of a lattice, in cell sides: negative inside,
/// ±infinity at nodes whose sign is known although the function was not evaluated there. Both ends
/// of every edge with a sign change are finite.
using NodeValues = std::vector<float>;

/// Skips regions that cannot meet the surface by the Lipschitz bound. Throws InputError when the
/// border of the lattice is not outside. Deterministic.
[[nodiscard]] NodeValues sample_nodes(const Implicit& body, const BccLattice& lattice,
                                      Progress& progress);

/// Runs `collect(k, list)` on all layers of cells and joins the lists in order.
template <class Item, class Collect>
std::vector<Item> join_layers(const BccLattice& lattice, Collect&& collect) {
    std::vector<std::vector<Item>> lists(static_cast<std::size_t>(lattice.cells()[2]));
    parallel_for(lists.size(), 1, [&](std::size_t k) { collect(static_cast<int>(k), lists[k]); });
    std::size_t total = 0;
    for (const auto& list : lists) total += list.size();
    std::vector<Item> joined;
    joined.reserve(total);
    for (auto& list : lists) {
        joined.insert(joined.end(), list.begin(), list.end());
        list = {};
    }
    return joined;
}

}  // namespace pliant
