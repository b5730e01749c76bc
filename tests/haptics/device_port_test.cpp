#include "haptics/device_port.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr double kPortTick = 1e-3;

/// A handle that is where a test puts it, and keeps what it was told.
class PlacedHandle : public HapticDevice {
public:
    PlacedHandle() { can.position_step = 2e-5; }
    [[nodiscard]] const DeviceCapabilities& capabilities() const noexcept override { return can; }
    [[nodiscard]] DeviceState read(double now) noexcept override {
        state.time = now;
        return state;
    }
    void write(const DeviceCommand& command) noexcept override { shown = command; }

    DeviceCapabilities can;
    DeviceState state;
    DeviceCommand shown;
};

/// A port whose ramp has ended, at rest.
struct PortLoop {
    explicit PortLoop(const DevicePortOptions& options = {}) : port(device, options) {
        port.watch_springs(600, 0.2);
        for (int k = 0; k < 700; ++k) tick();
    }
    /// The handle goes on by `shift`; the hand feels `force` of a spring without energy.
    void tick(const Vector3d& shift = Vector3d::Zero(), double force = 0, int num_contacts = 0) {
        now += kPortTick;
        device.state.pose.position += shift;
        port.read(now, kPortTick, {}, false, last);
        last.coupling.force = Vector3d(0, 0, force);
        last.num_contacts = num_contacts;
        last.status = StepStatus::Ok;
        port.show(2, {}, 1, now, last);
        static_cast<void>(port.calm(kPortTick, last));
    }

    PlacedHandle device;
    DevicePort port;
    HapticTick last;
    double now = 0;
};

TEST(DevicePort, ReadingsThatToggleAreNoMotionByEitherRule) {
    for (const HandleMotion motion : {HandleMotion::Borders, HandleMotion::BeyondSteps}) {
        DevicePortOptions options;
        options.motion = motion;
        PortLoop loop(options);
        const double step = loop.device.can.position_step;
        double fastest = 0;
        for (int k = 0; k < 200; ++k) {
            loop.tick(Vector3d(k % 2 == 0 ? step : -step, 0, 0));
            // the first crossing of a border is one
            if (k > 40) fastest = std::max(fastest, loop.port.velocity().linear.norm());
        }
        EXPECT_LT(fastest, 1e-6) << static_cast<int>(motion);
    }
}

TEST(DevicePort, VelocityIsThatOfTheHandleByEitherRule) {
    for (const HandleMotion motion : {HandleMotion::Borders, HandleMotion::BeyondSteps}) {
        DevicePortOptions options;
        options.motion = motion;
        options.workspace.scale = 0.5;
        PortLoop loop(options);
        for (int k = 0; k < 100; ++k) loop.tick(Vector3d(1e-4, 0, 0));
        // 0.1 m/s, of which the second rule takes one step per sample through the filter: 6 mm/s
        const double expected =
            motion == HandleMotion::Borders ? 0.1 : 0.1 - 0.3 * 2e-5 / kPortTick;
        EXPECT_NEAR(loop.port.velocity().linear.x(), expected / 0.5, 1e-9);
    }
}

TEST(DevicePort, InjectedDampingFollowsContactInItsTime) {
    for (const double time : {0.0, 0.02}) {
        DevicePortOptions options;
        options.injection_time = time;
        options.passivity.controls = false;
        PortLoop loop(options);
        const Vector3d along(1e-4, 0, 0);
        for (int k = 0; k < 100; ++k) loop.tick(along);
        EXPECT_EQ(loop.last.command.force.x(), 0) << "no contact";
        for (int k = 1; k <= 30; ++k) {
            loop.tick(along, 0, 1);
            const double share = time > 0 ? std::min(1.0, k * kPortTick / time) : 1;
            ASSERT_NEAR(loop.last.command.force.x(), -2 * 0.1 * share, 1e-9) << k;
        }
        EXPECT_EQ(loop.device.shown.force, loop.last.command.force);
    }
}

TEST(DevicePort, ALateTickMakesTheHandNoFasterThanItIs) {
    // once the loop stands still for 20 ms and goes on with its next tick of 1 ms
    constexpr double kSpeed = 0.3, kLate = 0.02;
    DevicePortOptions options;
    options.passivity.controls = false;
    PortLoop loop(options);
    double clock = 100, largest = 0;
    const auto tick = [&](double passed) {
        clock += passed;
        loop.device.state.clock = clock;
        loop.tick(Vector3d(kSpeed * passed, 0, 0), 0, 1);
        largest = std::max(largest, loop.last.command.force.norm());
    };
    for (int k = 0; k < 100; ++k) tick(kPortTick);
    EXPECT_NEAR(loop.last.command.force.x(), -2 * kSpeed, 1e-9);
    tick(kLate);
    for (int k = 0; k < 20; ++k) tick(kPortTick);
    EXPECT_NEAR(largest, 2 * kSpeed, 1e-9) << "of the damping that is injected";
    // a clock that says less than the ticks do makes nothing faster
    for (int k = 0; k < 20; ++k) {
        clock -= 0.5 * kPortTick;
        tick(kPortTick);
    }
    EXPECT_NEAR(largest, 2 * kSpeed, 1e-9);
    EXPECT_EQ(loop.last.faults, 0u);
}

TEST(DevicePort, WhatFadesIsShownInPartAndItsEnergyIsNotCounted) {
    PortLoop loop;
    for (int k = 0; k < 50; ++k) loop.tick({0, 0, -1e-6}, 2, 1);
    EXPECT_NE(loop.last.port_energy, 0);
    EXPECT_NEAR(loop.last.command.force.z(), 2, 0.01);
    loop.now += kPortTick;
    loop.port.read(loop.now, kPortTick, {}, false, loop.last);
    loop.port.show(2, {}, 0.25, loop.now, loop.last);
    EXPECT_NEAR(loop.last.command.force.z(), 0.5, 0.01);
    EXPECT_EQ(loop.last.port_energy, 0);
}

TEST(DevicePort, TimesThatAreNoneGiveNoForce) {
    PortLoop loop;
    for (int k = 0; k < 50; ++k) loop.tick(Vector3d::Zero(), 2, 1);
    constexpr double kNoTime = std::numeric_limits<double>::quiet_NaN();
    for (const auto& [now, dt] : {std::pair{kNoTime, 1e-3}, {1.0, kNoTime}, {1.0, 0.0}}) {
        loop.device.shown.force = Vector3d::Ones();
        EXPECT_TRUE(loop.port.refuses(now, dt, loop.last));
        EXPECT_TRUE(loop.device.shown.force.isZero(0));
        EXPECT_EQ(loop.last.status, StepStatus::InputIgnored);
    }
    EXPECT_FALSE(loop.port.refuses(loop.now, kPortTick, loop.last));
}

TEST(DevicePort, NoEnergyIsMissingBeforeTheAccountBegins) {
    PlacedHandle device;
    DevicePort port(device, {});
    port.watch_springs(600, 0.2);
    HapticTick last;
    double now = 0, least = 0;
    for (int k = 0; k < 700; ++k) {
        now += kPortTick;
        port.read(now, kPortTick, {}, false, last);
        // a spring is being pressed by somebody else while safety still ramps
        last.coupling.force = Vector3d(0, 0, 2);
        last.num_contacts = 1;
        port.show(2, {.coupling = 1e-6 * k}, 1, now, last);
        if (k < 500) least = std::min(least, last.port_energy - last.stored_energy);
    }
    EXPECT_EQ(least, 0);
    // from then on nobody paid for what is in the spring
    EXPECT_LT(last.port_energy - last.stored_energy, -1.5e-4);
}

TEST(DevicePort, TogglingAtRestReachesTheManipulandumByAPart) {
    PortLoop loop;
    const double step = loop.device.can.position_step;
    double low = 1, high = -1, level = 0;
    for (int k = 0; k < 1000; ++k) {
        loop.tick(Vector3d(k % 30 == 0 ? step : k % 30 == 15 ? -step : 0, 0, 0), 1, 1);
        if (k < 400) continue;
        const double x = loop.port.manipulandum().position.x();
        low = std::min(low, x);
        high = std::max(high, x);
        level = std::max(level, std::abs(loop.last.device.pose.position.x()));
    }
    // three tenths, and what the mean has to go
    EXPECT_GT(high - low, 0.25 * step);
    EXPECT_LT(high - low, 0.5 * step);
    EXPECT_EQ(level, step);  // what is recorded are the readings
}

TEST(DevicePort, ReadingsThatCannotBeUsedStopTheForceAndSaySo) {
    PortLoop loop;
    for (int k = 0; k < 50; ++k) loop.tick(Vector3d::Zero(), 2, 1);
    EXPECT_STREQ(loop.port.stop_notice(), "");
    loop.device.state.pose.position.x() = std::numeric_limits<double>::quiet_NaN();
    for (int k = 0; k < 100; ++k) loop.tick(Vector3d::Zero(), 2, 1);
    EXPECT_EQ(loop.last.status, StepStatus::InputIgnored);
    EXPECT_TRUE(loop.last.command.force.isZero(0));
    EXPECT_STREQ(loop.port.stop_notice(),
                 "The device does not answer: its force is zero and the tool stays; it goes on "
                 "from there when the device is back.");
    // back elsewhere: the manipulandum begins where the tool is
    loop.device.state.pose.position = Vector3d(0.03, 0, 0);
    loop.tick();
    EXPECT_TRUE(loop.port.manipulandum().position.isZero(1e-15));
}

/// A port whose tool is where its test says.
struct PortOfATool {
    explicit PortOfATool(PlacedHandle& handle) : port(handle, {}) {}
    const Pose& tick(const Vector3d& tool) {
        now += kPortTick;
        port.read(now, kPortTick, {tool, Quaternion::Identity()}, false, last);
        port.show(2, {}, 1, now, last);
        return port.manipulandum();
    }
    DevicePort port;
    HapticTick last;
    double now = 0;
};

TEST(DevicePort, ResetWithTheDeviceAwayBeginsWhereTheToolIs) {
    PlacedHandle handle;
    PortOfATool loop(handle);
    const Vector3d start(0.1, 0, 0);
    EXPECT_TRUE(loop.tick(start).position.isApprox(start, 1e-12));
    for (int k = 0; k < 100; ++k) {
        handle.state.pose.position.x() += 2e-4;
        loop.tick(start);
    }
    ASSERT_NEAR(loop.port.manipulandum().position.x(), 0.12, 1e-9);
    handle.state.status = DeviceStatus::Disconnected;
    loop.tick(start);
    // everything back at the start: so is the hand, and it does not pull the tool 2 cm away
    loop.port.reset();
    for (int k = 0; k < 10; ++k) ASSERT_TRUE(loop.tick(start).position.isApprox(start, 1e-12)) << k;
    // back, elsewhere
    handle.state.status = DeviceStatus::Ok;
    handle.state.pose.position = {-0.03, 0.01, 0};
    EXPECT_TRUE(loop.tick(start).position.isApprox(start, 1e-12));
    handle.state.pose.position.x() += 1e-3;
    EXPECT_NEAR(loop.tick(start).position.x(), 0.101, 1e-9);
}

TEST(DevicePort, WithoutADeviceTheHandBeginsAtTheTool) {
    PlacedHandle handle;
    handle.state.status = DeviceStatus::Disconnected;
    PortOfATool loop(handle);
    EXPECT_TRUE(loop.tick({0.1, 0.2, 0.3}).position.isApprox(Vector3d(0.1, 0.2, 0.3), 1e-12));
}

/// A handle that waits for its calibration, with or without words about it.
class LostHandle final : public PlacedHandle {
public:
    [[nodiscard]] const char* remedy() const noexcept override { return words; }
    const char* words = "";
};

TEST(DevicePort, ADeviceThatIsNotCalibratedIsRefusedWithItsRemedy) {
    LostHandle handle;
    PortOfATool loop(handle);
    const Vector3d start(0.1, 0, 0);
    loop.tick(start);
    handle.state.status = DeviceStatus::Uncalibrated;
    for (int k = 0; k < 50; ++k) {
        handle.state.pose.position.x() += 1e-3;
        loop.last.coupling.force = Vector3d(0, 0, 2);
        EXPECT_TRUE(loop.tick(start).position.isApprox(start, 1e-12));
        EXPECT_TRUE(handle.shown.force.isZero(0));
    }
    EXPECT_STREQ(loop.port.stop_notice(),
                 "The device is not calibrated: no force. Calibrate it as its maker says; then it "
                 "goes on by itself.");
    handle.words = "Push it in.";
    EXPECT_STREQ(loop.port.stop_notice(), "Push it in.");
    // calibrated: it begins where the tool is
    handle.state.status = DeviceStatus::Ok;
    EXPECT_TRUE(loop.tick(start).position.isApprox(start, 1e-12));
    EXPECT_STREQ(loop.port.stop_notice(), "");
}

TEST(DevicePort, ReadingsFasterThanAHandAreCountedAndNamed) {
    PortLoop loop;
    for (int k = 0; k < 50; ++k) loop.tick(Vector3d::Zero(), 2, 1);
    EXPECT_NEAR(loop.last.command.force.z(), 2, 0.01);
    EXPECT_EQ(loop.last.faults, 0u);
    // 4.9 cm to and fro in each tick
    for (int k = 0; k < 100; ++k) {
        loop.tick(Vector3d(0, k % 2 == 0 ? 0.049 : -0.049, 0), 2, 1);
        ASSERT_TRUE(loop.last.command.force.isZero(0)) << k;
    }
    EXPECT_EQ(loop.last.faults, 100u);
    const std::string sentence =
        "The device says that its handle moves faster than a hand can: its force is zero and "
        "comes back slowly.";
    EXPECT_EQ(loop.port.stop_notice(), sentence);
    // for as long as it comes back
    for (int k = 0; k < 400; ++k) loop.tick(Vector3d::Zero(), 2, 1);
    EXPECT_EQ(loop.port.stop_notice(), sentence);
    for (int k = 0; k < 200; ++k) loop.tick(Vector3d::Zero(), 2, 1);
    EXPECT_STREQ(loop.port.stop_notice(), "");
    EXPECT_NEAR(loop.last.command.force.z(), 2, 0.01);
    EXPECT_EQ(loop.last.faults, 100u);
}

TEST(DevicePort, ReadingsFasterThanAHandMoveNothingAndAreNoWork) {
    PortLoop loop;
    for (int k = 0; k < 50; ++k) loop.tick(Vector3d::Zero(), 2, 1);
    ASSERT_NEAR(loop.last.command.force.z(), 2, 0.01);
    ASSERT_EQ(loop.last.port_energy, loop.last.stored_energy);
    // 4.9 cm along the force, and back: 0.1 J each
    for (int k = 0; k < 20; ++k) {
        loop.tick(Vector3d(0, 0, k % 2 == 0 ? 0.049 : -0.049), 2, 1);
        ASSERT_TRUE(loop.port.manipulandum().position.isZero(1e-12)) << k;
        ASSERT_TRUE(loop.port.velocity().linear.isZero(0)) << k;
        ASSERT_EQ(loop.last.port_energy, loop.last.stored_energy) << k;
    }
    EXPECT_EQ(loop.last.faults, 20u);
    // a hand moves it on from there
    for (int k = 0; k < 100; ++k) loop.tick(Vector3d(1e-4, 0, 0), 2, 1);
    EXPECT_NEAR(loop.port.manipulandum().position.x(), 0.01, 1e-5);
    EXPECT_EQ(loop.last.faults, 20u);
}

TEST(DevicePort, ARotationThatComesBackTurnsNothing) {
    for (const int ticks_away : {1, 100}) {
        PortLoop loop;
        loop.last.coupling.torque = Vector3d(0, 0.05, 0);
        for (int k = 0; k < 50; ++k) loop.tick(Vector3d::Zero(), 2, 1);
        ASSERT_NEAR(loop.last.command.torque.y(), 0.05, 1e-3);
        loop.device.state.status = DeviceStatus::NoRotation;
        for (int k = 0; k < ticks_away; ++k) loop.tick(Vector3d::Zero(), 2, 1);
        loop.device.state.status = DeviceStatus::Ok;
        loop.device.state.pose.rotation = rotation_from_vector(Vector3d(0, 1.5, 0));
        // the place goes on meanwhile
        loop.tick(Vector3d(1e-4, 0, 0), 2, 1);
        EXPECT_NEAR(loop.last.command.force.z(), 2, 0.01);
        EXPECT_EQ(loop.last.faults, 0u);
        EXPECT_TRUE(rotation_vector(loop.port.manipulandum().rotation).isZero(1e-12));
        EXPECT_TRUE(loop.port.velocity().angular.isZero(1e-12));
        EXPECT_NEAR(loop.last.port_energy, loop.last.stored_energy, 1e-12);
        EXPECT_STREQ(loop.port.stop_notice(), "");
        // from there on it turns with the handle
        loop.device.state.pose.rotation = rotation_from_vector(Vector3d(0, 1.52, 0));
        loop.tick(Vector3d::Zero(), 2, 1);
        EXPECT_TRUE(rotation_vector(loop.port.manipulandum().rotation)
                        .isApprox(Vector3d(0, 0.02, 0), 1e-9));
        for (int k = 0; k < 100; ++k) loop.tick(Vector3d(1e-4, 0, 0), 2, 1);
        EXPECT_NEAR(loop.port.manipulandum().position.x(), 0.0101, 1e-5);
    }
}

TEST(DevicePort, WithoutCalibrationTheForceGoesAtOnce) {
    PortLoop loop;
    for (int k = 0; k < 50; ++k) loop.tick(Vector3d::Zero(), 2, 1);
    ASSERT_NEAR(loop.device.shown.force.z(), 2, 0.01);
    loop.device.state.status = DeviceStatus::Uncalibrated;
    loop.tick(Vector3d::Zero(), 2, 1);
    EXPECT_TRUE(loop.device.shown.force.isZero(0));
    // wherever it finds itself then, it is no jump
    loop.device.state.status = DeviceStatus::Ok;
    loop.tick(Vector3d(0.1, 0, 0), 2, 1);
    EXPECT_EQ(loop.last.faults, 0u);
    EXPECT_TRUE(loop.port.manipulandum().position.isZero(1e-12));
}

TEST(DevicePort, HandleThatJumpsBeginsWhereTheToolIs) {
    PortLoop loop;
    for (int k = 1; k <= 20; ++k) {
        loop.device.state.pose.rotation = rotation_from_vector(Vector3d(0, 0, 0.02 * k));
        loop.tick();
    }
    EXPECT_NEAR(rotation_vector(loop.port.manipulandum().rotation).z(), 0.4, 1e-9);
    loop.device.state.pose.rotation = rotation_from_vector(Vector3d(0, 0, 1.2));
    loop.tick();
    EXPECT_TRUE(rotation_vector(loop.port.manipulandum().rotation).isZero(1e-12));
    loop.device.state.pose.position.x() += 0.06;
    loop.tick();
    EXPECT_TRUE(loop.port.manipulandum().position.isZero(1e-12));
    EXPECT_TRUE(loop.port.velocity().linear.isZero(0));
}

TEST(DevicePort, OscillationOfSpringsBeyondTheDeviceIsLoweredToWhatItIsMadeFor) {
    PortLoop loop;
    // twice what the device is made for
    loop.port.watch_springs(2 * loop.device.can.max_stiffness, 0.01);
    bool has_changed = false;
    for (int k = 0; k < 500; ++k) {
        loop.now += kPortTick;
        loop.port.read(loop.now, kPortTick, {}, false, loop.last);
        loop.last.coupling.force = Vector3d(0, 0, k / 4 % 2 == 0 ? 1 : -1);  // 125 Hz
        loop.port.show(0, {}, 1, loop.now, loop.last);
        has_changed = loop.port.calm(kPortTick, loop.last) || has_changed;
    }
    EXPECT_TRUE(has_changed);
    EXPECT_TRUE(loop.port.has_ceiling());
    EXPECT_NEAR(loop.port.gain_scale(), 0.5, 0.01);
    loop.port.set_back_off(false);
    EXPECT_EQ(loop.port.gain_scale(), 1);
    EXPECT_FALSE(loop.port.has_ceiling());
}

TEST(DevicePort, OscillationAmongBodiesThatAnswerLateIsLoweredToWhatTheyCarry) {
    DevicePortOptions options;
    options.answer_time = 1.0 / 120;  // 128 N/m, within what the device is made for
    PortLoop loop(options);
    loop.port.watch_springs(4 * 128, 0.05);
    for (int k = 0; k < 1000; ++k)
        loop.tick(Vector3d::Zero(), 0.2 * std::sin(2 * EIGEN_PI * 25 * k * kPortTick), 1);
    EXPECT_TRUE(loop.port.has_ceiling());
    EXPECT_NEAR(loop.port.gain_scale(), 0.25, 1e-3);
}

}  // namespace
}  // namespace pliant
