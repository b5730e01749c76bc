#include "geometry/test_meshes.h"
#include "geometry/volume_samples.h"
#include "input_error.h"
#include "pliant/geometry/mesh_io.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>

namespace pliant {
namespace {

using test::kSquareFan;
using test::replaced;

std::string ply_error(const std::string& bytes) {
    return test::input_error([&] { (void)parse_ply(bytes, "cup.ply"); });
}

template <class T>
void put(std::string& bytes, T value, std::endian order) {
    auto raw = std::bit_cast<std::array<char, sizeof(T)>>(value);
    if (order != std::endian::native) std::reverse(raw.begin(), raw.end());
    bytes.append(raw.data(), raw.size());
}

const std::string kTypes =
    "element vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    "element face 1\nproperty list uchar int vertex_indices\nend_header\n";
const std::string kAscii = "ply\nformat ascii 1.0\n" + kTypes + "0 0 0\n1 0 0\n1 1 0\n0 1 0\n";

// A square of one quad, with properties, lists and whole elements that are of no use to us.
std::string rich_square(std::endian order) {
    const bool little = order == std::endian::little;
    std::string bytes = std::string("ply\nformat ") +
                        (little ? "binary_little_endian" : "binary_big_endian") +
                        " 1.0\ncomment by hand\nobj_info none\n"
                        "element camera 2\nproperty double fov\nproperty list ushort short tags\n"
                        "element marker 7\n"
                        "element vertex 4\nproperty uchar red\nproperty short x\n"
                        "property list uchar float weights\nproperty double z\nproperty float y\n"
                        "element face 1\nproperty float quality\n"
                        "property list uint ushort vertex_index\nproperty list uchar double uv\n"
                        "end_header\n";
    for (int camera = 0; camera < 2; ++camera) {
        put(bytes, 1.5, order);
        put(bytes, std::uint16_t{3}, order);
        for (const std::int16_t tag : {1, 2, 3}) put(bytes, tag, order);
    }
    const int square[4][2] = {{0, 0}, {-300, 0}, {-300, 1}, {0, 1}};
    for (int v = 0; v < 4; ++v) {
        put(bytes, std::uint8_t{200}, order);
        put(bytes, static_cast<std::int16_t>(square[v][0]), order);
        put(bytes, static_cast<std::uint8_t>(v), order);
        for (int k = 0; k < v; ++k) put(bytes, std::numeric_limits<float>::quiet_NaN(), order);
        put(bytes, 0.1, order);
        put(bytes, static_cast<float>(square[v][1]), order);
    }
    put(bytes, 0.5f, order);
    put(bytes, std::uint32_t{4}, order);
    for (const std::uint16_t corner : {0, 1, 2, 3}) put(bytes, corner, order);
    put(bytes, std::uint8_t{1}, order);
    put(bytes, 0.25, order);
    return bytes;
}

std::string plain_square() {
    std::string bytes = "ply\nformat binary_little_endian 1.0\n" + kTypes;
    for (const float value : {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}) {
        put(bytes, value, std::endian::little);
    }
    put(bytes, std::uint8_t{4}, std::endian::little);
    for (const std::int32_t corner : {0, 1, 2, 3}) put(bytes, corner, std::endian::little);
    return bytes;
}

/// A pentagon and a triangle, in text where there is no order.
std::string pentagon(std::optional<std::endian> order) {
    std::string text =
        replaced(replaced(kAscii, "vertex 4", "vertex 5"), "face 1", "face 2") + "-1 0.5 0\n";
    if (!order) return text + "5 0 1 2 3 4\n3 4 3 1\n";
    std::string bytes =
        replaced(text.substr(0, text.find("0 0 0\n")), "ascii",
                 *order == std::endian::little ? "binary_little_endian" : "binary_big_endian");
    for (const float value :
         {0.f, 0.f, 0.f, 1.f, 0.f, 0.f, 1.f, 1.f, 0.f, 0.f, 1.f, 0.f, -1.f, 0.5f, 0.f})
        put(bytes, value, *order);
    put(bytes, std::uint8_t{5}, *order);
    for (const std::int32_t corner : {0, 1, 2, 3, 4}) put(bytes, corner, *order);
    put(bytes, std::uint8_t{3}, *order);
    for (const std::int32_t corner : {4, 3, 1}) put(bytes, corner, *order);
    return bytes;
}

TEST(ParsePly, PentagonBecomesAFanAndTheNextFaceFollows) {
    for (const std::string& bytes :
         {pentagon({}), pentagon(std::endian::little), pentagon(std::endian::big)}) {
        const auto mesh = parse_ply(bytes, "cup.ply");
        ASSERT_EQ(mesh.num_vertices(), 5);
        EXPECT_EQ(mesh.vertices[4], Eigen::Vector3d(-1, 0.5, 0));
        EXPECT_EQ(mesh.triangles,
                  (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {4, 3, 1}}));
    }
}

TEST(ParsePly, AsciiQuadBecomesAFan) {
    const auto mesh = parse_ply(kAscii + "4 0 1 2 3\n", "cup.ply");
    EXPECT_EQ(mesh.vertices[2], Eigen::Vector3d(1, 1, 0));
    EXPECT_EQ(mesh.triangles, kSquareFan);
}

TEST(ParsePly, AsciiWithWindowsLineEndsAndExtrasIsRead) {
    const auto mesh = parse_ply(
        "ply\r\nformat ascii 1.0\r\ncomment hello\r\nelement junk 2\r\n"
        "property list uchar int a\r\nproperty float b\r\nelement vertex 3\r\n"
        "property float32 x\r\nproperty float64 y\r\nproperty int z\r\nproperty float nx\r\n"
        "element face 1\r\nproperty list uint8 uint32 vertex_index\r\nproperty uchar red\r\n"
        "end_header\r\n2 7 8 0.5\r\n0 nan\r\n0 0 0 nan\r\n1 0 0 0\r\n0.5 1 -3 0\r\n3 0 1 2 9\r\n",
        "cup.ply");
    EXPECT_EQ(mesh.vertices[2], Eigen::Vector3d(0.5, 1, -3));
    EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}}));
}

TEST(ParsePly, BothBinaryOrdersAreReadAndUselessPartsSkipped) {
    for (const auto order : {std::endian::little, std::endian::big}) {
        const auto mesh = parse_ply(rich_square(order), "cup.ply");
        ASSERT_EQ(mesh.num_vertices(), 4);
        EXPECT_EQ(mesh.vertices[2], Eigen::Vector3d(-300, 1, 0.1));
        EXPECT_EQ(mesh.triangles, kSquareFan);
    }
}

TEST(ParsePly, FacesMayPrecedeVertices) {
    const auto mesh = parse_ply(
        "ply\nformat ascii 1.0\nelement face 1\nproperty list uchar int vertex_indices\n"
        "element vertex 3\nproperty float x\nproperty float y\nproperty float z\nend_header\n"
        "3 0 1 2\n0 0 0\n1 0 0\n0 1 0\n",
        "cup.ply");
    EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}}));
}

TEST(ParsePly, HeaderWithLoneReturnsLeavesTheFirstDataByteAlone) {
    std::string bytes =
        "ply\rformat binary_little_endian 1.0\relement vertex 3\rproperty uchar x\r"
        "property uchar y\rproperty uchar z\relement face 1\r"
        "property list uchar uchar vertex_indices\rend_header\r";
    bytes += std::string("\n\0\0\1\0\0\0\1\0\3\0\1\2", 13);
    const auto mesh = parse_ply(bytes, "cup.ply");
    EXPECT_EQ(mesh.vertices[0], Eigen::Vector3d(10, 0, 0));
}

TEST(ParsePly, BadHeadersAreRefusedWithTheirLine) {
    EXPECT_EQ(ply_error(""), "cup.ply:1: the file does not start with the line \"ply\"");
    EXPECT_EQ(ply_error("solid"), "cup.ply:1: the file does not start with the line \"ply\"");
    EXPECT_EQ(ply_error("ply\nformat ascii 1.0\nelement vertex 3\n"),
              "cup.ply:3: the file ends before end_header");
    EXPECT_EQ(ply_error(replaced(kAscii, "ascii", "utf8")),
              "cup.ply:2: format = utf8 (expected ascii, binary_little_endian or "
              "binary_big_endian)");
    EXPECT_EQ(ply_error(replaced(kAscii, "1.0", "2.0")),
              "cup.ply:2: format version = 2.0 (expected 1.0)");
    EXPECT_EQ(ply_error(replaced(kAscii, "format ascii 1.0\n", "")),
              "cup.ply:8: the header has no format line");
    EXPECT_EQ(ply_error(replaced(kAscii, "property float x", "property half x")),
              "cup.ply:4: property type = half (expected char, uchar, short, ushort, int, uint, "
              "float or double)");
    EXPECT_EQ(ply_error(replaced(kAscii, "list uchar int", "list float int")),
              "cup.ply:8: type of the list's length = float (expected an integer type)");
    EXPECT_EQ(ply_error(replaced(kAscii, "element face", "elephant face")),
              "cup.ply:7: header keyword = elephant (expected format, comment, obj_info, element, "
              "property or end_header)");
    EXPECT_EQ(ply_error("ply\nproperty float x\n"),
              "cup.ply:2: property (expected an element line before it)");
    EXPECT_EQ(ply_error("ply\nelement vertex\n"), "cup.ply:2: element count (expected an integer)");
    EXPECT_EQ(ply_error("ply\nelement vertex 4000000000\n"),
              "cup.ply:2: element count = 4000000000 (expected 0 … 2147483647)");
    EXPECT_EQ(ply_error("ply\nelement tristrips 1\n"),
              "cup.ply:2: element = tristrips (expected faces; triangle strips are not read, "
              "convert the file to plain triangles)");
}

TEST(ParsePly, MissingOrWrongPropertiesAreRefused) {
    EXPECT_EQ(ply_error(replaced(kAscii, "float y", "float v")),
              "cup.ply: scalar properties y of element vertex = 0 (expected 1)");
    EXPECT_EQ(ply_error(replaced(kAscii, "float y", "list uchar float y")),
              "cup.ply: scalar properties y of element vertex = 0 (expected 1)");
    EXPECT_EQ(ply_error(replaced(kAscii, "vertex_indices", "corners")),
              "cup.ply: lists vertex_indices or vertex_index of element face = 0 (expected 1)");
    EXPECT_EQ(ply_error(replaced(kAscii, "uchar int", "uchar float")),
              "cup.ply: property vertex_indices (expected a list of integers)");
    EXPECT_EQ(ply_error(replaced(kAscii, "list uchar int", "int")),
              "cup.ply: property vertex_indices (expected a list of integers)");
    EXPECT_EQ(ply_error(replaced(kAscii, "element face", "element faces")),
              "cup.ply: elements named face = 0 (expected 1)");
    EXPECT_EQ(ply_error(replaced(kAscii, "element face", "element vertex 1\nelement face")),
              "cup.ply: elements named vertex = 2 (expected 1)");
}

TEST(ParsePly, ListsNamedLikeCoordinatesAreSkipped) {
    std::string text =
        replaced(kAscii, "property float x", "property list uchar float x\nproperty float x");
    for (const char* vertex : {"\n0 0 0", "\n1 0 0", "\n1 1 0", "\n0 1 0"})
        text = replaced(text, vertex, "\n2 7 8 " + std::string(vertex + 1));
    const SurfaceMesh mesh = parse_ply(text + "4 0 1 2 3\n", "cup.ply");
    EXPECT_EQ(mesh.vertices,
              (std::vector<Eigen::Vector3d>{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}));
    EXPECT_EQ(mesh.triangles, kSquareFan);
}

TEST(ParsePly, BadAsciiValuesAreRefusedWithTheirLine) {
    EXPECT_EQ(ply_error(kAscii + "4 0 1 2 4\n"), "cup.ply:14: vertex index = 4 (expected 0 … 3)");
    EXPECT_EQ(ply_error(kAscii + "4 0 1 2 -1\n"), "cup.ply:14: vertex index = -1 (expected 0 … 3)");
    EXPECT_EQ(ply_error(kAscii + "2 0 1\n"),
              "cup.ply:14: corners of the face = 2 (expected 3 or more)");
    EXPECT_EQ(ply_error(kAscii + "4 0 1 2\n"), "cup.ply:14: the file ends before vertex index");
    EXPECT_EQ(ply_error(replaced(kAscii, "1 0 0\n", "1 nan 0\n") + "3 0 1 2"),
              "cup.ply:11: vertex y = nan (expected a finite number)");
}

TEST(ParsePly, HugeCountsAreRefusedBeforeMemoryIsTaken) {
    const std::string many = "element vertex 2000000000";
    EXPECT_EQ(ply_error(replaced(kAscii, "element vertex 4", many)),
              "cup.ply:9: vertex count = 2000000000 (expected at most 4: the file has only 25 more "
              "bytes)");
    EXPECT_EQ(ply_error(replaced(plain_square(), "element vertex 4", many)),
              "cup.ply: the file ends at byte 243 inside vertex 5 (expected 23999999935 more "
              "bytes)");
    EXPECT_EQ(ply_error(replaced(plain_square(), "element face 1", "element face 2000000000")),
              "cup.ply: the file ends at byte 243 inside face 17 (expected 1999999983 more bytes)");

    // a list that claims four thousand million corners
    std::string bytes = replaced(plain_square(), "uchar int", "uint int");
    bytes.resize(bytes.size() - 17);
    put(bytes, std::uint32_t{4294967295u}, std::endian::little);
    EXPECT_NE(ply_error(bytes).find("inside face 0 (expected 17179869180 more bytes)"),
              std::string::npos)
        << ply_error(bytes);
}

TEST(ParsePly, BadBinaryValuesAreRefusedWithTheirPlace) {
    std::string bytes = plain_square();
    bytes[bytes.size() - 4] = 77;
    EXPECT_EQ(ply_error(bytes),
              "cup.ply: face 0, before byte 234: vertex index = 77 (expected 0 … 3)");
    bytes = plain_square();
    bytes[bytes.size() - 17] = 2;
    EXPECT_EQ(ply_error(bytes),
              "cup.ply: face 0, before byte 218: corners of the face = 2 (expected 3 or more)");
    bytes = plain_square();
    const std::size_t last_vertex = bytes.size() - 17 - 12;
    std::string nan;
    put(nan, std::numeric_limits<float>::quiet_NaN(), std::endian::little);
    bytes.replace(last_vertex, 4, nan);
    EXPECT_EQ(ply_error(bytes),
              "cup.ply: vertex 3, before byte 209: vertex x = nan (expected a finite number)");
    // a signed length below zero in a list that is skipped
    bytes = "ply\nformat binary_little_endian 1.0\nelement junk 1\nproperty list char int a\n" +
            kTypes + "\xFF";
    EXPECT_NE(ply_error(bytes).find("length of the list = -1 (expected 0 … 4294967295)"),
              std::string::npos)
        << ply_error(bytes);
}

TEST(ParsePly, TruncatedBinaryIsRefusedWithItemAndByteCount) {
    // four vertices of 12 bytes from byte 169, a face of 17 from byte 217
    const std::string bytes = plain_square();
    EXPECT_EQ(ply_error(bytes.substr(0, 190)),
              "cup.ply: the file ends at byte 190 inside vertex 1 (expected 27 more bytes)");
    EXPECT_EQ(ply_error(bytes.substr(0, 217)),
              "cup.ply: the file ends at byte 217 inside face 0 (expected 1 more bytes)");
    EXPECT_EQ(ply_error(bytes.substr(0, 225)),
              "cup.ply: the file ends at byte 225 inside face 0 (expected 9 more bytes)");
}

TEST(ParsePly, TruncationAtEveryByteIsRefused) {
    for (const std::string& bytes : {plain_square(), rich_square(std::endian::little),
                                     rich_square(std::endian::big), kAscii + "4 0 1 2 3"}) {
        ASSERT_EQ(ply_error(bytes), "");
        for (std::size_t n = 0; n < bytes.size(); ++n) {
            EXPECT_NE(ply_error(bytes.substr(0, n)), "") << n;
        }
    }
}

TEST(ParsePly, PointCloudIsRefused) {
    EXPECT_EQ(ply_error(replaced(kAscii, "element face 1", "element face 0")),
              "cup.ply: the file holds no faces");
}

}  // namespace
}  // namespace pliant
