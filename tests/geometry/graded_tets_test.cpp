#include "geometry/tagged_bisection.h"
#include "geometry/test_meshes.h"
#include "geometry/tet_checks.h"
#include "input_error.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/surface_check.h"
#include "pliant/geometry/tet_mesh.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::check_tets;
using test::input_error;
using test::is_same_mesh;
using test::TetCheck;

double longest_edge(const VolumeMesh& mesh, int e) {
    double longest = 0;
    const auto tet = mesh.element(e);
    for (std::size_t a = 0; a < 4; ++a)
        for (std::size_t b = 0; b < a; ++b)
            longest = std::max(longest, (mesh.vertices[static_cast<std::size_t>(tet[a])] -
                                         mesh.vertices[static_cast<std::size_t>(tet[b])])
                                            .norm());
    return longest;
}

/// Vertices in the inside of some edge: every lattice point on every edge is looked up.
int count_hanging_vertices(const VolumeMesh& mesh, const Vector3d& origin, double cell) {
    using Point = std::array<long, 3>;
    std::vector<Point> points;
    for (const Vector3d& x : mesh.vertices) {
        const Vector3d p = (x - origin) / cell;
        EXPECT_NEAR((p - Vector3d(p.array().round())).norm(), 0, 1e-6);
        points.push_back({std::lround(p[0]), std::lround(p[1]), std::lround(p[2])});
    }
    const std::set<Point> vertices(points.begin(), points.end());
    EXPECT_EQ(vertices.size(), points.size());
    std::set<Point> hanging;
    for (int e = 0; e < mesh.num_elements(); ++e)
        for (const int a : mesh.element(e))
            for (const int b : mesh.element(e)) {
                const Point &p = points[static_cast<std::size_t>(a)],
                            &q = points[static_cast<std::size_t>(b)];
                const Point d{q[0] - p[0], q[1] - p[1], q[2] - p[2]};
                const long steps = std::max({std::abs(d[0]), std::abs(d[1]), std::abs(d[2])});
                for (long t = 1; t < steps; ++t) {
                    const Point on_edge{p[0] + d[0] * t / steps, p[1] + d[1] * t / steps,
                                        p[2] + d[2] * t / steps};
                    if (vertices.count(on_edge)) hanging.insert(on_edge);
                }
            }
    return static_cast<int>(hanging.size());
}

void expect_conforming(const VolumeMesh& mesh, const Vector3d& origin, double cell) {
    const TetCheck check = check_tets(mesh);
    EXPECT_GT(check.smallest_volume, 0);
    EXPECT_EQ(check.overused_faces, 0);
    EXPECT_EQ(check.open_edges, 0);
    EXPECT_EQ(check.orphans, 0);
    EXPECT_EQ(count_hanging_vertices(mesh, origin, cell), 0);
}

/// Sum with compensation, so that the test sees the mesh's error and not its own.
double exact_volume(const VolumeMesh& mesh) {
    long double sum = 0;
    for (int e = 0; e < mesh.num_elements(); ++e) sum += element_volume(mesh, e);
    return static_cast<double>(sum);
}

TEST(TaggedBisection, RandomRefinementStaysConforming) {
    test::Random random(3);
    TaggedBisection forest({2, 1, 2}, 8);
    for (int round = 0; round < 60; ++round) {
        const std::vector<int> leaves = forest.leaves();
        const int tet =
            leaves[static_cast<std::size_t>(random.below(static_cast<int>(leaves.size())))];
        // prefer one corner, so that sizes differ
        const auto& p = forest.points()[static_cast<std::size_t>(
            forest.tets()[static_cast<std::size_t>(tet)].x[0])];
        if (p[0] + p[1] + p[2] > 10 + random.below(20)) continue;
        if (forest.squared_longest_edge(static_cast<std::size_t>(tet)) <= 3) continue;
        forest.bisect(tet);
        EXPECT_FALSE(forest.is_leaf(static_cast<std::size_t>(tet)));
        const VolumeMesh mesh = extract_mesh(forest, forest.leaves(), Vector3d::Zero(), 0.125);
        expect_conforming(mesh, Vector3d::Zero(), 0.125);
        EXPECT_NEAR(exact_volume(mesh), 4.0, 1e-12);
    }
}

TEST(TaggedBisection, EveryTetHasOneOfThreeShapes) {
    // angles of the shapes of type 3, 2 and 1: multiples of 15 degrees, never below 45 or above 120
    for (const int n : {1, 2, 4, 8, 16, 32}) {
        const VolumeMesh mesh = graded_tet_box(n, 1, 1.0);
        const auto [low, high] = dihedral_range(mesh);
        EXPECT_NEAR(low, 45, 1e-6);
        EXPECT_TRUE(std::abs(high - 90) < 1e-6 || std::abs(high - 120) < 1e-6) << high;
        std::set<long> shapes;
        for (int e = 0; e < mesh.num_elements(); ++e)
            shapes.insert(
                std::lround(1e6 * element_volume(mesh, e) / std::pow(longest_edge(mesh, e), 3)));
        EXPECT_LE(shapes.size(), 3u);
    }
}

TEST(GradedTetBox, IsConformingAndFillsTheBox) {
    for (const auto& [n, coarsest, growth] :
         {std::tuple{8, 1, 2.0}, {16, 1, 0.5}, {16, 2, 1.0}, {32, 1, 1.5}, {12, 3, 1.0}}) {
        const VolumeMesh mesh = graded_tet_box(n, coarsest, growth, 2.0);
        EXPECT_NEAR(exact_volume(mesh), 8.0, 8e-12);
        expect_conforming(mesh, Vector3d::Zero(), 2.0 / n);
    }
}

TEST(GradedTetBox, WithoutGrowthIsTheUniformKuhnMesh) {
    const VolumeMesh mesh = graded_tet_box(8, 1, 0.0);
    EXPECT_EQ(mesh.num_elements(), 6 * 8 * 8 * 8);
    EXPECT_EQ(mesh.num_vertices(), 9 * 9 * 9);
    for (int e = 0; e < mesh.num_elements(); ++e)
        EXPECT_NEAR(longest_edge(mesh, e), std::sqrt(3.0) / 8, 1e-12);
}

TEST(GradedTetBox, SizesObeyTheGrading) {
    constexpr int kN = 32;
    constexpr double kGrowth = 0.8;
    const VolumeMesh mesh = graded_tet_box(kN, 1, kGrowth);
    double largest = 0;
    for (int e = 0; e < mesh.num_elements(); ++e) {
        double depth = 1;
        for (const int v : mesh.element(e)) {
            const Vector3d& x = mesh.vertices[static_cast<std::size_t>(v)];
            depth = std::min({depth, x.minCoeff(), 1 - x.maxCoeff()});
        }
        const double longest = longest_edge(mesh, e);
        EXPECT_LE(longest, std::max(std::sqrt(3.0) / kN, kGrowth * depth) + 1e-12);
        largest = std::max(largest, longest);
    }
    EXPECT_GE(largest, 4.0 / kN);  // it does grow
}

TEST(GradedTetBox, CountGrowsWithTheSurfaceRatherThanTheVolume) {
    const auto count = [](int n) {
        return static_cast<double>(graded_tet_box(n, 1, 2.0).num_elements());
    };
    const double n16 = count(16), n32 = count(32), n64 = count(64);
    // a doubling multiplies the surface by 4 and the volume by 8
    EXPECT_LT(n64 / n32, 4.8);
    EXPECT_LT(n64 / n32, n32 / n16);
    EXPECT_LT(n64, 0.25 * 6 * 64 * 64 * 64);
}

TEST(GradedTetBox, WrongSizesAreRefused) {
    EXPECT_EQ(input_error([] { (void)graded_tet_box(24, 5, 0.5); }),
              "n = 24 (expected a power of two times `coarsest`)");
    EXPECT_EQ(input_error([] { (void)graded_tet_box(8, 0, 0.5); }),
              "coarsest = 0 (expected 1 or more)");
    EXPECT_EQ(input_error([] { (void)graded_tet_box(8, 1, -1.0); }),
              "growth = -1 (expected 0 or more)");
    EXPECT_EQ(input_error([] { (void)graded_tet_box(8, 1, 0.5, 0.0); }),
              "side = 0 (expected a positive length)");
}

TEST(GradedTets, FollowTheSurfaceAtTheFinestSizeAndGrowInside) {
    const SurfaceMesh surface = test::make_sphere(1.0, 40);
    const SurfaceQuery query(surface);
    const GradedTetOptions options{.growth = 0.9, .resolution = 32, .max_levels = 4};
    const VolumeMesh mesh = build_graded_tets(query, options);
    const double cell = 2.0 / 32;
    ASSERT_EQ(static_cast<int>(mesh.filled.size()), mesh.num_elements());
    expect_conforming(mesh, Vector3d(-1, -1, -1), cell);
    EXPECT_NEAR(total_volume(mesh, true) / enclosed_volume(surface), 1, 0.003);

    test::Random random(5);
    int num_coarse = 0;
    for (int e = 0; e < mesh.num_elements(); ++e) {
        const double longest = longest_edge(mesh, e),
                     filled = mesh.filled[static_cast<std::size_t>(e)];
        EXPECT_GT(filled, 0);
        EXPECT_LE(filled, 1);
        num_coarse += longest > 1.9 * std::sqrt(3.0) * cell ? 1 : 0;
        if (filled < 1) {
            EXPECT_LE(longest, std::sqrt(3.0) * cell * (1 + 1e-9));
        }
        // a few points inside obey the grading
        for (int sample = 0; sample < 3; ++sample) {
            Vector3d x = Vector3d::Zero();
            double sum = 0;
            for (const int v : mesh.element(e)) {
                const double weight = random.uniform(0, 1);
                x += weight * mesh.vertices[static_cast<std::size_t>(v)];
                sum += weight;
            }
            const double depth =
                1 - (x / sum).norm();  // of the sphere, a little more than the mesh's
            EXPECT_LE(longest, std::max(std::sqrt(3.0) * cell, options.growth * depth) + 1e-9);
        }
    }
    EXPECT_GT(num_coarse, 0);
}

TEST(GradedTets, FilledFractionAgreesWithManySamples) {
    const SurfaceQuery query(test::make_torus(1.0, 0.45, 48, 24));
    const VolumeMesh mesh = build_graded_tets(query, {.growth = 0.5, .resolution = 16});
    test::Random random(11);
    double sum_of_errors = 0;
    int num_cut = 0;
    for (int e = 0; e < mesh.num_elements(); e += 7) {
        if (mesh.filled[static_cast<std::size_t>(e)] == 1) continue;
        const auto tet = mesh.element(e);
        int inside = 0;
        constexpr int kSamples = 400;
        for (int sample = 0; sample < kSamples; ++sample) {
            // exponential weights are uniform in the tet
            std::array<double, 4> w{};
            double sum = 0;
            for (double& weight : w) sum += weight = -std::log(random.uniform(1e-12, 1));
            Vector3d x = Vector3d::Zero();
            for (std::size_t a = 0; a < 4; ++a)
                x += w[a] / sum * mesh.vertices[static_cast<std::size_t>(tet[a])];
            inside += query.is_inside(x) ? 1 : 0;
        }
        const double error =
            mesh.filled[static_cast<std::size_t>(e)] - static_cast<double>(inside) / kSamples;
        // four standard deviations of the samples are 0.1, the interpolation adds a little
        EXPECT_NEAR(error, 0, 0.13);
        sum_of_errors += error;
        ++num_cut;
    }
    ASSERT_GT(num_cut, 50);
    EXPECT_NEAR(sum_of_errors / num_cut, 0, 0.01);
}

TEST(GradedTets, ThinRingKeepsItsVolume) {
    const SurfaceMesh surface = test::make_torus(1.0, 0.08, 120, 24);
    const VolumeMesh mesh = build_graded_tets(SurfaceQuery(surface), {.resolution = 48});
    EXPECT_NEAR(total_volume(mesh, true) / enclosed_volume(surface), 1, 0.02);
}

TEST(GradedTets, OpenSurfaceIsFilledByItsWindingNumber) {
    SurfaceMesh surface = test::make_sphere(1.0, 20);
    std::erase_if(surface.triangles, [&](const Triangle& t) {
        return surface.vertices[static_cast<std::size_t>(t[0])].z() > 0.9;
    });
    const VolumeMesh mesh = build_graded_tets(SurfaceQuery(surface), {.resolution = 16});
    EXPECT_NEAR(total_volume(mesh, true), 4.0 / 3.0 * std::numbers::pi, 0.1);
}

TEST(GradedTets, ResultDoesNotDependOnTheNumberOfThreads) {
    const SurfaceQuery query(test::make_torus(1.0, 0.4, 30, 16));
    set_num_threads(1);
    const VolumeMesh one = build_graded_tets(query, {.resolution = 20});
    set_num_threads(3);
    const VolumeMesh three = build_graded_tets(query, {.resolution = 20});
    set_num_threads(0);
    EXPECT_TRUE(is_same_mesh(one, three));
}

TEST(GradedTets, WrongOptionsAreRefused) {
    const SurfaceQuery query(test::make_cube());
    EXPECT_EQ(input_error([&] { (void)build_graded_tets(query, {.resolution = 1}); }),
              "resolution = 1 (expected 2 to 512)");
    EXPECT_EQ(input_error([&] { (void)build_graded_tets(query, {.max_levels = 12}); }),
              "max_levels = 12 (expected 0 to 9)");
    EXPECT_EQ(input_error([&] { (void)build_graded_tets(query, {.growth = -0.5}); }),
              "growth = -0.5 (expected 0 or more)");
    EXPECT_EQ(
        input_error([&] { (void)build_graded_tets(query, {.resolution = 512, .max_levels = 0}); }),
        "the lattice would begin with 805 million tetrahedra; add levels or lower the resolution");
}

TEST(GradedTets, VerticesThatNoTriangleUsesDoNotCoarsenTheLattice) {
    SurfaceMesh surface = test::make_cube();
    const VolumeMesh mesh = build_graded_tets(SurfaceQuery(surface), {.resolution = 16});
    surface.vertices.push_back({1000, 0, 0});
    EXPECT_TRUE(is_same_mesh(build_graded_tets(SurfaceQuery(surface), {.resolution = 16}), mesh));
}

TEST(GradedTets, SurfacesThatNoLatticeFillsAreRefused) {
    const auto error = [](const SurfaceMesh& surface) {
        return input_error(
            [&] { (void)build_graded_tets(SurfaceQuery(surface), {.resolution = 16}); });
    };
    EXPECT_EQ(error({}), "the surface has no triangles, so there is nothing to fill with cells");
    SurfaceMesh tiny = test::make_cube(), turned = tiny;
    for (Vector3d& x : tiny.vertices) x *= 1e-300;
    EXPECT_EQ(error(tiny),
              "the surface has no size, all its vertices lie at one point; check its units");
    for (Triangle& t : turned.triangles) std::swap(t[1], t[2]);
    EXPECT_EQ(error(turned),
              "points beyond the bounding box count as inside: the surface is inside out; repair "
              "it so that its triangles face outwards");
    EXPECT_EQ(error(test::make_stack_of_sheets()),
              "points beyond the bounding box count as inside: the body does not end there, as "
              "open surfaces may not; use voxels");
    // with one face and with two
    SurfaceMesh sheet = test::make_stack_of_sheets(1);
    const std::string nothing =
        "the body is empty or too thin for lattice tetrahedra at any resolution up to 512; use "
        "voxels or give the surface a volume";
    EXPECT_EQ(error(sheet), nothing);
    EXPECT_EQ(error(double_faced(sheet)), nothing);
}

TEST(GradedTets, BodyThinnerThanHalfACellIsRefused) {
    // a sliver that no lattice point and no middle of an edge meets
    SurfaceMesh surface;
    surface.vertices = {
        {0, 0, 0}, {1, 0.05, 0.31}, {0.13, 0.9, 0.57}, {1.13 / 3, 0.95 / 3, 0.881 / 3}};
    surface.triangles = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
    if (enclosed_volume(surface) < 0)
        for (Triangle& t : surface.triangles) std::swap(t[1], t[2]);
    EXPECT_EQ(
        input_error([&] { (void)build_graded_tets(SurfaceQuery(surface), {.resolution = 7}); }),
        "resolution = 7 (expected more cells: the body is thinner than half a cell everywhere)");
}

TEST(GradedTets, CancellingStopsTheWork) {
    const SurfaceQuery query(test::make_cube());
    Progress progress;
    progress.cancel();
    EXPECT_THROW((void)build_graded_tets(query, {}, progress), Cancelled);
}

}  // namespace
}  // namespace pliant
