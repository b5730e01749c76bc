#include "fem/coupled_contact.h"

#include "core/numbers.h"
#include "fem/coupled_samples.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <numbers>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using namespace test;

Vector3d total_force(const CoupledDynamics& dynamics) {
    Vector3d sum = Vector3d::Zero();
    for (const Contact& contact : dynamics.contacts()) sum += contact.force;
    return sum;
}
RigidMotion moving(const Vector3d& position, const Vector3d& v = Vector3d::Zero(),
                   const Vector3d& a = Vector3d::Zero()) {
    RigidMotion motion;
    motion.pose.position = position;
    motion.velocity.linear = v;
    motion.acceleration.linear = a;
    return motion;
}

// ---- the decoupled path is the special case of diagonal matrices

struct SceneCase {
    const char* name;
    Vector3d velocity;
    double friction = 0;
    ContactTrigger trigger = ContactTrigger::Predictive;
    bool is_tilted = false;
};
class DecoupledScene : public ::testing::TestWithParam<SceneCase> {};

TEST_P(DecoupledScene, HasTheSameTrajectoryAndForces) {
    const SceneCase& c = GetParam();
    VolumeMesh mesh = block(3, 0.002).mesh();
    if (c.is_tilted)
        for (Vector3d& x : mesh.vertices)
            x = Eigen::AngleAxisd(0.5, Vector3d(1, 2, 0.3).normalized()) * x +
                Vector3d(0, 0, 0.045);
    const FemModel model(mesh, {soft_material()});
    // a floor, and a ball that presses on the body from above
    const std::vector<RigidShape> obstacles{RigidShape::half_space(), RigidShape::sphere(0.05)};
    const auto motions_at = [](double t) {
        return std::array{moving(Vector3d::Zero()),
                          moving(Vector3d(0.02, 0.01, 0.153 - 0.05 * t), Vector3d(0, 0, -0.05))};
    };
    ContactOptions contact;
    contact.friction = c.friction;
    contact.trigger = c.trigger;
    ExplicitScene scene({ExplicitDynamics(model, free_body(model))}, obstacles, contact);
    const double dt = 0.5 * scene.stable_step();
    CoupledOptions options = lumped_options(dt);
    options.contact = contact;
    CoupledDynamics coupled(model, free_body(model), options, obstacles);

    const std::vector<VectorXd> loads{gravity_load(model, kGravity)};
    auto a = scene.make_state();
    auto ws = scene.make_workspace();
    FemState b = coupled.make_state();
    set_velocity(b, c.velocity);
    coupled.set_acceleration(b, loads[0]);
    a.bodies[0] = b;
    const auto start = motions_at(0);
    a.obstacles.assign(start.begin(), start.end());

    int num_touching = 0;
    double largest_friction = 0;
    for (int k = 0; k < 250; ++k) {
        const auto motions = motions_at((k + 1) * dt);
        ASSERT_EQ(scene.step(a, loads, motions, dt, ws).status, StepStatus::Ok) << k;
        ASSERT_EQ(coupled.step(b, loads[0], 0, motions).status, StepStatus::Ok) << k;
        ASSERT_EQ(ws.contacts().size(), coupled.contacts().size()) << k;
        for (int o = 0; o < 2; ++o) {
            const Wrench& first = ws.wrench(o);
            const Wrench& second = coupled.wrenches()[o];
            ASSERT_LT((first.force - second.force).norm(), 1e-8 * (1 + first.force.norm())) << k;
            ASSERT_LT((first.torque - second.torque).norm(), 1e-8 * (1 + first.torque.norm())) << k;
            largest_friction = std::max(largest_friction, first.force.head<2>().norm());
        }
        num_touching += !coupled.contacts().empty();
        ASSERT_LT(difference(b, a.bodies[0]), 1e-10) << k;
    }
    EXPECT_GT(num_touching, 100);
    if (c.friction > 0) {
        EXPECT_GT(largest_friction, 0.1);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, DecoupledScene,
    ::testing::Values(
        SceneCase{.name = "falling", .velocity = {0, 0, -0.5}},
        SceneCase{.name = "sliding", .velocity = {0.4, -0.2, -0.3}, .friction = 0.3},
        SceneCase{.name = "tilted", .velocity = {0.1, 0, -0.4}, .friction = 0.5, .is_tilted = true},
        SceneCase{.name = "at_contact",
                  .velocity = {0, 0.1, -0.3},
                  .friction = 0.2,
                  .trigger = ContactTrigger::AtContact}),
    [](const auto& scene) { return scene.param.name; });

// ---- consistent matrices

/// Matrices that couple nodes: scalar factor, full factor.
struct MatrixCase {
    const char* name;
    double stiffness_damping;
    bool has_consistent_mass = true;
};
class CoupledContactCase : public ::testing::TestWithParam<MatrixCase> {
protected:
    [[nodiscard]] static CoupledOptions options(double dt) {
        CoupledOptions o = coupled_options(dt, 2);
        o.has_consistent_mass = GetParam().has_consistent_mass;
        o.damping.stiffness = GetParam().stiffness_damping;
        o.contact.friction = 0;
        return o;
    }
};
INSTANTIATE_TEST_SUITE_P(Matrices, CoupledContactCase,
                         ::testing::Values(MatrixCase{"consistent", 0},
                                           MatrixCase{"viscoelastic", 5e-4},
                                           MatrixCase{"lumped_viscoelastic", 5e-4, false}),
                         [](const auto& matrix) { return matrix.param.name; });

TEST_P(CoupledContactCase, BounceBalancesImpulseAndMomentum) {
    const FemModel model = block(4, 0.005);
    const double dt = 1e-3;
    CoupledDynamics dynamics(model, free_body(model), options(dt), {RigidShape::half_space()});
    FemState s = dynamics.make_state();
    const VectorXd f = VectorXd::Zero(model.num_unknowns());
    set_velocity(s, Vector3d(0, 0, -0.5));
    dynamics.set_acceleration(s, f);
    const double energy = dynamics.energy(s).total(), mass = total_mass(model);

    double impulse = 0, deepest = 0, least = 0;
    for (int k = 0; k < 200; ++k) {
        const auto report = dynamics.step(s, f, 0);
        ASSERT_EQ(report.status, StepStatus::Ok) << k;
        const Vector3d force = total_force(dynamics);
        EXPECT_EQ(dynamics.wrenches()[0].force, -force);
        impulse += force.z() * dt;
        least = std::min(least, force.z());
        deepest = std::min(deepest, lowest_point(model, s));
    }
    EXPECT_TRUE(dynamics.contacts().empty());
    const Vector3d change = momentum(model, s) - mass * Vector3d(0, 0, -0.5);
    EXPECT_NEAR(impulse, change.z(), 1e-10 * change.z());
    EXPECT_LT(change.head<2>().norm(), 1e-12);
    EXPECT_GT(change.z(), mass * 0.5 * 1.5);  // it has turned round
    EXPECT_GT(least, -1e-9);                  // contact never pulls
    EXPECT_LT(dynamics.energy(s).total(), 1.001 * energy);
    EXPECT_GT(dynamics.energy(s).total(), 0.5 * energy);
    // below for one step after capture, by |v| dt at most
    EXPECT_GT(deepest, -0.5 * dt);
}

TEST_P(CoupledContactCase, CapturedNodesAreBackAfterTwoSteps) {
    const FemModel model = block(3, 0.00123);
    CoupledDynamics dynamics(model, free_body(model), options(1e-3), {RigidShape::half_space()});
    FemState s = dynamics.make_state();
    const VectorXd f = gravity_load(model, kGravity);
    // tilting: the nodes of the lower face arrive one after the other
    for (int i = 0; i < model.num_nodes(); ++i)
        s.v[3 * i + 2] = -0.4 + 2.0 * model.mesh().vertices[i].x() + model.mesh().vertices[i].y();
    dynamics.set_acceleration(s, f);
    int num_checked = 0;
    for (int k = 0; k < 60; ++k) {
        const VectorXd u = s.u;
        ASSERT_EQ(dynamics.step(s, f, 0).status, StepStatus::Ok);
        std::vector<int> captured;
        for (const Contact& contact : dynamics.contacts())
            if (contact.is_capture) captured.push_back(3 * contact.node + 2);
        for (const int i : captured) EXPECT_NEAR(s.v[i], 0, 1e-12);
        if (captured.empty()) continue;
        // another length would break the pair
        FemState other = s;
        EXPECT_EQ(dynamics.step(other, f, 1).status, StepStatus::StepRejected);
        EXPECT_EQ(other.u, s.u);
        ASSERT_EQ(dynamics.step(s, f, 0).status, StepStatus::Ok);
        for (const int i : captured) EXPECT_NEAR(s.u[i], u[i], 1e-12);
        num_checked += static_cast<int>(captured.size());
    }
    EXPECT_GT(num_checked, 8);
}

TEST_P(CoupledContactCase, HeldNodesHaveTheVelocityOfTheFloor) {
    const FemModel model = block(4, 0.001, soft_material(1000));
    CoupledDynamics dynamics(model, free_body(model), options(1e-3), {RigidShape::half_space()});
    FemState s = dynamics.make_state();
    const VectorXd f = gravity_load(model, kGravity);
    dynamics.set_acceleration(s, f);
    int num_held = 0, num_leaving = 0;
    for (int k = 0; k < 300; ++k) {
        const VectorXd v = s.v;
        ASSERT_EQ(dynamics.step(s, f, 0).status, StepStatus::Ok);
        for (const Contact& contact : dynamics.contacts()) {
            // what is listed and not new was held at the end of the step before
            if (contact.is_capture) continue;
            ++num_held;
            EXPECT_GT(v[3 * contact.node + 2], -1e-12);
            // the reset does not pull: some may leave
            num_leaving += v[3 * contact.node + 2] > 1e-12;
        }
    }
    EXPECT_GT(num_held, 1000);
    EXPECT_LT(num_leaving, 0.02 * num_held);
}

TEST_P(CoupledContactCase, RestingBodyPressesWithItsWeight) {
    const FemModel model = block(3, 0.0005, soft_material(5000));
    CoupledDynamics dynamics(model, free_body(model), options(1e-3), {RigidShape::half_space()});
    FemState s = dynamics.make_state();
    const VectorXd f = gravity_load(model, kGravity);
    dynamics.set_acceleration(s, f);
    const double weight = 9.81 * total_mass(model);
    double sum = 0, smallest = weight, largest = 0;
    int count = 0;
    for (int k = 0; k < 3000; ++k) {
        ASSERT_EQ(dynamics.step(s, f, 0).status, StepStatus::Ok);
        if (k < 1500) continue;
        const double force = total_force(dynamics).z();
        sum += force;
        smallest = std::min(smallest, force);
        largest = std::max(largest, force);
        ++count;
    }
    EXPECT_NEAR(sum / count, weight, 0.005 * weight);
    EXPECT_GT(smallest, 0.9 * weight);
    EXPECT_LT(largest, 1.1 * weight);
    EXPECT_LT(s.v.cwiseAbs().maxCoeff(), 1e-3);
    EXPECT_GT(lowest_point(model, s), -1e-4);
}

TEST_P(CoupledContactCase, FloorThatRisesOrDropsIsFollowed) {
    const FemModel model = block(3, 1e-6, soft_material(5000));
    CoupledDynamics dynamics(model, free_body(model), options(1e-3), {RigidShape::half_space()});
    FemState s = dynamics.make_state();
    const VectorXd f = gravity_load(model, kGravity);
    dynamics.set_acceleration(s, f);
    for (int k = 0; k < 1500; ++k) ASSERT_EQ(dynamics.step(s, f, 0).status, StepStatus::Ok);
    // drag resists the motion, 5 M v/s; the rest is inertia
    const double mass = total_mass(model);
    const Vector3d a(0, 0, 2);
    double sum = 0, expected = 0;
    for (int k = 1; k <= 400; ++k) {
        const double t = 1e-3 * k;
        const std::array motion{moving(0.5 * t * t * a, t * a, a)};
        ASSERT_EQ(dynamics.step(s, f, 0, motion).status, StepStatus::Ok);
        if (k <= 200) continue;
        sum += total_force(dynamics).z();
        expected += mass * (9.81 + 2 + 5 * momentum(model, s).z() / mass);
    }
    EXPECT_NEAR(sum, expected, 0.02 * expected);
    // faster than it can fall: let go at once
    for (int k = 1; k <= 30; ++k) {
        const double t = 1e-3 * k;
        const Vector3d from(0, 0, 0.5 * 0.16 * 2), v(0, 0, 0.8), down(0, 0, -40);
        const std::array motion{moving(from + t * v + 0.5 * t * t * down, v + t * down, down)};
        ASSERT_EQ(dynamics.step(s, f, 0, motion).status, StepStatus::Ok);
    }
    EXPECT_TRUE(dynamics.contacts().empty());
}

TEST_P(CoupledContactCase, FrictionSticksBelowItsConeAndSlidesBeyond) {
    // gravity tilted instead of the floor
    const double mu = 0.4;
    for (const double slope : {0.2, 0.8}) {
        const FemModel model = block(3, 1e-6, soft_material(5000));
        CoupledOptions o = options(1e-3);
        o.contact.friction = mu;
        CoupledDynamics dynamics(model, free_body(model), o, {RigidShape::half_space()});
        FemState s = dynamics.make_state();
        const Vector3d g = 9.81 * Vector3d(slope, 0, -1).normalized();
        const VectorXd f = gravity_load(model, g);
        dynamics.set_acceleration(s, f);
        const double mass = total_mass(model);
        Vector3d x = Vector3d::Zero();
        double rubbing = 0, pressing = 0;
        for (int k = 0; k < 1800; ++k) {
            ASSERT_EQ(dynamics.step(s, f, 0).status, StepStatus::Ok);
            if (k < 1200) continue;
            if (k == 1200) x = s.u.segment<3>(0);
            const Vector3d force = total_force(dynamics);
            rubbing -= force.x();
            pressing += force.z();
        }
        if (slope < mu) {
            // at rest
            EXPECT_LT((s.u.segment<3>(0) - x).norm(), 1e-5);
            EXPECT_NEAR(rubbing / pressing, slope, 0.01 * slope);
        } else {
            EXPECT_NEAR(rubbing / pressing, mu, 0.01 * mu);
            // as fast as drag allows: M g_x − μ M g_z = M v 5/s
            const double speed = (g.x() + mu * g.z()) / 5;
            EXPECT_NEAR(momentum(model, s).x() / mass, speed, 0.01 * speed);
        }
    }
}

// ---- other shapes, other nodes

TEST(CoupledContact, CornerKeepsItsNodesOutOfBothWalls) {
    const FemModel model = block(3, 0.001, soft_material(2000));
    CoupledOptions options = coupled_options(1e-3);
    options.contact.friction = 0;
    CoupledDynamics dynamics(
        model, free_body(model), options,
        {RigidShape::half_space(), RigidShape::half_space(-Vector3d::UnitX(), -0.0505),
         RigidShape::half_space(Vector3d(0, -1, 0), -0.0505)});
    FemState s = dynamics.make_state();
    const VectorXd f = gravity_load(model, Vector3d(3, 4, -9));
    set_velocity(s, Vector3d(0.2, 0.2, -0.2));
    dynamics.set_acceleration(s, f);
    int most_of_one_node = 0;
    Vector3d sum = Vector3d::Zero();
    for (int k = 0; k < 2000; ++k) {
        ASSERT_EQ(dynamics.step(s, f, 0).status, StepStatus::Ok) << k;
        std::vector<int> touches(static_cast<std::size_t>(model.num_nodes()), 0);
        for (const Contact& contact : dynamics.contacts())
            most_of_one_node = std::max(most_of_one_node, ++touches[contact.node]);
        if (k >= 1000) sum += total_force(dynamics) / 1000;
    }
    EXPECT_EQ(most_of_one_node, 3);
    for (int i = 0; i < model.num_nodes(); ++i) {
        const Vector3d x = model.mesh().vertices[i] + s.u.segment<3>(3 * i);
        EXPECT_LT(x.x(), 0.0505 + 5e-4);
        EXPECT_LT(x.y(), 0.0505 + 5e-4);
        EXPECT_GT(x.z(), -5e-4);
    }
    const Vector3d load = total_mass(model) * Vector3d(3, 4, -9);
    EXPECT_LT((sum + load).norm(), 0.02 * load.norm());
}

TEST(CoupledContact, BodyRestsOnABall) {
    // plain elements: of others four cells across a ball give way by a tenth of a millimetre more
    const Material soft = soft_material(3000);
    const FemModel model(block(4, 0.0001, soft).mesh(), {soft}, {ElementFormulation::Plain});
    Constraints constraints(model.num_nodes());
    // a column above the ball: the sides of the top can only move up and down
    for (const int node :
         vertices_where(model.mesh(), [](const Vector3d& x) { return x.z() > 0.09; }))
        for (int axis = 0; axis < 2; ++axis) constraints.prescribe(node, axis, 0);
    CoupledOptions options = coupled_options(1e-3);
    options.contact.friction = 0.5;
    CoupledDynamics dynamics(model, constraints, options, {RigidShape::sphere(0.08)});
    EXPECT_FALSE(dynamics.is_scalar());
    FemState s = dynamics.make_state();
    const VectorXd f = gravity_load(model, kGravity);
    dynamics.set_acceleration(s, f);
    const std::array ball{moving(Vector3d(0.002, -0.001, -0.08))};
    for (int k = 0; k < 3000; ++k) ASSERT_EQ(dynamics.step(s, f, 0, ball).status, StepStatus::Ok);
    const double weight = 9.81 * total_mass(model);
    EXPECT_NEAR(dynamics.wrenches()[0].force.z(), -weight, 0.1 * weight);
    EXPECT_GE(dynamics.contacts().size(), 1u);
    for (const Contact& contact : dynamics.contacts()) {
        EXPECT_NEAR((contact.point - ball[0].pose.position).norm(), 0.08 + contact.gap, 1e-12);
        EXPECT_LT(std::abs(contact.gap), 1e-3);
    }
}

TEST(CoupledContact, HangingNodesOnTheSurfaceHandForcesToTheirMasters) {
    // one cube of side 2 beside four of side 1: the node between two corners lies on the floor
    VolumeMesh mesh = hex_box(1, 1, 1, Box(Vector3d(0, 0, 0), Vector3d(2, 2, 2)));
    const VolumeMesh fine = hex_box(1, 2, 2, Box(Vector3d(2, 0, 0), Vector3d(3, 2, 2)));
    std::vector<int> number;
    for (const Vector3d& x : fine.vertices) {
        const auto same =
            vertices_where(mesh, [&](const Vector3d& y) { return (x - y).norm() < 1e-9; });
        number.push_back(same.empty() ? mesh.num_vertices() : same[0]);
        if (same.empty()) mesh.vertices.push_back(x);
    }
    for (const int i : fine.elements) mesh.elements.push_back(number[i]);
    const auto at = [&](double x, double y, double z) {
        return vertices_where(
            mesh, [&](const Vector3d& p) { return (p - Vector3d(x, y, z)).norm() < 1e-9; })[0];
    };
    const auto hang = [&](double y, double z, std::vector<int> masters) {
        HangingNode h{.vertex = at(2, y, z), .num_masters = static_cast<int>(masters.size())};
        std::ranges::copy(masters, h.masters.begin());
        h.weight = 1.0 / h.num_masters;
        mesh.hanging.push_back(h);
    };
    const int a = at(2, 0, 0), b = at(2, 2, 0), c = at(2, 0, 2), d = at(2, 2, 2);
    hang(1, 0, {a, b});
    hang(1, 2, {c, d});
    hang(0, 1, {a, c});
    hang(2, 1, {b, d});
    hang(1, 1, {a, b, c, d});
    for (Vector3d& x : mesh.vertices) x = 0.05 * x + Vector3d(0, 0, 0.002);
    const FemModel model(mesh, {soft_material(100)});
    const int hanging = mesh.hanging[0].vertex;

    for (const double stiffness : {0.0, 1e-3}) {
        CoupledOptions options = coupled_options(5e-4);
        options.damping.stiffness = stiffness;
        // a narrow ball finds the hanging node alone, a floor all three
        for (const bool is_ball : {true, false}) {
            CoupledDynamics dynamics(
                model, free_body(model), options,
                {is_ball ? RigidShape::sphere(0.01) : RigidShape::half_space()});
            const std::array place{moving(is_ball ? Vector3d(0.1, 0.05, -0.01) : Vector3d::Zero())};
            FemState s = dynamics.make_state();
            const VectorXd f = VectorXd::Zero(model.num_unknowns());
            set_velocity(s, Vector3d(0, 0, -0.3));
            dynamics.set_acceleration(s, f);
            const Vector3d start = momentum(model, s);
            Vector3d impulse = Vector3d::Zero();
            bool is_hanging_touched = false;
            for (int k = 0; k < 150; ++k) {
                ASSERT_EQ(dynamics.step(s, f, 0, place).status, StepStatus::Ok);
                for (const Contact& contact : dynamics.contacts()) {
                    impulse += 5e-4 * contact.force;
                    is_hanging_touched |= contact.node == hanging;
                }
                // drag
                impulse -= 5e-4 * 100.0 / 1000 * momentum(model, s);
            }
            EXPECT_EQ(is_hanging_touched, is_ball);
            const Vector3d change = momentum(model, s) - start;
            EXPECT_GT(change.z(), 0.01);
            EXPECT_LT((change - impulse).norm(), 2e-3 * change.norm());
            EXPECT_GT(lowest_point(model, s), is_ball ? -0.05 : -2e-4);
        }
    }
}

TEST(CoupledContact, NodesThatCannotMoveAreLeftAlone) {
    // the floor comes up against nodes that are held along z
    const FemModel model = block(2, 0.001);
    Constraints constraints(model.num_nodes());
    for (const int node :
         vertices_where(model.mesh(), [](const Vector3d& x) { return x.z() < 0.002; }))
        constraints.prescribe(node, 2, 0);
    CoupledDynamics dynamics(model, constraints, coupled_options(1e-3), {RigidShape::half_space()});
    FemState s = dynamics.make_state();
    const VectorXd f = gravity_load(model, kGravity);
    for (int k = 1; k <= 50; ++k) {
        const std::array motion{moving(Vector3d(0, 0, 1e-4 * k), Vector3d(0, 0, 0.1))};
        const auto report = dynamics.step(s, f, 0, motion);
        ASSERT_EQ(report.status, StepStatus::Ok);
        EXPECT_EQ(report.num_contacts, 0);
    }
}

TEST(CoupledContact, WhatCannotBeUsedIsReported) {
    const FemModel model = block(3, 0.0005);
    const VectorXd f = gravity_load(model, kGravity);
    CoupledOptions options = coupled_options(1e-3);
    options.contact.capacity = 5;
    CoupledDynamics dynamics(model, free_body(model), options, {RigidShape::half_space()});
    FemState s = dynamics.make_state();
    set_velocity(s, Vector3d(0, 0, -0.3));
    dynamics.set_acceleration(s, f);
    bool is_exceeded = false;
    for (int k = 0; k < 20; ++k) {
        const auto report = dynamics.step(s, f, 0);
        is_exceeded |= report.status == StepStatus::CapacityExceeded;
        EXPECT_LE(report.num_contacts, 5);
    }
    EXPECT_TRUE(is_exceeded);

    // a motion that is not finite: the obstacle stays
    std::array motion{moving(Vector3d(0, 0, kNan))};
    EXPECT_EQ(dynamics.step(s, f, 0, motion).status, StepStatus::InputIgnored);
    EXPECT_TRUE(s.u.allFinite());
    for (const Contact& contact : dynamics.contacts()) EXPECT_TRUE(contact.force.allFinite());
}

TEST(CoupledContact, AnotherStateIsNotHeld) {
    const FemModel model = block(2, 0.0005);
    const VectorXd f = gravity_load(model, kGravity);
    CoupledOptions options = coupled_options(1e-3);
    CoupledDynamics dynamics(model, free_body(model), options, {RigidShape::half_space()});
    FemState s = dynamics.make_state();
    dynamics.set_acceleration(s, f);
    const FemState start = s;
    const auto run = [&] {
        for (int k = 0; k < 40; ++k) ASSERT_EQ(dynamics.step(s, f, 0).status, StepStatus::Ok);
    };
    run();
    EXPECT_FALSE(dynamics.contacts().empty());
    const VectorXd u = s.u;
    // back to the start without a word: the same again, bit by bit
    s = start;
    run();
    EXPECT_EQ(s.u, u);
    // and after set_acceleration
    s = start;
    s.time = 0.04;
    dynamics.set_acceleration(s, f);
    run();
    EXPECT_EQ(s.u, u);
}

TEST(CoupledContact, StepsAllocateNothing) {
    set_num_threads(1);
    for (const double stiffness : {0.0, 1e-3}) {
        const FemModel model = block(4, 0.0005, soft_material(500));
        CoupledOptions options = coupled_options(1e-3, 2);
        options.damping.stiffness = stiffness;
        CoupledDynamics dynamics(model, free_body(model), options,
                                 {RigidShape::half_space(), RigidShape::sphere(0.02)});
        FemState s = dynamics.make_state();
        const VectorXd f = gravity_load(model, kGravity);
        set_velocity(s, Vector3d(0.1, 0.2, -0.3));
        dynamics.set_acceleration(s, f);
        std::uint64_t allocations = 0;
        int num_contacts = 0;
        for (int k = 0; k < 60; ++k) {
            const AllocationGuard guard;
            auto report = dynamics.step(s, f, k / 10 % 2);
            if (report.status == StepStatus::StepRejected)
                report = dynamics.step(s, f, 1 - k / 10 % 2);
            allocations += guard.count();
            EXPECT_EQ(report.status, StepStatus::Ok);
            num_contacts += report.num_contacts;
        }
        EXPECT_EQ(allocations, 0u);
        EXPECT_GT(num_contacts, 100);
    }
    set_num_threads(0);
}

TEST(ContactCompliance, BlocksAreThoseOfTheInverseMatrix) {
    const FemModel model(graded_box(4, 1, 0.1), {soft_material(100)});
    const Constraints constraints = clamped(model);
    for (const double stiffness : {0.0, 1e-3}) {
        CoupledOptions options = coupled_options(5e-4, 2);
        options.damping.stiffness = stiffness;
        CoupledSystem system(model, constraints, options);
        ContactCompliance compliance(system, model.num_nodes(), 12);
        const FreeSystem free_system(model, constraints);
        const MatrixXd T(free_system.T());
        // a hanging node and a held one are among them
        std::vector<int> nodes{model.mesh().hanging[0].vertex, 0, 60, 61, 62, 80, 90, 91, 92};
        std::vector<int> places(nodes.size());
        const auto check = [&](int step) {
            for (std::size_t j = 0; j < nodes.size(); ++j)
                for (int c = 0; c < 3; ++c) {
                    MatrixXd column = T.row(3 * nodes[j] + c).transpose();
                    system.solve(step, column);
                    const VectorXd x = T * column;
                    for (std::size_t i = 0; i < nodes.size(); ++i)
                        EXPECT_LE((compliance.response(places[i], places[j], Vector3d::Unit(c)) -
                                   x.segment<3>(3 * nodes[i]))
                                      .norm(),
                                  1e-12 * column.norm());
                }
        };
        compliance.require(0, nodes, places);
        check(0);
        EXPECT_EQ(compliance.num_columns(), 9);
        // known already
        compliance.require(0, nodes, places);
        EXPECT_EQ(compliance.num_columns(), 9);
        // others take the places of those that are not needed
        const int generation = compliance.generation();
        nodes = {91, 100, 101, 102, 103, 92, 104};
        places.resize(nodes.size());
        compliance.require(0, nodes, places);
        EXPECT_EQ(compliance.num_columns(), 14);
        EXPECT_NE(compliance.generation(), generation);
        check(0);
        // another matrix
        compliance.require(1, nodes, places);
        EXPECT_EQ(compliance.num_columns(), 21);
        check(1);
    }
}

}  // namespace
}  // namespace pliant
