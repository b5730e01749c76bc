#include "pliant/haptics/external_device.h"

#include "core/numbers.h"
#include "pliant/core/allocation_guard.h"

#include <gtest/gtest.h>

#include "input_error.h"

namespace {

using namespace pliant;
using Eigen::Vector3d;
using test::input_error;

DeviceState handle_at(double x) {
    DeviceState state;
    state.pose.position.x() = x;
    state.buttons = 2;
    return state;
}

TEST(ExternalDevice, AReadingIsNewOnceAndThenStale) {
    const auto handle = std::make_shared<ExternalHandle>();
    ExternalDevice device(handle);
    AllocationGuard guard;
    const DeviceState before = device.read(0.1);
    const bool is_moved = handle->move(handle_at(0.01));
    const DeviceState fresh = device.read(0.2), old = device.read(0.3);
    device.write({.force = Vector3d(1, 2, 3)});
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_EQ(before.status, DeviceStatus::Disconnected);
    EXPECT_TRUE(is_moved);
    EXPECT_EQ(fresh.status, DeviceStatus::Ok);
    EXPECT_EQ(fresh.time, 0.2);
    EXPECT_EQ(fresh.buttons, 2u);
    EXPECT_EQ(old.status, DeviceStatus::Stale);
    EXPECT_EQ(old.time, 0.2);
    EXPECT_EQ(old.pose.position.x(), 0.01);
    EXPECT_EQ(handle->shown().force, Vector3d(1, 2, 3));
}

TEST(ExternalDevice, WhatIsNotFiniteIsNoReading) {
    const auto handle = std::make_shared<ExternalHandle>();
    ExternalDevice device(handle);
    ASSERT_TRUE(handle->move(handle_at(0.01)));
    static_cast<void>(device.read(0.1));
    for (const double bad : {kNan, kInfinity}) {
        EXPECT_FALSE(handle->move(handle_at(bad)));
        DeviceState fast = handle_at(0.02), turned = handle_at(0.02), open = handle_at(0.02);
        fast.twist.angular.y() = bad;
        turned.pose.rotation = Quaternion(0, 0, 0, 0);
        open.gripper = bad;
        EXPECT_FALSE(handle->move(fast));
        EXPECT_FALSE(handle->move(turned));
        EXPECT_FALSE(handle->move(open));
    }
    const DeviceState kept = device.read(0.2);
    EXPECT_EQ(kept.status, DeviceStatus::Stale);
    EXPECT_EQ(kept.pose.position.x(), 0.01);
}

TEST(ExternalDevice, DisconnectsUntilTheNextMove) {
    const auto handle = std::make_shared<ExternalHandle>();
    ExternalDevice device(handle);
    ASSERT_TRUE(handle->move(handle_at(0.01)));
    device.write({.force = Vector3d(1, 2, 3)});
    handle->disconnect();
    EXPECT_EQ(device.read(0.1).status, DeviceStatus::Disconnected);
    EXPECT_EQ(device.read(0.2).status, DeviceStatus::Disconnected);
    EXPECT_EQ(handle->shown().force, Vector3d::Zero());
    ASSERT_TRUE(handle->move(handle_at(0.02)));
    EXPECT_EQ(device.read(0.3).status, DeviceStatus::Ok);
}

TEST(ExternalDevice, NeedsAHandleAndGoodNumbers) {
    EXPECT_EQ(input_error([] { ExternalDevice device(nullptr); }),
              "an external device has no handle; give the one that the program moves");
    EXPECT_EQ(input_error([] {
                  ExternalDevice device(std::make_shared<ExternalHandle>(), {.max_force = -1});
              }),
              "max_force = -1 (expected 0.001 to 1000 N)");
}

}  // namespace
