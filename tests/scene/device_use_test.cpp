#include <gmock/gmock.h>

#include <fstream>

#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "scene/haptic_scenes.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using testing::HasSubstr;
using Kind = Command::Kind;

/// How devices are used by scene files: axes, clutch, dead man's button, border, mass.
class DeviceUseScene : public test::HapticScenes {
protected:
    static const HapticTick& tick_of(const World& world) { return *world.loop(0).haptic_tick(); }
    static Command hold_at(const Vector3d& target, std::uint32_t buttons = 0) {
        Command command{.kind = Kind::MoveTool, .target = {target.x(), target.y(), target.z()}};
        command.buttons = buttons;
        return command;
    }
    static std::string notice_of(const World& world) {
        return world.loop(0).make_frame().haptics.notice.data();
    }
};

TEST_F(DeviceUseScene, TheClutchHoldsTheToolWhileTheHandGoesBackToTheMiddle) {
    World world = build(press("", R"("hand": "firm", "clutch": 2)"));
    EXPECT_EQ(world.loop(0).haptics()->workspace.clutch_button, 2);
    const Vector3d there(0.01, 0.005, 0.03);
    world.apply(hold_at(there));
    world.advance_to(1);
    ASSERT_GT(tick_of(world).device.pose.position.norm(), 0.005);
    ASSERT_LT((tick_of(world).tool.position - there).norm(), 1e-3);
    // down: the tool stays, no force, the handle comes back
    const Vector3d held = tick_of(world).tool.position;
    world.apply(hold_at(there, 1u << 2));
    double fastest = 0;
    Vector3d last = tick_of(world).device.pose.position;
    for (int k = 0; k < 600; ++k) {
        world.advance();
        const Vector3d place = tick_of(world).device.pose.position;
        fastest = std::max(fastest, (place - last).norm() / 1e-3);
        last = place;
    }
    EXPECT_LT(last.norm(), 1e-4);
    EXPECT_LT(fastest, 0.8) << "as people move";
    EXPECT_LT((tick_of(world).tool.position - held).norm(), 1e-4);
    EXPECT_LT((tick_of(world).manipulandum.position - held).norm(), 1e-4);
    EXPECT_TRUE(tick_of(world).command.force.isZero(1e-9));
    // up: it goes on from there, from the middle of the workspace
    world.apply(hold_at(held));
    world.advance_to(2);
    EXPECT_LT(tick_of(world).device.pose.position.norm(), 1e-3);
    EXPECT_LT((tick_of(world).tool.position - held).norm(), 1e-3);
    EXPECT_LT(tick_of(world).worst_depth, 1e-9);
}

TEST_F(DeviceUseScene, WithoutADeadMansButtonThereIsNoForce) {
    World world = build(press("", R"("hand": "firm", "deadman": 1)"));
    EXPECT_EQ(world.loop(0).haptics()->deadman_button, 1);
    world.advance_to(2);
    EXPECT_GT(tick_of(world).command.force.z(), 0.5) << "the hand of the motion holds it";
    world.apply(hold_at({0, 0, 0.015}));
    world.advance_to(2.2);
    EXPECT_TRUE(tick_of(world).command.force.isZero(1e-12));
    EXPECT_THAT(notice_of(world), HasSubstr("dead man's button is up"));
    EXPECT_LT(tick_of(world).depth, tick_of(world).max_depth) << "kept out all the same";
    world.apply(hold_at({0, 0, 0.015}, 1u << 1));
    world.advance_to(3);
    EXPECT_GT(tick_of(world).command.force.z(), 0.5);
    world.reset();
    world.advance_to(2);
    EXPECT_GT(tick_of(world).command.force.z(), 0.5) << "as at the start";
}

TEST_F(DeviceUseScene, TheBorderOfTheWorkspaceMovesTheSceneOn) {
    // a metre of the scene through a workspace of 16 cm at 1 : 1
    const std::string far = R"(, "script": [{"time": 0, "tool": {"target": [1, 0, 0.03]}}])";
    const auto drive = [&](const std::string& device) {
        World world = build(press(R"(, "scale": 1)", device, far));
        world.advance_to(6);
        return tick_of(world);
    };
    const HapticTick moved = drive(R"("hand": "firm", "rate_border": 0.3, "rate_speed": 0.4)");
    EXPECT_NEAR(moved.tool.position.x(), 1, 0.01);
    EXPECT_LT(moved.device.pose.position.x(), 0.3) << "the scene came most of the way";
    const HapticTick fixed = drive(R"("hand": "firm")");
    EXPECT_NEAR(fixed.device.pose.position.x(), 1, 0.01) << "a simulated handle has no end";
}

TEST_F(DeviceUseScene, AxesOfTheDeviceAreTurnedIntoTheScene) {
    // x of the device is up in the scene
    World world = build(press("", R"("hand": "firm",
        "rotation": {"axis": [0, 1, 0], "degrees": -90})"));
    const World plain = build(press());
    EXPECT_NEAR(world.loop(0).haptics()->workspace.scale / plain.loop(0).haptics()->workspace.scale,
                1, 0.5);
    world.advance_to(2);
    const HapticTick& t = tick_of(world);
    EXPECT_GT(t.coupling.force.z(), 0.5);
    EXPECT_NEAR(t.command.force.x(), t.coupling.force.z(), 0.05 * t.coupling.force.z());
    EXPECT_LT(std::abs(t.command.force.z()), 0.1 * t.coupling.force.z());
}

TEST_F(DeviceUseScene, TheMassOfTheHandleIsASlider) {
    const auto slider = [](const World& world) {
        const int i = world.find_parameter("device.mass");
        return world.parameters()[static_cast<std::size_t>(i)].parameter;
    };
    EXPECT_EQ(slider(build(press("", R"("mass": 1.5)"))).high, 1.5);
    World light = build(press()), heavy = build(press());
    EXPECT_EQ(slider(light).value, 0.1);
    EXPECT_EQ(slider(light).low, 0.05);
    EXPECT_EQ(slider(light).high, 0.3);
    set(light, "device.mass", 0.05);
    set(heavy, "device.mass", 0.3);
    // let go of at once, a heavy handle comes to rest later
    for (World* world : {&light, &heavy}) {
        set(*world, "hand.stiffness", 100);
        set(*world, "hand.damping", 0.5);
        world->apply(hold_at({0.02, 0, 0.03}));
        world->advance_to(0.03);
    }
    EXPECT_GT(tick_of(light).device.pose.position.x(),
              1.3 * tick_of(heavy).device.pose.position.x());
    // a reset keeps sliders: the same again
    const double there = tick_of(heavy).device.pose.position.x();
    heavy.reset();
    heavy.apply(hold_at({0.02, 0, 0.03}));
    heavy.advance_to(0.03);
    EXPECT_EQ(tick_of(heavy).device.pose.position.x(), there);
    // all masses rest
    set(heavy, "hand.stiffness", 1000);
    set(heavy, "hand.damping", 6);
    heavy.reset();
    heavy.advance_to(2.5);
    EXPECT_GT(tick_of(heavy).command.force.z(), 0.5);
    EXPECT_LT(tick_of(heavy).oscillation, 0.03);
}

TEST_F(DeviceUseScene, ClutchingAllocatesNothing) {
    if (!AllocationGuard::is_active()) GTEST_SKIP();
    World world = build(press("", R"("clutch": 0, "deadman": 1, "rate_border": 0.2)"));
    world.advance_to(0.01);
    const int mass = world.find_parameter("device.mass");
    AllocationGuard guard;
    world.apply(hold_at({0.02, 0, 0.03}, 2));
    world.advance_to(0.1);
    world.apply(hold_at({0.02, 0, 0.03}, 3));
    world.apply({.kind = Kind::SetParameter, .parameter = mass, .value = 0.2});
    world.advance_to(0.2);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
}

TEST_F(DeviceUseScene, WhatCannotBeIsRefusedWithARemedy) {
    const auto error = [](const std::string& device) {
        return test::input_error([&] { (void)parse(press("", device)); });
    };
    EXPECT_EQ(error(R"("clutch": 0, "deadman": 0)"),
              "scene.json: device.deadman = 0 (expected another button than that of the clutch)");
    EXPECT_EQ(error(R"("rate_speed": 0.2)"),
              "scene.json: device.rate_speed: is of the border; give its width with "
              "\"rate_border\"");
    EXPECT_THAT(error(R"("clutch": 32)"), HasSubstr("device.clutch = 32 (expected "));
    EXPECT_THAT(error(R"("deadman": -1)"), HasSubstr("device.deadman = -1 (expected "));
    EXPECT_THAT(error(R"("deadman": 1.5)"), HasSubstr("device.deadman = 1.5 (expected "));
    EXPECT_THAT(error(R"("rate_border": 1)"), HasSubstr("device.rate_border = 1 (expected "));
    EXPECT_THAT(error(R"("rotation": [1, 1, 0, 0])"),
                HasSubstr("device.rotation = [1,1,0,0] (expected a unit quaternion"));
    EXPECT_THAT(error(R"("cluch": 0)"), HasSubstr("did you mean \"clutch\"?"));
}

TEST_F(DeviceUseScene, AnotherKindOfDeviceIsUsedInTheSameWay) {
    const SceneDescription scene =
        parse(press("", R"("mass": 0.2, "clutch": 3, "deadman": 1, "rate_border": 0.2,
                          "rate_speed": 0.3, "rotation": {"axis": [0, 0, 1], "degrees": 90})"));
    const SceneDescription other = with_device(scene, {.kind = "network"});
    EXPECT_TRUE(std::holds_alternative<NetworkDescription>(other.device));
    EXPECT_EQ(other.device_use.clutch_button, 3);
    EXPECT_EQ(other.device_use.deadman_button, 1);
    EXPECT_EQ(other.device_use.rate_border, 0.2);
    EXPECT_EQ(other.device_use.rate_speed, 0.3);
    EXPECT_NEAR(rotation_vector(other.device_use.axes).z(), 1.5707963, 1e-6);
    EXPECT_EQ(
        std::get<SimulatedDescription>(with_device(scene, {.hand = "firm"}).device).model.mass,
        0.2);
}

TEST_F(DeviceUseScene, AProfileBringsItsDeviceAndWhatWasMeasured) {
    const SceneDescription scene =
        parse(press("", R"("mass": 0.2, "clutch": 3, "deadman": 1, "hand": "firm")"));
    const std::filesystem::path file = *folder / "profile.json";
    const auto keep = [&](const std::string& text) { std::ofstream(file) << text; };
    keep(R"({"pliant_device_profile": 1, "passed": true, "device": {"kind": "network", "port": 0,
             "workspace": [0.1, 0.2, 0.3], "max_force": 5, "latency": 0.0042, "clutch": 0},
             "measured": {"latency_s": 0.0042}})");
    const SceneDescription other = with_device(scene, {.profile = file});
    EXPECT_EQ(std::get<NetworkDescription>(other.device).capabilities.max_force, 5);
    EXPECT_EQ(other.device_use.clutch_button, 0) << "the one that was pressed";
    EXPECT_EQ(other.device_use.deadman_button, 1) << "as the scene has it";
    EXPECT_EQ(other.device_use.latency, 0.0042);
    // gains and energies count with what was measured, at the rate of the loop
    const WorldOptions options{.cache = *folder / "cache"};
    const World stated(with_device(scene, {.kind = "network"}), options), measured(other, options);
    const DeviceCapabilities& can = measured.loop(0).haptics()->capabilities;
    EXPECT_EQ(stated.loop(0).haptics()->capabilities.delay, 1);
    EXPECT_EQ(can.delay, 4);
    EXPECT_EQ(can.workspace, Vector3d(0.1, 0.2, 0.3));
    const auto stiffness = [](const World& world) {
        for (const GainNote& note : world.loop(0).haptics()->gains)
            if (note.name == "stiffness")
                return note.value / world.loop(0).haptics()->workspace.scale;
        return 0.0;
    };
    EXPECT_LT(stiffness(measured), 0.7 * stiffness(stated));

    // what a quicker loop cannot count is named as it was written
    const SceneDescription slow =
        parse(press("", R"("kind": "network", "port": 0, "latency": 0.04)", R"(, "rate": 2000)"));
    EXPECT_EQ(test::input_error([&] { World(slow, options); }),
              "tool: device.latency = 0.04 (expected at most 0.032 s, 64 ticks of a loop at 2000 "
              "Hz; measure again, or lower \"rate\")");

    // a replay has the delay of the recording
    RecordedDescription recorded{std::vector<DeviceState>(10), can};
    recorded.capabilities.delay = 7;
    const World replay(other, {.cache = *folder / "cache", .say = {}, .device = recorded});
    EXPECT_EQ(replay.loop(0).haptics()->capabilities.delay, 7);

    keep(R"({"pliant_device_profile": 1, "device": {"kind": "simulated", "delay": 3}})");
    EXPECT_THAT(
        test::input_error([&] { (void)with_device(demo_scene("bridge"), {.profile = file}); }),
        HasSubstr("is held in a hand, so that it has no device"));
    EXPECT_EQ(
        std::get<SimulatedDescription>(with_device(scene, {.profile = file}).device).model.delay,
        3);
    const auto error = [&] {
        return test::input_error([&] { (void)with_device(scene, {.profile = file}); });
    };
    keep(R"({"pliant_device_profile": 1, "device": {"kind": "simulated", "latency": 0.003}})");
    EXPECT_THAT(error(), HasSubstr("device.latency: is of a network device, not of a simulated"));
    keep(R"({"kind": "simulated"})");
    EXPECT_EQ(error(), file.string() +
                           ": is no profile of a device; pliant haptics check "
                           "--profile " +
                           file.string() + " writes one");
    keep(R"({"pliant_device_profile": 2, "device": {}})");
    EXPECT_THAT(error(), HasSubstr("pliant_device_profile = 2 (expected 1; "));
}

TEST_F(DeviceUseScene, AnAddressThatWasChosenStaysUntilAnotherOneIs) {
    const auto url = [](const SceneDescription& scene) {
        return std::get<HaplyDescription>(scene.device).url;
    };
    const SceneDescription chosen =
        with_device(parse(press()), {.kind = "haply", .address = "ws://127.0.0.1:12345"});
    EXPECT_EQ(url(chosen), "ws://127.0.0.1:12345");
    const SceneDescription weaker = with_device(chosen, {.limits = {.max_force = 1}});
    EXPECT_EQ(url(weaker), "ws://127.0.0.1:12345");
    EXPECT_EQ(url(with_device(weaker, {.kind = "haply"})), "ws://127.0.0.1:12345");
    EXPECT_EQ(url(with_device(weaker, {.address = "ws://127.0.0.1:7"})), "ws://127.0.0.1:7");
    EXPECT_EQ(url(with_device(with_device(weaker, {.kind = "simulated"}), {.kind = "haply"})),
              HaplyDescription().url)
        << "of another device";
    // also where the scene says one itself
    const SceneDescription written =
        parse(press("", R"("kind": "haply", "url": "ws://127.0.0.1:4444")"));
    EXPECT_EQ(url(with_device(written, {.limits = {.max_force = 1}})), "ws://127.0.0.1:4444");
    const SceneDescription other = with_device(written, {.address = "ws://127.0.0.1:5555"});
    EXPECT_EQ(url(with_device(other, {.limits = {.max_force = 1}})), "ws://127.0.0.1:5555");
    // a profile says how its device is reached
    const std::filesystem::path file = *folder / "haply.json";
    std::ofstream(file) << R"({"pliant_device_profile": 1,
                               "device": {"kind": "haply", "url": "ws://127.0.0.1:6666"}})";
    EXPECT_EQ(url(with_device(other, {.profile = file})), "ws://127.0.0.1:6666");
    // a network device likewise
    const SceneDescription network =
        with_device(parse(press("", R"("kind": "network", "port": 0)")), {.address = "127.0.0.2"});
    const SceneDescription listening = with_device(network, {.limits = {.max_force = 1}});
    EXPECT_EQ(std::get<NetworkDescription>(listening.device).address, "127.0.0.2");
}

}  // namespace
}  // namespace pliant
