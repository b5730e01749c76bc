#include "pliant/geometry/surface_query.h"

#include "geometry/test_meshes.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/surface_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::input_error;
using test::make_wedge;
using test::sample_points;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

ClosestPoint closest_by_loop(const SurfaceMesh& mesh, const Vector3d& x,
                             double radius = kInfinity) {
    ClosestPoint best;
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        ClosestPoint p =
            closest_on_triangle(x, mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2));
        if (!(p.distance <= radius) || (best.triangle >= 0 && p.distance >= best.distance))
            continue;
        best = p;
        best.triangle = t;
    }
    return best;
}

void expect_same(const ClosestPoint& a, const ClosestPoint& b) {
    EXPECT_EQ(a.triangle, b.triangle);
    EXPECT_EQ(a.distance, b.distance);
    EXPECT_EQ(a.point, b.point);
    EXPECT_EQ(a.barycentric, b.barycentric);
    EXPECT_EQ(a.feature, b.feature);
    EXPECT_EQ(a.feature_index, b.feature_index);
}

void expect_closest_is_that_of_the_loop(const SurfaceMesh& mesh,
                                        const std::vector<Vector3d>& points,
                                        double radius = kInfinity) {
    const SurfaceQuery query(mesh);
    for (const Vector3d& x : points)
        expect_same(query.closest(x, radius), closest_by_loop(mesh, x, radius));
}

TEST(TestMeshes, ClosedOnesAreClosedAndPointOutwards) {
    EXPECT_NEAR(enclosed_volume(test::make_cube()), 1.0, 1e-15);
    EXPECT_NEAR(enclosed_volume(make_wedge()), 0.05, 1e-15);
    EXPECT_NEAR(enclosed_volume(test::make_sphere(1, 60)), 4.18879, 0.01);
    EXPECT_NEAR(enclosed_volume(test::make_torus(1, 0.25, 100, 50)), 1.2337, 0.01);
    EXPECT_EQ(SurfaceTopology(test::make_sphere(1, 5)).euler_number(), 2);
    EXPECT_EQ(SurfaceTopology(test::make_torus(1, 0.25, 9, 7)).euler_number(), 0);
}

TEST(SurfaceQueryClosest, IsThatOfTheLoopOverAllTriangles) {
    for (const SurfaceMesh& mesh :
         {test::make_random_soup(2000, 1), test::make_sphere(0.7, 20), test::make_cube(),
          test::make_torus(1.0, 0.3, 50, 20), test::make_random_soup(1, 2), make_wedge()})
        expect_closest_is_that_of_the_loop(mesh, sample_points(mesh, 1200, 3));
}

TEST(SurfaceQueryClosest, IsThatOfTheLoopFarFromTheOriginAndAtAnySize) {
    for (const double size : {1e-4, 1.0, 1e5})
        for (const Vector3d& place : {Vector3d(0, 0, 0), Vector3d(1e6, -2e6, 3e6)}) {
            SurfaceMesh mesh = test::make_torus(size, 0.3 * size, 30, 12);
            for (Vector3d& v : mesh.vertices) v += place;
            expect_closest_is_that_of_the_loop(mesh, sample_points(mesh, 600, 4));
        }
}

TEST(SurfaceQueryClosest, IsThatOfTheLoopForQueriesFromVeryFarAway) {
    const SurfaceMesh mesh = test::make_sphere(1.0, 12);
    test::Random random(5);
    std::vector<Vector3d> points;
    for (const double distance : {1e2, 1e4, 1e6, 1e8, 1e12, 1e40})
        for (int i = 0; i < 30; ++i) points.push_back(distance * random.direction());
    expect_closest_is_that_of_the_loop(mesh, points);
}

TEST(SurfaceQueryClosest, SearchRadiusIsInclusive) {
    const SurfaceMesh mesh = test::make_random_soup(500, 6);
    expect_closest_is_that_of_the_loop(mesh, sample_points(mesh, 600, 7), 0.05);
    const SurfaceQuery cube(test::make_cube());
    EXPECT_EQ(cube.closest({0.5, 0.5, 1.25}, 0.25).distance, 0.25);
    EXPECT_EQ(cube.closest({0.5, 0.5, 1.25}, 0.2499999).triangle, -1);
    EXPECT_EQ(cube.closest({0.5, 0.5, 1.25}, 0.2499999).distance, kInfinity);
    EXPECT_EQ(cube.closest({0.5, 0.5, 1.0}, 0.0).distance, 0.0);
    EXPECT_EQ(cube.closest({0.5, 0.5, 1.0}, -1.0).triangle, -1);
}

TEST(SurfaceQueryClosest, EquallyNearTrianglesGiveTheLowestIndex) {
    // all faces are equally far from the centre, and everything is there twice
    SurfaceMesh mesh = test::make_cube();
    append(mesh, test::make_cube());
    const SurfaceQuery query(mesh, SignMethod::WindingNumber);
    EXPECT_EQ(query.closest({0.5, 0.5, 0.5}).triangle, 0);
    EXPECT_EQ(query.closest({0.9, 0.75, 0.5}).triangle, 10);
    EXPECT_EQ(query.closest({2, 2, 2}).triangle, 2);  // first of the six at the corner
}

TEST(SurfaceQueryClosest, DegenerateTrianglesAreMeasuredLikeAnyOther) {
    SurfaceMesh mesh = test::make_random_soup(300, 8);
    for (int t = 0; t < 300; t += 3) {
        if (t % 2)
            mesh.vertices[3 * t + 2] = mesh.vertices[3 * t];
        else
            mesh.vertices[3 * t + 2] = 0.5 * (mesh.vertices[3 * t] + mesh.vertices[3 * t + 1]);
    }
    mesh.triangles.push_back({0, 0, 0});
    expect_closest_is_that_of_the_loop(mesh, sample_points(mesh, 1200, 9));
    // all in one point, and all in one line
    SurfaceMesh point;
    point.vertices.assign(3, Vector3d(1, 2, 3));
    point.triangles = {{0, 1, 2}};
    EXPECT_EQ(SurfaceQuery(point).closest({1, 2, 5}).distance, 2.0);
    point.vertices[1].x() = 4;
    EXPECT_EQ(SurfaceQuery(point).closest({2, 2, 5}).distance, 2.0);
}

std::optional<RayHit> ray_by_loop(const SurfaceMesh& mesh, const Vector3d& o, const Vector3d& d) {
    std::optional<RayHit> first;
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const Vector3d a = mesh.corner(t, 0), u = mesh.corner(t, 1) - a, v = mesh.corner(t, 2) - a;
        Eigen::Matrix3d m;
        m << -d, u, v;
        const Vector3d s = m.inverse() * (o - a);  // t, then the weights of corners 1 and 2
        if (!(s[0] >= 0) || !(s[1] >= 0) || !(s[2] >= 0) || !(s[1] + s[2] <= 1)) continue;
        if (!first || s[0] < first->t) first = RayHit{s[0], t, {1 - s[1] - s[2], s[1], s[2]}};
    }
    return first;
}

TEST(SurfaceQueryRay, MatchesTheLoopOverAllTriangles) {
    for (const double size : {1e-4, 1.0, 1e6}) {
        SurfaceMesh mesh = test::make_random_soup(1000, 16);
        for (Vector3d& v : mesh.vertices) v *= size;
        const SurfaceQuery query(mesh);
        test::Random random(17);
        int num_hits = 0;
        for (int i = 0; i < 1500; ++i) {
            const double reach = i % 3 == 0 ? 100.0 : 1.5;
            const Vector3d origin = size * random.in_cube(reach);
            const Vector3d direction = (size * random.in_cube(1.0) - origin) * random.uniform(0, 9);
            const auto hit = query.ray(origin, direction);
            const auto expected = ray_by_loop(mesh, origin, direction);
            ASSERT_EQ(hit.has_value(), expected.has_value());
            if (!hit) continue;
            ++num_hits;
            EXPECT_EQ(hit->triangle, expected->triangle);
            EXPECT_NEAR(hit->t, expected->t, 1e-10 * (1 + expected->t));
            EXPECT_NEAR((hit->barycentric - expected->barycentric).norm(), 0, 1e-9);
        }
        EXPECT_GT(num_hits, 500);
    }
}

TEST(SurfaceQueryRay, NothingSlipsThroughAClosedMesh) {
    for (const double offset : {0.0, 1000.0}) {
        SurfaceMesh mesh = test::make_sphere(1.0, 30);
        for (Vector3d& v : mesh.vertices) v.x() += offset;
        const SurfaceQuery query(mesh);
        test::Random random(18);
        int num_missed = 0;
        for (int i = 0; i < 100000; ++i) {
            const Vector3d from = Vector3d(offset, 0, 0) + random.in_cube(0.5);
            const int t = random.below(mesh.num_triangles());
            const Vector3d a = mesh.corner(t, 0), b = mesh.corner(t, 1);
            const Vector3d aim = i % 4 == 0   ? a
                                 : i % 4 == 1 ? Vector3d(0.5 * (a + b))
                                 : i % 4 == 2 ? Vector3d(a + random.uniform(0, 1) * (b - a))
                                              : Vector3d(from + random.direction());
            const auto hit = query.ray(from, aim - from);
            if (!hit || (i % 4 < 3 && std::abs(hit->t - 1) > 1e-9)) ++num_missed;
        }
        EXPECT_EQ(num_missed, 0);
        // along the axes, exactly through vertices and in the planes of sides
        for (int k = 0; k < 6; ++k) {
            const Vector3d d = (k < 3 ? 1.0 : -1.0) * Vector3d::Unit(k % 3);
            EXPECT_TRUE(query.ray({offset, 0, 0}, d).has_value());
        }
    }
}

TEST(SurfaceQueryRay, EndsAndSidesAreInclusive) {
    const SurfaceQuery cube(test::make_cube());
    const Vector3d below(0.25, 0.5, -1), up(0, 0, 2);
    const auto hit = cube.ray(below, up);
    ASSERT_TRUE(hit);
    EXPECT_EQ(hit->t, 0.5);
    EXPECT_LT(hit->triangle, 2);
    EXPECT_EQ(cube.ray({0.25, 0.5, 0.5}, up)->t, 0.25);  // from inside
    EXPECT_EQ(cube.ray({0.25, 0.5, 1.0}, up)->t, 0.0);   // from the surface
    EXPECT_FALSE(cube.ray({0.25, 0.5, 1.5}, up));
    EXPECT_TRUE(cube.ray(below, up, 0.5));
    EXPECT_FALSE(cube.ray(below, up, 0.4999));
    EXPECT_FALSE(cube.ray(below, Vector3d(0, 0, 0)));
    EXPECT_EQ(cube.segment(below, {0.25, 0.5, 3})->t, 0.25);
    EXPECT_EQ(cube.segment(below, {0.25, 0.5, 0})->t, 1.0);
    EXPECT_FALSE(cube.segment(below, {0.25, 0.5, -0.001}));
}

TEST(SurfaceQueryOverlap, FindsWhatTheLoopFinds) {
    const SurfaceMesh mesh = test::make_random_soup(1500, 19);
    const SurfaceQuery query(mesh);
    test::Random random(20);
    std::vector<int> found(1500);
    for (int i = 0; i < 300; ++i) {
        const Vector3d centre = random.in_cube(1.2);
        const double radius = random.uniform(0, 0.5);
        std::vector<int> expected;
        for (int t = 0; t < mesh.num_triangles(); ++t)
            if (closest_on_triangle(centre, mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2))
                    .distance <= radius)
                expected.push_back(t);
        const int count = query.overlapping(centre, radius, found);
        EXPECT_EQ(std::vector<int>(found.begin(), found.begin() + count), expected);
        // what does not fit: the count is right and the lowest indices stay
        std::array<int, 5> few{-1, -1, -1, -1, -1};
        EXPECT_EQ(query.overlapping(centre, radius, few), count);
        for (int k = 0; k < std::min(count, 5); ++k) EXPECT_EQ(few[k], expected[k]);
        EXPECT_EQ(query.overlapping(centre, radius, {}), count);
    }
}

TEST(SurfaceQueryRefit, EqualsANewQueryOnTheMovedMesh) {
    for (const SignMethod sign : {SignMethod::PseudoNormal, SignMethod::WindingNumber}) {
        SurfaceMesh mesh = test::make_torus(1.0, 0.3, 40, 20);
        SurfaceQuery query(mesh, sign);
        for (int step = 1; step <= 3; ++step) {
            // swells, twists and leaves its old box
            for (Vector3d& v : mesh.vertices) {
                const double turn = 0.5 * v.z();
                v = Vector3d(v.x() * std::cos(turn) - v.y() * std::sin(turn),
                             v.x() * std::sin(turn) + v.y() * std::cos(turn), v.z()) *
                        1.5 +
                    Vector3d(3.0 * step, 0, 1.0);
            }
            query.refit(mesh.vertices);
            const SurfaceQuery fresh(mesh, sign);
            EXPECT_EQ(query.mesh().vertices, mesh.vertices);
            for (const Vector3d& x : sample_points(mesh, 600, 21)) {
                expect_same(query.closest(x), fresh.closest(x));
                if (fresh.closest(x).distance > 1e-9) {
                    EXPECT_EQ(query.signed_distance(x), fresh.signed_distance(x));
                }
                EXPECT_NEAR(query.winding_number(x), fresh.winding_number(x), 1e-3);
                const auto hit = query.ray(x, {1, 2, 3}), expected = fresh.ray(x, {1, 2, 3});
                ASSERT_EQ(hit.has_value(), expected.has_value());
                if (hit) {
                    EXPECT_EQ(hit->t, expected->t);
                }
            }
        }
    }
}

TEST(SurfaceQueryErrors, BadMeshesAreRefusedByIndex) {
    SurfaceMesh mesh = test::make_cube();
    mesh.triangles[7] = {1, 2, 8};
    EXPECT_THAT(input_error([&] { SurfaceQuery query(mesh); }),
                HasSubstr("triangle 7 names vertex 8, but there are 8 vertices"));
    mesh.triangles[7] = {1, -2, 3};
    EXPECT_THAT(input_error([&] { SurfaceQuery query(mesh); }), HasSubstr("names vertex -2"));
    mesh = test::make_cube();
    mesh.vertices[3].y() = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THAT(input_error([&] { SurfaceQuery query(mesh); }),
                HasSubstr("vertex 3 has a coordinate that is not a finite number"));
    mesh.vertices[3].y() = -2e30;
    EXPECT_THAT(input_error([&] { SurfaceQuery query(mesh); }),
                HasSubstr("vertex 3 has a coordinate that is beyond 1e30; check its units"));
}

TEST(SurfaceQueryErrors, RefitRefusesOtherVerticesAndKeepsTheOldOnes) {
    const SurfaceMesh mesh = test::make_cube();
    SurfaceQuery query(mesh);
    auto vertices = mesh.vertices;
    vertices.emplace_back(0, 0, 0);
    EXPECT_THAT(input_error([&] { query.refit(vertices); }),
                HasSubstr("refit got 9 vertices for a surface of 8"));
    vertices = mesh.vertices;
    vertices[5].z() = kInfinity;
    EXPECT_THAT(input_error([&] { query.refit(vertices); }), HasSubstr("vertex 5"));
    EXPECT_EQ(query.signed_distance({0.5, 0.5, 0.5}), -0.5);
}

TEST(SurfaceQueryErrors, PointsThatAreNotFiniteFindNothing) {
    const SurfaceQuery query(test::make_cube());
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), kInfinity}) {
        const Vector3d x(0.5, bad, 0.5);
        EXPECT_EQ(query.closest(x).triangle, -1);
        EXPECT_EQ(query.signed_distance(x), kInfinity);
        EXPECT_FALSE(query.is_inside(x));
        EXPECT_EQ(query.winding_number(x), 0.0);
        EXPECT_FALSE(query.ray(x, {1, 0, 0}));
        EXPECT_FALSE(query.ray({0, 0, 0}, x));
        EXPECT_EQ(query.overlapping(x, 1.0, {}), 0);
    }
    EXPECT_EQ(query.closest({0, 0, 0}, std::numeric_limits<double>::quiet_NaN()).triangle, -1);
}

TEST(SurfaceQueryErrors, EmptyMeshAnswersNothing) {
    SurfaceQuery query(SurfaceMesh{});
    EXPECT_EQ(query.closest({1, 2, 3}).triangle, -1);
    EXPECT_EQ(query.signed_distance({1, 2, 3}), kInfinity);
    EXPECT_FALSE(query.is_inside({1, 2, 3}));
    EXPECT_EQ(query.winding_number({1, 2, 3}), 0.0);
    EXPECT_FALSE(query.ray({1, 2, 3}, {1, 0, 0}));
    EXPECT_EQ(query.overlapping({1, 2, 3}, 10.0, {}), 0);
    query.refit({});
}

TEST(SurfaceQueryTicks, QueriesAllocateNothing) {
    const SurfaceMesh mesh = test::make_sphere(1.0, 130);
    SurfaceMesh open = mesh;
    open.triangles.pop_back();
    // where normals cancel, as between the two sides of a fold, the winding number decides
    SurfaceMesh fold;
    fold.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 1, 0}};
    fold.triangles = {{0, 1, 2}, {1, 0, 3}};
    const SurfaceQuery closed_query(mesh), open_query(open),
        fold_query(fold, SignMethod::PseudoNormal);
    const std::vector<Vector3d> points = sample_points(mesh, 300, 22);
    std::array<int, 64> out;
    double sum = 0;
    AllocationGuard guard;
    for (const Vector3d& x : points)
        for (const SurfaceQuery* query : {&closed_query, &open_query, &fold_query}) {
            sum += query->closest(x).distance + query->signed_distance(x, 0.5) +
                   query->is_inside(x) + query->overlapping(x, 0.1, out);
            if (const auto hit = query->ray(x, {0.1, 0.2, 0.3})) sum += hit->t;
        }
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_GT(sum, 0);
    // the one that may build something, and run out of memory
    static_assert(!noexcept(closed_query.winding_number(points[0])));
}

TEST(SurfaceQueryTicks, ThreadsSeeTheSameResults) {
    const SurfaceMesh mesh = test::make_torus(1.0, 0.3, 60, 30);
    const std::vector<Vector3d> points = sample_points(mesh, 2000, 23);
    const SurfaceQuery query(mesh);
    std::vector<ClosestPoint> nearest(points.size());
    std::vector<double> distances(points.size()), windings(points.size());
    parallel_for(points.size(), 16, [&](std::size_t i) {
        nearest[i] = query.closest(points[i]);
        distances[i] = query.signed_distance(points[i]);
        windings[i] = query.winding_number(points[i]);  // the first call builds the clusters
    });
    for (std::size_t i = 0; i < points.size(); ++i) {
        expect_same(nearest[i], query.closest(points[i]));
        EXPECT_EQ(distances[i], query.signed_distance(points[i]));
        EXPECT_EQ(windings[i], query.winding_number(points[i]));
    }
}

}  // namespace
}  // namespace pliant
