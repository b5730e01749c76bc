#pragma once

#include "fem/active_elements.h"

namespace pliant {

/// Where one cut went, in positions of the order: no element couples a node of the right part,
/// [right, left), with one of the left part, [left, separator). Cuts inside separators are not
/// listed: their two parts may still be coupled by elements outside.
struct DissectionSplit {
    int right = 0, left = 0, separator = 0;
};

struct Dissection {
    std::vector<int> order;  ///< the active nodes, first eliminated first
    std::vector<DissectionSplit> splits;
};

/// docs/fem.md "Orderings": the elements that a plane cuts are the separator, ordered in the same
/// way.
[[nodiscard]] Dissection simple_dissection(const VolumeMesh& mesh, const ActiveElements& elements);
/// The separator is a smallest node set that covers all edges across the plane.
[[nodiscard]] Dissection cover_dissection(const VolumeMesh& mesh, const ActiveElements& elements);
/// The separator is the middle node layer along the longest axis. Throws InputError when an element
/// reaches over more than one layer of nodes.
[[nodiscard]] Dissection regular_dissection(const VolumeMesh& mesh, const ActiveElements& elements);

}  // namespace pliant
