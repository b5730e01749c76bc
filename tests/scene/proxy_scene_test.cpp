// Tools that are virtual proxies, docs/scene.md section "Proxy in a hand".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "core/temporary_directory.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/scene/engine.h"
#include "pliant/scene/recording.h"
#include "scene/proxy_scenes.h"
#include "scene/touching_sphere.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::proxy_tick, test::input_error, test::kRigidBlock, test::kSlowBlock, test::kSlowBall,
    test::kSlowLoop, test::proxy_scene;
using testing::HasSubstr;

World build_proxy(const std::string& text) {
    return World(parse_scene(text, "scene.json"), {.cache = {}});
}
std::string proxy_error_of(const std::string& text) {
    return input_error([&] { static_cast<void>(build_proxy(text)); });
}
ShownProxy shown_proxy(const World& world) { return world.loop(0).make_frame().haptics.proxy; }

struct TouchedKind {
    const char* name;
    const char* body;
};
const TouchedKind kKinds[] = {
    {"rigid", R"({"name": "body", "rigid": {"box": {"sizes": [0.06, 0.06, 0.04]}},
                  "pose": {"position": [0, 0, -0.02]}})"},
    {"particles", R"({"name": "body", "particles": {"ball": {"radius": 0.04}, "count": 60,
                      "damping": 2, "held": [{"where": "z < 30 %"}]},
                      "pose": {"position": [0, 0, -0.04]}})"},
    {"fem", R"({"name": "body", "fem": {"box": {"sizes": [0.08, 0.08, 0.04], "cells": [4, 4, 2]},
                "material": {"youngs_modulus": 2e4, "poisson_ratio": 0.3, "density": 1000},
                "fixed": "z < 1 %", "damping": {"mass": 20}}, "pose": {"position": [0, 0, -0.04]}})"},
    {"reduced", R"({"name": "body", "reduced": {"shape": {"name": "beam", "resolution": 10},
                    "size": 0.2, "material": {"youngs_modulus": 1e5, "poisson_ratio": 0.3,
                    "density": 1000}, "fixed": "x < 10 %", "mesh": {"resolution": 10},
                    "modes": 4, "rank": 6}, "pose": {"position": [-0.05, 0, -0.04]}})"},
    {"greens",
     R"({"name": "body", "greens": {"pad": {"length": 0.06, "width": 0.04, "height": 0.02},
                   "material": {"youngs_modulus": 2e4, "poisson_ratio": 0.3, "density": 1000},
                   "fixed": "z < 20 %"}, "pose": {"position": [-0.03, 0, 0]}})"},
};

class ProxyOnKinds : public testing::TestWithParam<TouchedKind> {};
INSTANTIATE_TEST_SUITE_P(All, ProxyOnKinds, testing::ValuesIn(kKinds),
                         [](const auto& kind) { return std::string(kind.param.name); });

/// Highest place of the body's surface near the axis of the finger.
double top_under_finger(const Body& body) {
    double top = -1;
    for (int v = 0; v < body.surface().num_vertices(); ++v) {
        const Vector3d x = body.position(SurfacePoint::at_vertex(v));
        if (std::hypot(x.x(), x.y()) < 0.05) top = std::max(top, x.z());
    }
    return top;
}

TEST_P(ProxyOnKinds, IsFeltWithoutAllocationAndComesToRest) {
    // the finger begins above the body, wherever that is
    SceneDescription scene = parse_scene(proxy_scene(GetParam().body), "scene.json");
    World probe(scene, {.cache = {}});
    const double top = top_under_finger(probe.body(0));
    auto& motion = std::get<RigidSource>(scene.bodies[1].source).motion;
    const Vector3d above(0.001, 0.002, top + 0.012), in(0.001, 0.002, top + 0.001);
    motion = ScriptedMotion({{0, {.position = above}}, {0.3, {.position = in}}}, false);
    World world(scene, {.cache = {}});

    LoopFrame frame = world.loop(0).make_frame();
    const AllocationGuard guard;
    double least = 1e9, largest = 0;
    for (int k = 0; k < 4000; ++k) {
        world.advance();
        if (k % 50 == 0) world.loop(0).fill(frame);
        const double force = proxy_tick(world).coupling.force.z();
        if (k < 3600) continue;
        least = std::min(least, force);
        largest = std::max(largest, force);
    }
    const auto allocations = guard.count();
    if (AllocationGuard::is_active()) EXPECT_EQ(allocations, 0u);

    EXPECT_GT(least, 0.02);
    EXPECT_LT(largest - least, 0.02 + 0.02 * largest) << "at rest";
    EXPECT_EQ(proxy_tick(world).gain_scale, 1) << "back-off had nothing to do";
    EXPECT_GT(proxy_tick(world).num_contacts, 0);
    EXPECT_LT(proxy_tick(world).worst_depth, 1e-4);
    EXPECT_TRUE(proxy_tick(world).tool.position.allFinite());
}

TEST(ProxyScene, ActionIsReaction) {
    // a box that floats
    World world = build_proxy(proxy_scene(
        R"({"name": "box", "rigid": {"box": {"sizes": [0.06, 0.06, 0.04]}, "density": 1000},
            "pose": {"position": [0.001, 0.002, -0.02]}})"));
    const double mass = 1000 * 0.06 * 0.06 * 0.04;
    Vector3d impulse = Vector3d::Zero();
    for (int k = 0; k < 1000; ++k) {
        world.advance();
        impulse -= 1e-3 * proxy_tick(world).contact.force;
    }
    EXPECT_LT(impulse.z(), -1e-3);
    const Vector3d v = world.body(0).velocity(SurfacePoint::at_vertex(0));
    EXPECT_NEAR(mass * v.z(), impulse.z(), 0.02 * std::abs(impulse.z()));
}

TEST(ProxyScene, ClothHangsForAThirdOfASecondAndIsMissedWithoutContinuousCollision) {
    for (const bool has_ccd : {true, false}) {
        SceneDescription scene = demo_scene("cloth-catch");
        scene.held_tool->proxy->options.has_ccd = has_ccd;
        World world(scene, {.cache = {}});
        const auto height = [&] {
            return world.body(0).position(SurfacePoint::at_vertex(16 * 33 + 16)).z();
        };
        int num_touching = 0;
        for (int k = 0; k < 350; ++k) {
            world.advance();
            // until the cloth has crumpled through itself, where no side is the right one
            if (k >= 265 && k < 295 && proxy_tick(world).num_contacts > 0) ++num_touching;
        }
        const double z = height();
        if (has_ccd) {
            EXPECT_GT(z, -3);
            EXPECT_EQ(num_touching, 30);
            // what the text of the demo says: then it slips off
            while (world.loop(0).time() < 12) world.advance();
            EXPECT_EQ(proxy_tick(world).num_contacts, 0);
            EXPECT_LT(height(), -10);
            EXPECT_GE(shown_proxy(world).carried, 1u);
        } else {
            EXPECT_LT(z, -4) << "falls on";
            EXPECT_EQ(num_touching, 0);
        }
    }
}

TEST(ProxyScene, TwoRatesFeelWhatOneFeels) {
    World one = build_proxy(proxy_scene(kRigidBlock));
    World two = build_proxy(proxy_scene(kSlowBlock, R"("interpolation": false)", "", kSlowLoop));
    one.advance_to(1.5);
    two.advance_to(1.5);
    EXPECT_GT(proxy_tick(one).coupling.force.z(), 0.1);
    EXPECT_NEAR(proxy_tick(one).coupling.force.z(), proxy_tick(two).coupling.force.z(), 0.02)
        << "encoders have steps";
    EXPECT_NEAR(proxy_tick(two).tool.position.z(), 0.005, 1e-5) << "in front of the plane";
    const ShownProxy proxy = shown_proxy(two);
    EXPECT_EQ(proxy.num_planes, 1);
    EXPECT_LT((proxy.planes[0].normal - Vector3d::UnitZ()).norm(), 1e-9);
    EXPECT_NEAR(proxy.planes[0].point.z(), 0, 1e-9);
    EXPECT_GT(proxy.num_triangles, 0);
}

TEST(ProxyScene, ForceEndsWhenTheBodiesStandStill) {
    World world = build_proxy(proxy_scene(kSlowBall, "", "", kSlowLoop));
    world.advance_to(0.6);
    ASSERT_GT(proxy_tick(world).coupling.force.norm(), 0.02);
    // the haptic loop alone
    for (int k = 0; k < 150; ++k) world.loop(0).tick();
    EXPECT_EQ(proxy_tick(world).coupling.force.norm(), 0);
    EXPECT_THAT(world.loop(0).make_frame().haptics.notice.data(), HasSubstr("no force until"));
    for (int k = 0; k < 100; ++k) {
        if (k % 10 == 0) world.loop(1).tick();
        world.loop(0).tick();
    }
    EXPECT_GT(proxy_tick(world).coupling.force.norm(), 0.02) << "and comes back";
}

TEST(ProxyScene, SlidersAreThoseOfAProxy) {
    World world =
        build_proxy(proxy_scene(kRigidBlock, R"("friction": 0.3, "static_friction": 0.5)"));
    std::vector<std::string> names;
    for (const LiveParameter& one : world.loop(0).haptic_parameters()) names.push_back(one.name);
    using testing::ElementsAre;
    EXPECT_THAT(names,
                ElementsAre("tool.stiffness", "tool.damping", "tool.force", "tool.back-off",
                            "tool.passivity", "proxy.friction", "proxy.force shading", "proxy.ccd",
                            "hand.stiffness", "hand.damping", "hand.tremor", "device.mass"));
    EXPECT_EQ(world.parameter_value(world.find_parameter("proxy.friction")), 0.3);
    world.advance_to(0.5);
    const double before = proxy_tick(world).coupling.force.z();
    world.apply({.kind = Command::Kind::SetParameter,
                 .parameter = world.find_parameter("tool.stiffness"),
                 .value = 0.3 * world.parameter_value(world.find_parameter("tool.stiffness"))});
    world.advance_to(1.5);
    EXPECT_LT(proxy_tick(world).coupling.force.z(), 0.8 * before);
}

/// Friction of the slider acts, also on a proxy of another loop: the sphere stays behind the hand.
TEST(ProxyScene, FrictionHoldsItBack) {
    for (const bool is_slow : {false, true}) {
        World world = build_proxy(
            proxy_scene(is_slow ? kSlowBlock : kRigidBlock, "", "", is_slow ? kSlowLoop : ""));
        world.advance_to(0.6);
        const auto slide_with = [&](double friction) {
            world.apply({.kind = Command::Kind::SetParameter,
                         .parameter = world.find_parameter("proxy.friction"),
                         .value = friction});
            world.apply({.kind = Command::Kind::MoveTool, .target = {0.01, 0.002, 0.001}});
            world.advance_to(1.2);
            const double x = shown_proxy(world).position.x();
            world.reset();
            world.advance_to(0.6);
            return x;
        };
        EXPECT_NEAR(slide_with(0), 0.01, 1e-3) << is_slow;
        EXPECT_LT(slide_with(1), 0.009) << is_slow;
    }
}

TEST(ProxyScene, StiffnessIsWhatDeviceAndBodiesBear) {
    // a light sheet bears little
    const std::string sheet =
        R"({"name": "sheet", "particles": {"sheet": {"sizes": [0.1, 0.1], "cells": [8, 8]},
            "double_faced": true, "cloth": {"mass": 0.02}, "held": [{"where": "x < 1 %"}]}})";
    World light = build_proxy(proxy_scene(sheet));
    const HapticInfo& info = *light.loop(0).haptics();
    const GainNote& note = info.gains.front();
    // docs/scene.md eq. (8): one of 81 balls
    const double bearable = 0.2 / (1e-6 * 81 / 0.02);
    EXPECT_NEAR(note.value, bearable, 1e-6 * bearable);
    EXPECT_NEAR(note.largest, bearable, 1e-6 * bearable);
    EXPECT_THAT(note.reason, HasSubstr("\"sheet\" bears"));
    EXPECT_EQ(info.proxy_radius, 0.005);
    EXPECT_TRUE(info.warning.empty());
    World stiff = build_proxy(proxy_scene(sheet, R"("stiffness": 120)"));
    EXPECT_THAT(stiff.loop(0).haptics()->warning, HasSubstr("a part of the force only"));
    EXPECT_EQ(stiff.loop(0).haptics()->gains.front().value, 120);
}

TEST(ProxyScene, LeavesEachBodyAsTheSceneSays) {
    // without continuous collision a block jumps over the middle of the finger, which is then
    // behind its top: only where all triangles push is it pushed
    const std::string jumping =
        R"({"name": "block", "rigid": {"box": {"sizes": [0.06, 0.06, 0.04]}, "motion": {"path":
            {"keyframes": [{"time": 0.0102, "position": [0, 0, -0.04]},
                           {"time": 0.0108, "position": [0, 0, -0.007]}]}}},
            "pose": {"position": [0, 0, -0.04]}},
           {"name": "other", "rigid": {"box": {"sizes": [0.06, 0.06, 0.04]}},
            "pose": {"position": [0, 0, -0.2]}})";
    const auto pops = [&](const std::string& proxy) {
        World world =
            build_proxy(proxy_scene(jumping, R"("ccd": false, )" + proxy, "", "", -0.007));
        for (int i = 0; i < 14; ++i) world.loop(0).tick();
        return shown_proxy(world).all_pops;
    };
    EXPECT_GT(pops(R"("pop_out": "plain")"), 0u);
    EXPECT_EQ(pops(R"("pop_out": "half-space")"), 0u);
    EXPECT_EQ(pops(R"("pop_out_of": [{"body": "block", "pop_out": "half-space"}])"), 0u);
    EXPECT_GT(pops(R"("pop_out": "half-space",
                      "pop_out_of": [{"body": "block", "pop_out": "plain"}])"),
              0u);
    EXPECT_GT(pops(R"("pop_out_of": [{"body": "other", "pop_out": "half-space"}])"), 0u);
}

TEST(ProxyScene, MistakesAreNamed) {
    EXPECT_EQ(proxy_error_of(proxy_scene(kRigidBlock, R"("bodies": ["blok"])")),
              "scene.json: tool.proxy.bodies[0] = \"blok\" (expected a body of the scene: "
              "\"block\", \"finger\")");
    EXPECT_EQ(proxy_error_of(proxy_scene(kRigidBlock, R"("bodies": ["finger"])")),
              "scene.json: tool.proxy.bodies[0] = \"finger\" (expected another body than the proxy "
              "itself)");
    EXPECT_EQ(
        proxy_error_of(proxy_scene(kRigidBlock + R"(, {"name": "floor", "rigid": {"ground": {}}})",
                                   R"("bodies": ["floor"])")),
        "scene.json: tool.proxy.bodies[0] = \"floor\" (expected a body with a closed surface; "
        "the ground is open: take a flat \"box\")");
    EXPECT_THAT(proxy_error_of(proxy_scene(kRigidBlock + R"(, {"name": "far", "loop": "slow",
                             "rigid": {"box": {"sizes": [1, 1, 1]}}})",
                                           "", "", kSlowLoop)),
                HasSubstr("tool.proxy.bodies: is missing: \"far\" is not a body of the loop "
                          "\"haptic\", as \"block\"; this one is in \"slow\""));
    EXPECT_EQ(
        proxy_error_of(proxy_scene(kRigidBlock, R"("friction": 0.4, "static_friction": 0.2)")),
        "scene.json: tool.proxy.static_friction = 0.2 (expected at least the friction of "
        "sliding)");
    EXPECT_EQ(proxy_error_of(proxy_scene(kRigidBlock, R"("mask_radius": 2)")),
              "scene.json: tool.proxy.mask_radius: is of the mask \"smooth\"");
    EXPECT_THAT(proxy_error_of(proxy_scene(kRigidBlock, R"("stifness": 2)")),
                HasSubstr("tool.proxy.stifness: unknown key; did you mean \"stiffness\"?"));
    EXPECT_THAT(proxy_error_of(proxy_scene(kRigidBlock, R"("pop_out": "none")")),
                HasSubstr("tool.proxy.pop_out"));
    EXPECT_EQ(proxy_error_of(proxy_scene(
                  kRigidBlock, R"("pop_out_of": [{"body": "blok", "pop_out": "plain"}])")),
              "scene.json: tool.proxy.pop_out_of[0].body = \"blok\" (expected a body that it "
              "touches, as in \"bodies\")");
    EXPECT_EQ(proxy_error_of(
                  proxy_scene(kRigidBlock, R"("pop_out_of": [{"body": "block", "pop_out": "plain"},
                                                 {"body": "block", "pop_out": "guarded"}])")),
              "scene.json: tool.proxy.pop_out_of[1].body = \"block\" (expected a body that is "
              "not in the list yet)");
    const auto replaced = [](std::string text, const std::string& from, const std::string& to) {
        return text.replace(text.find(from), from.size(), to);
    };
    const std::string good = proxy_scene(kRigidBlock);
    EXPECT_THAT(proxy_error_of(replaced(good, R"("sphere": {"radius": 0.005})",
                                        R"("box": {"sizes": [1, 1, 1]})")),
                HasSubstr("scene.json: tool.proxy: \"finger\" is no sphere; a proxy is one"));
    EXPECT_THAT(proxy_error_of(replaced(good, R"("radius": 0.005)", R"("radius": 0)")),
                HasSubstr("rigid.sphere.radius = 0 (expected a number > 0"));
    EXPECT_EQ(
        proxy_error_of(replaced(good, R"("proxy": {})", R"("proxy": {}, "grasp": [0, 0, 0])")),
        "scene.json: tool.grasp: does not go with \"proxy\"");
    EXPECT_THAT(proxy_error_of(replaced(good, "0.012", "-0.01")),
                HasSubstr("tool: body = \"finger\" (expected a proxy that starts outside of all it "
                          "touches; its middle is 0.01 m inside of \"block\": move its pose"));
    const std::string open =
        R"({"name": "sheet", "particles": {"sheet": {"sizes": [0.1, 0.1], "cells": [4, 4]},
            "cloth": {}}})";
    EXPECT_THAT(
        proxy_error_of(proxy_scene(open)),
        HasSubstr(
            "tool: proxy.bodies[0] = \"sheet\": surface to be touched = 16 open edges "
            "(expected a closed surface oriented outwards; first at triangle 0 of "
            "32; sheets need two faces: \"double_faced\": true for \"particles\" of a scene"));
}

class ProxyRecording : public ::testing::Test {
protected:
    [[nodiscard]] std::filesystem::path file() const { return folder_ / "proxy.pliantrec"; }
    void expect_same_again(const std::string& text, std::uint64_t least) const {
        const Recording recording = Recording::load(file());
        ASSERT_TRUE(recording.is_complete()) << recording.problem();
        World again = build_proxy(text);
        const ReplayCheck check = check_replay(recording, again);
        EXPECT_GE(check.num_compared, least);
        EXPECT_EQ(check.num_different, 0u) << check.first_difference;
        bool has_touched = false;
        for (const HapticTick& tick : recording.haptics(0)) has_touched |= tick.num_contacts > 0;
        EXPECT_TRUE(has_touched);
    }
    test::TemporaryDirectory folder_;
};

TEST_F(ProxyRecording, InVirtualTimeReplaysBitForBit) {
    const std::string text = proxy_scene(kSlowBall, R"("friction": 0.2)", "", kSlowLoop);
    World world = build_proxy(text);
    WorldRecorder recorder(file(), world, recording_header(world));
    for (int k = 0; k < 900; ++k) recorder.add_tick(world, world.advance(), 1.0);
    recorder.finish();
    expect_same_again(text, 700);
}

TEST_F(ProxyRecording, OfAnEngineReplaysBitForBit) {
    const std::string text = proxy_scene(kSlowBall, R"("friction": 0.2)", "", kSlowLoop);
    {
        Engine engine(std::make_unique<World>(build_proxy(text)), {.is_real_time = false});
        engine.run();
        engine.start_recording(file(), recording_header(engine.world()));
        while (engine.frame(0).tick < 350)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        engine.send({.kind = Command::Kind::MoveTool, .target = {0.005, 0, 0}, .duration = 0.05});
        while (engine.frame(0).tick < 450)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        engine.stop_recording();
    }
    expect_same_again(text, 400);
}

TEST(TouchingSphere, ATuningOutOfRangeIsSaidAndTheOneBeforeStays) {
    World world = build_proxy(std::string(R"({"pliant": 1, "gravity": [0, 0, 0], "bodies": [)") +
                              kKinds[0].body + "]}");
    TouchingSphere sphere({{&world.loop(0).body(0), 0, "body", std::nullopt}}, {},
                          Vector3d(0, 0, 0.1), 0);
    ProxyTuning tuning{.stiffness = 150, .max_force = 5};
    const auto status_with_tuning = [&] {
        static_cast<void>(sphere.tick({0, 0, 0.1}, tuning));
        ShownProxy shown;
        sphere.fill(shown);
        EXPECT_EQ(shown.is_ignored, sphere.status() == StepStatus::InputIgnored);
        return sphere.status();
    };
    EXPECT_EQ(status_with_tuning(), StepStatus::Ok);
    tuning.dynamic_friction = 0.5;  // more than the static one
    EXPECT_EQ(status_with_tuning(), StepStatus::InputIgnored);
    tuning.static_friction = 0.5;
    EXPECT_EQ(status_with_tuning(), StepStatus::Ok);
}

}  // namespace
}  // namespace pliant
