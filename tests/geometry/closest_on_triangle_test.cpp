#include "geometry/test_meshes.h"
#include "pliant/geometry/surface_query.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Precise = Eigen::Matrix<long double, 3, 1>;

long double distance_to_segment(const Precise& x, const Precise& from, const Precise& to) {
    const Precise side = to - from;
    const long double length = side.squaredNorm();
    const long double t = length > 0 ? std::clamp((x - from).dot(side) / length, 0.0L, 1.0L) : 0.0L;
    return (x - from - t * side).norm();
}

// sweeps the triangle with segments parallel to bc; their distance is a convex function
long double reference_distance(const Vector3d& x64, const Vector3d& a64, const Vector3d& b64,
                               const Vector3d& c64) {
    const Precise x = x64.cast<long double>(), a = a64.cast<long double>(),
                  b = b64.cast<long double>(), c = c64.cast<long double>();
    const auto distance = [&](long double t) {
        const Precise p = a + t * (b - a), q = a + t * (c - a);
        return distance_to_segment(x, p, q);
    };
    long double low = 0, high = 1;
    for (int i = 0; i < 150; ++i) {
        const long double p = low + (high - low) / 3, q = high - (high - low) / 3;
        (distance(p) < distance(q) ? high : low) = distance(p) < distance(q) ? q : p;
    }
    return std::min({distance(low), distance(high), distance_to_segment(x, a, b),
                     distance_to_segment(x, b, c), distance_to_segment(x, c, a)});
}

void expect_consistent(const ClosestPoint& p, const Vector3d& x, const Vector3d& a,
                       const Vector3d& b, const Vector3d& c, double tolerance) {
    EXPECT_NEAR(p.distance, static_cast<double>(reference_distance(x, a, b, c)), tolerance);
    EXPECT_NEAR((x - p.point).norm(), p.distance, tolerance);
    EXPECT_NEAR(p.barycentric.sum(), 1.0, 1e-14);
    EXPECT_GE(p.barycentric.minCoeff(), 0.0);
    const Vector3d combined = p.barycentric[0] * a + p.barycentric[1] * b + p.barycentric[2] * c;
    EXPECT_NEAR((combined - p.point).norm(), 0.0, tolerance);
    const int num_weights = static_cast<int>((p.barycentric.array() > 0).count());
    EXPECT_EQ(num_weights, p.feature == Feature::Face ? 3 : p.feature == Feature::Edge ? 2 : 1);
}

TEST(ClosestOnTriangle, EachRegionGivesItsFeatureExactly) {
    const Vector3d a(0, 0, 0), b(4, 0, 0), c(0, 4, 0);
    const auto expect = [&](const Vector3d& x, const Vector3d& point, Feature feature, int index) {
        const ClosestPoint p = closest_on_triangle(x, a, b, c);
        EXPECT_EQ(p.point, point);
        EXPECT_EQ(p.distance, (x - point).norm());
        EXPECT_EQ(p.feature, feature);
        EXPECT_EQ(p.feature_index, index);
        EXPECT_EQ(p.triangle, -1);
    };
    expect({1, 1, 3}, {1, 1, 0}, Feature::Face, 0);
    expect({1, 1, -3}, {1, 1, 0}, Feature::Face, 0);
    expect({1, -2, 5}, {1, 0, 0}, Feature::Edge, 0);
    expect({3, 3, 0}, {2, 2, 0}, Feature::Edge, 1);
    expect({-1, 3, 2}, {0, 3, 0}, Feature::Edge, 2);
    expect({-1, -1, 1}, {0, 0, 0}, Feature::Vertex, 0);
    expect({9, 1, 1}, {4, 0, 0}, Feature::Vertex, 1);
    expect({-1, 7, 0}, {0, 4, 0}, Feature::Vertex, 2);
    // on the features themselves
    expect({2, 0, 0}, {2, 0, 0}, Feature::Edge, 0);
    expect({2, 2, 0}, {2, 2, 0}, Feature::Edge, 1);
    expect({0, 0, 0}, {0, 0, 0}, Feature::Vertex, 0);
    expect({0, 4, 0}, {0, 4, 0}, Feature::Vertex, 2);
}

TEST(ClosestOnTriangle, MatchesExtendedPrecisionOnRandomTriangles) {
    test::Random random(11);
    for (int i = 0; i < 5000; ++i) {
        const Vector3d a = random.in_cube(1), b = random.in_cube(1), c = random.in_cube(1);
        const Vector3d x = random.in_cube(2);
        expect_consistent(closest_on_triangle(x, a, b, c), x, a, b, c, 1e-14);
    }
}

TEST(ClosestOnTriangle, ThinTrianglesKeepTheirAccuracy) {
    test::Random random(12);
    for (const double height : {1e-3, 1e-6, 1e-9, 1e-12})
        for (int i = 0; i < 600; ++i) {
            const Vector3d a = random.in_cube(1), b = random.in_cube(1);
            // the third corner a little beside the longest side (a cap), beside its end (a needle),
            // or close to its end and much closer to its line
            const double t = i % 3 == 0 ? random.uniform(0.1, 0.9) : i % 3 == 1 ? 0.0 : height;
            const double offset = i % 3 == 2 ? 1e-3 * height : height;
            const Vector3d c = a + t * (b - a) + offset * random.direction();
            const Vector3d x = a + random.uniform(-0.2, 1.2) * (i % 2 ? 1.0 : height) * (b - a) +
                               random.uniform(0, 3) * (i % 4 ? offset : 1.0) * random.direction();
            // round-off in the corners' differences is all that may be lost
            expect_consistent(closest_on_triangle(x, a, b, c), x, a, b, c, 2e-15);
            expect_consistent(closest_on_triangle(x, b, c, a), x, b, c, a, 2e-15);
            expect_consistent(closest_on_triangle(x, c, a, b), x, c, a, b, 2e-15);
        }
}

TEST(ClosestOnTriangle, DegenerateTrianglesAreSegmentsAndPoints) {
    const Vector3d p(1, 2, 3), q(4, 2, 3), m(2, 2, 3), x(2.5, 3, 3);
    for (const auto& [a, b, c] : std::vector<std::array<Vector3d, 3>>{
             {p, q, m}, {q, m, p}, {m, p, q}, {p, p, q}, {p, q, p}, {q, p, p}}) {
        const ClosestPoint nearest = closest_on_triangle(x, a, b, c);
        EXPECT_EQ(nearest.distance, 1.0);
        EXPECT_EQ(nearest.point, Vector3d(2.5, 2, 3));
        EXPECT_EQ(nearest.feature, Feature::Edge);
    }
    const ClosestPoint nearest = closest_on_triangle(x, p, p, p);
    EXPECT_EQ(nearest.point, p);
    EXPECT_EQ(nearest.feature, Feature::Vertex);
    // collinear up to rounding, in a direction without exact coordinates
    test::Random random(13);
    for (int i = 0; i < 2000; ++i) {
        const Vector3d a = random.in_cube(1), b = random.in_cube(1), y = random.in_cube(2);
        const Vector3d c = a + random.uniform(0, 1) * (i % 2 ? 1.0 : 1e-3) * (b - a);
        expect_consistent(closest_on_triangle(y, a, b, c), y, a, b, c, 2e-15);
        expect_consistent(closest_on_triangle(y, b, c, a), y, b, c, a, 2e-15);
        expect_consistent(closest_on_triangle(y, c, a, b), y, c, a, b, 2e-15);
    }
}

TEST(ClosestOnTriangle, DistanceFromTheOriginCostsNoAccuracy) {
    test::Random random(14);
    const Vector3d far_away(1e6, -3e6, 2e6);
    for (int i = 0; i < 3000; ++i) {
        // corners of 1e-4 m that are exact after the move: multiples of 2^-30 below 2^22
        const auto place = [&] {
            const Vector3d p = random.in_cube(1e-4) * 0x1p30;
            return Vector3d(p.array().round() * 0x1p-30);
        };
        const Vector3d a = place(), b = place(), c = place(), x = place();
        const ClosestPoint here = closest_on_triangle(x, a, b, c);
        const ClosestPoint there =
            closest_on_triangle(x + far_away, a + far_away, b + far_away, c + far_away);
        EXPECT_EQ(here.distance, there.distance);
        EXPECT_EQ(here.feature, there.feature);
        EXPECT_EQ(here.barycentric, there.barycentric);
    }
}

TEST(ClosestOnTriangle, PointsBeyondAllLengthsGetACorner) {
    const ClosestPoint far = closest_on_triangle({1e200, 0, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0});
    EXPECT_EQ(far.feature, Feature::Vertex);
    EXPECT_EQ(far.barycentric.sum(), 1);
    EXPECT_TRUE(far.point.allFinite());
}

}  // namespace
}  // namespace pliant
