#pragma once

#include "geometry/text_scanner.h"
#include "pliant/core/atomic_file.h"
#include "pliant/geometry/volume_mesh.h"

#include <charconv>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// Why a file with two kinds of elements is refused, and what to do about it.
inline constexpr std::string_view kMixedElements =
    "the file has both tetrahedra and hexahedra, but a mesh has one kind of element: export only "
    "one kind, or split the hexahedra into tetrahedra";

/// Turns the region labels of a file, one for each element (Gmsh physical groups, Medit references,
/// TetGen attributes), into regions 0 … R − 1 in ascending order of the label. `names` names
/// labels, used by elements or not. A label without a name is called by its number, unless nothing
/// has a name and the labels only count from 0 or 1.
void set_regions(VolumeMesh& mesh, const std::vector<double>& labels,
                 const std::map<double, std::string>& names = {});

/// Regions that elements use or that have a name; at least 1.
[[nodiscard]] int num_regions(const VolumeMesh& mesh);
[[nodiscard]] inline int region_of(const VolumeMesh& mesh, int element) {
    return mesh.regions.empty() ? 0 : mesh.regions[static_cast<std::size_t>(element)];
}
/// The number by which formats without names know a region: 0 means "none" in most of them.
[[nodiscard]] inline int region_label(int region) { return region + 1; }

/// The next value of a line in a text file; refuses the end of the line.
std::string_view take_column(TextScanner& scanner, std::string_view what);
/// Moves to a row and checks the number in its first column: rows count from 0 or 1, which row 0
/// puts into `first`. Refuses gaps, repetitions and the end of the file.
void begin_numbered_row(TextScanner& scanner, std::string_view what, int row, int& first);

/// Refuses a mesh without elements, or with coordinates that are not finite: no reader would take
/// it.
void check_writable(const VolumeMesh& mesh, const std::filesystem::path& path);

/// The shortest text that reads back as the same number.
template <class Number>
[[nodiscard]] std::string number_text(Number value) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// ` x y z`, and ` a b c d` with `first` added to each vertex.
void write_numbers(AtomicFile& file, const Eigen::Vector3d& x);
void write_numbers(AtomicFile& file, std::span<const int> vertices, int first);

// The writers behind save_volume; the mesh is writable.
void save_veg(const VolumeMesh& mesh, const std::filesystem::path& path);
void save_tetgen(const VolumeMesh& mesh, const std::filesystem::path& path);
void save_medit(const VolumeMesh& mesh, const std::filesystem::path& path);

}  // namespace pliant
