#pragma once

#include "core/numbers.h"
#include "greens/boundary_cases.h"
#include "pliant/geometry/subdivision.h"
#include "pliant/greens/boundary_elements.h"
#include "pliant/greens/greens_functions.h"

#include <vector>

namespace pliant::test {

/// An icosahedron, split and drawn onto a sphere of diameter 1: 162, 642, 2562, 10242 vertices.
inline SemiRegularMesh sphere_of_levels(int levels) {
    SemiRegularMesh mesh = midpoint_subdivide(sphere_case_surface(0), levels);
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
