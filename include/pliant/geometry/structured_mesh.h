#pragma once

#include "pliant/geometry/volume_mesh.h"

namespace pliant {

/// nx × ny × nz equal hexes filling `box`; vertex (i, j, k) has index i + (nx + 1)(j + (ny + 1) k).
[[nodiscard]] VolumeMesh hex_box(int nx, int ny, int nz, const Box& box);
/// The same lattice, each cell cut into the six Kuhn tetrahedra along its main diagonal:
/// conforming.
[[nodiscard]] VolumeMesh tet_box(int nx, int ny, int nz, const Box& box);

}  // namespace pliant
