#include "scene/haptic_scenes.h"

#include <gmock/gmock.h>

#include <array>
#include <limits>

#include "pliant/core/allocation_guard.h"
#include "pliant/field/analytic_field.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using testing::HasSubstr;
using Kind = Command::Kind;

class HapticScene : public test::HapticScenes {};

const HapticTick& tick_of(const World& world) { return *world.loop(0).haptic_tick(); }

Command move_tool(const Vector3d& target, const Quaternion& q, double duration = 0) {
    return {.kind = Kind::MoveTool,
            .target = {target.x(), target.y(), target.z()},
            .duration = duration,
            .rotation = {q.w(), q.x(), q.y(), q.z()}};
}

TEST_F(HapticScene, TheHandFeelsWhatTwoSpringsInARowGive) {
    World world = build(press());
    world.advance_to(2.5);
    const HapticTick& t = tick_of(world);
    const HapticInfo& info = *world.loop(0).haptics();
    // at the handle: the hand pulls through its spring, the coupling holds at the surface
    const double a = info.workspace.scale;
    const double coupling = world.parameter_value(world.find_parameter("tool.stiffness"));
    const double hand = HandModel::firm().stiffness;
    const double expected = (0.005 - t.depth) * a * hand * coupling / (hand + coupling);
    ASSERT_GT(t.num_contacts, 0);
    // points are where the field of 32 cells has its surface
    EXPECT_NEAR(t.command.force.z(), expected, 0.03 * expected);
    // points on rounded edges are not quite the same on all sides
    EXPECT_LT(t.command.force.head<2>().norm(), 0.05 * expected);
    EXPECT_LT(t.depth, t.max_depth);
    EXPECT_EQ(t.violations, 0u);
    EXPECT_LT(t.oscillation, 0.03);
    EXPECT_NEAR(world.loop(0).sample().force[2], t.coupling.force.z(), 1e-12);
    EXPECT_STREQ(world.loop(0).make_frame().haptics.notice.data(), "");
}

/// The same loop without scene, world and loop: what the scene's parts say, put together by hand.
TEST_F(HapticScene, DoesWhatAHapticToolUsedDirectlyDoes) {
    // without encoder steps, which fall to either side by rounding
    const std::string text = press("", R"("hand": "firm", "position_step": 0, "angle_step": 0)");
    const SceneDescription scene = parse(text);
    World world = build(text);
    const SimulationLoop& loop = world.loop(0);
    const auto& source = std::get<RigidSource>(scene.bodies[0].source);
    HeldTool held = make_held_tool(*scene.held_tool, scene.device,
                                   {.surface = world.body(0).surface(),
                                    .start = source.motion->at(0).pose,
                                    .motion = source.motion,
                                    .cell = loop.contact(0).bodies[0].tree->shell().spacing,
                                    .rate = 1000});
    const auto& body = dynamic_cast<const RigidBody&>(world.body(0));
    const auto& floor_shape = dynamic_cast<const RigidBody&>(world.body(1));
    RigidBodyOptions placed;
    placed.pose = source.motion->at(0).pose;
    RigidBody block(body.shape(), body.surface(), placed);
    RigidBody floor(floor_shape.shape(), floor_shape.surface());
    ContactPair pair({&block, *loop.contact(0).bodies[0].tree},
                     {&floor, plane_set_field({FieldPlane{}}), {}});
    HapticTool tool(*held.device, block, {&pair}, held.gains, held.options);
    auto& device = dynamic_cast<SimulatedDevice&>(*held.device);
    const auto handle = [&](double time) {
        return Pose{held.scene.scale *
                        (source.motion->at(time).pose.position - held.options.workspace.centre),
                    Quaternion::Identity()};
    };
    device.place(handle(0));
    double deepest = 0, worst = 0;
    for (int k = 1; k <= 1500; ++k) {
        const double now = 1e-3 * k;
        (void)pair.act(1e-3);
        device.aim(handle(now));
        const HapticTick& t = tool.tick(now, 1e-3);
        (void)block.step(1e-3);
        world.advance();
        const HapticTick& s = tick_of(world);
        worst = std::max({worst, (t.tool.position - s.tool.position).norm(),
                          (t.manipulandum.position - s.manipulandum.position).norm(),
                          1e-3 * (t.command.force - s.command.force).norm()});
        deepest = std::max(deepest, t.depth);
    }
    EXPECT_GT(deepest, 1e-6);
    // the scene finds the target from the last reading: rounding in another order
    EXPECT_LT(worst, 1e-9);
    EXPECT_EQ(tick_of(world).max_depth, tool.last().max_depth);
}

TEST_F(HapticScene, SamplesHaveForceAndEnergyAtTheDeviceInEveryTick) {
    World world = build(press());
    double largest = 0;
    for (int k = 0; k < 900; ++k) {
        world.advance();
        const TickSample& sample = world.loop(0).sample();
        const HapticTick& t = tick_of(world);
        ASSERT_EQ(sample.device_force, static_cast<float>(t.command.force.norm())) << k;
        ASSERT_EQ(sample.port_energy, static_cast<float>(t.port_energy)) << k;
        ASSERT_EQ(sample.stored_energy, static_cast<float>(t.stored_energy)) << k;
        largest = std::max(largest, double{sample.stored_energy});
    }
    EXPECT_GT(world.loop(0).sample().device_force, 0.5f);
    EXPECT_GT(largest, 0);
}

TEST_F(HapticScene, ACommandMovesAndTurnsTheToolThroughTheHand) {
    World world = build(press());
    world.advance_to(0.1);
    const Vector3d there(0.01, -0.005, 0.06);
    const Quaternion turned = rotation_from_vector({0, 0.4, 0.8});
    world.apply(move_tool(there, turned, 0.3));
    world.advance_to(0.2);
    EXPECT_GT(tick_of(world).tool.position.z(), 0.026) << "on its way";
    EXPECT_LT(tick_of(world).tool.position.z(), 0.058);
    world.advance_to(1.5);
    const HapticTick& t = tick_of(world);
    // the hand holds to an encoder step
    EXPECT_LT((t.tool.position - there).norm(), 1e-4);
    EXPECT_LT(rotation_difference(t.tool.rotation, turned).norm(), 1e-3);
    EXPECT_LT((world.loop(0).make_frame().haptics.tick.tool.position - there).norm(), 1e-4);
    EXPECT_EQ(world.loop(0).make_frame().haptics.body, 0);
    // the motion of the body is over
    world.advance_to(3);
    EXPECT_LT((tick_of(world).tool.position - there).norm(), 1e-4);
}

TEST_F(HapticScene, ScriptsMoveAndTurnTheToolAndPressButtons) {
    World world = build(press("", R"("hand": "firm")",
                              R"(, "script": [{"time": 0.1, "tool": {"target": [0, 0, 0.05],
        "rotation": {"axis": [0, 0, 1], "degrees": 30}, "duration": 0.2, "buttons": 5}}])"));
    world.advance_to(0.05);
    EXPECT_EQ(tick_of(world).device.buttons, 0u);
    world.advance_to(1.2);
    const HapticTick& t = tick_of(world);
    EXPECT_EQ(t.device.buttons, 5u);
    EXPECT_LT((t.tool.position - Vector3d(0, 0, 0.05)).norm(), 1e-4);
    EXPECT_NEAR(rotation_vector(t.tool.rotation).z(), 30 * 3.14159265 / 180, 1e-3);
}

TEST_F(HapticScene, CommandsThatMakeNoSenseAreIgnoredAndCounted) {
    World world = build(press());
    world.advance_to(0.1);
    world.apply(move_tool({0, 0, 0.05}, Quaternion(0, 0, 0, 0)));
    world.apply(move_tool({0, 0, std::numeric_limits<double>::quiet_NaN()}, {1, 0, 0, 0}));
    Command bad = move_tool({0, 0, 0.05}, {1, 0, 0, 0});
    bad.rotation[2] = std::numeric_limits<double>::infinity();
    world.apply(bad);
    World other = build(press());
    world.advance_to(1);
    other.advance_to(1);
    EXPECT_EQ(world.state_hash(), other.state_hash());
    EXPECT_EQ(world.loop(0)
                  .make_frame()
                  .status_counts[static_cast<std::size_t>(StepStatus::InputIgnored)],
              1u)
        << "what is not finite does not get as far as the loop";
}

TEST_F(HapticScene, TicksFramesAndResetsAllocateNothing) {
    if (!AllocationGuard::is_active()) GTEST_SKIP();
    World world = build(press());
    LoopFrame frame = world.loop(0).make_frame();
    const int first = world.find_parameter("tool.stiffness");
    world.advance_to(0.01);
    AllocationGuard guard;
    world.advance_to(0.8);
    world.loop(0).fill(frame);
    world.loop(0).warm_up();
    for (int i = 0; i < 8; ++i)
        world.apply({.kind = Kind::SetParameter, .parameter = first + i, .value = 1e-4});
    world.apply(move_tool({0, 0, 0.03}, {1, 0, 0, 0}, 0.1));
    world.advance_to(0.9);
    world.reset();
    world.advance_to(0.05);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_GT(frame.haptics.tick.num_contacts, 0);
}

TEST_F(HapticScene, AResetBringsBackDeviceHandCouplingAndSafety) {
    const std::string text = press("", R"("hand": "loose", "tremor": 0.0002, "delay": 3)");
    World world = build(text);
    std::vector<std::uint64_t> hashes;
    for (const double time : {0.3, 0.7, 1.1}) {
        world.advance_to(time);
        hashes.push_back(world.state_hash());
    }
    // in the middle of contact, with commands on their way, buttons and another target
    Command pressed = move_tool({0.01, 0, 0.01}, rotation_from_vector({0.2, 0, 0}));
    pressed.buttons = 3;
    world.apply(pressed);
    world.advance_to(1.5);
    ASSERT_GT(tick_of(world).command.force.norm(), 1);
    world.reset();
    EXPECT_EQ(tick_of(world).violations, 0u);
    EXPECT_TRUE(tick_of(world).command.force.isZero(0));
    for (std::size_t i = 0; i < hashes.size(); ++i) {
        world.advance_to(std::array{0.3, 0.7, 1.1}[i]);
        EXPECT_EQ(world.state_hash(), hashes[i]) << i;
    }
}

TEST_F(HapticScene, WarmingUpChangesNothing) {
    World world = build(press()), other = build(press());
    for (int k = 0; k < 900; ++k) {
        world.loop(0).warm_up();
        world.advance();
        other.advance();
    }
    EXPECT_EQ(world.state_hash(), other.state_hash());
}

TEST_F(HapticScene, SlidersHaveRangesOfTheDeviceAndSayWhy) {
    World world = build(press());
    const auto slider = [&](const char* name) {
        const int i = world.find_parameter(name);
        EXPECT_GE(i, 0) << name;
        return world.parameters()[static_cast<std::size_t>(i)].parameter;
    };
    const LiveParameter stiffness = slider("tool.stiffness");
    EXPECT_NEAR(stiffness.high, 2400, 1e-9) << "four times what the device is made for";
    EXPECT_THAT(stiffness.help, HasSubstr("Spring between the hand and the tool."));
    EXPECT_THAT(stiffness.help, HasSubstr("made for up to 600"));
    EXPECT_THAT(stiffness.help, HasSubstr("Default: "));
    EXPECT_NEAR(slider("tool.depth limit").value, tick_of(world).max_depth, 1e-15);
    EXPECT_EQ(slider("hand.stiffness").value, HandModel::firm().stiffness);
    for (const char* name :
         {"tool.turning stiffness", "tool.damping", "tool.force", "hand.damping", "hand.tremor"})
        EXPECT_FALSE(slider(name).help.empty());

    // each does what it says
    world.advance_to(2);
    const double before = tick_of(world).command.force.z();
    set(world, "hand.stiffness", 200);
    world.advance_to(3);
    EXPECT_LT(tick_of(world).command.force.z(), 0.7 * before);
    set(world, "hand.stiffness", 1000);
    set(world, "tool.stiffness", 0.5 * stiffness.value);
    world.advance_to(4);
    EXPECT_LT(tick_of(world).command.force.z(), 0.8 * before);
    set(world, "tool.force", 0);
    world.advance_to(4.5);
    EXPECT_TRUE(tick_of(world).command.force.isZero(1e-12));
    EXPECT_LT(tick_of(world).depth, tick_of(world).max_depth) << "kept out all the same";
    set(world, "tool.depth limit", 0.5 * slider("tool.depth limit").value);
    world.advance_to(4.6);
    EXPECT_NEAR(tick_of(world).max_depth, 0.5 * slider("tool.depth limit").value, 1e-12);
    EXPECT_EQ(tick_of(world).status, StepStatus::Ok);
}

TEST_F(HapticScene, StiffnessSetFarTooHighComesBackAndSaysSo) {
    const std::string device = R"("hand": "loose", "position_step": 0.00005)";
    World helped = build(press("", device)), alone = build(press("", device));
    for (const char* help : {"tool.back-off", "tool.passivity", "tool.damping"})
        set(alone, help, 0);
    for (World* world : {&helped, &alone}) {
        world->advance_to(1);
        set(*world, "tool.stiffness", 2400);
        set(*world, "tool.turning stiffness", 4);
        world->advance_to(8);
    }
    EXPECT_GT(tick_of(alone).oscillation, 0.1);
    EXPECT_LT(tick_of(helped).oscillation, 0.03);
    EXPECT_LE(tick_of(helped).gain_scale, 0.25 * (1 + 1e-9));
    EXPECT_THAT(helped.loop(0).make_frame().haptics.notice.data(),
                HasSubstr("more than the device is made for"));
}

TEST_F(HapticScene, HelpsAgainstOscillationAreSwitchedWhileItRuns) {
    // far too stiff for a loose hand: without help it shakes
    const std::string text = press(R"(, "stiffness_factor": 20, "scale": 1)", R"("hand": "loose",
        "max_stiffness": 8000, "position_step": 0.00005)");
    World helped = build(text), alone = build(text);
    for (const char* help : {"tool.back-off", "tool.passivity"}) set(alone, help, 0);
    set(alone, "tool.damping", 0);
    double shaking = 0;
    for (int k = 0; k < 6000; ++k) {
        helped.advance();
        alone.advance();
        shaking = std::max(shaking, tick_of(alone).oscillation);
        ASSERT_EQ(tick_of(alone).gain_scale, 1);
    }
    EXPECT_GT(shaking, 0.5);
    EXPECT_LT(tick_of(helped).gain_scale, 1);
    EXPECT_LT(tick_of(helped).oscillation, 0.2 * shaking);
    EXPECT_STRNE(helped.loop(0).make_frame().haptics.notice.data(), "");
    // off in the middle, the gains are what was chosen
    set(helped, "tool.back-off", 0);
    helped.advance();
    EXPECT_EQ(tick_of(helped).gain_scale, 1);
    EXPECT_EQ(tick_of(helped).step_scale, 1);
}

TEST_F(HapticScene, SlidersOfContactAndDepthMeanTheSameInEveryOrder) {
    World a = build(press()), b = build(press());
    set(a, "tool.depth limit", 3e-4);
    set(a, "block/floor.stiffness", 90000);
    set(b, "block/floor.stiffness", 90000);
    set(b, "tool.depth limit", 3e-4);
    const auto stiffness = [](const World& world) {
        return world.loop(0).contact(0).pair()->forces().options().stiffness;
    };
    EXPECT_EQ(stiffness(a), stiffness(b));
    EXPECT_EQ(stiffness(a), 90000);
    // softer than the depth limit allows is not possible
    set(a, "block/floor.stiffness", 100);
    EXPECT_NEAR(stiffness(a), 8.5 / 3e-4, 1e-6);
}

TEST_F(HapticScene, TheWorkspaceCoversTheMotionUnlessAScaleIsGiven) {
    const std::string wide =
        R"({"pliant": 1, "bodies": [{"name": "block", "rigid": {"surface": "block.obj", "motion": {"path": {"keyframes": [
            {"time": 0, "position": [-0.3, 0, 0.1]}, {"time": 2, "position": [0.3, 0, 0.1]}]}}},
             "contact": {"pointshell": {"points": 800, "levels": 3, "resolution": 32}}},
            {"name": "floor", "rigid": {"ground": {}}}],
            "contacts": [{"shell": "block", "field": "floor"}], "tool": {"body": "block")";
    World world = build(wide + "}}");
    const HapticInfo& info = *world.loop(0).haptics();
    // 8 cm of the handle for 30 cm and a quarter more
    EXPECT_NEAR(info.workspace.scale, 0.08 / (1.25 * 0.3), 1e-9);
    EXPECT_LT((info.workspace.centre - Vector3d(0, 0, 0.1)).norm(), 1e-9);
    EXPECT_EQ(info.kind, "simulated");
    EXPECT_EQ(info.capabilities.name, "simulated device");
    world.advance_to(2.5);
    EXPECT_NEAR(tick_of(world).tool.position.x(), 0.3, 1e-3);
    EXPECT_LT(tick_of(world).device.pose.position.cwiseAbs().maxCoeff(), 0.08);
    EXPECT_NEAR(build(wide + R"(, "scale": 2}})").loop(0).haptics()->workspace.scale, 0.5, 1e-12);
}

TEST_F(HapticScene, BaselinesCoupleTheToolInTheirOwnWay) {
    World fixed = build(press()), dynamic = build(press(R"(, "coupling": "dynamic")")),
          direct = build(press(R"(, "coupling": "direct")"));
    double lag = 0, pressed = 0;
    for (int k = 0; k < 1500; ++k) {
        for (World* world : {&fixed, &dynamic, &direct}) world->advance();
        const HapticTick& t = tick_of(direct);
        lag = std::max(lag, (t.tool.position - t.manipulandum.position).norm());
        if (k >= 1000) pressed += tick_of(dynamic).coupling.force.z();
    }
    EXPECT_LT(lag, 1e-12) << "direct rendering has no tool of its own";
    EXPECT_GT(tick_of(direct).coupling.force.z(), 0.5);
    EXPECT_GT((tick_of(fixed).tool.position - tick_of(fixed).manipulandum.position).norm(), 1e-3);
    // a mass on springs bounces on what it touches: on average it is pressed as hard
    EXPECT_NEAR(pressed / 500, tick_of(fixed).coupling.force.z(), 0.5);
    EXPECT_NE(dynamic.state_hash(), fixed.state_hash());
    for (const World* world : {&dynamic, &direct})
        EXPECT_EQ(tick_of(*world).status, StepStatus::Ok);
}

TEST_F(HapticScene, GainsAboveTheDeviceAreClampedWithOneWarning) {
    World world = build(press(R"(, "stiffness_factor": 100)"));
    int warnings = 0;
    for (const std::string& line : lines) warnings += line.find("tool: gains") == 0;
    EXPECT_EQ(warnings, 1);
    const std::string& warning = world.loop(0).haptics()->warning;
    EXPECT_THAT(warning, HasSubstr("gains were brought into the range of simulated device: "
                                   "stiffness from "));
    EXPECT_NEAR(world.parameter_value(world.find_parameter("tool.stiffness")), 600, 1e-9);
    EXPECT_EQ(build(press()).loop(0).haptics()->warning, "");
}

}  // namespace
}  // namespace pliant
