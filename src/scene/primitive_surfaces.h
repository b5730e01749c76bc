#pragma once

#include "pliant/geometry/surface_mesh.h"

namespace pliant {

// Surfaces of simple solids in their own axes, closed and oriented outwards unless it says
// otherwise. Vertices lie on the solid.

[[nodiscard]] SurfaceMesh sphere_surface(double radius);
/// Of full sides, centred.
[[nodiscard]] SurfaceMesh box_surface(const Eigen::Vector3d& sizes);
/// Along z, `length` of the axis between the centres of its ends.
[[nodiscard]] SurfaceMesh capsule_surface(double radius, double length);
/// Triangular prism along y on z = 0, its edge above the middle.
[[nodiscard]] SurfaceMesh wedge_surface(const Eigen::Vector3d& sizes);
/// An open square in z = 0, seen from above.
[[nodiscard]] SurfaceMesh ground_surface(double size);

/// An open sheet of squares in z = 0, centred, seen from above; all diagonals the same way.
[[nodiscard]] SurfaceMesh sheet_surface(double width, double depth, int across, int along);
/// An open fan in z = 0, seen from above; vertex 0 is the middle.
[[nodiscard]] SurfaceMesh fan_surface(double radius, int sectors);

}  // namespace pliant
