#include "pliant/fem/symbolic_factor.h"

#include "core/dense_algebra.h"
#include "fem/graph_samples.h"
#include "pliant/fem/ordering.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using test::PlainElimination;
using test::Random;

TEST(SymbolicFactor, AgreesWithPlainElimination) {
    Random random(21);
    for (int trial = 0; trial < 200; ++trial) {
        const int n = 1 + random.below(40);
        const NodeGraph graph = test::random_graph(n, random.uniform(0, 0.3), random);
        const std::vector<int> order =
            elimination_order(graph, Ordering::Random, static_cast<std::uint64_t>(trial));
        const SymbolicFactor factor = symbolic_factor(graph, order, 1);
        const std::vector<int> position = positions_in(order);

        PlainElimination elimination(graph);
        std::int64_t nonzeros = 0, flops = 0;
        for (int k = 0; k < n; ++k) {
            const auto& open = elimination.neighbours(order[k]);
            int parent = -1;
            for (const int i : open)
                if (parent < 0 || position[i] < parent) parent = position[i];
            EXPECT_EQ(factor.parent[k], parent);
            const auto d = static_cast<std::int64_t>(open.size()) + 1;
            EXPECT_EQ(factor.column_counts[k], d);
            nonzeros += d;
            flops += d * d;
            elimination.eliminate(order[k]);
        }
        const auto entries_of_A = static_cast<std::int64_t>(graph.neighbours.size());
        EXPECT_EQ(factor.matrix_nonzeros, n + entries_of_A);
        EXPECT_EQ(factor.factor_nonzeros, nonzeros);
        EXPECT_EQ(factor.fill, nonzeros - n - entries_of_A / 2);
        EXPECT_EQ(factor.flops, static_cast<double>(flops));
    }
}

TEST(SymbolicFactor, BlocksOfThreeCountTheUnknownsOfTheFullMatrix) {
    // the same counts as from the graph of all unknowns; inactive nodes have identity rows
    Random random(22);
    const VolumeMesh mesh = test::irregular_tets(3, random);
    const std::vector<int> fixed{0, 7, 30};
    const NodeGraph graph = node_graph(mesh, fixed);
    std::vector<char> is_inactive(mesh.vertices.size(), 0);
    for (const int i : graph.inactive) is_inactive[i] = 1;
    std::vector<Eigen::Triplet<double>> entries;
    for (int i = 0; i < graph.num_nodes(); ++i)
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b) {
                if (a == b || !is_inactive[i]) entries.emplace_back(3 * i + a, 3 * i + b, 1.0);
                for (const int j : graph.of(i)) entries.emplace_back(3 * i + a, 3 * j + b, 1.0);
            }
    Eigen::SparseMatrix<double> A(3 * graph.num_nodes(), 3 * graph.num_nodes());
    A.setFromTriplets(entries.begin(), entries.end());

    const std::vector<int> order = elimination_order(graph, Ordering::MinimumDegree);
    const SymbolicFactor blocks = symbolic_factor(graph, order);
    const SymbolicFactor unknowns = symbolic_factor(node_graph(A), order_of_unknowns(order, 3), 1);
    EXPECT_EQ(blocks.matrix_nonzeros, A.nonZeros());
    EXPECT_EQ(blocks.matrix_nonzeros, unknowns.matrix_nonzeros);
    EXPECT_EQ(blocks.factor_nonzeros, unknowns.factor_nonzeros);
    EXPECT_EQ(blocks.fill, unknowns.fill);
    EXPECT_EQ(blocks.fill % 9, 0);
    EXPECT_EQ(blocks.flops, unknowns.flops);
}

TEST(SymbolicFactor, PredictsTheNonzerosOfANumericalFactor) {
    Random random(23);
    const NodeGraph graph = test::random_graph(30, 0.12, random);
    const std::vector<int> order = elimination_order(graph, Ordering::MinimumDegree);
    const std::vector<int> position = positions_in(order);
    // diagonally dominant with random values: nothing cancels
    Eigen::MatrixXd A = 40 * Eigen::MatrixXd::Identity(30, 30);
    for (int i = 0; i < 30; ++i)
        for (const int j : graph.of(i))
            if (i < j)
                A(position[i], position[j]) = A(position[j], position[i]) = random.uniform(0.5, 1);
    const Eigen::MatrixXd L = lower_cholesky(A);
    const SymbolicFactor factor = symbolic_factor(graph, order, 1);
    for (int k = 0; k < 30; ++k)
        EXPECT_EQ(factor.column_counts[k], (L.col(k).array() != 0).count());
}

TEST(SymbolicFactor, HandlesLongChainsAndNoNodes) {
    // a path in natural order: no fill, each node its neighbour's child
    NodeGraph path;
    const int n = 300000;
    for (int i = 0; i < n; ++i) {
        if (i > 0) path.neighbours.push_back(i - 1);
        if (i + 1 < n) path.neighbours.push_back(i + 1);
        path.offsets.push_back(static_cast<int>(path.neighbours.size()));
    }
    const SymbolicFactor factor =
        symbolic_factor(path, elimination_order(path, Ordering::Natural), 1);
    EXPECT_EQ(factor.fill, 0);
    EXPECT_EQ(factor.factor_nonzeros, 2 * n - 1);
    EXPECT_EQ(factor.parent[0], 1);
    EXPECT_EQ(factor.parent[n - 1], -1);
    EXPECT_EQ(symbolic_factor(NodeGraph{}, {}).factor_nonzeros, 0);
}

}  // namespace
}  // namespace pliant
