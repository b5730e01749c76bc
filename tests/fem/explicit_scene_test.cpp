#include "core/numbers.h"
#include "fem/contact_samples.h"
#include "geometry/simple_surfaces.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using Phase = ExplicitScene::Touch::Phase;
using test::one;
using test::placed_at;
using test::RunningScene;

bool is_finite(const ExplicitScene::State& s) {
    for (const FemState& body : s.bodies)
        if (!(body.u.allFinite() && body.v.allFinite() && body.a.allFinite())) return false;
    for (const RigidMotion& motion : s.obstacles)
        if (!pliant::is_finite(motion)) return false;
    return true;
}
/// The soft cube on the plane, bottom held by contact.
RunningScene resting_cube(int n, const ContactOptions& options = {}) {
    RunningScene run(one(test::reference_cube(n, 2000)), {RigidShape::half_space()}, options);
    run.add_gravity();
    run.set_accelerations();
    return run;
}

TEST(ExplicitScene, WithoutContactItIsExplicitDynamics) {
    RunningScene run(one(test::reference_cube(2)), {RigidShape::sphere(0.1)});
    run.motions[0] = placed_at({0, 0, -5});
    run.s.bodies[0].v = test::random_displacements(81, 0.5, 2);
    run.add_gravity();
    run.set_accelerations();
    const ExplicitDynamics& body = run.scene.bodies()[0];
    FemState s = run.s.bodies[0];
    auto ws = body.make_workspace();
    const double dt = 0.6 * run.scene.stable_step();
    EXPECT_EQ(run.scene.stable_step(), body.stable_step().dt);
    for (int k = 0; k < 50; ++k) {
        ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
        ASSERT_EQ(body.step(s, run.loads[0], dt, ws).status, StepStatus::Ok);
    }
    EXPECT_EQ(run.s.bodies[0].u, s.u);
    EXPECT_EQ(run.s.bodies[0].v, s.v);
    EXPECT_EQ(run.s.bodies[0].time, s.time);
    EXPECT_NE(run.s.work[0].external_work, 0);
    EXPECT_EQ(run.s.work[0].contact_work, 0);
}

/// All shapes of the same kind of ground, with their top at z = 0.
struct Ground {
    const char* name;
    RigidShape shape;
    RigidMotion motion;
};
std::vector<Ground> grounds() {
    RigidMotion lying = placed_at({0, 0, -0.2});
    lying.pose.rotation = Quaternion(Eigen::AngleAxisd(std::numbers::pi / 2, Vector3d::UnitX()));
    return {
        {"half-space", RigidShape::half_space(), {}},
        {"sphere", RigidShape::sphere(0.2), placed_at({0, 0, -0.2})},
        {"capsule", RigidShape::capsule(0.2, 0.1), lying},
        {"box", RigidShape::box({0.1, 0.1, 0.05}), placed_at({0, 0, -0.05})},
        {"mesh", RigidShape::mesh(test::box_surface({-0.1, -0.1, -0.1}, {0.1, 0.1, 0})), {}},
    };
}

TEST(ExplicitScene, EveryShapeCarriesACube) {
    for (const Ground& ground : grounds()) {
        SCOPED_TRACE(ground.name);
        RunningScene run(one(test::reference_cube(4, 5000, {-0.05, -0.05, 0.001})), {ground.shape});
        run.motions[0] = ground.motion;
        run.add_gravity();
        run.set_accelerations();
        const double dt = 0.6 * run.scene.stable_step();
        double sum = 0, torque = 0;
        int count = 0;
        for (int k = 0; k * dt < 2; ++k) {
            ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
            ASSERT_LT(run.deepest(), 1e-3);
            if (k * dt < 1) continue;
            sum += run.obstacle_force().z();
            torque = std::max(torque, run.ws.wrench(0).torque.norm());
            ++count;
        }
        EXPECT_NEAR(sum / count, 9.81, 0.01 * 9.81);
        EXPECT_LT(torque, 1e-3);  // it sits in the middle
        EXPECT_GT(run.ws.most_contacts(), 3);
    }
}

TEST(ExplicitScene, AMeshActsAsTheSameBox) {
    const auto all = grounds();
    std::vector<VectorXd> ends;
    for (const Ground& ground : {all[3], all[4]}) {
        RunningScene run(one(test::reference_cube(2, 0, {-0.05, -0.05, 0.001})), {ground.shape});
        run.motions[0] = ground.motion;
        run.throw_body(0, {0.1, 0, -0.3});
        run.add_gravity();
        run.set_accelerations();
        for (int k = 0; k < 60; ++k)
            ASSERT_EQ(run.step(0.6 * run.scene.stable_step()).status, StepStatus::Ok);
        ends.push_back(run.s.bodies[0].u);
    }
    EXPECT_LT((ends[0] - ends[1]).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(ExplicitScene, WrenchesAreTheContactForcesAboutTheFrame) {
    RunningScene run = resting_cube(2);
    run.motions[0] = placed_at({0.4, -0.3, 0});
    const double dt = 0.6 * run.scene.stable_step();
    run.throw_body(0, {0.2, 0, -0.1});
    for (int k = 0; k < 40; ++k) {
        ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
        Wrench sum;
        for (const Contact& c : run.ws.contacts()) {
            const Vector3d x = run.scene.bodies()[0].model().mesh().vertices[c.node] +
                               run.s.bodies[0].u.segment<3>(3 * c.node);
            EXPECT_LT((c.point - x).norm(), 1e-15);
            sum += {-c.force, -(x - Vector3d(0.4, -0.3, 0)).cross(c.force)};
        }
        EXPECT_LT((run.ws.wrench(0).force - sum.force).norm(), 1e-12);
        EXPECT_LT((run.ws.wrench(0).torque - sum.torque).norm(), 1e-12);
    }
    EXPECT_GT(run.ws.wrench(0).torque.norm(), 1);
}

TEST(ExplicitScene, ACubeComesToRestInACorner) {
    // three planes: nodes at the edges touch two, one touches all
    std::vector<RigidShape> planes;
    for (int axis = 0; axis < 3; ++axis)
        planes.push_back(RigidShape::half_space(Vector3d::Unit(axis)));
    RunningScene run(one(test::reference_cube(2, 3000, Vector3d::Constant(1e-3))), planes);
    run.loads[0] = gravity_load(run.scene.bodies()[0].model(), Vector3d::Constant(-6));
    run.set_accelerations();
    const double dt = 0.6 * run.scene.stable_step();
    Vector3d sum = Vector3d::Zero();
    int count = 0, most_at_a_node = 0;
    for (int k = 0; k * dt < 3; ++k) {
        ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
        int at_corner = 0;
        for (const Contact& c : run.ws.contacts()) at_corner += c.node == 0;
        most_at_a_node = std::max(most_at_a_node, at_corner);
        if (k * dt < 1) continue;
        ++count;
        sum += run.obstacle_force();
    }
    EXPECT_EQ(most_at_a_node, 3);
    EXPECT_LT((sum / count - Vector3d::Constant(6)).norm(), 0.1);
    for (const Contact& c : run.ws.contacts()) EXPECT_LT(std::abs(c.gap), 5e-4);
}

TEST(ExplicitScene, HeldNodesFollowACurvedSurfaceUntilTheyAreTooFast) {
    // a small cube slides over a large sphere without friction; above √(g R) = 1.7 m/s it flies
    for (const double speed : {1.0, 2.5}) {
        const Vector3d top(-0.01, -0.01, -2e-4);
        RunningScene run(
            one(test::free_body(test::hex_cube(1, 0.02, top), isotropic(5e4, 0.3, 1000))),
            {RigidShape::sphere(0.3)}, {.friction = 0});
        run.motions[0] = placed_at({0, 0, -0.3});
        run.throw_body(0, {speed, 0, 0});
        run.add_gravity();
        run.set_accelerations();
        const double dt = 0.5 * run.scene.stable_step();
        double smallest = 1, largest = -1, force = 0;
        int count = 0;
        for (int k = 0; k * dt < 0.08; ++k) {
            ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
            if (k * dt < 0.02) continue;
            ++count;
            force += run.obstacle_force().norm();
            for (const Contact& c : run.ws.contacts()) {
                smallest = std::min(smallest, c.gap);
                largest = std::max(largest, c.gap);
            }
        }
        if (speed > 2) {
            EXPECT_EQ(force, 0);
            continue;
        }
        EXPECT_GT(smallest, -1e-4);
        EXPECT_LT(largest, 1e-4);
        const double expected = 0.008 * (9.81 - speed * speed / 0.31);
        EXPECT_NEAR(force / count, expected, 0.08 * expected);
    }
}

TEST(ExplicitScene, HeldNodesFollowATurningPlane) {
    // a block rides on a plane that turns about a far axis, with much friction
    RunningScene run(one(test::reference_cube(2, 2000)), {RigidShape::half_space()},
                     {.friction = 5});
    run.add_gravity();
    run.motions[0] = placed_at({0.5, 0, 0});
    run.motions[0].velocity.angular = Vector3d(0, 0.5, 0);
    for (int i = 0; i < 27; ++i)
        run.s.bodies[0].v.segment<3>(3 * i) =
            run.motions[0].velocity_at(run.scene.bodies()[0].model().mesh().vertices[i]);
    run.set_accelerations();
    const double dt = 0.5 * run.scene.stable_step();
    std::vector<double> gaps;  // soon after the capture, of the nine nodes
    for (int k = 0; k < 150; ++k) {
        run.motions[0] = advance(run.motions[0], dt);
        ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
        if (k < 20) continue;
        ASSERT_EQ(run.ws.contacts().size(), 9u);
        for (std::size_t i = 0; i < 9; ++i) {
            const double gap = run.ws.contacts()[i].gap;
            if (k == 20) gaps.push_back(gap);
            ASSERT_NEAR(gap, gaps[i], 1e-6);
        }
    }
}

/// A coarse hex beside eight fine ones: five of the nodes between them hang, four of these on the
/// surface.
VolumeMesh mesh_with_hanging_surface() {
    VolumeMesh fine = hex_box(2, 2, 2, Box(Vector3d(0.1, 0, 0), Vector3d(0.2, 0.1, 0.1)));
    const auto at = [](int i, int j, int k) { return i + 3 * (j + 3 * k); };
    const int first = fine.num_vertices();
    for (const double z : {0.0, 0.1})
        for (const double y : {0.0, 0.1}) fine.vertices.emplace_back(0, y, z);
    for (const int v : {first, at(0, 0, 0), at(0, 2, 0), first + 1, first + 2, at(0, 0, 2),
                        at(0, 2, 2), first + 3})
        fine.elements.push_back(v);
    const auto hang = [&](int v, std::vector<int> masters) {
        HangingNode h;
        h.vertex = v;
        h.num_masters = static_cast<int>(masters.size());
        std::ranges::copy(masters, h.masters.begin());
        h.weight = 1.0 / h.num_masters;
        fine.hanging.push_back(h);
    };
    hang(at(0, 1, 0), {at(0, 0, 0), at(0, 2, 0)});
    hang(at(0, 0, 1), {at(0, 0, 0), at(0, 0, 2)});
    hang(at(0, 1, 1), {at(0, 0, 0), at(0, 2, 0), at(0, 0, 2), at(0, 2, 2)});
    hang(at(0, 2, 1), {at(0, 2, 0), at(0, 2, 2)});
    hang(at(0, 1, 2), {at(0, 0, 2), at(0, 2, 2)});
    return fine;
}

TEST(ExplicitScene, HangingNodesTouchThroughTheirMasters) {
    // an edge of a box between the masters: they touch nothing themselves
    const Material soft = isotropic(2e4, 0.3, 1000);
    RunningScene run(one(test::free_body(mesh_with_hanging_surface(), soft)),
                     {RigidShape::box({0.02, 0.02, 0.02})}, {.friction = 0});
    run.motions[0] = placed_at({0.1, 0.05, -0.022});
    run.throw_body(0, {0, 0, -0.3});
    run.set_accelerations();
    const double dt = 0.6 * run.scene.stable_step();
    const int hanging = 3;  // (0, 1, 0) of the fine part
    double impulse = 0;
    bool has_touched = false;
    for (int k = 0; k * dt < 0.15; ++k) {
        ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
        for (const Contact& c : run.ws.contacts()) {
            EXPECT_EQ(c.node, hanging);
            has_touched = true;
            if (!c.is_capture) {
                EXPECT_NEAR(run.s.bodies[0].v[3 * hanging + 2], 0, 1e-14);
            }
        }
        impulse += dt * run.obstacle_force().z();
        const FemState& s = run.s.bodies[0];
        for (const VectorXd* x : {&s.u, &s.v, &s.a})
            EXPECT_LT((x->segment<3>(3 * hanging) - 0.5 * (x->segment<3>(0) + x->segment<3>(3 * 6)))
                          .norm(),
                      1e-12);
    }
    EXPECT_TRUE(has_touched);
    EXPECT_TRUE(run.ws.contacts().empty());
    EXPECT_NEAR(impulse, run.momentum().linear.z() + 2 * 0.3, 1e-13);
}

TEST(ExplicitScene, ANodeIsLetGoBeyondTheReach) {
    RunningScene run = resting_cube(2);
    const double dt = 0.6 * run.scene.stable_step();
    for (int k = 0; k < 100; ++k) ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
    EXPECT_EQ(run.ws.contacts().size(), 9u);
    run.motions[0] = placed_at({0, 0, -0.02});  // half an edge is 0.025
    ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
    EXPECT_EQ(run.ws.contacts().size(), 9u);
    run.motions[0] = placed_at({0, 0, -0.03});
    ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
    EXPECT_TRUE(run.ws.contacts().empty());
}

TEST(ExplicitScene, PrescribedNodesAreNotPushed) {
    // the bottom is prescribed and inside the plane: nothing happens to it
    VolumeMesh mesh = test::hex_cube(2, 0.1, {0, 0, -0.001});
    const auto bottom = test::vertices_where(mesh, [](const Vector3d& x) { return x.z() < 1e-6; });
    Constraints clamped(mesh.num_vertices());
    clamped.fix(bottom);
    RunningScene run(one({FemModel(mesh, {isotropic(2e4, 0.3, 1000)}), clamped}),
                     {RigidShape::half_space()});
    run.motions[0].velocity.linear.z() = 0.1;
    run.add_gravity();
    run.set_accelerations();
    for (int k = 0; k < 50; ++k)
        ASSERT_EQ(run.step(0.6 * run.scene.stable_step()).status, StepStatus::Ok);
    EXPECT_TRUE(is_finite(run.s));
    for (const int node : bottom) EXPECT_EQ(run.s.bodies[0].u.segment<3>(3 * node).norm(), 0);
    EXPECT_EQ(run.obstacle_force().norm(), 0);
}

TEST(ExplicitScene, AfterACaptureAStepOfAnotherLengthIsRefused) {
    RunningScene run = resting_cube(2);
    const double dt = 0.6 * run.scene.stable_step();
    for (int k = 0; k < 10 && !run.s.has_captured; ++k)
        ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
    ASSERT_TRUE(run.s.has_captured);
    const VectorXd before = run.s.bodies[0].u;
    EXPECT_EQ(run.step(0.5 * dt).status, StepStatus::StepRejected);
    EXPECT_EQ(run.s.bodies[0].u, before);
    EXPECT_EQ(run.step(dt).status, StepStatus::Ok);
    EXPECT_FALSE(run.s.has_captured);
    EXPECT_EQ(run.step(0.5 * dt).status, StepStatus::Ok);
}

TEST(ExplicitScene, TheLiteralRuleLeavesItsSecondStepAlone) {
    RunningScene run = resting_cube(2, {.mode = ContactMode::Literal});
    const double dt = 0.6 * run.scene.stable_step();
    for (int k = 0; k < 10 && !run.s.has_captured; ++k)
        ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
    ASSERT_EQ(run.ws.contacts().size(), 9u);
    // whatever round-off makes of the velocity zero
    run.throw_body(0, {0, 0, -1e-6});
    ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
    EXPECT_TRUE(run.ws.contacts().empty());
}

TEST(ExplicitScene, BadTimeStepsAreIgnored) {
    RunningScene run = resting_cube(2);
    const VectorXd before = run.s.bodies[0].u;
    for (const double dt : {0.0, -1e-3, kNan, std::numeric_limits<double>::infinity()})
        EXPECT_EQ(run.step(dt).status, StepStatus::InputIgnored);
    EXPECT_EQ(run.s.bodies[0].u, before);
    EXPECT_EQ(run.s.bodies[0].time, 0);
}

TEST(ExplicitScene, BadMotionsAndLoadsAreIgnored) {
    RunningScene run = resting_cube(2);
    const double dt = 0.6 * run.scene.stable_step();
    for (int k = 0; k < 100; ++k) ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
    run.motions[0] = placed_at({0.3, 0, 0});
    ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
    const RigidMotion good = run.motions[0];
    RunningScene still = resting_cube(2);
    still.s = run.s;
    still.motions = run.motions;
    for (int k = 0; k < 20; ++k) {
        run.motions[0] = good;
        if (k % 4 == 0) run.motions[0].pose.position.y() = kNan;
        if (k % 4 == 1) run.motions[0].velocity.angular.x() = kNan;
        if (k % 4 == 2) run.motions[0].acceleration.linear.z() = -1.0 / 0.0;
        if (k % 4 == 3) run.motions[0].pose.rotation.w() = kNan;
        EXPECT_EQ(run.step(dt).status, StepStatus::InputIgnored);
        EXPECT_EQ(run.s.obstacles[0].pose.position, good.pose.position);
        EXPECT_EQ(still.step(dt).status, StepStatus::Ok);
    }
    EXPECT_EQ(run.s.bodies[0].u, still.s.bodies[0].u);  // it stood still before, too
    run.motions[0] = good;
    run.loads[0][7] = kNan;
    EXPECT_EQ(run.step(dt).status, StepStatus::InputIgnored);
    EXPECT_TRUE(is_finite(run.s));
    run.add_gravity();
    EXPECT_EQ(run.step(dt).status, StepStatus::Ok);
}

TEST(ExplicitScene, AStepThatExplodesIsUndoneInAllBodies) {
    std::vector<ExplicitDynamics> bodies;
    bodies.push_back(test::reference_cube(2));
    bodies.push_back(test::reference_cube(2, 0, {0.5, 0, 0}));
    RunningScene run(std::move(bodies), {RigidShape::half_space()});
    run.add_gravity();
    run.set_accelerations();
    const double dt = 0.6 * run.scene.stable_step();
    for (int k = 0; k < 5; ++k) ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
    const ExplicitScene::State before = run.s;
    run.loads[1].setConstant(1e308);
    StepStatus status = StepStatus::Ok;
    for (int k = 0; k < 5 && status == StepStatus::Ok; ++k) status = run.step(dt).status;
    EXPECT_EQ(status, StepStatus::StepRejected);
    EXPECT_TRUE(is_finite(run.s));
    EXPECT_EQ(run.s.bodies[0].time, run.s.bodies[1].time);
    EXPECT_TRUE(run.ws.contacts().empty());
}

TEST(ExplicitScene, HugeMotionsLeaveTheStateFinite) {
    for (const double size : {1e3, 1e30, 1e200}) {
        RunningScene run = resting_cube(2);
        const double dt = 0.6 * run.scene.stable_step();
        for (int k = 0; k < 20; ++k) {
            run.motions[0].velocity.linear = Vector3d(size, 0, size);
            run.motions[0].acceleration.angular = Vector3d(0, size, 0);
            run.motions[0].pose.position.z() = k % 2 ? 0.01 : 0;
            (void)run.step(dt);
            ASSERT_TRUE(is_finite(run.s));
        }
    }
}

TEST(ExplicitScene, ContactsBeyondTheCapacityAreReported) {
    RunningScene run = resting_cube(4, {.capacity = 5});
    const double dt = 0.6 * run.scene.stable_step();
    StepStatus status = StepStatus::Ok;
    for (int k = 0; k < 10; ++k) {
        status = run.step(dt).status;
        EXPECT_LE(run.ws.contacts().size(), 5u);
    }
    EXPECT_EQ(status, StepStatus::CapacityExceeded);
    EXPECT_EQ(run.ws.most_contacts(), 5);
    EXPECT_TRUE(is_finite(run.s));
}

TEST(ExplicitScene, CollapseIsReportedWithItsBody) {
    std::vector<ExplicitDynamics> bodies;
    bodies.push_back(test::reference_cube(2, 0, {0.5, 0, 0}));
    bodies.push_back(test::reference_cube(2));
    RunningScene run(std::move(bodies), {});
    for (int i = 2; i < 81; i += 3)
        run.s.bodies[1].u[i] = -0.95 * run.scene.bodies()[1].model().mesh().vertices[i / 3].z();
    const auto report = run.step(1e-6);
    EXPECT_EQ(report.collapsing_body, 1);
    EXPECT_LT(report.smallest_det_F.value, 0.1);
}

TEST(ExplicitScene, OptionsOutOfRangeAreRefused) {
    const auto message = [](const ContactOptions& options) {
        return test::input_error(
            [&] { (void)ExplicitScene(one(test::reference_cube(1)), {}, options); });
    };
    EXPECT_NE(message({.friction = -0.1}).find("contact.friction = -0.1"), std::string::npos);
    EXPECT_NE(message({.friction = kNan}).find("contact.friction = nan"), std::string::npos);
    EXPECT_NE(message({.sweeps = 0}).find("contact.sweeps = 0 (expected 1 <= value"),
              std::string::npos);
    EXPECT_NE(message({.reach = -1}).find("contact.reach = -1"), std::string::npos);
    EXPECT_NE(message({.capacity = -3}).find("contact.capacity = -3"), std::string::npos);
    EXPECT_EQ(message({}), "");
}

/// A block of 8,000 hexes and a smaller one on it, on a mesh and beside a moving sphere.
RunningScene large_scene() {
    std::vector<ExplicitDynamics> bodies;
    bodies.push_back(test::reference_cube(20));
    bodies.push_back(test::reference_cube(4, 0, {0.003, 0.004, 0.1001}));
    RunningScene run(
        std::move(bodies),
        {RigidShape::mesh(test::box_surface({-1, -1, -1}, {1, 1, 0})), RigidShape::sphere(0.05)});
    run.motions[1] = placed_at({0.149, 0.05, 0.05});
    run.motions[1].velocity.linear.x() = -1;
    run.throw_body(0, {0, 0, -0.5});
    run.throw_body(1, {0, 0, -1});
    run.add_gravity();
    run.set_accelerations();
    return run;
}

TEST(ExplicitScene, AllocatesNothingInAStep) {
    set_num_threads(1);
    RunningScene run = large_scene();
    const double dt = 0.6 * run.scene.stable_step();
    std::uint64_t allocations = 0;
    std::array<int, 3> num_contacts{};
    for (int k = 0; k < 12; ++k) {
        AllocationGuard guard;
        run.motions[1] = advance(run.motions[1], dt);
        const auto report = run.step(dt);
        allocations += guard.count();
        EXPECT_EQ(report.status, StepStatus::Ok);
        for (const Contact& c : run.ws.contacts()) ++num_contacts[c.obstacle < 0 ? 2 : c.obstacle];
    }
    set_num_threads(0);
    EXPECT_EQ(allocations, 0u);
    for (const int count : num_contacts) EXPECT_GT(count, 0);
}

TEST(ExplicitScene, GivesTheSameBitsWithAnyNumberOfThreads) {
    std::vector<VectorXd> ends;
    for (const int threads : {1, 2, 3}) {
        set_num_threads(threads);
        RunningScene run = large_scene();
        const double dt = 0.6 * run.scene.stable_step();
        for (int k = 0; k < 8; ++k) {
            run.motions[1] = advance(run.motions[1], dt);
            ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
        }
        ends.push_back(run.s.bodies[0].v);
    }
    set_num_threads(0);
    EXPECT_EQ(ends[0], ends[1]);
    EXPECT_EQ(ends[0], ends[2]);
}

TEST(ExplicitScene, AStateCanBeTakenToAnotherWorkspace) {
    // work spaces remember clearances: they must not change what happens
    RunningScene run = large_scene(), other = large_scene();
    const double dt = 0.6 * run.scene.stable_step();
    for (int k = 0; k < 16; ++k) {
        run.motions[1] = advance(run.motions[1], dt);
        ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
        if (k == 7) other.s = run.s;
        if (k <= 7) continue;
        other.motions = run.motions;
        ASSERT_EQ(other.step(dt).status, StepStatus::Ok);
    }
    EXPECT_EQ(run.s.bodies[0].v, other.s.bodies[0].v);
    EXPECT_EQ(run.s.bodies[1].v, other.s.bodies[1].v);
}

}  // namespace
}  // namespace pliant
