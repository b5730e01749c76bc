#include "pliant/geometry/surface_check.h"

#include "geometry/simple_surfaces.h"

#include <gtest/gtest.h>

#include <limits>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::band_surface;
using test::box_surface;
using test::torus_surface;

TEST(SurfaceCheck, BoxIsCleanClosedAndManifold) {
    const SurfaceReport report = check_surface(box_surface());
    EXPECT_TRUE(report.is_clean());
    EXPECT_TRUE(report.is_closed());
    EXPECT_TRUE(report.is_manifold());
    EXPECT_EQ(report.text(), "");
    EXPECT_EQ(report.num_components, 1);
    EXPECT_EQ(report.euler_number, 2);
    EXPECT_NEAR(report.volume, 1, 1e-15);
    EXPECT_NEAR(report.area, 6, 1e-15);
    EXPECT_EQ(report.box.max(), Vector3d::Ones());
}

TEST(SurfaceCheck, AbsurdMagnitudesAreReportedAndLeaveTheRestFinite) {
    SurfaceMesh mesh = box_surface();
    mesh.vertices.emplace_back(1e200, 0, 0);
    mesh.triangles.push_back({0, 1, 8});
    const SurfaceReport report = check_surface(mesh);
    EXPECT_EQ(report.text(), "1 vertex that is not finite or beyond 1e30 (at vertex 8)");
    EXPECT_NEAR(report.area, 6, 1e-15);
    EXPECT_EQ(report.box.max(), Vector3d::Ones());
    const double largest = 1e30;
    const SurfaceReport large =
        check_surface(box_surface(Vector3d::Constant(-largest), Vector3d::Constant(largest)));
    EXPECT_TRUE(large.is_clean());
    EXPECT_NEAR(large.volume, 8e90, 1e76);
}

TEST(SurfaceCheck, EmptyMeshIsReported) {
    const SurfaceReport report = check_surface({});
    EXPECT_FALSE(report.is_closed());
    EXPECT_EQ(report.text(), "no triangles");
}

TEST(SurfaceCheck, WithoutAUsableTriangleNothingIsClosed) {
    SurfaceMesh mesh = box_surface();
    mesh.triangles = {{0, 0, 1}, {0, 1, 100}};
    const SurfaceReport report = check_surface(mesh);
    EXPECT_EQ(report.num_triangles, 2);
    EXPECT_EQ(report.num_components, 0);
    EXPECT_FALSE(report.is_closed());
}

TEST(SurfaceCheck, MissingTriangleLeavesThreeOpenEdges) {
    SurfaceMesh mesh = box_surface();
    mesh.triangles.erase(mesh.triangles.begin() + 2);
    const SurfaceReport report = check_surface(mesh);
    EXPECT_EQ(report.open_edges.count, 3);
    EXPECT_FALSE(report.is_closed());
    EXPECT_TRUE(report.is_manifold());
    EXPECT_EQ(report.volume, 0);
    EXPECT_EQ(report.text(), "3 open edges (first at triangle 2)");
}

TEST(SurfaceCheck, SingleDefectIsWordedInTheSingular) {
    SurfaceReport report;
    report.num_triangles = 1;
    report.open_edges = {1, 7};
    EXPECT_EQ(report.text(), "1 open edge (at triangle 7)");
    report.open_edges = {12, 431};
    EXPECT_EQ(report.text(), "12 open edges (first at triangle 431)");
}

TEST(SurfaceCheck, TurnedTriangleIsInconsistentWithItsNeighbours) {
    SurfaceMesh mesh = box_surface();
    std::swap(mesh.triangles[5][0], mesh.triangles[5][1]);
    const SurfaceReport report = check_surface(mesh);
    EXPECT_EQ(report.inconsistent_edges.count, 3);
    EXPECT_FALSE(report.is_closed());
    EXPECT_EQ(report.text(),
              "3 edges between triangles of opposite orientation (first at triangle 2)");
}

TEST(SurfaceCheck, ReversedBoxIsInsideOut) {
    SurfaceMesh mesh = box_surface();
    for (Triangle& t : mesh.triangles) std::swap(t[0], t[1]);
    const SurfaceReport report = check_surface(mesh);
    EXPECT_TRUE(report.is_inside_out);
    EXPECT_TRUE(report.is_closed());
    EXPECT_FALSE(report.is_clean());
    EXPECT_EQ(report.text(), "the surface is inside out: its volume is negative");
}

TEST(SurfaceCheck, CavityIsNotInsideOut) {
    SurfaceMesh mesh = box_surface({0.2, 0.2, 0.2}, {0.8, 0.8, 0.8});
    for (Triangle& t : mesh.triangles) std::swap(t[0], t[1]);
    append(mesh, box_surface());
    const SurfaceReport report = check_surface(mesh);
    EXPECT_TRUE(report.is_clean());
    EXPECT_EQ(report.num_components, 2);
    EXPECT_NEAR(report.volume, 1 - 0.6 * 0.6 * 0.6, 1e-14);
}

TEST(SurfaceCheck, BadIndicesAndNonFiniteVerticesAreCountedAndTheRestStillChecked) {
    SurfaceMesh mesh = box_surface();
    mesh.vertices.emplace_back(std::numeric_limits<double>::quiet_NaN(), 0, 0);
    mesh.vertices.emplace_back(5, 5, 5);
    mesh.triangles.insert(mesh.triangles.begin() + 3, {0, 1, 100});
    mesh.triangles.push_back({-1, 1, 2});
    mesh.triangles.push_back({0, 1, 8});
    const SurfaceReport report = check_surface(mesh);
    EXPECT_EQ(report.text(),
              "2 triangles with a vertex index out of range (first at triangle 3)\n"
              "1 vertex that is not finite or beyond 1e30 (at vertex 8)\n"
              "1 unused vertex (at vertex 9)");
    EXPECT_TRUE(report.is_closed());
    EXPECT_EQ(report.box.max(), Vector3d::Constant(5));
}

TEST(SurfaceCheck, DegenerateAndDuplicateTrianglesAreFound) {
    SurfaceMesh mesh = box_surface();
    mesh.vertices.emplace_back(0.5, 0, 0);  // on the edge 0–1
    mesh.triangles.push_back({3, 2, 0});    // the first triangle, other way round
    mesh.triangles.push_back({4, 4, 5});    // repeated corner
    mesh.triangles.push_back({0, 8, 1});    // on a line
    const SurfaceReport report = check_surface(mesh);
    EXPECT_EQ(report.duplicate_triangles.count, 1);
    EXPECT_EQ(report.duplicate_triangles.first, 12);
    EXPECT_EQ(report.degenerate_triangles.count, 2);
    EXPECT_EQ(report.degenerate_triangles.first, 13);
    EXPECT_NE(report.text().find("1 duplicate triangle (at triangle 12)"), std::string::npos);
    EXPECT_NE(report.text().find("2 degenerate triangles (first at triangle 13)"),
              std::string::npos);
}

TEST(SurfaceCheck, TriangleWithRepeatedCornerDoesNotSpoilItsEdges) {
    SurfaceMesh mesh = box_surface();
    mesh.triangles.push_back({0, 0, 1});
    const SurfaceReport report = check_surface(mesh);
    EXPECT_TRUE(report.is_closed());
    EXPECT_EQ(report.text(), "1 degenerate triangle (at triangle 12)");
}

TEST(SurfaceCheck, BoxesSharingAnEdgeHaveANonManifoldEdge) {
    SurfaceMesh mesh = box_surface();
    append(mesh, box_surface({1, 1, 0}, {2, 2, 1}));
    // the second box's vertices 0 and 4 are the first one's 3 and 7
    for (Triangle& t : mesh.triangles)
        for (int& v : t) v = v == 8 ? 3 : v == 12 ? 7 : v;
    const SurfaceReport report = check_surface(mesh);
    EXPECT_EQ(report.non_manifold_edges.count, 1);
    EXPECT_FALSE(report.is_manifold());
    EXPECT_FALSE(report.is_closed());
    EXPECT_NE(report.text().find("1 edge shared by more than two triangles (at triangle 7)"),
              std::string::npos)
        << report.text();
    EXPECT_EQ(report.unused_vertices.count, 2);
}

TEST(SurfaceCheck, BoxesSharingACornerHaveANonManifoldVertex) {
    SurfaceMesh mesh = box_surface();
    append(mesh, box_surface({1, 1, 1}, {2, 2, 2}));
    for (Triangle& t : mesh.triangles)
        for (int& v : t) v = v == 8 ? 7 : v;
    const SurfaceReport report = check_surface(mesh);
    EXPECT_EQ(report.non_manifold_edges.count, 0);
    EXPECT_EQ(report.non_manifold_vertices.count, 1);
    EXPECT_EQ(report.non_manifold_vertices.first, 7);
    EXPECT_FALSE(report.is_manifold());
    EXPECT_TRUE(report.is_closed());
    EXPECT_NE(report.text().find("1 vertex where separate fans meet (at vertex 7)"),
              std::string::npos);
}

TEST(SurfaceCheck, MoebiusBandIsOpenAndInconsistent) {
    const SurfaceReport plain = check_surface(band_surface(12, false));
    EXPECT_EQ(plain.inconsistent_edges.count, 0);
    const SurfaceReport twisted = check_surface(band_surface(12, true));
    EXPECT_EQ(twisted.open_edges.count, 24);
    EXPECT_EQ(twisted.inconsistent_edges.count, 1);
    EXPECT_TRUE(twisted.is_manifold());
}

}  // namespace
}  // namespace pliant
