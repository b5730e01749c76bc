#include "geometry/test_meshes.h"
#include "input_error.h"
#include "pliant/geometry/mesh_io.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using test::kSquareFan;

std::string obj_error(const std::string& text) {
    return test::input_error([&] { (void)parse_obj(text, "cup.obj"); });
}

const std::string kObjSquare = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

TEST(ParseObj, ReadsEveryFormOfCorner) {
    const auto mesh = parse_obj(kObjSquare +
                                    "vt 0 0\nvn 0 0 1\nf 1 2 3\nf 1/1 3/1 4/1\nf 1//1 2//1 3//1\n"
                                    "f 1/1/1 3/1/1 4/1/1\n",
                                "cup.obj");
    EXPECT_EQ(mesh.num_vertices(), 4);
    EXPECT_EQ(mesh.vertices[2], Eigen::Vector3d(1, 1, 0));
    EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}, {0, 1, 2}, {0, 2, 3}}));
}

TEST(ParseObj, QuadsAndPolygonsBecomeFans) {
    EXPECT_EQ(parse_obj(kObjSquare + "f 1 2 3 4\n", "cup.obj").triangles, kSquareFan);
    const auto hexagon = parse_obj(kObjSquare + "v 5 5 5\nv 6 6 6\nf 1 2 3 4 5 6", "cup.obj");
    EXPECT_EQ(hexagon.triangles,
              (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}}));
}

TEST(ParseObj, NegativeIndicesCountBackFromTheFace) {
    const auto mesh =
        parse_obj(kObjSquare + "f -4 -3 -2\nv 9 9 9\nf -1 1 2\nf -2/-1/-1 1 2", "c.obj");
    EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}, {4, 0, 1}, {3, 0, 1}}));
}

TEST(ParseObj, FacesMayPrecedeTheirVertices) {
    EXPECT_EQ(parse_obj("f 1 2 3 4\n" + kObjSquare, "cup.obj").triangles, kSquareFan);
}

TEST(ParseObj, CommentsLineEndsAndOtherKeywordsAreAccepted) {
    const std::string windows =
        "# made by hand\r\nmtllib a.mtl\r\no cup\r\ng side\r\nv 0 0 0\r\nv 1 0 0 # corner\r\n"
        "v 1 1 0\r\nv 0 1 0\r\ns off\r\nusemtl red\r\nl 1 2\r\nf 1 2 3 4\r\n";
    EXPECT_EQ(parse_obj(windows, "cup.obj").triangles, kSquareFan);
    std::string old_mac = windows;
    std::erase(old_mac, '\n');
    EXPECT_EQ(parse_obj(old_mac, "cup.obj").triangles, kSquareFan);
}

TEST(ParseObj, BackslashContinuesALine) {
    EXPECT_EQ(parse_obj(kObjSquare + "f 1 2 \\\n3\\\r\n  4\n", "cup.obj").triangles, kSquareFan);
    EXPECT_EQ(parse_obj("v 0 \\\n0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\\", "c.obj").triangles,
              kSquareFan);
    // an empty line ends the continuation
    EXPECT_EQ(parse_obj(kObjSquare + "f 1 2 3 4 \\\n\nf 1 2 3 4", "cup.obj").num_triangles(), 4);
}

TEST(ParseObj, WeightAndColourAfterThePositionAreIgnored) {
    const auto mesh = parse_obj("v 1 2 3 1.0\nv 4 5 6 0.1 0.2 0.3\nv 7 8 9 nan\nf 1 2 3", "c.obj");
    EXPECT_EQ(mesh.vertices[1], Eigen::Vector3d(4, 5, 6));
    EXPECT_EQ(mesh.num_vertices(), 3);
}

TEST(ParseObj, BadIndicesAreRefusedWithTheLineOfTheirFace) {
    EXPECT_EQ(obj_error(kObjSquare + "f 1 2 3\nf 1 2 99\n# end\n"),
              "cup.obj:6: vertex index = 99 (expected 1 … 4)");
    EXPECT_EQ(obj_error("f 1 2 3\nf 1 7 6\nf 1 2 9\n" + kObjSquare),
              "cup.obj:2: vertex index = 7 (expected 1 … 4)");
    EXPECT_EQ(obj_error(kObjSquare + "f 0 1 2"),
              "cup.obj:5: vertex index = 0 (expected 1 or more, or -1 for the last vertex so far)");
    EXPECT_EQ(obj_error(kObjSquare + "f -5 1 2"),
              "cup.obj:5: vertex index = -5 (expected at least -4: the vertices so far)");
    EXPECT_EQ(obj_error(kObjSquare + "f 1 2 3.0"),
              "cup.obj:5: vertex index = 3.0 (expected an integer)");
    EXPECT_EQ(obj_error(kObjSquare + "f 1 2 /3"), "cup.obj:5: vertex index (expected an integer)");
    EXPECT_EQ(obj_error(kObjSquare + "f 1 2 99999999999"),
              "cup.obj:5: vertex index = 99999999999 (expected -2147483647 … 2147483647)");
    EXPECT_EQ(obj_error("f 1 2 3"),
              "cup.obj:1: vertex index = 1 (expected vertices in the file, there are none)");
}

TEST(ParseObj, BadVerticesAreRefusedWithTheirLine) {
    EXPECT_EQ(obj_error("v 0 0 0\nv 1 nan 0\n"),
              "cup.obj:2: vertex coordinate = nan (expected a finite number)");
    EXPECT_EQ(obj_error("v 0 0 inf"),
              "cup.obj:1: vertex coordinate = inf (expected a finite number)");
    EXPECT_EQ(obj_error("v 0 0 0,5"),
              "cup.obj:1: vertex coordinate = 0,5 (expected a finite number)");
    EXPECT_EQ(obj_error("v 0 0\nv 1 1 1"),
              "cup.obj:1: vertex (expected three coordinates after v)");
}

TEST(ParseObj, FacesOfFewerThanThreeCornersAreRefused) {
    EXPECT_EQ(obj_error(kObjSquare + "f 1 2\n"),
              "cup.obj:5: corners of the face = 2 (expected 3 or more)");
    EXPECT_EQ(obj_error(kObjSquare + "f\n"),
              "cup.obj:5: corners of the face = 0 (expected 3 or more)");
}

TEST(ParseObj, FileWithoutFacesIsRefused) {
    EXPECT_EQ(obj_error(""), "cup.obj: the file holds no faces");
    EXPECT_EQ(obj_error(kObjSquare), "cup.obj: the file holds no faces");
}

}  // namespace
}  // namespace pliant
