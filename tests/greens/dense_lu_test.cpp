#include "greens/dense_lu.h"

#include <gtest/gtest.h>

#include "core/dense_algebra.h"
#include "pliant/core/parallel.h"
#include "tests/greens/synthetic_greens.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

using Eigen::MatrixXd;

/// Over one panel, several, and with a last one that is narrower.
TEST(DenseLu, SolvesLikeElimination) {
    for (const int n : {1, 7, 192, 193, 700}) {
        const MatrixXd A = test::random_matrix(n, n, 3) + MatrixXd::Identity(n, n);
        const MatrixXd B = test::random_matrix(n, 200, 4);
        MatrixXd X = B;
        DenseLu(A, Progress::none()).solve_in_place(X);
        const MatrixXd expected = solve_dense(A, B);
        EXPECT_LT((X - expected).norm(), 1e-9 * expected.norm()) << n;
    }
}

TEST(DenseLu, BitsDoNotDependOnTheNumberOfThreads) {
    const MatrixXd A = test::random_matrix(900, 900, 5), B = test::random_matrix(900, 500, 6);
    MatrixXd X[2] = {B, B};
    for (const int threads : {1, 2}) {
        set_num_threads(threads);
        DenseLu(A, Progress::none()).solve_in_place(X[threads - 1]);
    }
    set_num_threads(0);
    EXPECT_EQ(X[0], X[1]);
}

TEST(DenseLu, SingularMatricesAreRefused) {
    MatrixXd A = test::random_matrix(300, 300, 7);
    A.col(250) = A.col(3);
    const auto sentence = [&] { return test::input_error([&] { DenseLu(A, Progress::none()); }); };
    EXPECT_TRUE(sentence().starts_with("the boundary equations of this body are singular"));
    A.col(250).setZero();
    EXPECT_TRUE(sentence().starts_with("the boundary equations of this body are singular"));
    A = test::random_matrix(300, 300, 7);
    A(100, 100) = kNan;
    EXPECT_TRUE(sentence().starts_with("the boundary equations of this body are singular"));
}

}  // namespace
}  // namespace pliant
