// Tools of many spheres, docs/scene.md section "Tool of many spheres".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/temporary_directory.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/scene/recording.h"
#include "scene/spheres_scenes.h"
#include "scene/touching_spheres.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::proxy_tick, test::spheres_scene, test::kRigidBlock, test::kSlowBlock, test::kSlowBall,
    test::kSlowLoop;
using testing::HasSubstr;

World build_spheres(const std::string& text) {
    return World(parse_scene(text, "scene.json"), {.cache = {}});
}
std::string spheres_error_of(const std::string& text) {
    return test::input_error([&] { static_cast<void>(build_spheres(text)); });
}

const std::string kRigidTool = R"("rigid": true)";

/// Whatever the hand does in the air: not a rounding error of force.
TEST(SpheresScene, FreeMotionHasExactlyNoForce) {
    for (const char* loops : {"", kSlowLoop.c_str()}) {
        World world = build_spheres(spheres_scene(*loops ? kSlowBlock : kRigidBlock, "", loops,
                                                  /*depth=*/-0.004));
        world.apply({.kind = Command::Kind::MoveTool,
                     .target = {0.01, 0, 0.05},
                     .duration = 0.2,
                     .rotation = {0.8, 0.6, 0, 0}});
        for (int k = 0; k < 600; ++k) {
            world.advance();
            ASSERT_EQ(proxy_tick(world).coupling.force, Vector3d::Zero());
            ASSERT_EQ(proxy_tick(world).coupling.torque, Vector3d::Zero());
        }
        const HapticTick& tick = proxy_tick(world);
        EXPECT_GT((tick.tool.position - Vector3d(0.001, 0.002, 0.012)).norm(), 0.01) << "it moved";
        EXPECT_LT((tick.tool.position - tick.manipulandum.position).norm(), 1e-12) << "no lag";
        EXPECT_LT(tick.tool.rotation.angularDistance(tick.manipulandum.rotation), 1e-7);
    }
}

TEST(SpheresScene, PressedOnABlockGivesForce) {
    for (const std::string& kind : {kRigidTool, std::string(R"("passes": 2)")}) {
        World world = build_spheres(spheres_scene(kRigidBlock, kind));
        world.advance_to(1);
        const HapticTick& tick = proxy_tick(world);
        EXPECT_GT(tick.coupling.force.z(), 0.05);
        EXPECT_LT(tick.coupling.force.head<2>().norm(), 1e-3 * tick.coupling.force.z());
        EXPECT_GE(tick.num_contacts, 4) << "the plate lies flat";
        EXPECT_LT(tick.worst_depth, 1e-6);
        EXPECT_GT(tick.tool.position.z(), tick.manipulandum.position.z() + 1e-3);
        EXPECT_EQ(tick.gain_scale, 1) << "back-off had nothing to do";
        EXPECT_EQ(tick.violations, 0u);
    }
}

/// Half over the border of the block: it tips, and the hand feels it as a torque.
TEST(SpheresScene, PressedOverAnEdgeGivesTorque) {
    World world = build_spheres(spheres_scene(kRigidBlock, kRigidTool, "", 0.003, /*x=*/0.032));
    world.advance_to(1);
    const HapticTick& tick = proxy_tick(world);
    ASSERT_GT(tick.coupling.force.z(), 0.02);
    // what pushes up at −x from the grasp turns about +y
    EXPECT_GT(tick.coupling.torque.y(), 1e-4);
    EXPECT_LT(std::abs(tick.coupling.torque.x()), 0.2 * tick.coupling.torque.y());
    EXPECT_LT((tick.tool.rotation * Vector3d::UnitX()).z(), -1e-3) << "the free end goes down";
}

/// By eq. (4) of docs/sphere-tools.md: with the share of contacts few are as stiff as all.
TEST(SpheresScene, ShareSaysHowStiffAFewContactsAre) {
    double force[2];
    for (const bool has_contacts : {false, true}) {
        World world =
            build_spheres(spheres_scene(kRigidBlock,
                                        kRigidTool + R"(, "stiffness": 40, "share": )" +
                                            (has_contacts ? R"("contacts")" : R"("total")"),
                                        "", 0.003, 0.04));
        world.advance_to(1);
        force[has_contacts] = proxy_tick(world).coupling.force.z();
    }
    EXPECT_GT(force[0], 0.005);
    EXPECT_GT(force[1], 1.5 * force[0]);
}

TEST(SpheresScene, ActionIsReaction) {
    World world = build_spheres(spheres_scene(
        R"({"name": "box", "rigid": {"box": {"sizes": [0.06, 0.06, 0.04]}, "density": 1000},
            "pose": {"position": [0.001, 0.002, -0.02]}})"));
    const double mass = 1000 * 0.06 * 0.06 * 0.04;
    Vector3d impulse = Vector3d::Zero();
    for (int k = 0; k < 1000; ++k) {
        world.advance();
        impulse -= 1e-3 * proxy_tick(world).contact.force;
    }
    EXPECT_LT(impulse.z(), -1e-3);
    // of its middle: it turns as well
    Vector3d v = Vector3d::Zero();
    const int count = world.body(0).surface().num_vertices();
    for (int i = 0; i < count; ++i) v += world.body(0).velocity(SurfacePoint::at_vertex(i)) / count;
    EXPECT_NEAR(mass * v.z(), impulse.z(), 0.01 * std::abs(impulse.z()));
}

TEST(SpheresScene, TicksAllocateNothing) {
    for (const bool is_slow : {false, true}) {
        World world = build_spheres(
            spheres_scene(is_slow ? kSlowBall : kRigidBlock, "", is_slow ? kSlowLoop : ""));
        LoopFrame frame = world.loop(0).make_frame();
        const AllocationGuard guard;
        for (int k = 0; k < 700; ++k) {
            world.advance();
            if (k % 50 == 0) world.loop(0).fill(frame);
        }
        const auto allocations = guard.count();
        if (AllocationGuard::is_active()) {
            EXPECT_EQ(allocations, 0u) << is_slow;
        }
        EXPECT_GT(proxy_tick(world).num_contacts, 0) << is_slow;
    }
}

TEST(SpheresScene, TwoRatesFeelWhatOneFeels) {
    World one = build_spheres(spheres_scene(kRigidBlock, kRigidTool));
    World two = build_spheres(spheres_scene(kSlowBlock, kRigidTool, kSlowLoop));
    one.advance_to(1.5);
    two.advance_to(1.5);
    EXPECT_GT(proxy_tick(one).coupling.force.z(), 0.1);
    EXPECT_NEAR(proxy_tick(one).coupling.force.z(), proxy_tick(two).coupling.force.z(), 0.03);
    EXPECT_NEAR(proxy_tick(one).tool.position.z(), proxy_tick(two).tool.position.z(), 1e-4);
    // and again after a reset
    two.reset();
    two.advance_to(0.1);
    EXPECT_EQ(proxy_tick(two).coupling.force, Vector3d::Zero());
    two.advance_to(1.5);
    EXPECT_NEAR(proxy_tick(one).coupling.force.z(), proxy_tick(two).coupling.force.z(), 0.03);
}

TEST(SpheresScene, ForceEndsWhenTheBodiesStandStill) {
    World world = build_spheres(spheres_scene(kSlowBall, "", kSlowLoop));
    world.advance_to(0.6);
    ASSERT_GT(proxy_tick(world).coupling.force.norm(), 0.01);
    // the haptic loop alone
    for (int k = 0; k < 150; ++k) world.loop(0).tick();
    EXPECT_EQ(proxy_tick(world).coupling.force.norm(), 0);
    EXPECT_THAT(world.loop(0).make_frame().haptics.notice.data(), HasSubstr("no force until"));
}

/// docs/sphere-tools.md eq. (7): the age of what another loop tells drags, one loop does not.
TEST(SpheresScene, TwoRatesDragWhatSlidesAndOneDoesNot) {
    for (const bool is_one : {true, false}) {
        const std::string table =
            R"({"name": "table", "rigid": {"box": {"sizes": [0.5, 0.1, 0.02]}},
                "pose": {"position": [0, 0, -0.01]}, "loop": )";
        SceneDescription scene =
            parse_scene(spheres_scene(table + (is_one ? R"("haptic"})" : R"("slow"})"), kRigidTool,
                                      is_one ? "" : kSlowLoop),
                        "scene.json");
        std::get<RigidSource>(scene.bodies[1].source).motion =
            ScriptedMotion({{0, {.position = {-0.2, 0, 0.012}}},
                            {0.3, {.position = {-0.2, 0, 0.002}}},
                            {1.3, {.position = {0.1, 0, 0.002}}}},
                           false);
        World world(scene, {.cache = {}});
        const double stiffness = world.loop(0).haptics()->gains.front().value;
        world.advance_to(0.7);
        const double from = proxy_tick(world).manipulandum.position.x();
        double drag = 0;
        int num_ticks = 0;
        for (; num_ticks < 200;) {
            if (world.advance() != 0) continue;
            drag += proxy_tick(world).coupling.force.x() / 200;
            EXPECT_EQ(proxy_tick(world).num_contacts, 8);
            ++num_ticks;
        }
        const double speed = (proxy_tick(world).manipulandum.position.x() - from) / 0.2;
        ASSERT_GT(speed, 0.1);
        // all eight touch; what is told is half a step of 10 ms old on average, and a tick
        const double expected = is_one ? 0 : -stiffness * speed * 0.0055;
        EXPECT_NEAR(drag, expected, std::max(1e-9, 0.2 * std::abs(expected)));
    }
}

TEST(SpheresScene, HandIsHeldByTheCurtainInTheDemo) {
    World world(demo_scene("hand-curtain"), {.cache = {}});
    int num_touching = 0;
    double largest = 0;
    for (int k = 0; k < 780; ++k) {
        world.advance();
        const HapticTick& tick = proxy_tick(world);
        ASSERT_TRUE(tick.tool.position.allFinite());
        num_touching += tick.num_contacts > 0;
        largest = std::max(largest, tick.coupling.force.norm());
        if (tick.num_contacts == 0) {
            ASSERT_EQ(tick.contact.force, Vector3d::Zero());
        }
    }
    EXPECT_GT(num_touching, 100);
    EXPECT_GT(largest, 0.05);
}

/// What viewers draw: every sphere, which of them touch what, and sums.
TEST(SpheresScene, EverySphereIsShown) {
    for (const bool is_slow : {false, true}) {
        World world = build_spheres(spheres_scene(is_slow ? kSlowBlock : kRigidBlock, kRigidTool,
                                                  is_slow ? kSlowLoop : ""));
        const HapticInfo& info = *world.loop(0).haptics();
        EXPECT_FALSE(info.bends);
        world.advance_to(1);
        const LoopFrame frame = world.loop(0).make_frame();
        const ShownProxy& shown = frame.haptics.proxy;
        ASSERT_GT(info.spheres.size(), 4u);
        ASSERT_EQ(shown.num_spheres, static_cast<int>(info.spheres.size()));
        EXPECT_TRUE(shown.is_there());
        EXPECT_GT(shown.triangles_tested, 0);
        int num_touching = 0;
        for (int i = 0; i < shown.num_spheres; ++i) {
            const ShownProxy::Sphere& sphere = shown.spheres[static_cast<std::size_t>(i)];
            const HeldSphere& rest = info.spheres[static_cast<std::size_t>(i)];
            const Vector3d place = Eigen::Vector3f(sphere.position.data()).cast<double>();
            // rigid, and told at most a step ago
            EXPECT_LT((place - frame.haptics.tick.tool.to_world(rest.position)).norm(), 1e-4);
            num_touching += sphere.is_touching;
            if (!sphere.is_touching) continue;
            EXPECT_NEAR(sphere.normal[2], 1, 1e-5) << "it lies on the block";
            EXPECT_NEAR(place.z(), rest.radius, 1e-5);
        }
        EXPECT_EQ(num_touching, frame.haptics.tick.num_contacts);
        ASSERT_GE(shown.num_triangles, num_touching);
        EXPECT_EQ(shown.triangles[0].body, 0);
    }
    World bending = build_spheres(spheres_scene(kRigidBlock));
    EXPECT_TRUE(bending.loop(0).haptics()->bends);
    bending.advance_to(0.5);
    const ShownProxy shown = bending.loop(0).make_frame().haptics.proxy;
    const Eigen::Vector4f turn(shown.spheres[0].turn.data());
    EXPECT_NEAR(turn.norm(), 1, 1e-5);
}

TEST(SpheresScene, SlidersAreThoseOfSpheres) {
    World world = build_spheres(spheres_scene(kRigidBlock, R"("friction": 0.3)"));
    std::vector<std::string> names;
    for (const LiveParameter& one : world.loop(0).haptic_parameters()) names.push_back(one.name);
    EXPECT_THAT(names, testing::ElementsAre(
                           "tool.stiffness", "tool.turning stiffness", "tool.damping", "tool.force",
                           "tool.back-off", "tool.passivity", "proxy.friction", "proxy.ccd",
                           "hand.stiffness", "hand.damping", "hand.tremor", "device.mass"));
    EXPECT_EQ(world.loop(0).haptics()->proxy_radius, 0) << "no single sphere to draw";
    world.advance_to(0.5);
    const double before = proxy_tick(world).coupling.force.z();
    world.apply({.kind = Command::Kind::SetParameter,
                 .parameter = world.find_parameter("tool.stiffness"),
                 .value = 0.3 * world.parameter_value(world.find_parameter("tool.stiffness"))});
    world.advance_to(1.5);
    EXPECT_LT(proxy_tick(world).coupling.force.z(), 0.8 * before);
}

TEST(SpheresScene, MistakesAreNamed) {
    EXPECT_EQ(spheres_error_of(spheres_scene(kRigidBlock, R"("bodies": ["blok"])")),
              "scene.json: tool.spheres.bodies[0] = \"blok\" (expected a body of the scene: "
              "\"block\", \"plate\")");
    EXPECT_EQ(spheres_error_of(spheres_scene(kRigidBlock, R"("rigid": true, "passes": 3)")),
              "scene.json: tool.spheres.passes: is of a tool that bends, not of a rigid one");
    EXPECT_EQ(spheres_error_of(spheres_scene(kRigidBlock, R"("count": 9)")),
              "scene.json: tool.spheres.count: is of spheres that are placed; \"layout\" has its "
              "own");
    EXPECT_THAT(spheres_error_of(spheres_scene(kRigidBlock, R"("stifness": 2)")),
                HasSubstr("tool.spheres.stifness: unknown key; did you mean \"stiffness\"?"));
    EXPECT_THAT(spheres_error_of(spheres_scene(kRigidBlock, R"("share": "half")")),
                HasSubstr("tool.spheres.share"));
    EXPECT_EQ(
        spheres_error_of(spheres_scene(kRigidBlock, "", "", 0.003, 0.001, R"("max_depth": 0.1, )")),
        "scene.json: tool.max_depth: does not go with \"spheres\"");
    EXPECT_THAT(
        spheres_error_of(spheres_scene(kRigidBlock, "", "", 0.003, 0.001, R"("proxy": {}, )")),
        HasSubstr("\"spheres\""));
    const auto replaced = [](std::string text, const std::string& from, const std::string& to) {
        return text.replace(text.find(from), from.size(), to);
    };
    EXPECT_THAT(spheres_error_of(replaced(spheres_scene(kRigidBlock), "0.012", "-0.01")),
                HasSubstr(" m inside of \"block\": move its pose, or the start of its motion"));
    EXPECT_THAT(
        spheres_error_of(replaced(spheres_scene(kRigidBlock),
                                  R"("box": {"sizes": [0.04, 0.02, 0.01]})", R"("ground": {})")),
        HasSubstr("scene.json: tool.spheres: \"plate\" is the ground; spheres fill a body "
                  "with a closed surface"));
    const std::string layout = R"("layout": ")" + test::plate_file() + "\"";
    EXPECT_THAT(
        spheres_error_of(replaced(spheres_scene(kRigidBlock), layout, R"("least_radius": 0.2)")),
        HasSubstr("tool: spheres: the surface has room for 0 of 37 spheres"));
    EXPECT_THAT(
        spheres_error_of(replaced(spheres_scene(kRigidBlock), layout, R"("layout": "no.json")")),
        HasSubstr("no.json"));
    const std::string open =
        R"({"name": "sheet", "particles": {"sheet": {"sizes": [0.1, 0.1], "cells": [4, 4]},
            "cloth": {}}})";
    EXPECT_THAT(spheres_error_of(spheres_scene(open)),
                HasSubstr("tool: spheres.bodies[0] = \"sheet\": surface to be touched = 16 open "
                          "edges (expected a closed surface"));
}

TEST(SpheresScene, SpheresArePlacedInsideOfTheBody) {
    std::string text = spheres_scene(kRigidBlock);
    const std::string layout = R"("layout": ")" + test::plate_file() + "\"";
    text.replace(text.find(layout), layout.size(), R"("count": 6)");
    World world = build_spheres(text);
    world.advance_to(1);
    const HapticTick& tick = proxy_tick(world);
    EXPECT_GT(tick.coupling.force.z(), 0.05);
    EXPECT_GE(tick.num_contacts, 3);
    EXPECT_LE(tick.num_contacts, 6);
    EXPECT_NEAR(tick.tool.position.z(), 0.005, 5e-4) << "they reach to its lower side";
}

TEST(SpheresScene, RecordingsReplayBitForBit) {
    const test::TemporaryDirectory folder;
    const std::string text = spheres_scene(kSlowBall, R"("friction": 0.2)", kSlowLoop);
    World world = build_spheres(text);
    const auto file = folder / "spheres.pliantrec";
    WorldRecorder recorder(file, world, recording_header(world));
    for (int k = 0; k < 900; ++k) recorder.add_tick(world, world.advance(), 1.0);
    recorder.finish();
    const Recording recording = Recording::load(file);
    ASSERT_TRUE(recording.is_complete()) << recording.problem();
    World again = build_spheres(text);
    const ReplayCheck check = check_replay(recording, again);
    EXPECT_GE(check.num_compared, 700u);
    EXPECT_EQ(check.num_different, 0u) << check.first_difference;
    bool has_touched = false;
    for (const HapticTick& tick : recording.haptics(0)) has_touched |= tick.num_contacts > 0;
    EXPECT_TRUE(has_touched);
}

TEST(TouchingSpheres, ATuningOutOfRangeIsSaidAndTheOneBeforeStays) {
    World world = build_spheres(R"({"pliant": 1, "gravity": [0, 0, 0], "bodies": [{"name": "body",
        "rigid": {"box": {"sizes": [0.06, 0.06, 0.04]}}}]})");
    const Pose above{{0, 0, 0.1}, Quaternion::Identity()};
    TouchingSpheres spheres({{&world.loop(0).body(0), 0, "body", std::nullopt}},
                            test::plate_spheres(), {.is_rigid = true}, above, 0);
    ProxyTuning tuning{.stiffness = 150, .angular_stiffness = 0.1, .max_force = 5};
    static_cast<void>(spheres.tick(above, tuning));
    EXPECT_EQ(spheres.status(), StepStatus::Ok);
    tuning.stiffness = 1e12;
    for (int k = 0; k < 2; ++k) {
        static_cast<void>(spheres.tick(above, tuning));
        EXPECT_EQ(spheres.status(), StepStatus::InputIgnored) << "as long as it is so";
    }
    tuning.stiffness = 200;
    static_cast<void>(spheres.tick(above, tuning));
    EXPECT_EQ(spheres.status(), StepStatus::Ok);
}

}  // namespace
}  // namespace pliant
