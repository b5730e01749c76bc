#include "haptics/driver_session.h"

#include "core/numbers.h"
#include "fake_driver.h"

#include <gtest/gtest.h>

namespace {

using namespace pliant;
using namespace std::chrono_literals;
using Eigen::Vector3d;

/// A session at a time of its own; messages as drivers write them. Exchange and session use the
/// same clock, which therefore begins now.
class SessionSample {
public:
    explicit SessionSample(const DeviceCapabilities& can = {}, double timeout = 0.1)
        : exchange(can, timeout), session(exchange, timeout) {}

    std::string send(std::string_view bytes, std::string_view peer = "a") {
        return std::string(session.receive(peer, test::as_byte_span(bytes), now));
    }
    std::string reading(std::uint32_t sequence, double x = 0, std::string_view peer = "a",
                        std::uint32_t run = 1) {
        DeviceState state;
        state.time = clock;
        state.pose.position.x() = x;
        return send(test::reading_bytes(run, sequence, state), peer);
    }
    /// The driver's clock goes with ours.
    void wait(std::chrono::microseconds time) {
        now += time;
        clock += std::chrono::duration<double>(time).count();
    }
    [[nodiscard]] const NetworkDeviceCounts& counts() const { return session.counts(); }

    DeviceExchange exchange;
    DriverSession session;
    DeviceExchange::Clock::time_point now = DeviceExchange::Clock::now();
    double clock = 1000;
};

TEST(DriverSession, ADriverAttachesAndIsAnsweredWithTheNewestCommand) {
    SessionSample s;
    DeviceCapabilities can;
    can.name = "spring";
    EXPECT_EQ(test::answer_code(s.send(test::hello_bytes(1, can))), test::kAccepted);
    EXPECT_EQ(s.session.driver_name(), "spring");
    s.exchange.write({.force = Vector3d(1, 2, 3), .torque = Vector3d(0, 0, 0.1)});
    s.now = DeviceExchange::Clock::now();
    const std::string reply = s.reading(5, 0.01);
    ASSERT_EQ(test::reply_kind(reply), 3);
    EXPECT_EQ(test::reply_force(reply), Vector3d(1, 2, 3));
    EXPECT_EQ(test::reply_torque(reply), Vector3d(0, 0, 0.1));
    EXPECT_EQ(test::get<double>(reply, 16), 1000);
    EXPECT_EQ(test::get<std::uint32_t>(reply, 80), 5u);
    const DeviceState state = s.exchange.read(3);
    EXPECT_EQ(state.status, DeviceStatus::Ok);
    EXPECT_EQ(state.pose.position.x(), 0.01);
    EXPECT_LE(state.time, 3);
    EXPECT_GT(state.time, 2.9);
    EXPECT_EQ(s.exchange.read(3.001).status, DeviceStatus::Stale);
}

TEST(DriverSession, ReadingsBeforeAHelloAskForIt) {
    SessionSample s;
    EXPECT_EQ(test::answer_code(s.reading(1)), test::kNotAttached);
    EXPECT_EQ(s.exchange.read(0).status, DeviceStatus::Disconnected);
    EXPECT_EQ(test::answer_code(s.send(test::hello_bytes(1))), test::kAccepted);
    // of an earlier run of the same driver
    EXPECT_EQ(test::answer_code(s.reading(2, 0, "a", 99)), test::kNotAttached);
    EXPECT_EQ(s.counts().readings, 0u);
}

TEST(DriverSession, OnlyOneDriverAtATime) {
    SessionSample s;
    s.send(test::hello_bytes(1));
    EXPECT_EQ(test::reply_kind(s.reading(1)), 3);
    EXPECT_EQ(test::answer_code(s.send(test::hello_bytes(2), "b")), test::kBusy);
    EXPECT_EQ(test::answer_code(s.reading(1, 0.5, "b", 1)), test::kBusy);
    s.send(test::bye_bytes(1), "b");
    EXPECT_EQ(s.counts().foreign, 3u);
    EXPECT_EQ(test::reply_kind(s.reading(2)), 3);
    // it leaves, and the other one may come
    s.send(test::bye_bytes(1));
    EXPECT_EQ(s.exchange.read(0).status, DeviceStatus::Disconnected);
    EXPECT_EQ(s.session.driver_name(), "");
    EXPECT_EQ(test::answer_code(s.send(test::hello_bytes(2), "b")), test::kAccepted);
    EXPECT_EQ(s.counts().attached, 2u);
}

TEST(DriverSession, AHelloFromTheDriversAddressDoesNotReplaceIt) {
    // the address of a datagram is easily forged, the number of the session is not
    SessionSample s;
    s.send(test::hello_bytes(1));
    EXPECT_EQ(test::reply_kind(s.reading(1, 0.01)), 3);
    EXPECT_EQ(test::answer_code(s.send(test::hello_bytes(2))), test::kBusy);
    EXPECT_EQ(s.counts().attached, 1u);
    EXPECT_EQ(s.counts().foreign, 1u);
    s.wait(1ms);
    EXPECT_EQ(test::reply_kind(s.reading(2, 0.02)), 3);
    // a driver that was started again comes in when the old session has ended or is silent
    s.wait(101ms);
    EXPECT_EQ(test::answer_code(s.send(test::hello_bytes(2))), test::kAccepted);
    s.send(test::bye_bytes(2));
    EXPECT_EQ(test::answer_code(s.send(test::hello_bytes(3))), test::kAccepted);
    EXPECT_EQ(s.counts().attached, 3u);
}

TEST(DriverSession, ASilentDriverIsLetGoAndMayComeBack) {
    SessionSample s;
    s.send(test::hello_bytes(1));
    s.reading(1);
    s.wait(90ms);
    s.session.check_silence(s.now);
    EXPECT_EQ(s.session.driver_name(), "driver");
    s.wait(20ms);
    s.session.check_silence(s.now);
    EXPECT_EQ(s.session.driver_name(), "");
    EXPECT_EQ(s.exchange.read(0).status, DeviceStatus::Disconnected);
    EXPECT_EQ(test::answer_code(s.reading(2)), test::kNotAttached);
    EXPECT_EQ(test::answer_code(s.send(test::hello_bytes(1))), test::kAccepted);
    EXPECT_EQ(test::reply_kind(s.reading(3)), 3);
}

TEST(DriverSession, TheEndOfAConnectionLetsItsDriverGo) {
    SessionSample s;
    s.send(test::hello_bytes(1));
    s.session.forget("b");
    EXPECT_EQ(s.session.driver_name(), "driver");
    s.session.forget("a");
    EXPECT_EQ(s.session.driver_name(), "");
}

TEST(DriverSession, ReplayedAndOvertakenMessagesAreRefused) {
    SessionSample s;
    s.send(test::hello_bytes(1));
    s.reading(10, 0.01);
    s.wait(1ms);
    EXPECT_EQ(s.reading(10, 0.5), "");
    EXPECT_EQ(s.reading(9, 0.5), "");
    EXPECT_EQ(s.reading(10u - 0x7fffffffu, 0.5), "");
    EXPECT_EQ(s.counts().out_of_order, 3u);
    EXPECT_EQ(s.exchange.read(1).pose.position.x(), 0.01);
    EXPECT_EQ(test::reply_kind(s.reading(12, 0.02)), 3);
    EXPECT_EQ(s.exchange.read(1.001).pose.position.x(), 0.02);
}

TEST(DriverSession, NumbersOfMessagesMayWrapAround) {
    SessionSample s;
    s.send(test::driver_header(1, 160, 1, 0xfffffffeu) + test::hello_bytes(1).substr(16));
    EXPECT_EQ(test::reply_kind(s.reading(0xffffffffu)), 3);
    s.wait(1ms);
    EXPECT_EQ(test::reply_kind(s.reading(0)), 3);
    s.wait(1ms);
    EXPECT_EQ(test::reply_kind(s.reading(1)), 3);
    EXPECT_EQ(s.counts().readings, 3u);
}

TEST(DriverSession, WhereTheDriversClockJumpsOneReadingIsLost) {
    for (const double jump : {3600.0, -3600.0, 0.3, -0.3}) {
        SessionSample s;
        s.send(test::hello_bytes(1));
        for (std::uint32_t i = 1; i <= 5; ++i) {
            s.wait(1ms);
            EXPECT_EQ(test::reply_kind(s.reading(i)), 3);
        }
        s.clock += jump;
        s.wait(1ms);
        EXPECT_EQ(s.reading(6), "") << jump;
        EXPECT_EQ(s.counts().clock_jumps, 1u);
        s.wait(1ms);
        EXPECT_EQ(test::reply_kind(s.reading(7)), 3) << jump;
    }
}

TEST(DriverSession, AMessageThatWasHeldUpIsKnownToBeOld) {
    DriverClock clock;
    const auto start = DeviceExchange::Clock::now();
    double stamp = 5;
    for (int i = 0; i < 100; ++i, stamp += 0.001)
        ASSERT_TRUE(clock.measured(stamp, start + i * 1ms).has_value());
    // 40 ms late
    const auto late = clock.measured(stamp, start + 140ms);
    ASSERT_TRUE(late.has_value());
    EXPECT_NEAR(std::chrono::duration<double>(*late - start).count(), 0.1, 1e-4);
    // a clock that is 50 ppm slow is followed: 10 s later nothing counts as late
    for (int i = 1; i <= 1000; ++i) {
        const auto arrived = start + 140ms + i * 10ms;
        const auto measured = clock.measured(stamp + 0.04 + 0.01 * (1 - 5e-5) * i, arrived);
        ASSERT_TRUE(measured.has_value());
        if (i > 900) {
            EXPECT_LT(arrived - *measured, 1ms) << i;
        }
    }
}

TEST(DriverSession, BadMessagesAreCountedAndChangeNothing) {
    SessionSample s;
    EXPECT_EQ(s.send("garbage of some length, more than a header"), "");
    EXPECT_EQ(test::answer_code(s.send(test::hello_bytes(1, {}, 2))), test::kWrongVersion);
    DeviceCapabilities bad;
    bad.max_stiffness = kNan;
    EXPECT_EQ(test::answer_code(s.send(test::hello_bytes(1, bad))), test::kBadCapabilities);
    s.send(test::hello_bytes(1));
    s.reading(1, 0.01);
    s.wait(1ms);
    EXPECT_EQ(s.reading(2, kNan), "");
    EXPECT_EQ(s.reading(3, 1e300), "");
    EXPECT_EQ(s.counts().malformed, 1u);
    EXPECT_EQ(s.counts().wrong_version, 1u);
    EXPECT_EQ(s.counts().bad_values, 3u);
    EXPECT_EQ(s.exchange.read(0).pose.position.x(), 0.01);
    EXPECT_EQ(test::reply_kind(s.reading(4)), 3);
}

TEST(DriverSession, ARotationThatIsNoneLeavesThePlace) {
    SessionSample s;
    s.send(test::hello_bytes(1));
    const auto send = [&](std::uint32_t sequence, double x, const Quaternion& rotation) {
        s.wait(1ms);
        DeviceState state;
        state.time = s.clock;
        state.pose = {Vector3d(x, 0, 0), rotation};
        EXPECT_EQ(test::reply_kind(s.send(test::reading_bytes(1, sequence, state))), 3);
        return s.exchange.read(0.001 * sequence);
    };
    const Quaternion turned = rotation_from_vector(Vector3d(0, 0, 0.4));
    EXPECT_EQ(send(1, 0.01, turned).status, DeviceStatus::Ok);
    for (const Quaternion& bad : {Quaternion(0, 0, 0, 0), Quaternion(kNan, 0, 0, 0),
                                  Quaternion(2, 0, 0, 0), Quaternion(0.9, 0, 0, 0)}) {
        const auto sequence = static_cast<std::uint32_t>(s.counts().readings) + 1;
        const double x = 0.01 * sequence;
        const DeviceState state = send(sequence, x, bad);
        EXPECT_EQ(state.status, DeviceStatus::NoRotation);
        EXPECT_EQ(state.pose.position.x(), x);
        EXPECT_TRUE(state.pose.rotation.isApprox(turned, 1e-12));
    }
    EXPECT_EQ(s.counts().bad_values, 4u);
    EXPECT_EQ(send(6, 0.01, turned).status, DeviceStatus::Ok);
}

TEST(DriverSession, ForcesAreScaledToWhatTheDriverCanShow) {
    SessionSample s;
    DeviceCapabilities can;
    can.max_force = 8.5;
    can.max_stiffness = 150;  // a quarter of what the loop assumes
    can.is_actuated = {true, true, true, true, false, true};
    can.max_torque = 0.085;  // half of it
    s.send(test::hello_bytes(1, can));
    s.exchange.write({.force = Vector3d(4, 0, 0), .torque = Vector3d(0.1, 0.1, 0), .gripper = 2});
    s.now = DeviceExchange::Clock::now();
    const std::string reply = s.reading(1);
    EXPECT_EQ(test::reply_force(reply), Vector3d(1, 0, 0));
    EXPECT_EQ(test::reply_torque(reply), Vector3d(0.05, 0, 0));
    EXPECT_EQ(test::get<double>(reply, 72), 0.5);
    // one that shows no torque
    s.send(test::bye_bytes(1));
    can.max_torque = can.max_angular_stiffness = 0;
    s.send(test::hello_bytes(2, can));
    EXPECT_EQ(test::reply_torque(s.reading(1, 0, "a", 2)), Vector3d(0, 0, 0));
}

TEST(DeviceExchange, AForceVanishesWhenTheLoopStops) {
    DeviceExchange exchange({}, 0.1);
    exchange.write({.force = Vector3d(5, 0, 0)});
    const auto start = DeviceExchange::Clock::now();
    EXPECT_EQ(exchange.command(start).force.x(), 5);
    EXPECT_EQ(exchange.command(start + 19ms).force.x(), 5);
    EXPECT_NEAR(exchange.command(start + 45ms).force.x(), 2.5, 0.2);
    EXPECT_EQ(exchange.command(start + 71ms).force.x(), 0);
    EXPECT_EQ(exchange.command(start + 10s).force.x(), 0);
    // nothing was written yet
    EXPECT_EQ(DeviceExchange({}, 0.1).command(start).force.x(), 0);
}

TEST(DeviceExchange, WhatGoesOutIsWithinTheLimitsOfTheDevice) {
    DeviceCapabilities can;
    can.is_actuated = {true, true, false, true, true, true};
    DeviceExchange exchange(can, 0.1);
    const auto shown = [&](const DeviceCommand& command) {
        exchange.write(command);
        return exchange.command(DeviceExchange::Clock::now());
    };
    EXPECT_NEAR(shown({.force = Vector3d(1e9, 0, 7)}).force.x(), can.max_force, 1e-12);
    EXPECT_EQ(shown({.force = Vector3d(1, 0, 7)}).force.z(), 0);
    EXPECT_EQ(shown({.force = Vector3d(1, kNan, 0)}).force, Vector3d(0, 0, 0));
    EXPECT_EQ(shown({.torque = Vector3d(kInfinity, 0, 0)}).torque, Vector3d(0, 0, 0));
    EXPECT_EQ(shown({.force = Vector3d(1, 0, 0), .gripper = kNan}).gripper, 0);
}

TEST(DeviceExchange, ReadingsThatAreNotFiniteAreDropped) {
    DeviceExchange exchange({}, 0.1);
    DeviceState state;
    const auto now = DeviceExchange::Clock::now();
    EXPECT_EQ(exchange.read(0).status, DeviceStatus::Disconnected);
    state.pose.position.z() = kNan;
    EXPECT_FALSE(exchange.publish(state, now));
    EXPECT_EQ(exchange.read(0).status, DeviceStatus::Disconnected);
    state.pose.position.z() = 0;
    state.twist.linear.x() = kInfinity;
    state.gripper = kNan;
    EXPECT_TRUE(exchange.publish(state, now));
    const DeviceState read = exchange.read(1);
    EXPECT_EQ(read.status, DeviceStatus::Ok);
    EXPECT_EQ(read.twist.linear.x(), 0);
    EXPECT_EQ(read.gripper, 0);
}

TEST(DeviceExchange, ADeviceWithItsMotorsOffSaysSoAlsoBetweenReadings) {
    DeviceExchange exchange({}, 10);
    DeviceState state;
    state.status = DeviceStatus::Disabled;
    exchange.publish(state, DeviceExchange::Clock::now());
    EXPECT_EQ(exchange.read(1).status, DeviceStatus::Disabled);
    EXPECT_EQ(exchange.read(2).status, DeviceStatus::Disabled);
}

TEST(DeviceExchange, ReadingsSayWhenTheyWereMeasuredHoweverLateTheLoopIs) {
    DeviceExchange exchange({}, 10);
    const auto start = DeviceExchange::Clock::now() - 100ms;
    exchange.publish({}, start);
    const DeviceState first = exchange.read(1);
    EXPECT_NE(first.clock, 0);
    // one that nobody took in between
    exchange.publish({}, start + 10ms);
    exchange.publish({}, start + 21ms);
    const DeviceState second = exchange.read(1.001);
    EXPECT_NEAR(second.clock - first.clock, 0.021, 1e-9);
    EXPECT_EQ(exchange.read(1.002).clock, second.clock) << "nothing new";
}

TEST(DeviceExchange, OldReadingsMeanThatTheDeviceIsGone) {
    DeviceExchange exchange({}, 0.1);
    exchange.publish({}, DeviceExchange::Clock::now() - 200ms);
    EXPECT_EQ(exchange.read(1).status, DeviceStatus::Disconnected);
    exchange.publish({}, DeviceExchange::Clock::now() - 10ms);
    const DeviceState state = exchange.read(2);
    EXPECT_EQ(state.status, DeviceStatus::Ok);
    EXPECT_LE(state.time, 2 - 0.01);
}

}  // namespace
