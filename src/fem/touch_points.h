#pragma once

#include "pliant/body/rigid_shape.h"
#include "pliant/geometry/surface_mesh.h"

#include <vector>

namespace pliant {

/// Points of a rigid body that may be felt between the vertices of another surface: its vertices
/// and, no farther apart than `spacing`, points along its edges, those of flat faces left out, and
/// in the middle of facets that stand for something round; all on the shape. None for a solid
/// without end, and none where the surface is not that of the shape.
[[nodiscard]] std::vector<Eigen::Vector3d> touch_points(const SurfaceMesh& surface,
                                                        const RigidShape& shape, double spacing);

}  // namespace pliant
