#include "benchmarks/published_polynomial.h"
#include "fem/fem_samples.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/simd.h"
#include "pliant/reduction/reduced_force.h"
#include "reduction/force_samples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::input_error;
using test::random_basis;
using test::random_coefficients;
using test::random_vector;

Material prestressed_wood() {
    Material wood = material_preset("wood");
    wood.anisotropy->initial_strain << 0.01, -0.02, 0.005, 0.03, 0.01, -0.01;
    wood.anisotropy->initial_stress << 3e6, -2e6, 1e6, 5e5, -4e5, 2e5;
    return wood;
}

struct NamedBody {
    const char* name;
    VolumeMesh mesh;
    std::vector<Material> materials;
};
/// Every shape with every kind of material at least once.
std::vector<NamedBody> bodies() {
    std::vector<NamedBody> all{
        {"boxes, rubber", hex_box(3, 2, 2, test::unit_box()), {isotropic(2e4, 0.3, 1000)}},
        {"distorted hexes, nearly incompressible",
         test::distorted_hexes(2),
         {isotropic(1e6, 0.49, 1000)}},
        {"tets, two regions",
         test::distorted_tets(2),
         {isotropic(1e4, 0.3, 1000), isotropic(5e4, 0.1, 1000)}},
        {"boxes, prestressed wood", hex_box(2, 2, 2, test::unit_box()), {prestressed_wood()}},
        {"tets, prestressed wood", test::distorted_tets(2), {prestressed_wood()}},
        {"distorted hexes, small strain",
         test::distorted_hexes(2),
         {isotropic(2e4, 0.3, 1000, Law::SmallStrain)}}};
    VolumeMesh& mesh = all[2].mesh;
    mesh.regions.assign(static_cast<std::size_t>(mesh.num_elements()), 0);
    for (int e = 0; e < mesh.num_elements(); e += 3) mesh.regions[e] = 1;
    return all;
}

struct Evaluation {
    VectorXd R;
    MatrixXd K;
};
Evaluation evaluate(const ReducedForce& force, const VectorXd& q) {
    const auto ws = force.make_workspace();
    Evaluation result{VectorXd(force.size()), MatrixXd(force.size(), force.size())};
    force.force_and_stiffness(q, result.R, result.K, *ws);
    return result;
}

TEST(PolynomialForce, EqualsDirectEvaluation) {
    for (const NamedBody& body : bodies()) {
        const FemModel model(body.mesh, body.materials);
        const MatrixXd U = random_basis(model.num_unknowns(), 30, 0.01);
        const ReducedCoefficients all = combine(build_coefficients(model, U), model.materials());
        auto model_ws = model.make_workspace();
        const double at_rest = model.energy(VectorXd::Zero(model.num_unknowns()), model_ws);
        for (const int r : {5, 15, 30}) {
            SCOPED_TRACE(std::string(body.name) + ", r = " + std::to_string(r));
            const auto force = make_polynomial_force(all.truncated(r));
            const auto direct = make_direct_force(model, U.leftCols(r));
            const auto ws = force->make_workspace(), direct_ws = direct->make_workspace();
            for (unsigned seed = 1; seed <= 3; ++seed) {
                const VectorXd q = random_vector(r, seed);
                const Evaluation a = evaluate(*force, q), b = evaluate(*direct, q);
                EXPECT_LE((a.R - b.R).norm(), 1e-10 * b.R.norm());
                EXPECT_LE((a.K - b.K).norm(), 1e-10 * b.K.norm());
                VectorXd R(r);
                force->force(q, R, *ws);
                EXPECT_LE((R - b.R).norm(), 1e-10 * b.R.norm());
                // energies start at rest
                const double energy = direct->energy(q, *direct_ws) - at_rest;
                EXPECT_NEAR(force->energy(q, *ws), energy,
                            1e-10 * (std::abs(energy) + std::abs(at_rest)));
            }
        }
    }
}

TEST(PolynomialForce, EqualsThePublishedScheme) {
    for (const int r : {1, 2, 7, 20, 31}) {
        ReducedCoefficients c = random_coefficients(r, 3);
        // the published scheme knows no initial stress
        for (int i = 0; i <= r; ++i) c.w[static_cast<std::size_t>(quartic_index(0, 0, 0, i))] = 0;
        bench::PublishedPolynomial published(c);
        const VectorXd q = random_vector(r, 4);
        const Evaluation ours = evaluate(*make_polynomial_force(c), q);
        VectorXd R(r);
        MatrixXd K(r, r);
        published.force(q, R);
        published.stiffness(q, K);
        EXPECT_LE((ours.R - R).norm(), 1e-13 * R.norm());
        EXPECT_LE((ours.K - K).norm(), 1e-13 * K.norm());
    }
}

TEST(PolynomialForce, PublishedSchemeNeedsThePublishedMemory) {
    const auto kib = [](int r) {
        return static_cast<double>(
                   bench::PublishedPolynomial(random_coefficients(r, 1)).num_bytes()) /
               1024;
    };
    EXPECT_NEAR(kib(12), 98, 0.5);
    EXPECT_NEAR(kib(15), 223, 0.5);
    EXPECT_NEAR(kib(30) / 1024, 3.0, 0.05);
}

/// Errors of central differences, at steps h and h/2.
template <class Error>
double measured_order(const Error& error) {
    const double h = 0.1;
    return std::log2(error(h) / error(h / 2));
}

TEST(PolynomialForce, ForceIsTheGradientOfTheEnergyAndStiffnessThatOfTheForce) {
    const int r = 12;
    const auto force = make_polynomial_force(random_coefficients(r, 5));
    const auto ws = force->make_workspace();
    const VectorXd q = random_vector(r, 6), direction = random_vector(r, 7).normalized();
    const Evaluation at = evaluate(*force, q);
    EXPECT_NEAR(measured_order([&](double h) {
                    const double difference = force->energy(q + h * direction, *ws) -
                                              force->energy(q - h * direction, *ws);
                    return std::abs(difference / (2 * h) - at.R.dot(direction));
                }),
                2, 0.01);
    EXPECT_NEAR(measured_order([&](double h) {
                    VectorXd ahead(r), behind(r);
                    force->force(q + h * direction, ahead, *ws);
                    force->force(q - h * direction, behind, *ws);
                    return ((ahead - behind) / (2 * h) - at.K * direction).norm();
                }),
                2, 0.01);
    EXPECT_EQ(at.K, at.K.transpose());
}

TEST(PolynomialForce, ThreeWaysToTheForceAgreeAtEverySize) {
    for (const int r : {1, 2, 3, 4, 5, 16, 17, 63, 64, 100}) {
        const ReducedCoefficients c = random_coefficients(r, 8);
        const VectorXd q = random_vector(r, 9);
        const test::ObviousSums sums = test::obvious_sums(c, q);
        const auto force = make_polynomial_force(c);
        const auto ws = force->make_workspace();
        EXPECT_EQ(force->size(), r);
        const Evaluation both = evaluate(*force, q);
        VectorXd R(r);
        force->force(q, R, *ws);
        const VectorXd exact = sums.gradient.tail(r);
        const double bound = test::kRoundingBound<double> * sums.gradient_size.norm();
        EXPECT_LE((R - exact).norm(), bound);
        EXPECT_LE((both.R - exact).norm(), bound);
        EXPECT_LE((both.K - sums.hessian.bottomRightCorner(r, r)).norm(),
                  test::kRoundingBound<double> * sums.hessian_size.norm());
        EXPECT_NEAR(force->energy(q, *ws), static_cast<double>(sums.energy),
                    test::kRoundingBound<double> * static_cast<double>(sums.energy_size));
    }
}

TEST(PolynomialForce, SinglePrecisionOnEveryTarget) {
    const FemModel model(test::distorted_hexes(2), {isotropic(2e4, 0.3, 1000)});
    const int r = 20;
    const MatrixXd U = random_basis(model.num_unknowns(), r, 0.01);
    const ReducedCoefficients c = combine(build_coefficients(model, U), model.materials());
    const auto exact = make_polynomial_force(c),
               single = make_polynomial_force(c, Precision::Single);
    const auto exact_ws = exact->make_workspace(), single_ws = single->make_workspace();
    for (const std::string& target : simd_targets()) {
        SCOPED_TRACE(target);
        const ScopedSimdTarget scope(target);
        const VectorXd q = random_vector(r, 10);
        const Evaluation a = evaluate(*single, q), b = evaluate(*exact, q);
        VectorXd R(r);
        single->force(q, R, *single_ws);
        EXPECT_LE((a.R - b.R).norm(), 2e-6 * b.R.norm());
        EXPECT_LE((R - b.R).norm(), 2e-6 * b.R.norm());
        EXPECT_LE((a.K - b.K).norm(), 2e-6 * b.K.norm());
        const double energy = exact->energy(q, *exact_ws);
        EXPECT_NEAR(single->energy(q, *single_ws), energy, 2e-6 * energy);
        // and it is not simply the same
        EXPECT_GT((a.R - b.R).norm(), 1e-10 * b.R.norm());
    }
}

TEST(PolynomialForce, ReturnsConstantForceAtRest) {
    const ReducedCoefficients c = random_coefficients(6, 11);
    const Evaluation at_rest = evaluate(*make_polynomial_force(c), VectorXd::Zero(6));
    for (int i = 0; i < 6; ++i)
        EXPECT_NEAR(at_rest.R[i], c.w[static_cast<std::size_t>(quartic_index(0, 0, 0, i + 1))],
                    1e-15);
}

TEST(PolynomialForce, FirstCoordinatesAloneAreThePolynomialOfFewer) {
    const ReducedCoefficients c = random_coefficients(14, 12);
    VectorXd q = VectorXd::Zero(14);
    q.head(9) = random_vector(9, 13);
    const Evaluation all = evaluate(*make_polynomial_force(c), q);
    const Evaluation few = evaluate(*make_polynomial_force(c.truncated(9)), q.head(9));
    EXPECT_LE((all.R.head(9) - few.R).norm(), 1e-14 * few.R.norm());
    EXPECT_LE((all.K.topLeftCorner(9, 9) - few.K).norm(), 1e-14 * few.K.norm());
}

TEST(PolynomialForce, WritesIntoPartsOfLargerMatrices) {
    const auto force = make_polynomial_force(random_coefficients(5, 14));
    const auto ws = force->make_workspace();
    const VectorXd q = random_vector(5, 15);
    const Evaluation expected = evaluate(*force, q);
    MatrixXd large = MatrixXd::Constant(9, 8, 7.0);
    VectorXd R(5);
    force->force_and_stiffness(q, R, large.block(2, 1, 5, 5), *ws);
    EXPECT_EQ(large.block(2, 1, 5, 5), expected.K);
    large.block(2, 1, 5, 5).setConstant(7);
    EXPECT_TRUE((large.array() == 7).all());
}

TEST(PolynomialForce, FiniteCoordinatesOfAnySizeGiveFiniteResults) {
    ReducedCoefficients c = random_coefficients(9, 16);
    for (double& w : c.w) w *= 1e12;
    for (const Precision precision : {Precision::Double, Precision::Single}) {
        const auto force = make_polynomial_force(c, precision);
        const auto ws = force->make_workspace();
        for (const double size : {1e-300, 1e-20, 1e20, 1e100, 1e300}) {
            const VectorXd q = random_vector(9, 17).array().sign() * size;
            const Evaluation at = evaluate(*force, q);
            EXPECT_TRUE(at.R.allFinite() && at.K.allFinite()) << size;
            EXPECT_TRUE(std::isfinite(force->energy(q, *ws))) << size;
        }
        for (const double bad :
             {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
            VectorXd q = random_vector(9, 18);
            q[4] = bad;
            EXPECT_FALSE(evaluate(*force, q).R.allFinite());
            EXPECT_FALSE(std::isfinite(force->energy(q, *ws)));
            // the next call knows nothing of it
            EXPECT_TRUE(evaluate(*force, random_vector(9, 18)).K.allFinite());
        }
    }
}

TEST(PolynomialForce, AllocatesNothing) {
    for (const Precision precision : {Precision::Double, Precision::Single}) {
        const auto force = make_polynomial_force(random_coefficients(30, 19), precision);
        const auto ws = force->make_workspace();
        const VectorXd q = random_vector(30, 20);
        VectorXd R(30);
        MatrixXd K(30, 30);
        const AllocationGuard guard;
        force->force(q, R, *ws);
        force->force_and_stiffness(q, R, K, *ws);
        const double energy = force->energy(q, *ws);
        const auto allocations = guard.count();
        EXPECT_EQ(allocations, 0u);
        EXPECT_TRUE(std::isfinite(energy));
    }
}

TEST(PolynomialForce, RefusesWhatItCannotHold) {
    EXPECT_NE(input_error([] {
                  return make_polynomial_force({257, {}});
              })
                  .find("reduced coordinates of a polynomial = 257 (expected 1 to 256; direct "
                        "evaluation takes any number)"),
              std::string::npos);
    ReducedCoefficients c = random_coefficients(2, 21);
    c.w[5] = 1e37;
    EXPECT_NE(input_error([&] {
                  return make_polynomial_force(c, Precision::Single);
              }).find("beyond the range of single precision; use double"),
              std::string::npos);
    EXPECT_NO_THROW((void)make_polynomial_force(c));
    c.w[5] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_NE(input_error([&] { return make_polynomial_force(c); }).find("check the material"),
              std::string::npos);
}

}  // namespace
}  // namespace pliant
