#include "pliant/reduction/modes.h"

#include "core/dense_algebra.h"
#include "fem/fem_samples.h"
#include "input_error.h"
#include "pliant/fem/mass.h"
#include "pliant/geometry/graded_mesh.h"
#include "pliant/geometry/structured_mesh.h"

#include <gtest/gtest.h>
#include <numbers>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::input_error;

FemModel bar(int nx, int ny, int nz, double hx) {
    return FemModel(
        hex_box(nx, ny, nz, Box(Vector3d::Zero(), Vector3d(nx * hx, ny * 0.1, nz * 0.1))),
        {isotropic(1e6, 0.3, 1000)});
}

/// All eigenvalues by the dense method, ascending.
VectorXd dense_eigenvalues(const FemModel& model, const Constraints& constraints) {
    auto K = model.make_matrix();
    model.tangent(VectorXd::Zero(model.num_unknowns()), K);
    const MatrixXd K_all(K), M_all(mass_matrix(model));
    std::vector<int> free;
    for (int i = 0; i < model.num_unknowns(); ++i)
        if (!constraints.is_prescribed(i / 3, i % 3)) free.push_back(i);
    const MatrixXd K_free = K_all(free, free), M_free = M_all(free, free);
    return symmetric_eigenvalues(K_free, M_free);
}

TEST(Modes, AgreeWithDenseEigenvaluesOfASupportedBar) {
    const FemModel model = bar(8, 2, 2, 0.1);
    const Constraints constraints = test::held(model);
    const LinearModes modes = compute_modes(model, constraints, {.num_modes = 12});
    const VectorXd expected = dense_eigenvalues(model, constraints).head(12);
    EXPECT_LT(((modes.eigenvalues - expected).array() / expected.array()).abs().maxCoeff(), 1e-10);
    EXPECT_FALSE(modes.is_free());
}

TEST(Modes, ShapesAreMassOrthonormalAndSolveTheEigenproblem) {
    const FemModel model = bar(10, 2, 3, 0.1);
    const Constraints constraints = test::held(model);
    const LinearModes modes = compute_modes(model, constraints, {.num_modes = 15});
    auto K = model.make_matrix();
    model.tangent(VectorXd::Zero(model.num_unknowns()), K);
    const auto M = mass_matrix(model);
    const MatrixXd gram = modes.shapes.transpose() * (M * modes.shapes);
    EXPECT_LT((gram - MatrixXd::Identity(15, 15)).cwiseAbs().maxCoeff(), 1e-12);
    for (int i = 0; i < 15; ++i) {
        VectorXd residual =
            K * modes.shapes.col(i) - modes.eigenvalues[i] * (M * modes.shapes.col(i));
        for (int node : constraints.held_nodes()) residual.segment<3>(3 * node).setZero();
        const double scale = modes.eigenvalues[i] * VectorXd(M * modes.shapes.col(i)).norm();
        EXPECT_LT(residual.norm(), 1e-6 * scale) << i;
    }
}

TEST(Modes, FreeBodyHasSixRigidMotionsBesideItsElasticModes) {
    const FemModel model = bar(6, 2, 2, 0.1);
    const Constraints none(model.num_nodes());
    const LinearModes modes = compute_modes(model, none, {.num_modes = 10});
    ASSERT_EQ(modes.rigid.cols(), 6);
    const VectorXd dense = dense_eigenvalues(model, none);
    EXPECT_LT(dense.head(6).cwiseAbs().maxCoeff(), 1e-9 * dense[6]);
    const VectorXd expected = dense.segment(6, 10);
    EXPECT_LT(((modes.eigenvalues - expected).array() / expected.array()).abs().maxCoeff(), 1e-9);
    const auto M = mass_matrix(model);
    EXPECT_LT((modes.rigid.transpose() * (M * modes.shapes)).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Modes, ClusteredEigenvaluesOfASymmetricBarAreAllFound) {
    // square section: bending modes come in pairs
    const FemModel model = bar(12, 2, 2, 0.1);
    const Constraints constraints = test::held(model);
    const LinearModes modes = compute_modes(model, constraints, {.num_modes = 8});
    EXPECT_NEAR(modes.eigenvalues[1] / modes.eigenvalues[0], 1.0, 1e-9);
    const VectorXd expected = dense_eigenvalues(model, constraints).head(8);
    EXPECT_LT(((modes.eigenvalues - expected).array() / expected.array()).abs().maxCoeff(), 1e-10);
}

TEST(Modes, HangingNodesFollowTheirMasters) {
    const FemModel model(graded_box(6, 1, 1.0), {isotropic(1e5, 0.3, 1000)});
    const LinearModes modes =
        compute_modes(model, Constraints(model.num_nodes()), {.num_modes = 6});
    for (const HangingNode& h : model.mesh().hanging) {
        MatrixXd mean = MatrixXd::Zero(3, 6);
        for (int m = 0; m < h.num_masters; ++m)
            mean += h.weight * modes.shapes.middleRows(3 * h.masters[m], 3);
        EXPECT_LT((modes.shapes.middleRows(3 * h.vertex, 3) - mean).cwiseAbs().maxCoeff(), 1e-12);
    }
}

TEST(Modes, SlenderCantileverBendsAtTheFrequencyOfBeamTheory) {
    // Euler–Bernoulli: ω = 1.8751² √(E I / (ρ A L⁴)), ν = 0, fine along the beam; shear and the
    // elements' bending error raise or lower it by a few percent
    const FemModel model(hex_box(60, 2, 2, Box(Vector3d::Zero(), Vector3d(6, 0.2, 0.2))),
                         {isotropic(1e7, 0, 1000)});
    const LinearModes modes = compute_modes(model, test::held(model), {.num_modes = 4});
    const double omega = 1.8751 * 1.8751 * std::sqrt(1e7 * 0.04 / 12 / (1000 * std::pow(6.0, 4)));
    // two linear elements through the depth bend too stiffly by (1 + 1/n²)^½ at most
    EXPECT_GT(modes.frequency(0), 0.97 * omega / (2 * std::numbers::pi));
    EXPECT_LT(modes.frequency(0), 1.13 * omega / (2 * std::numbers::pi));
}

TEST(Modes, AreTheSameOnEveryRun) {
    const FemModel model = bar(6, 2, 3, 0.1);
    const Constraints constraints = test::held(model);
    const LinearModes a = compute_modes(model, constraints, {.num_modes = 6});
    const LinearModes b = compute_modes(model, constraints, {.num_modes = 6});
    EXPECT_TRUE(a.shapes == b.shapes);
}

TEST(Modes, BadRequestsAreRefusedInWords) {
    const FemModel model = bar(3, 1, 1, 0.1);
    const Constraints constraints = test::held(model);
    EXPECT_NE(input_error([&] {
                  return compute_modes(model, constraints, {.num_modes = 30});
              }).find("num_modes = 30 (expected 1 to 3, a tenth of the unknowns"),
              std::string::npos);
    Constraints hinge(model.num_nodes());
    hinge.prescribe(0, 0, 0);
    EXPECT_NE(input_error([&] {
                  return compute_modes(model, hinge, {.num_modes = 2});
              }).find("is free to move"),
              std::string::npos);
}

}  // namespace
}  // namespace pliant
