#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "reduction/dynamics_samples.h"
#include "reduction/force_samples.h"

#include <gtest/gtest.h>
#include <limits>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::ReducedBar;

/// Rows of U of some unknowns: positions of the body held.
MatrixXd rows_of(const ReducedBar& bar, std::initializer_list<int> unknowns) {
    MatrixXd C(static_cast<int>(unknowns.size()), bar.U.cols());
    int k = 0;
    for (const int unknown : unknowns) C.row(k++) = bar.U.row(unknown);
    return C;
}
/// An unknown of the free end.
int tip(const ReducedBar& bar, int component) {
    const auto nodes = test::vertices_where(bar.model.mesh(), [](const Eigen::Vector3d& x) {
        return x.x() > 0.39 && x.y() < 0.01 && x.z() < 0.01;
    });
    return 3 * nodes.front() + component;
}

TEST(ReducedConstraints, PositionsAreHeldToRounding) {
    const ReducedBar bar(9);
    for (const int max_iterations : {1, 20}) {
        ReducedOptions options;
        options.max_iterations = max_iterations;
        const ReducedDynamics dynamics = bar.dynamics(options);
        const auto ws = dynamics.make_workspace();
        const MatrixXd C = rows_of(bar, {tip(bar, 0), tip(bar, 1), tip(bar, 2)});
        VectorXd multipliers(3);
        ReducedState s = dynamics.make_state();
        s.v = test::random_vector(9, 3, 0.1);
        for (int k = 1; k <= 300; ++k) {
            // pulled along
            const Eigen::Vector3d d(0, 0.02 * std::sin(0.05 * k), -1e-4 * k);
            const ReducedReport report =
                dynamics.step_constrained(s, bar.weight, 2e-3, C, d, multipliers, *ws);
            ASSERT_EQ(report.status, StepStatus::Ok);
            // some roundings of terms of the size of |C| |q|
            ASSERT_LE((C * s.q - d).norm(), 1e-14 * (C.norm() * s.q.norm() + d.norm()));
        }
    }
}

TEST(ReducedConstraints, MultipliersAreTheReaction) {
    const ReducedBar bar(9);
    ReducedOptions options;
    options.max_iterations = 30;
    options.tolerance = 1e-12;
    options.damping.mass = 0.4;
    const ReducedDynamics dynamics = bar.dynamics(options);
    const auto ws = dynamics.make_workspace();
    const auto force_ws = bar.force->make_workspace();
    const MatrixXd C = rows_of(bar, {tip(bar, 0), tip(bar, 2)});
    const VectorXd f = 3 * bar.weight;
    VectorXd multipliers(2), R(9), d = VectorXd::Zero(2);
    ReducedState s = dynamics.make_state();
    for (int k = 0; k < 100; ++k) {
        // pulled along for a while, then held at rest
        const VectorXd before = d;
        if (k < 50) d[1] = 2e-3 * std::sin(0.3 * k);
        ASSERT_EQ(dynamics.step_constrained(s, f, 2e-3, C, d, multipliers, *ws).status,
                  StepStatus::Ok);
        // M a + α M v + R = f + Cᵀ multipliers, with nothing left over
        bar.force->force(s.q, R, *force_ws);
        const VectorXd balance = s.a + 0.4 * s.v + R - f - C.transpose() * multipliers;
        ASSERT_LE(balance.norm(), 1e-9 * f.norm());
        ASSERT_LE((C * s.v - (d - before) / 2e-3).norm(), 1e-10);
    }
    // holding the end up takes a force upwards
    EXPECT_GT(multipliers[1], 0);
}

TEST(ReducedConstraints, HeldCoordinateIsAsGoodAsNone) {
    const ReducedBar bar(6);
    ReducedOptions options;
    options.damping = {.mass = 0.2, .stiffness = 1e-3};
    const ReducedDynamics dynamics = bar.dynamics(options);
    const ReducedDynamics smaller(make_polynomial_force(bar.coefficients.truncated(5)),
                                  MatrixXd::Identity(5, 5), options);
    const auto ws = dynamics.make_workspace(), smaller_ws = smaller.make_workspace();
    const MatrixXd C = VectorXd::Unit(6, 5).transpose();
    VectorXd multipliers(1);
    ReducedState s = dynamics.make_state(), t = smaller.make_state();
    const VectorXd f = 3 * bar.weight, g = f.head(5);
    for (int k = 0; k < 200; ++k) {
        ASSERT_EQ(
            dynamics.step_constrained(s, f, 2e-3, C, VectorXd::Zero(1), multipliers, *ws).status,
            StepStatus::Ok);
        ASSERT_EQ(smaller.step(t, g, 2e-3, *smaller_ws).status, StepStatus::Ok);
    }
    EXPECT_LT((s.q.head(5) - t.q).norm(), 1e-10 * t.q.norm());
    EXPECT_LT((s.v.head(5) - t.v).norm(), 1e-10 * t.v.norm());
}

TEST(ReducedConstraints, VelocityOfAHeldPositionDoesNotRing) {
    // held in mid flight
    const ReducedBar bar(6);
    const ReducedDynamics dynamics = bar.dynamics();
    const auto ws = dynamics.make_workspace();
    const MatrixXd C = rows_of(bar, {tip(bar, 2)});
    ReducedState s = dynamics.make_state();
    s.v = test::random_vector(6, 4, 0.3);
    ASSERT_GT((C * s.v).norm(), 0.01);
    VectorXd multipliers(1);
    const VectorXd d = C * s.q;
    for (int k = 0; k < 5; ++k) {
        ASSERT_EQ(dynamics.step_constrained(s, bar.weight, 1e-3, C, d, multipliers, *ws).status,
                  StepStatus::Ok);
        EXPECT_LE((C * s.v).norm(), 1e-12);
        if (k > 0) {
            EXPECT_LE((C * s.a).norm(), 1e-9);
        }
    }
    // and moves on with the velocity of its holder
    for (int k = 1; k <= 3; ++k)
        (void)dynamics.step_constrained(s, bar.weight, 1e-3, C, d + VectorXd::Constant(1, 2e-4 * k),
                                        multipliers, *ws);
    EXPECT_NEAR((C * s.v)[0], 0.2, 1e-10);
}

TEST(ReducedConstraints, PositionIsReachedByAStepInParts) {
    // the first coordinate leaves a hill, too fast for one step
    const ReducedDynamics dynamics(
        test::springs(Eigen::Vector2d(-100, 10), Eigen::Vector2d(1e4, 0)),
        MatrixXd::Identity(2, 2));
    const auto ws = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    const MatrixXd C = Eigen::RowVector2d(0, 1);
    VectorXd multipliers(1);
    const ReducedReport report = dynamics.step_constrained(
        s, Eigen::Vector2d(1, 0), 0.195, C, VectorXd::Constant(1, 0.05), multipliers, *ws);
    EXPECT_GT(report.halvings, 0);
    EXPECT_EQ(report.status, StepStatus::Ok);
    EXPECT_NEAR(s.q[1], 0.05, 1e-16);
    EXPECT_NEAR(s.v[1], 0.05 / 0.195, 1e-12);
    EXPECT_NEAR(s.time, 0.195, 1e-15);
}

TEST(ReducedConstraints, RowsThatCannotBeHeldAreRejected) {
    const ReducedBar bar(6);
    const ReducedDynamics dynamics = bar.dynamics();
    const auto ws = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    s.q = test::random_vector(6, 1, 0.01);
    const VectorXd before = s.q, f = bar.weight;
    MatrixXd C(2, 6);
    C.row(0) = C.row(1) = bar.U.row(tip(bar, 1));
    VectorXd multipliers(2);
    EXPECT_EQ(
        dynamics.step_constrained(s, f, 1e-3, C, Eigen::Vector2d(0, 0.01), multipliers, *ws).status,
        StepStatus::StepRejected);
    EXPECT_EQ(s.q, before);
    EXPECT_EQ(multipliers, VectorXd::Zero(2));

    // more rows than coordinates
    multipliers.resize(7);
    EXPECT_EQ(dynamics
                  .step_constrained(s, f, 1e-3, MatrixXd::Random(7, 6), VectorXd::Zero(7),
                                    multipliers, *ws)
                  .status,
              StepStatus::CapacityExceeded);
    EXPECT_EQ(s.q, before);
    // than there is room for
    const ReducedDynamics large(test::springs(VectorXd::Ones(20), VectorXd::Zero(20)),
                                MatrixXd::Identity(20, 20));
    ReducedState t = large.make_state();
    multipliers.resize(13);
    EXPECT_EQ(large
                  .step_constrained(t, VectorXd::Zero(20), 1e-3, MatrixXd::Random(13, 20),
                                    VectorXd::Zero(13), multipliers, *large.make_workspace())
                  .status,
              StepStatus::CapacityExceeded);
}

TEST(ReducedConstraints, NumbersThatAreNotFiniteAreIgnored) {
    const ReducedBar bar(6);
    const ReducedDynamics dynamics = bar.dynamics();
    const auto ws = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    MatrixXd C = rows_of(bar, {tip(bar, 2)});
    VectorXd multipliers(1), f = bar.weight;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(dynamics.step_constrained(s, f, 1e-3, C, VectorXd::Constant(1, nan), multipliers, *ws)
                  .status,
              StepStatus::InputIgnored);
    EXPECT_EQ(s.time, 0);
    f[2] = nan;
    EXPECT_EQ(dynamics.step_constrained(s, f, 1e-3, C, VectorXd::Zero(1), multipliers, *ws).status,
              StepStatus::InputIgnored);
    EXPECT_EQ(s.time, 1e-3);  // without the load
    C(0, 0) = nan;
    EXPECT_EQ(dynamics.step_constrained(s, bar.weight, 1e-3, C, VectorXd::Zero(1), multipliers, *ws)
                  .status,
              StepStatus::InputIgnored);
    EXPECT_EQ(multipliers[0], 0);
    // no row: a step like any other
    ReducedState t = s;
    EXPECT_EQ(dynamics
                  .step_constrained(s, bar.weight, 1e-3, MatrixXd(0, 6), VectorXd(0),
                                    multipliers.head(0), *ws)
                  .status,
              StepStatus::Ok);
    EXPECT_EQ(dynamics.step(t, bar.weight, 1e-3, *ws).status, StepStatus::Ok);
    EXPECT_EQ(s.q, t.q);
}

TEST(ReducedConstraints, AllocateNothing) {
    set_num_threads(1);
    const int r = 30;
    const ReducedDynamics dynamics(
        test::springs(VectorXd::LinSpaced(r, 1, 1000), VectorXd::Constant(r, 100)),
        MatrixXd::Identity(r, r));
    const auto ws = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    const MatrixXd C = test::random_basis(12, r, 1);
    const VectorXd f = test::random_vector(r, 1), d = test::random_vector(12, 2, 0.1);
    VectorXd multipliers(12);
    std::size_t allocations = 0;
    StepStatus status{};
    {
        const AllocationGuard guard;
        for (int k = 0; k < 3; ++k)
            status = dynamics.step_constrained(s, f, 1e-3, C, d, multipliers, *ws).status;
        allocations = guard.count();
    }
    set_num_threads(0);
    EXPECT_EQ(status, StepStatus::Ok);
    EXPECT_EQ(allocations, 0u);
    EXPECT_LE((C * s.q - d).norm(), 1e-12);
}

}  // namespace
}  // namespace pliant
