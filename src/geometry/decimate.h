#pragma once

#include "pliant/core/progress.h"
#include "pliant/geometry/surface_mesh.h"

namespace pliant {

/// Collapses edges of a closed manifold mesh in the order of their quadric errors until
/// `num_vertices` are left, docs/geometry-subdivision.md section "Remeshing". Topology is kept:
/// when no more edge can go, more vertices stay. Deterministic.
[[nodiscard]] SurfaceMesh decimate(const SurfaceMesh& mesh, int num_vertices, Progress& progress);

}  // namespace pliant
