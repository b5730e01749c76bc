#pragma once

#include <string>
#include <vector>

#include "pliant/core/progress.h"
#include "pliant/fem/material.h"
#include "pliant/geometry/surface_mesh.h"
#include "pliant/reduction/build_reduced.h"

namespace pliant::cli {

class Arguments;

/// Throws InputError unless this is a file or a built-in shape, before questions about options.
void check_input_name(const std::string& name);
struct BuildInput {
    SurfaceMesh surface;
    std::string hash;  ///< of the file; of a built-in shape, of its vertices and triangles
};
/// A file, or a built-in shape by its name.
[[nodiscard]] BuildInput load_build_input(const std::string& name, Progress& progress);

/// A preset, whose constants --young, --poisson and --density replace, or `custom` with all three.
struct MaterialChoice {
    Material preset;
    bool has_constants;  ///< those below are not the preset's
    double youngs_modulus, poisson_ratio, density;
};
[[nodiscard]] MaterialChoice parse_material_choice(const Arguments& arguments, Law law);
/// Of --region MATERIAL=SELECTION.
[[nodiscard]] std::vector<MaterialRegion> parse_regions(const Arguments& arguments, Law law);

/// `pliant build --kind field`, `--kind pointshell`, `--kind greens` and `--kind particles`.
int build_field_file(const Arguments& arguments);
int build_pointshell_file(const Arguments& arguments);
int build_greens_file(const Arguments& arguments);
int build_particles_file(const Arguments& arguments);

}  // namespace pliant::cli
