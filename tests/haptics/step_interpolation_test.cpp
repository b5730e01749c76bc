#include "pliant/haptics/step_interpolation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/numbers.h"
#include "pliant/core/allocation_guard.h"

namespace pliant {
namespace {

using Eigen::Vector3d;

/// A simulator as the interpolation sees it: state i has a force of its own.
struct SteppingSimulator {
    FemToolSteps steps;
    SteppingSimulator() { steps.epoch = 1; }
    static Vector3d force(std::uint64_t i) {
        const auto x = static_cast<double>(i);
        return {std::sin(0.7 * x), 0.5 * std::cos(1.3 * x), 0.2 * std::sin(2.1 * x)};
    }
    void publish(double time, double next) {
        FemToolState state;
        state.time = time;
        state.contact.force = force(steps.count);
        state.contact.torque = 0.1 * force(steps.count + 7);
        state.tool.position.x() = static_cast<double>(steps.count);
        state.num_contacts = static_cast<int>(steps.count);
        steps.states[steps.count++ % FemToolSteps::kSize] = state;
        steps.next = next;
    }
};

TEST(StepInterpolation, StatesAreShownExactlyOneStepLateForStepsOfAnyLength) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform(0.3e-3, 5e-3);
    std::vector<double> times{0.2};
    for (int i = 0; i < 200; ++i) times.push_back(times.back() + uniform(random));
    SteppingSimulator simulator;
    StepInterpolation interpolation;
    simulator.publish(times[0], times[1]);
    for (std::size_t k = 0; k + 2 < times.size(); ++k) {
        // state k + 1 is there in time, and says when the next one will be
        simulator.publish(times[k + 1], times[k + 2]);
        const FemToolState& shown = interpolation.update(simulator.steps, times[k + 1]);
        ASSERT_EQ(shown.time, times[k]) << k;
        ASSERT_EQ(shown.contact.force, SteppingSimulator::force(k)) << k;
        ASSERT_EQ(interpolation.lag(), times[k + 1] - times[k]) << k;
        // straight lines in between
        for (const double s : {0.25, 0.5, 0.9}) {
            const double now = times[k + 1] + s * (times[k + 2] - times[k + 1]);
            interpolation.update(simulator.steps, now);
            const Vector3d expected =
                (1 - s) * SteppingSimulator::force(k) + s * SteppingSimulator::force(k + 1);
            ASSERT_LT((shown.contact.force - expected).norm(), 1e-9) << k;
            ASSERT_NEAR(shown.tool.position.x(), static_cast<double>(k) + s, 1e-9);
            ASSERT_NEAR(shown.time, times[k] + s * (times[k + 1] - times[k]), 1e-12);
        }
    }
    EXPECT_EQ(interpolation.num_late(), 0u);
    EXPECT_EQ(interpolation.gain(), 1);
}

TEST(StepInterpolation, ManyStepsBetweenTwoUpdatesAreShownOneStepLateToo) {
    SteppingSimulator simulator;
    StepInterpolation interpolation;
    for (int i = 0; i < 500; ++i) {
        const double t = 1e-4 * i;
        simulator.publish(t, t + 1e-4);
        if (i % 10 == 5) {
            interpolation.update(simulator.steps, t);
            ASSERT_NEAR(interpolation.lag(), 1e-4, 1e-9);
        }
    }
}

TEST(StepInterpolation, ForceIsContinuousWhenStatesComeLateAndTheLagReturnsToOneStep) {
    constexpr double kStepLength = 2e-3, kTick = 1e-4;
    std::mt19937 random(5);
    std::uniform_real_distribution<double> uniform(0, 1);
    SteppingSimulator simulator;
    StepInterpolation interpolation;
    simulator.publish(0, kStepLength);
    double largest_change = 0, published = 0;
    Vector3d last = Vector3d::Zero();
    double delay = 0;
    for (int tick = 0; tick < 20000; ++tick) {
        const double now = tick * kTick;
        const bool is_calm = tick > 18000;  // no more delays
        // state i is due at i steps and comes up to four steps late now and then
        while (published + delay <= now) {
            const double time = published + kStepLength;
            simulator.publish(time, time + kStepLength);
            published = time;
            delay = !is_calm && uniform(random) < 0.1 ? 4 * kStepLength * uniform(random) : 0;
        }
        const Vector3d force = interpolation.update(simulator.steps, now).contact.force;
        if (tick > 0) largest_change = std::max(largest_change, (force - last).norm());
        last = force;
    }
    // states differ by less than 1.5 N; a tick is a twentieth of a step, at most at twice the pace
    EXPECT_LT(largest_change, 1.5 * 2 * kTick / kStepLength);
    EXPECT_GT(interpolation.num_late(), 100u);
    EXPECT_NEAR(interpolation.lag(), kStepLength, 1e-9);
    EXPECT_EQ(interpolation.gain(), 1);
}

TEST(StepInterpolation, AnAnnouncementThatComesAfterTheFirstUpdateDoesNotMoveThingsBack) {
    SteppingSimulator simulator;
    StepInterpolation interpolation;
    simulator.publish(0, 1e-3);
    simulator.publish(1e-3, 2e-3);
    double last = -1;
    for (int tick = 0; tick <= 60; ++tick) {
        const double now = 1e-3 + 1e-4 * tick;
        // the step turns out to be five times as long as it was guessed
        if (tick == 5) simulator.steps.next = 6e-3;
        const double x = interpolation.update(simulator.steps, now).tool.position.x();
        ASSERT_GE(x, last);
        last = x;
    }
    EXPECT_EQ(last, 1);
}

TEST(StepInterpolation, TheWatchdogFadesTheForceOfAStoppedSimulatorAndBringsItBack) {
    SteppingSimulator simulator;
    const StepInterpolationOptions options;
    StepInterpolation interpolation(options);
    for (int i = 0; i < 20; ++i) simulator.publish(2e-3 * i, 2e-3 * (i + 1));
    // the last state is due at 38 ms, the one that is missing at 40 ms
    const Vector3d last = SteppingSimulator::force(19);
    double least_step = 1, before = 1;
    for (int tick = 38; tick < 300; ++tick) {
        const double now = 1e-3 * tick;
        const FemToolState& shown = interpolation.update(simulator.steps, now);
        if (now > 0.0401) {
            EXPECT_EQ(shown.contact.force, last);
            EXPECT_NEAR(interpolation.lateness(), now - 0.04, 1e-12);
        }
        if (now < 0.0899) {
            EXPECT_EQ(interpolation.gain(), 1) << now;
        }
        if (now > 0.1415) {
            EXPECT_EQ(interpolation.gain(), 0) << now;
        }
        least_step = std::min(least_step, interpolation.gain() - before);
        before = interpolation.gain();
    }
    EXPECT_NEAR(least_step, -1e-3 / options.fade_time, 1e-12);
    // it goes on: another state, and the clock of the simulator with the time that was lost
    double now = 0.3;
    for (int i = 0; i < 200; ++i) {
        simulator.publish(now + 2e-3, now + 4e-3);
        for (int k = 0; k < 2; ++k, now += 1e-3) {
            interpolation.update(simulator.steps, now);
            EXPECT_LE(interpolation.gain() - before, 1e-3 / options.return_time + 1e-12);
            before = interpolation.gain();
        }
    }
    EXPECT_EQ(interpolation.gain(), 1);
    EXPECT_NEAR(interpolation.lag(), 2e-3, 1e-9);
}

TEST(StepInterpolation, AFreshStartBeginsWithoutForce) {
    SteppingSimulator simulator;
    StepInterpolation interpolation;
    EXPECT_EQ(interpolation.update(FemToolSteps{}, 1).contact.force, Vector3d::Zero());
    EXPECT_EQ(interpolation.epoch(), 0u);
    for (int i = 0; i < 5; ++i) simulator.publish(1 + 2e-3 * i, 1 + 2e-3 * (i + 1));
    interpolation.update(simulator.steps, 1.009);
    EXPECT_TRUE(interpolation.is_anew());
    EXPECT_EQ(interpolation.gain(), 1);
    interpolation.update(simulator.steps, 1.0095);
    EXPECT_FALSE(interpolation.is_anew());
    SteppingSimulator other;
    other.steps.epoch = 2;
    other.publish(1.01, 1.012);
    interpolation.update(other.steps, 1.01);
    EXPECT_TRUE(interpolation.is_anew());
    EXPECT_EQ(interpolation.epoch(), 2u);
    EXPECT_LT(interpolation.gain(), 0.01);
}

TEST(StepInterpolation, TimesThatAreNotFiniteOrRunBackChangeNothing) {
    SteppingSimulator simulator;
    StepInterpolation interpolation;
    for (int i = 0; i < 5; ++i) simulator.publish(2e-3 * i, 2e-3 * (i + 1));
    const Vector3d shown = interpolation.update(simulator.steps, 9.1e-3).contact.force;
    for (const double now : {kNan, kInfinity, -kInfinity, 0.0, 9e-3}) {
        EXPECT_EQ(interpolation.update(simulator.steps, now).contact.force, shown);
        EXPECT_EQ(interpolation.gain(), 1);
    }
}

TEST(StepInterpolation, UpdatesAllocateNothing) {
    SteppingSimulator simulator;
    StepInterpolation interpolation;
    AllocationGuard guard;
    for (int i = 0; i < 100; ++i) {
        simulator.publish(2e-3 * i, 2e-3 * (i + 1));
        interpolation.update(simulator.steps, 2e-3 * i + 1e-3);
    }
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
}

TEST(StepInterpolation, TimesOutOfRangeAreRefusedByName) {
    StepInterpolationOptions options;
    options.timeout = -1;
    try {
        const StepInterpolation refused(options);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "watchdog.timeout = -1 (expected 0.001 to 10 s)");
    }
}

}  // namespace
}  // namespace pliant
