#include "reduction/dynamics_samples.h"
#include "reduction/force_samples.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::ReducedBar;

/// Largest |q| of a small-strain bar within some thousand steps of `part` of the limit.
double largest_after(double part, const ReducedDamping& damping) {
    const FemModel model = test::bar(Law::SmallStrain);
    const ReducedBar bar(6);  // its basis serves any law
    ReducedOptions options;
    options.damping = damping;
    const ReducedDynamics dynamics(
        make_polynomial_force(combine(build_coefficients(model, bar.U), model.materials())),
        MatrixXd::Identity(6, 6), options);
    const auto ws = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    const VectorXd f = VectorXd::Zero(6);
    s.q = test::random_vector(6, 1, 0.01);
    dynamics.set_acceleration(s, f, *ws);
    double largest = 0;
    for (int k = 0; k < 2000; ++k) {
        EXPECT_EQ(dynamics.step_explicit(s, f, part * dynamics.explicit_limit(), *ws).status,
                  StepStatus::Ok);
        largest = std::max(largest, s.q.norm());
    }
    return largest;
}

TEST(ReducedExplicit, IsStableJustBelowItsLimitAndNotAbove) {
    for (const ReducedDamping& damping :
         {ReducedDamping{}, ReducedDamping{.mass = 0.01, .stiffness = 1e-7}}) {
        EXPECT_LT(largest_after(0.99, damping), 1);
        EXPECT_GT(largest_after(1.01, damping), 1e6);
    }
}

TEST(ReducedExplicit, LimitIsThatOfTheHighestFrequency) {
    EXPECT_NEAR(test::oscillator(400).explicit_limit(), 0.1, 1e-15);
    const MatrixXd mass = Eigen::Vector2d(2, 8).asDiagonal();
    const ReducedDynamics two(test::springs(Eigen::Vector2d(50, 8), Eigen::Vector2d::Zero()), mass);
    EXPECT_NEAR(two.explicit_limit(), 0.4, 1e-15);
    EXPECT_EQ(test::oscillator(0).explicit_limit(), std::numeric_limits<double>::infinity());
}

TEST(ReducedExplicit, IsOfSecondOrderAndAgreesWithTheImplicitSteps) {
    const ReducedBar bar(6);
    for (const ReducedDamping& damping :
         {ReducedDamping{}, ReducedDamping{.mass = 0.5, .stiffness = 2e-3},
          ReducedDamping{.mass = 1}}) {
        ReducedOptions options;
        options.damping = damping;
        const ReducedDynamics dynamics = bar.dynamics(options);
        const auto ws = dynamics.make_workspace();
        const double duration = 0.128;
        const VectorXd f = 2 * bar.weight;
        const VectorXd reference = test::run(dynamics, f, 1.25e-5, duration).q;
        std::array<double, 2> errors{};
        for (int k = 0; k < 2; ++k) {
            ReducedState s = dynamics.make_state();
            dynamics.set_acceleration(s, f, *ws);
            const int steps = 320 << k;
            for (int step = 0; step < steps; ++step)
                ASSERT_EQ(dynamics.step_explicit(s, f, duration / steps, *ws).status,
                          StepStatus::Ok);
            errors[k] = (s.q - reference).norm();
            EXPECT_NEAR(s.time, duration, 1e-12);
        }
        EXPECT_LT(errors[0], 1e-3 * reference.norm());
        EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2, 0.15);
    }
}

TEST(ReducedExplicit, MassNeedNotBeTheIdentity) {
    // two springs of frequencies 1 and 2 Hz that swing by themselves
    const double w = 2 * 3.14159265358979;
    const Eigen::Vector2d mass(3, 0.5), lambda(3 * w * w, 0.5 * 4 * w * w);
    const ReducedDynamics dynamics(test::springs(lambda, Eigen::Vector2d::Zero()),
                                   mass.asDiagonal().toDenseMatrix());
    const auto ws = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    s.q.setOnes();
    const VectorXd f = VectorXd::Zero(2);
    dynamics.set_acceleration(s, f, *ws);
    for (int k = 0; k < 1250; ++k) (void)dynamics.step_explicit(s, f, 1e-4, *ws);
    EXPECT_NEAR(s.q[0], std::cos(w / 8), 1e-6);
    EXPECT_NEAR(s.q[1], std::cos(w / 4), 1e-6);
}

}  // namespace
}  // namespace pliant
