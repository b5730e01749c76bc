#include "pliant/scene/engine.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <chrono>
#include <limits>
#include <thread>

#include "core/temporary_directory.h"
#include "tests/input_error.h"
#include "tests/scene/point_mass_body.h"

namespace pliant {
namespace {

using test::input_error;
using test::PointMassBody;
using test::PointWorld;
using Kind = Command::Kind;

// Threads of an engine run when the machine lets them: tests wait for what must happen, however
// long it takes, and never for a time.
template <class Condition>
[[nodiscard]] bool eventually(const Condition& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

struct RunningPoints {
    explicit RunningPoints(const std::vector<double>& rates = {1000},
                           const EngineOptions& options = {.is_real_time = false})
        : engine(std::make_unique<World>(points.make(rates, std::vector<int>(rates.size(), 2))),
                 options) {}
    [[nodiscard]] bool reaches(std::uint64_t tick, int loop = 0) {
        return eventually([&] { return engine.frame(loop).tick >= tick; });
    }

    PointWorld points;
    Engine engine;
};

TEST(Engine, StartsPausedWithAFrameOfTheStart) {
    RunningPoints running({1000, 250});
    EXPECT_TRUE(running.engine.is_paused());
    for (int l = 0; l < 2; ++l) {
        EXPECT_EQ(running.engine.frame(l).tick, 0u);
        EXPECT_EQ(running.engine.frame(l).display.size(), 14u);
    }
    EXPECT_EQ(running.engine.scheduling(), "normal priority, as asked for");
}

TEST(Engine, SaysWhatSchedulingItGot) {
    RunningPoints running({1000}, {.is_real_time = true});
    const std::string& text = running.engine.scheduling();
    EXPECT_TRUE(text.starts_with("real-time priority 80") ||
                text.starts_with("normal priority (needs CAP_SYS_NICE or an rtprio limit; see "))
        << text;
    EXPECT_TRUE(text.find("memory locked") != std::string::npos ||
                text.find("memory not locked (") != std::string::npos)
        << text;
}

TEST(Engine, RunsAllLoopsUntilPaused) {
    RunningPoints running({1000, 250});
    running.engine.run();
    EXPECT_TRUE(running.reaches(50));
    EXPECT_TRUE(running.reaches(20, 1));
    running.engine.pause();
    EXPECT_TRUE(running.engine.is_paused());
    // the last frame of a paused loop is that of its last tick
    std::uint64_t last = 0;
    EXPECT_TRUE(eventually([&] {
        const std::uint64_t before = std::exchange(last, running.engine.frame(0).tick);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return before == running.engine.frame(0).tick;
    }));
    std::vector<TickSample> samples;
    running.engine.take_samples(0, samples);
    ASSERT_FALSE(samples.empty());
    EXPECT_EQ(samples.front().tick, 1u);
    EXPECT_EQ(samples.back().tick, running.engine.frame(0).tick);
    EXPECT_GT(running.engine.frame(0).work.max_us, 0);
}

TEST(Engine, SingleStepsAreExact) {
    RunningPoints running({1000, 100});
    running.engine.single_step();
    EXPECT_TRUE(running.reaches(1));
    running.engine.single_step(99);
    EXPECT_TRUE(running.reaches(100));
    EXPECT_TRUE(running.reaches(10, 1));
    running.engine.single_step(-5);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(running.engine.frame(0).tick, 100u);
    EXPECT_EQ(running.engine.frame(1).tick, 10u);
}

TEST(Engine, SteppedItDoesWhatVirtualTimeDoes) {
    RunningPoints running({1000, 100});
    const Command pull{.kind = Kind::Grab,
                       .body = 1,
                       .triangle = 0,
                       .barycentric = {1, 0, 0},
                       .target = {4, 0, 2}};
    EXPECT_TRUE(running.engine.send(pull));
    running.engine.single_step(200);
    EXPECT_TRUE(running.reaches(200));
    EXPECT_TRUE(running.reaches(20, 1));
    running.engine.stop();

    PointWorld points;
    World world = points.make({1000, 100}, {2, 2});
    world.apply(pull);
    world.advance_to(0.2);
    EXPECT_EQ(running.engine.world().state_hash(), world.state_hash());
    EXPECT_GT((points.bodies[0][1]->x() - Eigen::Vector3d(3, 0, 0)).norm(), 0.01);
}

TEST(Engine, SpeedIsKeptInItsRange) {
    RunningPoints running;
    running.engine.set_speed(0.5);
    EXPECT_EQ(running.engine.speed(), 0.5);
    running.engine.set_speed(7);
    EXPECT_EQ(running.engine.speed(), 1);
    running.engine.set_speed(-1);
    EXPECT_EQ(running.engine.speed(), 0.01);
    running.engine.set_speed(std::numeric_limits<double>::quiet_NaN());
    EXPECT_EQ(running.engine.speed(), 0.01);
    running.engine.run();
    EXPECT_TRUE(running.reaches(2));
}

TEST(Engine, AResetReachesAllLoopsAlsoWhilePaused) {
    RunningPoints running({1000, 500});
    running.engine.single_step(100);
    EXPECT_TRUE(running.reaches(100));
    EXPECT_TRUE(running.reaches(50, 1));
    EXPECT_TRUE(running.engine.send({.kind = Kind::Reset}));
    for (int l = 0; l < 2; ++l)
        EXPECT_TRUE(eventually([&] { return running.engine.frame(l).tick == 0; }));
}

TEST(Engine, ParametersAreKnownAsSentAndReachTheBodies) {
    RunningPoints running({1000, 500});
    const World& world = running.engine.world();
    const int stiffness = world.find_parameter("points1.stiffness");
    ASSERT_GE(stiffness, 0);
    EXPECT_EQ(running.engine.parameter(stiffness), 100);
    EXPECT_TRUE(
        running.engine.send({.kind = Kind::SetParameter, .parameter = stiffness, .value = 250}));
    EXPECT_EQ(running.engine.parameter(stiffness), 250);
    EXPECT_TRUE(running.engine.send({.kind = Kind::SetParameter,
                                     .parameter = stiffness,
                                     .value = std::numeric_limits<double>::quiet_NaN()}));
    EXPECT_EQ(running.engine.parameter(stiffness), 250);
    running.engine.single_step(10);
    EXPECT_TRUE(running.reaches(5, 1));
    running.engine.stop();
    for (const PointMassBody* body : running.points.bodies[1]) EXPECT_EQ(body->stiffness(), 250);
    for (const PointMassBody* body : running.points.bodies[0]) EXPECT_EQ(body->stiffness(), 100);
}

TEST(Engine, AFullQueueDropsACommandForAllLoopsOrNone) {
    RunningPoints running({1000, 500});
    running.points.bodies[1][0]->slow_us = 20'000'000;  // the second loop stops listening
    running.engine.single_step(2);
    EXPECT_TRUE(running.reaches(2));
    int sent = 0;
    while (running.engine.send({.kind = Kind::Reset}) && sent < 100'000) ++sent;
    EXPECT_GE(sent, 1000);
    EXPECT_LT(sent, 3000);
    running.points.bodies[1][0]->slow_us = 0;
    EXPECT_TRUE(eventually([&] { return running.engine.send({.kind = Kind::Reset}); }));
}

TEST(Engine, AnOverloadedLoopSkipsAndTheOthersGoOn) {
    RunningPoints running({1000, 500});
    running.points.bodies[1][0]->slow_us = 10'000;
    running.engine.run();
    EXPECT_TRUE(eventually([&] { return running.engine.frame(1).skipped > 20; }));
    EXPECT_TRUE(running.reaches(100));
    // it slips behind: five periods or more for each tick
    const LoopFrame& frame = running.engine.frame(1);
    EXPECT_GE(static_cast<double>(frame.skipped), 3.0 * static_cast<double>(frame.tick) - 10);
    running.points.bodies[1][0]->slow_us = 0;
}

TEST(Engine, IsDestroyedWhileItRuns) {
    for (int k = 0; k < 10; ++k) {
        RunningPoints running({1000, 300, 100});
        running.engine.run();
        if (k % 2 == 0) {
            EXPECT_TRUE(running.reaches(1));
        }
    }
}

TEST(Engine, StopsWhileManyStepsAreLeft) {
    RunningPoints running;
    running.points.bodies[0][0]->slow_us = 1000;
    running.engine.single_step(1'000'000'000);
    EXPECT_TRUE(running.reaches(1));
    running.engine.stop();
    running.engine.stop();
    EXPECT_LT(running.engine.frame(0).tick, 1'000'000u);
}

TEST(Engine, ARecordingReplaysBitForBit) {
    const test::TemporaryDirectory folder;
    PointWorld again;
    {
        RunningPoints running({1000, 200});
        running.engine.run();
        EXPECT_TRUE(running.reaches(20));
        const int gravity = running.engine.world().find_parameter("gravity");
        EXPECT_TRUE(
            running.engine.send({.kind = Kind::SetParameter, .parameter = gravity, .value = 3}));
        // obeyed before the recording begins, so that it is not in it
        EXPECT_TRUE(running.reaches(running.engine.frame(0).tick + 20));
        running.engine.start_recording(folder / "a.pliantrec",
                                       recording_header(running.engine.world()));
        EXPECT_TRUE(running.engine.recording().is_active);
        EXPECT_NE(input_error([&] {
                      running.engine.start_recording(folder / "b.pliantrec",
                                                     recording_header(running.engine.world()));
                  }).find("a recording is being made; stop it before another one"),
                  std::string::npos);
        EXPECT_TRUE(running.engine.send({.kind = Kind::Grab,
                                         .body = 0,
                                         .triangle = 1,
                                         .barycentric = {0.5, 0.5, 0},
                                         .target = {1, 2, 3},
                                         .duration = 0.05}));
        EXPECT_TRUE(running.engine.send({.kind = Kind::Poke, .slot = 1, .body = 3, .vertex = 2}));
        std::vector<TickSample> samples;
        EXPECT_TRUE(running.reaches(150));
        EXPECT_TRUE(running.engine.send({.kind = Kind::Reset}));
        EXPECT_TRUE(eventually([&] { return running.engine.frame(0).tick < 150; }));
        EXPECT_TRUE(running.engine.send({.kind = Kind::Grab,
                                         .body = 2,
                                         .triangle = 1,
                                         .barycentric = {0.5, 0.5, 0},
                                         .target = {1, 2, 3}}));
        EXPECT_TRUE(running.reaches(60));
        running.engine.stop_recording();
        EXPECT_FALSE(running.engine.recording().is_active);
        EXPECT_EQ(running.engine.recording().lost, 0u);
        EXPECT_GT(running.engine.recording().bytes, 1000u);
        EXPECT_EQ(running.engine.recording().problem, "");
    }
    const Recording recording = Recording::load(folder / "a.pliantrec");
    EXPECT_TRUE(recording.is_complete()) << recording.problem();
    EXPECT_EQ(recording.commands(0).size(), 4u);
    ASSERT_GE(recording.samples(0).size(), 200u);
    EXPECT_EQ(recording.samples(0).front().tick, 1u);
    World world = again.make({1000, 200}, {2, 2});
    const ReplayCheck check = check_replay(recording, world);
    EXPECT_GT(check.num_compared, 20u);
    EXPECT_EQ(check.num_different, 0u) << check.first_difference;
}

/// No file of this process may grow beyond a size, as on a disk that is full.
class FullDisk {
public:
    explicit FullDisk(rlim_t bytes) {
        getrlimit(RLIMIT_FSIZE, &before_);
        signal_ = signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FullDisk() {
        setrlimit(RLIMIT_FSIZE, &before_);
        signal(SIGXFSZ, signal_);
    }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;

private:
    rlimit before_{};
    sighandler_t signal_;
};

TEST(Engine, AFullDiskEndsTheRecordingAndNothingElse) {
    const test::TemporaryDirectory folder;
    RunningPoints running;
    running.engine.run();
    {
        const FullDisk full(20'000);
        running.engine.start_recording(folder / "a.pliantrec",
                                       recording_header(running.engine.world()));
        EXPECT_TRUE(eventually([&] { return !running.engine.recording().is_active; }));
    }
    EXPECT_NE(running.engine.recording().problem.find("writing failed"), std::string::npos)
        << running.engine.recording().problem;
    const std::uint64_t tick = running.engine.frame(0).tick;
    EXPECT_TRUE(running.reaches(tick + 20));
    EXPECT_NE(input_error([&] { running.engine.stop_recording(); }).find("stays readable"),
              std::string::npos);
    EXPECT_FALSE(running.engine.recording().problem.empty());
    EXPECT_GT(Recording::load(folder / "a.pliantrec").samples(0).size(), 10u);

    // and the next one works
    running.engine.start_recording(folder / "b.pliantrec",
                                   recording_header(running.engine.world()));
    EXPECT_TRUE(running.engine.recording().is_active);
    running.engine.stop_recording();
    EXPECT_EQ(running.engine.recording().problem, "");
    EXPECT_TRUE(Recording::load(folder / "b.pliantrec").is_complete());
}

TEST(Engine, AFullDiskIsStillKnownAfterTheEnd) {
    const test::TemporaryDirectory folder;
    RunningPoints running;
    running.engine.run();
    {
        const FullDisk full(5'000);
        running.engine.start_recording(folder / "a.pliantrec",
                                       recording_header(running.engine.world()));
        EXPECT_TRUE(running.reaches(400));
        running.engine.stop();
    }
    EXPECT_FALSE(running.engine.recording().is_active);
    EXPECT_NE(running.engine.recording().problem.find("writing failed"), std::string::npos)
        << running.engine.recording().problem << ", " << running.engine.recording().bytes
        << " bytes";
}

TEST(Engine, ARecordingThatIsRemovedMeanwhileIsSaidWithinASecond) {
    const test::TemporaryDirectory folder;
    RunningPoints running;
    running.engine.run();
    running.engine.start_recording(folder / "a.pliantrec",
                                   recording_header(running.engine.world()));
    std::filesystem::remove(folder / "a.pliantrec");
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(eventually([&] { return !running.engine.recording().is_active; }));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
    EXPECT_NE(running.engine.recording().problem.find("a.pliantrec: the file was removed"),
              std::string::npos)
        << running.engine.recording().problem;
}

/// Two loops, the second of which hangs in a step until it is let go.
struct HangingPoints : RunningPoints {
    HangingPoints() : RunningPoints({1000, 100}, {.is_real_time = false, .answer_time = 1}) {
        engine.run();
    }
    ~HangingPoints() { let_go(); }
    [[nodiscard]] bool hangs() {
        PointMassBody& body = *points.bodies[1][0];
        body.slow_steps = 0;
        body.slow_us = 600'000'000;
        return eventually([&] { return body.slow_steps > 0; });
    }
    void let_go() { points.bodies[1][0]->slow_us = 0; }
    [[nodiscard]] std::string start_error(const std::filesystem::path& path) {
        return input_error([&] { engine.start_recording(path, recording_header(engine.world())); });
    }
};
constexpr const char* kNoAnswer =
    "the loop \"loop1\" has not answered for 1 s: its tick does not end, as where a device hangs "
    "in a call of its library; unplug that device, or open the scene again";

TEST(Engine, ALoopThatDoesNotAnswerIsNamedInsteadOfARecording) {
    const test::TemporaryDirectory folder;
    HangingPoints running;
    ASSERT_TRUE(running.hangs());
    const auto file = folder / "a.pliantrec";
    EXPECT_EQ(running.start_error(file), file.string() + ": " + kNoAnswer);
    EXPECT_FALSE(running.engine.recording().is_active);
    EXPECT_FALSE(std::filesystem::exists(file)) << "nothing was recorded";
    // nor does it obey
    EXPECT_TRUE(running.engine.send({.kind = Kind::Reset}));
    EXPECT_EQ(running.start_error(file), file.string() + ": " + kNoAnswer);
    EXPECT_FALSE(std::filesystem::exists(file));
    // the other loop goes on, and afterwards all is as before
    const std::uint64_t tick = running.engine.frame(0).tick;
    EXPECT_TRUE(running.reaches(tick + 20));
    running.let_go();
    EXPECT_TRUE(eventually([&] { return running.start_error(file).empty(); }));
    EXPECT_TRUE(running.engine.recording().is_active);
    running.engine.stop_recording();
    EXPECT_TRUE(Recording::load(file).is_complete());
}

TEST(Engine, ALoopThatHangsInARecordingIsNamedAndTheFileIsFinishedLater) {
    const test::TemporaryDirectory folder;
    HangingPoints running;
    const auto file = folder / "a.pliantrec";
    ASSERT_EQ(running.start_error(file), "");
    ASSERT_TRUE(running.hangs());
    EXPECT_EQ(input_error([&] { running.engine.stop_recording(); }), kNoAnswer);
    EXPECT_FALSE(running.engine.recording().is_active);
    EXPECT_EQ(running.engine.recording().problem, kNoAnswer);
    EXPECT_EQ(running.start_error(folder / "b.pliantrec"),
              (folder / "b.pliantrec").string() + ": " + kNoAnswer);
    EXPECT_FALSE(std::filesystem::exists(folder / "b.pliantrec"));
    running.let_go();
    EXPECT_TRUE(
        eventually([&] { return input_error([&] { running.engine.stop_recording(); }).empty(); }));
    EXPECT_EQ(running.engine.recording().problem, "");
    EXPECT_TRUE(Recording::load(file).is_complete());
}

TEST(Engine, AFolderThatIsNotThereIsSaidAtOnce) {
    RunningPoints running;
    EXPECT_NE(input_error([&] {
                  running.engine.start_recording("/nowhere/a.pliantrec",
                                                 recording_header(running.engine.world()));
              }).find("/nowhere/a.pliantrec"),
              std::string::npos);
    EXPECT_FALSE(running.engine.recording().is_active);
}

TEST(Engine, ARecordingIsFinishedWhenTheEngineStops) {
    const test::TemporaryDirectory folder;
    {
        RunningPoints running({1000, 100});
        running.engine.run();
        running.engine.start_recording(folder / "a.pliantrec",
                                       recording_header(running.engine.world()));
        EXPECT_TRUE(running.reaches(30));
    }
    EXPECT_TRUE(Recording::load(folder / "a.pliantrec").is_complete());
}

}  // namespace
}  // namespace pliant
