#include "server/field_slices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "core/temporary_directory.h"
#include "pliant/field/deformed_field.h"
#include "server/viewer_samples.h"

namespace pliant {
namespace {

using test::number_at;

/// Of a world without bodies that deform.
Eigen::VectorXd no_shape(int /*body*/) {
    ADD_FAILURE() << "nothing deforms";
    return {};
}

/// What an answer holds.
struct ReadSurface {
    explicit ReadSurface(const HttpReply& reply) {
        EXPECT_EQ(reply.status, 200);
        if (reply.status != 200) return;
        const auto num_vertices = number_at<std::uint32_t>(*reply.body, 0);
        const auto num_triangles = number_at<std::uint32_t>(*reply.body, 4);
        EXPECT_EQ(reply.body->size(), 8 + 12 * (std::size_t{num_vertices} + num_triangles));
        for (std::size_t v = 0; v < num_vertices; ++v) {
            Eigen::Vector3d x;
            for (std::size_t i = 0; i < 3; ++i)
                x[static_cast<int>(i)] =
                    static_cast<double>(number_at<float>(*reply.body, 8 + 12 * v + 4 * i));
            mesh.vertices.push_back(x);
        }
        for (std::size_t t = 0; t < num_triangles; ++t) {
            Triangle triangle;
            for (std::size_t i = 0; i < 3; ++i) {
                const auto vertex = number_at<std::uint32_t>(
                    *reply.body, 8 + 12 * (std::size_t{num_vertices} + t) + 4 * i);
                EXPECT_LT(vertex, num_vertices);
                triangle[i] = static_cast<int>(vertex);
            }
            mesh.triangles.push_back(triangle);
        }
    }
    SurfaceMesh mesh;
};

std::unique_ptr<World> world_of(const std::string& text) {
    return std::make_unique<World>(parse_scene(text, "scene.json"), WorldOptions{.cache = {}});
}

TEST(FieldSlices, CutThroughTheFieldOfABall) {
    const auto world = test::pressed_world();
    FieldSlices slices(*world);
    for (int axis = 0; axis < 3; ++axis) {
        const std::string path = std::string("0/slice/") + "xyz"[axis];
        const SharedBytes bytes = slices.get(path, no_shape).body;
        const auto width = number_at<std::uint32_t>(*bytes, 0);
        const auto height = number_at<std::uint32_t>(*bytes, 4);
        ASSERT_EQ(bytes->size(), 8 + 4 * (9 + std::size_t{width} * height));
        EXPECT_GE(width, 190u);
        Eigen::Vector3d frame[3];
        for (std::size_t i = 0; i < 9; ++i)
            frame[i / 3][static_cast<int>(i % 3)] =
                static_cast<double>(number_at<float>(*bytes, 8 + 4 * i));
        // a fifth around the ball of 16 cm, whose surface has flat facets
        EXPECT_NEAR(frame[1].norm(), 0.224, 0.002);
        EXPECT_NEAR(frame[2].norm(), 0.224, 0.002);
        EXPECT_NEAR(frame[0][axis], 0, 0.001) << "through the middle";
        EXPECT_EQ(frame[1][axis], 0);
        EXPECT_EQ(frame[2][axis], 0);
        // the field is that of the ball, exact to float numbers; rows from the top
        for (const auto& [i, j] : {std::pair{0u, 0u}, {40u, 100u}, {96u, 96u}, {150u, 20u}}) {
            const double s = (i + 0.5) / width, t = 1 - (j + 0.5) / height;
            const Eigen::Vector3d x = frame[0] + s * frame[1] + t * frame[2];
            const float value = number_at<float>(*bytes, 8 + 4 * (9 + std::size_t{j} * width + i));
            EXPECT_NEAR(static_cast<double>(value), x.norm() - 0.08, 1e-6);
        }
        EXPECT_EQ(slices.get(path, no_shape).body, bytes) << "made once";
    }
}

TEST(FieldSlices, OthersDoNotExist) {
    const auto world = test::pressed_world();
    FieldSlices slices(*world);
    for (const char* path :
         {"", "0", "0/", "0/slice", "0/slice/", "0/slice/w", "0/slice/xy", "0/slice/x/",
          "1/slice/x", "-1/slice/x", "x/slice/x", "99999999999999999999999/slice/x", "0/surface",
          "/slice/x", "0/iso", "1/iso/0", "-1/iso/0", "x/iso/0", "/iso/0"})
        EXPECT_EQ(slices.get(path, no_shape).status, 404) << path;
    const auto none = test::small_world();
    EXPECT_EQ(FieldSlices(*none).get("0/slice/x", no_shape).status, 404);
    EXPECT_EQ(FieldSlices(*none).get("0/iso/0", no_shape).status, 404);
}

TEST(FieldSlices, IsoSurfacesOfABallAreBalls) {
    const auto world = test::pressed_world();
    FieldSlices slices(*world);
    // half a tenth of 16 cm inside to a tenth outside
    for (const char* level : {"-0.008", "-1e-3", "0", "0.004", "0.016"}) {
        const std::string path = std::string("0/iso/") + level;
        const HttpReply reply = slices.get(path, no_shape);
        const SurfaceMesh mesh = ReadSurface(reply).mesh;
        EXPECT_GT(mesh.num_triangles(), 5000);
        EXPECT_LE(mesh.num_triangles(), FieldSlices::kMaxTriangles);
        EXPECT_EQ(2 * mesh.num_vertices(), mesh.num_triangles() + 4) << "closed, in one piece";
        const double radius = 0.08 + std::stod(level);
        // vertices are on the level to 0.01 cells, cells are a 64th of 25 cm at most
        for (const Eigen::Vector3d& x : mesh.vertices) ASSERT_NEAR(x.norm(), radius, 8e-5) << level;
        EXPECT_EQ(slices.get(path, no_shape).body, reply.body) << "made once";
    }
}

TEST(FieldSlices, LevelsThatAreNoneOrTooFarAreRefused) {
    const auto world = test::pressed_world();
    FieldSlices slices(*world);
    for (const char* level : {"", "nan", "-nan", "inf", "-inf", "x", "0x", "0.001/", "0 ", " 0",
                              "1e999", "0.0162", "-0.0082", "1", "-1"}) {
        const HttpReply reply = slices.get(std::string("0/iso/") + level, no_shape);
        EXPECT_EQ(reply.status, 400) << level;
        EXPECT_THAT(*reply.body, testing::HasSubstr("metres from -0.008 to 0.016")) << level;
    }
}

TEST(FieldSlices, IsoSurfacesOfGroundAreOpenPlanes) {
    const auto world = world_of(R"({"pliant": 1, "name": "g", "bodies": [
        {"name": "ground", "rigid": {"ground": {"size": 2}}},
        {"name": "box", "rigid": {"box": {"sizes": [0.2, 0.2, 0.2]}}, "pose": {"position": [0, 0, 0.2]},
         "contact": {"pointshell": {"points": 500, "levels": 2, "resolution": 32}}}],
        "contacts": [{"shell": "box", "field": "ground"}]})");
    FieldSlices slices(*world);
    for (const double level : {-0.05, 0.0, 0.15}) {
        const SurfaceMesh mesh =
            ReadSurface(slices.get("0/iso/" + std::to_string(level), no_shape)).mesh;
        ASSERT_GT(mesh.num_triangles(), 100);
        Box box;
        for (const Triangle& triangle : mesh.triangles)
            for (const int vertex : triangle)
                box.extend(mesh.vertices[static_cast<std::size_t>(vertex)]);
        EXPECT_NEAR(box.min().z(), level, 1e-3);
        EXPECT_NEAR(box.max().z(), level, 1e-3) << "without walls";
        EXPECT_GT(box.sizes().x(), 2);
    }
}

TEST(FieldSlices, IsoSurfacesOfBodiesThatDeformHaveTheirPresentShape) {
    const auto world = world_of(R"({"pliant": 1, "name": "d", "gravity": [0, 0, 0], "bodies": [
        {"name": "ball", "rigid": {"sphere": {"radius": 0.05}}, "pose": {"position": [0, 0, 0.5]},
         "contact": {"pointshell": {"points": 500, "levels": 2, "resolution": 32}}},
        {"name": "beam", "reduced": {"shape": "beam", "size": 1, "fixed": "x < 5 %", "modes": 4, "rank": 6,
         "material": {"youngs_modulus": 1e5, "poisson_ratio": 0.3, "density": 1000},
         "mesh": {"kind": "voxel", "resolution": 8}}, "contact": {"field": {"resolution": 64}}}],
        "contacts": [{"shell": "ball", "field": "beam"}]})");
    FieldSlices slices(*world);
    Eigen::VectorXd q = Eigen::VectorXd::Zero(6);
    const auto shape_of = [&](int body) {
        EXPECT_EQ(body, 1);
        return q;
    };
    const auto& loop_field =
        dynamic_cast<const DeformedField&>(world->loop(0).contact(0).pair()->traversal().field());
    DeformedField field(loop_field.model());
    SharedBytes before, cut_before;
    Box rest;
    for (const double bent : {0.0, 0.1}) {
        q[0] = bent;
        field.update(q);
        // cuts likewise: every value is that of the field in this shape
        const HttpReply cut = slices.get("0/slice/y", shape_of);
        ASSERT_EQ(cut.status, 200);
        const auto width = number_at<std::uint32_t>(*cut.body, 0);
        const auto height = number_at<std::uint32_t>(*cut.body, 4);
        const auto vector_at = [&](std::size_t k) {
            Eigen::Vector3d v;
            for (std::size_t i = 0; i < 3; ++i)
                v[static_cast<int>(i)] =
                    static_cast<double>(number_at<float>(*cut.body, 8 + 12 * k + 4 * i));
            return v;
        };
        for (const std::size_t row : {0u, height / 2, height - 1})
            for (const std::size_t column : {0u, width / 3, width - 1}) {
                const double s = (static_cast<double>(column) + 0.5) / width;
                const double t = 1 - (static_cast<double>(row) + 0.5) / height;
                const Eigen::Vector3d x = vector_at(0) + s * vector_at(1) + t * vector_at(2);
                EXPECT_NEAR(number_at<float>(*cut.body, 44 + 4 * (row * width + column)),
                            field.distance(x), 1e-5);
            }
        EXPECT_EQ(slices.get("0/slice/y", shape_of).body, cut.body) << "the same shape";
        EXPECT_NE(cut.body, cut_before);
        cut_before = cut.body;
        for (const double level : {-0.02, 0.0, 0.1}) {
            const std::string path = "0/iso/" + std::to_string(level);
            const HttpReply reply = slices.get(path, shape_of);
            const SurfaceMesh mesh = ReadSurface(reply).mesh;
            ASSERT_GT(mesh.num_triangles(), 500);
            // between grid vertices the field is not linear: within half a cell
            for (const Eigen::Vector3d& x : mesh.vertices)
                ASSERT_NEAR(static_cast<double>(field.distance(x)), level, 0.01);
            const Box box = bounding_box(mesh.vertices);
            if (level == 0 && bent == 0) rest = box;
            if (level == 0 && bent != 0) {
                EXPECT_GT((box.sizes() - rest.sizes()).cwiseAbs().maxCoeff(), 0.02) << "it bends";
            }
            EXPECT_EQ(slices.get(path, shape_of).body, reply.body) << "the same shape";
            EXPECT_NE(reply.body, before);
            before = reply.body;
        }
    }
    q.setConstant(std::numeric_limits<double>::quiet_NaN());
    EXPECT_EQ(slices.get("0/iso/0", shape_of).status, 200) << "at rest";
}

TEST(FieldSlices, IsoSurfacesWithMuchAreaAreCoarser) {
    // plates of 4 cm with as much between them
    const test::TemporaryDirectory folder;
    std::ofstream obj(folder / "plates.obj");
    constexpr int kPlates = 12;
    for (int p = 0; p < kPlates; ++p)
        for (int c = 0; c < 8; ++c)
            obj << "v " << (c & 1) << ' ' << (c >> 1 & 1) << ' ' << 0.08 * p + 0.04 * (c >> 2)
                << '\n';
    constexpr int kFaces[6][4] = {{1, 3, 4, 2}, {5, 6, 8, 7}, {1, 2, 6, 5},
                                  {3, 7, 8, 4}, {1, 5, 7, 3}, {2, 4, 8, 6}};
    for (int p = 0; p < kPlates; ++p)
        for (const auto& face : kFaces) {
            obj << 'f';
            for (const int vertex : face) obj << ' ' << 8 * p + vertex;
            obj << '\n';
        }
    obj.close();
    const std::string file = (folder / "plates.obj").string();
    const auto world = world_of(R"({"pliant": 1, "name": "p", "bodies": [
        {"name": "plates", "rigid": {"surface": ")" +
                                file + R"("}, "contact": {"field": {"resolution": 128}}},
        {"name": "box", "rigid": {"box": {"sizes": [0.2, 0.2, 0.2]}}, "pose": {"position": [0, 0, 2]},
         "contact": {"pointshell": {"points": 500, "levels": 2, "resolution": 32}}}],
        "contacts": [{"shell": "box", "field": "plates"}]})");
    FieldSlices slices(*world);
    const SurfaceMesh mesh = ReadSurface(slices.get("0/iso/0", no_shape)).mesh;
    EXPECT_LE(mesh.num_triangles(), FieldSlices::kMaxTriangles);
    EXPECT_GT(mesh.num_triangles(), FieldSlices::kMaxTriangles / 4);
}

TEST(FieldSlices, ContactAmongManyBodiesHasNoSingleField) {
    const auto world = test::fallen_world();
    FieldSlices slices(*world);
    EXPECT_EQ(slices.get("0/slice/z", no_shape).status, 404);
    EXPECT_EQ(slices.get("0/iso/0", no_shape).status, 404);
}

}  // namespace
}  // namespace pliant
