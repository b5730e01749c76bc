#include "fem/contact_samples.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::RunningScene;

/// The soft cube on a plane under gravity.
RunningScene cube_on_plane(int n, double drag, double friction) {
    std::vector<ExplicitDynamics> bodies;
    bodies.push_back(test::reference_cube(n, drag));
    RunningScene run(std::move(bodies), {RigidShape::half_space()}, {.friction = friction});
    run.add_gravity();
    run.set_accelerations();
    return run;
}
Vector3d centre_displacement(const RunningScene& run) {
    const Eigen::VectorXd& m = run.scene.bodies()[0].mass();
    Vector3d sum = Vector3d::Zero();
    for (Eigen::Index i = 0; i < m.size(); i += 3) sum += m[i] * run.s.bodies[0].u.segment<3>(i);
    return sum;  // of 1 kg
}

TEST(ContactFriction, ASlidingBlockIsBrakedAndStops) {
    RunningScene run = cube_on_plane(2, 200, 0.3);
    run.throw_body(0, {0.5, 0, 0});
    const double dt = 0.6 * run.scene.stable_step();
    double friction = 0, normal = 0, impulse = 0, drag = 0;
    bool is_sliding = true;
    for (int k = 0; k * dt < 2; ++k) {
        drag += dt * 0.2 * run.momentum().linear.x();  // c_v/ρ
        ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
        const Vector3d force = run.obstacle_force();
        impulse += dt * force.x();
        is_sliding = is_sliding && run.momentum().linear.x() > 0.05;
        if (is_sliding) {
            friction -= force.x();
            normal += force.z();
        }
    }
    EXPECT_NEAR(friction / normal, 0.298, 0.002);
    EXPECT_NEAR(impulse - drag, run.momentum().linear.x() - 0.5, 0.01 * 0.5);
    EXPECT_NEAR(centre_displacement(run).x(), 0.5 * 0.5 / (2 * 0.3 * 9.81), 2e-3);
    // stuck: the rule leaves no motion at all
    ASSERT_EQ(run.ws.contacts().size(), 9u);
    for (const Contact& c : run.ws.contacts())
        EXPECT_LT(run.s.bodies[0].v.segment<3>(3 * c.node).norm(), 1e-17);
}

TEST(ContactFriction, ForcesStayInTheCone) {
    RunningScene run = cube_on_plane(3, 200, 0.3);
    run.throw_body(0, {0.3, -0.2, -0.2});
    const double dt = 0.6 * run.scene.stable_step();
    int num_sliding = 0;
    for (int k = 0; k < 200; ++k) {
        ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
        for (const Contact& c : run.ws.contacts()) {
            const Vector3d tangential = c.force - c.normal_force * c.normal;
            EXPECT_LE(tangential.norm(), 0.3 * c.normal_force + 1e-12);
            num_sliding += tangential.norm() > 0.3 * c.normal_force - 1e-12;
        }
    }
    EXPECT_GT(num_sliding, 100);
}

TEST(ContactFriction, WithoutFrictionABlockSlidesOn) {
    RunningScene run = cube_on_plane(2, 0, 0);
    run.throw_body(0, {0.5, 0, 0});
    const double dt = 0.6 * run.scene.stable_step();
    for (int k = 0; k < 300; ++k) ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
    EXPECT_NEAR(run.momentum().linear.x(), 0.5, 1e-13);
}

TEST(ContactFriction, ABeltTakesTheBlockAlong) {
    RunningScene run = cube_on_plane(2, 0, 0.5);
    const double dt = 0.6 * run.scene.stable_step(), speed = 0.2;
    run.motions[0].velocity.linear.x() = speed;
    double start = 0, impulse = 0;
    for (int k = 0; k < 250; ++k) {
        if (k == 50) start = centre_displacement(run).x();
        run.motions[0] = advance(run.motions[0], dt);
        ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
        impulse += dt * run.obstacle_force().x();
    }
    // it rocks about the speed of the belt
    EXPECT_NEAR(centre_displacement(run).x() - start, 200 * dt * speed, 0.02 * 200 * dt * speed);
    // the last force has acted for half a step so far
    EXPECT_NEAR(impulse - 0.5 * dt * run.obstacle_force().x(), run.momentum().linear.x(), 1e-13);
    ASSERT_EQ(run.ws.contacts().size(), 9u);
    for (const Contact& c : run.ws.contacts())
        EXPECT_NEAR(run.s.bodies[0].v[3 * c.node], speed, 1e-12);
}

TEST(ContactFriction, ASlopeHoldsABlockUpToTheAngleOfFriction) {
    for (const double slope : {0.25, 0.36}) {
        std::vector<ExplicitDynamics> bodies;
        bodies.push_back(test::reference_cube(2, 2000));
        RunningScene run(std::move(bodies), {RigidShape::half_space()}, {.friction = 0.3});
        const double angle = std::atan(slope);
        run.loads[0] = gravity_load(run.scene.bodies()[0].model(),
                                    9.81 * Vector3d(std::sin(angle), 0, -std::cos(angle)));
        run.set_accelerations();
        const double dt = 0.6 * run.scene.stable_step();
        for (int k = 0; k * dt < 1.5; ++k) ASSERT_EQ(run.step(dt).status, StepStatus::Ok);
        const double speed = run.momentum().linear.x();
        if (slope < 0.3) {
            EXPECT_LT(std::abs(speed), 2e-3);  // it rocks
            for (const Contact& c : run.ws.contacts())
                EXPECT_LT(run.s.bodies[0].v.segment<3>(3 * c.node).norm(), 1e-15);
        } else {
            // g (sin − μ cos) against the drag of 2 / s
            const double terminal = 9.81 * (std::sin(angle) - 0.3 * std::cos(angle)) / 2;
            EXPECT_NEAR(speed, terminal * (1 - std::exp(-3.0)), 0.15 * terminal);
        }
    }
}

}  // namespace
}  // namespace pliant
