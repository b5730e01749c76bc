#include "pliant/geometry/remesh.h"

#include "core/numbers.h"
#include "core/temporary_directory.h"
#include "geometry/decimate.h"
#include "geometry/simple_surfaces.h"
#include "geometry/test_meshes.h"
#include "input_error.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/mesh_archive.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/surface_check.h"
#include "pliant/geometry/surface_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3d;
using testing::HasSubstr;

TEST(Decimate, KeepsTopologyAndShapeDownToTheWantedNumber) {
    const SurfaceMesh torus = test::torus_surface(60, 30);
    for (const int wanted : {400, 60, 20}) {
        SCOPED_TRACE(wanted);
        const SurfaceMesh base = decimate(torus, wanted, Progress::none());
        const SurfaceReport report = check_surface(base);
        EXPECT_TRUE(report.is_clean()) << report.text();
        EXPECT_EQ(report.num_vertices, wanted);
        EXPECT_EQ(report.euler_number, 0);
        // as large a polyhedron as so many vertices near the surface give
        EXPECT_NEAR(enclosed_volume(base) / enclosed_volume(torus), 1,
                    wanted == 400  ? 0.03
                    : wanted == 60 ? 0.3
                                   : 0.5);
        const SurfaceQuery query(torus);
        for (const Vector3d& v : base.vertices)
            EXPECT_LT(query.closest(v).distance, wanted == 20 ? 0.3 : 0.2);
    }
}

TEST(Decimate, StopsWhereTopologyWouldChange) {
    // no torus has fewer than seven vertices
    const SurfaceMesh base = decimate(test::torus_surface(8, 6), 4, Progress::none());
    EXPECT_GE(base.num_vertices(), 7);
    EXPECT_LE(base.num_vertices(), 12);
    EXPECT_EQ(check_surface(base).euler_number, 0);
    EXPECT_TRUE(check_surface(base).is_closed());
    EXPECT_EQ(decimate(test::box_surface(), 4, Progress::none()).num_vertices(), 4);
}

TEST(Remesh, PutsATorusOnAHierarchy) {
    const SurfaceMesh torus = test::torus_surface(60, 30);
    RemeshReport report;
    const SemiRegularMesh mesh =
        remesh(torus, {.base_vertices = 40, .levels = 3}, Progress::none(), &report);
    EXPECT_EQ(mesh.num_vertices, (std::vector<int>{40, 160, 640, 2560}));
    EXPECT_EQ(report.genus, 1);
    EXPECT_EQ(report.num_base_vertices, 40);
    const SurfaceReport checked = check_surface(mesh.mesh);
    EXPECT_TRUE(checked.is_clean()) << checked.text();
    EXPECT_EQ(checked.euler_number, 0);
    EXPECT_LT(report.fallback_fraction(), 0.01);
    EXPECT_LT(report.mean_distance, 5e-4);
    EXPECT_LT(report.max_distance_back, 0.01);
    EXPECT_GT(report.smallest_angle, 12);
    EXPECT_EQ(report.num_flipped, 0);
    // every vertex lies on the input
    const SurfaceQuery query(torus);
    for (const Vector3d& v : mesh.mesh.vertices) EXPECT_LT(query.closest(v).distance, 1e-14);
    // levels as those of any hierarchy
    const SemiRegularMesh split = midpoint_subdivide(
        {{mesh.mesh.vertices.begin(), mesh.mesh.vertices.begin() + 40}, mesh.triangles.front()}, 3);
    EXPECT_EQ(split.triangles, mesh.triangles);
    EXPECT_EQ(split.neighbourhood, mesh.neighbourhood);
}

TEST(Remesh, KeepsTheFingersOfAHand) {
    RemeshReport report;
    const SurfaceMesh hand = make_shape("hand", 36);
    const SemiRegularMesh mesh =
        remesh(hand, {.base_vertices = 150, .levels = 2}, Progress::none(), &report);
    EXPECT_EQ(report.genus, 1 - check_surface(hand).euler_number / 2);
    EXPECT_EQ(check_surface(mesh.mesh).euler_number, check_surface(hand).euler_number);
    EXPECT_TRUE(check_surface(mesh.mesh).is_clean());
    EXPECT_LT(report.fallback_fraction(), 0.02);
    EXPECT_LT(report.mean_distance, 1e-3);
    EXPECT_LT(report.mean_distance_back, 1e-3);
    EXPECT_LT(report.max_distance_back, 0.015);
    EXPECT_LT(report.num_flipped, 5);
    EXPECT_NEAR(report.volume_ratio, 1, 0.03);
    EXPECT_THAT(report.text(), HasSubstr("150 base vertices, genus "));
}

/// docs/geometry-subdivision.md: sixty vertices are too few for five fingers.
TEST(Remesh, ABaseTooCoarseFallsBackAndSaysThatItFolds) {
    RemeshReport report;
    const SurfaceMesh hand = make_shape("hand", 36);
    const SemiRegularMesh mesh =
        remesh(hand, {.base_vertices = 60, .levels = 3}, Progress::none(), &report);
    // measured 49 and 489 of 4,032
    EXPECT_GT(report.num_closest, 10);
    EXPECT_GT(report.num_averaged, 100);
    EXPECT_EQ(report.num_pierced + report.num_closest + report.num_averaged,
              mesh.num_vertices.back() - report.num_base_vertices);
    EXPECT_NEAR(report.fallback_fraction(),
                double(report.num_closest + report.num_averaged) /
                    (mesh.num_vertices.back() - report.num_base_vertices),
                1e-12);
    // wherever vertices came from, they lie on the input
    const SurfaceQuery query(hand);
    for (const Vector3d& v : mesh.mesh.vertices) EXPECT_LT(query.closest(v).distance, 1e-14);
    EXPECT_EQ(check_surface(mesh.mesh).euler_number, check_surface(hand).euler_number);
    // triangles that face away, counted once more
    const std::vector<Vector3d> own = face_normals(mesh.mesh), faces = face_normals(hand);
    int num_flipped = 0;
    for (int t = 0; t < mesh.mesh.num_triangles(); ++t) {
        const Vector3d centre =
            (mesh.mesh.corner(t, 0) + mesh.mesh.corner(t, 1) + mesh.mesh.corner(t, 2)) / 3;
        num_flipped += own[at(t)].dot(faces[at(query.closest(centre).triangle)]) < 0;
    }
    EXPECT_GT(num_flipped, 100);
    EXPECT_EQ(report.num_flipped, num_flipped);
    EXPECT_THAT(report.text(), HasSubstr(std::to_string(num_flipped) + " triangles flipped"));
}

TEST(Remesh, MeasuresWhatItReports) {
    // no rounds of smoothing and no levels: the decimated box itself
    RemeshReport report;
    const SurfaceMesh box = midpoint_subdivide(test::box_surface({0, 0, 0}, {3, 4, 12}), 2).mesh;
    const SemiRegularMesh mesh =
        remesh(box, {.base_vertices = box.num_vertices(), .levels = 0, .smoothing = 0},
               Progress::none(), &report);
    EXPECT_EQ(mesh.mesh.triangles, box.triangles);
    EXPECT_LT(report.max_distance, 1e-15);
    EXPECT_LT(report.max_distance_back, 1e-15);
    EXPECT_NEAR(report.volume_ratio, 1, 1e-14);
    EXPECT_NEAR(report.smallest_angle, std::atan2(3, 12) * 180 / std::numbers::pi, 1e-9);
    EXPECT_NEAR(report.edge_ratio, std::hypot(4.0, 12.0) / 3, 1e-12);
    EXPECT_EQ(report.num_flipped, 0);
    EXPECT_EQ(report.fallback_fraction(), 0);
}

TEST(Remesh, IsTheSameEveryTimeAndSurvivesTheArchive) {
    const SurfaceMesh torus = test::torus_surface(40, 20);
    const RemeshOptions options{.base_vertices = 30, .levels = 2};
    set_num_threads(1);
    const SemiRegularMesh first = remesh(torus, options);
    set_num_threads(2);
    const SemiRegularMesh second = remesh(torus, options);
    set_num_threads(0);
    EXPECT_EQ(first.mesh.vertices, second.mesh.vertices);
    EXPECT_EQ(first.mesh.triangles, second.mesh.triangles);

    const test::TemporaryDirectory directory;
    ArchiveWriter writer(kSemiRegularKind);
    add_semi_regular_mesh(writer, first);
    writer.save(directory / "m.pliant");
    const SemiRegularMesh read = read_semi_regular_mesh(Archive(directory / "m.pliant"), "m");
    EXPECT_EQ(read.mesh.vertices, first.mesh.vertices);
    EXPECT_EQ(read.neighbourhood, first.neighbourhood);
}

TEST(Remesh, StopsWhenAsked) {
    Progress progress;
    progress.cancel();
    EXPECT_THROW(
        (void)remesh(test::torus_surface(20, 10), {.base_vertices = 30, .levels = 1}, progress),
        Cancelled);
}

TEST(Remesh, BadInputIsRefused) {
    const auto message = [](const SurfaceMesh& mesh, const RemeshOptions& options = {}) {
        return test::input_error([&] { (void)remesh(mesh, options); });
    };
    const SurfaceMesh torus = test::torus_surface(20, 10);
    SurfaceMesh open = torus;
    open.triangles.pop_back();
    EXPECT_THAT(
        message(open, {.base_vertices = 20}),
        HasSubstr("a mesh to remesh must be closed and manifold, but this has 3 open edges"));
    SurfaceMesh two = torus;
    append(two, test::box_surface({5, 5, 5}, {6, 6, 6}));
    EXPECT_EQ(
        message(two, {.base_vertices = 20}),
        "a mesh to remesh must be in one piece, but this is in 2; remesh its parts one by one");
    // closed, but flat
    const SurfaceMesh flat{{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}},
                           {{0, 2, 1}, {0, 3, 2}, {0, 1, 3}, {1, 2, 3}}};
    EXPECT_EQ(message(flat, {.base_vertices = 4}),
              "a mesh to remesh must be a body, but this encloses no volume; give the sheet a "
              "thickness first");
    SurfaceMesh broken = torus;
    broken.vertices[3].x() = kNan;
    EXPECT_THAT(message(broken, {.base_vertices = 20}), HasSubstr("not finite"));
    broken = torus;
    broken.triangles[7][1] = 5000;
    EXPECT_FALSE(message(broken, {.base_vertices = 20}).empty());
    EXPECT_THAT(message({}), HasSubstr("no triangles"));
    EXPECT_EQ(message(torus, {.base_vertices = 3}),
              "base_vertices = 3 (expected 4 … 200, the number of vertices of the input)");
    EXPECT_THAT(message(torus, {.base_vertices = 201}), HasSubstr("base_vertices = 201"));
    EXPECT_THAT(message(torus, {.base_vertices = 20, .levels = -1}), HasSubstr("levels = -1"));
    EXPECT_THAT(message(torus, {.base_vertices = 200, .levels = 12}), HasSubstr("levels = 12"));
    EXPECT_THAT(message(torus, {.base_vertices = 20, .levels = 1, .smoothing = -1}),
                HasSubstr("smoothing = -1"));
    EXPECT_THAT(message(torus, {.base_vertices = 20, .levels = 1, .evenness = kNan}),
                HasSubstr("evenness = nan"));
}

}  // namespace
}  // namespace pliant
