#include "contact/repulsion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "contact/shell_samples.h"
#include "contact/surface_samples.h"

namespace pliant {
namespace {

constexpr float kEps = 2e-5f;

PointArrays points_on(const test::ShellSample& body, int count, unsigned seed = 5) {
    std::mt19937_64 random(seed);
    PointArrays points = stratified_samples(body.surface, count, random);
    std::vector<char> is_there;
    project_to_surface(body.field, kEps, points, is_there);
    EXPECT_EQ(std::count(is_there.begin(), is_there.end(), 1), count);
    return points;
}

Eigen::Vector3f position(const PointArrays& p, std::size_t i) { return {p.x[i], p.y[i], p.z[i]}; }
Eigen::Vector3f normal(const PointArrays& p, std::size_t i) { return {p.nx[i], p.ny[i], p.nz[i]}; }

TEST(Projection, ArrivesOnTheSurfaceAlongTheGradient) {
    const test::ShellSample sphere = test::unit_sphere();
    const PointArrays points = points_on(sphere, 2000);
    for (std::size_t i = 0; i < points.x.size(); ++i) {
        const DistanceSample at = sphere.field.sample(position(points, i).cast<double>());
        EXPECT_LT(std::abs(at.distance), double{kEps});
        EXPECT_NEAR((normal(points, i).cast<double>() - at.gradient.normalized()).norm(), 0, 1e-5);
    }
}

TEST(Projection, PointsThatFindNoSurfaceStay) {
    // distances that are positive everywhere
    const DistanceGrid field =
        test::sampled_field([](const Eigen::Vector3d& x) { return x.squaredNorm() + 0.2; },
                            Box(Eigen::Vector3d::Constant(-1), Eigen::Vector3d::Constant(1)), 16);
    PointArrays points;
    points.resize(3);
    points.x = {0.1f, 0.5f, -0.7f};
    const std::vector<float> before = points.x;
    std::vector<char> is_there;
    project_to_surface(field, kEps, points, is_there);
    EXPECT_EQ(points.x, before);
    EXPECT_EQ(is_there, std::vector<char>(3, 0));
}

TEST(Repulsion, FacesOfASheetDoNotPushEachOtherButSidesOfAnEdgeDo) {
    EXPECT_EQ(side_weight(-1), 0);
    EXPECT_EQ(side_weight(-0.81f), 0);
    EXPECT_NEAR(side_weight(-0.5f), 0.5, 1e-6);
    EXPECT_EQ(side_weight(0), 1);
    EXPECT_EQ(side_weight(1), 1);
    EXPECT_TRUE(is_same_side(0));
    EXPECT_FALSE(is_same_side(-0.6f));
}

TEST(Repulsion, OneMoveEqualsTheSumOverAllPairs) {
    const test::ShellSample torus = test::torus();
    const int count = 600, frozen = 150;
    PointArrays points = points_on(torus, count);
    const PointArrays before = points;
    Repulsion repulsion;
    repulsion.spacing = 0.16;
    repulsion.radius = 2.2 * repulsion.spacing;
    repulsion.step = 0.01 * repulsion.spacing;
    repulsion.max_iterations = 1;
    repulsion.eps = kEps;
    EXPECT_EQ(repel(points, frozen, torus.field, repulsion, Progress::none()).iterations, 1);
    for (std::size_t a = 0; a < points.x.size(); ++a) {
        Eigen::Vector3d push = Eigen::Vector3d::Zero();
        for (std::size_t b = 0; b < points.x.size(); ++b) {
            const Eigen::Vector3d away = (position(before, a) - position(before, b)).cast<double>();
            const double u = away.norm() / repulsion.radius;
            if (a == b || u >= 1) continue;
            const double weight = double{side_weight(normal(before, a).dot(normal(before, b)))};
            push += weight * (2 * u * u * u - 3 * u * u + 1) * away.normalized();
        }
        const Eigen::Vector3d n = normal(before, a).cast<double>();
        Eigen::Vector3d move = repulsion.step * (push - push.dot(n) * n);
        if (a < static_cast<std::size_t>(frozen)) move.setZero();
        const Eigen::Vector3d moved = (position(points, a) - position(before, a)).cast<double>();
        // the way back to the surface is of second order, 0.5 |move|² / 0.4, and the normals of the
        // interpolated field are off by 2 %
        EXPECT_NEAR((moved - move).norm(), 0, 0.05 * move.norm() + 4 * double{kEps}) << a;
    }
}

TEST(FillGaps, NewPointsKeepAwayFromOldOnes) {
    const test::ShellSample sphere = test::unit_sphere();
    std::mt19937_64 random(11);
    PointArrays points = points_on(sphere, 50, 1);
    const double spacing = std::sqrt(2 * 12.566 / (std::sqrt(3.0) * 400));
    fill_gaps(points, points_on(sphere, 1750, 2), 350, spacing, random);
    ASSERT_EQ(points.size(), 400);
    double nearest = 1;
    for (std::size_t a = 50; a < 400; ++a)
        for (std::size_t b = 0; b < a; ++b)
            nearest = std::min(nearest, double{(position(points, a) - position(points, b)).norm()});
    // a random set of this size has pairs nearer than 0.05 spacings
    EXPECT_GT(nearest, 0.55 * spacing);
    // no more candidates than needed: all are taken, also copies
    PointArrays copies = points_on(sphere, 20);
    for (int i = 0; i < 20; ++i) copies.push_back(copies, i);
    PointArrays taken;
    fill_gaps(taken, copies, 40, spacing, random);
    EXPECT_EQ(taken.size(), 40);
}

}  // namespace
}  // namespace pliant
