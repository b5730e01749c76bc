#include "pliant/field/distance_grid.h"

#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/error.h"
#include "pliant/core/simd.h"
#include "tests/field/sampled_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <numbers>

namespace pliant {
namespace {

using Eigen::Vector3d;
using grid_test::frame_of;
using grid_test::Points;
using grid_test::sample_dense;
using test::input_error;
using ::testing::HasSubstr;

constexpr double kEps = std::numeric_limits<float>::epsilon();
constexpr float kFloatInfinity = std::numeric_limits<float>::infinity();
constexpr float kFloatNan = std::numeric_limits<float>::quiet_NaN();

/// The obvious way: eight values, eight weights, double precision.
double plain_trilinear(const DistanceGrid& grid, const Vector3d& p) {
    const GridFrame& frame = grid.frame();
    const GridArrays& a = grid.arrays();
    const auto at = [](int i) { return static_cast<std::size_t>(i); };
    const Vector3d u = (p - frame.low) / frame.cell;
    int cell[3], block[3];
    for (int axis = 0; axis < 3; ++axis) {
        cell[axis] =
            std::clamp(static_cast<int>(std::floor(u[axis])), 0, frame.cells[at(axis)] - 1);
        block[axis] = cell[axis] / 8;
    }
    const int step = a.storage == GridStorage::Dense ? 1 : 8;
    const int nx = frame.cells[0] / step, ny = frame.cells[1] / step;
    const bool is_sparse = a.storage == GridStorage::Sparse;
    const int brick =
        is_sparse ? a.brick_of_block[at((block[2] * ny + block[1]) * nx + block[0])] : -1;
    const double size = is_sparse && brick < 0 ? 8 : 1;
    const int* base = size == 8 ? block : cell;
    double value = 0;
    for (int corner = 0; corner < 8; ++corner) {
        double weight = 1;
        int v[3];
        for (int axis = 0; axis < 3; ++axis) {
            const int bit = corner >> axis & 1;
            const double t = u[axis] / size - base[axis];
            v[axis] = base[axis] + bit;
            weight *= bit == 1 ? t : 1 - t;
        }
        const float* values = a.coarse.data();
        std::size_t index = at((v[2] * (ny + 1) + v[1]) * (nx + 1) + v[0]);
        if (brick >= 0) {
            values = a.bricks.data() + at(brick) * kBrickFloats;
            index = at(((v[2] - 8 * block[2]) * 9 + v[1] - 8 * block[1]) * 9 + v[0] - 8 * block[0]);
        }
        value += weight * double{values[index]};
    }
    return value;
}

/// Coordinates in cells are rounded to single precision, and values change by √3 per length.
double rounding(const GridFrame& frame) {
    const double reach = (frame.low.cwiseAbs() + frame.box().sizes()).maxCoeff();
    return 8 * kEps * reach * std::numbers::sqrt3;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Inside, on the faces, outside, far away and nowhere.
Points mixed_points(const GridFrame& frame) {
    const Box box = frame.box();
    Points points = grid_test::random_points(box, 300, 5);
    const Points outside =
        grid_test::random_points({box.min() - box.sizes(), box.max() + box.sizes()}, 150, 6);
    for (std::size_t i = 0; i < outside.x.size(); ++i) points.add(outside.point(i));
    for (const float value : {kFloatNan, kFloatInfinity, -kFloatInfinity, 1e30f, -3e38f}) {
        points.add({value, box.center().y(), box.center().z()});
        points.add({box.center().x(), value, box.center().z()});
        points.add({box.center().x(), box.center().y(), value});
        points.add({value, value, value});
    }
    // so that neighbours in a vector differ
    std::mt19937 random(8);
    for (std::size_t i = points.x.size() - 1; i > 0; --i) {
        const std::size_t other = random() % (i + 1);
        std::swap(points.x[i], points.x[other]);
        std::swap(points.y[i], points.y[other]);
        std::swap(points.z[i], points.z[other]);
    }
    return points;
}

TEST(DistanceGrid, EqualsThePlainTrilinearFormulaOnEveryTarget) {
    const grid_test::SpikyGrids s;
    Points points = grid_test::random_points(s.frame.box(), 3001, 1);
    for (int corner = 0; corner < 8; ++corner) {
        const Box box = s.frame.box();
        points.add(box.corner(static_cast<Box::CornerType>(corner)));
    }
    for (const std::string& target : simd_targets()) {
        const ScopedSimdTarget scope(target);
        for (const DistanceGrid* grid : {&s.dense, &s.sparse}) {
            points.ask_distances(*grid);
            const std::vector<float> distances = points.distance;
            points.ask_samples(*grid);
            EXPECT_TRUE(same_bits(distances, points.distance)) << target;
            for (std::size_t i = 0; i < points.x.size(); ++i)
                ASSERT_NEAR(distances[i], plain_trilinear(*grid, points.point(i)),
                            rounding(s.frame))
                    << target << " point " << i;
        }
    }
}

TEST(DistanceGrid, WorksInBoxesOfUnequalSides) {
    GridFrame frame = frame_of(8);
    frame.cells = {24, 8, 40};
    const grid_test::Solid solid = grid_test::ball(frame.box().center(), 2 * frame.cell);
    const DistanceGrid dense = sample_dense(frame, solid, frame.cell);
    const DistanceGrid sparse = DistanceGrid::sparse(dense, frame.cell);
    EXPECT_GT(sparse.num_bricks(), 0);
    EXPECT_LT(sparse.num_bricks(), 15);
    Points points = grid_test::random_points(frame.box(), 500, 2);
    for (const DistanceGrid* grid : {&dense, &sparse}) {
        points.ask_distances(*grid);
        for (std::size_t i = 0; i < points.x.size(); ++i)
            ASSERT_NEAR(points.distance[i], plain_trilinear(*grid, points.point(i)),
                        rounding(frame));
    }
}

TEST(DistanceGrid, AnswersDoNotDependOnLaneOrBatch) {
    const grid_test::SpikyGrids s;
    Points all = mixed_points(s.frame);
    for (const std::string& target : simd_targets()) {
        const ScopedSimdTarget scope(target);
        for (const DistanceGrid* grid : {&s.dense, &s.sparse}) {
            all.ask_samples(*grid);
            for (const int size : {1, 2, 3, 5, 7, 16, 19}) {
                Points parts = all;
                parts.make_room();
                for (int begin = 0; begin < all.count(); begin += size) {
                    const int count = std::min(size, all.count() - begin);
                    parts.distance[static_cast<std::size_t>(begin)] = 0;
                    grid->samples(all.batch(begin, count),
                                  {parts.distance.data() + begin, parts.gx.data() + begin,
                                   parts.gy.data() + begin, parts.gz.data() + begin});
                }
                EXPECT_TRUE(same_bits(parts.distance, all.distance)) << target << " " << size;
                EXPECT_TRUE(same_bits(parts.gx, all.gx)) << target << " " << size;
                EXPECT_TRUE(same_bits(parts.gy, all.gy)) << target << " " << size;
                EXPECT_TRUE(same_bits(parts.gz, all.gz)) << target << " " << size;
            }
        }
    }
}

TEST(DistanceGrid, SinglePointsGiveTheBitsOfABatch) {
    const grid_test::SpikyGrids s;
    Points points = mixed_points(s.frame);
    points.ask_samples(s.sparse);
    for (std::size_t i = 0; i < points.x.size(); ++i) {
        const DistanceSample sample = s.sparse.sample(points.point(i));
        EXPECT_EQ(s.sparse.distance(points.point(i)), points.distance[i]);
        EXPECT_EQ(sample.distance, double{points.distance[i]});
        EXPECT_EQ(sample.gradient, points.gradient(i));
    }
}

TEST(DistanceGrid, SparseValuesInTheBandAreThoseOfTheDenseGridBitForBit) {
    const grid_test::SpikyGrids s;
    const auto band = static_cast<float>(2 * s.frame.cell);
    Points points = grid_test::random_points(grid_test::middle(s.frame), 200000, 3), same = points;
    for (const std::string& target : simd_targets()) {
        const ScopedSimdTarget scope(target);
        points.ask_samples(s.dense);
        same.ask_samples(s.sparse);
        int num_in_band = 0;
        for (std::size_t i = 0; i < points.x.size(); ++i) {
            ASSERT_EQ(std::signbit(points.distance[i]), std::signbit(same.distance[i]));
            if (std::abs(points.distance[i]) > band) {
                ASSERT_GT(std::abs(same.distance[i]), band);
                continue;
            }
            ++num_in_band;
            ASSERT_EQ(points.distance[i], same.distance[i]) << target;
            ASSERT_EQ(points.gradient(i), same.gradient(i)) << target;
        }
        EXPECT_GT(num_in_band, 5000);
    }
}

TEST(DistanceGrid, SparseStorageKeepsBricksNearTheSurfaceOnly) {
    const grid_test::SpikyGrids s;
    EXPECT_GT(s.sparse.num_bricks(), 50);
    EXPECT_LT(s.sparse.num_bricks(), 300);  // of 512
    EXPECT_EQ(s.sparse.memory(),
              static_cast<std::size_t>(s.sparse.num_bricks()) * 736 * 4 + 9 * 9 * 9 * 4 + 512 * 4);
    EXPECT_EQ(s.dense.memory(), 65u * 65u * 65u * 4u);
    EXPECT_EQ(s.dense.num_bricks(), 0);
}

TEST(DistanceGrid, ContinuousAlongRandomPaths) {
    const grid_test::SpikyGrids s;
    // 16 steps in each of many short paths, 1/200 cell long
    const double step = s.frame.cell / 200;
    std::mt19937 random(4);
    std::normal_distribution<double> normal;
    Points starts = grid_test::random_points(s.frame.box(), 40000, 5);
    // half of them begin beside a face between blocks
    for (std::size_t i = 0; i < starts.x.size(); i += 2) {
        std::vector<float>* axes[] = {&starts.x, &starts.y, &starts.z};
        float& coordinate = (*axes[i / 2 % 3])[i];
        const double low = s.frame.low[static_cast<Eigen::Index>(i / 2 % 3)];
        const double block = 8 * s.frame.cell;
        coordinate =
            static_cast<float>(low + block * std::round((coordinate - low) / block) - 8 * step);
    }
    Points points;
    for (std::size_t i = 0; i < starts.x.size(); ++i) {
        const Vector3d way =
            Vector3d(normal(random), normal(random), normal(random)).cwiseAbs().normalized();
        for (int k = 0; k < 16; ++k) points.add(starts.point(i) + k * step * way);
    }
    points.ask_distances(s.sparse);
    // gradients of distances are not longer than √3; cells that join bricks with coarse blocks are
    // steeper, but nowhere is there a jump of a good part of a cell
    const double largest = 6 * step + 2 * rounding(s.frame);
    int num_inside = 0;
    for (std::size_t i = 1; i < points.x.size(); ++i) {
        if (i % 16 == 0) continue;
        const Box box = s.frame.box();
        if (!box.contains(points.point(i)) || !box.contains(points.point(i - 1))) continue;
        ++num_inside;
        ASSERT_LT(std::abs(points.distance[i] - points.distance[i - 1]), largest) << i;
    }
    EXPECT_GT(num_inside, 400000);
}

TEST(DistanceGrid, GradientIsThatOfTheInterpolatedFunction) {
    const grid_test::SpikyGrids s;
    std::mt19937 random(6);
    std::uniform_real_distribution<double> uniform(0.2, 0.8);
    for (const DistanceGrid* grid : {&s.dense, &s.sparse}) {
        for (int trial = 0; trial < 2000; ++trial) {
            // away from the faces of its cell
            const Vector3d p =
                s.frame.vertex(static_cast<int>(random() % 64), static_cast<int>(random() % 64),
                               static_cast<int>(random() % 64)) +
                s.frame.cell * Vector3d(uniform(random), uniform(random), uniform(random));
            const DistanceSample sample = grid->sample(p);
            for (int axis = 0; axis < 3; ++axis) {
                // linear along each axis: any step inside the cell does
                const Vector3d step = 0.2 * s.frame.cell * Vector3d::Unit(axis);
                const double slope =
                    (plain_trilinear(*grid, p + step) - plain_trilinear(*grid, p - step)) /
                    (0.4 * s.frame.cell);
                ASSERT_NEAR(sample.gradient[axis], slope, 1e-3);
            }
        }
    }
}

TEST(DistanceGrid, OutsideBoundGrowsAndNeverExceedsTheTrueDistance) {
    const GridFrame frame = frame_of(32);
    const Box box = frame.box();
    const Vector3d c = box.center();
    const double h = frame.cell;
    const Vector3d to_side(14 * h, 0, 0);
    struct Case {
        grid_test::Solid solid;
        double boundary;  ///< exact
    };
    // the last two reach the faces
    const std::vector<Case> cases = {
        {grid_test::ball(c, 10 * h), 6 * h},
        {grid_test::ball(c + to_side, 1.5 * h), 0.5 * h},
        {grid_test::box(c, {12 * h, 3 * h, 3 * h}), 4 * h},
        {grid_test::join({grid_test::ball(c, 2 * h), grid_test::capsule(c, c + to_side, h)}), h},
        {grid_test::ball(c + to_side, 2 * h), 0},
        {grid_test::box(c, {16 * h, 16 * h, 16 * h}), 0},
    };
    for (const Case& the_case : cases) {
        const DistanceGrid dense = sample_dense(frame, the_case.solid, the_case.boundary);
        const DistanceGrid sparse = DistanceGrid::sparse(dense, h);
        for (const double reach : {1e-4, 0.1, 1.0, 1e3, 1e9}) {
            const Vector3d more = Vector3d::Constant(reach * box.sizes().x());
            Points points = grid_test::random_points({box.min() - more, box.max() + more}, 4000, 7);
            points.ask_distances(dense);
            const std::vector<float> of_dense = points.distance;
            points.ask_samples(sparse);
            for (std::size_t i = 0; i < points.x.size(); ++i) {
                const Vector3d p = points.point(i);
                const double way = box.exteriorDistance(p);
                if (way < 1e-5) continue;
                ASSERT_LE(points.distance[i], the_case.solid(p)) << reach;
                ASSERT_EQ(points.distance[i], of_dense[i]);
                ASSERT_NEAR(points.distance[i], way + the_case.boundary,
                            4e-6 * way + 2 * rounding(frame));
                const Vector3d outward =
                    (p - p.cwiseMax(box.min()).cwiseMin(box.max())).normalized();
                ASSERT_LT((points.gradient(i) - outward).norm(), 1e-5 + 1e-6 / way);
            }
        }
    }
}

TEST(DistanceGrid, FacesOfTheBoxAreInside) {
    const grid_test::SpikyGrids s;
    const Box box = s.frame.box();
    Points points = grid_test::random_points(box, 3000, 9);
    for (std::size_t i = 0; i < points.x.size(); ++i) {
        std::vector<float>* axes[] = {&points.x, &points.y, &points.z};
        const auto axis = static_cast<Eigen::Index>(i % 3);
        (*axes[axis])[i] = static_cast<float>(i % 2 == 0 ? box.min()[axis] : box.max()[axis]);
    }
    for (const DistanceGrid* grid : {&s.dense, &s.sparse}) {
        points.ask_distances(*grid);
        for (std::size_t i = 0; i < points.x.size(); ++i)
            ASSERT_NEAR(points.distance[i], plain_trilinear(*grid, points.point(i)),
                        rounding(s.frame));
    }
}

TEST(DistanceGrid, PointsThatAreNoNumbersAreInfinitelyFarOutside) {
    const grid_test::SpikyGrids s;
    const Vector3d c = s.frame.box().center();
    for (const std::string& target : simd_targets()) {
        const ScopedSimdTarget scope(target);
        Points points;
        for (int i = 0; i < 20; ++i)
            for (const float value : {kFloatNan, kFloatInfinity, -kFloatInfinity}) {
                Vector3d p = c;
                p[i % 3] = value;
                points.add(p);
                points.add(c);
            }
        for (const DistanceGrid* grid : {&s.dense, &s.sparse}) {
            points.ask_samples(*grid);
            for (std::size_t i = 0; i < points.x.size(); ++i) {
                if (i % 2 == 0) {
                    ASSERT_EQ(points.distance[i], kFloatInfinity) << target;
                    ASSERT_EQ(points.gradient(i), Vector3d::Zero());
                } else {
                    ASSERT_LT(points.distance[i], 0) << target;
                }
            }
        }
        // finite points have finite answers, however far they are
        for (const double far : {1e20, -1e37, 3e38}) {
            const DistanceSample sample = s.sparse.sample({far, far, 0});
            EXPECT_TRUE(std::isfinite(sample.distance)) << target;
            EXPECT_GT(sample.distance, 1e15) << target;
            EXPECT_NEAR(sample.gradient.norm(), 1, 1e-5) << target;
        }
    }
}

TEST(DistanceGrid, CopiesShareTheirDataAndLookUpsAllocateNothing) {
    const grid_test::SpikyGrids s;
    const DistanceGrid copy = s.sparse;
    EXPECT_EQ(copy.arrays().bricks.data(), s.sparse.arrays().bricks.data());
    Points points = mixed_points(s.frame);
    points.make_room();
    const SampleBatch answers = {points.distance.data(), points.gx.data(), points.gy.data(),
                                 points.gz.data()};
    const AllocationGuard guard;
    for (const DistanceGrid* grid : {&s.dense, &copy}) {
        grid->distances(points.batch(0, points.count()), points.distance.data());
        grid->samples(points.batch(0, points.count()), answers);
        static_cast<void>(grid->sample({0, 0.3, 0.7}));
    }
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    s.sparse.distances({nullptr, nullptr, nullptr, 0}, nullptr);
}

TEST(DistanceGrid, RefusesWhatDoesNotFitTogether) {
    const grid_test::SpikyGrids s;
    const auto dense = [](GridFrame frame, std::size_t size, float value, float boundary) {
        return input_error([&] {
            static_cast<void>(
                DistanceGrid::dense(frame, std::vector<float>(size, value), boundary));
        });
    };
    const GridFrame frame = frame_of(8);
    EXPECT_EQ(dense(frame, 729, 1, 1), "");
    EXPECT_THAT(dense(frame, 728, 1, 1), HasSubstr("coarse, length = 728 (expected 729"));
    EXPECT_THAT(dense(frame, 729, kFloatNan, 1), HasSubstr("coarse[0] = nan"));
    EXPECT_THAT(dense(frame, 729, kFloatInfinity, 1), HasSubstr("a finite distance"));
    EXPECT_THAT(dense(frame, 729, 1, kFloatNan), HasSubstr("boundary = nan"));
    GridFrame bad = frame;
    bad.cells[1] = 12;
    EXPECT_THAT(dense(bad, 729, 1, 1), HasSubstr("frame.cells = 12 (expected a multiple of 8"));
    bad = frame;
    bad.cell = 0;
    EXPECT_THAT(dense(bad, 729, 1, 1), HasSubstr("frame.cell = 0"));
    bad = frame;
    bad.low.x() = kFloatNan;
    EXPECT_THAT(dense(bad, 729, 1, 1), HasSubstr("frame.low"));

    const auto changed = [&](const std::function<void(GridArrays&)>& change) {
        GridArrays arrays = s.sparse.arrays();
        change(arrays);
        return input_error([&] { static_cast<void>(DistanceGrid(arrays, nullptr)); });
    };
    EXPECT_EQ(changed([](GridArrays&) {}), "");
    std::vector<int> bricks(512, -1);
    bricks[77] = s.sparse.num_bricks();
    EXPECT_THAT(changed([&](GridArrays& a) { a.brick_of_block = bricks; }),
                HasSubstr("brick_of_block[77] = " + std::to_string(s.sparse.num_bricks())));
    bricks[77] = -2;
    EXPECT_THAT(changed([&](GridArrays& a) { a.brick_of_block = bricks; }),
                HasSubstr("brick_of_block[77] = -2"));
    EXPECT_THAT(changed([](GridArrays& a) { a.brick_of_block = {}; }),
                HasSubstr("brick_of_block, length = 0 (expected 512"));
    EXPECT_THAT(changed([](GridArrays& a) { a.bricks = a.bricks.first(700); }),
                HasSubstr("a multiple of 736"));
    EXPECT_THAT(changed([](GridArrays& a) { a.coarse = a.coarse.first(9); }),
                HasSubstr("coarse, length = 9 (expected 729"));
    EXPECT_THAT(changed([](GridArrays& a) { a.margin.near = -1; }), HasSubstr("margin"));
    EXPECT_THAT(changed([](GridArrays& a) { a.margin.far = kFloatNan; }), HasSubstr("margin"));
    EXPECT_THAT(changed([](GridArrays& a) { a.storage = GridStorage::Dense; }),
                HasSubstr("coarse, length"));
    std::vector<float> values(s.sparse.arrays().bricks.begin(), s.sparse.arrays().bricks.end());
    values[5000] = kFloatNan;
    EXPECT_THAT(changed([&](GridArrays& a) { a.bricks = values; }),
                HasSubstr("bricks[5000] = nan"));

    EXPECT_THAT(input_error([&] { static_cast<void>(DistanceGrid::sparse(s.sparse, 0.1)); }),
                HasSubstr("a dense grid"));
    EXPECT_THAT(input_error([&] { static_cast<void>(DistanceGrid::sparse(s.dense, 0)); }),
                HasSubstr("band = 0"));
}

TEST(DistanceGrid, RefusesMoreVerticesThanItCanCount) {
    GridFrame frame;
    frame.cells = {2048, 1024, 1024};
    GridArrays arrays;
    arrays.frame = frame;
    arrays.storage = GridStorage::Dense;
    // never read: the length is refused first
    static const float one = 1;
    arrays.coarse = {&one, std::size_t{2049} * 1025 * 1025};
    EXPECT_THAT(input_error([&] { static_cast<void>(DistanceGrid(arrays, nullptr)); }),
                HasSubstr("at most 2147483647; use larger cells"));
}

}  // namespace
}  // namespace pliant
