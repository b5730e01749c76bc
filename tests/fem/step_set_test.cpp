#include "fem/step_set.h"

#include "core/dense_algebra.h"
#include "fem/fem_samples.h"
#include "fem/lanczos.h"
#include "fem/solver_samples.h"
#include "input_error.h"
#include "pliant/fem/mass.h"
#include "pliant/fem/ordering.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Matrix = StepSet::Matrix;

TEST(StepSet, SolvesEveryStepToRounding) {
    const Matrix K = test::elasticity_matrix(4, 4, 4);
    Matrix M(K.rows(), K.cols());
    M.setIdentity();
    for (const SolverKind kind : available_solvers()) {
        StepSet steps(M, 0.1 * K, {}, 0.5, 4, kind);
        ASSERT_EQ(steps.size(), 4);
        const MatrixXd b = test::random_matrix(K.rows(), 3, 1);
        for (int i = 0; i < 4; ++i) {
            EXPECT_EQ(steps.length(i), 0.5 / (1 << i));
            MatrixXd x = b;
            steps.solve(i, x);
            const Matrix A = M + 0.05 * steps.length(i) * K;
            EXPECT_LT((A * x - b).norm(), 1e-12 * b.norm()) << to_string(kind) << ", step " << i;
        }
        MatrixXd x = b;
        steps.solve_mass(x);
        EXPECT_LT((x - b).norm(), 1e-14 * b.norm());
    }
}

TEST(StepSet, UndampedStepsShareOneFactor) {
    Matrix M(5, 5), D(5, 5);
    M.setIdentity();
    const StepSet undamped(M, D, {}, 1, 3, SolverKind::EigenLdlt);
    EXPECT_EQ(undamped.matrix_of(0), undamped.matrix_of(2));
    D.setIdentity();
    const StepSet damped(M, D, {}, 1, 3, SolverKind::EigenLdlt);
    EXPECT_NE(damped.matrix_of(0), damped.matrix_of(2));
}

TEST(StepSet, UsesTheOrderOfTheMesh) {
    const FemModel model(hex_box(6, 6, 6, test::unit_box()), {isotropic(1e4, 0.3, 1000)});
    const Matrix M = node_mass_matrix(model);
    const auto order = elimination_order(model.mesh(), {}, Ordering::CoverNestedDissection);
    const StepSet dissected(M, M, order, 1, 1, SolverKind::EigenLdlt);
    const auto natural = elimination_order(model.mesh(), {}, Ordering::Natural);
    const StepSet straight(M, M, natural, 1, 1, SolverKind::EigenLdlt);
    EXPECT_TRUE(dissected.statistics().order_was_given);
    EXPECT_LT(dissected.statistics().factor_nonzeros, straight.statistics().factor_nonzeros);
}

TEST(StepSet, AnIndefiniteMatrixIsRefused) {
    Matrix M(3, 3);
    M.setIdentity();
    const std::string text =
        test::input_error([&] { StepSet(M, Matrix(-4 * M), {}, 1, 2, SolverKind::EigenLdlt); });
    EXPECT_NE(text.find("M + dt/2 D is not positive definite"), std::string::npos) << text;
    EXPECT_NE(text.find("initial stress"), std::string::npos) << text;
}

TEST(Lanczos, BoundsTheLargestEigenvalueFromAboveAndClosely) {
    for (const int n : {1, 2, 3, 5}) {
        const FemModel model(test::distorted_hexes(n), {isotropic(1e4, 0.3, 1000)});
        Matrix K = model.make_matrix();
        model.tangent(VectorXd::Zero(model.num_unknowns()), K);
        const Matrix M = mass_matrix(model);
        StepSet steps(M, Matrix(M.rows(), M.cols()), {}, 1, 1, SolverKind::EigenLdlt);
        const double found = largest_eigenvalue(
            model.num_unknowns(), [&](const VectorXd& x, VectorXd& Kx) { Kx = K * x; },
            [&](VectorXd& x) { steps.solve_mass(x); });
        const double exact = symmetric_eigenvalues(MatrixXd(K), MatrixXd(M)).maxCoeff();
        EXPECT_GE(found, exact * (1 - 1e-10)) << n;
        EXPECT_LE(found, exact * 1.002) << n;
    }
}

TEST(Lanczos, NothingToMove) {
    EXPECT_EQ(largest_eigenvalue(0, {}, {}), 0);
    EXPECT_EQ(largest_eigenvalue(
                  3, [](const VectorXd&, VectorXd& Kx) { Kx.setZero(); }, [](VectorXd&) {}),
              0);
}

}  // namespace
}  // namespace pliant
