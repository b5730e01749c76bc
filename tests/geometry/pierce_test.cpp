#include "geometry/pierce.h"

#include "geometry/simple_surfaces.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3d;

TEST(PiercedSurface, LinesMeetTheNearestPlaceThatFacesTheSameWay) {
    const SurfaceQuery box(test::box_surface());
    const PiercedSurface surface(box);
    const Vector3d up = Vector3d::UnitZ(), inside(0.4, 0.7, 0.8), above(0.4, 0.7, 1.3);
    ASSERT_TRUE(surface.pierce(inside, up, 2));
    EXPECT_NEAR(*surface.pierce(inside, up, 2), 0.2, 1e-12);
    EXPECT_NEAR(*surface.pierce(above, up, 2), -0.3, 1e-12);
    // through the top, which faces the other way
    EXPECT_NEAR(*surface.pierce(above, -up, 2), 1.3, 1e-6);
    EXPECT_FALSE(surface.pierce(inside, -up, 0.5));
    EXPECT_FALSE(surface.pierce(above, Vector3d::UnitX(), 2));
}

TEST(PiercedSurface, TheClosestPointCountsWhereItFacesTheSameWay) {
    const SurfaceQuery box(test::box_surface());
    const PiercedSurface surface(box);
    const Vector3d up = Vector3d::UnitZ(), inside(0.4, 0.7, 0.9);
    ASSERT_TRUE(surface.closest(inside, up, 1));
    EXPECT_LT((*surface.closest(inside, up, 1) - Vector3d(0.4, 0.7, 1)).norm(), 1e-12);
    EXPECT_FALSE(surface.closest(inside, -up, 1));
    EXPECT_FALSE(surface.closest(inside, Vector3d::UnitX(), 1));
    EXPECT_FALSE(surface.closest(inside, up, 0.05));
}

TEST(PiercedSurface, UnknownOffsetsAreMeansRingByRing) {
    // two rings beyond what is known, and a piece of its own that nothing reaches
    const std::vector<std::array<int, 3>> triangles{{0, 1, 2}, {1, 3, 2}, {2, 3, 4}, {5, 6, 7}};
    std::vector<double> values{2, 4, 0, 0, 0, 9, 9, 9};
    EXPECT_EQ(fill_from_neighbours(triangles, {1, 1, 0, 0, 0, 0, 0, 0}, values), 6);
    // each triangle counts its corners
    EXPECT_NEAR(values[2], (2 + 4 + 4) / 3.0, 1e-14);
    EXPECT_NEAR(values[3], 4, 1e-14);
    EXPECT_NEAR(values[4], (values[2] + values[3]) / 2, 1e-14);
    for (const std::size_t alone : {5, 6, 7}) EXPECT_EQ(values[alone], 9);
}

}  // namespace
}  // namespace pliant
