#include "haptics/six_solve.h"

#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <random>

#include "pliant/core/allocation_guard.h"

namespace pliant {
namespace {

constexpr double kThreshold = 1e-3;

/// U diag(values) Vᵀ with random rotations.
Matrix6d matrix_of(const Vector6d& values, std::mt19937& random) {
    std::normal_distribution<double> normal;
    const auto rotation = [&] {
        Matrix6d m;
        for (double& v : m.reshaped()) v = normal(random);
        return Matrix6d(Eigen::JacobiSVD<Matrix6d>(m, Eigen::ComputeFullU).matrixU());
    };
    return rotation() * values.asDiagonal() * rotation().transpose();
}

Vector6d random_six(std::mt19937& random) {
    std::normal_distribution<double> normal;
    Vector6d v;
    for (double& x : v) x = normal(random);
    return v;
}

/// Slow and obvious.
Vector6d expected(const Matrix6d& A, const Vector6d& b, const Vector6d& goal, CouplingSolve solve) {
    const Eigen::JacobiSVD<Matrix6d> svd(A, Eigen::ComputeFullU | Eigen::ComputeFullV);
    Vector6d x = Vector6d::Zero();
    for (int j = 0; j < 6; ++j) {
        const Vector6d v = svd.matrixV().col(j);
        if (svd.singularValues()[j] >= kThreshold * svd.singularValues()[0])
            x += svd.matrixU().col(j).dot(b) / svd.singularValues()[j] * v;
        else if (solve == CouplingSolve::Svd)
            x += v.dot(goal) * v;
    }
    return x;
}

/// Singular values from well conditioned over close to the threshold to exactly singular.
std::vector<Vector6d> spectra() {
    std::vector<Vector6d> all;
    const auto add = [&](double a, double b, double c, double d, double e, double f) {
        Vector6d v;
        v << a, b, c, d, e, f;
        all.push_back(v);
    };
    add(1, 1, 1, 1, 1, 1);
    add(9e4, 700, 600, 600, 500, 450);
    add(9e4, 8e4, 600, 600, 500, 450);
    add(9e4, 9e4, 9e4, 100, 95, 85);
    add(9e4, 9e4, 9e4, 1e-3, 1e-4, 1e-9);
    add(1, 1, 1, 0, 0, 0);
    add(1e6, 900, 0, 0, 0, 0);
    add(1e-5, 1e-6, 1e-7, 1e-7, 1e-7, 2e-8);
    add(3, 2e-3, 2e-3, 2e-3, 4e-3, 1e-12);
    return all;
}

TEST(SixSolve, MatchesASlowDecompositionForWellAndBadlyConditionedMatrices) {
    std::mt19937 random(4);
    int num_degenerate = 0;
    for (int trial = 0; trial < 200; ++trial)
        for (const Vector6d& values : spectra())
            for (const CouplingSolve solve : {CouplingSolve::Svd, CouplingSolve::Truncated}) {
                const Matrix6d A = matrix_of(values, random);
                const Vector6d b = values[0] * random_six(random), goal = random_six(random);
                const SixSolution x = solve_six(A, b, goal, kThreshold, solve);
                const Vector6d y = expected(A, b, goal, solve);
                // digits lost: the squared ratio of kept singular values
                EXPECT_LT((x.x - y).norm(), 1e-7 * (1 + y.norm())) << values.transpose();
                EXPECT_TRUE(x.is_good);
                int count = 0;
                for (const double v : values) count += v < kThreshold * values.maxCoeff();
                EXPECT_EQ(x.num_degenerate, count) << values.transpose();
                num_degenerate += count;
            }
    EXPECT_GT(num_degenerate, 1000);
}

TEST(SixSolve, RightVectorsOfKeptDirectionsAreOrthonormal) {
    std::mt19937 random(7);
    for (const Vector6d& values : spectra()) {
        const RightSingular svd = right_singular(matrix_of(values, random), kThreshold);
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j) {
                const double least = kThreshold * svd.values.maxCoeff();
                if (svd.values[i] < least || svd.values[j] < least) continue;
                EXPECT_NEAR(svd.V.col(i).dot(svd.V.col(j)), i == j ? 1 : 0, 1e-8);
            }
    }
}

TEST(SixSolve, ZeroMatrixFollowsTheGoalAndLuSaysThatItFails) {
    std::mt19937 random(2);
    const Vector6d b = random_six(random), goal = random_six(random);
    const SixSolution follows =
        solve_six(Matrix6d::Zero(), b, goal, kThreshold, CouplingSolve::Svd);
    EXPECT_EQ(follows.x, goal);
    EXPECT_EQ(follows.num_degenerate, 6);
    EXPECT_EQ(solve_six(Matrix6d::Zero(), b, goal, kThreshold, CouplingSolve::Truncated).x,
              Vector6d::Zero());
    EXPECT_FALSE(solve_six(Matrix6d::Zero(), b, goal, kThreshold, CouplingSolve::Lu).is_good);
}

TEST(SixSolve, AllocatesNothing) {
    std::mt19937 random(3);
    const Vector6d b = random_six(random), goal = random_six(random);
    const Matrix6d good = matrix_of(spectra()[1], random), bad = matrix_of(spectra()[4], random);
    AllocationGuard guard;
    const double sum = solve_six(good, b, goal, kThreshold, CouplingSolve::Svd).x.sum() +
                       solve_six(bad, b, goal, kThreshold, CouplingSolve::Svd).x.sum();
    const auto count = guard.count();
    EXPECT_TRUE(std::isfinite(sum));
    EXPECT_EQ(count, 0u);
}

}  // namespace
}  // namespace pliant
