#include "haptics/back_off.h"
#include "haptics/loop_step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// A force that shakes for `seconds`, the handle moving on at `speed`.
void shake(BackOff& back_off, double amplitude, double frequency, double seconds,
           double speed = 0) {
    for (int k = 0; k < static_cast<int>(seconds / kLoopStep + 0.5); ++k) {
        const double phase = 2 * std::numbers::pi * frequency * k * kLoopStep;
        back_off.record({Vector3d(0, 0, 2 + amplitude * std::sin(phase)), Vector3d::Zero()},
                        Vector3d(speed * k * kLoopStep, 0, 0), kLoopStep);
    }
}

TEST(BackOff, LowersStepsFirstThenGains) {
    BackOff back_off(1000);
    shake(back_off, 0.5, 40, 0.25);
    EXPECT_EQ(back_off.step_scale(), 1);  // one window may be an impact
    shake(back_off, 0.5, 40, 0.25);
    EXPECT_EQ(back_off.step_scale(), 0.5);
    shake(back_off, 0.5, 40, 0.25);
    EXPECT_EQ(back_off.step_scale(), 0.25);
    EXPECT_EQ(back_off.gain_scale(), 1);
    shake(back_off, 0.5, 40, 0.5);
    EXPECT_EQ(back_off.step_scale(), 0.25);
    EXPECT_LT(back_off.gain_scale(), 0.81);
    EXPECT_GT(back_off.gain_scale(), 0.63);
    shake(back_off, 0.5, 40, 60);
    EXPECT_NEAR(back_off.gain_scale(), 0.05, 1e-4);  // and no further
}

TEST(BackOff, GainsBeyondTheDeviceGoBackToItAtOnceAndStayThere) {
    BackOff back_off(1000);
    back_off.set_safe(0.25);
    shake(back_off, 0.5, 40, 1.0);
    EXPECT_NEAR(back_off.gain_scale(), 0.25, 1e-3);
    EXPECT_TRUE(back_off.has_ceiling());
    // calm brings back no more than the device is made for
    shake(back_off, 0, 40, 120);
    EXPECT_NEAR(back_off.gain_scale(), 0.25, 1e-12);
    EXPECT_EQ(back_off.step_scale(), 1);
    // and what shakes there is lowered as ever
    shake(back_off, 0.5, 40, 1.5);
    EXPECT_LT(back_off.step_scale(), 1);
    EXPECT_LT(back_off.gain_scale(), 0.21);
    shake(back_off, 0, 40, 1000);
    EXPECT_LE(back_off.gain_scale(), 0.25);
    EXPECT_GT(back_off.gain_scale(), 0.21);
    back_off.reset();
    EXPECT_EQ(back_off.gain_scale(), 1);
    EXPECT_FALSE(back_off.has_ceiling());
}

TEST(BackOff, GainsFollowWithoutAJump) {
    BackOff back_off(1000);
    double last = 1, largest = 0;
    for (int k = 0; k < 2000; ++k) {
        back_off.record({Vector3d(k % 2 == 0 ? 1.0 : -1.0, 0, 0), Vector3d::Zero()},
                        Vector3d::Zero(), kLoopStep);
        largest = std::max(largest, std::abs(back_off.gain_scale() - last));
        last = back_off.gain_scale();
    }
    EXPECT_LT(last, 0.5);
    EXPECT_LT(largest, 0.01);
}

TEST(BackOff, QuietForcesAndHandsThatMoveAreLeftAlone) {
    BackOff back_off(1000);
    shake(back_off, 0.04, 40, 3);  // below 0.03 N root mean square
    shake(back_off, 4, 2, 5);      // slow
    EXPECT_EQ(back_off.step_scale(), 1);
    back_off.reset();
    shake(back_off, 0.3, 40, 3, 0.05);  // ripple of a surface under a hand that slides
    EXPECT_EQ(back_off.step_scale(), 1);
    shake(back_off, 1.5, 40, 3, 0.05);  // not that much
    EXPECT_LT(back_off.gain_scale(), 1);
}

TEST(BackOff, TorquesCountAsWell) {
    BackOff back_off(1000);
    for (int k = 0; k < 1500; ++k)
        back_off.record({Vector3d::Zero(), Vector3d(0, 0.01 * (k % 4 < 2 ? 1 : -1), 0)},
                        Vector3d::Zero(), kLoopStep);
    EXPECT_LT(back_off.gain_scale(), 1);
}

TEST(BackOff, LimitsFollowTheStiffness) {
    BackOff back_off(1000);
    back_off.set_limits(0.12, 1e-3);
    shake(back_off, 0.15, 40, 3);
    EXPECT_EQ(back_off.step_scale(), 1);
    back_off.set_limits(0.06, 1e-3);
    shake(back_off, 0.15, 40, 3);
    EXPECT_LT(back_off.step_scale(), 1);
}

TEST(BackOff, ComesBackSlowlyAndMoreSlowlyEachTime) {
    BackOff back_off(1000);
    shake(back_off, 0.5, 40, 1.25);
    const double lowered = back_off.gain_scale();
    ASSERT_LT(lowered, 0.9);
    // steps first, doubled every two seconds
    shake(back_off, 0, 40, 1.5);
    EXPECT_EQ(back_off.step_scale(), 0.25);
    shake(back_off, 0, 40, 3);
    EXPECT_EQ(back_off.step_scale(), 1);
    // then the gains, a hundredth each time
    shake(back_off, 0, 40, 10);
    EXPECT_GT(back_off.gain_scale(), 1.02 * 0.64);
    EXPECT_LT(back_off.gain_scale(), 0.8);
    shake(back_off, 0, 40, 300);
    EXPECT_EQ(back_off.gain_scale(), 1);
    EXPECT_FALSE(back_off.has_changed());

    // when it shakes again the next recovery takes twice the time
    shake(back_off, 0.5, 40, 0.75);
    ASSERT_EQ(back_off.step_scale(), 0.25);
    shake(back_off, 0, 40, 3.5);
    EXPECT_EQ(back_off.step_scale(), 0.25);
    shake(back_off, 0, 40, 1);
    EXPECT_EQ(back_off.step_scale(), 0.5);
    back_off.reset();
    EXPECT_EQ(back_off.step_scale(), 1);
}

}  // namespace
}  // namespace pliant
