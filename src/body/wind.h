#pragma once

#include "pliant/geometry/surface_mesh.h"

namespace pliant {

/// Force of a dynamic pressure of 1 Pa along `direction` (any length) on each vertex of a surface,
/// docs/body.md eq. (6). Only faces that look against the wind feel it; nothing shades anything.
/// Zero for a direction that is zero or not finite.
[[nodiscard]] std::vector<Eigen::Vector3d> wind_forces(const SurfaceMesh& surface,
                                                       const Eigen::Vector3d& direction);

}  // namespace pliant
