#include "pliant/body/rigid_motion.h"

#include "core/numbers.h"
#include "geometry/test_meshes.h"
#include "pliant/core/allocation_guard.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// A smooth motion about axes that change: a product of three turns and a curved path.
Pose path(double t) {
    const auto about = [](const Vector3d& axis, double angle) {
        return rotation_from_vector(angle * axis);
    };
    return {Vector3d(std::sin(2 * t), 0.5 * t * t, std::cos(3 * t)),
            about(Vector3d::UnitX(), std::sin(t)) * about(Vector3d::UnitY(), 0.7 * t * t) *
                about(Vector3d::UnitZ(), 1.3 * t)};
}

double distance(const Pose& a, const Pose& b) {
    return (a.position - b.position).norm() + rotation_difference(a.rotation, b.rotation).norm();
}

RigidMotion some_motion() {
    return {{{1, 2, 3}, rotation_from_vector({0.3, -0.8, 0.5})},
            {{0.4, -0.2, 0.9}, {1.5, 0.3, -0.7}},
            {{-2, 1, 3}, {0.4, 2, -1}}};
}

TEST(RigidMotion, PointsOfAWheelMoveOnCircles) {
    // at angle ½ α t² about z through the origin of the frame, which moves along x
    const double alpha = 3, t = 0.7, omega = alpha * t, angle = 0.5 * alpha * t * t;
    const RigidMotion wheel{{{2 * t, 0, 0}, rotation_from_vector({0, 0, angle})},
                            {{2, 0, 0}, {0, 0, omega}},
                            {{0, 0, 0}, {0, 0, alpha}}};
    const Vector3d radial(std::cos(angle), std::sin(angle), 0);
    const Vector3d along(-std::sin(angle), std::cos(angle), 0);
    const Vector3d x = wheel.pose.to_world({0.5, 0, 0});
    EXPECT_LT((wheel.velocity_at(x) - (Vector3d(2, 0, 0) + 0.5 * omega * along)).norm(), 1e-15);
    EXPECT_LT(
        (wheel.acceleration_at(x) - (0.5 * alpha * along - 0.5 * omega * omega * radial)).norm(),
        1e-15);
}

TEST(RigidMotion, RatesAreThoseOfAPointThatTheMotionCarries) {
    const RigidMotion motion = some_motion();
    const Vector3d x_body(0.2, -0.4, 0.3);
    const auto at = [&](double h) { return advance(motion, h).pose.to_world(x_body); };
    const double h = 1e-4;
    const Vector3d x = at(0), velocity = (at(h) - at(-h)) / (2 * h),
                   acceleration = (at(h) - 2 * x + at(-h)) / (h * h);
    // differences of second order, and rounding over h²
    EXPECT_LT((motion.velocity_at(x) - velocity).norm(), 1e-6);
    EXPECT_LT((motion.acceleration_at(x) - acceleration).norm(), 1e-6);
}

TEST(RigidMotion, AdvanceIsExactAboutAFixedAxis) {
    const Vector3d axis = Vector3d(1, 2, -2) / 3;
    const RigidMotion start{{{1, 0, 0}, rotation_from_vector({0.3, 0.2, 0.1})},
                            {{1, 2, 3}, 5 * axis},
                            {{0, 0, -9.81}, -20 * axis}};
    for (const double h : {1e-3, 0.1, 2.0, -0.5}) {
        const RigidMotion end = advance(start, h);
        EXPECT_LT((end.pose.position - Vector3d(1 + h, 2 * h, 3 * h - 0.5 * 9.81 * h * h)).norm(),
                  1e-14);
        const Quaternion turned =
            rotation_from_vector((5 * h - 10 * h * h) * axis) * start.pose.rotation;
        EXPECT_LT(rotation_difference(end.pose.rotation, turned).norm(), 1e-13);
        EXPECT_NEAR(end.pose.rotation.norm(), 1, 1e-15);
        EXPECT_LT((end.velocity.linear - Vector3d(1, 2, 3 - 9.81 * h)).norm(), 1e-14);
        EXPECT_LT((end.velocity.angular - (5 - 20 * h) * axis).norm(), 1e-14);
        EXPECT_EQ(end.acceleration.linear, start.acceleration.linear);
        EXPECT_EQ(end.acceleration.angular, start.acceleration.angular);
    }
}

TEST(RigidMotion, AdvanceConvergesAtFourthOrderAboutChangingAxes) {
    const auto after = [](int steps) {
        RigidMotion motion = some_motion();
        for (int i = 0; i < steps; ++i) motion = advance(motion, 1.0 / steps);
        return motion;
    };
    const RigidMotion reference = after(4096);
    const auto error = [&](int steps) { return distance(after(steps).pose, reference.pose); };
    EXPECT_LT(error(8), 1e-4);
    EXPECT_NEAR(std::log2(error(8) / error(16)), 4, 0.1);
    EXPECT_NEAR(std::log2(error(16) / error(32)), 4, 0.1);
    // the velocities are linear in time
    EXPECT_LT((after(8).velocity.angular - reference.velocity.angular).norm(), 1e-12);
}

TEST(RigidMotion, FollowingAnAdvancedPoseGivesItsMeanRates) {
    const RigidMotion start = some_motion();
    const double h = 1e-3;
    const RigidMotion end = advance(start, h), found = follow(start, end.pose, h);
    EXPECT_LT((found.velocity.linear - start.velocity.linear - 0.5 * h * start.acceleration.linear)
                  .norm(),
              1e-12);
    EXPECT_LT(
        (found.velocity.angular - start.velocity.angular - 0.5 * h * start.acceleration.angular)
            .norm(),
        1e-6);
    EXPECT_EQ(found.pose.position, end.pose.position);
}

TEST(RigidMotion, FollowConvergesAtFirstOrder) {
    // rates of the path by central differences of small step
    const double time = 0.8, d = 1e-4;
    const auto rates = [&](double t) {
        return Twist{(path(t + d).position - path(t - d).position) / (2 * d),
                     rotation_difference(path(t - d).rotation, path(t + d).rotation) / (2 * d)};
    };
    const Twist velocity = rates(time), before = rates(time - d), after = rates(time + d);
    const Vector3d linear = (after.linear - before.linear) / (2 * d),
                   angular = (after.angular - before.angular) / (2 * d);
    const auto errors = [&](double h) {
        RigidMotion motion{path(time - 3 * h), {}, {}};
        for (int i = -2; i <= 0; ++i) motion = follow(motion, path(time + i * h), h);
        return Eigen::Vector4d((motion.velocity.linear - velocity.linear).norm(),
                               (motion.velocity.angular - velocity.angular).norm(),
                               (motion.acceleration.linear - linear).norm(),
                               (motion.acceleration.angular - angular).norm());
    };
    const Eigen::Vector4d coarse = errors(4e-3), fine = errors(2e-3);
    for (int i = 0; i < 4; ++i) {
        EXPECT_LT(coarse[i], 0.2);
        EXPECT_NEAR(std::log2(coarse[i] / fine[i]), 1, 0.05);
    }
}

TEST(RigidMotion, FollowTakesTheShortWayRound) {
    const Quaternion a = rotation_from_vector({0, 0, 3.0}), b = rotation_from_vector({0, 0, 3.4});
    const Quaternion opposite(-b.w(), -b.x(), -b.y(), -b.z());
    for (const Quaternion& q : {b, opposite}) {
        const RigidMotion end = follow({{Vector3d::Zero(), a}, {}, {}}, {Vector3d::Zero(), q}, 0.1);
        EXPECT_LT((end.velocity.angular - Vector3d(0, 0, 4)).norm(), 1e-13);
    }
}

TEST(RigidMotion, WhatIsNotFiniteLeavesTheMotionAsItWas) {
    const RigidMotion start = some_motion();
    const auto expect_start = [&](const RigidMotion& motion) {
        EXPECT_EQ(motion.pose.position, start.pose.position);
        EXPECT_EQ(motion.pose.rotation.coeffs(), start.pose.rotation.coeffs());
        EXPECT_EQ(motion.velocity.linear, start.velocity.linear);
        EXPECT_EQ(motion.velocity.angular, start.velocity.angular);
        EXPECT_EQ(motion.acceleration.linear, start.acceleration.linear);
        EXPECT_EQ(motion.acceleration.angular, start.acceleration.angular);
    };
    const Pose next{{1.1, 2, 3}, Quaternion::Identity()};
    for (const double bad : {kNan, kInfinity}) {
        expect_start(advance(start, bad));
        expect_start(follow(start, {{bad, 0, 0}, Quaternion::Identity()}, 1e-3));
        expect_start(follow(start, {{0, 0, 0}, Quaternion(bad, 0, 0, 0)}, 1e-3));
    }
    expect_start(advance(start, 1e200));
    expect_start(follow(start, next, kNan));
    expect_start(follow(start, next, 0));
    expect_start(follow(start, next, 1e-300));
    EXPECT_TRUE(is_finite(start));
    RigidMotion bad = start;
    bad.acceleration.angular.z() = kNan;
    EXPECT_FALSE(is_finite(bad));
}

TEST(RigidMotion, AllocatesNothing) {
    const AllocationGuard guard;
    RigidMotion motion = some_motion();
    motion = follow(motion, advance(motion, 1e-3).pose, 1e-3);
    const Vector3d sum = motion.velocity_at({1, 2, 3}) + motion.acceleration_at({3, 2, 1});
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_TRUE(sum.allFinite());
}

}  // namespace
}  // namespace pliant
