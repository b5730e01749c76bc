#pragma once

#include "pliant/geometry/surface_mesh.h"
#include "pliant/geometry/volume_mesh.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// Reads OBJ, PLY, STL or OFF, by extension. Polygons are split into triangle fans; a `.msh`,
/// `.veg`, `.mesh`, `.node`/`.ele` or
/// `.pliant` volume mesh gives its boundary. STL corners with bit-equal coordinates become one
/// vertex. Throws InputError naming file, line or byte, value and what was expected.
[[nodiscard]] SurfaceMesh load_surface(const std::filesystem::path& path);
/// Reads Gmsh `.msh` (2.2 and 4.1, ASCII and binary), Vega `.veg`, TetGen `.node`/`.ele`, Medit
/// `.mesh` or `.pliant`. Element order is kept; a mesh of both tets and hexes is refused.
[[nodiscard]] VolumeMesh load_volume(const std::filesystem::path& path);

/// Writes OBJ, PLY (binary), STL (binary) or `.vtu`, by extension. The file appears whole or not at
/// all. A mesh without triangles is refused, but for `.vtu`.
void save_surface(const SurfaceMesh& mesh, const std::filesystem::path& path);
/// Writes `.msh` 4.1, `.veg`, `.node` + `.ele`, `.mesh`, `.vtu` or `.pliant`, by extension.
void save_volume(const VolumeMesh& mesh, const std::filesystem::path& path);

[[nodiscard]] bool is_surface_file(const std::filesystem::path& path);  ///< by extension
[[nodiscard]] bool is_volume_file(const std::filesystem::path& path);
/// The other file of a TetGen mesh: `a.ele` of `a.node`, `A.NODE` of `A.ELE`.
[[nodiscard]] std::filesystem::path tetgen_partner(const std::filesystem::path& path);

/// Readers from memory: what the functions above and the fuzz targets call. `name` is used in
/// messages.
[[nodiscard]] SurfaceMesh parse_obj(std::string_view text, const std::string& name);
[[nodiscard]] SurfaceMesh parse_ply(std::string_view bytes, const std::string& name);
[[nodiscard]] SurfaceMesh parse_stl(std::string_view bytes, const std::string& name);
[[nodiscard]] SurfaceMesh parse_off(std::string_view text, const std::string& name);
[[nodiscard]] VolumeMesh parse_msh(std::string_view bytes, const std::string& name);
[[nodiscard]] VolumeMesh parse_veg(std::string_view text, const std::string& name);
[[nodiscard]] VolumeMesh parse_tetgen(std::string_view node_text, const std::string& node_name,
                                      std::string_view ele_text, const std::string& ele_name);
[[nodiscard]] VolumeMesh parse_medit(std::string_view text, const std::string& name);

/// Gmsh in a chosen version ("2.2" or "4.1"); `save_volume` uses 4.1 ASCII.
enum class MshVersion { V22, V41 };
void save_msh(const VolumeMesh& mesh, const std::filesystem::path& path, MshVersion version,
              bool is_binary = false);

/// Named values per vertex or element for ParaView; 1 or 3 numbers each.
struct DataArray {
    std::string name;
    int components = 1;
    std::vector<double> values;
};
void save_vtu(const VolumeMesh& mesh, const std::filesystem::path& path,
              const std::vector<DataArray>& point_data = {},
              const std::vector<DataArray>& cell_data = {});
void save_vtu(const SurfaceMesh& mesh, const std::filesystem::path& path,
              const std::vector<DataArray>& point_data = {},
              const std::vector<DataArray>& cell_data = {});

}  // namespace pliant
