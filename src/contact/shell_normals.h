#pragma once

#include "pliant/field/distance_field.h"

#include <vector>

namespace pliant {

/// Unit normals *into* the solid: pseudonormals of the feature of `surface` nearest to each point,
/// turned against the gradient of the field there, so that the two sides of an open sheet differ;
/// docs/contact.md section "Pointshells".
[[nodiscard]] std::vector<Eigen::Vector3f> inward_normals(
    const std::vector<Eigen::Vector3f>& points, const DistanceField& field,
    const SurfaceMesh& surface);

}  // namespace pliant
