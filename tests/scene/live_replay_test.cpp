#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>
#include <sstream>
#include <thread>

#include "core/temporary_directory.h"
#include "scene/coarse_demos.h"
#include "scene/loop_runner.h"
#include "scene/proxy_scenes.h"

// What was live is simulated again bit for bit: loops on threads, somebody who takes, moves and
// sets things whenever he likes, before the recording and in it.

namespace pliant {
namespace {

using test::RestlessHand, test::coarse_demo, test::letters_of;
using Kind = Command::Kind;

/// Loops of one world whose threads are this one: they tick in whatever order it wants.
struct Threads {
    Threads(World& world, const std::filesystem::path& file)
        : header(recording_header(world, {}, 1e6)), writer(file, header) {
        for (int l = 0; l < world.num_loops(); ++l) {
            runners.push_back(std::make_unique<LoopRunner>(world, l, control, EngineOptions()));
            queues.push_back(std::make_unique<RecordQueue>(std::size_t{1} << 20));
            runners.back()->select_states(header.bodies);
            clocks.push_back(0);
        }
        control.is_paused = false;
    }
    /// The next tick of a loop, as late as it may be.
    void turn(int loop) {
        const auto l = static_cast<std::size_t>(loop);
        clocks[l] += 1'000'000'000;
        runners[l]->turn(clocks[l]);
        if (!runners[l]->recording()) return;
        writer.drain(loop, *queues[l]);
        ASSERT_EQ(queues[l]->lost(), 0u);
    }
    void record(int loop, bool does) {
        const auto l = static_cast<std::size_t>(loop);
        runners[l]->record_to(does ? queues[l].get() : nullptr);
        turn(loop);
        writer.drain(loop, *queues[l]);
    }
    void send(const World& world, const Command& command) {
        for (int l = 0; l < world.num_loops(); ++l)
            if (world.concerns(command, l)) runners[static_cast<std::size_t>(l)]->send(command);
    }

    RecordingHeader header;
    RecordingWriter writer;
    EngineControl control;
    std::vector<std::unique_ptr<LoopRunner>> runners;
    std::vector<std::unique_ptr<RecordQueue>> queues;
    std::vector<std::int64_t> clocks;
};

TEST(LiveReplay, IsExactInWhateverOrderLoopsTicked) {
    const test::TemporaryDirectory folder;
    SceneDescription scene = parse_scene(test::kThreeLoops, "scene.json", ".");
    scene.loops[0].rate = 400;
    std::uint64_t num_beyond = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        SCOPED_TRACE(testing::Message() << "order " << seed);
        const auto file = folder / "live.pliantrec";
        World world(scene, {.cache = {}}), again(scene, {.cache = {}});
        RestlessHand hand(seed);
        {
            Threads threads(world, file);
            const auto run = [&](int turns, bool resets) {
                for (int k = 0; k < turns; ++k) {
                    // one of them may be left without the processor for long
                    const int loop = hand.below(3), count = hand.below(40) == 0 ? 400 : 1;
                    for (int i = 0; i < count; ++i) threads.turn(loop);
                    if (hand.below(20) == 0) threads.send(world, hand.next(again));
                    if (resets && hand.below(100) == 0) threads.send(world, {.kind = Kind::Reset});
                }
            };
            run(50, true);
            for (int l = 0; l < 3; ++l) threads.turn(l);  // nothing waits
            for (const int l : {2, 0, 1}) {
                threads.record(l, true);
                run(3, false);
            }
            run(300, true);
            for (const int l : {1, 2, 0}) {
                threads.record(l, false);
                run(5, false);
            }
            threads.writer.finish();
        }
        const ReplayCheck check = check_replay(Recording::load(file), again);
        EXPECT_GT(check.num_compared, 300u);
        EXPECT_EQ(check.num_different, 0u) << check.first_difference;
        num_beyond += check.num_beyond;
    }
    EXPECT_GT(num_beyond, 0u) << "of loops that ended to record one after the other";
}

TEST(LiveReplay, ALoopWhoseRecordsEndSecondsBeforeAnothersIsADifference) {
    const test::TemporaryDirectory folder;
    const SceneDescription scene = parse_scene(test::kThreeLoops, "scene.json", ".");
    const auto file = folder / "live.pliantrec";
    World world(scene, {.cache = {}}), again(scene, {.cache = {}});
    {
        Threads threads(world, file);
        const auto run = [&](int haptic_ticks) {
            for (int k = 1; k <= haptic_ticks; ++k) {
                threads.turn(0);
                if (k % 10 > 0) continue;
                threads.turn(1);
                threads.turn(2);
            }
        };
        for (int l = 0; l < 3; ++l) threads.record(l, true);
        run(200);
        // the loop of the bodies goes on, unseen
        threads.record(1, false);
        run(1500);
        for (const int l : {0, 2}) threads.record(l, false);
        threads.writer.finish();
    }
    const ReplayCheck check = check_replay(Recording::load(file), again);
    EXPECT_GT(check.num_beyond, 1400u);
    EXPECT_EQ(check.num_different, 1u);
    EXPECT_NE(check.first_difference.find("the loop \"haptic\" (its last 1"), std::string::npos)
        << check.first_difference;
    EXPECT_NE(check.first_difference.find("saw more of another loop than the recording has)"),
              std::string::npos)
        << check.first_difference;
    // a file that was cut off says itself that it ends early
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
    const Recording cut = Recording::load(file);
    ASSERT_FALSE(cut.is_complete());
    World third(scene, {.cache = {}});
    const ReplayCheck of_cut = check_replay(cut, third);
    EXPECT_EQ(of_cut.num_beyond, check.num_beyond);
    EXPECT_EQ(of_cut.num_different, 0u) << of_cut.first_difference;
}

TEST(LiveReplay, LoopsThatWereResetAtDifferentPlacesOfTheScriptStillTellEachOther) {
    SceneDescription scene = parse_scene(test::kThreeLoops, "scene.json", ".");
    scene.script.push_back({.time = 0.15, .kind = Kind::Reset});
    World world(scene, {.cache = {}});
    const auto run = [&](int loop, int ticks) {
        for (int k = 0; k < ticks; ++k) {
            world.run_script(loop);
            world.loop(loop).tick();
        }
    };
    // the reset by hand comes after that of the script in one loop, and before it in the other
    run(0, 160);
    run(1, 14);
    world.apply({.kind = Kind::Reset});
    int num_held = 0;
    for (int k = 0; k < 140; ++k) {
        run(0, 1);
        if (k % 10 == 0) run(1, 1);
        num_held += world.loop(0).haptic_tick()->num_contacts > 0;
    }
    EXPECT_GT(num_held, 10);
}

/// Does this and that for a while; `still` is the same world as it was at the start.
void play(Engine& engine, const World& still, RestlessHand& hand, double seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < end) {
        const int choice = hand.below(50);
        if (choice == 0)
            engine.send({.kind = Kind::Reset});
        else if (choice == 1)
            engine.pause();
        else if (choice == 2)
            engine.single_step(1 + hand.below(20));
        else if (choice == 3)
            engine.set_speed(0.5 + 0.5 * hand.number());
        else if (choice < 10)
            engine.send(hand.slider(still));
        else
            engine.send(hand.next(still));
        std::this_thread::sleep_for(std::chrono::milliseconds(1 + hand.below(15)));
        engine.run();
        if (hand.below(4) == 0) engine.set_speed(1);
    }
}

/// Says how much was compared.
std::string expect_exact_replay(const SceneDescription& scene, const WorldOptions& options,
                                double seconds, std::uint64_t seed) {
    SCOPED_TRACE(testing::Message() << "hand " << seed);
    const test::TemporaryDirectory folder;
    World still(scene, options);
    {
        // loops that are left without the processor for long are welcome here
        Engine engine(std::make_unique<World>(scene, options),
                      {.is_real_time = false, .answer_time = 300});
        RestlessHand hand(seed);
        engine.run();
        play(engine, still, hand, std::min(0.3, seconds));
        engine.start_recording(folder / "live.pliantrec", recording_header(engine.world()));
        play(engine, still, hand, seconds);
        engine.stop_recording();
        EXPECT_EQ(engine.recording().lost, 0u);
        EXPECT_EQ(engine.recording().problem, "");
    }
    const Recording recording = Recording::load(folder / "live.pliantrec");
    EXPECT_TRUE(recording.is_complete()) << recording.problem();
    const ReplayCheck check = check_replay(recording, still);
    EXPECT_GT(check.num_compared, 0u);
    EXPECT_EQ(check.num_different, 0u)
        << "of " << check.num_compared << ", first " << check.first_difference;
    EXPECT_LT(check.num_beyond, 500u) << "loops stop within moments of each other";
    std::ostringstream said;
    said << recording.duration() << " s, " << check.num_different << " of " << check.num_compared
         << " compared differ, " << check.num_beyond << " ticks beyond";
    return said.str();
}

/// With several loops that tell each other where the tool is, and with one.
class LiveReplay : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Demos, LiveReplay,
                         testing::Values("basket-heap", "hand-curtain", "soft-hand", "sliding-hand",
                                         "alpha-puzzle", "squeeze", "rabbit-levels"),
                         [](const auto& demo) { return letters_of(demo.param); });

TEST_P(LiveReplay, OfACoarseDemoIsExact) {
    (void)expect_exact_replay(coarse_demo(GetParam()), {.cache = {}}, 1, 5);
}

/// All demos as they are, models from the cache: --gtest_also_run_disabled_tests, and
/// --gtest_repeat for more runs. PLIANT_REPLAY_SECONDS says how long each one takes;
/// every run has another hand.
class DISABLED_LiveReplayOfDemos : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Demos, DISABLED_LiveReplayOfDemos, testing::ValuesIn([] {
                             std::vector<std::string> names;
                             for (const DemoInfo& demo : demo_list()) names.push_back(demo.name);
                             return names;
                         }()),
                         [](const auto& demo) { return letters_of(demo.param); });

TEST_P(DISABLED_LiveReplayOfDemos, IsExact) {
    const char* const seconds = std::getenv("PLIANT_REPLAY_SECONDS");
    std::cout << GetParam() << ": "
              << expect_exact_replay(demo_scene(GetParam()), {}, seconds ? std::atof(seconds) : 6,
                                     std::random_device()())
              << '\n';
}

}  // namespace
}  // namespace pliant
