#pragma once

#include <Eigen/Core>

/// Eigen's dense decompositions take half a minute to compile: once, here, behind plain functions.
namespace pliant {

/// Eigenvalues in ascending order, and the vectors of each as columns.
struct SymmetricEigen {
    Eigen::VectorXd values;
    Eigen::MatrixXd vectors;
};

/// Of a symmetric matrix, of which the lower triangle is read; orthonormal vectors.
[[nodiscard]] SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& A);
[[nodiscard]] Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& A);
/// Of A x = λ B x with a positive definite B; vectors orthonormal in B.
[[nodiscard]] SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);
[[nodiscard]] Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& A,
                                                    const Eigen::MatrixXd& B);
/// Of the tridiagonal matrix with this diagonal and the one beside it.
[[nodiscard]] SymmetricEigen tridiagonal_eigen(const Eigen::VectorXd& diagonal,
                                               const Eigen::VectorXd& off_diagonal);

/// X of A X = B, by elimination with partial pivoting.
[[nodiscard]] Eigen::MatrixXd solve_dense(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);
/// Lower L of A = L Lᵀ; empty when A is not positive definite.
[[nodiscard]] Eigen::MatrixXd lower_cholesky(const Eigen::MatrixXd& A);

}  // namespace pliant
