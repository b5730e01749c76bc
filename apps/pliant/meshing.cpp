#include "meshing.h"

#include <chrono>

namespace pliant::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

MeshResult make_simulation_mesh(const SurfaceQuery& surface, const SimulationMeshOptions& options,
                                Progress& progress) {
    const auto start = Clock::now();
    VolumeMesh mesh = build_simulation_mesh(surface, options, progress);
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
