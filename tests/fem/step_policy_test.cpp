#include "core/numbers.h"
#include "input_error.h"
#include "pliant/fem/stable_step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace pliant {
namespace {

using test::input_error;

TEST(StepPolicy, RefusesOptionsByName) {
    EXPECT_EQ(input_error([] { StepPolicy(0, {}); }),
              "dt_crit = 0 (expected 0 < value < infinity)");
    EXPECT_EQ(input_error([] { StepPolicy(kInfinity, {}); }),
              "dt_crit = inf (expected 0 < value < infinity)");
    EXPECT_EQ(input_error([] { StepPolicy(1, {.safety = 1}); }),
              "safety = 1 (expected 0 < value < 1)");
    EXPECT_EQ(input_error([] { StepPolicy(1, {.safety = kNan}); }),
              "safety = nan (expected 0 < value < 1)");
    EXPECT_EQ(input_error([] { StepPolicy(1, {.refresh_interval = -1}); }),
              "refresh_interval = -1 (expected value >= 0)");
    EXPECT_EQ(input_error([] { StepPolicy(1, {.iterations = 0}); }),
              "iterations = 0 (expected value >= 1)");
}

TEST(StepPolicy, EndsOnFramesWithEqualSteps) {
    StepPolicy policy(1e-3, {.safety = 0.6});
    for (const double frame : {1.0 / 60, 1.0 / 30, 6e-4, 1.8e-3, 4.2e-3, 5e-5, 0.1}) {
        double time = 0;
        int steps = 0;
        std::set<double> lengths;
        while (true) {
            const double dt = policy.next(frame - time);
            if (dt == 0) break;
            EXPECT_LE(dt, 0.6e-3 * (1 + 1e-8));
            lengths.insert(dt);
            time += dt;
            ASSERT_LT(++steps, 1000);
        }
        EXPECT_NEAR(time, frame, 1e-12);
        EXPECT_EQ(steps, static_cast<int>(std::ceil(frame / 0.6e-3 * (1 - 1e-9))));
        EXPECT_EQ(lengths.size(), 1u);  // to the bit, as contact wants it
    }
}

TEST(StepPolicy, WithoutFramesItTakesTheFractionOfTheLimit) {
    StepPolicy policy(1e-3, {.safety = 0.5});
    EXPECT_EQ(policy.next(kInfinity), 0.5e-3);
    EXPECT_EQ(policy.next(kNan), 0.5e-3);
    EXPECT_EQ(policy.next(0), 0);
    EXPECT_EQ(policy.next(-1), 0);
}

TEST(StepPolicy, TheStepAfterACaptureHasTheSameLength) {
    StepPolicy policy(1e-3, {.safety = 0.5});
    const double first = policy.next(0.7e-3);
    EXPECT_EQ(first, 0.35e-3);
    policy.captured();
    EXPECT_EQ(policy.next(0.1e-3), first);  // beyond the frame
    EXPECT_EQ(policy.next(0.1e-3), 0.1e-3);
    // also over the border of a frame
    policy.captured();
    EXPECT_EQ(policy.next(0), 0);
    EXPECT_EQ(policy.next(1), 0.1e-3);
    // and when the limit has fallen
    policy.captured();
    policy.refresh(1e-5);
    EXPECT_EQ(policy.next(1), 0.1e-3);
    EXPECT_LE(policy.next(1), 0.5e-5);
}

TEST(StepPolicy, AsksForRefreshesAndNeverGoesAboveTheLimitAtRest) {
    StepPolicy policy(1e-3, {.safety = 0.5, .refresh_interval = 3});
    for (int k = 0; k < 3; ++k) {
        EXPECT_FALSE(policy.wants_refresh());
        (void)policy.next(kInfinity);
    }
    EXPECT_TRUE(policy.wants_refresh());
    policy.refresh(0.4e-3);
    EXPECT_FALSE(policy.wants_refresh());
    EXPECT_EQ(policy.next(kInfinity), 0.2e-3);
    policy.refresh(kInfinity);
    EXPECT_EQ(policy.dt_crit(), 1e-3);
    policy.refresh(0.3e-3);
    for (const double bad : {0.0, -1.0, kNan}) policy.refresh(bad);
    EXPECT_EQ(policy.dt_crit(), 0.3e-3);

    StepPolicy never(1e-3, {.refresh_interval = 0});
    for (int k = 0; k < 100; ++k) (void)never.next(kInfinity);
    EXPECT_FALSE(never.wants_refresh());
}

}  // namespace
}  // namespace pliant
