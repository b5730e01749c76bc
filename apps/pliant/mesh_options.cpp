#include "mesh_options.h"

#include "arguments.h"
#include "pliant/core/error.h"

namespace pliant::cli {
namespace {

void refuse_unless_graded(const Arguments& arguments, const std::string& option,
                          const std::string& kind_option, const std::string& kind) {
    if (arguments.has(option) && !kind.starts_with("graded"))
        throw InputError("", option + " goes with " + kind_option +
                                 " graded or graded-tet, not with " + kind + "; drop it");
}

}  // namespace

void take_mesh_options_without_levels(const Arguments& arguments, const std::string& kind_option,
                                      SimulationMeshOptions& options) {
    options.kind = arguments.text(kind_option, options.kind);
    options.resolution = arguments.integer("--resolution", options.resolution, 2, 1024);
    options.is_hollow = arguments.has("--hollow");
    options.growth = arguments.real("--growth", options.growth, 0.01, 10);
    while (1 << options.levels > options.resolution) --options.levels;
    check_options(options);
    refuse_unless_graded(arguments, "--growth", kind_option, options.kind);
}

void take_mesh_options(const Arguments& arguments, const std::string& kind_option,
                       SimulationMeshOptions& options) {
    const int levels = arguments.integer("--levels", options.levels, 0, 8);
    take_mesh_options_without_levels(arguments, kind_option, options);
    options.levels = levels;
    check_options(options);
    refuse_unless_graded(arguments, "--levels", kind_option, options.kind);
}

}  // namespace pliant::cli
