#include "pliant/haptics/device.h"
#include "core/numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

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

/// What is left of a sigma.7 under limits that several people said, put together in each order.
std::vector<DeviceCapabilities> left_of_sigma(std::vector<DeviceLimits> said) {
    DeviceCapabilities sigma;
    sigma.max_force = 20;
    sigma.max_torque = 0.4;
    sigma.continuous_force = 20.0 / 3;
    std::vector<std::size_t> order(said.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::vector<DeviceCapabilities> left;
    do {
        DeviceLimits all;
        for (const std::size_t i : order) all = smaller(all, said[i]);
        left.push_back(limited(sigma, all));
    } while (std::next_permutation(order.begin(), order.end()));
    return left;
}

TEST(DeviceLimits, AForceAloneLowersTheTorqueWhoeverElseLimitsIt) {
    struct Case {
        std::vector<DeviceLimits> said;
        double force, torque;
    };
    for (const Case& one : {
             Case{{{.max_force = 2}}, 2, 0.04},
             Case{{{.max_torque = 0.3}}, 20, 0.3},
             Case{{{.max_force = 2}, {.max_torque = 0.3}}, 2, 0.04},
             Case{{{.max_force = 2}, {.max_torque = 0.01}}, 2, 0.01},
             // named together, both are meant
             Case{{{.max_force = 2, .max_torque = 0.3}}, 2, 0.3},
             Case{{{.max_force = 2, .max_torque = 0.3}, {.max_force = 5}}, 2, 0.1},
             Case{{{.max_force = 4, .max_torque = 0.3}, {.max_force = 2}}, 2, 0.04},
             Case{{{.max_force = 20, .max_torque = 0.1}, {.max_force = 2}}, 2, 0.01},
             Case{{{.max_force = 5}, {.max_torque = 0.3}, {.max_force = 2}}, 2, 0.04},
             Case{{{.max_force = 30}, {.max_torque = 0.3}}, 20, 0.3},
         })
        for (const DeviceCapabilities& can : left_of_sigma(one.said)) {
            EXPECT_EQ(can.max_force, one.force);
            EXPECT_NEAR(can.max_torque, one.torque, 1e-12) << one.force;
        }
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
