#include "pliant/reduction/reduced_dynamics.h"

#include "input_error.h"
#include "reduction/dynamics_samples.h"
#include "reduction/force_samples.h"

#include <gtest/gtest.h>
#include <limits>
#include <numbers>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::input_error;
using test::oscillator;
using test::ReducedBar;

constexpr double kPi = std::numbers::pi;

double total_energy(const ReducedDynamics& dynamics, const ReducedState& s, const VectorXd& f,
                    ReducedDynamics::Workspace& ws) {
    return dynamics.kinetic_energy(s) + dynamics.elastic_energy(s, ws) - f.dot(s.q);
}

/// Orders measured between three step lengths, against steps four times shorter than the shortest.
std::array<double, 2> measured_orders(const ReducedBar& bar, const ReducedOptions& options) {
    const ReducedDynamics dynamics = bar.dynamics(options);
    ReducedOptions exact = options;
    exact.max_iterations = 10;
    exact.tolerance = 1e-11;
    const double duration = 0.16, dt = 2e-3;
    const VectorXd f = 3 * bar.weight;
    const VectorXd reference = test::run(bar.dynamics(exact), f, dt / 32, duration).q;
    std::array<double, 3> errors{};
    for (int k = 0; k < 3; ++k)
        errors[k] = (test::run(dynamics, f, dt / (1 << k), duration).q - reference).norm();
    EXPECT_LT(errors[0], 0.05 * reference.norm());
    return {std::log2(errors[0] / errors[1]), std::log2(errors[1] / errors[2])};
}

TEST(ReducedDynamics, OneNewtonIterationIsOfSecondOrder) {
    const ReducedBar bar(6);
    ReducedOptions rayleigh, rest, viscous;
    rayleigh.damping = {.mass = 0.5, .stiffness = 5e-3};
    rest.damping = {.stiffness = 5e-3, .is_tangential = false};
    viscous.damping.viscosity = std::make_shared<ReducedViscosity>(bar.model, bar.U, 100.0, 200.0);
    for (const ReducedOptions& options : {ReducedOptions{}, rayleigh, rest, viscous})
        // the reference's own error, 4⁻³ of the last one's, and higher terms
        for (const double order : measured_orders(bar, options)) EXPECT_NEAR(order, 2, 0.15);
}

TEST(ReducedDynamics, UndampedEnergyStaysOverAMillionSteps) {
    // the motion bends the bar by a third of its length, and stiff directions ring with it
    const ReducedBar bar(3, 2);
    const ReducedDynamics dynamics = bar.dynamics();
    const auto ws = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    s.v = bar.weight / bar.weight.norm() * 0.4;
    const VectorXd f = VectorXd::Zero(3);
    dynamics.set_acceleration(s, f, *ws);
    const double shortest_period = kPi * dynamics.explicit_limit();
    const double start = total_energy(dynamics, s, f, *ws);
    double least = start, most = start;
    int failures = 0;
    for (int k = 0; k < 1'000'000; ++k) {
        failures += dynamics.step(s, f, shortest_period / 50, *ws).status != StepStatus::Ok;
        if (k % 64 != 0) continue;
        const double now = total_energy(dynamics, s, f, *ws);
        least = std::min(least, now);
        most = std::max(most, now);
    }
    EXPECT_EQ(failures, 0);
    EXPECT_GT(least, 0.99 * start);
    EXPECT_LT(most, 1.01 * start);
}

TEST(ReducedDynamics, PeriodOfALinearOscillatorIsThatOfTheTrapezoidalRule) {
    // tan(ω' dt/2) = ω dt/2
    const double omega = 20, dt = 0.02;
    const ReducedDynamics dynamics = oscillator(omega * omega);
    const auto ws = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    const VectorXd f = VectorXd::Zero(1);
    s.q[0] = 1;
    dynamics.set_acceleration(s, f, *ws);
    const double numerical = 2 / dt * std::atan(omega * dt / 2);
    for (int k = 1; k <= 500; ++k) {
        EXPECT_EQ(dynamics.step(s, f, dt, *ws).status, StepStatus::Ok);
        ASSERT_NEAR(s.q[0], std::cos(numerical * k * dt), 1e-12);
    }
}

TEST(ReducedDynamics, LargerGammaDampsWhatTheStepDoesNotResolve) {
    const auto amplitude_after = [](double gamma, double omega_dt, int steps) {
        ReducedOptions options;
        options.gamma = gamma;
        const ReducedDynamics dynamics = oscillator(omega_dt * omega_dt, 0, options);
        const auto ws = dynamics.make_workspace();
        ReducedState s = dynamics.make_state();
        const VectorXd f = VectorXd::Zero(1);
        s.q[0] = 1;
        dynamics.set_acceleration(s, f, *ws);
        for (int k = 0; k < steps; ++k) (void)dynamics.step(s, f, 1, *ws);
        return std::sqrt(s.q[0] * s.q[0] + s.v[0] * s.v[0] / (omega_dt * omega_dt));
    };
    EXPECT_NEAR(amplitude_after(0.5, 0.1, 200), 1, 0.01);
    EXPECT_NEAR(amplitude_after(0.5, 30, 200), 1, 0.01);
    // at low frequency e^{−(γ − ½) (ω dt)²/2} in each step
    EXPECT_NEAR(amplitude_after(0.6, 0.1, 200), std::exp(-0.1 * 0.01 / 2 * 200), 0.01);
    EXPECT_LT(amplitude_after(0.6, 30, 200), 1e-6);
    EXPECT_LT(amplitude_after(1.0, 30, 20), amplitude_after(0.6, 30, 20));
}

/// All free unknowns of a body of six tets, mass-orthonormal.
struct FullBasis {
    FemModel model{tet_box(1, 1, 1, Box(Eigen::Vector3d::Zero(), Eigen::Vector3d(0.1, 0.1, 0.1))),
                   {isotropic(2e4, 0.3, 1000)}};
    Constraints constraints = test::held(model);
    MatrixXd U;
    FullBasis() {
        MatrixXd columns(model.num_unknowns(), 0);
        for (int i = 0; i < model.num_unknowns(); ++i)
            if (!constraints.is_prescribed(i / 3, i % 3)) {
                columns.conservativeResize(Eigen::NoChange, columns.cols() + 1);
                columns.col(columns.cols() - 1) = VectorXd::Unit(model.num_unknowns(), i);
            }
        U = mass_gram_schmidt(columns, mass_matrix(model));
    }
};

TEST(ReducedDynamics, FullBasisFollowsTheFullSolver) {
    const FullBasis full;
    const auto r = static_cast<int>(full.U.cols());
    ASSERT_EQ(r, 12);
    for (int kind = 0; kind < 3; ++kind) {
        ImplicitOptions options = test::exact();
        ReducedOptions reduced_options;
        reduced_options.max_iterations = 30;
        reduced_options.tolerance = 1e-12;
        if (kind == 1) {
            options.damping = {.mass = 1, .stiffness = 1e-3};
            reduced_options.damping = {.mass = 1, .stiffness = 1e-3};
        } else if (kind == 2) {
            options.damping = {.bulk_viscosity = 30, .shear_viscosity = 20};
            reduced_options.damping.viscosity =
                std::make_shared<ReducedViscosity>(full.model, full.U, 30.0, 20.0);
        }
        ImplicitDynamics reference(full.model, full.constraints, options);
        const ReducedDynamics dynamics(
            make_polynomial_force(
                combine(build_coefficients(full.model, full.U), full.model.materials())),
            MatrixXd::Identity(r, r), reduced_options);
        const VectorXd load = 20 * gravity_load(full.model, Eigen::Vector3d(3, 2, -9.81));
        const VectorXd f = full.U.transpose() * load;
        const auto ws = dynamics.make_workspace();
        ReducedState s = dynamics.make_state();
        FemState u = reference.make_state();
        reference.set_acceleration(u, load);
        dynamics.set_acceleration(s, f, *ws);
        double largest = 0, difference = 0;
        for (int k = 0; k < 60; ++k) {
            EXPECT_EQ(reference.step(u, load, 2e-3).status, StepStatus::Ok);
            EXPECT_EQ(dynamics.step(s, f, 2e-3, *ws).status, StepStatus::Ok);
            largest = std::max(largest, u.u.norm());
            difference = std::max(difference, (full.U * s.q - u.u).norm());
        }
        EXPECT_GT(largest, 0.01);  // a tenth of its size: far from linear
        // tolerance of the full solver's forces, over some hundred iterations
        EXPECT_LT(difference, 1e-7 * largest) << "damping " << kind;
    }
}

TEST(ReducedDynamics, AnyBasisOfTheSubspaceGivesTheSameMotion) {
    const ReducedBar bar(4);
    const MatrixXd S = MatrixXd::Identity(4, 4) + test::random_basis(4, 4, 0.2);  // p of q = S p
    const VectorXd f = 2 * bar.weight;
    ReducedOptions options;
    options.damping = {.mass = 0.3, .stiffness = 1e-3};
    const ReducedDynamics dynamics = bar.dynamics(options);
    const ReducedDynamics other(
        make_polynomial_force(
            combine(build_coefficients(bar.model, bar.U * S), bar.model.materials())),
        S.transpose() * S, options);
    const ReducedState s = test::run(dynamics, f, 2e-3, 0.2);
    const ReducedState p = test::run(other, S.transpose() * f, 2e-3, 0.2);
    EXPECT_LT((S * p.q - s.q).norm(), 1e-9 * s.q.norm());
    EXPECT_LT((S * p.v - s.v).norm(), 1e-9 * s.v.norm());
    EXPECT_NEAR(other.kinetic_energy(p), dynamics.kinetic_energy(s),
                1e-9 * dynamics.kinetic_energy(s));
    EXPECT_NEAR(other.explicit_limit(), dynamics.explicit_limit(), 1e-9);
}

TEST(ReducedDynamics, DampingDissipatesAndEndsInEquilibrium) {
    const ReducedBar bar(6);
    ReducedOptions options;
    options.damping = {.mass = 2, .stiffness = 0.02};
    const ReducedDynamics dynamics = bar.dynamics(options);
    const auto ws = dynamics.make_workspace();
    ReducedState s = dynamics.make_state(), equilibrium = s;
    dynamics.set_acceleration(s, bar.weight, *ws);
    double before = 0;
    for (int k = 0; k < 20000; ++k) {
        EXPECT_EQ(dynamics.step(s, bar.weight, 1e-3, *ws).status, StepStatus::Ok);
        const double now = total_energy(dynamics, s, bar.weight, *ws);
        ASSERT_LE(now, before + 1e-9 * std::abs(before));
        before = now;
    }
    const ReducedReport report = dynamics.solve_static(equilibrium, bar.weight, 50, *ws);
    EXPECT_EQ(report.status, StepStatus::Ok);
    EXPECT_LT((s.q - equilibrium.q).norm(), 1e-6 * s.q.norm());
}

TEST(ReducedDynamics, SeveralIterationsReachTheTolerance) {
    const ReducedBar bar(6);
    ReducedOptions options;
    options.max_iterations = 20;
    options.tolerance = 1e-10;
    const ReducedDynamics dynamics = bar.dynamics(options);
    const auto ws = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    const VectorXd f = 20 * bar.weight;
    VectorXd R(6);
    const auto force_ws = bar.force->make_workspace();
    for (int k = 0; k < 20; ++k) {
        const ReducedReport report = dynamics.step(s, f, 0.01, *ws);
        ASSERT_EQ(report.status, StepStatus::Ok);
        EXPECT_GE(report.iterations, 1);
        bar.force->force(s.q, R, *force_ws);
        EXPECT_LE((s.a + R - f).norm(), 1e-9 * std::max(f.norm(), R.norm()));
    }
    // too few for so sudden a load: the last iterate is kept and the status says so
    options.max_iterations = 2;
    const ReducedDynamics hasty = bar.dynamics(options);
    ReducedState t = hasty.make_state();
    const ReducedReport report = hasty.step(t, 20 * f, 0.05, *hasty.make_workspace());
    EXPECT_EQ(report.status, StepStatus::NotConverged);
    EXPECT_GT(t.q.norm(), 0);
}

TEST(ReducedDynamics, AccelerationLimitScalesTheForcesOfAStep) {
    ReducedOptions options;
    options.acceleration_limit = 100;
    options.damping.mass = 1;
    const ReducedDynamics limited = oscillator(25, 0, options);
    const auto ws = limited.make_workspace();
    ReducedState s = limited.make_state();
    s.v[0] = 2;
    const VectorXd f = VectorXd::Constant(1, 1e6);
    const double dt = 1e-3;
    const double scale = 100 / std::abs(1e6 - 2 - 25 * 2 * dt);  // at the predicted position
    // the same step of a body whose forces are smaller by the scale
    ReducedOptions weak_options;
    weak_options.damping.mass = scale;
    const ReducedDynamics weak = oscillator(25 * scale, 0, weak_options);
    ReducedState expected = s;
    EXPECT_EQ(limited.step(s, f, dt, *ws).status, StepStatus::Ok);
    EXPECT_EQ(weak.step(expected, scale * f, dt, *weak.make_workspace()).status, StepStatus::Ok);
    EXPECT_NEAR(s.q[0], expected.q[0], 1e-15);
    EXPECT_NEAR(s.a[0], expected.a[0], 1e-9);
    EXPECT_LT(std::abs(s.a[0]), 201);  // from zero to the limit, doubled by the trapezoidal rule

    // below the limit nothing changes
    options.acceleration_limit = 1e9;
    const ReducedDynamics loose = oscillator(25, 3, options);
    options.acceleration_limit = 0;
    const ReducedDynamics none = oscillator(25, 3, options);
    EXPECT_EQ(test::run(loose, f, dt, 0.1).q, test::run(none, f, dt, 0.1).q);
}

TEST(ReducedDynamics, MatrixThatIsNotDefiniteIsSolvedAllTheSame) {
    // on top of the hill of −½·100 q² + ¼·1e4 q⁴, a step too long for Cholesky
    ReducedOptions options;
    options.max_halvings = 0;
    options.max_iterations = 50;
    const ReducedDynamics dynamics = oscillator(-100, 1e4, options);
    const auto ws = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    const VectorXd f = VectorXd::Constant(1, 0.1);
    const ReducedReport report = dynamics.step(s, f, 0.5, *ws);
    EXPECT_TRUE(report.is_indefinite);
    EXPECT_EQ(report.status, StepStatus::Ok);
    EXPECT_NEAR(s.a[0] - 100 * s.q[0] + 1e4 * std::pow(s.q[0], 3), 0.1, 1e-6);
}

TEST(ReducedDynamics, StepThatGainsEnergyIsHalved) {
    // one iteration of a long step shoots far up the other side of a double well
    ReducedOptions options;
    options.max_halvings = 0;
    const ReducedDynamics careless = oscillator(-100, 1e4, options);
    const ReducedDynamics careful = oscillator(-100, 1e4);
    const auto ws = careful.make_workspace();
    const VectorXd f = VectorXd::Constant(1, 1);
    ReducedState s = careful.make_state(), t = s;
    const ReducedReport rash = careless.step(t, f, 0.195, *careless.make_workspace());
    const ReducedReport report = careful.step(s, f, 0.195, *ws);
    EXPECT_EQ(rash.halvings, 0);
    EXPECT_GT(report.halvings, 0);
    EXPECT_EQ(report.status, StepStatus::Ok);
    EXPECT_NEAR(s.time, 0.195, 1e-15);
    // what may not be halved is not done: its shape alone had 3 J, and the hill is 0.25 J high
    EXPECT_EQ(rash.status, StepStatus::StepRejected);
    EXPECT_EQ(t.q[0], 0);
    EXPECT_LT(total_energy(careful, s, f, *ws), 0.1);
}

TEST(ReducedDynamics, UndampedStepsFarTooLongStayBounded) {
    // stiff directions with hundreds of radians in a step, bent by a third of the length
    const ReducedBar bar(6);
    const ReducedDynamics dynamics = bar.dynamics();
    const auto ws = dynamics.make_workspace();
    const VectorXd f = VectorXd::Zero(6);
    for (const double dt : {1e-3, 4e-3, 1e-2, 3e-2, 0.1}) {
        ReducedState s = dynamics.make_state();
        s.v = test::random_vector(6, 3, 0.5);
        dynamics.set_acceleration(s, f, *ws);
        const double start = total_energy(dynamics, s, f, *ws);
        double most = 0;
        for (int k = 0; k < 5000; ++k) {
            (void)dynamics.step(s, f, dt, *ws);
            most = std::max(most, total_energy(dynamics, s, f, *ws));
        }
        // steps that count as nearly linear may still make some, and no more
        EXPECT_LT(most, 2 * start) << dt;
    }
}

TEST(ReducedDynamics, AccelerationIsThatOfTheForces) {
    const ReducedBar bar(5);
    ReducedOptions options;
    options.damping = {.mass = 0.7, .stiffness = 0.01};
    const ReducedDynamics dynamics = bar.dynamics(options);
    const auto ws = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    s.q = test::random_vector(5, 1, 0.1);
    s.v = test::random_vector(5, 2, 1);
    dynamics.set_acceleration(s, bar.weight, *ws);
    VectorXd R(5);
    MatrixXd K(5, 5);
    const auto force_ws = bar.force->make_workspace();
    bar.force->force_and_stiffness(s.q, R, K, *force_ws);
    const VectorXd expected = bar.weight - R - 0.7 * s.v - 0.01 * K * s.v;
    EXPECT_LE((s.a - expected).norm(), 1e-12 * expected.norm());
    EXPECT_NEAR(dynamics.kinetic_energy(s), 0.5 * s.v.squaredNorm(), 1e-14);
    EXPECT_NEAR(dynamics.elastic_energy(s, *ws), bar.force->energy(s.q, *force_ws), 1e-14);
}

TEST(ReducedDynamics, OptionsOutOfRangeAreNamed) {
    const auto error = [](const ReducedOptions& options) {
        return input_error([&] { (void)oscillator(1, 0, options); });
    };
    ReducedOptions o;
    o.gamma = 0.4;
    EXPECT_EQ(error(o), "gamma = 0.4 (expected 0.5 <= value <= 1.5)");
    o = {};
    o.max_iterations = 0;
    EXPECT_EQ(error(o), "max_iterations = 0 (expected value > 0)");
    o = {};
    o.tolerance = 0;
    EXPECT_EQ(error(o), "tolerance = 0 (expected 0 < value < 1)");
    o = {};
    o.max_halvings = -1;
    EXPECT_EQ(error(o), "max_halvings = -1 (expected 0 <= value <= 16)");
    o = {};
    o.acceleration_limit = -2;
    EXPECT_EQ(error(o), "acceleration_limit = -2 (expected 0 <= value < infinity)");
    o = {};
    o.damping.mass = -1;
    EXPECT_EQ(error(o), "damping.mass = -1 (expected 0 <= value < infinity)");
    o = {};
    o.damping.stiffness = std::numeric_limits<double>::quiet_NaN();
    EXPECT_NE(error(o).find("damping.stiffness = nan (expected"), std::string::npos);

    const auto force = test::springs(VectorXd::Ones(2), VectorXd::Zero(2));
    EXPECT_EQ(input_error([&] { ReducedDynamics(force, MatrixXd::Identity(3, 3)); }),
              "size of the reduced mass = 3 x 3 (expected 2 x 2, as the force)");
    MatrixXd mass = MatrixXd::Identity(2, 2);
    mass(0, 1) = mass(1, 0) = 2;
    const std::string text = input_error([&] { ReducedDynamics(force, mass); });
    EXPECT_NE(text.find("the reduced mass is not positive definite"), std::string::npos) << text;
    const ReducedBar bar(3);
    o = {};
    o.damping.viscosity = std::make_shared<ReducedViscosity>(bar.model, bar.U, 1.0, 1.0);
    EXPECT_EQ(error(o), "reduced coordinates of damping.viscosity = 3 (expected 1, as the force)");
}

}  // namespace
}  // namespace pliant
