#pragma once

#include "pliant/geometry/surface_query.h"
#include "pliant/geometry/volume_mesh.h"

#include <vector>

namespace pliant {

/// The boundary of a volume mesh as a surface that can be subdivided and slid over.
struct OuterSurface {
    std::vector<int> vertices;        ///< of the mesh: the nodes, ascending
    std::vector<Triangle> triangles;  ///< of nodes, outward
    /// The same triangles. Where parts of the body meet in an edge or vertex only, each has a
    /// vertex of its own; the first one of a node has its number, others follow behind the nodes.
    SurfaceMesh manifold;
};
[[nodiscard]] OuterSurface outer_surface(const VolumeMesh& mesh);

/// Moves its vertices to the nearest points of the surface that the mesh fills, as far as these are
/// on the same side and within two edges of where they were; where several come to one point, they
/// spread along the surface. What is drawn and touched is then that surface, docs/greens.md eq.
/// (C6).
void draw_onto(const SurfaceQuery& drawn, OuterSurface& surface);

}  // namespace pliant
