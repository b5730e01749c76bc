#include "pliant/haptics/simulated_device.h"
#include "core/numbers.h"
#include "haptics/loop_step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "input_error.h"
#include "pliant/core/allocation_guard.h"

namespace {

using namespace pliant;
using Eigen::Vector3d;

/// Without damping, delay and encoder steps.
DeviceModel ideal() {
    DeviceModel model;
    model.damping = model.angular_damping = 0;
    model.delay = 0;
    model.capabilities.position_step = model.capabilities.angle_step = 0;
    return model;
}
Pose at(double x, double y = 0, double z = 0) {
    return {.position = {x, y, z}, .rotation = Quaternion::Identity()};
}
DeviceCommand push_by(double force) {
    DeviceCommand command;
    command.force = {force, 0, 0};
    return command;
}
DeviceCommand twist(double torque) {
    DeviceCommand command;
    command.torque = {0, 0, torque};
    return command;
}
/// Reads once a tick from tick `from` + 1 to `to`; the first read sets the clock.
void run(SimulatedDevice& device, int from, int to) {
    if (from == 0) (void)device.read(0);
    for (int i = from + 1; i <= to; ++i) (void)device.read(i * kLoopStep);
}

TEST(SimulatedDevice, MassUnderConstantForceFollowsTheParabola) {
    SimulatedDevice device(ideal(), HandModel::absent());
    device.write(push_by(2));
    for (int i = 0; i <= 100; ++i) {
        const double t = i * kLoopStep;
        const DeviceState state = device.read(t);
        EXPECT_NEAR(state.pose.position.x(), 0.5 * 2 / 0.1 * t * t, 1e-14);
        EXPECT_NEAR(device.true_twist().linear.x(), 2 / 0.1 * t, 1e-12);
        EXPECT_EQ(state.status, DeviceStatus::Ok);
        EXPECT_NEAR(state.time, t, 1e-12);
    }
}

TEST(SimulatedDevice, TheMassOfTheHandleMayChangeWhileItMoves) {
    SimulatedDevice device(ideal(), HandModel::absent());
    device.write(push_by(2));
    run(device, 0, 50);
    const double x = device.true_pose().position.x(), v = device.true_twist().linear.x();
    device.set_mass(0.25);
    run(device, 50, 100);
    const double t = 50 * kLoopStep;
    EXPECT_NEAR(device.true_pose().position.x(), x + v * t + 0.5 * 2 / 0.25 * t * t, 1e-12);
    EXPECT_NE(test::input_error([&] { device.set_mass(0); }), "");
    device.reset();
    device.write(push_by(2));
    run(device, 0, 50);
    EXPECT_NEAR(device.true_pose().position.x(), 0.5 * 2 / 0.25 * t * t, 1e-12) << "kept";
}

TEST(SimulatedDevice, InertiaUnderConstantTorqueTurnsAsItShould) {
    SimulatedDevice device(ideal(), HandModel::absent());
    device.write(twist(0.01));
    run(device, 0, 200);
    const double angle = 0.5 * 0.01 / 5e-5 * 0.04;  // 4 rad
    const Quaternion expected = rotation_from_vector({0, 0, angle});
    EXPECT_NEAR(rotation_difference(device.true_pose().rotation, expected).norm(), 0, 1e-12);
    EXPECT_NEAR(device.true_twist().angular.z(), 0.01 / 5e-5 * 0.2, 1e-10);
}

TEST(SimulatedDevice, ViscousDampingSlowsDownExponentially) {
    DeviceModel model = ideal();
    model.damping = 0.5;
    SimulatedDevice device(model, HandModel::absent());
    device.place({}, {.linear = {0.3, 0, 0}, .angular = {0, 0, 0}});
    run(device, 0, 400);
    EXPECT_NEAR(device.true_twist().linear.x(), 0.3 * std::exp(-0.5 / 0.1 * 0.4), 1e-8);
}

TEST(SimulatedDevice, HandWithoutDampingKeepsTheEnergy) {
    HandModel hand;
    hand.damping = hand.angular_damping = 0;
    DeviceModel model = ideal();
    model.mass = 0.05;
    SimulatedDevice device(model, hand);
    device.place({}, {.linear = {0.3, -0.1, 0.2}, .angular = {0, 0, 0}});
    const double first = device.stored_energy();
    double drift = 0;
    for (int i = 0; i <= 10000; ++i) {
        (void)device.read(i * kLoopStep);
        drift = std::max(drift, std::abs(device.stored_energy() / first - 1));
    }
    EXPECT_LT(drift, 1e-10);  // 10 s, 87 oscillations: rounding of 200,000 steps alone
    EXPECT_EQ(device.motor_work(), 0);
    EXPECT_EQ(device.dissipated(), 0);
}

TEST(SimulatedDevice, FrequencyOnTheHandIsThatOfASpring) {
    HandModel hand = HandModel::firm();
    hand.damping = 0;
    SimulatedDevice device(ideal(), hand);
    const double rate = std::sqrt(1000 / 0.2), speed = 0.1;
    device.place({}, {.linear = {speed, 0, 0}, .angular = {0, 0, 0}});
    for (int i = 0; i <= 500; ++i) {
        (void)device.read(i * kLoopStep);
        // the midpoint rule is late by ω t (ω h)²/12, h = 50 µs
        EXPECT_NEAR(device.true_pose().position.x(), speed / rate * std::sin(rate * i * kLoopStep),
                    4e-5 * speed / rate);
    }
}

TEST(SimulatedDevice, TurningOnTheHandKeepsTheEnergyNearly) {
    HandModel hand;
    hand.damping = hand.angular_damping = 0;
    for (const double size : {0.5, 30.0, 200.0}) {
        SimulatedDevice device(ideal(), hand);
        device.place(
            {.position = Vector3d::Zero(), .rotation = rotation_from_vector({0.3, -0.2, 0.4})},
            {.linear = {0, 0, 0}, .angular = size * Vector3d(1, 0.4, -0.3)});
        device.aim({});
        const double first = device.stored_energy();
        double drift = 0;
        for (int i = 0; i <= 5000; ++i) {
            (void)device.read(i * kLoopStep);
            drift = std::max(drift, std::abs(device.stored_energy() - first - device.hand_work()));
        }
        // the arm gave energy in the first sample, when the target turned
        EXPECT_LT(drift, 2e-5 * (first + device.hand_work())) << size;
    }
}

TEST(SimulatedDevice, WorkIsBookedExactly) {
    DeviceModel model = ideal();
    model.damping = 0.3;
    model.friction = 0.2;
    model.motor_bandwidth = 200;
    model.delay = 2;
    HandModel hand;
    hand.tremor = 1e-4;
    SimulatedDevice device(model, hand);
    device.place(at(0.01), {.linear = {0.1, 0.2, 0}, .angular = {0, 0, 0}});
    const double first = device.stored_energy();
    double largest = 0;
    for (int i = 0; i <= 3000; ++i) {
        (void)device.read(i * kLoopStep);
        device.aim(at(0.02 * std::sin(0.01 * i), 0.01 * std::cos(0.02 * i)));
        DeviceCommand command;
        command.force = {3 * std::sin(0.07 * i), 2 * std::cos(0.03 * i), 1};
        device.write(command);
        const double balance =
            device.motor_work() + device.hand_work() - device.dissipated() + first;
        ASSERT_NEAR(device.stored_energy(), balance, 1e-12);
        largest = std::max(largest, device.dissipated());
    }
    EXPECT_GT(largest, 0.1);  // [J]: much more went through than is left over
    EXPECT_GT(std::abs(device.motor_work()), 0.01);
}

TEST(SimulatedDevice, MotorWorkIsTheChangeOfEnergyWhenTurningFreely) {
    DeviceModel model = ideal();
    model.angular_damping = 2e-3;
    SimulatedDevice device(model, HandModel::absent());
    for (int i = 0; i <= 1000; ++i) {
        (void)device.read(i * kLoopStep);
        DeviceCommand command;
        command.torque = {0.1 * std::sin(0.05 * i), 0.05, 0.1 * std::cos(0.02 * i)};
        device.write(command);
        ASSERT_NEAR(device.stored_energy(), device.motor_work() - device.dissipated(), 1e-12);
    }
    EXPECT_GT(device.motor_work(), 0.1);
}

TEST(SimulatedDevice, DryFrictionHoldsSlidesAndStops) {
    DeviceModel model = ideal();
    model.friction = 0.5;
    SimulatedDevice device(model, HandModel::absent());
    // below the limit it does not creep
    device.write(push_by(0.49));
    run(device, 0, 1000);
    EXPECT_EQ(device.true_pose().position.norm(), 0);
    // above it slides under the difference
    device.write(push_by(0.7));
    run(device, 1000, 1100);
    EXPECT_NEAR(device.true_twist().linear.x(), 0.2 / 0.1 * 0.1, 1e-10);
    // and stops after v²/(2a)
    const double from = device.true_pose().position.x();
    device.write(push_by(0));
    run(device, 1100, 1400);
    EXPECT_NEAR(device.true_pose().position.x() - from, 0.2 * 0.2 / (2 * 0.5 / 0.1), 1e-6);
    EXPECT_EQ(device.true_twist().linear.norm(), 0);
    const Pose rest = device.true_pose();
    run(device, 1400, 2000);
    EXPECT_EQ(device.true_pose().position, rest.position);
}

TEST(SimulatedDevice, FrictionNeverMakesEnergy) {
    DeviceModel model = ideal();
    model.friction = 0.3;
    SimulatedDevice device(model, HandModel::loose());
    device.set_hand([] {
        HandModel hand = HandModel::loose();
        hand.damping = 0;
        return hand;
    }());
    device.place({}, {.linear = {0.4, 0.1, 0}, .angular = {0, 0, 0}});
    double last = device.stored_energy();
    for (int i = 0; i <= 2000; ++i) {
        (void)device.read(i * kLoopStep);
        EXPECT_LE(device.stored_energy(), last * (1 + 1e-9));
        last = device.stored_energy();
    }
    EXPECT_EQ(device.true_twist().linear.norm(), 0);
    EXPECT_LE(device.hand_load().force.norm(), 0.3);  // held by friction
}

TEST(SimulatedDevice, EncodersHaveSteps) {
    DeviceModel model = ideal();
    model.capabilities.position_step = 5e-5;
    model.capabilities.angle_step = 1e-3;
    SimulatedDevice device(model, HandModel::absent());
    device.place({.position = {1.23456e-3, -7.77e-4, 2.4e-5},
                  .rotation = rotation_from_vector({0.12345, -0.0006, 0.0004})});
    const Pose seen = device.read(0).pose;
    EXPECT_NEAR((seen.position - Vector3d(1.25e-3, -8e-4, 0)).norm(), 0, 1e-15);
    EXPECT_NEAR((rotation_vector(seen.rotation) - Vector3d(0.123, -0.001, 0)).norm(), 0, 1e-12);
    EXPECT_NEAR(device.true_pose().position.x(), 1.23456e-3, 1e-15);
    // the velocity is that of the steps
    device.place({}, {.linear = {0.01, 0, 0}, .angular = {0, 0, 0}});
    for (int i = 1; i <= 20; ++i) {
        const double speed = device.read(i * kLoopStep).twist.linear.x();
        EXPECT_TRUE(std::abs(speed) < 1e-12 || std::abs(speed - 0.05) < 1e-12) << speed;
    }
}

TEST(SimulatedDevice, AxesThatAreNotSensedOrActuatedAreSilent) {
    DeviceModel model = ideal();
    model.capabilities.is_sensed = {true, true, false, true, false, false};
    model.capabilities.is_actuated = {true, false, true, false, false, false};
    SimulatedDevice device(model, HandModel::absent());
    device.place({.position = {0.01, 0.02, 0.03}, .rotation = rotation_from_vector({0.1, 0.2, 0})});
    const Pose seen = device.read(0).pose;
    EXPECT_NEAR((seen.position - Vector3d(0.01, 0.02, 0)).norm(), 0, 1e-15);
    EXPECT_NEAR((rotation_vector(seen.rotation) - Vector3d(0.1, 0, 0)).norm(), 0, 1e-12);
    DeviceCommand command;
    command.force = {1, 1, 1};
    command.torque = {0.1, 0.1, 0.1};
    device.write(command);
    (void)device.read(kLoopStep);
    EXPECT_EQ(device.applied().force, Vector3d(1, 0, 1));
    EXPECT_EQ(device.applied().torque.norm(), 0);
}

TEST(SimulatedDevice, CommandsAreHeldAndComeWholeSamplesLate) {
    for (const int delay : {0, 1, 3, 64}) {
        DeviceModel model = ideal();
        model.delay = delay;
        SimulatedDevice device(model, HandModel::absent());
        EXPECT_EQ(device.capabilities().delay, delay);
        std::vector<double> applied;
        for (int i = 0; i < 200; ++i) {
            (void)device.read(i * kLoopStep);
            applied.push_back(device.applied().force.x());  // during the sample that ended
            device.write(push_by(0.01 * (i + 1)));
        }
        for (int i = 1; i < 200; ++i)
            EXPECT_DOUBLE_EQ(applied[static_cast<std::size_t>(i)],
                             i > delay ? 0.01 * (i - delay) : 0.0);
    }
}

TEST(SimulatedDevice, ReadingsAndCommandsAreThoseOfItsOwnSamples) {
    DeviceModel model = ideal();
    model.rate = 250;
    SimulatedDevice device(model, HandModel::absent());
    device.place({}, {.linear = {0.1, 0, 0}, .angular = {0, 0, 0}});
    int num_new = 0;
    for (int i = 0; i <= 40; ++i) {
        const DeviceState state = device.read(i * kLoopStep);
        const bool is_new = i % 4 == 0;
        EXPECT_EQ(state.status, is_new ? DeviceStatus::Ok : DeviceStatus::Stale) << i;
        EXPECT_NEAR(state.time, (i / 4) * 4 * kLoopStep, 1e-12);
        EXPECT_NEAR(state.pose.position.x(), 0.1 * state.time, 1e-12);
        num_new += is_new;
    }
    EXPECT_EQ(num_new, 11);
}

TEST(SimulatedDevice, MotorsSaturateBySize) {
    SimulatedDevice device(ideal(), HandModel::absent());
    DeviceCommand command;
    command.force = {300, 400, 0};
    command.torque = {0, 0, -7};
    (void)device.read(0);
    device.write(command);
    (void)device.read(kLoopStep);
    EXPECT_NEAR((device.applied().force - Vector3d(5.1, 6.8, 0)).norm(), 0, 1e-12);
    EXPECT_NEAR(device.applied().torque.z(), -0.17, 1e-15);
    for (const double bad : {kNan, kInfinity}) {
        command.force.x() = bad;
        device.write(command);
        (void)device.read(2 * kLoopStep);
        EXPECT_EQ(device.applied().force.norm(), 0);
        EXPECT_EQ(device.applied().torque.norm(), 0);
    }
}

TEST(SimulatedDevice, MotorsOfFiniteBandwidthFollowExponentially) {
    DeviceModel model = ideal();
    model.motor_bandwidth = 50;
    SimulatedDevice device(model, HandModel::absent());
    (void)device.read(0);
    device.write(push_by(2));
    const double rate = 2 * std::numbers::pi * 50;
    for (int i = 1; i <= 20; ++i) {
        (void)device.read(i * kLoopStep);
        const double t = i * kLoopStep;
        EXPECT_NEAR(device.applied().force.x(), 2 * (1 - std::exp(-rate * t)), 1e-12);
        // the impulse is exact too
        EXPECT_NEAR(0.1 * device.true_twist().linear.x(),
                    2 * (t - (1 - std::exp(-rate * t)) / rate), 1e-12);
    }
}

TEST(SimulatedDevice, HandLeadsTheHandle) {
    SimulatedDevice device(ideal(), HandModel::firm());
    device.aim({.position = {0.01, 0, 0}, .rotation = rotation_from_vector({0, 0, 0.3})});
    run(device, 0, 2000);
    EXPECT_NEAR(device.true_pose().position.x(), 0.01, 1e-9);
    EXPECT_NEAR(rotation_vector(device.true_pose().rotation).z(), 0.3, 1e-9);
    EXPECT_LT(device.hand_load().force.norm(), 1e-6);
    // against a steady force it yields by F/k
    device.write(push_by(-2));
    run(device, 2000, 4000);
    EXPECT_NEAR(device.true_pose().position.x(), 0.01 - 2 / 1000.0, 1e-9);
    EXPECT_NEAR(device.hand_load().force.x(), 2, 1e-6);
}

TEST(SimulatedDevice, TargetIsReachedInAStraightLineOverARead) {
    // a stiff, well damped hand is where it wants to be
    HandModel hand{.stiffness = 1e5, .damping = 400, .mass = 0};
    SimulatedDevice device(ideal(), hand);
    (void)device.read(0);
    device.aim(at(0.1));
    (void)device.read(0.1);  // a hundred samples in one
    EXPECT_NEAR(device.true_pose().position.x(), 0.1, 1e-4);
    EXPECT_NEAR(device.true_twist().linear.x(), 1, 0.01);
}

TEST(SimulatedDevice, TremorDependsOnTheSeedAlone) {
    const auto path = [](std::uint64_t seed) {
        DeviceModel model = ideal();
        model.seed = seed;
        // too stiff to add a resonance of its own
        const HandModel hand{.stiffness = 1e5, .damping = 400, .mass = 0, .tremor = 2e-4};
        SimulatedDevice device(model, hand);
        std::vector<double> x;
        for (int i = 0; i < 4000; ++i) {
            (void)device.read(i * kLoopStep);
            x.push_back(device.true_pose().position.x());
        }
        return x;
    };
    const std::vector<double> a = path(5), b = path(5), c = path(6);
    EXPECT_EQ(a, b);
    EXPECT_NE(a, c);
    double sum = 0, largest = 0;
    int crossings = 0;
    for (std::size_t i = 1000; i < a.size(); ++i) {
        sum += a[i] * a[i];
        largest = std::max(largest, std::abs(a[i]));
        crossings += (a[i] > 0) != (a[i - 1] > 0);
    }
    EXPECT_NEAR(std::sqrt(sum / 3000), 2e-4 / std::sqrt(6), 6e-5);  // an axis of three
    EXPECT_LT(largest, 4e-4);
    EXPECT_NEAR(crossings / 2.0 / 3, 10, 2);  // [Hz]
}

TEST(SimulatedDevice, JumpsOfTheClockAreBounded) {
    SimulatedDevice device(ideal(), HandModel::absent());
    device.place({}, {.linear = {0.1, 0, 0}, .angular = {0, 0, 0}});
    run(device, 0, 10);
    const double from = device.true_pose().position.x();
    for (const double bad : {kNan, kInfinity, -kInfinity}) {
        EXPECT_EQ(device.read(bad).status, DeviceStatus::Stale);
        EXPECT_EQ(device.true_pose().position.x(), from);
    }
    // hours ahead: no more than 200 samples
    DeviceState state = device.read(7200);
    EXPECT_EQ(state.status, DeviceStatus::Ok);
    EXPECT_EQ(state.time, 7200);
    EXPECT_NEAR(device.true_pose().position.x(), from + 0.1 * 0.2, 1e-12);
    // it goes on from there
    state = device.read(7200 + kLoopStep);
    EXPECT_EQ(state.status, DeviceStatus::Ok);
    EXPECT_NEAR(device.true_pose().position.x(), from + 0.1 * 0.201, 1e-12);
    // back: nothing happens, and time begins anew
    state = device.read(3);
    EXPECT_EQ(state.status, DeviceStatus::Stale);
    EXPECT_EQ(state.time, 3);
    EXPECT_NEAR(device.true_pose().position.x(), from + 0.1 * 0.201, 1e-12);
    state = device.read(3 + kLoopStep);
    EXPECT_EQ(state.status, DeviceStatus::Ok);
    EXPECT_NEAR(device.true_pose().position.x(), from + 0.1 * 0.202, 1e-12);
    for (const double far : {1e300, -1e300, 1e308, -1e308}) {
        (void)device.read(far);
        EXPECT_TRUE(is_finite(device.true_pose()));
    }
}

TEST(SimulatedDevice, LateClocksGiveOneSampleATick) {
    SimulatedDevice device(ideal());
    const double start = 1.7e9;  // seconds since 1970: steps of 2e-7 s
    for (int i = 0; i < 2000; ++i)
        EXPECT_EQ(device.read(start + i * kLoopStep).status, DeviceStatus::Ok) << i;
    EXPECT_NEAR(device.read(start + 1.999).time - start, 1.999, 1e-6);
}

TEST(SimulatedDevice, BadPosesAreIgnored) {
    SimulatedDevice device(ideal());
    device.place(at(0.01));
    for (const double bad : {kNan, kInfinity, 1e200}) {
        device.aim(at(bad));
        device.place(at(bad));
        device.place(at(0.02), {.linear = {kNan, 0, 0}, .angular = {0, 0, 0}});
        device.aim({.position = Vector3d::Zero(), .rotation = Quaternion(bad, 0, 0, 0)});
        run(device, 0, 10);
        EXPECT_NEAR(device.true_pose().position.x(), 0.01, 1e-12);
    }
}

TEST(SimulatedDevice, ButtonsAndThePlugShowInReadings) {
    DeviceModel model = ideal();
    model.delay = 3;
    SimulatedDevice device(model, HandModel::absent());
    device.set_buttons(5);
    device.place({}, {.linear = {0.1, 0, 0}, .angular = {0, 0, 0}});
    run(device, 0, 10);
    device.write(push_by(1));
    EXPECT_EQ(device.read(11 * kLoopStep).buttons, 5u);
    device.set_connected(false);
    for (int i = 12; i < 100; ++i) {
        const DeviceState state = device.read(i * kLoopStep);
        EXPECT_EQ(state.status, DeviceStatus::Disconnected);
        EXPECT_NEAR(state.pose.position.x(), 0.1 * 0.011, 1e-12);
        EXPECT_EQ(device.applied().force.norm(), 0);
        device.write(push_by(1));
    }
    device.set_connected(true);
    for (int i = 100; i < 110; ++i) {
        const DeviceState state = device.read(i * kLoopStep);
        EXPECT_EQ(state.status, DeviceStatus::Ok);
        EXPECT_NEAR(state.pose.position.x(), 0.1 * i * kLoopStep, 1e-12);
        EXPECT_NEAR(state.twist.linear.x(), 0.1, 1e-9);  // of its last two samples
    }
}

TEST(SimulatedDevice, ReadingAndWritingAllocateNothing) {
    DeviceModel model;
    model.friction = 0.1;
    model.motor_bandwidth = 300;
    HandModel hand;
    hand.tremor = 1e-4;
    SimulatedDevice device(model, hand);
    (void)device.read(0);
    AllocationGuard guard;
    for (int i = 1; i < 50; ++i) {
        device.aim(at(0.001 * i));
        (void)device.read(i * kLoopStep);
        device.write(push_by(i));
    }
    (void)device.read(1e6);
    const auto count = guard.count();
    EXPECT_EQ(count, 0u);
}

TEST(SimulatedDevice, NumbersOutOfRangeAreNamed) {
    const auto refusal = [](const DeviceModel& model, const HandModel& hand = {}) {
        return test::input_error([&] { SimulatedDevice device(model, hand); });
    };
    EXPECT_EQ(refusal({.mass = 0}), "device.mass = 0 (expected 0.001 to 100 kg)");
    EXPECT_EQ(refusal({.delay = 65}), "device.delay = 65 (expected 0 to 64 samples)");
    EXPECT_EQ(refusal({.steps_per_sample = 0}), "device.steps_per_sample = 0 (expected 1 to 1000)");
    EXPECT_NE(refusal({.rate = kNan}), "");
    EXPECT_NE(refusal({.motor_bandwidth = -1}), "");
    EXPECT_EQ(refusal({}, {.tremor = 1}), "hand.tremor = 1 (expected 0 to 0.1 m)");
    DeviceModel model;
    model.capabilities.max_force = 0;
    EXPECT_NE(refusal(model), "");
    SimulatedDevice device{DeviceModel{}};
    EXPECT_NE(test::input_error([&] { device.set_hand({.stiffness = -1}); }), "");
}

}  // namespace
