#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "contact/shell_samples.h"
#include "geometry/simple_surfaces.h"
#include "input_error.h"
#include "pliant/contact/build_pointshell.h"
#include "pliant/geometry/surface_query.h"

namespace pliant {
namespace {

using test::input_error, test::ShellSample;
using testing::HasSubstr;

std::vector<std::array<float, 3>> sorted(const std::vector<Eigen::Vector3f>& points) {
    std::vector<std::array<float, 3>> all;
    for (const Eigen::Vector3f& x : points) all.push_back({x.x(), x.y(), x.z()});
    std::sort(all.begin(), all.end());
    return all;
}

class EveryGenerator : public testing::TestWithParam<ShellGenerator> {};

TEST_P(EveryGenerator, GivesAValidShellInFarthestPointOrder) {
    const ShellSample sphere = test::unit_sphere(32);
    const Pointshell shell = build_pointshell_by(GetParam(), sphere.field, sphere.surface, 900, 8);
    check_pointshell(shell);
    EXPECT_EQ(shell.level_start[1], 8);
    EXPECT_EQ(shell.level_start[2], 72);
    EXPECT_EQ(shell.level_start[3], 584);
    std::vector<int> order = farthest_point_order(shell.points);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    const double cell = sphere.field.frame().cell;
    for (std::size_t i = 0; i < shell.points.size(); ++i) {
        const float radius = shell.points[i].norm();
        EXPECT_NEAR(radius, 1, std::sqrt(3.0) / 2 * cell + 1e-3);
        EXPECT_LT(shell.normals[i].dot(shell.points[i]) / radius, -0.95f);
    }
    EXPECT_EQ(shell.spacing, spacing_statistics(shell, shell.num_levels() - 1).mean);
}

INSTANTIATE_TEST_SUITE_P(Generators, EveryGenerator,
                         testing::Values(ShellGenerator::VoxelCentres, ShellGenerator::MeshVertices,
                                         ShellGenerator::AreaRandom, ShellGenerator::LayeredDepth));

TEST(ShellGenerators, VoxelCentresAreThoseOfAllCrossedCells) {
    const ShellSample torus = test::torus();
    const GridFrame& frame = torus.field.frame();
    const std::span<const float> values = torus.field.arrays().coarse;
    const int n = frame.cells[0];
    std::vector<Eigen::Vector3f> expected;
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) {
                int inside = 0;
                for (int c = 0; c < 8; ++c) {
                    const int at = ((k + c / 4) * (n + 1) + j + c / 2 % 2) * (n + 1) + i + c % 2;
                    inside += values[static_cast<std::size_t>(at)] < 0;
                }
                if (inside > 0 && inside < 8)
                    expected.push_back(
                        (frame.vertex(i, j, k).array() + 0.5 * frame.cell).matrix().cast<float>());
            }
    const Pointshell shell =
        build_pointshell_by(ShellGenerator::VoxelCentres, torus.field, torus.surface, 1);
    EXPECT_EQ(sorted(shell.points), sorted(expected));
}

TEST(ShellGenerators, MeshVerticesAreThoseInUseWithTheirPseudonormals) {
    const Eigen::Vector3d half = Eigen::Vector3d::Constant(0.6);
    const DistanceGrid field =
        test::sampled_field([&](const Eigen::Vector3d& x) { return test::box_distance(x, half); },
                            Box(-half, half), 16);
    SurfaceMesh mesh = test::box_surface(-half, half);
    std::vector<Eigen::Vector3f> expected;
    for (const Eigen::Vector3d& v : mesh.vertices) expected.push_back(v.cast<float>());
    mesh.vertices.emplace_back(9, 9, 9);
    const Pointshell shell = build_pointshell_by(ShellGenerator::MeshVertices, field, mesh, 1);
    EXPECT_EQ(sorted(shell.points), sorted(expected));
    // a corner belongs to three faces alike
    for (std::size_t i = 0; i < shell.points.size(); ++i)
        EXPECT_NEAR((shell.normals[i] + shell.points[i].normalized()).norm(), 0, 1e-5);
}

TEST(ShellGenerators, AreaRandomIsUniformAndDecidedByTheSeed) {
    const ShellSample sphere = test::unit_sphere(16);
    const auto build = [&](std::uint64_t seed) {
        return build_pointshell_by(ShellGenerator::AreaRandom, sphere.field, sphere.surface, 6000,
                                   8, seed)
            .points;
    };
    const std::vector<Eigen::Vector3f> points = build(1);
    EXPECT_EQ(points.size(), 6000u);
    EXPECT_EQ(points, build(1));
    EXPECT_NE(points, build(2));
    // heights of a sphere are uniform: ten bands of 600 each, standard deviation 23
    std::array<int, 10> bands{};
    for (const Eigen::Vector3f& x : points)
        ++bands[static_cast<std::size_t>(std::clamp(5 * (x.z() + 1), 0.0f, 9.99f))];
    for (const int count : bands) EXPECT_NEAR(count, 600, 4 * 23);
}

TEST(ShellGenerators, LayeredDepthLeavesNoGapLargerThanItsBound) {
    const ShellSample torus = test::torus();
    const int asked = 4000;
    const Pointshell shell =
        build_pointshell_by(ShellGenerator::LayeredDepth, torus.field, torus.surface, asked);
    EXPECT_NEAR(shell.num_points(), asked, 0.05 * asked);
    const SurfaceQuery query(torus.surface);
    for (const Eigen::Vector3f& x : shell.points)
        EXPECT_LT(query.closest(x.cast<double>()).distance, 1e-5);
    // projected area of a torus: ∫|n_z| = 2 · 2π R 2r; the other two axes follow from the mesh
    double projected = 0;
    for (int t = 0; t < torus.surface.num_triangles(); ++t) {
        const Eigen::Vector3d &a = torus.surface.corner(t, 0), &b = torus.surface.corner(t, 1),
                              &c = torus.surface.corner(t, 2);
        projected += 0.5 * (b - a).cross(c - a).lpNorm<1>();
    }
    const double h = std::sqrt(projected / asked);
    // every vertex has a point within h √3/2 on a plane; curvature adds a little
    for (const Eigen::Vector3d& v : torus.surface.vertices) {
        double nearest = 1e9;
        for (const Eigen::Vector3f& x : shell.points)
            nearest = std::min(nearest, (v - x.cast<double>()).squaredNorm());
        EXPECT_LT(std::sqrt(nearest), 1.1 * h * std::sqrt(3.0) / 2);
    }
}

TEST(ShellGenerators, LayeredDepthFindsEverySideOfStackedSheets) {
    const Eigen::Vector3d half(1, 1, 0.01), up(0, 0, 1);
    const DistanceGrid field = test::sampled_field(
        [&](const Eigen::Vector3d& x) {
            return std::min(test::box_distance(x, half), test::box_distance(x - up, half));
        },
        Box(-half, half + up), 128);
    SurfaceMesh sheets = test::box_surface(-half, half);
    append(sheets, test::box_surface(up - half, up + half));
    const Pointshell shell = build_pointshell_by(ShellGenerator::LayeredDepth, field, sheets, 4000);
    std::array<int, 4> sides{};
    for (const Eigen::Vector3f& x : shell.points)
        for (const double z : {-0.01, 0.01, 0.99, 1.01})
            if (std::abs(double{x.z()} - z) < 1e-5)
                ++sides[static_cast<std::size_t>(2 * std::round(z) + (z > std::round(z)))];
    // every ray along z meets all four; those across meet the thin sides only
    for (const int count : sides) {
        EXPECT_EQ(count, sides[0]);
        EXPECT_NEAR(count, 1000, 50);
    }
}

TEST(ShellGenerators, BadOptionsAreNamed) {
    const ShellSample sphere = test::unit_sphere(16);
    const auto complaint = [&](ShellGenerator generator, const SurfaceMesh& surface, int points,
                               int branching) {
        return input_error([&] {
            (void)build_pointshell_by(generator, sphere.field, surface, points, branching);
        });
    };
    using enum ShellGenerator;
    EXPECT_THAT(complaint(AreaRandom, sphere.surface, 0, 8),
                HasSubstr("pointshell.num_points = 0 (expected at least 1)"));
    EXPECT_THAT(complaint(AreaRandom, sphere.surface, 10, 1),
                HasSubstr("pointshell.branching = 1 (expected 2 … 64)"));
    EXPECT_THAT(complaint(MeshVertices, {}, 10, 8), HasSubstr("has no triangles with area"));
}

}  // namespace
}  // namespace pliant
