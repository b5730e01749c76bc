#include "greens/cross_approximation.h"

#include "core/numbers.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::MatrixXd;

CrossEntries entries_of(const MatrixXd& matrix, int& num_evaluated) {
    return {[&](std::span<const int> rows, MatrixXd& out) {
                out.resize(3 * static_cast<Eigen::Index>(rows.size()), matrix.cols());
                for (std::size_t k = 0; k < rows.size(); ++k)
                    out.middleRows<3>(3 * static_cast<Eigen::Index>(k)) =
                        matrix.middleRows<3>(3 * rows[k]);
                num_evaluated += static_cast<int>(out.size());
            },
            [&](std::span<const int> columns, MatrixXd& out) {
                out.resize(matrix.rows(), 3 * static_cast<Eigen::Index>(columns.size()));
                for (std::size_t k = 0; k < columns.size(); ++k)
                    out.middleCols<3>(3 * static_cast<Eigen::Index>(k)) =
                        matrix.middleCols<3>(3 * columns[k]);
                num_evaluated += static_cast<int>(out.size());
            }};
}

/// 3×3 blocks that decay with the distance of points on two segments.
MatrixXd smooth_matrix(int rows, int columns, double gap) {
    MatrixXd matrix(3 * rows, 3 * columns);
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
            const Eigen::Vector3d d(gap + 1.0 * j / columns + 1.0 * i / rows, 0.3 + 0.2 * i / rows,
                                    0.1 * j / columns);
            const double r = d.norm();
            matrix.block<3, 3>(3 * i, 3 * j) =
                Eigen::Matrix3d::Identity() / r + d * d.transpose() / (r * r * r);
        }
    return matrix;
}

TEST(CrossApproximation, MeetsItsToleranceOnASmoothKernelFromFewEntries) {
    const MatrixXd matrix = smooth_matrix(150, 130, 1);
    int last_rank = 0;
    for (const double tolerance : {1e-2, 1e-4, 1e-6}) {
        int num_evaluated = 0;
        const auto low_rank =
            cross_approximation(150, 130, tolerance, 100, entries_of(matrix, num_evaluated));
        ASSERT_TRUE(low_rank);
        const double error =
            (low_rank->U * low_rank->V.transpose() - matrix).norm() / matrix.norm();
        EXPECT_LT(error, tolerance);
        EXPECT_GT(low_rank->U.cols(), last_rank);
        EXPECT_LT(low_rank->U.cols(), 25);
        EXPECT_LT(num_evaluated, matrix.size() / 2);
        last_rank = static_cast<int>(low_rank->U.cols());
    }
}

TEST(CrossApproximation, FindsPartsThatShareNeitherRowsNorColumns) {
    // two decoupled corners, as traction kernels between flat faces have them
    MatrixXd matrix = MatrixXd::Zero(3 * 80, 3 * 60);
    matrix.topLeftCorner(3 * 50, 3 * 20) = smooth_matrix(50, 20, 1);
    matrix.bottomRightCorner(3 * 30, 3 * 40) = smooth_matrix(30, 40, 3);
    int num_evaluated = 0;
    const auto low_rank = cross_approximation(80, 60, 1e-5, 90, entries_of(matrix, num_evaluated));
    ASSERT_TRUE(low_rank);
    EXPECT_LT((low_rank->U * low_rank->V.transpose() - matrix).norm(), 1e-5 * matrix.norm());
}

TEST(CrossApproximation, ZeroHasRankZeroAndFullRankIsRefused) {
    int num_evaluated = 0;
    const MatrixXd zero = MatrixXd::Zero(3 * 20, 3 * 10);
    const auto none = cross_approximation(20, 10, 1e-4, 30, entries_of(zero, num_evaluated));
    ASSERT_TRUE(none);
    EXPECT_EQ(none->U.cols(), 0);

    std::srand(1);
    const MatrixXd noise = MatrixXd::Random(3 * 20, 3 * 10);
    EXPECT_FALSE(cross_approximation(20, 10, 1e-4, 20, entries_of(noise, num_evaluated)));
    // and is exact when it may be
    const auto whole = cross_approximation(20, 10, 1e-12, 30, entries_of(noise, num_evaluated));
    ASSERT_TRUE(whole);
    EXPECT_LT((whole->U * whole->V.transpose() - noise).norm(), 1e-11 * noise.norm());
}

TEST(CrossApproximation, TakesBlocksSmallerThanItsBatches) {
    const MatrixXd matrix = smooth_matrix(3, 2, 5);
    int num_evaluated = 0;
    const auto low_rank = cross_approximation(3, 2, 1e-3, 6, entries_of(matrix, num_evaluated));
    ASSERT_TRUE(low_rank);
    EXPECT_LT((low_rank->U * low_rank->V.transpose() - matrix).norm(), 1e-3 * matrix.norm());
}

}  // namespace
}  // namespace pliant
