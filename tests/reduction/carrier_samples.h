#pragma once

#include "fem/fem_samples.h"
#include "geometry/simple_surfaces.h"
#include "pliant/fem/mass.h"
#include "pliant/reduction/reduced_model.h"

/// Models with chosen bases, for what points make of them.
namespace pliant::test {

/// Any mesh and any basis; the law has no polynomials, so that nothing is precomputed.
inline ReducedModel carrier_model(const VolumeMesh& mesh, const Eigen::MatrixXd& U) {
    ReducedModelParts parts;
    parts.mesh = mesh;
    parts.materials = {isotropic(1e5, 0.3, 1000, Law::NeoHookean)};
    parts.fixed_vertices = {0};
    parts.eigenvalues = Eigen::VectorXd::Ones(1);
    parts.basis.U = U;
    parts.basis.singular_values = Eigen::VectorXd::Ones(U.cols());
    parts.surface = box_surface();
    parts.expected_reach = 1;
    add_projections(parts, FemModel(parts.mesh, parts.materials));
    return ReducedModel(std::move(parts));
}

/// Basis of u = A x + b: nine entries of A by columns, then b.
inline Eigen::MatrixXd affine_basis(const VolumeMesh& mesh) {
    Eigen::MatrixXd U(3 * mesh.num_vertices(), 12);
    for (int k = 0; k < 12; ++k) {
        Eigen::Matrix<double, 12, 1> e = Eigen::Matrix<double, 12, 1>::Unit(k);
        U.col(k) =
            affine_displacements(mesh, Eigen::Map<const Eigen::Matrix3d>(e.data()), e.tail<3>());
    }
    return U;
}
/// The coordinates of u = A x + b in it.
inline Eigen::VectorXd affine_coordinates(const Eigen::Matrix3d& A, const Eigen::Vector3d& b) {
    Eigen::VectorXd q(12);
    q << Eigen::Map<const Eigen::Matrix<double, 9, 1>>(A.data()), b;
    return q;
}

}  // namespace pliant::test
