#pragma once

#include "pliant/geometry/surface_mesh.h"

namespace pliant {

/// Shape of a triangle: 4 √3 area / sum of squared sides; 1 for equal sides, 0 without area.
[[nodiscard]] double triangle_quality(const Eigen::Vector3d& a, const Eigen::Vector3d& b,
                                      const Eigen::Vector3d& c) noexcept;

/// Below this the graded quadrature no longer resolves the narrow ends of triangles: the residual
/// of linear fields grows from 1e-7 to 4e-6 at 0.009.
inline constexpr double kMinBoundaryQuality = 0.02;

/// Throws InputError unless the surface is closed, consistently oriented with its normals outwards,
/// without triangles that are too thin, and does not cut or touch itself. One sentence: what, where
/// first, how often, and what helps.
void check_boundary_mesh(const SurfaceMesh& mesh);

}  // namespace pliant
