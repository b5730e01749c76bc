// Contact of full FEM bodies with rigid ones: the drawn surface touches, and both sides advance
// together.
#include "fem/contact_samples.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "pliant/fem/fem_body.h"
#include "scene/primitive_surfaces.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using test::hex_cube;
using test::kGravity;

RigidBody free_box(const Vector3d& sizes, double density, const Vector3d& place,
                   const Twist& velocity = {}) {
    const SurfaceMesh surface = box_surface(sizes);
    RigidBodyOptions options;
    options.pose.position = place;
    options.velocity = velocity;
    options.mass = rigid_mass(surface, density);
    return {RigidShape::box(0.5 * sizes), surface, options};
}

/// 10 cm cube of 4³ hexes standing on z = 0.
FemBody soft_cube(double modulus, std::vector<RigidBody*> obstacles, FemBodyOptions options = {}) {
    return {hex_cube(4, 0.1, {-0.05, -0.05, 0}),
            {isotropic(modulus, 0.3, 1000)},
            {},
            std::move(obstacles),
            options};
}
FemBodyOptions held_at_base(double damping) {
    FemBodyOptions options;
    options.fixed = "z < 1 %";
    options.dynamics.damping.mass = damping;
    return options;
}

double deepest(const FemBody& body) {
    double gap = 0;
    for (const FemContact& contact : body.contacts()) gap = std::min(gap, contact.gap);
    return -gap;
}

/// Of points all over the facets of the surface.
double smallest_gap(const FemBody& body, const RigidBody& tool) {
    double smallest = 1;
    for (int t = 0; t < body.surface().num_triangles(); ++t)
        for (int i = 0; i <= 20; ++i)
            for (int j = 0; j <= 20 - i; ++j) {
                const Vector3d x = body.position(SurfacePoint::on_triangle(
                    t, Vector3d(i, j, 20 - i - j) / 20));
                smallest = std::min(
                    smallest, tool.shape().sample(tool.motion().pose.to_body(x)).gap);
            }
    return smallest;
}

struct Momenta {
    Vector3d linear = Vector3d::Zero(), angular = Vector3d::Zero();
    double energy = 0;
};
Momenta total(const FemBody& soft, const RigidBody& rigid) {
    Momenta sum;
    const VectorXd mass = lumped_mass(soft.model());
    for (int i = 0; i < soft.model().num_nodes(); ++i) {
        const Vector3d p = mass[3 * i] * soft.state().v.segment<3>(3 * i);
        sum.linear += p;
        sum.angular +=
            (soft.model().mesh().vertices[i] + soft.state().u.segment<3>(3 * i)).cross(p);
    }
    const RigidMotion& m = rigid.motion();
    const Vector3d centre = m.pose.to_world(rigid.mass()->centre);
    const Vector3d p = rigid.mass()->mass * m.velocity_at(centre);
    sum.linear += p;
    sum.angular += centre.cross(p) +
                   m.pose.rotation * (rigid.mass()->inertia *
                                      (m.pose.rotation.conjugate() * m.velocity.angular));
    sum.energy = rigid.energy().kinetic + soft.energy().total();
    return sum;
}

TEST(SurfaceContact, ACollisionInSpaceKeepsMomentumAndGainsNoEnergy) {
    for (const double density : {10.0, 1000.0, 10000.0})
        for (const double dt : {1e-3, 2e-3, 1e-2}) {
            RigidBody box = free_box({0.05, 0.04, 0.03}, density, {0.01, 0.02, 0.14},
                                     {{0.1, 0, -0.7}, {3, 6, -3}});
            FemBody cube = soft_cube(2e4, {&box});
            const Momenta start = total(cube, box);
            double most = 0;
            bool has_touched = false;
            for (double t = 0; t < 0.4; t += dt) {
                ASSERT_EQ(box.step(dt), StepStatus::Ok);
                ASSERT_EQ(cube.step(dt), StepStatus::Ok);
                const Momenta now = total(cube, box);
                EXPECT_LT((now.linear - start.linear).norm(), 1e-12 * start.linear.norm());
                EXPECT_LT((now.angular - start.angular).norm(), 1e-12 * start.angular.norm());
                most = std::max(most, now.energy / start.energy);
                has_touched = has_touched || !cube.contacts().empty();
            }
            EXPECT_TRUE(has_touched);
            EXPECT_LT(most, 1.01) << density << " kg/m³, " << dt << " s";
        }
}

TEST(SurfaceContact, MomentumIsKeptWhenInnerStepsChange) {
    RigidBody box = free_box({0.05, 0.04, 0.03}, 1000, {0.01, 0.02, 0.116}, {{0, 0, -0.5}, {}});
    FemBody cube = soft_cube(2e4, {&box});
    const Momenta start = total(cube, box);
    for (int i = 0; i < 200; ++i) {
        const double dt = i % 3 == 0 ? 0.7e-3 : i % 3 == 1 ? 2.1e-3 : 1.1e-3;
        (void)box.step(dt);
        (void)cube.step(dt);
        EXPECT_LT((total(cube, box).linear - start.linear).norm(), 1e-12 * start.linear.norm());
    }
}

/// Weights from 0.3 g to 6 kg on rubber of a matching stiffness, at 100 to 1000 Hz.
TEST(SurfaceContact, BoxesOfAnyWeightComeToRestWithTheirWeight) {
    struct Case {
        double density, modulus, rate;
    };
    for (const Case& c : {Case{1, 2e4, 500}, Case{10, 2e4, 100}, Case{200, 2e4, 250},
                          Case{2000, 2e4, 1000}, Case{5000, 1e5, 500}}) {
        RigidBody box = free_box({0.08, 0.08, 0.03}, c.density, {0, 0, 0.118});
        FemBody cube = soft_cube(c.modulus, {&box}, held_at_base(30));
        box.set_gravity(kGravity);
        cube.set_gravity(kGravity);
        double highest = 0;
        const int n = static_cast<int>(2 * c.rate);
        for (int i = 0; i < n; ++i) {
            ASSERT_EQ(box.step(1 / c.rate), StepStatus::Ok);
            ASSERT_EQ(cube.step(1 / c.rate), StepStatus::Ok);
            highest = std::max(highest, box.motion().pose.position.z());
        }
        EXPECT_LE(highest, 0.1181) << c.density;
        EXPECT_LT(box.motion().velocity.linear.norm(), 1e-3) << c.density;
        const double weight = 9.81 * box.mass()->mass;
        EXPECT_NEAR(-cube.wrench(0).force.z(), -weight, 0.02 * weight) << c.density;
        EXPECT_LT(deepest(cube), 1e-5) << c.density;
    }
}

TEST(SurfaceContact, ARidgeAndASmallBallAreFeltBetweenNodes) {
    for (const bool is_ball : {true, false}) {
        const SurfaceMesh surface =
            is_ball ? sphere_surface(0.008) : box_surface({0.3, 0.01, 0.01});
        RigidBodyOptions path;
        // of the bar one edge points down
        const Quaternion turn =
            is_ball ? rotation_from_vector({0, 0, 0}) : rotation_from_vector({std::numbers::pi / 4, 0, 0});
        path.script = ScriptedMotion({{0, {{0.0125, 0.0125, 0.115}, turn}},
                                      {0.5, {{0.0125, 0.0125, 0.1}, turn}}});
        RigidBody tool(is_ball ? RigidShape::sphere(0.008)
                               : RigidShape::box({0.15, 0.005, 0.005}),
                       surface, path);
        FemBody cube = soft_cube(2e4, {&tool}, held_at_base(30));
        double depth = 0;
        for (int i = 0; i < 600; ++i) {
            ASSERT_EQ(tool.step(1e-3), StepStatus::Ok);
            ASSERT_EQ(cube.step(1e-3), StepStatus::Ok);
            depth = std::max(depth, deepest(cube));
        }
        EXPECT_GT(cube.wrench(0).force.z(), 0.05);
        // half of the way of the tool in a tick
        EXPECT_LT(depth, 1.5e-5);
        // half a per cent of the ball, of the block
        EXPECT_GT(smallest_gap(cube, tool), is_ball ? -8e-5 : -5e-4) << is_ball;
    }
}

TEST(SurfaceContact, AnEmbeddedSurfaceRestsWhereItIsDrawn) {
    // a ball drawn inside a cube of elements that is wider than it
    SurfaceMesh ball = sphere_surface(0.04);
    for (Vector3d& x : ball.vertices) x.z() += 0.05;
    RigidBody floor(RigidShape::half_space(), ground_surface(1));
    FemBodyOptions options;
    options.dynamics.damping.mass = 20;
    FemBody body(hex_cube(4, 0.1, {-0.05, -0.05, 0}), {isotropic(1e5, 0.3, 1000)}, ball, {&floor},
                 options);
    body.set_gravity(kGravity);
    for (int i = 0; i < 2500; ++i) {
        (void)floor.step(1e-3);
        ASSERT_EQ(body.step(1e-3), StepStatus::Ok);
    }
    double lowest = 1;
    for (int v = 0; v < body.surface().num_vertices(); ++v)
        lowest = std::min(lowest, body.position(SurfacePoint::at_vertex(v)).z());
    EXPECT_NEAR(lowest, 0, 1e-5);
    EXPECT_NEAR(body.wrench(0).force.z(), -9.81, 0.05) << "1 kg";
}

TEST(SurfaceContact, FrictionHoldsOnASlopeUpToItsAngle) {
    // tan of the slope: 0.25
    const Quaternion tilt = rotation_from_vector({0, std::atan(0.25), 0});
    for (const double friction : {0.35, 0.15}) {
        RigidBodyOptions pose;
        pose.pose.rotation = tilt;
        RigidBody slope(RigidShape::half_space(), ground_surface(1), pose);
        FemBodyOptions options;
        options.pose.rotation = tilt;
        options.friction = friction;
        options.dynamics.damping.stiffness = 0.002;
        FemBody body = soft_cube(1e5, {&slope}, options);
        body.set_gravity(kGravity);
        const auto way_after = [&](int ticks) {
            for (int i = 0; i < ticks; ++i) {
                (void)slope.step(1e-3);
                EXPECT_EQ(body.step(1e-3), StepStatus::Ok);
            }
            return (tilt.conjugate() * body.position(SurfacePoint::at_vertex(0))).x();
        };
        // once it is compressed by its weight
        const double first = way_after(200), second = way_after(150), third = way_after(150);
        const double acceleration = (third - 2 * second + first) / (0.15 * 0.15);
        const double expected = 9.81 * (std::sin(std::atan(0.25)) -
                                        friction * std::cos(std::atan(0.25)));
        if (friction > 0.25) {
            EXPECT_LT(std::abs(third - first), 1e-5);
        } else {
            EXPECT_NEAR(acceleration, expected, 0.01 * expected);
        }
    }
}

TEST(SurfaceContact, ContinuesBitForBitWithAFreeBody) {
    RigidBody box = free_box({0.05, 0.04, 0.03}, 300, {0.01, 0.02, 0.125}, {{0.1, 0, 0}, {1, 2, 3}});
    FemBody cube = soft_cube(2e4, {&box}, held_at_base(5));
    box.set_gravity(kGravity);
    cube.set_gravity(kGravity);
    const auto run = [&](int n) {
        for (int i = 0; i < n; ++i) {
            (void)box.step(2e-3);
            EXPECT_EQ(cube.step(2e-3), StepStatus::Ok);
        }
    };
    const auto saved = [&] {
        std::vector<std::vector<double>> states;
        for (const Body* body : {static_cast<Body*>(&box), static_cast<Body*>(&cube)}) {
            states.emplace_back(static_cast<std::size_t>(body->state_size()));
            body->save_state(states.back());
        }
        return states;
    };
    run(100);
    ASSERT_FALSE(cube.contacts().empty());
    const auto middle = saved();
    run(300);
    const auto end = saved();
    ASSERT_TRUE(box.restore_state(middle[0]) && cube.restore_state(middle[1]));
    EXPECT_EQ(saved(), middle);
    run(300);
    EXPECT_EQ(saved(), end);
    // and from the start
    box.reset();
    cube.reset();
    run(400);
    EXPECT_EQ(saved(), end);
}

TEST(SurfaceContact, StepsAllocateNothing) {
    set_num_threads(1);
    RigidBody box = free_box({0.05, 0.04, 0.03}, 300, {0.01, 0.02, 0.118}, {{0.1, 0, 0}, {1, 2, 3}});
    FemBody cube = soft_cube(2e4, {&box}, held_at_base(5));
    box.set_gravity(kGravity);
    cube.set_gravity(kGravity);
    const AllocationGuard guard;
    for (int i = 0; i < 200; ++i) {
        (void)box.step(2e-3);
        (void)cube.step(2e-3);
    }
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_FALSE(cube.contacts().empty());
    set_num_threads(0);
}

TEST(SurfaceContact, ABoxThatBeginsInsideIsPushedOutGently) {
    RigidBody box = free_box({0.08, 0.08, 0.03}, 500, {0, 0, 0.112});
    FemBody cube = soft_cube(2e4, {&box}, held_at_base(20));
    double fastest = 0;
    for (int i = 0; i < 500; ++i) {
        (void)box.step(1e-3);
        (void)cube.step(1e-3);
        fastest = std::max(fastest, box.motion().velocity.linear.norm());
    }
    EXPECT_LT(fastest, 0.5);
    EXPECT_LT(deepest(cube), 1e-5);
}

}  // namespace
}  // namespace pliant
