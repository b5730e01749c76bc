#include <cstdio>

#include "commands.h"
#include "output.h"
#include "pliant/core/archive.h"
#include "pliant/core/error.h"
#include "pliant/core/json_writer.h"
#include "pliant/field/iso_surface.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/geometry/picture.h"
#include "pliant/geometry/surface_check.h"

namespace pliant::cli {
namespace {

int report(const Arguments& arguments, const std::string& out, int num_vertices,
           const std::string& cell, int num_cells, const std::string& repair) {
    if (arguments.json()) {
        JsonWriter json;
        json.begin_object().member("output", out).member("num_vertices", num_vertices);
        json.member("num_" + cell + "s", num_cells).member("repair", repair).end_object();
        std::printf("%s\n", json.text().c_str());
        return 0;
    }
    if (!repair.empty()) std::printf("%s\n", repair.c_str());
    std::printf("wrote %s: %s, %s\n", written_files(out).c_str(),
                counted(num_vertices, "vertex", "vertices").c_str(),
                counted(num_cells, cell, cell + "s").c_str());
    return 0;
}

bool is_field(const std::string& path) {
    return has_extension(path, ".pliant") && Archive(path).kind() == "distance-field";
}

SurfaceMesh surface_of_field(const Arguments& arguments, const std::string& in) {
    const double level = arguments.real("--level", 0, -1e6, 1e6);
    SurfaceMesh mesh = iso_surface(DistanceGrid::load(in), {.level = level});
    if (mesh.triangles.empty())
        throw InputError("", "--level", format("%g", level), "a distance that " + in + " has");
    return mesh;
}

int convert_surface(const Arguments& arguments, const std::string& in, const std::string& out) {
    const double size = arguments.real("--size", 0, 1e-6, 1e6);
    SurfaceMesh mesh = is_field(in) ? surface_of_field(arguments, in) : load_surface(in);
    std::string repair;
    if (arguments.has("--repair")) {
        repair = repair_surface(mesh).text();
        if (repair.empty()) repair = "nothing to repair";
    }
    if (size > 0) scale_to_size(mesh, size);
    if (arguments.has("--double-faced")) {
        if (is_double_faced(mesh))
            throw InputError("", "--double-faced: " + in + " has two faces already; drop it");
        if (check_surface(mesh).is_closed())
            throw InputError("", "--double-faced is for sheets, and " + in +
                                     " is closed: it has an inside already; drop it");
        mesh = double_faced(mesh);
    }
    if (has_extension(out, ".png"))
        with_option_names({}, in, [&] {
            save_png(render(mesh, {.has_wireframe = arguments.has("--wireframe")}), out);
        });
    else
        save_surface(mesh, out);
    return report(arguments, out, mesh.num_vertices(), "triangle", mesh.num_triangles(), repair);
}

int convert_volume(const Arguments& arguments, const std::string& in, const std::string& out) {
    for (const char* option : {"--size", "--repair", "--wireframe", "--double-faced"})
        if (arguments.has(option))
            throw InputError("", std::string(option) + " is for surfaces, and " + in + " to " +
                                     out + " keeps a volume mesh as it is; drop it");
    const VolumeMesh mesh = load_volume(in);
    const std::string msh = arguments.text("--msh", "4.1");
    if (msh != "4.1" && msh != "2.2") throw InputError("", "--msh", msh, "4.1 or 2.2");
    if (msh == "2.2")
        save_msh(mesh, out, MshVersion::V22);
    else
        save_volume(mesh, out);
    if (!arguments.json() && !has_extension(out, ".pliant") &&
        (!mesh.hanging.empty() || !mesh.filled.empty()))
        std::printf("%-12s this format keeps no hanging nodes and filled fractions; .pliant does\n",
                    "note");
    return report(arguments, out, mesh.num_vertices(), "element", mesh.num_elements(), "");
}

int run_convert(const Arguments& arguments) {
    const std::string &in = arguments.operands()[0], &out = arguments.operands()[1];
    const std::vector<std::string> surface_files{".obj", ".ply", ".stl", ".vtu", ".png"};
    const std::vector<std::string> volume_files{".msh",  ".veg", ".mesh",
                                                ".node", ".ele", ".pliant"};
    std::vector<std::string> all = surface_files;
    all.insert(all.end(), volume_files.begin(), volume_files.end());
    check_output(out, all);
    const bool from_field = is_field(in);
    if (arguments.has("--msh") && !has_extension(out, ".msh"))
        throw InputError("", "--msh is for .msh files, which " + out + " is not; drop it");
    if (arguments.has("--level") && !from_field)
        throw InputError("", "--level is for distance fields, which " + in + " is not; drop it");
    if (from_field && is_volume_file(out))
        throw InputError("", in + " is a distance field and becomes a surface; write .ply, .obj, "
                                  ".stl, .vtu or .png");

    // a volume mesh written as a surface gives its boundary; .vtu can hold either
    const bool to_volume = is_volume_file(out);
    if (is_volume_file(in) && !from_field && (to_volume || has_extension(out, ".vtu")))
        return convert_volume(arguments, in, out);
    if (to_volume)
        throw InputError("", in + " is a surface and " + out +
                                 " holds volume meshes; make one with: pliant mesh " + in + " -o " +
                                 out);
    return convert_surface(arguments, in, out);
}

}  // namespace

Command convert_command() {
    return {.name = "convert",
            .summary =
                "Converts between mesh files, a distance field to its surface, or draws a mesh as "
                ".png.",
            .operands = "IN OUT",
            .example = "pliant convert scan.stl scan.ply --repair",
            .min_operands = 2,
            .max_operands = 2,
            .options = {{"--size", "METRES", "scale the longest side of a surface to this"},
                        {"--repair", "",
                         "surface: weld, drop degenerate and duplicate triangles, orient"},
                        {"--double-faced", "",
                         "sheet: give it a second face, turned over, so that proxies can touch it"},
                        {"--level", "METRES", "distance field: the surface at this distance"},
                        {"--msh", "VERSION", ".msh: of Gmsh, 4.1 (default) or 2.2"},
                        {"--wireframe", "", ".png: draw the edges too"}},
            .run = run_convert};
}

}  // namespace pliant::cli
