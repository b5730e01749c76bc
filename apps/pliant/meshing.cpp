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
    if (request.hollow) throw InputError("", "--hollow", "", "--kind voxel");
    if (request.kind == "graded")
        return build_graded_mesh(surface,
                                 {.resolution = request.resolution,
                                  .growth = request.growth,
                                  .max_levels = request.levels},
                                 progress);
    if (request.kind == "tet")
        return build_tet_mesh(surface, {.resolution = request.resolution}, progress);
    if (request.kind == "graded-tet")
        return build_graded_tets(surface,
                                 {.growth = request.growth,
                                  .resolution = request.resolution,
                                  .max_levels = request.levels},
                                 progress);
    throw InputError("", "--kind", request.kind, "voxel, graded, tet or graded-tet");
}

}  // namespace

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
    return {std::move(mesh), std::move(embedding), mesh_seconds, embed_seconds};
}

}  // namespace pliant::cli
