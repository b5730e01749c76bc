#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/temporary_directory.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "pliant/haptics/fem_haptic_port.h"
#include "pliant/haptics/simulated_device.h"
#include "pliant/scene/engine.h"
#include "pliant/scene/scene_file.h"
#include "scene/haptic_record.h"
#include "scene/led_proxies.h"
#include "scene/loop_runner.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using testing::HasSubstr;
using Kind = Command::Kind;

/// A soft block, 12 x 12 x 8 cm, held at its base; a ball of 2 cm and a finger beside it press it
/// by 15 mm from 0.1 s on.
std::string soft_scene(const std::string& tool = "", const std::string& device = "",
                       const std::string& more = "", const std::string& loop = "bodies") {
    const std::string in_loop = R"(, "loop": ")" + loop + "\"}";
    return R"({"pliant": 1, "gravity": [0, 0, 0], "loops": [{"name": "bodies", "rate": 500}],
        "bodies": [
        {"name": "block", "fem": {"box": {"sizes": [0.12, 0.12, 0.08], "cells": [6, 6, 4]},
         "material": {"youngs_modulus": 1e4, "poisson_ratio": 0.3, "density": 1000},
         "fixed": "z < 1 %", "damping": {"mass": 4}})" +
           in_loop + R"(,
        {"name": "ball", "rigid": {"sphere": {"radius": 0.02}, "motion": {"path": {"keyframes": [
            {"time": 0, "position": [0, 0, 0.102]}, {"time": 0.1, "position": [0, 0, 0.102]},
            {"time": 0.5, "position": [0, 0, 0.085]}]}}}, "pose": {"position": [0, 0, 0.102]})" +
           in_loop + R"(,
        {"name": "finger", "rigid": {"capsule": {"radius": 0.01, "length": 0.03}},
         "pose": {"position": [0.035, 0, 0.092], "rotation": {"axis": [1, 0, 0], "degrees": 90}})" +
           in_loop + R"(],
        "tool": {"body": "ball")" +
           tool + R"(}, "device": {)" + device + "}" + more + "}";
}

World build_soft(const std::string& text) {
    return World(parse_scene(text, "scene.json"), {.cache = {}});
}

const HapticTick& felt(const World& world) { return *world.loop(0).haptic_tick(); }

TEST(FemToolScene, TheHandFeelsWhatTheBodyPushesBackWith) {
    World world = build_soft(soft_scene("", R"("hand": "firm")"));
    ASSERT_EQ(world.num_loops(), 2);
    const HapticInfo& info = *world.loop(0).haptics();
    EXPECT_EQ(info.body, world.find_body("ball"));
    EXPECT_EQ(world.loop(1).haptics(), nullptr);
    world.advance_to(2.5);
    const HapticTick& t = felt(world);
    ASSERT_GT(t.num_contacts, 0);
    EXPECT_GT(t.command.force.z(), 0.2);
    // at rest springs and contact are in balance: their sum is what the tool's own motion leaves
    EXPECT_NEAR(t.coupling.force.z(), t.contact.force.z(), 0.02 * t.contact.force.z());
    EXPECT_NEAR(t.command.force.z(), t.coupling.force.z(), 1e-3);
    EXPECT_LT(t.manipulandum.position.z(), t.tool.position.z());
    EXPECT_LT(t.oscillation, 0.03);
    // the body is where the hand is shown to hold it, and it is a ball: nothing turns
    const auto& ball = dynamic_cast<const RigidBody&>(world.body(info.body));
    EXPECT_LT((ball.motion().pose.position - t.tool.position).norm(), 1e-5);
    EXPECT_STREQ(world.loop(0).make_frame().haptics.notice.data(), "");
    EXPECT_EQ(world.loop(0).sample().force[2], t.coupling.force.z());
}

/// The same two ends without scene, world and letters, on one clock.
TEST(FemToolScene, DoesWhatPortAndToolUsedDirectlyDo) {
    World world = build_soft(soft_scene("", R"("hand": "firm")"));
    World other = build_soft(soft_scene("", R"("hand": "firm")"));
    const SceneDescription& scene = world.scene();
    SimulationLoop& loop = other.loop(1);  // its bodies, stepped by hand
    auto& ball = dynamic_cast<RigidBody&>(loop.body(0));
    auto& finger = dynamic_cast<RigidBody&>(loop.body(1));
    auto& block = dynamic_cast<FemBody&>(loop.body(2));
    const auto& motion = std::get<RigidSource>(scene.bodies[1].source).motion;
    HeldTool held = make_held_tool(*scene.held_tool, scene.device,
                                   {.surface = ball.surface(),
                                    .start = ball.motion().pose,
                                    .motion = motion,
                                    .cell = 0.02,
                                    .rate = 1000});
    auto& device = dynamic_cast<SimulatedDevice&>(*held.device);
    const WorkspaceOptions& map = held.options.workspace;
    FemHapticLink link;
    FemHapticPortOptions port_options;
    port_options.workspace = map;
    FemHapticToolOptions tool_options;
    tool_options.grasp = held.options.grasp;
    tool_options.gyration = held.scene.gyration;
    tool_options.max_speed = std::max(1.0, 1 / map.scale);
    FemHapticTool tool(link, {&ball}, {&block}, tool_options);
    FemHapticPort port(device, link, held.gains, port_options);
    Pose handle;
    handle.position = map.scale * (ball.motion().pose.position - map.centre);
    device.reset(handle);
    double largest = 0, difference = 0;
    for (int k = 0; k < 1500; ++k) {
        const double now = (k + 1) * 1e-3;
        if (port.steps().epoch() > 0) {
            const HapticTick& t = port.last();
            handle.position = t.device.pose.position +
                              map.scale * (motion->at(now).pose.position - t.manipulandum.position);
        }
        device.aim(handle);
        const Vector3d force = port.tick(now, 1e-3).command.force;
        if (k % 2 == 0) {
            // a step begins when the haptic loop has made the tick of its first half
            static_cast<void>(tool.begin_step(now, 2e-3));
            for (Body* body : {static_cast<Body*>(&ball), static_cast<Body*>(&finger),
                               static_cast<Body*>(&block)})
                static_cast<void>(body->step(2e-3));
            tool.end_step();
        }
        while (world.loop(0).ticks() <= static_cast<std::uint64_t>(k)) world.advance();
        difference = std::max(difference, (felt(world).command.force - force).norm());
        largest = std::max(largest, force.norm());
    }
    EXPECT_GT(largest, 0.2);
    // encoder steps fall to either side by rounding
    EXPECT_LT(difference, 0.01 * largest);
}

TEST(FemToolScene, PartsMoveWithTheToolAsOnePieceAndAreFelt) {
    World one = build_soft(soft_scene("", R"("hand": "firm")"));
    World both = build_soft(soft_scene(R"(, "parts": ["finger"])", R"("hand": "firm")"));
    const HapticInfo& info = *both.loop(0).haptics();
    ASSERT_EQ(info.parts.size(), 1u);
    EXPECT_EQ(info.parts[0].body, both.find_body("finger"));
    EXPECT_LT((info.parts[0].offset.position - Vector3d(0.035, 0, -0.01)).norm(), 1e-12);
    one.advance_to(2);
    both.advance_to(2);
    const auto pose = [&](const World& world, const char* name) {
        return dynamic_cast<const RigidBody&>(world.body(world.find_body(name))).motion().pose;
    };
    EXPECT_EQ(pose(one, "finger").position, Vector3d(0.035, 0, 0.092)) << "left where it was";
    const Pose there = pose(both, "ball") * info.parts[0].offset;
    EXPECT_LT((there.position - pose(both, "finger").position).norm(), 1e-9);
    EXPECT_LT(pose(both, "finger").position.z(), 0.085);
    // the ball is pressed along its axis, the finger on one side of it
    EXPECT_LT(felt(one).contact.torque.norm(), 1e-3);
    EXPECT_GT(felt(both).contact.torque.norm(), 5 * felt(one).contact.torque.norm());
    EXPECT_LT(felt(both).oscillation, 0.03);
}

TEST(FemToolScene, BothEndsMayBeInTheHapticLoop) {
    World apart = build_soft(soft_scene("", R"("hand": "firm")"));
    World world = build_soft(soft_scene("", R"("hand": "firm")", "", "haptic"));
    EXPECT_FALSE(world.loop(0).exchanges());
    EXPECT_TRUE(apart.loop(0).exchanges() && apart.loop(1).exchanges());
    world.advance_to(2.5);
    apart.advance_to(2.5);
    EXPECT_NEAR(felt(world).command.force.z(), felt(apart).command.force.z(),
                0.02 * felt(apart).command.force.z());
}

TEST(FemToolScene, TicksFramesAndResetsAllocateNothing) {
    if (!AllocationGuard::is_active()) GTEST_SKIP();
    set_num_threads(1);
    World world = build_soft(soft_scene(R"(, "parts": ["finger"])"));
    LoopFrame frame = world.loop(0).make_frame();
    world.advance_to(0.01);
    AllocationGuard guard;
    world.advance_to(0.6);
    world.loop(0).fill(frame);
    world.apply({.kind = Kind::MoveTool, .target = {0.01, 0, 0.08}, .duration = 0.1});
    world.advance_to(0.7);
    world.reset();
    world.advance_to(0.05);
    const auto allocations = guard.count();
    set_num_threads(0);
    EXPECT_EQ(allocations, 0u);
    EXPECT_GT(frame.haptics.tick.num_contacts, 0);
}

TEST(FemToolScene, AResetBringsBackBothEnds) {
    World world = build_soft(soft_scene("", R"("hand": "loose", "tremor": 0.0002)"));
    std::vector<std::uint64_t> hashes;
    for (const double time : {0.3, 0.6}) {
        world.advance_to(time);
        hashes.push_back(world.state_hash());
    }
    world.apply({.kind = Kind::MoveTool, .target = {0.01, 0, 0.08}, .duration = 0.1});
    world.advance_to(0.8);
    ASSERT_GT(felt(world).num_contacts, 0);
    world.reset();
    EXPECT_TRUE(felt(world).command.force.isZero(0));
    for (std::size_t i = 0; i < hashes.size(); ++i) {
        world.advance_to(std::array{0.3, 0.6}[i]);
        EXPECT_EQ(world.state_hash(), hashes[i]) << i;
    }
}

TEST(FemToolScene, TheForceFadesWhileTheBodiesStandStillAndComesBack) {
    World world = build_soft(soft_scene(R"(, "watchdog": 0.03)", R"("hand": "firm")"));
    world.advance_to(1.5);
    const double force = felt(world).command.force.z();
    ASSERT_GT(force, 0.2);
    const auto run_hand_alone = [&](int ticks) {
        for (int k = 0; k < ticks; ++k) world.loop(0).tick();
    };
    run_hand_alone(28);
    EXPECT_GT(felt(world).command.force.z(), 0.8 * force) << "held at first";
    run_hand_alone(80);
    EXPECT_TRUE(felt(world).command.force.isZero(1e-9));
    EXPECT_THAT(world.loop(0).make_frame().haptics.notice.data(),
                HasSubstr("The simulation stopped"));
    // the bodies' loop has lost this time for good, and keeps to the haptic clock all the same
    for (int k = 0; k < 600; ++k) {
        world.loop(0).tick();
        world.loop(0).tick();
        world.loop(1).tick();
    }
    EXPECT_GT(felt(world).command.force.z(), 0.9 * force);
    EXPECT_STREQ(world.loop(0).make_frame().haptics.notice.data(), "");
}

TEST(FemToolScene, LoopsThatLoseTicksStayTogether) {
    for (const bool bodies_lose : {true, false}) {
        World world = build_soft(soft_scene("", R"("hand": "firm")"));
        double largest = 0;
        for (int k = 0; k < 1200; ++k) {
            // one tick in five is lost by one of them
            if (bodies_lose || k % 5 != 0) world.loop(0).tick();
            world.loop(0).tick();
            if (!bodies_lose || k % 5 != 0) world.loop(1).tick();
            if (k > 400) largest = std::max(largest, felt(world).oscillation);
        }
        EXPECT_GT(felt(world).command.force.z(), 0.2) << bodies_lose;
        EXPECT_STREQ(world.loop(0).make_frame().haptics.notice.data(), "") << bodies_lose;
        // the force has kinks where time was lost; calm it is below 0.03
        EXPECT_LT(largest, 0.05) << bodies_lose;
    }
}

TEST(FemToolScene, AHapticLoopThatStoodStillGoesOn) {
    World world = build_soft(soft_scene("", R"("hand": "firm")"));
    world.advance_to(1.5);
    const double force = felt(world).command.force.z();
    for (int k = 0; k < 200; ++k) world.loop(1).tick();
    world.advance_to(world.loop(1).time() + 1.5);
    EXPECT_NEAR(felt(world).command.force.z(), force, 0.1 * force);
}

TEST(FemToolScene, SlidersAreThoseThatMeanSomethingHere) {
    World world = build_soft(soft_scene("", R"("hand": "firm")"));
    for (const char* name :
         {"tool.stiffness", "tool.turning stiffness", "tool.damping", "tool.force", "tool.back-off",
          "tool.passivity", "hand.stiffness", "device.mass"})
        EXPECT_GE(world.find_parameter(name), 0) << name;
    EXPECT_EQ(world.find_parameter("tool.depth limit"), -1);
    std::vector<std::string> gains;
    for (const GainNote& note : world.loop(0).haptics()->gains) gains.push_back(note.name);
    EXPECT_THAT(gains, testing::ElementsAre("stiffness", "angular_stiffness", "injection",
                                            "rendered_force", "rendered_torque"));
    world.advance_to(1.5);
    const double force = felt(world).command.force.z(), deep = felt(world).tool.position.z();
    const int stiffness = world.find_parameter("tool.stiffness");
    world.apply({.kind = Kind::SetParameter,
                 .parameter = stiffness,
                 .value = 0.2 * world.parameter_value(stiffness)});
    world.advance_to(3);
    EXPECT_LT(felt(world).command.force.z(), 0.95 * force);
    EXPECT_GT(felt(world).tool.position.z(), deep);
    world.apply(
        {.kind = Kind::SetParameter, .parameter = world.find_parameter("tool.force"), .value = 0});
    world.advance_to(3.5);
    EXPECT_TRUE(felt(world).command.force.isZero(1e-12));
}

TEST(FemToolScene, CommandsMoveTheToolThroughTheHand) {
    World world = build_soft(soft_scene("", R"("hand": "firm")"));
    world.apply({.kind = Kind::MoveTool, .target = {0.01, -0.01, 0.11}, .duration = 0.2});
    world.advance_to(1);
    EXPECT_LT((felt(world).tool.position - Vector3d(0.01, -0.01, 0.11)).norm(), 1e-3);
    EXPECT_EQ(felt(world).num_contacts, 0);
}

class FemToolRecording : public ::testing::Test {
protected:
    [[nodiscard]] std::filesystem::path file() const { return folder_ / "soft.pliantrec"; }
    void expect_same_again(const std::string& text, std::uint64_t least) const {
        const Recording recording = Recording::load(file());
        ASSERT_TRUE(recording.is_complete()) << recording.problem();
        EXPECT_EQ(recording.haptics(0).size(), recording.num_ticks(0));
        World again = build_soft(text);
        const ReplayCheck check = check_replay(recording, again);
        EXPECT_GE(check.num_compared, least);
        EXPECT_EQ(check.num_different, 0u) << check.first_difference;
        EXPECT_EQ(check_replay(recording, again).num_different, 0u) << "once more";
        bool has_touched = false;
        for (const HapticTick& tick : recording.haptics(0)) has_touched |= tick.num_contacts > 0;
        EXPECT_TRUE(has_touched);
    }
    test::TemporaryDirectory folder_;
};

TEST_F(FemToolRecording, InVirtualTimeReplaysBitForBit) {
    const std::string text = soft_scene(R"(, "parts": ["finger"])", R"("tremor": 0.0003)");
    World world = build_soft(text);
    WorldRecorder recorder(file(), world, recording_header(world));
    for (int k = 0; k < 900; ++k) recorder.add_tick(world, world.advance(), 1.0);
    recorder.finish();
    for (const Recording recording = Recording::load(file()); const int l : {0, 1})
        EXPECT_TRUE(recording.commands(l).empty());
    expect_same_again(text, 600);
}

TEST_F(FemToolRecording, OfAnEngineReplaysBitForBit) {
    const std::string text = soft_scene(R"(, "parts": ["finger"])", R"("tremor": 0.0003)");
    {
        Engine engine(std::make_unique<World>(build_soft(text)), {.is_real_time = false});
        engine.run();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        engine.start_recording(file(), recording_header(engine.world()));
        while (engine.frame(0).tick < 300)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        engine.send({.kind = Kind::MoveTool, .target = {0.01, 0, 0.085}, .duration = 0.1});
        engine.send({.kind = Kind::Reset});
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        while (engine.frame(0).tick < 400)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        engine.stop_recording();
    }
    expect_same_again(text, 700);
}

/// Loops of an engine in any order: by turns that a seed chooses, some of them long after others.
TEST_F(FemToolRecording, OfLoopsInAnyOrderReplaysBitForBit) {
    const std::string text =
        soft_scene("", R"("tremor": 0.0003)", R"(, "script": [{"time": 0.45, "reset": true}])");
    World world = build_soft(text);
    EngineControl control;
    LoopRunner hand(world, 0, control, {}), bodies(world, 1, control, {});
    const RecordingHeader header = recording_header(world);
    RecordQueue hand_queue(std::size_t{1} << 22), bodies_queue(std::size_t{1} << 22);
    hand.select_states(header.bodies);
    bodies.select_states(header.bodies);
    control.is_paused = false;
    std::int64_t now = 0;
    std::uint64_t seed = 7;
    const auto turn = [&](LoopRunner& runner) {
        now += 3'000'000;  // always due
        runner.turn(now);
        static_cast<void>(runner.next_turn(now));
    };
    for (int k = 0; k < 30; ++k) turn(k % 3 ? hand : bodies);  // something from before
    hand.record_to(&hand_queue);
    turn(hand);
    turn(hand);
    bodies.record_to(&bodies_queue);
    for (int k = 0; k < 400; ++k) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const int both = static_cast<int>(seed >> 60);
        for (int i = 0; i < 1 + both % 4; ++i) turn(hand);
        for (int i = 0; i < both / 6; ++i) turn(bodies);
    }
    RecordingWriter writer(file(), header);
    writer.drain(0, hand_queue);
    writer.drain(1, bodies_queue);
    writer.finish();
    EXPECT_FALSE(Recording::load(file()).commands(0).empty());
    expect_same_again(text, 1000);
}

TEST(SoftHandDemo, PressesTheBeamCalmly) {
    World world(demo_scene("soft-hand"), {.cache = {}});
    ASSERT_EQ(world.loop(0).haptics()->parts.size(), 5u);
    double force = 0, oscillation = 0, lowest = 1;
    const int beam = world.find_body("beam");
    const SurfacePoint end = world.nearest_point(beam, {0.4, 0, 0.3});
    while (world.loop(0).time() < 3.5) {
        if (world.advance() != 0) continue;
        force = std::max(force, felt(world).command.force.norm());
        oscillation = std::max(oscillation, felt(world).oscillation);
        lowest = std::min(lowest, felt(world).port_energy - felt(world).stored_energy);
        ASSERT_EQ(felt(world).gain_scale, 1);
    }
    EXPECT_GT(felt(world).num_contacts, 2) << "that carry force";
    EXPECT_GT(force, 1);
    EXPECT_LT(force, 8.5);
    EXPECT_LT(oscillation, 0.1) << "while it moves";
    EXPECT_GT(lowest, -2e-4);
    EXPECT_LT(world.body(beam).position(end).z(), 0.29) << "bent by more than a centimetre";
    EXPECT_EQ(world.body(beam).report().counts[static_cast<std::size_t>(StepStatus::StateReset)],
              0u);
}

}  // namespace
}  // namespace pliant
