#include "contact/broad_phase.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "contact/pair_phases.h"

namespace pliant {
namespace {

using Eigen::Vector3d;

BoundingSphere solid_ball(const Vector3d& centre, double radius) {
    return {centre, radius, radius, true, true, true};
}

/// Every two bodies, one by one.
std::vector<BodyPair> all_pairs(std::span<const BoundingSphere> bodies) {
    std::vector<BodyPair> pairs;
    for (int i = 0; i < static_cast<int>(bodies.size()); ++i)
        for (int j = 0; j < i; ++j) {
            const BoundingSphere& a = bodies[static_cast<std::size_t>(i)];
            const BoundingSphere& b = bodies[static_cast<std::size_t>(j)];
            if ((a.centre - b.centre).norm() > a.radius + b.radius) continue;
            pairs.push_back(a.rest_radius <= b.rest_radius ? BodyPair{i, j} : BodyPair{j, i});
        }
    std::ranges::sort(pairs);
    return pairs;
}

std::vector<BoundingSphere> random_balls(int count, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::vector<BoundingSphere> bodies;
    for (int i = 0; i < count; ++i) {
        const Vector3d centre(uniform(random), 5 * uniform(random), uniform(random));
        bodies.push_back(solid_ball(centre, 0.02 + 0.1 * uniform(random)));
    }
    return bodies;
}

std::vector<BodyPair> found(std::span<const BoundingSphere> bodies, int max_pairs = 10000) {
    BroadPhase broad(static_cast<int>(bodies.size()), max_pairs);
    bool is_complete = false;
    const auto pairs = broad.find(bodies, is_complete);
    EXPECT_TRUE(is_complete);
    return {pairs.begin(), pairs.end()};
}

TEST(BroadPhase, FindsThePairsThatAskingAllFinds) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
        const auto bodies = random_balls(300, seed);
        const auto expected = all_pairs(bodies);
        EXPECT_GT(expected.size(), 50u);
        EXPECT_EQ(found(bodies), expected);
    }
}

TEST(BroadPhase, EndlessBodiesMeetAllOthers) {
    std::vector<BoundingSphere> bodies = random_balls(5, 1);
    for (BoundingSphere& b : bodies) b.radius = 0;
    const double infinity = std::numeric_limits<double>::infinity();
    bodies.push_back({Vector3d::Zero(), infinity, infinity, false, true, false});
    const auto pairs = found(bodies);
    ASSERT_EQ(pairs.size(), 5u);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(pairs[static_cast<std::size_t>(i)], (BodyPair{i, 5}));
}

TEST(BroadPhase, LeavesOutWhatCannotTouchOrMove) {
    const Vector3d origin = Vector3d::Zero();
    BoundingSphere points = solid_ball(origin, 1), solid = points, still = points, lost = points;
    points.has_solid = false;
    solid.has_points = false;
    still.is_moving = false;
    lost.radius = -1;
    EXPECT_TRUE(found(std::vector{points, points}).empty());
    EXPECT_TRUE(found(std::vector{solid, solid}).empty());
    EXPECT_TRUE(found(std::vector{still, still}).empty());
    EXPECT_TRUE(found(std::vector{points, lost}).empty());
    lost = points;
    lost.centre.x() = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(found(std::vector{solid, lost}).empty());
    EXPECT_EQ(found(std::vector{points, solid}), (std::vector<BodyPair>{{0, 1}}));
    EXPECT_EQ(found(std::vector{solid, points}), (std::vector<BodyPair>{{1, 0}}));
    EXPECT_EQ(found(std::vector{still, solid_ball(origin, 1)}), (std::vector<BodyPair>{{1, 0}}));
}

TEST(BroadPhase, TheSmallerOneGivesThePoints) {
    const Vector3d origin = Vector3d::Zero();
    EXPECT_EQ(found(std::vector{solid_ball(origin, 1), solid_ball(origin, 2)}),
              (std::vector<BodyPair>{{0, 1}}));
    EXPECT_EQ(found(std::vector{solid_ball(origin, 2), solid_ball(origin, 1)}),
              (std::vector<BodyPair>{{1, 0}}));
}

TEST(BroadPhase, SaysWhenThereAreMorePairsThanPlaces) {
    const auto bodies = random_balls(100, 1);
    BroadPhase broad(100, 7);
    bool is_complete = true;
    EXPECT_EQ(broad.find(bodies, is_complete).size(), 7u);
    EXPECT_FALSE(is_complete);
}

TEST(PairPhases, PairsOfAPhaseShareNoMovingBody) {
    const auto bodies = random_balls(150, 3);
    std::vector<BodyPair> pairs = all_pairs(bodies);
    // a body that touches very many, and a ground that does not move
    for (int i = 1; i < 100; ++i) pairs.push_back({i, 0});
    for (int i = 1; i < 150; ++i) pairs.push_back({i, 150});
    std::vector<char> is_moving(151, 1);
    is_moving[150] = 0;
    PairPhases phases(151, static_cast<int>(pairs.size()));
    phases.arrange(pairs, is_moving);

    std::vector<int> seen(pairs.size(), 0);
    const auto offsets = phases.offsets();
    ASSERT_EQ(offsets.front(), 0);
    ASSERT_EQ(offsets.back(), static_cast<int>(pairs.size()));
    for (std::size_t p = 0; p + 1 < offsets.size(); ++p) {
        std::vector<int> used(151, 0);
        for (int i = offsets[p]; i < offsets[p + 1]; ++i) {
            const int pair = phases.order()[static_cast<std::size_t>(i)];
            ++seen[static_cast<std::size_t>(pair)];
            const BodyPair& b = pairs[static_cast<std::size_t>(pair)];
            for (const int body : {b.shell, b.field}) {
                const auto k = static_cast<std::size_t>(body);
                EXPECT_TRUE(!is_moving[k] || used[k]++ == 0);
            }
        }
    }
    for (const int count : seen) EXPECT_EQ(count, 1);
    // all that touch the ground alone would go at once
    EXPECT_LT(offsets.size(), 150u);
}

}  // namespace
}  // namespace pliant
