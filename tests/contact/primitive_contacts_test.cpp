#include "contact/primitive_contacts.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <random>

namespace pliant {
namespace {

using Eigen::Vector3d;

struct Contacts {
    std::array<PrimitiveContact, kMostPrimitiveContacts> all;
    int count = 0;
    [[nodiscard]] std::span<const PrimitiveContact> list() const {
        return std::span(all).first(static_cast<std::size_t>(count));
    }
    [[nodiscard]] double deepest() const {
        double most = 0;
        for (const PrimitiveContact& c : list()) most = std::max(most, -c.distance);
        return most;
    }
};

Contacts contacts(const ContactPrimitive& a, const Pose& pose_a, const ContactPrimitive& b,
                  const Pose& pose_b) {
    Contacts found;
    found.count = primitive_contacts(a.shape(), pose_a, b.shape(), pose_b, found.all);
    return found;
}

Pose at(double x, double y, double z) { return {{x, y, z}, Quaternion::Identity()}; }
Pose turned(const Vector3d& place, const Vector3d& axis, double degrees) {
    return {place, Quaternion(Eigen::AngleAxisd(degrees * EIGEN_PI / 180, axis.normalized()))};
}

const ContactPrimitive kGround = ContactPrimitive::half_space();
const ContactPrimitive kCube = ContactPrimitive::box(Vector3d::Constant(0.05));

/// A distance of a field at a place in the world.
double distance(const ContactPrimitive& solid, const Pose& pose, const Vector3d& x) {
    const Eigen::Vector3f local = pose.to_body(x).cast<float>();
    float d = 0;
    solid.field()->distances({&local.x(), &local.y(), &local.z(), 1}, &d);
    return d;
}

TEST(PrimitiveContacts, ABoxStandsOnItsFourLowerCorners) {
    const Contacts found = contacts(kCube, at(1, 2, 0.049), kGround, {});
    ASSERT_EQ(found.count, 4);
    Vector3d middle = Vector3d::Zero();
    for (const PrimitiveContact& c : found.list()) {
        EXPECT_NEAR(c.distance, -0.001, 1e-15);
        EXPECT_EQ(c.n, Vector3d(0, 0, 1));
        EXPECT_NEAR(c.p.z(), -0.0005, 1e-15) << "between the two surfaces";
        middle += 0.25 * c.p;
    }
    EXPECT_LT((middle - Vector3d(1, 2, -0.0005)).norm(), 1e-12);
    // the other way round: the same places, the ground pushed away
    const Contacts turned_over = contacts(kGround, {}, kCube, at(1, 2, 0.049));
    ASSERT_EQ(turned_over.count, 4);
    EXPECT_EQ(turned_over.all[0].n, Vector3d(0, 0, -1));
}

TEST(PrimitiveContacts, ABallTouchesAPlaneBelowItsCentreHoweverItIsTurned) {
    for (int k = 0; k < 10; ++k) {
        const Pose pose = turned({0.3, 0, 0.0499}, {1, 2.0 * k, 3}, 37.0 * k);
        const Contacts found = contacts(ContactPrimitive::sphere(0.05), pose, kGround, {});
        ASSERT_EQ(found.count, 1);
        EXPECT_NEAR(found.all[0].distance, -1e-4, 1e-15);
        EXPECT_LT((found.all[0].p - Vector3d(0.3, 0, -5e-5)).norm(), 1e-15);
        EXPECT_EQ(found.all[0].feature, 0);
    }
}

TEST(PrimitiveContacts, BoxesThatOverlapByHalfTouchAtTheCornersOfWhatTheyShare) {
    const Contacts found = contacts(kCube, at(0.05, 0, 0.099), kCube, {});
    ASSERT_EQ(found.count, 4);
    double low = 1, high = -1, shares = 0;
    for (const PrimitiveContact& c : found.list()) {
        EXPECT_NEAR(c.distance, -0.001, 1e-12);
        EXPECT_LT((c.n - Vector3d::UnitZ()).norm(), 1e-12);
        low = std::min(low, c.p.x());
        high = std::max(high, c.p.x());
        shares += c.share;
    }
    EXPECT_NEAR(low, 0, 1e-12);
    EXPECT_NEAR(high, 0.05, 1e-12);
    EXPECT_NEAR(shares, 4, 1e-12);
}

TEST(PrimitiveContacts, CrossedEdgesTouchInOnePlace) {
    // both stand on an edge, at right angles
    const double reach = 0.05 * std::sqrt(2.0);
    const Contacts found = contacts(kCube, turned({0, 0, 2 * reach - 0.001}, Vector3d::UnitX(), 45),
                                    kCube, turned(Vector3d::Zero(), Vector3d::UnitY(), 45));
    ASSERT_EQ(found.count, 1);
    EXPECT_NEAR(found.all[0].distance, -0.001, 1e-12);
    EXPECT_LT((found.all[0].n - Vector3d::UnitZ()).norm(), 1e-12);
    EXPECT_LT((found.all[0].p - Vector3d(0, 0, reach - 0.0005)).norm(), 1e-12);
}

TEST(PrimitiveContacts, ACapsuleLiesOnABoxWithBothEnds) {
    const ContactPrimitive capsule = ContactPrimitive::capsule(0.01, 0.2);
    // longer than the box: it lies on the rims
    const Contacts found =
        contacts(capsule, turned({0, 0, 0.0595}, Vector3d::UnitY(), 90), kCube, {});
    ASSERT_EQ(found.count, 2);
    for (const PrimitiveContact& c : found.list()) {
        EXPECT_NEAR(c.distance, -0.0005, 1e-12);
        EXPECT_NEAR(std::abs(c.p.x()), 0.05, 1e-12);
    }
    // leaning on an edge
    const Contacts leaning =
        contacts(capsule, turned({0.0565, 0, 0.0565}, Vector3d::UnitY(), -45), kCube, {});
    ASSERT_EQ(leaning.count, 1);
    EXPECT_LT((leaning.all[0].n - Vector3d(1, 0, 1).normalized()).norm(), 1e-9);
}

/// Poses in which the bodies are about as far apart as they are large.
struct RandomPoses {
    std::mt19937 random{7};
    std::uniform_real_distribution<double> unit{-1, 1};
    Pose operator()(double spread) {
        const auto vector = [&] { return Vector3d(unit(random), unit(random), unit(random)); };
        const Vector3d axis = vector().normalized();
        return turned(spread * vector(), axis, 180 * unit(random));
    }
};

TEST(PrimitiveContacts, MovingOutAlongTheNormalByTheDepthEndsTheContact) {
    const std::vector<ContactPrimitive> shapes = {ContactPrimitive::sphere(0.06),
                                                  ContactPrimitive::capsule(0.03, 0.05),
                                                  kCube,
                                                  ContactPrimitive::box({0.02, 0.05, 0.08}),
                                                  ContactPrimitive::wedge({0.1, 0.08, 0.06}),
                                                  kGround};
    RandomPoses pose;
    int touching = 0, separated = 0;
    for (int k = 0; k < 20000; ++k) {
        const auto pick = [&] {
            return shapes[std::uniform_int_distribution<std::size_t>(0, 5)(pose.random)];
        };
        const ContactPrimitive a = pick(), b = pick();
        Pose pose_a = pose(0.1);
        const Pose pose_b = pose(0.02);
        const Contacts found = contacts(a, pose_a, b, pose_b);
        if (found.count == 0) continue;
        // deep ones may have to go around a corner
        if (found.deepest() > 0.02) continue;
        ++touching;
        const PrimitiveContact* deepest = &found.all[0];
        double shares = 0;
        for (const PrimitiveContact& c : found.list()) {
            ASSERT_NEAR(c.n.norm(), 1, 1e-12);
            ASSERT_LT(c.distance, 0);
            ASSERT_TRUE(c.p.allFinite());
            // between both surfaces; past an edge a face sees a little of what is beside the other
            ASSERT_LT(distance(a, pose_a, c.p), found.deepest() + 1e-7);
            ASSERT_LT(distance(b, pose_b, c.p), found.deepest() + 1e-7);
            shares += c.share;
            if (c.distance < deepest->distance) deepest = &c;
        }
        ASSERT_LE(shares, 6 + 1e-9);
        pose_a.position += (-deepest->distance + 1e-9) * deepest->n;
        const Contacts after = contacts(a, pose_a, b, pose_b);
        separated += after.deepest() < 1e-6 ? 1 : 0;
    }
    EXPECT_GT(touching, 1000);
    EXPECT_GT(separated, 0.99 * touching);
}

TEST(PrimitiveContacts, TheOrderOfTheTwoTurnsTheNormal) {
    RandomPoses pose;
    const ContactPrimitive capsule = ContactPrimitive::capsule(0.03, 0.05);
    int touching = 0;
    for (int k = 0; k < 2000; ++k) {
        const Pose one = pose(0.08), other = pose(0.02);
        const Contacts ab = contacts(capsule, one, kCube, other);
        const Contacts ba = contacts(kCube, other, capsule, one);
        ASSERT_EQ(ab.count, ba.count);
        touching += ab.count > 0;
        for (int i = 0; i < ab.count; ++i) {
            const auto at_i = static_cast<std::size_t>(i);
            ASSERT_LT((ab.all[at_i].n + ba.all[at_i].n).norm(), 1e-9);
            ASSERT_LT((ab.all[at_i].p - ba.all[at_i].p).norm(), 1e-9);
        }
    }
    EXPECT_GT(touching, 300);
}

}  // namespace
}  // namespace pliant
