#include "pliant/core/pose.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double kPi = 3.14159265358979323846;
constexpr double kRoundOff = 1e-15;  // a few units in the last place of numbers near 1

class PoseTest : public testing::Test {
protected:
    Vector3d random_vector(double scale = 1.0) {
        return scale * Vector3d(normal_(random_), normal_(random_), normal_(random_));
    }
    Vector3d random_axis() { return random_vector().normalized(); }
    Pose random_pose() { return {random_vector(), rotation_from_vector(random_vector(2.0))}; }

private:
    std::mt19937 random_{42};
    std::normal_distribution<double> normal_;
};
using RotationVector = PoseTest;

void expect_same_rotation(const Quaternion& a, const Quaternion& b, double tolerance) {
    EXPECT_NEAR(std::abs(a.dot(b)), 1.0, tolerance);
    EXPECT_LE((a.toRotationMatrix() - b.toRotationMatrix()).norm(), 4 * tolerance);
}

/// Exponential of the cross-product matrix by scaling, Taylor series and squaring.
Matrix3d reference_rotation(const Vector3d& v) {
    constexpr int kHalvings = 20;
    const Vector3d w = v / std::ldexp(1.0, kHalvings);
    Matrix3d cross;
    cross << 0, -w.z(), w.y(), w.z(), 0, -w.x(), -w.y(), w.x(), 0;
    Matrix3d rotation =
        Matrix3d::Identity() + cross + cross * cross / 2 + cross * cross * cross / 6;
    for (int i = 0; i < kHalvings; ++i) rotation *= rotation;
    return rotation;
}

TEST_F(PoseTest, ToWorldAndToBodyAreInverse) {
    for (int i = 0; i < 100; ++i) {
        const Pose pose = random_pose();
        const Vector3d x = random_vector();
        EXPECT_LE((pose.to_body(pose.to_world(x)) - x).norm(), 10 * kRoundOff);
        EXPECT_LE((pose.inverse().to_world(x) - pose.to_body(x)).norm(), 10 * kRoundOff);
    }
}

TEST_F(PoseTest, ToWorldRotatesThenShifts) {
    const Pose pose{{1, 2, 3}, rotation_from_vector({0, 0, kPi / 2})};
    EXPECT_LE((pose.to_world({1, 0, 0}) - Vector3d(1, 3, 3)).norm(), kRoundOff);
}

TEST_F(PoseTest, ProductAppliesTheRightFactorFirst) {
    for (int i = 0; i < 100; ++i) {
        const Pose a = random_pose(), b = random_pose();
        const Vector3d x = random_vector();
        EXPECT_LE(((a * b).to_world(x) - a.to_world(b.to_world(x))).norm(), 2e-14);
    }
}

TEST_F(PoseTest, FinitenessSeesEveryComponent) {
    EXPECT_TRUE(is_finite(Pose{}));
    const double bad[] = {std::numeric_limits<double>::quiet_NaN(),
                          std::numeric_limits<double>::infinity()};
    for (const double value : bad) {
        for (int k = 0; k < 3; ++k) {
            Pose pose;
            pose.position[k] = value;
            EXPECT_FALSE(is_finite(pose));
        }
        for (int k = 0; k < 4; ++k) {
            Pose pose;
            pose.rotation.coeffs()[k] = value;
            EXPECT_FALSE(is_finite(pose));
        }
    }
}

TEST_F(PoseTest, TwistMatchesDifferenceQuotientOfTheMotion) {
    const Pose pose = random_pose();
    const Twist twist{random_vector(), random_vector()};
    const Vector3d x_body = random_vector();
    const double h = 1e-5;
    const Vector3d quotient =
        (advance(pose, twist, h).to_world(x_body) - advance(pose, twist, -h).to_world(x_body)) /
        (2 * h);
    // error of central differences: h² times the third derivative, about 1e-9
    const Vector3d offset_world = pose.to_world(x_body) - pose.position;
    EXPECT_LE((twist.at(offset_world) - quotient).norm(), 1e-8);
}

TEST_F(PoseTest, WrenchShiftKeepsThePower) {
    for (int i = 0; i < 100; ++i) {
        const Twist twist{random_vector(), random_vector()};
        const Wrench wrench{random_vector(), random_vector()};
        const Vector3d shift = random_vector();
        const Twist shifted{twist.at(shift), twist.angular};
        EXPECT_NEAR(power(wrench.about(shift), shifted), power(wrench, twist), 2e-14);
    }
}

TEST_F(PoseTest, WrenchOfAForceAtAPointHasNoTorqueAboutThatPoint) {
    const Vector3d force = random_vector(), lever = random_vector();
    const Wrench wrench{force, lever.cross(force)};
    EXPECT_LE(wrench.about(lever).torque.norm(), kRoundOff * 10);
    EXPECT_LE((wrench.about(lever).about(-lever).torque - wrench.torque).norm(), kRoundOff * 10);
}

TEST_F(PoseTest, WrenchesAddAndNegate) {
    const Wrench a{{1, 2, 3}, {4, 5, 6}}, b{{10, 20, 30}, {40, 50, 60}};
    EXPECT_EQ((a + b).force, Vector3d(11, 22, 33));
    EXPECT_EQ((a + b).torque, Vector3d(44, 55, 66));
    EXPECT_EQ((-a).force, Vector3d(-1, -2, -3));
    EXPECT_EQ((-a).torque, Vector3d(-4, -5, -6));
}

TEST_F(RotationVector, MatchesMatrixExponentialForAnyAngle) {
    for (const double angle : {1e-9, 1e-3, 0.5, 1.0, 3.0, kPi, 4.0, 6.2, 10.0, 100.0}) {
        const Vector3d v = angle * random_axis();
        // the reference squares twenty times, each doubling its rounding error
        EXPECT_LE((rotation_from_vector(v).toRotationMatrix() - reference_rotation(v)).norm(),
                  1e-9);
        EXPECT_NEAR(rotation_from_vector(v).norm(), 1.0, kRoundOff);
    }
}

TEST_F(RotationVector, RoundTripKeepsAllDigitsFromDenormalToPi) {
    for (double angle = 1e-300; angle < kPi; angle *= 1.7) {
        const Vector3d v = angle * random_axis();
        const Vector3d back = rotation_vector(rotation_from_vector(v));
        ASSERT_LE((back - v).norm(), 4 * kRoundOff * angle) << angle;
    }
}

TEST_F(RotationVector, RoundTripKeepsAllDigitsNearPi) {
    for (const double gap : {1e-1, 1e-4, 1e-8, 1e-12, 1e-15}) {
        const Vector3d v = (kPi - gap) * random_axis();
        EXPECT_LE((rotation_vector(rotation_from_vector(v)) - v).norm(), 4 * kPi * kRoundOff);
    }
}

TEST_F(RotationVector, AnglesBeyondPiComeBackAsTheShortestVector) {
    for (const double angle : {3.5, 5.0, 2 * kPi - 1e-6, 7.0, 20.0, 1000.0}) {
        const Vector3d axis = random_axis();
        const double shortest = std::remainder(angle, 2 * kPi);
        const Vector3d back = rotation_vector(rotation_from_vector(angle * axis));
        EXPECT_LE((back - shortest * axis).norm(), 4 * kRoundOff * angle) << angle;
        EXPECT_LE(back.norm(), kPi + kRoundOff * 4);
    }
}

TEST_F(RotationVector, BothSignsOfAQuaternionGiveTheSameVector) {
    for (int i = 0; i < 100; ++i) {
        const Quaternion q = rotation_from_vector(random_vector(3.0));
        const Quaternion minus_q(-q.w(), -q.x(), -q.y(), -q.z());
        EXPECT_EQ(rotation_vector(q), rotation_vector(minus_q));
    }
    // exactly π, where the scalar part decides nothing
    for (const Vector3d& axis : {Vector3d(1, 0, 0), Vector3d(0, -1, 0), Vector3d(0, 0, -1),
                                 Vector3d(-0.6, 0, 0.8), Vector3d(0, 0.6, -0.8)}) {
        const Vector3d v = rotation_vector({0.0, axis.x(), axis.y(), axis.z()});
        EXPECT_EQ(v, rotation_vector({-0.0, -axis.x(), -axis.y(), -axis.z()}));
        EXPECT_NEAR(v.norm(), kPi, 4 * kRoundOff);
        EXPECT_NEAR(std::abs(v.dot(axis)), kPi, 4 * kRoundOff);
    }
}

TEST_F(RotationVector, IdentityHasNone) {
    EXPECT_EQ(rotation_vector(Quaternion::Identity()), Vector3d::Zero());
    EXPECT_EQ(rotation_vector({-1, 0, 0, 0}), Vector3d::Zero());
    EXPECT_EQ(rotation_from_vector(Vector3d::Zero()).coeffs(), Quaternion::Identity().coeffs());
}

TEST_F(RotationVector, DifferenceCarriesOneRotationToTheOther) {
    for (int i = 0; i < 100; ++i) {
        const Quaternion from = rotation_from_vector(random_vector(3.0));
        const Quaternion to = rotation_from_vector(random_vector(3.0));
        const Quaternion turn = rotation_from_vector(rotation_difference(from, to));
        expect_same_rotation(turn * from, to, 2 * kRoundOff);
    }
}

TEST_F(PoseTest, AdvanceWithConstantTwistIsExactForLargeSteps) {
    const Pose start = random_pose();
    const Twist twist{random_vector(), random_vector(20.0)};
    const Pose leap = advance(start, twist, 1.0);
    Pose stepped = start;
    for (int i = 0; i < 1000; ++i) stepped = advance(stepped, twist, 1e-3);
    // 1000 steps, each rounding once
    EXPECT_LE((leap.position - stepped.position).norm(), 1e-12);
    expect_same_rotation(leap.rotation, stepped.rotation, 1e-12);
    EXPECT_LE((leap.position - start.position - twist.linear).norm(), 10 * kRoundOff);
}

TEST_F(PoseTest, AMillionStepsKeepTheQuaternionUnit) {
    Pose pose = random_pose();
    const Twist twist{Vector3d::Zero(), random_vector(5.0)};
    for (int i = 0; i < 1000000; ++i) pose = advance(pose, twist, 1e-3);
    EXPECT_NEAR(pose.rotation.norm(), 1.0, kRoundOff);
}

TEST_F(PoseTest, InterpolationFollowsTheShortArcAtConstantRate) {
    for (int i = 0; i < 50; ++i) {
        const Pose a = random_pose();
        Pose b = random_pose();
        if (i % 2 == 0) b.rotation.coeffs() = -b.rotation.coeffs();  // the same rotation
        const Vector3d arc = rotation_difference(a.rotation, b.rotation);
        for (const double t : {0.0, 0.25, 0.5, 1.0}) {
            const Pose between = interpolate(a, b, t);
            EXPECT_LE((between.position - ((1 - t) * a.position + t * b.position)).norm(), 1e-14);
            EXPECT_LE((rotation_difference(a.rotation, between.rotation) - t * arc).norm(), 1e-14);
        }
        expect_same_rotation(interpolate(a, b, 1.0).rotation, b.rotation, 2 * kRoundOff);
    }
}

}  // namespace
}  // namespace pliant
