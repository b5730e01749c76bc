#include "pliant/geometry/structured_mesh.h"

#include "input_error.h"
#include "pliant/geometry/surface_check.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3d;

const Box kBox(Vector3d(-1, 0, 2), Vector3d(2, 1, 2.5));

std::string refusal(int nx, int ny, int nz, const Box& box) {
    std::string messages;
    for (auto* make : {&hex_box, &tet_box}) {
        const std::string error = test::input_error([&] { (void)make(nx, ny, nz, box); });
        if (!error.empty()) messages += error + "\n";
    }
    return messages;
}

TEST(StructuredMesh, HexBoxFillsTheBox) {
    const VolumeMesh mesh = hex_box(5, 3, 2, kBox);
    EXPECT_EQ(mesh.num_vertices(), 6 * 4 * 3);
    EXPECT_EQ(mesh.num_elements(), 30);
    EXPECT_NEAR(total_volume(mesh), kBox.volume(), 1e-14);
    for (int e = 0; e < mesh.num_elements(); ++e) {
        EXPECT_NEAR(element_volume(mesh, e), kBox.volume() / 30, 1e-15);
        EXPECT_NEAR(smallest_jacobian(mesh, e), kBox.volume() / 30, 1e-15);
    }
    EXPECT_EQ(bounding_box(mesh.vertices).min(), kBox.min());
    EXPECT_EQ(bounding_box(mesh.vertices).max(), kBox.max());
}

TEST(StructuredMesh, VerticesAreNumberedXFastest) {
    const VolumeMesh mesh = hex_box(5, 3, 2, kBox);
    const int i = 2, j = 1, k = 2;
    EXPECT_NEAR((mesh.vertices[i + 6 * (j + 4 * k)] - Vector3d(0.2, 1.0 / 3, 2.5)).norm(), 0,
                1e-15);
    EXPECT_EQ(mesh.element(0)[0], 0);
    EXPECT_EQ(mesh.element(0)[1], 1);
    EXPECT_EQ(mesh.element(0)[2], 7);
    EXPECT_EQ(mesh.element(0)[4], 24);
}

TEST(StructuredMesh, KuhnTetsArePositiveEqualAndConforming) {
    const VolumeMesh mesh = tet_box(4, 3, 2, kBox);
    EXPECT_EQ(mesh.num_elements(), 6 * 24);
    for (int e = 0; e < mesh.num_elements(); ++e)
        EXPECT_NEAR(element_volume(mesh, e), kBox.volume() / 144, 1e-15);
    EXPECT_TRUE(check_volume(mesh).is_clean()) << check_volume(mesh).text();
    // no inner face is left over: the boundary is the surface of the box
    const SurfaceMesh boundary{mesh.vertices, boundary_triangles(mesh)};
    const SurfaceReport report = check_surface(boundary);
    EXPECT_TRUE(report.is_closed());
    EXPECT_EQ(report.euler_number, 2);
    EXPECT_NEAR(report.area, 2 * (3 * 1 + 1 * 0.5 + 0.5 * 3), 1e-13);
    EXPECT_NEAR(report.volume, kBox.volume(), 1e-14);
}

TEST(StructuredMesh, KuhnTetsOfACubeHaveAnglesOf45To90Degrees) {
    const auto [smallest, largest] =
        dihedral_range(tet_box(2, 2, 2, Box(Vector3d::Zero(), Vector3d::Ones())));
    EXPECT_NEAR(smallest, 45, 1e-10);
    EXPECT_NEAR(largest, 90, 1e-10);
}

TEST(StructuredMesh, CountsBelowOneAreRefusedByName) {
    EXPECT_EQ(refusal(0, 1, 1, kBox),
              "nx = 0 (expected at least 1 cell)\n"
              "nx = 0 (expected at least 1 cell)\n");
    EXPECT_EQ(refusal(1, -3, 1, kBox),
              "ny = -3 (expected at least 1 cell)\n"
              "ny = -3 (expected at least 1 cell)\n");
    EXPECT_NE(refusal(1, 1, 0, kBox).find("nz = 0"), std::string::npos);
}

TEST(StructuredMesh, CountsThatOverflowAreRefused) {
    EXPECT_NE(refusal(100000, 100000, 100000, kBox).find("too large to be indexed"),
              std::string::npos);
    EXPECT_NE(refusal(1 << 30, 1, 1, kBox).find("1073741824 × 1 × 1 cells"), std::string::npos);
    // vertices fit, element lists do not
    EXPECT_NE(refusal(700, 700, 700, kBox).find("use fewer cells"), std::string::npos);
}

TEST(StructuredMesh, FlatAndEmptyBoxesAreRefused) {
    EXPECT_NE(refusal(1, 1, 1, Box()).find("positive sides"), std::string::npos);
    EXPECT_NE(refusal(1, 1, 1, Box(Vector3d::Zero(), Vector3d(1, 0, 1))).find("positive sides"),
              std::string::npos);
}

}  // namespace
}  // namespace pliant
