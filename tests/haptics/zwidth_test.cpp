#include "pliant/haptics/zwidth.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "input_error.h"
#include "pliant/core/parallel.h"

namespace {

using namespace pliant;

/// The case that b > K T/2 is derived for. Trials are shorter than by default: the limits are the
/// same to 0.1 %.
ZWidthOptions ideal_wall() {
    ZWidthOptions options;
    options.device.delay = 0;
    options.device.capabilities.position_step = 0;
    options.duration = 1;
    return options;
}
double bound(const ZWidthOptions& options, double stiffness) {
    return 0.5 * stiffness / options.device.rate;
}

TEST(ZWidth, NeededDampingIsHalfStiffnessTimesPeriod) {
    for (const double mass : {0.05, 0.1, 0.3})
        for (const double rate : {1000.0, 4000.0}) {
            ZWidthOptions options = ideal_wall();
            options.device.mass = mass;
            options.device.rate = rate;
            options.device.steps_per_sample = 10;
            for (const double stiffness : {100.0, 1000.0, 5000.0}) {
                const double expected = bound(options, stiffness);
                ASSERT_LT(expected / (mass * rate), 0.06);  // b T/m small
                EXPECT_NEAR(needed_damping(options, stiffness) / expected, 1, 0.02)
                    << mass << " kg, " << rate << " Hz, " << stiffness << " N/m";
            }
        }
}

TEST(ZWidth, NeededDampingIsThatOfTheExactSampledSystem) {
    // mass and damper under held forces, solved exactly: stable if the determinant is below 1
    const double T = 1e-3, m = 0.02, K = 8000;  // b T/m is 0.2 here
    const auto determinant = [&](double b) {
        const double e = std::exp(-b * T / m), v = (1 - e) / b, x = (T - m * v) / b;
        return e * (1 - K * x) + K * v * m * v;
    };
    double low = 0.1, high = 10;
    while (high - low > 1e-9)
        (determinant(0.5 * (low + high)) < 1 ? high : low) = 0.5 * (low + high);
    ZWidthOptions options = ideal_wall();
    options.device.mass = m;
    EXPECT_NEAR(needed_damping(options, K), low, 3e-3 * low);
    EXPECT_LT(low, 0.98 * bound(options, K));  // the bound is on the safe side
}

TEST(ZWidth, DelayAddsAWholeSampleEach) {
    ZWidthOptions options = ideal_wall();
    for (const int delay : {1, 2, 3})
        for (const double stiffness : {200.0, 1000.0}) {
            options.device.delay = delay;
            EXPECT_NEAR(needed_damping(options, stiffness) / bound(options, stiffness),
                        1 + 2 * delay, 0.04 * delay + 0.02);
        }
}

TEST(ZWidth, MotorLagCountsAsDelay) {
    ZWidthOptions options = ideal_wall();
    options.device.motor_bandwidth = 200;
    const double lag = 1 / (2 * std::numbers::pi * 200);
    EXPECT_NEAR(needed_damping(options, 500), 500 * (0.5e-3 + lag), 0.03 * 500 * (0.5e-3 + lag));
}

TEST(ZWidth, HandTakesOverItsDamping) {
    ZWidthOptions options = ideal_wall();
    options.hand = HandModel::loose();  // 1 N s/m
    EXPECT_EQ(needed_damping(options, 1000), 0);
    EXPECT_NEAR(needed_damping(options, 4000), 2 - 1, 0.05);
    options.hand = HandModel::firm();  // 6 N s/m
    EXPECT_EQ(needed_damping(options, 8000), 0);
}

TEST(ZWidth, DryFrictionHelpsSmallMotions) {
    // energy balance of a cycle at the speed v: b = K T/2 − 4 f/(π v)
    ZWidthOptions options = ideal_wall();
    options.device.friction = 0.01;
    const double gain = 4 * 0.01 / (std::numbers::pi * options.approach);
    EXPECT_NEAR(needed_damping(options, 1000), 0.5 - gain, 0.02);
    EXPECT_EQ(needed_damping(options, 300), 0);  // 0.15 is less than the gain of 0.25
    options.approach = 0.2;                      // faster: friction counts for less
    EXPECT_NEAR(needed_damping(options, 1000), 0.5 - gain / 4, 0.02);
}

TEST(ZWidth, EncoderStepsLeaveTheBoundAndKeepASmallMotion) {
    ZWidthOptions options = ideal_wall();
    options.duration = 3;
    options.device.capabilities.position_step = 5e-5;
    EXPECT_NEAR(needed_damping(options, 1000) / bound(options, 1000), 1, 0.05);
    // far on the stable side: without steps all motion ends, with them it toggles
    options.device.damping = 3 * bound(options, 3000);
    const ZWidthCell coarse = try_wall(options, 3000, 0);
    EXPECT_TRUE(coarse.is_stable);
    EXPECT_GT(coarse.remaining, 0.2 * 5e-5);
    EXPECT_LT(coarse.remaining, 2 * 5e-5);
    options.device.capabilities.position_step = 0;
    EXPECT_LT(try_wall(options, 3000, 0).growth, 1e-5);
    // dry friction of K step/2 stops that too
    options.device.capabilities.position_step = 5e-5;
    options.device.friction = 0.5 * 3000 * 5e-5;
    EXPECT_LT(try_wall(options, 3000, 0).remaining, 1e-9);
}

TEST(ZWidth, WallDampingStabilizesUpToTheSampledLimit) {
    ZWidthOptions options = ideal_wall();
    options.device.damping = 0;
    EXPECT_FALSE(try_wall(options, 1000, 0).is_stable);
    EXPECT_TRUE(try_wall(options, 1000, 2).is_stable);
    EXPECT_TRUE(try_wall(options, 1000, 100).is_stable);
    EXPECT_FALSE(try_wall(options, 1000, 210).is_stable);  // 2m/T = 200
    // with one sample of delay the cubic z³ − z² + β/2 (z + 1) has its limit at
    // β = B T/m = 2 (√2 − 1) = 0.83
    options.device.delay = 1;
    EXPECT_TRUE(try_wall(options, 1000, 75).is_stable);
    EXPECT_FALSE(try_wall(options, 1000, 90).is_stable);
}

TEST(ZWidth, SweepCoversTheGridForAnyNumberOfThreads) {
    ZWidthOptions options = ideal_wall();
    options.stiffnesses = {100, 1000, 8000};
    options.dampings = {0, 1};
    options.device.damping = 0.2;
    options.device.steps_per_sample = 4;
    set_num_threads(1);
    const ZWidthMap one = sweep_zwidth(options);
    set_num_threads(0);
    const ZWidthMap all = sweep_zwidth(options);
    ASSERT_EQ(one.cells.size(), 6u);
    const bool expected[] = {true, true, false, true, false, false};
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(one.cells[i].is_stable, expected[i]) << i;
        EXPECT_EQ(one.cells[i].stiffness, options.stiffnesses[i / 2]);
        EXPECT_EQ(one.cells[i].damping, options.dampings[i % 2]);
        EXPECT_EQ(one.cells[i].growth, all.cells[i].growth);
    }
    EXPECT_EQ(one.needed_damping, all.needed_damping);
    for (std::size_t row = 0; row < 3; ++row)
        EXPECT_NEAR(one.needed_damping[row] / bound(options, options.stiffnesses[row]), 1, 0.02);
}

TEST(ZWidth, DefaultGridReachesFromStableToUnstable) {
    ZWidthOptions options = ideal_wall();
    options.device.damping = 0.5;
    options.device.steps_per_sample = 2;
    options.duration = 0.3;
    const ZWidthMap map = sweep_zwidth(options);
    EXPECT_EQ(map.stiffnesses.size(), 12u);
    EXPECT_NEAR(map.stiffnesses.front(), 50, 1e-9);
    EXPECT_NEAR(map.stiffnesses.back(), 10000, 1e-6);
    EXPECT_EQ(map.dampings.front(), 0);
    EXPECT_TRUE(map.cells.front().is_stable);
    for (std::size_t row = 0; row < 12; ++row)
        EXPECT_FALSE(map.cells[(row + 1) * map.dampings.size() - 1].is_stable);
}

TEST(ZWidth, OptionsOutOfRangeAreNamed) {
    const auto refusal = [](auto&& change) {
        ZWidthOptions options;
        change(options);
        return test::input_error([&] { (void)sweep_zwidth(options); });
    };
    EXPECT_EQ(refusal([](ZWidthOptions& o) {
                  o.stiffnesses = {100, -1};
              }),
              "stiffness = -1 (expected 1 to 1e+06 N/m)");
    EXPECT_NE(refusal([](ZWidthOptions& o) { o.dampings = {-1}; }), "");
    EXPECT_EQ(refusal([](ZWidthOptions& o) { o.duration = 0; }),
              "duration = 0 (expected 0.1 to 600 s)");
    EXPECT_NE(refusal([](ZWidthOptions& o) { o.approach = 0; }), "");
    EXPECT_NE(refusal([](ZWidthOptions& o) { o.velocity_filter = 0; }), "");
    EXPECT_NE(refusal([](ZWidthOptions& o) { o.device.mass = -1; }), "");
    EXPECT_NE(test::input_error(
                  [] { (void)needed_damping({}, std::numeric_limits<double>::quiet_NaN()); }),
              "");
}

}  // namespace
