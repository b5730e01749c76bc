#include "pliant/fem/conjugate_gradient.h"

#include <gtest/gtest.h>

#include <Eigen/SparseCholesky>

#include "core/numbers.h"
#include "fem/solver_samples.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/simd.h"

namespace pliant {
namespace {

using Matrix = Eigen::SparseMatrix<double>;
using test::elasticity_matrix;
using test::laplacian;
using test::random_definite;
using test::random_matrix;

ConjugateGradient make_solver(const Matrix& A, const CgOptions& options) {
    ConjugateGradient solver(options);
    solver.analyse(A);
    solver.set_values(A);
    return solver;
}

Eigen::VectorXd direct_solution(const Matrix& A, const Eigen::VectorXd& b) {
    return Eigen::SimplicialLDLT<Matrix>(A).solve(b);
}

class EveryPreconditioner : public testing::TestWithParam<Preconditioner> {
protected:
    [[nodiscard]] static CgOptions options(double tolerance = 1e-10, int max_iterations = 2000) {
        return {GetParam(), tolerance, max_iterations};
    }
};

TEST_P(EveryPreconditioner, ConvergesToTheDirectSolution) {
    // sizes with every remainder modulo three
    for (const Matrix& A :
         {elasticity_matrix(5, 5, 10), laplacian(7), laplacian(8), random_definite(300, 0.05, 1),
          random_definite(100, 0.2, 2), random_definite(1, 1.0, 3), random_definite(2, 1.0, 4)}) {
        ConjugateGradient solver = make_solver(A, options());
        const Eigen::VectorXd b = random_matrix(A.rows(), 1, 5);
        const Eigen::VectorXd expected = direct_solution(A, b);
        Eigen::VectorXd x = Eigen::VectorXd::Zero(A.rows());
        const CgResult result = solver.solve(b, x);
        EXPECT_EQ(result.status, CgStatus::Converged) << A.rows();
        EXPECT_GT(result.iterations, 0);
        EXPECT_LE(result.relative_residual, 1e-10);
        // what is reported is true
        EXPECT_NEAR((b - A * x).norm() / b.norm(), result.relative_residual, 1e-13);
        // an error of at most condition number times residual
        EXPECT_LT((x - expected).norm(), 1e-6 * expected.norm());
    }
}

TEST_P(EveryPreconditioner, StartsFromTheGivenVector) {
    const Matrix A = elasticity_matrix(4, 4, 8);
    const Eigen::VectorXd b = random_matrix(A.rows(), 1, 6), exact = direct_solution(A, b);
    ConjugateGradient solver = make_solver(A, options());
    Eigen::VectorXd x = exact;
    const CgResult at_solution = solver.solve(b, x);
    EXPECT_EQ(at_solution.status, CgStatus::Converged);
    EXPECT_EQ(at_solution.iterations, 0);
    EXPECT_EQ(x, exact);

    Eigen::VectorXd cold = Eigen::VectorXd::Zero(A.rows()), warm = 1.0001 * exact;
    const CgResult from_zero = solver.solve(b, cold), from_near = solver.solve(b, warm);
    EXPECT_LT(from_near.iterations, from_zero.iterations);
    EXPECT_LT((warm - exact).norm(), 1e-7 * exact.norm());
}

TEST_P(EveryPreconditioner, ZeroLoadGivesZeroAtOnce) {
    const Matrix A = elasticity_matrix(2, 2, 2);
    ConjugateGradient solver = make_solver(A, options());
    Eigen::VectorXd x = random_matrix(A.rows(), 1, 7);
    const CgResult result = solver.solve(Eigen::VectorXd::Zero(A.rows()), x);
    EXPECT_EQ(result.status, CgStatus::Converged);
    EXPECT_EQ(result.iterations, 0);
    EXPECT_EQ(x, Eigen::VectorXd::Zero(A.rows()));
}

TEST_P(EveryPreconditioner, StopsAtTheIterationLimitWithABetterGuess) {
    const Matrix A = elasticity_matrix(4, 4, 20);
    ConjugateGradient solver = make_solver(A, options(1e-10, 5));
    const Eigen::VectorXd b = A * random_matrix(A.rows(), 1, 8);
    Eigen::VectorXd x = Eigen::VectorXd::Zero(A.rows());
    const CgResult result = solver.solve(b, x);
    EXPECT_EQ(result.status, CgStatus::IterationLimit);
    EXPECT_EQ(result.iterations, 5);
    EXPECT_GT(result.relative_residual, 1e-10);
    EXPECT_NEAR((b - A * x).norm() / b.norm(), result.relative_residual, 1e-10);
    EXPECT_LT(result.relative_residual, 1.0);
}

TEST_P(EveryPreconditioner, UnreachableToleranceEndsAtTheLimit) {
    const Matrix A = elasticity_matrix(3, 3, 6);
    ConjugateGradient solver = make_solver(A, options(1e-18, 300));
    Eigen::VectorXd x = Eigen::VectorXd::Zero(A.rows());
    const Eigen::VectorXd b = random_matrix(A.rows(), 1, 9);
    const CgResult result = solver.solve(b, x);
    EXPECT_LE(result.iterations, 300);
    EXPECT_LT((b - A * x).norm(), 1e-11 * b.norm());
}

TEST_P(EveryPreconditioner, MatrixFreeProductGivesTheSame) {
    const Matrix A = elasticity_matrix(3, 4, 7);
    ConjugateGradient solver = make_solver(A, options());
    const Eigen::VectorXd b = random_matrix(A.rows(), 1, 10);
    Eigen::VectorXd x = Eigen::VectorXd::Zero(A.rows()), y = x;
    const CgResult with_matrix = solver.solve(b, x);
    int products = 0;
    const CgResult without = solver.solve(
        [&](const Eigen::VectorXd& p, Eigen::VectorXd& q) {
            q.noalias() = A * p;
            ++products;
        },
        b, y);
    EXPECT_EQ(without.status, CgStatus::Converged);
    EXPECT_NEAR(without.iterations, with_matrix.iterations, 1);
    EXPECT_EQ(products, without.iterations + 2);  // first and last residual
    EXPECT_LT((x - y).norm(), 1e-7 * x.norm());
}

TEST_P(EveryPreconditioner, NonFiniteInputIsReportedAndStaysOutOfTheResult) {
    const Matrix A = elasticity_matrix(2, 2, 3);
    const Eigen::VectorXd b = random_matrix(A.rows(), 1, 11),
                          start = random_matrix(A.rows(), 1, 12);
    ConjugateGradient solver = make_solver(A, options());
    for (const double bad : {kNan, kInfinity, -kInfinity}) {
        Eigen::VectorXd bad_load = b, x = start;
        bad_load[7] = bad;
        const CgResult load = solver.solve(bad_load, x);
        EXPECT_EQ(load.status, CgStatus::NotFinite);
        EXPECT_EQ(x, start);
        EXPECT_TRUE(std::isfinite(load.relative_residual));

        // a bad start is replaced by zero
        x[3] = bad;
        EXPECT_EQ(solver.solve(b, x).status, CgStatus::Converged);
        EXPECT_LT((A * x - b).norm(), 1e-9 * b.norm());

        Matrix broken = A;
        broken.coeffRef(20, 20) = bad;
        solver.set_values(broken);
        for (Eigen::VectorXd y : {start, Eigen::VectorXd(0 * start)}) {
            EXPECT_NE(solver.solve(b, y).status, CgStatus::Converged);
            EXPECT_TRUE(y.allFinite());
        }
        // and is forgotten
        solver.set_values(A);
        EXPECT_EQ(solver.solve(b, x).status, CgStatus::Converged);
    }
}

TEST_P(EveryPreconditioner, IndefiniteOrSingularMatrixEndsWithAFiniteResult) {
    Matrix indefinite = laplacian(6);
    indefinite.coeffRef(100, 100) = -5;
    const Matrix free = elasticity_matrix(3, 3, 3, false), zero = 0 * free;
    for (const Matrix& A : {indefinite, Matrix(-laplacian(5)), free, zero}) {
        ConjugateGradient solver = make_solver(A, options(1e-10, 500));
        Eigen::VectorXd x = Eigen::VectorXd::Zero(A.rows());
        const CgResult result = solver.solve(random_matrix(A.rows(), 1, 13), x);
        EXPECT_NE(result.status, CgStatus::Converged);
        EXPECT_TRUE(x.allFinite());
        EXPECT_TRUE(std::isfinite(result.relative_residual));
    }
    ConjugateGradient solver = make_solver(indefinite, options());
    Eigen::VectorXd x = Eigen::VectorXd::Zero(indefinite.rows());
    EXPECT_EQ(solver.solve(random_matrix(x.size(), 1, 14), x).status,
              CgStatus::NotPositiveDefinite);
}

TEST_P(EveryPreconditioner, LoadsOfAnySizeTakeTheSamePath) {
    const Matrix A = elasticity_matrix(2, 3, 4);
    ConjugateGradient solver = make_solver(A, options());
    const Eigen::VectorXd b = random_matrix(A.rows(), 1, 15);
    Eigen::VectorXd expected = Eigen::VectorXd::Zero(A.rows());
    const CgResult reference = solver.solve(b, expected);
    for (const double scale : {0x1p-700, 0x1p-60, 0x1p700}) {
        Eigen::VectorXd x = Eigen::VectorXd::Zero(A.rows());
        const CgResult result = solver.solve(scale * b, x);
        EXPECT_EQ(result.iterations, reference.iterations) << scale;
        EXPECT_EQ(x, scale * expected);
    }
}

TEST_P(EveryPreconditioner, AllocatesNothingAfterAnalysis) {
    const Matrix A = elasticity_matrix(6, 6, 8);
    ConjugateGradient solver(options(1e-8));
    solver.analyse(A);
    const Eigen::VectorXd b = random_matrix(A.rows(), 1, 16);
    Eigen::VectorXd x = Eigen::VectorXd::Zero(A.rows()), y = x;
    const AllocationGuard guard;
    solver.set_values(A);
    const CgResult with_matrix = solver.solve(b, x);
    const CgResult without = solver.solve(
        [&A](const Eigen::VectorXd& p, Eigen::VectorXd& q) { q.noalias() = A * p; }, b, y);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_EQ(with_matrix.status, CgStatus::Converged);
    EXPECT_EQ(without.status, CgStatus::Converged);
}

TEST_P(EveryPreconditioner, EveryInstructionSetAgreesAndRepeats) {
    const Matrix A = elasticity_matrix(4, 4, 6);
    const Eigen::VectorXd b = random_matrix(A.rows(), 1, 17), exact = direct_solution(A, b);
    for (const std::string& target : simd_targets()) {
        const ScopedSimdTarget scope(target);
        Eigen::VectorXd first = Eigen::VectorXd::Zero(A.rows()), second = first;
        ConjugateGradient solver = make_solver(A, options(1e-12));
        EXPECT_EQ(solver.solve(b, first).status, CgStatus::Converged);
        EXPECT_EQ(make_solver(A, options(1e-12)).solve(b, second).status, CgStatus::Converged);
        EXPECT_LT((first - exact).norm(), 1e-9 * exact.norm()) << target;
        EXPECT_EQ(first, second) << target;
    }
}

TEST_P(EveryPreconditioner, ReadsTheLowerTriangleAlone) {
    const Matrix A = elasticity_matrix(3, 3, 4), lower = A.triangularView<Eigen::Lower>();
    const Eigen::VectorXd b = random_matrix(A.rows(), 1, 18);
    Eigen::VectorXd x = Eigen::VectorXd::Zero(A.rows()), y = x;
    EXPECT_EQ(make_solver(A, options()).solve(b, x).status, CgStatus::Converged);
    EXPECT_EQ(make_solver(lower, options()).solve(b, y).status, CgStatus::Converged);
    EXPECT_EQ(x, y);
}

std::string name_of(const testing::TestParamInfo<Preconditioner>& parameter) {
    constexpr const char* kNames[] = {"Diagonal", "BlockDiagonal", "IncompleteCholesky"};
    return kNames[static_cast<int>(parameter.param)];
}
INSTANTIATE_TEST_SUITE_P(, EveryPreconditioner,
                         testing::Values(Preconditioner::Diagonal, Preconditioner::BlockDiagonal,
                                         Preconditioner::IncompleteCholesky),
                         name_of);

int iterations(const Matrix& A, Preconditioner preconditioner) {
    ConjugateGradient solver = make_solver(A, {preconditioner, 1e-8, 5000});
    Eigen::VectorXd x = Eigen::VectorXd::Zero(A.rows());
    const CgResult result = solver.solve(random_matrix(A.rows(), 1, 19), x);
    EXPECT_EQ(result.status, CgStatus::Converged);
    return result.iterations;
}

TEST(ConjugateGradient, IncompleteCholeskySavesMostIterations) {
    const Matrix A = elasticity_matrix(6, 6, 12);
    EXPECT_LT(3 * iterations(A, Preconditioner::IncompleteCholesky),
              iterations(A, Preconditioner::BlockDiagonal));
}

TEST(ConjugateGradient, BlocksHelpWhereTheComponentsAreCoupled) {
    // stiff springs along the space diagonal at each node
    Matrix A = elasticity_matrix(4, 4, 6);
    for (int i = 0; i < A.rows(); i += 3)
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c) A.coeffRef(i + r, i + c) += 10.0 * (1 + i % 7);
    EXPECT_LT(2 * iterations(A, Preconditioner::BlockDiagonal),
              iterations(A, Preconditioner::Diagonal));
}

TEST(ConjugateGradient, IncompleteCholeskyIsExactWithoutFill) {
    // a chain of blocks, random_definite couples all nine entries
    const int num_nodes = 60;
    const Eigen::MatrixXd values = random_matrix(3 * num_nodes, 3, 20);
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(3 * num_nodes, 3 * num_nodes);
    for (int i = 0; i < num_nodes; ++i) {
        const Eigen::Matrix3d B = values.middleRows<3>(3 * i);
        dense.block<3, 3>(3 * i, 3 * i) += 0.05 * Eigen::Matrix3d::Identity() + B * B.transpose();
        if (i == 0) continue;
        // each link is positive semidefinite, strong against the blocks
        Eigen::Matrix<double, 6, 3> link;
        link << B, -values.middleRows<3>(3 * i - 3);
        dense.block<6, 6>(3 * i - 3, 3 * i - 3) += 5 * link * link.transpose();
    }
    const Matrix A = dense.sparseView();
    EXPECT_LE(iterations(A, Preconditioner::IncompleteCholesky), 2);
    EXPECT_GT(iterations(A, Preconditioner::BlockDiagonal), 20);
}

TEST(ConjugateGradient, IncompleteCholeskyRaisesTheDiagonalWhereItBreaksDown) {
    // nearly incompressible: the incomplete factor of the matrix itself has a negative pivot
    const Matrix A = elasticity_matrix(6, 6, 6, true, 0.495);
    ConjugateGradient solver = make_solver(A, {Preconditioner::IncompleteCholesky, 1e-8, 5000});
    EXPECT_GT(solver.diagonal_shift(), 0.0);
    EXPECT_LT(solver.diagonal_shift(), 1.0);
    EXPECT_LT(2 * iterations(A, Preconditioner::IncompleteCholesky),
              iterations(A, Preconditioner::BlockDiagonal));
    const Matrix benign = laplacian(6);
    EXPECT_EQ(make_solver(benign, {Preconditioner::IncompleteCholesky, 1e-8, 10}).diagonal_shift(),
              0.0);
}

TEST(ConjugateGradient, DiagonalAloneServesMatrixFreeProducts) {
    const Matrix A = elasticity_matrix(3, 3, 5);
    Matrix diagonal(A.rows(), A.rows());
    for (int i = 0; i < A.rows(); ++i) diagonal.insert(i, i) = A.coeff(i, i);
    diagonal.makeCompressed();
    ConjugateGradient solver = make_solver(diagonal, {Preconditioner::Diagonal, 1e-10, 1000});
    const Eigen::VectorXd b = random_matrix(A.rows(), 1, 21);
    Eigen::VectorXd x = Eigen::VectorXd::Zero(A.rows());
    const CgResult result = solver.solve(
        [&A](const Eigen::VectorXd& p, Eigen::VectorXd& q) { q.noalias() = A * p; }, b, x);
    EXPECT_EQ(result.status, CgStatus::Converged);
    EXPECT_LT((A * x - b).norm(), 2e-10 * b.norm());
}

TEST(ConjugateGradient, NewValuesReplaceTheOldOnes) {
    Matrix A = elasticity_matrix(3, 3, 5);
    ConjugateGradient solver({Preconditioner::IncompleteCholesky, 1e-10, 1000});
    solver.analyse(A);
    Eigen::VectorXd x = Eigen::VectorXd::Zero(A.rows());
    const Eigen::VectorXd b = random_matrix(A.rows(), 1, 22);
    for (int i = 0; i < 3; ++i) {
        A *= 3;
        A.diagonal().array() += 0.5;
        solver.set_values(A);
        EXPECT_EQ(solver.solve(b, x).status, CgStatus::Converged);
        EXPECT_LT((A * x - b).norm(), 2e-10 * b.norm());
    }
    solver.set_tolerance(1e-3);
    EXPECT_EQ(solver.options().tolerance, 1e-3);
    x.setZero();
    EXPECT_GT(solver.solve(b, x).relative_residual, 1e-10);
}

TEST(ConjugateGradient, OldIncompleteFactorServesANewMatrix) {
    Matrix A = elasticity_matrix(5, 5, 8);
    ConjugateGradient solver = make_solver(A, {Preconditioner::IncompleteCholesky, 1e-10, 1000});
    const Eigen::VectorXd b = random_matrix(A.rows(), 1, 23);
    for (int i = 0; i < A.rows(); i += 5) A.coeffRef(i, i) *= 50;
    const auto iterations_with = [&](bool renew) {
        solver.set_values(A, renew);
        Eigen::VectorXd x = Eigen::VectorXd::Zero(A.rows());
        const CgResult result = solver.solve(b, x);
        EXPECT_EQ(result.status, CgStatus::Converged);
        EXPECT_LT((A * x - b).norm(), 2e-10 * b.norm());
        return result.iterations;
    };
    const int stale = iterations_with(false);
    const int fresh = iterations_with(true);
    EXPECT_GT(stale, fresh);
    EXPECT_EQ(iterations_with(false), fresh);
}

TEST(ConjugateGradient, EmptySystemIsSolved) {
    ConjugateGradient solver = make_solver(Matrix(0, 0), {});
    Eigen::VectorXd x;
    EXPECT_EQ(solver.solve(Eigen::VectorXd(), x).status, CgStatus::Converged);
}

}  // namespace
}  // namespace pliant
