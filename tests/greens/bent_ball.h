#pragma once

#include <cmath>

#include "core/numbers.h"
#include "greens/boundary_cases.h"
#include "pliant/geometry/subdivision.h"
#include "pliant/greens/build_greens.h"

namespace pliant::test {

/// A ball of 5 cm radius that is not quite round, with 10·4^level + 2 vertices.
inline SemiRegularMesh bent_ball_surface(int levels) {
    SemiRegularMesh surface = midpoint_subdivide(sphere_case_surface(0), levels);
    for (Eigen::Vector3d& x : surface.mesh.vertices) {
        x.normalize();
        x *=
            0.05 * (1 + 0.12 * std::sin(3 * x.x()) * std::cos(2 * x.y() + 1) + 0.1 * x.z() * x.x());
    }
    return surface;
}

inline GreensModel bent_ball_model(int levels) {
    GreensBuildOptions options;
    options.fixed = "z < 10 %";
    options.youngs_modulus = 2e4;
    return build_greens_model(bent_ball_surface(levels), options);
}

/// Displacement of node i for a unit force at j [m/N].
inline Eigen::Matrix3d unit_response(const GreensModel& model, int i, int j) {
    Eigen::Matrix<float, 3, 3, Eigen::RowMajor> block;
    model.reference.functions->element(i, j, block.data());
    return block.cast<double>() * model.reference.length /
           (model.reference.modulus * model.reference.areas[at(j)]);
}

}  // namespace pliant::test
