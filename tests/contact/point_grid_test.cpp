#include "contact/point_grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace pliant {
namespace {

PointArrays random_arrays(int count, float height) {
    std::mt19937_64 random(3);
    std::uniform_real_distribution<float> uniform(-1, 1);
    PointArrays points;
    points.resize(count);
    for (std::size_t i = 0; i < points.x.size(); ++i) {
        points.x[i] = uniform(random);
        points.y[i] = 5 + uniform(random);
        points.z[i] = height * uniform(random);
    }
    return points;
}

TEST(PointGrid, CellsAroundHoldEveryPointWithinACell) {
    for (const float height : {0.0f, 1.0f})
        for (const double cell : {0.07, 0.3, 5.0}) {
            const PointArrays points = random_arrays(600, height);
            const PointGrid grid(points.x, points.y, points.z, cell);
            PointGrid::Walk walk(grid, 0);
            int seen = 0;
            for (int c = 0; c < grid.num_cells(); ++c) {
                std::set<int> around;
                for (const PlaceRange& row : walk.around(c))
                    for (int p = row.begin; p < row.end; ++p) {
                        // none twice
                        EXPECT_TRUE(
                            around.insert(grid.order()[static_cast<std::size_t>(p)]).second);
                    }
                for (int p = grid.places(c).begin; p < grid.places(c).end; ++p, ++seen) {
                    const auto a =
                        static_cast<std::size_t>(grid.order()[static_cast<std::size_t>(p)]);
                    for (std::size_t b = 0; b < points.x.size(); ++b) {
                        const double d =
                            std::hypot(points.x[a] - points.x[b], points.y[a] - points.y[b],
                                       points.z[a] - points.z[b]);
                        if (d < cell) {
                            EXPECT_TRUE(around.contains(static_cast<int>(b)));
                        }
                    }
                }
            }
            EXPECT_EQ(seen, 600);
        }
}

TEST(PointGrid, AWalkMayBeginAnywhere) {
    const PointArrays points = random_arrays(600, 1);
    const PointGrid grid(points.x, points.y, points.z, 0.2);
    PointGrid::Walk whole(grid, 0);
    for (int c = 0; c < grid.num_cells(); ++c) {
        PointGrid::Walk from_here(grid, c);
        const auto a = whole.around(c), b = from_here.around(c);
        for (std::size_t r = 0; r < 9; ++r) {
            EXPECT_EQ(a[r].end - a[r].begin, b[r].end - b[r].begin);
            if (a[r].end > a[r].begin) {
                EXPECT_EQ(a[r].begin, b[r].begin);
            }
        }
    }
}

TEST(PointGrid, TinyCellsAndCopiesAreNoTrouble) {
    PointArrays points = random_arrays(50, 1);
    const PointGrid tiny(points.x, points.y, points.z, 1e-30);
    EXPECT_EQ(tiny.num_cells(), 50);
    std::fill(points.x.begin(), points.x.end(), 2.0f);
    std::fill(points.y.begin(), points.y.end(), 2.0f);
    std::fill(points.z.begin(), points.z.end(), 2.0f);
    const PointGrid one(points.x, points.y, points.z, 0.0);
    EXPECT_EQ(one.num_cells(), 1);
    EXPECT_EQ(one.places(0).end, 50);
    const PointGrid none({}, {}, {}, 1.0);
    EXPECT_EQ(none.num_cells(), 0);
}

}  // namespace
}  // namespace pliant
