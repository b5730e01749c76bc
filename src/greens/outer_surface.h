#pragma once

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

}  // namespace pliant
