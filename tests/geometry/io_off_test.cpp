#include "geometry/test_meshes.h"
#include "input_error.h"
#include "pliant/geometry/mesh_io.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using test::kSquareFan;

std::string off_error(const std::string& text) {
    return test::input_error([&] { (void)parse_off(text, "cup.off"); });
}

const std::string kVertices = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n";

TEST(ParseOff, QuadBecomesAFanAndColoursOfFacesAreIgnored) {
    const auto mesh =
        parse_off("OFF\n4 2 0\n" + kVertices + "4 0 1 2 3\n3 0 1 2 255 0 0 0.5\n", "cup.off");
    EXPECT_EQ(mesh.vertices[2], Eigen::Vector3d(1, 1, 0));
    EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}, {0, 1, 2}}));
}

TEST(ParseOff, PentagonBecomesAFanAndTheNextFaceFollows) {
    const auto mesh =
        parse_off("OFF\n5 2 0\n" + kVertices + "-1 0.5 0\n5 0 1 2 3 4\n3 4 3 1\n", "cup.off");
    EXPECT_EQ(mesh.vertices[4], Eigen::Vector3d(-1, 0.5, 0));
    EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {4, 3, 1}}));
}

TEST(ParseOff, CountsMayFollowTheKeywordOnItsLine) {
    EXPECT_EQ(parse_off("OFF 4 1 4\n" + kVertices + "4 0 1 2 3", "cup.off").triangles, kSquareFan);
}

TEST(ParseOff, CommentsBlankLinesAndWindowsLineEndsAreAccepted) {
    const std::string text =
        "# a square\r\nOFF # plain\r\n\r\n4 1 0 # counts\r\n0 0 0\r\n# second\r\n1 0 0\r\n"
        "1 1 0\r\n\r\n0 1 0\r\n4 0 1 2 3 # quad\r\n";
    EXPECT_EQ(parse_off(text, "cup.off").triangles, kSquareFan);
}

TEST(ParseOff, VertexColoursAndNormalsAreIgnoredWhenTheKeywordAnnouncesThem) {
    for (const std::string keyword : {"COFF", "NOFF", "CNOFF"}) {
        const auto mesh = parse_off(
            keyword + "\n3 1 0\n0 0 0 0 0 1 9\n1 2 3 255 0 0 255\n0 1 0 1 0 0\n3 0 1 2", "cup.off");
        EXPECT_EQ(mesh.num_vertices(), 3);
        EXPECT_EQ(mesh.vertices[1], Eigen::Vector3d(1, 2, 3));
    }
    EXPECT_EQ(off_error("OFF\n3 1 0\n0 0 0 255\n1 0 0\n0 1 0\n3 0 1 2"),
              "cup.off:3: vertex 0, fourth value = 255 (expected three coordinates; colours and "
              "normals need the keyword COFF or NOFF)");
}

TEST(ParseOff, OtherKindsOfOffAreRefused) {
    for (const std::string keyword : {"4OFF", "nOFF", "STOFF", "STCNOFF", "ply", "8"}) {
        EXPECT_EQ(off_error(keyword + "\n3 1 0\n"),
                  "cup.off:1: keyword = " + keyword + " (expected OFF, COFF, NOFF or CNOFF)");
    }
    EXPECT_EQ(off_error("OFF BINARY\n"),
              "cup.off:1: format = BINARY (expected ASCII; binary OFF is not read)");
    EXPECT_EQ(off_error(""), "cup.off:1: the file ends before the keyword OFF");
}

TEST(ParseOff, HugeCountsAreRefusedBeforeMemoryIsTaken) {
    EXPECT_EQ(off_error("OFF\n2000000000 1 0\n0 0 0\n"),
              "cup.off:2: vertex count = 2000000000 (expected at most 2: the file has only 11 more "
              "bytes)");
    EXPECT_EQ(off_error("OFF\n1 200000000 0\n0 0 0\n"),
              "cup.off:2: face count = 200000000 (expected at most 1: the file has only 9 more "
              "bytes)");
    EXPECT_EQ(off_error("OFF\n1 2000000000 0\n0 0 0\n"),
              "cup.off:2: face count = 2000000000 (expected 0 … 715827882)");
    EXPECT_EQ(off_error("OFF\n9999999999 1 0\n"),
              "cup.off:2: vertex count = 9999999999 (expected 0 … 2147483647)");
    EXPECT_EQ(off_error("OFF\n-3 1 0\n"), "cup.off:2: vertex count = -3 (expected 0 … 2147483647)");
    EXPECT_EQ(off_error("OFF\n4 1 0\n" + kVertices + "2000000000 0 1 2\n"),
              "cup.off:7: vertex indices of the face = 3 (expected 2000000000 on this line)");
}

TEST(ParseOff, BadFacesAreRefusedWithTheirLine) {
    const std::string head = "OFF\n4 1 0\n" + kVertices;
    EXPECT_EQ(off_error(head + "3 0 1 4"), "cup.off:7: vertex index = 4 (expected 0 … 3)");
    EXPECT_EQ(off_error(head + "3 0 1 -1"), "cup.off:7: vertex index = -1 (expected 0 … 3)");
    EXPECT_EQ(off_error(head + "2 0 1   "),
              "cup.off:7: corners of the face = 2 (expected 3 or more)");
    EXPECT_EQ(off_error(head + "3 0 1    "),
              "cup.off:7: vertex indices of the face = 2 (expected 3 on this line)");
}

TEST(ParseOff, BadVerticesAreRefusedWithTheirLine) {
    EXPECT_EQ(off_error("OFF\n3 1 0\n0 0 0\n0 nan 0\n0 0 0\n3 0 1 2"),
              "cup.off:4: vertex 1 = nan (expected a finite number)");
    EXPECT_EQ(off_error("OFF\n3 1 0\n0 0 0\n0 1\n0 0 0\n3 0 1 2"),
              "cup.off:4: vertex 1 (expected three coordinates on one line)");
}

TEST(ParseOff, TruncatedFileIsRefusedWithWhatIsMissing) {
    EXPECT_EQ(off_error("OFF\n4 1 0\n0 0 0\n1 0 0\n1 1 0      \n"),
              "cup.off:5: the file ends before vertex 3");
    EXPECT_EQ(off_error("OFF\n4 2 0\n" + kVertices + "4 0 1 2 3\n"),
              "cup.off:7: the file ends before face 1");
    EXPECT_EQ(off_error("OFF\n0 0 0\n"), "cup.off: the file holds no faces");
}

}  // namespace
}  // namespace pliant
