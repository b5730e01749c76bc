#include "scene/haptic_scenes.h"

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>

#include "input_error.h"
#include "pliant/haptics/recorded_device.h"
#include "pliant/scene/recording.h"
#include "scene/haptic_record.h"

// Recordings in place of a hand: readings played open loop, and paths that a simulated hand
// follows.

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::input_error;
using testing::HasSubstr;
using Kind = Command::Kind;

class PlayedDevice : public test::HapticScenes {
protected:
    static constexpr int kTicks = 1000;

    [[nodiscard]] static std::filesystem::path file(const char* name = "hand.pliantrec") {
        return *folder / name;
    }
    /// So many ticks of the world, in a file and as they were.
    static std::vector<HapticTick> record(World& world, const std::filesystem::path& path,
                                          int ticks = kTicks) {
        std::vector<HapticTick> result;
        WorldRecorder recorder(path, world, recording_header(world));
        for (int k = 0; k < ticks; ++k) {
            recorder.add_tick(world, world.advance(), 1);
            result.push_back(*world.loop(0).haptic_tick());
        }
        recorder.finish();
        return result;
    }
    static std::vector<HapticTick> run(World& world, int ticks = kTicks) {
        std::vector<HapticTick> result;
        for (int k = 0; k < ticks; ++k) {
            world.advance();
            result.push_back(*world.loop(0).haptic_tick());
        }
        return result;
    }
    /// A hand that trembles and presses.
    [[nodiscard]] static std::string hand() {
        return press("", R"("hand": "loose", "tremor": 0.0003)");
    }
    [[nodiscard]] static std::string played(const char* name = "hand.pliantrec",
                                            const std::string& more = "") {
        return press("", R"("kind": "recorded", "recording": ")" + std::string(name) + "\"", more);
    }
    [[nodiscard]] static std::string led(const char* name = "hand.pliantrec",
                                         const std::string& more = R"(, "hand": "firm")") {
        return press("", R"("recording": ")" + std::string(name) + "\"" + more);
    }
};

int num_different(const std::vector<HapticTick>& a, const std::vector<HapticTick>& b) {
    int result = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
        const HapticRecord x = to_record(a[k]), y = to_record(b[k]);
        result += std::memcmp(&x, &y, sizeof x) != 0;
    }
    return result;
}

TEST_F(PlayedDevice, PlaysASimulatedHandAgainBitForBit) {
    World world = build(hand());
    const std::vector<HapticTick> made = record(world, file());
    ASSERT_GT(made.back().num_contacts, 0);
    World again = build(played());
    const std::vector<HapticTick> shown = run(again);
    EXPECT_EQ(num_different(made, shown), 0) << "open loop, the same springs and contacts";
    EXPECT_EQ(again.loop(0).haptics()->kind, "recorded");
    EXPECT_EQ(again.loop(0).haptics()->capabilities.name, "recording of simulated device");
    EXPECT_EQ(again.find_parameter("hand.stiffness"), -1);
    // a reset plays it from the beginning
    again.apply({.kind = Kind::Reset});
    EXPECT_EQ(num_different(made, run(again)), 0);
}

TEST_F(PlayedDevice, GivesReadingsWhateverTheForceIs) {
    World world = build(hand());
    const std::vector<HapticTick> made = record(world, file());
    World soft = build(press(R"(, "stiffness_factor": 0.5)",
                             R"("kind": "recorded", "recording": "hand.pliantrec")"));
    const std::vector<HapticTick> shown = run(soft);
    for (std::size_t k = 0; k < made.size(); ++k)
        ASSERT_EQ(made[k].device.pose.position, shown[k].device.pose.position) << k;
    EXPECT_LT(shown.back().command.force.norm(), 0.7 * made.back().command.force.norm());
}

TEST_F(PlayedDevice, AfterItsEndTheToolStaysWithoutForceAndThePageSaysSo) {
    World world = build(hand());
    (void)record(world, file());
    World again = build(played());
    const std::vector<HapticTick> shown = run(again, kTicks + 300);
    const HapticTick& last = shown.back();
    EXPECT_GT(shown[kTicks - 1].command.force.norm(), 0.3);
    EXPECT_TRUE(last.command.force.isZero(0));
    EXPECT_EQ(last.manipulandum.position, shown[kTicks - 1].manipulandum.position);
    EXPECT_LT((last.tool.position - shown[kTicks - 1].tool.position).norm(), 1e-4);
    EXPECT_STREQ(again.loop(0).make_frame().haptics.notice.data(),
                 "The recording has ended: the force is zero and the tool stays; a reset plays it "
                 "again.");
    // readings that a replay was given: its resets are those that were recorded
    World replay = build(press(), recorded_readings(Recording::load(file()), "a"));
    (void)run(replay, kTicks + 300);
    EXPECT_STREQ(replay.loop(0).make_frame().haptics.notice.data(),
                 "The recording has ended: the force is zero and the tool stays.");
    replay.apply({.kind = Kind::Reset});
    EXPECT_EQ(run(replay, 1).back().device.status, DeviceStatus::Disconnected);
}

TEST_F(PlayedDevice, PlaysOnThroughAResetOfTheScriptAndAnewAfterOneByHand) {
    World world = build(hand());
    const std::vector<HapticTick> made = record(world, file());
    World again = build(played("hand.pliantrec", R"(, "script": [{"time": 0.25, "reset": true}])"));
    for (int round = 0; round < 2; ++round) {
        const std::vector<HapticTick> shown = run(again);
        for (std::size_t k = 0; k < made.size(); ++k)
            ASSERT_EQ(made[k].device.pose.position, shown[k].device.pose.position) << k;
        EXPECT_NEAR(shown[249].device.time, 0.25, 1e-9);
        EXPECT_NEAR(shown[250].device.time, 0.001, 1e-9) << "as new as they were";
        EXPECT_GT(shown.back().command.force.norm(), 0.1) << "nor is it stale";
        again.apply({.kind = Kind::Reset});
    }
}

TEST_F(PlayedDevice, PlaysTheSceneOfAResetAsItWas) {
    const std::string script = R"(, "script": [{"time": 0.5, "reset": true}])";
    World world = build(press("", R"("hand": "loose", "tremor": 0.0003)", script));
    const std::vector<HapticTick> made = record(world, file());
    World again = build(played("hand.pliantrec", script));
    std::vector<HapticTick> shown = run(again);
    for (std::size_t k = 0; k < made.size(); ++k) {
        ASSERT_NEAR(shown[k].device.time, made[k].device.time, 1e-12) << k;
        shown[k].device.time = made[k].device.time;
    }
    EXPECT_EQ(num_different(made, shown), 0);
}

TEST_F(PlayedDevice, OfAnotherRateIsInterpolated) {
    World world = build(hand());
    const std::vector<HapticTick> made = record(world, file());
    World twice = build(played("hand.pliantrec", R"(, "rate": 2000)"));
    const std::vector<HapticTick> shown = run(twice, 2 * kTicks);
    for (std::size_t k = 1; k < made.size(); ++k) {
        const Vector3d &a = made[k - 1].device.pose.position, &b = made[k].device.pose.position;
        ASSERT_LT((shown[2 * k + 1].device.pose.position - b).norm(), 1e-12) << k;
        ASSERT_LT((shown[2 * k].device.pose.position - 0.5 * (a + b)).norm(), 1e-12) << k;
        ASSERT_NE(shown[2 * k].device.status, DeviceStatus::Disconnected) << k;
        ASSERT_NEAR(shown[2 * k].device.time, 5e-4 * static_cast<double>(2 * k + 1), 1e-9) << k;
    }
    EXPECT_NEAR(shown.back().command.force.norm(), made.back().command.force.norm(), 0.1);
    twice.advance();
    EXPECT_EQ(twice.loop(0).haptic_tick()->device.status, DeviceStatus::Disconnected);
}

TEST_F(PlayedDevice, PlaysOnThroughAResetThatWasRecorded) {
    World world =
        build(press("", R"("hand": "firm")", R"(, "script": [{"time": 0.5, "reset": true}])"));
    const std::vector<HapticTick> made = record(world, file());
    ASSERT_LT(made.back().device.time, 0.6) << "the clock began anew";
    World again = build(played());
    const std::vector<HapticTick> shown = run(again);
    for (std::size_t k = 0; k < made.size(); ++k)
        ASSERT_EQ(made[k].device.pose.position, shown[k].device.pose.position) << k;
    EXPECT_NEAR(shown.back().device.time, 1, 1e-9) << "readings that are as new as they were";
    EXPECT_GT(shown.back().command.force.norm(), 0.3);
}

TEST_F(PlayedDevice, ItsClockGoesOnWhereTheDeviceWasAwayAfterAReset) {
    const World world = build(hand());
    {
        RecordingWriter writer(file("away.pliantrec"), recording_header(world));
        for (std::uint64_t k = 0; k < 120; ++k) {
            // reset before tick 100; nothing to read in the first five after it
            HapticTick tick;
            tick.device.time = 1e-3 * static_cast<double>(k < 100 ? k + 1 : k - 99);
            if (k >= 100 && k < 105) tick.device.status = DeviceStatus::Disconnected;
            const HapticRecord haptic = to_record(tick);
            writer.add(0, RecordKind::Haptic, k + 1, std::as_bytes(std::span(&haptic, 1)));
        }
    }
    const RecordedDescription played_again =
        recorded_readings(Recording::load(file("away.pliantrec")), "a");
    ASSERT_EQ(played_again.states.size(), 120u);
    for (std::size_t k = 0; k < 120; ++k) {
        if (k < 100 || k >= 105) {
            EXPECT_NEAR(played_again.states[k].time, 1e-3 * static_cast<double>(k + 1), 1e-12) << k;
        }
    }
}

TEST_F(PlayedDevice, ARecordingOfItNeedsNoOtherFile) {
    World world = build(hand());
    (void)record(world, file("first.pliantrec"));
    World again = build(played("first.pliantrec"));
    (void)record(again, file("second.pliantrec"));
    std::filesystem::remove(file("first.pliantrec"));
    const Recording second = Recording::load(file("second.pliantrec"));
    const auto device = recorded_device(second);
    ASSERT_TRUE(device);
    World replay = build(played("first.pliantrec"), device);
    const ReplayCheck check = check_replay(second, replay);
    EXPECT_GE(check.num_compared, static_cast<std::uint64_t>(kTicks));
    EXPECT_EQ(check.num_different, 0u) << check.first_difference;
}

TEST_F(PlayedDevice, ASimulatedHandFollowsARecordedOneInAClosedLoop) {
    World world = build(press("", R"("hand": "firm")"));
    const std::vector<HapticTick> made = record(world, file());
    World one = build(led()), two = build(led());
    const std::vector<HapticTick> a = run(one), b = run(two);
    EXPECT_EQ(num_different(a, b), 0);
    EXPECT_EQ(one.loop(0).haptics()->kind, "simulated");
    // in free space where it was, in contact not quite: its springs give way once more
    for (std::size_t k = 0; k < 200; ++k)
        ASSERT_LT((a[k].manipulandum.position - made[k].manipulandum.position).norm(), 1e-4) << k;
    const double way = made[0].manipulandum.position.z() - made.back().manipulandum.position.z(),
                 again = a[0].manipulandum.position.z() - a.back().manipulandum.position.z();
    EXPECT_GT(again, 0.6 * way);
    EXPECT_LT(again, way);
    EXPECT_GT(a.back().num_contacts, 0);
    // after its end the hand stays, and feels what it holds
    const HapticTick still = run(one, 500).back(), later = run(one, 500).back();
    EXPECT_GT(later.command.force.norm(), 0.3);
    EXPECT_LT((later.manipulandum.position - still.manipulandum.position).norm(), 5e-5);
}

TEST_F(PlayedDevice, AHandThatFollowsIsRecordedAndReplaysBitForBit) {
    World world = build(hand());
    (void)record(world, file());
    World follows = build(led("hand.pliantrec", R"(, "hand": "loose")"));
    (void)record(follows, file("follows.pliantrec"));
    const Recording recording = Recording::load(file("follows.pliantrec"));
    EXPECT_FALSE(recorded_device(recording)) << "runs again with its hand";
    World replay = build(led("hand.pliantrec", R"(, "hand": "loose")"));
    EXPECT_EQ(check_replay(recording, replay).num_different, 0u);
}

TEST_F(PlayedDevice, AHandIsLedToAPathThatBeginsElsewhere) {
    World world = build(press("", R"("hand": "firm")", R"(, "script": [
        {"time": 0, "tool": {"target": [0.03, 0, 0.05], "duration": 0.2}}])"));
    const std::vector<HapticTick> made = record(world, file());
    // the first half second, in which it went away, is left out
    SimulatedDescription late{.model = {.rate = 0}, .hand = HandModel::firm()};
    for (const Keyframe& key : recorded_path(Recording::load(file()), "a"))
        if (key.time > 0.5) late.path.push_back({key.time - 0.5, key.pose});
    ASSERT_GT((late.path[0].pose.position - Vector3d(0, 0, 0.022)).norm(), 0.02);
    World again = build(press(), late);
    const std::vector<HapticTick> shown = run(again, 1500);
    for (std::size_t k = 1; k < shown.size(); ++k)
        ASSERT_LT((shown[k].manipulandum.position - shown[k - 1].manipulandum.position).norm(),
                  5e-4)
            << k;
}

TEST_F(PlayedDevice, CutOffIsPlayedUpToThereAndSaidSo) {
    World world = build(hand());
    (void)record(world, file(), 3000);
    const auto size = std::filesystem::file_size(file());
    std::filesystem::copy_file(file(), file("cut.pliantrec"),
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(file("cut.pliantrec"), size * 3 / 4);
    const Recording cut = Recording::load(file("cut.pliantrec"));
    ASSERT_FALSE(cut.is_complete());
    if (cut.num_ticks(0) == 0) GTEST_SKIP() << "one block holds it all";
    World again = build(played("cut.pliantrec"));
    const bool is_said = std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
        return line.find("cut off; it is used up to there") != std::string::npos;
    });
    EXPECT_TRUE(is_said);
    (void)run(again, 3000);
    EXPECT_EQ(again.loop(0).haptic_tick()->device.status, DeviceStatus::Disconnected);
}

TEST_F(PlayedDevice, FilesThatCannotBePlayedAreNamed) {
    const auto error = [&](const std::string& text) {
        return input_error([&] { (void)build(text); });
    };
    EXPECT_THAT(error(played("gone.pliantrec")), HasSubstr("gone.pliantrec"));
    std::ofstream(file("foreign.pliantrec")) << "time,x,y,z\n0,0,0,0 and so on, but no recording\n";
    EXPECT_THAT(error(played("foreign.pliantrec")), HasSubstr("not a Pliant recording"));
    EXPECT_THAT(error(led("foreign.pliantrec")), HasSubstr("not a Pliant recording"));
    World plain = build(
        R"({"pliant": 1, "bodies": [{"name": "ball", "rigid": {"sphere": {"radius": 1}, "density": 1}}]})");
    {
        WorldRecorder recorder(file("plain.pliantrec"), plain, recording_header(plain));
        recorder.add_tick(plain, plain.advance(), 1);
        recorder.finish();
    }
    for (const std::string& text : {played("plain.pliantrec"), led("plain.pliantrec")})
        EXPECT_THAT(error(text), HasSubstr("plain.pliantrec: nothing was held in a hand in this "
                                           "recording, so that it has no readings of a device"));
    World world = build(hand());
    (void)record(world, file("empty.pliantrec"), 0);
    EXPECT_THAT(error(played("empty.pliantrec")), HasSubstr("no tick was recorded"));
    (void)record(world, file(), 10);
    EXPECT_THAT(error(press("", R"("kind": "recorded")")),
                HasSubstr("needs its file: \"recording\": \"FILE.pliantrec\""));
    EXPECT_THAT(error(press("", R"("kind": "recorded", "recording": "a", "hand": "firm")")),
                HasSubstr("is of a simulated device, not of a recorded one"));
    EXPECT_THAT(error(press("", R"("kind": "network", "recording": "a")")),
                HasSubstr("device.recording"));
}

TEST_F(PlayedDevice, IsPutIntoASceneWithItsWholePath) {
    const SceneDescription scene = parse(press("", R"("mass": 0.2)"));
    const SceneDescription recorded =
        with_device(scene, {.kind = "recorded", .recording = "some.pliantrec"});
    const std::string whole = std::filesystem::absolute("some.pliantrec").string();
    EXPECT_EQ(std::get<RecordedDescription>(recorded.device).recording, whole);
    EXPECT_THAT(recorded.text, HasSubstr(whole));
    // the device that is there, with a hand that follows
    const auto led_hand = std::get<SimulatedDescription>(
        with_device(scene, {.hand = "firm", .recording = "some.pliantrec"}).device);
    EXPECT_EQ(led_hand.recording, whole);
    EXPECT_EQ(led_hand.model.mass, 0.2);
    EXPECT_EQ(led_hand.hand.stiffness, HandModel::firm().stiffness);
}

TEST(Resample, HoldsWhatCannotBeInterpolated) {
    std::vector<DeviceState> states(4);
    for (std::size_t k = 0; k < states.size(); ++k) {
        states[k].time = 0.01 * static_cast<double>(k + 1);
        states[k].pose.position.x() = 0.01 * static_cast<double>(k);
        states[k].buttons = static_cast<std::uint32_t>(k);
    }
    states[1].status = DeviceStatus::Disconnected;
    const std::vector<DeviceState> finer = resample(states, 100, 200);
    ASSERT_EQ(finer.size(), 8u);
    EXPECT_EQ(finer[2].pose.position.x(), 0) << "no way from a reading to none";
    EXPECT_EQ(finer[3].status, DeviceStatus::Disconnected);
    EXPECT_EQ(finer[4].status, DeviceStatus::Disconnected);
    EXPECT_DOUBLE_EQ(finer[6].pose.position.x(), 0.025);
    EXPECT_EQ(finer[6].buttons, 2u);
    EXPECT_DOUBLE_EQ(finer[6].time, 0.035);
    const std::vector<DeviceState> coarser = resample(states, 100, 50);
    ASSERT_EQ(coarser.size(), 2u);
    EXPECT_EQ(coarser[1].pose.position.x(), 0.03);
    EXPECT_EQ(resample(states, 100, 100).size(), 4u);
    EXPECT_EQ(input_error([&] { (void)resample(states, 1, 1000); }),
              "rate of the recording = 1 (expected 10 to 1e+05 Hz)");
}

TEST(Resample, TheClockOfADeviceGoesOnEvenly) {
    std::vector<DeviceState> states(3);
    for (std::size_t k = 0; k < states.size(); ++k) {
        states[k].time = 0.01 * static_cast<double>(k + 1);
        // the loop stood still before the last one
        states[k].clock = 5 + 0.01 * static_cast<double>(k) + (k == 2 ? 0.02 : 0);
    }
    const std::vector<DeviceState> finer = resample(states, 100, 200);
    EXPECT_DOUBLE_EQ(finer[2].clock, 5.005);
    EXPECT_DOUBLE_EQ(finer[3].clock, 5.01);
    EXPECT_DOUBLE_EQ(finer[4].clock, 5.025);
    EXPECT_DOUBLE_EQ(finer[5].clock, 5.04);
    states[1].clock = 0;  // it did not say
    EXPECT_EQ(resample(states, 100, 200)[2].clock, 5);
}

TEST(Resample, LeavesJumpsAsTheyAre) {
    std::vector<DeviceState> states(3);
    states[1].pose.position.x() = 0.06;
    states[2].pose = {states[1].pose.position, rotation_from_vector({0, 0, 0.6})};
    const std::vector<DeviceState> finer = resample(states, 100, 400);
    ASSERT_EQ(finer.size(), 12u);
    for (std::size_t k = 3; k < 7; ++k) EXPECT_EQ(finer[k].pose.position.x(), 0) << k;
    for (std::size_t k = 7; k < 11; ++k) {
        EXPECT_EQ(finer[k].pose.position.x(), 0.06) << k;
        EXPECT_EQ(rotation_vector(finer[k].pose.rotation).z(), 0) << k;
    }
    // what DeviceSafety takes for motion is one
    states[1].pose.position.x() = 0.04;
    states[2].pose.rotation = rotation_from_vector({0, 0, 0.4});
    EXPECT_DOUBLE_EQ(resample(states, 100, 400)[5].pose.position.x(), 0.02);
    EXPECT_NEAR(rotation_vector(resample(states, 100, 400)[9].pose.rotation).z(), 0.2, 1e-9);
}

}  // namespace
}  // namespace pliant
