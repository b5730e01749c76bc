#include <cstdio>
#include <filesystem>

#include "commands.h"
#include "meshing.h"
#include "output.h"
#include "pliant/core/error.h"
#include "pliant/core/json_writer.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/geometry/picture.h"
#include "pliant/geometry/shapes.h"

namespace pliant::cli {
namespace {

int run(const Arguments& arguments) {
    const std::filesystem::path folder = arguments.text("-o", "demo-output");
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure) throw InputError(folder.string(), "cannot be created: " + failure.message());

    // the model
    Progress progress(progress_style(arguments));
    const SurfaceMesh bridge = make_shape("bridge", 0, progress);
    progress.finish();
    save_surface(bridge, folder / "bridge.ply");
    const ShapeInfo& view = shape_info("bridge");
    save_png(
        render(
            bridge,
            {.width = 1200, .height = 600, .azimuth = view.azimuth, .elevation = view.elevation}),
        folder / "bridge.png");
    if (!arguments.json())
        std::printf("bridge: %s vertices, %s triangles, %.0f m long\n",
                    grouped(bridge.num_vertices()).c_str(), grouped(bridge.num_triangles()).c_str(),
                    shape_info("bridge").size);

    // one simulation mesh of each kind; the bridge is thin: graded and tet meshes need the finer
    // lattice
    const SurfaceQuery surface(bridge);
    JsonWriter json;
    json.begin_object().member("folder", folder.string()).key("meshes").begin_array();
    Table table({"mesh", "elements", "vertices", "hanging", "volume m³", "weighted m³", "build s",
                 "embed s", "file"});
    const SimulationMeshOptions requests[] = {
        {.kind = "voxel", .resolution = 128, .hollow = true},
        {.kind = "voxel", .resolution = 128},
        {.kind = "graded", .resolution = 256, .growth = 1.5, .levels = 3},
        {.kind = "tet", .resolution = 256}};
    for (const SimulationMeshOptions& request : requests) {
        const MeshResult result = make_simulation_mesh(surface, request, progress);
        const VolumeMesh& mesh = result.mesh;
        const std::string label = request.kind + (request.hollow ? "-hollow" : "");
        const std::filesystem::path file = folder / ("bridge-" + label + ".vtu");
        save_volume(mesh, file);
        table.add({label + " " + std::to_string(request.resolution), grouped(mesh.num_elements()),
                   grouped(mesh.num_vertices()),
                   grouped(static_cast<std::int64_t>(mesh.hanging.size())),
                   format("%.4g", total_volume(mesh)), format("%.4g", total_volume(mesh, true)),
                   format("%.2f", result.mesh_seconds), format("%.2f", result.embed_seconds),
                   file.string()});
        json.begin_object()
            .member("mesh", label)
            .member("resolution", request.resolution)
            .member("num_elements", mesh.num_elements())
            .member("num_vertices", mesh.num_vertices())
            .member("num_hanging", static_cast<int>(mesh.hanging.size()))
            .member("volume_m3", total_volume(mesh))
            .member("weighted_volume_m3", total_volume(mesh, true))
            .member("mesh_s", result.mesh_seconds)
            .member("file", file.string())
            .end_object();
    }
    if (arguments.json()) {
        std::printf("%s\n", json.end_array().end_object().text().c_str());
        return 0;
    }
    table.print();
    std::printf("Open %s in MeshLab, the .vtu files in ParaView, %s in any viewer.\n",
                (folder / "bridge.ply").string().c_str(), (folder / "bridge.png").string().c_str());
    return 0;
}

}  // namespace

Command demo_command() {
    return {.name = "demo",
            .summary = "Makes the suspension bridge and its simulation meshes, with statistics.",
            .operands = "",
            .example = "pliant demo -o demo-output",
            .min_operands = 0,
            .max_operands = 0,
            .options = {{"-o", "FOLDER", "where the files go (default demo-output)"}},
            .run = run};
}

}  // namespace pliant::cli
