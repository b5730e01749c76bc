#include "core/jacobi_eigen.h"

#include "core/dense_algebra.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace pliant {
namespace {

template <int N>
void expect_eigen(const Eigen::Matrix<double, N, N>& A) {
    using Matrix = Eigen::Matrix<double, N, N>;
    const SmallEigen<N> eigen = jacobi_eigen<N>(A);
    const double rounding = 1e-14 * A.norm();
    EXPECT_LT((A * eigen.vectors - eigen.vectors * eigen.values.asDiagonal()).norm(), rounding);
    EXPECT_LT((eigen.vectors.transpose() * eigen.vectors - Matrix::Identity()).norm(), 1e-14);
    for (int i = 1; i < N; ++i) EXPECT_LE(eigen.values[i - 1], eigen.values[i]);
    EXPECT_LT((eigen.values - symmetric_eigenvalues(A)).norm(), rounding);
}

template <int N>
void expect_eigen_of_random_matrices() {
    std::mt19937 generator(N);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int k = 0; k < 200; ++k) {
        const auto B = Eigen::Matrix<double, N, N>::NullaryExpr([&] { return uniform(generator); });
        const Eigen::Matrix<double, N, N> A = B;
        expect_eigen<N>(std::pow(10.0, k % 13 - 6) * (A + A.transpose()));
        expect_eigen<N>(A.col(0) * A.col(0).transpose());  // N − 1 equal ones
    }
}

TEST(JacobiEigen, AgreesWithTheGeneralMethod) {
    expect_eigen_of_random_matrices<3>();
    expect_eigen_of_random_matrices<4>();
    expect_eigen_of_random_matrices<6>();
}

TEST(JacobiEigen, DiagonalMatricesAreSorted) {
    const Eigen::Matrix3d A = Eigen::Vector3d(3, -1, 2).asDiagonal();
    EXPECT_EQ(jacobi_eigen<3>(A).values, Eigen::Vector3d(-1, 2, 3));
    EXPECT_EQ(jacobi_eigen<3>(Eigen::Matrix3d::Zero()).values, Eigen::Vector3d::Zero());
}

TEST(JacobiEigen, ZeroDiagonalIsNoObstacle) {
    Eigen::Matrix3d A;
    A << 0, 1, 0, 1, 0, 0, 0, 0, 0;
    expect_eigen<3>(A);
}

TEST(JacobiEigen, EndsWhateverComesIn) {
    Eigen::Matrix3d A = Eigen::Matrix3d::Ones();
    A(0, 1) = A(1, 0) = std::numeric_limits<double>::quiet_NaN();
    (void)jacobi_eigen<3>(A);
    A(0, 1) = A(1, 0) = std::numeric_limits<double>::infinity();
    (void)jacobi_eigen<3>(A);
}

TEST(DenseAlgebra, EigenpairsOfAPencil) {
    std::mt19937 generator(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const Eigen::MatrixXd G =
        Eigen::MatrixXd::NullaryExpr(8, 8, [&] { return uniform(generator); });
    const Eigen::MatrixXd A = G + G.transpose(),
                          B = G * G.transpose() + Eigen::MatrixXd::Identity(8, 8);
    const SymmetricEigen eigen = symmetric_eigen(A, B);
    EXPECT_LT((A * eigen.vectors - B * eigen.vectors * eigen.values.asDiagonal()).norm(), 1e-12);
    EXPECT_LT(
        (eigen.vectors.transpose() * B * eigen.vectors).diagonal().array().abs().maxCoeff() - 1,
        1e-12);
    EXPECT_LT((symmetric_eigenvalues(A, B) - eigen.values).norm(), 1e-12);
}

TEST(DenseAlgebra, SolvesAndFactors) {
    Eigen::Matrix2d A;
    A << 4, 2, 2, 5;
    EXPECT_LT((A * solve_dense(A, Eigen::Vector2d(1, 2)) - Eigen::Vector2d(1, 2)).norm(), 1e-15);
    const Eigen::MatrixXd L = lower_cholesky(A);
    EXPECT_LT((L * L.transpose() - A).norm(), 1e-15);
    EXPECT_EQ(lower_cholesky(-A).size(), 0);
    const SymmetricEigen chain =
        tridiagonal_eigen(Eigen::Vector2d(4, 5), Eigen::VectorXd::Ones(1) * 2);
    EXPECT_LT((chain.values - symmetric_eigenvalues(A)).norm(), 1e-14);
}

}  // namespace
}  // namespace pliant
