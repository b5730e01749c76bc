#include "greens/boundary_mesh_checks.h"

#include <gtest/gtest.h>

#include "greens/boundary_cases.h"
#include "greens/triangle_crossing.h"
#include "pliant/core/error.h"
#include "pliant/geometry/shapes.h"
#include "tests/greens/boundary_shapes.h"

namespace pliant {
namespace {

using test::cube_surface;

std::string refusal(const SurfaceMesh& mesh) {
    try {
        check_boundary_mesh(mesh);
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(BoundaryMeshChecks, AcceptsGoodSurfaces) {
    EXPECT_EQ(refusal(sphere_case_surface(2)), "accepted");
    EXPECT_EQ(refusal(cube_surface(3)), "accepted");
    EXPECT_EQ(refusal(make_semi_regular("nodule", 2).mesh), "accepted");
    EXPECT_EQ(refusal(make_semi_regular("spatula").mesh), "accepted");
    // a hollow body
    SurfaceMesh hollow = sphere_case_surface(1);
    SurfaceMesh hole = sphere_case_surface(1);
    for (Eigen::Vector3d& x : hole.vertices) x /= 2;
    for (Triangle& t : hole.triangles) std::swap(t[1], t[2]);
    append(hollow, hole);
    EXPECT_EQ(refusal(hollow), "accepted");
}

TEST(BoundaryMeshChecks, NamesTheFirstDefectOfTheSurface) {
    EXPECT_EQ(refusal({}), "boundary elements need a closed surface: this one has no triangles");
    SurfaceMesh open = sphere_case_surface(1);
    open.triangles.erase(open.triangles.begin() + 5);
    EXPECT_EQ(refusal(open),
              "boundary elements need a closed surface: this one has 3 open edges (first: triangle "
              "2); close its holes");
    SurfaceMesh turned = sphere_case_surface(1);
    std::swap(turned.triangles[7][0], turned.triangles[7][1]);
    EXPECT_NE(refusal(turned).find("this one has 3 edges between triangles of opposite orientation "
                                   "(first: triangle "),
              std::string::npos)
        << refusal(turned);
    SurfaceMesh inside_out = sphere_case_surface(1);
    for (Triangle& t : inside_out.triangles) std::swap(t[1], t[2]);
    EXPECT_EQ(refusal(inside_out),
              "the surface is inside out: its volume is -3.7; 'pliant convert --repair' may mend "
              "it");
    SurfaceMesh unused = sphere_case_surface(1);
    unused.vertices.emplace_back(0, 0, 0);
    EXPECT_EQ(refusal(unused),
              "boundary elements need a closed surface: this one has 1 vertex without triangles "
              "(vertex 42); 'pliant convert --repair' may mend it");
}

TEST(BoundaryMeshChecks, ThinTrianglesAreNamedWithQualityAndLimit) {
    // move one vertex of a cube along an edge until its triangles are needles
    SurfaceMesh mesh = cube_surface(2);
    for (auto& x : mesh.vertices)
        if ((x - Eigen::Vector3d(0.5, 0.5, 1)).norm() < 1e-9) x.x() = 0.005;
    const std::string text = refusal(mesh);
    EXPECT_NE(
        text.find(" is too thin for boundary elements: quality 0.0087, at least 0.02 is needed "
                  "(the worst of 2); remesh the surface"),
        std::string::npos)
        << text;
    EXPECT_DOUBLE_EQ(triangle_quality({0, 0, 0}, {1, 0, 0}, {0.5, std::sqrt(0.75), 0}), 1);
    EXPECT_DOUBLE_EQ(triangle_quality({0, 0, 0}, {1, 0, 0}, {2, 0, 0}), 0);
    EXPECT_DOUBLE_EQ(triangle_quality({0, 0, 0}, {0, 0, 0}, {0, 0, 0}), 0);
}

TEST(BoundaryMeshChecks, FirstPairOfCrossingTrianglesIsNamed) {
    // a spike of a sphere pushed through the opposite side
    SurfaceMesh mesh = sphere_case_surface(2);
    for (auto& x : mesh.vertices)
        if (x.z() > 0.99) x.z() = -1.3;
    const auto pair = first_crossing_triangles(mesh);
    ASSERT_TRUE(pair.has_value());
    EXPECT_EQ(refusal(mesh),
              "the surface cuts or touches itself: triangles " + std::to_string(pair->first) +
                  " and " + std::to_string(pair->second) + " meet; move or remesh these parts");
}

SurfaceMesh two_triangles(const std::array<Eigen::Vector3d, 6>& corners) {
    SurfaceMesh mesh;
    mesh.vertices.assign(corners.begin(), corners.end());
    mesh.triangles = {{0, 1, 2}, {3, 4, 5}};
    return mesh;
}

TEST(TriangleCrossing, TellsMeetingFromApart) {
    const Eigen::Vector3d a(0, 0, 0), b(1, 0, 0), c(0, 1, 0);
    const auto meet = [&](const Eigen::Vector3d& d, const Eigen::Vector3d& e,
                          const Eigen::Vector3d& f) {
        return first_crossing_triangles(two_triangles({a, b, c, d, e, f})).has_value();
    };
    EXPECT_TRUE(meet({0.2, 0.2, -1}, {0.2, 0.2, 1}, {2, 2, 0}));         // edge through the face
    EXPECT_TRUE(meet({-1, 0.2, 0.3}, {2, 0.2, 0.3}, {0.3, 0.2, -0.5}));  // face edge through it
    EXPECT_TRUE(meet({0.2, 0.2, 0}, {0.2, 0.2, 1}, {0.3, 0.2, 1}));      // a corner touches
    EXPECT_FALSE(meet({0.2, 0.2, 1e-6}, {0.2, 0.2, 1}, {0.3, 0.2, 1}));
    EXPECT_FALSE(meet({0.6, 0.6, -1}, {0.6, 0.6, 1}, {2, 2, 0}));
    // in one plane: crossing, one inside the other, apart
    EXPECT_TRUE(meet({0.5, -0.5, 0}, {0.6, -0.5, 0}, {0.5, 0.5, 0}));
    EXPECT_TRUE(meet({0.1, 0.1, 0}, {0.2, 0.1, 0}, {0.1, 0.2, 0}));
    EXPECT_FALSE(meet({0.6, 0.6, 0}, {1, 1, 0}, {0.6, 1, 0}));
}

TEST(TriangleCrossing, NeighboursMeetOnlyWhenFoldedOrPierced) {
    SurfaceMesh mesh;
    mesh.vertices = {{0, 0, 0},     {1, 0, 0},     {0, 1, 0},  {1, 1, 0},
                     {0.3, 0.2, 0}, {0.3, 0.3, 1}, {0, -1, 0}, {-1, -1, 0}};
    // flat neighbours across an edge, and folded onto each other
    mesh.triangles = {{0, 1, 2}, {1, 3, 2}};
    EXPECT_FALSE(first_crossing_triangles(mesh).has_value());
    mesh.triangles = {{0, 1, 2}, {1, 4, 2}};
    EXPECT_TRUE(first_crossing_triangles(mesh).has_value());
    // a common corner: apart in one plane; standing on the face; overlapping in the plane
    mesh.triangles = {{0, 1, 2}, {0, 7, 6}};
    EXPECT_FALSE(first_crossing_triangles(mesh).has_value());
    mesh.triangles = {{0, 1, 2}, {0, 4, 5}};
    EXPECT_TRUE(first_crossing_triangles(mesh).has_value());
    mesh.triangles = {{0, 1, 2}, {0, 3, 4}};
    EXPECT_TRUE(first_crossing_triangles(mesh).has_value());
}

TEST(TriangleCrossing, ReportsTheLowestPairWhateverTheOrderOfTheSweep) {
    SurfaceMesh mesh;
    // three crosses along x, numbered from the far end
    for (int k = 2; k >= 0; --k) {
        const int first = mesh.num_vertices();
        const Eigen::Vector3d shift(3.0 * k, 0, 0);
        for (const Eigen::Vector3d& x : {Eigen::Vector3d(0, 0, 0), Eigen::Vector3d(1, 0, 0),
                                         Eigen::Vector3d(0, 1, 0), Eigen::Vector3d(0.2, 0.2, -1),
                                         Eigen::Vector3d(0.2, 0.2, 1), Eigen::Vector3d(1, 1, 0)})
            mesh.vertices.push_back(x + shift);
        mesh.triangles.push_back({first, first + 1, first + 2});
        mesh.triangles.push_back({first + 3, first + 4, first + 5});
    }
    EXPECT_EQ(first_crossing_triangles(mesh), std::pair(0, 1));
}

}  // namespace
}  // namespace pliant
