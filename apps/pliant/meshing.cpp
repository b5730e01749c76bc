#include "meshing.h"

#include <chrono>

#include "pliant/core/error.h"
#include "pliant/geometry/graded_mesh.h"
#include "pliant/geometry/tet_mesh.h"
#include "pliant/geometry/voxel_mesh.h"

namespace pliant::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

VolumeMesh build(const SurfaceQuery& surface, const MeshRequest& request, Progress& progress) {
    if (request.kind == "voxel")
        return build_voxel_mesh(
            surface, {.resolution = request.resolution, .solid = !request.hollow}, progress);
    if (request.kind == "graded")
        return build_graded_mesh(surface,
                                 {.resolution = request.resolution,
                                  .growth = request.growth,
                                  .max_levels = request.levels},
                                 progress);
    if (request.kind == "tet")
        return build_tet_mesh(surface, {.resolution = request.resolution}, progress);
    return build_graded_tets(
        surface,
        {.growth = request.growth, .resolution = request.resolution, .max_levels = request.levels},
        progress);
}

}  // namespace

void check(const MeshRequest& request) {
    const bool is_tet = request.kind == "tet", is_voxel = request.kind == "voxel";
    const bool is_graded = request.kind == "graded" || request.kind == "graded-tet";
    if (!is_tet && !is_voxel && !is_graded)
        throw InputError("", "--kind", request.kind, "voxel, graded, tet or graded-tet");
    if (request.hollow && !is_voxel) throw InputError("", "--hollow works with --kind voxel only");
    const std::string resolution = std::to_string(request.resolution);
    if (is_tet && (request.resolution < 4 || request.resolution > 512))
        throw InputError("", "--resolution", resolution, "4 to 512 for --kind tet");
    if (is_graded && (1 << request.levels) > request.resolution)
        throw InputError("", "--levels", std::to_string(request.levels),
                         "2^levels at most the resolution of " + resolution);
}

MeshResult make_simulation_mesh(const SurfaceQuery& surface, const MeshRequest& request,
                                Progress& progress) {
    const auto start = Clock::now();
    VolumeMesh mesh = build(surface, request, progress);
    const double mesh_seconds = seconds_since(start);

    progress.stage("embedding surface");
    const auto embed_start = Clock::now();
    Embedding embedding(mesh, surface.mesh().vertices);
    const double embed_seconds = seconds_since(embed_start);
    progress.finish();
    if (progress.is_cancelled()) throw Cancelled();
    return {std::move(mesh), std::move(embedding), mesh_seconds, embed_seconds};
}

}  // namespace pliant::cli
