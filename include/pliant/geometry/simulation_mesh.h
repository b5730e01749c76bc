#pragma once

#include "pliant/core/progress.h"
#include "pliant/geometry/surface_query.h"
#include "pliant/geometry/volume_mesh.h"

#include <filesystem>
#include <string>
#include <vector>

namespace pliant {

/// Which mesher fills a surface, by name, with the options that all meshers share.
struct SimulationMeshOptions {
    std::string kind = "voxel";  ///< voxel, graded, tet or graded-tet
    int resolution = 64;         ///< cells along the longest side, as the mesher counts them
    bool is_hollow = false;      ///< voxel only: just the cells that meet the surface
    double growth = 0.5;         ///< graded kinds: cell size over depth
    int levels = 4;              ///< graded kinds: sizes of cells, each twice the one before
};

/// Throws InputError for a kind or number that no mesher takes, before any work.
void check_options(const SimulationMeshOptions& options);
/// By build_voxel_mesh, build_graded_mesh, build_tet_mesh or build_graded_tets.
[[nodiscard]] VolumeMesh build_simulation_mesh(const SurfaceQuery& surface,
                                               const SimulationMeshOptions& options,
                                               Progress& progress = Progress::none());

/// One sentence where a surface that was filled with elements is the boundary of somebody's own
/// volume mesh, whose elements are lost: both numbers, and what keeps them. Empty: `surface_file`
/// holds a surface.
[[nodiscard]] std::string refilling_note(const std::filesystem::path& surface_file,
                                         const VolumeMesh& filled);
/// The same of a body with Green's functions, which keeps no elements: with what it was filled.
[[nodiscard]] std::string refilling_note_of_greens(const std::filesystem::path& surface_file,
                                                   const SimulationMeshOptions& filled);

/// Elements whose centre is selected, ascending; errors as those of select_some.
[[nodiscard]] std::vector<int> select_elements(const std::string& selection, const VolumeMesh& mesh,
                                               const std::string& option);

}  // namespace pliant
