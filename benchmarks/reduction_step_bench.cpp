#include <Eigen/Cholesky>
#include <algorithm>
#include <memory>

#include "benchmarks/published_polynomial.h"
#include "benchmarks/reduction_bench.h"
#include "pliant/reduction/reduced_dynamics.h"
#include "src/fem/solver_backend.h"
#include "tests/reduction/force_samples.h"

namespace pliant::bench {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kReducedStep = 1e-3;
constexpr double kAlpha = 0.1, kBeta = 1e-3;

/// Springs of 1 to some 10 Hz with all couplings: a body that vibrates and stays in range.
ReducedCoefficients vibrating_body(int r) {
    ReducedCoefficients c = test::random_coefficients(r, 1);
    for (double& w : c.w) w *= 1e-3;
    for (int i = 1; i <= r; ++i) {
        c.w[static_cast<std::size_t>(quartic_index(0, 0, i, i))] += 50.0 * i;
        c.w[static_cast<std::size_t>(quartic_index(i, i, i, i))] += 10;
    }
    return c;
}

/// The step of [Barbic2007]: separate products for force and stiffness, one Newton iteration from
/// the last position, dense solver.
struct PublishedStep {
    PublishedStep(const ReducedCoefficients& c)
        : polynomial(c), q(VectorXd::Zero(c.r)), v(q), a(q), R(q), x(q), K(c.r, c.r) {}

    void step(const VectorXd& f) {
        polynomial.force(q, R);
        polynomial.stiffness(q, K);
        const double dt = kReducedStep, v_q = 2 / dt, a_q = 4 / (dt * dt);
        x = -v;  // velocity without change of position
        R.noalias() += kBeta * (K * x);
        x = f - R - kAlpha * x + 4 / dt * v + a;
        K *= 1 + v_q * kBeta;
        K.diagonal().array() += a_q + v_q * kAlpha;
        factor.compute(K);
        factor.solveInPlace(x);
        q += x;
        a = a_q * x - 4 / dt * v - a;
        v = v_q * x - v;
    }

    PublishedPolynomial polynomial;
    VectorXd q, v, a, R, x;
    MatrixXd K;
    Eigen::LLT<MatrixXd> factor;
};

Workload step_workload(int r, Precision precision) {
    struct Body {
        ReducedDynamics dynamics;
        std::unique_ptr<ReducedDynamics::Workspace> ws;
        ReducedState s;
        PublishedStep published;
        VectorXd f;
        ScopedBlasThreads one_thread{1};
    };
    const ReducedCoefficients c = vibrating_body(r);
    ReducedOptions options;
    options.damping = {.mass = kAlpha, .stiffness = kBeta};
    ReducedDynamics dynamics(make_polynomial_force(c, precision), MatrixXd::Identity(r, r),
                             options);
    auto ws = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    const std::shared_ptr<Body> body(new Body{std::move(dynamics), std::move(ws), std::move(s),
                                              PublishedStep(c), 5 * test::random_vector(r, 3)});

    const int repeats =
        std::clamp(static_cast<int>(2e7 / static_cast<double>(num_quartic(r))), 20, 2000);
    const int published_repeats = repeats / 8;
    Workload workload;
    workload.operations = repeats;
    workload.run = [=] {
        for (int k = 0; k < repeats; ++k)
            (void)body->dynamics.step(body->s, body->f, kReducedStep, *body->ws);
        return body->s.q.sum();
    };
    workload.reference_operations = published_repeats;
    workload.run_reference = [=] {
        for (int k = 0; k < published_repeats; ++k) body->published.step(body->f);
        return body->published.q.sum();
    };
    return workload;
}

double target_us(int r) {
    switch (r) {
        case 15: return 3.5;
        case 20: return 6;
        case 30: return 20;
        case 40: return 55;
        case 60: return 300;
        default: return 0;
    }
}

}  // namespace

std::vector<Benchmark> reduced_step_benchmarks() {
    std::vector<Benchmark> all;
    for (const Precision precision : {Precision::Double, Precision::Single})
        for (const int r : {4, 8, 12, 15, 20, 30, 40, 60}) {
            const bool is_single = precision == Precision::Single;
            std::string name = is_single ? "newmark_step/single/r=" : "newmark_step/double/r=";
            name += std::to_string(r);
            all.push_back({.module = "reduction",
                           .name = std::move(name),
                           .setup = [=] { return step_workload(r, precision); },
                           .reference = "published scheme, OpenBLAS, Eigen's LLT, double",
                           .max_us = is_single ? 0 : target_us(r),
                           .samples = 40});
        }
    return all;
}

}  // namespace pliant::bench
