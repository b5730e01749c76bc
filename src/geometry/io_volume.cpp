#include "geometry/io_volume.h"

#include "geometry/file_extension.h"
#include "pliant/core/archive.h"
#include "pliant/core/error.h"
#include "pliant/geometry/mesh_archive.h"
#include "pliant/geometry/mesh_io.h"

#include <algorithm>
#include <cassert>
#include <cctype>

namespace pliant {
namespace {

constexpr std::string_view kArchiveKind = "volume-mesh";

std::string in_capitals(std::string text) {
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

// Either of the two files may be named. The other may have its extension in the other case.
VolumeMesh load_tetgen(const std::filesystem::path& path) {
    const bool is_node = lower_extension(path) == ".node";
    std::filesystem::path other = tetgen_partner(path), turned = other;
    const std::string lower = lower_extension(other);
    turned.replace_extension(other.extension() == lower ? in_capitals(lower) : lower);
    std::error_code ignored;
    if (!exists(other, ignored) && exists(turned, ignored)) other = turned;
    const std::filesystem::path &node_path = is_node ? path : other,
                                &ele_path = is_node ? other : path;
    const std::string nodes = read_file(node_path);
    const std::string tetrahedra = read_file(ele_path);
    return parse_tetgen(nodes, node_path.string(), tetrahedra, ele_path.string());
}

VolumeMesh load_archive(const std::filesystem::path& path) {
    const Archive archive = Archive::verified(path);
    archive.require_kind(std::string(kArchiveKind));
    return read_volume_mesh(archive, path.string());
}

void save_archive(const VolumeMesh& mesh, const std::filesystem::path& path) {
    ArchiveWriter writer{std::string(kArchiveKind)};
    const VolumeMeshChunks chunks = add_volume_mesh(writer, mesh);
    writer.save(path);
}

}  // namespace

void set_regions(VolumeMesh& mesh, const std::vector<double>& labels,
                 const std::map<double, std::string>& names) {
    assert(labels.size() == static_cast<std::size_t>(mesh.num_elements()));
    // number the labels in ascending order
    std::map<double, int> region_of_label;
    for (const auto& [label, name] : names) region_of_label.emplace(label, 0);
    for (const double label : labels) region_of_label.emplace(label, 0);
    int count = 0;
    bool counts_from_0 = true, counts_from_1 = true;
    for (auto& [label, region] : region_of_label) {
        counts_from_0 = counts_from_0 && label == count;
        counts_from_1 = counts_from_1 && label == count + 1;
        region = count++;
    }

    mesh.regions.clear();
    if (count > 1) {
        mesh.regions.reserve(labels.size());
        for (const double label : labels) mesh.regions.push_back(region_of_label.at(label));
    }

    // a number that says no more than the order needs no name
    mesh.region_names.clear();
    if (names.empty() && (counts_from_0 || counts_from_1 || count == 1)) return;
    for (const auto& [label, region] : region_of_label) {
        const auto name = names.find(label);
        mesh.region_names.push_back(name == names.end() ? number_text(label) : name->second);
    }
}

int num_regions(const VolumeMesh& mesh) {
    int count = std::max(1, static_cast<int>(mesh.region_names.size()));
    for (const int region : mesh.regions) {
        assert(region >= 0);
        count = std::max(count, region + 1);
    }
    return count;
}

std::string_view take_column(TextScanner& scanner, std::string_view what) {
    const std::string_view token = scanner.token_on_line();
    if (token.empty()) scanner.fail("the line ends before the " + std::string(what));
    return token;
}

void begin_numbered_row(TextScanner& scanner, std::string_view what, int row, int& first) {
    if (!scanner.next_line()) {
        scanner.fail("the file ends before " + std::string(what) + " " + std::to_string(row + 1));
    }
    const std::string field = std::string(what) + " number";
    const std::string_view token = take_column(scanner, field);
    if (row == 0) first = static_cast<int>(scanner.to_integer(token, field, 0, 1));
    const std::int64_t expected = std::int64_t{row} + first;
    if (scanner.to_integer(token, field, 0, kMaxMeshItems + 1) != expected) {
        scanner.fail(field, token, std::to_string(expected) + ", one more than the row before");
    }
}

void check_writable(const VolumeMesh& mesh, const std::filesystem::path& path) {
    assert(mesh.regions.empty() ||
           mesh.regions.size() == static_cast<std::size_t>(mesh.num_elements()));
    if (mesh.elements.empty()) throw InputError(path.string(), "the mesh to save has no elements");
    for (int v = 0; v < mesh.num_vertices(); ++v) {
        if (!mesh.vertices[static_cast<std::size_t>(v)].allFinite()) {
            throw InputError(path.string(),
                             "vertex " + std::to_string(v) + " of the mesh to save is not finite");
        }
    }
}

void write_numbers(AtomicFile& file, const Eigen::Vector3d& x) {
    for (const double coordinate : x) file.write(" " + number_text(coordinate));
}

void write_numbers(AtomicFile& file, std::span<const int> vertices, int first) {
    for (const int vertex : vertices) file.write(" " + number_text(vertex + first));
}

bool is_volume_file(const std::filesystem::path& path) {
    const std::string extension = lower_extension(path);
    return extension == ".msh" || extension == ".veg" || extension == ".mesh" ||
           extension == ".node" || extension == ".ele" || extension == ".pliant";
}

std::filesystem::path tetgen_partner(const std::filesystem::path& path) {
    const std::string extension = lower_extension(path) == ".node" ? ".ele" : ".node";
    const std::string own = path.extension().string();
    const bool is_upper = own.size() > 1 && own[1] >= 'A' && own[1] <= 'Z';
    return std::filesystem::path(path).replace_extension(is_upper ? in_capitals(extension)
                                                                  : extension);
}

VolumeMesh load_volume(const std::filesystem::path& path) {
    const std::string extension = lower_extension(path), name = path.string();
    if (extension == ".msh") return parse_msh(read_file(path), name);
    if (extension == ".veg") return parse_veg(read_file(path), name);
    if (extension == ".mesh") return parse_medit(read_file(path), name);
    if (extension == ".node" || extension == ".ele") return load_tetgen(path);
    if (extension == ".pliant") return load_archive(path);
    throw InputError(name, "file extension", printable(path.extension().string()),
                     ".msh, .veg, .mesh, .node, .ele or .pliant");
}

void save_volume(const VolumeMesh& mesh, const std::filesystem::path& path) {
    const std::string extension = lower_extension(path);
    check_writable(mesh, path);
    if (extension == ".msh") return save_msh(mesh, path, MshVersion::V41);
    if (extension == ".veg") return save_veg(mesh, path);
    if (extension == ".mesh") return save_medit(mesh, path);
    if (extension == ".node" || extension == ".ele") return save_tetgen(mesh, path);
    if (extension == ".vtu") return save_vtu(mesh, path);
    if (extension == ".pliant") return save_archive(mesh, path);
    throw InputError(path.string(), "file extension", printable(path.extension().string()),
                     ".msh, .veg, .mesh, .node, .ele, .vtu or .pliant");
}

}  // namespace pliant
