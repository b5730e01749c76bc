#include "pliant/geometry/graded_mesh.h"

#include "geometry/hex_checks.h"
#include "geometry/test_meshes.h"
#include "input_error.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/voxel_mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace pliant {
namespace {

using testing::HasSubstr;

std::set<int> hanging_vertices(const VolumeMesh& mesh) {
    std::set<int> vertices;
    for (const HangingNode& node : mesh.hanging) vertices.insert(node.vertex);
    return vertices;
}

/// Vertices in the middle of an edge (1) or face (2) of some element, found by trying all pairs.
std::pair<std::set<int>, std::set<int>> middles_by_brute_force(const VolumeMesh& mesh) {
    std::set<int> edges, faces;
    for (int e = 0; e < mesh.num_elements(); ++e) {
        const Box box = test::cell_box(mesh, e);
        const double tolerance = 1e-9 * box.sizes().x();
        for (int v = 0; v < mesh.num_vertices(); ++v) {
            const Eigen::Vector3d& x = mesh.vertices[static_cast<std::size_t>(v)];
            if (box.exteriorDistance(x) > tolerance) continue;
            const int num_between = static_cast<int>(
                ((x - box.min()).array() > tolerance && (box.max() - x).array() > tolerance)
                    .count());
            if (num_between == 1) edges.insert(v);
            if (num_between == 2) faces.insert(v);
            EXPECT_LT(num_between, 3);  // a vertex inside an element
        }
    }
    return {edges, faces};
}

void expect_masters_free_and_linear_fields_reproduced(const VolumeMesh& mesh) {
    const std::set<int> constrained = hanging_vertices(mesh);
    EXPECT_EQ(constrained.size(), mesh.hanging.size());
    const auto field = [&](int v) {
        return Eigen::Vector3d(0.3, -1.7, 2.1).dot(mesh.vertices[static_cast<std::size_t>(v)]) +
               0.4;
    };
    for (const HangingNode& node : mesh.hanging) {
        ASSERT_TRUE(node.num_masters == 2 || node.num_masters == 4);
        double value = 0;
        for (int m = 0; m < node.num_masters; ++m) {
            const int master = node.masters[static_cast<std::size_t>(m)];
            EXPECT_FALSE(constrained.contains(master));
            value += node.weight * field(master);
        }
        EXPECT_NEAR(value, field(node.vertex), 1e-12);
    }
}

/// Over all pairs of elements that touch.
double largest_size_ratio(const VolumeMesh& mesh) {
    std::vector<Box> boxes;
    double smallest = 1e300, ratio = 1;
    for (int e = 0; e < mesh.num_elements(); ++e) {
        boxes.push_back(test::cell_box(mesh, e));
        smallest = std::min(smallest, boxes.back().sizes().x());
    }
    for (std::size_t a = 0; a < boxes.size(); ++a) {
        if (boxes[a].sizes().x() < 1.5 * smallest) continue;
        for (const Box& other : boxes)
            if (boxes[a].squaredExteriorDistance(other) < 1e-12 * smallest * smallest)
                ratio = std::max(ratio, boxes[a].sizes().x() / other.sizes().x());
    }
    return ratio;
}

struct BoxRow {
    int n, elements, nodes, edge_constrained, face_constrained;
};

class GradedBoxTable : public testing::TestWithParam<BoxRow> {};

TEST_P(GradedBoxTable, CountsAreThoseOfTheReference) {
    const BoxRow& row = GetParam();
    const VolumeMesh mesh = graded_box(row.n);
    int edges = 0, faces = 0;
    for (const HangingNode& node : mesh.hanging) (node.num_masters == 2 ? edges : faces) += 1;
    EXPECT_EQ(mesh.num_elements(), row.elements);
    EXPECT_EQ(mesh.num_vertices(), row.nodes);
    EXPECT_EQ(edges, row.edge_constrained);
    EXPECT_EQ(faces, row.face_constrained);
    EXPECT_NEAR(test::volume_of_cells(mesh, false), 1.0, 1e-12);
    EXPECT_TRUE(test::is_every_vertex_used(mesh));
    EXPECT_TRUE(test::are_cubes_in_vtk_order(mesh));
    expect_masters_free_and_linear_fields_reproduced(mesh);
}

INSTANTIATE_TEST_SUITE_P(
    EightRows, GradedBoxTable,
    testing::Values(BoxRow{6, 160, 317, 48, 24}, BoxRow{8, 323, 612, 108, 54},
                    BoxRow{10, 545, 1014, 204, 102}, BoxRow{14, 1176, 2143, 480, 240},
                    BoxRow{22, 3193, 5720, 1404, 702}, BoxRow{30, 6224, 11073, 2832, 1416},
                    BoxRow{46, 15345, 27130, 7212, 3606}, BoxRow{62, 28552, 50339, 13632, 6816}),
    [](const auto& row) { return "N" + std::to_string(row.param.n); });

TEST(GradedBox, IsUniformWhereNothingCanBeMerged) {
    for (const int n : {1, 2, 3, 5, 7, 11}) {
        const VolumeMesh mesh = graded_box(n);
        EXPECT_EQ(mesh.num_elements(), n * n * n) << n;
        EXPECT_EQ(mesh.num_vertices(), (n + 1) * (n + 1) * (n + 1)) << n;
        EXPECT_TRUE(mesh.hanging.empty()) << n;
    }
}

TEST(GradedBox, SizesGrowByFactorsOfTwoInLayers) {
    const VolumeMesh mesh = graded_box(14, 1, 14.0);
    for (int e = 0; e < mesh.num_elements(); ++e) {
        const Box box = test::cell_box(mesh, e);
        const double depth =
            std::min(box.min().minCoeff(), (Eigen::Vector3d::Constant(14) - box.max()).minCoeff());
        const double expected = depth < 1 ? 1 : depth < 3 ? 2 : 4;
        EXPECT_NEAR(box.sizes().x(), expected, 1e-12);
    }
    EXPECT_NEAR(largest_size_ratio(mesh), 2.0, 1e-9);
}

TEST(GradedBox, HangingNodesAreAllMiddlesOfEdgesAndFaces) {
    for (const auto& [n, w] : {std::pair(10, 1), std::pair(12, 2), std::pair(16, 3)}) {
        const VolumeMesh mesh = graded_box(n, w, 0.1);
        const auto [edges, faces] = middles_by_brute_force(mesh);
        EXPECT_GT(edges.size(), 0u);
        for (const HangingNode& node : mesh.hanging)
            EXPECT_TRUE((node.num_masters == 2 ? edges : faces).contains(node.vertex));
        EXPECT_EQ(edges.size() + faces.size(), mesh.hanging.size());
        expect_masters_free_and_linear_fields_reproduced(mesh);
    }
}

TEST(GradedBox, BadArgumentsAreRefused) {
    EXPECT_THAT(test::input_error([] { (void)graded_box(0); }),
                HasSubstr("n = 0 (expected 1 to 1024)"));
    EXPECT_THAT(test::input_error([] { (void)graded_box(4, 0); }),
                HasSubstr("w = 0 (expected 1 to 1024)"));
    EXPECT_THAT(test::input_error([] { (void)graded_box(4, 1, -2.5); }),
                HasSubstr("side = -2.5 (expected a positive length in metres)"));
    // before the cells are listed, which would take 17 GB
    EXPECT_THAT(test::input_error([] { (void)graded_box(1023); }),
                HasSubstr("the mesh would have 1070599167 cells, but indices reach only 268435455; "
                          "lower the resolution"));
}

TEST(GradedMesh, SphereIsBalancedFineAtTheSurfaceAndCoarseInside) {
    const double radius = 1.0;
    const SurfaceQuery surface(test::make_sphere(radius, 48));
    GradedOptions options;
    options.resolution = 40;
    options.max_levels = 3;
    const VolumeMesh mesh = build_graded_mesh(surface, options);
    const double finest = 1.2 * 2 * radius / 40;

    double largest = 0;
    for (int e = 0; e < mesh.num_elements(); ++e) {
        const Box box = test::cell_box(mesh, e);
        const double side = box.sizes().x();
        largest = std::max(largest, side);
        if (side < 1.5 * finest) {
            EXPECT_NEAR(side, finest, 1e-12);
            continue;
        }
        // the polyhedron lies inside the sphere, so this depth is an upper bound of the true one
        double farthest = 0;
        for (const int v : mesh.element(e))
            farthest = std::max(farthest, mesh.vertices[static_cast<std::size_t>(v)].norm());
        EXPECT_LE(side, options.growth * (radius - farthest) + 1e-12);
        EXPECT_EQ(mesh.filled[static_cast<std::size_t>(e)], 1.0);
    }
    EXPECT_NEAR(largest, 4 * finest, 1e-12);
    EXPECT_NEAR(largest_size_ratio(mesh), 2.0, 1e-9);
    EXPECT_TRUE(test::are_cubes_in_vtk_order(mesh));
    EXPECT_TRUE(test::is_every_vertex_used(mesh));
    EXPECT_TRUE(test::is_ordered(mesh, 0.1 * finest));
    EXPECT_EQ(test::num_uncovered(mesh, surface.mesh().vertices, 1e-6 * finest), 0);
}

TEST(GradedMesh, HangingNodesAreAllMiddlesAndNoneLiesOnTheOuterSurface) {
    const SurfaceQuery surface(
        test::moved(test::make_torus(1.0, 0.55, 40, 24), {0.013, -0.02, 0.007}));
    for (const double growth : {1.0, 20.0}) {  // 20: only the balance and the layers limit the size
        GradedOptions options;
        options.resolution = 36;
        options.growth = growth;
        options.max_levels = 2;
        const VolumeMesh mesh = build_graded_mesh(surface, options);
        ASSERT_GT(mesh.hanging.size(), 50u);
        const auto [edges, faces] = middles_by_brute_force(mesh);
        EXPECT_EQ(edges.size() + faces.size(), mesh.hanging.size());
        for (const HangingNode& node : mesh.hanging)
            EXPECT_TRUE((node.num_masters == 2 ? edges : faces).contains(node.vertex));
        expect_masters_free_and_linear_fields_reproduced(mesh);
        EXPECT_NEAR(largest_size_ratio(mesh), 2.0, 1e-9);

        // all eight directions from a hanging node lead into elements
        std::vector<Eigen::Vector3d> around;
        for (const HangingNode& node : mesh.hanging)
            for (int k = 0; k < 8; ++k)
                around.push_back(
                    mesh.vertices[static_cast<std::size_t>(node.vertex)] +
                    1e-4 * Eigen::Vector3d(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1));
        EXPECT_EQ(test::num_uncovered(mesh, around, 0.0), 0);
    }
}

TEST(GradedMesh, CutCellsAndTheirInsideNeighboursAreFinest) {
    const SurfaceQuery surface(test::make_sphere(1.0, 24));
    GradedOptions options;
    options.resolution = 32;
    options.growth = 100.0;
    options.max_levels = 3;
    const VolumeMesh mesh = build_graded_mesh(surface, options);
    const double finest = 2.4 / 32;
    for (int e = 0; e < mesh.num_elements(); ++e) {
        Box box = test::cell_box(mesh, e);
        if (box.sizes().x() < 1.5 * finest) continue;
        // the cell and a layer of finest cells around it are inside
        box.min().array() -= finest;
        box.max().array() += finest;
        for (int corner = 0; corner < 8; ++corner)
            EXPECT_LT(box.corner(static_cast<Box::CornerType>(corner)).norm(), 1.0);
    }
}

TEST(GradedMesh, WithoutLevelsItIsTheVoxelMesh) {
    const SurfaceQuery surface(test::make_torus(1.0, 0.4, 30, 20));
    GradedOptions graded;
    graded.resolution = 25;
    graded.max_levels = 0;
    VoxelOptions voxels;
    voxels.resolution = 25;
    EXPECT_TRUE(
        test::same_mesh(build_graded_mesh(surface, graded), build_voxel_mesh(surface, voxels)));
}

TEST(GradedMesh, FillsTheSameSpaceAsVoxelsOfTheRoundedResolution) {
    const SurfaceQuery surface(test::make_sphere(0.7, 30));
    GradedOptions graded;
    graded.resolution = 50;  // becomes 64
    graded.max_levels = 4;
    VoxelOptions voxels;
    voxels.resolution = 64;
    const VolumeMesh coarse = build_graded_mesh(surface, graded);
    const VolumeMesh fine = build_voxel_mesh(surface, voxels);
    EXPECT_LT(coarse.num_elements(), 0.7 * fine.num_elements());
    EXPECT_NEAR(test::volume_of_cells(coarse, true), test::volume_of_cells(fine, true), 1e-12);
    EXPECT_NEAR(test::volume_of_cells(coarse, false), test::volume_of_cells(fine, false), 1e-12);
}

TEST(GradedMesh, ACavityStaysEmpty) {
    const SurfaceQuery surface(
        test::joined(test::make_sphere(1.0, 32), test::flipped(test::make_sphere(0.5, 32))));
    GradedOptions options;
    options.resolution = 64;
    options.max_levels = 2;
    const VolumeMesh mesh = build_graded_mesh(surface, options);
    for (int e = 0; e < mesh.num_elements(); ++e)
        EXPECT_GT(test::cell_box(mesh, e).center().norm(), 0.5 - 2 * 2.4 / 64);
    EXPECT_NEAR(test::volume_of_cells(mesh, true) / enclosed_volume(surface.mesh()), 1.0, 0.005);
}

TEST(GradedMesh, IsTheSameForAnyNumberOfThreads) {
    const SurfaceQuery surface(test::make_torus(1.0, 0.5, 60, 40));
    GradedOptions options;
    options.resolution = 48;
    set_num_threads(1);
    const VolumeMesh alone = build_graded_mesh(surface, options);
    set_num_threads(2);
    const VolumeMesh together = build_graded_mesh(surface, options);
    set_num_threads(0);
    EXPECT_TRUE(test::same_mesh(alone, together));
}

TEST(GradedMesh, BadOptionsAreRefused) {
    const SurfaceQuery surface(test::make_cube());
    const auto error_of = [&](auto&& change) {
        GradedOptions options;
        change(options);
        return test::input_error([&] { (void)build_graded_mesh(surface, options); });
    };
    EXPECT_THAT(error_of([](GradedOptions& o) { o.growth = 0; }),
                HasSubstr("growth = 0 (expected a positive number)"));
    EXPECT_THAT(error_of([](GradedOptions& o) { o.max_levels = 9; }),
                HasSubstr("max_levels = 9 (expected 0 to 8)"));
    EXPECT_THAT(error_of([](GradedOptions& o) { o.resolution = 1; }),
                HasSubstr("resolution = 1 (expected 2 to 1024)"));
    EXPECT_THAT(error_of([](GradedOptions& o) { o.resolution = 2000000000; }),
                HasSubstr("resolution = 2000000000 (expected 2 to 1024)"));
    EXPECT_THAT(error_of([](GradedOptions& o) { o.expansion = 0.9; }),
                HasSubstr("expansion = 0.9 (expected 1 to 1e6)"));
}

TEST(GradedMesh, CancelledProgressStopsIt) {
    const SurfaceQuery surface(test::make_cube());
    Progress progress;
    progress.cancel();
    EXPECT_THROW((void)build_graded_mesh(surface, {}, progress), Cancelled);
}

}  // namespace
}  // namespace pliant
