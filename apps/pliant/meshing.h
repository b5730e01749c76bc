#pragma once

#include <string>
#include <vector>

#include "pliant/core/progress.h"
#include "pliant/geometry/embedding.h"
#include "pliant/geometry/surface_query.h"
#include "pliant/geometry/volume_mesh.h"

namespace pliant::cli {

/// What `pliant mesh --kind …` is asked for.
struct MeshRequest {
    std::string kind = "voxel";  ///< voxel, graded, tet or graded-tet
    int resolution = 64;
    bool hollow = false;  ///< voxel only
    double growth = 0.5;  ///< graded kinds: cell size over depth
    int levels = 4;       ///< graded kinds: sizes of cells, each twice the one before
};

struct MeshResult {
    VolumeMesh mesh;
    Embedding embedding;  ///< of all surface vertices
    double mesh_seconds = 0, embed_seconds = 0;
};

/// Throws InputError for a kind or number that no mesher takes, before any work.
void check(const MeshRequest& request);
[[nodiscard]] MeshResult make_simulation_mesh(const SurfaceQuery& surface,
                                              const MeshRequest& request, Progress& progress);

}  // namespace pliant::cli
