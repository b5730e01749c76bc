#include "pliant/fem/material.h"

#include "core/numbers.h"
#include "input_error.h"

#include <gtest/gtest.h>
#include <Eigen/LU>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::input_error;

TEST(Orthotropic, ComplianceHoldsTheConstants) {
    OrthotropicConstants c;
    c.youngs_modulus << 11e9, 0.9e9, 0.5e9;
    c.poisson_ratio << 0.45, 0.02, 0.38;
    c.shear_modulus << 0.05e9, 0.7e9, 0.8e9;
    const Matrix6d S = orthotropic_stiffness(c).inverse();
    for (int i = 0; i < 3; ++i) {
        EXPECT_NEAR(S(i, i) * c.youngs_modulus[i], 1, 1e-14);
        EXPECT_NEAR(S(3 + i, 3 + i) * c.shear_modulus[i], 1, 1e-14);
    }
    EXPECT_NEAR(-S(1, 2) / S(1, 1), 0.45, 1e-14);  // loaded along y, strain along z
    EXPECT_NEAR(-S(2, 0) / S(2, 2), 0.02, 1e-14);
    EXPECT_NEAR(-S(0, 1) / S(0, 0), 0.38, 1e-14);

    // equal constants are the isotropic matrix
    const Material m = isotropic(5, 0.3, 1);
    const OrthotropicConstants equal{Vector3d::Constant(5), Vector3d::Constant(0.3),
                                     Vector3d::Constant(m.mu)};
    EXPECT_LT((orthotropic_stiffness(equal) - isotropic_stiffness(m.lambda, m.mu)).norm(), 1e-14);
}

TEST(MaterialConstants, LameConstantsFollowYoungAndPoisson) {
    const Material m = isotropic(2.6, 0.3, 1200, Law::Corotational);
    EXPECT_NEAR(m.mu, 1.0, 1e-15);
    EXPECT_NEAR(m.lambda, 1.5, 1e-15);
    EXPECT_NEAR(m.youngs_modulus(), 2.6, 1e-15);
    EXPECT_NEAR(m.poisson_ratio(), 0.3, 1e-15);
    EXPECT_EQ(m.density, 1200);
    EXPECT_EQ(m.law, Law::Corotational);
}

TEST(MaterialInput, IsotropicConstantsOutsideTheirRangeAreRefused) {
    const auto error = [](double E, double nu, double rho) {
        return input_error([&] { (void)isotropic(E, nu, rho); });
    };
    EXPECT_EQ(error(1, 0.62, 1), "poisson_ratio = 0.62 (expected -1 < value < 0.5)");
    EXPECT_EQ(error(1, 0.5, 1), "poisson_ratio = 0.5 (expected -1 < value < 0.5)");
    EXPECT_EQ(error(1, -1, 1), "poisson_ratio = -1 (expected -1 < value < 0.5)");
    EXPECT_EQ(error(1, kNan, 1), "poisson_ratio = nan (expected -1 < value < 0.5)");
    EXPECT_EQ(error(0, 0.3, 1), "youngs_modulus = 0 (expected a finite value > 0)");
    EXPECT_EQ(error(-2e5, 0.3, 1), "youngs_modulus = -200000 (expected a finite value > 0)");
    EXPECT_EQ(error(kInfinity, 0.3, 1), "youngs_modulus = inf (expected a finite value > 0)");
    EXPECT_EQ(error(1, 0.3, 0), "density = 0 (expected a finite value > 0)");
    EXPECT_EQ(error(1, 0.3, kNan), "density = nan (expected a finite value > 0)");
    EXPECT_EQ(error(1, 0.49999999, 1), "");
    EXPECT_EQ(error(1, -0.99999999, 1), "");
}

/// Positive definite, every entry different from zero.
Matrix6d coupled_stiffness() {
    Matrix6d C = Matrix6d::Constant(1e4);
    C.diagonal().array() += 1e5;
    return C;
}

TEST(MaterialInput, UnusableStiffnessMatricesAreRefusedByEntryOrEigenvalue) {
    const auto error = [](const Matrix6d& C, Law law = Law::StVenantKirchhoff) {
        return input_error([&] { (void)anisotropic(C, 1000, law); });
    };
    const Matrix6d good = coupled_stiffness();
    EXPECT_EQ(error(good), "");
    Matrix6d C = good;
    C(1, 3) = kNan;
    EXPECT_EQ(error(C), "stiffness[yy][yz] = nan (expected a finite value)");
    C = isotropic_stiffness(3, 1);
    C(2, 0) = 7;
    EXPECT_EQ(error(C),
              "stiffness[zz][xx] = 7 (expected 3 like stiffness[xx][zz], since the matrix is "
              "symmetric)");
    C = isotropic_stiffness(3, 1);
    C(4, 4) = -2;
    EXPECT_EQ(error(C),
              "stiffness eigenvalue 1 of 6 = -2 (expected a value > 0: the matrix must be positive "
              "definite)");
    C = Matrix6d::Ones();  // rank one: five eigenvalues vanish up to rounding
    EXPECT_NE(error(C).find("stiffness eigenvalue 1 of 6"), std::string::npos);
    C = Matrix6d::Zero();
    EXPECT_NE(error(C).find("stiffness eigenvalue 1 of 6 = 0"), std::string::npos);
    EXPECT_EQ(error(good, Law::NeoHookean),
              "law = neo-hookean (expected st-venant-kirchhoff or small-strain for an anisotropic "
              "material)");
    EXPECT_NE(error(good, Law::Corotational).find("law = corotational"), std::string::npos);

    // rounding in the last printed digits is averaged away
    C = good;
    C(0, 1) *= 1 + 1e-10;
    const Material m = anisotropic(C, 1000);
    EXPECT_EQ(m.anisotropy->stiffness, m.anisotropy->stiffness.transpose());
}

TEST(MaterialInput, UnstableOrthotropicConstantsAreRefused) {
    const OrthotropicConstants good{Vector3d(4, 2, 1), Vector3d(0.3, 0.1, 0.3), Vector3d(1, 1, 1)};
    const auto error = [](const OrthotropicConstants& c) {
        return input_error([&] { (void)orthotropic_stiffness(c); });
    };
    EXPECT_EQ(error(good), "");
    OrthotropicConstants c = good;
    c.youngs_modulus[1] = 0;
    EXPECT_EQ(error(c), "youngs_modulus.y = 0 (expected a finite value > 0)");
    c = good;
    c.shear_modulus[1] = -1;
    EXPECT_EQ(error(c), "shear_modulus.zx = -1 (expected a finite value > 0)");
    c = good;
    c.poisson_ratio[1] = 0.6;
    EXPECT_EQ(error(c), "poisson_ratio.zx = 0.6 (expected |value| < sqrt(E_z/E_x) = 0.5)");
    c = good;
    c.poisson_ratio << 1.0, 0.4, 1.0;
    EXPECT_NE(error(c).find("together they make the stiffness indefinite"), std::string::npos);
}

TEST(MaterialInput, HandMadeMaterialsAreChecked) {
    const auto error = [](const Material& m) { return input_error([&] { check_material(m); }); };
    Material m = isotropic(1, 0.3, 1);
    EXPECT_EQ(error(m), "");
    m.viscosity = -0.5;
    EXPECT_EQ(error(m), "viscosity = -0.5 (expected a finite value >= 0)");
    m = Material{};
    EXPECT_EQ(error(m), "mu = 0 (expected a finite value > 0)");
    m.mu = 3;
    m.lambda = -2.5;
    EXPECT_EQ(error(m), "lambda = -2.5 (expected a finite value > -2/3 mu)");
    m = material_preset("wood");
    m.anisotropy->initial_strain[4] = kInfinity;
    EXPECT_EQ(error(m), "initial_strain[zx] = inf (expected a finite value)");
    m = material_preset("wood");
    m.anisotropy->initial_stress[0] = kNan;
    EXPECT_EQ(error(m), "initial_stress[xx] = nan (expected a finite value)");
}

}  // namespace
}  // namespace pliant
