#include "haptics/coupling_depth.h"

#include <gtest/gtest.h>

#include <random>

namespace pliant {
namespace {

struct DepthCase {
    ToolContact contact;
    DepthBound bound = {.max_depth = 1e-3, .approach = 0, .length = 0.02, .reach = 0.05};
    Vector6d step;
};

/// `count` contacts up to 0.99 of the bound deep, and a step of up to half of it.
DepthCase random_case(std::mt19937& random, int count) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    const auto vector = [&](double size) {
        const double x = uniform(random), y = uniform(random), z = uniform(random);
        return Eigen::Vector3d(size * x, size * y, size * z);
    };
    DepthCase c;
    c.contact.num_contacts = c.contact.num_deep = count;
    for (int i = 0; i < count; ++i) {
        DeepContact& deep = c.contact.deep[static_cast<std::size_t>(i)];
        const Eigen::Vector3d n = vector(1).normalized(), r = vector(0.02);
        deep.inward << n, r.cross(n);
        deep.depth = 1e-3 * (0.75 + 0.24 * uniform(random));
    }
    c.step << vector(0.25e-3), vector(0.1e-3);
    return c;
}

double scaled_inward(const DepthCase& c, int i, const Vector6d& step) {
    Vector6d row = c.contact.deep[static_cast<std::size_t>(i)].inward;
    row.tail<3>() /= c.bound.length;
    return row.dot(step);
}
double deepest_after(const DepthCase& c, const Vector6d& step) {
    double depth = 0;
    for (int i = 0; i < c.contact.num_deep; ++i)
        depth = std::max(
            depth, c.contact.deep[static_cast<std::size_t>(i)].depth + scaled_inward(c, i, step));
    return depth;
}

TEST(CouplingDepth, NoListedContactLeavesTheBound) {
    std::mt19937 random(3);
    int num_changed = 0;
    for (int k = 0; k < 2000; ++k) {
        DepthCase c = random_case(random, 1 + k % ToolContact::kMaxDeep);
        const Vector6d wanted = c.step;
        const bool is_changed = hold_depth(c.contact, c.bound, c.step);
        num_changed += is_changed ? 1 : 0;
        EXPECT_LE(deepest_after(c, c.step), c.bound.max_depth * (1 + 1.001e-3)) << k;
        EXPECT_LE(c.step.norm(), wanted.norm() * (1 + 1e-12)) << k;
        if (deepest_after(c, wanted) <= c.bound.max_depth) {
            EXPECT_FALSE(is_changed) << k;
            EXPECT_EQ(c.step, wanted) << k;
        }
    }
    EXPECT_GT(num_changed, 500);
}

TEST(CouplingDepth, OneContactTakesNothingButTheWayThroughIt) {
    DepthCase c;
    c.contact.num_contacts = c.contact.num_deep = 1;
    c.contact.deep[0].inward << 0, 0, -1, 0, 0, 0;
    c.contact.deep[0].depth = 0.9e-3;
    c.step << 0.2e-3, 0.1e-3, -0.3e-3, 1e-5, 2e-5, 3e-5;
    Vector6d expected = c.step;
    expected[2] = -0.1e-3;
    EXPECT_TRUE(hold_depth(c.contact, c.bound, c.step));
    EXPECT_LT((c.step - expected).norm(), 1e-12);
    EXPECT_NEAR(expected_depth(c.contact, c.bound, c.step),
                std::max(1e-3, c.step.head<3>().norm() + 2.5 * c.step.tail<3>().norm()), 1e-9);
}

TEST(CouplingDepth, WhatIsTooDeepIsLedOut) {
    DepthCase c;
    c.contact.num_contacts = c.contact.num_deep = 1;
    c.contact.deep[0].inward << 0, 0, -1, 0, 0, 0;
    c.contact.deep[0].depth = 1.3e-3;
    c.step.setZero();
    EXPECT_TRUE(hold_depth(c.contact, c.bound, c.step));
    EXPECT_NEAR(c.step[2], 0.3e-3, 1e-9);
    // and so is what will be, when the others come nearer
    c.contact.deep[0].depth = 0.9e-3;
    c.bound.approach = 0.3e-3;
    c.step.setZero();
    EXPECT_TRUE(hold_depth(c.contact, c.bound, c.step));
    EXPECT_NEAR(c.step[2], 0.2e-3, 1e-9);
}

TEST(CouplingDepth, ContactsThatAreNotListedBoundTheWayOfAllPoints) {
    DepthCase c;
    c.contact.num_contacts = 40;
    c.contact.other_depth = 0.8e-3;
    c.step << 0.2e-3, 0, 0, 0.1e-3, 0, 0;
    // the farthest point goes 0.2 + 0.05/0.02 · 0.1 = 0.45 mm
    EXPECT_NEAR(expected_depth(c.contact, c.bound, c.step), 1.25e-3, 1e-12);
    EXPECT_TRUE(hold_depth(c.contact, c.bound, c.step));
    EXPECT_NEAR(c.step[0], 0.2e-3 * 0.2 / 0.45, 1e-12);
    EXPECT_NEAR(expected_depth(c.contact, c.bound, c.step), 1e-3, 1e-12);
    // too deep, but not held for ever
    c.contact.other_depth = 2e-3;
    const Vector6d wanted = c.step;
    EXPECT_TRUE(hold_depth(c.contact, c.bound, c.step));
    EXPECT_LT((c.step - 0.1 * wanted).norm(), 1e-12);
    // those that are listed show the way out
    c.contact.num_deep = 1;
    c.contact.deep[0].inward << -1, 0, 0, 0, 0, 0;
    c.contact.deep[0].depth = 2e-3;
    c.step = wanted;
    EXPECT_TRUE(hold_depth(c.contact, c.bound, c.step));
    EXPECT_NEAR(c.step[0], 1e-3, 1e-9);
    // without contact the clearance is free
    c.contact = {};
    c.contact.clearance = 0.2e-3;
    c.step << 1e-3, 0, 0, 0.2e-3, 0, 0;
    EXPECT_NEAR(expected_depth(c.contact, c.bound, c.step), 1.3e-3, 1e-12);
    EXPECT_TRUE(hold_depth(c.contact, c.bound, c.step));
    EXPECT_NEAR(c.step[0], 1e-3 * 1.2 / 1.5, 1e-12);
}

TEST(CouplingDepth, ContactsThatContradictEachOtherStopTheToolOrLeadItNowhere) {
    DepthCase c;
    c.contact.num_contacts = c.contact.num_deep = 2;
    c.contact.deep[0].inward << 0, 0, -1, 0, 0, 0;
    c.contact.deep[1].inward << 0, 0, 1, 0, 0, 0;
    for (const double depth : {1e-3, 1.5e-3}) {
        c.contact.deep[0].depth = c.contact.deep[1].depth = depth;
        c.step << 0, 0, 0.4e-3, 0, 0, 0;
        EXPECT_TRUE(hold_depth(c.contact, c.bound, c.step));
        EXPECT_TRUE(c.step.allFinite());
        EXPECT_LT(c.step.norm(), 0.51e-3);
    }
}

}  // namespace
}  // namespace pliant
