#include "pliant/fem/linear_solver.h"

#include "core/dense_algebra.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <thread>

#include "fem/solver_samples.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/error.h"

namespace pliant {
namespace {

using Matrix = Eigen::SparseMatrix<double>;
using test::elasticity_matrix;
using test::laplacian;
using test::random_definite;
using test::random_matrix;

std::vector<SolverKind> all_kinds() {
    std::vector<SolverKind> kinds = available_solvers();
    kinds.insert(kinds.begin(), SolverKind::Auto);
    return kinds;
}

bool is_available(SolverKind kind) {
    const std::vector<SolverKind> kinds = available_solvers();
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

std::vector<SolverKind> kinds_for_indefinite() {
    std::vector<SolverKind> kinds = all_kinds();
    std::erase(kinds, SolverKind::Cholmod);
    return kinds;
}

std::string name_of(const testing::TestParamInfo<SolverKind>& info) {
    return std::string(to_string(info.param));
}

Matrix sparse(const Eigen::MatrixXd& dense) { return dense.sparseView(); }

/// Relative to the solution, in the maximum norm.
double error_against_dense(LinearSolver& solver, const Matrix& A) {
    const Eigen::VectorXd b = random_matrix(A.rows(), 1, 11);
    const Eigen::VectorXd expected = solve_dense(Eigen::MatrixXd(A), b);
    const Eigen::VectorXd x = solver.solve(b);
    return (x - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff();
}

double relative_residual(LinearSolver& solver, const Matrix& A) {
    const Eigen::VectorXd b = random_matrix(A.rows(), 1, 12);
    const Eigen::VectorXd x = solver.solve(b);
    return (A.selfadjointView<Eigen::Lower>() * x - b).norm() / b.norm();
}

class EveryLinearSolver : public testing::TestWithParam<SolverKind> {
protected:
    [[nodiscard]] static std::unique_ptr<LinearSolver> make(
        Definiteness definiteness = Definiteness::Positive) {
        SolverOptions options;
        options.definiteness = definiteness;
        return make_linear_solver(GetParam(), options);
    }
    [[nodiscard]] static FactorResult status_of(const Matrix& A) { return make()->factor(A); }
};

class SolverForIndefinite : public EveryLinearSolver {};

TEST_P(EveryLinearSolver, AgreesWithDenseSolution) {
    // the condition numbers are below 1e5, which leaves 1e-11
    for (const Matrix& A :
         {random_definite(300, 0.03, 1), random_definite(40, 1.0, 2), laplacian(9),
          elasticity_matrix(6, 6, 12), elasticity_matrix(1, 1, 1)}) {
        const auto solver = make();
        ASSERT_TRUE(solver->factor(A).is_ok());
        EXPECT_TRUE(solver->is_factored());
        EXPECT_LT(error_against_dense(*solver, A), 1e-10) << A.rows();
        EXPECT_EQ(solver->statistics().negative_pivots, 0);
    }
}

TEST_P(EveryLinearSolver, SolvesManyRightHandSidesAsOneByOne) {
    const Matrix A = elasticity_matrix(4, 4, 8);
    const auto solver = make();
    ASSERT_TRUE(solver->factor(A).is_ok());
    const Eigen::MatrixXd B = random_matrix(A.rows(), 11, 3);
    const Eigen::MatrixXd X = solver->solve(B);
    for (int c = 0; c < B.cols(); ++c) {
        const Eigen::VectorXd x = solver->solve(B.col(c));
        EXPECT_LT((X.col(c) - x).cwiseAbs().maxCoeff(), 1e-13 * x.cwiseAbs().maxCoeff()) << c;
    }
    // columns that do not follow each other in memory
    Eigen::MatrixXd wide = Eigen::MatrixXd::Constant(A.rows() + 7, 11, 5.0);
    wide.middleRows(3, A.rows()) = B;
    solver->solve_in_place(wide.middleRows(3, A.rows()));
    EXPECT_EQ(wide.middleRows(3, A.rows()), X);
    EXPECT_TRUE((wide.topRows(3).array() == 5.0).all());
    EXPECT_TRUE((wide.bottomRows(4).array() == 5.0).all());
}

TEST_P(EveryLinearSolver, ReadsTheLowerTriangleAlone) {
    const Matrix full = elasticity_matrix(2, 3, 4);
    const Matrix lower = full.triangularView<Eigen::Lower>();
    Matrix misleading = full;
    for (int j = 0; j < full.cols(); ++j)
        for (Matrix::InnerIterator it(misleading, j); it; ++it)
            if (it.row() < j) it.valueRef() = std::numeric_limits<double>::quiet_NaN();
    for (const Matrix& A : {lower, misleading}) {
        const auto solver = make();
        ASSERT_TRUE(solver->factor(A).is_ok());
        EXPECT_LT(error_against_dense(*solver, full), 1e-12);
    }
}

TEST_P(EveryLinearSolver, AcceptsUncompressedMatrix) {
    Matrix A = laplacian(4);
    A.uncompress();
    const auto solver = make();
    ASSERT_TRUE(solver->analyse(A).is_ok());
    ASSERT_TRUE(solver->factor(A).is_ok());
    EXPECT_LT(error_against_dense(*solver, A), 1e-13);
    EXPECT_EQ(solver->statistics().num_analyses, 1);
}

TEST_P(EveryLinearSolver, EliminatesInTheGivenOrder) {
    // an arrow: with the hub first everything fills, with the hub last nothing does
    const int n = 200;
    std::vector<Eigen::Triplet<double>> entries;
    for (int i = 0; i < n; ++i) {
        entries.emplace_back(i, i, i == 70 ? 2.0 * n : 2.0);
        if (i != 70) entries.emplace_back(std::max(i, 70), std::min(i, 70), 1.0);
    }
    Matrix A(n, n);
    A.setFromTriplets(entries.begin(), entries.end());
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::swap(order.front(), order[70]);
    const auto solver = make();
    ASSERT_TRUE(solver->analyse(A, order).is_ok());
    EXPECT_EQ(solver->statistics().factor_nonzeros, n * (n + 1) / 2);
    EXPECT_TRUE(solver->statistics().order_was_given);
    ASSERT_TRUE(solver->factor(A).is_ok());
    EXPECT_LT(relative_residual(*solver, A), 1e-12);

    std::swap(order.front(), order.back());
    ASSERT_TRUE(solver->analyse(A, order).is_ok());
    ASSERT_TRUE(solver->factor(A).is_ok());
    EXPECT_LT(relative_residual(*solver, A), 1e-12);
    const std::int64_t by_hand = solver->statistics().factor_nonzeros;
    EXPECT_GE(by_hand, 2 * n - 1);
    EXPECT_LT(by_hand, 4 * n);  // MUMPS merges columns and stores zeros between them

    // METIS sees it as well
    ASSERT_TRUE(solver->analyse(A).is_ok());
    EXPECT_FALSE(solver->statistics().order_was_given);
    EXPECT_LT(solver->statistics().factor_nonzeros, 4 * n);
}

TEST_P(EveryLinearSolver, DefaultOrderBeatsTheNaturalOne) {
    const Matrix A = elasticity_matrix(8, 8, 8);
    std::vector<int> natural(static_cast<std::size_t>(A.rows()));
    std::iota(natural.begin(), natural.end(), 0);
    const auto solver = make();
    ASSERT_TRUE(solver->analyse(A, natural).is_ok());
    const SolverStatistics before = solver->statistics();
    ASSERT_TRUE(solver->analyse(A).is_ok());
    const SolverStatistics after = solver->statistics();
    EXPECT_LT(static_cast<double>(after.factor_nonzeros),
              0.8 * static_cast<double>(before.factor_nonzeros));
    EXPECT_LT(after.flops, 0.7 * before.flops);
    ASSERT_TRUE(solver->factor(A).is_ok());
    EXPECT_GE(solver->statistics().bytes, after.factor_nonzeros * 8);
}

TEST_P(EveryLinearSolver, NewValuesReuseTheAnalysis) {
    Matrix A = elasticity_matrix(3, 3, 5);
    const auto solver = make();
    ASSERT_TRUE(solver->analyse(A).is_ok());
    for (int i = 0; i < 3; ++i) {
        A *= 1.5;
        A.diagonal().array() += 0.1;
        ASSERT_TRUE(solver->factor(A).is_ok());
        EXPECT_LT(error_against_dense(*solver, A), 1e-12);
    }
    EXPECT_EQ(solver->statistics().num_analyses, 1);
    EXPECT_EQ(solver->statistics().num_factorisations, 3);
}

TEST_P(EveryLinearSolver, AnotherPatternIsAnalysedAnew) {
    const auto solver = make();
    int analyses = 0;
    Matrix rewired = random_definite(125, 0.1, 4);
    for (const Matrix& A : {laplacian(5), rewired, laplacian(10), random_definite(3, 1.0, 5)}) {
        ASSERT_TRUE(solver->factor(A).is_ok());
        EXPECT_LT(error_against_dense(*solver, A), 1e-12);
        EXPECT_EQ(solver->statistics().num_analyses, ++analyses);
    }
}

TEST_P(EveryLinearSolver, IndefiniteMatrixIsReported) {
    for (const int m : {6, 12}) {
        // by a diagonal entry, and by a coupling stronger than the diagonal
        Matrix A = laplacian(m);
        A.coeffRef(50, 50) = -3;
        EXPECT_EQ(status_of(A).status, FactorStatus::NotPositiveDefinite);
        EXPECT_EQ(status_of(A).unknown, 50);
        A = laplacian(m);
        A.coeffRef(50, 49) = A.coeffRef(49, 50) = 9;
        EXPECT_EQ(status_of(A).status, FactorStatus::NotPositiveDefinite);
        EXPECT_EQ(status_of(-laplacian(m)).status, FactorStatus::NotPositiveDefinite);
    }
}

TEST_P(EveryLinearSolver, UnconstrainedBodyIsSingular) {
    for (const Matrix& A :
         {elasticity_matrix(1, 1, 1, false), elasticity_matrix(3, 4, 5, false),
          elasticity_matrix(7, 7, 7, false), elasticity_matrix(2, 2, 60, false)}) {
        const FactorResult result = status_of(A);
        EXPECT_EQ(result.status, FactorStatus::Singular) << A.rows();
        EXPECT_GE(result.unknown, -1);
        EXPECT_LT(result.unknown, A.rows());
        // in other units as well
        EXPECT_EQ(status_of(1e12 * A).status, FactorStatus::Singular) << A.rows();
    }
}

TEST_P(EveryLinearSolver, BodyHeldByOneHingeIsSingular) {
    // three points of an edge are fixed: one rotation is left
    Matrix A = elasticity_matrix(4, 4, 4, false);
    for (const int node : {0, 2, 4})
        for (int c = 0; c < 3; ++c) A.coeffRef(3 * node + c, 3 * node + c) += 1.0;
    EXPECT_EQ(status_of(A).status, FactorStatus::Singular);
    // a fourth one off the edge takes it away
    for (int c = 0; c < 3; ++c) A.coeffRef(3 * 60 + c, 3 * 60 + c) += 1.0;
    EXPECT_EQ(status_of(A).status, FactorStatus::Ok);
}

TEST_P(EveryLinearSolver, SlenderOrUnevenlyScaledBodyIsNotSingular) {
    // a cantilever of 1 : 300, and stiff springs next to a soft body
    const auto solver = make();
    EXPECT_TRUE(solver->factor(elasticity_matrix(1, 1, 300)).is_ok());
    Matrix A = elasticity_matrix(3, 3, 6);
    for (int i = 0; i < 60; ++i) A.coeffRef(i, i) += 1e9;
    ASSERT_TRUE(solver->factor(A).is_ok());
    EXPECT_LT(relative_residual(*solver, A), 1e-12);
}

TEST_P(EveryLinearSolver, UncoupledUnknownWithoutStiffnessIsNamed) {
    Matrix A = laplacian(9);
    for (int j = 0; j < A.cols(); ++j)
        for (Matrix::InnerIterator it(A, j); it; ++it)
            if (it.row() == 321 || j == 321) it.valueRef() = 0;
    const FactorResult result = status_of(A);
    EXPECT_EQ(result.status, FactorStatus::Singular);
    EXPECT_EQ(result.unknown, 321);
    // not even in the pattern
    A.prune(0.0);
    EXPECT_EQ(status_of(A).status, FactorStatus::Singular);
}

TEST_P(EveryLinearSolver, ZeroPivotIsSingular) {
    Eigen::MatrixXd ring = 2 * Eigen::MatrixXd::Identity(8, 8);
    for (int i = 0; i < 8; ++i) ring(i, (i + 1) % 8) = ring((i + 1) % 8, i) = -1;
    EXPECT_EQ(status_of(sparse(ring)).status, FactorStatus::Singular);
    EXPECT_EQ(status_of(Matrix(5, 5)).status, FactorStatus::Singular);
    EXPECT_EQ(status_of(sparse(Eigen::Matrix2d::Ones())).status, FactorStatus::Singular);
}

TEST_P(EveryLinearSolver, TinyMatricesWork) {
    const auto solver = make();
    ASSERT_TRUE(solver->factor(Matrix(0, 0)).is_ok());
    EXPECT_EQ(solver->solve(Eigen::VectorXd()).size(), 0);
    ASSERT_TRUE(solver->factor(sparse(Eigen::MatrixXd::Constant(1, 1, 4.0))).is_ok());
    EXPECT_DOUBLE_EQ(solver->solve(Eigen::VectorXd::Constant(1, 2.0))[0], 0.5);
    EXPECT_EQ(solver->solve(Eigen::MatrixXd(1, 0)).size(), 0);
    Matrix identity(7, 7);
    identity.setIdentity();
    ASSERT_TRUE(solver->factor(identity).is_ok());
    const Eigen::VectorXd b = random_matrix(7, 1, 6);
    EXPECT_LT((solver->solve(b) - b).norm(), 1e-15);
}

TEST_P(EveryLinearSolver, NonFiniteEntryIsNamedAndForgotten) {
    const Matrix good = elasticity_matrix(4, 4, 10);
    const auto solver = make();
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
        Matrix A = good;
        A.coeffRef(33, 33) = bad;
        const FactorResult result = solver->factor(A);
        EXPECT_EQ(result.status, FactorStatus::NotFinite);
        EXPECT_EQ(result.unknown, 33);
        EXPECT_FALSE(solver->is_factored());
        ASSERT_TRUE(solver->factor(good).is_ok());
        EXPECT_LT(relative_residual(*solver, good), 1e-11);
    }
    EXPECT_EQ(solver->statistics().num_analyses, 1);
}

TEST_P(EveryLinearSolver, FailureLeavesTheSolverUsable) {
    const Matrix good = elasticity_matrix(3, 3, 8);
    const auto solver = make();
    EXPECT_EQ(solver->factor(Matrix(0 * good)).status, FactorStatus::Singular);
    EXPECT_EQ(solver->factor(Matrix(-1 * good)).status, FactorStatus::NotPositiveDefinite);
    EXPECT_FALSE(solver->is_factored());
    ASSERT_TRUE(solver->factor(good).is_ok());
    EXPECT_LT(relative_residual(*solver, good), 1e-11);
}

TEST_P(EveryLinearSolver, ResultsRepeatBitByBit) {
    const Matrix A = elasticity_matrix(5, 5, 9);
    const Eigen::MatrixXd B = random_matrix(A.rows(), 3, 7);
    const auto first = make(), second = make();
    ASSERT_TRUE(first->factor(A).is_ok() && second->factor(A).is_ok());
    EXPECT_EQ(first->solve(B), second->solve(B));
}

TEST_P(EveryLinearSolver, WorksOnSeveralThreadsAtOnce) {
    double errors[4] = {1, 1, 1, 1};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([t, &errors] {
            const Matrix A = elasticity_matrix(3 + t, 4, 6);
            const auto solver = make();
            if (solver->factor(A).is_ok()) errors[t] = relative_residual(*solver, A);
        });
    for (std::thread& thread : threads) thread.join();
    for (const double error : errors) EXPECT_LT(error, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(, EveryLinearSolver, testing::ValuesIn(all_kinds()), name_of);

TEST_P(SolverForIndefinite, CountsNegativeEigenvalues) {
    // a stiffness matrix minus a multiple of the identity has as many negative pivots as
    // eigenvalues below the shift
    const Matrix K = elasticity_matrix(3, 3, 6);
    const Eigen::VectorXd eigenvalues = symmetric_eigenvalues(Eigen::MatrixXd(K));
    for (const int below : {0, 5, 40}) {
        const double shift = below == 0 ? 0.0 : 0.5 * (eigenvalues[below - 1] + eigenvalues[below]);
        Matrix A = K;
        A.diagonal().array() -= shift;
        const auto solver = make(Definiteness::Any);
        ASSERT_TRUE(solver->factor(A).is_ok()) << below;
        EXPECT_EQ(solver->statistics().negative_pivots, below);
        EXPECT_LT(relative_residual(*solver, A), 1e-8);
    }
}

TEST_P(SolverForIndefinite, SingularMatrixIsReported) {
    const auto solver = make(Definiteness::Any);
    EXPECT_EQ(solver->factor(elasticity_matrix(4, 4, 6, false)).status, FactorStatus::Singular);
    EXPECT_EQ(solver->factor(Matrix(6, 6)).status, FactorStatus::Singular);
}

INSTANTIATE_TEST_SUITE_P(, SolverForIndefinite, testing::ValuesIn(kinds_for_indefinite()), name_of);

TEST(LinearSolver, MumpsPivotsThroughZerosOnTheDiagonal) {
    if (!is_available(SolverKind::Mumps)) GTEST_SKIP();
    // constraints C x = 0 with multipliers: the lower right block is empty
    const Matrix K = elasticity_matrix(3, 3, 6);
    const auto n = static_cast<int>(K.rows()), m = 20;
    std::vector<Eigen::Triplet<double>> entries;
    for (int j = 0; j < n; ++j)
        for (Matrix::InnerIterator it(K, j); it; ++it)
            entries.emplace_back(it.row(), j, it.value());
    for (int c = 0; c < m; ++c)
        for (const int i : {7 * c, 7 * c + 5, (31 * c + 100) % n}) {
            entries.emplace_back(n + c, i, 1.0 + 0.1 * c);
            entries.emplace_back(i, n + c, 1.0 + 0.1 * c);
        }
    Matrix A(n + m, n + m);
    A.setFromTriplets(entries.begin(), entries.end());
    SolverOptions options;
    options.definiteness = Definiteness::Any;
    const auto solver = make_linear_solver(SolverKind::Auto, options);
    ASSERT_TRUE(solver->factor(A).is_ok());
    EXPECT_EQ(solver->statistics().kind, SolverKind::Mumps);
    EXPECT_EQ(solver->statistics().negative_pivots, m);
    EXPECT_LT(relative_residual(*solver, A), 1e-11);
    // the first row without a diagonal gives it away
    const FactorResult result = make_linear_solver(SolverKind::Mumps)->factor(A);
    EXPECT_EQ(result.status, FactorStatus::NotPositiveDefinite);
    EXPECT_EQ(result.unknown, n);
}

TEST(LinearSolver, AutoTakesEigenForSmallAndMumpsForLarge) {
    if (!is_available(SolverKind::Mumps)) GTEST_SKIP();
    const auto solver = make_linear_solver();
    ASSERT_TRUE(solver->factor(laplacian(4)).is_ok());
    EXPECT_EQ(solver->statistics().kind, SolverKind::EigenLdlt);
    ASSERT_TRUE(solver->factor(laplacian(12)).is_ok());
    EXPECT_EQ(solver->statistics().kind, SolverKind::Mumps);
}

TEST(LinearSolver, EigenStatisticsCountTheFactorExactly) {
    // tridiagonal in natural order: two entries per column but the last
    const int n = 100;
    Matrix A(n, n);
    for (int i = 0; i < n; ++i) {
        A.insert(i, i) = 2.1;
        if (i > 0) A.insert(i, i - 1) = -1;
    }
    std::vector<int> natural(n);
    std::iota(natural.begin(), natural.end(), 0);
    const auto solver = make_linear_solver(SolverKind::EigenLdlt);
    ASSERT_TRUE(solver->analyse(A, natural).is_ok());
    EXPECT_EQ(solver->statistics().factor_nonzeros, 2 * n - 1);
    EXPECT_EQ(solver->statistics().flops, 4 * (n - 1) + 1);
}

TEST(LinearSolver, EigenNamesTheFirstNegativePivot) {
    Matrix A = laplacian(5);
    A.coeffRef(62, 61) = A.coeffRef(61, 62) = 9;
    std::vector<int> natural(125);
    std::iota(natural.begin(), natural.end(), 0);
    const auto solver = make_linear_solver(SolverKind::EigenLdlt);
    ASSERT_TRUE(solver->analyse(A, natural).is_ok());
    const FactorResult result = solver->factor(A);
    EXPECT_EQ(result.status, FactorStatus::NotPositiveDefinite);
    EXPECT_EQ(result.unknown, 62);
    EXPECT_EQ(solver->statistics().negative_pivots, 1);
}

TEST(LinearSolver, EigenSolvesWithoutAllocation) {
    const Matrix A = elasticity_matrix(4, 4, 8);
    const auto solver = make_linear_solver(SolverKind::EigenLdlt);
    ASSERT_TRUE(solver->factor(A).is_ok());
    Eigen::VectorXd b = random_matrix(A.rows(), 1, 8);
    Eigen::MatrixXd B = random_matrix(A.rows(), 13, 9);
    const AllocationGuard guard;
    solver->solve_in_place(b);
    solver->solve_in_place(B);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
}

TEST(LinearSolver, RefusesWhatTheBuildLacks) {
    EXPECT_EQ(available_solvers().front(), SolverKind::EigenLdlt);
    for (const SolverKind kind : {SolverKind::Mumps, SolverKind::Cholmod}) {
        if (is_available(kind)) continue;
        try {
            (void)make_linear_solver(kind);
            FAIL();
        } catch (const InputError& error) {
            EXPECT_NE(std::string(error.what())
                          .find("solver = " + std::string(to_string(kind)) +
                                " (expected one that this build has: auto, eigen"),
                      std::string::npos)
                << error.what();
        }
    }
}

}  // namespace
}  // namespace pliant
