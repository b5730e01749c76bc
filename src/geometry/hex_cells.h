#pragma once

#include "pliant/geometry/volume_mesh.h"

namespace pliant {

/// Cube on an integer lattice: its lowest corner and its side, in lattice units.
struct HexCell {
    std::array<int, 3> corner;
    int size;
};

/// Throws InputError for more cells than corners can be numbered; call it before listing them.
void require_countable_cells(std::size_t num_cells);

/// Hex8 mesh of cells that do not overlap, in the order given. Shared corners are merged and
/// numbered by z, then y, then x. A vertex in the middle of a cell's edge or face becomes a hanging
/// node; the cells must be balanced 2:1 over faces, edges and vertices so that masters are free.
/// Lattice point p lies at origin + spacing · p, with 0 ≤ p ≤ lattice_size.
[[nodiscard]] VolumeMesh mesh_of_cells(const std::vector<HexCell>& cells,
                                       const std::array<int, 3>& lattice_size,
                                       const Eigen::Vector3d& origin, double spacing);

}  // namespace pliant
