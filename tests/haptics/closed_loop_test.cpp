#include <gtest/gtest.h>

#include <numbers>
#include <random>

#include "haptics/loop_samples.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"

// Device, hand, tool and bodies together: the criterion of docs/haptics.md eq. (24) and the port's
// energy. Long runs are those of `pliant reproduce haptics`.

namespace pliant {
namespace {

using namespace test;
using Eigen::Vector3d;

struct LoopOutcome {
    bool is_calm = false;         ///< by the criterion, hand still
    double level = 0;             ///< largest window of the force [N]
    double depth = 0, bound = 0;  ///< [m]
    double least_margin = 0;      ///< of W − S [J]
    double force = 0;             ///< at the end [N]
    double least_gains = 1, least_steps = 1;
    double taken_out = 0;  ///< by the passivity controller [J]
    std::string notice;
};

/// The scene's own path, then `still` seconds of a hand that holds still; of those the last two
/// windows are judged.
LoopOutcome run(const LoopOptions& options, double still) {
    HapticLoop loop(options);
    OscillationMeter meter;
    LoopOutcome out;
    out.bound = loop.gains.max_depth;
    const int n = static_cast<int>((1.3 + still) / HapticLoop::kStep);
    for (int k = 0; k < n; ++k) {
        const HapticTick& t = loop.step(loop.target(k * HapticLoop::kStep));
        out.depth = std::max(out.depth, t.depth);
        out.least_gains = std::min(out.least_gains, t.gain_scale);
        out.least_steps = std::min(out.least_steps, t.step_scale);
        if (out.notice.empty()) out.notice = loop.haptics->notice();
        if (k < n - 1000) continue;
        const double stiffness = t.gain_scale * loop.gains.stiffness / loop.rules.scale;
        const double turning = t.gain_scale * loop.gains.angular_stiffness * loop.rules.scale;
        const OscillationOptions standard;
        meter.set_limits(
            std::max(standard.force_limit, stiffness * options.encoder),
            std::max(standard.torque_limit, 2 * turning * loop.device->capabilities().angle_step));
        meter.record({t.command.force, t.command.torque});
        out.level = std::max(out.level, meter.level().force);
    }
    out.is_calm = meter.num_windows() == 2 && !meter.is_oscillating();
    out.least_margin = loop.haptics->port().least_margin();
    out.force = loop.haptics->last().command.force.norm();
    out.taken_out = loop.haptics->port().taken_out();
    return out;
}

std::string text(const LoopOptions& o) {
    return "scene " + std::to_string(static_cast<int>(o.scene)) + ", " + std::to_string(o.mass) +
           " kg, hand " + std::to_string(o.hand.stiffness) + " N/m, encoder " +
           std::to_string(1e6 * o.encoder) + " um";
}

class ClosedLoop : public testing::TestWithParam<LoopScene> {};
INSTANTIATE_TEST_SUITE_P(Scenes, ClosedLoop, testing::ValuesIn(kLoopScenes));

TEST_P(ClosedLoop, TheRulesAloneAreCalmAndPassiveForAllDevicesAndHands) {
    for (const double mass : {0.05, 0.1, 0.3})
        for (const HandModel& hand : {HandModel::loose(), HandModel::firm()})
            for (const double encoder : {2e-5, 5e-5}) {
                LoopOptions options;
                options.scene = GetParam();
                options.mass = mass;
                options.hand = hand;
                options.encoder = encoder;
                const LoopOutcome out = run(options, 2);
                EXPECT_TRUE(out.is_calm) << text(options) << ": " << out.level << " N";
                EXPECT_LE(out.depth, out.bound) << text(options);
                EXPECT_GT(out.force, 0.5) << text(options);
                // nothing had to help, and the port stayed passive
                EXPECT_EQ(out.least_gains, 1) << text(options);
                EXPECT_EQ(out.least_steps, 1) << text(options);
                EXPECT_GE(out.least_margin, -PassivityOptions().tolerance) << text(options);
                EXPECT_EQ(out.taken_out, 0) << text(options);
                EXPECT_EQ(out.notice, "") << text(options);
            }
}

TEST_P(ClosedLoop, GainsFourTimesTooHighAreBroughtBack) {
    if (GetParam() == LoopScene::BoxOnPlane)
        GTEST_SKIP() << "a box flat on a plane does not shake at four times the gains: contact "
                        "holds its rotations";
    for (const auto& [mass, encoder] : {std::pair{0.05, 5e-5}, {0.1, 2e-5}, {0.3, 2e-5}}) {
        LoopOptions options;
        options.scene = GetParam();
        options.mass = mass;
        options.encoder = encoder;
        options.gain_factor = 4;
        options.tool.injects_damping = false;
        options.tool.backs_off = false;
        options.tool.passivity.controls = false;
        const LoopOutcome alone = run(options, 2);
        EXPECT_FALSE(alone.is_calm) << text(options);
        EXPECT_GT(alone.level, 0.5) << text(options);
        options.tool = {};
        const LoopOutcome helped = run(options, 7);
        EXPECT_TRUE(helped.is_calm) << text(options) << ": " << helped.level << " N";
        EXPECT_LE(helped.depth, helped.bound) << text(options);
        EXPECT_NE(helped.notice, "") << text(options);
        EXPECT_GT(helped.force, 0.3) << text(options);
    }
}

/// Half a second of rest for the ramp of safety, then `depth` down within `seconds` and back,
/// twice.
Pose pressing(double time, double depth, double seconds) {
    const double s = std::max(time - 0.6, 0.0) / seconds;
    Pose target;
    if (s < 4) target.position.z() = -0.5 * depth * (1 - std::cos(std::numbers::pi * s));
    return target;
}

TEST(ClosedLoop, EnergyOfThePortIsWorkOfTheMotors) {
    LoopOptions options;
    options.hand = HandModel::firm();
    options.encoder = 1e-9;
    HapticLoop loop(options);
    double largest = 0;
    for (int k = 0; k < 1400; ++k) {
        const HapticTick& t = loop.step(pressing(k * 1e-3, 0.012, 0.15));
        if (k < 650) continue;
        // what went into the loop is what the motors took out of the hand, sample by sample
        largest = std::max(largest, std::abs(t.port_energy + loop.device->motor_work()));
    }
    EXPECT_GT(loop.haptics->last().port_energy, 1e-3);
    EXPECT_LT(largest, 2e-6);  // steps of angles, and the ramp's end
}

TEST(ClosedLoop, WhatASoftBodyGivesBackIsNoGeneration) {
    LoopOptions options;
    options.scene = LoopScene::SphereOnBar;
    options.hand = HandModel::firm();
    HapticLoop loop(options);
    double most = 0;
    for (int k = 0; k < 6000; ++k) {
        const HapticTick& t = loop.step(pressing(k * 1e-3, 0.05, 1.2));
        most = std::max(most, t.port_energy - t.stored_energy);
    }
    // the bar held more than the surplus that is kept without it
    EXPECT_GT(most, 1.5 * PassivityOptions().max_stored);
    EXPECT_GE(loop.haptics->port().least_margin(), -PassivityOptions().tolerance);
    EXPECT_EQ(loop.haptics->port().taken_out(), 0);
}

TEST(ClosedLoop, AContactJustLostIsNotMadeAgainWithAKick) {
    // a loose hand meets the bar at 0.4 m/s and leans on it, a little more and a little less;
    // without docs/haptics.md eq. (17a) contact changes 17 times, and it is 206 um deep
    LoopOptions options;
    options.scene = LoopScene::SphereOnBar;
    options.encoder = 1e-6;
    HapticLoop loop(options);
    int changes = 0;
    bool was_in_contact = false;
    double deepest = 0;
    for (int k = 0; k < 4000; ++k) {
        const double time = k * HapticLoop::kStep;
        Pose target;
        target.position.z() = std::max(-0.004, -0.4 * time) + 0.001 * std::sin(6 * time);
        const HapticTick& tick = loop.step(target);
        changes += (tick.depth > 0) != was_in_contact;
        was_in_contact = tick.depth > 0;
        deepest = std::max(deepest, tick.depth);
    }
    EXPECT_TRUE(was_in_contact);
    EXPECT_LE(changes, 11);
    EXPECT_LT(deepest, 1.5e-4);
}

TEST_P(ClosedLoop, PenetrationStaysBoundedWithAndWithoutFeedback) {
    LoopOptions options;
    options.scene = GetParam();
    options.hand = HandModel::firm();
    for (const bool shows_force : {false, true}) {
        options.tool.shows_force = shows_force;
        HapticLoop loop(options);
        std::mt19937 random(7);
        std::uniform_real_distribution<double> uniform(-1, 1);
        Pose from, to;
        double depth = 0;
        for (int k = 0; k < 4000; ++k) {
            if (k % 400 == 0) {
                // up to 6 cm in 0.4 s, mostly into contact, with turns
                from = to;
                const double x = uniform(random), y = uniform(random), z = uniform(random);
                const double a = uniform(random), b = uniform(random), c = uniform(random);
                to.position = 0.03 * Vector3d(x, y, z - 0.6);
                to.rotation = rotation_from_vector(Vector3d(0.3 * a, 0.3 * b, 0.3 * c));
            }
            const HapticTick& t = loop.step(interpolate(from, to, (k % 400) / 400.0));
            depth = std::max(depth, t.depth);
            ASSERT_TRUE(is_finite(t.tool));
        }
        EXPECT_GT(depth, 0);
        // steps leave their tangents, and a bar changes its speed between two ticks, by less than a
        // hundredth of the bound
        EXPECT_LE(depth, 1.01 * loop.gains.max_depth) << shows_force;
        EXPECT_EQ(loop.haptics->last().worst_depth, depth);
    }
}

TEST_P(ClosedLoop, RunsAreBitIdentical) {
    LoopOptions options;
    options.scene = GetParam();
    options.hand.tremor = 1e-4;
    HapticLoop a(options), b(options);
    for (int k = 0; k < 1500; ++k) {
        const HapticTick& s = a.step(a.target(k * 1e-3));
        const HapticTick& t = b.step(b.target(k * 1e-3));
        ASSERT_EQ(s.command.force, t.command.force) << k;
        ASSERT_EQ(s.command.torque, t.command.torque) << k;
        ASSERT_EQ(s.tool.position, t.tool.position) << k;
        ASSERT_EQ(s.tool.rotation.coeffs(), t.tool.rotation.coeffs()) << k;
        ASSERT_EQ(s.port_energy, t.port_energy) << k;
    }
    EXPECT_GT(a.haptics->last().num_contacts, 0);
}

TEST_P(ClosedLoop, TicksAllocateNothing) {
    set_num_threads(1);
    LoopOptions options;
    options.scene = GetParam();
    options.gain_factor = 4;  // everything has something to do
    HapticLoop loop(options);
    for (int k = 0; k < 200; ++k) loop.step(loop.target(k * 1e-3));
    AllocationGuard guard;
    for (int k = 200; k < 2200; ++k) loop.step(loop.target(k * 1e-3));
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_GT(loop.haptics->last().num_contacts, 0);
}

}  // namespace
}  // namespace pliant
