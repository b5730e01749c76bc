#include "pliant/fem/statics.h"

#include "fem/force_rounding.h"
#include "geometry/option_check.h"
#include "pliant/core/error.h"
#include "pliant/fem/free_system.h"
#include "pliant/fem/loads.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <sstream>

namespace pliant {
namespace {

using Eigen::VectorXd;
using Matrix = FemModel::Matrix;

/// Sufficient decrease of the energy, as a part of what the slope promises.
constexpr double kDecrease = 1e-4;
constexpr int kMaxBacktracks = 25;
/// Newton steps up to which a load step counts as easy, and the next may be twice as long.
constexpr int kEasy = 6;

[[noreturn]] void throw_unfactored(const FactorResult& result, const FreeSystem& system) {
    if (result.status == FactorStatus::OutOfMemory)
        throw InputError("", "there is not enough memory to factor the stiffness matrix of " +
                                 std::to_string(system.num_unknowns()) +
                                 " unknowns; use a coarser mesh");
    std::string where;
    if (result.unknown >= 0) {
        Matrix::InnerIterator entry(system.T(), result.unknown);
        while (entry.value() != 1) ++entry;  // past hanging nodes
        where = " at vertex " + std::to_string(entry.index() / 3) + " along " +
                "xyz"[entry.index() % 3];
    }
    throw InputError("", "the stiffness matrix at rest is " +
                             (result.status == FactorStatus::Singular
                                  ? "singular" + where +
                                        ": elements there hang together by a vertex or an edge "
                                        "only; join them through faces or hold both sides"
                                  : std::string(to_string(result.status)) + where +
                                        ": the initial stress makes the body unstable; reduce it"));
}

/// Newton's method on the free unknowns.
class StaticSolver {
public:
    StaticSolver(const FemModel& model, const Constraints& constraints, const VectorXd& f,
                 const StaticOptions& options, Progress& progress)
        : model_(model),
          system_(model, constraints),
          f_(f),
          options_(options),
          progress_(progress),
          solver_(make_linear_solver(options.solver)),
          model_ws_(model.make_workspace()),
          system_ws_(system_.make_workspace()),
          K_(model.make_matrix()),
          K_free_(system_.make_matrix()),
          rounding_(rounding_of_force(model)) {
        u_ = u_trial_ = R_ = VectorXd::Zero(model.num_unknowns());
        q_ = residual_ = VectorXd::Zero(system_.num_unknowns());
        is_moved_ = constraints.displacements().cwiseAbs().maxCoeff() > 0;
    }

    StaticResult run();

private:
    /// Brings u from the equilibrium at load fraction s₀ to the one at s₁.
    bool advance(double s0, double s1, StaticResult& result);
    void evaluate(double s);
    [[nodiscard]] double limit(double s) const;
    /// Direction p with K p = residual, K made positive definite where it is not.
    bool solve_for_direction();
    /// Goes along p as far as the energy decreases; returns the step length, 0 for failure.
    double line_search(double s);
    [[nodiscard]] double potential(const VectorXd& u, double s) {
        return model_.energy(u, model_ws_) - s * f_.dot(u);
    }
    [[nodiscard]] bool is_collapsed(const SmallestDetF& smallest) const;
    [[nodiscard]] static std::string failure_text(const StaticResult& result);

    const FemModel& model_;
    FreeSystem system_;
    const VectorXd& f_;
    StaticOptions options_;
    Progress& progress_;
    std::unique_ptr<LinearSolver> solver_;
    FemModel::Workspace model_ws_;
    FreeSystem::Workspace system_ws_;
    Matrix K_, K_free_;
    VectorXd u_, u_trial_, R_, q_, residual_, p_, diagonal_;
    double rounding_;
    bool is_moved_;  // some prescribed displacement is not zero
};

void StaticSolver::evaluate(double s) {
    model_.force_and_tangent(u_, R_, K_);
    u_trial_ = s * f_ - R_;
    system_.fold(u_trial_, residual_);
    system_.fold(K_, K_free_, system_ws_);
}

double StaticSolver::limit(double s) const {
    return std::max(options_.tolerance * std::max(s * f_.norm(), R_.norm()), rounding_);
}

bool StaticSolver::solve_for_direction() {
    FactorResult factored = solver_->factor(K_free_);
    if (diagonal_.size() == 0) {
        // the first matrix is that of the body at rest
        diagonal_ = K_free_.diagonal();
        if (factored.status == FactorStatus::Singular ||
            factored.status == FactorStatus::OutOfMemory)
            throw_unfactored(factored, system_);
    }
    double added = 0;
    for (double shift = 1e-4; !factored.is_ok() && shift < 1e3; shift *= 10) {
        if (factored.status == FactorStatus::NotFinite) return false;
        for (int i = 0; i < K_free_.cols(); ++i)
            K_free_.coeffRef(i, i) += (shift - added) * diagonal_[i];
        added = shift;
        factored = solver_->factor(K_free_);
    }
    if (!factored.is_ok()) return false;
    p_ = solver_->solve(residual_);
    return p_.allFinite();
}

double StaticSolver::line_search(double s) {
    const double start = potential(u_, s), slope = -residual_.dot(p_);
    // differences below this are rounding
    const double slack =
        1e-14 * (std::abs(start) + std::abs(s * f_.dot(u_))) + rounding_ * (u_.norm() + p_.norm());
    double step = 1;
    for (int k = 0; k < kMaxBacktracks; ++k) {
        q_ += step * p_;
        system_.expand(q_, s, u_trial_);
        const double end = potential(u_trial_, s);
        if (std::isfinite(end) && end <= start + kDecrease * step * slope + slack) {
            u_.swap(u_trial_);
            return step;
        }
        q_ -= step * p_;
        // minimum of the parabola through both energies and the slope, kept within bounds
        const double parabola = -slope * step * step / (2 * (end - start - slope * step));
        step = std::isfinite(parabola) ? std::clamp(parabola, 0.1 * step, 0.5 * step) : 0.1 * step;
    }
    return 0;
}

bool StaticSolver::advance(double s0, double s1, StaticResult& result) {
    for (int k = 0; k <= options_.max_iterations; ++k) {
        progress_.advance(0);
        const bool moves = k == 0 && is_moved_;
        evaluate(s1);
        if (moves) {
            // the prescribed part moves first, the rest follows linearly: residual − Tᵀ K Δu_p
            system_.expand(VectorXd::Zero(q_.size()), s1 - s0, u_trial_);
            R_ += K_ * u_trial_;
            u_trial_ = s1 * f_ - R_;
            system_.fold(u_trial_, residual_);
        }
        result.iterations.push_back({s1, residual_.norm(), limit(s1), 0});
        StaticIteration& iteration = result.iterations.back();
        if (!std::isfinite(iteration.residual)) return false;
        if (!moves && iteration.residual <= iteration.limit) return true;
        if (k == options_.max_iterations || !solve_for_direction()) return false;
        if (moves) {
            q_ += p_;
            system_.expand(q_, s1, u_);
            iteration.step = 1;
        } else {
            iteration.step = line_search(s1);
        }
        if (iteration.step == 0) return false;
    }
    return false;
}

bool StaticSolver::is_collapsed(const SmallestDetF& smallest) const {
    // small strains do not see the volume
    return smallest.value <= 0 && model_.material_of(smallest.element).law != Law::SmallStrain;
}

std::string StaticSolver::failure_text(const StaticResult& result) {
    std::ostringstream text;
    text.precision(3);
    if (result.status == StaticStatus::Collapsed) {
        text << "element " << result.smallest_det_F.element
             << " is turned inside out in the equilibrium found (det F = "
             << result.smallest_det_F.value << "); try a smaller load";
    } else {
        text << "no equilibrium found beyond " << 100 * result.load_fraction
             << " % of the load after " << result.iterations.size()
             << " iterations; last residuals";
        const std::size_t count = result.iterations.size(), first = count < 3 ? 0 : count - 3;
        for (std::size_t k = first; k < count; ++k)
            text << (k > first ? ", " : " ") << result.iterations[k].residual;
        text << " N (limit " << result.iterations.back().limit
             << " N); try a smaller load, more load_steps or max_iterations";
    }
    text << ", a finer mesh, or the law neo-hookean, which resists compression";
    return text.str();
}

StaticResult StaticSolver::run() {
    StaticResult result;
    result.u = u_;
    double increment = 1.0 / options_.load_steps;
    const double smallest_increment = std::ldexp(increment, -options_.max_halvings);
    VectorXd q_found = q_;
    progress_.stage("equilibrium", 1000);
    while (result.load_fraction < 1 && increment >= smallest_increment) {
        // no sliver of a step at the end
        const double left = 1 - result.load_fraction;
        const double target = left < 1.001 * increment ? 1.0 : result.load_fraction + increment;
        const std::size_t before = result.iterations.size();
        if (advance(result.load_fraction, target, result)) {
            progress_.advance(static_cast<std::size_t>(1000 * (target - result.load_fraction)));
            result.load_fraction = target;
            result.u = u_;
            q_found = q_;
            if (result.iterations.size() - before <= kEasy)
                increment = std::min(2 * increment, 1.0 / options_.load_steps);
        } else {
            increment /= 2;
            u_ = result.u;
            q_ = q_found;
        }
    }
    result.energy = model_.energy(result.u, model_ws_);
    result.smallest_det_F = model_.smallest_det_F(result.u, model_ws_);
    if (result.load_fraction < 1)
        result.status = StaticStatus::NotConverged;
    else if (is_collapsed(result.smallest_det_F))
        result.status = StaticStatus::Collapsed;
    if (!result.has_converged()) result.message = failure_text(result);
    return result;
}

}  // namespace

std::string_view to_string(StaticStatus status) noexcept {
    switch (status) {
        case StaticStatus::Converged: return "converged";
        case StaticStatus::NotConverged: return "not converged";
        case StaticStatus::Collapsed: return "collapsed";
    }
    return "unknown";
}

VectorXd solve_linear_static(const FemModel& model, const Constraints& constraints,
                             const VectorXd& f, SolverKind kind) {
    assert(f.size() == model.num_unknowns());
    check_load(f);
    check_supported(model.mesh(), constraints);
    const FreeSystem system(model, constraints);
    Matrix K = model.make_matrix(), K_free = system.make_matrix();
    VectorXd u = VectorXd::Zero(model.num_unknowns()), R = u;
    model.force_and_tangent(u, R, K);
    auto ws = system.make_workspace();
    system.fold(K, K_free, ws);

    // the prescribed displacements load the free unknowns through K
    VectorXd q = VectorXd::Zero(system.num_unknowns());
    system.expand(q, 1.0, u);
    R += K * u;
    const VectorXd rest = f - R;
    system.fold(rest, q);
    const auto solver = make_linear_solver(kind);
    if (const FactorResult factored = solver->factor(K_free); !factored.is_ok())
        throw_unfactored(factored, system);
    solver->solve_in_place(q);
    system.expand(q, 1.0, u);
    return u;
}

StaticResult solve_static(const FemModel& model, const Constraints& constraints, const VectorXd& f,
                          const StaticOptions& options, Progress& progress) {
    assert(f.size() == model.num_unknowns());
    check_option(options.load_steps > 0, "load_steps", options.load_steps, "value > 0");
    check_option(options.max_iterations > 0, "max_iterations", options.max_iterations, "value > 0");
    check_option(options.max_halvings >= 0, "max_halvings", options.max_halvings, "value >= 0");
    check_option(options.tolerance > 0, "tolerance", options.tolerance, "value > 0");
    check_load(f);
    check_supported(model.mesh(), constraints);
    return StaticSolver(model, constraints, f, options, progress).run();
}

}  // namespace pliant
