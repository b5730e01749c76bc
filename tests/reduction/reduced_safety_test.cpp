#include "core/numbers.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "reduction/dynamics_samples.h"
#include "reduction/force_samples.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::ReducedBar;

bool is_finite(const ReducedState& s) {
    return s.q.allFinite() && s.v.allFinite() && s.a.allFinite() && std::isfinite(s.time);
}

/// Either kind of step.
using Step = ReducedReport (ReducedDynamics::*)(ReducedState&, const ReducedDynamics::ConstRef&,
                                                double, ReducedDynamics::Workspace&) const noexcept;
constexpr std::array<Step, 2> kStepKinds{&ReducedDynamics::step, &ReducedDynamics::step_explicit};

TEST(ReducedSafety, TimeStepThatIsNoTimeIsIgnored) {
    const ReducedBar bar(3);
    const ReducedDynamics dynamics = bar.dynamics();
    const auto ws = dynamics.make_workspace();
    for (const Step step : kStepKinds)
        for (const double dt : {0.0, -1e-3, kNan, kInfinity, -kInfinity, 1e-200, 1e200}) {
            ReducedState s = dynamics.make_state();
            s.q.setConstant(0.01);
            EXPECT_EQ((dynamics.*step)(s, bar.weight, dt, *ws).status, StepStatus::InputIgnored);
            EXPECT_EQ(s.q, VectorXd::Constant(3, 0.01));
            EXPECT_EQ(s.time, 0);
        }
}

TEST(ReducedSafety, LoadThatIsNotFiniteCountsAsNone) {
    const ReducedBar bar(3);
    const ReducedDynamics dynamics = bar.dynamics();
    const auto ws = dynamics.make_workspace();
    for (const Step step : kStepKinds)
        for (const double bad : {kNan, kInfinity}) {
            ReducedState s = dynamics.make_state();
            s.v.setConstant(0.1);
            ReducedState expected = s;
            VectorXd f = bar.weight;
            f[1] = bad;
            EXPECT_EQ((dynamics.*step)(s, f, 1e-3, *ws).status, StepStatus::InputIgnored);
            EXPECT_EQ((dynamics.*step)(expected, VectorXd::Zero(3), 1e-3, *ws).status,
                      StepStatus::Ok);
            EXPECT_EQ(s.q, expected.q);
            EXPECT_EQ(s.time, 1e-3);
        }
}

TEST(ReducedSafety, StateThatIsNotFiniteIsSetToRest) {
    const ReducedBar bar(3);
    const ReducedDynamics dynamics = bar.dynamics();
    const auto ws = dynamics.make_workspace();
    for (const Step step : kStepKinds)
        for (int which = 0; which < 4; ++which) {
            ReducedState s = dynamics.make_state();
            s.q.setOnes();
            if (which == 0) s.q[2] = kNan;
            if (which == 1) s.v[0] = kInfinity;
            if (which == 2) s.a[1] = kNan;
            if (which == 3) s.time = kNan;
            EXPECT_EQ((dynamics.*step)(s, bar.weight, 1e-3, *ws).status, StepStatus::StateReset);
            EXPECT_EQ(s.q, VectorXd::Zero(3));
            EXPECT_EQ(s.time, 0);
            // and nothing of it stays in the workspace
            EXPECT_EQ((dynamics.*step)(s, bar.weight, 1e-3, *ws).status, StepStatus::Ok);
        }
}

TEST(ReducedSafety, HugeNumbersNeverMakeTheStateInfinite) {
    const ReducedBar bar(5);
    ReducedOptions damped, several;
    damped.damping = {.mass = 1, .stiffness = 0.01};
    damped.damping.viscosity = std::make_shared<ReducedViscosity>(bar.model, bar.U, 10.0, 10.0);
    several.max_iterations = 5;
    for (const ReducedOptions& options : {ReducedOptions{}, damped, several}) {
        const ReducedDynamics dynamics = bar.dynamics(options);
        const auto ws = dynamics.make_workspace();
        for (const Step step : kStepKinds)
            for (const double size : {1e3, 1e20, 1e80, 1e150, 1e300})
                for (const double dt : {1e-9, 1e-3, 1e3, 1e100})
                    for (int which = 0; which < 4; ++which) {
                        ReducedState s = dynamics.make_state();
                        VectorXd f = VectorXd::Zero(5);
                        const VectorXd big = test::random_vector(5, 7, size);
                        if (which == 0) s.q = big;
                        if (which == 1) s.v = big;
                        if (which == 2) s.a = big;
                        if (which == 3) f = big;
                        for (int k = 0; k < 5; ++k) {
                            (void)(dynamics.*step)(s, f, dt, *ws);
                            ASSERT_TRUE(is_finite(s)) << size << " " << dt << " " << which;
                        }
                    }
    }
}

TEST(ReducedSafety, RejectedStepKeepsTheState) {
    const ReducedBar bar(3);
    const ReducedDynamics dynamics = bar.dynamics();
    const auto ws = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    s.v.setConstant(1e300);
    const ReducedReport report = dynamics.step(s, VectorXd::Zero(3), 1e100, *ws);
    EXPECT_EQ(report.status, StepStatus::StepRejected);
    EXPECT_EQ(report.halvings, dynamics.options().max_halvings);
    EXPECT_EQ(s.v, VectorXd::Constant(3, 1e300));
    EXPECT_EQ(s.time, 0);
}

TEST(ReducedSafety, StepsAllocateNothing) {
    set_num_threads(1);
    const int r = 60;
    // one unstable direction, so that steps take the other factorisation and are halved
    VectorXd lambda = VectorXd::LinSpaced(r, 1, 1e4);
    lambda[3] = -100;
    const ReducedBar bar(5);
    ReducedOptions options;
    options.damping = {.mass = 0.1, .stiffness = 1e-4};
    options.acceleration_limit = 1e5;
    ReducedOptions viscous = options;
    viscous.damping.viscosity = std::make_shared<ReducedViscosity>(bar.model, bar.U, 10.0, 10.0);
    const ReducedDynamics springs(test::springs(lambda, VectorXd::Constant(r, 1e4)),
                                  MatrixXd::Identity(r, r), options);
    const ReducedDynamics body = bar.dynamics(viscous);
    const auto springs_ws = springs.make_workspace(), body_ws = body.make_workspace();
    ReducedState s = springs.make_state(), t = body.make_state();
    const VectorXd f = test::random_vector(r, 1);
    bool is_indefinite = false;
    int halvings = 0;
    std::size_t allocations = 0;
    {
        const AllocationGuard guard;
        springs.set_acceleration(s, f, *springs_ws);
        for (const double dt : {1e-3, 1e-3, 0.21, 1e-2}) {
            const ReducedReport report = springs.step(s, f, dt, *springs_ws);
            is_indefinite |= report.is_indefinite;
            halvings += report.halvings;
        }
        (void)springs.step_explicit(s, f, 1e-4, *springs_ws);
        (void)springs.solve_static(s, f, 20, *springs_ws);
        (void)springs.kinetic_energy(s);
        (void)springs.elastic_energy(s, *springs_ws);
        (void)body.step(t, bar.weight, 1e-3, *body_ws);
        (void)body.step_explicit(t, bar.weight, 1e-4, *body_ws);
        allocations = guard.count();
    }
    set_num_threads(0);
    EXPECT_TRUE(is_indefinite);
    EXPECT_GT(halvings, 0);
    EXPECT_EQ(allocations, 0u);
}

}  // namespace
}  // namespace pliant
