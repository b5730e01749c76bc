#include "pliant/field/iso_surface.h"

#include "field/cube_cases.h"
#include "field/field_samples.h"
#include "geometry/simple_surfaces.h"
#include "input_error.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"
#include "pliant/field/analytic_field.h"
#include "pliant/geometry/surface_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <set>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::input_error;
using ::testing::HasSubstr;

/// Values of a function on every vertex of cubic cells over [−1, 1]³.
template <class Function>
DistanceGrid grid_of(int cells, const Function& value) {
    GridFrame frame;
    frame.low = Vector3d::Constant(-1);
    frame.cell = 2.0 / cells;
    frame.cells = {cells, cells, cells};
    std::vector<float> values;
    for (int k = 0; k <= cells; ++k)
        for (int j = 0; j <= cells; ++j)
            for (int i = 0; i <= cells; ++i)
                values.push_back(static_cast<float>(value(frame.vertex(i, j, k))));
    return DistanceGrid::dense(frame, std::move(values), -2);
}
DistanceGrid ball_grid(int cells, double radius = 0.7) {
    return grid_of(cells, [=](const Vector3d& x) { return x.norm() - radius; });
}
DistanceGrid noise_grid(int cells, unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    return grid_of(cells, [&](const Vector3d&) { return uniform(generator); });
}

void expect_closed_manifold(const SurfaceMesh& mesh, const std::string& name) {
    const SurfaceReport report = check_surface(mesh);
    EXPECT_TRUE(report.is_clean()) << name << ": " << report.text();
    EXPECT_TRUE(report.is_closed() && report.is_manifold() && !report.is_inside_out) << name;
    EXPECT_GT(report.num_triangles, 0) << name;
}

TEST(CubeCases, NoSideLiesInAFaceExceptAlongTheLinesThatNeighboursShare) {
    const auto faces_of = [](int edge) {
        std::set<std::pair<int, int>> faces;
        for (int axis = 0; axis < 3; ++axis)
            if (edge / 4 != axis) faces.insert({axis, kCubeEdgeStart[edge] >> axis & 1});
        return faces;
    };
    for (int inside = 0; inside < 256; ++inside) {
        std::map<std::pair<int, int>, int> sides;
        std::set<int> used;
        for (const CubeTriangle& t : cube_cases()[inside])
            for (int k = 0; k < 3; ++k) {
                ++sides[{t[k], t[(k + 1) % 3]}];
                used.insert(t[k]);
            }
        int num_lines = 0;
        for (const auto& [side, count] : sides) {
            EXPECT_EQ(count, 1) << inside;
            const bool is_inner = sides.count({side.second, side.first}) > 0;
            const auto a = faces_of(side.first), b = faces_of(side.second);
            const bool shares_face =
                std::ranges::any_of(a, [&](const auto& face) { return b.count(face) > 0; });
            EXPECT_EQ(is_inner, !shares_face) << inside;
            num_lines += !is_inner;
        }
        // every crossed edge is used, and begins one line and ends one
        int num_crossed = 0;
        for (int e = 0; e < 12; ++e) {
            const int a = kCubeEdgeStart[e], b = a | 1 << e / 4;
            num_crossed += (inside >> a & 1) != (inside >> b & 1);
        }
        EXPECT_EQ(static_cast<int>(used.size()), num_crossed) << inside;
        EXPECT_EQ(num_lines, num_crossed) << inside;
    }
}

TEST(IsoSurface, NoiseGivesClosedManifolds) {
    // all 256 cases side by side, also at the box
    for (unsigned seed = 0; seed < 4; ++seed)
        expect_closed_manifold(iso_surface(noise_grid(16 + 8 * static_cast<int>(seed), seed)),
                               "seed " + std::to_string(seed));
}

TEST(IsoSurface, SphereConvergesWithSecondOrder) {
    const double exact = 4 / 3.0 * std::numbers::pi * 0.343;
    double previous = 0;
    for (const int cells : {16, 32, 64}) {
        const SurfaceMesh mesh = iso_surface(ball_grid(cells));
        expect_closed_manifold(mesh, std::to_string(cells));
        EXPECT_EQ(check_surface(mesh).euler_number, 2);
        const double error = std::abs(enclosed_volume(mesh) - exact);
        // snapping is 0.01 cells of few vertices: below the interpolation error here
        if (previous > 0) {
            EXPECT_LT(error, previous / 3.2) << cells;
        }
        previous = error;
    }
    EXPECT_LT(previous, 2e-3);
}

TEST(IsoSurface, VerticesAreOnGridEdgesWhereTheFieldHasTheLevel) {
    const DistanceGrid grid = ball_grid(24, 0.61);
    const double level = 0.05, cell = grid.frame().cell;
    const SurfaceMesh mesh = iso_surface(grid, {.level = level});
    for (const Vector3d& x : mesh.vertices) {
        const Vector3d place = (x - grid.frame().low) / cell;
        int num_whole = 0;
        for (int axis = 0; axis < 3; ++axis)
            num_whole += std::abs(place[axis] - std::round(place[axis])) < 1e-9;
        EXPECT_EQ(num_whole, 2);
        EXPECT_NEAR(grid.distance(x), level, 0.0101 * cell);
    }
}

TEST(IsoSurface, LevelsThroughGridVerticesStayOutsideAndWhole) {
    // a plane of vertices exactly on the level, and one value of exactly the level in a corner
    const SurfaceMesh plane = iso_surface(grid_of(16, [](const Vector3d& x) { return x[2]; }));
    expect_closed_manifold(plane, "plane");
    const double gap = 0.01 * 0.125;
    EXPECT_NEAR(enclosed_volume(plane), (2 + 2 * gap) * (2 + 2 * gap) * (1 + gap - gap), 1e-3);
    const SurfaceMesh octahedron =
        iso_surface(grid_of(16, [](const Vector3d& x) { return x.cwiseAbs().sum() - 0.5; }));
    expect_closed_manifold(octahedron, "octahedron");
    EXPECT_EQ(check_surface(octahedron).euler_number, 2);
}

TEST(IsoSurface, SmallTrianglesKeepTheNormalOfTheSurface) {
    // a tilted plane passes near vertices at every distance
    const Vector3d n = Vector3d(0.03, 0.05, 1).normalized();
    const DistanceGrid grid = grid_of(32, [&](const Vector3d& x) { return n.dot(x) - 0.0307; });
    const SurfaceMesh mesh = iso_surface(grid);
    const std::vector<Vector3d> normals = face_normals(mesh);
    double worst = 0, smallest = 1;
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        bool is_at_box = false;
        for (int k = 0; k < 3; ++k) is_at_box |= mesh.corner(t, k).cwiseAbs().maxCoeff() > 0.999;
        // the cut at the box is something else
        if (is_at_box) continue;
        worst = std::max(worst, std::acos(std::min(1.0, normals[t].dot(n))));
        smallest = std::min(smallest, (mesh.corner(t, 1) - mesh.corner(t, 0)).norm());
    }
    EXPECT_LT(worst, 0.02);  // 0.01 cells over a cell, on both sides
    EXPECT_GT(smallest, 1e-3 * grid.frame().cell);
}

TEST(IsoSurface, IsClosedWhereItLeavesTheBox) {
    const DistanceGrid grid = ball_grid(24, 1.2);
    const SurfaceMesh mesh = iso_surface(grid);
    expect_closed_manifold(mesh, "cut ball");
    EXPECT_LE(
        (bounding_box(mesh.vertices).max() - Vector3d::Constant(1 + 0.011 * grid.frame().cell))
            .maxCoeff(),
        0);
    EXPECT_GT(bounding_box(mesh.vertices).max().minCoeff(), 1);
    // everything inside: the box itself
    const SurfaceMesh box = iso_surface(ball_grid(16, 10));
    expect_closed_manifold(box, "box");
    EXPECT_NEAR(enclosed_volume(box), 8, 0.05);
    EXPECT_EQ(iso_surface(ball_grid(16), {.level = -5}).num_triangles(), 0);
}

TEST(IsoSurface, SparseGridsGiveTheSurfaceOfTheDenseOnes) {
    const DistanceGrid dense = grid_of(64, [](const Vector3d& x) {
        return std::hypot(std::hypot(x[0], x[1]) - 0.55, x[2]) - 0.2;  // a torus
    });
    const DistanceGrid sparse = DistanceGrid::sparse(dense, 3 * dense.frame().cell);
    ASSERT_LT(sparse.num_bricks(), 300);
    const SurfaceMesh a = iso_surface(dense), b = iso_surface(sparse);
    EXPECT_EQ(a.vertices, b.vertices);
    EXPECT_EQ(a.triangles, b.triangles);
    EXPECT_EQ(check_surface(b).euler_number, 0);
    // levels through coarse blocks, where those meet bricks, and beyond all values but the box
    for (const double level : {-0.15, -0.08, 0.05, 0.12, 0.2, 0.3, 0.6, 1.0, 2.0}) {
        const SurfaceMesh mesh = iso_surface(sparse, {.level = level});
        expect_closed_manifold(mesh, "level " + std::to_string(level));
        double worst = 0;
        for (const Vector3d& x : mesh.vertices)
            if (x.cwiseAbs().maxCoeff() < 1)
                worst = std::max(worst, std::abs(double{sparse.distance(x)} - level));
        // values of coarse blocks are interpolated alike by the field and the surface
        EXPECT_LT(worst, 0.0101 * sparse.frame().cell) << level;
    }
}

TEST(IsoSurface, DoesNotDependOnTheNumberOfThreads) {
    const DistanceGrid grid = noise_grid(32, 9);
    set_num_threads(1);
    const SurfaceMesh one = iso_surface(grid);
    set_num_threads(3);
    const SurfaceMesh three = iso_surface(grid);
    set_num_threads(0);
    EXPECT_EQ(one.vertices, three.vertices);
    EXPECT_EQ(one.triangles, three.triangles);
}

TEST(IsoSurface, OfAnyFieldInABoxOfAnyProportion) {
    const FieldPointer capsule = capsule_field(0.2, 0.5);
    const Box box(Vector3d(-0.3, -0.35, -0.8), Vector3d(0.33, 0.3, 0.9));
    const SurfaceMesh mesh = iso_surface(*capsule, box, 61);
    expect_closed_manifold(mesh, "capsule");
    const double exact = std::numbers::pi * (0.04 * 1.0 + 4 / 3.0 * 0.008);
    EXPECT_NEAR(enclosed_volume(mesh), exact, 0.01 * exact);
    // a half-space is cut at the box, up to a cell farther where its sides are not whole cells
    const SurfaceMesh floor = iso_surface(*plane_set_field({{Vector3d::UnitZ(), 0.1}}), box, 17);
    expect_closed_manifold(floor, "floor");
    const Box cut = bounding_box(floor.vertices);
    EXPECT_LT((cut.min() - box.min()).norm(), 0.02 * 0.1);
    EXPECT_NEAR(cut.max()[2], 0.1, 1e-3);
    EXPECT_LT((cut.max() - box.max()).head<2>().maxCoeff(), 1.02 * 0.1);
}

TEST(IsoSurface, ThinWallsOfAnOffsetSurfaceAreRemoved) {
    const DistanceGrid shell =
        grid_of(48, [](const Vector3d& x) { return std::abs(x.norm() - 0.6) - 0.1; });
    EXPECT_EQ(check_surface(iso_surface(shell)).num_components, 2);
    int num_removed = -1;
    const SurfaceMesh solid =
        iso_surface(shell, {.drops_enclosed = true, .num_removed = &num_removed});
    EXPECT_EQ(num_removed, 1);
    EXPECT_EQ(check_surface(solid).num_components, 1);
    EXPECT_NEAR(enclosed_volume(solid), 4 / 3.0 * std::numbers::pi * 0.343, 0.01);
    (void)iso_surface(ball_grid(16), {.drops_enclosed = true, .num_removed = &num_removed});
    EXPECT_EQ(num_removed, 0);
}

TEST(EnclosedComponents, NestedOnesGoAndNeighboursStay) {
    using test::box_surface;
    SurfaceMesh mesh = box_surface(Vector3d::Constant(0.4), Vector3d::Constant(0.6));  // innermost
    append(mesh, box_surface(Vector3d::Zero(), Vector3d::Ones()));
    SurfaceMesh cavity = box_surface(Vector3d::Constant(0.2), Vector3d::Constant(0.8));
    for (Triangle& t : cavity.triangles) std::swap(t[1], t[2]);
    append(mesh, cavity);
    append(mesh, box_surface(Vector3d(2, 0, 0), Vector3d(3, 1, 1)));
    EXPECT_EQ(remove_enclosed_components(mesh), 2);
    EXPECT_EQ(mesh.num_triangles(), 24);
    EXPECT_EQ(mesh.num_vertices(), 16);
    EXPECT_NEAR(enclosed_volume(mesh), 2, 1e-12);
}

TEST(EnclosedComponents, InTheHoleOfATorusIsNotInside) {
    // the box of the ball is within that of the torus
    SurfaceMesh mesh = test::torus_surface(24, 12);
    const SurfaceMesh ball =
        iso_surface(*sphere_field(0.2), Box(Vector3d::Constant(-0.3), Vector3d::Constant(0.3)), 16);
    append(mesh, ball);
    const SurfaceMesh before = mesh;
    EXPECT_EQ(remove_enclosed_components(mesh), 0);
    EXPECT_EQ(mesh.triangles, before.triangles);
    SurfaceMesh moved = ball;
    for (Vector3d& x : moved.vertices) x[0] += 1;  // into the ring
    append(mesh, moved);
    EXPECT_EQ(remove_enclosed_components(mesh), 1);
    EXPECT_EQ(mesh.num_triangles(), before.num_triangles());
}

TEST(IsoSurface, BadOptionsAreNamed) {
    EXPECT_THAT(input_error([] { (void)iso_surface(ball_grid(16), {.level = std::nan("")}); }),
                HasSubstr("level = nan (expected a finite number of metres)"));
    const Box box(Vector3d::Constant(-1), Vector3d::Constant(1));
    EXPECT_THAT(input_error([&] { (void)iso_surface(*sphere_field(1), box, 2); }),
                HasSubstr("resolution = 2 (expected 4 to 512)"));
    EXPECT_THAT(input_error([] {
                    const FieldPointer floor = plane_set_field({{Vector3d::UnitZ(), 0}});
                    (void)iso_surface(*floor, floor->bounds(), 16);
                }),
                HasSubstr("the box of an iso-surface must be finite"));
}

}  // namespace
}  // namespace pliant
