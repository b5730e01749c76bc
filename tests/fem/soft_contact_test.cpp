#include "fem/contact_samples.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::RunningScene;

/// Turned about its centre, which goes to `centre`.
VolumeMesh turned(VolumeMesh mesh, const Vector3d& axis, double angle, const Vector3d& centre) {
    const Vector3d old_centre = bounding_box(mesh.vertices).center();
    const Eigen::AngleAxisd rotation(angle, axis.normalized());
    for (Vector3d& x : mesh.vertices) x = rotation * (x - old_centre) + centre;
    return mesh;
}

/// Two soft cubes of 0.1 m, one tilted, that meet at 1 m/s: nodes share facets.
RunningScene colliding_cubes(const ContactOptions& options, double tilt = 0.25) {
    const Material soft = isotropic(2e4, 0.3, 1000);
    std::vector<ExplicitDynamics> bodies;
    bodies.push_back(
        test::free_body(turned(test::hex_cube(4, 0.1), {1, 0.3, 0.2}, tilt, {0, 0, 0.127}), soft));
    bodies.push_back(
        test::free_body(turned(test::hex_cube(3, 0.1), {0, 0, 1}, 0.3, {0.01, 0.02, 0}), soft));
    RunningScene run(std::move(bodies), {}, options);
    run.throw_body(0, {0.05, 0, -0.5});
    run.throw_body(1, {0, 0, 0.5});
    run.set_accelerations();
    return run;
}

/// Σ m h and Σ m x × h with h = v + dt/2 a, which the scheme keeps exactly.
Momentum half_step_momentum(const RunningScene& run, double dt) {
    Momentum sum;
    for (std::size_t b = 0; b < run.s.bodies.size(); ++b) {
        FemState s = run.s.bodies[b];
        s.v += 0.5 * dt * s.a;
        const Momentum m = run.scene.bodies()[b].momentum(s);
        sum.linear += m.linear;
        sum.angular += m.angular;
    }
    return sum;
}

struct Collision {
    double linear_drift = 0, angular_drift = 0;
    double largest_energy = 0, last_energy = 0;  ///< relative to the first
    double contact_work = 0;                     ///< likewise
    double smallest_force = 0, deepest = 0;
    int num_contacts = 0, num_left = 0;
};
Collision collide(RunningScene run) {
    const double dt = 0.6 * run.scene.stable_step(), energy = run.energy();
    const Momentum start = half_step_momentum(run, dt);
    Collision result;
    for (int k = 0; k * dt < 0.2; ++k) {
        const auto report = run.step(dt);
        EXPECT_EQ(report.status, StepStatus::Ok);
        result.num_contacts = std::max(result.num_contacts, report.num_contacts);
        result.deepest = std::max(result.deepest, run.deepest());
        for (const Contact& c : run.ws.contacts())
            result.smallest_force = std::min(result.smallest_force, c.normal_force);
        const Momentum now = half_step_momentum(run, dt);
        result.linear_drift = std::max(result.linear_drift, (now.linear - start.linear).norm());
        result.angular_drift = std::max(result.angular_drift, (now.angular - start.angular).norm());
        result.last_energy = run.energy() / energy;
        result.largest_energy = std::max(result.largest_energy, result.last_energy);
    }
    result.num_left = run.ws.contacts().size();
    result.contact_work = (run.s.work[0].contact_work + run.s.work[1].contact_work) / energy;
    return result;
}

TEST(SoftContact, CollisionsKeepLinearAndAngularMomentum) {
    // momenta of each cube: 0.5 kg m/s, 0.01 kg m²/s
    for (const ContactMode mode : {ContactMode::Hold, ContactMode::Literal}) {
        const Collision c = collide(colliding_cubes({.mode = mode, .friction = 0}));
        EXPECT_GE(c.num_contacts, 8);
        EXPECT_EQ(c.num_left, 0);
        EXPECT_LT(c.linear_drift, 1e-14);
        EXPECT_LT(c.angular_drift, 1e-15);
        EXPECT_LT(c.deepest, 5e-3);
    }
}

TEST(SoftContact, FrictionKeepsLinearMomentum) {
    const Collision c = collide(colliding_cubes({.friction = 0.3}));
    EXPECT_LT(c.linear_drift, 1e-14);
    // the pair of friction forces acts a gap apart
    EXPECT_LT(c.angular_drift, 0.02 * 0.01);
}

TEST(SoftContact, HoldingNeitherGainsEnergyNorPulls) {
    for (const double tilt : {0.0, 0.25, 0.9})
        for (const int sweeps : {4, 20}) {
            const Collision c = collide(colliding_cubes({.friction = 0, .sweeps = sweeps}, tilt));
            EXPECT_LT(c.largest_energy, 1 + 1e-6);
            EXPECT_GT(c.last_energy, 0.9);
            EXPECT_GE(c.smallest_force, 0);
            EXPECT_NEAR(c.contact_work, c.last_energy - 1, 0.02);
        }
}

TEST(SoftContact, SweepsLowerTheEnergyGainOfTheLiteralRule) {
    const auto gain = [](int sweeps) {
        return collide(
                   colliding_cubes({.mode = ContactMode::Literal, .friction = 0, .sweeps = sweeps}))
                   .last_energy -
               1;
    };
    EXPECT_GT(gain(1), 0.1);
    EXPECT_LT(gain(4), 0.05);
    EXPECT_LT(gain(20), 0.015);
}

TEST(SoftContact, ACubeRestsOnAnother) {
    // the upper one turned, so that its nodes meet facets
    for (const ContactTrigger trigger : {ContactTrigger::Predictive, ContactTrigger::AtContact}) {
        Material lower = isotropic(2e4, 0.3, 1000), upper = isotropic(1e4, 0.3, 500);
        lower.viscosity = upper.viscosity = 5000;
        std::vector<ExplicitDynamics> bodies;
        bodies.push_back(test::free_body(test::hex_cube(3, 0.1, {-0.05, -0.05, 0}), lower));
        bodies.push_back(
            test::free_body(turned(test::hex_cube(3, 0.07), {0, 0, 1}, 0.4, {0, 0, 0.136}), upper));
        RunningScene run(std::move(bodies), {RigidShape::half_space()}, {.trigger = trigger});
        run.add_gravity();
        run.set_accelerations();
        const double dt = 0.6 * run.scene.stable_step();
        double ground = 0, between = 0;
        int count = 0;
        for (int k = 0; k * dt < 2; ++k) {
            ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
            if (k * dt < 1) continue;
            ++count;
            ground += run.obstacle_force().z();
            for (const Contact& c : run.ws.contacts())
                if (c.other_body >= 0) between += c.body == 1 ? c.force.z() : -c.force.z();
            ASSERT_LT(run.deepest(), 4e-4);
        }
        const double weight = 9.81 * 500 * 0.07 * 0.07 * 0.07;
        EXPECT_NEAR(between / count, weight, 0.01 * weight);
        EXPECT_NEAR(ground / count, 9.81 + weight, 0.01 * (9.81 + weight));
    }
}

TEST(SoftContact, CanBeSwitchedOff) {
    const Collision c = collide(colliding_cubes({.touches_soft = false}));
    EXPECT_EQ(c.num_contacts, 0);
    EXPECT_NEAR(c.last_energy, 1, 1e-12);
}

TEST(SoftContact, ANodeMeetsTwoBodiesAtOnce) {
    // a cube dropped onto two others side by side
    const Material soft = isotropic(2e4, 0.3, 1000);
    std::vector<ExplicitDynamics> bodies;
    bodies.push_back(test::free_body(test::hex_cube(2, 0.1, {0, 0, 0.1005}), soft));
    bodies.push_back(test::free_body(test::hex_cube(2, 0.1, {-0.051, 0.01, 0}), soft));
    bodies.push_back(test::free_body(test::hex_cube(2, 0.1, {0.0495, -0.01, 0}), soft));
    RunningScene run(std::move(bodies), {}, {.friction = 0});
    run.throw_body(0, {0, 0, -0.3});
    run.set_accelerations();
    const double dt = 0.6 * run.scene.stable_step(), energy = run.energy();
    for (int k = 0; k * dt < 0.3; ++k) {
        ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
        ASSERT_LT(run.energy(), 1.0001 * energy);
    }
    EXPECT_LT((run.momentum().linear - Vector3d(0, 0, -0.3)).norm(), 1e-13);
    EXPECT_LT(run.scene.bodies()[1].momentum(run.s.bodies[1]).linear.z(), -0.05);
    EXPECT_LT(run.scene.bodies()[2].momentum(run.s.bodies[2]).linear.z(), -0.05);
}

}  // namespace
}  // namespace pliant
