#include "pliant/reduction/modal_derivatives.h"

#include "core/dense_algebra.h"
#include "fem/fem_samples.h"
#include "pliant/fem/loads.h"
#include "pliant/fem/mass.h"
#include "pliant/fem/statics.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/reduction/basis.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// Sides that differ, so that eigenvalues do.
FemModel material_bar(const Material& material = isotropic(1e6, 0.3, 1000)) {
    return FemModel(hex_box(6, 2, 3, Box(Vector3d::Zero(), Vector3d(0.6, 0.11, 0.23))), {material});
}

struct NamedMaterial {
    const char* name;
    Material material;
};
class DerivativesOf : public testing::TestWithParam<NamedMaterial> {};

/// u(p) = Σ Ψ p + ½ Σ Φ p p + O(p³) is the equilibrium under modal loads M Ψ Λ p.
TEST_P(DerivativesOf, StaticResponseIsMetToThirdOrder) {
    const FemModel model = material_bar(GetParam().material);
    const Constraints constraints = test::held(model);
    const LinearModes modes = compute_modes(model, constraints, {.num_modes = 4});
    const MatrixXd derivatives = modal_derivatives(model, constraints, modes);
    const auto M = mass_matrix(model);
    const VectorXd direction = VectorXd::LinSpaced(4, 1.0, -0.5);
    // a tip displacement of a few percent of the length
    const double largest = (modes.shapes * direction).cwiseAbs().maxCoeff();
    std::vector<double> errors;
    for (const double size : {0.02, 0.01, 0.005}) {
        const VectorXd p = size * 0.6 / largest * direction;
        VectorXd u = modes.shapes * p;
        for (int j = 0; j < 4; ++j)
            for (int i = 0; i < 4; ++i)
                u += 0.5 * p[i] * p[j] * derivatives.col(derivative_column(i, j));
        const VectorXd f = M * (modes.shapes * modes.eigenvalues.cwiseProduct(p));
        const StaticResult exact = solve_static(model, constraints, f, {.tolerance = 1e-12});
        ASSERT_TRUE(exact.has_converged()) << exact.message;
        errors.push_back((exact.u - u).norm() / exact.u.norm());
    }
    // third order in u: second order relative to u
    EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2.0, 0.15);
    EXPECT_NEAR(std::log2(errors[1] / errors[2]), 2.0, 0.15);
}

INSTANTIATE_TEST_SUITE_P(
    Materials, DerivativesOf,
    testing::Values(NamedMaterial{"StVenantKirchhoff", isotropic(1e6, 0.3, 1000)},
                    NamedMaterial{"NeoHookean", isotropic(1e6, 0.3, 1000, Law::NeoHookean)},
                    NamedMaterial{"Orthotropic", material_preset("wood")}),
    [](const auto& tested) { return tested.param.name; });

TEST(ModalDerivatives, AreSymmetricInTheirModes) {
    const FemModel model = material_bar();
    const Constraints constraints = test::held(model);
    const LinearModes modes = compute_modes(model, constraints, {.num_modes = 3});
    VectorXd a(model.num_unknowns()), b(model.num_unknowns());
    const VectorXd rest = VectorXd::Zero(model.num_unknowns());
    model.hessian_contraction(rest, modes.shapes.col(0), modes.shapes.col(2), a);
    model.hessian_contraction(rest, modes.shapes.col(2), modes.shapes.col(0), b);
    EXPECT_LT((a - b).norm(), 1e-12 * a.norm());
}

TEST(ModalDerivatives, SolveTheirEquation) {
    const FemModel model = material_bar();
    const Constraints constraints = test::held(model);
    const LinearModes modes = compute_modes(model, constraints, {.num_modes = 5});
    const MatrixXd derivatives = modal_derivatives(model, constraints, modes);
    ASSERT_EQ(derivatives.cols(), 15);
    auto K = model.make_matrix();
    const VectorXd rest = VectorXd::Zero(model.num_unknowns());
    model.tangent(rest, K);
    for (int j = 0; j < 5; ++j)
        for (int i = 0; i <= j; ++i) {
            VectorXd load(model.num_unknowns());
            model.hessian_contraction(rest, modes.shapes.col(j), modes.shapes.col(i), load);
            VectorXd residual = K * derivatives.col(derivative_column(i, j)) + load;
            for (const int node : constraints.held_nodes()) residual.segment<3>(3 * node).setZero();
            EXPECT_LT(residual.norm(), 1e-9 * load.norm()) << i << ' ' << j;
        }
}

/// Eigenvectors of K(u) by the dense method, followed from the modes at rest.
TEST(ModalDerivatives, InertiaRetainingOnesAreDerivativesOfEigenvectors) {
    const FemModel model(hex_box(3, 1, 2, Box(Vector3d::Zero(), Vector3d(0.6, 0.11, 0.23))),
                         {isotropic(1e6, 0.3, 1000)});
    const Constraints none(model.num_nodes());
    const LinearModes modes = compute_modes(model, none, {.num_modes = 4});
    const MatrixXd derivatives = inertia_retaining_derivatives(model, modes);
    const auto M = mass_matrix(model);
    auto K = model.make_matrix();
    const int i = 0, j = 2;
    const double h = 1e-4 / modes.shapes.col(j).cwiseAbs().maxCoeff();
    const auto eigenvector = [&](double p) {
        model.tangent(p * modes.shapes.col(j), K);
        const SymmetricEigen eigen = symmetric_eigen(MatrixXd(K), MatrixXd(M));
        Eigen::Index best = 0;
        const VectorXd overlap = (eigen.vectors.transpose() * (M * modes.shapes.col(i))).cwiseAbs();
        overlap.maxCoeff(&best);
        VectorXd v = eigen.vectors.col(best);
        if (v.dot(VectorXd(M * modes.shapes.col(i))) < 0) v *= -1;
        return v;
    };
    VectorXd difference = (eigenvector(h) - eigenvector(-h)) / (2 * h);
    // the rigid part is taken out of ours
    difference -= modes.rigid * (modes.rigid.transpose() * (M * difference));
    const VectorXd ours = derivatives.col(i * modes.size() + j);
    EXPECT_LT((ours - difference).norm(), 1e-4 * difference.norm());
}

TEST(ModalDerivatives, ReliefAndRetainingAgreeForALowModeUnderAFarStifferOne) {
    // (K − λ_i M) → K for loads whose response is far stiffer than mode i: the two differ by λ_i /
    // λ
    const FemModel model(hex_box(10, 1, 1, Box(Vector3d::Zero(), Vector3d(2.0, 0.1, 0.12))),
                         {isotropic(1e6, 0.3, 1000)});
    const Constraints none(model.num_nodes());
    const LinearModes modes = compute_modes(model, none, {.num_modes = 3});
    const MatrixXd relief = modal_derivatives(model, none, modes);
    const MatrixXd retaining = inertia_retaining_derivatives(model, modes);
    const auto M = mass_matrix(model);
    // without the component along the mode itself, which only one of them fixes to zero
    VectorXd a = relief.col(derivative_column(0, 0)), b = retaining.col(0);
    a -= modes.shapes.col(0) * modes.shapes.col(0).dot(VectorXd(M * a));
    EXPECT_LT((a - b).norm(), 0.05 * b.norm());
    EXPECT_LT((modes.rigid.transpose() * (M * relief)).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Basis, IsTheSameWhenModulusAndDensityAreScaled) {
    const VolumeMesh mesh = hex_box(5, 2, 2, Box(Vector3d::Zero(), Vector3d(0.6, 0.11, 0.23)));
    std::vector<MatrixXd> bases;
    for (const double factor : {1.0, 7.0}) {
        const FemModel model(mesh, {isotropic(1e6 * factor, 0.3, 300 * factor * factor)});
        const Constraints constraints = test::held(model);
        const LinearModes modes = compute_modes(model, constraints, {.num_modes = 4});
        const auto M = mass_matrix(model);
        const MatrixXd X =
            weighted_modes_and_derivatives(modes, modal_derivatives(model, constraints, modes), M);
        bases.push_back(mass_pca(X, M, 8).U * std::sqrt(300 * factor * factor));
    }
    // the same subspace: projections agree
    const FemModel unit(mesh, {isotropic(1e6, 0.3, 1)});
    const auto M = mass_matrix(unit);
    const MatrixXd overlap = bases[0].transpose() * (M * bases[1]);
    EXPECT_NEAR(overlap.squaredNorm(), 8.0, 1e-6);
}

}  // namespace
}  // namespace pliant
