#pragma once

#include "pliant/geometry/simulation_mesh.h"

namespace pliant::cli {

class Arguments;

/// Takes --mesh or --kind, --resolution, --hollow, --growth and --levels over `options`, which has
/// the defaults. Throws InputError, with the library's names of options, for what no mesher takes
/// or the chosen one would not read.
void take_mesh_options(const Arguments& arguments, const std::string& kind_option,
                       SimulationMeshOptions& options);
/// The same where --levels are those of the surface: graded meshes take as many as they can.
void take_mesh_options_without_levels(const Arguments& arguments, const std::string& kind_option,
                                      SimulationMeshOptions& options);

}  // namespace pliant::cli
