#pragma once

#include <string>

#include "pliant/core/progress.h"
#include "pliant/geometry/surface_mesh.h"

namespace pliant::cli {

class Arguments;

struct BuildInput {
    SurfaceMesh surface;
    std::string hash;  ///< of the file; of a built-in shape, of its vertices and triangles
};
/// A file, or a built-in shape by its name.
[[nodiscard]] BuildInput load_build_input(const std::string& name, Progress& progress);

/// `pliant build --kind field` and `--kind pointshell`.
int build_field_file(const Arguments& arguments);
int build_pointshell_file(const Arguments& arguments);

}  // namespace pliant::cli
