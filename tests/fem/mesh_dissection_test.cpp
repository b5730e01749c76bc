#include "fem/mesh_dissection.h"

#include "fem/graph_samples.h"
#include "geometry/simple_volumes.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pliant {
namespace {

using test::Random;
using Method = Dissection (*)(const VolumeMesh&, const ActiveElements&);

/// Every active node is numbered once, and no element couples both sides of any split.
void expect_sound(const VolumeMesh& mesh, std::span<const int> fixed, Method method) {
    const ActiveElements elements = active_elements(mesh, fixed);
    const Dissection dissection = method(mesh, elements);
    std::vector<int> position(mesh.vertices.size(), -1);
    for (int k = 0; k < static_cast<int>(dissection.order.size()); ++k) {
        EXPECT_TRUE(elements.is_active[dissection.order[k]]);
        EXPECT_EQ(position[dissection.order[k]], -1) << "numbered twice";
        position[dissection.order[k]] = k;
    }
    EXPECT_EQ(static_cast<std::ptrdiff_t>(dissection.order.size()),
              std::count(elements.is_active.begin(), elements.is_active.end(), 1));
    if (mesh.num_elements() > 50) {
        EXPECT_FALSE(dissection.splits.empty());
    }
    std::size_t violations = 0;
    for (const DissectionSplit& split : dissection.splits) {
        EXPECT_LE(split.right, split.left);
        EXPECT_LE(split.left, split.separator);
        for (int e = 0; e < elements.size(); ++e) {
            bool has_left = false, has_right = false;
            for (const int node : elements.of(e)) {
                has_right |= position[node] >= split.right && position[node] < split.left;
                has_left |= position[node] >= split.left && position[node] < split.separator;
            }
            violations += has_left && has_right;
        }
    }
    EXPECT_EQ(violations, 0u);
}

TEST(MeshDissection, SeparatorsSeparateIrregularTets) {
    Random random(31);
    for (int n = 1; n <= 6; ++n) {
        const VolumeMesh mesh = test::irregular_tets(n, random);
        const std::vector<int> fixed{0, n, 2 * n};
        expect_sound(mesh, fixed, simple_dissection);
        expect_sound(mesh, fixed, cover_dissection);
    }
}

TEST(MeshDissection, SeparatorsSeparateTangledTets) {
    Random random(32);
    for (const int num_tets : {1, 3, 10, 40, 400}) {
        const VolumeMesh mesh = test::tangled_tets(num_tets + 3, num_tets, random);
        expect_sound(mesh, {}, simple_dissection);
        expect_sound(mesh, {}, cover_dissection);
    }
}

TEST(MeshDissection, SeparatorsSeparateGrids) {
    for (const VolumeMesh& mesh :
         {hex_box(5, 4, 3, test::box_of(5, 4, 3)), tet_box(3, 4, 4, test::box_of(1, 9, 2))}) {
        for (const Method method : {simple_dissection, cover_dissection, regular_dissection}) {
            expect_sound(mesh, {}, method);
            expect_sound(mesh, test::nodes_at_x0(mesh), method);
        }
    }
}

TEST(MeshDissection, PlanesThroughNodesAndFlatElementsAreHandled) {
    VolumeMesh pair = hex_box(3, 1, 1, test::box_of(3, 1, 1));
    for (auto& x : pair.vertices) x.x() = std::min(x.x(), 2.0);  // the last hex is flat
    expect_sound(pair, {}, simple_dissection);
    expect_sound(pair, {}, cover_dissection);
    // all free nodes in one plane, and all nodes in one point
    VolumeMesh slab = hex_box(1, 6, 6, test::box_of(1, 6, 6));
    expect_sound(slab, test::nodes_at_x0(slab), simple_dissection);
    for (auto& x : slab.vertices) x.setZero();
    expect_sound(slab, {}, simple_dissection);
    expect_sound(slab, {}, cover_dissection);
}

TEST(MeshDissection, HangingNodesAreLeftToTheirMasters) {
    std::vector<test::Cube> cubes;
    for (int x = 0; x < 4; ++x)
        for (int y = 0; y < 2; ++y)
            for (int z = 0; z < 2; ++z) {
                if (x < 2) {
                    cubes.push_back({{2 * x, 2 * y, 2 * z}, 2});
                    continue;
                }
                for (int k = 0; k < 8; ++k)
                    cubes.push_back({{2 * x + (k & 1), 2 * y + (k >> 1 & 1), 2 * z + (k >> 2)}, 1});
            }
    const VolumeMesh mesh = test::cubes_mesh(cubes);
    ASSERT_FALSE(mesh.hanging.empty());
    expect_sound(mesh, {}, simple_dissection);
    expect_sound(mesh, {}, cover_dissection);
}

TEST(MeshDissection, NeedleElementsThatAllCrossThePlanesEndTheRecursion) {
    // a bundle of tets from one end to the other, each next to all others
    Random random(33);
    VolumeMesh mesh = test::tangled_tets(3000, 12000, random);
    for (int i = 0; i < mesh.num_vertices(); ++i) mesh.vertices[i].x() = i % 2 ? 1000 : 0;
    for (const Method method : {simple_dissection, cover_dissection}) {
        const ActiveElements elements = active_elements(mesh, {});
        const Dissection dissection = method(mesh, elements);
        EXPECT_EQ(static_cast<std::ptrdiff_t>(dissection.order.size()),
                  std::count(elements.is_active.begin(), elements.is_active.end(), 1));
    }
}

TEST(MeshDissection, TheFirstCoverOfACubeIsOneLayerOfNodes) {
    const VolumeMesh mesh = hex_box(9, 9, 9, test::box_of(1, 1, 1));
    const Dissection cover = cover_dissection(mesh, active_elements(mesh, {}));
    const Dissection simple = simple_dissection(mesh, active_elements(mesh, {}));
    const DissectionSplit &thin = cover.splits.back(), &thick = simple.splits.back();
    EXPECT_EQ(mesh.num_vertices() - thin.separator, 10 * 10);
    EXPECT_EQ(mesh.num_vertices() - thick.separator, 2 * 10 * 10);
}

}  // namespace
}  // namespace pliant
