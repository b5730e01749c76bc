#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/reduction/reduced_dynamics.h"

#include <gtest/gtest.h>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

using Eigen::VectorXd;
using test::input_error;

/// One step of one oscillator.
ReducedState after(double lambda, double damping, double q, double v, double f, double dt,
                   int steps = 1) {
    const ModalOscillators oscillators(VectorXd::Constant(1, lambda), damping, 0);
    ReducedState s = oscillators.make_state();
    s.q[0] = q;
    s.v[0] = v;
    const VectorXd load = VectorXd::Constant(1, f);
    for (int k = 0; k < steps; ++k)
        EXPECT_EQ(oscillators.step(s, load, dt / steps), StepStatus::Ok);
    return s;
}

struct Motion {
    long double q, v;
};
/// By powers of t in q̈ + c q̇ + λ q = f, in extended precision and short pieces.
Motion by_series(long double lambda, long double c, long double q, long double v, long double f,
                 long double t) {
    const long double rate = std::max({std::sqrt(lambda), c, 1 / t});
    const int pieces = static_cast<int>(std::ceil(4 * rate * t));
    const long double h = t / pieces;
    for (int piece = 0; piece < pieces; ++piece) {
        // a[n] h^n
        long double before = q, term = v * h, sum_q = q + term, sum_v = term;
        for (int n = 0; n < 40; ++n) {
            const long double next =
                ((n == 0 ? f : 0) * h * h - c * h * (n + 1) * term - lambda * h * h * before) /
                ((n + 2) * (n + 1));
            before = term;
            term = next;
            sum_q += term;
            sum_v += (n + 2) * term;
        }
        q = sum_q;
        v = sum_v / h;
    }
    return {q, v};
}

TEST(ModalOscillators, AgreeWithTheSeriesInEveryRegime) {
    // swinging, critical to the last bit and nearly, creeping, rigid with and without drag
    for (const double lambda : {0.0, 1e-12, 1e-3, 1.0, 4.0, 400.0})
        for (const double c :
             {0.0, 1e-9, 1e-3, 0.1, 2 * std::sqrt(lambda), 2.000001 * std::sqrt(lambda),
              1.999999 * std::sqrt(lambda), 4.0, 40.0})
            for (const double dt : {1e-6, 1e-3, 0.05, 0.7, 3.0}) {
                const ReducedState s = after(lambda, c, 0.3, -0.2, 1.7, dt);
                const Motion expected = by_series(lambda, c, 0.3, -0.2, 1.7, dt);
                const double size = 0.3 + (0.2 + 1.7 * dt) * dt;
                // angles of some 60 radians lose two digits
                EXPECT_NEAR(s.q[0], static_cast<double>(expected.q), 2e-13 * size)
                    << lambda << " " << c << " " << dt;
                EXPECT_NEAR(s.v[0], static_cast<double>(expected.v),
                            2e-13 * (0.2 + 1.7 * dt + 0.3 * std::sqrt(lambda)))
                    << lambda << " " << c << " " << dt;
                EXPECT_NEAR(s.a[0], 1.7 - c * s.v[0] - lambda * s.q[0], 1e-12 * (1 + lambda));
            }
}

TEST(ModalOscillators, FollowTheTextbook) {
    // underdamped: ω = 5, decay 3; critical: ω = 3; overdamped: roots −1 and −9
    const double t = 0.4;
    const double swing = std::exp(-3 * t) * (std::cos(4 * t) + 0.75 * std::sin(4 * t));
    EXPECT_NEAR(after(25, 6, 1, 0, 0, t).q[0], swing, 1e-15);
    EXPECT_NEAR(after(9, 6, 1, 0, 0, t).q[0], std::exp(-3 * t) * (1 + 3 * t), 1e-15);
    const double creep = (9 * std::exp(-t) - std::exp(-9 * t)) / 8;
    EXPECT_NEAR(after(9, 10, 1, 0, 0, t).q[0], creep, 1e-15);
    // free fall, and the last speed of a fall with drag
    EXPECT_NEAR(after(0, 0, 1, 2, -9.81, t).q[0], 1 + 2 * t - 0.5 * 9.81 * t * t, 1e-15);
    EXPECT_NEAR(after(0, 3, 0, 0, 6, 100).v[0], 2, 1e-12);
    // a load held for long
    EXPECT_NEAR(after(25, 6, 1, 3, 50, 100).q[0], 2, 1e-12);
}

TEST(ModalOscillators, AreExactForStepsOfAnyLength) {
    for (const double c : {0.1, 6.0, 50.0}) {
        const ReducedState once = after(9, c, 0.5, 1, 2, 3);
        const ReducedState often = after(9, c, 0.5, 1, 2, 3, 1000);
        EXPECT_NEAR(once.q[0], often.q[0], 1e-11);
        EXPECT_NEAR(once.v[0], often.v[0], 1e-11);
        EXPECT_NEAR(often.time, 3, 1e-9);
    }
}

TEST(ModalOscillators, RayleighDampingGrowsWithTheEigenvalue) {
    const ModalOscillators oscillators(Eigen::Vector2d(4, 100), 0.5, 0.02);
    ReducedState s = oscillators.make_state();
    s.q << 1, 1;
    EXPECT_EQ(oscillators.step(s, VectorXd::Zero(2), 0.3), StepStatus::Ok);
    EXPECT_NEAR(s.q[0], after(4, 0.5 + 0.08, 1, 0, 0, 0.3).q[0], 1e-15);
    EXPECT_NEAR(s.q[1], after(100, 2.5, 1, 0, 0, 0.3).q[0], 1e-15);
}

TEST(ModalOscillators, StayFinite) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    const ModalOscillators oscillators(Eigen::Vector3d(0, 1, 1e100), 0.1, 1e-3);
    ReducedState s = oscillators.make_state();
    s.q.setOnes();
    const ReducedState start = s;
    for (const double dt : {0.0, -1.0, nan, infinity})
        EXPECT_EQ(oscillators.step(s, VectorXd::Zero(3), dt), StepStatus::InputIgnored);
    EXPECT_EQ(s.q, start.q);
    EXPECT_EQ(oscillators.step(s, VectorXd::Constant(3, nan), 0.1), StepStatus::InputIgnored);
    EXPECT_NE(s.q[1], 1);
    for (const double size : {1e100, 1e300})
        for (const double dt : {1e-9, 1.0, 1e200}) {
            s = start;
            s.v.setConstant(size);
            for (int k = 0; k < 3; ++k) (void)oscillators.step(s, VectorXd::Constant(3, -size), dt);
            EXPECT_TRUE(s.q.allFinite() && s.v.allFinite() && s.a.allFinite());
        }
    s = start;
    s.v[1] = nan;
    EXPECT_EQ(oscillators.step(s, VectorXd::Zero(3), 0.1), StepStatus::StateReset);
    EXPECT_EQ(s.q, VectorXd::Zero(3));
}

TEST(ModalOscillators, AllocateNothing) {
    const ModalOscillators oscillators(VectorXd::LinSpaced(64, 0, 1e4), 0.1, 1e-3);
    ReducedState s = oscillators.make_state();
    const VectorXd f = VectorXd::Ones(64);
    const AllocationGuard guard;
    const StepStatus status = oscillators.step(s, f, 1e-3);
    const auto allocations = guard.count();
    EXPECT_EQ(status, StepStatus::Ok);
    EXPECT_EQ(allocations, 0u);
}

TEST(ModalOscillators, WrongValuesAreNamed) {
    EXPECT_EQ(input_error([] { ModalOscillators(VectorXd::Ones(1), -1, 0); }),
              "alpha = -1 (expected 0 <= value < infinity)");
    EXPECT_EQ(input_error([] { ModalOscillators(VectorXd::Ones(1), 0, -1); }),
              "beta = -1 (expected 0 <= value < infinity)");
    EXPECT_EQ(input_error([] { ModalOscillators(Eigen::Vector2d(1, -3), 0, 0); }),
              "eigenvalue of an oscillator = -3 (expected 0 <= value < infinity)");
}

}  // namespace
}  // namespace pliant
