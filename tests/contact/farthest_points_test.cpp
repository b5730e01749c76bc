#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "pliant/contact/build_pointshell.h"

namespace pliant {
namespace {

/// Compares every point with the new one, every time.
std::vector<int> slow_order(const std::vector<Eigen::Vector3f>& points) {
    Eigen::AlignedBox3f box;
    for (const Eigen::Vector3f& x : points) box.extend(x);
    const Eigen::Vector3d centre = box.cast<double>().center();
    std::vector<double> square;
    for (const Eigen::Vector3f& x : points)
        square.push_back((x.cast<double>() - centre).squaredNorm());
    std::vector<int> order;
    for (std::size_t k = 0; k < points.size(); ++k) {
        const auto next = std::max_element(square.begin(), square.end()) - square.begin();
        order.push_back(static_cast<int>(next));
        if (k == 0) std::fill(square.begin(), square.end(), 1e300);
        for (std::size_t i = 0; i < points.size(); ++i)
            square[i] = std::min(square[i], (points[static_cast<std::size_t>(next)].cast<double>() -
                                             points[i].cast<double>())
                                                .squaredNorm());
        for (const int i : order) square[static_cast<std::size_t>(i)] = -1;
    }
    return order;
}

std::vector<Eigen::Vector3f> random_points(int count, unsigned seed, bool is_flat) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<Eigen::Vector3f> points;
    for (int i = 0; i < count; ++i) {
        points.emplace_back(uniform(random), uniform(random), uniform(random));
        if (is_flat) points.back().z() = 3;
    }
    return points;
}

TEST(FarthestPointOrder, EqualsTheSlowOne) {
    for (unsigned seed = 1; seed <= 4; ++seed) {
        const auto points = random_points(700, seed, seed % 2 == 0);
        EXPECT_EQ(farthest_point_order(points), slow_order(points)) << seed;
    }
}

TEST(FarthestPointOrder, EqualDistancesAreTakenByIndex) {
    std::vector<Eigen::Vector3f> points;
    for (int i = 0; i < 343; ++i)
        points.emplace_back(static_cast<float>(i % 7), static_cast<float>(i / 7 % 7),
                            static_cast<float>(i / 49));
    EXPECT_EQ(farthest_point_order(points), slow_order(points));
}

TEST(FarthestPointOrder, CopiesComeLast) {
    std::vector<Eigen::Vector3f> points = random_points(100, 9, false);
    points.insert(points.end(), points.begin(), points.begin() + 50);
    const std::vector<int> order = farthest_point_order(points);
    EXPECT_EQ(order, slow_order(points));
    std::vector<int> sorted = order, all(150);
    std::sort(sorted.begin(), sorted.end());
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(sorted, all);
}

TEST(FarthestPointOrder, FewPoints) {
    EXPECT_TRUE(farthest_point_order({}).empty());
    EXPECT_EQ(farthest_point_order({{1, 2, 3}}), std::vector<int>{0});
    EXPECT_EQ(farthest_point_order({{1, 2, 3}, {1, 2, 3}}), (std::vector<int>{0, 1}));
    EXPECT_EQ(farthest_point_order({{0, 0, 0}, {1, 0, 0}, {3, 0, 0}}), (std::vector<int>{0, 2, 1}));
}

}  // namespace
}  // namespace pliant
