#include "pliant/fem/damping.h"

#include "fem/fem_samples.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <limits>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::input_error;

constexpr double kPhi = 30, kPsi = 20;

Material damped_material() { return isotropic(2e4, 0.3, 1000); }
FemModel damped_hexes() { return {test::distorted_hexes(3), {damped_material()}}; }
FemModel damped_tets() { return {test::distorted_tets(3), {damped_material()}}; }

Damping fixed_rayleigh() { return {.stiffness = 1e-3, .is_tangential = false}; }
Damping tangential_rayleigh() { return {.stiffness = 1e-3, .is_tangential = true}; }
Damping strain_rate() { return {.bulk_viscosity = kPhi, .shear_viscosity = kPsi}; }

VectorXd damping_force(const FemModel& model, const Damping& damping, const VectorXd& u,
                       const VectorXd& v) {
    VectorXd f = VectorXd::Zero(model.num_unknowns()), scratch = f;
    add_stiffness_damping(model, damping, u, v, scratch, f);
    return f;
}

FemModel::Matrix tangent_at(const FemModel& model, const VectorXd& u) {
    FemModel::Matrix K = model.make_matrix();
    model.tangent(u, K);
    return K;
}

/// Velocities of a turning and gliding body at displacements u.
VectorXd rigid_velocities(const VolumeMesh& mesh, const VectorXd& u) {
    const Vector3d spin(1, -2, 0.5), glide(0.3, 0.1, -0.2);
    VectorXd v(u.size());
    for (int i = 0; i < mesh.num_vertices(); ++i)
        v.segment<3>(3 * i) = glide + spin.cross(mesh.vertices[i] + u.segment<3>(3 * i));
    return v;
}

/// The law of eq. (D3) at one point, its strain rate by a difference of strains.
Matrix3d viscous_stress_by_differences(const Matrix3d& F, const Matrix3d& F_rate) {
    const auto strain = [](const Matrix3d& G) {
        return Matrix3d(0.5 * (G.transpose() * G - Matrix3d::Identity()));
    };
    // exact for a quadratic strain
    const Matrix3d rate = 0.5 * (strain(F + F_rate) - strain(F - F_rate));
    return F * (kPhi * rate.trace() * Matrix3d::Identity() + 2 * kPsi * rate);
}

TEST(Damping, RefusesCoefficientsByName) {
    EXPECT_EQ(input_error([] { check_damping({.mass = -1}); }),
              "damping.mass = -1 (expected 0 <= value < infinity)");
    EXPECT_EQ(
        input_error([] { check_damping({.stiffness = std::numeric_limits<double>::quiet_NaN()}); }),
        "damping.stiffness = nan (expected 0 <= value < infinity)");
    EXPECT_EQ(input_error([] {
                  check_damping({.bulk_viscosity = std::numeric_limits<double>::infinity()});
              }),
              "damping.bulk_viscosity = inf (expected 0 <= value < infinity)");
    EXPECT_EQ(input_error([] { check_damping({.shear_viscosity = -0.5}); }),
              "damping.shear_viscosity = -0.5 (expected 0 <= value < infinity)");
    EXPECT_NO_THROW(check_damping({.mass = 1, .stiffness = 1e-3, .bulk_viscosity = 2}));
}

TEST(Damping, RayleighIsStiffnessTimesVelocity) {
    for (const FemModel& model : {damped_hexes(), damped_tets()}) {
        const int n = model.num_unknowns();
        const VectorXd u = test::random_displacements(n, 0.03, 1),
                       v = test::random_displacements(n, 1, 2);
        const VectorXd at_u = 1e-3 * (tangent_at(model, u) * v);
        const VectorXd at_rest = 1e-3 * (tangent_at(model, VectorXd::Zero(n)) * v);
        EXPECT_TRUE(damping_force(model, tangential_rayleigh(), u, v).isApprox(at_u, 1e-13));
        EXPECT_TRUE(damping_force(model, fixed_rayleigh(), u, v).isApprox(at_rest, 1e-13));
        EXPECT_FALSE(at_u.isApprox(at_rest, 1e-2));
    }
}

TEST(Damping, StrainRateLawOfHomogeneousMotionIsTheStressOfItsDefinition) {
    Matrix3d A, A_rate, W;
    A << 0.2, 0.1, -0.05, 0.3, -0.1, 0.15, 0.02, -0.2, 0.1;
    A_rate << -1, 0.4, 2, 0.3, 0.8, -0.5, 0.7, 0.1, 0.6;
    W << 0.3, -0.2, 0.9, 0.4, 0.5, -0.7, -0.1, 0.8, 0.2;
    for (const FemModel& model : {damped_hexes(), damped_tets()}) {
        const VolumeMesh& mesh = model.mesh();
        const VectorXd f = damping_force(model, strain_rate(), test::affine_displacements(mesh, A),
                                         test::affine_displacements(mesh, A_rate));
        // power along any other homogeneous motion: V P : W
        const Matrix3d P = viscous_stress_by_differences(Matrix3d::Identity() + A, A_rate);
        const double power = total_volume(mesh) * P.cwiseProduct(W).sum();
        EXPECT_NEAR(f.dot(test::affine_displacements(mesh, W)), power, 1e-12 * std::abs(power));
        // and no force inside
        for (int i = 0; i < mesh.num_vertices(); ++i) {
            const Vector3d x = hex_box(3, 3, 3, test::unit_box()).vertices[i];
            if (x.minCoeff() > 0.01 && x.maxCoeff() < 0.99) {
                EXPECT_LT(f.segment<3>(3 * i).norm(), 1e-13 * f.norm());
            }
        }
    }
}

TEST(Damping, StrainRateLawIsTheGradientOfItsDissipation) {
    // ½ v·f is the dissipation potential, quadratic in v: its differences are exact
    for (const FemModel& model : {damped_hexes(), damped_tets()}) {
        const int n = model.num_unknowns();
        const VectorXd u = test::random_displacements(n, 0.03, 1),
                       v = test::random_displacements(n, 1, 2),
                       w = test::random_displacements(n, 1, 3);
        const auto potential = [&](const VectorXd& x) {
            return 0.5 * x.dot(damping_force(model, strain_rate(), u, x));
        };
        const double slope = 0.5 * (potential(v + w) - potential(v - w));
        EXPECT_NEAR(damping_force(model, strain_rate(), u, v).dot(w), slope, 1e-12 * potential(v));
    }
}

TEST(Damping, NoForceAgainstRigidMotion) {
    for (const FemModel& model : {damped_hexes(), damped_tets()}) {
        const VolumeMesh& mesh = model.mesh();
        const int n = model.num_unknowns();
        const double scale = (tangent_at(model, VectorXd::Zero(n))).norm();
        // strain rate: at any deformation
        const VectorXd u = test::random_displacements(n, 0.03, 1);
        EXPECT_LT(damping_force(model, strain_rate(), u, rigid_velocities(mesh, u)).norm(),
                  1e-13 * kPhi * n);
        // tangential: where the body is not strained, turned by any angle
        const Matrix3d turn =
            Eigen::AngleAxisd(2, Vector3d(1, 2, -1).normalized()).toRotationMatrix();
        const VectorXd turned = test::affine_displacements(mesh, turn - Matrix3d::Identity());
        const VectorXd v = rigid_velocities(mesh, turned);
        EXPECT_LT(damping_force(model, tangential_rayleigh(), turned, v).norm(),
                  1e-3 * 1e-12 * scale);
        // fixed: only before the body turns
        EXPECT_GT(damping_force(model, fixed_rayleigh(), turned, v).norm(), 1e-3 * 1e-4 * scale);
        const VectorXd zero = VectorXd::Zero(n);
        EXPECT_LT(damping_force(model, fixed_rayleigh(), zero, rigid_velocities(mesh, zero)).norm(),
                  1e-3 * 1e-12 * scale);
    }
}

TEST(Damping, TakesEnergyOutWhateverTheMotion) {
    for (const FemModel& model : {damped_hexes(), damped_tets()})
        for (unsigned seed = 0; seed < 20; ++seed) {
            const int n = model.num_unknowns();
            // up to inverted elements
            const VectorXd u = test::random_displacements(n, 0.02 * seed, seed);
            const VectorXd v = test::random_displacements(n, 1, seed + 100);
            for (const Damping& damping : {Damping{.bulk_viscosity = kPhi},
                                           Damping{.shear_viscosity = kPsi}, fixed_rayleigh()})
                EXPECT_GT(v.dot(damping_force(model, damping, u, v)), 0);
        }
}

TEST(Damping, MatrixIsTheDerivativeOfTheForce) {
    for (const FemModel& model : {damped_hexes(), damped_tets()}) {
        const int n = model.num_unknowns();
        const VectorXd u = test::random_displacements(n, 0.03, 1),
                       v = test::random_displacements(n, 1, 2);
        for (Damping damping :
             {strain_rate(), tangential_rayleigh(), fixed_rayleigh(),
              Damping{.stiffness = 1e-3, .bulk_viscosity = kPhi, .shear_viscosity = kPsi}}) {
            FemModel::Matrix D = model.make_matrix();
            std::fill_n(D.valuePtr(), D.nonZeros(), 0.5);  // the matrix is added
            const FemModel::Matrix before = D;
            const VectorXd shape = damping.is_tangential ? u : VectorXd::Zero(n);
            add_damping_matrix(model, damping, u, tangent_at(model, shape), D);
            const FemModel::Matrix added = D - before;
            EXPECT_TRUE((added * v).isApprox(damping_force(model, damping, u, v), 1e-12));
            const FemModel::Matrix transposed = added.transpose();
            EXPECT_LT((added - transposed).norm(), 1e-15 * added.norm());
        }
    }
}

TEST(Damping, ForceAllocatesNothingAndDoesNotDependOnThreads) {
    const FemModel model(test::distorted_hexes(8), {damped_material()});
    const int n = model.num_unknowns();
    const Damping damping{
        .stiffness = 1e-3, .is_tangential = false, .bulk_viscosity = kPhi, .shear_viscosity = kPsi};
    const Damping tangential = tangential_rayleigh();
    const VectorXd u = test::random_displacements(n, 0.01, 1),
                   v = test::random_displacements(n, 1, 2);
    VectorXd f = VectorXd::Zero(n), scratch = f;
    set_num_threads(1);
    {
        AllocationGuard guard;
        add_stiffness_damping(model, damping, u, v, scratch, f);
        add_stiffness_damping(model, tangential, u, v, scratch, f);
        const auto allocations = guard.count();
        EXPECT_EQ(allocations, 0u);
    }
    set_num_threads(2);
    const VectorXd with_two = damping_force(model, damping, u, v);
    set_num_threads(1);
    EXPECT_EQ(with_two, damping_force(model, damping, u, v));
    set_num_threads(0);
}

}  // namespace
}  // namespace pliant
