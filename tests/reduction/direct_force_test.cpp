#include "fem/fem_samples.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
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
using test::random_basis;
using test::random_vector;

constexpr Law kLaws[] = {Law::StVenantKirchhoff, Law::SmallStrain, Law::NeoHookean,
                         Law::Corotational};

FemModel hexes(Law law, int n = 3) {
    return {test::distorted_hexes(n), {isotropic(1e5, 0.4, 1000, law)}};
}
FemModel tets(Law law) { return {test::distorted_tets(3), {isotropic(1e5, 0.4, 1000, law)}}; }

TEST(DirectForce, ProjectsTheFullModel) {
    for (const Law law : kLaws)
        for (const FemModel& model : {hexes(law), tets(law)})
            for (const int r : {1, 7, 8, 17, 60}) {
                SCOPED_TRACE(std::string(to_string(law)) + ", r = " + std::to_string(r));
                const MatrixXd U = random_basis(model.num_unknowns(), r, 0.01 / std::sqrt(r));
                const VectorXd q = random_vector(r, 1);
                const VectorXd u = U * q;
                VectorXd f(model.num_unknowns());
                FemModel::Matrix K = model.make_matrix();
                model.force_and_tangent(u, f, K);
                auto model_ws = model.make_workspace();

                const auto force = make_direct_force(model, U);
                EXPECT_EQ(force->size(), r);
                const auto ws = force->make_workspace();
                VectorXd R(r), R_alone(r);
                MatrixXd K_r(r, r);
                force->force_and_stiffness(q, R, K_r, *ws);
                force->force(q, R_alone, *ws);
                // forces of elements nearly cancel at the nodes: rounding is relative to them
                const double size = 1e-12 * U.norm() * f.norm();
                EXPECT_LE((R - U.transpose() * f).norm(), size);
                EXPECT_LE((R_alone - U.transpose() * f).norm(), size);
                const MatrixXd expected = U.transpose() * (K * U);
                EXPECT_LE((K_r - expected).norm(), 1e-12 * expected.norm());
                EXPECT_EQ(K_r, K_r.transpose());
                EXPECT_NEAR(force->energy(q, *ws), model.energy(u, model_ws),
                            1e-12 * std::abs(model.energy(u, model_ws)));
            }
}

TEST(DirectForce, AllDisplacementsAsBasisGiveTheFullModelBack) {
    const FemModel model = hexes(Law::NeoHookean, 1);
    const int n = model.num_unknowns();
    const VectorXd u = test::random_displacements(n, 0.05, 2);
    const auto force = make_direct_force(model, MatrixXd::Identity(n, n));
    const auto ws = force->make_workspace();
    VectorXd R(n), f(n);
    MatrixXd K_r(n, n);
    FemModel::Matrix K = model.make_matrix();
    force->force_and_stiffness(u, R, K_r, *ws);
    model.force_and_tangent(u, f, K);
    EXPECT_LE((R - f).norm(), 1e-14 * f.norm());
    EXPECT_LE((K_r - MatrixXd(K)).norm(), 1e-14 * K.norm());
}

TEST(DirectForce, ForceIsTheGradientOfTheEnergyAndStiffnessThatOfTheForce) {
    for (const Law law : {Law::StVenantKirchhoff, Law::NeoHookean, Law::Corotational}) {
        const FemModel model = hexes(law);
        const int r = 6;
        const auto force = make_direct_force(model, random_basis(model.num_unknowns(), r, 0.02));
        const auto ws = force->make_workspace();
        const VectorXd q = random_vector(r, 3), direction = random_vector(r, 4).normalized();
        VectorXd R(r);
        MatrixXd K(r, r);
        force->force_and_stiffness(q, R, K, *ws);
        const auto energy_error = [&](double h) {
            const double difference =
                force->energy(q + h * direction, *ws) - force->energy(q - h * direction, *ws);
            return std::abs(difference / (2 * h) - R.dot(direction));
        };
        const auto force_error = [&](double h) {
            VectorXd ahead(r), behind(r);
            force->force(q + h * direction, ahead, *ws);
            force->force(q - h * direction, behind, *ws);
            return ((ahead - behind) / (2 * h) - K * direction).norm();
        };
        const double h = 0.02;
        EXPECT_NEAR(std::log2(energy_error(h) / energy_error(h / 2)), 2, 0.1) << to_string(law);
        EXPECT_NEAR(std::log2(force_error(h) / force_error(h / 2)), 2, 0.1) << to_string(law);
    }
}

TEST(DirectForce, SameBitsForEveryNumberOfThreads) {
    const FemModel model = hexes(Law::NeoHookean, 9);
    const int r = 12;
    const auto force = make_direct_force(model, random_basis(model.num_unknowns(), r, 0.005));
    const VectorXd q = random_vector(r, 5);
    VectorXd R[2] = {VectorXd(r), VectorXd(r)};
    MatrixXd K[2] = {MatrixXd(r, r), MatrixXd(r, r)};
    double energy[2];
    for (const int k : {0, 1}) {
        set_num_threads(k + 1);
        const auto ws = force->make_workspace();
        force->force_and_stiffness(q, R[k], K[k], *ws);
        energy[k] = force->energy(q, *ws);
    }
    set_num_threads(0);
    EXPECT_EQ(R[0], R[1]);
    EXPECT_EQ(K[0], K[1]);
    EXPECT_EQ(energy[0], energy[1]);
}

TEST(DirectForce, FiniteCoordinatesOfAnySizeGiveFiniteResults) {
    for (const Law law : kLaws)
        for (const FemModel& model : {hexes(law, 2), tets(law)}) {
            const int r = 5;
            const auto force = make_direct_force(model, random_basis(model.num_unknowns(), r, 3));
            const auto ws = force->make_workspace();
            VectorXd R(r);
            MatrixXd K(r, r);
            for (const double size : {1e-300, 1e10, 1e30, 1e300}) {
                const VectorXd q = random_vector(r, 6).array().sign() * size;
                force->force_and_stiffness(q, R, K, *ws);
                EXPECT_TRUE(R.allFinite() && K.allFinite()) << to_string(law) << ", " << size;
                EXPECT_TRUE(std::isfinite(force->energy(q, *ws))) << to_string(law) << ", " << size;
            }
            VectorXd q = random_vector(r, 7);
            q[2] = std::numeric_limits<double>::quiet_NaN();
            force->force(q, R, *ws);
            EXPECT_FALSE(R.allFinite());
        }
}

TEST(DirectForce, AllocatesNothingOnOneThread) {
    set_num_threads(1);
    for (const FemModel& model : {hexes(Law::NeoHookean), tets(Law::StVenantKirchhoff)}) {
        const int r = 30;
        const auto force = make_direct_force(model, random_basis(model.num_unknowns(), r, 0.01));
        const auto ws = force->make_workspace();
        const VectorXd q = random_vector(r, 8);
        VectorXd R(r);
        MatrixXd K(r, r);
        const AllocationGuard guard;
        force->force(q, R, *ws);
        force->force_and_stiffness(q, R, K, *ws);
        const double energy = force->energy(q, *ws);
        const auto allocations = guard.count();
        EXPECT_EQ(allocations, 0u);
        EXPECT_TRUE(std::isfinite(energy));
    }
    set_num_threads(0);
}

}  // namespace
}  // namespace pliant
