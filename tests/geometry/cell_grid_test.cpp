#include "geometry/cell_grid.h"

#include "geometry/border_caps.h"
#include "geometry/fill_rays.h"
#include "geometry/hex_checks.h"
#include "geometry/test_meshes.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

/// Area of the part of a triangle inside a box, by clipping at its six planes: slow and obvious.
double clipped_area(const std::array<Eigen::Vector3d, 3>& corners, const Box& box) {
    std::vector<Eigen::Vector3d> polygon(corners.begin(), corners.end());
    for (int axis = 0; axis < 3; ++axis)
        for (const double sign : {1.0, -1.0}) {
            const double wall = sign > 0 ? box.min()[axis] : box.max()[axis];
            std::vector<Eigen::Vector3d> kept;
            for (std::size_t i = 0; i < polygon.size(); ++i) {
                const Eigen::Vector3d &p = polygon[i], &q = polygon[(i + 1) % polygon.size()];
                const double at_p = sign * (p[axis] - wall), at_q = sign * (q[axis] - wall);
                if (at_p >= 0) kept.push_back(p);
                if (at_p * at_q < 0) kept.push_back(p + at_p / (at_p - at_q) * (q - p));
            }
            polygon = kept;
        }
    Eigen::Vector3d area = Eigen::Vector3d::Zero();
    for (std::size_t i = 2; i < polygon.size(); ++i)
        area += 0.5 * (polygon[i - 1] - polygon[0]).cross(polygon[i] - polygon[0]);
    return area.norm();
}

Box cell_of(const CellGrid& grid, int i, int j, int k) {
    const Eigen::Vector3d low = grid.origin + grid.cell_size * Eigen::Vector3d(i, j, k);
    return {low, low + Eigen::Vector3d::Constant(grid.cell_size)};
}

TEST(CellGrid, SeparatingAxesAgreeWithClipping) {
    test::Random random(11);
    int num_hits = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        std::array<Eigen::Vector3d, 3> corners;
        const Eigen::Vector3d middle = random.in_cube(1.5);
        for (Eigen::Vector3d& corner : corners) corner = middle + random.in_cube(1.5);
        const Eigen::Vector3d centre = random.in_cube(0.2);
        const Box cube(centre - Eigen::Vector3d::Constant(0.5),
                       centre + Eigen::Vector3d::Constant(0.5));
        const bool meets = clipped_area(corners, cube) > 0;
        EXPECT_EQ(triangle_meets_cube(corners, centre, 0.5), meets);
        num_hits += meets;
    }
    EXPECT_GT(num_hits, 2000);
    EXPECT_LT(num_hits, 18000);
}

class CellGridShapes : public testing::TestWithParam<int> {
protected:
    static SurfaceMesh shape(int which) {
        // places that put no vertex or wall on a cell border
        const SurfaceMesh sphere = test::moved(test::make_sphere(0.83, 14), {0.11, 0.07, -0.03});
        SurfaceMesh mesh;
        switch (which) {
            case 0: mesh = sphere; break;
            case 1: mesh = test::make_torus(0.9, 0.31, 23, 11); break;
            case 2: mesh = test::joined(sphere, test::moved(sphere, {0.7, 0.21, 0.4})); break;
            case 3: mesh = test::joined(sphere, test::flipped(test::make_sphere(0.37, 9))); break;
            case 4:  // a bowl
                mesh = sphere;
                std::erase_if(mesh.triangles, [&](const Triangle& t) {
                    return mesh.vertices[static_cast<std::size_t>(t[1])].z() > 0.2;
                });
                break;
            default: mesh = test::make_random_soup(60, 5); break;
        }
        // a corner far from symmetry, so that the grid has none either
        for (Eigen::Vector3d& v : mesh.vertices)
            v += 0.05 * Eigen::Vector3d(v.y(), v.z(), v.x() * v.x());
        return mesh;
    }
};

TEST_P(CellGridShapes, CellsAndFractionsAgreeWithBruteForce) {
    const SurfaceQuery surface(shape(GetParam()));
    const SurfaceQuery closed(with_border_caps(surface.mesh()), SignMethod::WindingNumber);
    const CellGrid grid = build_cell_grid(surface, {15, 1.2, 4, 1}, Progress::none());
    const double tiny = 1e-12 * grid.cell_size * grid.cell_size;
    std::size_t next_cut = 0;
    double largest_error = 0, sum_of_errors = 0;
    int num_measured = 0;
    for (int k = 0; k < grid.size[2]; ++k)
        for (int j = 0; j < grid.size[1]; ++j)
            for (int i = 0; i < grid.size[0]; ++i) {
                const Box cell = cell_of(grid, i, j, k);
                CellState expected = CellState::Outside;
                if (closed.is_inside(cell.center())) expected = CellState::Inside;
                for (int t = 0; t < surface.mesh().num_triangles(); ++t)
                    if (clipped_area({surface.mesh().corner(t, 0), surface.mesh().corner(t, 1),
                                      surface.mesh().corner(t, 2)},
                                     cell) > tiny)
                        expected = CellState::Cut;
                EXPECT_EQ(grid.at(i, j, k), expected) << i << ' ' << j << ' ' << k;
                if (grid.at(i, j, k) != CellState::Cut) continue;

                // of every tenth cell the fraction too, by 10³ points
                const double filled = grid.filled[next_cut++];
                if (next_cut % 10 != 0) continue;
                int inside = 0;
                for (int p = 0; p < 1000; ++p)
                    inside += closed.is_inside(cell.min() + 0.1 * grid.cell_size *
                                                                Eigen::Vector3d(p % 10 + 0.5,
                                                                                p / 10 % 10 + 0.5,
                                                                                p / 100 + 0.5));
                const double error = filled - std::max(inside / 1000.0, 0.5 / 64);
                ++num_measured;
                largest_error = std::max(largest_error, std::abs(error));
                sum_of_errors += error;
            }
    EXPECT_EQ(next_cut, grid.filled.size());
    // walls along the 16 rays fall between them by up to an eighth; on average the errors cancel
    EXPECT_LT(largest_error, 0.125);
    EXPECT_LT(std::abs(sum_of_errors) / num_measured, 0.005);
}

INSTANTIATE_TEST_SUITE_P(All, CellGridShapes, testing::Range(0, 6));

TEST(CellGrid, WindowHoldsTheSurfaceAndKeepsItsAlignment) {
    const SurfaceQuery surface(test::make_torus(1.0, 0.2, 30, 12));
    const CellGrid grid = build_cell_grid(surface, {64, 1.2, 2, 16}, Progress::none());
    EXPECT_DOUBLE_EQ(grid.cell_size, 1.2 * 2.4 / 64);
    for (const int size : grid.size) EXPECT_EQ(size % 16, 0);
    EXPECT_EQ(grid.size, (std::array<int, 3>{64, 64, 32}));
    EXPECT_EQ(grid.at(-1, 0, 0), CellState::Outside);
    EXPECT_EQ(grid.at(0, 64, 0), CellState::Outside);
}

TEST(CellGrid, InsideOfABowlWithAPlaneRimIsWhereTheWindingNumberExceedsOneHalf) {
    SurfaceMesh bowl = test::make_sphere(1.0, 20);
    std::erase_if(bowl.triangles, [&](const Triangle& t) {
        return bowl.vertices[static_cast<std::size_t>(t[1])].z() > 0.3;
    });
    const SurfaceQuery surface(bowl);
    const CellGrid grid = build_cell_grid(surface, {31, 1.2, 4, 1}, Progress::none());
    int num_inside = 0, num_different = 0;
    for (int k = 0; k < grid.size[2]; ++k)
        for (int j = 0; j < grid.size[1]; ++j)
            for (int i = 0; i < grid.size[0]; ++i) {
                if (grid.at(i, j, k) == CellState::Cut) continue;
                const bool is_inside = grid.at(i, j, k) == CellState::Inside;
                const double w = surface.winding_number(cell_of(grid, i, j, k).center());
                num_inside += is_inside;
                num_different += is_inside != (w > 0.5);
            }
    EXPECT_GT(num_inside, 1000);
    EXPECT_EQ(num_different, 0);
}

TEST(CellGrid, RaysSpreadOverTheCellWithoutRepeatingACoordinate) {
    for (const int s : {1, 2, 4, 5}) {
        std::vector<double> y, z;
        for (int r = 0; r < s * s; ++r) {
            y.push_back(ray_offset(r, s)[0]);
            z.push_back(ray_offset(r, s)[1]);
        }
        for (auto* values : {&y, &z}) {
            std::sort(values->begin(), values->end());
            for (int r = 0; r < s * s; ++r)
                EXPECT_NEAR((*values)[static_cast<std::size_t>(r)], (r + 0.5) / (s * s), 1e-12);
        }
    }
}

TEST(CellGrid, WindingReturnsToZeroOnRaysThroughEdgesAndVertices) {
    // lattice surfaces whose vertices and edges lie exactly on the rays, and slivers
    test::Random random(23);
    const int s = 2;
    for (int trial = 0; trial < 200; ++trial) {
        SurfaceMesh mesh = test::make_sphere(1.0, 6);
        for (Eigen::Vector3d& v : mesh.vertices) {
            v = 2.0 * v + Eigen::Vector3d::Constant(2.5);
            if (trial % 2 == 0)  // to multiples of 1/8, where the rays are
                for (int axis = 0; axis < 3; ++axis) v[axis] = std::round(v[axis] * 8) / 8;
            v += (trial % 2) * 1e-15 * random.in_cube(1.0);
        }
        LayeredSurface surface;
        surface.vertices = mesh.vertices;
        surface.triangles = mesh.triangles;
        surface.layer_start = {0};
        for (int k = 0; k < 5; ++k) {
            for (int t = 0; t < mesh.num_triangles(); ++t) surface.layer_triangles.push_back(t);
            surface.layer_start.push_back(surface.layer_triangles.size());
        }
        for (int k = 0; k < 5; ++k) {
            int sum = 0, ray = -1;
            for (const RayCrossing& crossing : crossings_of_layer(surface, k, s)) {
                if (crossing.ray != ray) {
                    EXPECT_EQ(sum, 0);
                    sum = 0;
                }
                ray = crossing.ray;
                sum += crossing.rise;
            }
            EXPECT_EQ(sum, 0);
        }
    }
}

}  // namespace
}  // namespace pliant
