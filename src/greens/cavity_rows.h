#pragma once

#include "greens/boundary_nodes.h"
#include "pliant/greens/boundary_elements.h"

namespace pliant {

/// What the equations of an unbounded incompressible body lack, docs/greens.md eq. (D3): a
/// uniform pressure in a cavity has no part in them. The mean stress that the boundary values give
/// at a point within each cavity vanishes; these equations join those of the cavity's targets,
/// along their normals. Exact solutions satisfy both, whatever the Poisson ratio.
class CavityRows {
public:
    /// `nodes` with normals out of the material.
    CavityRows(const SurfaceMesh& mesh, const BoundaryNodes& nodes, const BoundaryOptions& options);
    /// Adds to rows of G and H of these targets.
    void add(int first_target, int num_targets, Eigen::Ref<Eigen::MatrixXd> G,
             Eigen::Ref<Eigen::MatrixXd> H) const;

private:
    std::vector<int> cavities_;                        // of each target
    std::vector<Eigen::Vector3d> normals_;             // of each target
    Eigen::MatrixXd of_tractions_, of_displacements_;  // a row for each cavity
};

}  // namespace pliant
