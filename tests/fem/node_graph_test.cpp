#include "pliant/fem/node_graph.h"

#include "fem/graph_samples.h"
#include "geometry/simple_volumes.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using test::Random;

/// All pairs, by looking at every element.
std::set<std::pair<int, int>> coupled_pairs(const VolumeMesh& mesh, const std::set<int>& fixed) {
    std::set<std::pair<int, int>> pairs;
    for (int e = 0; e < mesh.num_elements(); ++e)
        for (const int i : mesh.element(e))
            for (const int j : mesh.element(e))
                if (i != j && !fixed.contains(i) && !fixed.contains(j)) pairs.emplace(i, j);
    return pairs;
}

std::set<std::pair<int, int>> edges(const NodeGraph& graph) {
    std::set<std::pair<int, int>> pairs;
    for (int i = 0; i < graph.num_nodes(); ++i)
        for (const int j : graph.of(i)) pairs.emplace(i, j);
    EXPECT_EQ(pairs.size(), graph.neighbours.size());  // each once
    return pairs;
}

TEST(NodeGraph, CouplesNodesThatShareAnElement) {
    Random random(3);
    const VolumeMesh mesh = test::irregular_tets(4, random);
    const std::vector<int> fixed{2, 3, 50};
    const NodeGraph graph = node_graph(mesh, fixed);
    EXPECT_EQ(graph.num_nodes(), mesh.num_vertices());
    EXPECT_EQ(edges(graph), coupled_pairs(mesh, {2, 3, 50}));
    for (int i = 0; i < graph.num_nodes(); ++i)
        EXPECT_TRUE(std::is_sorted(graph.of(i).begin(), graph.of(i).end()));
}

TEST(NodeGraph, ListsFixedAndUnusedNodesAsInactive) {
    VolumeMesh mesh = hex_box(2, 1, 1, test::box_of(2, 1, 1));
    mesh.vertices.emplace_back(9, 9, 9);  // vertex 12, in no element
    const std::vector<int> fixed{6, 0, 3, 9};
    const NodeGraph graph = node_graph(mesh, fixed);
    EXPECT_EQ(graph.inactive, (std::vector<int>{0, 3, 6, 9, 12}));
    for (const int node : graph.inactive) EXPECT_TRUE(graph.of(node).empty());
    EXPECT_EQ(graph.of(1).size(), 7u);
}

TEST(NodeGraph, MastersTakeThePlaceOfHangingNodes) {
    // a cube of side 2 with four small ones on its face x = 2
    const VolumeMesh mesh = test::cubes_mesh(
        {{{0, 0, 0}, 2}, {{2, 0, 0}, 1}, {{2, 1, 0}, 1}, {{2, 0, 1}, 1}, {{2, 1, 1}, 1}});
    ASSERT_EQ(mesh.hanging.size(), 5u);  // face centre and edge middles
    const NodeGraph graph = node_graph(mesh);
    std::set<std::pair<int, int>> expected;
    for (int e = 0; e < mesh.num_elements(); ++e) {
        std::set<int> nodes;
        for (const int node : mesh.element(e)) {
            const auto h = std::find_if(mesh.hanging.begin(), mesh.hanging.end(),
                                        [&](const HangingNode& x) { return x.vertex == node; });
            if (h == mesh.hanging.end())
                nodes.insert(node);
            else
                nodes.insert(h->masters.begin(), h->masters.begin() + h->num_masters);
        }
        for (const int i : nodes)
            for (const int j : nodes)
                if (i != j) expected.emplace(i, j);
    }
    EXPECT_EQ(edges(graph), expected);
    ASSERT_EQ(graph.inactive.size(), 5u);
    for (const HangingNode& h : mesh.hanging) EXPECT_TRUE(graph.of(h.vertex).empty());
}

TEST(NodeGraph, FollowsThePatternOfASparseMatrix) {
    Random random(5);
    const int n = 20, b = 3;
    Eigen::SparseMatrix<double> A(n * b, n * b);
    std::set<std::pair<int, int>> expected;
    for (int k = 0; k < 60; ++k) {  // either triangle, and within diagonal blocks
        const int row = random.below(n * b), column = random.below(n * b);
        A.coeffRef(row, column) = 1;
        if (row / b == column / b) continue;
        expected.emplace(row / b, column / b);
        expected.emplace(column / b, row / b);
    }
    const NodeGraph graph = node_graph(A, b);
    EXPECT_EQ(graph.num_nodes(), n);
    EXPECT_EQ(edges(graph), expected);
    EXPECT_TRUE(graph.inactive.empty());
}

TEST(NodeGraph, MayBeEmpty) {
    EXPECT_EQ(node_graph(VolumeMesh{}).num_nodes(), 0);
    EXPECT_EQ(node_graph(Eigen::SparseMatrix<double>(0, 0)).num_nodes(), 0);
}

}  // namespace
}  // namespace pliant
