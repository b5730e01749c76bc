#include "greens/boundary_nodes.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "greens/boundary_cases.h"
#include "pliant/geometry/surface_topology.h"
#include "tests/greens/boundary_shapes.h"

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::cube_surface;

TEST(BoundaryNodes, AreTheVerticesWhenNoEdgeCounts) {
    const SurfaceMesh mesh = cube_surface(2);
    for (const double angle : {0.0, 1.6}) {  // no edge of a cube is sharper than 1.571
        const BoundaryNodes nodes = linear_nodes(mesh, angle);
        ASSERT_EQ(nodes.num_nodes(), mesh.num_vertices());
        double area = 0;
        for (int i = 0; i < nodes.num_nodes(); ++i) {
            EXPECT_EQ(nodes.targets[at(i)], mesh.vertices[at(i)]);
            EXPECT_EQ(nodes.target_triangles[at(i)], -1);
            area += nodes.areas[at(i)];
        }
        EXPECT_NEAR(area, 6, 1e-12);
        for (int t = 0; t < mesh.num_triangles(); ++t)
            EXPECT_EQ(nodes.corner_nodes[at(t)], mesh.triangles[at(t)]);
    }
}

TEST(BoundaryNodes, EverySideOfASharpEdgeHasItsOwn) {
    const SurfaceMesh mesh = cube_surface(2);
    const BoundaryNodes nodes = linear_nodes(mesh, 0.5);
    // 8 corners with three, 12 edges with two at their middle, 6 in the middle of faces
    ASSERT_EQ(nodes.num_nodes(), 8 * 3 + 12 * 2 + 6);
    double area = 0;
    for (int i = 0; i < nodes.num_nodes(); ++i) {
        if (i < mesh.num_vertices()) {
            EXPECT_EQ(nodes.positions[at(i)], mesh.vertices[at(i)]);
        }
        area += nodes.areas[at(i)];
        EXPECT_NEAR(nodes.normals[at(i)].cwiseAbs().maxCoeff(), 1, 1e-12);
        const int t = nodes.target_triangles[at(i)];
        const bool is_middle = (nodes.positions[at(i)].array() == 0.5).count() == 2;
        EXPECT_EQ(t < 0, is_middle);
        if (t < 0) continue;
        // strictly inside a triangle of its own side
        const Vector3d& w = nodes.target_weights[at(i)];
        EXPECT_GT(w.minCoeff(), 0.05);
        EXPECT_NEAR(w.sum(), 1, 1e-15);
        Vector3d x = Vector3d::Zero();
        bool is_own = false;
        for (int k = 0; k < 3; ++k) {
            x += w[k] * mesh.corner(t, k);
            is_own = is_own || nodes.corner_nodes[at(t)][at(k)] == i;
        }
        EXPECT_TRUE(is_own);
        EXPECT_LT((x - nodes.targets[at(i)]).norm(), 1e-15);
        EXPECT_LT((x - nodes.positions[at(i)]).norm(), 0.2);
    }
    EXPECT_NEAR(area, 6, 1e-12);
    for (int t = 0; t < mesh.num_triangles(); ++t)
        for (int k = 0; k < 3; ++k) {
            const int node = nodes.corner_nodes[at(t)][at(k)];
            EXPECT_EQ(nodes.positions[at(node)], mesh.corner(t, k));
            EXPECT_NEAR(nodes.normals[at(node)].dot(face_normals(mesh)[at(t)]), 1, 1e-12);
        }
}

TEST(BoundaryNodes, ThereAreAsManyAtAVertexAsSharpEdgesMeetThereButOneWhereAnEdgeEnds) {
    const SurfaceMesh mesh = blob_case_surface(1);
    const std::vector<Vector3d> normals = face_normals(mesh);
    const double angle = 0.35;  // about half of the edges are sharper
    const SurfaceTopology topology(mesh);
    std::vector<int> num_sharp(mesh.vertices.size(), 0);
    for (const SurfaceTopology::Edge& edge : topology.edges()) {
        const auto uses = topology.uses(edge);
        if (std::acos(normals[at(uses[0].triangle)].dot(normals[at(uses[1].triangle)])) <= angle)
            continue;
        ++num_sharp[at(edge.a)];
        ++num_sharp[at(edge.b)];
    }
    int expected = 0;
    for (const int count : num_sharp) expected += std::max(count, 1);
    EXPECT_GT(std::ranges::count(num_sharp, 0) + std::ranges::count(num_sharp, 1), 1);
    EXPECT_GT(std::ranges::count(num_sharp, 1), 0);
    EXPECT_GT(std::ranges::count(num_sharp, 3), 0);
    EXPECT_EQ(linear_nodes(mesh, angle).num_nodes(), expected);
}

TEST(BoundaryNodes, ConstantElementsHaveOneInEveryTriangle) {
    const SurfaceMesh mesh = sphere_case_surface(1);
    const BoundaryNodes nodes = constant_nodes(mesh);
    ASSERT_EQ(nodes.num_nodes(), 80);
    double area = 0;
    for (int t = 0; t < 80; ++t) {
        area += nodes.areas[at(t)];
        EXPECT_EQ(nodes.corner_nodes[at(t)], (std::array<int, 3>{t, t, t}));
        EXPECT_EQ(nodes.target_triangles[at(t)], t);
    }
    EXPECT_NEAR(area, surface_area(mesh), 1e-12);
}

/// u = M x and its tractions at the nodes.
BoundaryValues linear_field(const BoundaryModel& model, const Matrix3d& gradient) {
    const double nu = model.options().poisson_ratio;
    Matrix3d stress = gradient + gradient.transpose();
    if (nu < 0.5) stress += 2 * nu / (1 - 2 * nu) * gradient.trace() * Matrix3d::Identity();
    BoundaryValues values{VectorXd(3 * model.num_nodes()), VectorXd(3 * model.num_nodes())};
    for (int i = 0; i < model.num_nodes(); ++i) {
        values.displacements.segment<3>(3 * i) = gradient * model.positions()[at(i)];
        values.tractions.segment<3>(3 * i) = stress * model.normals()[at(i)];
    }
    return values;
}

TEST(DoubledNodes, TractionsThatJumpAtEdgesAreExact) {
    Matrix3d gradient;
    gradient << 0.3, 0.1, -0.2, 0.05, -0.4, 0.15, 0.2, 0.1, 0.25;
    for (const double nu : {0.0, 0.3, 0.5}) {
        BoundaryOptions options;
        options.poisson_ratio = nu;
        options.crease_angle = 0.5;
        const BoundaryModel model(cube_surface(3), options);
        Matrix3d field = gradient;
        if (nu == 0.5) field -= field.trace() / 3 * Matrix3d::Identity();
        const BoundaryValues exact = linear_field(model, field);
        // fixed: one face; two faces with an edge in common; three with a corner in common
        for (int num_faces = 1; num_faces <= 3; ++num_faces) {
            std::vector<char> is_fixed;
            for (const Vector3d& n : model.normals()) {
                bool fixed = false;
                for (int k = 0; k < num_faces; ++k) fixed = fixed || n[k] < -0.5;
                is_fixed.push_back(fixed);
            }
            const BoundaryValues result = solve_boundary_values(model, is_fixed, exact);
            // residuals of 2e-7 times the condition of the system
            EXPECT_LT((result.displacements - exact.displacements).cwiseAbs().maxCoeff(), 1e-5)
                << nu << " " << num_faces;
            EXPECT_LT((result.tractions - exact.tractions).cwiseAbs().maxCoeff(), 2e-4)
                << nu << " " << num_faces;
        }
    }
}

TEST(DoubledNodes, ReactionsOfAFixedEndBalanceTheLoad) {
    double reactions[2];
    for (const bool is_doubled : {false, true}) {
        BoundaryOptions options;
        options.crease_angle = is_doubled ? 0.5 : 0;
        const BoundaryModel model(cube_surface(4), options);
        BoundaryValues known{VectorXd::Zero(3 * model.num_nodes()),
                             VectorXd::Zero(3 * model.num_nodes())};
        std::vector<char> is_fixed;
        double applied = 0;
        for (int i = 0; i < model.num_nodes(); ++i) {
            const double n = model.normals()[at(i)].z();
            is_fixed.push_back(n < -0.5);
            if (n < 0.5) continue;
            known.tractions[3 * i + 2] = 1;
            applied += model.areas()[at(i)];
        }
        const BoundaryValues result = solve_boundary_values(model, is_fixed, known);
        double reaction = 0;
        for (int i = 0; i < model.num_nodes(); ++i)
            if (is_fixed[at(i)]) reaction += model.areas()[at(i)] * result.tractions[3 * i + 2];
        reactions[is_doubled] = reaction + applied;
        // the load itself spreads around the edge where nodes are shared
        EXPECT_EQ(std::abs(applied - 1) < 1e-12, is_doubled);
    }
    EXPECT_LT(std::abs(reactions[1]), 0.002);
    EXPECT_GT(std::abs(reactions[0]), 0.01);
}

}  // namespace
}  // namespace pliant
