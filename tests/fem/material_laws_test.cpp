#include "fem/material_laws.h"

#include "fem/random_matrices.h"
#include "pliant/core/allocation_guard.h"

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <random>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using test::random_matrix;
using test::random_rotation;
using Vector9d = Eigen::Matrix<double, 9, 1>;

Matrix6d random_stiffness(unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const Matrix6d A = Matrix6d::NullaryExpr([&] { return uniform(generator); });
    return 1e5 * (A * A.transpose() + 0.2 * Matrix6d::Identity());
}

double dot(const Matrix3d& A, const Matrix3d& B) { return A.cwiseProduct(B).sum(); }

/// C_ijkl from its 6×6 matrix.
double tensor(const Matrix6d& C, int i, int j, int k, int l) {
    const auto voigt = [](int a, int b) { return a == b ? a : 6 - a - b; };
    return C(voigt(i, j), voigt(k, l));
}

struct LawCase {
    std::string name;
    Material material;

    [[nodiscard]] bool is_objective() const { return material.law != Law::SmallStrain; }
    [[nodiscard]] bool is_isotropic() const { return !material.anisotropy; }
    [[nodiscard]] bool has_initial_stress() const {
        return material.anisotropy && !(material.anisotropy->initial_strain.isZero() &&
                                        material.anisotropy->initial_stress.isZero());
    }
    [[nodiscard]] Matrix6d stiffness() const {
        return material.anisotropy ? material.anisotropy->stiffness
                                   : isotropic_stiffness(material.lambda, material.mu);
    }
    /// Size of the moduli, against which errors are measured.
    [[nodiscard]] double scale() const { return stiffness().cwiseAbs().maxCoeff(); }
};

void PrintTo(const LawCase& c, std::ostream* out) { *out << c.name; }

std::vector<LawCase> all_laws() {
    std::vector<LawCase> cases;
    for (const Law law :
         {Law::StVenantKirchhoff, Law::SmallStrain, Law::NeoHookean, Law::Corotational}) {
        std::string name(to_string(law));
        std::replace(name.begin(), name.end(), '-', '_');
        cases.push_back({name + "_unit", isotropic(1, 0.3, 1, law)});
        cases.push_back({name + "_tissue", material_preset("tissue", law)});
        cases.push_back({name + "_steel", material_preset("steel", law)});
        cases.push_back({name + "_uncoupled", isotropic(2e6, 0, 1100, law)});
        cases.push_back({name + "_auxetic", isotropic(3e5, -0.4, 100, law)});
        cases.push_back({name + "_nearly_incompressible", isotropic(1e6, 0.495, 1000, law)});
        if (law != Law::StVenantKirchhoff && law != Law::SmallStrain) continue;
        cases.push_back({name + "_wood", material_preset("wood", law)});
        cases.push_back({name + "_anisotropic_1", anisotropic(random_stiffness(11), 1000, law)});
        cases.push_back({name + "_anisotropic_2", anisotropic(random_stiffness(12), 1000, law)});
        LawCase initial{name + "_initial_stress", anisotropic(random_stiffness(13), 1000, law)};
        initial.material.anisotropy->initial_strain << 0.01, -0.02, 0.03, 0.02, -0.01, 0.04;
        initial.material.anisotropy->initial_stress << 2e3, -1e3, 3e3, 4e3, -2e3, 1e3;
        cases.push_back(initial);
    }
    return cases;
}

class EveryLaw : public testing::TestWithParam<LawCase> {
protected:
    const LawCase& law() const { return GetParam(); }
    const Material& material() const { return GetParam().material; }
    double scale() const { return GetParam().scale(); }
    std::mt19937 generator{7};

    /// Rotated stretches by up to half, one in four turned inside out.
    Matrix3d random_deformation(int k) {
        Matrix3d F = Matrix3d::Identity() + 0.25 * random_matrix(generator);
        if (k % 4 == 3) F = F * Vector3d(1, 1, -0.4).asDiagonal();
        return random_rotation(generator) * F;
    }
};

INSTANTIATE_TEST_SUITE_P(Materials, EveryLaw, testing::ValuesIn(all_laws()),
                         [](const auto& test) { return test.param.name; });

/// Checks that the central difference `(f(h) − f(−h))/2h` tends to `exact` as h². `f` may be exact
/// for any h, as for laws of low degree.
template <class Function>
void expect_second_order(Function f, double exact, double scale) {
    const auto error = [&](double h) { return std::abs((f(h) - f(-h)) / (2 * h) - exact); };
    const double coarse = error(2e-3), fine = error(1e-3);
    // third derivatives are of the size of the moduli over a stretch of 0.3, cubed
    EXPECT_LT(fine, 1e-3 * scale);
    // rounding of f by 1e-15 over the step
    if (coarse < 1e-9 * scale) return;
    EXPECT_NEAR(std::log2(coarse / fine), 2.0, 0.05);
}

TEST_P(EveryLaw, IsStressFreeAndWithoutEnergyAtRest) {
    const Matrix3d I = Matrix3d::Identity();
    if (!law().has_initial_stress()) {
        EXPECT_EQ(energy_density(material(), I), 0.0);
        EXPECT_LE(stress(material(), I).cwiseAbs().maxCoeff(), 1e-15 * scale());
        return;
    }
    const Anisotropy& a = *material().anisotropy;
    const Vector6d s = a.initial_stress - a.stiffness * a.initial_strain;
    Matrix3d S;
    S << s[0], s[5], s[4], s[5], s[1], s[3], s[4], s[3], s[2];
    EXPECT_LT((stress(material(), I) - S).norm(), 1e-15 * scale());
}

TEST_P(EveryLaw, IsInvariantToRigidRotation) {
    if (!law().is_objective()) {  // only to first order
        const Matrix3d A = random_matrix(generator), I = Matrix3d::Identity();
        EXPECT_LT((stress(material(), I + A - A.transpose()) - stress(material(), I)).norm(),
                  1e-14 * scale());
        return;
    }
    for (int k = 0; k < 20; ++k) {
        const Matrix3d F = random_deformation(k), R = random_rotation(generator);
        EXPECT_NEAR(energy_density(material(), R * F), energy_density(material(), F),
                    1e-13 * scale());
        EXPECT_LT((stress(material(), R * F) - R * stress(material(), F)).norm(), 1e-13 * scale());
        if (law().has_initial_stress()) continue;
        EXPECT_NEAR(energy_density(material(), R), 0, 1e-14 * scale());
        EXPECT_LT(stress(material(), R).norm(), 1e-14 * scale());
    }
}

TEST_P(EveryLaw, IsIsotropicUnlessAnisotropic) {
    double largest_change = 0;
    for (int k = 0; k < 20; ++k) {
        const Matrix3d F = random_deformation(0), R = random_rotation(generator);
        // linear strain must be turned on both sides
        const Matrix3d turned = law().is_objective() ? Matrix3d(F * R) : R.transpose() * F * R;
        const double change = energy_density(material(), turned) - energy_density(material(), F);
        largest_change = std::max(largest_change, std::abs(change));
    }
    if (law().is_isotropic())
        EXPECT_LT(largest_change, 1e-13 * scale());
    else
        EXPECT_GT(largest_change, 1e-3 * scale());
}

TEST_P(EveryLaw, StressIsTheEnergyGradientToSecondOrder) {
    for (int k = 0; k < 20; ++k) {
        const Matrix3d F = random_deformation(k), dF = random_matrix(generator).normalized();
        const auto energy = [&](double h) { return energy_density(material(), F + h * dF); };
        expect_second_order(energy, dot(stress(material(), F), dF), scale());
    }
}

TEST_P(EveryLaw, TangentIsTheStressGradientToSecondOrder) {
    for (int k = 0; k < 20; ++k) {
        const Matrix3d F = random_deformation(k), dF = random_matrix(generator).normalized();
        const Vector9d dP = stress_gradient(material(), F) * dF.reshaped();
        const Matrix3d probe = random_matrix(generator).normalized();
        const auto component = [&](double h) { return dot(stress(material(), F + h * dF), probe); };
        expect_second_order(component, dP.dot(probe.reshaped()), scale());
    }
}

TEST_P(EveryLaw, TangentIsSymmetric) {
    for (int k = 0; k < 20; ++k) {
        const Matrix9d K = stress_gradient(material(), random_deformation(k));
        EXPECT_LT((K - K.transpose()).norm(), 1e-14 * K.norm());
    }
}

TEST_P(EveryLaw, SecondGradientIsTheTangentGradientToSecondOrder) {
    for (int k = 0; k < 20; ++k) {
        const Matrix3d F = random_deformation(k);
        const Matrix3d dF1 = random_matrix(generator).normalized();
        const Matrix3d dF2 = random_matrix(generator).normalized();
        const Matrix3d probe = random_matrix(generator).normalized();
        const auto component = [&](double h) -> double {
            const Matrix9d K = stress_gradient(material(), F + h * dF2);
            return probe.reshaped().dot(K * dF1.reshaped());
        };
        const Matrix3d ddP = stress_second_gradient(material(), F, dF1, dF2);
        // differences of the steep rotation derivative need a wider bound on the remainder
        expect_second_order(component, dot(ddP, probe), 10 * scale());
    }
}

TEST_P(EveryLaw, SecondGradientIsSymmetricAndBilinear) {
    for (int k = 0; k < 20; ++k) {
        const Matrix3d F = random_deformation(k), A = random_matrix(generator);
        const Matrix3d B = random_matrix(generator), C = random_matrix(generator);
        const auto second = [&](const Matrix3d& dF1, const Matrix3d& dF2) {
            return stress_second_gradient(material(), F, dF1, dF2);
        };
        const double tolerance = 1e-12 * scale();
        EXPECT_LT((second(A, B) - second(B, A)).norm(), tolerance);
        EXPECT_LT((second(A + 2 * C, B) - second(A, B) - 2 * second(C, B)).norm(), tolerance);
        // totally symmetric: the third derivative of an energy
        EXPECT_NEAR(dot(second(A, B), C), dot(second(A, C), B), tolerance);
        if (material().law == Law::SmallStrain) {
            EXPECT_EQ(second(A, B), Matrix3d::Zero());
        }
    }
}

TEST_P(EveryLaw, TangentAtRestIsTheLinearStiffness) {
    const Matrix3d I = Matrix3d::Identity();
    const Matrix9d K = stress_gradient(material(), I);
    const Matrix6d C = law().stiffness();
    // an initial stress turns with the material
    const Matrix3d S = law().is_objective() ? stress(material(), I) : Matrix3d(Matrix3d::Zero());
    for (int a = 0; a < 3; ++a)
        for (int i = 0; i < 3; ++i)
            for (int b = 0; b < 3; ++b)
                for (int j = 0; j < 3; ++j)
                    EXPECT_NEAR(K(3 * a + i, 3 * b + j), tensor(C, i, a, j, b) + S(a, b) * I(i, j),
                                4e-15 * scale());
}

TEST_P(EveryLaw, SmallStrainsGiveTheLinearStress) {
    if (law().has_initial_stress()) return;
    const Matrix3d H = 1e-6 * random_matrix(generator);
    const Matrix3d F = Matrix3d::Identity() + H, P = stress(material(), F);
    const Matrix6d C = law().stiffness();
    double energy = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            double sigma = 0;
            for (int k = 0; k < 3; ++k)
                for (int l = 0; l < 3; ++l) sigma += tensor(C, i, j, k, l) * H(k, l);
            EXPECT_NEAR(P(i, j), sigma, 1e-11 * scale());  // second order in 1e-6
            energy += 0.5 * sigma * H(i, j);
        }
    EXPECT_NEAR(energy_density(material(), F), energy, 1e-17 * scale());  // third order
}

TEST_P(EveryLaw, StaysFiniteForDegenerateDeformation) {
    const Vector3d a(1, 2, 3), b(-1, 0.5, 2);
    const Matrix3d I = Matrix3d::Identity();
    const std::vector<Matrix3d> degenerate = {
        Matrix3d::Zero(),
        a * b.transpose(),
        Vector3d(1, 0, 0).asDiagonal(),
        Vector3d(1, 1, 0).asDiagonal(),
        Vector3d(1, 1, -1).asDiagonal(),
        Vector3d(1, 1, -1 + 1e-12).asDiagonal(),
        -I,
        1e-30 * I,
        1e-200 * random_matrix(generator),
        Matrix3d::Constant(5e-324),
        1e8 * random_matrix(generator),
        1e40 * random_matrix(generator),
        -1e40 * I,
        1e40 * a * b.transpose(),
    };
    const Matrix3d dF1 = random_matrix(generator), dF2 = random_matrix(generator);
    for (const Matrix3d& F : degenerate) {
        EXPECT_TRUE(std::isfinite(energy_density(material(), F))) << F;
        EXPECT_TRUE(stress(material(), F).allFinite()) << F;
        const Matrix9d K = stress_gradient(material(), F);
        EXPECT_TRUE(K.allFinite()) << F;
        EXPECT_LE((K - K.transpose()).norm(), 1e-14 * K.norm()) << F;
        EXPECT_TRUE(stress_second_gradient(material(), F, dF1, dF2).allFinite()) << F;
    }
}

TEST_P(EveryLaw, AllocatesNothing) {
    const Matrix3d inverted = random_deformation(3), upright = random_deformation(0);
    double checksum = 0;
    const AllocationGuard guard;
    for (const Matrix3d& F : {inverted, upright, Matrix3d(Matrix3d::Zero())}) {
        checksum += energy_density(material(), F) + stress(material(), F)(0, 1);
        checksum += stress_gradient(material(), F)(3, 7);
        checksum += stress_second_gradient(material(), F, upright, inverted)(1, 2);
    }
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_TRUE(std::isfinite(checksum));
}

TEST(StVenantKirchhoff, UniaxialStressIsCubicWithItsExtremumAt0577) {
    const double E = 3e4, s_extremum = 1 / std::sqrt(3.0);
    const Material m = isotropic(E, 0, 1000);
    const auto uniaxial = [](double s) { return Matrix3d(Vector3d(s, 1, 1).asDiagonal()); };
    for (const double s : {-0.5, 0.0, 0.3, 0.8, 1.0, 1.7})
        EXPECT_NEAR(stress(m, uniaxial(s))(0, 0), 0.5 * E * (s * s * s - s), 1e-11 * E);
    EXPECT_NEAR(stress_gradient(m, uniaxial(s_extremum))(0, 0), 0, 1e-14 * E);
    EXPECT_NEAR(stress(m, uniaxial(s_extremum))(0, 0), -E / (3 * std::sqrt(3.0)), 1e-14 * E);
}

TEST(StVenantKirchhoff, AnisotropicWithIsotropicConstantsIsIsotropic) {
    std::mt19937 generator(3);
    for (const Law law : {Law::StVenantKirchhoff, Law::SmallStrain}) {
        const Material a = isotropic(2, 0.35, 1, law);
        const Material b = anisotropic(isotropic_stiffness(a.lambda, a.mu), 1, law);
        const Matrix3d F = random_matrix(generator), dF1 = random_matrix(generator),
                       dF2 = random_matrix(generator);
        EXPECT_NEAR(energy_density(a, F), energy_density(b, F), 1e-14);
        EXPECT_LT((stress(a, F) - stress(b, F)).norm(), 1e-14);
        EXPECT_LT((stress_gradient(a, F) - stress_gradient(b, F)).norm(), 1e-14);
        EXPECT_LT((stress_second_gradient(a, F, dF1, dF2) - stress_second_gradient(b, F, dF1, dF2))
                      .norm(),
                  1e-14);
        EXPECT_NEAR(b.youngs_modulus(), 2, 1e-14);
        EXPECT_NEAR(b.poisson_ratio(), 0.35, 1e-15);
    }
}

TEST(SmallStrain, FeelsRigidRotation) {
    // the artefact the other laws exist to avoid: strain of a rotation by θ is cos θ − 1
    const Material m = isotropic(1, 0, 1, Law::SmallStrain);
    const Matrix3d R = Eigen::AngleAxisd(0.5, Vector3d::UnitZ()).toRotationMatrix();
    EXPECT_NEAR(stress(m, R)(0, 0), std::cos(0.5) - 1, 1e-15);
}

TEST(NeoHookean, EqualsTheEnergyOfThePaper) {
    const Material m = isotropic(1e4, 0.4, 1000, Law::NeoHookean);
    const double mu = 4.0 / 3.0 * m.mu, lambda = m.lambda + 5.0 / 6.0 * m.mu;
    const double alpha = 1 + mu / lambda - mu / (4 * lambda);
    const auto published = [&](const Matrix3d& F) {
        const double I = F.squaredNorm(), J = F.determinant();
        return 0.5 * mu * (I - 3) + 0.5 * lambda * (J - alpha) * (J - alpha) -
               0.5 * mu * std::log(I + 1);
    };
    std::mt19937 generator(4);
    for (int k = 0; k < 50; ++k) {
        const Matrix3d F = 1.5 * random_matrix(generator);
        EXPECT_NEAR(energy_density(m, F), published(F) - published(Matrix3d::Identity()), 1e-9);
    }
}

TEST(NeoHookean, PushesBackEverMoreUnderCompressionAndInversion) {
    for (const double nu : {0.0, 0.3, 0.49}) {
        const Material m = isotropic(1, nu, 1, Law::NeoHookean);
        double previous = 0;
        for (double s = 0.99; s > -3; s -= 0.01) {
            const double P = stress(m, Vector3d(s, 1, 1).asDiagonal())(0, 0);
            EXPECT_LT(P, previous) << "nu " << nu << " stretch " << s;
            previous = P;
        }
        // turning inside out never pays
        std::mt19937 generator(5);
        for (int k = 0; k < 50; ++k) {
            Matrix3d F = random_matrix(generator);
            if (F.determinant() < 0) F = -F;
            EXPECT_GT(energy_density(m, -F), energy_density(m, F));
        }
    }
}

TEST(NeoHookean, EnergyOfTinyStrainsKeepsItsDigits) {
    // exactly representable stretches; rounding of F alone would leave no digit of I − 3
    const Material m = isotropic(1, 0.3, 1, Law::NeoHookean);
    const double e = std::ldexp(1.0, -30);
    const Matrix3d F = Vector3d(1 + e, 1 - e, 1).asDiagonal();
    EXPECT_NEAR(energy_density(m, F) / (2 * m.mu * e * e), 1, 1e-6);
}

TEST(Corotational, PureStretchIsLinear) {
    std::mt19937 generator(6);
    const Material m = isotropic(2e5, 0.3, 1000, Law::Corotational);
    for (const Vector3d& s : {Vector3d(1.4, 1, 1), Vector3d(0.5, 1.2, 0.9), Vector3d(2, 1, 0.1),
                              Vector3d(1.1, 0.8, -0.3)}) {
        const Matrix3d R = random_rotation(generator), V = random_rotation(generator);
        const Matrix3d S = V * s.asDiagonal() * V.transpose(), I = Matrix3d::Identity();
        const double trace = s.sum() - 3;
        EXPECT_NEAR(energy_density(m, R * S),
                    m.mu * (S - I).squaredNorm() + 0.5 * m.lambda * trace * trace, 1e-9);
        const Matrix3d P = R * (2 * m.mu * (S - I) + m.lambda * trace * I);
        EXPECT_LT((stress(m, R * S) - P).norm(), 1e-13 * P.norm() + 1e-9);
    }
}

TEST(Corotational, TangentIsExactUpToTheGuardAndBoundedBeyond) {
    // shear between the two smallest stretches: stiffness 2μ − 4μ/(s₂ + s₃) for λ = 0
    const Material m = isotropic(2, 0, 1, Law::Corotational);
    const auto shear_stiffness = [&](double sum) {
        const Matrix3d F = Vector3d(1, 0.5, sum - 0.5).asDiagonal();
        Vector9d twist = Vector9d::Zero();
        twist[5] = std::sqrt(0.5), twist[7] = -std::sqrt(0.5);
        return twist.dot(stress_gradient(m, F) * twist);
    };
    for (const double sum : {1.0, 0.1, 0.01, 0.00101})
        EXPECT_NEAR(shear_stiffness(sum), 2 * m.mu - 4 * m.mu / sum, 1e-11 / sum);
    for (const double sum : {0.00099, 1e-6, 0.0})
        EXPECT_NEAR(shear_stiffness(sum), 2 * m.mu - 4 * m.mu / 1e-3, 1e-8);
}

}  // namespace
}  // namespace pliant
