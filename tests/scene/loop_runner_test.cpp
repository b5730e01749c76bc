#include "scene/loop_runner.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "core/numbers.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "tests/scene/point_mass_body.h"

namespace pliant {
namespace {

using test::PointWorld;
using Kind = Command::Kind;

constexpr std::int64_t kMillisecond = 1'000'000;

/// One or two loops whose clock is turned by hand.
struct Bench {
    explicit Bench(const std::vector<double>& rates = {1000}, const EngineOptions& options = {})
        : world(points.make(rates, std::vector<int>(rates.size(), 2))) {
        for (int l = 0; l < world.num_loops(); ++l)
            runners.push_back(std::make_unique<LoopRunner>(world, l, control, options));
    }
    /// Turns of the first loop from now on, each of which takes `work_ns`; sleeps to the next one.
    void run_for(std::int64_t duration_ns, std::int64_t work_ns = 10'000) {
        const std::int64_t end = now + duration_ns;
        while (now < end) {
            runners[0]->turn(now);
            now += work_ns;
            now = runners[0]->next_turn(now);
        }
    }
    [[nodiscard]] std::uint64_t ticks(int loop = 0) const { return world.loop(loop).ticks(); }

    PointWorld points;
    World world;
    EngineControl control;
    std::vector<std::unique_ptr<LoopRunner>> runners;
    std::int64_t now = 5 * kMillisecond;
};

Command grab_body(int body, const std::array<double, 3>& target) {
    return {.kind = Kind::Grab,
            .body = body,
            .triangle = 0,
            .barycentric = {1, 0, 0},
            .target = target};
}

TEST(LoopRunner, TicksAtItsRateAndSleepsBetween) {
    Bench bench;
    bench.control.is_paused = false;
    bench.run_for(100 * kMillisecond);
    EXPECT_EQ(bench.ticks(), 100u);
    const LoopFrame& frame = bench.runners[0]->frame();
    EXPECT_EQ(frame.skipped, 0u);
    EXPECT_EQ(frame.lateness.max_us, 0);
}

TEST(LoopRunner, ALateTickIsMadeUpForWithinOnePeriod) {
    Bench bench;
    bench.control.is_paused = false;
    bench.runners[0]->turn(bench.now);
    // due at 1 ms, woken at 1.8 ms: the next one is due at 2 ms all the same
    bench.runners[0]->turn(bench.now + 18 * kMillisecond / 10);
    EXPECT_EQ(bench.runners[0]->next_turn(bench.now + 19 * kMillisecond / 10),
              bench.now + 2 * kMillisecond);
    std::vector<TickSample> samples;
    bench.runners[0]->take_samples(samples);
    ASSERT_EQ(samples.size(), 2u);
    EXPECT_EQ(samples[0].late_us, 0);
    EXPECT_FLOAT_EQ(samples[1].late_us, 800);
    const LoopFrame& frame = bench.runners[0]->frame();
    EXPECT_EQ(frame.work.missed, 0u);
    EXPECT_EQ(frame.lateness.missed, 1u) << "more than 0.1 ms";
}

TEST(LoopRunner, MissedPeriodsAreSkippedAndCountedWithoutDebt) {
    Bench bench;
    bench.control.is_paused = false;
    bench.runners[0]->turn(bench.now);
    bench.now += 10 * kMillisecond + kMillisecond / 2;  // one tick of 10.5 ms
    bench.now = bench.runners[0]->next_turn(bench.now);
    // after a rest of 5 % it is 11.025 ms: due were 1 … 11, and only the last of them is run
    EXPECT_EQ(bench.now, 5 * kMillisecond + 11'025'000);
    bench.runners[0]->turn(bench.now);
    EXPECT_EQ(bench.ticks(), 2u);
    bench.now = bench.runners[0]->next_turn(bench.now + 10'000);
    EXPECT_EQ(bench.now, 5 * kMillisecond + 12 * kMillisecond);
    // back at the old pace, on time: no burst
    bench.run_for(20 * kMillisecond);
    EXPECT_EQ(bench.ticks(), 22u);
    EXPECT_EQ(bench.runners[0]->frame().skipped, 10u);
}

TEST(LoopRunner, OverloadLeavesOthersFivePercentAndTimeSlips) {
    Bench bench;
    bench.control.is_paused = false;
    std::int64_t slept = 0;
    const std::int64_t start = bench.now, work = 3 * kMillisecond;
    for (int k = 0; k < 100; ++k) {
        bench.runners[0]->turn(bench.now);
        const std::int64_t end = bench.now + work;
        bench.now = bench.runners[0]->next_turn(end);
        EXPECT_GE(bench.now - end, work / 20);
        slept += bench.now - end;
    }
    EXPECT_EQ(bench.ticks(), 100u);
    EXPECT_LE(slept, 100 * (work / 20 + kMillisecond));
    // every period was either run or skipped, but for the one under way
    bench.control.is_paused = true;
    bench.runners[0]->turn(bench.now);
    const double periods = static_cast<double>(bench.now - start) / kMillisecond;
    EXPECT_NEAR(static_cast<double>(100 + bench.runners[0]->frame().skipped), periods, 2);
}

TEST(LoopRunner, WakesEarlyOnlyForShortTicksOfALoopThatRuns) {
    Bench bench;
    bench.run_for(10 * kMillisecond);
    EXPECT_EQ(bench.runners[0]->lead(), 0) << "paused";
    bench.control.is_paused = false;
    bench.run_for(10 * kMillisecond);
    EXPECT_EQ(bench.runners[0]->lead(), LoopRunner::kLead);
    bench.run_for(10 * kMillisecond, 2 * LoopRunner::kLead);
    EXPECT_EQ(bench.runners[0]->lead(), 0) << "long ticks";
    Bench fast({4000});
    fast.control.is_paused = false;
    fast.run_for(10 * kMillisecond);
    EXPECT_EQ(fast.runners[0]->lead(), 0) << "a quarter of the period";
}

TEST(LoopRunner, WarmingUpChangesNothing) {
    Bench bench;
    bench.control.is_paused = false;
    bench.run_for(10 * kMillisecond);
    const std::uint64_t before = bench.world.state_hash();
    AllocationGuard guard;
    bench.runners[0]->warm_up();
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_EQ(bench.world.state_hash(), before);
}

TEST(LoopRunner, SlowMotionKeepsTheStepAndLooksForCommandsInBetween) {
    Bench bench;
    bench.control.is_paused = false;
    bench.control.speed = 0.01;
    bench.run_for(1000 * kMillisecond);
    EXPECT_EQ(bench.ticks(), 10u);
    EXPECT_DOUBLE_EQ(bench.world.loop(0).time(), 0.01);
    EXPECT_LE(bench.runners[0]->next_turn(bench.now) - bench.now, LoopRunner::kLongestSleep);
    // a command between two ticks shows at once
    bench.runners[0]->send(grab_body(0, {0, 0, 1}));
    bench.runners[0]->turn(bench.now - 1);
    EXPECT_EQ(bench.ticks(), 10u);
    EXPECT_EQ(bench.runners[0]->frame().held[0].body, 0);
    // full speed again: the far tick comes now
    bench.control.speed = 1;
    bench.run_for(100 * kMillisecond);
    EXPECT_NEAR(static_cast<double>(bench.ticks()), 110, 1);
}

TEST(LoopRunner, PausedItAppliesCommandsAndShowsThem) {
    Bench bench;
    bench.control.is_paused = false;
    bench.run_for(20 * kMillisecond);
    bench.control.is_paused = true;
    bench.runners[0]->send({.kind = Kind::Reset});
    bench.run_for(20 * kMillisecond);
    EXPECT_EQ(bench.ticks(), 0u);
    EXPECT_EQ(bench.runners[0]->frame().tick, 0u);
    bench.runners[0]->send(grab_body(1, {0, 0, 1}));
    bench.run_for(5 * kMillisecond);
    EXPECT_EQ(bench.ticks(), 0u);
    EXPECT_EQ(bench.runners[0]->frame().held[0].body, 1);
}

TEST(LoopRunner, APauseIsNotALateTick) {
    Bench bench;
    bench.control.is_paused = false;
    bench.run_for(10 * kMillisecond);
    bench.control.is_paused = true;
    bench.run_for(500 * kMillisecond);
    bench.control.is_paused = false;
    bench.run_for(300 * kMillisecond);
    EXPECT_EQ(bench.ticks(), 310u);
    EXPECT_EQ(bench.runners[0]->frame().skipped, 0u);
    EXPECT_EQ(bench.runners[0]->frame().lateness.max_us, 0);
}

TEST(LoopRunner, SingleStepsTakeOtherLoopsAlong) {
    Bench bench({1000, 100});
    const auto turn_all = [&](int times) {
        for (int k = 0; k < times; ++k)
            for (const auto& runner : bench.runners) {
                runner->turn(bench.now);
                bench.now = runner->next_turn(bench.now);
            }
    };
    turn_all(3);
    EXPECT_EQ(bench.ticks(0), 0u);
    bench.control.steps += 10;
    turn_all(3);
    EXPECT_EQ(bench.ticks(0), 10u);
    EXPECT_EQ(bench.ticks(1), 1u);
    EXPECT_EQ(bench.runners[0]->frame().tick, 10u);
    bench.control.steps += 990;
    turn_all(20);  // some at a time
    EXPECT_EQ(bench.ticks(0), 1000u);
    EXPECT_EQ(bench.ticks(1), 100u);
    // steps that were not taken are forgotten when it runs
    bench.control.steps += 1000;
    bench.control.is_paused = false;
    turn_all(1);
    bench.control.is_paused = true;
    turn_all(5);
    EXPECT_EQ(bench.ticks(0), 1001u);
}

TEST(LoopRunner, FramesComeAtTheirOwnRate) {
    Bench bench({1000}, {.frames_per_second = 50});
    bench.control.is_paused = false;
    int frames = 0;
    std::uint64_t last = 0;
    for (int k = 0; k < 1000; ++k) {
        bench.run_for(kMillisecond);
        const std::uint64_t tick = bench.runners[0]->frame().tick;
        if (tick != last) ++frames;
        last = tick;
    }
    EXPECT_NEAR(frames, 50, 1);
}

TEST(LoopRunner, ASlowReaderGetsTheOldestSamplesAndTheNewestFrame) {
    Bench bench;
    bench.control.is_paused = false;
    bench.run_for(5000 * kMillisecond);
    std::vector<TickSample> samples;
    bench.runners[0]->take_samples(samples);
    ASSERT_EQ(samples.size(), 2048u);  // two seconds
    EXPECT_EQ(samples.front().tick, 1u);
    EXPECT_EQ(samples.back().tick, 2048u);
    EXPECT_GT(bench.runners[0]->frame().tick, 4985u);
}

TEST(LoopRunner, CommandsThatAreNotFiniteChangeNothing) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    Bench bench, clean;
    for (Bench* one : {&bench, &clean}) one->control.is_paused = false;
    for (const double bad : {kNan, kInf, -kInf})
        for (const Kind kind : {Kind::Grab, Kind::Poke, Kind::Drag, Kind::Release, Kind::MoveTool,
                                Kind::SetParameter}) {
            Command command{.kind = kind,
                            .body = 0,
                            .triangle = 0,
                            .parameter = 0,
                            .barycentric = {1, 0, 0},
                            .value = bad};
            bench.runners[0]->send(command);
            command.value = 0;
            command.target[1] = bad;
            bench.runners[0]->send(command);
            command.target[1] = 0;
            command.barycentric[2] = bad;
            bench.runners[0]->send(command);
            command.barycentric[2] = 0;
            command.duration = bad;
            bench.runners[0]->send(command);
        }
    for (const int body : {-7, 2, 1'000'000}) bench.runners[0]->send(grab_body(body, {0, 0, 1}));
    bench.runners[0]->send({.kind = Kind::SetParameter, .parameter = 1'000'000});
    bench.run_for(50 * kMillisecond);
    clean.run_for(50 * kMillisecond);
    EXPECT_EQ(bench.world.state_hash(), clean.world.state_hash());
}

/// All records of a queue.
struct Records {
    explicit Records(RecordQueue& queue) {
        RecordKind kind{};
        std::uint64_t tick = 0;
        std::vector<std::byte> bytes;
        while (queue.pop(kind, tick, bytes)) {
            if (kind == RecordKind::Sample) {
                TickSample sample;
                std::memcpy(&sample, bytes.data(), sizeof sample);
                EXPECT_EQ(sample.tick, tick);
                samples.push_back(tick);
            } else if (kind == RecordKind::Command) {
                commands.push_back(tick);
            } else {
                states.push_back(tick);
                state_sizes.push_back(bytes.size());
            }
        }
    }
    std::vector<std::uint64_t> samples, commands, states;
    std::vector<std::size_t> state_sizes;
};

TEST(LoopRunner, ARecordingBeginsWithAResetAndCountsItsOwnTicks) {
    Bench bench;
    bench.control.is_paused = false;
    bench.run_for(33 * kMillisecond);
    RecordQueue queue(1 << 20);
    RecordingHeader::RecordedBody recorded;
    recorded.body = 1;
    recorded.state_size = 6;
    recorded.every = 5;
    bench.runners[0]->select_states({recorded});
    bench.runners[0]->record_to(&queue);
    EXPECT_EQ(bench.runners[0]->recording(), nullptr);
    bench.run_for(10 * kMillisecond);
    EXPECT_EQ(bench.runners[0]->recording(), &queue);
    EXPECT_EQ(bench.ticks(), 10u);
    // a reset by hand: ticks of the loop begin anew, those of the recording go on
    bench.runners[0]->send({.kind = Kind::Reset});
    bench.run_for(10 * kMillisecond);
    EXPECT_EQ(bench.ticks(), 10u);
    bench.runners[0]->record_to(nullptr);
    bench.run_for(10 * kMillisecond);
    EXPECT_EQ(bench.runners[0]->recording(), nullptr);

    const Records records(queue);
    ASSERT_EQ(records.samples.size(), 20u);
    for (std::size_t k = 0; k < 20; ++k) EXPECT_EQ(records.samples[k], k + 1);
    EXPECT_EQ(records.commands, std::vector<std::uint64_t>{10});
    EXPECT_EQ(records.states, (std::vector<std::uint64_t>{0, 5, 10, 15, 20}));
    EXPECT_EQ(records.state_sizes, std::vector<std::size_t>(5, 8 + 6 * sizeof(double)));
}

TEST(LoopRunner, ARecordingBeginsWithTheParametersThatItsHeaderNames) {
    Bench bench({1000, 500});
    bench.control.is_paused = false;
    RecordingHeader header;
    for (const WorldParameter& one : bench.world.parameters())
        header.parameters.emplace_back(one.parameter.name, one.parameter.value);
    const int stiffness = bench.world.find_parameter("points0.stiffness");
    ASSERT_GE(stiffness, 0);
    header.parameters[static_cast<std::size_t>(stiffness)].second = 150;
    bench.world.apply({.kind = Kind::SetParameter, .parameter = stiffness, .value = 150});
    // a script that comes to it after the header was written
    bench.world.apply({.kind = Kind::SetParameter, .parameter = stiffness, .value = 300}, 0);
    bench.world.apply({.kind = Kind::SetParameter,
                       .parameter = bench.world.find_parameter("points1.stiffness"),
                       .value = 300},
                      1);
    RecordQueue queue(1 << 20);
    bench.runners[0]->select_parameters(header);
    bench.runners[0]->record_to(&queue);
    bench.run_for(3 * kMillisecond);
    EXPECT_EQ(bench.points.bodies[0][0]->stiffness(), 150);
    EXPECT_EQ(bench.world.parameter_value(stiffness), 150);
    EXPECT_EQ(bench.points.bodies[1][0]->stiffness(), 300) << "not of this loop";
    EXPECT_TRUE(Records(queue).commands.empty()) << "the header says it";
}

TEST(LoopRunner, AWholeTurnAllocatesNothing) {
    if (!AllocationGuard::is_active()) GTEST_SKIP();
    Bench bench({1000}, {.frames_per_second = 500});
    bench.control.is_paused = false;
    RecordQueue queue(1 << 20);
    RecordingHeader::RecordedBody recorded;
    bench.runners[0]->select_states({recorded});
    bench.run_for(5 * kMillisecond);

    AllocationGuard guard;
    bench.runners[0]->record_to(&queue);
    for (int round = 0; round < 3; ++round) {
        bench.runners[0]->send(grab_body(round % 2, {0, 0, 1}));
        bench.runners[0]->send({.kind = Kind::Poke, .slot = 1, .body = 1, .vertex = 2});
        bench.runners[0]->send({.kind = Kind::SetParameter, .parameter = 0, .value = 3});
        bench.run_for(250 * kMillisecond);  // summaries too
        bench.runners[0]->send({.kind = Kind::Drag, .target = {1, 1, 1}, .duration = 0.1});
        bench.runners[0]->send({.kind = Kind::Release});
        bench.runners[0]->send({.kind = Kind::Reset});
        bench.run_for(10 * kMillisecond);
        bench.control.is_paused = true;
        bench.control.steps += 3;
        bench.run_for(10 * kMillisecond);
        bench.control.is_paused = false;
    }
    bench.runners[0]->record_to(nullptr);
    bench.run_for(5 * kMillisecond);
    (void)bench.runners[0]->frame();
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_EQ(queue.lost(), 0u);
}

TEST(LoopRunner, AFullCommandQueueSaysSo) {
    Bench bench;
    std::size_t sent = 0;
    while (bench.runners[0]->has_room() && sent < 10'000) {
        bench.runners[0]->send({.kind = Kind::Drag});
        ++sent;
    }
    EXPECT_EQ(sent, LoopRunner::kMaxCommands);
    bench.run_for(kMillisecond);
    EXPECT_TRUE(bench.runners[0]->has_room());
}

}  // namespace
}  // namespace pliant
