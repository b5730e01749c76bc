#include "haptics/rest_filter.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr double kEncoderStep = 5e-5, kFilterTick = 1e-3;

double quantised(double x) { return kEncoderStep * std::round(x / kEncoderStep); }

/// One axis; the others stay where they are.
struct RestAxis {
    RestFilter filter{kEncoderStep};
    double update(double x) { return filter.update({0, x, 0}, kFilterTick).y(); }
};

TEST(RestFilter, TogglingAtRestIsLeftByThreeTenths) {
    RestAxis axis;
    double low = 1, high = -1;
    for (int k = 0; k < 2000; ++k) {
        // a border at 18 Hz, two thirds of the time above it
        const double x = axis.update(std::sin(2 * M_PI * 18e-3 * k) > -0.5 ? kEncoderStep : 0);
        if (k < 500) continue;
        low = std::min(low, x);
        high = std::max(high, x);
    }
    EXPECT_NEAR(high - low, 0.3 * kEncoderStep, 0.02 * kEncoderStep);
    // about the mean of the readings
    EXPECT_NEAR(0.7 * low + 0.3 * high, 0.66 * kEncoderStep, 0.2 * kEncoderStep);
}

TEST(RestFilter, MotionIsTakenAsItIs) {
    RestAxis axis;
    double largest = 0;
    for (int k = 0; k < 3000; ++k) {
        const double reading = quantised(2e-3 * kFilterTick * k);  // 2 mm/s
        const double lag = std::abs(axis.update(reading) - reading);
        if (k > 300) largest = std::max(largest, lag);
    }
    EXPECT_LT(largest, 1e-12);
    // the other axes are not its concern
    EXPECT_EQ(axis.filter.update({0, 0.1, 0}, kFilterTick).x(), 0);
}

TEST(RestFilter, LagsByAFewStepsAtMostAndNeverJumps) {
    RestAxis axis;
    double last = 0, last_reading = 0;
    for (int k = 0; k < 20000; ++k) {
        // slow drifts, swings and fast ones
        const double time = kFilterTick * k;
        const double reading = quantised(1e-3 * std::sin(0.3 * time) + 1e-4 * std::sin(20 * time) +
                                         2e-3 * std::max(0.0, std::sin(2 * time) - 0.9));
        const double x = axis.update(reading);
        ASSERT_LE(std::abs(x - reading), 2.5 * kEncoderStep) << k;
        // a tenth of the lag that was there, and what the reading did
        ASSERT_LE(std::abs(x - last), std::abs(reading - last_reading) + 0.25 * kEncoderStep) << k;
        last = x;
        last_reading = reading;
    }
}

TEST(RestFilter, ADriftIsFollowed) {
    RestAxis axis;
    double x = 0;
    // 10 µm/s: five seconds for a step
    for (int k = 0; k < 20000; ++k) x = axis.update(quantised(1e-5 * kFilterTick * k));
    EXPECT_NEAR(x, 2e-4, 1.25 * kEncoderStep);
    // and at rest it arrives
    for (int k = 0; k < 10000; ++k) x = axis.update(4 * kEncoderStep);
    EXPECT_NEAR(x, 4 * kEncoderStep, 0.02 * kEncoderStep);
}

TEST(RestFilter, WithoutStepsNothingIsLeftOut) {
    RestFilter filter(0);
    for (int k = 0; k < 1000; ++k) {
        const Vector3d reading(1e-5 * (k % 2), 0, 1e-9 * k);
        ASSERT_EQ(filter.update(reading, kFilterTick), reading);
    }
    // and no time is no motion
    RestFilter coarse(kEncoderStep);
    EXPECT_EQ(coarse.update(Vector3d::Ones(), 0), Vector3d::Ones());
}

}  // namespace
}  // namespace pliant
