#include "pliant/geometry/simulation_mesh.h"

#include "pliant/core/error.h"
#include "pliant/geometry/graded_mesh.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/geometry/selection.h"
#include "pliant/geometry/tet_mesh.h"
#include "pliant/geometry/voxel_mesh.h"

namespace pliant {
namespace {

/// Rays across a cut cell: walls along the axes are found to a 64th of a cell.
constexpr int kSamplesPerAxis = 8;

std::string elements_text(const VolumeMesh& mesh) {
    return std::to_string(mesh.num_elements()) +
           (mesh.kind == ElementKind::Tet4 ? " tetrahedra" : " hexahedra");
}

/// `build` is the function in Python that takes the mesh itself, to the parenthesis, and `remedy`
/// what it does. Empty for a file of a surface.
std::string note_of_refilling(const std::filesystem::path& surface_file, const std::string& filled,
                              const std::string& build, const std::string& remedy) {
    if (surface_file.empty() || !is_volume_file(surface_file)) return "";
    const std::string name = surface_file.filename().string();
    return name + ": its own " + elements_text(load_volume(surface_file)) +
           " are not used: its boundary was filled anew with " + filled +
           ". Kind and resolution of the mesh say with what; Python's " + build + "load_volume(\"" +
           name + "\"))" + remedy;
}

}  // namespace

void check_options(const SimulationMeshOptions& options) {
    const bool is_tet = options.kind == "tet", is_voxel = options.kind == "voxel";
    const bool is_graded = options.kind == "graded" || options.kind == "graded-tet";
    if (!is_tet && !is_voxel && !is_graded)
        throw InputError("", "kind", options.kind, "voxel, graded, tet or graded-tet");
    if (options.is_hollow && !is_voxel) throw InputError("", "hollow works with voxel meshes only");
    const std::string resolution = std::to_string(options.resolution);
    const int lowest = is_tet ? 4 : 2;
    const int highest = is_tet || options.kind == "graded-tet" ? 512 : 1024;
    if (options.resolution < lowest || options.resolution > highest)
        throw InputError(
            "", "resolution", resolution,
            std::to_string(lowest) + " to " + std::to_string(highest) + " for " + options.kind);
    if (!is_graded) return;
    if (options.levels < 0 || options.levels > 8)
        throw InputError("", "levels", std::to_string(options.levels), "0 to 8");
    if ((1 << options.levels) > options.resolution)
        throw InputError("", "levels", std::to_string(options.levels),
                         "2^levels at most the resolution of " + resolution);
}

VolumeMesh build_simulation_mesh(const SurfaceQuery& surface, const SimulationMeshOptions& options,
                                 Progress& progress) {
    check_options(options);
    if (options.kind == "voxel")
        return build_voxel_mesh(
            surface,
            {.resolution = options.resolution,
             .is_hollow = options.is_hollow,
             .samples_per_axis = kSamplesPerAxis},
            progress);
    if (options.kind == "graded")
        return build_graded_mesh(surface,
                                 {.resolution = options.resolution,
                                  .growth = options.growth,
                                  .max_levels = options.levels,
                                  .samples_per_axis = kSamplesPerAxis},
                                 progress);
    if (options.kind == "tet")
        return build_tet_mesh(surface, {.resolution = options.resolution}, progress);
    return build_graded_tets(
        surface,
        {.growth = options.growth, .resolution = options.resolution, .max_levels = options.levels},
        progress);
}

std::string refilling_note(const std::filesystem::path& surface_file, const VolumeMesh& filled) {
    return note_of_refilling(surface_file, elements_text(filled), "build_fem(",
                             " and FemBody in C++ simulate the elements of the file as they are");
}

std::string refilling_note_of_greens(const std::filesystem::path& surface_file,
                                     const SimulationMeshOptions& filled) {
    const bool is_tet = filled.kind == "tet" || filled.kind == "graded-tet";
    return note_of_refilling(surface_file,
                             std::string(is_tet ? "tetrahedra" : "hexahedra") + ", kind \"" +
                                 filled.kind + "\" of resolution " +
                                 std::to_string(filled.resolution),
                             "build_greens(",
                             " takes the elements of the file as they are, and a scene the file "
                             "that it is saved in");
}

std::vector<int> select_elements(const std::string& selection, const VolumeMesh& mesh,
                                 const std::string& option) {
    std::vector<Eigen::Vector3d> centres;
    for (int e = 0; e < mesh.num_elements(); ++e) {
        Eigen::Vector3d sum = Eigen::Vector3d::Zero();
        for (const int v : mesh.element(e)) sum += mesh.vertices[static_cast<std::size_t>(v)];
        centres.push_back(sum / nodes_per_element(mesh.kind));
    }
    return select_some(selection, centres, option, {"element", "elements"});
}

}  // namespace pliant
