#pragma once

#include "pliant/core/progress.h"
#include "pliant/geometry/embedding.h"
#include "pliant/geometry/simulation_mesh.h"

namespace pliant::cli {

struct MeshResult {
    VolumeMesh mesh;
    Embedding embedding;  ///< of all surface vertices
    double mesh_seconds = 0, embed_seconds = 0;
};

[[nodiscard]] MeshResult make_simulation_mesh(const SurfaceQuery& surface,
                                              const SimulationMeshOptions& options,
                                              Progress& progress);

}  // namespace pliant::cli
