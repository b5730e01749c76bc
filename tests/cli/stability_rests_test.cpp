#include "apps/pliant/reproduce/stability_rests.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

// What judges the closed loops of `pliant reproduce haptics`, on forces whose answer is known.

namespace pliant::reproduce {
namespace {

constexpr double kRestTick = 1e-3;

RestJudge sample_judge() {
    DeviceCapabilities device;
    device.position_step = 2e-5;
    return {device, 600, 0.2, 1 / kRestTick};
}

/// A handle that shakes at 40 Hz about 1 N.
HapticTick shaken(double time, double amplitude) {
    HapticTick tick;
    tick.num_contacts = 1;
    tick.command.force = {0, 0, 1 + amplitude * std::sin(80 * std::numbers::pi * time)};
    return tick;
}

/// Rests for a second, and on if it had grown.
template <class Amplitude>
StabilityOutcome judged_rest(Amplitude amplitude) {
    RestJudge judge = sample_judge();
    judge.begin();
    int k = 0;
    const auto rest = [&](double seconds) {
        for (const int end = k + static_cast<int>(seconds / kRestTick); k < end; ++k)
            judge.listen(shaken(k * kRestTick, amplitude(k * kRestTick)));
    };
    rest(1);
    if (judge.end()) {
        rest(RestJudge::kHeldOn);
        judge.end_held();
    }
    return judge.outcome();
}

TEST(RestJudge, LeavesAQuietRestAlone) {
    const StabilityOutcome o = judged_rest([](double) { return 0.01; });
    EXPECT_EQ(o.num_rests, 1);
    EXPECT_EQ(o.num_above + o.num_grown + o.num_growing, 0);
    // the high-pass of eq. (24) leaves 40 Hz
    EXPECT_NEAR(o.force, 0.01 / std::sqrt(2), 5e-4);
}

TEST(RestJudge, FindsAnOscillationAboveTheLimit) {
    const StabilityOutcome o = judged_rest([](double) { return 0.1; });
    EXPECT_EQ(o.num_above, 1);
    EXPECT_GT(o.force, o.force_limit);
}

TEST(RestJudge, TellsWhatGrowsOnFromWhatDiesOut) {
    const StabilityOutcome growing =
        judged_rest([](double time) { return 0.012 * std::pow(1.6, time); });
    EXPECT_EQ(growing.num_grown, 1);
    EXPECT_EQ(growing.num_above, 0) << "of the first two windows";
    EXPECT_EQ(growing.num_growing, 1);
    const StabilityOutcome dying =
        judged_rest([](double time) { return 0.05 * time * std::exp(-time); });
    EXPECT_EQ(dying.num_grown, 1);
    EXPECT_EQ(dying.num_growing, 0);
}

TEST(RestJudge, CountsStopsWithoutContactButNotAsRests) {
    RestJudge judge = sample_judge();
    judge.begin();
    for (int k = 0; k < 1000; ++k) judge.listen({});
    EXPECT_FALSE(judge.end());
    EXPECT_EQ(judge.outcome().num_stops, 1);
    EXPECT_EQ(judge.outcome().num_rests, 0);
}

TEST(RestJudge, SeesHelpAndWhetherItWasSaid) {
    RestJudge judge = sample_judge();
    HapticTick tick;
    judge.watch(tick, "");
    EXPECT_EQ(judge.outcome().num_helped, 0);
    tick.step_scale = 0.5;
    judge.watch(tick, nullptr);
    judge.watch(tick, "The steps of the tool were lowered to 50 %.");
    EXPECT_EQ(judge.outcome().num_unsaid, 0);
    judge.watch(tick, "");
    EXPECT_EQ(judge.outcome().num_unsaid, 1);
    tick.step_scale = 1;
    tick.gain_scale = 0.8;
    judge.watch(tick, nullptr);
    tick.gain_scale = 1;
    tick.stored_energy = 2 * PassivityOptions().tolerance;
    judge.watch(tick, "");
    EXPECT_EQ(judge.outcome().num_helped, 5);
    EXPECT_EQ(judge.outcome().least_gains, 0.8);
    EXPECT_EQ(judge.outcome().notice, "The steps of the tool were lowered to 50 %.");
}

/// Two rounds and a long rest; `change` makes something of each tick.
template <class Change>
StabilityOutcome judged_run(Change change) {
    HapticTick tick;
    int count = 0;
    return judge_rests(
        sample_judge(), {.dt = kRestTick, .round = 5, .seconds = 10, .long_rest = 6},
        [&](double) -> const HapticTick& {
            tick = shaken(count * kRestTick, 0.001);
            change(count * kRestTick, tick);
            ++count;
            return tick;
        },
        [] { return ""; });
}

TEST(JudgeRests, CountsRoundsAndListensOnlyWhileTheHandIsStill) {
    const StabilityOutcome o = judged_run([](double time, HapticTick& tick) {
        if (std::fmod(time, 5) < 3.9 && time < 10) tick = shaken(time, 1);
    });
    EXPECT_EQ(o.num_stops, 2);
    EXPECT_EQ(o.num_rests, 2);
    EXPECT_EQ(o.num_above, 0);
    EXPECT_LT(o.held_force, 0.002);
}

TEST(JudgeRests, TheWholeOfALongRestCounts) {
    const StabilityOutcome o = judged_run([](double time, HapticTick& tick) {
        if (time > 11 && time < 12) tick = shaken(time, 0.1);
    });
    EXPECT_EQ(o.num_above, 0);
    EXPECT_GT(o.held_force, 0.05);
}

TEST(JudgeRests, WatchesWhatIsHeldOn) {
    // the first rest grows; help comes while it is held on, 5 to 10 s after the start
    const StabilityOutcome o = judged_run([](double time, HapticTick& tick) {
        if (time > 4 && time < 5) tick = shaken(time, time < 4.5 ? 0.01 : 0.02);
        if (time > 6 && time < 9) tick.gain_scale = 0.8;
    });
    EXPECT_EQ(o.num_grown, 1);
    EXPECT_EQ(o.num_growing, 0);
    EXPECT_NEAR(o.num_helped, 3000, 2);
    EXPECT_GT(o.num_unsaid, 20);
}

}  // namespace
}  // namespace pliant::reproduce
