#include "scene/primitive_surfaces.h"

#include <gtest/gtest.h>

#include <numbers>

#include "pliant/body/rigid_shape.h"
#include "pliant/geometry/surface_check.h"

namespace pliant {
namespace {

using Eigen::Vector3d;

void expect_closed_solid(const SurfaceMesh& surface, double volume, double tolerance) {
    const SurfaceReport report = check_surface(surface);
    EXPECT_TRUE(report.is_clean()) << report.text();
    EXPECT_TRUE(report.is_closed());
    EXPECT_EQ(report.num_components, 1);
    EXPECT_EQ(report.euler_number, 2);
    EXPECT_NEAR(report.volume, volume, tolerance * volume);
}

void expect_on(const RigidShape& shape, const SurfaceMesh& surface) {
    for (const Vector3d& x : surface.vertices) EXPECT_NEAR(shape.sample(x).gap, 0, 1e-12);
}

TEST(PrimitiveSurfaces, SphereIsClosedAndItsVerticesLieOnIt) {
    const SurfaceMesh surface = sphere_surface(0.3);
    // 2,048 chords: volume falls short by less than 1 %
    expect_closed_solid(surface, 4.0 / 3 * std::numbers::pi * 0.027, 0.01);
    expect_on(RigidShape::sphere(0.3), surface);
}

TEST(PrimitiveSurfaces, BoxIsClosedAndExact) {
    const Vector3d sizes(0.2, 0.5, 1.5);
    expect_closed_solid(box_surface(sizes), sizes.prod(), 1e-12);
    expect_on(RigidShape::box(0.5 * sizes), box_surface(sizes));
}

TEST(PrimitiveSurfaces, CapsuleIsClosedAndItsVerticesLieOnIt) {
    const double r = 0.2, length = 0.7;
    const SurfaceMesh surface = capsule_surface(r, length);
    expect_closed_solid(surface, std::numbers::pi * r * r * (length + 4.0 / 3 * r), 0.015);
    expect_on(RigidShape::capsule(r, 0.5 * length), surface);
}

TEST(PrimitiveSurfaces, WedgeStandsOnTheGroundWithItsEdgeUp) {
    const Vector3d sizes(0.4, 1.0, 0.3);
    const SurfaceMesh surface = wedge_surface(sizes);
    expect_closed_solid(surface, 0.5 * sizes.prod(), 1e-12);
    const Box box = bounding_box(surface.vertices);
    EXPECT_EQ(box.min(), Vector3d(-0.2, -0.5, 0));
    EXPECT_EQ(box.max(), Vector3d(0.2, 0.5, 0.3));
    EXPECT_LT(RigidShape::mesh(surface).sample(Vector3d(0, 0, 0.29)).gap, 0);
    EXPECT_GT(RigidShape::mesh(surface).sample(Vector3d(0.1, 0, 0.29)).gap, 0);
}

TEST(PrimitiveSurfaces, GroundIsASquareSeenFromAbove) {
    const SurfaceMesh surface = ground_surface(4);
    EXPECT_DOUBLE_EQ(surface_area(surface), 16);
    for (const Vector3d& n : face_normals(surface)) EXPECT_EQ(n, Vector3d::UnitZ());
}

}  // namespace
}  // namespace pliant
