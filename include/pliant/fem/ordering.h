#pragma once

#include "pliant/fem/node_graph.h"

#include <cstdint>
#include <string_view>

namespace pliant {

/// Ways to number the nodes before a sparse factorisation, docs/fem.md "Orderings". The first four
/// look at the graph alone; the dissections need the mesh.
enum class Ordering {
    Natural,        ///< as they come
    Random,         ///< what an ordering saves is measured against this
    MinimumDegree,  ///< of what is left, the node with the fewest neighbours [GeorgeLiu1989]
    Metis,          ///< multilevel graph partitioning [KarypisKumar1998]
    RegularNestedDissection,  ///< separators are node layers of a grid [George1973]
    SimpleNestedDissection,   ///< separators are the elements that a plane cuts
    CoverNestedDissection,    ///< smallest node set that covers all edges across a plane
};

[[nodiscard]] std::string_view to_string(Ordering method) noexcept;
/// Whether the method uses positions and elements.
[[nodiscard]] bool needs_mesh(Ordering method) noexcept;

/// The nodes in the order of their elimination, inactive ones first. Throws InputError for a method
/// that needs the mesh. `seed` serves Random and Metis. The same on every run; thread-safe.
[[nodiscard]] std::vector<int> elimination_order(const NodeGraph& graph, Ordering method,
                                                 std::uint64_t seed = 1);
/// Any method; nodes of `fixed` are inactive, and so are hanging and unused ones. Throws InputError
/// when RegularNestedDissection finds no grid: every element may reach from one layer of equal x
/// (y, z) to the next at most. Dissections take O(n log n) time, the cover O(n^1.5 log n) at worst.
[[nodiscard]] std::vector<int> elimination_order(const VolumeMesh& mesh, std::span<const int> fixed,
                                                 Ordering method, std::uint64_t seed = 1);

/// The order of unknowns i b + c, c = 0 … b − 1, that follows an order of nodes i.
[[nodiscard]] std::vector<int> order_of_unknowns(std::span<const int> order, int unknowns_per_node);
/// position[order[k]] = k.
[[nodiscard]] std::vector<int> positions_in(std::span<const int> order);

}  // namespace pliant
