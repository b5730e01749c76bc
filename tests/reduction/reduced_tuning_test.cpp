#include "pliant/reduction/reduced_dynamics.h"
#include "reduction/dynamics_samples.h"
#include "reduction/force_samples.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kSize = 8;
constexpr double kDt = 2e-3;
constexpr ReducedTuning kTuning{.stiffness = 3, .mass_damping = 0.5, .stiffness_damping = 0.004};

/// One body tuned at run time, and one that was made so.
struct Pair {
    explicit Pair(ReducedOptions options = {}) : tuned(bar.dynamics(options)) {
        ReducedCoefficients scaled = bar.coefficients;
        for (double& w : scaled.w) w *= kTuning.stiffness;
        options.damping.mass = kTuning.mass_damping;
        options.damping.stiffness = kTuning.stiffness_damping;
        made = std::make_unique<ReducedDynamics>(make_polynomial_force(scaled),
                                                 MatrixXd::Identity(kSize, kSize), options);
        tuned_ws = tuned.make_workspace();
        made_ws = made->make_workspace();
        tuned_ws->tuning = kTuning;
        s = tuned.make_state();
        t = made->make_state();
    }
    /// Calls act(dynamics, state, workspace) for both, `count` times, and compares.
    template <class Act>
    void compare(int count, const Act& act) {
        for (int k = 0; k < count; ++k) {
            act(tuned, s, *tuned_ws);
            act(*made, t, *made_ws);
        }
        // rounding of the scaled coefficients, amplified by the motion
        EXPECT_LE((s.q - t.q).norm(), 1e-10 * t.q.norm());
        EXPECT_LE((s.v - t.v).norm(), 1e-10 * t.v.norm() + 1e-300);
        EXPECT_LE((s.a - t.a).norm(), 1e-8 * t.a.norm() + 1e-300);
        EXPECT_GT(t.q.norm(), 0);
        EXPECT_NEAR(tuned.elastic_energy(s, *tuned_ws), made->elastic_energy(t, *made_ws),
                    1e-10 * made->elastic_energy(t, *made_ws));
    }

    test::ReducedBar bar{kSize};
    ReducedDynamics tuned;
    std::unique_ptr<ReducedDynamics> made;
    std::unique_ptr<ReducedDynamics::Workspace> tuned_ws, made_ws;
    ReducedState s, t;
};

void step_both(Pair& pair) {
    pair.compare(1, [&](auto& dynamics, auto& s, auto& ws) {
        s.q = 0.01 * test::random_vector(kSize, 1);
        s.v = 0.1 * test::random_vector(kSize, 2);
        dynamics.set_acceleration(s, pair.bar.weight, ws);
    });
    pair.compare(100, [&](auto& dynamics, auto& s, auto& ws) {
        EXPECT_EQ(dynamics.step(s, pair.bar.weight, kDt, ws).status, StepStatus::Ok);
    });
}

TEST(ReducedTuning, StepsEqualThoseOfABodyMadeSo) {
    Pair pair;
    step_both(pair);
}

TEST(ReducedTuning, HoldsForDampingByTheRestShape) {
    ReducedOptions options;
    options.damping.is_tangential = false;
    Pair pair(options);
    step_both(pair);
}

TEST(ReducedTuning, HoldsBesideViscosityWhichItLeavesAsItIs) {
    const test::ReducedBar bar(kSize);
    for (const bool is_tangential : {true, false}) {
        ReducedOptions options;
        options.damping.is_tangential = is_tangential;
        options.damping.viscosity =
            std::make_shared<ReducedViscosity>(bar.model, bar.U, 20.0, 20.0);
        Pair pair(options);
        step_both(pair);
    }
}

TEST(ReducedTuning, HoldsWithTheAccelerationLimitAndManyIterations) {
    ReducedOptions options;
    options.max_iterations = 10;
    options.acceleration_limit = 5;
    Pair pair(options);
    step_both(pair);
}

TEST(ReducedTuning, HoldsWithPositionsHeld) {
    Pair pair;
    const MatrixXd C = MatrixXd::Identity(2, kSize);
    VectorXd multipliers(2), multipliers_made(2);
    pair.compare(100, [&](auto& dynamics, auto& s, auto& ws) {
        auto& forces = &dynamics == &pair.tuned ? multipliers : multipliers_made;
        const VectorXd d = VectorXd::Constant(2, 0.05 * (s.time + kDt));
        EXPECT_EQ(dynamics.step_constrained(s, pair.bar.weight, kDt, C, d, forces, ws).status,
                  StepStatus::Ok);
    });
    EXPECT_LE((multipliers - multipliers_made).norm(), 1e-8 * multipliers_made.norm());
}

TEST(ReducedTuning, HoldsForExplicitSteps) {
    for (const double beta : {0.0, kTuning.stiffness_damping}) {
        Pair pair;
        pair.tuned_ws->tuning.stiffness_damping = pair.made_ws->tuning.stiffness_damping = beta;
        const double dt = 0.2 * pair.made->explicit_limit();
        pair.compare(100, [&](auto& dynamics, auto& s, auto& ws) {
            EXPECT_EQ(dynamics.step_explicit(s, pair.bar.weight, dt, ws).status, StepStatus::Ok);
        });
    }
}

TEST(ReducedTuning, HoldsForEquilibria) {
    Pair pair;
    pair.compare(1, [&](auto& dynamics, auto& s, auto& ws) {
        EXPECT_EQ(dynamics.solve_static(s, pair.bar.weight, 50, ws).status, StepStatus::Ok);
    });
}

TEST(ReducedTuning, WorkspacesBeginWithTheOptions) {
    const ReducedDynamics dynamics =
        test::oscillator(4, 0, {.damping = {.mass = 0.25, .stiffness = 0.125}});
    const auto ws = dynamics.make_workspace();
    EXPECT_EQ(ws->tuning.stiffness, 1);
    EXPECT_EQ(ws->tuning.mass_damping, 0.25);
    EXPECT_EQ(ws->tuning.stiffness_damping, 0.125);
}

TEST(ReducedCompliance, IsTheDerivativeOfEquilibria) {
    const test::ReducedBar bar(kSize);
    const ReducedDynamics dynamics = bar.dynamics({.tolerance = 1e-14});
    const auto ws = dynamics.make_workspace();
    ws->tuning.stiffness = 2;
    const MatrixXd C = test::random_basis(3, kSize, 1);
    ReducedState s = dynamics.make_state();
    (void)dynamics.solve_static(s, bar.weight, 100, *ws);
    MatrixXd Y(3, 3);
    ASSERT_TRUE(dynamics.compliance(s, C, Y, *ws));
    EXPECT_LE((Y - Y.transpose()).norm(), 1e-12 * Y.norm());
    for (int k = 0; k < 3; ++k) {
        const double h = 1e-3;
        ReducedState more = s, less = s;
        (void)dynamics.solve_static(more, bar.weight + h * C.row(k).transpose(), 100, *ws);
        (void)dynamics.solve_static(less, bar.weight - h * C.row(k).transpose(), 100, *ws);
        const VectorXd differences = C * (more.q - less.q) / (2 * h);
        EXPECT_LE((Y.col(k) - differences).norm(), 1e-6 * Y.col(k).norm()) << "load " << k;
    }
}

TEST(ReducedCompliance, IsRefusedWhereTheShapeIsUnstable) {
    // W = −½ q² + ¼ q⁴ at its maximum
    const ReducedDynamics dynamics = test::oscillator(-1, 1);
    const auto ws = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    MatrixXd Y = MatrixXd::Constant(1, 1, 7);
    EXPECT_FALSE(dynamics.compliance(s, MatrixXd::Identity(1, 1), Y, *ws));
    s.q[0] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(dynamics.compliance(s, MatrixXd::Identity(1, 1), Y, *ws));
    EXPECT_EQ(Y(0, 0), 7);
    s.q[0] = 1;
    EXPECT_TRUE(dynamics.compliance(s, MatrixXd::Identity(1, 1), Y, *ws));
    EXPECT_NEAR(Y(0, 0), 0.5, 1e-15);
}

}  // namespace
}  // namespace pliant
