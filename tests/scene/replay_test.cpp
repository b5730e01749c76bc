#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "core/temporary_directory.h"
#include "input_error.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/scene/engine.h"
#include "pliant/scene/recording.h"
#include "scene/point_mass_body.h"

namespace pliant {
namespace {

using test::input_error, test::PointWorld, test::TemporaryDirectory;
using testing::HasSubstr;
using Kind = Command::Kind;

const std::vector<double> kRates = {1000, 300};
const std::vector<int> kCounts = {2, 1};

Command grab_upwards(int body, double z) {
    return {.kind = Kind::Grab,
            .slot = 0,
            .body = body,
            .triangle = 3,
            .barycentric = {0.5, 0.25, 0.25},
            .target = {0.1, 0.2, z}};
}

/// What a hand does, and before which tick of the haptic loop.
struct Event {
    std::uint64_t tick;
    Command command;
};
const std::vector<Event> kEvents = {
    {0, {.kind = Kind::SetParameter, .parameter = 0, .value = 3}},
    {5, grab_upwards(0, 1)},
    {40, {.kind = Kind::Drag, .slot = 0, .target = {1, 2, 3}, .duration = 0.05}},
    {150, {.kind = Kind::Reset}},
    {150, grab_upwards(1, 0.5)},
    {160, grab_upwards(2, 0.5)},  // of the other loop
    {220, {.kind = Kind::SetParameter, .parameter = 3, .value = 7}},
    {260, {.kind = Kind::Release, .slot = 0}},
};

/// Runs the events in virtual time and records them as an engine would.
void record_events(World& world, const std::filesystem::path& path,
                   const std::vector<Event>& events, const std::vector<std::string>& bodies = {}) {
    const RecordingHeader header = recording_header(world, bodies, 100);
    RecordingWriter writer(path, header);
    std::vector<std::uint64_t> ticks(kRates.size());
    const auto add_states = [&](int loop) {
        for (const RecordingHeader::RecordedBody& one : header.bodies) {
            const std::uint64_t tick = ticks[static_cast<std::size_t>(loop)];
            if (one.loop != loop || tick % static_cast<std::uint64_t>(one.every) != 0) continue;
            std::vector<double> record(1 + static_cast<std::size_t>(one.state_size));
            const std::int32_t head[2] = {one.body, 0};
            std::memcpy(record.data(), head, sizeof head);
            world.body(one.body).save_state(std::span(record).subspan(1));
            writer.add(loop, RecordKind::State, tick, std::as_bytes(std::span(record)));
        }
    };
    for (int loop = 0; loop < world.num_loops(); ++loop) add_states(loop);
    std::size_t next = 0;
    for (int step = 0; step < 400; ++step) {
        for (; next < events.size() && events[next].tick <= ticks[0]; ++next)
            for (int loop = 0; loop < world.num_loops(); ++loop) {
                writer.add(loop, RecordKind::Command, ticks[static_cast<std::size_t>(loop)],
                           std::as_bytes(std::span(&events[next].command, 1)));
                world.apply(events[next].command, loop);
            }
        const int loop = world.advance();
        ++ticks[static_cast<std::size_t>(loop)];
        writer.add(loop, RecordKind::Sample, ticks[static_cast<std::size_t>(loop)],
                   std::as_bytes(std::span(&world.loop(loop).sample(), 1)));
        add_states(loop);
    }
    writer.finish();
}

TEST(Replay, GivesTheRecordedStatesBitForBitThroughCommandsAndResets) {
    const TemporaryDirectory folder;
    PointWorld points;
    World world = points.make(kRates, kCounts);
    record_events(world, folder / "a.pliantrec", kEvents);
    const Recording recording = Recording::load(folder / "a.pliantrec");
    ASSERT_TRUE(recording.is_complete());
    World again = points.make(kRates, kCounts);
    const ReplayCheck check = check_replay(recording, again);
    EXPECT_GT(check.num_compared, 60u);
    EXPECT_EQ(check.num_different, 0u) << check.first_difference;
    EXPECT_EQ(check.first_difference, "");
    EXPECT_EQ(check_replay(recording, again).num_different, 0u) << "the same world once more";
}

TEST(Replay, FindsWhereTheFirstStateDiffers) {
    const TemporaryDirectory folder;
    PointWorld points;
    World world = points.make(kRates, kCounts);
    record_events(world, folder / "a.pliantrec", {{25, grab_upwards(1, 1)}});
    World again = points.make(kRates, kCounts);
    again.loop(0).body(1).set_parameter(0, 99);  // another stiffness than the recorded one
    const ReplayCheck check = check_replay(Recording::load(folder / "a.pliantrec"), again);
    EXPECT_GT(check.num_different, 10u);
    EXPECT_EQ(check.first_difference, "points0[1] at tick 10");
}

TEST(Replay, StartsFromTheParametersOfTheRecording) {
    const TemporaryDirectory folder;
    PointWorld points;
    World world = points.make(kRates, kCounts);
    const int stiffness = world.find_parameter("points0.stiffness");
    ASSERT_GE(stiffness, 0);
    world.apply({.kind = Kind::SetParameter, .parameter = stiffness, .value = 1.0 / 3.0});
    record_events(world, folder / "a.pliantrec", kEvents);
    World again = points.make(kRates, kCounts);
    EXPECT_EQ(check_replay(Recording::load(folder / "a.pliantrec"), again).num_different, 0u);
}

TEST(Replay, RecordingInVirtualTimeIsTheSameRunAgain) {
    const TemporaryDirectory folder;
    PointWorld points;
    ScriptEvent& event = points.scene.script.emplace_back();
    event.time = 0.05;
    event.body = "points0[1]";
    event.at = {3, 0, 0};
    event.target = {3, 1, 0};
    World world = points.make(kRates, kCounts);
    WorldRecorder recorder(folder / "a.pliantrec", world, recording_header(world));
    for (int step = 0; step < 500; ++step) {
        const int loop = world.advance();
        recorder.add_tick(world, loop, 1.5);
    }
    recorder.finish();
    const Recording recording = Recording::load(folder / "a.pliantrec");
    ASSERT_FALSE(recording.samples(0).empty());
    EXPECT_EQ(recording.samples(0)[0].work_us, 1.5f);
    EXPECT_EQ(recording.num_ticks(0), world.loop(0).ticks());
    EXPECT_EQ(recording.state_tick(0, 0), 0u) << "the start is recorded";
    EXPECT_EQ(recording.state_tick(0, 1), 17u) << "at most 60 a second";
    World again = points.make(kRates, kCounts);
    const ReplayCheck check = check_replay(recording, again);
    EXPECT_GT(check.num_compared, 40u);
    EXPECT_EQ(check.num_different, 0u) << check.first_difference;
    EXPECT_EQ(again.state_hash(), world.state_hash());
}

TEST(Replay, RecordingOfAnEngineInRealTimeIsRepeatedInVirtualTime) {
    const TemporaryDirectory folder;
    PointWorld points;
    {
        Engine engine(std::make_unique<World>(points.make(kRates, kCounts)),
                      {.is_real_time = false});
        engine.run();
        engine.start_recording(folder / "a.pliantrec", recording_header(engine.world()));
        for (const Event& event : kEvents) {
            EXPECT_TRUE(engine.send(event.command));
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        engine.stop_recording();
    }
    const Recording recording = Recording::load(folder / "a.pliantrec");
    EXPECT_TRUE(recording.is_complete()) << recording.problem();
    EXPECT_FALSE(recording.commands(0).empty());
    World again = points.make(kRates, kCounts);
    const ReplayCheck check = check_replay(recording, again);
    EXPECT_GT(check.num_compared, 0u);
    EXPECT_EQ(check.num_different, 0u) << check.first_difference;
}

TEST(Replay, OtherBodiesLoopsAndParametersAreRefused) {
    const TemporaryDirectory folder;
    PointWorld points;
    World world = points.make(kRates, kCounts);
    record_events(world, folder / "a.pliantrec", kEvents);
    const Recording recording = Recording::load(folder / "a.pliantrec");
    World fewer = points.make(kRates, {1, 1});
    EXPECT_THAT(input_error([&] { (void)check_replay(recording, fewer); }),
                HasSubstr("the scene has no body 'points0[1]' any more"));
    World single = points.make({1000}, {2});
    EXPECT_THAT(input_error([&] { (void)check_replay(recording, single); }),
                HasSubstr("the recording has 2 loops, its scene now 1"));

    RecordingHeader header = recording.header();
    header.bodies[0].state_size = 7;
    { RecordingWriter writer(folder / "b.pliantrec", header); }
    EXPECT_THAT(
        input_error([&] { (void)check_replay(Recording::load(folder / "b.pliantrec"), world); }),
        HasSubstr("'points0[0]' had 7 numbers of state when it was recorded and now has 6"));
    header = recording.header();
    header.parameters.emplace_back("magic", 1);
    { RecordingWriter writer(folder / "c.pliantrec", header); }
    EXPECT_THAT(
        input_error([&] { (void)check_replay(Recording::load(folder / "c.pliantrec"), world); }),
        HasSubstr("a parameter 'magic' that its scene no longer has"));
}

TEST(RecordingHeaderOfAWorld, ChoosesBodiesByNameOrByTheNameOfTheirCopies) {
    PointWorld points;
    points.scene.text = "{}";
    const World world = points.make(kRates, kCounts);
    const auto names = [&](const std::vector<std::string>& wanted) {
        std::vector<std::string> found;
        for (const auto& body : recording_header(world, wanted).bodies) found.push_back(body.name);
        return found;
    };
    using Names = std::vector<std::string>;
    EXPECT_EQ(names({}), (Names{"points0[0]", "points0[1]", "points1[0]"}));
    EXPECT_EQ(names({"-"}), Names{});
    EXPECT_EQ(names({"points0"}), (Names{"points0[0]", "points0[1]"}));
    EXPECT_EQ(names({"points0[1]", "points1"}), (Names{"points0[1]", "points1[0]"}));
    EXPECT_THAT(input_error([&] { (void)names({"pionts0"}); }),
                HasSubstr("no body is called 'pionts0'; did you mean 'points0'?"));

    const RecordingHeader header = recording_header(world);
    EXPECT_EQ(header.scene, "{}");
    EXPECT_EQ(header.loops[1].rate, 300);
    EXPECT_EQ(header.bodies[0].every, 17);
    EXPECT_EQ(header.bodies[2].every, 5);
    EXPECT_EQ(header.bodies[2].loop, 1);
    EXPECT_EQ(header.bodies[2].state_size, 6);
    EXPECT_EQ(header.parameters.size(), world.parameters().size());
}

TEST(RecordingFrames, ShowTheSurfacesWhereTheyWere) {
    const TemporaryDirectory folder;
    PointWorld points;
    points.scene.name = "two points/é";
    World world = points.make(kRates, kCounts);
    record_events(world, folder / "a.pliantrec", {{5, grab_upwards(0, 1)}});
    const Recording recording = Recording::load(folder / "a.pliantrec");
    World shown = points.make(kRates, kCounts);
    const int files = save_frames(recording, shown, folder / "frames/obj", "obj", 20);
    // 0.307 s at 20 Hz: 0, 0.05, … 0.3 s
    EXPECT_EQ(files, 7);
    const SurfaceMesh mesh = load_surface(folder / "frames/obj/two_points____0004.obj");
    ASSERT_EQ(mesh.num_vertices(), 12);
    EXPECT_EQ(mesh.num_triangles(), 12);
    // 0.2 s: state 20 of the first body, which is recorded every 10 ticks of 1 ms
    EXPECT_EQ(recording.state_tick(0, 20), 200u);
    const std::span<const double> state = recording.state(0, 20);
    EXPECT_GT(state[2], 0.01) << "it was pulled up";
    EXPECT_NEAR((mesh.vertices[0] - Eigen::Vector3d(state[0], state[1], state[2])).norm(), 0, 1e-6)
        << "float32";
    EXPECT_EQ(save_frames(recording, shown, folder / "frames/vtu", "vtu", 10), 4);
    EXPECT_TRUE(std::filesystem::exists(folder / "frames/vtu/two_points____0003.vtu"));
}

TEST(RecordingFrames, AStateWithoutAFiniteShapeIsSaid) {
    const TemporaryDirectory folder;
    PointWorld points;
    World world = points.make(kRates, kCounts);
    const RecordingHeader header = recording_header(world);
    {
        RecordingWriter writer(folder / "a.pliantrec", header);
        for (const std::uint64_t tick : {0, 100}) {
            const RecordingHeader::RecordedBody& body = header.bodies[0];
            std::vector<double> state(2 + static_cast<std::size_t>(body.state_size), 0.0);
            state[0] = state[1] = 0;  // the place of body 0, and padding
            if (tick > 0) state[2] = std::numeric_limits<double>::infinity();
            writer.add(body.loop, RecordKind::State, tick,
                       std::as_bytes(std::span(state)).subspan(sizeof(double)));
        }
        writer.finish();
    }
    const Recording recording = Recording::load(folder / "a.pliantrec");
    World shown = points.make(kRates, kCounts);
    EXPECT_THAT(input_error([&] { save_frames(recording, shown, folder / "f", "obj", 10); }),
                HasSubstr("has no finite shape; frames up to there were written"));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "f"), {}), 1);
}

TEST(RecordingFrames, NothingToDrawOtherFormatsAndFloodsAreRefused) {
    const TemporaryDirectory folder;
    PointWorld points;
    World world = points.make(kRates, kCounts);
    record_events(world, folder / "a.pliantrec", {}, {"-"});
    const Recording empty = Recording::load(folder / "a.pliantrec");
    EXPECT_THAT(input_error([&] { save_frames(empty, world, folder / "f", "obj", 30); }),
                HasSubstr("holds no states of bodies"));
    World other = points.make(kRates, kCounts);
    record_events(other, folder / "b.pliantrec", {});
    const Recording recording = Recording::load(folder / "b.pliantrec");
    EXPECT_THAT(input_error([&] { save_frames(recording, other, folder / "f", "stl", 30); }),
                HasSubstr("frames = stl (expected obj or vtu)"));
    EXPECT_THAT(input_error([&] { save_frames(recording, other, folder / "f", "obj", 1e9); }),
                HasSubstr("more than a million frames"));
    test::write_text(folder / "file", "x");
    EXPECT_THAT(input_error([&] { save_frames(recording, other, folder / "file/f", "obj", 30); }),
                HasSubstr("file/f: cannot be created"));
}

}  // namespace
}  // namespace pliant
