#include <gtest/gtest.h>

#include <cmath>

#include "haptics/contact_memory.h"
#include "pliant/core/allocation_guard.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using Vector6d = Eigen::Vector<double, 6>;

constexpr double kPointStiffness = 8500, kSpring = 600, kMemoryLength = 0.03, kMemoryTick = 1e-3,
                 kForgotten = 0.005;
constexpr ContactMemory::Scales kScales{kSpring, kMemoryLength};

/// Contacts of points at `arms` with the given normals.
ToolContact contact_of(const std::vector<std::pair<Vector3d, Vector3d>>& points) {
    ToolContact contact;
    for (const auto& [arm, normal] : points) {
        Vector6d j;
        j << normal, arm.cross(normal);
        contact.normals += j * j.transpose();
        contact.gradient -= kPointStiffness * j * j.transpose();
        contact.load.force += normal;
        contact.load.torque += arm.cross(normal);
        ++contact.num_contacts;
    }
    return contact;
}
double stiffness_along(const ToolContact& contact, const Vector6d& way) {
    return -way.dot(contact.gradient * way);
}
Vector6d way_along(const Vector3d& shift, const Vector3d& turn = Vector3d::Zero()) {
    Vector6d way;
    way << shift, turn;
    return way;
}
const Vector3d kAlongX = Vector3d::UnitX(), kAlongZ = Vector3d::UnitZ();

TEST(ContactMemory, LeavesContactsThatStayOrComeAlone) {
    ContactMemory memory;
    const ToolContact one = contact_of({{0.01 * kAlongX, kAlongZ}});
    const ToolContact two = contact_of({{0.01 * kAlongX, kAlongZ}, {-0.01 * kAlongX, kAlongX}});
    for (const ToolContact* found : {&one, &one, &two, &two}) {
        ToolContact contact = *found;
        memory.recall(contact, {}, kScales, kMemoryTick);
        EXPECT_EQ(contact.gradient, found->gradient);
    }
}

TEST(ContactMemory, HoldsTheDirectionOfAContactThatWentWhileOthersStay) {
    ContactMemory memory;
    ToolContact both = contact_of(
        {{0.02 * kAlongX, kAlongZ}, {-0.02 * kAlongX, kAlongZ}, {Vector3d::Zero(), kAlongX}});
    memory.recall(both, {}, kScales, kMemoryTick);
    const ToolContact left = contact_of({{0.02 * kAlongX, kAlongZ}, {-0.02 * kAlongX, kAlongZ}});
    for (int k = 0; k < 10; ++k) {
        ToolContact contact = left;
        memory.recall(contact, {}, kScales, kMemoryTick);
        // what held it along x still does, as stiff as the springs and fading; no load is added,
        // and the rest is as it was
        EXPECT_NEAR(stiffness_along(contact, way_along(kAlongX)),
                    kSpring * std::exp(-k * kMemoryTick / kForgotten), 1e-6 * kSpring)
            << k;
        EXPECT_NEAR(stiffness_along(contact, way_along(kAlongZ)), 2 * kPointStiffness,
                    1e-6 * kPointStiffness);
        EXPECT_NEAR(stiffness_along(contact, way_along(Vector3d::UnitY())), 0,
                    1e-6 * kPointStiffness);
        EXPECT_EQ(contact.load.force, left.load.force);
    }
}

TEST(ContactMemory, WithoutAStiffnessSingleContactsAreForgotten) {
    ContactMemory memory;
    constexpr ContactMemory::Scales kNone{0, kMemoryLength};
    ToolContact both = contact_of({{0.02 * kAlongX, kAlongZ}, {Vector3d::Zero(), kAlongX}});
    memory.recall(both, {}, kNone, kMemoryTick);
    const ToolContact left = contact_of({{0.02 * kAlongX, kAlongZ}});
    ToolContact contact = left;
    memory.recall(contact, {}, kNone, kMemoryTick);
    EXPECT_EQ(contact.gradient, left.gradient);
}

TEST(ContactMemory, NothingIsHeldThatOtherContactsHoldAsWell) {
    ContactMemory memory;
    // one point of three on a face goes, and another one comes as two
    ToolContact three = contact_of(
        {{0.02 * kAlongX, kAlongZ}, {-0.02 * kAlongX, kAlongZ}, {Vector3d::Zero(), kAlongZ}});
    memory.recall(three, {}, kScales, kMemoryTick);
    const ToolContact two = contact_of({{0.03 * kAlongX, kAlongZ}, {-0.03 * kAlongX, kAlongZ}});
    ToolContact contact = two;
    memory.recall(contact, {}, kScales, kMemoryTick);
    const double turning = stiffness_along(contact, way_along(Vector3d::Zero(), Vector3d::UnitY()));
    // turning is held better than before; shifts by no more than they were
    EXPECT_LT(turning, 1.1 * kPointStiffness * 2 * 0.03 * 0.03);
    EXPECT_GE(stiffness_along(contact, way_along(kAlongZ)), 2 * kPointStiffness - 1e-6);
    EXPECT_LE(stiffness_along(contact, way_along(kAlongZ)), 2 * kPointStiffness + 3 * kSpring);
}

TEST(ContactMemory, AfterTheLastContactOnlyWhilePressedTowardsIt) {
    for (const double press : {1.0, -1.0}) {
        ContactMemory memory;
        ToolContact touching = contact_of({{Vector3d::Zero(), kAlongZ}});
        memory.recall(touching, {}, kScales, kMemoryTick);
        ToolContact free;
        memory.recall(free, {press * kAlongZ, Vector3d::Zero()}, kScales, kMemoryTick);
        EXPECT_NEAR(stiffness_along(free, way_along(kAlongZ)),
                    press > 0 ? kPointStiffness * std::exp(-kMemoryTick / kForgotten) : 0,
                    1e-6 * kPointStiffness);
    }
}

TEST(ContactMemory, ForgetsAndTakesOddNumbers) {
    ContactMemory memory;
    ToolContact both = contact_of({{0.02 * kAlongX, kAlongZ}, {Vector3d::Zero(), kAlongX}});
    memory.recall(both, {}, kScales, kMemoryTick);
    memory.forget();
    const ToolContact left = contact_of({{0.02 * kAlongX, kAlongZ}});
    ToolContact contact = left;
    memory.recall(contact, {}, kScales, kMemoryTick);
    EXPECT_EQ(contact.gradient, left.gradient);
    // what is not finite is not kept: the coupling ignores such a contact by itself
    ToolContact odd = contact_of({{0.02 * kAlongX, kAlongZ}, {Vector3d::Zero(), kAlongX}});
    odd.normals(0, 0) = NAN;
    memory.recall(odd, {}, kScales, kMemoryTick);
    for (int k = 0; k < 3; ++k) {
        contact = left;
        memory.recall(contact, {}, kScales, kMemoryTick);
        EXPECT_TRUE(contact.gradient.allFinite()) << k;
    }
}

TEST(ContactMemory, AllocatesNothing) {
    if (!AllocationGuard::is_active()) GTEST_SKIP();
    ContactMemory memory;
    ToolContact both = contact_of({{0.02 * kAlongX, kAlongZ}, {Vector3d::Zero(), kAlongX}});
    ToolContact left = contact_of({{0.02 * kAlongX, kAlongZ}});
    const AllocationGuard guard;
    memory.recall(both, {}, kScales, kMemoryTick);
    memory.recall(left, {}, kScales, kMemoryTick);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
}

}  // namespace
}  // namespace pliant
