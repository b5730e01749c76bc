#include "field/grid_margin.h"

#include "tests/field/sampled_grid.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3d;
using grid_test::frame_of;
using grid_test::Points;
using grid_test::sample_dense;

TEST(GridMargin, InterpolatedNormExceedsTheNormByTheConstantOfTheMargin) {
    // beyond a length of 1.45 the variance of the corners bounds it by 3/8 / 1.45 < 0.2594
    double largest = 0;
    const auto excess = [](const Vector3d& p) {
        double sum = 0;
        for (int corner = 0; corner < 8; ++corner) {
            Vector3d v;
            double weight = 1;
            for (int axis = 0; axis < 3; ++axis) {
                const double base = std::min(std::floor(p[axis]), 1.0), t = p[axis] - base;
                const int bit = corner >> axis & 1;
                v[axis] = base + bit;
                weight *= bit == 1 ? t : 1 - t;
            }
            sum += weight * v.norm();
        }
        return sum - p.norm();
    };
    for (int k = 0; k <= 100; ++k)
        for (int j = 0; j <= k; ++j)
            for (int i = 0; i <= j; ++i)
                largest = std::max(largest, excess({0.02 * i, 0.02 * j, 0.02 * k}));
    EXPECT_LT(largest, kConeExcess);
    EXPECT_GT(largest, kConeExcess - 2e-4);
}

TEST(GridMargin, BlockExcessBoundsInterpolatedWaysToFarVertices) {
    std::mt19937 random(15);
    std::uniform_real_distribution<double> uniform(0, 1);
    for (const double band : {1.0, 4.0, 9.0}) {
        double largest = 0;
        for (int trial = 0; trial < 200000; ++trial) {
            // a point in or on a block of 8³ cells, and one `band` away from the block
            Vector3d c, p;
            for (int axis = 0; axis < 3; ++axis) {
                c[axis] = 8 * uniform(random);
                p[axis] = 24 * uniform(random) - 8;
            }
            if (trial % 2 == 0) c[trial / 2 % 3] = 0;
            const Vector3d nearest = p.cwiseMax(0).cwiseMin(8);
            if (p == nearest) continue;
            p = nearest + band * (p - nearest).normalized();
            double mean = 0;
            for (int corner = 0; corner < 8; ++corner) {
                Vector3d v;
                double weight = 1;
                for (int axis = 0; axis < 3; ++axis) {
                    const int bit = corner >> axis & 1;
                    v[axis] = 8 * bit;
                    weight *= bit == 1 ? c[axis] / 8 : 1 - c[axis] / 8;
                }
                mean += weight * (v - p).norm();
            }
            largest = std::max(largest, mean - (c - p).norm());
        }
        EXPECT_LE(largest, block_excess(band));
        EXPECT_GT(largest, 0.85 * block_excess(band));
    }
}

/// Largest value(c) − |c − y| − margin over many c and all y found with a value below zero.
struct MarginUse {
    double near_excess = -1, far_excess = -1;  ///< of value(c) − |c − y| alone
    double over = -1;                          ///< the margin's promise is kept when ≤ 0
};
MarginUse use_of_margin(const DistanceGrid& grid, const std::vector<Vector3d>& negative,
                        const Points& centres) {
    MarginUse use;
    for (std::size_t i = 0; i < centres.x.size(); ++i) {
        const float value = centres.distance[i];
        double nearest = 1e30;
        for (const Vector3d& y : negative)
            nearest = std::min(nearest, (y - centres.point(i)).squaredNorm());
        const double excess = double{value} - std::sqrt(nearest);
        double& largest = value < grid.margin().band ? use.near_excess : use.far_excess;
        largest = std::max(largest, excess);
        use.over = std::max(use.over, excess - double{grid.margin().at(value)});
    }
    return use;
}
/// Points with values below zero, those near the surface.
std::vector<Vector3d> negative_points(const DistanceGrid& grid, const Box& box, int count) {
    Points points = grid_test::random_points(box, count, 12);
    points.ask_distances(grid);
    std::vector<Vector3d> negative;
    for (std::size_t i = 0; i < points.x.size(); ++i)
        if (points.distance[i] < 0 && points.distance[i] > -0.1 * grid.frame().cell)
            negative.push_back(points.point(i));
    return negative;
}

TEST(GridMargin, HoldsForBallsAroundRandomPoints) {
    const grid_test::SpikyGrids s;
    const Box box = s.frame.box();
    for (const DistanceGrid* grid : {&s.dense, &s.sparse}) {
        const std::vector<Vector3d> negative =
            negative_points(*grid, grid_test::middle(s.frame), 1000000);
        ASSERT_GT(negative.size(), 1000u);
        // also outside the box
        const Vector3d more = Vector3d::Constant(4 * s.frame.cell);
        Points centres = grid_test::random_points({box.min() - more, box.max() + more}, 12000, 13);
        centres.ask_distances(*grid);
        const MarginUse use = use_of_margin(*grid, negative, centres);
        EXPECT_LE(use.over, 0) << use.near_excess << " " << use.far_excess;
    }
    EXPECT_LT(s.dense.margin().near, 0.27 * s.frame.cell);
    EXPECT_EQ(s.dense.margin().near, s.dense.margin().far);
    EXPECT_LT(s.sparse.margin().near, 0.27 * s.frame.cell);
    EXPECT_LT(s.sparse.margin().far, 5 * s.frame.cell);
    EXPECT_EQ(s.sparse.margin().band, static_cast<float>(2 * s.frame.cell));
}

TEST(GridMargin, IsNeededAlmostWhole) {
    // distances from a speck at a vertex
    const GridFrame frame = frame_of(16);
    const double h = frame.cell;
    const Vector3d speck = frame.vertex(8, 8, 8);
    const DistanceGrid grid = sample_dense(frame, grid_test::ball(speck, 0.01 * h), 0.05);
    const Vector3d more = Vector3d::Constant(0.02 * h);
    const std::vector<Vector3d> negative =
        negative_points(grid, {speck - more, speck + more}, 20000);
    ASSERT_GT(negative.size(), 100u);
    const Vector3d around = Vector3d::Constant(2 * h);
    Points centres = grid_test::random_points({speck - around, speck + around}, 4000, 14);
    centres.ask_distances(grid);
    const MarginUse use = use_of_margin(grid, negative, centres);
    EXPECT_LE(use.over, 0);
    EXPECT_GT(use.over, -0.02 * h);
}

}  // namespace
}  // namespace pliant
