#include "pliant/reduction/reduced_viscosity.h"

#include "core/dense_algebra.h"
#include "input_error.h"
#include "pliant/fem/damping.h"
#include "reduction/dynamics_samples.h"
#include "reduction/force_samples.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd damping_matrix(const ReducedViscosity& viscosity, const VectorXd& q) {
    MatrixXd D(viscosity.size(), viscosity.size());
    VectorXd pairs(viscosity.num_pairs());
    viscosity.damping_matrix(q, D, pairs);
    return D;
}

TEST(ReducedViscosity, ForceIsThatOfTheFullBody) {
    const Damping damping{.bulk_viscosity = 3, .shear_viscosity = 2};
    for (const FemModel& model :
         {FemModel(test::distorted_hexes(2), {isotropic(1e4, 0.3, 1000)}),
          FemModel(test::distorted_tets(2), {isotropic(1e4, 0.3, 1000, Law::NeoHookean)}),
          FemModel(hex_box(2, 2, 2, test::unit_box()), {isotropic(1e4, 0.3, 1000)})}) {
        const int r = 7;
        const MatrixXd U = test::random_basis(model.num_unknowns(), r, 0.05);
        const ReducedViscosity viscosity(model, U, 3, 2);
        for (const double size : {0.0, 0.1, 1.0}) {
            const VectorXd q = test::random_vector(r, 3, size), v = test::random_vector(r, 4);
            VectorXd scratch(model.num_unknowns()), f = VectorXd::Zero(model.num_unknowns());
            add_stiffness_damping(model, damping, U * q, U * v, scratch, f);
            const MatrixXd D = damping_matrix(viscosity, q);
            const VectorXd expected = U.transpose() * f;
            EXPECT_LE((D * v - expected).norm(), 1e-12 * expected.norm());
            EXPECT_EQ(D, MatrixXd(D.transpose()));
        }
    }
}

TEST(ReducedViscosity, PowerIsThatOfTheStrainRate) {
    // vᵀ D v = Σ φ tr(Ė)² + 2ψ Ė : Ė; at rest twice the elastic energy of the shape v, with φ and ψ
    // in the place of λ and μ
    const test::ReducedBar bar(5);
    const ReducedViscosity viscosity(bar.model, bar.U, 30, 20);
    Material material = bar.model.materials().front();
    material.lambda = 30;
    material.mu = 20;
    const auto elastic =
        make_polynomial_force(combine(build_coefficients(bar.model, bar.U), std::array{material}));
    const auto ws = elastic->make_workspace();
    const VectorXd v = test::random_vector(5, 1);
    const double power = v.dot(damping_matrix(viscosity, VectorXd::Zero(5)) * v);
    const double h = 1e-6;
    const double energy = elastic->energy(h * v, *ws) + elastic->energy(-h * v, *ws);
    EXPECT_NEAR(energy / (h * h), power, 1e-8 * power);
    // away from rest W″ holds the stress too: D is another matrix, positive where K need not be
    const VectorXd q = test::random_vector(5, 2, 0.3);
    VectorXd R(5);
    MatrixXd K(5, 5);
    elastic->force_and_stiffness(q, R, K, *ws);
    const MatrixXd D = damping_matrix(viscosity, q);
    EXPECT_GT((K - D).norm(), 0.01 * D.norm());
    EXPECT_GE(symmetric_eigenvalues(D)[0], 0);
}

TEST(ReducedViscosity, RotationOfTheBodyMeetsNoForce) {
    // ∇u = cos(t) A + sin(t) B + C turns the body: q(t) on a circle
    const FemModel model(tet_box(2, 2, 2, test::unit_box()), {isotropic(1e4, 0.3, 1000)});
    Eigen::Matrix3d A = Eigen::Matrix3d::Zero(), B = A, C = A;
    A(0, 0) = A(1, 1) = 1;
    B(0, 1) = -1;
    B(1, 0) = 1;
    C(0, 0) = C(1, 1) = -1;
    MatrixXd U(model.num_unknowns(), 3);
    int column = 0;
    for (const Eigen::Matrix3d& G : {A, B, C})
        U.col(column++) = test::affine_displacements(model.mesh(), G);
    const ReducedViscosity viscosity(model, U, 3, 2);
    const double t = 0.8;
    const Eigen::Vector3d q(std::cos(t), std::sin(t), 1), v(-std::sin(t), std::cos(t), 0);
    const MatrixXd D = damping_matrix(viscosity, q);
    EXPECT_LE((D * v).norm(), 1e-13 * D.norm());
    EXPECT_GT((D * Eigen::Vector3d(1, 0, 0)).norm(), 0.1 * D.norm());
}

TEST(ReducedViscosity, WrongValuesAreNamed) {
    const test::ReducedBar bar(2);
    EXPECT_EQ(test::input_error([&] { ReducedViscosity(bar.model, bar.U, -1, 1); }),
              "bulk viscosity = -1 (expected 0 <= value < infinity)");
    EXPECT_EQ(test::input_error([&] { ReducedViscosity(bar.model, bar.U, 1, -3); }),
              "shear viscosity = -3 (expected 0 <= value < infinity)");
}

}  // namespace
}  // namespace pliant
