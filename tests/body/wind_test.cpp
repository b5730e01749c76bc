#include "body/wind.h"

#include "geometry/simple_surfaces.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

namespace pliant {
namespace {

using Eigen::Vector3d;

Vector3d total(const std::vector<Vector3d>& forces) {
    return std::accumulate(forces.begin(), forces.end(), Vector3d(Vector3d::Zero()));
}

TEST(Wind, PushesABoxByTheAreaOfItsShadow) {
    const SurfaceMesh box = test::box_surface({0, 0, 0}, {2, 3, 5});
    // length of the direction does not count
    const Vector3d d = Vector3d(0.3, -0.4, 0.5), unit = d.normalized();
    const double shadow =
        15 * std::abs(unit.x()) + 10 * std::abs(unit.y()) + 6 * std::abs(unit.z());
    EXPECT_LT((total(wind_forces(box, d)) - shadow * unit).norm(), 1e-12 * shadow);
}

TEST(Wind, LeavesTheLeeSideAlone) {
    const SurfaceMesh box = test::box_surface();
    const std::vector<Vector3d> forces = wind_forces(box, Vector3d::UnitX());
    double front = 0;
    for (std::size_t v = 0; v < box.vertices.size(); ++v) {
        if (box.vertices[v].x() > 0.5)
            EXPECT_EQ(forces[v], Vector3d(Vector3d::Zero()));
        else
            front += forces[v].x();
    }
    EXPECT_NEAR(front, 1, 1e-15);
}

TEST(Wind, SharesEachFaceAmongItsCorners) {
    SurfaceMesh triangle;
    triangle.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    triangle.triangles = {{0, 1, 2}};
    const Vector3d d = Vector3d(0.6, 0, -0.8);
    for (const Vector3d& f : wind_forces(triangle, d))
        EXPECT_LT((f - 0.5 / 3 * 0.8 * d).norm(), 1e-15);
    // from behind, nothing
    EXPECT_EQ(total(wind_forces(triangle, -d)), Vector3d(Vector3d::Zero()));
}

TEST(Wind, WithoutADirectionIsNoWind) {
    const SurfaceMesh box = test::box_surface();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    for (const Vector3d& d : {Vector3d(0, 0, 0), Vector3d(nan, 0, 1), Vector3d(infinity, 0, 0)})
        EXPECT_EQ(total(wind_forces(box, d)), Vector3d(Vector3d::Zero()));
}

}  // namespace
}  // namespace pliant
