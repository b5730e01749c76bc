#include "pliant/fem/constraints.h"

#include "fem/fem_samples.h"
#include "input_error.h"

#include <gtest/gtest.h>
#include <limits>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::input_error;
using Names = std::vector<std::string>;

TEST(Constraints, ComponentsAreHeldOneByOne) {
    Constraints c(4);
    const int fixed[] = {1};
    c.fix(fixed);
    c.prescribe(2, 1, 0.5);
    c.prescribe(2, 1, 0.25);
    EXPECT_TRUE(c.is_prescribed(1, 0) && c.is_prescribed(1, 1) && c.is_prescribed(1, 2));
    EXPECT_TRUE(c.is_prescribed(2, 1));
    EXPECT_FALSE(c.is_prescribed(2, 0) || c.is_prescribed(0, 0));
    EXPECT_EQ(c.displacements()[7], 0.25);
    EXPECT_EQ(c.displacements().norm(), 0.25);
    EXPECT_EQ(c.held_nodes(), std::vector<int>{1});
}

TEST(Constraints, BadNodesAndDisplacementsAreRefused) {
    Constraints c(4);
    const int bad[] = {0, 4};
    EXPECT_EQ(input_error([&] { c.fix(bad); }), "node = 4 (expected 0 to 3)");
    EXPECT_EQ(input_error([&] { c.prescribe(-1, 0, 0); }), "node = -1 (expected 0 to 3)");
    EXPECT_EQ(input_error([&] { c.prescribe(2, 1, std::numeric_limits<double>::quiet_NaN()); }),
              "displacement.y of node 2 = nan m (expected a finite value)");
}

TEST(FreeRigidMotions, AreThoseThatTheConditionsLeave) {
    // lattice 2 × 2 × 2 far from the origin; vertex i + 2 j + 4 k
    const VolumeMesh mesh = hex_box(1, 1, 1, Box(Vector3d(10, 20, 30), Vector3d(10.5, 20.5, 30.5)));
    const auto names = [&](const std::vector<std::array<int, 2>>& held) {
        Constraints c(8);
        for (const auto& [node, axis] : held) c.prescribe(node, axis, 0);
        return free_rigid_motions(mesh, c).names;
    };
    const Names rotations{"rotation about x", "rotation about y", "rotation about z"};
    EXPECT_EQ(names({}), (Names{"translation along x", "translation along y", "translation along z",
                                "rotation about x", "rotation about y", "rotation about z"}));
    // a ball joint
    EXPECT_EQ(names({{0, 0}, {0, 1}, {0, 2}}), rotations);
    // a hinge along an edge, and along a diagonal
    EXPECT_EQ(names({{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}), Names{"rotation about x"});
    EXPECT_EQ(names({{0, 0}, {0, 1}, {0, 2}, {3, 0}, {3, 1}, {3, 2}}),
              Names{"rotation about (0.71, 0.71, 0)"});
    // on a floor, free to slide
    EXPECT_EQ(names({{0, 2}, {1, 2}, {2, 2}, {3, 2}}),
              (Names{"translation along x", "translation along y", "rotation about z"}));
    // three points, six components
    EXPECT_EQ(names({{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}), Names{});
}

TEST(FreeRigidMotions, EveryPartNeedsItsOwnSupport) {
    VolumeMesh mesh = hex_box(1, 1, 1, test::unit_box());
    for (int i = 0; i < 8; ++i) mesh.vertices.push_back(mesh.vertices[i] + Vector3d(3, 0, 0));
    for (int i = 0; i < 8; ++i) mesh.elements.push_back(mesh.elements[i] + 8);
    Constraints c(16);
    const int first[] = {0, 1, 2}, second[] = {9, 10, 12};
    EXPECT_NE(input_error([&] { check_supported(mesh, c); }).find("the part with vertex 0 is free"),
              std::string::npos);
    c.fix(first);
    const FreeMotions motions = free_rigid_motions(mesh, c);
    EXPECT_EQ(motions.vertex, 8);
    EXPECT_FALSE(motions.is_whole_body);
    EXPECT_EQ(motions.names.size(), 6u);
    c.fix(second);
    check_supported(mesh, c);
}

TEST(FreeRigidMotions, UnsupportedBodyIsRefusedWithTheirNames) {
    const VolumeMesh mesh = graded_box(6);
    Constraints c(mesh.num_vertices());
    for (const int i : test::vertices_where(mesh, [](const Vector3d& x) { return x.z() < 1e-9; }))
        c.prescribe(i, 2, 0);
    EXPECT_EQ(input_error([&] { check_supported(mesh, c); }),
              "the body is free to move (translation along x, translation along y, rotation about "
              "z), so that it has no static equilibrium; hold more of it, three vertices that are "
              "not on a line at best");
}

}  // namespace
}  // namespace pliant
