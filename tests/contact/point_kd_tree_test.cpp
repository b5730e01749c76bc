#include "contact/point_kd_tree.h"

#include "contact/tree_samples.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3f;
using test::nearest_by_asking_all;

TEST(PointKdTree, FindsTheLowestOfTheNearestPoints) {
    std::mt19937 random(3);
    std::uniform_int_distribution<int> coarse(0, 6);
    std::uniform_real_distribution<float> fine(0, 6);
    std::vector<Vector3f> lattice, line(300, Vector3f(1, 2, 3)), scattered;
    for (int i = 0; i < 400; ++i) {
        lattice.emplace_back(coarse(random), coarse(random), coarse(random));
        scattered.emplace_back(fine(random), fine(random), fine(random));
    }
    for (int i = 100; i < 200; ++i) line[static_cast<std::size_t>(i)].x() += 0.25F;
    for (const auto& points : {lattice, line, scattered, {Vector3f(1, 1, 1)}}) {
        const PointKdTree tree(points);
        const int count = static_cast<int>(points.size());
        for (int i = 0; i < 300; ++i) {
            const Vector3f x(static_cast<float>(coarse(random)) / 2,
                             static_cast<float>(coarse(random)), fine(random));
            const Vector3f on_lattice = x.array().round();
            EXPECT_EQ(tree.nearest(x), nearest_by_asking_all(points, count, x));
            EXPECT_EQ(tree.nearest(on_lattice), nearest_by_asking_all(points, count, on_lattice));
        }
    }
}

}  // namespace
}  // namespace pliant
