#include "pliant/geometry/voxel_mesh.h"

#include "geometry/hex_checks.h"
#include "geometry/test_meshes.h"
#include "input_error.h"
#include "pliant/core/parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace pliant {
namespace {

using testing::HasSubstr;

VolumeMesh voxels(const SurfaceMesh& mesh, int resolution, bool is_hollow = false) {
    VoxelOptions options;
    options.resolution = resolution;
    options.is_hollow = is_hollow;
    return build_voxel_mesh(SurfaceQuery(mesh), options);
}

void expect_sound(const VolumeMesh& mesh, const SurfaceMesh& surface, double cell_size) {
    EXPECT_TRUE(test::are_cubes_in_vtk_order(mesh));
    EXPECT_TRUE(test::is_every_vertex_used(mesh));
    EXPECT_TRUE(test::is_ordered(mesh, 0.1 * cell_size));
    EXPECT_TRUE(mesh.hanging.empty());
    EXPECT_EQ(static_cast<int>(mesh.filled.size()), mesh.num_elements());
    for (const double fraction : mesh.filled) {
        EXPECT_GT(fraction, 0.0);
        EXPECT_LE(fraction, 1.0);
    }
    std::set<int> used;
    for (const Triangle& t : surface.triangles) used.insert(t.begin(), t.end());
    std::vector<Eigen::Vector3d> corners;
    for (const int v : used) corners.push_back(surface.vertices[static_cast<std::size_t>(v)]);
    EXPECT_EQ(test::num_uncovered(mesh, corners, 1e-6 * cell_size), 0);
}

TEST(VoxelMesh, WeightedVolumeMatchesAndPlainVolumeOvershoots) {
    const Eigen::Vector3d shift(0.311, -0.127, 0.053);
    for (const SurfaceMesh& surface : {test::moved(test::make_sphere(1.0, 30), shift),
                                       test::moved(test::make_torus(1.0, 0.35, 48, 24), shift),
                                       test::moved(test::make_cube(), shift)})
        for (const int resolution : {30, 41}) {
            const VolumeMesh mesh = voxels(surface, resolution);
            const double exact = enclosed_volume(surface);
            EXPECT_NEAR(test::volume_of_cells(mesh, true) / exact, 1.0, 0.005);
            EXPECT_GE(test::volume_of_cells(mesh, false) / exact, 1.0 - 1e-9);
            const double cell =
                1.2 * bounding_box(surface.vertices).sizes().maxCoeff() / resolution;
            expect_sound(mesh, surface, cell);
        }
}

TEST(VoxelMesh, WallsOnCellBordersGiveExactlyTheCellsInside) {
    // 12 cells over 1.2 times the side: ten cells fit exactly
    const VolumeMesh solid = voxels(test::make_cube(), 12);
    EXPECT_EQ(solid.num_elements(), 1000);
    EXPECT_EQ(solid.num_vertices(), 1331);
    for (const double fraction : solid.filled) EXPECT_NEAR(fraction, 1.0, 1e-9);
    EXPECT_EQ(voxels(test::make_cube(), 12, true).num_elements(), 1000 - 512);
}

TEST(VoxelMesh, HollowKeepsExactlyTheCutCellsOfSolid) {
    const SurfaceMesh sphere = test::make_sphere(1.0, 24);
    const VolumeMesh solid = voxels(sphere, 24), hollow = voxels(sphere, 24, true);
    EXPECT_LT(hollow.num_elements(), solid.num_elements());
    std::size_t next = 0;
    for (int e = 0; e < solid.num_elements(); ++e) {
        const auto h = static_cast<int>(next);
        if (h < hollow.num_elements() &&
            test::cell_box(solid, e).center().isApprox(test::cell_box(hollow, h).center(), 1e-12)) {
            EXPECT_EQ(solid.filled[static_cast<std::size_t>(e)], hollow.filled[next]);
            ++next;
        } else {
            EXPECT_EQ(solid.filled[static_cast<std::size_t>(e)], 1.0);
        }
    }
    EXPECT_EQ(static_cast<int>(next), hollow.num_elements());
    expect_sound(hollow, sphere, 0.1);
}

TEST(VoxelMesh, OverlappingSpheresCountOnce) {
    const double radius = 1.0, distance = 1.1;
    SurfaceMesh soup = test::joined(test::make_sphere(radius, 40),
                                    test::moved(test::make_sphere(radius, 40), {distance, 0, 0}));
    const double lens = std::numbers::pi / 12 * (4 * radius + distance) * (2 * radius - distance) *
                        (2 * radius - distance);
    const double exact = 2 * enclosed_volume(test::make_sphere(radius, 40)) - lens;
    EXPECT_NEAR(test::volume_of_cells(voxels(soup, 60), true) / exact, 1.0, 0.005);

    // without shared vertices, as from an STL file
    SurfaceMesh unwelded;
    for (const Triangle& t : soup.triangles) {
        const int first = unwelded.num_vertices();
        for (const int v : t)
            unwelded.vertices.push_back(soup.vertices[static_cast<std::size_t>(v)]);
        unwelded.triangles.push_back({first, first + 1, first + 2});
    }
    EXPECT_TRUE(test::same_mesh(voxels(soup, 30), voxels(unwelded, 30)));
}

TEST(VoxelMesh, ACavityStaysEmpty) {
    const SurfaceMesh shell =
        test::joined(test::make_sphere(1.0, 32), test::flipped(test::make_sphere(0.6, 32)));
    const VolumeMesh mesh = voxels(shell, 40);
    for (int e = 0; e < mesh.num_elements(); ++e)
        EXPECT_GT(test::cell_box(mesh, e).center().norm(), 0.5);
    EXPECT_NEAR(test::volume_of_cells(mesh, true) / enclosed_volume(shell), 1.0, 0.005);
}

TEST(VoxelMesh, ASheetBecomesOneLayerBehindItWithTheLeastFraction) {
    // the sheet lies on the middle plane between two layers of cells
    const VolumeMesh mesh = voxels(test::make_sheet(), 12);
    EXPECT_EQ(mesh.num_elements(), 100);
    for (int e = 0; e < mesh.num_elements(); ++e) {
        EXPECT_NEAR(test::cell_box(mesh, e).max().z(), 0.0, 1e-12);
        EXPECT_DOUBLE_EQ(mesh.filled[static_cast<std::size_t>(e)], 1.0 / 128);
    }
    expect_sound(mesh, test::make_sheet(), 0.1);
}

TEST(VoxelMesh, ASphereWithAHoleLargerThanACellIsStillFilled) {
    SurfaceMesh sphere = test::make_sphere(1.0, 40);
    const double exact = enclosed_volume(sphere);
    std::erase_if(sphere.triangles, [&](const Triangle& t) {
        return sphere.vertices[static_cast<std::size_t>(t[0])].z() > 0.97;  // 14 degrees wide
    });
    const VolumeMesh mesh = voxels(sphere, 40);
    EXPECT_NEAR(test::volume_of_cells(mesh, true) / exact, 1.0, 0.01);  // the cap's height is lost
    expect_sound(mesh, sphere, 0.06);
}

TEST(VoxelMesh, TrianglesTurnedOverDoNotChangeTheVolume) {
    SurfaceMesh sphere = test::make_sphere(1.0, 20);
    const double exact = enclosed_volume(sphere);
    for (std::size_t t = 0; t < sphere.triangles.size(); t += 7)
        std::swap(sphere.triangles[t][0], sphere.triangles[t][1]);
    EXPECT_NEAR(test::volume_of_cells(voxels(sphere, 40), true) / exact, 1.0, 0.01);
}

TEST(VoxelMesh, LooseTrianglesAreCovered) {
    const SurfaceMesh soup = test::make_random_soup(200, 7);
    expect_sound(voxels(soup, 32), soup, 0.07);
}

TEST(VoxelMesh, DegenerateTrianglesAndStrayVerticesAreHandled) {
    // a wire of triangles without area along a grid line, and a vertex that no triangle uses
    SurfaceMesh wire;
    wire.vertices = {{0, 0, 0}, {0.5, 0, 0}, {1, 0, 0}, {100, 100, 100}};
    wire.triangles = {{0, 1, 1}, {1, 2, 1}};
    const VolumeMesh mesh = voxels(wire, 12);
    EXPECT_EQ(test::num_uncovered(mesh, {{0, 0, 0}, {0.3, 0, 0}, {1, 0, 0}}, 1e-9), 0);
    EXPECT_LE(mesh.num_elements(), 4 * 12);
}

TEST(VoxelMesh, NeedlesAlongCellBordersAreCovered) {
    // thinner than what is left out between cells, and in the middle of the box
    SurfaceMesh needle;
    needle.vertices = {{0, 0, -1}, {0, 0, 1}, {0, 1e-11, 0}};
    needle.triangles = {{0, 1, 2}};
    EXPECT_GE(voxels(needle, 8).num_elements(), 6);
}

TEST(VoxelMesh, LongTrianglesMarkOnlyTheCellsTheyCross) {
    // one big oblique triangle: cells within half a cell diagonal of its plane, and no others
    SurfaceMesh triangle;
    triangle.vertices = {{0, 0, 0.1}, {1, 0.1, 0.9}, {0.2, 1, 0.5}};
    triangle.triangles = {{0, 1, 2}};
    const VolumeMesh mesh = voxels(triangle, 60);
    const SurfaceQuery query(triangle);
    const double half_diagonal = 0.5 * std::sqrt(3.0) * 1.2 / 60;
    for (int e = 0; e < mesh.num_elements(); ++e)
        EXPECT_LE(query.closest(test::cell_box(mesh, e).center()).distance,
                  half_diagonal * (1 + 1e-6));
    std::vector<Eigen::Vector3d> points;
    test::Random random(3);
    for (int i = 0; i < 2000; ++i) {
        double a = random.uniform(0, 1), b = random.uniform(0, 1);
        if (a + b > 1) a = 1 - a, b = 1 - b;
        points.push_back(triangle.corner(0, 0) +
                         a * (triangle.corner(0, 1) - triangle.corner(0, 0)) +
                         b * (triangle.corner(0, 2) - triangle.corner(0, 0)));
    }
    EXPECT_EQ(test::num_uncovered(mesh, points, 1e-6 * 0.02), 0);
}

TEST(VoxelMesh, IsTheSameForAnyNumberOfThreads) {
    SurfaceMesh open = test::make_sphere(1.0, 20);
    open.triangles.resize(open.triangles.size() - 60);
    for (const SurfaceMesh& surface : {test::make_torus(1.0, 0.4, 60, 40), open}) {
        set_num_threads(1);
        const VolumeMesh alone = voxels(surface, 30);
        set_num_threads(2);
        const VolumeMesh together = voxels(surface, 30);
        set_num_threads(0);
        EXPECT_TRUE(test::same_mesh(alone, together));
    }
}

TEST(VoxelMesh, ScaleAndPlaceDoNotMatter) {
    const VolumeMesh here = voxels(test::make_torus(1.0, 0.4, 40, 20), 25);
    SurfaceMesh torus = test::make_torus(1e-3, 0.4e-3, 40, 20);
    const VolumeMesh there = voxels(test::moved(torus, {5, -7, 9}), 25);
    EXPECT_EQ(here.elements, there.elements);
    for (std::size_t e = 0; e < here.filled.size(); ++e)
        EXPECT_NEAR(here.filled[e], there.filled[e], 0.08);  // a ray may pass beside an edge
}

TEST(VoxelMesh, SurfacesTooSmallForTheirPlaceAreRefused) {
    const auto cube_at = [](double place, double side) {
        SurfaceMesh cube = test::make_cube();
        for (Eigen::Vector3d& v : cube.vertices) v = (side * v).array() + place;
        return cube;
    };
    const std::string refusal = "the surface is too small for its distance from the origin";
    for (const double ulps : {1.0, 2.0, 3.0, 5.0, 1e5})
        EXPECT_THAT(test::input_error([&] { (void)voxels(cube_at(1.0, ulps * 0x1p-52), 8); }),
                    HasSubstr(refusal));
    EXPECT_THAT(test::input_error([&] { (void)voxels(cube_at(1e20, 1e9), 8); }),
                HasSubstr(refusal));
    // little larger ones reach over the border of their window by rounding
    test::Random random(5);
    for (int trial = 0; trial < 12; ++trial)
        for (const int resolution : {8, 60}) {
            const double place = random.uniform(1.0, 2.0);
            VoxelOptions options{.resolution = resolution, .expansion = 1.0};
            const SurfaceMesh cube = cube_at(place, 3e-9);
            const VolumeMesh mesh = build_voxel_mesh(SurfaceQuery(cube), options);
            EXPECT_NEAR(total_volume(mesh, true) / enclosed_volume(cube), 1.0, 0.01);
        }
}

TEST(VoxelMesh, BadInputIsRefused) {
    const SurfaceQuery cube(test::make_cube());
    const auto error_of = [&](auto&& change) {
        VoxelOptions options;
        change(options);
        return test::input_error([&] { (void)build_voxel_mesh(cube, options); });
    };
    EXPECT_THAT(error_of([](VoxelOptions& o) { o.resolution = 1; }),
                HasSubstr("resolution = 1 (expected 2 to 1024)"));
    EXPECT_THAT(error_of([](VoxelOptions& o) { o.resolution = 1025; }),
                HasSubstr("resolution = 1025 (expected 2 to 1024)"));
    EXPECT_THAT(error_of([](VoxelOptions& o) { o.expansion = 0.5; }),
                HasSubstr("expansion = 0.5 (expected 1 to 1e6)"));
    EXPECT_THAT(error_of([](VoxelOptions& o) { o.expansion = 1e300; }),
                HasSubstr("expansion = 1e+300 (expected 1 to 1e6)"));
    EXPECT_THAT(error_of([](VoxelOptions& o) { o.expansion = std::nan(""); }),
                HasSubstr("expansion = nan"));
    EXPECT_THAT(error_of([](VoxelOptions& o) { o.samples_per_axis = 0; }),
                HasSubstr("samples_per_axis = 0 (expected 1 to 16)"));

    EXPECT_THAT(test::input_error([] { (void)voxels(SurfaceMesh{}, 8); }),
                HasSubstr("the surface has no triangles"));
    SurfaceMesh point;
    point.vertices = {{1, 2, 3}};
    point.triangles = {{0, 0, 0}};
    EXPECT_THAT(test::input_error([&] { (void)voxels(point, 8); }), HasSubstr("has no size"));
}

TEST(VoxelMesh, CancelledProgressStopsIt) {
    const SurfaceQuery surface(test::make_cube());
    Progress progress;
    progress.cancel();
    EXPECT_THROW((void)build_voxel_mesh(surface, {}, progress), Cancelled);
}

}  // namespace
}  // namespace pliant
