#pragma once

#include "geometry/shape_parts.h"

namespace pliant::shape_parts {

/// The control mesh split `levels` times, at least control.levels, with all vertices on the surface
/// of its skin, docs/geometry-subdivision.md section "Skinned hierarchies". The first
/// control.levels levels are the same whatever `levels` is. Deterministic.
[[nodiscard]] SemiRegularMesh skinned_subdivide(const ControlMesh& control, int levels);

}  // namespace pliant::shape_parts
