#include "pliant/reduction/reduced_coefficients.h"

#include "input_error.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/structured_mesh.h"

#include <gtest/gtest.h>
#include <array>
#include <random>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::input_error;

VolumeMesh box_mesh(ElementKind kind, double distortion) {
    const Box box(Vector3d::Zero(), Vector3d(0.4, 0.2, 0.3));
    VolumeMesh mesh = kind == ElementKind::Hex8 ? hex_box(4, 2, 3, box) : tet_box(3, 2, 2, box);
    std::mt19937 random(3);
    std::uniform_real_distribution<double> shift(-distortion, distortion);
    for (Vector3d& x : mesh.vertices) x += Vector3d(shift(random), shift(random), shift(random));
    return mesh;
}

MatrixXd random_basis(const FemModel& model, int r, double size) {
    std::mt19937 random(5);
    std::normal_distribution<double> normal(0, size);
    return MatrixXd::NullaryExpr(model.num_unknowns(), r, [&] { return normal(random); });
}

/// The slow obvious sum.
double energy_of(const ReducedCoefficients& c, const VectorXd& q) {
    VectorXd p(c.r + 1);
    p << 1, q;
    double sum = 0;
    for (int l = 0; l <= c.r; ++l)
        for (int k = 0; k <= l; ++k)
            for (int j = 0; j <= k; ++j)
                for (int i = 0; i <= j; ++i)
                    sum += c.w[static_cast<std::size_t>(quartic_index(i, j, k, l))] * p[i] * p[j] *
                           p[k] * p[l];
    return sum;
}

struct Case {
    ElementKind kind;
    double distortion;
    ElementFormulation elements = ElementFormulation::Accurate;
};
class CoefficientsOf : public testing::TestWithParam<Case> {};

TEST_P(CoefficientsOf, EnergyEqualsThatOfTheFullModel) {
    const FemModel model(box_mesh(GetParam().kind, GetParam().distortion),
                         {isotropic(2e4, 0.3, 1000)}, {GetParam().elements});
    const MatrixXd U = random_basis(model, 6, 0.01);
    const ReducedCoefficients c = combine(build_coefficients(model, U), model.materials());
    auto ws = model.make_workspace();
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    for (int trial = 0; trial < 5; ++trial) {
        const VectorXd q = VectorXd::NullaryExpr(6, [&] { return normal(random); });
        const double expected = model.energy(U * q, ws);
        EXPECT_NEAR(energy_of(c, q), expected, 1e-12 * expected);
    }
}

INSTANTIATE_TEST_SUITE_P(Elements, CoefficientsOf,
                         testing::Values(Case{ElementKind::Hex8, 0.0},
                                         Case{ElementKind::Hex8, 0.01},
                                         Case{ElementKind::Hex8, 0.0, ElementFormulation::Plain},
                                         Case{ElementKind::Hex8, 0.01, ElementFormulation::Plain},
                                         Case{ElementKind::Tet4, 0.01},
                                         Case{ElementKind::Tet4, 0.01, ElementFormulation::Plain}));

TEST(ReducedCoefficients, ElasticConstantsMayBeEditedOneByOne) {
    // the hidden third constant of accurate hexes, that of plane stress, follows both
    const std::vector<Material> built{isotropic(2e4, 0.3, 1000)};
    const std::vector<Material> edited{isotropic(5e4, 0.49, 1000)};
    const VolumeMesh mesh = box_mesh(ElementKind::Hex8, 0.01);
    const FemModel model(mesh, built), other(mesh, edited);
    const MatrixXd U = random_basis(model, 4, 0.01);
    const ReducedCoefficients c = combine(build_coefficients(model, U), edited);
    auto ws = other.make_workspace();
    const VectorXd q = VectorXd::LinSpaced(4, -1, 2);
    const double expected = other.energy(U * q, ws);
    EXPECT_NEAR(energy_of(c, q), expected, 1e-12 * expected);
}

TEST(ReducedCoefficients, RegionsKeepTheirOwnConstants) {
    VolumeMesh mesh = box_mesh(ElementKind::Hex8, 0.0);
    mesh.regions.assign(static_cast<std::size_t>(mesh.num_elements()), 0);
    for (int e = 0; e < mesh.num_elements(); e += 3) mesh.regions[e] = 1;
    mesh.filled.assign(static_cast<std::size_t>(mesh.num_elements()), 1.0);
    mesh.filled[2] = 0.3;
    const std::vector<Material> built{isotropic(1e4, 0.3, 1000), isotropic(5e4, 0.2, 1000)};
    const std::vector<Material> edited{isotropic(3e4, 0.45, 1000), isotropic(1e3, 0.1, 1000)};
    const FemModel model(mesh, built), other(mesh, edited);
    const MatrixXd U = random_basis(model, 4, 0.01);
    const auto groups = build_coefficients(model, U);
    ASSERT_EQ(groups.size(), 2u);
    const ReducedCoefficients c = combine(groups, edited);
    const VectorXd q = VectorXd::LinSpaced(4, -1.0, 1.5);
    auto ws = other.make_workspace();
    const double expected = other.energy(U * q, ws);
    EXPECT_NEAR(energy_of(c, q), expected, 1e-12 * expected);
}

TEST(ReducedCoefficients, AnisotropicMaterialsWithInitialStressAndStrain) {
    Material wood = material_preset("wood");
    wood.anisotropy->initial_strain << 0.01, -0.02, 0.005, 0.03, 0.01, -0.01;
    wood.anisotropy->initial_stress << 3e6, -2e6, 1e6, 5e5, -4e5, 2e5;
    const FemModel model(box_mesh(ElementKind::Hex8, 0.01), {wood});
    const MatrixXd U = random_basis(model, 4, 0.01);
    const ReducedCoefficients c = combine(build_coefficients(model, U), model.materials());
    auto ws = model.make_workspace();
    const double at_rest = model.energy(VectorXd::Zero(model.num_unknowns()), ws);
    for (const double size : {0.1, 1.0, 3.0}) {
        const VectorXd q = size * VectorXd::LinSpaced(4, -1.0, 1.5);
        const double expected = model.energy(U * q, ws) - at_rest;
        // the energy at rest is taken out on both sides: rounding is relative to it
        EXPECT_NEAR(energy_of(c, q), expected, 1e-12 * (std::abs(expected) + std::abs(at_rest)));
    }
}

TEST(ReducedCoefficients, SmallStrainIsQuadratic) {
    const FemModel model(box_mesh(ElementKind::Tet4, 0.01),
                         {isotropic(2e4, 0.3, 1000, Law::SmallStrain)});
    const MatrixXd U = random_basis(model, 3, 0.01);
    const ReducedCoefficients c = combine(build_coefficients(model, U), model.materials());
    for (int l = 1; l <= 3; ++l)
        EXPECT_EQ(c.w[static_cast<std::size_t>(quartic_index(0, 1, 1, l))], 0.0);
    const VectorXd q = VectorXd::LinSpaced(3, 0.5, 1.5);
    auto ws = model.make_workspace();
    const double expected = model.energy(U * q, ws);
    EXPECT_NEAR(energy_of(c, q), expected, 1e-12 * expected);
}

TEST(ReducedCoefficients, FirstCoordinatesAreThoseOfTheSmallerBasis) {
    const FemModel model(box_mesh(ElementKind::Hex8, 0.0), {isotropic(2e4, 0.3, 1000)});
    const MatrixXd U = random_basis(model, 5, 0.01);
    const ReducedCoefficients all = combine(build_coefficients(model, U), model.materials());
    const ReducedCoefficients few =
        combine(build_coefficients(model, U.leftCols(3)), model.materials());
    const ReducedCoefficients cut = all.truncated(3);
    ASSERT_EQ(cut.w.size(), few.w.size());
    for (std::size_t k = 0; k < few.w.size(); ++k)
        EXPECT_NEAR(cut.w[k], few.w[k], 1e-11 * std::abs(few.w[k]) + 1e-18);
}

TEST(ReducedCoefficients, SmallBlocksGiveTheSameSums) {
    const FemModel model(box_mesh(ElementKind::Hex8, 0.01), {isotropic(2e4, 0.3, 1000)});
    const MatrixXd U = random_basis(model, 5, 0.01);
    const auto large = build_coefficients(model, U);
    const auto small = build_coefficients(model, U, Progress::none(), 1);
    for (std::size_t k = 0; k < large[0].of_mu.w.size(); ++k) {
        const double scale = std::abs(large[0].of_mu.w[k]) + 1e-9;
        EXPECT_NEAR(large[0].of_mu.w[k], small[0].of_mu.w[k], 1e-10 * scale);
    }
}

TEST(ReducedCoefficients, OtherLawsAreRefused) {
    const FemModel model(box_mesh(ElementKind::Hex8, 0.0),
                         {isotropic(2e4, 0.3, 1000, Law::NeoHookean)});
    EXPECT_NE(input_error([&] {
                  return build_coefficients(model, random_basis(model, 2, 0.01));
              }).find("material.law = neo-hookean (expected st-venant-kirchhoff or small-strain"),
              std::string::npos);
}

}  // namespace
}  // namespace pliant
