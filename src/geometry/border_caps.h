#pragma once

#include "pliant/geometry/surface_mesh.h"

namespace pliant {

/// The mesh with its holes closed: to every loop of its border, a fan of triangles round the loop's
/// centroid is appended, turned so that at each edge, matched by the positions of its ends, as many
/// triangles run one way as the other. Then the winding number is a whole number everywhere.
/// Overlapping, touching and unwelded closed parts have no border. A triangle turned over is
/// replaced by its fan, which has the right direction.
[[nodiscard]] SurfaceMesh with_border_caps(const SurfaceMesh& mesh);

}  // namespace pliant
