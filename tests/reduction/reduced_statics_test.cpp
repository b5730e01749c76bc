#include "reduction/dynamics_samples.h"
#include "reduction/force_samples.h"

#include <gtest/gtest.h>
#include <limits>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::oscillator;
using test::ReducedBar;

TEST(ReducedStatics, ForcesBalance) {
    const ReducedBar bar(9);
    const ReducedDynamics dynamics = bar.dynamics();
    const auto ws = dynamics.make_workspace();
    const auto force_ws = bar.force->make_workspace();
    VectorXd R(9);
    for (const double factor : {1e-3, 1.0, 30.0, 1000.0}) {
        const VectorXd f = factor * bar.weight;
        ReducedState s = dynamics.make_state();
        s.v.setOnes();
        const ReducedReport report = dynamics.solve_static(s, f, 100, *ws);
        EXPECT_EQ(report.status, StepStatus::Ok) << factor;
        bar.force->force(s.q, R, *force_ws);
        EXPECT_LE((R - f).norm(), 1.01e-8 * f.norm()) << factor;
        EXPECT_NEAR((R - f).norm(), report.residual, 1e-12 * f.norm());
        EXPECT_EQ(s.v, VectorXd::Zero(9));
    }
}

TEST(ReducedStatics, SmallLoadsAnswerLinearly) {
    const ReducedBar bar(6);
    const ReducedDynamics dynamics = bar.dynamics();
    const auto ws = dynamics.make_workspace();
    const VectorXd f = 1e-6 * bar.weight;
    ReducedState s = dynamics.make_state();
    EXPECT_EQ(dynamics.solve_static(s, f, 10, *ws).status, StepStatus::Ok);
    VectorXd R(6);
    MatrixXd K(6, 6);
    const auto force_ws = bar.force->make_workspace();
    bar.force->force_and_stiffness(VectorXd::Zero(6), R, K, *force_ws);
    EXPECT_LE((K * s.q - f).norm(), 1e-4 * f.norm());
}

TEST(ReducedStatics, LeavesAHillTowardsAValley) {
    // W = −½ 100 q² + ¼ 1e4 q⁴ has its valleys at ±0.1, and Newton's own step would go uphill
    const ReducedDynamics dynamics = oscillator(-100, 1e4);
    const auto ws = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    s.q[0] = 0.01;
    const ReducedReport report = dynamics.solve_static(s, VectorXd::Zero(1), 100, *ws);
    EXPECT_EQ(report.status, StepStatus::Ok);
    EXPECT_TRUE(report.is_indefinite);
    EXPECT_NEAR(s.q[0], 0.1, 1e-8);
}

TEST(ReducedStatics, WithoutLoadShapesComeToRest) {
    const ReducedBar bar(9);
    const ReducedDynamics dynamics = bar.dynamics();
    const auto ws = dynamics.make_workspace();
    for (unsigned seed = 1; seed <= 20; ++seed) {
        ReducedState s = dynamics.make_state();
        s.q = test::random_vector(9, seed, 0.02);
        EXPECT_EQ(dynamics.solve_static(s, VectorXd::Zero(9), 100, *ws).status, StepStatus::Ok);
        EXPECT_LT(s.q.norm(), 1e-8) << seed;
    }
}

TEST(ReducedStatics, RoundingOfTheEnergyDoesNotStopNewton) {
    // in stiff directions W is far larger than what a tight tolerance asks to see of it
    const ReducedBar bar(9);
    const ReducedDynamics dynamics = bar.dynamics({.tolerance = 1e-11});
    const auto ws = dynamics.make_workspace();
    for (const double factor : {0.1, 1.0, 10.0, 100.0}) {
        ReducedState s = dynamics.make_state();
        const ReducedReport report = dynamics.solve_static(s, factor * bar.weight, 60, *ws);
        EXPECT_EQ(report.status, StepStatus::Ok) << factor;
        EXPECT_LT(report.iterations, 40) << factor;
    }
}

TEST(ReducedStatics, TooFewIterationsKeepTheBestShape) {
    const ReducedBar bar(6);
    const ReducedDynamics dynamics = bar.dynamics();
    const auto ws = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    const ReducedReport none = dynamics.solve_static(s, 100 * bar.weight, 0, *ws);
    EXPECT_EQ(none.status, StepStatus::NotConverged);
    EXPECT_EQ(s.q, VectorXd::Zero(6));
    const ReducedReport some = dynamics.solve_static(s, 100 * bar.weight, 6, *ws);
    EXPECT_EQ(some.status, StepStatus::NotConverged);
    EXPECT_EQ(some.iterations, 6);
    EXPECT_LE(some.residual, none.residual);
}

TEST(ReducedStatics, LoadsThatAreNotFiniteChangeNothing) {
    const ReducedBar bar(3);
    const ReducedDynamics dynamics = bar.dynamics();
    const auto ws = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    s.q.setConstant(0.01);
    VectorXd f = bar.weight;
    f[1] = std::numeric_limits<double>::infinity();
    EXPECT_EQ(dynamics.solve_static(s, f, 10, *ws).status, StepStatus::InputIgnored);
    EXPECT_EQ(s.q, VectorXd::Constant(3, 0.01));
    // beyond any equilibrium, but finite
    f = VectorXd::Constant(3, 1e300);
    (void)dynamics.solve_static(s, f, 100, *ws);
    EXPECT_TRUE(s.q.allFinite());
    s.q[0] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(dynamics.solve_static(s, bar.weight, 10, *ws).status, StepStatus::StateReset);
    EXPECT_EQ(s.q, VectorXd::Zero(3));
}

}  // namespace
}  // namespace pliant
