#include "pliant/geometry/mesh_order.h"

#include "geometry/simple_volumes.h"
#include "pliant/geometry/graded_mesh.h"
#include "pliant/geometry/structured_mesh.h"

#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::kUnitBox;

/// The same body with vertices and elements in random order, a region and a filled fraction for
/// each element.
VolumeMesh shuffled(VolumeMesh mesh, unsigned seed) {
    std::mt19937 generator(seed);
    std::vector<int> vertex(mesh.vertices.size()), element;
    std::iota(vertex.begin(), vertex.end(), 0);
    std::shuffle(vertex.begin(), vertex.end(), generator);
    element.resize(static_cast<std::size_t>(mesh.num_elements()));
    std::iota(element.begin(), element.end(), 0);
    std::shuffle(element.begin(), element.end(), generator);
    VolumeMesh result;
    result.kind = mesh.kind;
    result.region_names = {"a", "b", "c"};
    result.vertices.resize(mesh.vertices.size());
    for (int v = 0; v < mesh.num_vertices(); ++v) result.vertices[vertex[v]] = mesh.vertices[v];
    for (const int e : element) {
        for (const int v : mesh.element(e)) result.elements.push_back(vertex[v]);
        result.regions.push_back(e % 3);
        result.filled.push_back(1.0 / (1 + e % 5));
    }
    for (HangingNode h : mesh.hanging) {
        h.vertex = vertex[h.vertex];
        for (int k = 0; k < h.num_masters; ++k) h.masters[k] = vertex[h.masters[k]];
        result.hanging.push_back(h);
    }
    return result;
}

/// Region and fraction of each element, found by its corners in their order.
std::map<std::vector<double>, std::pair<int, double>> elements_by_place(const VolumeMesh& mesh) {
    std::map<std::vector<double>, std::pair<int, double>> table;
    for (int e = 0; e < mesh.num_elements(); ++e) {
        std::vector<double> place;
        for (const int v : mesh.element(e))
            for (int k = 0; k < 3; ++k) place.push_back(mesh.vertices[v][k]);
        table[place] = {mesh.regions[e], mesh.filled[e]};
    }
    return table;
}

double mean_distance_of_numbers(const VolumeMesh& mesh) {
    double sum = 0;
    for (int e = 0; e < mesh.num_elements(); ++e) {
        const auto [low, high] = std::ranges::minmax(mesh.element(e));
        sum += high - low;
    }
    return sum / mesh.num_elements();
}

TEST(MeshOrder, RenumberingKeepsTheBody) {
    for (const VolumeMesh& mesh : {tet_box(5, 4, 3, kUnitBox), hex_box(4, 3, 5, kUnitBox)}) {
        const VolumeMesh before = shuffled(mesh, 1);
        VolumeMesh after = before;
        const std::vector<int> old_index = renumber_vertices(after);
        ASSERT_EQ(after.num_vertices(), before.num_vertices());
        ASSERT_EQ(old_index.size(), before.vertices.size());
        for (int v = 0; v < after.num_vertices(); ++v)
            EXPECT_EQ(after.vertices[v], before.vertices[old_index[v]]);
        auto sorted = old_index;
        std::ranges::sort(sorted);
        for (int v = 0; v < after.num_vertices(); ++v) ASSERT_EQ(sorted[v], v);
        EXPECT_EQ(elements_by_place(after), elements_by_place(before));
        EXPECT_EQ(after.region_names, before.region_names);
        EXPECT_EQ(after.kind, before.kind);
    }
}

TEST(MeshOrder, HangingNodesKeepTheirMasters) {
    VolumeMesh mesh = shuffled(graded_box(8), 2);
    ASSERT_FALSE(mesh.hanging.empty());
    const auto count = mesh.hanging.size();
    renumber_vertices(mesh);
    ASSERT_EQ(mesh.hanging.size(), count);
    for (const HangingNode& h : mesh.hanging) {
        Vector3d mean = Vector3d::Zero();
        for (int k = 0; k < h.num_masters; ++k) mean += h.weight * mesh.vertices[h.masters[k]];
        EXPECT_LT((mean - mesh.vertices[h.vertex]).norm(), 1e-14);
    }
}

TEST(MeshOrder, NeighboursGetNearNumbers) {
    VolumeMesh mesh = shuffled(tet_box(16, 16, 16, kUnitBox), 3);
    const double before = mean_distance_of_numbers(mesh);
    renumber_vertices(mesh);
    EXPECT_LT(mean_distance_of_numbers(mesh), before / 5);
    // elements use vertices that are new or were used shortly before
    int highest = -1;
    for (const int v : mesh.elements) {
        EXPECT_LE(v, highest + 1);
        highest = std::max(highest, v);
    }
}

TEST(MeshOrder, ASecondTimeNothingMoves) {
    VolumeMesh mesh = shuffled(tet_box(4, 5, 6, kUnitBox), 4);
    renumber_vertices(mesh);
    const VolumeMesh once = mesh;
    const std::vector<int> old_index = renumber_vertices(mesh);
    EXPECT_TRUE(std::ranges::is_sorted(old_index));
    EXPECT_EQ(mesh.elements, once.elements);
    EXPECT_EQ(mesh.regions, once.regions);
}

TEST(MeshOrder, EmptyMeshesUnusedVerticesAndPointBodiesAreFine) {
    VolumeMesh nothing;
    EXPECT_TRUE(renumber_vertices(nothing).empty());
    EXPECT_TRUE(elements_along_curve(nothing).empty());
    VolumeMesh mesh = tet_box(1, 1, 1, kUnitBox);
    mesh.vertices.insert(mesh.vertices.begin(), Vector3d(9, 9, 9));
    for (int& v : mesh.elements) ++v;
    const std::vector<int> old_index = renumber_vertices(mesh);
    EXPECT_EQ(old_index.back(), 0);
    EXPECT_EQ(mesh.vertices.back(), Vector3d(9, 9, 9));
    // all centroids at one place
    for (Vector3d& x : mesh.vertices) x = Vector3d(1, 2, 3);
    const std::vector<int> order = elements_along_curve(mesh);
    EXPECT_TRUE(std::ranges::is_sorted(order));
}

}  // namespace
}  // namespace pliant
