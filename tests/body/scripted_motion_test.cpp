#include "pliant/body/scripted_motion.h"

#include "core/numbers.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace pliant {
namespace {

using Eigen::Vector3d;
using testing::HasSubstr;

Pose at(const Vector3d& position) { return {position, Quaternion::Identity()}; }
Pose turned(const Vector3d& v) { return {Vector3d::Zero(), rotation_from_vector(v)}; }

std::vector<Keyframe> some_keys() {
    return {{0.0, {{0, 0, 0}, rotation_from_vector({0.1, 0, 0})}},
            {0.4, {{1, 0.5, 0}, rotation_from_vector({0.3, 1.2, -0.4})}},
            {1.1, {{0.7, 1.5, -1}, rotation_from_vector({-0.5, 2.0, 1.0})}},
            {1.5, {{-0.5, 1, 0}, rotation_from_vector({1.5, -0.2, 1.0})}},
            {2.0, {{0, 0, 0}, rotation_from_vector({0.1, 0, 0})}}};
}

/// Largest difference of the rates from central differences of poses and of velocities.
double error_of_rates(const ScriptedMotion& motion, double t, double h) {
    const RigidMotion before = motion.at(t - h), now = motion.at(t), after = motion.at(t + h);
    const Vector3d v = (after.pose.position - before.pose.position) / (2 * h);
    const Vector3d omega = rotation_difference(before.pose.rotation, after.pose.rotation) / (2 * h);
    const Vector3d a = (after.velocity.linear - before.velocity.linear) / (2 * h);
    const Vector3d alpha = (after.velocity.angular - before.velocity.angular) / (2 * h);
    return std::max({(now.velocity.linear - v).norm(), (now.velocity.angular - omega).norm(),
                     (now.acceleration.linear - a).norm(),
                     (now.acceleration.angular - alpha).norm()});
}

TEST(ScriptedMotion, PassesThroughItsKeys) {
    for (const bool is_repeated : {false, true}) {
        const ScriptedMotion motion(some_keys(), is_repeated);
        for (const Keyframe& key : some_keys()) {
            const Pose pose = motion.at(key.time).pose;
            EXPECT_LT((pose.position - key.pose.position).norm(), 1e-13);
            EXPECT_LT(rotation_difference(pose.rotation, key.pose.rotation).norm(), 1e-13);
        }
    }
}

TEST(ScriptedMotion, RatesAreTheDerivativesOfThePose) {
    // rotation vectors from tiny to nearly π, where the series and the closed form take over
    for (const bool is_repeated : {false, true}) {
        const ScriptedMotion motion(some_keys(), is_repeated);
        for (const double t : {0.01, 0.2, 0.35, 0.5, 0.9, 1.05, 1.2, 1.45, 1.7, 1.99}) {
            const double coarse = error_of_rates(motion, t, 2e-3),
                         fine = error_of_rates(motion, t, 1e-3);
            EXPECT_LT(fine, 1e-3) << t;
            EXPECT_NEAR(std::log2(coarse / fine), 2, 0.1) << t;  // central differences
        }
    }
}

TEST(ScriptedMotion, RatesAreExactForSmallAndLargeTurns) {
    for (const double angle : {1e-9, 1e-4, 0.9, 1.1, 3.1}) {
        const Vector3d axis = Vector3d(1, 2, -2) / 3, other = Vector3d(2, 1, 2) / 3;
        const ScriptedMotion motion(
            {{0, {}}, {1, turned(angle * axis)}, {2, turned(0.5 * angle * other)}});
        for (const double t : {0.3, 0.8, 1.4})
            EXPECT_LT(error_of_rates(motion, t, 1e-4), 1e-6 * angle + 1e-11) << angle << " " << t;
    }
}

TEST(ScriptedMotion, VelocityIsContinuousAtKeys) {
    const ScriptedMotion open(some_keys()), closed(some_keys(), true);
    constexpr double kStep = 1e-9;  // accelerations are below 1e2
    for (const double t : {0.0, 0.4, 1.1, 1.5, 2.0})
        for (const ScriptedMotion* motion : {&open, &closed}) {
            const Twist before = motion->at(t - kStep).velocity,
                        after = motion->at(t + kStep).velocity;
            EXPECT_LT((before.linear - after.linear).norm(), 1e-6) << t;
            EXPECT_LT((before.angular - after.angular).norm(), 1e-6) << t;
        }
    // it really moves there
    EXPECT_GT(open.at(0.4).velocity.angular.norm(), 0.1);
    EXPECT_GT(closed.at(2.0).velocity.linear.norm(), 0.1);
}

TEST(ScriptedMotion, RestsBeforeTheFirstAndAfterTheLastKey) {
    const ScriptedMotion motion(some_keys());
    for (const double t : {-kInfinity, -3.0, 0.0, 2.0, 7.0, kInfinity, kNan}) {
        const RigidMotion at = motion.at(t);
        EXPECT_EQ(at.velocity.linear.norm() + at.velocity.angular.norm(), 0) << t;
        const Pose expected = t >= 2 ? some_keys().back().pose : some_keys().front().pose;
        EXPECT_LT((at.pose.position - expected.position).norm(), 1e-15) << t;
    }
}

TEST(ScriptedMotion, ReproducesUniformMotionExactly) {
    // times of unequal length; inside, where slopes come from chords
    const Twist twist{{1, -2, 0.5}, {0.3, 0.8, -0.2}};
    std::vector<Keyframe> keys;
    for (const double t : {0.0, 0.5, 0.8, 2.0, 2.1}) keys.push_back({t, advance(Pose{}, twist, t)});
    const ScriptedMotion motion(keys);
    for (const double t : {0.5, 0.6, 0.9, 1.7, 1.999}) {
        const RigidMotion at = motion.at(t);
        const Pose expected = advance(Pose{}, twist, t);
        EXPECT_LT((at.pose.position - expected.position).norm(), 1e-13);
        EXPECT_LT(rotation_difference(at.pose.rotation, expected.rotation).norm(), 1e-13);
        EXPECT_LT((at.velocity.angular - twist.angular).norm(), 1e-12);
        EXPECT_LT(at.acceleration.angular.norm(), 1e-11);
    }
}

TEST(ScriptedMotion, RepeatedPathHasItsPeriod) {
    const ScriptedMotion motion(some_keys(), true);
    for (const double t : {0.0, 0.3, 1.3, 1.9})
        for (const double periods : {-3.0, 1.0, 50.0}) {
            const RigidMotion a = motion.at(t), b = motion.at(t + 2 * periods);
            EXPECT_LT((a.pose.position - b.pose.position).norm(), 1e-11);
            EXPECT_LT((a.velocity.angular - b.velocity.angular).norm(), 1e-11);
        }
    EXPECT_TRUE(is_finite(motion.at(kInfinity)));
    EXPECT_TRUE(is_finite(motion.at(kNan)));
}

TEST(ScriptedMotion, StaysWhereItsKeysStay) {
    // from 50 mm to the ground in two seconds, and there for eighteen
    const ScriptedMotion motion({{0, at({0, 0, 0.05})}, {2, at({0, 0, 0})}, {20, at({0, 0, 0})}});
    for (int i = 0; i <= 2000; ++i) {
        const double t = 0.01 * i, z = motion.at(t).pose.position.z();
        ASSERT_GE(z, 0) << t;
        ASSERT_LE(z, 0.05) << t;
        if (t >= 2) ASSERT_EQ(z, 0) << t;
    }
}

/// Keys at random times; turns are about `axis`, or any if there is none.
std::vector<Keyframe> random_keys(std::mt19937_64& random, const Vector3d& axis) {
    std::uniform_real_distribution<double> number(-1, 1), step(-2, 1);
    std::vector<Keyframe> keys;
    double time = 0;
    for (int i = 0; i < 8; ++i) {
        Vector3d x, turn;
        for (int k = 0; k < 3; ++k) {
            // every fourth coordinate stays
            x[k] = i > 0 && random() % 4 == 0 ? keys.back().pose.position[k] : number(random);
            turn[k] = number(random);
        }
        if (axis.norm() > 0) turn = 1.5 * number(random) * axis;
        keys.push_back({time, {x, rotation_from_vector(turn)}});
        time += std::pow(10, step(random));
    }
    return keys;
}

double angle_between(const Pose& a, const Pose& b) {
    return rotation_difference(a.rotation, b.rotation).norm();
}

TEST(ScriptedMotion, NeverGoesBeyondTheKeysAroundIt) {
    std::mt19937_64 random(5);
    constexpr int kPlaces = 200;
    constexpr double kRounding = 1e-12;
    for (int trial = 0; trial < 400; ++trial) {
        const bool has_axis = trial % 2 == 0;
        const Vector3d axis = has_axis ? Vector3d(Vector3d(2, -1, 2) / 3) : Vector3d(0, 0, 0);
        auto keys = random_keys(random, axis);
        const bool is_repeated = trial % 4 < 2;
        if (is_repeated) keys.back().pose = keys.front().pose;
        const ScriptedMotion motion(keys, is_repeated);
        for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
            const Pose &a = keys[i].pose, &b = keys[i + 1].pose;
            const double h = keys[i + 1].time - keys[i].time;
            double done = 0;
            for (int k = 0; k <= kPlaces; ++k) {
                const RigidMotion now = motion.at(keys[i].time + h * k / kPlaces);
                const Vector3d& x = now.pose.position;
                for (int axis_of_x = 0; axis_of_x < 3; ++axis_of_x) {
                    const auto [low, high] =
                        std::minmax(a.position[axis_of_x], b.position[axis_of_x]);
                    ASSERT_GE(x[axis_of_x], low - kRounding) << trial << " " << i << " " << k;
                    ASSERT_LE(x[axis_of_x], high + kRounding) << trial << " " << i << " " << k;
                }
                // no farther from one key than from it to the other
                const double turn = angle_between(a, b) + 1e-9;
                ASSERT_LE(angle_between(a, now.pose), turn) << trial << " " << i << " " << k;
                ASSERT_LE(angle_between(now.pose, b), turn) << trial << " " << i << " " << k;
                if (!has_axis) continue;
                // about one axis never back
                const double part = angle_between(a, now.pose);
                ASSERT_GE(part, done - 1e-9) << trial << " " << i << " " << k;
                done = part;
            }
        }
    }
}

TEST(ScriptedMotion, RandomPathsMeetTheirKeysWithContinuousRates) {
    std::mt19937_64 random(6);
    for (int trial = 0; trial < 200; ++trial) {
        const auto keys = random_keys(random, Vector3d::Zero());
        const ScriptedMotion motion(keys);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const double t = keys[i].time;
            const RigidMotion at_key = motion.at(t);
            EXPECT_LT((at_key.pose.position - keys[i].pose.position).norm(), 1e-12);
            EXPECT_LT(rotation_difference(at_key.pose.rotation, keys[i].pose.rotation).norm(),
                      1e-12);
            // accelerations are below 1e6 for keys 10 ms apart
            const Twist before = motion.at(t - 1e-10).velocity,
                        after = motion.at(t + 1e-10).velocity;
            EXPECT_LT((before.linear - after.linear).norm(), 1e-3) << trial << " " << i;
            EXPECT_LT((before.angular - after.angular).norm(), 1e-3) << trial << " " << i;
            if (i == 0) continue;
            // the velocity is the derivative
            const double h = t - keys[i - 1].time, middle = t - 0.37 * h;
            EXPECT_LT(error_of_rates(motion, middle, 1e-4 * h) * h * h, 1e-4) << trial << " " << i;
        }
    }
}

TEST(ScriptedMotion, GoesOnThroughKeysThatLeadOn) {
    // limits act where a path would go beyond a key, and nowhere else
    const std::vector<Keyframe> keys = {
        {0, at({0, 0, 0})}, {1, at({1, 0, 0})}, {3, at({2, 0, 0})}, {4, at({3, 0, 0})}};
    const ScriptedMotion motion(keys);
    EXPECT_NEAR(motion.at(1).velocity.linear.x(), (2 * 1 + 1 * 0.5) / 3, 1e-12);
    EXPECT_NEAR(motion.at(3).velocity.linear.x(), (1 * 0.5 + 2 * 1) / 3, 1e-12);
}

TEST(ScriptedMotion, OneKeyIsAPlace) {
    const RigidMotion motion = ScriptedMotion({{3, at({1, 2, 3})}}).at(5);
    EXPECT_EQ(motion.pose.position, Vector3d(1, 2, 3));
    EXPECT_EQ(motion.velocity.linear, Vector3d(Vector3d::Zero()));
}

TEST(ScriptedMotion, OscillatesAboutItsBase) {
    const Pose base{{1, 2, 3}, rotation_from_vector({0.4, -0.3, 1})};
    const ScriptedMotion motion =
        ScriptedMotion::oscillation(base, {0.1, 0, 0.2}, {0, 0.5, 0.3}, 2, 0.7);
    for (const double t : {0.0, 0.13, 0.4, 7.77}) {
        const double coarse = error_of_rates(motion, t, 2e-3),
                     fine = error_of_rates(motion, t, 1e-3);
        EXPECT_NEAR(std::log2(coarse / fine), 2, 0.1) << t;
        const double sine = std::sin(4 * std::numbers::pi * t + 0.7);
        EXPECT_LT(
            (motion.at(t).pose.position - base.position - sine * Vector3d(0.1, 0, 0.2)).norm(),
            1e-13);
    }
    // digits do not fade with time; the period is ½ s
    EXPECT_LT((motion.at(1e6).pose.position - motion.at(0).pose.position).norm(), 1e-13);
    EXPECT_TRUE(is_finite(motion.at(kInfinity)));
    EXPECT_TRUE(is_finite(motion.at(kNan)));
}

TEST(ScriptedMotion, AllocatesNothing) {
    const ScriptedMotion motion(some_keys(), true);
    const AllocationGuard guard;
    double sum = 0;
    for (int i = 0; i < 100; ++i) sum += motion.at(0.037 * i).velocity.angular.x();
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_TRUE(std::isfinite(sum));
}

TEST(ScriptedMotion, BadPathsAreRefused) {
    const auto error = [](std::vector<Keyframe> keys, bool is_repeated = false) {
        return test::input_error([&] { ScriptedMotion(std::move(keys), is_repeated); });
    };
    EXPECT_THAT(error({}), HasSubstr("needs at least one key"));
    EXPECT_THAT(error({{0, {}}, {1, {}}, {1, {}}}), HasSubstr("keys[2].time = 1"));
    EXPECT_THAT(error({{0, {}}, {kNan, {}}}), HasSubstr("keys[1].time"));
    EXPECT_THAT(error({{0, at({kNan, 0, 0})}}), HasSubstr("keys[0].pose is not finite"));
    EXPECT_THAT(error({{0, {}}, {1, at({1, 0, 0})}}, true), HasSubstr("must end where it began"));
    EXPECT_THAT(error({{0, {}}}, true), HasSubstr("at least two keys"));
    const auto oscillation = [](const Vector3d& amplitude, double frequency) {
        return test::input_error([&] {
            (void)ScriptedMotion::oscillation({}, amplitude, {0, 0, 0}, frequency);
        });
    };
    EXPECT_THAT(oscillation({0, 0, 1}, -2), HasSubstr("frequency = -2"));
    EXPECT_THAT(oscillation({0, kNan, 1}, 2), HasSubstr("must be finite"));
    EXPECT_EQ(oscillation({0, 0, 1}, 2), "");
}

TEST(ScriptedMotion, LargestRatesAreThoseOfTheWholeMotion) {
    const auto swing =
        ScriptedMotion::oscillation({}, Vector3d(0.3, 0, 0.4), Vector3d(0, 0, 0.2), 2)
            .largest_rates();
    EXPECT_NEAR(swing.linear, 0.5 * 4 * std::numbers::pi, 1e-12);
    EXPECT_NEAR(swing.angular, 0.2 * 4 * std::numbers::pi, 1e-12);
    // a cubic from rest to rest is fastest in the middle, at one and a half times its mean
    const Keyframe start{1, {}};
    const Keyframe end{3, {Vector3d(1, 0, 0), rotation_from_vector(Vector3d(0, 0, 0.8))}};
    const auto path = ScriptedMotion({start, end}).largest_rates();
    EXPECT_NEAR(path.linear, 0.75, 1e-9);
    EXPECT_NEAR(path.angular, 0.6, 1e-9);
    EXPECT_EQ(ScriptedMotion({start}).largest_rates().linear, 0);
}

}  // namespace
}  // namespace pliant
