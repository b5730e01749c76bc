#include "fem/step_linear_solver.h"

#include <gtest/gtest.h>

#include <limits>

#include "fem/solver_samples.h"

namespace pliant {
namespace {

using Eigen::VectorXd;
using Matrix = FemModel::Matrix;
using test::elasticity_matrix;
using test::random_matrix;

class EveryStepSolver : public testing::TestWithParam<StepSolver> {
protected:
    [[nodiscard]] static ImplicitOptions options() {
        ImplicitOptions o;
        o.solver = GetParam();
        return o;
    }
};

TEST_P(EveryStepSolver, SolvesWithoutShiftWhereTheMatrixIsDefinite) {
    Matrix A = elasticity_matrix(3, 3, 5);
    const Matrix given = A;
    StepLinearSolver solver(A, VectorXd::Ones(A.rows()), options());
    const VectorXd b = random_matrix(A.rows(), 1, 1);
    VectorXd x = VectorXd::Zero(A.rows());
    const StepSolution solution = solver.solve(A, 1, b, x);
    EXPECT_TRUE(solution.is_solved);
    EXPECT_EQ(solution.shift, 0);
    EXPECT_LE(solution.relative_residual, 1e-6);
    EXPECT_NEAR((b - A * x).norm() / b.norm(), solution.relative_residual, 1e-12);
    EXPECT_EQ((A - given).norm(), 0);
}

TEST_P(EveryStepSolver, RaisesTheDiagonalByTheMassUntilTheMatrixIsDefinite) {
    const Matrix K = elasticity_matrix(3, 3, 3);
    const VectorXd mass = (2 + random_matrix(K.rows(), 1, 2).array()).matrix();
    // −5 on the diagonal: K's own entries are about 1
    Matrix A = K;
    A.diagonal().array() -= 5;
    const Matrix given = A;
    StepLinearSolver solver(A, mass, options());
    const VectorXd b = random_matrix(A.rows(), 1, 3);
    VectorXd x = VectorXd::Zero(A.rows());
    const StepSolution solution = solver.solve(A, 0.5, b, x);
    EXPECT_TRUE(solution.is_solved);
    EXPECT_EQ(solution.shift, 16);  // 0.5 · 4 · mass is too little, mass ≥ 1
    Matrix expected = given;
    expected.diagonal() += 0.5 * 16 * mass;
    EXPECT_LT((A - expected).norm(), 1e-12 * A.norm());
    EXPECT_LT((b - A * x).norm(), 1e-6 * b.norm());
    // the next matrix starts afresh
    Matrix next = K;
    EXPECT_EQ(solver.solve(next, 0.5, b, x).shift, 0);
}

TEST_P(EveryStepSolver, GivesUpAfterABoundedNumberOfShifts) {
    const Matrix K = elasticity_matrix(2, 2, 2);
    Matrix A = -1e20 * K;
    StepLinearSolver solver(A, VectorXd::Ones(A.rows()), options());
    VectorXd x = VectorXd::Zero(A.rows());
    const VectorXd b = random_matrix(A.rows(), 1, 4);
    const StepSolution solution = solver.solve(A, 1, b, x);
    EXPECT_FALSE(solution.is_solved);
    EXPECT_TRUE(x.allFinite());
    EXPECT_GT(solution.shift, 1e6);
}

TEST_P(EveryStepSolver, MatrixThatIsNotFiniteIsNotSolved) {
    Matrix A = elasticity_matrix(2, 2, 2);
    StepLinearSolver solver(A, VectorXd::Ones(A.rows()), options());
    A.coeffRef(4, 4) = std::numeric_limits<double>::quiet_NaN();
    VectorXd x = VectorXd::Zero(A.rows());
    EXPECT_FALSE(solver.solve(A, 1, VectorXd::Ones(A.rows()), x).is_solved);
    EXPECT_TRUE(x.allFinite());
}

INSTANTIATE_TEST_SUITE_P(, EveryStepSolver,
                         testing::Values(StepSolver::ConjugateGradient, StepSolver::Direct));

TEST(StepLinearSolver, RenewsItsFactorWhenMatricesHaveMovedAway) {
    // from a stiffness matrix towards one that is stiff at some nodes, in small steps
    const Matrix K = elasticity_matrix(6, 6, 6);
    ImplicitOptions options;
    StepLinearSolver solver(K, VectorXd::Ones(K.rows()), options);
    const VectorXd b = random_matrix(K.rows(), 1, 5);
    const auto iterations = [&](StepLinearSolver& s, double stiffness) {
        Matrix A = K;
        for (int i = 0; i < A.rows(); i += 7) A.coeffRef(i, i) += stiffness;
        VectorXd x = VectorXd::Zero(A.rows());
        const StepSolution solution = s.solve(A, 1, b, x);
        EXPECT_TRUE(solution.is_solved);
        return solution.iterations;
    };
    (void)iterations(solver, 0);
    // the first with the old factor
    const int stale = iterations(solver, 100);
    const int renewed = iterations(solver, 100);
    StepLinearSolver fresh(K, VectorXd::Ones(K.rows()), options);
    EXPECT_EQ(renewed, iterations(fresh, 100));
    EXPECT_GT(stale, renewed + 8);
    // small changes keep it: nothing to gain
    EXPECT_LE(iterations(solver, 101), renewed + 2);
}

}  // namespace
}  // namespace pliant
