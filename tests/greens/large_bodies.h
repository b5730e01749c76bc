#pragma once

#include "core/numbers.h"
#include "pliant/geometry/subdivision.h"
#include "pliant/greens/boundary_elements.h"
#include "pliant/greens/greens_functions.h"

#include <cmath>
#include <vector>

namespace pliant::test {

/// An icosahedron, split and drawn onto a sphere of diameter 1: 162, 642, 2562, 10242 vertices.
inline SemiRegularMesh sphere_of_levels(int levels) {
    const double t = 0.5 + std::sqrt(1.25);
    SurfaceMesh icosahedron;
    icosahedron.vertices = {{-1, t, 0}, {1, t, 0}, {-1, -t, 0}, {1, -t, 0},
                            {0, -1, t}, {0, 1, t}, {0, -1, -t}, {0, 1, -t},
                            {t, 0, -1}, {t, 0, 1}, {-t, 0, -1}, {-t, 0, 1}};
    icosahedron.triangles = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                             {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                             {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                             {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
    SemiRegularMesh mesh = midpoint_subdivide(icosahedron, levels);
    for (Eigen::Vector3d& x : mesh.mesh.vertices) x = 0.5 * x.normalized();
    return mesh;
}

/// Nodes below `z` are held.
inline std::vector<NodeKind> fixed_below(const BoundaryModel& model, double z) {
    std::vector<NodeKind> kinds;
    for (const Eigen::Vector3d& x : model.positions())
        kinds.push_back(x.z() < z ? NodeKind::Fixed : NodeKind::Free);
    return kinds;
}

/// The same matrix from rows of G and H by exchange of their columns.
inline Eigen::MatrixXd exchanged_matrix(const BoundaryModel& model,
                                        const std::vector<NodeKind>& kinds) {
    const int n = model.num_nodes();
    Eigen::MatrixXd G(3 * n, 3 * n), H(3 * n, 3 * n);
    model.assemble(0, n, G, H);
    for (int j = 0; j < n; ++j)
        if (kinds[at(j)] == NodeKind::Fixed) H.middleCols<3>(3 * j) = -G.middleCols<3>(3 * j);
    return H;
}

}  // namespace pliant::test
