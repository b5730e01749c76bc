#include "contact/travel_odometer.h"

#include "core/numbers.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

TEST(TravelOdometer, NodesRestForTheirGap) {
    TravelOdometer odometer(3, 10);
    const std::vector<int> nodes{0, 1, 2};
    const std::vector<float> gaps{0.5f, -1.0f, 100.0f};
    EXPECT_FALSE(odometer.is_resting(0));
    odometer.set(nodes.data(), gaps.data(), 3);
    EXPECT_TRUE(odometer.is_resting(0));
    EXPECT_FALSE(odometer.is_resting(1));
    odometer.advance(0.4999);
    EXPECT_TRUE(odometer.is_resting(0));
    EXPECT_LE(odometer.remaining(0), 0.0001);
    odometer.advance(0.0001);
    EXPECT_FALSE(odometer.is_resting(0));
    EXPECT_TRUE(odometer.is_resting(2));
    odometer.advance(9.5);
    EXPECT_FALSE(odometer.is_resting(2));
    // a journey does not spoil the precision of what follows
    odometer.advance(1e25);
    odometer.set(nodes.data(), gaps.data(), 1);
    EXPECT_NEAR(odometer.remaining(0), 0.5, 1e-5);
    odometer.forget();
    EXPECT_FALSE(odometer.is_resting(0));
    odometer.set(nodes.data(), gaps.data(), 3);
    odometer.advance(kNan);
    EXPECT_FALSE(odometer.is_resting(0));
    EXPECT_FALSE(odometer.is_resting(2));
}

TEST(TravelOdometer, SiftingKeepsTheOrder) {
    TravelOdometer odometer(6, 10);
    const std::vector<int> all{0, 1, 2, 3, 4, 5};
    const std::vector<float> gaps{2, -1, 3, 0, 1, -1};
    odometer.set(all.data(), gaps.data(), 6);
    std::vector<int> nodes{5, 4, 3, 2, 1, 0}, resting(6);
    std::vector<float> values{50, 40, 30, 20, 10, 0};
    double least = kInfinity;
    ASSERT_EQ(odometer.sift(nodes.data(), values.data(), 6, resting.data(), least), 3);
    EXPECT_EQ(std::vector<int>(nodes.begin(), nodes.begin() + 3), (std::vector<int>{5, 3, 1}));
    EXPECT_EQ(std::vector<float>(values.begin(), values.begin() + 3),
              (std::vector<float>{50, 30, 10}));
    EXPECT_EQ(std::vector<int>(resting.begin(), resting.begin() + 3), (std::vector<int>{4, 2, 0}));
    EXPECT_NEAR(least, 1, 1e-5);
    EXPECT_LE(least, 1);
    nodes = {0, 1};
    least = 0.5;
    EXPECT_EQ(odometer.sift(nodes.data(), nullptr, 2, resting.data(), least), 1);
    EXPECT_EQ(nodes[0], 1);
    EXPECT_EQ(least, 0.5);
}

TEST(TravelOdometer, CreepingIsNotLostAfterALongWay) {
    TravelOdometer odometer(2, 1);
    const std::vector<int> nodes{0, 1};
    const std::vector<float> long_gap{1.0f, 0.0f}, short_gap{1e-6f, 0.0f};
    for (int i = 0; i < 100000; ++i) {
        odometer.set(nodes.data(), long_gap.data(), 2);
        odometer.forget();
    }
    // at 10⁵ m, steps of a thousandth of the spacing of doubles
    odometer.set(nodes.data(), short_gap.data(), 2);
    int steps = 0;
    while (odometer.is_resting(0)) {
        odometer.advance(1e-14);
        ++steps;
    }
    EXPECT_LE(steps * 1e-14, 1e-6);
    odometer.set(nodes.data(), short_gap.data(), 2);
    odometer.advance(0);
    EXPECT_TRUE(odometer.is_resting(0));
}

TEST(TravelOdometer, HavingForgottenItIsAsGoodAsNew) {
    TravelOdometer used(3, 0.7), fresh(3, 0.7);
    const std::vector<int> nodes{0, 1, 2};
    const std::vector<float> gaps{0.1234567f, 0.3f, 5.0f};
    for (int i = 0; i < 1000; ++i) {
        used.advance(0.0123456789);
        if (i % 7 == 0) used.set(nodes.data(), gaps.data(), 3);
    }
    used.forget();
    for (TravelOdometer* one : {&used, &fresh}) one->set(nodes.data(), gaps.data(), 3);
    for (int i = 0; i < 100; ++i) {
        for (const int node : nodes) {
            ASSERT_EQ(used.is_resting(node), fresh.is_resting(node)) << i;
            if (fresh.is_resting(node)) ASSERT_EQ(used.remaining(node), fresh.remaining(node)) << i;
        }
        for (TravelOdometer* one : {&used, &fresh}) one->advance(0.001 + 1e-5 * i);
    }
}

}  // namespace
}  // namespace pliant
