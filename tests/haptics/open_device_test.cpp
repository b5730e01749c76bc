#include "pliant/haptics/open_device.h"

#include "core/numbers.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/haptics/device_safety.h"
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

/// What a person sees of a device that is told to show far too much.
DeviceCommand most_of(DeviceDescription description, const DeviceLimits& limits) {
    limit(description, limits);
    const auto device = open_device(description);
    DeviceSafety safety(device->capabilities(), {.ramp_time = 1e-3, .max_impulse = 1000});
    safety.enable();
    DeviceCommand shown;
    for (int k = 1; k <= 100; ++k) {
        DeviceState state = device->read(1e-3 * k);
        state.status = DeviceStatus::Ok;
        state.time = 1e-3 * k;
        shown = safety.filter({Vector3d(100, 0, 0), Vector3d(0, 100, 0), 0}, state, 1e-3 * k);
        device->write(shown);
    }
    return shown;
}

TEST(OpenDevice, ALimitHoldsForEveryKindWithoutHardware) {
    // those of hardware: vendor_devices_test.cpp, haply_device_test.cpp, network_device_test.cpp
    NetworkDescription network;
    network.port = 0;
    ExternalDescription external{std::make_shared<ExternalHandle>()};
    for (const DeviceDescription& description :
         {DeviceDescription(SimulatedDescription{}),
          DeviceDescription(ScriptedDescription{short_path()}),
          DeviceDescription(RecordedDescription{.states = {DeviceState{}}}),
          DeviceDescription(network), DeviceDescription(external)}) {
        SCOPED_TRACE(kind(description));
        EXPECT_NEAR(most_of(description, {}).force.norm(), 8.5, 1e-9) << "can fail";
        const DeviceCommand weak = most_of(description, {.max_force = 2});
        EXPECT_NEAR(weak.force.norm(), 2, 1e-9);
        EXPECT_NEAR(weak.torque.norm(), 0.17 * 2 / 8.5, 1e-9);
        EXPECT_NEAR(most_of(description, {.max_force = 2, .max_torque = 0.1}).torque.norm(), 0.1,
                    1e-9);
        EXPECT_NEAR(most_of(description, {.max_torque = 0}).torque.norm(), 0, 1e-12);
        EXPECT_NEAR(most_of(description, {.max_force = 20}).force.norm(), 8.5, 1e-9);
    }
    // a program that asks for more gets no more, whatever was between
    ExternalDevice device(external.handle, limited(DeviceCapabilities(), {.max_force = 1}));
    device.write({.force = Vector3d(5, 0, 0)});
    EXPECT_EQ(external.handle->shown().force, Vector3d(1, 0, 0));
}

TEST(OpenDevice, WithoutALimitADeviceIsLeftBitForBitAsItWas) {
    for (const double lasting : {3.0, 0.7, 1.0 / 3}) {
        DeviceCapabilities can;
        can.continuous_force = lasting;
        const DeviceCapabilities same = limited(can, {}), above = limited(can, {.max_force = 9});
        for (const DeviceCapabilities& one : {same, above}) {
            EXPECT_EQ(one.max_force, can.max_force);
            EXPECT_EQ(one.max_torque, can.max_torque);
            EXPECT_EQ(one.continuous_force, can.continuous_force);
        }
    }
}

TEST(OpenDevice, TheLowestOfSeveralLimitsHolds) {
    DeviceDescription haply = HaplyDescription{}, simulated = SimulatedDescription{};
    for (DeviceDescription* const device : {&haply, &simulated})
        for (const double most : {3.0, 1.0, 2.0}) limit(*device, {.max_force = most});
    EXPECT_EQ(std::get<HaplyDescription>(haply).limits.max_force, 1);
    EXPECT_EQ(std::get<SimulatedDescription>(simulated).model.capabilities.max_force, 1);
}

TEST(OpenDevice, LimitsOutOfRangeAreNamed) {
    DeviceDescription haply = HaplyDescription{};
    for (const double bad : {0.0, -1.0, 1001.0, kNan})
        EXPECT_NE(input_error([&] { limit(haply, {.max_force = bad}); })
                      .find("(expected 0.001 to 1000 N; for no force at all, \"force\": false of "
                            "the tool)"),
                  std::string::npos)
            << bad;
    EXPECT_EQ(input_error([&] { limit(haply, {.max_torque = -1}); }),
              "max_torque = -1 (expected 0 to 100 N m)");
}

TEST(OpenDevice, AddressesBeyondThisComputerAreKnownAndExplained) {
    for (const char* here : {"127.0.0.1", "localhost", "127.3.2.1", "::1", "::ffff:127.0.0.1"})
        EXPECT_FALSE(is_beyond_computer(NetworkDescription{.address = here})) << here;
    for (const char* far : {"0.0.0.0", "::", "192.0.2.1", "::ffff:192.0.2.1", "example.org", ""})
        EXPECT_TRUE(is_beyond_computer(NetworkDescription{.address = far})) << far;
    EXPECT_FALSE(is_beyond_computer(HaplyDescription{}));
    EXPECT_FALSE(is_beyond_computer(HaplyDescription{.url = "ws://[::1]:10001/x"}));
    EXPECT_TRUE(is_beyond_computer(HaplyDescription{.url = "ws://192.0.2.1:10001"}));
    EXPECT_FALSE(is_beyond_computer(SimulatedDescription{}));
    EXPECT_EQ(network_warning(NetworkDescription{}), "");
    EXPECT_EQ(network_warning(NetworkDescription{.address = "192.0.2.1", .port = 7}),
              "the network device is open to other computers: UDP and WebSocket (TCP), port 7 of "
              "192.0.2.1, neither encrypted nor authenticated: whoever comes first moves the tool "
              "and gets its forces. Drivers call it at 192.0.2.1, port 7");
    EXPECT_EQ(network_warning(HaplyDescription{.url = "ws://192.0.2.1:10001"}),
              "the haply device calls ws://192.0.2.1:10001 beyond this computer, by WebSocket, "
              "neither encrypted nor authenticated: whoever answers there moves the tool");
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
