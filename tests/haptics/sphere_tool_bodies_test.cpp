#include "core/numbers.h"
#include "haptics/tool_samples.h"
#include "pliant/body/rigid_body.h"
#include "pliant/fem/fem_body.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/greens/build_greens.h"
#include "pliant/greens/greens_body.h"
#include "pliant/particles/particle_body.h"
#include "reduction/body_samples.h"

#include <gtest/gtest.h>

#include <numbers>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::hand_at;
using test::tool_grid;
using test::tool_options;

/// Presses a tool on the topmost place of a body for half a second; it gives way by `least` or more
/// somewhere.
void expect_touch(Body& body, double stiffness, double depth, double least) {
    const auto surface = make_moving_surface(body);
    Vector3d top = Vector3d::Constant(-kInfinity);
    for (int v = 0; v < surface->num_vertices(); ++v) {
        const Vector3d x = surface->position(v, TickMoment::End);
        if (x.z() > top.z()) top = x;
    }
    std::vector<double> heights;
    for (int v = 0; v < surface->num_vertices(); ++v)
        heights.push_back(surface->position(v, TickMoment::End).z());
    SphereToolOptions options = tool_options(false);
    options.translation_stiffness = options.rotation_stiffness = stiffness;
    SphereTool tool({surface.get()}, tool_grid(3, 3, 0.5), options);
    const double start = top.z() + 3 * test::kToolRadius;
    tool.reset(hand_at(top.x(), top.y(), start));
    for (int i = 0; i < 500; ++i) {
        const double down = (start - top.z() + depth) * std::min(1.0, i / 300.0);
        const SphereToolState& state = tool.tick(hand_at(top.x(), top.y(), start - down));
        ASSERT_TRUE(state.wrench.force.allFinite()) << body.kind();
        tool.apply_forces();
        ASSERT_EQ(body.step(1e-3), StepStatus::Ok) << body.kind();
    }
    EXPECT_GT(tool.state().num_touching, 0) << body.kind();
    EXPECT_GT(tool.state().wrench.force.z(), 0) << body.kind();
    double deepest = 0;
    for (int v = 0; v < surface->num_vertices(); ++v)
        deepest = std::max(deepest, heights[at(v)] - surface->position(v, TickMoment::End).z());
    EXPECT_GE(deepest, least) << body.kind();
    // nobody went inside
    SurfaceMesh now = body.surface();
    for (int v = 0; v < now.num_vertices(); ++v)
        now.vertices[at(v)] = surface->position(v, TickMoment::End);
    for (int i = 0; i < 9; ++i)
        EXPECT_FALSE(test::is_inside(now, tool.sphere(i).position)) << body.kind();
}

TEST(SphereToolOnBodies, TouchesRigidOnes) {
    RigidBody body(RigidShape::sphere(0.05), test::bumpy_ball(0.05, 0.1, 12, 1));
    expect_touch(body, 500, 5e-3, 0);
}
TEST(SphereToolOnBodies, TouchesReducedOnes) {
    ReducedBody body(test::random_bar_model(6, false));
    expect_touch(body, 100, 2e-3, 1e-9);  // a stiff bar
}
TEST(SphereToolOnBodies, TouchesFullFiniteElements) {
    // on a floor, or it would be pushed away
    SurfaceMesh square;
    square.vertices = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
    square.triangles = {{0, 1, 2}, {0, 2, 3}};
    RigidBody floor(RigidShape::half_space(), square);
    const Box box(Vector3d(-0.05, -0.05, 0), Vector3d(0.05, 0.05, 0.1));
    FemBody body(hex_box(3, 3, 3, box), {isotropic(2e4, 0.3, 1000)}, {}, {&floor});
    expect_touch(body, 100, 5e-3, 1e-5);
}
TEST(SphereToolOnBodies, TouchesGreensFunctions) {
    GreensBuildOptions options;
    options.youngs_modulus = 2e4;
    options.poisson_ratio = 0.4;
    options.fixed = "z < 1 %";
    GreensBody body(std::make_shared<const GreensModel>(
        build_greens_model(make_semi_regular("nodule", 1), options)));
    expect_touch(body, 50, 1e-3, 1e-5);
}
TEST(SphereToolOnBodies, TouchesParticles) {
    const SurfaceMesh fish = make_shape("fish", 30);
    ParticleBodyOptions options;
    options.held.push_back({.selection = "z < 30 %", .motion = {}});
    ParticleBody body(make_particle_model(place_particles(fish, {.count = 40}), fish), options);
    expect_touch(body, 20000, 5e-3, 1e-5);  // of some kilograms
}

/// A ball of 30 g in a hand of two spheres of 20 mm radius with a gap between them; how far it fell
/// in a second.
struct HeldBall {
    HeldBall(double ball_radius, double gap, double friction) {
        ParticleLayout fingers;
        for (const double side : {-1.0, 1.0}) {
            Particle p;
            p.position = Vector3d(side * (0.02 + 0.5 * gap), 0, 0);
            p.radii.setConstant(0.02);
            p.mass = 0.1;
            fingers.particles.push_back(p);
        }
        SphereToolOptions options = tool_options(true);
        options.translation_stiffness = options.rotation_stiffness = 2000;
        options.sphere.static_friction = options.sphere.dynamic_friction = friction;
        // of particles, whose steps take energy out: springs that are evaluated once in a step put
        // some into a rigid one
        const SurfaceMesh mesh = test::bumpy_ball(ball_radius, 0, 24, 1);
        const double volume = 4.0 / 3 * std::numbers::pi * std::pow(ball_radius, 3);
        ParticleBodyOptions body_options;
        body_options.dynamics.damping = 5;
        ParticleBody ball(
            make_particle_model(
                place_particles(mesh, {.count = 20, .density = 0.03 / volume, .stiffness = 1}),
                mesh),
            body_options);
        ball.set_gravity(Vector3d(0, 0, -9.81));
        const auto surface = make_moving_surface(ball);
        SphereTool tool({surface.get()}, fingers, options);
        // open hands close around it: spheres start apart from the ball
        tool.reset(hand_at(0, 0, 0));
        for (int i = 0; i < 1000; ++i) {
            (void)tool.tick(hand_at(0, 0, 0));
            tool.apply_forces();
            touched += tool.state().num_touching;
            EXPECT_EQ(ball.step(1e-3), StepStatus::Ok);
        }
        for (const Vector3d& x : ball.state().position) fall -= x.z() / 20;
    }
    double fall = 0;  // of its middle [m]
    int touched = 0;
};

TEST(SphereToolOnBodies, HoldsABallBetweenTwoFingers) {
    // 2 mm of squeeze on each side
    const HeldBall held(0.02, 0.036, 0.6);
    EXPECT_LT(held.fall, 2e-3);
    EXPECT_GT(held.touched, 1900);
    EXPECT_GT(HeldBall(0.02, 0.036, 0).fall, 0.1) << "nothing but friction holds it";
}

TEST(SphereToolOnBodies, WhatIsSmallerThanTheGapPassesThrough) {
    // a limit of spheres, said in docs/sphere-tools.md
    const HeldBall lost(0.015, 0.036, 0.6);
    EXPECT_EQ(lost.touched, 0);
    EXPECT_GT(lost.fall, 1);
}

}  // namespace
}  // namespace pliant
