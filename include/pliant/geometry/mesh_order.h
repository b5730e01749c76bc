#pragma once

#include "pliant/geometry/volume_mesh.h"

namespace pliant {

/// The elements along a Morton curve (z-order) through their centroids: neighbours in space are
/// mostly neighbours in the list. Equal places keep their order. O(n log n).
[[nodiscard]] std::vector<int> elements_along_curve(const VolumeMesh& mesh);

/// Puts elements along the Morton curve and numbers vertices in the order in which these elements
/// use them, unused ones last: element loops and sparse products then find their data in cache.
/// Shape, regions, filled fractions and hanging nodes stay with their elements and vertices.
/// Returns for each new vertex its old index.
std::vector<int> renumber_vertices(VolumeMesh& mesh);

}  // namespace pliant
