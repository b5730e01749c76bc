#include "pliant/haptics/device_safety.h"
#include "core/numbers.h"
#include "haptics/loop_step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "input_error.h"
#include "pliant/core/allocation_guard.h"

namespace {

using namespace pliant;
using Eigen::Vector3d;

/// A loop of 1 kHz around a healthy device.
class Rig {
public:
    explicit Rig(const DeviceSafetyOptions& options = {}, const DeviceCapabilities& can = {})
        : safety(can, options) {
        state.time = 0;
    }
    DeviceCommand tick() {
        now += kLoopStep;
        state.time = now;
        return safety.filter(wanted, state, now);
    }
    DeviceCommand run(double seconds) {
        DeviceCommand out;
        for (int i = 0; i < std::lround(seconds / kLoopStep); ++i) out = tick();
        return out;
    }
    /// Enabled and ramped up.
    void warm_up() {
        safety.enable();
        run(1);
    }

    DeviceSafety safety;
    DeviceState state;
    DeviceCommand wanted;
    double now = 100;
};

DeviceCommand push(double force) {
    DeviceCommand command;
    command.force = {force, 0, 0};
    return command;
}

TEST(DeviceSafety, GivesNothingBeforeItIsEnabled) {
    Rig rig;
    rig.wanted = push(3);
    EXPECT_EQ(rig.run(0.1).force.norm(), 0);
    EXPECT_FALSE(rig.safety.is_enabled());
}

TEST(DeviceSafety, RampsUpAfterEnablingAndDownAfterDisabling) {
    Rig rig;
    rig.wanted = push(2);
    rig.run(0.01);
    rig.safety.enable();
    EXPECT_NEAR(rig.run(0.25).force.x(), 1, 0.01);  // half of ramp_time
    EXPECT_TRUE(rig.safety.report().is_ramping);
    EXPECT_NEAR(rig.run(0.25).force.x(), 2, 0.01);
    EXPECT_EQ(rig.run(0.1).force.x(), 2);  // what was asked for passes untouched
    EXPECT_FALSE(rig.safety.report().is_ramping);
    rig.safety.disable();
    EXPECT_NEAR(rig.run(0.025).force.x(), 1, 0.05);  // half of stale_ramp
    EXPECT_EQ(rig.run(0.03).force.norm(), 0);
}

TEST(DeviceSafety, ClampsForceAndTorqueByTheirSize) {
    Rig rig;
    rig.warm_up();
    rig.wanted.force = {30, 40, 0};
    rig.wanted.torque = {0, -3, 4};
    const DeviceCommand out = rig.run(0.1);
    EXPECT_NEAR((out.force - Vector3d(5.1, 6.8, 0)).norm(), 0, 1e-12);
    EXPECT_NEAR((out.torque - Vector3d(0, -0.102, 0.136)).norm(), 0, 1e-12);
    EXPECT_TRUE(rig.safety.report().is_clamped);
    EXPECT_FALSE(rig.safety.report().is_hot);
}

TEST(DeviceSafety, ForceChangesNoFasterThanItsRate) {
    Rig rig({.force_rate = 1000});
    rig.warm_up();
    rig.wanted = push(5);
    EXPECT_NEAR(rig.tick().force.x(), 1, 1e-9);
    EXPECT_TRUE(rig.safety.report().is_slewed);
    EXPECT_NEAR(rig.tick().force.x(), 2, 1e-9);
    rig.wanted = push(-5);
    EXPECT_NEAR(rig.tick().force.x(), 1, 1e-9);
    rig.run(0.1);
    EXPECT_FALSE(rig.safety.report().is_slewed);
}

TEST(DeviceSafety, WhatIsNotFiniteBecomesZero) {
    Rig rig;
    rig.warm_up();
    for (const double bad : {kNan, kInfinity, -kInfinity}) {
        rig.wanted = push(2);
        EXPECT_EQ(rig.run(0.1).force.x(), 2);
        rig.wanted.torque.z() = bad;
        const DeviceCommand out = rig.run(0.01);
        EXPECT_EQ(out.force.norm(), 0);
        EXPECT_EQ(out.torque.norm(), 0);
        EXPECT_TRUE(rig.safety.report().was_not_finite);
    }
}

TEST(DeviceSafety, DevicesWithoutTorqueGetNone) {
    DeviceCapabilities can;
    can.is_actuated = {true, true, true, false, false, false};
    Rig rig({}, can);
    rig.warm_up();
    rig.wanted = push(2);
    rig.wanted.torque = {0.1, 0.1, 0.1};
    DeviceCommand out = rig.run(0.1);
    EXPECT_EQ(out.torque.norm(), 0);
    EXPECT_EQ(out.force.x(), 2);

    can = {};
    can.max_torque = 0;
    can.is_actuated[0] = false;
    Rig other({}, can);
    other.warm_up();
    other.wanted = rig.wanted;
    other.wanted.force.y() = 1;
    out = other.run(0.1);
    EXPECT_EQ(out.torque.norm(), 0);
    EXPECT_EQ(out.force, Vector3d(0, 1, 0));
}

TEST(DeviceSafety, OldDataEndTheOutput) {
    Rig rig;
    rig.warm_up();
    rig.wanted = push(2);
    EXPECT_EQ(rig.run(0.1).force.x(), 2);
    // the device repeats itself from now on
    const auto frozen = [&](double seconds) {
        DeviceCommand out;
        for (int i = 0; i < std::lround(seconds / kLoopStep); ++i)
            out = rig.safety.filter(rig.wanted, rig.state, rig.now += kLoopStep);
        return out;
    };
    EXPECT_EQ(frozen(0.019).force.x(), 2);
    EXPECT_FALSE(rig.safety.report().is_stale);
    EXPECT_NEAR(frozen(0.026).force.x(), 1, 0.05);
    EXPECT_TRUE(rig.safety.report().is_stale);
    EXPECT_EQ(frozen(0.03).force.norm(), 0);
    EXPECT_EQ(frozen(1).force.norm(), 0);
    // and it comes back with a ramp
    EXPECT_LT(rig.tick().force.x(), 0.01);
    EXPECT_NEAR(rig.run(0.25).force.x(), 1, 0.02);
    EXPECT_EQ(rig.run(0.3).force.x(), 2);
}

TEST(DeviceSafety, UnpluggedDeviceIsLetGoAndComesBackSlowly) {
    Rig rig;
    rig.warm_up();
    rig.wanted = push(4);
    rig.run(0.1);
    for (const DeviceStatus status : {DeviceStatus::Disconnected, DeviceStatus::Disabled}) {
        rig.state.status = status;
        EXPECT_NEAR(rig.run(0.025).force.x(), 2, 0.1);
        EXPECT_EQ(rig.run(0.03).force.norm(), 0);
        EXPECT_TRUE(rig.safety.report().is_stale);
        rig.state.status = DeviceStatus::Ok;
        EXPECT_NEAR(rig.run(0.25).force.x(), 2, 0.02);
        EXPECT_EQ(rig.run(0.3).force.x(), 4);
    }
    rig.state.status = DeviceStatus::Stale;
    EXPECT_EQ(rig.run(0.1).force.norm(), 0);
}

TEST(DeviceSafety, MissedTicksCountAsOldData) {
    Rig rig;
    rig.warm_up();
    rig.wanted = push(2);
    rig.run(0.1);
    rig.now += 0.03 - kLoopStep;  // ten milliseconds more than allowed: a fifth of the ramp
    EXPECT_NEAR(rig.tick().force.x(), 2 * 0.8, 1e-6);
    EXPECT_TRUE(rig.safety.report().is_stale);
    rig.run(0.6);
    rig.now += 3600;
    EXPECT_EQ(rig.tick().force.norm(), 0);
    EXPECT_NEAR(rig.run(0.25).force.x(), 1, 0.02);
}

TEST(DeviceSafety, ClocksThatJumpBackOrAreNotNumbersEndTheOutput) {
    for (const double bad : {kNan, kInfinity, -kInfinity}) {
        Rig rig;
        rig.warm_up();
        rig.wanted = push(2);
        rig.run(0.1);
        DeviceCommand out;
        for (int i = 0; i < 100; ++i) out = rig.safety.filter(rig.wanted, rig.state, bad);
        EXPECT_EQ(out.force.norm(), 0);
        EXPECT_TRUE(rig.safety.report().is_stale);
        rig.run(0.6);
        EXPECT_EQ(rig.run(0.1).force.x(), 2);
    }
    Rig rig;
    rig.warm_up();
    rig.wanted = push(2);
    rig.run(0.1);
    rig.now -= 50;
    EXPECT_LT(rig.tick().force.x(), 2);
    EXPECT_TRUE(rig.safety.report().is_stale);
    EXPECT_EQ(rig.run(0.6).force.x(), 2);
}

TEST(DeviceSafety, ReadingsFromAnotherTimeAreOld) {
    Rig rig;
    rig.warm_up();
    rig.wanted = push(2);
    for (const double shift : {-1.0, 1.0, kNan}) {
        EXPECT_EQ(rig.run(0.6).force.x(), 2);
        DeviceCommand out;
        for (int i = 0; i < 100; ++i) {
            rig.now += kLoopStep;
            rig.state.time = rig.now + shift;
            out = rig.safety.filter(rig.wanted, rig.state, rig.now);
        }
        EXPECT_EQ(out.force.norm(), 0) << shift;
    }
}

TEST(DeviceSafety, PoseThatJumpsOrIsNotFiniteDropsTheOutput) {
    Rig rig;
    rig.warm_up();
    rig.wanted = push(2);
    rig.run(0.1);
    rig.state.pose.position.y() += 1;
    EXPECT_EQ(rig.tick().force.norm(), 0);
    EXPECT_TRUE(rig.safety.report().has_jumped);
    EXPECT_LT(rig.tick().force.x(), 0.01);
    EXPECT_FALSE(rig.safety.report().has_jumped);
    EXPECT_EQ(rig.run(0.6).force.x(), 2);
    rig.state.pose.position.y() = kNan;
    EXPECT_EQ(rig.run(0.1).force.norm(), 0);
    EXPECT_TRUE(rig.safety.report().is_stale);
}

TEST(DeviceSafety, RotationThatJumpsDropsTheOutput) {
    Rig rig;
    rig.warm_up();
    rig.wanted = push(2);
    const auto turn = [&](double angle) {
        rig.state.pose.rotation =
            (rotation_from_vector(Vector3d(0, angle, 0)) * rig.state.pose.rotation).normalized();
    };
    rig.run(0.1);
    turn(0.02);  // fast, but a hand
    EXPECT_EQ(rig.tick().force.x(), 2);
    // the other quaternion of the same rotation
    rig.state.pose.rotation.coeffs() *= -1;
    EXPECT_EQ(rig.tick().force.x(), 2);
    turn(0.6);
    EXPECT_EQ(rig.tick().force.norm(), 0);
    EXPECT_TRUE(rig.safety.report().has_jumped);
    EXPECT_LT(rig.tick().force.x(), 0.01);
    EXPECT_FALSE(rig.safety.report().has_jumped);
    EXPECT_EQ(rig.run(0.6).force.x(), 2);
}

TEST(DeviceSafety, ReadingsFasterThanAHandDropTheOutput) {
    Rig rig;
    rig.warm_up();
    rig.wanted = push(2);
    EXPECT_EQ(rig.run(0.1).force.x(), 2);
    // 49 m/s, less than a jump each
    rig.state.pose.position.y() += 0.049;
    EXPECT_EQ(rig.tick().force.norm(), 0);
    EXPECT_TRUE(rig.safety.report().is_too_fast);
    EXPECT_FALSE(rig.safety.report().has_jumped);
    EXPECT_EQ(rig.safety.report().num_faults, 1u);
    // it comes back as after other faults
    EXPECT_LT(rig.tick().force.x(), 0.01);
    EXPECT_FALSE(rig.safety.report().is_too_fast);
    EXPECT_NEAR(rig.run(0.25).force.x(), 1, 0.02);
    EXPECT_EQ(rig.run(0.3).force.x(), 2);
    EXPECT_EQ(rig.safety.report().num_faults, 1u);
    // what the device says of its speed counts as well
    rig.state.twist.linear.x() = 3.1;
    EXPECT_EQ(rig.tick().force.norm(), 0);
    EXPECT_TRUE(rig.safety.report().is_too_fast);
    rig.state.twist.linear.x() = 2.9;
    rig.state.twist.angular.z() = 31;
    EXPECT_EQ(rig.tick().force.norm(), 0);
    EXPECT_EQ(rig.safety.report().num_faults, 3u);
    rig.safety.reset();
    (void)rig.tick();
    EXPECT_EQ(rig.safety.report().num_faults, 0u);
}

/// A hand at `speed` to and fro, 10 ms each way, as a loop sees it that puts its ticks 1 ms apart
/// whatever time they take: `lateness` times 1 ms each, and `stall` seconds more once. Least force
/// of 2 N.
double force_in_late_loop(double speed, double lateness, double stall, bool has_clock) {
    Rig rig;
    rig.warm_up();
    rig.wanted = push(2);
    double least = 2, clock = 50, way = 0;
    for (int k = 0; k < 500; ++k) {
        const double real = lateness * kLoopStep + (k == 200 ? stall : 0);
        clock += real;
        rig.state.clock = has_clock ? clock : 0;
        way = std::fmod(way + speed * real, 0.06);
        rig.state.pose.position.y() = std::min(way, 0.06 - way);
        least = std::min(least, rig.tick().force.x());
    }
    return least;
}

TEST(DeviceSafety, ALoopThatIsLateIsNoFaultOfTheHand) {
    EXPECT_EQ(force_in_late_loop(0.3, 1, 0.02, true), 2) << "stood still for 20 ms";
    EXPECT_EQ(force_in_late_loop(1.5, 3, 0, true), 2) << "a third of its rate";
    // what the ticks alone say
    EXPECT_EQ(force_in_late_loop(0.4, 1, 0.02, false), 0);
    EXPECT_EQ(force_in_late_loop(1.5, 3, 0, false), 0);
    // too fast by the device's own clock as well
    EXPECT_EQ(force_in_late_loop(3.5, 1, 0, true), 0);
    EXPECT_EQ(force_in_late_loop(5, 3, 0, true), 0);
    EXPECT_EQ(force_in_late_loop(49, 1, 0, true), 0);
}

TEST(DeviceSafety, AClockThatGoesBackOrIsNoNumberForgivesNothing) {
    for (const double clock : {kNan, kInfinity, 49.0}) {
        Rig rig;
        rig.warm_up();
        rig.state.clock = 50;
        rig.wanted = push(2);
        EXPECT_EQ(rig.tick().force.x(), 2);
        rig.state.clock = clock;
        rig.state.pose.position.y() += 0.02;
        EXPECT_EQ(rig.tick().force.x(), 0) << clock;
        EXPECT_TRUE(rig.safety.report().is_too_fast) << clock;
    }
}

/// Runs of half a second at a speed, forth and back in turns of 10 ms if it is to stay.
double force_at_speed(double speed, double spin, bool turns_back) {
    Rig rig;
    rig.warm_up();
    rig.wanted = push(2);
    double least = 2;
    for (int k = 0; k < 500; ++k) {
        const double way = turns_back && k / 10 % 2 == 1 ? -kLoopStep : kLoopStep;
        rig.state.pose.position.y() += speed * way;
        rig.state.pose.rotation =
            (rotation_from_vector(Vector3d(0, spin * way, 0)) * rig.state.pose.rotation)
                .normalized();
        least = std::min(least, rig.tick().force.x());
    }
    return least;
}

TEST(DeviceSafety, HandsUpToThreeMetresPerSecondAreLeftAlone) {
    for (const bool turns_back : {false, true}) {
        EXPECT_EQ(force_at_speed(2.95, 0, turns_back), 2);
        EXPECT_EQ(force_at_speed(0, 29, turns_back), 2);
        EXPECT_EQ(force_at_speed(3.2, 0, turns_back), 0);
        EXPECT_EQ(force_at_speed(0, 32, turns_back), 0);
    }
}

TEST(DeviceSafety, LateStampsOfAHandAreNoFault) {
    Rig rig;
    rig.warm_up();
    rig.wanted = push(2);
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> late(0, 2e-3);
    double place_time = rig.now;
    for (int k = 0; k < 2000; ++k) {
        // 1.4 m/s; the stamps say so up to 2 ms late
        rig.now += kLoopStep;
        place_time += kLoopStep;
        rig.state.pose.position.y() += 1.4 * kLoopStep * (k / 20 % 2 == 0 ? 1 : -1);
        rig.state.time = std::max(rig.state.time, place_time - late(random));
        (void)rig.safety.filter(rig.wanted, rig.state, rig.now);
        ASSERT_FALSE(rig.safety.report().is_too_fast) << k;
    }
}

TEST(DeviceSafety, ElapsedTimeCountsForAReadingAfterStaleOnes) {
    Rig rig;
    rig.warm_up();
    rig.wanted = push(2);
    rig.run(0.1);
    // 15 ms without news, in which a hand goes 30 mm: 2 m/s
    rig.state.status = DeviceStatus::Stale;
    for (int k = 0; k < 14; ++k) {
        rig.now += kLoopStep;
        (void)rig.safety.filter(rig.wanted, rig.state, rig.now);
    }
    rig.state.status = DeviceStatus::Ok;
    rig.state.pose.position.y() += 0.03;
    EXPECT_EQ(rig.tick().force.x(), 2);
    EXPECT_EQ(rig.safety.report().num_faults, 0u);
}

/// A spring of 600 N/m on readings that go 4.9 cm each millisecond, to and fro: how often its force
/// changes sides in a second, and the largest one.
struct Reversals {
    int count = 0;
    double largest = 0;
};
Reversals reversals_of(const DeviceSafetyOptions& options, int ticks_each_way) {
    Rig rig(options);
    rig.warm_up();
    Reversals found;
    double last = 0, x = -0.0245 * ticks_each_way;
    for (int k = 0; k < 1000; ++k) {
        x += k / ticks_each_way % 2 == 0 ? 0.049 : -0.049;
        rig.state.pose.position.x() = x;
        rig.wanted = push(-600 * x);
        const double force = rig.tick().force.x();
        if (force * last < 0) ++found.count;
        if (force != 0) last = force;
        found.largest = std::max(found.largest, std::abs(force));
    }
    return found;
}

TEST(DeviceSafety, AForceThatReversesWithItsReadingsIsCutOff) {
    for (const int ticks_each_way : {2, 3, 5}) {
        // without the limit on speed
        const Reversals before = reversals_of({.max_speed = 1000, .max_spin = 1e4}, ticks_each_way);
        EXPECT_GT(before.count, 100) << ticks_each_way;
        EXPECT_GT(before.largest, 1) << ticks_each_way;
        const Reversals after = reversals_of({}, ticks_each_way);
        EXPECT_EQ(after.count, 0) << ticks_each_way;
        EXPECT_EQ(after.largest, 0) << ticks_each_way;
    }
}

TEST(DeviceSafety, WithoutARotationThereIsNoTorqueButAForce) {
    Rig rig;
    rig.warm_up();
    rig.wanted.force = {2, 0, 0};
    rig.wanted.torque = {0, 0, 0.1};
    EXPECT_EQ(rig.run(0.1).torque.z(), 0.1);
    rig.state.status = DeviceStatus::NoRotation;
    EXPECT_NEAR(rig.run(0.025).torque.z(), 0.05, 0.003);
    const DeviceCommand out = rig.run(0.03);
    EXPECT_EQ(out.torque.norm(), 0);
    EXPECT_EQ(out.force.x(), 2);
    // a rotation elsewhere after a while is no fault; the torque comes back slowly
    rig.state.status = DeviceStatus::Ok;
    rig.state.pose.rotation = rotation_from_vector(Vector3d(0, 0.3, 0));
    EXPECT_EQ(rig.tick().force.x(), 2);
    EXPECT_NEAR(rig.run(0.25).torque.z(), 0.05, 0.002);
    EXPECT_EQ(rig.run(0.3).torque.z(), 0.1);
}

TEST(DeviceSafety, ARotationThatComesBackIsTakenAsItIs) {
    Rig rig;
    rig.warm_up();
    rig.wanted.force = {2, 0, 0};
    rig.wanted.torque = {0, 0, 0.1};
    rig.run(0.1);
    rig.state.status = DeviceStatus::NoRotation;
    rig.run(0.1);
    // a motion meanwhile is judged all the same
    rig.state.pose.position.y() += 0.04;
    EXPECT_EQ(rig.tick().force.norm(), 0);
    EXPECT_EQ(rig.safety.report().num_faults, 1u);
    rig.run(0.6);
    rig.state.status = DeviceStatus::Ok;
    rig.state.pose.rotation = rotation_from_vector(Vector3d(0, 1.5, 0));
    const DeviceCommand out = rig.tick();
    EXPECT_EQ(out.force.x(), 2);
    EXPECT_LT(out.torque.norm(), 1e-3) << "it comes back slowly";
    EXPECT_FALSE(rig.safety.report().has_jumped);
    EXPECT_EQ(rig.safety.report().num_faults, 1u);
    EXPECT_EQ(rig.run(0.6).torque.z(), 0.1);
    // from then on turns are judged
    rig.state.pose.rotation = rotation_from_vector(Vector3d(0, 2.1, 0));
    EXPECT_EQ(rig.tick().force.norm(), 0);
    EXPECT_TRUE(rig.safety.report().has_jumped);
    // one lost reading, a switch of motors in it: the same
    rig.run(0.6);
    for (const DeviceStatus status : {DeviceStatus::NoRotation, DeviceStatus::Disabled}) {
        rig.state.status = status;
        (void)rig.tick();
    }
    rig.state.status = DeviceStatus::Ok;
    rig.state.pose.rotation = rotation_from_vector(Vector3d(0, 0.6, 0));
    (void)rig.tick();
    EXPECT_EQ(rig.safety.report().num_faults, 2u);
}

TEST(DeviceSafety, ADeviceThatDoesNotKnowItsPlaceGetsNothing) {
    Rig rig;
    rig.warm_up();
    rig.wanted = push(2);
    rig.run(0.1);
    rig.state.status = DeviceStatus::Uncalibrated;
    EXPECT_EQ(rig.tick().force.norm(), 0) << "at once";
    EXPECT_EQ(rig.run(0.06).force.norm(), 0);
    EXPECT_TRUE(rig.safety.report().is_stale);
    rig.state.status = DeviceStatus::Ok;
    EXPECT_NEAR(rig.run(0.25).force.x(), 1, 0.02);
}

TEST(DeviceSafety, WhereADeviceComesBackIsNoFault) {
    Rig rig;
    rig.warm_up();
    rig.wanted = push(2);
    rig.run(0.1);
    double place = 0;
    // motors that somebody switches off and on again are the same
    for (const DeviceStatus away :
         {DeviceStatus::Disconnected, DeviceStatus::Uncalibrated, DeviceStatus::Disabled}) {
        rig.state.status = away;
        rig.run(0.1);
        rig.state.status = DeviceStatus::Ok;
        place += 0.1;
        rig.state.pose = {Vector3d(place, 0, 0), rotation_from_vector(Vector3d(0, 10 * place, 0))};
        (void)rig.tick();
        EXPECT_FALSE(rig.safety.report().has_jumped);
        EXPECT_EQ(rig.safety.report().num_faults, 0u) << static_cast<int>(away);
        EXPECT_NEAR(rig.run(0.25).force.x(), 1, 0.02);
        rig.run(0.3);
    }
    // gone for a moment only, the force still there: it is one
    rig.state.status = DeviceStatus::Disconnected;
    (void)rig.tick();
    rig.state.status = DeviceStatus::Ok;
    rig.state.pose.position.x() = 0;
    EXPECT_EQ(rig.tick().force.norm(), 0);
    EXPECT_EQ(rig.safety.report().num_faults, 1u);
}

TEST(DeviceSafety, DeadmanSwitchMustBeHeld) {
    Rig rig({.deadman_button = 3});
    rig.warm_up();
    rig.wanted = push(2);
    rig.state.buttons = 0b0111;
    EXPECT_EQ(rig.run(1).force.norm(), 0);
    EXPECT_TRUE(rig.safety.report().is_released);
    rig.state.buttons = 0b1000;
    EXPECT_NEAR(rig.run(0.25).force.x(), 1, 0.02);
    EXPECT_EQ(rig.run(0.3).force.x(), 2);
    rig.state.buttons = 0;
    EXPECT_EQ(rig.run(0.06).force.norm(), 0);
}

TEST(DeviceSafety, MotorsWarmUntilOnlyTheContinuousForceIsLeft) {
    Rig rig;
    rig.warm_up();
    rig.wanted = push(8.5);
    // from cold the temperature reaches 0.9 after −τ ln(1 − 0.9/(8.5/3)²)
    const double until = -20 * std::log(1 - 0.9 / (8.5 * 8.5 / 9));
    EXPECT_EQ(rig.run(until - 0.05).force.x(), 8.5);
    EXPECT_FALSE(rig.safety.report().is_hot);
    EXPECT_NEAR(rig.safety.report().temperature, 0.9, 0.03);
    rig.run(60);
    const DeviceCommand out = rig.tick();
    EXPECT_NEAR(out.force.x(), 3, 0.01);
    EXPECT_TRUE(rig.safety.report().is_hot);
    EXPECT_LE(rig.safety.report().temperature, 1);
    // the torque has its share
    rig.wanted.torque = {0, 0, 1};
    EXPECT_NEAR(rig.run(0.1).torque.z(), 0.17 * 3 / 8.5, 1e-3);
    // the continuous force alone never warms it beyond the limit
    Rig other;
    other.warm_up();
    other.wanted = push(3);
    EXPECT_EQ(other.run(100).force.x(), 3);
    EXPECT_NEAR(other.safety.report().temperature, 1, 0.01);
    // and it cools
    rig.wanted = {};
    rig.run(40);
    EXPECT_NEAR(rig.safety.report().temperature, std::exp(-2), 0.01);
    rig.safety.reset();
    EXPECT_FALSE(rig.safety.is_enabled());
    EXPECT_EQ(rig.safety.report().temperature, 0);
}

TEST(DeviceSafety, HandThatYieldsIsNotPushedForLong) {
    Rig rig;
    rig.warm_up();
    rig.wanted = push(8.5);
    // the handle flies along with the force
    double recent = 0, full_time = 0;
    DeviceCommand out;
    for (int i = 0; i < 300; ++i) {
        rig.state.pose.position.x() += 0.5 * kLoopStep;
        out = rig.tick();
        recent = recent * std::exp(-kLoopStep / 0.1) + out.force.x() * kLoopStep;
        EXPECT_LE(recent, 0.5 + 1e-3);
        if (out.force.x() == 8.5) full_time += kLoopStep;
    }
    EXPECT_TRUE(rig.safety.report().is_softened);
    EXPECT_NEAR(out.force.x(), 5, 0.1);  // max_impulse / impulse_time
    // the filter of the velocity and the slew take a few ticks
    EXPECT_NEAR(full_time, -0.1 * std::log(1 - 0.5 / (8.5 * 0.1)), 0.005);
    // against the force, or still, it is shown in full
    for (int i = 0; i < 200; ++i) {
        rig.state.pose.position.x() -= 0.2 * kLoopStep;
        out = rig.tick();
    }
    EXPECT_EQ(out.force.x(), 8.5);
    EXPECT_FALSE(rig.safety.report().is_softened);
}

TEST(DeviceSafety, HandThatTurnsAlongIsNotTurnedForLong) {
    Rig rig;
    rig.warm_up();
    rig.wanted.torque = {0, 0, 0.17};
    rig.wanted.force = {0, 3, 0};  // no motion along it: not concerned
    const auto turned = [&](double speed) {
        rig.state.pose.rotation =
            (rotation_from_vector(Vector3d(0, 0, speed * kLoopStep)) * rig.state.pose.rotation)
                .normalized();
        return rig.tick();
    };
    constexpr double kMost = 0.5 * 0.17 / 8.5;  // max_impulse at the lever of the device [N m s]
    double recent = 0, full_time = 0;
    DeviceCommand out;
    for (int i = 0; i < 300; ++i) {
        out = turned(5);
        recent = recent * std::exp(-kLoopStep / 0.1) + out.torque.z() * kLoopStep;
        EXPECT_LE(recent, kMost + 2e-5);
        if (out.torque.z() == 0.17) full_time += kLoopStep;
    }
    EXPECT_TRUE(rig.safety.report().is_softened);
    EXPECT_NEAR(out.torque.z(), kMost / 0.1, 2e-3);
    EXPECT_EQ(out.force.y(), 3);
    EXPECT_NEAR(full_time, -0.1 * std::log(1 - 0.5 / (8.5 * 0.1)), 0.005);
    // against the torque, and slower than 20 mm/s at the lever, it is shown in full
    for (const double speed : {-2.0, 0.9}) {
        for (int i = 0; i < 200; ++i) out = turned(speed);
        EXPECT_EQ(out.torque.z(), 0.17) << speed;
        EXPECT_FALSE(rig.safety.report().is_softened) << speed;
    }
}

TEST(DeviceSafety, ReadingsAtOneMomentDoNotBlindTheImpulseLimit) {
    Rig rig;
    rig.now = 0;
    (void)rig.safety.filter({}, rig.state, 0);
    rig.state.time = 1e-310;  // faster than any number
    rig.state.pose.position.x() = 0.04;
    (void)rig.safety.filter({}, rig.state, 0);
    rig.warm_up();
    rig.wanted = push(8.5);
    for (int i = 0; i < 200; ++i) {
        rig.state.pose.position.x() += 0.5 * kLoopStep;
        (void)rig.tick();
    }
    EXPECT_TRUE(rig.safety.report().is_softened);
}

/// Numbers of every kind.
double any_number(std::mt19937_64& random) {
    const double unit = std::uniform_real_distribution<double>(-1, 1)(random);
    switch (random() % 12) {
        case 0: return kNan;
        case 1: return kInfinity;
        case 2: return -kInfinity;
        case 3: return unit * 1e308;
        case 4: return 1e-300 * unit;
        case 5: return 0;
        default: return 20 * unit;
    }
}

TEST(DeviceSafety, AnyInputGivesFiniteOutputWithinAllLimits) {
    const DeviceCapabilities can;
    const DeviceSafetyOptions options{.stale_time = 0.01, .deadman_button = 1};
    std::mt19937_64 random(7);
    for (int run = 0; run < 40; ++run) {
        DeviceSafety safety(can, options);
        safety.enable();
        DeviceCommand last;
        double now = 0, last_now = kNan;
        const bool is_mild = run % 2 == 0;  // mostly good, so that output is seen at all
        double largest = 0;
        for (int i = 0; i < 3000; ++i) {
            const bool is_wild = !is_mild || random() % 400 == 0;
            DeviceCommand wanted;
            DeviceState state;
            for (int axis = 0; axis < 3; ++axis) {
                wanted.force[axis] = is_wild ? any_number(random) : 30 * std::sin(i + axis);
                wanted.torque[axis] = is_wild ? any_number(random) : std::cos(i + axis);
            }
            wanted.gripper = is_wild ? any_number(random) : 1;
            now = is_wild && random() % 4 == 0 ? any_number(random)
                                               : (std::isfinite(now) ? now : 0) + kLoopStep;
            state.time = is_wild && random() % 4 == 0 ? any_number(random) : now;
            if (is_wild && random() % 4 == 0) state.pose.position.x() = any_number(random);
            if (is_wild && random() % 4 == 0) state.pose.rotation.x() = any_number(random);
            state.status = static_cast<DeviceStatus>(is_wild ? random() % kNumDeviceStatuses : 0);
            state.buttons = is_wild ? static_cast<std::uint32_t>(random()) : 2;
            if (is_wild && random() % 50 == 0) safety.disable();
            if (random() % 50 == 0) safety.enable();

            const DeviceCommand out = safety.filter(wanted, state, now);
            ASSERT_TRUE(out.force.allFinite() && out.torque.allFinite());
            ASSERT_TRUE(std::isfinite(out.gripper));
            ASSERT_LE(out.force.norm(), can.max_force * (1 + 1e-12));
            ASSERT_LE(out.torque.norm(), can.max_torque * (1 + 1e-12));
            ASSERT_LE(std::abs(out.gripper), can.max_force);
            const double dt = std::isfinite(now) && now >= last_now ? now - last_now : kLoopStep;
            ASSERT_LE((out.force - last.force).norm(), options.force_rate * dt * (1 + 1e-9));
            ASSERT_LE((out.torque - last.torque).norm(),
                      options.force_rate * 0.17 / 8.5 * dt * (1 + 1e-9));
            ASSERT_TRUE(std::isfinite(safety.report().temperature));
            last = out;
            if (std::isfinite(now)) last_now = now;
            largest = std::max(largest, out.force.norm());
        }
        EXPECT_TRUE(largest > 1 || !is_mild);
    }
}

TEST(DeviceSafety, AllocatesNothing) {
    Rig rig;
    rig.safety.enable();
    rig.wanted = push(20);
    AllocationGuard guard;
    for (int i = 0; i < 100; ++i) (void)rig.tick();
    const auto count = guard.count();
    EXPECT_EQ(count, 0u);
}

TEST(DeviceSafety, OptionsOutOfRangeAreNamed) {
    const auto refusal = [](const DeviceSafetyOptions& options) {
        return test::input_error([&] { DeviceSafety({}, options); });
    };
    EXPECT_EQ(refusal({.ramp_time = -1}), "ramp_time = -1 (expected 0.001 to 60 s)");
    EXPECT_EQ(refusal({.force_rate = kNan}).substr(0, 18), "force_rate = nan (");
    EXPECT_EQ(refusal({.max_turn = 0}), "max_turn = 0 (expected 0.001 to 10 rad)");
    EXPECT_EQ(refusal({.deadman_button = 32}), "deadman_button = 32 (expected -1 to 31)");
    DeviceCapabilities can;
    can.max_force = -1;
    EXPECT_NE(test::input_error([&] { DeviceSafety safety(can); }), "");
}

}  // namespace
