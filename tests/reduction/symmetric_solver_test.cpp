#include "reduction/symmetric_solver.h"

#include "core/dense_algebra.h"
#include "reduction/force_samples.h"

#include <gtest/gtest.h>
#include <limits>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using test::definite_matrix;

TEST(SymmetricSolver, SolvesIndefiniteMatrices) {
    const int n = 20;
    MatrixXd A = definite_matrix(n);
    A -= 2 * A.diagonal().mean() * MatrixXd::Identity(n, n);
    const Eigen::VectorXd eigenvalues = symmetric_eigenvalues(A);
    ASSERT_LT(eigenvalues.minCoeff(), 0);
    ASSERT_GT(eigenvalues.maxCoeff(), 0);
    SymmetricSolver solver(n, 2);
    const MatrixXd B = test::random_basis(n, 2, 1);
    MatrixXd X = B;
    solver.indefinite() = A;
    ASSERT_TRUE(solver.solve_indefinite(X, 2));
    EXPECT_LE((A * X - B).norm(), 1e-9 * B.norm());
}

TEST(SymmetricSolver, SaysWhenAMatrixIsSingularOrNotFinite) {
    SymmetricSolver solver(3, 1);
    MatrixXd X = MatrixXd::Ones(3, 1);
    solver.indefinite() = Eigen::Vector3d(1, -1, 0).asDiagonal();
    EXPECT_FALSE(solver.solve_indefinite(X, 1));
    solver.indefinite()(1, 1) = std::numeric_limits<double>::infinity();
    EXPECT_FALSE(solver.solve_indefinite(X, 1));
    // no diagonal pivot suits this one
    solver.indefinite() << 0, 1, 0, 1, 0, 0, 0, 0, 1;
    X.setOnes();
    EXPECT_FALSE(solver.solve_indefinite(X, 1));
}

}  // namespace
}  // namespace pliant
