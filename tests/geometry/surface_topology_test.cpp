#include "pliant/geometry/surface_topology.h"

#include "geometry/simple_surfaces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::band_surface;
using test::box_surface;
using test::torus_surface;

/// The obvious way: a map from vertex pairs to (triangle, side, direction).
using EdgeMap = std::map<std::pair<int, int>, std::vector<std::tuple<int, int, bool>>>;
EdgeMap edges_by_map(const SurfaceMesh& mesh) {
    EdgeMap edges;
    for (int t = 0; t < mesh.num_triangles(); ++t)
        for (int k = 0; k < 3; ++k) {
            const int a = mesh.triangles[t][k], b = mesh.triangles[t][(k + 1) % 3];
            edges[{std::min(a, b), std::max(a, b)}].push_back({t, k, a <= b});
        }
    return edges;
}

void expect_same_edges(const SurfaceMesh& mesh) {
    const SurfaceTopology topology(mesh);
    const EdgeMap expected = edges_by_map(mesh);
    ASSERT_EQ(topology.edges().size(), expected.size());
    std::size_t e = 0;
    for (const auto& [ends, uses] : expected) {
        const auto& edge = topology.edges()[e];
        EXPECT_EQ(ends, std::make_pair(edge.a, edge.b));
        ASSERT_EQ(edge.num_uses, static_cast<int>(uses.size()));
        for (int u = 0; u < edge.num_uses; ++u) {
            const auto& use = topology.uses(edge)[u];
            EXPECT_EQ(uses[u], std::make_tuple(use.triangle, use.side, use.is_forward));
            EXPECT_EQ(topology.edge_of(use.triangle, use.side), static_cast<int>(e));
        }
        ++e;
    }
}

TEST(SurfaceTopology, EdgesOfBoxAndTorusMatchAMap) {
    expect_same_edges(box_surface());
    expect_same_edges(torus_surface(12, 7));
}

TEST(SurfaceTopology, EdgesOfRandomSoupMatchAMap) {
    // few vertices, many triangles: edges with many uses, repeated corners, duplicates
    std::mt19937 random(7);
    std::uniform_int_distribution<int> pick(0, 11);
    SurfaceMesh mesh;
    mesh.vertices.assign(14, Vector3d::Zero());
    for (int t = 0; t < 300; ++t)
        mesh.triangles.push_back({pick(random), pick(random), pick(random)});
    expect_same_edges(mesh);

    const SurfaceTopology topology(mesh);
    for (int v = 0; v < mesh.num_vertices(); ++v) {
        std::vector<int> around;
        for (int t = 0; t < mesh.num_triangles(); ++t)
            if (std::ranges::count(mesh.triangles[t], v) > 0) around.push_back(t);
        EXPECT_TRUE(std::ranges::equal(topology.triangles_at(v), around)) << v;
    }
}

TEST(SurfaceTopology, NeighboursShareTheSideAndPointBack) {
    const SurfaceMesh mesh = torus_surface(9, 5);
    const SurfaceTopology topology(mesh);
    for (int t = 0; t < mesh.num_triangles(); ++t)
        for (int side = 0; side < 3; ++side) {
            const int other = topology.neighbour(t, side);
            ASSERT_GE(other, 0);
            int back = 0;
            for (int k = 0; k < 3; ++k)
                if (topology.edge_of(other, k) == topology.edge_of(t, side))
                    back += topology.neighbour(other, k) == t;
            EXPECT_EQ(back, 1);
        }
}

TEST(SurfaceTopology, OpenAndNonManifoldSidesHaveNoNeighbour) {
    SurfaceMesh mesh;
    mesh.vertices.assign(5, Vector3d::Zero());
    mesh.triangles = {{0, 1, 2}, {1, 0, 3}, {0, 1, 4}};  // three leaves on one spine
    const SurfaceTopology topology(mesh);
    for (int t = 0; t < 3; ++t)
        for (int side = 0; side < 3; ++side) EXPECT_EQ(topology.neighbour(t, side), -1);
    EXPECT_EQ(topology.num_components(), 1);
}

TEST(SurfaceTopology, RepeatedCornersJoinNothingAndKeepTheEulerNumber) {
    SurfaceMesh mesh = box_surface();
    mesh.triangles.push_back({0, 0, 1});
    mesh.triangles.push_back({6, 6, 6});
    mesh.triangles.push_back({6, 6, 6});
    const SurfaceTopology topology(mesh);
    EXPECT_EQ(topology.euler_number(), 2);
    EXPECT_EQ(topology.num_components(), 3);
    EXPECT_EQ(topology.neighbour(13, 0), -1);
    EXPECT_EQ(topology.triangles_at(6).back(), 14);
}

TEST(SurfaceTopology, EulerNumbersOfSphereTorusAndBands) {
    EXPECT_EQ(SurfaceTopology(box_surface()).euler_number(), 2);
    EXPECT_EQ(SurfaceTopology(torus_surface(6, 5)).euler_number(), 0);
    EXPECT_EQ(SurfaceTopology(band_surface(10, false)).euler_number(), 0);
    EXPECT_EQ(SurfaceTopology(band_surface(10, true)).euler_number(), 0);
}

TEST(SurfaceTopology, UnusedVerticesDoNotCountInTheEulerNumber) {
    SurfaceMesh mesh = box_surface();
    mesh.vertices.emplace_back(9, 9, 9);
    EXPECT_EQ(SurfaceTopology(mesh).euler_number(), 2);
}

TEST(SurfaceTopology, ComponentsAreNumberedByFirstTriangle) {
    SurfaceMesh mesh = box_surface({5, 0, 0}, {6, 1, 1});
    append(mesh, torus_surface(5, 4));
    append(mesh, box_surface());
    // interleave: the numbering must follow the new order
    std::rotate(mesh.triangles.begin(), mesh.triangles.begin() + 20, mesh.triangles.end());
    const SurfaceTopology topology(mesh);
    EXPECT_EQ(topology.num_components(), 3);
    EXPECT_EQ(topology.components().front(), 0);
    EXPECT_TRUE(
        std::ranges::equal(std::set(topology.components().begin(), topology.components().end()),
                           std::vector{0, 1, 2}));
    int highest = -1;
    for (const int c : topology.components()) {
        EXPECT_LE(c, highest + 1);
        highest = std::max(highest, c);
    }
}

TEST(SurfaceTopology, EmptyMeshHasNothing) {
    const SurfaceTopology topology{SurfaceMesh{}};
    EXPECT_TRUE(topology.edges().empty());
    EXPECT_EQ(topology.num_components(), 0);
    EXPECT_EQ(topology.euler_number(), 0);
}

TEST(PseudoNormals, EdgesOfABoxPointDiagonallyOrAlongTheFlatFace) {
    const SurfaceMesh mesh = box_surface();
    const SurfaceTopology topology(mesh);
    const PseudoNormals normals = pseudo_normals(mesh, topology);
    ASSERT_EQ(normals.edge.size(), 18u);
    for (std::size_t e = 0; e < normals.edge.size(); ++e) {
        const auto& edge = topology.edges()[e];
        const Vector3d middle = (mesh.vertices[edge.a] + mesh.vertices[edge.b]) / 2;
        const Vector3d expected = (2 * middle - Vector3d::Ones()).normalized();
        EXPECT_NEAR((normals.edge[e] - expected).norm(), 0, 1e-15);
    }
    EXPECT_EQ(normals.face.size(), 12u);
    EXPECT_EQ(normals.vertex.size(), 8u);
}

TEST(PseudoNormals, FoldedPairOfTrianglesHasNoEdgeNormal) {
    SurfaceMesh mesh;
    mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    mesh.triangles = {{0, 1, 2}, {0, 2, 1}};
    const PseudoNormals normals = pseudo_normals(mesh, SurfaceTopology(mesh));
    for (const Vector3d& n : normals.edge) EXPECT_EQ(n, Vector3d::Zero());
}

}  // namespace
}  // namespace pliant
