#pragma once

#include <optional>
#include <utility>

#include "pliant/geometry/surface_mesh.h"

namespace pliant {

/// Two triangles of a mesh that meet beyond the corners they share: of all such pairs the one with
/// the lowest first and then second index, first < second. Touching counts, and so do neighbours
/// folded onto each other. Triangles without area do not count.
[[nodiscard]] std::optional<std::pair<int, int>> first_crossing_triangles(const SurfaceMesh& mesh);

}  // namespace pliant
