#include "fem/step_linear_solver.h"

#include <algorithm>
#include <cassert>
#include <new>

namespace pliant {
namespace {

/// Shifts tried are kFirstShift · 4^k times the mass.
constexpr double kFirstShift = 1;
constexpr int kMaxShifts = 12;
/// Iterations that cost as much as a new incomplete factor.
constexpr int kRenewalCost = 8;

}  // namespace

StepLinearSolver::StepLinearSolver(const Matrix& pattern, Eigen::VectorXd mass,
                                   const ImplicitOptions& options)
    : kind_(options.solver), mass_(std::move(mass)), cg_(options.cg) {
    residual_ = Eigen::VectorXd::Zero(pattern.cols());
    diagonal_.reserve(static_cast<std::size_t>(pattern.cols()));
    for (int j = 0; j < pattern.cols(); ++j) {
        const int* const rows = pattern.innerIndexPtr();
        const int* const end = rows + pattern.outerIndexPtr()[j + 1];
        const int* const entry = std::lower_bound(rows + pattern.outerIndexPtr()[j], end, j);
        assert(entry != end && *entry == j);
        diagonal_.push_back(static_cast<int>(entry - rows));
    }
    if (kind_ == StepSolver::ConjugateGradient) {
        cg_.analyse(pattern);
    } else {
        direct_ = make_linear_solver();
        if (!direct_->analyse(pattern).is_ok())
            throw InputError("", "there is not enough memory to factor the matrix of " +
                                     std::to_string(pattern.cols()) +
                                     " unknowns; use the conjugate gradient solver");
    }
}

StepSolution StepLinearSolver::solve(Matrix& A, double mass_factor, const Eigen::VectorXd& b,
                                     Eigen::VectorXd& x, const StepOperator& exact) noexcept {
    // the factor of a very different step length is of little use
    if (!(mass_factor < 2 * renewed_at_ && renewed_at_ < 2 * mass_factor)) renew_ = true;
    if (renew_) renewed_at_ = mass_factor;
    StepSolution solution;
    Outcome outcome = solve_once(A, mass_factor, b, x, exact, solution);
    for (int k = 0; k < kMaxShifts && outcome == Outcome::NotPositiveDefinite; ++k) {
        const double shift = k == 0 ? kFirstShift : 4 * solution.shift;
        for (std::size_t i = 0; i < diagonal_.size(); ++i)
            A.valuePtr()[diagonal_[i]] += (shift - solution.shift) * mass_factor * mass_[i];
        solution.shift = shift;
        x.setZero();
        outcome = solve_once(A, mass_factor, b, x, exact, solution);
    }
    solution.is_solved = outcome == Outcome::Solved;
    return solution;
}

StepLinearSolver::Outcome StepLinearSolver::solve_once(const Matrix& A, double mass_factor,
                                                       const Eigen::VectorXd& b, Eigen::VectorXd& x,
                                                       const StepOperator& exact,
                                                       StepSolution& solution) noexcept {
    return kind_ == StepSolver::Direct ? solve_directly(A, b, x, solution)
                                       : iterate(A, mass_factor, b, x, exact, solution);
}

StepLinearSolver::Outcome StepLinearSolver::solve_directly(const Matrix& A,
                                                           const Eigen::VectorXd& b,
                                                           Eigen::VectorXd& x,
                                                           StepSolution& solution) noexcept {
    try {
        const FactorResult factored = direct_->factor(A);
        if (factored.status == FactorStatus::NotPositiveDefinite ||
            factored.status == FactorStatus::Singular)
            return Outcome::NotPositiveDefinite;
        if (!factored.is_ok()) return Outcome::NotSolved;
        x = b;
        direct_->solve_in_place(x);
    } catch (const std::bad_alloc&) {
        return Outcome::NotSolved;
    }
    residual_ = b;
    residual_.noalias() -= A * x;
    solution.relative_residual = residual_.norm() / b.norm();
    return x.allFinite() ? Outcome::Solved : Outcome::NotSolved;
}

StepLinearSolver::Outcome StepLinearSolver::iterate(const Matrix& A, double mass_factor,
                                                    const Eigen::VectorXd& b, Eigen::VectorXd& x,
                                                    const StepOperator& exact,
                                                    StepSolution& solution) noexcept {
    const bool is_shifted = solution.shift > 0;
    const bool renews = renew_ || is_shifted;
    cg_.set_values(A, renews);
    const auto apply = [&](const Eigen::VectorXd& p, Eigen::VectorXd& q) {
        exact(p, q);
        if (is_shifted) q += (solution.shift * mass_factor) * mass_.cwiseProduct(p);
    };
    const CgResult result = exact ? cg_.solve(apply, b, x) : cg_.solve(b, x);
    solution.iterations += result.iterations;
    solution.relative_residual = result.relative_residual;

    // renewed when the iterations that an old factor costs add up to the price of a new one
    if (renews) {
        fresh_iterations_ = result.iterations;
        lost_iterations_ = 0;
    }
    lost_iterations_ += std::max(0, result.iterations - fresh_iterations_);
    renew_ = lost_iterations_ >= kRenewalCost || is_shifted || result.status != CgStatus::Converged;

    if (result.status == CgStatus::NotPositiveDefinite) return Outcome::NotPositiveDefinite;
    return result.status == CgStatus::Converged ? Outcome::Solved : Outcome::NotSolved;
}

}  // namespace pliant
