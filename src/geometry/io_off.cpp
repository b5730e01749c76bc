#include "geometry/io_surface.h"
#include "geometry/text_scanner.h"
#include "pliant/geometry/mesh_io.h"

namespace pliant {
namespace {

constexpr std::size_t kShortestVertex = 6;  // "0 0 0\n"
constexpr std::size_t kShortestFace = 8;    // "3 0 0 0\n"

// Reads the keyword; true when vertex lines carry colours or normals behind the position.
bool read_keyword(TextScanner& scanner) {
    const std::string_view keyword = scanner.token("the keyword OFF");
    const bool has_extras = keyword == "COFF" || keyword == "NOFF" || keyword == "CNOFF";
    if (keyword != "OFF" && !has_extras) {
        scanner.fail("keyword", keyword, "OFF, COFF, NOFF or CNOFF");
    }
    return has_extras;
}

Eigen::Vector3d read_vertex(TextScanner& scanner, int vertex, bool has_extras) {
    const std::string item = "vertex " + std::to_string(vertex);
    if (!scanner.next_line()) scanner.fail("the file ends before " + item);
    Eigen::Vector3d x;
    for (double& coordinate : x) {
        const std::string_view token = scanner.token_on_line();
        if (token.empty()) scanner.fail(item, "", "three coordinates on one line");
        coordinate = scanner.to_real(token, item);
    }
    const std::string_view extra = scanner.token_on_line();
    if (!extra.empty() && !has_extras) {
        scanner.fail(item + ", fourth value", extra,
                     "three coordinates; colours and normals need the keyword COFF or NOFF");
    }
    return x;
}

void read_face(TextScanner& scanner, int face, int num_vertices, std::vector<int>& corners) {
    if (!scanner.next_line()) scanner.fail("the file ends before face " + std::to_string(face));
    const std::int64_t num_corners =
        scanner.to_integer(scanner.token_on_line(), "corners of the face", 0, kMaxMeshItems);
    if (num_corners < 3) {
        scanner.fail("corners of the face", std::to_string(num_corners), "3 or more");
    }
    corners.clear();
    // what follows the corners is a colour
    for (std::int64_t k = 0; k < num_corners; ++k) {
        const std::string_view token = scanner.token_on_line();
        if (token.empty()) {
            scanner.fail("vertex indices of the face", std::to_string(k),
                         std::to_string(num_corners) + " on this line");
        }
        corners.push_back(static_cast<int>(
            scanner.to_integer(token, "vertex index", 0, std::int64_t{num_vertices} - 1)));
    }
}

}  // namespace

SurfaceMesh parse_off(std::string_view text, const std::string& name) {
    TextScanner scanner(text, name);
    const bool has_extras = read_keyword(scanner);

    // counts, on the keyword's line or the next
    const std::string_view first = scanner.token("the vertex count");
    if (first == "BINARY") scanner.fail("format", first, "ASCII; binary OFF is not read");
    const int num_vertices = scanner.to_count(first, "vertex count", kShortestVertex);
    const int num_faces = scanner.count("face count", kShortestFace, kMaxTriangles);
    scanner.integer("edge count", 0, INT64_MAX);

    SurfaceMesh mesh;
    mesh.vertices.reserve(static_cast<std::size_t>(num_vertices));
    for (int v = 0; v < num_vertices; ++v) {
        mesh.vertices.push_back(read_vertex(scanner, v, has_extras));
    }
    mesh.triangles.reserve(static_cast<std::size_t>(num_faces));
    std::vector<int> corners;
    for (int f = 0; f < num_faces; ++f) {
        read_face(scanner, f, num_vertices, corners);
        add_polygon(mesh, corners, name);
    }
    require_triangles(mesh, name);
    return mesh;
}

}  // namespace pliant
