#include "pliant/greens/zoned_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/numbers.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/geometry/surface_check.h"
#include "pliant/greens/build_greens.h"
#include "pliant/greens/capacitance_solver.h"
#include "pliant/greens/pad_surface.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::input_error;
using ::testing::HasSubstr;

constexpr double kPadLength = 0.03;

std::shared_ptr<const GreensModel> pad_model(bool has_fixed_columns) {
    GreensBuildOptions options;
    options.youngs_modulus = 5e4;
    options.poisson_ratio = 0.45;
    options.fixed = "z > 60 %";
    options.has_fixed_columns = has_fixed_columns;
    return std::make_shared<GreensModel>(
        build_greens_model(pad_surface({.length = kPadLength}, 1), options));
}

const std::shared_ptr<const GreensModel>& shared_pad() {
    static const auto pad = pad_model(true);
    return pad;
}

CharacterModel finger() {
    CharacterModel model;
    for (int b = 0; b < 3; ++b) {
        model.bones.push_back({.name = "bone" + std::to_string(b),
                               .parent = b - 1,
                               .joint = Vector3d(b * kPadLength, 0, -0.004),
                               .axis = Vector3d(0, 1, 0)});
        CharacterZone& zone = model.zones.emplace_back();
        zone.name = "pad" + std::to_string(b);
        zone.model = shared_pad();
        zone.rest.position = Vector3d(b * kPadLength, 0, 0);
        zone.bone = b;
    }
    model.blend = 0.012;
    return model;
}

ScriptedMotion bend(double degrees) {
    std::vector<Keyframe> keys(2);
    keys[1].time = 1;
    keys[1].pose.position.x() = degrees * std::numbers::pi / 180;
    return ScriptedMotion(keys);
}

ZonedBodyOptions bending() {
    ZonedBodyOptions options;
    options.flexion = {bend(10), bend(30), bend(25)};
    return options;
}

TEST(PadSurface, FillsItsBoxAndIsClean) {
    const SemiRegularMesh pad = pad_surface({.length = 0.04, .width = 0.02, .height = 0.01}, 3);
    EXPECT_EQ(pad.num_vertices, (std::vector<int>{14, 50, 194, 770}));
    const SurfaceReport report = check_surface(pad.mesh);
    EXPECT_TRUE(report.is_clean()) << report.text();
    const Box box = bounding_box(pad.mesh.vertices);
    EXPECT_LT((box.min() - Vector3d(0, -0.01, -0.01)).norm(), 3e-4);
    EXPECT_LT((box.max() - Vector3d(0.04, 0.01, 0)).norm(), 3e-4);
    EXPECT_THAT(input_error([] { (void)pad_surface({.length = -1}, 2); }),
                HasSubstr("pad.length = -1"));
}

TEST(Skeleton, BonesTurnAboutTheirJointsWithAllAfterThem) {
    const CharacterModel model = finger();
    const Skeleton skeleton(model.bones);
    std::vector<Pose> moved(3);
    skeleton.transforms(std::array{0.3, -0.2, 0.5}, moved);
    // each joint is where the bone before it has it
    for (int b = 1; b < 3; ++b)
        EXPECT_LT((moved[at(b)].to_world(skeleton.bone(b).joint) -
                   moved[at(b - 1)].to_world(skeleton.bone(b).joint))
                      .norm(),
                  1e-15);
    EXPECT_NEAR(rotation_vector(moved[2].rotation).y(), 0.6, 1e-14);
    skeleton.transforms(std::array{0.0, 0.0, 0.0}, moved);
    for (const Pose& pose : moved) EXPECT_EQ(pose.position, Vector3d::Zero().eval());
}

TEST(Skeleton, BothBonesOfAJointAgreeOnItsWeights) {
    const Skeleton skeleton(finger().bones);
    std::vector<Vector3d> points;
    for (int k = 0; k < 9; ++k) points.emplace_back(kPadLength + 0.004 * (k - 4), 0.003, -0.001);
    std::vector<Pose> moved(3);
    skeleton.transforms(std::array{0.1, 0.4, 0.2}, moved);
    const BoneWeights first = skeleton.weights(0, points, 0.012);
    const BoneWeights second = skeleton.weights(1, points, 0.012);
    for (int k = 0; k < 9; ++k) {
        double sum = 0;
        for (int i = first.offsets[at(k)]; i < first.offsets[at(k) + 1]; ++i)
            sum += first.weights[at(i)];
        EXPECT_NEAR(sum, 1, 1e-15);
        // the third bone is out of reach
        EXPECT_LT(
            (blended(first, k, moved, points[at(k)]) - blended(second, k, moved, points[at(k)]))
                .norm(),
            1e-15);
    }
    EXPECT_EQ(first.offsets[1] - first.offsets[0], 1);  // 16 mm away: its own alone
}

TEST(Skeleton, ImpossibleBonesAreRefused) {
    EXPECT_THAT(input_error([] { Skeleton({{.name = "a", .parent = 0}}); }),
                HasSubstr("bone \"a\": its parent must come before it"));
    EXPECT_THAT(input_error([] { Skeleton({{.name = "a", .axis = Vector3d::Zero()}}); }),
                HasSubstr("has no direction"));
}

TEST(ZonedBody, NothingDeformsWhileBonesAreStraight) {
    ZonedBodyOptions options;
    std::vector<Keyframe> keys(2);
    keys[1].time = 1;
    keys[1].pose.position = Vector3d(0.1, 0.2, -0.1);
    keys[1].pose.rotation = rotation_from_vector(Vector3d(0.3, 0.5, -0.2));
    options.motion = ScriptedMotion(keys);
    ZonedBody body(finger(), options);
    for (int k = 0; k < 5; ++k) ASSERT_EQ(body.step(0.1), StepStatus::Ok);
    const Pose pose = options.motion->at(body.time()).pose;
    for (int v = 0; v < body.surface().num_vertices(); v += 7)
        EXPECT_LT((body.position(SurfacePoint::at_vertex(v)) -
                   pose.to_world(body.surface().vertices[at(v)]))
                      .norm(),
                  1e-9);
}

TEST(ZonedBody, SeamsFollowTheirBonesAndTheRestIsInBalance) {
    ZonedBody body(finger(), bending());
    for (int k = 0; k < 10; ++k) ASSERT_EQ(body.step(0.1), StepStatus::Ok);
    const Skeleton skeleton(body.model().bones);
    std::vector<Pose> moved(3);
    skeleton.transforms(std::array{10 * std::numbers::pi / 180, 30 * std::numbers::pi / 180,
                                   25 * std::numbers::pi / 180},
                        moved);
    const GreensModel& pad = *shared_pad();
    double most = 0;
    for (int z = 0; z < 3; ++z) {
        // each pad by itself, by the general solver
        std::vector<int> nodes;
        std::vector<Vector3d> values;
        const Pose& rest = body.model().zones[at(z)].rest;
        const Pose zone_pose = moved[at(z)] * rest;
        for (int node = 0; node < pad.num_nodes(); ++node) {
            if (pad.reference.kinds[at(node)] != NodeKind::Fixed) continue;
            const Vector3d x = rest.to_world(pad.reference.positions[at(node)]);
            const Vector3d target =
                blended(skeleton.weights(z, std::span(&x, 1), 0.012), 0, moved, x);
            nodes.push_back(node);
            values.push_back(zone_pose.to_body(target) - pad.reference.positions[at(node)]);
            most = std::max(most, values.back().norm());
            // linear elements: a node is a vertex
            EXPECT_LT((body.position(SurfacePoint::at_vertex(body.first_vertex(z) + node)) - target)
                          .norm(),
                      1e-12);
        }
        CapacitanceSolver solver(pad.reference, UpdateCosts(), {.max_loads = 256});
        ASSERT_TRUE(solver.set_loads(nodes, values));
        ASSERT_FALSE(is_refused(solver.solve({}, {})));
        for (int node = 0; node < pad.num_nodes(); ++node) {
            if (pad.reference.kinds[at(node)] == NodeKind::Fixed) continue;
            Vector3d u;
            solver.displacements(std::array{node}, std::span(&u, 1));
            EXPECT_LT((body.position(SurfacePoint::at_vertex(body.first_vertex(z) + node)) -
                       zone_pose.to_world(pad.reference.positions[at(node)] + u))
                          .norm(),
                      1e-8);
        }
    }
    EXPECT_GT(most, 3e-4);
}

TEST(ZonedBody, IsDrawnWhereItIs) {
    ZonedBody body(finger(), bending());
    body.set_gravity(Vector3d(0, 0, -9.81));
    for (int k = 0; k < 300; ++k) {
        body.add_force(SurfacePoint::at_vertex(body.first_vertex(1) + 3), Vector3d(0, 0.02, -0.05));
        ASSERT_EQ(body.step(2e-3), StepStatus::Ok);
    }
    const auto display = body.display();
    std::vector<float> state(at(display->state_size())), x(3 * at(body.surface().num_vertices()));
    body.write_display(state);
    display->positions(state, x);
    for (int v = 0; v < body.surface().num_vertices(); ++v)
        EXPECT_LT((Eigen::Map<Eigen::Vector3f>(x.data() + 3 * v).cast<double>() -
                   body.position(SurfacePoint::at_vertex(v)))
                      .norm(),
                  1e-7);
    // a triangle of a later zone is found in it
    const SurfacePoint point =
        SurfacePoint::on_triangle(body.first_triangle(2) + 5, Vector3d(0.2, 0.3, 0.5));
    const Triangle& corners = body.surface().triangles[at(point.triangle)];
    Vector3d mean = Vector3d::Zero();
    for (int k = 0; k < 3; ++k)
        mean += point.barycentric[k] * body.position(SurfacePoint::at_vertex(corners[at(k)]));
    EXPECT_LT((body.position(point) - mean).norm(), 1e-14);
    // velocity: where it was a step ago
    const Vector3d v = body.velocity(point);
    EXPECT_LT((body.position(point, TickMoment::Start) + 2e-3 * v - body.position(point)).norm(),
              1e-15);
    EXPECT_GT(v.norm(), 1e-3);
    EXPECT_GT(body.mobility(point), 0);
}

TEST(ZonedBody, AStepAllocatesNothingAndStaysFinite) {
    ZonedBody body(finger(), bending());
    std::vector<double> state(at(body.state_size()));
    std::vector<float> shown(at(body.display()->state_size()));
    (void)body.step(1e-3);
    const AllocationGuard guard;
    StepStatus worst = StepStatus::Ok;
    for (int k = 0; k < 20; ++k) {
        body.add_force(SurfacePoint::at_vertex(5), Vector3d(0, 0, 0.1));
        worst = std::max(worst, body.step(1e-3));
    }
    body.save_state(state);
    body.write_display(shown);
    const bool is_restored = body.restore_state(state);
    body.add_force(SurfacePoint::at_vertex(-1), Vector3d(0, 0, 1));
    body.add_force(SurfacePoint::at_vertex(5), Vector3d(kNan, 0, 1));
    const StepStatus ignored = body.step(1e-3);
    const StepStatus bad_time = body.step(kNan);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_EQ(worst, StepStatus::Ok);
    EXPECT_TRUE(is_restored);
    EXPECT_EQ(ignored, StepStatus::InputIgnored);
    EXPECT_EQ(bad_time, StepStatus::InputIgnored);
    EXPECT_TRUE(body.position(SurfacePoint::at_vertex(5)).allFinite());
}

TEST(ZonedBody, GoesOnFromASavedStateToTheBit) {
    const auto run = [](ZonedBody& body, int steps) {
        for (int k = 0; k < steps; ++k) {
            body.add_force(SurfacePoint::at_vertex(40), Vector3d(0.01, 0, 0.1));
            (void)body.step(1e-3);
        }
    };
    ZonedBody first(finger(), bending()), second(finger(), bending());
    run(first, 100);
    std::vector<double> state(at(first.state_size()));
    first.save_state(state);
    run(first, 50);
    ASSERT_TRUE(second.restore_state(state));
    run(second, 50);
    for (int v = 0; v < first.surface().num_vertices(); v += 5)
        EXPECT_EQ(first.position(SurfacePoint::at_vertex(v)),
                  second.position(SurfacePoint::at_vertex(v)));
    // a bad one leaves what was
    const Vector3d before = second.position(SurfacePoint::at_vertex(3));
    state[state.size() / 2] = kNan;
    state.back() = kNan;
    EXPECT_FALSE(second.restore_state(state));
    EXPECT_EQ(second.position(SurfacePoint::at_vertex(3)), before);
    second.reset();
    EXPECT_EQ(second.time(), 0);
}

TEST(ZonedBody, WhatCannotBeIsRefused) {
    CharacterModel model = finger();
    model.zones[1].bone = 7;
    EXPECT_THAT(input_error([&] { ZonedBody body(model); }),
                HasSubstr("zone \"pad1\" is on bone 7; there are 3"));
    model = finger();
    model.zones[2].model = pad_model(false);
    EXPECT_THAT(input_error([&] { ZonedBody body(model); }),
                HasSubstr("zone \"pad2\": a joint bends its fixed node"));
    ZonedBodyOptions options;
    options.flexion = {bend(10)};
    EXPECT_THAT(input_error([&] { ZonedBody body(finger(), options); }),
                HasSubstr("there are 3 bones and 1 paths"));
}

}  // namespace
}  // namespace pliant
