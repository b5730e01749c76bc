#include "pliant/contact/coplanarity.h"

#include "geometry/closest_on_triangle.h"

#include <gtest/gtest.h>

#include <random>

namespace pliant {
namespace {

Corners random_corners(std::mt19937& random) {
    std::normal_distribution<double> normal;
    const auto point = [&] {
        return Eigen::Vector3d(normal(random), normal(random), normal(random));
    };
    return {point(), point(), point()};
}

TEST(Coplanarity, IsThePlaneEquationAtEveryTime) {
    std::mt19937 random(1);
    for (int i = 0; i < 1000; ++i) {
        const Corners start = random_corners(random), end = random_corners(random);
        const Eigen::Vector3d x = random_corners(random).a;
        const Coplanarity f = coplanarity(x, start, end);
        for (const double s : {0.0, 0.3, 0.77, 1.0}) {
            const Corners t{start.a + s * (end.a - start.a), start.b + s * (end.b - start.b),
                            start.c + s * (end.c - start.c)};
            EXPECT_NEAR(f(s), (x - t.a).dot(t.area_vector()), 1e-13 * f.scale);
        }
    }
}

TEST(Coplanarity, RigidTranslationIsLinear) {
    std::mt19937 random(2);
    const Corners start = random_corners(random);
    const Eigen::Vector3d d(0.3, -0.2, 0.5);
    const Coplanarity f =
        coplanarity(Eigen::Vector3d(1, 2, 3), start, {start.a + d, start.b + d, start.c + d});
    EXPECT_NEAR(f.k[2], 0, 1e-15 * f.scale);
    EXPECT_NEAR(f.k[3], 0, 1e-15 * f.scale);
    EXPECT_GT(std::abs(f.k[1]), 0.01);
}

TEST(FallingRoots, AreAllThatDenseSamplingFinds) {
    std::mt19937 random(3);
    constexpr int kSamples = 500;
    int found = 0, double_falls = 0;
    for (int i = 0; i < 20'000; ++i) {
        const Corners start = random_corners(random), end = random_corners(random);
        const Coplanarity f = coplanarity(0.3 * random_corners(random).a, start, end);
        std::array<double, 3> roots;
        const int count = falling_roots(f, roots);
        for (int k = 0; k < count; ++k) {
            const double s = roots[static_cast<std::size_t>(k)];
            EXPECT_NEAR(f(s), 0, 1e-13 * f.scale);
            if (k > 0) EXPECT_GT(s, roots[static_cast<std::size_t>(k - 1)]);
        }
        // every fall between two samples has its root there
        int falls = 0;
        for (int k = 0; k < kSamples; ++k) {
            const double low = double(k) / kSamples, high = double(k + 1) / kSamples;
            if (!(f(low) > 0 && f(high) < 0)) continue;
            falls += 1;
            EXPECT_TRUE(std::any_of(roots.begin(), roots.begin() + count,
                                    [&](double s) { return s >= low && s <= high; }))
                << "case " << i;
        }
        EXPECT_GE(count, falls);
        found += count;
        double_falls += count > 1;
    }
    EXPECT_GT(found, 2000);
    EXPECT_GT(double_falls, 20) << "cubics with two falls must be among the samples";
}

TEST(FallingRoots, OfAMillionMotionsNoneIsMissed) {
    std::mt19937 random(8);
    constexpr int kSamples = 40;
    int falls = 0, missed = 0;
    for (int i = 0; i < 1'000'000; ++i) {
        const Coplanarity f = coplanarity(0.3 * random_corners(random).a, random_corners(random),
                                          random_corners(random));
        std::array<double, 3> roots;
        const int count = falling_roots(f, roots);
        double before = f(0);
        for (int k = 1; k <= kSamples; ++k) {
            const double low = double(k - 1) / kSamples, high = double(k) / kSamples;
            const double after = f(high);
            if (before > 0 && after < 0) {
                falls += 1;
                missed += std::none_of(roots.begin(), roots.begin() + count,
                                       [&](double s) { return s >= low && s <= high; });
            }
            before = after;
        }
    }
    EXPECT_GT(falls, 100'000);
    EXPECT_EQ(missed, 0);
}

TEST(FallingRoots, RisingAndTouchingDoNotCount) {
    std::array<double, 3> roots;
    EXPECT_EQ(falling_roots({{-0.5, 1, 0, 0}, 1}, roots), 0);
    EXPECT_EQ(falling_roots({{0.25, -1, 1, 0}, 1}, roots), 0) << "(s − ½)²";
    ASSERT_EQ(falling_roots({{0.5, -1, 0, 0}, 1}, roots), 1);
    EXPECT_NEAR(roots[0], 0.5, 1e-14);
    // 1/8 − s³ has its inflexion at the start, (½ − s)³ its triple root in the middle
    ASSERT_EQ(falling_roots({{0.125, 0, 0, -1}, 1}, roots), 1);
    EXPECT_NEAR(roots[0], 0.5, 1e-12);
    ASSERT_EQ(falling_roots({{0.125, -0.75, 1.5, -1}, 1}, roots), 1);
    EXPECT_NEAR(roots[0], 0.5, 1e-4);
}

TEST(FallingRoots, AreNoneForATriangleThatSlidesInItsPlaneThroughThePoint) {
    const Corners start{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, end{{2, 1, 0}, {3, 1, 0}, {2, 2, 0}};
    std::array<double, 3> roots;
    EXPECT_EQ(falling_roots(coplanarity({1.1, 0.6, 0}, start, end), roots), 0);
    const Corners point{{0, 0, 1}, {0, 0, 1}, {0, 0, 1}};
    EXPECT_EQ(falling_roots(coplanarity({0, 0, 0}, point, point), roots), 0);
}

}  // namespace
}  // namespace pliant
