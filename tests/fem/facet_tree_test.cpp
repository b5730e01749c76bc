#include "fem/facet_tree.h"

#include "core/numbers.h"
#include "fem/fem_samples.h"
#include "geometry/test_meshes.h"
#include "pliant/core/allocation_guard.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

/// Bends, twists and moves the unit cube; it does not cut itself.
VectorXd bent(const VolumeMesh& mesh, double amount) {
    VectorXd u(3 * mesh.num_vertices());
    for (int i = 0; i < mesh.num_vertices(); ++i) {
        const Vector3d x = mesh.vertices[i] - Vector3d::Constant(0.5);
        const double twist = amount * x.z();
        const Vector3d y(std::cos(twist) * x.x() - std::sin(twist) * x.y() + amount * x.z() * x.z(),
                         std::sin(twist) * x.x() + std::cos(twist) * x.y(), 1.3 * x.z());
        u.segment<3>(3 * i) = y - x + Vector3d(0.2, 0.1, -0.3);
    }
    return u;
}

/// Hexes of two sizes with hanging nodes between them.
VolumeMesh two_sizes() {
    std::vector<test::Cube> cubes = test::split({{0, 0, 0}, 4});
    const test::Cube last = cubes.back();
    cubes.pop_back();
    for (const test::Cube& cube : test::split(last)) cubes.push_back(cube);
    return test::cubes_mesh(cubes, 0.25);
}

std::vector<VolumeMesh> bodies() {
    return {test::distorted_hexes(4), test::distorted_tets(3), two_sizes(),
            tet_box(1, 1, 1, test::unit_box())};
}

struct FacetBody {
    SurfaceMesh surface;
    SurfaceTopology topology;
    PseudoNormals normals;

    FacetBody(const FacetTree& tree, const VolumeMesh& deformed)
        : surface{deformed.vertices, tree.facets()},
          topology(surface),
          normals(pseudo_normals(surface, topology)) {}

    FacetTree::Closest closest(const Vector3d& x, double radius) const {
        ClosestPoint best;
        for (int t = 0; t < surface.num_triangles(); ++t) {
            const ClosestPoint p = closest_on_triangle(x, surface.corner(t, 0),
                                                       surface.corner(t, 1), surface.corner(t, 2));
            if (p.distance > radius || (best.triangle >= 0 && p.distance >= best.distance))
                continue;
            best = p;
            best.triangle = t;
        }
        if (best.triangle < 0) return {};
        const int t = best.triangle, k = best.feature_index;
        Vector3d normal = normals.face[t];
        if (best.feature == Feature::Edge) normal = normals.edge[topology.edge_of(t, k)];
        if (best.feature == Feature::Vertex) normal = normals.vertex[surface.triangles[t][k]];
        const bool is_inside = (x - surface.corner(t, k)).dot(normal) < 0;
        if (best.distance > 1e-9) normal = (x - best.point) / best.distance * (is_inside ? -1 : 1);
        return {t, best.barycentric, is_inside ? -best.distance : best.distance, normal};
    }
};

std::vector<Vector3d> sample_points(const SurfaceMesh& surface, int count, unsigned seed) {
    test::Random random(seed);
    std::vector<Vector3d> points;
    for (int i = 0; i < count; ++i) {
        const int t = random.below(surface.num_triangles());
        const Vector3d a = surface.corner(t, 0), b = surface.corner(t, 1), c = surface.corner(t, 2);
        switch (i % 6) {
            case 0: points.push_back(a); break;
            case 1: points.push_back(0.5 * (a + b) + random.in_cube(1e-3)); break;
            case 2: points.push_back((a + b + c) / 3.0 + random.in_cube(0.05)); break;
            case 3: points.push_back(a + random.in_cube(1e-4)); break;
            case 4: points.push_back(random.in_cube(30)); break;
            default: points.push_back(Vector3d(0.7, 0.6, 0.2) + random.in_cube(1)); break;
        }
    }
    return points;
}

TEST(FacetTree, ClosestIsThatOfTheLoopOverAllFacets) {
    for (const VolumeMesh& mesh : bodies()) {
        const FacetTree tree(mesh);
        FacetTree::Workspace ws = tree.make_workspace();
        for (const double amount : {0.0, 0.5, 1.2}) {
            const VectorXd u = bent(mesh, amount);
            tree.refit(u, ws);
            const FacetBody body(tree, test::deformed(mesh, u));
            for (const Vector3d& x : sample_points(body.surface, 1500, 5))
                for (const double radius : {kInfinity, 0.03}) {
                    const FacetTree::Closest a = tree.closest(x, radius, ws),
                                             b = body.closest(x, radius);
                    ASSERT_EQ(a.facet, b.facet);
                    ASSERT_EQ(a.weights, b.weights);
                    ASSERT_EQ(std::abs(a.gap), std::abs(b.gap));
                    // below, round-off of the pseudonormals decides about the sign
                    if (std::abs(a.gap) > 1e-14) {
                        ASSERT_EQ(a.gap, b.gap);
                    }
                    // direction from a point at 1e-9 at least, both with some 1e-16 of error
                    ASSERT_NEAR((a.normal - b.normal).norm(), 0, 1e-6);
                    ASSERT_NEAR(a.normal.norm(), 1, 1e-14);
                }
        }
    }
}

TEST(FacetTree, GapOfACubeIsNegativeInside) {
    const VolumeMesh mesh = tet_box(3, 3, 3, test::unit_box());
    const FacetTree tree(mesh);
    const FacetTree::Workspace ws = tree.make_workspace();
    test::Random random(6);
    for (int i = 0; i < 2000; ++i) {
        const Vector3d x = Vector3d::Constant(0.5) + random.in_cube(0.7);
        const Vector3d beyond = (x - Vector3d::Constant(0.5)).cwiseAbs() - Vector3d::Constant(0.5);
        const double gap = beyond.maxCoeff() < 0 ? beyond.maxCoeff() : beyond.cwiseMax(0).norm();
        const FacetTree::Closest found = tree.closest(x, kInfinity, ws);
        ASSERT_NEAR(found.gap, gap, 1e-15);
        // the weights lead to the nearest point
        Vector3d point = Vector3d::Zero();
        for (int k = 0; k < 3; ++k)
            point += found.weights[k] * mesh.vertices[tree.facets()[found.facet][k]];
        ASSERT_NEAR((x - found.gap * found.normal - point).norm(), 0, 1e-14);
        ASSERT_NEAR(found.weights.sum(), 1, 1e-15);
    }
}

TEST(FacetTree, NormalIsTheGradientOfTheGap) {
    const VolumeMesh mesh = test::distorted_hexes(4);
    const FacetTree tree(mesh);
    FacetTree::Workspace ws = tree.make_workspace();
    tree.refit(bent(mesh, 0.8), ws);
    test::Random random(7);
    const double h = 1e-6;
    int num_smooth = 0;
    for (int i = 0; i < 1000; ++i) {
        const Vector3d x = Vector3d(0.7, 0.6, 0.2) + random.in_cube(1);
        const FacetTree::Closest found = tree.closest(x, kInfinity, ws);
        Vector3d gradient;
        bool is_smooth = true;
        for (int axis = 0; axis < 3; ++axis) {
            const FacetTree::Closest above =
                tree.closest(x + h * Vector3d::Unit(axis), kInfinity, ws);
            const FacetTree::Closest below =
                tree.closest(x - h * Vector3d::Unit(axis), kInfinity, ws);
            gradient[axis] = (above.gap - below.gap) / (2 * h);
            is_smooth &= (above.normal - below.normal).norm() < 1e-4;
        }
        if (!is_smooth) continue;
        ++num_smooth;
        ASSERT_NEAR((gradient - found.normal).norm(), 0, 1e-8);
    }
    EXPECT_GT(num_smooth, 900);
}

TEST(FacetTree, EquallyNearFacetsGiveTheLowest) {
    const FacetTree tree(tet_box(2, 2, 2, test::unit_box()));
    const FacetTree::Workspace ws = tree.make_workspace();
    // the middle of the cube is as near to all six middles of faces
    const FacetTree::Closest middle = tree.closest(Vector3d::Constant(0.5), kInfinity, ws);
    int lowest = -1;
    for (int f = 0; f < static_cast<int>(tree.facets().size()) && lowest < 0; ++f)
        for (const int v : tree.facets()[f]) {
            const Vector3d& x =
                ws.positions[std::ranges::find(tree.nodes(), v) - tree.nodes().begin()];
            if (std::abs((x - Vector3d::Constant(0.5)).norm() - 0.5) < 1e-15) lowest = f;
        }
    EXPECT_EQ(middle.facet, lowest);
    EXPECT_EQ(middle.gap, -0.5);
}

TEST(FacetTree, RefitForgetsWhatWasBefore) {
    const VolumeMesh mesh = test::distorted_tets(2);
    const FacetTree tree(mesh);
    FacetTree::Workspace ws = tree.make_workspace();
    const Box rest = FacetTree::bounds(ws);
    tree.refit(VectorXd::Constant(3 * mesh.num_vertices(), 7), ws);
    EXPECT_LT((FacetTree::bounds(ws).min() - rest.min() - Vector3d::Constant(7)).norm(), 1e-14);
    tree.refit(VectorXd::Constant(3 * mesh.num_vertices(), std::nan("")), ws);
    EXPECT_EQ(tree.closest(Vector3d::Zero(), kInfinity, ws).facet, -1);
    tree.refit(VectorXd::Zero(3 * mesh.num_vertices()), ws);
    EXPECT_EQ(FacetTree::bounds(ws).min(), rest.min());
    EXPECT_EQ(FacetTree::bounds(ws).max(), rest.max());
    const FacetTree::Workspace fresh = tree.make_workspace();
    EXPECT_EQ(fresh.positions, ws.positions);
}

TEST(FacetTree, SurfaceNodesAreThoseOfTheFacets) {
    const VolumeMesh mesh = hex_box(3, 3, 3, test::unit_box());
    const FacetTree tree(mesh);
    const auto surface = test::vertices_where(mesh, [](const Vector3d& x) {
        return (x.array() < 1e-9).any() || (x.array() > 1 - 1e-9).any();
    });
    EXPECT_EQ(tree.nodes(), surface);
    EXPECT_EQ(tree.facets(), boundary_triangles(mesh));
}

TEST(FacetTree, CollapsedFacetsGiveUnitNormals) {
    const VolumeMesh mesh = tet_box(2, 2, 2, test::unit_box());
    const FacetTree tree(mesh);
    FacetTree::Workspace ws = tree.make_workspace();
    for (int flat = 1; flat <= 3; ++flat) {  // to a square, a line and a point
        VectorXd u = VectorXd::Zero(3 * mesh.num_vertices());
        for (int i = 0; i < mesh.num_vertices(); ++i)
            for (int axis = 0; axis < flat; ++axis) u[3 * i + axis] = -mesh.vertices[i][axis];
        tree.refit(u, ws);
        test::Random random(8);
        for (int i = 0; i < 200; ++i) {
            const Vector3d x = i % 2 ? Vector3d(random.in_cube(1)) : ws.positions[i % 26];
            const FacetTree::Closest found = tree.closest(x, kInfinity, ws);
            ASSERT_GE(found.facet, 0);
            ASSERT_TRUE(std::isfinite(found.gap));
            ASSERT_NEAR(found.normal.norm(), 1, 1e-14);
        }
    }
}

TEST(FacetTree, PointsThatAreNotFiniteFindNothing) {
    const FacetTree tree(tet_box(1, 1, 1, test::unit_box()));
    const FacetTree::Workspace ws = tree.make_workspace();
    EXPECT_EQ(tree.closest({std::nan(""), 0, 0}, kInfinity, ws).facet, -1);
    EXPECT_EQ(tree.closest({0, kInfinity, 0}, kInfinity, ws).facet, -1);
    EXPECT_EQ(tree.closest({0, 0, 0}, std::nan(""), ws).facet, -1);
    EXPECT_EQ(tree.closest({0, 0, 0}, -1, ws).facet, -1);
    EXPECT_GE(tree.closest({0, 0, 0}, 0, ws).facet, 0);
}

TEST(FacetTree, RefitAndQueriesAllocateNothing) {
    const VolumeMesh mesh = hex_box(12, 12, 12, test::unit_box());
    const FacetTree tree(mesh);
    FacetTree::Workspace ws = tree.make_workspace();
    const VectorXd u = bent(mesh, 0.6);
    const AllocationGuard guard;
    tree.refit(u, ws);
    double sum = 0;
    for (int i = 0; i < 100; ++i) sum += tree.closest({0.01 * i, 0.3, 0.4}, kInfinity, ws).gap;
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_TRUE(std::isfinite(sum));
}

}  // namespace
}  // namespace pliant
