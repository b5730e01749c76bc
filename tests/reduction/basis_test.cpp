#include "pliant/reduction/basis.h"

#include "core/dense_algebra.h"
#include "input_error.h"
#include "pliant/fem/mass.h"
#include "pliant/geometry/structured_mesh.h"

#include <gtest/gtest.h>
#include <random>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::input_error;

Eigen::SparseMatrix<double> some_mass() {
    return mass_matrix(FemModel(hex_box(3, 2, 2, Box(Vector3d::Zero(), Vector3d(1, 2, 3))),
                                {isotropic(1e5, 0.3, 1000)}));
}

MatrixXd random_columns(Eigen::Index rows, int columns) {
    std::mt19937 random(11);
    std::normal_distribution<double> normal;
    MatrixXd X = MatrixXd::NullaryExpr(rows, columns, [&] { return normal(random); });
    for (int j = 0; j < columns; ++j) X.col(j) *= std::pow(0.5, j);
    return X;
}

TEST(MassPca, EqualsTheSingularValuesOfTheCholeskyTransformedShapes) {
    const auto M = some_mass();
    const MatrixXd X = random_columns(M.rows(), 9);
    const Basis basis = mass_pca(X, M, 4);
    // the textbook way: M = L Lᵀ, singular vectors of Lᵀ X, back
    const MatrixXd L = lower_cholesky(MatrixXd(M)), LX = L.transpose() * X;
    const SymmetricEigen eigen = symmetric_eigen(LX * LX.transpose());
    const VectorXd squares = eigen.values.tail(9).reverse();
    EXPECT_LT((basis.singular_values - squares.cwiseSqrt()).cwiseAbs().maxCoeff(),
              1e-7 * std::sqrt(squares[0]));
    const MatrixXd U = L.transpose().triangularView<Eigen::Upper>().solve(
        eigen.vectors.rowwise().reverse().leftCols(4));
    const MatrixXd overlap = basis.U.transpose() * (M * U);
    EXPECT_LT((overlap.cwiseAbs() - MatrixXd::Identity(4, 4)).cwiseAbs().maxCoeff(), 1e-6);
    EXPECT_LT(
        (basis.U.transpose() * (M * basis.U) - MatrixXd::Identity(4, 4)).cwiseAbs().maxCoeff(),
        1e-13);
    EXPECT_NEAR(basis.captured(), squares.head(4).sum() / squares.sum(), 1e-9);
}

TEST(MassPca, FindsVectorsFarBelowTheRootOfRounding) {
    const auto M = some_mass();
    const MatrixXd Q = mass_gram_schmidt(random_columns(M.rows(), 5), M);
    Eigen::Vector<double, 5> sizes;
    sizes << 1, 1e-4, 1e-7, 1e-9, 1e-11;
    const MatrixXd mixed = MatrixXd::NullaryExpr(5, 5, [](Eigen::Index i, Eigen::Index j) {
        return i == j ? 1.0 : i < j ? 0.3 : 0.0;
    });
    // columns of every size, each with parts of the larger ones
    const MatrixXd X = Q * sizes.asDiagonal() * mixed;
    const Basis basis = mass_pca(X, M, 5);
    ASSERT_EQ(basis.size(), 5);
    EXPECT_LT((basis.U.transpose() * (M * basis.U) - MatrixXd::Identity(5, 5)).norm(), 1e-12);
    const MatrixXd overlap = basis.U.transpose() * (M * Q);
    for (int i = 0; i < 5; ++i) {
        EXPECT_NEAR(std::abs(overlap(i, i)), 1, 1e-4) << i;
        EXPECT_NEAR(basis.singular_values[i] / sizes[i], 1, 0.2) << i;
    }
}

TEST(MassPca, DependentShapesGiveASmallerBasis) {
    const auto M = some_mass();
    MatrixXd X = random_columns(M.rows(), 5);
    X.col(4) = X.col(0) - 2 * X.col(1);
    X.col(3) = X.col(2);
    EXPECT_EQ(mass_pca(X, M, 5).size(), 3);
}

TEST(MassPca, SizesOutOfRangeAreRefused) {
    const auto M = some_mass();
    EXPECT_NE(input_error([&] {
                  return mass_pca(random_columns(M.rows(), 5), M, 6);
              }).find("r = 6 (expected 1 to 5, the number of shapes to choose from)"),
              std::string::npos);
}

TEST(MassGramSchmidt, KeepsOrderAndSpanAndDropsDependentColumns) {
    const auto M = some_mass();
    MatrixXd X = random_columns(M.rows(), 6);
    X.col(2) = X.col(0) + X.col(1);
    const MatrixXd U = mass_gram_schmidt(X, M);
    ASSERT_EQ(U.cols(), 5);
    EXPECT_LT((U.transpose() * (M * U) - MatrixXd::Identity(5, 5)).cwiseAbs().maxCoeff(), 1e-13);
    const MatrixXd rest = X - U * (U.transpose() * (M * X));
    EXPECT_LT(rest.cwiseAbs().maxCoeff(), 1e-12);
    // the first column is the first direction
    EXPECT_NEAR(std::abs(U.col(0).dot(VectorXd(M * X.col(0)))),
                std::sqrt(X.col(0).dot(VectorXd(M * X.col(0)))), 1e-9);
}

TEST(Basis, WeightsOfModesAloneReturnTheModes) {
    const auto M = some_mass();
    LinearModes modes;
    modes.shapes = mass_gram_schmidt(random_columns(M.rows(), 3), M);
    modes.eigenvalues = Vector3d(1, 4, 9);
    const MatrixXd none = MatrixXd::Zero(M.rows(), 6);
    const MatrixXd X = weighted_modes_and_derivatives(modes, none, M).leftCols(3);
    const Basis basis = mass_pca(X, M, 3);
    const MatrixXd overlap = basis.U.transpose() * (M * modes.shapes);
    EXPECT_LT((overlap.cwiseAbs() - MatrixXd::Identity(3, 3)).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(Basis, MergedBasesSpanBoth) {
    const auto M = some_mass();
    const MatrixXd X = mass_gram_schmidt(random_columns(M.rows(), 6), M);
    const std::vector<MatrixXd> parts{X.leftCols(4), X.rightCols(4)};
    const Basis merged = merge_bases(parts, M, 6);
    ASSERT_EQ(merged.size(), 6);
    const MatrixXd rest = X - merged.U * (merged.U.transpose() * (M * X));
    EXPECT_LT(rest.cwiseAbs().maxCoeff(), 1e-10);
}

}  // namespace
}  // namespace pliant
