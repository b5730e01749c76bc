#include "pliant/body/rigid_shape.h"

#include "core/numbers.h"
#include "geometry/simple_surfaces.h"
#include "geometry/test_meshes.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/geometry/surface_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::box_surface;
using test::input_error;
using testing::HasSubstr;

/// A closed wedge with an edge of about 6 degrees along the y axis, opening towards +x.
SurfaceMesh wedge_surface(double size = 1) {
    SurfaceMesh mesh;
    for (const double y : {0.0, size})
        for (const auto& [x, z] : {std::pair{0.0, 0.0}, {size, -0.05 * size}, {size, 0.05 * size}})
            mesh.vertices.emplace_back(x, y, z);
    mesh.triangles = {{0, 1, 2}, {3, 5, 4}, {0, 3, 4}, {0, 4, 1},
                      {0, 2, 5}, {0, 5, 3}, {1, 4, 5}, {1, 5, 2}};
    return mesh;
}

SurfaceMesh two_overlapping_boxes() {
    SurfaceMesh mesh = box_surface();
    append(mesh, box_surface(Vector3d::Constant(0.5), Vector3d::Constant(1.5)));
    return mesh;
}

struct Named {
    const char* name;
    double size;
    RigidShape shape;
};
std::vector<Named> shapes_of_size(double size) {
    return {
        {"half-space", size, RigidShape::half_space({1, -2, 2}, 0.9 * size)},
        {"sphere", size, RigidShape::sphere(0.7 * size)},
        {"capsule", size, RigidShape::capsule(0.3 * size, 0.5 * size)},
        {"capsule without length", size, RigidShape::capsule(0.3 * size, 0)},
        {"box", size, RigidShape::box(size * Vector3d(0.3, 0.5, 0.8))},
        {"torus", size, RigidShape::mesh(test::torus_surface(24, 12, 0.7 * size, 0.3 * size))},
        {"wedge", size, RigidShape::mesh(wedge_surface(size))},
    };
}
std::vector<Named> all_shapes() {
    std::vector<Named> all;
    for (const double size : {1e-3, 1.0, 1e3})
        for (Named& named : shapes_of_size(size)) all.push_back(std::move(named));
    return all;
}

TEST(RigidShape, HalfSpaceTakesNormalsOfAnyLength) {
    const RigidShape shape = RigidShape::half_space({0, 0, 4}, 2);  // z ≤ 1/2
    EXPECT_DOUBLE_EQ(shape.sample({3, 4, 0}).gap, -0.5);
    EXPECT_DOUBLE_EQ(shape.sample({3, 4, 2.5}).gap, 2);
    EXPECT_EQ(shape.sample({3, 4, 2.5}).normal, Vector3d::UnitZ());
    EXPECT_EQ(RigidShape::half_space({1e-200, 0, 0}).sample({-2, 0, 0}).gap, -2);
}

TEST(RigidShape, BoxIsThatOfTheSixFaces) {
    const Vector3d half(0.3, 0.5, 0.8);
    const RigidShape shape = RigidShape::box(half);
    test::Random random(1);
    for (int i = 0; i < 2000; ++i) {
        const Vector3d x = random.in_cube(1.2);
        double gap = kInfinity;
        if ((x.cwiseAbs().array() <= half.array()).all())
            for (int axis = 0; axis < 3; ++axis)
                gap = std::min({gap, half[axis] - x[axis], half[axis] + x[axis]});
        const bool is_inside = gap < kInfinity;
        const Vector3d on_box = x.cwiseMax(-half).cwiseMin(half);
        const ShapeSample s = shape.sample(x);
        ASSERT_NEAR(s.gap, is_inside ? -gap : (x - on_box).norm(), 1e-15);
        if (!is_inside) {
            ASSERT_NEAR((s.normal - (x - on_box) / (x - on_box).norm()).norm(), 0, 1e-14);
        } else {
            ASSERT_NEAR(((x - s.gap * s.normal).cwiseAbs() - half).maxCoeff(), 0, 1e-15);
        }
    }
}

TEST(RigidShape, CapsuleIsTheUnionOfItsSpheres) {
    const RigidShape shape = RigidShape::capsule(0.3, 0.5);
    test::Random random(2);
    for (int i = 0; i < 200; ++i) {
        const Vector3d x = random.in_cube(1.2);
        double gap = kInfinity;
        constexpr int kSpheres = 2000;
        for (int k = 0; k <= kSpheres; ++k)
            gap = std::min(gap, (x - Vector3d(0, 0, -0.5 + 1.0 * k / kSpheres)).norm() - 0.3);
        // spheres are 5e-4 apart: the nearest is off by half of that, the square of which counts
        ASSERT_NEAR(shape.sample(x).gap, gap, 2.6e-4);
    }
}

/// All shapes at random points around them: the point reached along the normal is on the surface,
/// which bounds the gap from both sides, and the normal is the gradient.
TEST(RigidShape, NormalLeadsToTheSurface) {
    for (const Named& named : all_shapes()) {
        SCOPED_TRACE(named.name + std::string(" of size ") + std::to_string(named.size));
        test::Random random(3);
        for (int i = 0; i < 500; ++i) {
            const Vector3d x = named.size * random.in_cube(1.3);
            const ShapeSample s = named.shape.sample(x);
            ASSERT_NEAR(s.normal.norm(), 1, 1e-14);
            ASSERT_NEAR(named.shape.sample(x - s.gap * s.normal).gap, 0, 1e-14 * named.size);
        }
    }
}

TEST(RigidShape, NormalIsTheGradientOfTheGap) {
    for (const Named& named : all_shapes()) {
        SCOPED_TRACE(named.name + std::string(" of size ") + std::to_string(named.size));
        test::Random random(4);
        const double h = 1e-6 * named.size;
        int num_smooth = 0;
        for (int i = 0; i < 500; ++i) {
            const Vector3d x = named.size * random.in_cube(1.3);
            const ShapeSample s = named.shape.sample(x);
            Vector3d gradient;
            bool is_smooth = true;
            for (int axis = 0; axis < 3; ++axis) {
                const Vector3d step = h * Vector3d::Unit(axis);
                const ShapeSample above = named.shape.sample(x + step),
                                  below = named.shape.sample(x - step);
                gradient[axis] = (above.gap - below.gap) / (2 * h);
                // the medial axis inside and the creases of the gap are left out
                is_smooth &= (above.normal - below.normal).norm() < 1e-4;
            }
            if (!is_smooth) continue;
            ++num_smooth;
            // rounding of gaps over the step; the second differences are far below
            ASSERT_NEAR((gradient - s.normal).norm(), 0, 1e-8);
        }
        EXPECT_GT(num_smooth, 450);
    }
}

TEST(RigidShape, LiesInsideItsBounds) {
    for (const Named& named : all_shapes()) {
        test::Random random(5);
        int num_inside = 0;
        for (int i = 0; i < 2000; ++i) {
            const Vector3d x = named.size * random.in_cube(1.3);
            if (named.shape.sample(x).gap >= 0) continue;
            ++num_inside;
            ASSERT_TRUE(named.shape.bounds().contains(x)) << named.name;
        }
        EXPECT_GT(num_inside, 5) << named.name;
    }
    EXPECT_EQ(RigidShape::half_space().bounds().min(), Vector3d::Constant(-kInfinity));
    EXPECT_EQ(RigidShape::capsule(1, 2).bounds().max(), Vector3d(1, 1, 3));
    EXPECT_EQ(RigidShape::mesh(box_surface()).bounds().max(), Vector3d(1, 1, 1));
}

TEST(RigidShape, BoundsOfAMeshIgnoreUnusedVertices) {
    SurfaceMesh mesh = box_surface();
    mesh.vertices.emplace_back(100, 0, 0);
    EXPECT_EQ(RigidShape::mesh(mesh).bounds().max(), Vector3d(1, 1, 1));
}

TEST(RigidShape, TiesGoToTheLowestAxisAndThePositiveSide) {
    const auto expect = [](const ShapeSample& s, double gap, const Vector3d& normal) {
        EXPECT_EQ(s.gap, gap);
        EXPECT_EQ(s.normal, normal);
    };
    expect(RigidShape::sphere(2).sample({0, 0, 0}), -2, Vector3d::UnitZ());
    expect(RigidShape::sphere(2).sample({0, 1e-170, 0}), -2, Vector3d::UnitZ());
    expect(RigidShape::capsule(2, 3).sample({0, 0, -1}), -2, Vector3d::UnitX());
    expect(RigidShape::box({1, 1, 1}).sample({0, 0, 0}), -1, Vector3d::UnitX());
    expect(RigidShape::box({2, 1, 1}).sample({0, 0, 0}), -1, Vector3d::UnitY());
    expect(RigidShape::box({1, 1, 1}).sample({0, -0.5, -0.5}), -0.5, -Vector3d::UnitY());
    // on faces, edges and corners
    expect(RigidShape::box({1, 2, 3}).sample({0, 0, -3}), 0, -Vector3d::UnitZ());
    expect(RigidShape::box({1, 2, 3}).sample({1, -2, 0}), 0, Vector3d::UnitX());
    expect(RigidShape::box({1, 2, 3}).sample({-1, -2, 3}), 0, -Vector3d::UnitX());
}

TEST(RigidShape, MeshOfABoxIsTheBox) {
    const Vector3d half(0.3, 0.5, 0.8);
    const RigidShape analytic = RigidShape::box(half);
    for (const double scale : {1e-3, 1.0, 1e3}) {
        const RigidShape mesh = RigidShape::mesh(box_surface(-scale * half, scale * half));
        test::Random random(6);
        for (int i = 0; i < 2000; ++i) {
            const Vector3d x = random.in_cube(1.2);
            const ShapeSample a = analytic.sample(x), b = mesh.sample(scale * x);
            ASSERT_NEAR(a.gap, b.gap / scale, 1e-14);
            ASSERT_NEAR((a.normal - b.normal).norm(), 0, 1e-10);
        }
    }
}

TEST(RigidShape, MeshGapIsThatOfTheSignedDistance) {
    for (const SurfaceMesh& surface : {test::torus_surface(40, 20), wedge_surface(),
                                       test::make_sphere(0.8, 12), two_overlapping_boxes()}) {
        const RigidShape shape = RigidShape::mesh(surface);
        const SurfaceQuery query(surface);
        test::Random random(7);
        for (int i = 0; i < 2000; ++i) {
            const int t = random.below(surface.num_triangles());
            const Vector3d a = surface.corner(t, 0), b = surface.corner(t, 1);
            Vector3d x = random.in_cube(1.5);
            if (i % 4 == 1) x = a + random.in_cube(1e-3);
            if (i % 4 == 2) x = 0.5 * (a + b) + random.in_cube(1e-7);
            if (i % 4 == 3) x = 0.3 * a + 0.3 * b + 0.4 * surface.corner(t, 2);
            ASSERT_EQ(shape.sample(x).gap, query.signed_distance(x));
        }
    }
}

TEST(RigidShape, MeshOfASphereComesNearTheSphere) {
    const RigidShape sphere = RigidShape::sphere(1);
    const RigidShape mesh = RigidShape::mesh(test::make_sphere(1, 80));
    test::Random random(8);
    for (int i = 0; i < 1000; ++i) {
        // away from the centre, where the facets of the mesh decide the direction
        const Vector3d x = random.uniform(0.5, 2) * random.direction();
        // facets of 2π/160 lie 1 − cos(0.0278) = 4e-4 deep and are turned by 0.028
        ASSERT_NEAR(sphere.sample(x).gap, mesh.sample(x).gap, 5e-4);
        ASSERT_NEAR((sphere.sample(x).normal - mesh.sample(x).normal).norm(), 0, 0.04);
    }
}

TEST(RigidShape, NormalsOnAMeshPointOutwards) {
    for (const double scale : {1e-3, 1.0, 1e3})
        for (const SurfaceMesh& surface :
             {wedge_surface(scale), test::torus_surface(15, 9, scale, 0.3 * scale)}) {
            const RigidShape shape = RigidShape::mesh(surface);
            test::Random random(9);
            const double step = 1e-6 * scale;
            const auto expect_outwards = [&](const Vector3d& x) {
                const ShapeSample s = shape.sample(x);
                ASSERT_NEAR(s.gap, 0, 1e-12 * scale);
                ASSERT_NEAR(s.normal.norm(), 1, 1e-14);
                // a pseudonormal makes less than 90 degrees with all its faces
                ASSERT_GT(shape.sample(x + step * s.normal).gap, 0.01 * step);
            };
            for (int t = 0; t < surface.num_triangles(); ++t)
                for (int k = 0; k < 3; ++k) {
                    const Vector3d a = surface.corner(t, k), b = surface.corner(t, (k + 1) % 3),
                                   c = surface.corner(t, (k + 2) % 3);
                    for (const Vector3d& x :
                         {a, Vector3d(0.3 * a + 0.7 * b), Vector3d((a + b + c) / 3)}) {
                        expect_outwards(x);
                        expect_outwards(x + random.in_cube(1e-16 * scale));
                        expect_outwards(x + random.in_cube(1e-13 * scale));
                    }
                }
        }
}

TEST(RigidShape, SharpEdgePushesAwayFromItself) {
    const RigidShape shape = RigidShape::mesh(wedge_surface());
    // in front of the edge
    const ShapeSample front = shape.sample({-0.1, 0.5, 0.02});
    EXPECT_NEAR(front.gap, std::hypot(0.1, 0.02), 1e-15);
    EXPECT_NEAR((front.normal - Vector3d(-0.1, 0, 0.02).normalized()).norm(), 0, 1e-14);
    // inside, out through the nearer flank, although the edge is near too
    const ShapeSample inside = shape.sample({0.1, 0.5, 0.001});
    EXPECT_NEAR(inside.gap, -(0.005 - 0.001) / std::hypot(1, 0.05), 1e-15);
    EXPECT_NEAR((inside.normal - Vector3d(-0.05, 0, 1).normalized()).norm(), 0, 1e-14);
}

TEST(RigidShape, SoupIsInsideWhereTheWindingNumberSays) {
    const RigidShape shape = RigidShape::mesh(two_overlapping_boxes());
    EXPECT_DOUBLE_EQ(shape.sample({0.25, 0.5, 0.5}).gap, -0.25);
    EXPECT_LT((shape.sample({0.25, 0.5, 0.5}).normal + Vector3d::UnitX()).norm(), 1e-12);
    EXPECT_DOUBLE_EQ(shape.sample({0.75, 0.75, 0.8}).gap, -0.2);  // inside both
    EXPECT_DOUBLE_EQ(shape.sample({1.7, 1, 1}).gap, 0.2);
    EXPECT_LT((shape.sample({1.7, 1, 1}).normal - Vector3d::UnitX()).norm(), 1e-12);
    EXPECT_EQ(shape.sample({1.5, 1, 1}).normal, Vector3d::UnitX());
}

TEST(RigidShape, HollowBodyIsOutsideInItsCavity) {
    SurfaceMesh container = box_surface(Vector3d::Zero(), Vector3d::Constant(3));
    SurfaceMesh cavity = box_surface(Vector3d::Constant(1), Vector3d::Constant(2));
    for (Triangle& t : cavity.triangles) std::swap(t[0], t[1]);
    append(container, cavity);
    const RigidShape shape = RigidShape::mesh(container);
    EXPECT_NEAR(shape.sample({1.9, 1.5, 1.5}).gap, 0.1, 1e-15);
    EXPECT_LT((shape.sample({1.9, 1.5, 1.5}).normal + Vector3d::UnitX()).norm(), 1e-15);
    EXPECT_NEAR(shape.sample({2.1, 1.5, 1.5}).gap, -0.1, 1e-15);
    EXPECT_LT((shape.sample({2.1, 1.5, 1.5}).normal + Vector3d::UnitX()).norm(), 1e-15);
    EXPECT_NEAR(shape.sample({3.5, 1.5, 1.5}).gap, 0.5, 1e-15);
}

TEST(RigidShape, TrianglesWithoutAreaDoNotSpoilTheSign) {
    // the sharp edge of a wedge split on one side only: a triangle of no area closes the surface
    SurfaceMesh mesh = wedge_surface();
    mesh.vertices.emplace_back(0, 0.5, 0);
    std::erase(mesh.triangles, Triangle{0, 3, 4});
    mesh.triangles.insert(mesh.triangles.end(), {{0, 6, 4}, {6, 3, 4}, {0, 3, 6}});
    const RigidShape shape = RigidShape::mesh(mesh), clean = RigidShape::mesh(wedge_surface());
    test::Random random(10);
    for (int i = 0; i < 500; ++i) {
        const Vector3d x = Vector3d(0, 0.5, 0) + random.in_cube(i % 2 ? 0.5 : 0.02);
        const ShapeSample a = clean.sample(x), b = shape.sample(x);
        ASSERT_NEAR(a.gap, b.gap, 1e-15);
        ASSERT_NEAR((a.normal - b.normal).norm(), 0, 1e-10);
    }
    EXPECT_NEAR(shape.sample({0, 0.5, 0}).normal.norm(), 1, 1e-15);
}

TEST(RigidShape, RadiusLeavesTheGapWithinItAsItIs) {
    const RigidShape shape = RigidShape::mesh(box_surface());
    EXPECT_EQ(shape.sample({0.5, 0.5, 0.9}, 0.2).gap, shape.sample({0.5, 0.5, 0.9}).gap);
    EXPECT_EQ(shape.sample({0.5, 0.5, 1.5}, 0.2).gap, kInfinity);
}

TEST(RigidShape, PointsThatAreNotFiniteAreFarAway) {
    for (const Named& named : shapes_of_size(1))
        for (const double bad : {kNan, kInfinity, -kInfinity})
            for (int axis = 0; axis < 3; ++axis) {
                Vector3d x(0.1, 0.2, 0.3);
                x[axis] = bad;
                const ShapeSample s = named.shape.sample(x);
                EXPECT_EQ(s.gap, kInfinity) << named.name;
                EXPECT_EQ(s.normal.norm(), 1) << named.name;
            }
}

TEST(RigidShape, HugeAndTinyCoordinatesGiveUnitNormals) {
    for (const Named& named : shapes_of_size(1))
        for (const double size : {1e-300, 1e-160, 1e-30, 1e30, 1e160, 1e300}) {
            const ShapeSample s = named.shape.sample(size * Vector3d(1, -2, 3));
            EXPECT_FALSE(std::isnan(s.gap)) << named.name;
            EXPECT_NEAR(s.normal.norm(), 1, 1e-14) << named.name << " " << size;
        }
}

TEST(RigidShape, QueriesAllocateNothing) {
    const std::vector<Named> shapes = shapes_of_size(1);
    const RigidShape soup = RigidShape::mesh(two_overlapping_boxes());
    const AllocationGuard guard;
    double sum = 0;
    for (int i = 0; i < 100; ++i) {
        const Vector3d x(0.01 * i, 0.3, 0.5 - 0.01 * i);
        for (const Named& named : shapes) sum += named.shape.sample(x).gap;
        sum += soup.sample(x).gap;
    }
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_TRUE(std::isfinite(sum));
}

TEST(RigidShape, SizesThatAreNotPositiveAreRefused) {
    EXPECT_THAT(input_error([] { (void)RigidShape::sphere(0); }),
                HasSubstr("sphere.radius = 0 (expected 0 < value < infinity)"));
    EXPECT_THAT(input_error([] { (void)RigidShape::sphere(kNan); }), HasSubstr("sphere.radius"));
    EXPECT_THAT(input_error([] { (void)RigidShape::sphere(kInfinity); }),
                HasSubstr("sphere.radius = inf"));
    EXPECT_THAT(input_error([] { (void)RigidShape::capsule(-1, 1); }),
                HasSubstr("capsule.radius = -1"));
    EXPECT_THAT(input_error([] { (void)RigidShape::capsule(1, -0.5); }),
                HasSubstr("capsule.half_length = -0.5 (expected 0 <= value < infinity)"));
    EXPECT_THAT(input_error([] {
                    (void)RigidShape::box({1, 0, 1});
                }),
                HasSubstr("box.half_sizes.y = 0"));
    EXPECT_THAT(input_error([] {
                    (void)RigidShape::half_space({0, 0, 0});
                }),
                HasSubstr("half_space.normal = 0 0 0 (expected a finite vector"));
    EXPECT_THAT(input_error([] {
                    (void)RigidShape::half_space({0, kNan, 1});
                }),
                HasSubstr("half_space.normal"));
    EXPECT_THAT(input_error([] {
                    (void)RigidShape::half_space({0, 0, 1}, kInfinity);
                }),
                HasSubstr("half_space.offset = inf (expected a finite value)"));
}

TEST(RigidShape, SurfacesWithoutInsideAreRefused) {
    SurfaceMesh open = box_surface();
    open.triangles.pop_back();
    EXPECT_THAT(input_error([&] { (void)RigidShape::mesh(open); }),
                HasSubstr("has 3 open edges (first at triangle 2) and so no inside; close it, or "
                          "try --repair"));
    SurfaceMesh twisted = box_surface();
    std::swap(twisted.triangles[0][0], twisted.triangles[0][1]);
    EXPECT_THAT(input_error([&] { (void)RigidShape::mesh(twisted); }),
                HasSubstr("turns over at 3 edges (first at triangle 0)"));
    SurfaceMesh inside_out = box_surface();
    for (Triangle& t : inside_out.triangles) std::swap(t[0], t[1]);
    EXPECT_THAT(input_error([&] { (void)RigidShape::mesh(inside_out); }),
                HasSubstr("is inside out; try --repair"));
    SurfaceMesh flat = box_surface();
    for (Vector3d& v : flat.vertices) v.z() = 0;
    EXPECT_THAT(input_error([&] { (void)RigidShape::mesh(flat); }),
                HasSubstr("encloses no volume"));
    EXPECT_THAT(input_error([&] { (void)RigidShape::mesh({}); }), HasSubstr("has no triangles"));
    SurfaceMesh bad = box_surface();
    bad.vertices[3].x() = kNan;
    EXPECT_THAT(input_error([&] { (void)RigidShape::mesh(bad); }), HasSubstr("vertex 3"));
    bad = box_surface();
    bad.triangles[2][1] = 99;
    EXPECT_THAT(input_error([&] { (void)RigidShape::mesh(bad); }), HasSubstr("names vertex 99"));
}

}  // namespace
}  // namespace pliant
