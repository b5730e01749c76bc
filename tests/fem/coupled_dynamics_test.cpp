#include "pliant/fem/coupled_dynamics.h"

#include "core/dense_algebra.h"
#include "core/numbers.h"
#include "fem/coupled_samples.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "pliant/fem/free_system.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using namespace test;

// ---- the decoupled path is the special case of diagonal matrices

class LumpedCase : public ::testing::TestWithParam<bool> {};

TEST_P(LumpedCase, TrajectoryIsThatOfTheDecoupledPath) {
    const bool is_graded = GetParam();
    const FemModel model(is_graded
                             ? graded_box(6, 1, 0.1)
                             : hex_box(3, 3, 3, Box(Vector3d::Zero(), Vector3d::Constant(0.1))),
                         {soft_material(300)});
    const Constraints constraints = clamped(model);
    ExplicitOptions decoupled_options;
    decoupled_options.damping.mass = 2;
    const ExplicitDynamics decoupled(model, constraints, decoupled_options);
    auto ws = decoupled.make_workspace();
    const double dt = 0.5 * decoupled.stable_step().dt;
    CoupledOptions options = lumped_options(dt);
    options.damping.mass = 2;
    CoupledDynamics coupled(model, constraints, options);
    EXPECT_TRUE(coupled.is_scalar());
    // the bound by elements is the lower one
    EXPECT_GE(coupled.stable_step(), decoupled.stable_step().dt * (1 - 1e-3));

    const VectorXd f = gravity_load(model, kGravity);
    FemState a = decoupled.make_state(), b = coupled.make_state();
    a.v = random_displacements(model.num_unknowns(), 0.2, 3);
    for (const int node : constraints.held_nodes()) a.v.segment<3>(3 * node).setZero();
    b.v = a.v;
    decoupled.set_acceleration(a, f, ws);
    coupled.set_acceleration(b, f);
    EXPECT_LT((a.a - b.a).norm(), 1e-12 * a.a.norm());
    for (int k = 0; k < 200; ++k) {
        ASSERT_EQ(decoupled.step(a, f, dt, ws).status, StepStatus::Ok);
        ASSERT_EQ(coupled.step(b, f, 0).status, StepStatus::Ok);
    }
    EXPECT_LT(difference(a, b), 1e-10);
    EXPECT_GT(a.u.norm(), 1e-3);
    const Energy first = decoupled.energy(a, ws), second = coupled.energy(b);
    EXPECT_NEAR(first.kinetic, second.kinetic, 1e-10 * first.kinetic);
    EXPECT_NEAR(first.elastic, second.elastic, 1e-10 * first.elastic);
}
INSTANTIATE_TEST_SUITE_P(Meshes, LumpedCase, ::testing::Bool(), [](const auto& is_graded) {
    return is_graded.param ? "graded" : "equal";
});

// ---- one step against dense matrices

/// Everything written out: dense M, D, T; the equation of motion at the end of the step.
struct DenseCase {
    const char* name;
    bool is_graded = false, has_consistent_mass = true, has_lumped_drag = false;
    Damping damping = {};
    bool holds_components = false;  ///< one component of some nodes only
    bool is_scalar = true;
};
class DenseStep : public ::testing::TestWithParam<DenseCase> {};

TEST_P(DenseStep, FulfilsTheEquationOfMotion) {
    const DenseCase& c = GetParam();
    const FemModel model(c.is_graded ? graded_box(4) : distorted_hexes(2), {soft_material(150)});
    Constraints constraints(model.num_nodes());
    for (const int node :
         vertices_where(model.mesh(), [](const Vector3d& x) { return x.z() < 0.2; }))
        for (int axis = c.holds_components ? 2 : 0; axis < 3; ++axis)
            constraints.prescribe(node, axis, 0);
    CoupledOptions options = coupled_options(1e-3, 2);
    options.has_consistent_mass = c.has_consistent_mass;
    options.has_lumped_drag = c.has_lumped_drag;
    options.damping = c.damping;
    CoupledDynamics dynamics(model, constraints, options);
    EXPECT_EQ(dynamics.is_scalar(), c.is_scalar);

    // folded matrices of the free unknowns, and of those that are prescribed
    const FreeSystem system(model, constraints);
    const MatrixXd T(system.T());
    const VectorXd rest = VectorXd::Zero(model.num_unknowns());
    Eigen::SparseMatrix<double> K = model.make_matrix(), damping = model.make_matrix();
    model.tangent(rest, K);
    add_damping_matrix(model, c.damping, rest, K, damping);
    MatrixXd M = mass_matrix(model), drag = drag_matrix(model);
    if (!c.has_consistent_mass) M = lumped_mass(model).asDiagonal();
    if (c.has_lumped_drag) drag = lumped_drag(model).asDiagonal();
    const MatrixXd D = drag + c.damping.mass * M + MatrixXd(damping);
    MatrixXd M_free = T.transpose() * M * T, D_free = T.transpose() * D * T;
    if (c.is_graded && !c.has_consistent_mass) {
        // lumps go to the masters and stay lumps
        M_free = VectorXd(T.transpose() * lumped_mass(model)).asDiagonal();
        D_free =
            VectorXd(T.transpose() * (lumped_drag(model) + c.damping.mass * lumped_mass(model)))
                .asDiagonal();
    }

    // prescribed unknowns move; those of hanging nodes follow
    FemState s = dynamics.make_state();
    const VectorXd f = gravity_load(model, kGravity);
    s.u = T * random_displacements(system.num_unknowns(), 0.02, 1);
    s.v = T * random_displacements(system.num_unknowns(), 0.5, 2);
    dynamics.set_acceleration(s, f);
    const auto report = dynamics.step(s, f, 0);
    ASSERT_EQ(report.status, StepStatus::Ok);
    std::vector<int> moved;
    for (int i = 0; i < model.num_unknowns(); ++i)
        if (constraints.is_prescribed(i / 3, i % 3)) {
            dynamics.prescribe(s, i / 3, i % 3, 1e-3, 0.3, -4);
            moved.push_back(i);
        }
    const FemState before = s;
    ASSERT_EQ(dynamics.step(s, f, 1).status, StepStatus::Ok);

    const double dt = 0.5e-3;
    EXPECT_EQ(dynamics.step_length(1), dt);
    EXPECT_NEAR(s.time, 1.5e-3, 1e-15);
    for (const int i : moved) {
        EXPECT_EQ(s.u[i], 1e-3);
        EXPECT_EQ(s.v[i], 0.3);
        EXPECT_EQ(s.a[i], -4);
    }
    // v' = v + dt/2 (a + a') of the free ones, and Tᵀ (M a' + D v' + R(u') − f) = 0
    VectorXd R(model.num_unknowns());
    model.internal_force(s.u, R);
    const VectorXd scale = T.transpose() * R;
    for (int i = 0; i < model.num_unknowns(); ++i)
        if (T.row(i).maxCoeff() == 1) {
            EXPECT_NEAR(s.v[i], before.v[i] + 0.5 * dt * (s.a[i] + before.a[i]), 1e-14);
        }
    VectorXd residual;
    if (c.is_graded && !c.has_consistent_mass) {
        VectorXd a_free(system.num_unknowns()), v_free(system.num_unknowns());
        for (int k = 0; k < system.num_unknowns(); ++k) {
            Eigen::SparseMatrix<double>::InnerIterator entry(system.T(), k);
            while (entry.value() != 1) ++entry;
            a_free[k] = s.a[entry.index()];
            v_free[k] = s.v[entry.index()];
        }
        residual = T.transpose() * (f - R) - M_free * a_free - D_free * v_free;
    } else {
        residual = T.transpose() * (f - R - M * s.a - D * s.v);
    }
    EXPECT_LT(residual.norm(), 1e-12 * scale.norm());
}

INSTANTIATE_TEST_SUITE_P(
    Matrices, DenseStep,
    ::testing::Values(DenseCase{.name = "consistent"},
                      DenseCase{.name = "consistent_mass_lumped_drag", .has_lumped_drag = true},
                      DenseCase{.name = "mass_damping", .damping = {.mass = 3}},
                      DenseCase{.name = "graded_consistent", .is_graded = true},
                      DenseCase{.name = "graded_lumped",
                                .is_graded = true,
                                .has_consistent_mass = false,
                                .has_lumped_drag = true,
                                .damping = {.mass = 3}},
                      DenseCase{
                          .name = "components_held", .holds_components = true, .is_scalar = false},
                      DenseCase{.name = "stiffness_damping",
                                .damping = {.mass = 1, .stiffness = 2e-3},
                                .is_scalar = false},
                      DenseCase{.name = "lumped_mass_stiffness_damping",
                                .has_consistent_mass = false,
                                .damping = {.stiffness = 2e-3},
                                .is_scalar = false},
                      DenseCase{.name = "graded_viscous",
                                .is_graded = true,
                                .damping = {.bulk_viscosity = 30, .shear_viscosity = 20},
                                .is_scalar = false}),
    [](const auto& step) { return step.param.name; });

TEST(CoupledDynamics, ScalarAndFullFactorAgree) {
    const FemModel model(graded_box(4, 1, 0.1), {soft_material(200)});
    CoupledOptions options = coupled_options(1e-3);
    CoupledDynamics scalar(model, clamped(model), options);
    // damping that is too small to change a digit, and still couples components
    options.damping.stiffness = 1e-300;
    CoupledDynamics full(model, clamped(model), options);
    EXPECT_TRUE(scalar.is_scalar());
    EXPECT_FALSE(full.is_scalar());
    EXPECT_GT(full.statistics().factor_nonzeros, 8 * scalar.statistics().factor_nonzeros);
    EXPECT_TRUE(scalar.statistics().order_was_given);
    EXPECT_NEAR(scalar.stable_step(), full.stable_step(), 1e-6 * full.stable_step());

    const VectorXd f = gravity_load(model, kGravity);
    FemState a = scalar.make_state(), b = full.make_state();
    scalar.set_acceleration(a, f);
    full.set_acceleration(b, f);
    for (int k = 0; k < 100; ++k) {
        ASSERT_EQ(scalar.step(a, f, 0).status, StepStatus::Ok);
        ASSERT_EQ(full.step(b, f, 0).status, StepStatus::Ok);
    }
    EXPECT_LT(difference(a, b), 1e-10);
}

TEST(CoupledDynamics, AllSolversAndOrderingsGiveTheSameTrajectory) {
    const FemModel model = block(3, 0, soft_material(200));
    const VectorXd f = gravity_load(model, kGravity);
    FemState reference;
    const auto run = [&](const CoupledOptions& options) {
        CoupledDynamics dynamics(model, clamped(model), options);
        FemState s = dynamics.make_state();
        dynamics.set_acceleration(s, f);
        for (int k = 0; k < 20; ++k) EXPECT_EQ(dynamics.step(s, f, 0).status, StepStatus::Ok);
        if (reference.u.size() == 0) reference = s;
        EXPECT_LT(difference(s, reference), 1e-11);
    };
    CoupledOptions options = coupled_options(1e-3);
    options.damping.stiffness = 1e-3;
    for (const SolverKind kind : available_solvers()) {
        options.solver = kind;
        run(options);
    }
    options.solver = SolverKind::EigenLdlt;
    for (const Ordering ordering : {Ordering::MinimumDegree, Ordering::RegularNestedDissection,
                                    Ordering::SimpleNestedDissection}) {
        options.ordering = ordering;
        run(options);
    }
}

// ---- stability

TEST(CoupledDynamics, StabilityLimitIsThatOfTheMatrices) {
    // one cube: h √(ρ (1 − 2ν) / E) with lumped mass, less by √3 with consistent mass
    const FemModel cube = block(1);
    const double expected = 0.1 * std::sqrt(1000 * 0.4 / 2e4);
    const CoupledDynamics lumped(cube, free_body(cube), lumped_options(1e-3));
    const CoupledDynamics consistent(cube, free_body(cube), coupled_options(1e-3));
    EXPECT_NEAR(lumped.stable_step(), expected, 1e-3 * expected);
    EXPECT_LE(lumped.stable_step(), expected * (1 + 1e-12));
    EXPECT_NEAR(consistent.stable_step(), expected / std::sqrt(3), 1e-3 * expected);

    const FemModel model(distorted_hexes(3), {soft_material()});
    Eigen::SparseMatrix<double> K = model.make_matrix();
    model.tangent(VectorXd::Zero(model.num_unknowns()), K);
    const FreeSystem system(model, clamped(model));
    const MatrixXd T(system.T());
    const VectorXd eigenvalues = symmetric_eigenvalues(
        T.transpose() * MatrixXd(K) * T, T.transpose() * MatrixXd(mass_matrix(model)) * T);
    const double exact = 2 / std::sqrt(eigenvalues.maxCoeff());
    const CoupledDynamics dynamics(model, clamped(model), coupled_options(1e-3));
    EXPECT_LE(dynamics.stable_step(), exact * (1 + 1e-12));
    EXPECT_GE(dynamics.stable_step(), exact * 0.999);
}

TEST(CoupledDynamics, StaysBoundedJustBelowTheLimitWhateverTheDamping) {
    const FemModel model = block(2);
    for (const double stiffness : {0.0, 1e-3, 0.1}) {
        CoupledOptions options = coupled_options(1e-4);
        options.damping.stiffness = stiffness;
        options.largest_step =
            0.999 * CoupledDynamics(model, free_body(model), options).stable_step();
        CoupledDynamics dynamics(model, free_body(model), options);
        FemState s = dynamics.make_state();
        const VectorXd f = VectorXd::Zero(model.num_unknowns());
        s.v = random_displacements(model.num_unknowns(), 1e-6, 4);
        dynamics.set_acceleration(s, f);
        const double start = dynamics.energy(s).total();
        double largest = 0;
        for (int k = 0; k < 3000; ++k) {
            ASSERT_EQ(dynamics.step(s, f, 0).status, StepStatus::Ok);
            largest = std::max(largest, (s.v).norm());
        }
        EXPECT_LT(dynamics.energy(s).total(), 20 * start) << stiffness;
        EXPECT_LT(largest, 1e-3) << stiffness;
    }
}

TEST(CoupledDynamics, StepAboveTheLimitIsRefusedWithTheLimit) {
    const FemModel model = block(2);
    const double limit =
        CoupledDynamics(model, free_body(model), coupled_options(1e-4)).stable_step();
    EXPECT_NO_THROW(CoupledDynamics(model, free_body(model), coupled_options(limit)));
    const std::string text = input_error(
        [&] { CoupledDynamics(model, free_body(model), coupled_options(1.01 * limit)); });
    std::ostringstream expected;
    expected << "at most " << limit << " s, the stability limit";
    EXPECT_NE(text.find("largest_step = "), std::string::npos) << text;
    EXPECT_NE(text.find(expected.str()), std::string::npos) << text;
}

// ---- accuracy

/// State at `time` after steps with the given indices over and over.
FemState state_at(CoupledDynamics& dynamics, double time, std::initializer_list<int> pattern) {
    const FemModel& model = dynamics.model();
    VectorXd f = gravity_load(model, kGravity);
    FemState s = dynamics.make_state();
    dynamics.set_acceleration(s, f);
    while (s.time < time - 1e-9)
        for (const int i : pattern) EXPECT_EQ(dynamics.step(s, f, i).status, StepStatus::Ok);
    EXPECT_NEAR(s.time, time, 1e-12);
    return s;
}

TEST(CoupledDynamics, ConvergesAtSecondOrderAlsoThroughStepChanges) {
    const FemModel model = block(2, 0, soft_material(100));
    const double T = 2e-3, time = 0.096;
    CoupledOptions options = coupled_options(T, 8);
    options.damping = {.mass = 1, .stiffness = 1e-3};
    CoupledDynamics dynamics(model, clamped(model), options);
    const FemState exact = state_at(dynamics, time, {7});
    EXPECT_GT(exact.u.norm(), 1e-3);

    double last[2] = {0, 0};
    for (int i = 0; i < 4; ++i) {
        const double constant = (state_at(dynamics, time, {i}).u - exact.u).norm();
        // T, T/2, T/2, T and so on: at most three lengths of the set
        const double changing =
            (state_at(dynamics, time, {i, i + 1, i + 2, i + 2}).u - exact.u).norm();
        if (i > 0) {
            // halving the step divides the error by four
            EXPECT_NEAR(last[0] / constant, 4, 0.4) << i;
            EXPECT_NEAR(last[1] / changing, 4, 0.8) << i;
        }
        last[0] = constant;
        last[1] = changing;
    }
    EXPECT_LT(last[0], 1e-3 * exact.u.norm());
}

TEST(CoupledDynamics, ViscoelasticBarDecaysAtTheAnalyticRate) {
    // 1-D bar (ν = 0), clamped at one end: ω = π/2 √(E/ρ)/L, and D = β K₀ gives ζ = β ω / 2
    const double L = 1, E = 1e4, rho = 1000;
    const int n = 20;
    const VolumeMesh mesh = hex_box(1, 1, n, Box(Vector3d::Zero(), Vector3d(0.1, 0.1, L)));
    const FemModel model(mesh, {isotropic(E, 0, rho, Law::SmallStrain)});
    const double omega = 0.5 * std::numbers::pi * std::sqrt(E / rho) / L;
    const double zeta = 0.05;
    CoupledOptions options = coupled_options(4e-3, 3);
    options.damping.stiffness = 2 * zeta / omega;
    CoupledDynamics dynamics(model, clamped(model), options);
    EXPECT_FALSE(dynamics.is_scalar());

    FemState s = dynamics.make_state();
    const VectorXd f = VectorXd::Zero(model.num_unknowns());
    for (int i = 0; i < model.num_nodes(); ++i)
        s.u[3 * i + 2] = 1e-3 * std::sin(0.5 * std::numbers::pi * mesh.vertices[i].z() / L);
    dynamics.set_acceleration(s, f);

    // changing steps, T to T/4; logarithmic decrement from the maxima of the free end
    const int tip = 3 * (model.num_nodes() - 1) + 2;
    std::vector<double> maxima, times;
    double before = s.u[tip], here = s.u[tip], dt_before = 0;
    int k = 0;
    while (s.time < 5.5 * 2 * std::numbers::pi / omega) {
        const int i = (k++ / 50) % 3;
        ASSERT_EQ(dynamics.step(s, f, i).status, StepStatus::Ok);
        const double next = s.u[tip], dt = dynamics.step_length(i);
        // the vertex of the parabola through three points with equal steps
        if (dt == dt_before && here > before && here >= next) {
            const double slope = 0.5 * (next - before), bend = next - 2 * here + before;
            maxima.push_back(here - 0.5 * slope * slope / bend);
            times.push_back(s.time - dt - slope / bend * dt);
        }
        before = here;
        here = next;
        dt_before = dt;
    }
    ASSERT_GE(maxima.size(), 4u);
    const double periods =
        std::round((times.back() - times.front()) * omega / (2 * std::numbers::pi));
    const double decrement = std::log(maxima.front() / maxima.back()) / periods;
    const double found = decrement / std::hypot(decrement, 2 * std::numbers::pi);
    // 20 elements and ω dt = 0.02: both disturb ω, and with it ζ, by 3e-4
    EXPECT_NEAR(found, zeta, 2e-3 * zeta);
    const double period = (times.back() - times.front()) / periods;
    EXPECT_NEAR(period, 2 * std::numbers::pi / (omega * std::sqrt(1 - zeta * zeta)), 1e-3 * period);
}

TEST(CoupledDynamics, FreeGradedBodyKeepsItsMomentum) {
    const FemModel model(graded_box(6, 1, 0.1), {soft_material()});
    CoupledOptions options = coupled_options(4e-4);
    options.damping.stiffness = 1e-3;
    CoupledDynamics dynamics(model, free_body(model), options);
    FemState s = dynamics.make_state();
    const VectorXd f = VectorXd::Zero(model.num_unknowns());
    // spinning, drifting and vibrating
    for (int i = 0; i < model.num_nodes(); ++i) {
        const Vector3d x = model.mesh().vertices[i];
        s.v.segment<3>(3 * i) = Vector3d(1, 2, -1) + Vector3d(3, -2, 5).cross(x) + 4 * x;
    }
    dynamics.set_acceleration(s, f);
    const Vector3d start = momentum(model, s);
    for (int k = 0; k < 200; ++k) ASSERT_EQ(dynamics.step(s, f, 0).status, StepStatus::Ok);
    // rounding of 200 steps
    EXPECT_LT((momentum(model, s) - start).norm(), 1e-12 * start.norm());
    EXPECT_LT(dynamics.energy(s).elastic, dynamics.energy(s).kinetic);
}

TEST(CoupledDynamics, UniformlyAcceleratedSupportCarriesTheBodyAlong) {
    // consistent inertia of the prescribed nodes acts on the others
    const FemModel model(graded_box(4, 1, 0.1), {soft_material()});
    const Constraints constraints = clamped(model);
    CoupledDynamics dynamics(model, constraints, coupled_options(5e-4));
    const Vector3d a(0.3, -2, 1);
    const VectorXd f = gravity_load(model, a);
    FemState s = dynamics.make_state();
    for (int k = 0; k < 100; ++k) {
        const double t = (k + 1) * 5e-4;
        if (k == 0)
            for (int i = 0; i < s.a.size(); i += 3) s.a.segment<3>(i) = a;
        for (const int node : constraints.held_nodes())
            for (int axis = 0; axis < 3; ++axis)
                dynamics.prescribe(s, node, axis, 0.5 * a[axis] * t * t, a[axis] * t, a[axis]);
        ASSERT_EQ(dynamics.step(s, f, 0).status, StepStatus::Ok);
    }
    for (int i = 0; i < s.a.size(); i += 3) {
        EXPECT_LT((s.u.segment<3>(i) - 0.5 * a * 0.05 * 0.05).norm(), 1e-12);
        EXPECT_LT((s.v.segment<3>(i) - a * 0.05).norm(), 1e-11);
    }
    // a component that is not prescribed does not listen
    const double free = s.u[s.u.size() - 1];
    dynamics.prescribe(s, model.num_nodes() - 1, 2, 7, 7, 7);
    EXPECT_EQ(s.u[s.u.size() - 1], free);
    dynamics.prescribe(s, constraints.held_nodes().front(), 0, kNan, 0, 0);
    EXPECT_TRUE(s.u.allFinite());
}

// ---- bad input

TEST(CoupledDynamics, BadOptionsAreNamed) {
    const FemModel model = block(1);
    const auto message = [&](auto&& change) {
        CoupledOptions options = coupled_options(1e-3);
        change(options);
        return input_error([&] { CoupledDynamics(model, free_body(model), options); });
    };
    using Options = CoupledOptions;
    const auto expect = [&](const std::string& text, const char* part) {
        EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks " << part;
    };
    expect(message([](Options& o) { o.largest_step = 0; }),
           "largest_step = 0 (expected a positive number of seconds)");
    expect(message([](Options& o) { o.largest_step = kNan; }), "largest_step = nan");
    expect(message([](Options& o) { o.num_steps = 0; }), "num_steps = 0 (expected 1 to 8)");
    expect(message([](Options& o) { o.num_steps = 9; }), "num_steps = 9 (expected 1 to 8)");
    expect(message([](Options& o) { o.collapse_limit = kNan; }), "collapse_limit = nan");
    expect(message([](Options& o) { o.damping.stiffness = -1; }), "damping.stiffness = -1");
    expect(message([](Options& o) { o.contact.friction = -0.5; }), "contact.friction = -0.5");
    expect(message([](Options& o) { o.contact.sweeps = 0; }), "contact.sweeps = 0");
    expect(message([](Options& o) { o.contact.capacity = -1; }), "contact.capacity = -1");
    expect(message([](Options& o) { o.contact.reach = -1; }), "contact.reach = -1");
    expect(message([](Options& o) { o.contact.mode = ContactMode::Literal; }),
           "contact.mode = literal (expected hold");

    Material unstable = soft_material();
    unstable.anisotropy = Anisotropy{isotropic_stiffness(unstable.lambda, unstable.mu), {}, {}};
    unstable.anisotropy->initial_strain.setZero();
    unstable.anisotropy->initial_stress << -1e5, -1e5, -1e5, 0, 0, 0;
    const FemModel stressed = block(1, 0, unstable);
    CoupledOptions options = coupled_options(1e-3);
    options.damping.stiffness = 1;
    expect(input_error([&] { CoupledDynamics(stressed, free_body(stressed), options); }),
           "the initial stress makes the stiffness at rest indefinite");
}

TEST(CoupledDynamics, NothingThatIsNotFiniteGetsIntoTheState) {
    const FemModel model = block(2);
    CoupledDynamics dynamics(model, clamped(model), coupled_options(1e-3, 2));
    FemState s = dynamics.make_state();
    const VectorXd zero = VectorXd::Zero(model.num_unknowns());
    VectorXd f = gravity_load(model, kGravity);
    dynamics.set_acceleration(s, f);

    // a load counts as zero
    FemState unloaded = s;
    f[5] = kNan;
    EXPECT_EQ(dynamics.step(s, f, 0).status, StepStatus::InputIgnored);
    EXPECT_EQ(dynamics.step(unloaded, zero, 0).status, StepStatus::Ok);
    EXPECT_EQ(s.a, unloaded.a);
    // a load beyond all numbers: nothing happens
    const FemState before = s;
    f.setConstant(1e308);
    EXPECT_EQ(dynamics.step(s, f, 0).status, StepStatus::StepRejected);
    EXPECT_EQ(s.u, before.u);
    EXPECT_EQ(s.v, before.v);
    EXPECT_EQ(s.a, before.a);
    EXPECT_EQ(s.time, before.time);
    // steps that the set does not have
    EXPECT_EQ(dynamics.step(s, zero, 2).status, StepStatus::StepRejected);
    EXPECT_EQ(dynamics.step(s, zero, -1).status, StepStatus::StepRejected);
    // a state
    s.v[7] = kNan;
    EXPECT_EQ(dynamics.step(s, zero, 0).status, StepStatus::StateReset);
    EXPECT_TRUE(s.u.isZero(0) && s.v.isZero(0) && s.a.isZero(0));
    EXPECT_EQ(s.time, before.time);
    s.time = kNan;
    EXPECT_EQ(dynamics.step(s, zero, 0).status, StepStatus::StateReset);
    EXPECT_EQ(s.time, 0);
    // an acceleration
    f.setConstant(kNan);
    dynamics.set_acceleration(s, f);
    EXPECT_TRUE(s.a.isZero(0));
}

TEST(CoupledDynamics, CollapsingElementsAreReported) {
    const FemModel model = block(1);
    CoupledDynamics dynamics(model, clamped(model), coupled_options(1e-3));
    FemState s = dynamics.make_state();
    const VectorXd f = VectorXd::Zero(model.num_unknowns());
    EXPECT_FALSE(dynamics.step(s, f, 0).is_collapsing);
    for (int i = 4; i < 8; ++i) s.u[3 * i + 2] = -0.095;
    const auto report = dynamics.step(s, f, 0);
    EXPECT_TRUE(report.is_collapsing);
    EXPECT_NEAR(report.smallest_det_F.value, 0.05, 1e-6);
    EXPECT_EQ(report.smallest_det_F.element, 0);
}

TEST(CoupledDynamics, ChoosesTheLargestStepThatFits) {
    const FemModel model = block(1);
    const CoupledDynamics dynamics(model, free_body(model), coupled_options(1e-3, 3));
    EXPECT_EQ(dynamics.step_for(1), 0);
    EXPECT_EQ(dynamics.step_for(1e-3), 0);
    EXPECT_EQ(dynamics.step_for(0.9e-3), 1);
    EXPECT_EQ(dynamics.step_for(0.3e-3), 2);
    EXPECT_EQ(dynamics.step_for(0), 2);
    EXPECT_EQ(dynamics.step_for(kNan), 2);
}

TEST(CoupledDynamics, BodyWithoutFreeUnknownsStandsStill) {
    const FemModel model = block(1);
    Constraints constraints(model.num_nodes());
    for (int i = 0; i < 8; ++i) constraints.fix(std::array{i});
    CoupledDynamics dynamics(model, constraints, coupled_options(1e-3));
    EXPECT_TRUE(std::isinf(dynamics.stable_step()));
    FemState s = dynamics.make_state();
    const VectorXd f = gravity_load(model, kGravity);
    dynamics.set_acceleration(s, f);
    EXPECT_EQ(dynamics.step(s, f, 0).status, StepStatus::Ok);
    EXPECT_TRUE(s.u.isZero(0));
}

TEST(CoupledDynamics, StepsAllocateNothing) {
    set_num_threads(1);
    for (const double stiffness : {0.0, 1e-3}) {
        const FemModel model(graded_box(6, 1, 0.1), {soft_material(200)});
        CoupledOptions options = coupled_options(4e-4, 3);
        options.damping.stiffness = stiffness;
        CoupledDynamics dynamics(model, clamped(model), options);
        FemState s = dynamics.make_state();
        const VectorXd f = gravity_load(model, kGravity);
        dynamics.set_acceleration(s, f);
        const AllocationGuard guard;
        for (int k = 0; k < 6; ++k) (void)dynamics.step(s, f, k % 3);
        const auto allocations = guard.count();
        EXPECT_EQ(allocations, 0u);
    }
    set_num_threads(0);
}

}  // namespace
}  // namespace pliant
