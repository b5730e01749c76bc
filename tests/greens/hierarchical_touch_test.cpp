#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "pliant/core/allocation_guard.h"
#include "pliant/greens/distributed_contact.h"
#include "pliant/greens/point_contact.h"
#include "tests/greens/hierarchical_models.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using test::HierarchicalBlob;

/// 162 vertices, 1 m, with a modulus of 1 kPa.
const HierarchicalBlob& touched_blob() {
    static const HierarchicalBlob blob = [] {
        HierarchicalBlob made = test::hierarchical_blob(2);
        made.model->reference.modulus = 1000;
        return made;
    }();
    return blob;
}

SurfaceStiffness stiffness_of_level(int level) {
    return SurfaceStiffness(touched_blob().model,
                            {.mask = {.kind = MaskKind::Level, .level = level}});
}

/// docs/greens-constraints.md eq. (H13).
TEST(LevelMask, IsTheFunctionOverItsArea) {
    const HierarchicalBlob& blob = touched_blob();
    const ReferenceProblem& reference = blob.model->reference;
    const auto areas = blob.basis->areas(reference.areas);
    for (int level = 0; level <= 2; ++level) {
        const SurfaceStiffness stiffness = stiffness_of_level(level);
        for (int v = 0; v < blob.basis->num_vertices(); ++v) {
            if (reference.kinds[at(v)] == NodeKind::Fixed) {
                EXPECT_TRUE(stiffness.is_rigid(v));
                continue;
            }
            // Σ a ρ = 1, in functions and in nodes
            double by_functions = 0, by_nodes = 0;
            for (std::size_t m = 0; m < stiffness.mask_nodes(v).size(); ++m) {
                const int id = stiffness.mask_nodes(v)[m];
                by_functions += areas[at(id)] * stiffness.mask_densities(v)[m];
                const WeightedVertices values = blob.basis->values(id);
                for (std::size_t q = 0; q < values.vertices.size(); ++q)
                    by_nodes += values.weights[q] * reference.areas[at(values.vertices[q])] *
                                stiffness.mask_densities(v)[m];
            }
            EXPECT_NEAR(by_functions, 1, 1e-14);
            EXPECT_NEAR(by_nodes, 1, 1e-14);
            if (v >= blob.basis->num_vertices(level)) continue;
            // K = a Ξ⁻¹, its symmetric part
            const int id = blob.basis->id(level, v);
            ASSERT_EQ(stiffness.mask_nodes(v).size(), 1u);
            EXPECT_EQ(stiffness.mask_nodes(v)[0], id);
            Matrix3d compliance = Matrix3d::Zero();
            const WeightedVertices values = blob.basis->values(id);
            for (std::size_t q = 0; q < values.vertices.size(); ++q)
                compliance += values.weights[q] *
                              blob.Xi.block<3, 3>(3 * v, 3 * values.vertices[q]) / areas[at(id)];
            const Matrix3d K = reference.modulus / reference.length * compliance.inverse();
            EXPECT_LT((stiffness.vertex_stiffness(v) - 0.5 * (K + K.transpose())).norm(),
                      1e-5 * K.norm());
        }
    }
    // wider functions are stiffer
    const int v = blob.free_nodes[0];
    EXPECT_GT(stiffness_of_level(0).vertex_stiffness(v).trace(),
              1.3 * stiffness_of_level(1).vertex_stiffness(v).trace());
}

/// Contact in a fine triangle is that in the triangle of the level which it came from.
TEST(LevelMask, IsBarycentricInTheTrianglesOfItsLevel) {
    const HierarchicalBlob& blob = touched_blob();
    const SurfaceStiffness stiffness = stiffness_of_level(0);
    const Vector3d barycentric(0.5, 0.2, 0.3);
    int num_tried = 0;
    for (int t = 0; t < blob.surface.mesh.num_triangles(); ++t) {
        // down to the triangle of level 0
        int triangle = t;
        Vector3d b = barycentric;
        for (int round = 0; round < 2; ++round) {
            const int child = triangle % 4;
            Vector3d parent = b / 2;
            if (child == 3)
                parent = Vector3d(b[1] + b[2], b[0] + b[2], b[0] + b[1]) / 2;
            else
                parent[child] += 0.5;
            b = parent;
            triangle /= 4;
        }
        const Triangle& corners = blob.surface.triangles[0][at(triangle)];
        if (std::any_of(corners.begin(), corners.end(), [&](int v) {
                return blob.model->reference.kinds[at(v)] == NodeKind::Fixed;
            }))
            continue;
        ++num_tried;
        Matrix3d expected = Matrix3d::Zero();
        for (int k = 0; k < 3; ++k) expected += b[k] * stiffness.vertex_stiffness(corners[at(k)]);
        EXPECT_LT((stiffness.stiffness_at(t, barycentric, {}) - expected).norm(),
                  1e-12 * expected.norm());
    }
    EXPECT_GT(num_tried, 50);
}

TEST(LevelMask, PointsPressWithTheFunctionsOfTheLevel) {
    const HierarchicalBlob& blob = touched_blob();
    const int n = blob.basis->num_vertices();
    const auto areas = blob.basis->areas(blob.model->reference.areas);
    PointContacts points(blob.model, 2, {.max_stiffness = kInfinity, .max_jump = 1});
    const SurfaceStiffness stiffness = stiffness_of_level(1);
    PointLoads loads(blob.model->reference.functions->num_column_ids(), 12);
    const PointInput above[] = {{{0.05, 0.03, 0.6}}, {{0.6, 0.02, 0.1}}},
                     inside[] = {{{0.05, 0.03, 0.35}}, {{0.35, 0.02, 0.1}}};
    (void)points.tick(above, stiffness);
    AllocationGuard guard;
    const PointContactFrame& frame = points.tick(inside, stiffness);
    for (int i = 0; i < 2; ++i) (void)loads.add(stiffness, frame.points[at(i)]);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    ASSERT_TRUE(frame.points[0].is_touching() && frame.points[1].is_touching());
    ASSERT_FALSE(loads.nodes().empty());
    EXPECT_LE(loads.nodes().size(), 6u);
    Vector3d force = Vector3d::Zero();
    for (std::size_t k = 0; k < loads.nodes().size(); ++k) {
        EXPECT_EQ(blob.basis->level_of(loads.nodes()[k]), 1);
        force += areas[at(loads.nodes()[k])] * loads.tractions()[k];
    }
    const Vector3d pressed = frame.points[0].force + frame.points[1].force;
    EXPECT_LT((force - pressed).norm(), 1e-9 * pressed.norm());

    // the deformation answers to them, and the support carries the force
    CapacitanceSolver solver(blob.model->reference, UpdateCosts());
    ASSERT_TRUE(solver.set_loads(loads.nodes(), loads.tractions()));
    ASSERT_FALSE(is_refused(solver.solve({}, {})));
    std::vector<int> supports;
    for (int i = 0; i < n; ++i)
        if (blob.model->reference.kinds[at(i)] == NodeKind::Fixed) supports.push_back(i);
    std::vector<Vector3d> p(supports.size());
    solver.tractions(supports, p);
    Vector3d reaction = Vector3d::Zero();
    for (std::size_t k = 0; k < p.size(); ++k)
        reaction += blob.model->reference.areas[at(supports[k])] * p[k];
    EXPECT_LT((reaction + pressed).norm(), 1e-4 * pressed.norm());
}

TEST(LevelMask, RefusesLevelsWithoutColumns) {
    const auto plain = test::kelvin_model(test::blob(1), 0.3);
    EXPECT_EQ(
        test::input_error([&] { SurfaceStiffness(plain, {.mask = {.kind = MaskKind::Level}}); }),
        "mask of a coarser level: the body has no columns of coarser levels; refine them "
        "first");
    EXPECT_EQ(test::input_error([] { (void)stiffness_of_level(3); }),
              "mask.level = 3 (expected 0 to 2)");
}

Pose ball_above(double depth) {
    double top = 0;
    for (const Vector3d& x : touched_blob().model->reference.positions) top = std::max(top, x.z());
    return {{0.03, 0.02, top + 0.5 - depth}, Eigen::Quaterniond::Identity()};
}

DistributedContact contact_of_level(int level, TouchFriction friction = TouchFriction::Sticking) {
    return DistributedContact(touched_blob().model, {RigidShape::sphere(0.5)}, UpdateCosts(),
                              {.friction = friction, .level = level});
}

TEST(LevelContact, HoldsVerticesOfTheLevelWithTheirFunctions) {
    const HierarchicalBlob& blob = touched_blob();
    const ReferenceProblem& reference = blob.model->reference;
    for (const TouchFriction friction : {TouchFriction::Sticking, TouchFriction::Frictionless})
        for (const int level : {-1, 0, 1, 2}) {
            DistributedContact contact = contact_of_level(level, friction);
            EXPECT_EQ(contact.level(), level);
            Pose pose;
            for (const double depth : {0.03, 0.08, 0.12}) {
                pose = ball_above(depth);
                (void)contact.step({&pose, 1});
            }
            // what was let go in a step may be taken in the next; one vertex of level 0 slides on
            const auto status = contact.step({&pose, 1});
            if (friction == TouchFriction::Sticking || level != 0) {
                EXPECT_EQ(status, DistributedContact::Status::Settled);
            }
            ASSERT_FALSE(contact.touched().empty());
            const RigidShape ball = RigidShape::sphere(0.5);
            // where they are held
            std::vector<int> nodes;
            for (const TouchedNode& touched : contact.touched()) {
                EXPECT_LT(touched.node, blob.basis->num_vertices(level < 0 ? 2 : level));
                nodes.push_back(touched.node);
            }
            std::vector<Vector3d> u(nodes.size()), p(at(blob.basis->num_vertices()));
            contact.solver().displacements(nodes, u);
            for (std::size_t k = 0; k < nodes.size(); ++k)
                EXPECT_NEAR(ball.sample(pose.to_body(reference.positions[at(nodes[k])] + u[k])).gap,
                            0, friction == TouchFriction::Sticking ? 1e-5 : 1e-4);
            // vertices of the level do not stick in the ball
            EXPECT_EQ(contact.report().left_out, 0);
            // force and torque are those of the tractions of all nodes
            contact.solver().tractions(test::first_numbers(blob.basis->num_vertices()), p);
            Vector3d force = Vector3d::Zero();
            for (const int node : blob.free_nodes) force -= reference.areas[at(node)] * p[at(node)];
            EXPECT_LT((contact.load(0).force - force).norm(), 1e-5 * force.norm());
            EXPECT_GT(contact.load(0).force.z(), 0);
            // stiffness: the force of a small motion of the tool
            if (friction != TouchFriction::Sticking) continue;
            const Matrix6d K = contact.stiffness(0);
            const Vector3d shift(1e-5, -1e-5, -2e-5);
            const Pose moved{pose.position + shift, pose.rotation};
            const Vector3d before = contact.load(0).force;
            const std::size_t num_touched = contact.touched().size();
            (void)contact.step({&moved, 1});
            ASSERT_EQ(contact.touched().size(), num_touched);
            const Vector3d change = contact.load(0).force - before;
            EXPECT_LT((change + K.topLeftCorner(3, 3) * shift).norm(), 2e-2 * change.norm())
                << level;
        }
}

TEST(LevelContact, ChangesItsLevelBetweenSteps) {
    const HierarchicalBlob& blob = touched_blob();
    DistributedContact contact = contact_of_level(-1), coarse = contact_of_level(1);
    for (const double depth : {0.04, 0.08, 0.12}) {
        const Pose pose = ball_above(depth);
        (void)contact.step({&pose, 1});
        (void)coarse.step({&pose, 1});
    }
    const std::size_t num_fine = contact.touched().size();
    const Vector3d fine = contact.load(0).force;
    const Pose pose = ball_above(0.12);
    EXPECT_FALSE(contact.set_level(3));
    EXPECT_FALSE(contact.set_level(-2));
    ASSERT_TRUE(contact.set_level(1));
    // nothing happens before the step
    EXPECT_EQ(contact.load(0).force, fine);
    AllocationGuard guard;
    const auto status = contact.step({&pose, 1});
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_EQ(status, DistributedContact::Status::Settled);
    EXPECT_EQ(contact.level(), 1);
    EXPECT_LT(contact.touched().size(), num_fine);
    for (const TouchedNode& touched : contact.touched())
        EXPECT_LT(touched.node, blob.basis->num_vertices(1));
    // near to what it would have been on that level all along; anchors have another history
    EXPECT_LT((contact.load(0).force - coarse.load(0).force).norm(),
              0.15 * coarse.load(0).force.norm());
    // and near to the finest
    EXPECT_LT((contact.load(0).force - fine).norm(), 0.3 * fine.norm());
    ASSERT_TRUE(contact.set_level(-1));
    EXPECT_EQ(contact.step({&pose, 1}), DistributedContact::Status::Settled);
    EXPECT_LT((contact.load(0).force - fine).norm(), 0.1 * fine.norm());
}

TEST(LevelContact, StaysOnItsLevelWhereTheNextIsRefused) {
    DistributedContact contact(touched_blob().model, {RigidShape::sphere(0.5)}, UpdateCosts(), {});
    for (const double depth : {0.04, 0.08, 0.12}) {
        const Pose pose = ball_above(depth);
        (void)contact.step({&pose, 1});
    }
    const Vector3d force = contact.load(0).force;
    const Pose pose = ball_above(0.12);
    ASSERT_TRUE(contact.set_level(1));
    contact.set_budget(kInfinity, 1e-12);
    EXPECT_EQ(contact.step({&pose, 1}), DistributedContact::Status::Limited);
    EXPECT_EQ(contact.level(), -1);
    EXPECT_EQ(contact.load(0).force, force);
    EXPECT_EQ(test::input_error([] { (void)contact_of_level(5); }),
              "distributed contact: level = 5 (expected -1, or a level of which the body has "
              "columns)");
}

}  // namespace
}  // namespace pliant
