#include "pliant/haptics/plane_port.h"

#include "pliant/core/allocation_guard.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// A proxy that a floor at this height holds.
ProxyState on_floor(double height) {
    ProxyState state;
    state.num_contacts = 1;
    state.contacts[0].plane = {Vector3d::UnitZ(), height};
    state.contacts[0].multiplier = 1e-3;
    return state;
}

TEST(PlanePort, IsASpringToTheNearestPlaceAmongThePlanes) {
    PlaneLink link;
    PlanePort port(link, {.stiffness = 200, .interpolates = false});
    EXPECT_EQ(port.tick(Vector3d(1, 2, -3), 0).force, Vector3d::Zero()) << "no plane, no force";
    link.publish(on_floor(0.01), 0.001);
    const PlanePort::Output& out = port.tick(Vector3d(1, 2, 0.004), 0.002);
    EXPECT_NEAR((out.position - Vector3d(1, 2, 0.01)).norm(), 0, 1e-15);
    EXPECT_NEAR((out.force - Vector3d(0, 0, 1.2)).norm(), 0, 1e-12);
    EXPECT_EQ(port.tick(Vector3d(1, 2, 0.02), 0.003).force, Vector3d::Zero());
    link.publish(ProxyState{}, 0.004);
    EXPECT_EQ(port.tick(Vector3d(1, 2, 0.004), 0.005).force, Vector3d::Zero());
}

TEST(PlanePort, InterpolatesPlanesOverOnePeriodOfTheOtherThread) {
    // a floor that rises by 1 mm in each of 20 ms, a hand that rests 3 mm below it at the start
    const auto largest_jump = [](bool interpolates) {
        PlaneLink link;
        PlanePort port(link, {.stiffness = 1000, .interpolates = interpolates});
        double jump = 0, last = 0;
        for (int ms = 0; ms < 400; ++ms) {
            if (ms % 20 == 0) link.publish(on_floor(1e-3 * (ms / 20)), 1e-3 * ms);
            const double f = port.tick(Vector3d(0, 0, -3e-3), 1e-3 * ms).force.z();
            if (ms > 60) jump = std::max(jump, std::abs(f - last));
            last = f;
        }
        return jump;
    };
    EXPECT_NEAR(largest_jump(false), 1.0, 1e-9);
    EXPECT_NEAR(largest_jump(true), 0.05, 1e-3);
}

TEST(PlanePort, PlanesThatTurnDoNotDependOnTheOrigin) {
    // a floor that tips by 30° about a point far from the origin, a hand that rests in that point
    const Vector3d pivot(-0.3, 0.2, -0.5);
    const auto tipped = [&](double angle) {
        ProxyState state = on_floor(0);
        const Vector3d normal(std::sin(angle), 0, std::cos(angle));
        state.contacts[0].plane = {normal, normal.dot(pivot)};
        return state;
    };
    PlaneLink link;
    PlanePort port(link, {.stiffness = 1000});
    link.publish(tipped(0), 0);
    (void)port.tick(pivot, 0);
    (void)port.tick(pivot, 0.010);
    link.publish(tipped(0.52), 0.020);
    for (int ms = 20; ms < 50; ++ms)
        EXPECT_LT((port.tick(pivot, 1e-3 * ms).position - pivot).norm(), 1e-12);
}

TEST(PlanePort, ANewPlaneDoesNotPushAtOnceWhenInterpolated) {
    PlaneLink link;
    PlanePort port(link, {.stiffness = 1000});
    link.publish(ProxyState{}, 0);
    (void)port.tick(Vector3d(0, 0, -2e-3), 0);
    (void)port.tick(Vector3d(0, 0, -2e-3), 0.010);
    link.publish(on_floor(0), 0.010);
    EXPECT_NEAR(port.tick(Vector3d(0, 0, -2e-3), 0.011).force.z(), 0, 1e-12);
    EXPECT_NEAR(port.tick(Vector3d(0, 0, -2e-3), 0.016).force.z(), 1, 1e-9);
    EXPECT_NEAR(port.tick(Vector3d(0, 0, -2e-3), 0.030).force.z(), 2, 1e-9);
}

TEST(PlanePort, TakesTheForceAwayWhenNobodyPublishes) {
    PlaneLink link;
    PlanePort port(link);
    link.publish(on_floor(0), 0);
    EXPECT_GT(port.tick(Vector3d(0, 0, -1e-3), 0.001).force.z(), 0);
    EXPECT_FALSE(port.last().is_stale);
    EXPECT_EQ(port.tick(Vector3d(0, 0, -1e-3), 0.2).force, Vector3d::Zero());
    EXPECT_TRUE(port.last().is_stale);
    link.publish(on_floor(0), 0.3);
    EXPECT_NEAR(port.tick(Vector3d(0, 0, -1e-3), 0.5).force.z(), 0, 1e-12) << "not at once";
    EXPECT_GT(port.tick(Vector3d(0, 0, -1e-3), 0.55).force.z(), 0);
}

TEST(PlanePort, IgnoresGoalsThatAreNoNumbersAndAllocatesNothing) {
    PlaneLink link;
    PlanePort port(link);
    link.publish(on_floor(0), 0);
    AllocationGuard guard;
    const PlanePort::Output out = port.tick(Vector3d(0, std::nan(""), 0), 0);
    (void)port.tick(Vector3d(0, 0, -1), 0.001);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_TRUE(out.is_goal_ignored);
    EXPECT_EQ(out.force, Vector3d::Zero());
}

TEST(PlanePortOptions, OutOfRangeAreNamed) {
    PlaneLink link;
    try {
        const PlanePort port(link, {.watchdog = 0});
        FAIL();
    } catch (const InputError& error) {
        EXPECT_STREQ(
            error.what(),
            "watchdog of the plane port = 0.000000 (expected 0 < value <= 10 s, e.g. 0.1)");
    }
}

}  // namespace
}  // namespace pliant
