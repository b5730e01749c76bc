#include "fem/polar_rotation.h"

#include "fem/cofactor.h"
#include "fem/random_matrices.h"

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <Eigen/SVD>
#include <random>
#include <vector>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using test::random_matrix;
using test::random_rotation;

/// Slow and obvious: from the singular value decomposition, with the last sign chosen for det = +1.
Matrix3d rotation_from_svd(const Matrix3d& F) {
    const Eigen::JacobiSVD<Matrix3d> svd(F, Eigen::ComputeFullU | Eigen::ComputeFullV);
    Vector3d signs(1, 1, (svd.matrixU() * svd.matrixV().transpose()).determinant() > 0 ? 1 : -1);
    return svd.matrixU() * signs.asDiagonal() * svd.matrixV().transpose();
}

void expect_rotation(const Matrix3d& R) {
    EXPECT_LT((R.transpose() * R - Matrix3d::Identity()).norm(), 5e-15) << R;
    EXPECT_NEAR(R.determinant(), 1, 5e-15);
}

TEST(PolarRotation, EqualsTheSingularValueDecomposition) {
    std::mt19937 generator(1);
    for (int k = 0; k < 2000; ++k) {
        const Matrix3d F = std::pow(10.0, k % 7 - 3) * random_matrix(generator);
        const Matrix3d R = polar_rotation(F);
        expect_rotation(R);
        const Vector3d s = F.jacobiSvd().singularValues();
        const double smallest_sum = s[1] + (F.determinant() > 0 ? s[2] : -s[2]);
        // rounding of F moves R by that much over the smallest sum of singular values
        EXPECT_LT((R - rotation_from_svd(F)).norm(), 3e-15 * s[0] / smallest_sum + 3e-15) << F;
    }
}

TEST(PolarRotation, RecoversRotationsOfStretchedAndInvertedMatrices) {
    std::mt19937 generator(2);
    for (const Vector3d& s : {Vector3d(1, 1, 1), Vector3d(3, 1, 0.1), Vector3d(1.2, 0.9, -0.3),
                              Vector3d(1, 1, -1e-9), Vector3d(100, 1, 0.01), Vector3d(1, 1, 0)}) {
        for (int k = 0; k < 50; ++k) {
            const Matrix3d R = random_rotation(generator), V = random_rotation(generator);
            const Matrix3d F = R * V * s.asDiagonal() * V.transpose();
            const double tolerance = 3e-15 * s[0] / (s[1] + s[2]) + 3e-15;
            EXPECT_LT((polar_rotation(F) - R).norm(), tolerance) << s.transpose();
        }
    }
}

TEST(PolarRotation, OfDegenerateMatricesIsANearestRotation) {
    std::mt19937 generator(3);
    const Vector3d a = random_matrix(generator).col(0), b = random_matrix(generator).col(0);
    const std::vector<Matrix3d> degenerate = {
        Matrix3d::Zero(),
        a * b.transpose(),
        Vector3d(1, 0, 0) * Vector3d(1, 0, 0).transpose(),
        -Matrix3d::Identity(),
        Vector3d(1, -1, 1).asDiagonal(),
        Vector3d(2, 1, -1).asDiagonal(),
        1e-200 * random_matrix(generator),
        1e-40 * random_matrix(generator),
        1e40 * random_matrix(generator),
        Matrix3d::Constant(5e-324),
    };
    for (const Matrix3d& F : degenerate) {
        const Matrix3d R = polar_rotation(F);
        expect_rotation(R);
        // tr RᵀF is the largest of all rotations
        const double trace = R.cwiseProduct(F).sum();
        for (int k = 0; k < 200; ++k) {
            const double other = random_rotation(generator).cwiseProduct(F).sum();
            EXPECT_GE(trace, other - 1e-14 * F.norm() - 1e-190) << F;
        }
    }
}

TEST(PolarRotation, FastAndRobustPathsAgreeWhereTheyMeet) {
    // the path changes at det X = 0.05 of X = √3 F/|F|
    std::mt19937 generator(4);
    for (int k = 0; k < 50; ++k) {
        const Matrix3d R = random_rotation(generator), V = random_rotation(generator);
        for (const double s : {0.0450, 0.0455, 0.0460, 0.0465, 0.0470}) {
            Vector3d stretch(1.3, 0.8 + 0.005 * k, s);
            const Matrix3d F = R * V * stretch.asDiagonal() * V.transpose();
            EXPECT_LT((polar_rotation(F) - R).norm(), 2e-14);
        }
    }
}

TEST(Cofactor, IsTheGradientOfTheDeterminantAndHasABilinearDerivative) {
    std::mt19937 generator(5);
    const Matrix3d A = random_matrix(generator), B = random_matrix(generator);
    EXPECT_LT((cofactor(A) - A.determinant() * A.inverse().transpose()).norm(), 1e-14);
    // cof is quadratic: one difference is exact
    EXPECT_LT((cofactor_derivative(A, B) - 0.5 * (cofactor(A + B) - cofactor(A - B))).norm(),
              1e-14);
    EXPECT_LT((cofactor_derivative(A, B) - cofactor_derivative(B, A)).norm(), 1e-15);
    const Vector3d v = A.col(0), w = B.col(0);
    EXPECT_EQ(cross_matrix(v) * w, v.cross(w));
}

}  // namespace
}  // namespace pliant
