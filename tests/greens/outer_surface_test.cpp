#include "greens/outer_surface.h"

#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "core/numbers.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/geometry/surface_check.h"

namespace pliant {
namespace {

/// Unit cubes at these places of a lattice, with common vertices.
VolumeMesh lattice_cubes(const std::vector<std::array<int, 3>>& places) {
    VolumeMesh mesh;
    mesh.kind = ElementKind::Hex8;
    std::vector<std::array<int, 3>> known;
    constexpr int kCorners[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                    {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    for (const auto& place : places)
        for (const auto& corner : kCorners) {
            const std::array<int, 3> x{place[0] + corner[0], place[1] + corner[1],
                                       place[2] + corner[2]};
            const auto found = std::find(known.begin(), known.end(), x);
            mesh.elements.push_back(static_cast<int>(found - known.begin()));
            if (found != known.end()) continue;
            known.push_back(x);
            mesh.vertices.emplace_back(x[0], x[1], x[2]);
        }
    return mesh;
}

void expect_same_triangles(const OuterSurface& surface) {
    const SurfaceMesh& mesh = surface.manifold;
    ASSERT_EQ(mesh.triangles.size(), surface.triangles.size());
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
        for (std::size_t k = 0; k < 3; ++k)
            EXPECT_EQ(mesh.vertices[at(mesh.triangles[t][k])],
                      mesh.vertices[at(surface.triangles[t][k])]);
}

TEST(OuterSurface, OfAManifoldBodyHasItsNodesForVertices) {
    const VolumeMesh mesh =
        tet_box(3, 3, 3, Box(Eigen::Vector3d(0, 0, 0), Eigen::Vector3d(1, 1, 1)));
    const OuterSurface surface = outer_surface(mesh);
    EXPECT_EQ(surface.vertices.size(), 56u);
    EXPECT_TRUE(std::is_sorted(surface.vertices.begin(), surface.vertices.end()));
    EXPECT_EQ(surface.manifold.triangles, surface.triangles);
    EXPECT_EQ(surface.manifold.vertices.size(), 56u);
    EXPECT_TRUE(check_surface(surface.manifold).is_clean());
}

TEST(OuterSurface, PartsThatMeetInAnEdgeOrVertexAreTakenApart) {
    // an edge; a vertex; four cubes around an edge in a checkerboard of two layers
    for (const auto& [places, extra] :
         std::vector<std::pair<std::vector<std::array<int, 3>>, std::size_t>>{
             {{{0, 0, 0}, {1, 1, 0}}, 2},
             {{{0, 0, 0}, {1, 1, 1}}, 1},
             {{{0, 0, 0}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}}, 0}}) {
        const OuterSurface surface = outer_surface(lattice_cubes(places));
        expect_same_triangles(surface);
        const SurfaceReport report = check_surface(surface.manifold);
        EXPECT_EQ(report.non_manifold_edges.count, 0) << report.text();
        EXPECT_EQ(report.non_manifold_vertices.count, 0) << report.text();
        if (extra == 0) continue;
        EXPECT_TRUE(report.is_clean()) << report.text();
        EXPECT_EQ(surface.manifold.vertices.size(), surface.vertices.size() + extra);
    }
}

TEST(OuterSurface, AnEdgeBetweenPartsThatMeetAgainIsCut) {
    // the edge in the middle has the same body at both of its ends
    const OuterSurface surface = outer_surface(lattice_cubes(
        {{0, 0, 1}, {1, 1, 1}, {0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 0, 2}, {1, 0, 2}, {1, 1, 2}}));
    expect_same_triangles(surface);
    const SurfaceReport report = check_surface(surface.manifold);
    EXPECT_EQ(report.non_manifold_edges.count, 0) << report.text();
    EXPECT_EQ(report.non_manifold_vertices.count, 0) << report.text();
}

}  // namespace
}  // namespace pliant
