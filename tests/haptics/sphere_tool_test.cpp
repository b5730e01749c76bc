#include "pliant/haptics/sphere_tool.h"

#include "core/numbers.h"
#include "haptics/tool_samples.h"
#include "input_error.h"
#include "pliant/body/rigid_body.h"
#include "pliant/core/allocation_guard.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::hand_at;
using test::tool_grid;
using test::tool_options;
using test::TouchingTool;

TEST(SphereTool, FreeMotionIsFollowedExactlyAndWithoutAnyForce) {
    for (const bool is_rigid : {true, false}) {
        TouchingTool touch(test::block_below(0.1, 0.1), tool_grid(5, 5, 0.5),
                           tool_options(is_rigid));
        touch.tool.reset(hand_at(0, 0, 0.1));
        std::mt19937 random(1);
        for (int k = 0; k < 200; ++k) {
            const SphereToolState& state =
                touch.tool.tick(test::random_hand(random, Vector3d(0, 0, 0.1)));
            ASSERT_EQ(state.wrench.force, Vector3d::Zero());
            ASSERT_EQ(state.wrench.torque, Vector3d::Zero());
            ASSERT_EQ(state.largest_offset, 0);
            ASSERT_EQ(state.status, StepStatus::Ok);
        }
        EXPECT_EQ(touch.tool.sphere(7).position,
                  touch.tool.state().hand.to_world(touch.tool.offset(7)));
    }
}

TEST(SphereTool, RestsOnAFloorWithTheForceOfItsSprings) {
    for (const bool is_rigid : {true, false}) {
        TouchingTool touch(test::block_below(0.1, 0.1), tool_grid(5, 5, 0.5),
                           tool_options(is_rigid));
        const SphereToolState& state =
            touch.go(hand_at(0, 0, 0.02), hand_at(0.001, 0.002, 0.001), 2);
        EXPECT_EQ(state.num_touching, 25);
        EXPECT_NEAR(test::lowest_sphere(touch.tool), test::kToolRadius, 1e-6);
        EXPECT_NEAR(state.wrench.force.z(), 500 * (test::kToolRadius - 0.001), 1e-3);
        EXPECT_LT(state.wrench.force.head<2>().norm(), 1e-3);
        EXPECT_LT(state.wrench.torque.norm(), 1e-4);
        EXPECT_NEAR((state.fit.position - Vector3d(0.001, 0.002, test::kToolRadius)).norm(), 0,
                    1e-5);
    }
}

TEST(SphereTool, IsTurnedBackByWhatOneEndTouches) {
    // only x < 0 is over the block
    SurfaceMesh block = test::block_below(0.1, 0.1);
    for (Vector3d& v : block.vertices) v.x() -= 0.105;
    for (const bool is_rigid : {true, false}) {
        TouchingTool touch(block, tool_grid(5, 5, 0.5), tool_options(is_rigid));
        const SphereToolState& state = touch.go(hand_at(0, 0, 0.02), hand_at(0, 0, 0.002), 2);
        EXPECT_EQ(state.num_touching, 10);
        EXPECT_GT(state.wrench.force.z(), 0.1);
        // the side of −x goes up: about +y
        EXPECT_GT(state.wrench.torque.y(), 1e-4);
        EXPECT_GT(rotation_vector(state.fit.rotation).y(), 0.01);
    }
}

double spring_energy(const SphereTool& tool, const Pose& hand) {
    double sum = 0;
    for (int i = 0; i < tool.num_spheres(); ++i)
        if (tool.sphere(i).is_touching())
            sum += 0.5 * tool.translation_stiffness() *
                   (tool.sphere(i).position - hand.to_world(tool.offset(i))).squaredNorm();
    return sum;
}

TEST(SphereTool, ForceAndTorqueAreMinusTheGradientOfItsSprings) {
    for (const ToolShare share : {ToolShare::Total, ToolShare::Contacts}) {
        SurfaceMesh block = test::block_below(0.1, 0.1);
        for (Vector3d& v : block.vertices) v.x() -= 0.107;
        SphereToolOptions options = tool_options(false);
        options.share = share;
        options.centre = Vector3d(0.004, -0.003, 0.01);
        TouchingTool touch(block, tool_grid(5, 4, 0.5), options);
        const Pose hand = hand_at(0.002, 0.001, 0.009, {0.1, 0.2, -0.3});
        const SphereToolState& state = touch.go(hand_at(0, 0, 0.05), hand, 3);
        ASSERT_GT(state.num_touching, 3);
        ASSERT_LT(state.num_touching, 20);
        const double h = 1e-6;
        for (int k = 0; k < 3; ++k) {
            const Vector3d step = h * Vector3d::Unit(k);
            const auto energy = [&](const Vector3d& shift, const Vector3d& turn) {
                return spring_energy(touch.tool, {hand.position + shift,
                                                  rotation_from_vector(turn) * hand.rotation});
            };
            const Vector3d zero = Vector3d::Zero();
            EXPECT_NEAR(state.wrench.force[k],
                        -(energy(step, zero) - energy(-step, zero)) / (2 * h), 1e-8);
            EXPECT_NEAR(state.wrench.torque[k],
                        -(energy(zero, step) - energy(zero, -step)) / (2 * h), 1e-9);
        }
    }
}

TEST(SphereTool, ForcesOnBodiesBalanceTheHand) {
    for (const bool is_rigid : {true, false})
        for (const ToolShare share : {ToolShare::Total, ToolShare::Contacts}) {
            RigidBodyOptions body_options;
            body_options.mass = RigidMass{1, Vector3d::Zero(), Eigen::Matrix3d::Identity()};
            RigidBody body(RigidShape::sphere(0.1), test::thin_plate(0.2, 0.02, 10), body_options);
            const auto surface = make_moving_surface(body);
            SphereToolOptions options = tool_options(is_rigid);
            options.share = share;
            SphereTool tool({surface.get()}, tool_grid(4, 3, 0.5), options);
            tool.reset(hand_at(0.03, 0.02, 0.05));
            // all of it comes to lie on the plate, straight from above
            const Pose hand = hand_at(0.03, 0.02, 0.011);
            for (int i = 0; i < 2; ++i) (void)tool.tick(hand);
            ASSERT_EQ(tool.state().num_touching, 12);
            tool.apply_forces();
            const Wrench load = body.next_load();
            const Wrench& felt = tool.state().wrench;
            EXPECT_NEAR((load.force + felt.force).norm(), 0, 1e-12);
            EXPECT_NEAR((load.about(hand.position).torque + felt.torque).norm(), 0, 1e-6);
            EXPECT_GT(felt.force.z(), 1);
        }
}

TEST(SphereTool, ABodyGainsTheMomentumThatTheHandLoses) {
    RigidBodyOptions body_options;
    body_options.mass = RigidMass{0.5, Vector3d::Zero(), 1e-3 * Eigen::Matrix3d::Identity()};
    RigidBody body(RigidShape::sphere(0.1), test::bumpy_ball(0.05, 0.1, 12, 3), body_options);
    const auto surface = make_moving_surface(body);
    SphereTool tool({surface.get()}, tool_grid(4, 3, 0.5));
    tool.reset(hand_at(0.003, 0, 0.08));
    Vector3d given = Vector3d::Zero();
    for (int i = 0; i < 120; ++i) {
        (void)tool.tick(hand_at(0.003, 0, 0.08 - 4e-4 * i, {0, 0.001 * i, 0}));
        tool.apply_forces();
        given -= 1e-3 * tool.state().wrench.force;
        ASSERT_EQ(body.step(1e-3), StepStatus::Ok);
    }
    EXPECT_GT(given.norm(), 0.01);
    EXPECT_NEAR((0.5 * body.motion().velocity.linear - given).norm(), 0, 1e-10);
}

/// Spheres on the other side of a thin plate after a tool was pressed and rocked over its edge.
int spheres_lost(bool is_rigid, bool has_second_pass) {
    SurfaceMesh plate = test::thin_plate(0.2, 0.001, 10);
    for (Vector3d& v : plate.vertices) v.x() -= 0.1;  // x < 0
    SphereToolOptions options = tool_options(is_rigid);
    options.has_second_pass = has_second_pass;
    TouchingTool touch(plate, tool_grid(5, 5, is_rigid ? 1.0 : 0.9), options);
    touch.tool.reset(hand_at(0.005, 0, 0.03));
    int lost = 0;
    for (int k = 0; k < 200; ++k) {
        const double down = std::min(1.0, k / 60.0);
        const SphereToolState& state = touch.tool.tick(
            hand_at(0.005, 0, 0.03 - 0.045 * down, {0, 0.6 * std::sin(0.1 * k) * down, 0}));
        EXPECT_NE(state.status, StepStatus::InputIgnored);
        int below = 0;
        for (int i = 0; i < touch.tool.num_spheres(); ++i) {
            const Vector3d& p = touch.tool.sphere(i).position;
            below += p.x() < -test::kToolRadius && p.z() < 0;
        }
        lost = std::max(lost, below);
    }
    return lost;
}

TEST(SphereTool, TheSecondPassKeepsItInFrontOfAThinPlate) {
    for (const bool is_rigid : {true, false}) {
        EXPECT_GT(spheres_lost(is_rigid, false), 0) << is_rigid;
        EXPECT_EQ(spheres_lost(is_rigid, true), 0) << is_rigid;
    }
}

TEST(SphereTool, OneThatBendsHangsOverAnEdge) {
    SurfaceMesh block = test::block_below(0.1, 0.1);
    for (Vector3d& v : block.vertices) v.x() -= 0.1;  // x < 0
    const auto slope = [&](bool is_rigid, double stiffness) {
        TouchingTool touch(block, tool_grid(9, 2, stiffness), tool_options(is_rigid));
        touch.tool.reset(hand_at(0, 0, 0.02));
        for (int k = 0; k < 60; ++k)
            (void)touch.tool.tick(hand_at(0, 0, 0.02 - 0.03 * std::min(1.0, k / 40.0)));
        for (int i = 0; i < touch.tool.num_spheres(); ++i) {
            const Vector3d& p = touch.tool.sphere(i).position;
            if (p.x() < 0) EXPECT_GT(p.z(), 0.998 * test::kToolRadius);
        }
        // how far the free end is below the other
        return touch.tool.sphere(0).position.z() - touch.tool.sphere(8).position.z();
    };
    EXPECT_GT(slope(false, 0.1), 0.008) << "nearly as far down as the hand wants";
    EXPECT_GT(slope(false, 0.9), slope(false, 0.1) + 1e-3) << "a firm one tips over the edge";
}

TEST(SphereTool, TwoShareSurfacesThatAdvanceOnce) {
    // a cloth that falls 0.14 m in a tick: who does not see it come loses it
    const SurfaceMesh cloth = double_faced(test::flat_sheet(1, 32));
    VertexSurface surface(cloth);
    SurfaceSet set({&surface});
    ProxyOptions ball;
    ball.sphere.radius = 0.03;
    VirtualProxy proxy(set, ball);
    SphereTool left(set, tool_grid(3, 3, 0.5), tool_options(true));
    SphereTool right(set, tool_grid(3, 3, 0.5), tool_options(false));
    test::FormulaMotion fall;
    fall.direction = -Vector3d::UnitZ();
    fall.size = 1;
    SurfaceMesh now = cloth;
    std::vector<float> x;
    const auto put = [&](double height) { test::place(cloth, fall, -height, surface, now, x); };
    put(0.35);
    set.restart();
    const Pose a = hand_at(-0.2, 0.1, 0, {0.2, 0.1, 0}), b = hand_at(0.21, 0.03, 0, {0, 0.4, 1});
    proxy.reset(Vector3d(0.011, 0.007, 0));
    left.reset(a);
    right.reset(b);
    for (int step = 1; step <= 6; ++step) {
        const double height = 0.35 - 0.14 * step;
        put(height);
        set.advance();
        (void)proxy.tick(Vector3d(0.011, 0.007, 0));
        (void)left.tick(a);
        (void)right.tick(b);
        EXPECT_LT(proxy.state().position.z(), height);
        for (const SphereTool* tool : {&left, &right})
            for (int i = 0; i < 9; ++i) EXPECT_LT(tool->sphere(i).position.z(), height);
    }
    EXPECT_LT(left.state().wrench.force.z(), -1);
    EXPECT_LT(right.state().wrench.force.z(), -1);
}

TEST(SphereTool, IgnoresHandsThatAreNoPoses) {
    TouchingTool touch(test::block_below(0.1, 0.1), tool_grid(3, 3, 0.5), tool_options(false));
    (void)touch.go(hand_at(0, 0, 0.02), hand_at(0, 0, 0.001), 2);
    const Vector3d before = touch.tool.sphere(4).position;
    Pose wrong[] = {hand_at(0, 0, 0.001), hand_at(0, 0, 0.001), hand_at(0, 0, 0.001)};
    wrong[0].position.y() = kNan;
    wrong[1].rotation.coeffs().setZero();
    wrong[2].rotation.w() = kInfinity;
    for (const Pose& hand : wrong) {
        const SphereToolState& state = touch.tool.tick(hand);
        EXPECT_TRUE(state.is_hand_ignored);
        EXPECT_EQ(state.status, StepStatus::InputIgnored);
        EXPECT_EQ(state.wrench.force, Vector3d::Zero());
        EXPECT_EQ(state.wrench.torque, Vector3d::Zero());
        EXPECT_NEAR((touch.tool.sphere(4).position - before).norm(), 0, 1e-9);
    }
    EXPECT_GT(touch.tool.tick(hand_at(0, 0, 0.001)).wrench.force.z(), 1);
    // a rotation that is no unit is one after all
    Pose twice = hand_at(0, 0, 0.001, {0.3, 0, 0});
    twice.rotation.coeffs() *= 2;
    EXPECT_NEAR(touch.tool.tick(twice).hand.rotation.norm(), 1, 1e-15);
}

TEST(SphereTool, JumpsOfAMetreEndInFrontOfWhatIsInBetween) {
    for (const bool is_rigid : {true, false}) {
        TouchingTool touch(test::block_below(0.1, 0.1), tool_grid(3, 3, 0.5),
                           tool_options(is_rigid));
        (void)touch.go(hand_at(0, 0, 0.5), hand_at(0, 0, -0.5, {3, 1, 0}), 3);
        for (int i = 0; i < 9; ++i)
            EXPECT_GT(touch.tool.sphere(i).position.z(), 0.998 * test::kToolRadius);
        for (const double far : {1e10, 1e30, 1e200}) {
            const SphereToolState& state = touch.tool.tick(hand_at(far, 0, -far));
            EXPECT_TRUE(state.wrench.force.allFinite() && state.wrench.torque.allFinite());
            for (int i = 0; i < 9; ++i) EXPECT_TRUE(touch.tool.sphere(i).position.allFinite());
        }
        touch.tool.reset(hand_at(0, 0, 0.5));
        EXPECT_EQ(touch.tool.tick(hand_at(0, 0, 0.4)).largest_offset, 0);
    }
}

TEST(SphereTool, SaysWhenThereIsNoRoomForIt) {
    // the ceiling comes down to 6 mm: spheres of 8 mm have no room
    const SurfaceMesh floor = test::block_below(0.1, 0.1);
    SurfaceMesh ceiling = test::thin_plate(0.2, 0.02, 4);
    VertexSurface below(floor), above(ceiling);
    SphereTool tool({&below, &above}, tool_grid(3, 3, 0.5));
    std::vector<float> x;
    const auto put = [&](double height) {
        x.clear();
        for (const Vector3d& v : ceiling.vertices)
            for (int k = 0; k < 3; ++k)
                x.push_back(static_cast<float>(v[k] + (k == 2 ? height + 0.01 : 0)));
        above.set_positions(x);
    };
    put(0.05);
    tool.reset(hand_at(0, 0, 0.01));
    Wrench safe;  // the last with room for all
    for (int k = 0; k < 60; ++k) {
        const double height = std::max(0.006, 0.05 - 0.001 * k);
        put(height);
        const SphereToolState& state = tool.tick(hand_at(0, 0, 0.01));
        if (state.num_squeezed == 0) safe = state.wrench;
        EXPECT_LE(state.wrench.force.norm(), safe.force.norm() + 1e-6) << k;
        EXPECT_LE(state.wrench.torque.norm(), safe.torque.norm() + 1e-6) << k;
        for (int i = 0; i < 9; ++i) {
            EXPECT_GT(tool.sphere(i).position.z(), 0);
            EXPECT_LT(tool.sphere(i).position.z(), height);
        }
    }
    EXPECT_EQ(tool.state().num_squeezed, 9);
    EXPECT_EQ(tool.state().status, StepStatus::NotConverged);
}

TEST(SphereTool, RepeatsItselfBitForBit) {
    const auto run = [] {
        TouchingTool touch(test::bumpy_ball(0.05, 0.2, 20, 4), tool_grid(5, 5, 0.5),
                           tool_options(false));
        touch.tool.reset(hand_at(0, 0, 0.1));
        std::vector<double> numbers;
        for (int k = 0; k < 80; ++k) {
            const SphereToolState& state =
                touch.tool.tick(hand_at(0, 0, 0.1 - 1e-3 * k, {0.01 * k, 0, 0.02 * k}));
            for (int d = 0; d < 3; ++d) {
                numbers.push_back(state.wrench.force[d]);
                numbers.push_back(state.wrench.torque[d]);
                numbers.push_back(touch.tool.sphere(k % 25).position[d]);
            }
        }
        return numbers;
    };
    EXPECT_EQ(run(), run());
}

TEST(SphereTool, TicksWithoutAllocation) {
    VertexSurface surface(test::bumpy_ball(0.05, 0.2, 20, 4));
    RigidBodyOptions body_options;
    body_options.mass = RigidMass{0.5, Vector3d::Zero(), 1e-3 * Eigen::Matrix3d::Identity()};
    RigidBody body(RigidShape::sphere(0.1), test::thin_plate(0.2, 0.02, 10), body_options);
    const auto plate = make_moving_surface(body);
    for (const bool is_rigid : {true, false})
        for (const ForceMask mask : {ForceMask::Barycentric, ForceMask::Smooth}) {
            SphereToolOptions options = tool_options(is_rigid);
            options.sphere.static_friction = options.sphere.dynamic_friction = 0.3;
            options.sphere.mask = mask;
            SphereTool tool({&surface, plate.get()}, tool_grid(5, 5, 0.5), options);
            tool.reset(hand_at(0, 0, 0.1));
            int touching = 0;
            AllocationGuard guard;
            for (int k = 0; k < 80; ++k) {
                const Pose hand = hand_at(0, 0, 0.1 - 1e-3 * k, {0.01 * k, 0, 0.02 * k});
                touching += tool.tick(hand).num_touching;
                tool.apply_forces();
            }
            (void)tool.tick(hand_at(kNan, 0, 0));
            const auto allocations = guard.count();
            EXPECT_EQ(allocations, 0u);
            EXPECT_GT(touching, 100);
        }
}

TEST(SphereToolOptions, OutOfRangeAreNamed) {
    VertexSurface surface(test::block_below(0.1, 0.1));
    const auto message = [&](const ParticleLayout& layout, const SphereToolOptions& options) {
        return test::input_error([&] { const SphereTool tool({&surface}, layout, options); });
    };
    const ParticleLayout layout = tool_grid(2, 2, 0.5);
    SphereToolOptions options;
    options.iterations = 0;
    EXPECT_EQ(message(layout, options), "iterations of the tool = 0.000000 (expected 1 to 1000)");
    options = {};
    options.rotation_stiffness = -1;
    EXPECT_EQ(message(layout, options),
              "rotation stiffness of the tool = -1.000000 (expected 0 N/m or more, e.g. 500)");
    options = {};
    options.centre.x() = kNan;
    EXPECT_EQ(message(layout, options), "centre of the tool = nan (expected a place, in metres)");
    ParticleLayout wrong = layout;
    wrong.particles[2].radii = Vector3d(0.004, 0.004, 0.005);
    EXPECT_EQ(message(wrong, {}),
              "radii of sphere 2 of the tool = 0.004 0.004 0.005 (expected three equal ones: "
              "proxies are spheres, as place_spheres gives them)");
    wrong = layout;
    wrong.links.clear();
    EXPECT_NE(message(wrong, {}), "") << "nothing to bend by";
    EXPECT_EQ(message(wrong, tool_options(true)), "") << "a rigid one needs no links";
    EXPECT_NE(message({}, tool_options(true)), "");
    EXPECT_EQ(test::input_error([&] {
                  const SurfaceSet set({&surface, &surface});
              }),
              "surface 1 of a set = listed before (expected every surface once)");
}

TEST(SphereTool, OptionsOutOfRangeAreRefusedWhileItRunsAndThoseBeforeStay) {
    TouchingTool touch(test::block_below(0.1, 0.1), tool_grid(2, 2, 0.5), tool_options(true));
    SphereToolOptions options = touch.tool.options();
    options.translation_stiffness = 300;
    EXPECT_EQ(touch.tool.set_options(options), StepStatus::Ok);
    options.translation_stiffness = kNan;
    EXPECT_EQ(touch.tool.set_options(options), StepStatus::InputIgnored);
    EXPECT_EQ(touch.tool.options().translation_stiffness, 300);
}

}  // namespace
}  // namespace pliant
