#pragma once

#include <vector>

namespace pliant {

/// Edges between two sides; double edges are allowed. The partners of left vertex i are
/// right[offsets[i]] … right[offsets[i + 1] − 1].
struct BipartiteGraph {
    int num_right = 0;
    std::vector<int> offsets{0};
    std::vector<int> right;

    [[nodiscard]] int num_left() const noexcept { return static_cast<int>(offsets.size()) - 1; }
};

/// The partner of each left vertex in a maximum matching, or −1, by [HopcroftKarp1973]:
/// O(edges · √vertices).
[[nodiscard]] std::vector<int> maximum_matching(const BipartiteGraph& graph);

/// Vertices, ascending, that touch every edge; as few as the matching has edges.
struct VertexCover {
    std::vector<int> left, right;
};
/// König's theorem: with Z reachable by alternating paths from the unmatched left vertices, the
/// smallest cover is (left \ Z) ∪ (right ∩ Z).
[[nodiscard]] VertexCover minimum_cover(const BipartiteGraph& graph);

}  // namespace pliant
