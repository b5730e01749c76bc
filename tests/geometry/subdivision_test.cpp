#include "pliant/geometry/subdivision.h"

#include "core/numbers.h"
#include "core/temporary_directory.h"
#include "geometry/simple_surfaces.h"
#include "geometry/test_meshes.h"
#include "input_error.h"
#include "pliant/geometry/mesh_archive.h"
#include "pliant/geometry/selection.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/surface_check.h"
#include "pliant/geometry/surface_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <set>

namespace pliant {
namespace {

using Eigen::Vector3d;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

SurfaceMesh octahedron() {
    SurfaceMesh mesh;
    mesh.vertices = {{1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    for (int k = 0; k < 4; ++k) {
        mesh.triangles.push_back({k, (k + 1) % 4, 4});
        mesh.triangles.push_back({(k + 1) % 4, k, 5});
    }
    return mesh;
}

SurfaceMesh icosahedron() {
    SurfaceMesh mesh;
    mesh.vertices = {{0, 0, 1}};
    for (int k = 0; k < 10; ++k) {
        const double angle = std::numbers::pi / 5 * k, z = (k % 2 ? -1 : 1) / std::sqrt(5.0);
        mesh.vertices.emplace_back(std::cos(angle) * 2 / std::sqrt(5.0),
                                   std::sin(angle) * 2 / std::sqrt(5.0), z);
    }
    mesh.vertices.emplace_back(0, 0, -1);
    const auto ring = [](int k) { return 1 + k % 10; };
    for (int k = 0; k < 10; k += 2) {
        mesh.triangles.push_back({0, ring(k), ring(k + 2)});
        mesh.triangles.push_back({11, ring(k + 3), ring(k + 1)});
        mesh.triangles.push_back({ring(k), ring(k + 1), ring(k + 2)});
        mesh.triangles.push_back({ring(k + 1), ring(k + 3), ring(k + 2)});
    }
    return mesh;
}

/// Neighbours of the mesh's vertex, by looking at all triangles.
std::set<int> ring_of(const SurfaceMesh& mesh, int vertex) {
    std::set<int> ring;
    for (const Triangle& t : mesh.triangles)
        if (std::ranges::count(t, vertex)) ring.insert(t.begin(), t.end());
    ring.erase(vertex);
    return ring;
}

double smallest_corner_angle(const SurfaceMesh& mesh) {
    double smallest = 180;
    for (int t = 0; t < mesh.num_triangles(); ++t)
        for (int k = 0; k < 3; ++k) {
            const Vector3d a = mesh.corner(t, (k + 1) % 3) - mesh.corner(t, k),
                           b = mesh.corner(t, (k + 2) % 3) - mesh.corner(t, k);
            smallest = std::min(smallest, std::atan2(a.cross(b).norm(), a.dot(b)));
        }
    return smallest * 180 / std::numbers::pi;
}

TEST(LoopSubdivision, MovesAnOctahedronAsComputedByHand) {
    const SemiRegularMesh fine = loop_subdivide(octahedron(), 1);
    ASSERT_EQ(fine.mesh.num_vertices(), 18);
    // the neighbours cancel: 1 − 4β = 3/8 + (3/8)² remains
    for (int v = 0; v < 6; ++v)
        EXPECT_LT((fine.mesh.vertices[at(v)] - 0.515625 * octahedron().vertices[at(v)]).norm(),
                  1e-15);
    // of an edge's neighbours the opposite vertices cancel
    for (int v = 6; v < 18; ++v) {
        const auto& near = fine.neighbourhood[at(v - 6)];
        const Vector3d sum =
            octahedron().vertices[at(near[0])] + octahedron().vertices[at(near[1])];
        EXPECT_LT((fine.mesh.vertices[at(v)] - 0.375 * sum).norm(), 1e-15);
    }
}

TEST(LoopSubdivision, MovesATetrahedronAsComputedByHand) {
    SurfaceMesh mesh;
    mesh.vertices = {{1, 1, 1}, {-1, -1, 1}, {-1, 1, -1}, {1, -1, -1}};
    mesh.triangles = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    const SemiRegularMesh fine = loop_subdivide(mesh, 1);
    // k = 3: β = 3/16, and the neighbours sum up to minus the vertex
    EXPECT_LT((fine.mesh.vertices[0] - 0.25 * mesh.vertices[0]).norm(), 1e-15);
    // first edge 0–1: 3/8 (0, 0, 2) + 1/8 (0, 0, −2)
    EXPECT_LT((fine.mesh.vertices[4] - Vector3d(0, 0, 0.5)).norm(), 1e-15);
}

TEST(LoopSubdivision, FollowsTheMasksOnAnyMesh) {
    // box corners have four to six neighbours
    SurfaceMesh mesh = test::box_surface();
    test::Random random(5);
    for (Vector3d& v : mesh.vertices) v += random.in_cube(0.2);
    const SemiRegularMesh fine = loop_subdivide(mesh, 1);
    for (int v = 0; v < 8; ++v) {
        const std::set<int> ring = ring_of(mesh, v);
        const double k = static_cast<double>(ring.size());
        const double beta =
            (5.0 / 8 - std::pow(3.0 / 8 + std::cos(2 * std::numbers::pi / k) / 4, 2)) / k;
        Vector3d expected = (1 - k * beta) * mesh.vertices[at(v)];
        for (const int u : ring) expected += beta * mesh.vertices[at(u)];
        EXPECT_LT((fine.mesh.vertices[at(v)] - expected).norm(), 1e-15) << v;
    }
    for (std::size_t i = 0; i < fine.neighbourhood.size(); ++i) {
        const auto x = [&](std::size_t k) { return mesh.vertices[at(fine.neighbourhood[i][k])]; };
        const Vector3d expected = (3 * (x(0) + x(1)) + x(2) + x(3)) / 8;
        EXPECT_LT((fine.mesh.vertices[8 + i] - expected).norm(), 1e-15) << i;
    }
}

TEST(LoopSubdivision, RegularRegionsReproduceQuadricsUpToTheKnownShift) {
    // the torus unrolled: far from the seam neighbours are neighbours of a plane lattice
    constexpr int kSize = 12, kLevels = 3;
    SurfaceMesh control = test::torus_surface(kSize, kSize);
    for (int v = 0; v < control.num_vertices(); ++v) {
        const double x = v / kSize, y = v % kSize;
        control.vertices[at(v)] = {x, y, x * x};
    }
    const SurfaceMesh fine = loop_subdivide(control, kLevels).mesh;
    const SurfaceMesh flat = midpoint_subdivide(control, kLevels).mesh;
    // x² is lifted by 1/4 at the first level, by 1/16 at the next: by 1/3 at last
    const double shift = (1 - std::pow(0.25, kLevels)) / 3;
    const auto is_far_from_seam = [&](const Triangle& t) {
        return std::ranges::all_of(t, [&](int v) {
            return std::min(v / kSize, v % kSize) > 2 && std::max(v / kSize, v % kSize) < 9;
        });
    };
    int num_checked = 0;
    for (int t = 0; t < fine.num_triangles(); ++t) {
        if (!is_far_from_seam(control.triangles[at(t >> 2 * kLevels)])) continue;
        for (int k = 0; k < 3; ++k) {
            const Vector3d& x = flat.corner(t, k);
            const Vector3d expected(x.x(), x.y(), x.x() * x.x() + shift);
            EXPECT_LT((fine.corner(t, k) - expected).norm(), 1e-12);
            ++num_checked;
        }
    }
    EXPECT_EQ(num_checked, 3 * 64 * 2 * 5 * 5);
}

TEST(LoopSubdivision, CommutesWithAffineMaps) {
    Eigen::Matrix3d A;
    A << 1.5, 0.3, -0.2, 0.1, 0.7, 0.4, -0.6, 0.2, 1.1;
    const Vector3d b(3, -2, 0.5);
    const SubdivisionRules rules{.creases = {{0, 1}, {1, 2}, {2, 3}, {3, 0}}, .corners = {4}};
    SurfaceMesh mapped = octahedron();
    for (Vector3d& v : mapped.vertices) v = A * v + b;
    const SurfaceMesh plain = loop_subdivide(octahedron(), 4, rules).mesh;
    mapped = loop_subdivide(mapped, 4, rules).mesh;
    for (std::size_t v = 0; v < plain.vertices.size(); ++v)
        EXPECT_LT((mapped.vertices[v] - (A * plain.vertices[v] + b)).norm(), 1e-14);
}

TEST(LoopSubdivision, IcosahedronBecomesSmoothWithBoundedCurvature) {
    // largest turn of the normal over an edge, per length of the edges' dual: a curvature
    std::vector<double> turns, curvatures;
    for (const int levels : {3, 4, 5}) {
        const SurfaceMesh mesh = loop_subdivide(icosahedron(), levels).mesh;
        EXPECT_GT(smallest_corner_angle(mesh), 45.0);
        const std::vector<Vector3d> normals = face_normals(mesh);
        const SurfaceTopology topology(mesh);
        double turn = 0, curvature = 0;
        for (const SurfaceTopology::Edge& edge : topology.edges()) {
            const auto uses = topology.uses(edge);
            const double angle = std::acos(
                std::min(1.0, normals[at(uses[0].triangle)].dot(normals[at(uses[1].triangle)])));
            const double length = (mesh.vertices[at(edge.a)] - mesh.vertices[at(edge.b)]).norm();
            turn = std::max(turn, angle);
            curvature = std::max(curvature, angle / length);
        }
        turns.push_back(turn);
        curvatures.push_back(curvature);
    }
    EXPECT_NEAR(turns[1] / turns[0], 0.5, 0.06);
    EXPECT_NEAR(turns[2] / turns[1], 0.5, 0.03);
    // nearly a sphere, whose dihedral angles are 1/(√3 r) per edge length
    EXPECT_NEAR(curvatures[2] / curvatures[1], 1.0, 0.05);
    // and round to 2 %
    double least = 1, most = 0;
    for (const Vector3d& v : loop_subdivide(icosahedron(), 5).mesh.vertices) {
        least = std::min(least, v.norm());
        most = std::max(most, v.norm());
    }
    EXPECT_LT(most / least, 1.02);
}

TEST(LoopSubdivision, CreasedCubeStaysACube) {
    SubdivisionRules rules;
    for (int a = 0; a < 8; ++a)
        for (const int bit : {1, 2, 4})
            if (!(a & bit)) rules.creases.push_back({a | bit, a});
    const SurfaceMesh mesh = loop_subdivide(test::box_surface(), 4, rules).mesh;
    // corners stay by their three creases
    for (int v = 0; v < 8; ++v)
        EXPECT_EQ(mesh.vertices[at(v)], test::box_surface().vertices[at(v)]);
    EXPECT_NEAR(enclosed_volume(mesh), 1.0, 1e-13);
    EXPECT_NEAR(surface_area(mesh), 6.0, 1e-13);
}

TEST(LoopSubdivision, CreaseIsACubicSplineThatStaysInItsPlane) {
    const SubdivisionRules rules{.creases = {{0, 1}, {2, 1}, {2, 3}, {0, 3}}, .corners = {}};
    const SemiRegularMesh once = loop_subdivide(octahedron(), 1, rules);
    // 1/8, 3/4, 1/8 with neighbours that cancel; halves between
    EXPECT_LT((once.mesh.vertices[0] - Vector3d(0.75, 0, 0)).norm(), 1e-15);
    EXPECT_EQ(once.neighbourhood[0][1], 1);
    EXPECT_LT((once.mesh.vertices[6] - Vector3d(0.5, 0.5, 0)).norm(), 1e-15);
    const SurfaceMesh fine = loop_subdivide(octahedron(), 5, rules).mesh;
    int num_on_plane = 0;
    for (const Vector3d& v : fine.vertices) num_on_plane += v.z() == 0.0;
    EXPECT_EQ(num_on_plane, 4 * 32);
    // the surface meets the plane at an angle: the crease is sharp
    const SurfaceTopology topology(fine);
    const std::vector<Vector3d> normals = face_normals(fine);
    for (const SurfaceTopology::Edge& edge : topology.edges()) {
        const auto uses = topology.uses(edge);
        const double cosine = normals[at(uses[0].triangle)].dot(normals[at(uses[1].triangle)]);
        const bool is_on_plane =
            fine.vertices[at(edge.a)].z() == 0.0 && fine.vertices[at(edge.b)].z() == 0.0;
        if (is_on_plane)
            EXPECT_LT(cosine, 0.8);
        else
            EXPECT_GT(cosine, 0.95);
    }
}

TEST(LoopSubdivision, SingleCreaseFadesOutAndCornersDoNotMove) {
    const SurfaceMesh smooth = loop_subdivide(octahedron(), 1).mesh;
    const SurfaceMesh dart =
        loop_subdivide(octahedron(), 1, {.creases = {{1, 0}}, .corners = {4}}).mesh;
    for (const int end : {0, 1}) EXPECT_EQ(dart.vertices[at(end)], smooth.vertices[at(end)]);
    EXPECT_LT((dart.vertices[6] - Vector3d(0.5, 0.5, 0)).norm(), 1e-15);
    EXPECT_EQ(dart.vertices[4], Vector3d(0, 0, 1));
    EXPECT_EQ(dart.vertices[5], smooth.vertices[5]);
}

TEST(SemiRegular, LevelsArePrefixes) {
    const SemiRegularMesh fine = loop_subdivide(icosahedron(), 4);
    EXPECT_EQ(fine.num_levels(), 4);
    EXPECT_EQ(fine.num_vertices, (std::vector<int>{12, 42, 162, 642, 2562}));
    EXPECT_EQ(fine.triangles.back(), fine.mesh.triangles);
    for (int level = 0; level <= 4; ++level) {
        const SemiRegularMesh coarse = loop_subdivide(icosahedron(), level);
        EXPECT_EQ(coarse.mesh.triangles, fine.triangles[at(level)]);
        EXPECT_EQ(coarse.mesh.num_vertices(), fine.num_vertices[at(level)]);
        EXPECT_TRUE(std::equal(coarse.neighbourhood.begin(), coarse.neighbourhood.end(),
                               fine.neighbourhood.begin()));
    }
    EXPECT_EQ(fine.neighbourhood.size(), 2550u);
}

TEST(SemiRegular, OddVerticesLieBetweenTheirParents) {
    const SemiRegularMesh fine = midpoint_subdivide(icosahedron(), 3);
    int level = 1;
    for (int v = 12; v < fine.mesh.num_vertices(); ++v) {
        while (v >= fine.num_vertices[at(level)]) ++level;
        const auto& near = fine.neighbourhood[at(v - 12)];
        EXPECT_LT(near[0], near[1]);
        for (const int u : near) EXPECT_LT(u, fine.num_vertices[at(level - 1)]);
        const Vector3d middle =
            0.5 * (fine.mesh.vertices[at(near[0])] + fine.mesh.vertices[at(near[1])]);
        EXPECT_EQ(fine.mesh.vertices[at(v)], middle);
    }
}

TEST(SemiRegular, ChildrenAreNumberedByCorners) {
    const SemiRegularMesh fine = midpoint_subdivide(test::torus_surface(5, 4), 2);
    for (std::size_t level = 0; level < 2; ++level)
        for (std::size_t t = 0; t < fine.triangles[level].size(); ++t) {
            const Triangle& parent = fine.triangles[level][t];
            const Triangle& middle = fine.triangles[level + 1][4 * t + 3];
            for (std::size_t k = 0; k < 3; ++k) {
                const Triangle& child = fine.triangles[level + 1][4 * t + k];
                EXPECT_EQ(child[k], parent[k]);
                EXPECT_EQ(child[(k + 1) % 3], middle[(k + 2) % 3]);
                EXPECT_EQ(child[(k + 2) % 3], middle[(k + 1) % 3]);
                // corner k of the middle splits the side across from corner k
                const auto& near = fine.neighbourhood[at(middle[k] - fine.num_vertices.front())];
                const auto ends = std::minmax(parent[(k + 1) % 3], parent[(k + 2) % 3]);
                EXPECT_EQ(near[0], ends.first);
                EXPECT_EQ(near[1], ends.second);
            }
        }
}

TEST(SemiRegular, EightPointsOfARegularPatchAreTheParallelograms) {
    constexpr int kSize = 7;
    const SurfaceMesh control = test::torus_surface(kSize, kSize);
    const SemiRegularMesh fine = loop_subdivide(control, 1);
    const auto index = [](const Eigen::Vector2i& x) {
        return (x[0] + 2 * kSize) % kSize * kSize + (x[1] + 2 * kSize) % kSize;
    };
    for (const auto& near : fine.neighbourhood) {
        const auto place = [&](int v) { return Eigen::Vector2i(v / kSize, v % kSize); };
        // unwrapped around v1
        const auto offset = [&](int v) {
            Eigen::Vector2i d = place(v) - place(near[0]);
            for (int& c : d) c = (c + kSize + kSize / 2) % kSize - kSize / 2;
            return d;
        };
        const Eigen::Vector2i o = place(near[0]), d = offset(near[1]), f1 = offset(near[2]),
                              f2 = offset(near[3]);
        EXPECT_EQ(f1 + f2, d);
        EXPECT_EQ(near[4], index(o + f1 - d));
        EXPECT_EQ(near[5], index(o + d + f1));
        EXPECT_EQ(near[6], index(o + f2 - d));
        EXPECT_EQ(near[7], index(o + d + f2));
        // f1 is on the left: (v1, v2, f1) is a triangle in this sense
        const bool is_left = std::ranges::any_of(control.triangles, [&](const Triangle& t) {
            for (std::size_t k = 0; k < 3; ++k)
                if (t[k] == near[0] && t[(k + 1) % 3] == near[1] && t[(k + 2) % 3] == near[2])
                    return true;
            return false;
        });
        EXPECT_TRUE(is_left);
    }
}

TEST(SemiRegular, NeighboursBeyondABorderAreMinusOne) {
    SurfaceMesh square;
    square.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
    square.triangles = test::kSquareFan;
    const SemiRegularMesh fine = midpoint_subdivide(square, 1);
    using Eight = std::array<int, 8>;
    EXPECT_EQ(fine.neighbourhood,
              (std::vector<Eight>{{0, 1, 2, -1, 3, -1, -1, -1},  // border, the sheet on its left
                                  {0, 2, 3, 1, -1, -1, -1, -1},  // the diagonal
                                  {0, 3, -1, 2, -1, -1, 1, -1},  // border, the sheet on its right
                                  {1, 2, 0, -1, -1, 3, -1, -1},
                                  {2, 3, 0, -1, 1, -1, -1, -1}}));
}

TEST(SemiRegular, SubdivisionKeepsTheEulerNumberAndMultipliesTheFaces) {
    for (const SurfaceMesh& mesh : {icosahedron(), test::torus_surface(5, 4)}) {
        const SurfaceReport before = check_surface(mesh),
                            after = check_surface(loop_subdivide(mesh, 3).mesh);
        EXPECT_EQ(after.euler_number, before.euler_number);
        EXPECT_EQ(after.num_triangles, 64 * before.num_triangles);
        EXPECT_TRUE(after.is_clean()) << after.text();
    }
}

TEST(SemiRegular, LevelsOfVerticesAreTheirRounds) {
    const SemiRegularMesh fine = midpoint_subdivide(icosahedron(), 3);
    const std::vector<int> wanted{0, 0, 1, 1, 2, 2, 3, 3};
    std::vector<int> levels;
    for (const int v : {0, 11, 12, 41, 42, 161, 162, 641})
        levels.push_back(level_of_vertex(fine, v));
    EXPECT_EQ(levels, wanted);
}

TEST(SemiRegular, PointsKeepTheirPlaceOnCoarserAndFinerLevels) {
    // flat splits: a place is the same point of space on all levels
    const SemiRegularMesh fine = midpoint_subdivide(icosahedron(), 3);
    const auto place = [&](int level, const TrianglePoint& p) {
        Vector3d x = Vector3d::Zero();
        for (std::size_t k = 0; k < 3; ++k)
            x += p.barycentric[static_cast<int>(k)] *
                 fine.mesh.vertices[at(fine.triangles[at(level)][at(p.triangle)][k])];
        return x;
    };
    for (int t = 0; t < fine.mesh.num_triangles(); t += 7)
        for (const Vector3d& c : {Vector3d(0.2, 0.3, 0.5), Vector3d(0.7, 0.1, 0.2),
                                  Vector3d(1, 0, 0), Vector3d(0, 0.5, 0.5)}) {
            const TrianglePoint start{t, c};
            for (int level = 0; level <= 3; ++level) {
                const TrianglePoint coarse = point_on_coarser(start, 3 - level);
                EXPECT_EQ(coarse.triangle, t >> 2 * (3 - level));
                EXPECT_LT((place(level, coarse) - place(3, start)).norm(), 1e-15);
                EXPECT_NEAR(coarse.barycentric.sum(), 1, 3e-16);
                EXPECT_GE(coarse.barycentric.minCoeff(), 0);
                const TrianglePoint back = point_on_finer(coarse, 3 - level);
                EXPECT_LT((place(3, back) - place(3, start)).norm(), 1e-15);
                if (c.minCoeff() > 0) {
                    EXPECT_EQ(back.triangle, t);
                    EXPECT_LT((back.barycentric - c).norm(), 2e-15);
                }
            }
        }
    EXPECT_EQ(parent_triangle(4 * 17 + 3), 17);
}

TEST(MidpointSubdivision, KeepsTheSurface) {
    const SurfaceMesh mesh = midpoint_subdivide(test::box_surface({-1, 0, 2}, {1, 3, 2.5}), 3).mesh;
    EXPECT_NEAR(enclosed_volume(mesh), 3.0, 1e-13);
    EXPECT_NEAR(surface_area(mesh), 2 * (6 + 1 + 1.5), 1e-13);
    const Box box(Vector3d(-1, 0, 2), Vector3d(1, 3, 2.5));
    for (const Vector3d& v : mesh.vertices)
        EXPECT_EQ((v - box.min()).cwiseMin(box.max() - v).minCoeff(), 0.0);
    // no levels at all is the mesh itself
    EXPECT_EQ(midpoint_subdivide(octahedron(), 0).mesh.vertices, octahedron().vertices);
}

TEST(SemiRegularArchive, KeepsEverything) {
    const test::TemporaryDirectory directory;
    for (const std::string name : {"nodule", "spatula"}) {
        const SemiRegularMesh mesh = make_semi_regular(name);
        ArchiveWriter writer("greens-model");
        add_semi_regular_mesh(writer, mesh);
        writer.save(directory / "m.pliant");
        const SemiRegularMesh read = read_semi_regular_mesh(Archive(directory / "m.pliant"), "m");
        EXPECT_EQ(read.mesh.vertices, mesh.mesh.vertices);
        EXPECT_EQ(read.mesh.triangles, mesh.mesh.triangles);
        EXPECT_EQ(read.num_vertices, mesh.num_vertices);
        EXPECT_EQ(read.triangles, mesh.triangles);
        EXPECT_EQ(read.neighbourhood, mesh.neighbourhood);
    }
}

/// What reading says of an octahedron split once, after `spoil` has changed its chunks.
template <class Spoil>
std::string semi_regular_error(Spoil&& spoil) {
    const test::TemporaryDirectory directory;
    SemiRegularMesh mesh = loop_subdivide(octahedron(), 1);
    spoil(mesh);
    ArchiveWriter writer("greens-model");
    add_semi_regular_mesh(writer, mesh);
    writer.save(directory / "m.pliant");
    return test::input_error(
        [&] { (void)read_semi_regular_mesh(Archive(directory / "m.pliant"), "m.pliant"); });
}

TEST(SemiRegularArchive, NonsenseIsRefused) {
    EXPECT_EQ(semi_regular_error([](SemiRegularMesh&) {}), "");
    EXPECT_THAT(semi_regular_error([](SemiRegularMesh& m) { m.mesh.vertices[2].y() = kNan; }),
                HasSubstr("m.pliant: semi_regular/vertices[7]"));
    EXPECT_THAT(semi_regular_error([](SemiRegularMesh& m) { m.triangles[0][1][2] = 6; }),
                HasSubstr("semi_regular/triangles[5] = 6 (expected 0 … 5)"));
    EXPECT_THAT(semi_regular_error([](SemiRegularMesh& m) { m.num_vertices = {}; }),
                HasSubstr("semi_regular/num_vertices, length = 0"));
    EXPECT_THAT(semi_regular_error([](SemiRegularMesh& m) { m.num_vertices[0] = 19; }),
                HasSubstr("semi_regular/num_vertices[0] = 19 (expected 3 … 18)"));
    EXPECT_THAT(semi_regular_error([](SemiRegularMesh& m) { m.num_vertices[1] = 17; }),
                HasSubstr("semi_regular/num_vertices, last = 17 (expected 18 after 1 rounds"));
    EXPECT_THAT(semi_regular_error([](SemiRegularMesh& m) { m.mesh.vertices.emplace_back(); }),
                HasSubstr("m.pliant: semi_regular/num_vertices, last"));
    EXPECT_THAT(semi_regular_error([](SemiRegularMesh& m) {
                    std::swap(m.triangles[0][0][0], m.triangles[0][0][1]);
                }),
                HasSubstr("m.pliant: a mesh to subdivide must be manifold"));
    // refused by the vertices there are, before levels are made
    for (const std::size_t levels : {4u, 13u, 40u, 4000u})
        EXPECT_THAT(
            semi_regular_error([&](SemiRegularMesh& m) { m.num_vertices.resize(levels, 18); }),
            HasSubstr("m.pliant: semi_regular/num_vertices, length = " + std::to_string(levels) +
                      " (expected fewer levels: 18 vertices are too few for these)"));
}

TEST(Subdivision, BadMeshesAreRefused) {
    const auto message = [](const SurfaceMesh& mesh) {
        return test::input_error([&] { (void)loop_subdivide(mesh, 1); });
    };
    SurfaceMesh open = octahedron();
    open.triangles.pop_back();
    EXPECT_EQ(message(open),
              "a mesh to subdivide must be closed and manifold, but this has 3 open edges (first "
              "at triangle 1); try 'pliant convert --repair', or mend it in a modelling program");
    SurfaceMesh crowded = octahedron();
    crowded.vertices.emplace_back(0, 0, 2);
    crowded.triangles.push_back({0, 1, 6});
    EXPECT_THAT(message(crowded), HasSubstr("1 edge shared by more than two triangles"));
    EXPECT_THAT(test::input_error([&] { (void)midpoint_subdivide(crowded, 1); }),
                HasSubstr("must be manifold, but this has 1 edge shared by more than two"));
    SurfaceMesh pair = octahedron();
    pair.triangles.insert(pair.triangles.end(), {{4, 6, 7}, {4, 7, 8}, {4, 8, 6}, {6, 8, 7}});
    pair.vertices.insert(pair.vertices.end(), {{1, 0, 3}, {0, 1, 3}, {-1, -1, 3}});
    EXPECT_THAT(message(pair), HasSubstr("1 vertex where separate fans meet (at vertex 4)"));
    SurfaceMesh lonely = octahedron();
    lonely.vertices.emplace_back(9, 9, 9);
    EXPECT_THAT(message(lonely), HasSubstr("1 unused vertex"));
    EXPECT_THAT(message({}), HasSubstr("this has no triangles"));
    // an inside-out mesh is the wall of a cavity
    SurfaceMesh cavity = octahedron();
    for (Triangle& t : cavity.triangles) std::swap(t[0], t[1]);
    EXPECT_EQ(message(cavity), "");
}

TEST(Subdivision, BadRulesAndLevelsAreRefused) {
    const auto message = [](int levels, const SubdivisionRules& rules) {
        return test::input_error([&] { (void)loop_subdivide(octahedron(), levels, rules); });
    };
    EXPECT_EQ(message(1, {.creases = {{0, 1}, {2, 0}}, .corners = {}}),
              "creases[1] = 2-0 (expected two vertices that an edge of the control mesh joins)");
    EXPECT_THAT(message(1, {.creases = {{-1, 77}}, .corners = {}}),
                HasSubstr("creases[0] = -1-77"));
    EXPECT_EQ(message(1, {.creases = {}, .corners = {5, 6}}),
              "corners[1] = 6 (expected a vertex, 0 … 5)");
    EXPECT_EQ(message(-2, {}), "levels = -2 (expected a number of rounds, 0 or more)");
    EXPECT_EQ(message(12, {}),
              "levels = 12 (expected at most 11 for a mesh of 8 triangles; 12 would make 1.34e+08 "
              "triangles and take about 13.4 GB of memory)");
    EXPECT_THAT(message(100000, {}), HasSubstr("levels = 100000 (expected at most 11"));
}

struct PublishedModel {
    std::string name;
    int num_vertices, num_triangles, euler_number;
    double smallest_angle;  ///< ours, a little less than measured
    std::vector<int> levels;
};

void expect_published(const PublishedModel& model, const SemiRegularMesh& mesh) {
    const SurfaceReport report = check_surface(mesh.mesh);
    EXPECT_TRUE(report.is_clean()) << report.text();
    EXPECT_EQ(report.num_components, 1);
    EXPECT_EQ(report.num_vertices, model.num_vertices);
    EXPECT_EQ(report.num_triangles, model.num_triangles);
    EXPECT_EQ(report.euler_number, model.euler_number);
    EXPECT_EQ(mesh.num_vertices, model.levels);
    EXPECT_GT(smallest_corner_angle(mesh.mesh), model.smallest_angle);
}

TEST(SemiRegularShapes, HaveThePublishedSizes) {
    const std::vector<PublishedModel> models = {
        {"nodule", 130, 256, 2, 31, {10, 34, 130}},
        {"kidney", 322, 640, 2, 35, {22, 82, 322}},
        {"spatula", 620, 1248, -4, 21, {152, 620}},
        {"banana-seat", 546, 1088, 2, 29, {36, 138, 546}},
    };
    for (const PublishedModel& model : models) {
        SCOPED_TRACE(model.name);
        const SemiRegularMesh mesh = make_semi_regular(model.name);
        expect_published(model, mesh);
        EXPECT_EQ(test::fingerprint(make_shape(model.name)), test::fingerprint(mesh.mesh));

        // more levels: the same body, with errors that fall fourfold
        const auto volume = [&](int levels) {
            return enclosed_volume(make_semi_regular(model.name, levels).mesh);
        };
        const int last = mesh.num_levels();
        const double step = volume(last) - volume(last + 1);
        EXPECT_NEAR((volume(last + 1) - volume(last + 2)) / step, 0.25, 0.03);
        EXPECT_LT(step, 0.06 * volume(last));
    }
}

/// Made once: it takes long.
const SemiRegularMesh& with_default_levels(const std::string& name) {
    static std::map<std::string, SemiRegularMesh> made;
    const auto it = made.find(name);
    return it != made.end() ? it->second
                            : made.emplace(name, make_semi_regular(name)).first->second;
}

TEST(SkinnedShapes, HaveThePublishedSizes) {
    const std::vector<PublishedModel> models = {
        {"rabbit", 2562, 5120, 2, 23, {12, 42, 162, 642, 2562}},
        {"finger", 834, 1664, 2, 34, {15, 54, 210, 834}},
        {"serpent-ring", 9920, 19840, 0, 23, {155, 620, 2480, 9920}},
        {"toy", 590, 1176, 2, 20, {149, 590}},
    };
    for (const PublishedModel& model : models) {
        SCOPED_TRACE(model.name);
        expect_published(model, with_default_levels(model.name));
    }
}

TEST(SkinnedShapes, CoarseLevelsArePrefixesOfFineOnes) {
    for (const std::string name : {"rabbit", "finger", "toy"}) {
        SCOPED_TRACE(name);
        const int last = with_default_levels(name).num_levels();
        const SemiRegularMesh fine = make_semi_regular(name, last + 1);
        EXPECT_EQ(fine.num_levels(), last + 1);
        for (const int level : {0, last}) {
            const SemiRegularMesh coarse =
                level == last ? with_default_levels(name) : make_semi_regular(name, level);
            EXPECT_EQ(coarse.mesh.triangles, fine.triangles[at(level)]);
            EXPECT_TRUE(std::equal(coarse.mesh.vertices.begin(), coarse.mesh.vertices.end(),
                                   fine.mesh.vertices.begin()));
            EXPECT_EQ(coarse.neighbourhood, coarse_levels(fine, level).neighbourhood);
        }
        // flat triangles between the points of a smooth surface: errors that fall fourfold
        const auto volume = [&](int level) {
            return enclosed_volume(coarse_levels(fine, level).mesh);
        };
        const double step = volume(last) - volume(last - 1);
        EXPECT_GT(step, 0);
        EXPECT_LT(volume(last + 1) - volume(last), 0.55 * step);
        EXPECT_LT(step, 0.16 * volume(last));
        EXPECT_TRUE(check_surface(fine.mesh).is_clean());
    }
}

/// How many vertices of each level the support of the shape leaves free.
std::vector<int> free_by_level(const std::string& name, int level) {
    const SemiRegularMesh mesh = coarse_levels(with_default_levels(name), level);
    std::vector<char> is_held(mesh.mesh.vertices.size(), 0);
    for (const int v : select(parse_selection(shape_support(name, mesh)), mesh.mesh.vertices))
        is_held[at(v)] = 1;
    std::vector<int> counts(mesh.num_vertices.size(), 0);
    for (int v = 0, own = 0; v < mesh.mesh.num_vertices(); ++v) {
        while (v >= mesh.num_vertices[at(own)]) ++own;
        if (!is_held[at(v)]) ++counts[at(own)];
    }
    return counts;
}

int sum(const std::vector<int>& counts) { return std::accumulate(counts.begin(), counts.end(), 0); }

TEST(SemiRegularShapes, SupportsLeaveThePublishedNumbersOfFreeVertices) {
    EXPECT_EQ(sum(free_by_level("nodule", 2)), 89);
    EXPECT_EQ(sum(free_by_level("kidney", 2)), 217);
    EXPECT_EQ(sum(free_by_level("spatula", 1)), 559);
    EXPECT_EQ(sum(free_by_level("banana-seat", 2)), 245);
    EXPECT_EQ(sum(free_by_level("rabbit", 2)), 133);
    EXPECT_EQ(sum(free_by_level("rabbit", 3)), 537);
    EXPECT_EQ(sum(free_by_level("rabbit", 4)), 2145);
    EXPECT_EQ(sum(free_by_level("serpent-ring", 3)), 7953);
    EXPECT_EQ(sum(free_by_level("toy", 1)), 509);
    // level by level within one of the published sizes
    const auto near = [](std::vector<int> sizes) {
        std::vector<testing::Matcher<int>> all;
        for (const int size : sizes) all.push_back(testing::AllOf(Ge(size - 1), Le(size + 1)));
        return testing::ElementsAreArray(all);
    };
    EXPECT_THAT(free_by_level("rabbit", 2), near({9, 25, 99}));
    EXPECT_THAT(free_by_level("rabbit", 4), near({9, 26, 100, 404, 1606}));
    EXPECT_THAT(free_by_level("serpent-ring", 3), near({123, 372, 1495, 5963}));
    EXPECT_THAT(free_by_level("toy", 1), near({126, 383}));
    EXPECT_EQ(free_by_level("finger", 2), (std::vector<int>{6, 23, 100}));
    EXPECT_EQ(free_by_level("finger", 3), (std::vector<int>{6, 23, 100, 416}));
}

TEST(SemiRegularShapes, ResolutionChoosesTheLevel) {
    const int resolution = shape_info("kidney").default_resolution;
    EXPECT_EQ(make_shape("kidney", 2 * resolution).num_vertices(), 1282);
    EXPECT_EQ(make_shape("kidney", resolution / 2).num_vertices(), 82);
    EXPECT_EQ(make_shape("kidney", 4).num_vertices(), 22);
}

TEST(SemiRegularShapes, OtherShapesAndLevelsAreRefused) {
    EXPECT_EQ(test::input_error([] { (void)make_semi_regular("heart"); }),
              "shape = 'heart' (expected a subdivision surface: nodule, kidney, spatula, "
              "banana-seat, rabbit, finger, serpent-ring, toy)");
    EXPECT_THAT(test::input_error([] { (void)make_semi_regular("kidny"); }),
                HasSubstr("did you mean 'kidney'?"));
    EXPECT_EQ(test::input_error([] { (void)make_semi_regular("kidney", -2); }),
              "levels = -2 (expected 0 or more, or -1 for the default)");
}

}  // namespace
}  // namespace pliant
