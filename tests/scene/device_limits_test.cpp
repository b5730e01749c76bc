#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "input_error.h"
#include "pliant/haptics/recorded_device.h"
#include "pliant/scene/recording.h"
#include "scene/haptic_scenes.h"

// The largest force and torque of a device of any kind, by the scene, a profile and the person who
// runs it.

namespace pliant {
namespace {

using testing::HasSubstr;

class DeviceLimitScene : public test::HapticScenes {
protected:
    static World build_of(const SceneDescription& scene) {
        lines.clear();
        return World(scene, {.cache = *folder / "cache",
                             .say = [](const std::string& line) { lines.push_back(line); },
                             .device = {}});
    }
    static const DeviceCapabilities& can(const World& world) {
        return world.loop(0).haptics()->capabilities;
    }
    static double gain(const World& world, const std::string& name) {
        for (const GainNote& note : world.loop(0).haptics()->gains)
            if (note.name == name) return note.value;
        return -1;
    }
    /// The largest force on the hand in two seconds.
    static double strongest(World& world) {
        double most = 0;
        for (int k = 0; k < 2000; ++k) {
            world.advance();
            most = std::max(most, world.loop(0).haptic_tick()->command.force.norm());
        }
        return most;
    }
    [[nodiscard]] static std::filesystem::path profile(const std::string& device) {
        const std::filesystem::path file = *folder / "limits.json";
        std::ofstream(file) << R"({"pliant_device_profile": 1, "device": {)" + device + "}}";
        return file;
    }
    static bool is_said(const std::string& part) {
        return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
            return line.find(part) != std::string::npos;
        });
    }
};

TEST_F(DeviceLimitScene, HoldsInEveryTickAndInTheGains) {
    World free = build_of(parse(press()));
    const double usual = strongest(free);
    ASSERT_GT(usual, 1);
    const SceneDescription weak = with_device(parse(press()), {.limits = {.max_force = 0.4}});
    World world = build_of(weak);
    EXPECT_EQ(can(world).max_force, 0.4);
    EXPECT_NEAR(can(world).max_torque, 0.17 * 0.4 / 8.5, 1e-12) << "lowered as the force is";
    EXPECT_EQ(gain(world, "max_force"), 0.4);
    EXPECT_EQ(gain(world, "rendered_force"), 0.4);
    const double most = strongest(world);
    EXPECT_LE(most, 0.4 * (1 + 1e-12));
    EXPECT_GT(most, 0.3);
    EXPECT_TRUE(lines.empty() || !is_said("max_force")) << "nothing to say of a limit that holds";
}

TEST_F(DeviceLimitScene, TheLowestOfSceneProfileAndCommandLineHolds) {
    const auto most = [&](const std::string& device, const DeviceChoice& choice) {
        const SceneDescription scene = parse(press("", device));
        return can(build_of(with_device(scene, choice))).max_force;
    };
    const std::string six = R"("max_force": 6)";
    EXPECT_EQ(most(six, {.hand = "firm"}), 6);
    EXPECT_EQ(most(six, {.limits = {.max_force = 5}}), 5);
    EXPECT_EQ(most(six, {.limits = {.max_force = 7}}), 6);
    const auto kept = profile(R"("kind": "network", "port": 0, "max_force": 4,
                                 "max_torque": 0.1, "continuous_force": 3.5)");
    EXPECT_EQ(most(six, {.profile = kept}), 4);
    EXPECT_EQ(most(R"("max_force": 2)", {.profile = kept}), 2);
    EXPECT_EQ(most(R"("max_force": 5)", {.profile = kept, .limits = {.max_force = 3}}), 3);
    EXPECT_EQ(most(R"("max_force": 5)", {.profile = kept, .limits = {.max_force = 9}}), 4);
    // of another kind than the scene's own, too
    EXPECT_EQ(most(six, {.kind = "haply", .limits = {.max_force = 1.5}}), 1.5);
    EXPECT_EQ(most(R"("max_force": 1)", {.kind = "haply", .limits = {.max_force = 1.5}}), 1);
    EXPECT_EQ(most(R"("kind": "haply", "max_force": 2.5)", {}), 2.5);
    EXPECT_EQ(most(R"("kind": "haply")", {}), 6) << "what the device can do";
    EXPECT_EQ(most(R"("kind": "network", "port": 0)", {.limits = {.max_force = 1}}), 1);
}

TEST_F(DeviceLimitScene, ALowerForceTakesTheTorqueAlongWhoeverSaidIt) {
    const auto torque = [&](const std::string& device, const DeviceChoice& choice) {
        const SceneDescription scene = parse(press("", device));
        return can(build_of(with_device(scene, choice))).max_torque;
    };
    const std::string stated = R"("max_force": 5, "max_torque": 0.1)";
    EXPECT_EQ(torque(stated, {.hand = "firm"}), 0.1);
    EXPECT_NEAR(torque(stated, {.limits = {.max_force = 1}}), 0.02, 1e-12);
    EXPECT_EQ(torque(stated, {.limits = {.max_force = 1, .max_torque = 0.05}}), 0.05);
    EXPECT_EQ(torque(stated, {.limits = {.max_torque = 0.05}}), 0.05);
    EXPECT_EQ(torque(stated, {.limits = {.max_force = 9, .max_torque = 9}}), 0.1);
    // of hardware, whose profile says what it can do
    const auto kept = profile(R"("kind": "force-dimension", "max_force": 20, "max_torque": 0.4)");
    const auto limits = [&](const std::string& device, const DeviceLimits& wanted) {
        return with_device(parse(press("", device)), {.profile = kept, .limits = wanted})
            .device_use.limits;
    };
    EXPECT_NEAR(limits("", {.max_force = 2}).max_torque, 0.04, 1e-12);
    EXPECT_NEAR(limits(R"("max_force": 5)", {}).max_torque, 0.1, 1e-12);
    EXPECT_NEAR(limits(R"("max_force": 5)", {.max_force = 2}).max_torque, 0.04, 1e-12);
    EXPECT_EQ(limits("", {.max_force = 2, .max_torque = 0.3}).max_torque, 0.3);
}

/// Nobody knows what a device of a maker can do before it is there.
TEST_F(DeviceLimitScene, AForceAloneLowersTheTorqueOfHardwareWhoeverElseLimitsIt) {
    DeviceCapabilities sigma;
    sigma.max_force = 20;
    sigma.max_torque = 0.4;
    const auto torque = [&](const SceneDescription& scene) {
        const DeviceCapabilities left = limited(sigma, scene.device_use.limits);
        EXPECT_EQ(left.max_force, 2);
        return left.max_torque;
    };
    const auto scene = [&](const std::string& limits) {
        return parse(press("", R"("kind": "force-dimension", )" + limits));
    };
    const SceneDescription weak =
        with_device(scene(R"("max_torque": 0.3)"), {.limits = {.max_force = 2}});
    EXPECT_NEAR(torque(weak), 0.04, 1e-12);
    EXPECT_NEAR(torque(with_device(scene(R"("max_force": 2)"), {.limits = {.max_torque = 0.3}})),
                0.04, 1e-12);
    // once more, with something else
    EXPECT_NEAR(torque(with_device(weak, {.limits = {.max_force = 9}})), 0.04, 1e-12);
    EXPECT_NEAR(torque(with_device(weak, {.library = "/opt/libdhd.so"})), 0.04, 1e-12);
    const auto strong = profile(R"("kind": "force-dimension", "max_torque": 0.3)");
    EXPECT_NEAR(torque(with_device(scene(R"("max_force": 2)"), {.profile = strong})), 0.04, 1e-12);
    EXPECT_NEAR(
        torque(with_device(parse(press()), {.profile = strong, .limits = {.max_force = 2}})), 0.04,
        1e-12);
    const auto soft = profile(R"("kind": "force-dimension", "max_force": 2)");
    EXPECT_NEAR(torque(with_device(scene(R"("max_torque": 0.3)"), {.profile = soft})), 0.04, 1e-12);
    // named together, both are meant
    EXPECT_EQ(torque(scene(R"("max_force": 2, "max_torque": 0.3)")), 0.3);
}

TEST_F(DeviceLimitScene, HoldsForDevicesThatAProgramBrings) {
    DeviceCapabilities strong;
    strong.max_force = 30;
    ExternalDescription external{std::make_shared<ExternalHandle>(), strong};
    EXPECT_EQ(can(build(press("", R"("max_force": 2)"), external)).max_force, 2);
    EXPECT_EQ(can(build(press(), external)).max_force, 30);
}

TEST_F(DeviceLimitScene, MoreThanTheDeviceShowsIsSaidOnce) {
    const SceneDescription scene = parse(press("", R"("kind": "haply")"));
    const World world = build_of(with_device(scene, {.limits = {.max_force = 20}}));
    EXPECT_EQ(can(world).max_force, 6);
    const std::string sentence =
        "tool: max_force = 20 N is more than Haply Inverse3 shows, 6 N, which holds";
    EXPECT_EQ(std::count(lines.begin(), lines.end(), sentence), 1);
    EXPECT_THAT(world.loop(0).haptics()->warning, HasSubstr("max_force = 20 N is more than"));
    // a simulated one is as strong as the scene says
    const World simulated =
        build_of(with_device(parse(press()), {.limits = {.max_force = 20, .max_torque = 0.5}}));
    EXPECT_EQ(can(simulated).max_force, 8.5);
    EXPECT_TRUE(
        is_said("max_force = 20 N is more than simulated device shows, 8.5 N, which holds; "
                "max_torque = 0.5 N m is more than simulated device shows, 0.17 N m, which holds"));
}

TEST_F(DeviceLimitScene, IsInTheTextSoThatARecordingIsRepeated) {
    const SceneDescription weak = with_device(parse(press("", R"("hand": "firm", "max_force": 5)")),
                                              {.limits = {.max_force = 0.4, .max_torque = 0.01}});
    World world = build_of(weak);
    {
        WorldRecorder recorder(*folder / "weak.pliantrec", world, recording_header(world));
        for (int k = 0; k < 1000; ++k) recorder.add_tick(world, world.advance(), 1);
        recorder.finish();
    }
    const Recording recording = Recording::load(*folder / "weak.pliantrec");
    World again = replay_world(recording, "weak", {.cache = *folder / "cache"});
    EXPECT_EQ(can(again).max_force, 0.4);
    EXPECT_EQ(can(again).max_torque, 0.01);
    const ReplayCheck check = check_replay(recording, again);
    EXPECT_GT(check.num_compared, 1000u);
    EXPECT_EQ(check.num_different, 0u) << check.first_difference;
    // and it holds for who plays the readings
    const SceneDescription played =
        with_device(parse(press("", R"("max_force": 5)")), {.kind = "recorded",
                                                            .recording = *folder / "weak.pliantrec",
                                                            .limits = {.max_force = 0.2}});
    EXPECT_EQ(can(build_of(played)).max_force, 0.2);
}

TEST_F(DeviceLimitScene, WhatIsOutOfRangeIsRefused) {
    const auto error = [](const std::string& device) {
        return test::input_error([&] { (void)parse(press("", device)); });
    };
    for (const char* kind : {"simulated", "network", "haply", "force-dimension", "openhaptics"}) {
        const std::string of = R"("kind": ")" + std::string(kind) + "\", ";
        EXPECT_EQ(error(of + R"("max_force": 1, "max_torque": 0)"), "") << kind;
        EXPECT_EQ(error(of + R"("max_force": 0)"),
                  "scene.json: device.max_force = 0 (expected a number from 0.001 to 1000)");
        EXPECT_EQ(error(of + R"("max_torque": -1)"),
                  "scene.json: device.max_torque = -1 (expected a number from 0 to 100)");
    }
    EXPECT_EQ(
        test::input_error([&] { (void)with_device(parse(press()), {.limits = {.max_force = 0}}); }),
        "max_force = 0 (expected 0.001 to 1000 N; for no force at all, \"force\": false of "
        "the tool)");
}

TEST_F(DeviceLimitScene, ALibraryOrAddressThatWasChosenStaysWithItsKind) {
    const SceneDescription scene = parse(press());
    SceneDescription chosen =
        with_device(scene, {.kind = "force-dimension", .library = "/opt/sdk/libdhd.so"});
    EXPECT_THAT(chosen.text, testing::Not(HasSubstr("libdhd")));
    chosen = with_device(chosen, {.limits = {.max_force = 2}});
    EXPECT_EQ(*library_of(chosen.device), "/opt/sdk/libdhd.so");
    chosen = with_device(chosen, {.kind = "openhaptics"});
    EXPECT_EQ(*library_of(chosen.device), "");
    SceneDescription open = with_device(scene, {.kind = "network", .address = "0.0.0.0"});
    open = with_device(open, {.limits = {.max_force = 2}});
    EXPECT_EQ(*address_of(open.device), "0.0.0.0");
    open = with_device(open, {.kind = "haply"});
    EXPECT_EQ(*address_of(open.device), "ws://127.0.0.1:10001");
    EXPECT_THAT(test::input_error([&] { (void)with_device(scene, {.library = "libdhd.so"}); }),
                HasSubstr("library = libdhd.so (expected a device that has one, force-dimension or "
                          "openhaptics, not a simulated one"));
}

}  // namespace
}  // namespace pliant
