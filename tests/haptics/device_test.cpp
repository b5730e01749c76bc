#include "pliant/haptics/device.h"
#include "core/numbers.h"

#include <gtest/gtest.h>

#include <limits>

#include "input_error.h"

namespace {

using namespace pliant;
using test::input_error;

template <class Change>
std::string refusal(Change&& change) {
    DeviceCapabilities capabilities;
    change(capabilities);
    return input_error([&] { check(capabilities); });
}

TEST(DeviceCapabilities, DefaultsAreInRange) {
    EXPECT_EQ(refusal([](DeviceCapabilities&) {}), "");
    EXPECT_EQ(refusal([](DeviceCapabilities& c) { c.max_torque = c.max_angular_stiffness = 0; }),
              "");
}

TEST(DeviceCapabilities, NumbersOutOfRangeAreNamed) {
    EXPECT_EQ(refusal([](DeviceCapabilities& c) { c.max_force = 0; }),
              "max_force = 0 (expected 0.001 to 1000 N)");
    EXPECT_EQ(refusal([](DeviceCapabilities& c) { c.workspace.z() = -1; }),
              "workspace = -1 (expected 0.001 to 100 m)");
    EXPECT_EQ(refusal([](DeviceCapabilities& c) { c.continuous_force = 9; }),
              "continuous_force = 9 (expected 0.001 to 8.5 N, the largest force)");
    EXPECT_EQ(refusal([](DeviceCapabilities& c) { c.delay = -1; }),
              "delay = -1 (expected 0 to 64 samples)");
}

TEST(DeviceCapabilities, WhatIsNotFiniteIsRefusedEverywhere) {
    double DeviceCapabilities::*const numbers[] = {&DeviceCapabilities::max_force,
                                                   &DeviceCapabilities::max_torque,
                                                   &DeviceCapabilities::continuous_force,
                                                   &DeviceCapabilities::max_stiffness,
                                                   &DeviceCapabilities::max_angular_stiffness,
                                                   &DeviceCapabilities::damping,
                                                   &DeviceCapabilities::angular_damping,
                                                   &DeviceCapabilities::delay,
                                                   &DeviceCapabilities::position_step,
                                                   &DeviceCapabilities::angle_step};
    for (const auto number : numbers)
        for (const double bad : {kNan, kInfinity, -kInfinity, -1.0, 1e9})
            EXPECT_NE(refusal([&](DeviceCapabilities& c) { c.*number = bad; }), "") << bad;
}

TEST(DeviceStatus, HasAName) {
    EXPECT_STREQ(name(DeviceStatus::Ok), "ok");
    EXPECT_STREQ(name(DeviceStatus::Disabled), "disabled");
    EXPECT_STREQ(name(DeviceStatus::Stale), "stale");
    EXPECT_STREQ(name(DeviceStatus::Disconnected), "disconnected");
    EXPECT_STREQ(name(DeviceStatus::Uncalibrated), "not calibrated");
    EXPECT_STREQ(name(DeviceStatus::NoRotation), "no rotation");
}

}  // namespace
