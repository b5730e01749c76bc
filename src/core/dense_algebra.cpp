#include "core/dense_algebra.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>

namespace pliant {

using Eigen::MatrixXd;
using Eigen::VectorXd;

SymmetricEigen symmetric_eigen(const MatrixXd& A) {
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(A);
    return {solver.eigenvalues(), solver.eigenvectors()};
}

VectorXd symmetric_eigenvalues(const MatrixXd& A) {
    return Eigen::SelfAdjointEigenSolver<MatrixXd>(A, Eigen::EigenvaluesOnly).eigenvalues();
}

SymmetricEigen symmetric_eigen(const MatrixXd& A, const MatrixXd& B) {
    const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd> solver(A, B);
    return {solver.eigenvalues(), solver.eigenvectors()};
}

VectorXd symmetric_eigenvalues(const MatrixXd& A, const MatrixXd& B) {
    return Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd>(A, B, Eigen::EigenvaluesOnly)
        .eigenvalues();
}

SymmetricEigen tridiagonal_eigen(const VectorXd& diagonal, const VectorXd& off_diagonal) {
    Eigen::SelfAdjointEigenSolver<MatrixXd> solver;
    solver.computeFromTridiagonal(diagonal, off_diagonal);
    return {solver.eigenvalues(), solver.eigenvectors()};
}

MatrixXd solve_dense(const MatrixXd& A, const MatrixXd& B) {
    return Eigen::PartialPivLU<MatrixXd>(A).solve(B);
}

MatrixXd lower_cholesky(const MatrixXd& A) {
    const Eigen::LLT<MatrixXd> cholesky(A);
    return cholesky.info() == Eigen::Success ? MatrixXd(cholesky.matrixL()) : MatrixXd();
}

}  // namespace pliant
