#include "pliant/geometry/surface_mesh.h"

#include "geometry/simple_surfaces.h"

#include <gtest/gtest.h>

#include <numbers>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::box_surface;
using test::torus_surface;

TEST(SurfaceMesh, BoxHasItsAreaVolumeAndBounds) {
    const SurfaceMesh mesh = box_surface({1, 2, 3}, {2, 4, 6});
    EXPECT_NEAR(surface_area(mesh), 2 * (1 * 2 + 2 * 3 + 3 * 1), 1e-14);
    EXPECT_NEAR(enclosed_volume(mesh), 6, 1e-14);
    const Box box = bounding_box(mesh.vertices);
    EXPECT_EQ(box.min(), Vector3d(1, 2, 3));
    EXPECT_EQ(box.max(), Vector3d(2, 4, 6));
}

TEST(SurfaceMesh, EmptyMeshHasNoAreaVolumeOrBox) {
    const SurfaceMesh mesh;
    EXPECT_EQ(surface_area(mesh), 0);
    EXPECT_EQ(enclosed_volume(mesh), 0);
    EXPECT_TRUE(bounding_box(mesh.vertices).isEmpty());
}

TEST(SurfaceMesh, VolumeKeepsItsDigitsFarFromTheOrigin) {
    const Vector3d far(1e6, -2e6, 3e6);
    const SurfaceMesh mesh = box_surface(far, far + Vector3d::Ones());
    EXPECT_NEAR(enclosed_volume(mesh), 1, 1e-12);
}

TEST(SurfaceMesh, VolumeChangesSignWithTheOrientation) {
    SurfaceMesh mesh = box_surface();
    for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
    EXPECT_NEAR(enclosed_volume(mesh), -1, 1e-14);
}

TEST(SurfaceMesh, TorusVolumeConvergesToPappus) {
    // 2 π² R r², approached from below at second order
    const double exact = 2 * std::numbers::pi * std::numbers::pi * 0.4 * 0.4;
    const double coarse = exact - enclosed_volume(torus_surface(40, 20));
    const double fine = exact - enclosed_volume(torus_surface(80, 40));
    EXPECT_GT(fine, 0);
    EXPECT_NEAR(coarse / fine, 4, 0.1);
}

TEST(SurfaceMesh, AppendingManyPartsRarelyMovesThem) {
    SurfaceMesh mesh;
    const SurfaceMesh part = box_surface();
    int num_moves = 0;
    for (int i = 0; i < 2000; ++i) {
        const auto capacity = mesh.vertices.capacity() + mesh.triangles.capacity();
        append(mesh, part);
        num_moves += mesh.vertices.capacity() + mesh.triangles.capacity() != capacity;
    }
    EXPECT_LT(num_moves, 50);  // twice the logarithm of the size
    append(mesh, mesh);
    EXPECT_EQ(mesh.num_triangles(), 4000 * 12);
    EXPECT_NEAR(enclosed_volume(mesh), 4000, 1e-9);
}

TEST(SurfaceMesh, ScalingSetsTheLongestSideAndKeepsTheCentre) {
    SurfaceMesh mesh = box_surface({1, 1, 1}, {3, 2, 5});
    scale_to_size(mesh, 0.2);
    const Box box = bounding_box(mesh.vertices);
    EXPECT_NEAR((box.center() - Vector3d(2, 1.5, 3)).norm(), 0, 1e-15);
    EXPECT_NEAR((box.sizes() - Vector3d(0.1, 0.05, 0.2)).norm(), 0, 1e-15);
}

TEST(SurfaceMesh, VerticesThatNoTriangleUsesDoNotCountAsSize) {
    SurfaceMesh mesh = box_surface({1, 1, 1}, {3, 2, 5});
    mesh.vertices.push_back({1000, 0, 0});
    scale_to_size(mesh, 0.2);
    EXPECT_NEAR((box_of_triangles(mesh).sizes() - Vector3d(0.1, 0.05, 0.2)).norm(), 0, 1e-15);
}

TEST(SurfaceMesh, ScalingASinglePointLeavesItAlone) {
    SurfaceMesh mesh;
    mesh.vertices = {{1, 2, 3}};
    scale_to_size(mesh, 1);
    EXPECT_EQ(mesh.vertices[0], Vector3d(1, 2, 3));
}

TEST(SurfaceMesh, PointsWithoutTrianglesAreScaledToo) {
    SurfaceMesh mesh;
    mesh.vertices = {{1, 0, 0}, {3, 0, 0}};
    scale_to_size(mesh, 1);
    EXPECT_EQ(mesh.vertices[0], Vector3d(1.5, 0, 0));
    EXPECT_EQ(mesh.vertices[1], Vector3d(2.5, 0, 0));
}

TEST(SurfaceMesh, AppendShiftsIndicesAlsoWhenAppendedToItself) {
    SurfaceMesh mesh = box_surface();
    append(mesh, box_surface({2, 0, 0}, {3, 1, 1}));
    EXPECT_EQ(mesh.num_vertices(), 16);
    EXPECT_EQ(mesh.triangles[12], (Triangle{8, 10, 11}));
    append(mesh, mesh);
    EXPECT_EQ(mesh.num_triangles(), 48);
    EXPECT_EQ(mesh.triangles[36], (Triangle{24, 26, 27}));
    EXPECT_NEAR(enclosed_volume(mesh), 4, 1e-13);
}

TEST(SurfaceMesh, FaceNormalsAreUnitAndOutward) {
    const SurfaceMesh mesh = box_surface();
    const auto normals = face_normals(mesh);
    EXPECT_EQ(normals[0], Vector3d(0, 0, -1));
    EXPECT_EQ(normals[2], Vector3d(0, 0, 1));
    EXPECT_EQ(normals[8], Vector3d(-1, 0, 0));
}

TEST(SurfaceMesh, DegenerateFacesHaveZeroNormals) {
    SurfaceMesh mesh;
    // exactly collinear, repeated corner, and collinear up to round-off
    const Vector3d direction(0.1, 0.7, -0.3);
    mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, direction / 3, 2 * direction, 7 * direction};
    mesh.triangles = {{0, 1, 2}, {0, 0, 1}, {3, 4, 5}};
    for (const Vector3d& n : face_normals(mesh)) EXPECT_EQ(n, Vector3d::Zero());
    for (const Vector3d& n : vertex_normals(mesh)) EXPECT_EQ(n, Vector3d::Zero());
}

TEST(SurfaceMesh, TinyTrianglesStillHaveNormals) {
    SurfaceMesh mesh = box_surface(Vector3d::Zero(), Vector3d::Constant(1e-9));
    EXPECT_NEAR((face_normals(mesh)[0] - Vector3d(0, 0, -1)).norm(), 0, 1e-15);
}

TEST(SurfaceMesh, VertexNormalsDoNotDependOnHowAFaceIsCut) {
    // each side of the box meets the corner with 90° in all, in one or in two triangles
    const SurfaceMesh mesh = box_surface();
    const auto normals = vertex_normals(mesh);
    for (int v = 0; v < 8; ++v) {
        const Vector3d expected = (2 * mesh.vertices[v] - Vector3d::Ones()).normalized();
        EXPECT_NEAR((normals[v] - expected).norm(), 0, 1e-15) << v;
    }
}

TEST(SurfaceMesh, VertexNormalsApproachThoseOfTheTorus) {
    const SurfaceMesh mesh = torus_surface(96, 48);
    const auto normals = vertex_normals(mesh);
    for (int v = 0; v < mesh.num_vertices(); ++v) {
        const Vector3d& x = mesh.vertices[v];
        const Vector3d ring = Vector3d(x.x(), x.y(), 0).normalized();
        EXPECT_LT((normals[v] - (x - ring) / 0.4).norm(), 0.02);
    }
}

}  // namespace
}  // namespace pliant
