#include <cstdio>

#include "commands.h"
#include "output.h"
#include "pliant/core/error.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/geometry/picture.h"
#include "pliant/geometry/surface_check.h"

namespace pliant::cli {
namespace {

void convert_surface(const Arguments& arguments, const std::string& in, const std::string& out) {
    const double size = arguments.real("--size", 0, 1e-6, 1e6);
    SurfaceMesh mesh = load_surface(in);
    if (size > 0) scale_to_size(mesh, size);
    if (arguments.has("--repair")) {
        const RepairReport repair = repair_surface(mesh);
        std::printf("%s\n", repair.changed() ? repair.text().c_str() : "nothing to repair");
    }
    if (out.ends_with(".png"))
        save_png(render(mesh, {.wireframe = arguments.has("--wireframe")}), out);
    else
        save_surface(mesh, out);
    std::printf("wrote %s: %s vertices, %s triangles\n", out.c_str(),
                grouped(mesh.num_vertices()).c_str(), grouped(mesh.num_triangles()).c_str());
}

int run(const Arguments& arguments) {
    const std::string &in = arguments.operands()[0], &out = arguments.operands()[1];
    const bool to_surface = is_surface_file(out) || out.ends_with(".png");
    const bool to_volume = is_volume_file(out) || out.ends_with(".vtu");
    if (!to_surface && !to_volume)
        throw InputError(
            "", "output", out,
            "a name ending in .obj .ply .stl .vtu .msh .veg .mesh .node .ele .pliant or .png");
    // a volume mesh written as a surface gives its boundary; .vtu can hold either
    if (is_volume_file(in) && to_volume) {
        const VolumeMesh mesh = load_volume(in);
        save_volume(mesh, out);
        std::printf("wrote %s: %s vertices, %s elements\n", out.c_str(),
                    grouped(mesh.num_vertices()).c_str(), grouped(mesh.num_elements()).c_str());
        return 0;
    }
    if (!to_surface && !out.ends_with(".vtu"))
        throw InputError("", in + " is a surface and " + out +
                                 " holds volume meshes; make one with: pliant mesh " + in + " -o " +
                                 out);
    convert_surface(arguments, in, out);
    return 0;
}

}  // namespace

Command convert_command() {
    return {.name = "convert",
            .summary = "Converts between mesh files, or draws a mesh as .png.",
            .operands = "IN OUT",
            .example = "pliant convert scan.stl scan.ply --repair",
            .min_operands = 2,
            .max_operands = 2,
            .options = {{"--size", "METRES", "scale the longest side of a surface to this"},
                        {"--repair", "",
                         "surface: weld, drop degenerate and duplicate triangles, orient"},
                        {"--wireframe", "", ".png: draw the edges too"}},
            .run = run};
}

}  // namespace pliant::cli
