#include "geometry/simple_surfaces.h"
#include "pliant/geometry/surface_check.h"

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <set>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::band_surface;
using test::box_surface;
using test::torus_surface;

/// Every triangle with its own three vertices, as an STL file has them.
SurfaceMesh soup_of(const SurfaceMesh& mesh) {
    SurfaceMesh soup;
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        for (int k = 0; k < 3; ++k) soup.vertices.push_back(mesh.corner(t, k));
        soup.triangles.push_back({3 * t, 3 * t + 1, 3 * t + 2});
    }
    return soup;
}

void reverse(SurfaceMesh& mesh) {
    for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
}

TEST(SurfaceRepair, CleanMeshStaysAsItIs) {
    SurfaceMesh mesh = torus_surface(20, 10);
    const SurfaceMesh before = mesh;
    const RepairReport report = repair_surface(mesh);
    EXPECT_FALSE(report.has_changed());
    EXPECT_EQ(report.text(), "nothing to repair");
    EXPECT_EQ(mesh.vertices, before.vertices);
    EXPECT_EQ(mesh.triangles, before.triangles);
}

TEST(SurfaceRepair, EmptyMeshIsNoProblem) {
    SurfaceMesh mesh;
    EXPECT_FALSE(repair_surface(mesh).has_changed());
}

TEST(SurfaceRepair, SoupIsWeldedBackToTheLowestIndex) {
    const SurfaceMesh original = torus_surface(30, 20);
    SurfaceMesh mesh = soup_of(original);
    // noise well below the welding distance of 1e-7 box diagonals
    std::mt19937 random(3);
    std::uniform_real_distribution<double> noise(-2e-8, 2e-8);
    for (Vector3d& x : mesh.vertices) x += Vector3d(noise(random), noise(random), noise(random));
    const Vector3d first = mesh.vertices[0];
    const RepairReport report = repair_surface(mesh);
    EXPECT_EQ(mesh.num_vertices(), original.num_vertices());
    EXPECT_EQ(report.welded_vertices, 3 * 1200 - 600);
    EXPECT_EQ(report.removed_vertices, 0);
    EXPECT_EQ(report.text(), "welded 3000 vertices");
    EXPECT_TRUE(check_surface(mesh).is_clean()) << check_surface(mesh).text();
    EXPECT_EQ(mesh.vertices[0], first);
}

TEST(SurfaceRepair, WeldingMatchesTheQuadraticRule) {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> place(0, 1);
    SurfaceMesh mesh;
    for (int t = 0; t < 500; ++t) {
        for (int k = 0; k < 3; ++k)
            mesh.vertices.emplace_back(place(random), place(random), place(random));
        mesh.triangles.push_back({3 * t, 3 * t + 1, 3 * t + 2});
    }
    const double relative = 0.03;
    const double distance = relative * bounding_box(mesh.vertices).diagonal().norm();
    // each vertex goes to the lowest one that was kept and is near enough
    std::vector<Vector3d> kept;
    std::vector<Vector3d> target;
    for (const Vector3d& x : mesh.vertices) {
        const auto near = std::ranges::find_if(
            kept, [&](const Vector3d& y) { return (x - y).norm() <= distance; });
        target.push_back(near == kept.end() ? x : *near);
        if (near == kept.end()) kept.push_back(x);
    }
    using Corners = std::set<std::array<double, 3>>;
    const auto corners = [](const Vector3d& a, const Vector3d& b, const Vector3d& c) {
        Corners set;
        for (const Vector3d& x : {a, b, c}) set.insert({x[0], x[1], x[2]});
        return set;
    };
    std::set<Corners> expected, actual;
    for (int t = 0; t < 500; ++t) {
        const Corners set = corners(target[3 * t], target[3 * t + 1], target[3 * t + 2]);
        if (set.size() == 3) expected.insert(set);
    }
    const RepairReport report = repair_surface(mesh, {relative});
    for (int t = 0; t < mesh.num_triangles(); ++t)
        actual.insert(corners(mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2)));
    EXPECT_EQ(report.welded_vertices, 1500 - static_cast<int>(kept.size()));
    EXPECT_GT(report.welded_vertices, 100);
    EXPECT_EQ(actual, expected);
}

TEST(SurfaceRepair, ZeroWeldingDistanceJoinsOnlyEqualVertices) {
    SurfaceMesh mesh = soup_of(box_surface());
    mesh.vertices[0].x() += 1e-14;
    const RepairReport report = repair_surface(mesh, {0.0});
    EXPECT_EQ(mesh.num_vertices(), 9);
    EXPECT_EQ(report.welded_vertices, 36 - 9);
}

TEST(SurfaceRepair, BadTrianglesAndVerticesAreDroppedAndCounted) {
    SurfaceMesh mesh = box_surface();
    mesh.vertices.emplace_back(std::numeric_limits<double>::infinity(), 0, 0);
    mesh.vertices.emplace_back(7, 7, 7);
    mesh.triangles.push_back({0, 1, 77});
    mesh.triangles.push_back({0, 1, 8});
    mesh.triangles.push_back({4, 4, 5});
    mesh.triangles.push_back({2, 3, 0});
    const RepairReport report = repair_surface(mesh);
    EXPECT_EQ(report.removed_invalid, 2);
    EXPECT_EQ(report.removed_degenerate, 1);
    EXPECT_EQ(report.removed_duplicate, 1);
    EXPECT_EQ(report.removed_vertices, 2);
    EXPECT_EQ(report.text(),
              "removed 2 invalid triangles; removed 1 degenerate triangle; removed 1 duplicate "
              "triangle; removed 2 unused vertices");
    EXPECT_TRUE(check_surface(mesh).is_clean());
    EXPECT_EQ(mesh.triangles, box_surface().triangles);
}

TEST(SurfaceRepair, TheSecondFaceOfASheetStays) {
    SurfaceMesh sheet;
    sheet.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
    sheet.triangles = {{0, 1, 2}, {0, 2, 3}};
    SurfaceMesh two = double_faced(sheet);
    const std::vector<Triangle> before = two.triangles;
    const RepairReport report = repair_surface(two);
    EXPECT_EQ(report.removed_duplicate, 0);
    EXPECT_EQ(report.flipped_triangles, 0);
    EXPECT_EQ(two.triangles, before);
    // a pair that faces the same way is a mistake, and so is a pair among others
    two.triangles.resize(3);
    EXPECT_EQ(repair_surface(two).removed_duplicate, 1);
    two.triangles = {{0, 1, 2}, {1, 2, 0}};
    EXPECT_EQ(repair_surface(two).removed_duplicate, 1);
    // a solid whose triangles were all written for both sides has an inside, and is no sheet
    SurfaceMesh box = double_faced(box_surface());
    EXPECT_EQ(repair_surface(box).removed_duplicate, 12);
    EXPECT_TRUE(check_surface(box).is_closed());
    EXPECT_FALSE(check_surface(box).is_inside_out);
}

TEST(SurfaceRepair, ASheetGetsItsSecondFaceOnce) {
    SurfaceMesh sheet;
    sheet.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
    sheet.triangles = {{0, 1, 2}, {0, 2, 3}};
    EXPECT_FALSE(is_double_faced(sheet));
    const SurfaceMesh two = double_faced(sheet);
    EXPECT_TRUE(is_double_faced(two));
    EXPECT_EQ(double_faced(two).triangles, two.triangles);
    EXPECT_FALSE(is_double_faced(double_faced(box_surface())));
}

TEST(SurfaceRepair, FlatTrianglesThatCloseACrackAreReplacedNotTornOut) {
    // edge 0–1 of the box: one side knows three points on it, joined by flat triangles
    SurfaceMesh mesh = box_surface();
    mesh.vertices.emplace_back(0.25, 0, 0);
    mesh.vertices.emplace_back(0.5, 0, 0);
    mesh.vertices.emplace_back(0.75, 0, 0);
    // bottom triangle {0, 3, 1} is cut at 8, 9, 10, the front one {0, 1, 5} is not
    mesh.triangles[1] = {0, 3, 8};
    mesh.triangles.insert(mesh.triangles.end(), {{8, 3, 9}, {9, 3, 10}, {10, 3, 1}});
    mesh.triangles.insert(mesh.triangles.end(), {{0, 8, 9}, {9, 10, 1}, {0, 9, 1}});
    ASSERT_TRUE(check_surface(mesh).is_closed());
    const RepairReport report = repair_surface(mesh);
    EXPECT_EQ(report.removed_degenerate, 3);
    EXPECT_TRUE(check_surface(mesh).is_clean()) << check_surface(mesh).text();
    EXPECT_NEAR(enclosed_volume(mesh), 1, 1e-15);
    EXPECT_EQ(mesh.num_vertices(), 11);
}

TEST(SurfaceRepair, RandomlyTurnedTrianglesAreOrientedOutwards) {
    const SurfaceMesh original = torus_surface(40, 24);
    SurfaceMesh mesh = original;
    std::mt19937 random(5);
    int num_turned = 0;
    for (Triangle& t : mesh.triangles)
        if (random() % 3 != 0) {
            std::swap(t[0], t[2]);
            ++num_turned;
        }
    const RepairReport report = repair_surface(mesh);
    EXPECT_EQ(report.flipped_triangles, num_turned);
    EXPECT_NEAR(enclosed_volume(mesh), enclosed_volume(original), 1e-12);
    EXPECT_TRUE(check_surface(mesh).is_clean());
}

TEST(SurfaceRepair, NestedShellsAlternate) {
    // body, cavity, body in the cavity, cavity in that; all given outwards, and one beside them
    SurfaceMesh mesh;
    for (const double r : {0.5, 2.0, 1.0, 1.5})
        append(mesh, box_surface(Vector3d::Constant(-r), Vector3d::Constant(r)));
    append(mesh, box_surface({5, 5, 5}, {6, 6, 6}));
    const RepairReport report = repair_surface(mesh);
    EXPECT_EQ(report.flipped_triangles, 24);
    EXPECT_NEAR(enclosed_volume(mesh), 64 - 27 + 8 - 1 + 1, 1e-12);
}

TEST(SurfaceRepair, AbsurdMagnitudesAreDropped) {
    SurfaceMesh mesh = box_surface();
    mesh.vertices.emplace_back(1e308, -1e308, 1e200);
    mesh.triangles.push_back({0, 1, 8});
    const RepairReport report = repair_surface(mesh);
    EXPECT_EQ(report.removed_invalid, 1);
    EXPECT_EQ(report.removed_vertices, 1);
    EXPECT_EQ(report.welded_vertices, 0);
    EXPECT_TRUE(check_surface(mesh).is_clean());
}

TEST(SurfaceRepair, LongTrianglesAroundOthersTakeLittleMemory) {
    // a prism of 200 000 triangles, half of them as long as itself, around a cavity
    constexpr int kSides = 50000;
    SurfaceMesh mesh;
    for (int i = 0; i < 2 * kSides; ++i) {
        const double angle = std::numbers::pi * (i / 2 * 2) / kSides;
        mesh.vertices.emplace_back(std::cos(angle), i % 2 == 0 ? -1 : 1, std::sin(angle));
    }
    mesh.vertices.emplace_back(0, -1, 0);
    mesh.vertices.emplace_back(0, 1, 0);
    for (int i = 0; i < kSides; ++i) {
        const int a = 2 * i, b = 2 * ((i + 1) % kSides);
        mesh.triangles.push_back({a, a + 1, b});
        mesh.triangles.push_back({b, a + 1, b + 1});
        mesh.triangles.push_back({2 * kSides, a, b});
        mesh.triangles.push_back({2 * kSides + 1, b + 1, a + 1});
    }
    const double volume = enclosed_volume(mesh);
    ASSERT_GT(volume, 6);
    append(mesh, box_surface(Vector3d::Constant(-0.5), Vector3d::Constant(0.5)));
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    EXPECT_EQ(repair_surface(mesh, {.weld_distance = 0}).flipped_triangles, 12);
    getrusage(RUSAGE_SELF, &after);
    EXPECT_NEAR(enclosed_volume(mesh), volume - 1, 1e-9);
    EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 150000);  // kB
}

TEST(SurfaceRepair, OverlappingPartsAllFaceOutwards) {
    SurfaceMesh mesh = box_surface();
    SurfaceMesh rod = box_surface({0.3, 0.3, 0.5}, {0.6, 0.6, 3});
    reverse(rod);
    append(mesh, rod);
    EXPECT_EQ(repair_surface(mesh).flipped_triangles, 12);
    EXPECT_NEAR(enclosed_volume(mesh), 1 + 0.3 * 0.3 * 2.5, 1e-12);
}

TEST(SurfaceRepair, BoxesThatShareAnEdgeAreStillOrientedOneByOne) {
    SurfaceMesh mesh = box_surface();
    SurfaceMesh other = box_surface({1, 1, 0}, {2, 2, 1});
    reverse(other);
    append(mesh, other);
    const RepairReport report = repair_surface(mesh);
    EXPECT_EQ(report.welded_vertices, 2);
    EXPECT_EQ(report.flipped_triangles, 12);
    EXPECT_NEAR(enclosed_volume(mesh), 2, 1e-12);
}

TEST(SurfaceRepair, OpenPartKeepsTheOrientationOfTheMajority) {
    SurfaceMesh mesh = band_surface(30, false);
    const std::vector<Triangle> before = mesh.triangles;
    // the flood starts at a turned triangle
    for (const int t : {0, 7, 8, 31}) std::swap(mesh.triangles[t][1], mesh.triangles[t][2]);
    EXPECT_EQ(repair_surface(mesh).flipped_triangles, 4);
    EXPECT_EQ(mesh.triangles, before);
}

TEST(SurfaceRepair, OpenPartIsNotTurnedByItsVolume) {
    SurfaceMesh mesh = box_surface();
    reverse(mesh);
    mesh.triangles.pop_back();
    EXPECT_EQ(repair_surface(mesh).flipped_triangles, 0);
}

TEST(SurfaceRepair, MoebiusBandIsLeftWithAnInconsistentSeam) {
    SurfaceMesh mesh = band_surface(30, true);
    repair_surface(mesh);
    const SurfaceReport report = check_surface(mesh);
    EXPECT_GE(report.inconsistent_edges.count, 1);
    EXPECT_NE(report.text().find("opposite orientation"), std::string::npos);
}

TEST(SurfaceRepair, IsIdempotent) {
    std::mt19937 random(23);
    std::uniform_int_distribution<int> pick(0, 39);
    std::uniform_real_distribution<double> place(0, 1);
    SurfaceMesh mesh;
    for (int v = 0; v < 40; ++v)
        mesh.vertices.emplace_back(place(random), place(random), place(random));
    for (int t = 0; t < 400; ++t)
        mesh.triangles.push_back({pick(random), pick(random), pick(random)});
    repair_surface(mesh);
    EXPECT_EQ(repair_surface(mesh).text(), "nothing to repair");
}

}  // namespace
}  // namespace pliant
