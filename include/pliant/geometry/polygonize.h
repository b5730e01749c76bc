#pragma once

#include "pliant/core/progress.h"
#include "pliant/geometry/implicit.h"

namespace pliant {

struct PolygonizeOptions {
    int resolution = 64;  ///< lattice cells along the longest side of the body's box
    int smoothing =
        3;  ///< rounds of tangential relaxation with projection back onto the surface; 0 for none
};

/// Zero surface of `body` as a closed, manifold, outward-oriented mesh, whatever the resolution:
/// marching tetrahedra on a body-centred lattice; regions that cannot meet the surface are skipped
/// by the Lipschitz bound. Deterministic.
[[nodiscard]] SurfaceMesh polygonize(const Implicit& body, const PolygonizeOptions& options = {},
                                     Progress& progress = Progress::none());

}  // namespace pliant
