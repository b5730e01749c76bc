#include "pliant/fem/symbolic_factor.h"

#include "pliant/fem/ordering.h"

#include <cassert>

namespace pliant {
namespace {

/// Liu's algorithm: the parent of k is the first later column that L couples with it.
std::vector<int> elimination_tree(const NodeGraph& graph, std::span<const int> order,
                                  const std::vector<int>& position) {
    std::vector<int> parent(order.size(), -1), ancestor(order.size(), -1);
    for (int k = 0; k < static_cast<int>(order.size()); ++k)
        for (const int neighbour : graph.of(order[k])) {
            // climb from each earlier neighbour to its present root, shortening the path
            int i = position[neighbour];
            while (i >= 0 && i < k) {
                const int next = ancestor[i];
                ancestor[i] = k;
                if (next < 0) parent[i] = k;
                i = next;
            }
        }
    return parent;
}

/// Columns so that every subtree is contiguous and ends with its root.
std::vector<int> postorder(const std::vector<int>& parent) {
    const int n = static_cast<int>(parent.size());
    std::vector<int> first_child(parent.size(), -1), next_sibling(parent.size(), -1);
    std::vector<int> sequence, stack;
    sequence.reserve(parent.size());
    for (int k = n - 1; k >= 0; --k)
        if (parent[k] >= 0) {
            next_sibling[k] = first_child[parent[k]];
            first_child[parent[k]] = k;
        }
    for (int root = 0; root < n; ++root) {
        if (parent[root] >= 0) continue;
        stack.push_back(root);
        while (!stack.empty()) {
            const int k = stack.back();
            if (first_child[k] >= 0) {
                stack.push_back(first_child[k]);
                first_child[k] = next_sibling[first_child[k]];
            } else {
                sequence.push_back(k);
                stack.pop_back();
            }
        }
    }
    return sequence;
}

/// Row i of L is a subtree of the elimination tree whose leaves are some of the neighbours of i.
/// Counting, for each column, the rows that have a leaf there, minus the rows whose branches meet
/// there, and summing over subtrees gives the column counts.
std::vector<int> column_counts(const NodeGraph& graph, std::span<const int> order,
                               const std::vector<int>& position, const std::vector<int>& parent) {
    const int n = static_cast<int>(order.size());
    const std::vector<int> sequence = postorder(parent);
    std::vector<int> first_descendant(order.size(), -1);  // place in `sequence`
    std::vector<int> counts(order.size(), 0);
    for (int place = 0; place < n; ++place)
        for (int k = sequence[place]; k >= 0 && first_descendant[k] < 0; k = parent[k]) {
            first_descendant[k] = place;
        }

    // disjoint sets: all columns done so far, joined to their parents
    std::vector<int> joined(order.size());
    for (int k = 0; k < n; ++k) joined[k] = k;
    const auto root_of = [&](int k) {
        int root = k;
        while (joined[root] != root) root = joined[root];
        while (joined[k] != root) {
            const int next = joined[k];
            joined[k] = root;
            k = next;
        }
        return root;
    };

    std::vector<int> latest_leaf(order.size(), -1);   // of row i
    std::vector<int> latest_first(order.size(), -1);  // largest first descendant of its leaves
    for (int place = 0; place < n; ++place) {
        const int k = sequence[place];
        if (first_descendant[k] == place) ++counts[k];  // leaf of the tree: its own diagonal
        if (parent[k] >= 0) --counts[parent[k]];        // its diagonal does not reach the parent
        for (const int neighbour : graph.of(order[k])) {
            const int i = position[neighbour];
            if (i <= k || first_descendant[k] <= latest_first[i]) continue;
            latest_first[i] = first_descendant[k];
            ++counts[k];
            if (latest_leaf[i] >= 0) --counts[root_of(latest_leaf[i])];
            latest_leaf[i] = k;
        }
        if (parent[k] >= 0) joined[k] = parent[k];
    }
    for (int k = 0; k < n; ++k)  // children come before their parents
        if (parent[k] >= 0) counts[parent[k]] += counts[k];
    return counts;
}

}  // namespace

SymbolicFactor symbolic_factor(const NodeGraph& graph, std::span<const int> order,
                               int unknowns_per_node) {
    assert(static_cast<int>(order.size()) == graph.num_nodes() && unknowns_per_node > 0);
    const std::vector<int> position = positions_in(order);
    SymbolicFactor factor;
    factor.parent = elimination_tree(graph, order, position);
    factor.column_counts = column_counts(graph, order, position, factor.parent);

    std::vector<char> is_inactive(order.size(), 0);
    for (const int node : graph.inactive) is_inactive[node] = 1;
    const std::int64_t b = unknowns_per_node;
    const auto num_neighbours = static_cast<std::int64_t>(graph.neighbours.size());
    factor.matrix_nonzeros = b * b * num_neighbours;
    factor.fill = -b * b * (num_neighbours / 2);
    for (std::size_t k = 0; k < order.size(); ++k) {
        const bool identity = is_inactive[order[k]] != 0;
        const std::int64_t below = b * (factor.column_counts[k] - 1);
        factor.matrix_nonzeros += identity ? b : b * b;
        factor.fill += b * below;
        // within its diagonal block, column c has b − c entries
        for (std::int64_t c = 0; c < b; ++c) {
            const std::int64_t d = below + (identity ? 1 : b - c);
            factor.factor_nonzeros += d;
            factor.flops += static_cast<double>(d) * static_cast<double>(d);
        }
    }
    return factor;
}

}  // namespace pliant
