#include "pliant/haptics/device_check.h"

#include "input_error.h"
#include "pliant/haptics/simulated_device.h"

#include <gtest/gtest.h>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace pliant;
using Eigen::Matrix3d;
using Eigen::Vector3d;

/// A simulated device with wires that may be crossed and a weight that nobody compensates.
class WiredDevice final : public HapticDevice {
public:
    explicit WiredDevice(const DeviceModel& model = {}) : inner(model, HandModel()) {}
    [[nodiscard]] const DeviceCapabilities& capabilities() const noexcept override {
        return inner.capabilities();
    }
    DeviceState read(double now) noexcept override {
        DeviceState state = inner.read(now);
        state.pose.position = sensors * state.pose.position;
        log.push_back({now, state.pose.position, {}});
        return state;
    }
    void write(const DeviceCommand& command) noexcept override {
        if (!log.empty()) log.back().forces.push_back(command.force);
        last = command;
        largest = std::max(largest, command.force.norm());
        DeviceCommand sent = command;
        sent.force = motors * command.force + weight;
        inner.write(sent);
    }

    SimulatedDevice inner;
    Matrix3d sensors = Matrix3d::Identity(), motors = Matrix3d::Identity();
    Vector3d weight = Vector3d::Zero();
    DeviceCommand last;
    double largest = 0;
    /// A reading, and what was written until the next one.
    struct Tick {
        double time;
        Vector3d position;
        std::vector<Vector3d> forces;
    };
    std::vector<Tick> log;
};

Pose check_pose(const Vector3d& position) {
    return {.position = position, .rotation = Quaternion::Identity()};
}

/// A hand that does what it is asked for, in virtual time.
CheckSurroundings obliging(WiredDevice& device) {
    return {.wait_until = [](double next) { return next; },
            .ask =
                [&device](CheckAction action) {
                    device.inner.set_hand(action == CheckAction::LetGo ? HandModel::absent()
                                                                       : HandModel());
                    device.inner.set_buttons(0);
                    switch (action) {
                        case CheckAction::MoveRight:
                            device.inner.aim(check_pose({0.04, 0.004, 0}));
                            break;
                        case CheckAction::MoveAway:
                            device.inner.aim(check_pose({0.04, 0.04, -0.003}));
                            break;
                        case CheckAction::MoveUp:
                            device.inner.aim(check_pose({0.04, 0.04, 0.04}));
                            break;
                        case CheckAction::PressButton:
                            // pressed a while after the question: here at once, in the next read
                            break;
                        default: device.inner.aim(check_pose(Vector3d::Zero())); break;
                    }
                    return true;
                }};
}

/// As above, and presses button 1 once time has gone on after the question.
CheckSurroundings obliging_with_button(WiredDevice& device, bool& is_asked) {
    CheckSurroundings surroundings = obliging(device);
    const auto ask = surroundings.ask;
    surroundings.ask = [ask, &is_asked](CheckAction action) {
        is_asked = action == CheckAction::PressButton;
        return ask(action);
    };
    surroundings.wait_until = [&device, &is_asked, ticks = 0](double next) mutable {
        ticks = is_asked ? ticks + 1 : 0;
        device.inner.set_buttons(ticks > 100 ? 2u : 0u);
        return next;
    };
    return surroundings;
}

std::map<std::string, CheckStep> by_name(const DeviceCheckReport& report) {
    std::map<std::string, CheckStep> steps;
    for (const CheckStep& step : report.steps) steps[step.name] = step;
    return steps;
}

TEST(DeviceCheck, AGoodDevicePassesEveryStepAndEndsWithoutForce) {
    WiredDevice device;
    bool is_asked = false;
    const DeviceCheckReport report = check_device(device, obliging_with_button(device, is_asked));
    ASSERT_EQ(report.steps.size(), 6u);
    for (const CheckStep& step : report.steps)
        EXPECT_EQ(step.result, CheckResult::Passed) << step.name << ": " << step.finding;
    EXPECT_TRUE(report.has_passed());
    EXPECT_EQ(report.button, 1);
    EXPECT_NEAR(report.reading_rate, 1000, 1);
    EXPECT_NEAR(report.intervals.summary().p50_us, 1000, 20);
    EXPECT_LT(report.weight.norm(), 0.01);
    EXPECT_TRUE(device.last.force.isZero());
    EXPECT_LE(device.largest, 0.81);  // nothing but the gentle push
    EXPECT_NE(by_name(report)["latency"].finding.find("1 sample of the loop"), std::string::npos);
}

TEST(DeviceCheck, MotorsOfTheWrongSignStopItBeforeTheHandleGoesFar) {
    for (int axis = 0; axis < 3; ++axis) {
        WiredDevice device;
        device.motors(axis, axis) = -1;
        const DeviceCheckReport report = check_device(device, obliging(device), {.patience = 0.2});
        EXPECT_FALSE(report.has_passed());
        const CheckStep& step = report.steps.back();
        const std::string name(1, "xyz"[axis]);
        EXPECT_EQ(step.name, "push");
        EXPECT_NE(step.finding.find("pushed along +" + name + ", the handle moved along -" + name),
                  std::string::npos)
            << step.finding;
        EXPECT_NE(step.finding.find("Force set to zero"), std::string::npos);
        EXPECT_EQ(step.remedy, "change the sign of the force along " + name +
                                   " in the driver: readings were right");
        EXPECT_TRUE(device.last.force.isZero());
        EXPECT_LT(device.inner.true_pose().position.norm(), 0.002);
        EXPECT_LT(device.largest, 0.81);
    }
}

TEST(DeviceCheck, NoForceFollowsTheReadingThatShowsTheWrongWay) {
    DeviceCheckOptions options;
    options.patience = 0.2;
    for (int axis = 0; axis < 3; ++axis) {
        WiredDevice device;
        device.motors(axis, axis) = -1;
        EXPECT_FALSE(check_device(device, obliging(device), options).has_passed());
        // the last tick that was pushed in, and the reading after it
        std::size_t last_push = 0;
        for (std::size_t i = 0; i < device.log.size(); ++i)
            for (const Vector3d& force : device.log[i].forces)
                if (force.norm() > 0) last_push = i;
        ASSERT_GT(last_push, 0u);
        ASSERT_LT(last_push + 1, device.log.size());
        // where the push of this axis began: the last tick without force before it
        std::size_t begin = last_push;
        while (begin > 0 && device.log[begin].forces.back().norm() > 0) --begin;
        const auto wrong_way = [&](std::size_t i) {
            return device.log[begin].position[axis] - device.log[i].position[axis];
        };
        // it was not seen while there was force, it was seen in the next tick, and that had none
        EXPECT_LT(wrong_way(last_push), options.wrong_way);
        const WiredDevice::Tick& seen = device.log[last_push + 1];
        EXPECT_GE(wrong_way(last_push + 1), options.wrong_way);
        EXPECT_NEAR(seen.time - device.log[last_push].time, 1 / options.rate, 1e-9);
        ASSERT_FALSE(seen.forces.empty());
        for (const Vector3d& force : seen.forces) EXPECT_TRUE(force.isZero());
    }
}

TEST(DeviceCheck, CrossedMotorsAreNamed) {
    WiredDevice device;
    device.motors << 0, 1, 0, 1, 0, 0, 0, 0, 1;
    const DeviceCheckReport report = check_device(device, obliging(device), {.patience = 0.2});
    EXPECT_NE(report.steps.back().finding.find("pushed along +x, the handle moved along +y"),
              std::string::npos)
        << report.steps.back().finding;
    EXPECT_NE(report.steps.back().remedy.find("the force along x goes to another motor"),
              std::string::npos);
    EXPECT_TRUE(device.last.force.isZero());
}

TEST(DeviceCheck, ReadingsOfTheWrongSignOrAxisStopItBeforeAnyForce) {
    WiredDevice mirrored, turned;
    mirrored.sensors(1, 1) = -1;
    turned.sensors << 0, 0, 1, 1, 0, 0, 0, 1, 0;
    const DeviceCheckReport a = check_device(mirrored, obliging(mirrored));
    EXPECT_NE(a.steps.back().finding.find(
                  "moved away from the user, but readings go along -y instead of +y"),
              std::string::npos)
        << a.steps.back().finding;
    EXPECT_EQ(a.steps.back().remedy,
              "change the sign of y in the driver, of positions and of forces");
    const DeviceCheckReport b = check_device(turned, obliging(turned));
    EXPECT_NE(b.steps.back().finding.find("readings go along +y instead of +x"), std::string::npos)
        << b.steps.back().finding;
    EXPECT_NE(b.steps.back().remedy.find("\"rotation\""), std::string::npos);
    for (const WiredDevice* device : {&mirrored, &turned}) EXPECT_EQ(device->largest, 0);
}

TEST(DeviceCheck, HandsFromLooseToFirmGiveNoFalseAlarm) {
    for (const HandModel& hand : {HandModel::loose(), HandModel(), HandModel::firm()}) {
        WiredDevice device;
        CheckSurroundings surroundings = obliging(device);
        const auto ask = surroundings.ask;
        surroundings.ask = [&](CheckAction action) {
            const bool is_done = ask(action);
            if (action != CheckAction::LetGo) device.inner.set_hand(hand);
            return is_done;
        };
        const DeviceCheckReport report = check_device(device, surroundings, {.patience = 0.3});
        EXPECT_TRUE(report.has_passed()) << hand.stiffness << ": " << report.steps.back().finding;
        EXPECT_EQ(report.capabilities.delay, 1) << hand.stiffness;
    }
}

TEST(DeviceCheck, DelayIsMeasuredToASample) {
    for (const int delay : {1, 4, 10}) {
        DeviceModel model;
        model.delay = delay;
        WiredDevice device(model);
        const DeviceCheckReport report = check_device(device, obliging(device), {.patience = 0.2});
        EXPECT_NEAR(1e3 * report.latency, delay, 0.5) << by_name(report)["latency"].finding;
        EXPECT_EQ(report.capabilities.delay, delay);
    }
}

TEST(DeviceCheck, GainsAreThoseOfTheDelayThatWasMeasuredEachWithItsReason) {
    for (const int delay : {1, 4, 10}) {
        DeviceModel model;
        model.delay = delay;
        WiredDevice device(model);
        const DeviceCheckReport report = check_device(device, obliging(device), {.patience = 0.2});
        // docs/haptics.md section "Gains": the device holds 600 N/m, 8.5 N over half a millimetre
        EXPECT_NEAR(report.gains.stiffness, std::min(600.0, 0.7 * 2.3e3 / (0.5 + delay)), 1e-9);
        EXPECT_NEAR(report.gains.contact_stiffness, 8.5 / 5e-4, 1e-6);
        EXPECT_EQ(report.gains.injection, 2);
        const auto notes = explain(report.gains, report.capabilities, {.rate = 1000});
        for (const GainNote& note : notes) EXPECT_FALSE(note.reason.empty()) << note.name;
        EXPECT_EQ(notes.front().value, report.gains.stiffness);
        EXPECT_NE(notes.front().reason.find(delay == 1 ? "limit of the device"
                                                       : "limit of the sampled loop"),
                  std::string::npos)
            << notes.front().reason;
    }
}

TEST(DeviceCheck, WeightIsWhatASoftSpringHolds) {
    WiredDevice device;
    device.weight = {0, 0.05, -0.6};
    const DeviceCheckReport report = check_device(device, obliging(device), {.patience = 0.2});
    ASSERT_TRUE(report.has_passed()) << report.steps.back().finding;
    EXPECT_NEAR(report.weight.z(), -0.6, 0.03);
    EXPECT_NEAR(report.weight.y(), 0.05, 0.03);
    EXPECT_NE(by_name(report)["gravity"].remedy.find("compensation of gravity"), std::string::npos);
}

TEST(DeviceCheck, ADeviceThatIsGoneOrInMillimetresIsSaid) {
    WiredDevice gone, millimetres;
    gone.inner.set_connected(false);
    EXPECT_EQ(check_device(gone, obliging(gone)).steps.back().finding,
              "no reading came within 1 s");
    millimetres.inner.place(check_pose({0.001, 0.002, 0.01}));
    millimetres.sensors *= 1000;
    const DeviceCheckReport report = check_device(millimetres, obliging(millimetres));
    EXPECT_NE(report.steps.back().remedy.find("readings must be in metres"), std::string::npos)
        << report.steps.back().finding;
}

TEST(DeviceCheck, WithoutAPersonNothingIsPushed) {
    WiredDevice device;
    const CheckSurroundings nobody{.wait_until = [](double next) { return next; },
                                   .ask = [](CheckAction) { return false; }};
    const DeviceCheckReport report = check_device(device, nobody);
    EXPECT_TRUE(report.has_passed());
    EXPECT_EQ(device.largest, 0);
    EXPECT_EQ(by_name(report)["push"].result, CheckResult::Skipped);
}

TEST(DeviceCheck, NoSpringIsShownThroughMotorsThatNobodyPushed) {
    WiredDevice device;
    CheckSurroundings surroundings = obliging(device);
    const auto ask = surroundings.ask;
    surroundings.ask = [ask](CheckAction action) {
        return action != CheckAction::HoldLoosely && ask(action);
    };
    auto steps = by_name(check_device(device, surroundings, {.patience = 0.2}));
    EXPECT_EQ(device.largest, 0);
    for (const char* name : {"latency", "gravity"}) {
        EXPECT_EQ(steps[name].result, CheckResult::Skipped) << name;
        EXPECT_EQ(steps[name].finding, "needs the push") << name;
    }
}

TEST(DeviceCheck, AnInterruptionLeavesNoForce) {
    WiredDevice device;
    CheckSurroundings surroundings = obliging(device);
    surroundings.wait_until = [&device](double next) {
        if (device.last.force.norm() > 0.5) throw std::runtime_error("interrupted");
        return next;
    };
    EXPECT_THROW((void)check_device(device, surroundings, {.patience = 0.2}), std::runtime_error);
    EXPECT_TRUE(device.last.force.isZero());
}

TEST(DeviceCheck, OnsetOfAParabolaIsFoundThroughEncoderSteps) {
    std::vector<double> times, distances;
    for (int i = 0; i < 60; ++i) {
        const double t = 1e-3 * i, past = std::max(0.0, t - 0.0072);
        times.push_back(t);
        distances.push_back(2e-5 * std::round(0.5 * 6 * past * past / 2e-5));
    }
    EXPECT_NEAR(motion_onset(times, distances, 2e-5), 0.0072, 4e-4);
    EXPECT_LT(motion_onset(times, std::vector<double>(60, 0.0), 2e-5), 0);
}

TEST(DeviceCheck, OptionsOutOfRangeAreNamed) {
    WiredDevice device;
    EXPECT_EQ(
        test::input_error([&] { (void)check_device(device, obliging(device), {.push = 20}); }),
        "push = 20 (expected 0.05 to 2)");
}

}  // namespace
