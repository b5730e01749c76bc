#pragma once

#include "pliant/geometry/surface_mesh.h"

namespace pliant {

/// Triangles ordered so that neighbours in space are neighbours in the list, by splitting at the
/// median of the longest side: whole runs of `leaf` triangles end up together.
[[nodiscard]] std::vector<int> order_triangles(const SurfaceMesh& mesh, int leaf);

}  // namespace pliant
