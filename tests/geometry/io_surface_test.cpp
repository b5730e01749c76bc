#include "geometry/test_meshes.h"
#include "input_error.h"
#include "pliant/core/atomic_file.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/geometry/structured_mesh.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace pliant {
namespace {

using test::input_error;

class SurfaceFiles : public ::testing::Test {
protected:
    void SetUp() override {
        const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
        directory_ = std::filesystem::path(::testing::TempDir()) /
                     (std::string("pliant_surface_files_") + info->name());
        std::filesystem::remove_all(directory_);
        std::filesystem::create_directories(directory_);
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }
    [[nodiscard]] std::filesystem::path path(const std::string& name) const {
        return directory_ / name;
    }
    void write(const std::string& name, const std::string& text) const {
        AtomicFile file(path(name));
        file.write(text);
        file.commit();
    }

    std::filesystem::path directory_;
};

// A torus of irrational coordinates and a triangle of extreme ones.
SurfaceMesh awkward_mesh() {
    SurfaceMesh mesh = test::make_torus(1.0, 0.3, 17, 9);
    const int first = mesh.num_vertices();
    mesh.vertices.emplace_back(std::numeric_limits<double>::denorm_min(), -0.0, 1e-300);
    mesh.vertices.emplace_back(std::numeric_limits<double>::max(), 1.0 / 3.0, -1e22);
    mesh.vertices.emplace_back(0.1, 123456789.123456789, 5e-324);
    mesh.triangles.push_back({first, first + 1, first + 2});
    return mesh;
}

bool bit_equal(const std::vector<Eigen::Vector3d>& a, const std::vector<Eigen::Vector3d>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
}

TEST_F(SurfaceFiles, ObjAndPlyRoundTripBitForBit) {
    const SurfaceMesh mesh = awkward_mesh();
    for (const char* name : {"a.obj", "a.ply", "b.OBJ", "b.Ply"}) {
        save_surface(mesh, path(name));
        const SurfaceMesh back = load_surface(path(name));
        EXPECT_TRUE(bit_equal(back.vertices, mesh.vertices)) << name;
        EXPECT_EQ(back.triangles, mesh.triangles) << name;
    }
}

TEST_F(SurfaceFiles, StlRoundTripKeepsTheSurfaceInSinglePrecision) {
    const SurfaceMesh mesh = test::make_torus(1.0, 0.3, 17, 9);
    save_surface(mesh, path("a.STL"));
    const SurfaceMesh back = load_surface(path("a.STL"));
    ASSERT_EQ(back.num_triangles(), mesh.num_triangles());
    EXPECT_EQ(back.num_vertices(), mesh.num_vertices());
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        for (int k = 0; k < 3; ++k) {
            EXPECT_EQ(back.corner(t, k).cast<float>(), mesh.corner(t, k).cast<float>());
        }
    }
    // the second time nothing changes any more
    save_surface(back, path("b.stl"));
    const SurfaceMesh again = load_surface(path("b.stl"));
    EXPECT_TRUE(bit_equal(again.vertices, back.vertices));
    EXPECT_EQ(again.triangles, back.triangles);
}

TEST_F(SurfaceFiles, StlHoldsTheUnitNormalOfEachFacet) {
    SurfaceMesh mesh;
    mesh.vertices = {{0, 0, 0}, {2, 0, 0}, {0, 2, 0}};
    mesh.triangles = {{0, 1, 2}};
    save_surface(mesh, path("a.stl"));
    const std::string bytes = read_file(path("a.stl"));
    ASSERT_EQ(bytes.size(), 134u);
    float normal[3];
    std::memcpy(normal, bytes.data() + 84, sizeof normal);
    EXPECT_EQ(normal[0], 0.0f);
    EXPECT_EQ(normal[1], 0.0f);
    EXPECT_EQ(normal[2], 1.0f);
}

TEST_F(SurfaceFiles, ReadersAreChosenByExtensionInAnyCase) {
    write("a.Off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
    EXPECT_EQ(load_surface(path("a.Off")).num_triangles(), 1);
    for (const char* name : {"a.obj", "a.PLY", "dir.x/a.Stl", "a.off"}) {
        EXPECT_TRUE(is_surface_file(name)) << name;
    }
    for (const char* name : {"a.msh", "obj", "a.obj.gz", "a", "", ".obj"}) {
        EXPECT_FALSE(is_surface_file(name)) << name;
    }
}

TEST_F(SurfaceFiles, VolumeFileGivesItsBoundaryWithoutInnerVertices) {
    const VolumeMesh volume =
        tet_box(2, 2, 2, {Eigen::Vector3d(0, 0, 0), Eigen::Vector3d(1, 1, 1)});
    save_volume(volume, path("a.mesh"));
    const SurfaceMesh surface = load_surface(path("a.mesh"));
    // 3 × 3 × 3 lattice points, of which the middle one is inside
    EXPECT_EQ(surface.num_vertices(), 26);
    EXPECT_EQ(surface.num_triangles(), 6 * 4 * 2);
    EXPECT_NEAR(enclosed_volume(surface), 1.0, 1e-14);
}

TEST_F(SurfaceFiles, UnknownExtensionsAreRefusedWithTheKnownOnes) {
    write("a.3ds", "?");
    EXPECT_EQ(input_error([&] { (void)load_surface(path("a.3ds")); }),
              path("a.3ds").string() +
                  ": file extension = .3ds (expected .obj, .ply, .stl or .off, or .msh, .veg, "
                  ".mesh, .node, .ele or .pliant for the boundary of a volume mesh)");
    EXPECT_EQ(
        input_error([&] { save_surface(awkward_mesh(), path("b.off")); }),
        path("b.off").string() + ": file extension = .off (expected .obj, .ply, .stl or .vtu)");
    EXPECT_FALSE(std::filesystem::exists(path("b.off")));
}

TEST_F(SurfaceFiles, MessagesNameTheFile) {
    write("bad.obj", "v 0 0 0\nf 1 1 2\n");
    EXPECT_EQ(input_error([&] { (void)load_surface(path("bad.obj")); }),
              path("bad.obj").string() + ":2: vertex index = 2 (expected 1 … 1)");
    EXPECT_NE(input_error([&] { (void)load_surface(path("missing.ply")); }).find("missing.ply"),
              std::string::npos);
}

TEST_F(SurfaceFiles, CoordinatesThatNoReaderWouldTakeAreNotWritten) {
    SurfaceMesh mesh;
    mesh.vertices = {{0, 0, 0}, {1, std::numeric_limits<double>::quiet_NaN(), 0}, {0, 1e39, 0}};
    mesh.triangles = {{0, 1, 2}};
    for (const char* name : {"a.obj", "a.ply", "a.stl", "a.vtu"}) {
        EXPECT_EQ(input_error([&] { save_surface(mesh, path(name)); }),
                  path(name).string() +
                      ": coordinate of vertex 1 = nan (expected a finite number that fits the "
                      "format)");
        EXPECT_FALSE(std::filesystem::exists(path(name))) << name;
    }
    // finite, but too large for the floats of STL
    mesh.vertices[1].setZero();
    EXPECT_EQ(input_error([&] { save_surface(mesh, path("a.ply")); }), "");
    EXPECT_EQ(input_error([&] { save_surface(mesh, path("a.stl")); }),
              path("a.stl").string() +
                  ": coordinate of vertex 2 = 1e+39 (expected a finite number that fits the "
                  "format)");
}

TEST_F(SurfaceFiles, VtuIsWrittenForParaView) {
    save_surface(test::make_torus(1.0, 0.3, 8, 5), path("a.vtu"));
    EXPECT_NE(read_file(path("a.vtu")).find("<VTKFile"), std::string::npos);
}

TEST_F(SurfaceFiles, MeshesWithoutTrianglesAreWrittenForParaViewOnly) {
    SurfaceMesh points;
    points.vertices = {{0, 0, 0}, {1, 2, 3}};
    for (const char* name : {"a.obj", "a.ply", "a.stl"}) {
        EXPECT_EQ(input_error([&] { save_surface(points, path(name)); }),
                  path(name).string() + ": the mesh to save has no triangles");
        EXPECT_FALSE(std::filesystem::exists(path(name))) << name;
    }
    save_surface(points, path("a.vtu"));
    EXPECT_NE(read_file(path("a.vtu")).find("NumberOfPoints=\"2\" NumberOfCells=\"0\""),
              std::string::npos);
}

}  // namespace
}  // namespace pliant
