#include "core/numbers.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "pliant/reduction/reduced_body.h"
#include "reduction/body_samples.h"
#include "reduction/linear_force.h"

#include <gtest/gtest.h>

#include <numbers>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::kTick;

/// One mode of unit mass in front of a wall at q = 0 of stiffness κ, pressed against it.
struct Wall {
    double omega = 2 * std::numbers::pi * 50;
    double damping = 2 * 0.1 / omega;  ///< β of 10 %
    double kappa = 0;                  ///< [1/s²]
    double push = 100;

    [[nodiscard]] ReducedDynamics dynamics() const {
        return {make_linear_force(MatrixXd::Constant(1, 1, omega * omega)),
                MatrixXd::Identity(1, 1),
                {.damping = {.stiffness = damping}}};
    }
    [[nodiscard]] double balance() const { return push / (omega * omega + kappa); }
    /// Distance from the balance after `seconds`, relative to that at the start, while contact
    /// never opens; infinite beyond any bound. `beta_c` < 0: explicit exchange.
    [[nodiscard]] double left_after(double seconds, double beta_c) const {
        const ReducedDynamics body = dynamics();
        const auto ws = body.make_workspace();
        ReducedState s = body.make_state();
        s.q[0] = 0.9 * balance();
        VectorXd f(1);
        if (beta_c >= 0) {
            ws->contact.stiffness(0, 0) = kappa;
            ws->contact.damping = beta_c;
            ws->contact.is_active = true;
        }
        double largest = 0;
        const int steps = static_cast<int>(seconds / kTick);
        for (int k = 0; k < steps; ++k) {
            f[0] = push - kappa * s.q[0];
            static_cast<void>(body.step(s, f, kTick, *ws));
            if (k > steps - 100) largest = std::max(largest, std::abs(s.q[0] / balance() - 1));
        }
        return largest / 0.1;
    }
};

TEST(ReducedContact, ExplicitExchangeIsStableUpToTheDampingOfTheBody) {
    // κ h ≤ c, c = β ω², docs/contact.md eq. (20); limits of 1.03–1.10 at 50 Hz
    Wall wall;
    const double c = wall.damping * wall.omega * wall.omega;
    wall.kappa = 0.95 * c / kTick;
    EXPECT_LT(wall.left_after(5, -1), 0.5);
    wall.kappa = 1.3 * c / kTick;
    EXPECT_GT(wall.left_after(5, -1), 2.0);
}

TEST(ReducedContact, ImplicitContactStaysQuietFarBeyondTheExplicitLimit) {
    Wall wall;
    const double c = wall.damping * wall.omega * wall.omega;
    for (const double factor : {1.3, 10.0, 68.0, 1000.0, 1e5}) {
        wall.kappa = factor * c / kTick;
        EXPECT_LT(wall.left_after(2, 2 * kTick), 1e-3) << factor;
    }
}

TEST(ReducedContact, IsTheStiffnessItSaysInTheLimitOfShortSteps) {
    // an oscillator of ω² + κ, undamped but for β_c κ: first order in the step
    Wall wall;
    wall.damping = 0;
    wall.kappa = 3 * wall.omega * wall.omega;
    wall.push = 0;
    const double stiff = std::sqrt(wall.omega * wall.omega + wall.kappa);
    const double beta_c = 1e-4, duration = 0.02;
    const double decay = beta_c * wall.kappa / 2,
                 turning = std::sqrt(stiff * stiff - decay * decay);
    const double exact =
        std::exp(-decay * duration) *
        (std::cos(turning * duration) + decay / turning * std::sin(turning * duration));
    std::array<double, 3> errors{};
    for (int k = 0; k < 3; ++k) {
        const double dt = 1e-4 / (1 << k);
        const ReducedDynamics body = wall.dynamics();
        const auto ws = body.make_workspace();
        ReducedState s = body.make_state();
        s.q[0] = 1;
        VectorXd f(1);
        f[0] = -wall.kappa;
        body.set_acceleration(s, f, *ws);
        ws->contact.stiffness(0, 0) = wall.kappa;
        ws->contact.damping = beta_c;
        ws->contact.is_active = true;
        for (int step = 0; step < std::lround(duration / dt); ++step) {
            f[0] = -wall.kappa * s.q[0];
            ASSERT_EQ(body.step(s, f, dt, *ws).status, StepStatus::Ok);
        }
        errors[k] = std::abs(s.q[0] - exact);
    }
    EXPECT_LT(errors[2], 0.01);
    EXPECT_GT(std::log2(errors[0] / errors[1]), 0.8);
    EXPECT_GT(std::log2(errors[1] / errors[2]), 0.8);
}

TEST(ReducedContact, OfABodyAddsUpAndIsGoneAfterTheStep) {
    const ReducedModel model = test::bar_model();
    const int r = model.rank();
    const VectorXd f = test::random_vector(r, 3);
    const MatrixXd K = 1e4 * MatrixXd::Identity(r, r);
    ReducedBody once(model), twice(model), plain(model), none(model);
    once.add_contact(f, K, 2e-3);
    twice.add_contact(0.5 * f, 0.5 * K, 1e-3);
    twice.add_contact(0.5 * f, 0.5 * K, 2e-3);
    plain.add_reduced_force(f);
    none.add_contact(f, MatrixXd::Zero(r, r), 0);
    for (ReducedBody* body : {&once, &twice, &plain, &none})
        ASSERT_EQ(body->step(kTick), StepStatus::Ok);
    EXPECT_TRUE(once.state().q.isApprox(twice.state().q, 1e-12));
    EXPECT_TRUE(plain.state().q.isApprox(none.state().q, 1e-14));
    EXPECT_LT(once.state().q.norm(), plain.state().q.norm());
    // no load any more: the same step as a body in that state without contact
    std::vector<double> state(static_cast<std::size_t>(once.state_size()));
    once.save_state(state);
    ReducedBody fresh(model);
    ASSERT_TRUE(fresh.restore_state(state));
    ASSERT_EQ(once.step(kTick), StepStatus::Ok);
    ASSERT_EQ(fresh.step(kTick), StepStatus::Ok);
    EXPECT_EQ(once.state().q, fresh.state().q);
}

TEST(ReducedContact, IgnoresNumbersThatAreNone) {
    const ReducedModel model = test::bar_model();
    const int r = model.rank();
    const VectorXd f = VectorXd::Zero(r);
    const MatrixXd K = MatrixXd::Zero(r, r);
    ReducedBody body(model);
    body.add_contact(VectorXd::Constant(r, kNan), K, 0);
    EXPECT_EQ(body.step(kTick), StepStatus::InputIgnored);
    body.add_contact(f, MatrixXd::Constant(r, r, kNan), 0);
    EXPECT_EQ(body.step(kTick), StepStatus::InputIgnored);
    body.add_contact(f, K, -1);
    EXPECT_EQ(body.step(kTick), StepStatus::InputIgnored);
    EXPECT_TRUE(body.state().q.isZero(0));
}

TEST(ReducedContact, AllocatesNothing) {
    set_num_threads(1);
    const ReducedModel model = test::bar_model();
    const int r = model.rank();
    const VectorXd f = test::random_vector(r, 5);
    const MatrixXd K = 1e4 * MatrixXd::Identity(r, r);
    ReducedBody body(model);
    AllocationGuard guard;
    body.add_contact(f, K, 2e-3);
    body.add_contact(f, K, 2e-3);
    const StepStatus status = body.step(kTick);
    const auto allocations = guard.count();
    set_num_threads(0);
    EXPECT_EQ(status, StepStatus::Ok);
    EXPECT_EQ(allocations, 0u);
}

}  // namespace
}  // namespace pliant
