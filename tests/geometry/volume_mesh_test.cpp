#include "pliant/geometry/volume_mesh.h"

#include "geometry/simple_volumes.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/geometry/surface_check.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::Cube;
using test::cubes_mesh;
using test::jitter;
using test::kUnitBox;
using test::split;

VolumeMesh one_tet() {
    VolumeMesh mesh;
    mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    mesh.elements = {0, 1, 2, 3};
    return mesh;
}

SurfaceReport boundary_report(const VolumeMesh& mesh) {
    SurfaceReport report = check_surface({mesh.vertices, boundary_triangles(mesh)});
    report.unused_vertices = {};  // inner vertices
    return report;
}

std::vector<Cube> without(std::vector<Cube> cubes, std::initializer_list<int> which) {
    for (int i = static_cast<int>(cubes.size()) - 1; i >= 0; --i)
        if (std::ranges::find(which, i) != which.end()) cubes.erase(cubes.begin() + i);
    return cubes;
}

/// Coarse cube [0, 2]³ with the cells of a split neighbour at +x, without some of them. Cells 0, 2,
/// 4, 6 of the neighbour touch the coarse cube.
VolumeMesh coarse_and_fine(std::initializer_list<int> missing = {}) {
    std::vector<Cube> cubes = without(split({{2, 0, 0}, 2}), missing);
    cubes.push_back({{0, 0, 0}, 2});
    return cubes_mesh(cubes);
}

TEST(VolumeMesh, VolumesOfTetAndHex) {
    EXPECT_NEAR(element_volume(one_tet(), 0), 1.0 / 6, 1e-16);
    EXPECT_NEAR(smallest_jacobian(one_tet(), 0), 1, 1e-16);
    // a frustum with top a quarter of the bottom: h/3 (A + √(AB) + B)
    VolumeMesh hex = cubes_mesh({{{0, 0, 0}, 2}});
    for (Vector3d& x : hex.vertices)
        if (x.z() > 1) x.head<2>() = Eigen::Vector2d(1, 1) + (x.head<2>().array() - 1).matrix() / 2;
    EXPECT_NEAR(element_volume(hex, 0), 2.0 / 3 * (4 + 2 + 1), 1e-14);
}

TEST(VolumeMesh, EdgesComeOnceAndInOrder) {
    EXPECT_EQ(element_edges(one_tet()),
              (std::vector<std::array<int, 2>>{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}));
    // lattice of (nx+1)(ny+1)(nz+1) points: edges along each axis
    const VolumeMesh box = hex_box(2, 3, 4, kUnitBox);
    const auto edges = element_edges(box);
    EXPECT_EQ(edges.size(), 2u * 4 * 5 + 3u * 3 * 5 + 4u * 3 * 4);
    for (const auto& [a, b] : edges) {
        const Vector3d d = (box.vertices[b] - box.vertices[a]).cwiseProduct(Vector3d(2, 3, 4));
        EXPECT_NEAR(d.cwiseAbs().sum(), 1, 1e-12);
    }
}

TEST(VolumeMesh, DistortedHexesStillFillTheSameBox) {
    // inner vertices move, the boundary stays: exact integration must give the box
    VolumeMesh mesh = hex_box(3, 3, 3, kUnitBox);
    const VolumeMesh straight = mesh;
    jitter(mesh, 0.08, 1);
    for (int v = 0; v < mesh.num_vertices(); ++v) {
        const Vector3d& x = straight.vertices[v];
        if (x.minCoeff() == 0 || x.maxCoeff() == 1) mesh.vertices[v] = x;
    }
    EXPECT_NEAR(total_volume(mesh), 1, 1e-14);
}

TEST(VolumeMesh, FilledFractionsWeighTheVolume) {
    VolumeMesh mesh = hex_box(2, 1, 1, kUnitBox);
    EXPECT_NEAR(total_volume(mesh, true), 1, 1e-15);
    mesh.filled = {0.5, 0.25};
    EXPECT_NEAR(total_volume(mesh, true), 0.375, 1e-15);
    EXPECT_NEAR(total_volume(mesh), 1, 1e-15);
}

TEST(VolumeMesh, SmallestJacobianFindsTheWorstCorner) {
    for (int corner = 0; corner < 8; ++corner) {
        VolumeMesh mesh = hex_box(1, 1, 1, kUnitBox);
        EXPECT_NEAR(smallest_jacobian(mesh, 0), 1, 1e-15);
        // beyond the plane of its three neighbours, as seen from the corner itself
        Vector3d& x = mesh.vertices[corner];
        x += 1.2 * (Vector3d(0.5, 0.5, 0.5) - x);
        EXPECT_LT(smallest_jacobian(mesh, 0), 0) << corner;
    }
}

TEST(VolumeMesh, RegularTetHasOneDihedralAngle) {
    VolumeMesh mesh;
    mesh.vertices = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    mesh.elements = {0, 1, 3, 2};
    ASSERT_GT(element_volume(mesh, 0), 0);
    const auto [smallest, largest] = dihedral_range(mesh);
    EXPECT_NEAR(smallest, 70.528779365509308, 1e-12);
    EXPECT_NEAR(largest, 70.528779365509308, 1e-12);
}

TEST(VolumeMesh, BoundaryOfOneElementFacesOutwards) {
    const SurfaceReport tet = boundary_report(one_tet());
    EXPECT_TRUE(tet.is_clean()) << tet.text();
    EXPECT_NEAR(tet.volume, 1.0 / 6, 1e-16);
    const SurfaceReport hex = boundary_report(hex_box(1, 1, 1, kUnitBox));
    EXPECT_TRUE(hex.is_clean()) << hex.text();
    EXPECT_EQ(hex.num_triangles, 12);
    EXPECT_NEAR(hex.volume, 1, 1e-15);
}

TEST(VolumeMesh, BoundaryLeavesOutInnerFaces) {
    const VolumeMesh mesh = hex_box(4, 3, 2, kUnitBox);
    const SurfaceReport report = boundary_report(mesh);
    EXPECT_TRUE(report.is_clean()) << report.text();
    EXPECT_EQ(report.num_triangles, 2 * 2 * (12 + 6 + 8));
    EXPECT_NEAR(report.area, 6, 1e-14);
}

TEST(VolumeMesh, BoundaryBetweenCoarseAndFineCellsIsInnerAndFitsAroundIt) {
    const VolumeMesh mesh = coarse_and_fine();
    ASSERT_EQ(mesh.hanging.size(), 5u);
    const SurfaceReport report = boundary_report(mesh);
    EXPECT_TRUE(report.is_clean()) << report.text();
    EXPECT_NEAR(report.area, 2 * 4 + 4 * 8, 1e-13);
    EXPECT_NEAR(report.volume, 16, 1e-13);
}

TEST(VolumeMesh, BoundaryCoversTheQuartersWithoutFineCells) {
    for (const std::initializer_list<int> missing :
         {std::initializer_list<int>{0}, {6}, {0, 2}, {4, 6, 0}, {0, 1}, {1, 3, 5, 7, 2, 4, 6}}) {
        const VolumeMesh mesh = coarse_and_fine(missing);
        const SurfaceReport report = boundary_report(mesh);
        EXPECT_TRUE(report.is_closed()) << report.text();
        EXPECT_NEAR(report.volume, total_volume(mesh), 1e-13);
        EXPECT_EQ(report.degenerate_triangles.count, 0);
        EXPECT_EQ(check_volume(mesh).num_parts, 1);
    }
}

TEST(VolumeMesh, BoundaryOfAnOctreeWithAllKindsOfContactIsClosed) {
    // two split cubes of a 3³ block, one at an edge and one in the middle
    std::vector<Cube> cubes;
    for (int i = 0; i < 27; ++i) {
        const Cube cube{{2 * (i % 3), 2 * (i / 3 % 3), 2 * (i / 9)}, 2};
        if (i == 1 || i == 13)
            std::ranges::copy(split(cube), std::back_inserter(cubes));
        else
            cubes.push_back(cube);
    }
    const VolumeMesh mesh = cubes_mesh(cubes);
    const SurfaceReport report = boundary_report(mesh);
    EXPECT_TRUE(report.is_clean()) << report.text();
    EXPECT_EQ(report.euler_number, 2);
    EXPECT_NEAR(report.volume, 216, 1e-10);
    EXPECT_NEAR(report.area, 6 * 36, 1e-11);
    EXPECT_TRUE(check_volume(mesh).is_clean()) << check_volume(mesh).text();
}

TEST(VolumeCheck, GoodMeshesAreClean) {
    for (const VolumeMesh& mesh :
         {hex_box(3, 2, 2, kUnitBox), tet_box(3, 2, 2, kUnitBox), one_tet(), coarse_and_fine()}) {
        const VolumeReport report = check_volume(mesh);
        EXPECT_TRUE(report.is_clean());
        EXPECT_EQ(report.text(), "");
        EXPECT_EQ(report.num_parts, 1);
    }
}

TEST(VolumeCheck, EmptyMeshIsReported) { EXPECT_EQ(check_volume({}).text(), "no elements"); }

TEST(VolumeCheck, InvertedElementsAreReportedWithTheirJacobian) {
    VolumeMesh mesh = tet_box(2, 1, 1, kUnitBox);
    std::swap(mesh.elements[4 * 5], mesh.elements[4 * 5 + 1]);
    std::swap(mesh.elements[4 * 7], mesh.elements[4 * 7 + 1]);
    EXPECT_EQ(check_volume(mesh).text(), "2 inverted elements (first: element 5, Jacobian -0.5)");
}

TEST(VolumeCheck, OrphanAndNonFiniteVerticesAreReported) {
    VolumeMesh mesh = one_tet();
    mesh.vertices.emplace_back(7, 7, 7);
    mesh.vertices.emplace_back(std::nan(""), 0, 0);
    EXPECT_EQ(check_volume(mesh).text(),
              "1 vertex that is not finite or beyond 1e30 (first: vertex 5)\n"
              "2 vertices that no element uses (first: vertex 4)");
}

TEST(VolumeCheck, AbsurdMagnitudesAreReportedAndLeaveTheRestFinite) {
    VolumeMesh mesh = tet_box(2, 1, 1, kUnitBox);
    const int first = mesh.num_vertices();
    mesh.vertices.emplace_back(1e200, 0, 0);
    mesh.vertices.emplace_back(0, -std::numeric_limits<double>::infinity(), 0);
    mesh.elements.insert(mesh.elements.end(), {0, 1, 2, first, 1, 2, 3, first + 1});
    const VolumeReport report = check_volume(mesh);
    EXPECT_EQ(report.text(), "2 vertices that are not finite or beyond 1e30 (first: vertex " +
                                 std::to_string(first) + ")");
    EXPECT_EQ(report.num_parts, 1);
    EXPECT_EQ(report.box.max(), Vector3d::Ones());
    EXPECT_NEAR(total_volume(valid_elements(mesh)), 1, 1e-15);
    const Vector3d largest = Vector3d::Constant(1e30);
    EXPECT_TRUE(check_volume(hex_box(1, 1, 1, Box(-largest, largest))).is_clean());
}

TEST(VolumeCheck, ValidElementsKeepWhatIsTheirs) {
    VolumeMesh mesh = tet_box(1, 1, 1, kUnitBox);
    mesh.elements[4] = 99;
    for (int e = 0; e < mesh.num_elements(); ++e) {
        mesh.regions.push_back(e);
        mesh.filled.push_back(0.125 * e);
    }
    const VolumeMesh valid = valid_elements(mesh);
    EXPECT_EQ(valid.num_elements(), mesh.num_elements() - 1);
    EXPECT_EQ(valid.num_vertices(), mesh.num_vertices());
    EXPECT_EQ(std::vector<int>(valid.regions.begin(), valid.regions.begin() + 2),
              (std::vector{0, 2}));
    EXPECT_EQ(valid.filled[1], 0.25);
    mesh.elements = {0, 1, 1, 2};
    EXPECT_EQ(valid_elements(mesh).num_elements(), 0);
    EXPECT_EQ(check_volume(mesh).num_parts, 0);
}

TEST(VolumeCheck, InvalidElementsAreReportedAndTheRestIsChecked) {
    VolumeMesh mesh = one_tet();
    mesh.elements.insert(mesh.elements.begin(), {0, 1, 2, 9});
    mesh.elements.insert(mesh.elements.end(), {0, 1, 1, 2});
    const VolumeReport report = check_volume(mesh);
    EXPECT_EQ(report.text(),
              "2 elements with a vertex index out of range or repeated (first: element 0)");
    EXPECT_EQ(report.num_parts, 1);
}

TEST(VolumeCheck, SeparatePartsAreCounted) {
    const VolumeReport report = check_volume(cubes_mesh({{{0, 0, 0}, 1}, {{5, 0, 0}, 1}}));
    EXPECT_EQ(report.num_parts, 2);
    EXPECT_EQ(report.num_weak_joints, 0);
    EXPECT_EQ(report.text(), "2 parts that share no face");
}

TEST(VolumeCheck, PartsJoinedByAnEdgeOrAVertexAreWeak) {
    const VolumeReport edge = check_volume(cubes_mesh({{{0, 0, 0}, 1}, {{1, 1, 0}, 1}}));
    EXPECT_EQ(edge.num_parts, 2);
    EXPECT_EQ(edge.num_weak_joints, 2);
    EXPECT_NE(edge.text().find("parts joined only by an edge or a vertex at 2 vertices (first: "
                               "vertex 2): stiffness will be near-singular there"),
              std::string::npos)
        << edge.text();
    const VolumeReport vertex = check_volume(cubes_mesh({{{0, 0, 0}, 1}, {{1, 1, 1}, 1}}));
    EXPECT_EQ(vertex.num_weak_joints, 1);
    EXPECT_NE(vertex.text().find("at 1 vertex (first: vertex 6)"), std::string::npos);
}

TEST(VolumeCheck, RingThatClosesThroughAnEdgeIsWeakThoughItIsOnePart) {
    // seven cells of a 3 × 3 ring; the gap at one corner leaves its neighbours joined by an edge
    std::vector<Cube> cubes;
    for (int i = 0; i < 9; ++i)
        if (i != 4 && i != 0) cubes.push_back({{i % 3, i / 3, 0}, 1});
    const VolumeReport report = check_volume(cubes_mesh(cubes));
    EXPECT_EQ(report.num_parts, 1);
    EXPECT_EQ(report.num_weak_joints, 2);
}

TEST(VolumeCheck, FineCellsDiagonallyOnACoarseFaceAreJoinedOnlyThere) {
    // of the four fine cells on the coarse face only two opposite ones are there; they share an
    // edge, which is weak at the end away from the coarse cube
    const VolumeMesh mesh = coarse_and_fine({1, 3, 5, 7, 2, 4});
    const VolumeReport report = check_volume(mesh);
    EXPECT_EQ(report.num_parts, 1);
    ASSERT_EQ(report.num_weak_joints, 1) << report.text();
    EXPECT_EQ(mesh.vertices[report.first_weak_joint], Vector3d(3, 1, 1));
}

TEST(VolumeCheck, FineCellOnACoarseEdgeAloneIsWeak) {
    // the fine cell touches the coarse cube along half an edge: one corner, one hanging vertex
    const VolumeReport report = check_volume(cubes_mesh({{{0, 0, 0}, 2}, {{2, 2, 0}, 1}}));
    EXPECT_EQ(report.num_parts, 2);
    EXPECT_EQ(report.num_weak_joints, 2);
}

TEST(KeepLargestPart, KeepsRegionsFillingsAndHangingNodesOfThePart) {
    std::vector<Cube> cubes = {{{20, 0, 0}, 2}};  // element 0, another part
    std::ranges::copy(split({{2, 0, 0}, 2}), std::back_inserter(cubes));
    cubes.push_back({{0, 0, 0}, 2});
    VolumeMesh mesh = cubes_mesh(cubes, 0.5);
    mesh.region_names = {"soft", "stiff"};
    for (int e = 0; e < 10; ++e) {
        mesh.regions.push_back(e % 2);
        mesh.filled.push_back(0.1 * e);
    }
    const double volume = total_volume(mesh);
    ASSERT_EQ(mesh.hanging.size(), 5u);
    EXPECT_EQ(keep_largest_part(mesh), 1);
    EXPECT_EQ(mesh.num_elements(), 9);
    EXPECT_NEAR(total_volume(mesh), volume - 1, 1e-14);
    EXPECT_EQ(mesh.regions, (std::vector{1, 0, 1, 0, 1, 0, 1, 0, 1}));
    EXPECT_EQ(mesh.filled.front(), 0.1);
    EXPECT_EQ(mesh.region_names.size(), 2u);
    ASSERT_EQ(mesh.hanging.size(), 5u);
    for (const HangingNode& node : mesh.hanging) {
        Vector3d mean = Vector3d::Zero();
        for (int k = 0; k < node.num_masters; ++k)
            mean += node.weight * mesh.vertices[node.masters[k]];
        EXPECT_EQ(mean, mesh.vertices[node.vertex]);
    }
    EXPECT_TRUE(check_volume(mesh).is_clean()) << check_volume(mesh).text();
}

TEST(KeepLargestPart, VertexStopsHangingWhenItsCoarseCellGoes) {
    // two fine cells that touch the coarse cube along an edge only, and outweigh it as a part
    std::vector<Cube> cubes = {{{0, 0, 0}, 2}};
    for (int k = 0; k < 16; ++k) cubes.push_back({{2 + k, 2, 0}, 1});
    VolumeMesh mesh = cubes_mesh(cubes);
    ASSERT_EQ(mesh.hanging.size(), 1u);
    EXPECT_EQ(keep_largest_part(mesh), 1);
    EXPECT_EQ(mesh.num_elements(), 16);
    EXPECT_TRUE(mesh.hanging.empty());
    EXPECT_TRUE(check_volume(mesh).is_clean()) << check_volume(mesh).text();
}

TEST(KeepLargestPart, SinglePartLosesOnlyItsUnusedVertices) {
    VolumeMesh mesh = hex_box(2, 2, 2, kUnitBox);
    const std::vector<int> elements = mesh.elements;
    mesh.vertices.emplace_back(9, 9, 9);
    EXPECT_EQ(keep_largest_part(mesh), 0);
    EXPECT_EQ(mesh.elements, elements);
    EXPECT_EQ(mesh.num_vertices(), 27);
    VolumeMesh empty;
    EXPECT_EQ(keep_largest_part(empty), 0);
}

}  // namespace
}  // namespace pliant
