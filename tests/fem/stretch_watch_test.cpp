#include "fem/stretch_watch.h"

#include "fem/element_eigenvalue.h"
#include "fem/element_guard.h"
#include "fem/fem_samples.h"
#include "fem/rigid_part.h"
#include "pliant/fem/stable_step.h"

#include <gtest/gtest.h>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

std::vector<FemModel> cubes(const Material& material, const FemOptions& options = {}) {
    return {FemModel(hex_box(3, 3, 3, test::unit_box()), {material}, options),
            FemModel(test::distorted_hexes(3), {material}, options),
            FemModel(test::distorted_tets(3), {material}, options)};
}
std::vector<FemModel> cubes_of_both_elements(const Material& material) {
    std::vector<FemModel> all = cubes(material);
    for (FemModel& plain : cubes(material, {ElementFormulation::Plain}))
        all.push_back(std::move(plain));
    return all;
}

TEST(StretchWatch, IsOneAtRestAndNeverBelowTheEigenvalueOfTheBody) {
    for (const Law law : {Law::NeoHookean, Law::StVenantKirchhoff, Law::Corotational})
        for (const double poisson_ratio : {0.0, 0.3, 0.45})
            for (const FemModel& model :
                 cubes_of_both_elements(isotropic(1e5, poisson_ratio, 1000, law))) {
                // the bound is that of plain elements; accurate ones are below them
                const double most = model.elements() == ElementFormulation::Plain ? 15 : 20;
                const double at_rest = largest_elastic_eigenvalue(model, Lumping::RowSum).value;
                const StretchWatch watch(model, Lumping::RowSum, at_rest);
                StretchWatch::Workspace ws = watch.make_workspace();
                const VectorXd rest = VectorXd::Zero(model.num_unknowns());
                EXPECT_NEAR(watch.look(model, rest, ws).stiffening, 1, 2e-3);
                StepEstimator estimator(model, lumped_mass(model));
                auto estimate = estimator.make_workspace();
                for (unsigned seed = 0; seed < 12; ++seed) {
                    const VectorXd entries = test::random_displacements(9, 0.6, seed);
                    const Matrix3d A = Eigen::Map<const Matrix3d>(entries.data());
                    if ((Matrix3d::Identity() + A).determinant() < 0.15) continue;
                    const VectorXd u = test::affine_displacements(model.mesh(), A);
                    const double dt = estimator.stable_step(u, 60, estimate);
                    const double ratio =
                        watch.look(model, u, ws).stiffening * at_rest / (4 / (dt * dt));
                    EXPECT_GT(ratio, 0.999) << to_string(law) << ' ' << poisson_ratio;
                    EXPECT_LT(ratio, most) << to_string(law) << ' ' << poisson_ratio;
                }
            }
}

TEST(StretchWatch, FindsTheSmallestStretchUnderStVenantAndKirchhoffsLaw) {
    for (const FemModel& model : cubes(isotropic(1e5, 0.3, 1000, Law::StVenantKirchhoff))) {
        const StretchWatch watch(model, Lumping::RowSum, 1e4);
        StretchWatch::Workspace ws = watch.make_workspace();
        const Matrix3d squeeze = Vector3d(0, 0, -0.5).asDiagonal();
        const VectorXd u = test::affine_displacements(model.mesh(), squeeze);
        EXPECT_NEAR(watch.look(model, u, ws).smallest_stvk, 0.5, 1e-4);
    }
}

TEST(ElementGuard, KeepsEveryElementAndMomentumAndOnlyTakesEnergy) {
    for (const FemModel& model : cubes(isotropic(1e5, 0.3, 1000, Law::NeoHookean))) {
        const ExplicitDynamics dynamics(model, test::free_body(model));
        ExplicitDynamics::Workspace ws = dynamics.make_workspace();
        FemModel::Workspace model_ws = model.make_workspace();
        ElementGuard guard(dynamics);
        FemState s = dynamics.make_state();
        // towards each other so fast that a step would turn elements inside out
        s.v = test::affine_displacements(model.mesh(), Vector3d(0, 0, -30).asDiagonal(),
                                         Vector3d(1, 2, 3)) +
              test::random_displacements(model.num_unknowns(), 2, 5);
        const double dt = 0.05;
        ASSERT_LT(model.smallest_det_F(s.u + dt * s.v, model_ws).value, 0);
        const Momentum before = dynamics.momentum(s);
        const double energy = dynamics.energy(s, ws).kinetic;
        ASSERT_TRUE(guard.hold_up(s, dt, 1));
        EXPECT_GE(model.smallest_det_F(s.u + dt * s.v, model_ws).value,
                  ElementGuard::least_det_F(1));
        EXPECT_LT(dynamics.energy(s, ws).kinetic, energy);
        const Momentum after = dynamics.momentum(s);
        EXPECT_LT((after.linear - before.linear).norm(), 1e-9 * before.linear.norm());
    }
}

TEST(RigidPart, InternalDampingLeavesMomentumAndRigidMotionAlone) {
    for (const FemModel& model : cubes(isotropic(1e5, 0.3, 1000, Law::NeoHookean))) {
        const ExplicitDynamics dynamics(model, test::free_body(model));
        const RigidPart rigid(dynamics);
        FemState s = dynamics.make_state();
        rigid.set({Vector3d(1, -2, 3), Vector3d(4, 5, -6)}, s);
        VectorXd f = VectorXd::Zero(s.u.size());
        rigid.damp(s, 10, f);
        EXPECT_LT(f.norm(), 1e-10 * dynamics.mass().norm() * s.v.norm());
        s.v += test::random_displacements(model.num_unknowns(), 1, 3);
        f.setZero();
        rigid.damp(s, 10, f);
        Vector3d force = Vector3d::Zero(), torque = Vector3d::Zero();
        for (int i = 0; i < model.num_nodes(); ++i) {
            force += f.segment<3>(3 * i);
            torque += model.mesh().vertices[static_cast<std::size_t>(i)].cross(f.segment<3>(3 * i));
        }
        EXPECT_LT(force.norm(), 1e-9 * f.norm());
        EXPECT_LT(torque.norm(), 1e-9 * f.norm());
        EXPECT_LT(f.dot(s.v), 0);
    }
}

TEST(ExplicitDynamics, FastDampingIsTangentialDampingToSecondOrder) {
    const FemModel model(hex_box(3, 3, 3, test::unit_box()), {isotropic(1e5, 0.3, 1000)});
    const VectorXd load = VectorXd::Zero(model.num_unknowns());
    const auto energy_after = [&](const ExplicitOptions& options, double dt) {
        const ExplicitDynamics dynamics(model, test::free_body(model), options);
        ExplicitDynamics::Workspace ws = dynamics.make_workspace();
        FemState s = dynamics.make_state();
        s.u = test::affine_displacements(model.mesh(), Vector3d(0.05, 0, -0.03).asDiagonal());
        dynamics.set_acceleration(s, load, ws);
        for (int k = 0; k < static_cast<int>(std::lround(0.1 / dt)); ++k)
            EXPECT_EQ(dynamics.step(s, load, dt, ws).status, StepStatus::Ok);
        return dynamics.energy(s, ws).total();
    };
    const double stable = element_stable_step(model).dt;
    ExplicitOptions fast, slow;
    fast.fast_damping = 0.2;
    slow.damping.stiffness = 0.2 * stable;
    const double undamped = energy_after({}, stable / 8);
    const double expected = energy_after(slow, stable / 32);
    EXPECT_LT(expected, 0.97 * undamped) << "it must damp";
    EXPECT_NEAR(energy_after(fast, stable / 32) / expected, 1, 0.01);
}

}  // namespace
}  // namespace pliant
