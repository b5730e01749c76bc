#include "pliant/fem/implicit_dynamics.h"

#include "core/dense_algebra.h"
#include "fem/implicit_samples.h"
#include "pliant/fem/mass.h"
#include "pliant/fem/statics.h"

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::bar;
using test::exact;
using test::free_body;
using test::GroundScene;
using test::held;
using test::kGravity;
using test::run;

/// End of a swing under the weight, from rest.
VectorXd swing(const FemModel& model, const ImplicitOptions& options, double time, int steps) {
    ImplicitDynamics dynamics(model, held(model), options);
    const VectorXd f = gravity_load(model, kGravity);
    FemState s = dynamics.make_state();
    dynamics.set_acceleration(s, f);
    return run(dynamics, s, f, time / steps, steps).u;
}

double measured_order(const FemModel& model, const ImplicitOptions& options, int reference) {
    const VectorXd best = swing(model, options, 0.1, reference);
    const double coarse = (swing(model, options, 0.1, 100) - best).norm();
    const double fine = (swing(model, options, 0.1, 200) - best).norm();
    return std::log2(coarse / fine);
}

TEST(ImplicitDynamics, TrapezoidalRuleIsOfSecondOrder) {
    // against 8 times finer steps, which are 1/64 of the error off
    EXPECT_NEAR(measured_order(bar(), exact(), 1600), 2, 0.1);
    EXPECT_NEAR(measured_order(bar(), {}, 1600), 2, 0.1);  // one iteration
    EXPECT_NEAR(measured_order(bar(Law::NeoHookean), {.has_consistent_mass = false}, 1600), 2, 0.1);
}

TEST(ImplicitDynamics, MostDampedRuleIsOfFirstOrder) {
    const ImplicitOptions damped{.gamma = 1.125, .alpha = 1};
    EXPECT_NEAR(measured_order(bar(), exact(damped), 3200), 1, 0.15);
}

/// One eigenmode of a linear body, with γ, α, Rayleigh damping and drag.
struct ModeCase {
    double gamma, alpha, mass_damping, stiffness_damping, drag, dt_times_omega;
};
class LinearMode : public testing::TestWithParam<ModeCase> {};

TEST_P(LinearMode, FollowsTheScalarRecursion) {
    const ModeCase c = GetParam();
    Material material = isotropic(5e4, 0.3, 1000, Law::SmallStrain);
    material.viscosity = c.drag;
    const FemModel model(bar().mesh(), {material});
    const Constraints constraints = held(model);
    const FreeSystem system(model, constraints);
    auto K = model.make_matrix(), K_free = system.make_matrix(), M_free = K_free;
    auto ws = system.make_workspace();
    model.tangent(VectorXd::Zero(model.num_unknowns()), K);
    system.fold(K, K_free, ws);
    system.fold(mass_matrix(model), M_free, ws);
    const SymmetricEigen modes = symmetric_eigen(MatrixXd(K_free), MatrixXd(M_free));
    for (const int mode : {0, 5, system.num_unknowns() - 1}) {
        const double lambda = modes.values[mode];
        const VectorXd phi = system.T() * modes.vectors.col(mode);
        // γ < α is stable for short steps only
        const double limiting = c.gamma < c.alpha ? modes.values.maxCoeff() : lambda;
        const double dt = c.dt_times_omega / std::sqrt(limiting);
        const double damping =
            c.mass_damping + c.stiffness_damping * lambda + c.drag / material.density;

        ImplicitOptions options{.gamma = c.gamma, .alpha = c.alpha, .solver = StepSolver::Direct};
        options.damping.mass = c.mass_damping;
        options.damping.stiffness = c.stiffness_damping;
        ImplicitDynamics dynamics(model, constraints, options);
        FemState s = dynamics.make_state();
        const VectorXd f = VectorXd::Zero(model.num_unknowns());
        double u = 1e-3, v = 0.5 * u * std::sqrt(lambda);
        s.u = u * phi;
        s.v = v * phi;
        dynamics.set_acceleration(s, f);
        double a = -lambda * u - damping * v;
        EXPECT_LT((s.a - a * phi).norm(), 1e-8 * s.a.norm());
        s.a = a * phi;
        const double size = std::abs(a);
        for (int k = 0; k < 20; ++k) {
            const double u0 = u + dt * v + 0.5 * dt * dt * (1 - c.gamma) * a;
            const double v0 = v + dt * (1 - c.alpha) * a;
            a = -(damping * v0 + lambda * u0) /
                (1 + c.alpha * dt * damping + 0.5 * c.gamma * dt * dt * lambda);
            u = u0 + 0.5 * c.gamma * dt * dt * a;
            v = v0 + c.alpha * dt * a;
            ASSERT_NE(dynamics.step(s, f, dt).status, StepStatus::StepRejected);
            // a high mode leaks into none of the others
            ASSERT_LT((s.a - a * phi).norm(), 1e-7 * size * phi.norm()) << "mode " << mode;
            ASSERT_LT((s.u - u * phi).norm(), 1e-7 * size / lambda * phi.norm());
        }
    }
}
INSTANTIATE_TEST_SUITE_P(
    , LinearMode,
    testing::Values(ModeCase{0.5, 0.5, 0, 0, 0, 0.3}, ModeCase{0.5, 0.5, 0, 0, 0, 20},
                    ModeCase{1.125, 1, 0, 0, 0, 5}, ModeCase{0.25, 0.5, 2, 0, 0, 0.5},
                    ModeCase{0.5, 0.5, 1, 1e-3, 500, 0.4}, ModeCase{1, 1, 0, 1e-2, 0, 1}));

TEST(ImplicitDynamics, TrapezoidalRuleKeepsTheEnergyOfALinearBody) {
    const FemModel model = bar(Law::SmallStrain);
    ImplicitOptions options;
    options.solver = StepSolver::Direct;
    options.tolerance = 1e-15;  // never satisfied before the solution
    ImplicitDynamics dynamics(model, held(model), options);
    FemState s = dynamics.make_state();
    s.v = test::random_displacements(model.num_unknowns(), 0.1, 1);
    for (const int node : test::clamped_end(model.mesh())) s.v.segment<3>(3 * node).setZero();
    const VectorXd f = VectorXd::Zero(model.num_unknowns());
    dynamics.set_acceleration(s, f);
    const double start = dynamics.energy(s).total();
    const int steps = 2000;
    for (int k = 0; k < steps; ++k) ASSERT_NE(dynamics.step(s, f, 2e-3).newton_iterations, 0);
    EXPECT_NEAR(dynamics.energy(s).total(), start, steps * 1e-14 * start);
}

TEST(ImplicitDynamics, StepsOfAnyLengthAreStableForALinearBody) {
    // the shortest period is about 1 ms
    for (const double dt : {1e-2, 1.0, 100.0}) {
        const FemModel model = bar(Law::SmallStrain);
        ImplicitDynamics dynamics(model, held(model), {.solver = StepSolver::Direct});
        const VectorXd f = VectorXd::Zero(model.num_unknowns());
        FemState s = dynamics.make_state();
        s.v = test::random_displacements(model.num_unknowns(), 0.1, 2);
        for (const int node : test::clamped_end(model.mesh())) s.v.segment<3>(3 * node).setZero();
        dynamics.set_acceleration(s, f);
        const double start = dynamics.energy(s).total();
        for (int k = 0; k < 300; ++k) {
            ASSERT_NE(dynamics.step(s, f, dt).status, StepStatus::StepRejected);
            ASSERT_LE(dynamics.energy(s).total(), (1 + 1e-6) * start);
        }
    }
}

TEST(ImplicitDynamics, AlphaOneTakesEnergyAndHalfDoesNot) {
    const FemModel model = bar();
    const VectorXd f = VectorXd::Zero(model.num_unknowns());
    const auto energies = [&](double gamma, double alpha) {
        ImplicitDynamics dynamics(model, held(model), exact({.gamma = gamma, .alpha = alpha}));
        FemState s = dynamics.make_state();
        s.u = test::affine_displacements(model.mesh(), 0.05 * Eigen::Matrix3d::Identity());
        for (const int node : test::clamped_end(model.mesh())) s.u.segment<3>(3 * node).setZero();
        dynamics.set_acceleration(s, f);
        std::vector<double> all{dynamics.energy(s).total()};
        for (int k = 0; k < 100; ++k) {
            EXPECT_EQ(dynamics.step(s, f, 2e-3).status, StepStatus::Ok);
            all.push_back(dynamics.energy(s).total());
        }
        return all;
    };
    const auto kept = energies(0.5, 0.5), lost = energies(1.125, 1);
    EXPECT_NEAR(kept.back(), kept.front(), 0.03 * kept.front());
    EXPECT_LT(lost.back(), 0.2 * lost.front());
}

TEST(ImplicitDynamics, AgreesWithCentralDifferencesAtSmallSteps) {
    const FemModel model = bar();
    const Constraints constraints = held(model);
    const VectorXd f = gravity_load(model, kGravity), m = lumped_mass(model);
    const double dt = 1e-4;
    const int steps = 1000;
    // the plainest explicit integrator
    VectorXd is_free = VectorXd::Ones(f.size());
    for (const int node : test::clamped_end(model.mesh())) is_free.segment<3>(3 * node).setZero();
    VectorXd u = VectorXd::Zero(f.size()), v = u, R(f.size());
    VectorXd a = (f.array() / m.array() * is_free.array()).matrix();
    for (int k = 0; k < steps; ++k) {
        u += dt * v + 0.5 * dt * dt * a;
        model.internal_force(u, R);
        const VectorXd next = ((f - R).array() / m.array() * is_free.array()).matrix();
        v += 0.5 * dt * (a + next);
        a = next;
    }
    const ImplicitOptions options{.has_consistent_mass = false};
    const VectorXd implicit_u = swing(model, options, steps * dt, steps);
    // both are of second order: (ω dt)² of the leading motion is 1e-6, that of the others more
    EXPECT_LT((implicit_u - u).norm(), 1e-4 * u.norm());
    EXPECT_GT(u.norm(), 0.1);
}

TEST(ImplicitDynamics, OneIterationIsCloseToAllAtAMillisecond) {
    for (const Law law : {Law::StVenantKirchhoff, Law::NeoHookean, Law::Corotational}) {
        const FemModel model = bar(law);
        ImplicitOptions full;
        full.max_iterations = 20;
        const VectorXd converged = swing(model, full, 0.2, 200),
                       single = swing(model, {}, 0.2, 200);
        EXPECT_LT((single - converged).norm(), 1e-5 * converged.norm()) << to_string(law);
        EXPECT_GT((single - converged).norm(), 0);
    }
}

TEST(ImplicitDynamics, FastSpinKeepsItsEnergy) {
    // one iteration, 20 rad/s: linearised about the moved body, not about the last shape
    const FemModel model = bar(Law::StVenantKirchhoff, 2e5);
    ImplicitDynamics dynamics(model, free_body(model), {});
    FemState s = dynamics.make_state();
    for (int i = 0; i < model.num_nodes(); ++i)
        s.v.segment<3>(3 * i) =
            Vector3d(0, 0, 20).cross(model.mesh().vertices[i] - Vector3d(0.2, 0.05, 0.05));
    const VectorXd f = VectorXd::Zero(model.num_unknowns());
    dynamics.set_acceleration(s, f);
    const double start = dynamics.energy(s).total();
    s = run(dynamics, s, f, 1e-3, 1000);
    EXPECT_NEAR(dynamics.energy(s).total(), start, 5e-3 * start);
}

TEST(ImplicitDynamics, DampedMotionEndsInTheStaticEquilibrium) {
    // stiff enough that the first mode is not overdamped by the mass part
    const FemModel model = bar(Law::StVenantKirchhoff, 5e5);
    const VectorXd f = gravity_load(model, kGravity);
    const StaticResult equilibrium = solve_static(model, held(model), f);
    ASSERT_TRUE(equilibrium.has_converged());
    for (const Damping& damping :
         {Damping{.mass = 20}, Damping{.mass = 15, .stiffness = 0.01},
          Damping{.mass = 15, .stiffness = 0.01, .is_tangential = false},
          Damping{.mass = 15, .bulk_viscosity = 50, .shear_viscosity = 200}}) {
        ImplicitOptions options{.gamma = 1.125, .alpha = 1};
        options.damping = damping;
        options.max_iterations = 10;
        ImplicitDynamics dynamics(model, held(model), options);
        const FemState s = run(dynamics, dynamics.make_state(), f, 0.02, 250);
        EXPECT_LT((s.u - equilibrium.u).norm(), 1e-6 * equilibrium.u.norm());
        EXPECT_LT(s.v.norm(), 1e-6);
    }
}

TEST(ImplicitDynamics, RestingContactCarriesTheWeight) {
    const GroundScene scene;
    ImplicitOptions options{.gamma = 1.125, .alpha = 1};
    options.damping.mass = 20;
    for (const int iterations : {1, 20}) {
        options.max_iterations = iterations;
        ImplicitDynamics dynamics(scene.model, free_body(scene.model), options, scene.contact);
        FemState s = run(dynamics, dynamics.make_state(), scene.f, 5e-3, 400);
        const ImplicitReport report = dynamics.step(s, scene.f, 5e-3);
        // the obstacle feels the weight, the body is at rest
        EXPECT_NEAR(-dynamics.wrenches()[0].force.z(), scene.weight, 1e-3 * scene.weight);
        EXPECT_LT(s.v.norm(), 1e-5);
        EXPECT_EQ(report.contact.num_contacts, 16);
        EXPECT_GT(report.contact.deepest, 0);
    }
}

TEST(ImplicitDynamics, ContactComesToRestWithoutChatter) {
    // stiff contact and steps longer than its period: with the contact of the prediction alone,
    // nodes jump in and out for ever
    const GroundScene scene(1e4, 1e-5);
    ImplicitOptions options{.gamma = 1.125, .alpha = 1};
    options.damping = {.mass = 5, .stiffness = 1e-3};
    ImplicitDynamics dynamics(scene.model, free_body(scene.model), options, scene.contact);
    FemState s = dynamics.make_state();
    for (int i = 0; i < scene.model.num_nodes(); ++i) s.u[3 * i + 2] = 0.02;
    double top_speed = 0;
    for (int k = 0; k < 400; ++k) {
        EXPECT_EQ(dynamics.step(s, scene.f, 5e-3).status, StepStatus::Ok);
        top_speed = std::max(top_speed, s.v.lpNorm<Eigen::Infinity>());
    }
    EXPECT_LT(top_speed, 2);
    EXPECT_LT(s.v.lpNorm<Eigen::Infinity>(), 1e-3);
    EXPECT_NEAR(-dynamics.wrenches()[0].force.z(), scene.weight, 1e-2 * scene.weight);
}

TEST(ImplicitDynamics, MovingObstacleLiftsTheBody) {
    const GroundScene scene(1e5);
    ImplicitOptions options{.gamma = 1.125, .alpha = 1};
    options.damping.stiffness = 2e-3;
    ImplicitDynamics dynamics(scene.model, free_body(scene.model), options, scene.contact);
    FemState s = dynamics.make_state();
    RigidMotion motion;
    motion.velocity.linear.z() = 0.1;
    for (int k = 0; k < 1000; ++k) {
        motion.pose.position.z() += 1e-4;
        EXPECT_EQ(dynamics.step(s, scene.f, 1e-3, {&motion, 1}).status, StepStatus::Ok);
    }
    for (int i = 0; i < scene.model.num_nodes(); ++i) {
        EXPECT_NEAR(s.v[3 * i + 2], 0.1, 1e-3);
        EXPECT_NEAR(s.u[3 * i + 2], 0.1, 2e-3);  // sags by half a millimetre
    }
}

TEST(ImplicitDynamics, FrictionStopsASlidingBody) {
    const GroundScene scene(1e5);
    const PenaltyContact rough(
        scene.model, {RigidShape::half_space()},
        {.stiffness = scene.weight / 16 / 1e-4, .friction = 0.3, .slip_speed = 1e-3});
    for (const int iterations : {1, 20}) {
        ImplicitOptions options{.gamma = 1.125, .alpha = 1, .max_iterations = iterations};
        options.damping.stiffness = 2e-3;
        ImplicitDynamics dynamics(scene.model, free_body(scene.model), options, rough);
        FemState s = dynamics.make_state();
        for (int i = 0; i < scene.model.num_nodes(); ++i) {
            s.u[3 * i + 2] = -1e-4;
            s.v[3 * i] = 0.5;
        }
        for (int k = 0; k < 400; ++k)
            ASSERT_NE(dynamics.step(s, scene.f, 1e-3).status, StepStatus::StepRejected);
        // v²/(2 μ g) for a rigid block; this one rocks
        double distance = 0;
        for (int i = 0; i < scene.model.num_nodes(); ++i)
            distance += s.u[3 * i] / scene.model.num_nodes();
        EXPECT_NEAR(distance, 0.5 * 0.5 / (2 * 0.3 * 9.81), 2e-3);
        EXPECT_LT(s.v.lpNorm<Eigen::Infinity>(), 0.02);
    }
}

TEST(ImplicitDynamics, PrescribedMotionCarriesTheBodyAlong) {
    // all parts start with the speed of the clamp: a translation is exact
    const FemModel model = bar();
    ImplicitDynamics dynamics(model, held(model), {});
    const std::vector<int> clamp = test::clamped_end(model.mesh());
    const VectorXd f = VectorXd::Zero(model.num_unknowns());
    const Vector3d speed(0.3, -0.2, 0.5);
    FemState s = dynamics.make_state();
    for (int i = 0; i < model.num_nodes(); ++i) s.v.segment<3>(3 * i) = speed;
    const double dt = 1e-2;
    for (int k = 1; k <= 50; ++k) {
        for (const int node : clamp) s.u.segment<3>(3 * node) = k * dt * speed;
        ASSERT_EQ(dynamics.step(s, f, dt).status, StepStatus::Ok);
    }
    for (int i = 0; i < model.num_nodes(); ++i)
        EXPECT_LT((s.u.segment<3>(3 * i) - 0.5 * speed).norm(), 1e-12);
    EXPECT_NEAR(s.time, 0.5, 1e-14);
}

TEST(ImplicitDynamics, SlowlyMovedClampEndsInItsStaticEquilibrium) {
    const FemModel model = bar();
    const std::vector<int> clamp = test::clamped_end(model.mesh());
    Constraints constraints = held(model);
    for (const int i :
         test::vertices_where(model.mesh(), [](const Vector3d& x) { return x.x() > 0.399; }))
        for (int axis = 0; axis < 3; ++axis) constraints.prescribe(i, axis, 0);
    Constraints moved = constraints;
    for (const int node : clamp) moved.prescribe(node, 1, 0.05);
    const VectorXd f = gravity_load(model, kGravity);
    const StaticResult equilibrium = solve_static(model, moved, f);
    ASSERT_TRUE(equilibrium.has_converged());

    ImplicitOptions options{.gamma = 1.125, .alpha = 1};
    options.damping.mass = 20;
    ImplicitDynamics dynamics(model, constraints, options);
    FemState s = dynamics.make_state();
    for (int k = 1; k <= 300; ++k) {
        const double y = std::min(0.05, 1e-3 * k);
        for (const int node : clamp) {
            s.u[3 * node + 1] = y;
            s.v[3 * node + 1] = y < 0.05 ? 0.1 : 0;
        }
        ASSERT_EQ(dynamics.step(s, f, 1e-2).status, StepStatus::Ok);
    }
    EXPECT_LT((s.u - equilibrium.u).norm(), 1e-6 * equilibrium.u.norm());
}

TEST(ImplicitDynamics, HangingNodesFollowAndMomentumIsKept) {
    for (const bool consistent : {true, false}) {
        const FemModel model(graded_box(6), {isotropic(1e4, 0.3, 1000)});
        const VolumeMesh& mesh = model.mesh();
        ASSERT_FALSE(mesh.hanging.empty());
        ImplicitOptions options = exact();
        options.has_consistent_mass = consistent;
        ImplicitDynamics dynamics(model, free_body(model), options);
        FemState s = dynamics.make_state();
        for (int i = 0; i < model.num_nodes(); ++i)
            s.v.segment<3>(3 * i) = Vector3d(0.3, 0.2 * mesh.vertices[i].x(), 1) +
                                    Vector3d(1, 2, 3).cross(mesh.vertices[i]);
        const VectorXd m = lumped_mass(model), f = gravity_load(model, kGravity);
        const auto momentum = [&] {
            Vector3d sum = Vector3d::Zero();
            for (int i = 0; i < model.num_nodes(); ++i) sum += m[3 * i] * s.v.segment<3>(3 * i);
            return sum;
        };
        dynamics.set_acceleration(s, f);
        const Vector3d start = momentum();
        s = run(dynamics, s, f, 2e-3, 50);
        // of 1000 kg under gravity
        EXPECT_LT((momentum() - start - 0.1 * 1000 * kGravity).norm(), 1e-7 * start.norm());
        for (const HangingNode& h : mesh.hanging) {
            Vector3d mean = Vector3d::Zero();
            for (int k = 0; k < h.num_masters; ++k)
                mean += h.weight * s.u.segment<3>(3 * h.masters[k]);
            EXPECT_LT((s.u.segment<3>(3 * h.vertex) - mean).norm(), 1e-14);
        }
    }
}

TEST(ImplicitDynamics, HangingNodesFollowPrescribedMasters) {
    const FemModel model(graded_box(6), {isotropic(1e4, 0.3, 1000)});
    const HangingNode& h = model.mesh().hanging.front();
    Constraints constraints(model.num_nodes());
    for (int axis = 0; axis < 3; ++axis) constraints.prescribe(h.masters[0], axis, 0);
    ImplicitDynamics dynamics(model, constraints, exact());
    FemState s = dynamics.make_state();
    const VectorXd f = VectorXd::Zero(model.num_unknowns());
    for (int k = 1; k <= 5; ++k) {
        s.u.segment<3>(3 * h.masters[0]) = 1e-3 * k * Vector3d(1, 2, 3);
        s.v.segment<3>(3 * h.masters[0]) = Vector3d(1, 2, 3);
        ASSERT_EQ(dynamics.step(s, f, 1e-3).status, StepStatus::Ok);
        EXPECT_EQ(s.u.segment<3>(3 * h.masters[0]), 1e-3 * k * Vector3d(1, 2, 3));
        for (const VectorXd* y : {&s.u, &s.v, &s.a}) {
            Vector3d mean = Vector3d::Zero();
            for (int m = 0; m < h.num_masters; ++m)
                mean += h.weight * y->segment<3>(3 * h.masters[m]);
            EXPECT_LT((y->segment<3>(3 * h.vertex) - mean).norm(), 1e-14 * y->norm());
        }
    }
}

TEST(ImplicitDynamics, GradedBodySettlesAsItsStaticEquilibrium) {
    const FemModel model(graded_box(6), {isotropic(1e5, 0.3, 1000)});
    Constraints constraints(model.num_nodes());
    for (int i = 0; i < model.num_nodes(); ++i)
        if (model.mesh().vertices[i].z() < 1e-9)
            for (int axis = 0; axis < 3; ++axis) constraints.prescribe(i, axis, 0);
    const VectorXd f = gravity_load(model, kGravity);
    const StaticResult equilibrium = solve_static(model, constraints, f);
    ASSERT_TRUE(equilibrium.has_converged());
    ImplicitOptions options{.gamma = 1.125, .alpha = 1};
    options.damping.mass = 30;
    ImplicitDynamics dynamics(model, constraints, options);
    const FemState s = run(dynamics, dynamics.make_state(), f, 0.02, 150);
    EXPECT_LT((s.u - equilibrium.u).norm(), 1e-6 * equilibrium.u.norm());
}

TEST(ImplicitDynamics, SolversAndPreconditionersAgree) {
    const GroundScene scene;
    const auto end = [&](StepSolver solver, Preconditioner preconditioner) {
        ImplicitOptions options;
        options.solver = solver;
        options.cg.preconditioner = preconditioner;
        options.cg.tolerance = 1e-12;
        ImplicitDynamics dynamics(scene.model, free_body(scene.model), options, scene.contact);
        return run(dynamics, dynamics.make_state(), scene.f, 1e-3, 60).u;
    };
    const VectorXd direct = end(StepSolver::Direct, Preconditioner::Diagonal);
    for (const Preconditioner p : {Preconditioner::Diagonal, Preconditioner::BlockDiagonal,
                                   Preconditioner::IncompleteCholesky})
        EXPECT_LT((end(StepSolver::ConjugateGradient, p) - direct).norm(), 1e-9 * direct.norm());
}

TEST(ImplicitDynamics, InitialAccelerationBalancesTheForces) {
    const FemModel model(graded_box(6, 1, 0.1), {isotropic(1e4, 0.3, 1000)});
    Constraints constraints(model.num_nodes());
    for (int i = 0; i < model.num_nodes(); ++i)
        if (model.mesh().vertices[i].z() < 1e-9) constraints.prescribe(i, 2, 0);
    ImplicitOptions options;
    options.damping.mass = 3;
    ImplicitDynamics dynamics(model, constraints, options);
    const FreeSystem system(model, constraints);
    FemState s = dynamics.make_state();
    s.u = system.T() * test::random_displacements(system.num_unknowns(), 1e-3, 5);
    s.v = system.T() * test::random_displacements(system.num_unknowns(), 0.1, 6);
    // what is prescribed counts, what was there before does not
    s.a.setConstant(7);
    const VectorXd f = gravity_load(model, kGravity);
    dynamics.set_acceleration(s, f);
    VectorXd R(f.size()), rest(system.num_unknowns());
    model.internal_force(s.u, R);
    system.fold(f - R - mass_matrix(model) * (s.a + 3 * s.v), rest);
    EXPECT_LT(rest.norm(), 1e-10 * R.norm());
    for (int i = 0; i < model.num_nodes(); ++i)
        if (model.mesh().vertices[i].z() < 1e-9) {
            EXPECT_EQ(s.a[3 * i + 2], 7);
        }
}

TEST(ImplicitDynamics, SteadyAccelerationIsGuessed) {
    const FemModel model = bar();
    ImplicitDynamics dynamics(model, free_body(model), {});
    FemState s = dynamics.make_state();
    const VectorXd f = gravity_load(model, kGravity);
    dynamics.set_acceleration(s, f);
    for (int k = 0; k < 10; ++k) EXPECT_EQ(dynamics.step(s, f, 1e-3).cg_iterations, 0);
    EXPECT_NEAR(s.u[2], -0.5 * 9.81 * 1e-4, 1e-12);
    EXPECT_NEAR(s.v[2], -9.81 * 1e-2, 1e-10);
}

TEST(ImplicitDynamics, LinearSystemsAreSolvedToTheTolerance) {
    const FemModel model = bar();
    ImplicitDynamics dynamics(model, held(model), {});
    FemState s = dynamics.make_state();
    const VectorXd f = gravity_load(model, kGravity);
    int iterations = 0;
    for (int k = 0; k < 20; ++k) {
        const ImplicitReport report = dynamics.step(s, f, 1e-3);
        EXPECT_LE(report.linear_residual, 1e-6);
        EXPECT_GT(report.linear_residual, 0);
        EXPECT_EQ(report.newton_iterations, 1);
        iterations += report.cg_iterations;
    }
    EXPECT_GT(iterations, 20);
    EXPECT_LT(iterations, 400);
}

TEST(ImplicitDynamics, BodyAtRestCostsNoSolution) {
    const FemModel model = bar();
    ImplicitDynamics dynamics(model, held(model), {});
    FemState s = dynamics.make_state();
    const ImplicitReport report = dynamics.step(s, VectorXd::Zero(model.num_unknowns()), 1e-3);
    EXPECT_EQ(report.status, StepStatus::Ok);
    EXPECT_EQ(report.newton_iterations, 0);
    EXPECT_EQ(report.smallest_det_F.value, 1);
    EXPECT_EQ(s.u, VectorXd::Zero(model.num_unknowns()));
    EXPECT_EQ(s.time, 1e-3);
}

}  // namespace
}  // namespace pliant
