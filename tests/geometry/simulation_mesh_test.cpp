#include "pliant/geometry/simulation_mesh.h"

#include "geometry/simple_surfaces.h"
#include "input_error.h"
#include "pliant/geometry/graded_mesh.h"
#include "pliant/geometry/tet_mesh.h"
#include "pliant/geometry/voxel_mesh.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using test::input_error;

TEST(SimulationMesh, NamesStandForTheMeshers) {
    const SurfaceQuery box(test::box_surface());
    const auto elements = [&](const SimulationMeshOptions& options) {
        return build_simulation_mesh(box, options).elements;
    };
    EXPECT_EQ(elements({.kind = "voxel", .resolution = 12}),
              build_voxel_mesh(box, {.resolution = 12}).elements);
    EXPECT_EQ(elements({.kind = "voxel", .resolution = 12, .is_hollow = true}),
              build_voxel_mesh(box, {.resolution = 12, .is_hollow = true}).elements);
    EXPECT_EQ(elements({.kind = "graded", .resolution = 16, .growth = 1, .levels = 2}),
              build_graded_mesh(box, {.resolution = 16, .growth = 1, .max_levels = 2}).elements);
    EXPECT_EQ(elements({.kind = "tet", .resolution = 10}),
              build_tet_mesh(box, {.resolution = 10}).elements);
    EXPECT_EQ(elements({.kind = "graded-tet", .resolution = 16, .growth = 1, .levels = 2}),
              build_graded_tets(box, {.growth = 1, .resolution = 16, .max_levels = 2}).elements);
}

TEST(SimulationMesh, ElementsAreSelectedByTheirCentres) {
    const VolumeMesh mesh =
        build_simulation_mesh(SurfaceQuery(test::box_surface()), {.resolution = 12});
    const std::vector<int> upper = select_elements("z > 0.5", mesh, "region");
    EXPECT_EQ(2 * upper.size(), static_cast<std::size_t>(mesh.num_elements()));
    EXPECT_NE(input_error([&] {
                  (void)select_elements("z > 9", mesh, "region");
              }).find("region \"z > 9\" selects no element"),
              std::string::npos);
    const std::string count = std::to_string(mesh.num_elements());
    EXPECT_EQ(input_error([&] { (void)select_elements("list " + count, mesh, "region"); }),
              "region: element " + count + " of the list does not exist; there are " + count +
                  " elements, numbered from 0");
}

TEST(SimulationMesh, OptionsThatNoMesherTakesAreRefused) {
    const auto message = [](const SimulationMeshOptions& options) {
        return input_error([&] { check_options(options); });
    };
    EXPECT_EQ(message({}), "");
    EXPECT_EQ(message({.kind = "prism"}),
              "kind = prism (expected voxel, graded, tet or graded-tet)");
    EXPECT_EQ(message({.kind = "tet", .is_hollow = true}), "hollow works with voxel meshes only");
    EXPECT_EQ(message({.kind = "tet", .resolution = 3}),
              "resolution = 3 (expected 4 to 512 for tet)");
    EXPECT_EQ(message({.resolution = 2000}), "resolution = 2000 (expected 2 to 1024 for voxel)");
    EXPECT_EQ(message({.kind = "graded", .resolution = 8, .levels = 4}),
              "levels = 4 (expected 2^levels at most the resolution of 8)");
    EXPECT_EQ(message({.kind = "graded", .levels = 9}), "levels = 9 (expected 0 to 8)");
}

}  // namespace
}  // namespace pliant
