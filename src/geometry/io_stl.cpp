#include "geometry/byte_reader.h"
#include "geometry/io_surface.h"
#include "geometry/text_scanner.h"
#include "pliant/geometry/mesh_io.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace pliant {
namespace {

constexpr std::size_t kHeaderSize = 80;
constexpr std::size_t kFacetSize = 50;  // normal, three corners, two attribute bytes

bool equal_ignoring_case(std::string_view a, std::string_view lower) {
    return std::equal(a.begin(), a.end(), lower.begin(), lower.end(), [](char x, char y) {
        return std::tolower(static_cast<unsigned char>(x)) == y;
    });
}

// The size decides first, since binary headers may begin with "solid" too. Then a zero byte near
// the start gives away a binary file of the wrong size: its facet count alone has one.
bool is_ascii(std::string_view bytes) {
    if (bytes.size() >= kHeaderSize + 4) {
        ByteReader reader(bytes, "", std::endian::little, kHeaderSize);
        const std::uint64_t count = reader.read<std::uint32_t>();
        if (reader.remaining() == count * kFacetSize) return false;
    }
    TextScanner scanner(bytes, "", TextScanner::kNoComment);
    std::string_view first;
    return scanner.next_token(first) && equal_ignoring_case(first, "solid") &&
           bytes.substr(0, 512).find('\0') == std::string_view::npos;
}

// Gives corners with equal coordinates one vertex, numbered in order of appearance. Sorting, unlike
// hashing, keeps its speed whatever the file holds.
SurfaceMesh weld(const std::vector<Eigen::Vector3d>& corners) {
    std::vector<int> order(corners.size());
    std::iota(order.begin(), order.end(), 0);
    const auto at = [&](int c) -> const Eigen::Vector3d& {
        return corners[static_cast<std::size_t>(c)];
    };
    std::sort(order.begin(), order.end(), [&](int a, int b) {
        for (int axis = 0; axis < 3; ++axis) {
            if (at(a)[axis] != at(b)[axis]) return at(a)[axis] < at(b)[axis];
        }
        return a < b;
    });

    // the first corner at each place stands for the others
    std::vector<int> representative(corners.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
        const bool same = k > 0 && at(order[k]) == at(order[k - 1]);
        representative[static_cast<std::size_t>(order[k])] =
            same ? representative[static_cast<std::size_t>(order[k - 1])] : order[k];
    }

    SurfaceMesh mesh;
    mesh.triangles.resize(corners.size() / 3);
    std::vector<int> vertex_of(corners.size());  // set for representatives
    for (std::size_t c = 0; c < corners.size(); ++c) {
        const auto first = static_cast<std::size_t>(representative[c]);
        if (first == c) {
            vertex_of[c] = mesh.num_vertices();
            mesh.vertices.push_back(corners[c]);
        }
        mesh.triangles[c / 3][c % 3] = vertex_of[first];
    }
    return mesh;
}

std::vector<Eigen::Vector3d> read_binary(std::string_view bytes, const std::string& name) {
    ByteReader reader(bytes, name);
    reader.skip(kHeaderSize);
    const std::uint64_t count = reader.read<std::uint32_t>();
    if (count > static_cast<std::uint64_t>(kMaxTriangles)) {
        reader.fail("triangle count", std::to_string(count),
                    "at most " + std::to_string(kMaxTriangles));
    }
    const std::uint64_t room = reader.remaining() / kFacetSize;
    reader.begin_item("triangle", static_cast<std::int64_t>(room));
    reader.require(count * kFacetSize);
    // some programs append a few bytes, but whole facets beyond the count are a mistake
    if (count < room) {
        reader.begin_item("the header");
        reader.fail(
            "triangle count", std::to_string(count),
            std::to_string(room) + " in a file of " + std::to_string(bytes.size()) + " bytes");
    }

    std::vector<Eigen::Vector3d> corners(3 * count);
    for (std::size_t c = 0; c < corners.size(); ++c) {
        reader.begin_item("triangle", static_cast<std::int64_t>(c / 3));
        if (c % 3 == 0) reader.skip(12);  // the normal follows from the corners
        for (double& coordinate : corners[c]) coordinate = reader.real<float>("coordinate");
        if (c % 3 == 2) reader.skip(2);
    }
    return corners;
}

void expect(TextScanner& scanner, std::string_view keyword) {
    const std::string_view token = scanner.token(keyword);
    if (!equal_ignoring_case(token, keyword)) scanner.fail("keyword", token, keyword);
}

std::vector<Eigen::Vector3d> read_ascii(std::string_view text, const std::string& name) {
    TextScanner scanner(text, name, TextScanner::kNoComment);
    std::vector<Eigen::Vector3d> corners;
    while (scanner.next_line()) {
        expect(scanner, "solid");
        scanner.rest_of_line();  // its name
        for (;;) {
            const std::string_view keyword = scanner.token("endsolid");
            if (equal_ignoring_case(keyword, "endsolid")) break;
            if (!equal_ignoring_case(keyword, "facet")) {
                scanner.fail("keyword", keyword, "facet or endsolid");
            }
            if (corners.size() / 3 >= static_cast<std::size_t>(kMaxTriangles)) {
                scanner.fail("the surface has more than " + std::to_string(kMaxTriangles) +
                             " triangles");
            }
            // the normal follows from the corners; degenerate facets often have nan here
            expect(scanner, "normal");
            for (int k = 0; k < 3; ++k) scanner.token("the facet's normal");
            expect(scanner, "outer");
            expect(scanner, "loop");
            for (int k = 0; k < 3; ++k) {
                expect(scanner, "vertex");
                const double x = scanner.real("vertex x");
                const double y = scanner.real("vertex y");
                const double z = scanner.real("vertex z");
                corners.emplace_back(x, y, z);
            }
            expect(scanner, "endloop");
            expect(scanner, "endfacet");
        }
    }
    return corners;
}

}  // namespace

SurfaceMesh parse_stl(std::string_view bytes, const std::string& name) {
    SurfaceMesh mesh = weld(is_ascii(bytes) ? read_ascii(bytes, name) : read_binary(bytes, name));
    require_triangles(mesh, name);
    return mesh;
}

void write_stl(const SurfaceMesh& mesh, AtomicFile& file) {
    std::string header = "Pliant, binary STL";
    header.resize(kHeaderSize, ' ');
    file.write(header);
    write_little_endian(file, static_cast<std::uint32_t>(mesh.num_triangles()));
    const std::vector<Eigen::Vector3d> normals = face_normals(mesh);
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const auto write_vector = [&](const Eigen::Vector3d& v) {
            for (const double value : v) write_little_endian(file, static_cast<float>(value));
        };
        write_vector(normals[static_cast<std::size_t>(t)]);
        for (int k = 0; k < 3; ++k) write_vector(mesh.corner(t, k));
        write_little_endian(file, std::uint16_t{0});
    }
}

}  // namespace pliant
