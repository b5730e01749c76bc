#include "fem/bipartite_cover.h"

#include "geometry/test_meshes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace pliant {
namespace {

using test::Random;

BipartiteGraph random_bipartite(int num_left, int num_right, double probability, Random& random) {
    BipartiteGraph graph;
    graph.num_right = num_right;
    for (int i = 0; i < num_left; ++i) {
        for (int j = 0; j < num_right; ++j)
            if (random.uniform(0, 1) < probability) graph.right.push_back(j);
        graph.offsets.push_back(static_cast<int>(graph.right.size()));
    }
    return graph;
}

/// Tries every choice for left vertex i and those after it.
int largest_matching(const BipartiteGraph& graph, int i, unsigned taken) {
    if (i == graph.num_left()) return 0;
    int best = largest_matching(graph, i + 1, taken);
    for (int e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e)
        if (const unsigned bit = 1u << graph.right[e]; !(taken & bit))
            best = std::max(best, 1 + largest_matching(graph, i + 1, taken | bit));
    return best;
}

/// Checks that the matching is one and returns its size.
int checked_matching_size(const BipartiteGraph& graph) {
    const std::vector<int> partner = maximum_matching(graph);
    std::set<int> taken;
    for (int i = 0; i < graph.num_left(); ++i) {
        if (partner[i] < 0) continue;
        const auto begin = graph.right.begin() + graph.offsets[i];
        const auto end = graph.right.begin() + graph.offsets[i + 1];
        EXPECT_NE(std::find(begin, end, partner[i]), end) << "not an edge";
        EXPECT_TRUE(taken.insert(partner[i]).second) << "matched twice";
    }
    return static_cast<int>(taken.size());
}

/// Checks that every edge is covered and returns the size of the cover.
int checked_cover_size(const BipartiteGraph& graph) {
    const VertexCover cover = minimum_cover(graph);
    for (int i = 0; i < graph.num_left(); ++i)
        for (int e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e)
            EXPECT_TRUE(std::binary_search(cover.left.begin(), cover.left.end(), i) ||
                        std::binary_search(cover.right.begin(), cover.right.end(), graph.right[e]));
    return static_cast<int>(cover.left.size() + cover.right.size());
}

TEST(BipartiteCover, MatchingAndCoverAreAsLargeAsBruteForceSays) {
    Random random(11);
    for (int trial = 0; trial < 600; ++trial) {
        const BipartiteGraph graph =
            random_bipartite(random.below(8), random.below(8), random.uniform(0.05, 0.6), random);
        const int expected = largest_matching(graph, 0, 0);
        EXPECT_EQ(checked_matching_size(graph), expected);
        EXPECT_EQ(checked_cover_size(graph), expected);
    }
}

TEST(BipartiteCover, CoverOfLargeGraphsHasTheSizeOfTheMatching) {
    // equal sizes prove both optimal
    Random random(12);
    for (const double degree : {0.8, 1.5, 2.5, 5.0}) {
        const BipartiteGraph graph = random_bipartite(600, 500, degree / 500, random);
        EXPECT_EQ(checked_cover_size(graph), checked_matching_size(graph));
    }
}

TEST(BipartiteCover, FindsAugmentingPathsAsLongAsTheGraph) {
    // left i touches right i + 1 and i, tried in this order: a greedy matching leaves the last left
    // vertex alone, and only a path through all others helps
    const int n = 20000;
    BipartiteGraph graph;
    graph.num_right = n;
    for (int i = 0; i < n; ++i) {
        if (i + 1 < n) graph.right.push_back(i + 1);
        if (i + 1 < n) graph.right.push_back(i);
        if (i + 1 == n) graph.right.push_back(i);
        graph.offsets.push_back(static_cast<int>(graph.right.size()));
    }
    EXPECT_EQ(checked_matching_size(graph), n);
    EXPECT_EQ(checked_cover_size(graph), n);
}

TEST(BipartiteCover, AllowsDoubleEdgesAndNoEdges) {
    BipartiteGraph graph;
    graph.num_right = 2;
    graph.right = {1, 1, 1};
    graph.offsets = {0, 2, 3, 3};
    EXPECT_EQ(checked_matching_size(graph), 1);
    EXPECT_EQ(checked_cover_size(graph), 1);
    EXPECT_EQ(checked_cover_size(BipartiteGraph{}), 0);
}

}  // namespace
}  // namespace pliant
