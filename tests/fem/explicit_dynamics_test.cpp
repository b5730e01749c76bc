#include "pliant/fem/explicit_dynamics.h"

#include "core/dense_algebra.h"
#include "core/numbers.h"
#include "fem/explicit_samples.h"
#include "input_error.h"
#include "pliant/fem/free_system.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::FemSample;
using test::draggy;
using test::HangingBar;
using test::input_error;
using test::soft;

// --- The scheme

/// One step with matrices: u = T q + u_p, forces and masses folded with Tᵀ.
FemState slow_step(const FemModel& model, const Constraints& constraints, const Damping& damping,
                   const FemState& s, const VectorXd& f, double dt) {
    const FreeSystem system(model, constraints);
    const MatrixXd T = system.T();
    const VectorXd m = T.transpose() * lumped_mass(model);
    const VectorXd d = T.transpose() * lumped_drag(model) + damping.mass * m;
    const auto free_part = [&](const VectorXd& x) {
        return VectorXd(solve_dense(T.transpose() * T, T.transpose() * x));
    };
    VectorXd prescribed(model.num_unknowns());
    system.expand(VectorXd::Zero(T.cols()), 1, prescribed);
    const VectorXd h = free_part(s.v) + 0.5 * dt * free_part(s.a);
    FemState next = s;
    next.u = T * (free_part(s.u - prescribed) + dt * h) + prescribed;
    VectorXd R(model.num_unknowns()), scratch = R, f_D = VectorXd::Zero(R.size());
    model.internal_force(next.u, R);
    add_stiffness_damping(model, damping, next.u, T * h, scratch, f_D);
    const VectorXd force = T.transpose() * (f - R - f_D) - d.cwiseProduct(h);
    const VectorXd a = force.cwiseQuotient(m + 0.5 * dt * d);
    next.a = T * a;
    next.v = T * (h + 0.5 * dt * a);
    next.time += dt;
    return next;
}

TEST(ExplicitDynamics, StepsLikeTheSlowObviousWay) {
    const FemModel model(graded_box(4), {draggy()});
    Constraints constraints(model.num_nodes());
    for (int i = 0; i < model.num_nodes(); ++i) {
        if (model.mesh().vertices[i].x() < 1e-9) constraints.prescribe(i, 0, 0);
        if (model.mesh().vertices[i].z() > 1 - 1e-9) constraints.prescribe(i, 2, 0.02);
    }
    const Damping damping{.mass = 3, .stiffness = 1e-4, .shear_viscosity = 0.5};
    FemSample body(model, constraints, {.damping = damping});
    body.load = test::random_displacements(model.num_unknowns(), 1, 1);
    const double dt = 0.5 * body.dynamics.stable_step().dt;
    FemState slow = body.s;
    for (int k = 0; k < 3; ++k) {
        slow = slow_step(model, constraints, damping, slow, body.load, dt);
        EXPECT_EQ(body.step(dt).status, StepStatus::Ok);
    }
    EXPECT_LT((body.s.u - slow.u).norm(), 1e-12 * slow.u.norm());
    EXPECT_LT((body.s.v - slow.v).norm(), 1e-12 * slow.v.norm());
    EXPECT_LT((body.s.a - slow.a).norm(), 1e-12 * slow.a.norm());
    EXPECT_EQ(body.s.time, 3 * dt);
}

TEST(ExplicitDynamics, InitialAccelerationSatisfiesTheEquationOfMotion) {
    const FemModel model(test::distorted_hexes(3), {draggy()});
    const Damping damping{.mass = 2, .stiffness = 1e-3};
    FemSample body(model, test::held(model), {.damping = damping});
    const auto& dynamics = body.dynamics;
    body.s.u = test::random_displacements(model.num_unknowns(), 0.01, 1);
    body.s.v = test::random_displacements(model.num_unknowns(), 0.1, 2);
    body.load = test::random_displacements(model.num_unknowns(), 10, 3);
    dynamics.set_acceleration(body.s, body.load, body.ws);
    VectorXd R(body.load.size()), scratch = R;
    model.internal_force(body.s.u, R);
    add_stiffness_damping(model, damping, body.s.u, body.s.v, scratch, R);
    VectorXd residual = dynamics.mass().cwiseProduct(body.s.a) +
                        dynamics.drag().cwiseProduct(body.s.v) + R - body.load;
    for (const int node : dynamics.constraints().held_nodes()) {
        residual.segment<3>(3 * node).setZero();
        EXPECT_EQ(body.s.a.segment<3>(3 * node), Vector3d::Zero());
    }
    EXPECT_LT(residual.norm(), 1e-12 * R.norm());
    // drag: c_v/ρ + α times the mass
    EXPECT_TRUE(dynamics.drag().isApprox((2 + 2000.0 / 1000) * dynamics.mass(), 1e-14));
    // a load that is not finite leaves none
    body.s.u[40] = kNan;
    dynamics.set_acceleration(body.s, body.load, body.ws);
    EXPECT_TRUE(body.s.a.isZero());
}

TEST(ExplicitDynamics, ConvergesAtSecondOrderAndAtFirstWithStiffnessDamping) {
    struct Case {
        Material material;
        Damping damping;
        int coarse_steps;  // many enough for the leading term of the error to show
        double order;
    };
    for (const Case& c :
         {Case{soft(), {}, 25, 2}, Case{draggy(), {}, 25, 2}, Case{soft(), {.mass = 5}, 25, 2},
          Case{soft(), {.stiffness = 2e-3}, 400, 1},
          Case{soft(), {.bulk_viscosity = 20, .shear_viscosity = 20}, 400, 1}}) {
        const double duration = 0.15;
        const auto displacements = [&](int steps) {
            HangingBar bar(c.material, {.damping = c.damping});
            bar.dynamics.check_step(duration / steps);
            for (int k = 0; k < steps; ++k) (void)bar.step(duration / steps);
            return bar.s.u;
        };
        const VectorXd u1 = displacements(c.coarse_steps), u2 = displacements(2 * c.coarse_steps),
                       u4 = displacements(4 * c.coarse_steps);
        EXPECT_NEAR(std::log2((u1 - u2).norm() / (u2 - u4).norm()), c.order, 0.1);
        EXPECT_GT(u4.norm(), 0.05);
    }
}

// --- Stability

TEST(ExplicitDynamics, OneCubeIsBoundedBelowTheLimitAndGrowsAboveIt) {
    for (const double factor : {0.99, 1.02}) {
        FemSample body(
            FemModel(hex_box(1, 1, 1, Box(Vector3d::Zero(), Vector3d::Constant(0.1))), {soft()}));
        const double dt = factor * body.dynamics.stable_step().dt;
        // all modes, the highest among them
        const double size = 1e-7;
        for (int i = 0; i < 24; ++i) body.s.u[i] = size * std::sin(1.0 + 2 * i);
        body.dynamics.set_acceleration(body.s, body.load, body.ws);
        const VectorXd start = body.s.u;
        double largest = 0;
        const int steps = factor < 1 ? 100000 : 60;
        for (int k = 0; k < steps; ++k) {
            ASSERT_EQ(body.step(dt).status, StepStatus::Ok);
            largest = std::max(largest, body.s.u.norm() / start.norm());
        }
        if (factor < 1) {
            EXPECT_LT(largest, 10);
        } else {
            EXPECT_GT(largest, 1e4);
        }
    }
}

TEST(ExplicitDynamics, LimitWithStiffnessDampingIsThatOfOneCube) {
    for (const Damping& damping :
         {Damping{.stiffness = 0.015}, Damping{.bulk_viscosity = 100, .shear_viscosity = 100}})
        for (const double factor : {0.99, 1.05}) {
            FemSample body(FemModel(hex_box(1, 1, 1, Box(Vector3d::Zero(), Vector3d::Constant(0.1))),
                               {soft()}),
                      {.damping = damping});
            const double undamped = 0.1 * std::sqrt(1000 * 0.4 / 2e4);
            EXPECT_LT(body.dynamics.stable_step().dt, 0.8 * undamped);
            for (int i = 0; i < 24; ++i) body.s.u[i] = 1e-7 * std::sin(1.0 + 2 * i);
            body.dynamics.set_acceleration(body.s, body.load, body.ws);
            const double start = body.s.u.norm();
            for (int k = 0; k < 300; ++k) (void)body.step(factor * body.dynamics.stable_step().dt);
            if (factor < 1) {
                EXPECT_LT(body.s.u.norm(), start);
            } else {
                EXPECT_GT(body.s.u.norm(), 1e3 * start);
            }
        }
}

TEST(ExplicitDynamics, ChecksStepsAgainstTheLimit) {
    const FemSample body(FemModel(hex_box(1, 1, 1, test::unit_box()), {soft()}));
    EXPECT_NO_THROW(body.dynamics.check_step(0.14));
    EXPECT_EQ(input_error([&] { body.dynamics.check_step(0.2); }),
              "dt = 0.2 (expected 0 < dt <= 0.141421 s, the stability limit of element 0)");
    for (const double bad : {0.0, -1.0, kNan, kInfinity})
        EXPECT_NE(input_error([&] { body.dynamics.check_step(bad); }).find("0.141421 s"),
                  std::string::npos);
}

// --- Energy and momentum

TEST(ExplicitDynamics, EnergyOfAnUndampedVibrationIsBounded) {
    for (const double factor : {0.6, 0.3}) {
        FemSample body(FemModel(test::distorted_hexes(3), {soft()}));
        const auto& mesh = body.dynamics.model().mesh();
        Matrix3d A = Matrix3d::Zero();
        A.diagonal() << 0.1, -0.05, 0.02;
        body.s.u = test::affine_displacements(mesh, A);
        body.dynamics.set_acceleration(body.s, body.load, body.ws);
        const double start = body.energy();
        double least = start, most = start;
        for (int k = 0; k < 3000; ++k) {
            (void)body.step(factor * body.dynamics.stable_step().dt);
            least = std::min(least, body.energy());
            most = std::max(most, body.energy());
        }
        EXPECT_GT(least, (1 - 0.2 * factor * factor) * start);
        EXPECT_LT(most, (1 + 0.2 * factor * factor) * start);
    }
}

TEST(ExplicitDynamics, EnergyBalanceClosesAtSecondOrder) {
    struct Case {
        Material material;
        Damping damping;
    };
    for (const auto& [material, damping] :
         {Case{soft(), {}}, Case{draggy(), {}}, Case{soft(), {.mass = 5}},
          Case{soft(), {.stiffness = 2e-3}},
          Case{soft(), {.bulk_viscosity = 20, .shear_viscosity = 20}}}) {
        const double dt =
            0.4 * HangingBar(material, {.damping = damping}).dynamics.stable_step().dt;
        std::vector<double> errors;
        for (const int refinement : {1, 2, 4}) {
            HangingBar bar(material, {.damping = damping});
            double largest = 0;
            for (int k = 0; k < 40 * refinement; ++k) {
                (void)bar.step(dt / refinement);
                largest = std::max(largest, std::abs(bar.energy() - bar.work.external_work +
                                                     bar.work.damping_work));
            }
            errors.push_back(largest);
            EXPECT_LT(largest, 0.05 * bar.work.external_work);
        }
        EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2, 0.3);
        EXPECT_NEAR(std::log2(errors[1] / errors[2]), 2, 0.3);
    }
}

/// A free graded block of 545 elements, spinning and vibrating, for 400 steps: changes of linear
/// and of angular momentum (between the half steps), and the ratio of energies.
struct Drift {
    double linear, angular, energy;
};
Drift drift_of_graded_block(HangingMode mode) {
    const FemModel model(graded_box(10), {soft()});
    FemSample body(model, {.hanging = mode});
    const VolumeMesh& mesh = model.mesh();
    for (int i = 0; i < model.num_nodes(); ++i) {
        const Vector3d r = mesh.vertices[i] - Vector3d::Constant(0.5);
        body.s.u.segment<3>(3 * i) = 0.1 * Vector3d(r.x(), -r.y(), r.z() * r.x());
        body.s.v.segment<3>(3 * i) = Vector3d(0.3, -0.2, 0.1) + Vector3d(0.5, 1, -0.7).cross(r);
    }
    body.dynamics.set_acceleration(body.s, body.load, body.ws);
    const double dt = 0.5 * body.dynamics.stable_step().dt;
    // x_n × v_{n+1/2} is what the scheme keeps
    const auto momentum = [&] {
        FemState half = body.s;
        half.v += 0.5 * dt * half.a;
        return body.dynamics.momentum(half);
    };
    const Momentum start = momentum();
    const double energy = body.energy();
    for (int k = 0; k < 400; ++k) (void)body.step(dt);
    const Momentum end = momentum();
    return {(end.linear - start.linear).norm() / start.linear.norm(),
            (end.angular - start.angular).norm() / start.angular.norm(), body.energy() / energy};
}

TEST(ExplicitDynamics, FoldedHangingNodesKeepMomentumAndDroppedOnesDoNot) {
    const Drift folded = drift_of_graded_block(HangingMode::Fold);
    EXPECT_LT(folded.linear, 1e-12);
    EXPECT_LT(folded.angular, 1e-12);
    const Drift dropped = drift_of_graded_block(HangingMode::OverwriteOnly);
    EXPECT_NEAR(folded.energy, 1, 5e-3);
    EXPECT_GT(dropped.linear, 5e-3);
    EXPECT_GT(dropped.angular, 5e-3);
}

TEST(ExplicitDynamics, MomentumIsThatOfARigidBody) {
    const FemModel model(graded_box(6), {soft()});
    FemSample body(model);
    const Vector3d velocity(1, 2, 3);
    for (int i = 0; i < model.num_nodes(); ++i) body.s.v.segment<3>(3 * i) = velocity;
    body.s.u.setConstant(0.25);
    const Momentum momentum = body.dynamics.momentum(body.s);
    EXPECT_TRUE(momentum.linear.isApprox(1000 * velocity, 1e-12));
    EXPECT_TRUE(momentum.angular.isApprox(Vector3d::Constant(0.75).cross(1000 * velocity), 1e-12));
    EXPECT_NEAR(body.dynamics.energy(body.s, body.ws).kinetic, 0.5 * 1000 * 14, 1e-9);
}

// --- Prescribed motion

/// A bar of small strains, shaken along x at its end x = 0: the modal solution of
/// M q̈ + K q = −K_p A sin Ωt from rest.
TEST(ExplicitDynamics, ShakenBarFollowsTheModalSolution) {
    const FemModel model(hex_box(4, 1, 1, Box(Vector3d::Zero(), Vector3d(0.4, 0.1, 0.1))),
                         {isotropic(2e4, 0.3, 1000, Law::SmallStrain)});
    const Constraints constraints = test::held(model);
    const FreeSystem system(model, constraints);
    const MatrixXd T = system.T();
    FemModel::Matrix K_sparse = model.make_matrix();
    model.tangent(VectorXd::Zero(model.num_unknowns()), K_sparse);
    const MatrixXd K = K_sparse;
    VectorXd shaken = VectorXd::Zero(model.num_unknowns());
    for (const int node : constraints.held_nodes()) shaken[3 * node] = 1;
    const VectorXd m = T.transpose() * lumped_mass(model);
    const SymmetricEigen modes = symmetric_eigen(T.transpose() * K * T, MatrixXd(m.asDiagonal()));
    constexpr double kAmplitude = 1e-3, kOmega = 25, kTime = 0.5;
    const VectorXd g = modes.vectors.transpose() * T.transpose() * (-kAmplitude * K * shaken);
    VectorXd q(g.size());
    for (int i = 0; i < g.size(); ++i) {
        const double omega = std::sqrt(modes.values[i]);
        q[i] = g[i] / (omega * omega - kOmega * kOmega) *
               (std::sin(kOmega * kTime) - kOmega / omega * std::sin(omega * kTime));
    }
    const VectorXd exact = T * (modes.vectors * q) + kAmplitude * std::sin(kOmega * kTime) * shaken;

    std::vector<double> errors, imbalances;
    for (const int steps : {200, 400, 800}) {
        FemSample body(model, constraints);
        const double dt = kTime / steps;
        body.dynamics.check_step(dt);
        const auto shake = [&](double t) {
            for (const int node : constraints.held_nodes())
                body.dynamics.prescribe(body.s, node, 0, kAmplitude * std::sin(kOmega * t),
                                        kAmplitude * kOmega * std::cos(kOmega * t),
                                        -kAmplitude * kOmega * kOmega * std::sin(kOmega * t));
        };
        shake(0);
        body.dynamics.set_acceleration(body.s, body.load, body.ws);
        const double start = body.energy();
        double scale = 0;
        for (int k = 1; k <= steps; ++k) {
            shake(k * dt);
            ASSERT_EQ(body.step(dt).status, StepStatus::Ok);
            scale = std::max(scale, body.energy());
        }
        errors.push_back((body.s.u - exact).norm() / exact.norm());
        imbalances.push_back(std::abs(body.energy() - start - body.work.external_work) / scale);
    }
    for (const std::vector<double>& x : {errors, imbalances}) {
        EXPECT_NEAR(std::log2(x[0] / x[1]), 2, 0.1);
        EXPECT_NEAR(std::log2(x[1] / x[2]), 2, 0.1);
        EXPECT_LT(x[2], 2e-3);
    }
}

TEST(ExplicitDynamics, PrescribeTouchesPrescribedComponentsOnlyAndStepsKeepThem) {
    const FemModel model(hex_box(2, 1, 1, test::unit_box()), {soft()});
    Constraints constraints(model.num_nodes());
    constraints.prescribe(0, 1, 0.01);
    FemSample body(model, constraints);
    EXPECT_EQ(body.s.u[1], 0.01);
    body.dynamics.prescribe(body.s, 0, 0, 9, 9, 9);  // another component
    body.dynamics.prescribe(body.s, 1, 1, 9, 9, 9);  // another node
    body.dynamics.prescribe(body.s, 0, 1, kNan, 0, 0);
    body.dynamics.prescribe(body.s, 0, 1, 0, kInfinity, 0);
    EXPECT_EQ(body.s.u.sum(), 0.01);
    EXPECT_TRUE(body.s.v.isZero());
    // to the bit
    for (int k = 0; k < 50; ++k) {
        const double u = 0.02 * std::sin(k), v = 0.3 * std::sin(2 * k), a = 4e5 * std::sin(3 * k);
        body.dynamics.prescribe(body.s, 0, 1, u, v, a);
        ASSERT_EQ(body.step(1e-3).status, StepStatus::Ok);
        EXPECT_EQ(body.s.u[1], u);
        EXPECT_EQ(body.s.v[1], v);
        EXPECT_EQ(body.s.a[1], a);
    }
}

TEST(ExplicitDynamics, HangingNodesFollowTheirMastersThatContactMayHaveChanged) {
    const FemModel model(graded_box(6), {soft()});
    FemSample body(model);
    body.load = test::random_displacements(model.num_unknowns(), 1, 1);
    const double dt = 0.5 * body.dynamics.stable_step().dt;
    for (int k = 0; k < 5; ++k) (void)body.step(dt);
    body.dynamics.predict(body.s, dt, body.ws);
    EXPECT_EQ(body.dynamics.accelerate(body.s, body.load, dt, body.ws).status, StepStatus::Ok);
    for (const HangingNode& h : model.mesh().hanging) body.ws.a[3 * h.masters[0]] += 1;
    EXPECT_EQ(body.dynamics.finish(body.s, dt, body.ws), StepStatus::Ok);
    for (const HangingNode& h : model.mesh().hanging)
        for (const VectorXd* x : {&body.s.u, &body.s.v, &body.s.a}) {
            Vector3d mean = Vector3d::Zero();
            for (int m = 0; m < h.num_masters; ++m)
                mean += x->segment<3>(3 * h.masters[m]) / h.num_masters;
            EXPECT_LT((x->segment<3>(3 * h.vertex) - mean).norm(), 1e-14 * x->norm());
        }
}

}  // namespace
}  // namespace pliant
