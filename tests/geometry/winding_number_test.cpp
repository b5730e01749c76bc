#include "geometry/winding_number.h"

#include "geometry/test_meshes.h"
#include "pliant/geometry/surface_query.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using detail::triangle_winding;
using detail::WindingTree;
using Eigen::Vector3d;

double winding_by_loop(const SurfaceMesh& mesh, const Vector3d& x) {
    double sum = 0;
    for (int t = 0; t < mesh.num_triangles(); ++t)
        sum +=
            triangle_winding(mesh.corner(t, 0) - x, mesh.corner(t, 1) - x, mesh.corner(t, 2) - x);
    return sum;
}

/// Half of the points close to the surface, half anywhere around it.
std::vector<Vector3d> points_around(const SurfaceMesh& mesh, int count, std::uint64_t seed) {
    test::Random random(seed);
    std::vector<Vector3d> points;
    for (int i = 0; i < count; ++i)
        if (i % 2)
            points.push_back(random.in_cube(1.4));
        else
            points.push_back(mesh.corner(random.below(mesh.num_triangles()), 0) +
                             random.in_cube(0.02));
    return points;
}

TEST(WindingNumber, AnOctantIsAnEighth) {
    EXPECT_NEAR(triangle_winding(Vector3d::UnitX(), Vector3d::UnitY(), Vector3d::UnitZ()), 0.125,
                1e-15);
    EXPECT_NEAR(triangle_winding(Vector3d::UnitY(), Vector3d::UnitX(), Vector3d::UnitZ()), -0.125,
                1e-15);
}

TEST(WindingNumber, ATriangleCountsNothingInItsOwnPlane) {
    const Vector3d a(-1, -1, 0), b(2, -1, 0), c(-1, 2, 0);
    EXPECT_EQ(triangle_winding(a, b, c), 0.0);
    EXPECT_EQ(triangle_winding(a, a, c), 0.0);
    EXPECT_EQ(triangle_winding(Vector3d::Zero(), b, c), 0.0);
}

TEST(WindingNumber, CubeIsOneInsideHalfOnItsFacesAndZeroOutside) {
    const WindingTree tree(test::make_cube());
    EXPECT_NEAR(tree.winding_number({0.5, 0.5, 0.5}), 1.0, 1e-14);
    EXPECT_NEAR(tree.winding_number({0.3, 0.4, 1.0}), 0.5, 1e-14);
    EXPECT_NEAR(tree.winding_number({0.3, 0.4, 1.1}), 0.0, 1e-14);
    EXPECT_NEAR(tree.winding_number({30, 40, 11}), 0.0, 1e-14);
}

TEST(WindingNumber, MomentsMatchTheSumOverAllTriangles) {
    SurfaceMesh open_sphere = test::make_sphere(1.0, 30);
    open_sphere.triangles.resize(open_sphere.triangles.size() * 2 / 3);
    for (const SurfaceMesh& mesh : {test::make_sphere(1.0, 30), test::make_torus(1.0, 0.3, 80, 30),
                                    test::make_random_soup(3000, 3), open_sphere}) {
        const WindingTree tree(mesh);
        double worst = 0, worst_rough = 0;
        int num_wrong = 0;
        for (const Vector3d& x : points_around(mesh, 1500, 4)) {
            const double exact = winding_by_loop(mesh, x);
            worst = std::max(worst, std::abs(tree.winding_number(x) - exact));
            worst_rough = std::max(worst_rough, std::abs(tree.rough_winding_number(x) - exact));
            if (std::abs(exact - 0.5) > 1e-3 && tree.is_inside(x) != (exact > 0.5)) ++num_wrong;
        }
        EXPECT_LT(worst, 1e-3);
        EXPECT_LT(worst_rough, 2e-2);  // is_inside allows for 5e-2
        EXPECT_EQ(num_wrong, 0);
    }
}

TEST(WindingNumber, MomentsAreOfSecondOrder) {
    // one cluster from afar: what is left out falls with the fifth power of the distance
    const SurfaceMesh mesh = test::make_random_soup(20, 2);
    const WindingTree tree(mesh);
    const Vector3d direction = Vector3d(0.3, 0.5, 0.81).normalized();
    const auto error = [&](double distance) {
        return std::abs(tree.winding_number(distance * direction) -
                        winding_by_loop(mesh, distance * direction));
    };
    EXPECT_NEAR(std::log2(error(20.0) / error(40.0)), 5.0, 0.3);
}

TEST(WindingNumber, UpdateGivesTheMomentsOfTheMovedMesh) {
    SurfaceMesh mesh = test::make_torus(1.0, 0.3, 60, 20);
    WindingTree tree(mesh);
    for (Vector3d& v : mesh.vertices) v = {2.0 * v.x() + 0.3 * v.z(), v.y(), 0.5 * v.z() + 7.0};
    tree.update(mesh);
    for (const Vector3d& x : points_around(mesh, 500, 5))
        EXPECT_NEAR(tree.winding_number(x), winding_by_loop(mesh, x), 1e-3);
}

TEST(WindingNumber, EmptyAndDegenerateMeshesAreZero) {
    EXPECT_EQ(WindingTree(SurfaceMesh{}).winding_number({1, 2, 3}), 0.0);
    SurfaceMesh line;
    for (int i = 0; i < 30; ++i) line.vertices.emplace_back(i, 0, 0);
    for (int i = 0; i + 2 < 30; ++i) line.triangles.push_back({i, i + 1, i + 2});
    const WindingTree tree(line);
    EXPECT_EQ(tree.winding_number({3, 1, 0}), 0.0);
    EXPECT_EQ(tree.winding_number({3, 0, 0}), 0.0);
}

}  // namespace
}  // namespace pliant
