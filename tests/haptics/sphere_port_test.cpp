#include "pliant/haptics/sphere_port.h"

#include "core/numbers.h"
#include "haptics/tool_samples.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::hand_at;
using test::TouchingTool;

/// A rigid tool over a floor, and the haptic thread's side of it.
struct PortedTool {
    explicit PortedTool(const SpherePortOptions& options = {})
        : touch(test::block_below(0.2, 0.2), test::tool_grid(3, 3, 0.5), test::tool_options(true)),
          link(9),
          port(link, touch.tool, options) {
        touch.tool.reset(hand_at(0, 0, 0.02));
    }
    void publish(const Pose& hand, double time) {
        (void)touch.tool.tick(hand);
        link.publish(touch.tool, time);
    }
    TouchingTool touch;
    SphereLink link;
    SpherePort port;
};

TEST(SpherePort, ShowsWhatTheToolShowsWhereTheHandIsTheSame) {
    PortedTool t;
    const Pose hand = hand_at(0.001, 0.002, 0.001, {0.05, 0.1, 0.2});
    EXPECT_EQ(t.port.tick(hand, 0).wrench.force, Vector3d::Zero()) << "nothing was told yet";
    t.publish(hand, 0);
    t.publish(hand, 0.001);
    ASSERT_GT(t.touch.tool.state().num_touching, 0);
    const Wrench& shown = t.port.tick(hand, 0.001).wrench;
    EXPECT_NEAR((shown.force - t.touch.tool.state().wrench.force).norm(), 0, 1e-12);
    EXPECT_NEAR((shown.torque - t.touch.tool.state().wrench.torque).norm(), 0, 1e-12);
    EXPECT_GT(shown.force.z(), 0.5);
}

TEST(SpherePort, TakesSnapshotsThatCameAnotherWayAndBeginsAnew) {
    PortedTool t;
    const Pose hand = hand_at(0.001, 0.002, 0.001);
    for (int k = 0; k < 2; ++k) (void)t.touch.tool.tick(hand);
    SphereSnapshot told = SphereSnapshot::of_size(9);
    const SphereSnapshot nothing = told;
    told.take(t.touch.tool, 0.001);
    told.sequence = 1;
    const AllocationGuard guard;
    t.link.publish(told);
    const SpherePort::Output shown = t.port.tick(hand, 0.001);
    t.port.reset();
    t.link.publish(nothing);
    const SpherePort::Output after = t.port.tick(hand, 0.002);
    const auto allocations = guard.count();
    if (AllocationGuard::is_active()) {
        EXPECT_EQ(allocations, 0u);
    }
    const SphereToolState& state = t.touch.tool.state();
    EXPECT_NEAR((shown.wrench.force - state.wrench.force).norm(), 0, 1e-12);
    EXPECT_EQ(shown.num_touching, state.num_touching);
    double energy = 0;
    for (int i = 0; i < 9; ++i) {
        const ProxyState& s = t.touch.tool.sphere(i);
        if (s.is_touching()) energy += 0.5 * told.translation * (s.position - s.goal).squaredNorm();
    }
    EXPECT_NEAR(shown.energy, energy, 1e-12);
    EXPECT_GT(energy, 0);
    EXPECT_EQ(after.wrench.force, Vector3d::Zero());
    EXPECT_EQ(after.num_touching, 0);
    EXPECT_EQ(after.energy, 0);
}

TEST(SpherePort, FreeMotionHasNoForceHoweverOldTheNewsAre) {
    PortedTool t;
    t.publish(hand_at(0, 0, 0.05), 0);
    for (int ms = 1; ms < 90; ++ms) {
        const Wrench& shown =
            t.port.tick(hand_at(0.003 * ms, 0, 0.05, {0, 0.02 * ms, 0}), 1e-3 * ms).wrench;
        ASSERT_EQ(shown.force, Vector3d::Zero());
        ASSERT_EQ(shown.torque, Vector3d::Zero());
    }
}

/// The hand slides along the floor; force against the motion over k_t |C|/N v times the age of
/// what the port knows, docs/sphere-tools.md eq. (7).
void expect_drag(double speed, double period, double delay) {
    PortedTool t;
    const auto hand = [&](double time) { return hand_at(speed * time, 0, 0.002); };
    double told = -1, next = 0;  // when the newest snapshot was true, and comes
    int compared = 0;
    for (int ms = 0; ms < 600; ++ms) {
        const double now = 1e-3 * ms;
        // a loop that takes `delay` to compute what was true at its beginning
        if (now >= next + delay - 1e-9) {
            t.publish(hand(next), next);
            told = next;
            next += period;
        }
        const SpherePort::Output& out = t.port.tick(hand(now), now);
        if (ms < 150 || now - told < 2e-3) continue;
        const double expected =
            500.0 * t.touch.tool.state().num_touching / 9 * speed * (now - told);
        EXPECT_NEAR(-out.wrench.force.x(), expected, 0.2 * expected) << speed << " " << now;
        EXPECT_NEAR(out.wrench.force.z(), 500 * 0.002, 0.01);
        compared += 1;
    }
    EXPECT_GT(compared, 200);
}

TEST(SpherePort, DragsInProportionToSpeedAndDelay) {
    for (const double speed : {0.02, 0.1})
        for (const double delay : {0.0, 0.02}) expect_drag(speed, 0.02, delay);
    // one rate has none: the tool's own tick
    PortedTool t;
    for (int ms = 0; ms < 300; ++ms) {
        const SphereToolState& state = t.touch.tool.tick(hand_at(1e-4 * ms, 0, 0.002));
        if (ms > 5) EXPECT_LT(std::abs(state.wrench.force.x()), 1e-6);
    }
}

TEST(SpherePort, TakesTheForceAwayWhenNobodyPublishesAndBringsItBackSlowly) {
    PortedTool t;
    const Pose hand = hand_at(0, 0, 0.001);
    t.publish(hand, 0);
    t.publish(hand, 0);
    const double full = t.port.tick(hand, 0.001).wrench.force.z();
    EXPECT_GT(full, 1);
    EXPECT_EQ(t.port.tick(hand, 0.2).wrench.force, Vector3d::Zero());
    EXPECT_TRUE(t.port.last().is_stale);
    t.publish(hand, 0.3);
    EXPECT_NEAR(t.port.tick(hand, 0.3).wrench.force.z(), 0, 1e-12) << "not at once";
    EXPECT_FALSE(t.port.last().is_stale);
    t.publish(hand, 0.35);
    EXPECT_NEAR(t.port.tick(hand, 0.35).wrench.force.z(), 0.5 * full, 1e-9);
    t.publish(hand, 0.42);
    EXPECT_NEAR(t.port.tick(hand, 0.42).wrench.force.z(), full, 1e-9);
}

TEST(SpherePort, IgnoresHandsThatAreNoPosesAndAllocatesNothing) {
    PortedTool t;
    t.publish(hand_at(0, 0, 0.001), 0);
    AllocationGuard guard;
    t.publish(hand_at(0, 0, 0.001), 0.001);
    const SpherePort::Output out = t.port.tick(hand_at(0, kNan, 0), 0.001);
    const SpherePort::Output far = t.port.tick(hand_at(1e300, 0, 0), 0.001);
    const SpherePort::Output good = t.port.tick(hand_at(0, 0, 0.001), 0.002);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_TRUE(out.is_hand_ignored);
    EXPECT_EQ(out.wrench.force, Vector3d::Zero());
    EXPECT_TRUE(far.wrench.force.allFinite() && far.wrench.torque.allFinite());
    EXPECT_GT(good.wrench.force.z(), 1);
}

TEST(SpherePortOptions, OutOfRangeAreNamed) {
    PortedTool t;
    EXPECT_EQ(test::input_error([&] { const SpherePort port(t.link, t.touch.tool, {0}); }),
              "watchdog of the sphere port = 0.000000 (expected 0 < value <= 10 s, e.g. 0.1)");
    SphereLink small(4);
    EXPECT_EQ(test::input_error([&] { const SpherePort port(small, t.touch.tool); }),
              "spheres of the link = 4 (expected 9, as the tool)");
    EXPECT_EQ(test::input_error([&] { const SphereLink none(0); }),
              "spheres of a link = 0 (expected at least 1)");
}

}  // namespace
}  // namespace pliant
