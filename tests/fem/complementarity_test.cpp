#include "fem/complementarity.h"

#include "core/dense_algebra.h"
#include "pliant/core/allocation_guard.h"

#include <gtest/gtest.h>

#include <random>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// S = Nᵀ A⁻¹ N of random normals and a random positive definite A, and a random c.
struct RandomSystem {
    MatrixXd S;
    VectorXd c;
};
RandomSystem random_system(int k, std::mt19937& generator) {
    std::normal_distribution<double> normal;
    const auto random = [&] { return normal(generator); };
    const int n = 12;
    const MatrixXd B = MatrixXd::NullaryExpr(n, n, random);
    const MatrixXd N = MatrixXd::NullaryExpr(n, k, random);
    const MatrixXd A = B * B.transpose() + MatrixXd::Identity(n, n);
    MatrixXd S = N.transpose() * solve_dense(A, N);
    S = 0.5 * (S + S.transpose()).eval();
    return {S, VectorXd::NullaryExpr(k, random)};
}

/// The solution by trying all active sets.
VectorXd by_enumeration(const MatrixXd& S, const VectorXd& c) {
    const auto k = static_cast<int>(c.size());
    VectorXd best = VectorXd::Zero(k);
    double least = std::numeric_limits<double>::infinity();
    for (int set = 0; set < 1 << k; ++set) {
        std::vector<int> rows;
        for (int i = 0; i < k; ++i)
            if ((set >> i & 1) != 0) rows.push_back(i);
        VectorXd lambda = VectorXd::Zero(k);
        if (!rows.empty()) {
            const MatrixXd part = S(rows, rows);
            const VectorXd wanted = c(rows);
            lambda(rows) = VectorXd(solve_dense(part, wanted));
        }
        const double violation = std::max(-lambda.minCoeff(), (c - S * lambda).maxCoeff());
        if (violation < least) {
            least = violation;
            best = lambda;
        }
    }
    EXPECT_LT(least, 1e-11);
    return best;
}

TEST(Complementarity, FindsTheActiveSetOf3000RandomSystems) {
    std::mt19937 generator(7);
    Complementarity solver(5);
    int num_partly_active = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        const int k = 2 + trial % 4;
        const auto [S, c] = random_system(k, generator);
        VectorXd lambda(k);
        const Complementarity::Result result = solver.solve(S, c, false, lambda);
        ASSERT_TRUE(result.has_converged);
        ASSERT_GE(lambda.minCoeff(), 0) << trial;

        const VectorXd expected = by_enumeration(S, c);
        int num_active = 0;
        for (int i = 0; i < k; ++i) {
            ASSERT_EQ(lambda[i] > 0, expected[i] > 0) << "trial " << trial << ", contact " << i;
            num_active += lambda[i] > 0;
        }
        if (num_active > 0 && num_active < k) ++num_partly_active;
        // the constraint of the active ones, relative to the terms that it sums
        for (const int i : solver.active()) {
            const double terms = S.row(i).cwiseAbs().dot(lambda) + std::abs(c[i]);
            ASSERT_LT(std::abs(S.row(i).dot(lambda) - c[i]), 2e-14 * terms) << trial;
        }
    }
    EXPECT_GT(num_partly_active, 1000);  // not trivial
}

TEST(Complementarity, DroppingWithoutAddingAgainIsNotEnough) {
    // otherwise the test above would not tell
    std::mt19937 generator(7);
    int num_wrong = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        const int k = 2 + trial % 4;
        const auto [S, c] = random_system(k, generator);
        std::vector<int> rows;
        for (int i = 0; i < k; ++i) rows.push_back(i);
        VectorXd forces;
        int worst = -1;
        while (!rows.empty()) {
            const MatrixXd part = S(rows, rows);
            forces = solve_dense(part, VectorXd(c(rows)));
            if (forces.minCoeff(&worst) >= 0) break;
            rows.erase(rows.begin() + worst);
        }
        VectorXd lambda = VectorXd::Zero(k);
        if (!rows.empty()) lambda(rows) = forces;
        num_wrong += (S * lambda - c).minCoeff() < -1e-9;
    }
    EXPECT_GT(num_wrong, 3);
    EXPECT_LT(num_wrong, 150);
}

TEST(Complementarity, ManyContactsAgreeWithGaussSeidel) {
    std::mt19937 generator(3);
    std::normal_distribution<double> normal;
    const int k = 80;
    const MatrixXd B = MatrixXd::NullaryExpr(k, k, [&] { return normal(generator); });
    const MatrixXd S = B * B.transpose() / k + 0.5 * MatrixXd::Identity(k, k);
    Complementarity solver(k);
    VectorXd lambda(k), slow = VectorXd::Zero(k);
    for (int trial = 0; trial < 5; ++trial) {
        // the second and later ones start from the factor and the active set of the one before
        const VectorXd c = VectorXd::NullaryExpr(k, [&] { return normal(generator); });
        ASSERT_TRUE(solver.solve(S, c, trial > 0, lambda).has_converged);
        EXPECT_LT(project_gauss_seidel(S, c, 2000, slow), 1e-13);
        EXPECT_LT((lambda - slow).cwiseAbs().maxCoeff(), 1e-11);
        EXPECT_GT(std::ssize(solver.active()), 20);
        EXPECT_LT(std::ssize(solver.active()), 60);
    }
    // what follows uses the factor of the active rows
    VectorXd x = VectorXd::Ones(k);
    solver.solve_active(x);
    const std::vector<int> active(solver.active().begin(), solver.active().end());
    const MatrixXd part = S(active, active);
    const VectorXd expected = solve_dense(part, VectorXd::Ones(std::ssize(active)));
    EXPECT_LT((x(active) - expected).norm(), 1e-12 * expected.norm());
    EXPECT_NEAR(x.norm(), expected.norm(), 1e-12 * expected.norm());
}

TEST(Complementarity, GaussSeidelTakesOverWhenChangesRunOut) {
    std::mt19937 generator(11);
    Complementarity solver(5);
    for (int trial = 0; trial < 50; ++trial) {
        const auto [S, c] = random_system(5, generator);
        VectorXd lambda(5), expected(5);
        ASSERT_TRUE(solver.solve(S, c, false, expected).has_converged);
        const Complementarity::Result result = solver.solve(S, c, false, lambda, 0);
        if (!result.has_converged) continue;
        EXPECT_LT((S * (lambda - expected)).cwiseAbs().maxCoeff(), 1e-7 * c.cwiseAbs().maxCoeff());
    }
}

TEST(Complementarity, DependentRowsStayOut) {
    // the third row is the mean of the others: a node between two masters
    Eigen::Matrix<double, 3, 2> N;
    N << 1, 0, 0, 1, 0.5, 0.5;
    const MatrixXd S = N * N.transpose();
    const VectorXd c = N * Eigen::Vector2d(1, 3);
    Complementarity solver(3);
    VectorXd lambda(3);
    ASSERT_TRUE(solver.solve(S, c, false, lambda).has_converged);
    EXPECT_NEAR(lambda[0], 1, 1e-14);
    EXPECT_NEAR(lambda[1], 3, 1e-14);
    EXPECT_EQ(lambda[2], 0);
    // where only the mean is pressed, it takes part
    ASSERT_TRUE(solver.solve(S, Eigen::Vector3d(-1, -1, 1), false, lambda).has_converged);
    EXPECT_NEAR(lambda[2], 2, 1e-14);
    EXPECT_EQ(lambda[0], 0);
}

TEST(Complementarity, EmptySystemsAndNumbersThatAreNotFiniteEnd) {
    Complementarity solver(3);
    VectorXd none(0), lambda(3);
    EXPECT_TRUE(solver.solve(MatrixXd(0, 0), none, false, none).has_converged);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    (void)solver.solve(MatrixXd::Identity(3, 3), Eigen::Vector3d(1, nan, 2), false, lambda);
    (void)solver.solve(MatrixXd::Constant(3, 3, nan), Eigen::Vector3d(1, 1, 2), false, lambda);
    ASSERT_TRUE(solver.solve(MatrixXd::Identity(3, 3), Eigen::Vector3d(1, -1, 2), false, lambda)
                    .has_converged);
    EXPECT_EQ(lambda, Eigen::Vector3d(1, 0, 2));
}

TEST(Complementarity, AllocatesNothing) {
    std::mt19937 generator(5);
    const auto [S, c] = random_system(5, generator);
    Complementarity solver(8);
    VectorXd lambda(5);
    const AllocationGuard guard;
    (void)solver.solve(S, c, false, lambda);
    (void)solver.solve(S, c, true, lambda);
    (void)solver.solve(S, c, false, lambda, 0);
    solver.solve_active(lambda);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
}

}  // namespace
}  // namespace pliant
