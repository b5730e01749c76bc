#include "pliant/haptics/open_device.h"

#include "core/numbers.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/haptics/recorded_device.h"
#include "pliant/haptics/scripted_device.h"

#include <gtest/gtest.h>

#include "input_error.h"

namespace {

using namespace pliant;
using Eigen::Vector3d;
using test::input_error;

ScriptedMotion short_path() {
    return ScriptedMotion({{0, {}}, {1, {Vector3d(0.02, 0, 0), Quaternion::Identity()}}});
}

TEST(OpenDevice, KindsHaveTheNamesOfSceneFiles) {
    EXPECT_STREQ(kind(SimulatedDescription{}), "simulated");
    EXPECT_STREQ(kind(ScriptedDescription{short_path()}), "scripted");
    EXPECT_STREQ(kind(RecordedDescription{}), "recorded");
    EXPECT_STREQ(kind(NetworkDescription{}), "network");
    EXPECT_STREQ(kind(HaplyDescription{}), "haply");
    EXPECT_STREQ(kind(ForceDimensionDescription{}), "force-dimension");
    EXPECT_STREQ(kind(OpenHapticsDescription{}), "openhaptics");
    EXPECT_STREQ(kind(ExternalDescription{}), "external");
}

TEST(OpenDevice, OnlyDevicesWithoutAHandAreVirtual) {
    EXPECT_TRUE(is_virtual(SimulatedDescription{}));
    EXPECT_TRUE(is_virtual(ScriptedDescription{short_path()}));
    EXPECT_TRUE(is_virtual(RecordedDescription{}));
    EXPECT_FALSE(is_virtual(NetworkDescription{}));
    EXPECT_FALSE(is_virtual(HaplyDescription{}));
    EXPECT_FALSE(is_virtual(ForceDimensionDescription{}));
    EXPECT_FALSE(is_virtual(OpenHapticsDescription{}));
    EXPECT_FALSE(is_virtual(ExternalDescription{}));  // whose hand moves it, nobody knows
}

TEST(OpenDevice, OpensWhatIsDescribed) {
    SimulatedDescription simulated;
    simulated.model.capabilities.name = "wand";
    const auto device = open_device(simulated);
    EXPECT_NE(dynamic_cast<SimulatedDevice*>(device.get()), nullptr);
    EXPECT_EQ(device->capabilities().name, "wand");
    EXPECT_NE(dynamic_cast<ScriptedDevice*>(open_device(ScriptedDescription{short_path()}).get()),
              nullptr);
    const RecordedDescription recorded{.states = {DeviceState{}}};
    EXPECT_NE(dynamic_cast<RecordedDevice*>(open_device(recorded).get()), nullptr);
}

TEST(OpenDevice, NumbersOutOfRangeAreNamed) {
    ScriptedDescription scripted{short_path()};
    scripted.capabilities.max_force = -1;
    EXPECT_EQ(input_error([&] { static_cast<void>(open_device(scripted)); }),
              "max_force = -1 (expected 0.001 to 1000 N)");
    EXPECT_EQ(input_error([] { static_cast<void>(open_device(RecordedDescription{})); }),
              "recording of a device has no readings; record a longer run");
}

TEST(ScriptedDevice, FollowsItsPathAndRemembersTheForce) {
    const ScriptedMotion motion = short_path();
    ScriptedDevice device(motion);
    AllocationGuard guard;
    const DeviceState middle = device.read(0.5);
    const DeviceState again = device.read(0.5);
    device.write({.force = Vector3d(1, 2, 3)});
    const DeviceState later = device.read(0.75);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_EQ(middle.status, DeviceStatus::Ok);
    EXPECT_EQ(middle.time, 0.5);
    EXPECT_EQ(middle.pose.position, motion.at(0.5).pose.position);
    EXPECT_EQ(middle.twist.linear, motion.at(0.5).velocity.linear);
    EXPECT_GT(middle.twist.linear.x(), 0);
    EXPECT_EQ(again.status, DeviceStatus::Stale);
    EXPECT_EQ(again.pose.position, middle.pose.position);
    EXPECT_EQ(later.pose.position, motion.at(0.75).pose.position);
    EXPECT_EQ(device.shown().force, Vector3d(1, 2, 3));
}

TEST(ScriptedDevice, ATimeThatIsNoNumberGivesTheLastReading) {
    ScriptedDevice device(short_path());
    const DeviceState good = device.read(0.3);
    for (const double bad : {kNan, kInfinity, -kInfinity}) {
        const DeviceState state = device.read(bad);
        EXPECT_EQ(state.status, DeviceStatus::Stale);
        EXPECT_EQ(state.time, 0.3);
        EXPECT_EQ(state.pose.position, good.pose.position);
    }
}

TEST(RecordedDevice, PlaysEachReadingOnceAndAsItWas) {
    std::vector<DeviceState> states(3);
    states[0].time = 0.1;
    states[1].time = 0.2;
    states[1].pose.position.x() = kNan;
    states[1].status = DeviceStatus::Stale;
    states[2].time = 0.3;
    states[2].buttons = 5;
    RecordedDevice device(states);
    AllocationGuard guard;
    const DeviceState first = device.read(7), second = device.read(kNan), third = device.read(-1);
    const DeviceState after = device.read(8);
    device.write({.force = Vector3d(0, 0, 1)});
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_EQ(first.time, 0.1);
    EXPECT_EQ(first.status, DeviceStatus::Ok);
    EXPECT_EQ(second.status, DeviceStatus::Stale);
    EXPECT_TRUE(std::isnan(second.pose.position.x()));
    EXPECT_EQ(third.buttons, 5u);
    EXPECT_EQ(after.status, DeviceStatus::Disconnected);
    EXPECT_EQ(after.time, 0.3);
    EXPECT_TRUE(device.is_at_end());
    EXPECT_EQ(device.shown().force.z(), 1);
    device.seek(1);
    EXPECT_FALSE(device.is_at_end());
    EXPECT_EQ(device.read(0).time, 0.2);
    device.seek(99);
    EXPECT_TRUE(device.is_at_end());
}

}  // namespace
