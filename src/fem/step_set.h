#pragma once

#include "pliant/fem/linear_solver.h"

#include <memory>
#include <span>
#include <vector>

namespace pliant {

/// Factors of A(dt) = M + dt/2 D for dt = T, T/2, T/4, … and of M itself, docs/fem.md eq. (T10).
/// All have the pattern of M + D and one order of elimination. Without damping they are one matrix,
/// which is factored once.
class StepSet {
public:
    using Matrix = LinearSolver::Matrix;

    /// Throws InputError when a matrix is not positive definite or memory is short, and for a
    /// solver that this build lacks. `order` as in LinearSolver::analyse.
    StepSet(const Matrix& M, const Matrix& D, std::span<const int> order, double largest_step,
            int num_steps, SolverKind kind);

    [[nodiscard]] int size() const noexcept { return static_cast<int>(lengths_.size()); }
    [[nodiscard]] double length(int i) const noexcept { return lengths_[i]; }
    /// Equal for steps with the same matrix.
    [[nodiscard]] int matrix_of(int i) const noexcept { return factors_.size() == 1 ? 0 : i + 1; }

    /// b = A(T/2^i)⁻¹ b, one right-hand side per column. No allocation with EigenLdlt.
    void solve(int i, Eigen::Ref<Eigen::MatrixXd> b) { solve_matrix(matrix_of(i), b); }
    void solve_mass(Eigen::Ref<Eigen::MatrixXd> b) { solve_matrix(0, b); }

    /// Of one of the factors.
    [[nodiscard]] const SolverStatistics& statistics() const noexcept {
        return factors_.back()->statistics();
    }

private:
    void solve_matrix(int m, Eigen::Ref<Eigen::MatrixXd> b) {
        if (b.rows() > 0) factors_[m]->solve_in_place(b);
    }

    std::vector<double> lengths_;
    std::vector<std::unique_ptr<LinearSolver>> factors_;  // of M, and of each step if D is not zero
};

}  // namespace pliant
