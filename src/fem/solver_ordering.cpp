#include "fem/metis_ordering.h"
#include "fem/solver_backend.h"

#include <algorithm>
#include <numeric>

namespace pliant {
namespace {

/// Couplings of each unknown, itself included, both ways.
struct Adjacency {
    std::vector<int> offsets, neighbours;
    [[nodiscard]] std::span<const int> of(int i) const {
        return {neighbours.data() + offsets[i], neighbours.data() + offsets[i + 1]};
    }
};

Adjacency adjacency_of_lower(const LinearSolver::Matrix& A) {
    const auto n = static_cast<int>(A.rows());
    Adjacency graph;
    graph.offsets.assign(static_cast<std::size_t>(n) + 1, 1);
    graph.offsets[0] = 0;
    const auto for_each_coupling = [&](const auto& visit) {
        for (int j = 0; j < n; ++j)
            for (LinearSolver::Matrix::InnerIterator it(A, j); it; ++it)
                if (it.row() > j) visit(static_cast<int>(it.row()), j);
    };
    for_each_coupling([&](int i, int j) {
        ++graph.offsets[i + 1];
        ++graph.offsets[j + 1];
    });
    std::partial_sum(graph.offsets.begin(), graph.offsets.end(), graph.offsets.begin());
    graph.neighbours.resize(static_cast<std::size_t>(graph.offsets.back()));
    std::vector<int> next(graph.offsets.begin(), graph.offsets.end() - 1);
    // columns come in ascending order, so that each list is sorted: lower ones, itself, higher ones
    for_each_coupling([&](int i, int j) { graph.neighbours[next[i]++] = j; });
    for (int j = 0; j < n; ++j) graph.neighbours[next[j]++] = j;
    for_each_coupling([&](int i, int j) { graph.neighbours[next[j]++] = i; });
    return graph;
}

/// Groups of neighbouring numbers with the same couplings: the components of one node. The graph of
/// groups is up to nine times smaller.
std::vector<int> group_starts(const Adjacency& graph, int n) {
    std::vector<int> starts;
    for (int i = 0; i < n; ++i) {
        const std::span<const int> row = graph.of(i);
        const bool same = i > 0 && std::ranges::equal(row, graph.of(i - 1));
        if (!same) starts.push_back(i);
    }
    return starts;
}

}  // namespace

std::vector<int> fill_reducing_order(const LinearSolver::Matrix& A) {
    const auto n = static_cast<int>(A.rows());
    const Adjacency graph = adjacency_of_lower(A);
    std::vector<int> starts = group_starts(graph, n);
    const auto num_groups = static_cast<int>(starts.size());
    std::vector<int> group(static_cast<std::size_t>(n), 0);
    for (const int start : starts)
        if (start > 0) group[start] = 1;
    std::partial_sum(group.begin(), group.end(), group.begin());
    starts.push_back(n);

    NodeGraph groups;
    std::vector<int> sizes;
    for (int g = 0; g < num_groups; ++g) {
        int last = g;
        for (const int i : graph.of(starts[g]))
            if (group[i] != g && group[i] != last) groups.neighbours.push_back(last = group[i]);
        groups.offsets.push_back(static_cast<int>(groups.neighbours.size()));
        sizes.push_back(starts[g + 1] - starts[g]);
    }

    std::vector<int> order;
    order.reserve(static_cast<std::size_t>(n));
    for (const int g : metis_order(groups, 1, sizes))
        for (int i = starts[g]; i < starts[g + 1]; ++i) order.push_back(i);
    return order;
}

}  // namespace pliant
