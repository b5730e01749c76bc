#include "geometry/option_check.h"
#include "pliant/reduction/reduced_dynamics.h"
#include "reduction/reduced_system.h"

#include <cassert>
#include <cmath>

namespace pliant {
namespace {

/// Motion after a time t, eq. (21): q' = c q + s v + p f,  v' = −λ s q + s_rate v + s f.
struct Propagator {
    double c, s, s_rate;
    double p;  ///< ∫ s
};

/// Up to this size of x three terms of the series of cos √x and sin(√x)/√x are exact to rounding.
constexpr double kSmallSquare = 1e-4;
/// Below this λt² the difference 1 − c would lose digits.
constexpr double kSmallLoad = 0.1;

/// p/t² by the powers of t in q̈ + 2δ q̇ + λ q = 1.
double load_series(double lambda_t2, double two_delta_t) noexcept {
    double before = 0, term = 0.5, sum = 0.5;
    for (int n = 1; n < 20; ++n) {
        const double next = -(two_delta_t * (n + 1) * term + lambda_t2 * before) /
                            (static_cast<double>(n + 2) * (n + 1));
        before = term;
        term = next;
        sum += term;
    }
    return sum;
}

/// Two decays, e^{−slow t} and e^{−fast t}, of an oscillator that does not swing.
Propagator overdamped(double lambda, double delta, double kappa, double t) noexcept {
    const double fast = delta + kappa, slow = lambda / fast;  // δ − κ without cancellation
    const double slow_decay = std::exp(-slow * t), fast_decay = std::exp(-fast * t);
    const double slow_integral = slow > 0 ? -std::expm1(-slow * t) / slow : t;
    const double s = -slow_decay * std::expm1(-2 * kappa * t) / (2 * kappa);
    return {0.5 * (slow_decay + fast_decay) + delta * s, s,
            (fast * fast_decay - slow * slow_decay) / (2 * kappa),
            (slow_integral + std::expm1(-fast * t) / fast) / (2 * kappa)};
}

Propagator propagator(double lambda, double delta, double t) noexcept {
    const double square = (lambda - delta * delta) * t * t;
    if (square < -kSmallSquare) return overdamped(lambda, delta, std::sqrt(-square) / t, t);
    double cosine = 1 - square / 2 + square * square / 24;
    double sine = 1 - square / 6 + square * square / 120;  // over the angle
    if (square > kSmallSquare) {
        const double angle = std::sqrt(square);
        cosine = std::cos(angle);
        sine = std::sin(angle) / angle;
    }
    const double decay = std::exp(-delta * t);
    Propagator motion{decay * (cosine + delta * t * sine), decay * t * sine,
                      decay * (cosine - delta * t * sine), 0};
    const double lambda_t2 = lambda * t * t;
    motion.p = lambda_t2 < kSmallLoad ? t * t * load_series(lambda_t2, 2 * delta * t)
                                      : (1 - motion.c) / lambda;
    return motion;
}

}  // namespace

ModalOscillators::ModalOscillators(Eigen::VectorXd eigenvalues, double alpha, double beta)
    : eigenvalues_(std::move(eigenvalues)) {
    check_option(alpha >= 0 && std::isfinite(alpha), "alpha", alpha, "0 <= value < infinity");
    check_option(beta >= 0 && std::isfinite(beta), "beta", beta, "0 <= value < infinity");
    for (const double lambda : eigenvalues_)
        check_option(lambda >= 0 && std::isfinite(lambda), "eigenvalue of an oscillator", lambda,
                     "0 <= value < infinity");
    damping_ = alpha + beta * eigenvalues_.array();
}

ReducedState ModalOscillators::make_state() const {
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(size());
    return {zero, zero, zero, 0};
}

StepStatus ModalOscillators::step(ReducedState& s, const Eigen::Ref<const Eigen::VectorXd>& f,
                                  double dt) const noexcept {
    assert(s.q.size() == size() && s.v.size() == size() && s.a.size() == size());
    assert(f.size() == size());
    if (!(dt > 0) || !std::isfinite(dt)) return StepStatus::InputIgnored;
    if (!is_finite(s)) {
        s.q.setZero();
        s.v.setZero();
        s.a.setZero();
        s.time = 0;
        return StepStatus::StateReset;
    }
    const bool load_is_finite = f.allFinite();
    bool is_lost = false;
    for (int i = 0; i < size(); ++i) {
        const double lambda = eigenvalues_[i], load = load_is_finite ? f[i] : 0;
        const Propagator motion = propagator(lambda, 0.5 * damping_[i], dt);
        const double q = motion.c * s.q[i] + motion.s * s.v[i] + motion.p * load;
        const double v = -lambda * motion.s * s.q[i] + motion.s_rate * s.v[i] + motion.s * load;
        const double a = load - damping_[i] * v - lambda * q;
        if (!std::isfinite(q) || !std::isfinite(v) || !std::isfinite(a)) {
            is_lost = true;  // this one keeps its motion
            continue;
        }
        s.q[i] = q;
        s.v[i] = v;
        s.a[i] = a;
    }
    if (std::isfinite(s.time + dt)) s.time += dt;
    if (is_lost) return StepStatus::StepRejected;
    return load_is_finite ? StepStatus::Ok : StepStatus::InputIgnored;
}

}  // namespace pliant
