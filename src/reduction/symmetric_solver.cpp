#include "reduction/symmetric_solver.h"

#include <cassert>

namespace pliant {
namespace {

/// Diagonal pivots do not suit every indefinite matrix: a solution is taken when the remainder is
/// at most this part of the load.
constexpr double kLargestRemainder = 1e-6;

}  // namespace

SymmetricSolver::SymmetricSolver(int size, int max_loads)
    : layout_{size, max_loads},
      A_(layout_.num_values()),
      x_(static_cast<std::size_t>(layout_.padded())),
      general_(size, size),
      load_(size),
      ldlt_(size) {
    prepare_cholesky(layout_, A_.data());
}

SymmetricSolver::Matrix SymmetricSolver::definite() noexcept {
    return {A_.data(), layout_.size, layout_.size, Eigen::OuterStride<>(layout_.stride())};
}
SymmetricSolver::Matrix SymmetricSolver::indefinite() noexcept {
    return {general_.data(), layout_.size, layout_.size, Eigen::OuterStride<>(layout_.size)};
}

bool SymmetricSolver::solve_definite(Eigen::MatrixXd& X, int num_loads) noexcept {
    assert(X.rows() == layout_.size && num_loads <= layout_.max_loads && num_loads <= X.cols());
    Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>> loads(
        A_.data() + layout_.padded(), layout_.max_loads, layout_.size,
        Eigen::OuterStride<>(layout_.stride()));
    for (int k = 0; k < num_loads; ++k) loads.row(k) = X.col(k);
    if (!cholesky_factor(layout_, A_.data(), num_loads)) return false;
    for (int k = 0; k < num_loads; ++k) {
        cholesky_back_solve(layout_, A_.data(), layout_.padded() + k, x_.data());
        X.col(k) = Eigen::Map<const Eigen::VectorXd>(x_.data(), layout_.size);
    }
    return true;
}

bool SymmetricSolver::solve_indefinite(Eigen::MatrixXd& X, int num_loads) noexcept {
    if (!general_.allFinite()) return false;
    ldlt_.compute(general_);
    if (ldlt_.info() != Eigen::Success) return false;
    for (int k = 0; k < num_loads; ++k) {
        load_ = X.col(k);
        auto x = X.col(k);
        ldlt_.solveInPlace(x);
        const double size = load_.norm();
        load_.noalias() -= general_ * x;
        // also NaN
        if (!(load_.norm() <= kLargestRemainder * size)) return false;
    }
    return true;
}

}  // namespace pliant
