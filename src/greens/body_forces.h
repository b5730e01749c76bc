#pragma once

#include "greens/boundary_nodes.h"
#include "pliant/greens/boundary_elements.h"

namespace pliant {

/// b of H u = G p + b for a unit body force along each axis (Laplace: a unit source), at the
/// targets: block·num_nodes() rows, block columns; docs/greens.md eq. (D4). Throws InputError for
/// an exterior problem: a constant force has no finite effect in an unbounded body.
[[nodiscard]] Eigen::MatrixXd gravity_columns(const SurfaceMesh& mesh, const BoundaryNodes& nodes,
                                              const BoundaryOptions& options);

/// ∫_Ω u*(x, y) dΩ over the volume within the surface, for any x: 3×3, or 1×1 for Laplace.
[[nodiscard]] Eigen::MatrixXd volume_integral(const SurfaceMesh& mesh,
                                              const BoundaryOptions& options,
                                              const Eigen::Vector3d& x);

}  // namespace pliant
