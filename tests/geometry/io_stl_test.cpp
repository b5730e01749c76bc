#include "input_error.h"
#include "pliant/geometry/mesh_io.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

namespace pliant {
namespace {

std::string stl_error(const std::string& bytes) {
    return test::input_error([&] { (void)parse_stl(bytes, "cup.stl"); });
}

void put(std::string& bytes, std::uint32_t value) {
    for (int k = 0; k < 4; ++k) bytes += static_cast<char>((value >> (8 * k)) & 255u);
}

using Facet = std::array<float, 9>;
const std::vector<Facet> kStlSquare = {{0, 0, 0, 1, 0, 0, 1, 1, 0}, {0, 0, 0, 1, 1, 0, 0, 1, 0}};

std::string binary_stl(const std::vector<Facet>& facets, std::uint32_t count,
                       std::string header = "test") {
    header.resize(80, ' ');
    put(header, count);
    for (const Facet& facet : facets) {
        header += std::string(12, '\0');
        for (const float value : facet) put(header, std::bit_cast<std::uint32_t>(value));
        header += std::string(2, '\0');
    }
    return header;
}

std::string ascii_stl(const std::vector<Facet>& facets) {
    std::string text = "solid cup #1\n";
    for (const Facet& f : facets) {
        text += "  facet normal 0 0 nan\n    outer loop\n";
        for (std::size_t k = 0; k < 9; k += 3) {
            text += "      vertex " + std::to_string(f[k]) + " " + std::to_string(f[k + 1]) + " " +
                    std::to_string(f[k + 2]) + "\n";
        }
        text += "    endloop\n  endfacet\n";
    }
    return text + "endsolid cup #1\n";
}

void expect_square(const SurfaceMesh& mesh) {
    ASSERT_EQ(mesh.num_vertices(), 4);
    EXPECT_EQ(mesh.vertices[2], Eigen::Vector3d(1, 1, 0));
    EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}}));
}

TEST(ParseStl, EqualCornersBecomeOneVertexInOrderOfAppearance) {
    expect_square(parse_stl(binary_stl(kStlSquare, 2), "cup.stl"));
    expect_square(parse_stl(ascii_stl(kStlSquare), "cup.stl"));
}

TEST(ParseStl, NegativeZeroIsZero) {
    const auto mesh = parse_stl(
        binary_stl({{0, 0, 0, 1, 0, 0, 1, 1, 0}, {-0.0f, 0, -0.0f, 1, 1, -0.0f, 0, 1, 0}}, 2),
        "cup.stl");
    expect_square(mesh);
}

TEST(ParseStl, CornersOneBitApartStayApart) {
    const float next = std::nextafter(1.0f, 2.0f);
    const auto mesh = parse_stl(
        binary_stl({{0, 0, 0, 1, 0, 0, 1, 1, 0}, {0, 0, 0, 1, next, 0, 0, 1, 0}}, 2), "cup.stl");
    EXPECT_EQ(mesh.num_vertices(), 5);
}

TEST(ParseStl, BinaryFileThatStartsWithSolidIsRecognised) {
    expect_square(parse_stl(binary_stl(kStlSquare, 2, "solid cup\nfacet normal"), "cup.stl"));
    // even when its size is wrong, and the message speaks of bytes
    std::string bytes = binary_stl(kStlSquare, 2, "solid cup");
    bytes.resize(bytes.size() - 10);
    EXPECT_EQ(stl_error(bytes),
              "cup.stl: the file ends at byte 174 inside triangle 1 (expected 10 more bytes)");
}

TEST(ParseStl, DegenerateFacetsAreKept) {
    const auto mesh =
        parse_stl(binary_stl({{0, 0, 0, 0, 0, 0, 1, 1, 1}, kStlSquare[0]}, 2), "cup.stl");
    EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 0, 1}, {0, 2, 3}}));
}

TEST(ParseStl, AsciiToleratesCaseLineEndsAndSeveralSolids) {
    std::string text = ascii_stl(kStlSquare) + ascii_stl({kStlSquare[0]});
    for (char& c : text) c = static_cast<char>(std::toupper(c));
    std::string windows;
    for (const char c : text) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
    EXPECT_EQ(parse_stl(windows, "cup.stl").triangles,
              (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}, {0, 1, 2}}));
}

TEST(ParseStl, MalformedAsciiIsRefusedWithItsLine) {
    const std::string text = ascii_stl(kStlSquare);
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string changed = text;
        changed.replace(changed.find(from), from.size(), to);
        return stl_error(changed);
    };
    EXPECT_EQ(with("1.000000", "inf"), "cup.stl:5: vertex x = inf (expected a finite number)");
    EXPECT_EQ(with("1.000000", "nan"), "cup.stl:5: vertex x = nan (expected a finite number)");
    EXPECT_EQ(with("endloop", "vertex 0 0 0"), "cup.stl:7: keyword = vertex (expected endloop)");
    EXPECT_EQ(with("facet", "faces"), "cup.stl:2: keyword = faces (expected facet or endsolid)");
    EXPECT_EQ(with("endsolid cup #1\n", ""), "cup.stl:15: the file ends before endsolid");
    EXPECT_EQ(stl_error("solid cup"), "cup.stl:1: the file ends before endsolid");
    EXPECT_EQ(stl_error("solid cup\nendsolid cup"), "cup.stl: the file holds no faces");
}

TEST(ParseStl, TruncatedBinaryIsRefusedWithByteCount) {
    std::string bytes = binary_stl(kStlSquare, 2);
    bytes.resize(120);
    EXPECT_EQ(stl_error(bytes),
              "cup.stl: the file ends at byte 120 inside triangle 0 (expected 64 more bytes)");
    EXPECT_EQ(stl_error("abc"),
              "cup.stl: the file ends at byte 3 inside the header (expected 77 more bytes)");
}

TEST(ParseStl, TruncationAtEveryByteIsRefused) {
    const std::string binary = binary_stl(kStlSquare, 2), ascii = ascii_stl(kStlSquare);
    for (std::size_t n = 0; n < binary.size(); ++n) {
        EXPECT_NE(stl_error(binary.substr(0, n)), "") << n;
    }
    // behind the keyword endsolid only its name is missing
    for (std::size_t n = 0; n < ascii.rfind("endsolid") + 8; ++n) {
        EXPECT_NE(stl_error(ascii.substr(0, n)), "") << n;
    }
}

TEST(ParseStl, CountThatDisagreesWithTheSizeIsRefusedBeforeMemoryIsTaken) {
    EXPECT_EQ(stl_error(binary_stl(kStlSquare, 4000000000u)),
              "cup.stl: the header, before byte 84: triangle count = 4000000000 (expected at most "
              "715827882)");
    EXPECT_EQ(stl_error(binary_stl(kStlSquare, 400000000u)),
              "cup.stl: the file ends at byte 184 inside triangle 2 (expected 19999999900 more "
              "bytes)");
    EXPECT_EQ(stl_error(binary_stl(kStlSquare, 1)),
              "cup.stl: the header, before byte 84: triangle count = 1 (expected 2 in a file of "
              "184 bytes)");
    expect_square(parse_stl(binary_stl(kStlSquare, 2) + "appended", "cup.stl"));
}

TEST(ParseStl, NonFiniteCoordinatesInBinaryAreRefused) {
    EXPECT_EQ(stl_error(binary_stl({kStlSquare[0], {0, 0, 0, 1, std::nanf(""), 0, 0, 1, 0}}, 2)),
              "cup.stl: triangle 1, before byte 166: coordinate = nan (expected a finite number)");
}

}  // namespace
}  // namespace pliant
