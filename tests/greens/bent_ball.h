#pragma once

#include <cmath>

#include "core/numbers.h"
#include "pliant/geometry/subdivision.h"
#include "pliant/greens/build_greens.h"

namespace pliant::test {

/// A ball of 5 cm radius that is not quite round, with 10·4^level + 2 vertices.
inline SemiRegularMesh bent_ball_surface(int levels) {
    const double t = (1 + std::sqrt(5.0)) / 2;
    SurfaceMesh icosahedron;
    icosahedron.vertices = {{-1, t, 0}, {1, t, 0}, {-1, -t, 0}, {1, -t, 0},
                            {0, -1, t}, {0, 1, t}, {0, -1, -t}, {0, 1, -t},
                            {t, 0, -1}, {t, 0, 1}, {-t, 0, -1}, {-t, 0, 1}};
    icosahedron.triangles = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                             {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                             {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                             {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
    SemiRegularMesh surface = midpoint_subdivide(icosahedron, levels);
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
