#include "reduction/rigid_motions.h"

#include "pliant/reduction/basis.h"

#include <cassert>

namespace pliant {

using Eigen::MatrixXd;
using Eigen::Vector3d;

MatrixXd rigid_motions(const VolumeMesh& mesh, const Eigen::SparseMatrix<double>& M) {
    Vector3d centre = Vector3d::Zero();
    for (const Vector3d& x : mesh.vertices) centre += x / mesh.num_vertices();
    MatrixXd motions = MatrixXd::Zero(3 * mesh.num_vertices(), 6);
    for (int node = 0; node < mesh.num_vertices(); ++node) {
        const Vector3d r = mesh.vertices[node] - centre;
        for (int axis = 0; axis < 3; ++axis) {
            motions(3 * node + axis, axis) = 1;
            motions.block<3, 1>(3 * node, 3 + axis) = Vector3d::Unit(axis).cross(r);
        }
    }
    MatrixXd orthonormal = mass_gram_schmidt(motions, M);
    assert(orthonormal.cols() == 6);
    return orthonormal;
}

MatrixXd free_rows(const FreeSystem& system, const MatrixXd& X) {
    MatrixXd rows(system.num_unknowns(), X.cols());
    for (int unknown = 0; unknown < system.num_unknowns(); ++unknown)
        for (FreeSystem::Matrix::InnerIterator it(system.T(), unknown); it; ++it)
            // the unknown's own place; hanging nodes have weights of one half and less
            if (it.value() == 1.0) rows.row(unknown) = X.row(it.row());
    return rows;
}

}  // namespace pliant
