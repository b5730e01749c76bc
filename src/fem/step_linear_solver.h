#pragma once

#include "pliant/fem/implicit_dynamics.h"

#include <functional>
#include <vector>

namespace pliant {

/// What became of one linear system of an implicit step.
struct StepSolution {
    bool is_solved = false;  ///< to the tolerance; otherwise x is the last iterate, or zero
    int iterations = 0;
    double relative_residual = 1;
    double shift = 0;  ///< times the mass, added to the diagonal: docs/fem.md eq. (T8)
};

/// q = A p of the unknowns that are left.
using StepOperator = std::function<void(const Eigen::VectorXd& p, Eigen::VectorXd& q)>;

/// Solves the systems A x = b of one step after the other, for matrices of one pattern that change
/// little in between. Allocates nothing after construction with StepSolver::ConjugateGradient.
class StepLinearSolver {
public:
    using Matrix = FemModel::Matrix;

    /// `mass`: of the unknowns, positive; the measure of shifts.
    StepLinearSolver(const Matrix& pattern, Eigen::VectorXd mass, const ImplicitOptions& options);

    /// `x` holds a guess on entry. `mass_factor` turns mass into an entry of A; where A is not
    /// positive definite, its diagonal is raised by multiples of mass_factor · mass, in place.
    /// With an `exact` operator A serves the preconditioner of the conjugate gradients alone.
    [[nodiscard]] StepSolution solve(Matrix& A, double mass_factor, const Eigen::VectorXd& b,
                                     Eigen::VectorXd& x,
                                     const StepOperator& exact = nullptr) noexcept;

private:
    enum class Outcome { Solved, NotSolved, NotPositiveDefinite };

    [[nodiscard]] Outcome solve_once(const Matrix& A, double mass_factor, const Eigen::VectorXd& b,
                                     Eigen::VectorXd& x, const StepOperator& exact,
                                     StepSolution& solution) noexcept;
    [[nodiscard]] Outcome solve_directly(const Matrix& A, const Eigen::VectorXd& b,
                                         Eigen::VectorXd& x, StepSolution& solution) noexcept;
    [[nodiscard]] Outcome iterate(const Matrix& A, double mass_factor, const Eigen::VectorXd& b,
                                  Eigen::VectorXd& x, const StepOperator& exact,
                                  StepSolution& solution) noexcept;

    StepSolver kind_;
    Eigen::VectorXd mass_, residual_;
    std::vector<int> diagonal_;  ///< places of the diagonal entries of A
    ConjugateGradient cg_;
    std::unique_ptr<LinearSolver> direct_;
    bool renew_ = true;         ///< the incomplete factor at the next call
    double renewed_at_ = 0;     ///< its mass_factor
    int fresh_iterations_ = 0;  ///< of the solution with the new factor
    int lost_iterations_ = 0;   ///< beyond that number, since then
};

}  // namespace pliant
