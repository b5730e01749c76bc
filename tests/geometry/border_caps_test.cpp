#include "geometry/border_caps.h"

#include "geometry/hex_checks.h"
#include "geometry/test_meshes.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

int num_caps(const SurfaceMesh& mesh) {
    return with_border_caps(mesh).num_triangles() - mesh.num_triangles();
}

TEST(BorderCaps, ClosedSurfacesGetNone) {
    const SurfaceMesh sphere = test::make_sphere(1.0, 8);
    EXPECT_EQ(num_caps(sphere), 0);
    EXPECT_EQ(num_caps(test::joined(sphere, test::moved(sphere, {1, 0, 0}))), 0);
    // both sides of a sheet, without shared vertices
    EXPECT_EQ(num_caps(test::joined(test::make_sheet(), test::flipped(test::make_sheet()))), 0);
}

TEST(BorderCaps, LoopsWhoseLengthVanishesGetAFiniteApex) {
    SurfaceMesh speck;
    speck.vertices = {{0, 0, 0}, {1e-200, 0, 0}, {0, 1e-200, 0}};
    speck.triangles = {{0, 1, 2}};
    for (const Eigen::Vector3d& x : with_border_caps(speck).vertices) EXPECT_TRUE(x.allFinite());
}

TEST(BorderCaps, EveryLoopGetsItsOwnFanAndTheVolumeIsClosed) {
    SurfaceMesh cube = test::make_cube();
    cube.triangles.erase(cube.triangles.begin(), cube.triangles.begin() + 4);  // bottom and top
    const SurfaceMesh closed = with_border_caps(cube);
    EXPECT_EQ(closed.num_triangles(), 8 + 2 * 4);
    ASSERT_EQ(closed.num_vertices(), 8 + 2);
    EXPECT_NEAR(enclosed_volume(closed), 1.0, 1e-12);
    EXPECT_NEAR((closed.vertices[8] - Eigen::Vector3d(0.5, 0.5, 0)).norm(), 0, 1e-12);
    EXPECT_NEAR((closed.vertices[9] - Eigen::Vector3d(0.5, 0.5, 1)).norm(), 0, 1e-12);
    EXPECT_EQ(num_caps(closed), 0);
}

TEST(BorderCaps, LoopsThatMeetAtAVertexAreSeparated) {
    SurfaceMesh bow_tie;
    bow_tie.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {-1, 0, 0}, {-1, -1, 0}};
    bow_tie.triangles = {{0, 1, 2}, {0, 3, 4}};
    const SurfaceMesh closed = with_border_caps(bow_tie);
    EXPECT_EQ(closed.num_triangles(), 2 + 6);
    EXPECT_EQ(closed.num_vertices(), 5 + 2);
    EXPECT_EQ(num_caps(closed), 0);
}

TEST(BorderCaps, ATriangleTurnedOverIsMadeGood) {
    SurfaceMesh sphere = test::make_sphere(1.0, 8);
    const double volume = enclosed_volume(sphere);
    std::swap(sphere.triangles[5][0], sphere.triangles[5][1]);
    const SurfaceMesh closed = with_border_caps(sphere);
    EXPECT_EQ(closed.num_triangles(), sphere.num_triangles() + 6);  // its opposite, twice
    EXPECT_NEAR(enclosed_volume(closed), volume, 1e-12);
}

TEST(BorderCaps, AnySoupBecomesClosed) {
    // index soup: triangles between random vertices, most edges shared by several
    test::Random random(5);
    SurfaceMesh soup = test::make_random_soup(4, 9);
    soup.triangles.clear();
    for (int t = 0; t < 200; ++t)
        soup.triangles.push_back({random.below(12), random.below(12), random.below(12)});
    const SurfaceMesh closed = with_border_caps(soup);
    EXPECT_GT(closed.num_triangles(), 200);
    EXPECT_EQ(num_caps(closed), 0);
}

}  // namespace
}  // namespace pliant
