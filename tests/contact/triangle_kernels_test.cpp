#include "contact/triangle_kernels.h"

#include "geometry/closest_on_triangle.h"
#include "pliant/contact/surface_neighbourhood.h"
#include "pliant/core/simd.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Triangles about a place, from tiny to larger than the sphere, some of them slivers.
struct Scattered {
    explicit Scattered(unsigned seed) : random(seed) {
        for (int t = 0; t < kCount; ++t) {
            const Vector3d middle = 0.012 * some();
            const double size = 0.0005 * std::pow(40, unit());
            Corners c{middle + size * some(), middle + size * some(), middle + size * some()};
            if (t % 7 == 0) c.c = c.a + unit() * (c.b - c.a) + 1e-6 * size * some();
            double x[9];
            for (int k = 0; k < 3; ++k) {
                x[k] = c.a[k];
                x[3 + k] = c.b[k];
                x[6 + k] = c.c[k];
            }
            patch.add(0, t, x, x);
        }
    }
    Vector3d some() { return {2 * unit() - 1, 2 * unit() - 1, 2 * unit() - 1}; }
    double unit() { return uniform(random); }

    static constexpr int kCount = 101;
    std::mt19937 random;
    std::uniform_real_distribution<double> uniform{0, 1};
    TrianglePatch patch{kCount};
};

double distance(const TrianglePatch& patch, int i, const Vector3d& p) {
    const Corners t = patch.end(i);
    return std::sqrt(detail::nearest_on_triangle(p, t.a, t.b, t.c).distance_squared);
}

TEST(TriangleKernels, ReachedAreAllThatComeWithinTheRadiusOnEveryTarget) {
    for (const std::string& target : simd_targets()) {
        SCOPED_TRACE(target);
        const ScopedSimdTarget scope(target);
        int touched = 0, listed = 0, tried = 0;
        for (unsigned seed = 0; seed < 120; ++seed) {
            Scattered scattered(seed);
            const TrianglePatch& patch = scattered.patch;
            const Vector3d p = 0.006 * scattered.some(), d = 0.004 * scattered.some();
            const double rho = 0.001 + 0.004 * scattered.unit();
            std::vector<int> found(Scattered::kCount);
            const int count =
                find_reached(patch.blocks(), patch.size(), p.data(), d.data(), rho, found.data());
            const std::set<int> reached(found.begin(), found.begin() + count);
            EXPECT_EQ(static_cast<int>(reached.size()), count) << "listed twice";
            for (int i = 0; i < patch.size(); ++i) {
                double least = 1;
                for (int k = 0; k <= 50; ++k)
                    least = std::min(least, distance(patch, i, p + k / 50.0 * d));
                if (least < rho) {
                    EXPECT_TRUE(reached.count(i)) << "triangle " << i << " is missing";
                    touched += 1;
                }
            }
            listed += count;
            tried += patch.size();
        }
        EXPECT_GT(touched, 500);
        // two directions are tried for each: some that are not touched stay, most go
        EXPECT_LT(listed, touched + (tried - touched) / 4);
    }
}

TEST(TriangleKernels, SpheresThatSlideAlongAPlaneReachNoneOfIt) {
    TrianglePatch patch(2);
    const double one[9] = {-1, -1, 0, 1, -1, 0, 1, 1, 0}, two[9] = {-1, -1, 0, 1, 1, 0, -1, 1, 0};
    patch.add(0, 0, one, one);
    patch.add(0, 1, two, two);
    const Vector3d p(0.1, 0.2, 0.005), along(0.3, -0.2, 0), down(0.3, -0.2, -1e-4);
    int found[2];
    EXPECT_EQ(find_reached(patch.blocks(), 2, p.data(), along.data(), 0.999 * 0.005, found), 0);
    EXPECT_EQ(find_reached(patch.blocks(), 2, p.data(), down.data(), 0.999 * 0.005, found), 2);
}

TEST(TriangleKernels, InTheWayAreAllFacesThatAWayCrossesOnEveryTarget) {
    for (const std::string& target : simd_targets()) {
        SCOPED_TRACE(target);
        const ScopedSimdTarget scope(target);
        int crossed = 0, listed = 0;
        for (unsigned seed = 0; seed < 500; ++seed) {
            Scattered scattered(seed);
            const TrianglePatch& patch = scattered.patch;
            const Vector3d p = 0.006 * scattered.some(), d = scattered.some().normalized();
            const double length = 0.01 * scattered.unit();
            std::vector<int> found(Scattered::kCount);
            const int count =
                find_in_way(patch.blocks(), patch.size(), p.data(), d.data(), length, found.data());
            const std::set<int> in_way(found.begin(), found.begin() + count);
            for (int i = 0; i < patch.size(); ++i) {
                // by volumes: the ends on both sides, the line between all three sides
                const Corners t = patch.end(i);
                const auto volume = [](const Vector3d& a, const Vector3d& b, const Vector3d& c) {
                    return a.dot(b.cross(c));
                };
                const Vector3d q = p + length * d;
                const double above = volume(t.a - p, t.b - p, t.c - p),
                             below = volume(t.a - q, t.b - q, t.c - q);
                if (!(above < 0 && below > 0)) continue;  // from the front
                const double ab = volume(t.a - p, t.b - p, d), bc = volume(t.b - p, t.c - p, d),
                             ca = volume(t.c - p, t.a - p, d);
                if (!((ab > 0 && bc > 0 && ca > 0) || (ab < 0 && bc < 0 && ca < 0))) continue;
                EXPECT_TRUE(in_way.count(i)) << "triangle " << i << " is missing";
                crossed += 1;
            }
            listed += count;
        }
        EXPECT_GT(crossed, 100);
        EXPECT_LT(listed, 500 * Scattered::kCount / 2);
    }
}

TEST(TriangleKernels, DistancesAreThoseOfOneAfterTheOtherOnEveryTarget) {
    for (const std::string& target : simd_targets()) {
        SCOPED_TRACE(target);
        const ScopedSimdTarget scope(target);
        Scattered scattered(3);
        const TrianglePatch& patch = scattered.patch;
        std::vector<double> squares(Scattered::kCount + TriangleBlock::kSize);
        for (int trial = 0; trial < 20; ++trial) {
            const Vector3d p = 0.02 * scattered.some();
            measure_distances(patch.blocks(), patch.size(), p.data(), squares.data());
            for (int i = 0; i < patch.size(); ++i)
                EXPECT_NEAR(std::sqrt(squares[static_cast<std::size_t>(i)]), distance(patch, i, p),
                            i % 7 == 0 ? 1e-6 : 1e-10);
        }
    }
}

}  // namespace
}  // namespace pliant
