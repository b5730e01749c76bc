#include "reduction/reduced_system.h"

#include <Eigen/LU>
#include <algorithm>
#include <cassert>
#include <cmath>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using ConstRef = ReducedDynamics::ConstRef;
/// At most kMaxHeldRows, without heap.
using HeldVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMaxHeldRows, 1>;
using HeldMatrix =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMaxHeldRows, kMaxHeldRows>;

/// Of a residual, times |K| |q|: what rounding leaves of balanced forces.
constexpr double kStepRounding = 1e-15;

/// Largest gap that counts as held, relative to the sizes that cancel.
constexpr double kHeldGap = 1e-9;

/// Positions held in one step.
struct HeldRows {
    const Eigen::Ref<const MatrixXd>& C;
    HeldVector goal;         ///< at the end of the step
    HeldVector d;            ///< at the end of this part of it
    HeldVector multipliers;  ///< forces on the body
    [[nodiscard]] int size() const noexcept { return static_cast<int>(d.size()); }
};

/// Acceleration and velocity at the end by the position there, eq. (17).
struct NewmarkRule {
    double a_q, a_v, a_a;  ///< a' = a_q (q' − q) − a_v v − a_a a
    double v_q, v_v, v_a;  ///< v' = v_q (q' − q) + v_v v + v_a a

    NewmarkRule(double gamma, double dt) noexcept {
        const double beta = 0.25 * (gamma + 0.5) * (gamma + 0.5);
        a_q = 1 / (beta * dt * dt);
        a_v = 1 / (beta * dt);
        a_a = (1 - 2 * beta) / (2 * beta);
        v_q = gamma / (beta * dt);
        v_v = 1 - gamma / beta;
        v_a = (1 - gamma / (2 * beta)) * dt;
    }
    /// `change` is q' − q.
    void apply(const ReducedState& start, const VectorXd& change,
               ReducedState& now) const noexcept {
        now.q = start.q + change;
        now.a = a_q * change - a_v * start.v - a_a * start.a;
        now.v = v_q * change + v_v * start.v + v_a * start.a;
    }
};

/// A of eq. (18).
template <class Target>
void write_matrix(const ReducedSystem& m, const NewmarkRule& rule, const ReducedScratch& ws,
                  Target&& A) noexcept {
    const double s = ws.force_scale, mass = rule.a_q + s * rule.v_q * ws.tuning.mass_damping;
    const auto [D, factor] = stiffness_damping(m, ws);
    if (factor == 0)
        A = mass * m.mass + s * ws.K;
    else if (&D == &ws.K)
        A = mass * m.mass + (s + s * rule.v_q * factor) * ws.K;
    else
        A = mass * m.mass + s * ws.K + (s * rule.v_q * factor) * D;
    if (ws.contact.is_active) A += (s + s * rule.v_q * ws.contact.damping) * ws.contact.stiffness;
}

/// Forces that do not balance at `now`, eq. (17).
void set_residual(const ReducedSystem& m, const HeldRows* held, ReducedScratch& ws) noexcept {
    VectorXd& y = ws.residual;
    y = ws.force_scale * (ws.R - ws.f);
    if (const auto [D, factor] = stiffness_damping(m, ws); factor > 0)
        y.noalias() += (ws.force_scale * factor) * (D * ws.now.v);
    if (ws.contact.is_active) {
        ws.product = ws.now.q - ws.origin + ws.contact.damping * ws.now.v;
        y.noalias() += ws.force_scale * (ws.contact.stiffness * ws.product);
    }
    ws.product = ws.now.a + (ws.force_scale * ws.tuning.mass_damping) * ws.now.v;
    y.noalias() += m.mass * ws.product;
    if (held != nullptr) y.noalias() -= held->C.transpose() * held->multipliers;
}

/// Whether what is left of the forces is small beside them, or rounding.
bool is_balanced(const ReducedSystem& m, double residual, ReducedScratch& ws) noexcept {
    ws.product.noalias() = m.mass * ws.now.a;
    const double largest =
        std::max({ws.product.norm(), ws.force_scale * ws.R.norm(), ws.force_scale * ws.f.norm()});
    return residual <= m.options.tolerance * largest ||
           residual <= kStepRounding * ws.K.norm() * ws.now.q.norm();
}

/// Where the forces at the start would accelerate too much, those of the whole step are scaled
/// down, eq. (18).
void limit_acceleration(const ReducedSystem& m, ReducedScratch& ws) noexcept {
    ws.force_scale = 1;
    if (m.options.acceleration_limit == 0) return;
    VectorXd& y = ws.residual;
    y = ws.R - ws.f;
    if (const auto [D, factor] = stiffness_damping(m, ws); factor > 0)
        y.noalias() += factor * (D * ws.start.v);
    m.mass_factor.solveInPlace(y);
    y += ws.tuning.mass_damping * ws.start.v;
    const double size = y.norm();
    if (size > m.options.acceleration_limit) ws.force_scale = m.options.acceleration_limit / size;
}

/// One Newton increment into X.col(0); with positions held also the multipliers.
bool solve_increment(const ReducedSystem& m, const NewmarkRule& rule, HeldRows* held,
                     ReducedScratch& ws, bool& is_indefinite) noexcept {
    const int num_held = held != nullptr ? held->size() : 0;
    ws.X.col(0) = -ws.residual;
    if (num_held > 0) ws.X.middleCols(1, num_held) = held->C.transpose();
    write_matrix(m, rule, ws, ws.solver.definite());
    if (!ws.solver.solve_definite(ws.X, 1 + num_held)) {
        is_indefinite = true;
        write_matrix(m, rule, ws, ws.solver.indefinite());
        if (!ws.solver.solve_indefinite(ws.X, 1 + num_held)) return false;
    }
    if (num_held > 0) {
        // C (x + X μ) = d − C q for the change μ of the multipliers
        const auto X = ws.X.middleCols(1, num_held);
        const HeldMatrix S = held->C.lazyProduct(X);
        const HeldVector gap =
            held->d - held->C.lazyProduct(ws.now.q) - held->C.lazyProduct(ws.X.col(0));
        const HeldVector change = Eigen::FullPivLU<HeldMatrix>(S).solve(gap);
        held->multipliers += change;
        ws.X.col(0) += X.lazyProduct(change);
    }
    return true;
}

enum class Outcome {
    Converged,
    NotConverged,
    Doubtful,  ///< finite, but worth a shorter step
    Failed,
};

/// Twice what a smooth motion asks for beyond its velocity: larger corrections come from sudden
/// loads and from steps too long for the shape.
double expected_correction(const ReducedScratch& ws, double dt) noexcept {
    return std::max(dt * ws.start.v.norm(), dt * dt * ws.start.a.norm());
}

/// Whether the shape is so far from a linear one over the step that the rule, which keeps the
/// energy of linear ones, may make some: what K changes by over it, against the energy, eq. (31).
/// Costs two products with a matrix, which the energy itself does not.
bool is_nonlinear(const ReducedSystem& m, ReducedScratch& ws) noexcept {
    constexpr double kSmall = 0.003;
    const VectorXd &d = ws.change, &q = ws.now.q;
    double change = 0, kinetic = 0;
    for (int i = 0; i < m.size(); ++i) {
        change += d[i] * (ws.K.col(i).dot(d) - ws.tuning.stiffness * m.K_rest.col(i).dot(d));
        kinetic += ws.now.v[i] * m.mass.col(i).dot(ws.now.v);
    }
    const double size = d.norm(), reach = std::max(q.norm(), ws.start.q.norm());
    if (size < reach) change *= size / reach;
    return !(std::abs(change) <= kSmall * (kinetic + std::abs(ws.R.dot(q))));
}

/// Energy of a step: at its start, at its end, and what loads and contact gave meanwhile [J].
struct StepEnergy {
    double before, after, kinetic_after, work;
    /// What the rule made of nothing: no number is the most.
    [[nodiscard]] double excess() const noexcept { return after - before - work; }
    /// More than a step of the right length makes: what one does that is too long for the shape.
    [[nodiscard]] bool has_blown_up() const noexcept {
        return !(excess() <= 0.5 * (std::abs(before) + std::abs(work)));
    }
};
StepEnergy energy_of_step(const ReducedSystem& m, const HeldRows* held,
                          ReducedScratch& ws) noexcept {
    const auto kinetic = [&](const ReducedState& s) {
        ws.product.noalias() = m.mass * s.v;
        return 0.5 * s.v.dot(ws.product);
    };
    StepEnergy e{};
    e.kinetic_after = kinetic(ws.now);
    e.before = kinetic(ws.start) + elastic_energy(m, ws.start.q, ws);
    e.after = e.kinetic_after + elastic_energy(m, ws.now.q, ws);
    e.work = ws.f.dot(ws.change);
    if (held != nullptr) e.work += held->multipliers.dot(held->C.lazyProduct(ws.change));
    if (ws.contact.is_active) {
        // the mean of start and end, as the rule has it
        ws.product = 0.5 * (ws.start.q + ws.now.q) - ws.origin;
        for (int i = 0; i < m.size(); ++i)
            e.work -= ws.change[i] * ws.contact.stiffness.col(i).dot(ws.product);
    }
    return e;
}

/// Slows the end of a step down until it has no more energy than its start and the loads gave, eq.
/// (31). False: the shape alone has more.
bool take_out_excess(const StepEnergy& e, ReducedScratch& ws) noexcept {
    if (e.excess() <= 0) return true;
    const double kept = e.kinetic_after - e.excess();
    if (!(kept >= 0) || !(e.kinetic_after > 0)) return false;
    ws.now.v *= std::sqrt(kept / e.kinetic_after);
    return true;
}

/// What the energy says of a step that is no smooth motion.
Outcome judge_rough(const ReducedSystem& m, const HeldRows* held, bool is_last,
                    ReducedScratch& ws) noexcept {
    const StepEnergy e = energy_of_step(m, held, ws);
    if (e.has_blown_up() && !is_last) return Outcome::Doubtful;
    // what holds positions gives or takes more than its mean over the step says
    if (held != nullptr && !e.has_blown_up()) return Outcome::Converged;
    if (!take_out_excess(e, ws)) return is_last ? Outcome::Failed : Outcome::Doubtful;
    return Outcome::Converged;
}

/// One step from ws.start to ws.now by Newton's method, from the position that the velocity leads
/// to: so the one iteration of the real-time setting is of second order with damping too.
Outcome attempt(const ReducedSystem& m, double dt, HeldRows* held, bool is_last, ReducedScratch& ws,
                ReducedReport& report) noexcept {
    const ReducedOptions& options = m.options;
    const NewmarkRule rule(options.gamma, dt);
    if (held != nullptr) held->multipliers.setZero();
    ws.change = dt * ws.start.v;
    rule.apply(ws.start, ws.change, ws.now);
    bool is_indefinite = false;
    double first = 0;
    for (int k = 0;; ++k) {
        evaluate(m, ws.now.q, ws);
        if (k == 0) limit_acceleration(m, ws);
        set_residual(m, held, ws);
        report.residual = ws.residual.norm();
        if (!std::isfinite(report.residual)) return Outcome::Failed;
        if (k == 0) first = report.residual;
        // a single iteration is always done; positions are held after the first
        if (options.max_iterations > 1 && (k > 0 || held == nullptr) &&
            is_balanced(m, report.residual, ws))
            return Outcome::Converged;
        if (k == options.max_iterations)
            return report.residual <= first ? Outcome::NotConverged : Outcome::Doubtful;

        if (!solve_increment(m, rule, held, ws, is_indefinite)) return Outcome::Failed;
        ++report.iterations;
        report.is_indefinite |= is_indefinite;
        ws.change += ws.X.col(0);
        rule.apply(ws.start, ws.change, ws.now);
        if (!is_finite(ws.now)) return Outcome::Failed;
        // the real-time setting: the residual is not computed again
        if (options.max_iterations == 1) {
            const bool is_rough = is_indefinite || ws.X.col(0).norm() > expected_correction(ws, dt);
            return is_rough || is_nonlinear(m, ws) ? judge_rough(m, held, is_last, ws)
                                                   : Outcome::Converged;
        }
    }
}

/// Newmark's rule lets velocities of held positions ring: they become those of the motion from
/// start to end, and multipliers those of the acceleration that follows, eq. (19). False when the
/// rows depend on each other and cannot all be held.
bool settle_held(const ReducedSystem& m, double dt, HeldRows& held, ReducedScratch& ws) noexcept {
    auto N = ws.held.leftCols(held.size());
    for (int k = 0; k < held.size(); ++k) {
        ws.product = held.C.row(k);
        m.mass_factor.solveInPlace(ws.product);
        N.col(k) = ws.product;
    }
    const Eigen::FullPivLU<HeldMatrix> S(HeldMatrix(held.C.lazyProduct(N)));
    const HeldVector rate = held.C.lazyProduct(ws.change) / dt;
    const HeldVector v = S.solve(HeldVector(rate - held.C.lazyProduct(ws.now.v)));
    const HeldVector target = (rate - held.C.lazyProduct(ws.start.v)) / dt;
    const HeldVector a = S.solve(HeldVector(target - held.C.lazyProduct(ws.now.a)));
    ws.now.v += N.lazyProduct(v);
    ws.now.a += N.lazyProduct(a);
    held.multipliers += a + ws.tuning.mass_damping * v;
    const HeldVector gap = held.d - held.C.lazyProduct(ws.now.q);
    const double size = held.d.norm() + held.C.norm() * ws.now.q.norm();
    return is_finite(ws.now) && held.multipliers.allFinite() && gap.norm() <= kHeldGap * size;
}

/// The whole step in 2^halvings parts; `held` moves evenly from where it is to its goal.
Outcome advance_in_parts(const ReducedSystem& m, const ReducedState& s, double dt, HeldRows* held,
                         bool is_last, ReducedScratch& ws, ReducedReport& report) noexcept {
    const int num_parts = 1 << report.halvings;
    const double part_dt = dt / num_parts;
    Outcome outcome = Outcome::Converged;
    HeldVector from;
    if (held != nullptr) from = held->C.lazyProduct(s.q);
    ws.start = s;
    for (int part = 1; part <= num_parts; ++part) {
        if (held != nullptr && part < num_parts)
            held->d = from + (held->goal - from) * (static_cast<double>(part) / num_parts);
        else if (held != nullptr)
            held->d = held->goal;
        const Outcome of_part = attempt(m, part_dt, held, is_last, ws, report);
        if (of_part == Outcome::Failed || (of_part == Outcome::Doubtful && !is_last))
            return Outcome::Failed;
        if (of_part != Outcome::Converged) outcome = Outcome::NotConverged;
        if (held != nullptr && !settle_held(m, part_dt, *held, ws)) return Outcome::Failed;
        ws.now.time = s.time + dt * part / num_parts;
        std::swap(ws.start, ws.now);
    }
    return outcome;
}

ReducedReport advance(const ReducedSystem& m, ReducedState& s, const ConstRef& f, double dt,
                      HeldRows* held, ReducedScratch& ws) noexcept {
    ReducedReport report;
    const StepInput input = take_input(m, s, f, dt, ws);
    report.status = input.status;
    if (!input.is_possible) return report;
    ws.origin = s.q;
    while (true) {
        const bool is_last = report.halvings == m.options.max_halvings;
        const Outcome outcome = advance_in_parts(m, s, dt, held, is_last, ws, report);
        if (outcome != Outcome::Failed) {
            s = ws.start;
            if (outcome == Outcome::NotConverged) report.status = StepStatus::NotConverged;
            return report;
        }
        if (is_last) {
            report.status = StepStatus::StepRejected;
            return report;
        }
        ++report.halvings;
    }
}

}  // namespace

ReducedReport ReducedDynamics::step(ReducedState& s, const ConstRef& f, double dt,
                                    Workspace& ws) const noexcept {
    return advance(*impl_, s, f, dt, nullptr, static_cast<ReducedScratch&>(ws));
}

ReducedReport ReducedDynamics::step_constrained(ReducedState& s, const ConstRef& f, double dt,
                                                const Eigen::Ref<const MatrixXd>& C,
                                                const ConstRef& d, Eigen::Ref<VectorXd> multipliers,
                                                Workspace& ws) const noexcept {
    assert(C.cols() == size() && d.size() == C.rows() && multipliers.size() == C.rows());
    ReducedReport report;
    multipliers.setZero();
    if (C.rows() > std::min(kMaxHeldRows, size())) {
        report.status = StepStatus::CapacityExceeded;
        return report;
    }
    if (!C.allFinite() || !d.allFinite()) {
        report.status = StepStatus::InputIgnored;
        return report;
    }
    if (C.rows() == 0) return step(s, f, dt, ws);
    HeldRows held{C, d, d, HeldVector::Zero(d.size())};
    report = advance(*impl_, s, f, dt, &held, static_cast<ReducedScratch&>(ws));
    if (report.status != StepStatus::StepRejected) multipliers = held.multipliers;
    return report;
}

}  // namespace pliant
