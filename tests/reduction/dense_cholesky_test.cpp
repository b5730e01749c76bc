#include "reduction/dense_cholesky.h"

#include "pliant/core/simd.h"
#include "reduction/aligned_array.h"
#include "reduction/force_samples.h"
#include "reduction/symmetric_solver.h"

#include <gtest/gtest.h>
#include <limits>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::definite_matrix;

class DenseCholesky : public ::testing::TestWithParam<std::string> {
    ScopedSimdTarget target_{GetParam()};
};

TEST_P(DenseCholesky, SolvesLikeEigen) {
    for (const int n : {1, 2, 3, 4, 5, 7, 8, 12, 15, 20, 30, 33, 60, 100}) {
        const MatrixXd A = definite_matrix(n);
        const MatrixXd B = test::random_basis(n, 13, 1);
        for (const int num_loads : {1, 4, 13}) {
            SymmetricSolver solver(n, 13);
            for (int repeat = 0; repeat < 2; ++repeat) {  // padding stays as it was
                MatrixXd X = B;
                solver.definite() = A;
                ASSERT_TRUE(solver.solve_definite(X, num_loads));
                const MatrixXd expected = A.llt().solve(B.leftCols(num_loads));
                // both are backward stable; the condition number is below 1e3
                EXPECT_LE((X.leftCols(num_loads) - expected).norm(), 1e-12 * expected.norm())
                    << n << " " << num_loads;
                EXPECT_EQ(X.rightCols(13 - num_loads), B.rightCols(13 - num_loads));
            }
        }
    }
}

TEST_P(DenseCholesky, FactorIsThatOfEigen) {
    const int n = 21;
    const CholeskyLayout layout{n, 1};
    AlignedArray<double> values(layout.num_values());
    prepare_cholesky(layout, values.data());
    Eigen::Map<MatrixXd, 0, Eigen::OuterStride<>> A(values.data(), n, n,
                                                    Eigen::OuterStride<>(layout.stride()));
    A = definite_matrix(n);
    ASSERT_TRUE(cholesky_factor(layout, values.data(), 0));
    MatrixXd L = A.triangularView<Eigen::Lower>();
    L.diagonal() = L.diagonal().cwiseInverse();
    const MatrixXd expected = definite_matrix(n).llt().matrixL();
    EXPECT_LE((L - expected).norm(), 1e-13 * expected.norm());
}

TEST_P(DenseCholesky, RefusesWhatIsNotPositiveDefinite) {
    for (const int n : {1, 6, 20, 31})
        for (const int bad : {0, n / 2, n - 1}) {
            SymmetricSolver solver(n, 1);
            MatrixXd X = MatrixXd::Ones(n, 1);
            MatrixXd A = definite_matrix(n);
            A(bad, bad) *= -1;
            solver.definite() = A;
            EXPECT_FALSE(solver.solve_definite(X, 1));
            A(bad, bad) = std::numeric_limits<double>::quiet_NaN();
            solver.definite() = A;
            EXPECT_FALSE(solver.solve_definite(X, 1));
            // singular: two equal rows, where a pivot is rounding
            if (n > 1) {
                A = definite_matrix(n);
                const int other = bad == 0 ? 1 : bad - 1;
                A.row(bad) = A.row(other);
                A.col(bad) = A.col(other);
                solver.definite() = A;
                EXPECT_FALSE(solver.solve_definite(X, 1)) << n << " " << bad;
            }
            EXPECT_EQ(X, MatrixXd::Ones(n, 1));
            // and still solves afterwards
            solver.definite() = definite_matrix(n);
            ASSERT_TRUE(solver.solve_definite(X, 1));
            EXPECT_LE((definite_matrix(n) * X - MatrixXd::Ones(n, 1)).norm(), 1e-11);
        }
}

INSTANTIATE_TEST_SUITE_P(Targets, DenseCholesky, ::testing::ValuesIn(simd_targets()),
                         [](const auto& target) { return target.param; });

}  // namespace
}  // namespace pliant
