#include "geometry/io_surface.h"

#include "geometry/file_extension.h"
#include "geometry/io_volume.h"
#include "geometry/text_scanner.h"
#include "pliant/core/error.h"
#include "pliant/geometry/mesh_io.h"

#include <cmath>
#include <limits>

namespace pliant {
namespace {

struct Reader {
    std::string_view extension;
    SurfaceMesh (*parse)(std::string_view, const std::string&);
};
constexpr Reader kReaders[] = {
    {".obj", parse_obj}, {".ply", parse_ply}, {".stl", parse_stl}, {".off", parse_off}};

const Reader* find_reader(const std::filesystem::path& path) {
    const std::string extension = lower_extension(path);
    for (const Reader& reader : kReaders) {
        if (reader.extension == extension) return &reader;
    }
    return nullptr;
}

// The outer faces of a volume mesh on the vertices they use, in their order.
SurfaceMesh boundary_surface(const VolumeMesh& volume) {
    SurfaceMesh surface;
    surface.triangles = boundary_triangles(volume);
    std::vector<int> number(volume.vertices.size(), -1);
    for (const Triangle& triangle : surface.triangles) {
        for (const int vertex : triangle) number[static_cast<std::size_t>(vertex)] = 0;
    }
    for (std::size_t v = 0; v < number.size(); ++v) {
        if (number[v] < 0) continue;
        number[v] = surface.num_vertices();
        surface.vertices.push_back(volume.vertices[v]);
    }
    for (Triangle& triangle : surface.triangles) {
        for (int& vertex : triangle) vertex = number[static_cast<std::size_t>(vertex)];
    }
    return surface;
}

// No format has room for nan and inf, and STL holds floats.
void check_coordinates(const SurfaceMesh& mesh, const std::filesystem::path& path, double largest) {
    for (int v = 0; v < mesh.num_vertices(); ++v) {
        for (const double coordinate : mesh.vertices[static_cast<std::size_t>(v)]) {
            if (!(std::abs(coordinate) <= largest)) {
                throw InputError(path.string(), "coordinate of vertex " + std::to_string(v),
                                 number_text(coordinate), "a finite number that fits the format");
            }
        }
    }
}

}  // namespace

void add_polygon(SurfaceMesh& mesh, std::span<const int> corners, const std::string& name) {
    for (std::size_t k = 2; k < corners.size(); ++k) {
        mesh.triangles.push_back({corners[0], corners[k - 1], corners[k]});
    }
    if (mesh.triangles.size() > static_cast<std::size_t>(kMaxTriangles)) {
        throw InputError(
            name, "the surface has more than " + std::to_string(kMaxTriangles) + " triangles");
    }
}

void require_triangles(const SurfaceMesh& mesh, const std::string& name) {
    if (mesh.triangles.empty()) throw InputError(name, "the file holds no faces");
}

bool is_surface_file(const std::filesystem::path& path) { return find_reader(path) != nullptr; }

SurfaceMesh load_surface(const std::filesystem::path& path) {
    if (const Reader* reader = find_reader(path)) {
        return reader->parse(read_file(path), path.string());
    }
    if (is_volume_file(path)) return boundary_surface(load_volume(path));
    throw InputError(path.string(), "file extension", printable(path.extension().string()),
                     ".obj, .ply, .stl or .off, or .msh, .veg, .mesh, .node, .ele or .pliant for "
                     "the boundary of a volume mesh");
}

void save_surface(const SurfaceMesh& mesh, const std::filesystem::path& path) {
    const std::string extension = lower_extension(path);
    const bool is_float = extension == ".stl";
    check_coordinates(
        mesh, path,
        is_float ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max());
    if (extension == ".vtu") return save_vtu(mesh, path);  // of points alone too

    void (*write)(const SurfaceMesh&, AtomicFile&) = nullptr;
    if (extension == ".obj") write = write_obj;
    if (extension == ".ply") write = write_ply;
    if (extension == ".stl") write = write_stl;
    if (write == nullptr) {
        throw InputError(path.string(), "file extension", printable(path.extension().string()),
                         ".obj, .ply, .stl or .vtu");
    }
    // no reader would take it
    if (mesh.triangles.empty())
        throw InputError(path.string(), "the mesh to save has no triangles");
    AtomicFile file(path);
    write(mesh, file);
    file.commit();
}

}  // namespace pliant
