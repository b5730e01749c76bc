#include "fem/complementarity.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace pliant {
namespace {

/// Pivots below this part of the diagonal are rounding: the row depends on the active ones.
constexpr double kDependent = 1e-12;
/// Rows violated by less than this part of their largest terms count as met.
constexpr double kViolation = 1e-13;
constexpr int kFallbackSweeps = 500;
constexpr double kFallbackTolerance = 1e-8;

}  // namespace

Complementarity::Complementarity(int capacity)
    : L_(RowMatrix::Zero(capacity, capacity)),
      is_active_(static_cast<std::size_t>(capacity), 0),
      is_refused_(static_cast<std::size_t>(capacity), 0),
      work_(Eigen::VectorXd::Zero(capacity)) {
    active_.reserve(static_cast<std::size_t>(capacity));
}

bool Complementarity::add(const ConstMatrixRef& S, int row) noexcept {
    // border the factor: L y = S_Aj, pivot² = S_jj − y·y
    const auto m = static_cast<int>(active_.size());
    auto y = L_.row(m);
    double pivot = S(row, row);
    for (int r = 0; r < m; ++r) {
        y[r] = (S(active_[r], row) - y.head(r).dot(L_.row(r).head(r))) / L_(r, r);
        pivot -= y[r] * y[r];
    }
    is_refused_[row] = !(pivot > kDependent * S(row, row));
    if (is_refused_[row]) return false;
    y[m] = std::sqrt(pivot);
    active_.push_back(row);
    is_active_[row] = 1;
    return true;
}

void Complementarity::drop(int position) noexcept {
    is_active_[active_[position]] = 0;
    active_.erase(active_.begin() + position);
    const auto m = static_cast<int>(active_.size());
    // the rows below move up and reach one place too far to the right; rotations turn them back
    for (int r = position; r < m; ++r) L_.row(r).head(r + 2) = L_.row(r + 1).head(r + 2);
    for (int k = position; k < m; ++k) {
        const double length = std::hypot(L_(k, k), L_(k, k + 1));
        const double cosine = L_(k, k) / length, sine = L_(k, k + 1) / length;
        for (int r = k; r < m; ++r) {
            const double left = L_(r, k), right = L_(r, k + 1);
            L_(r, k) = cosine * left + sine * right;
            L_(r, k + 1) = cosine * right - sine * left;
        }
    }
    // what depended on the dropped row may be added now
    std::ranges::fill(is_refused_, char{0});
}

void Complementarity::back_substitute(Ref y) const noexcept {
    const auto m = static_cast<int>(active_.size());
    for (int r = 0; r < m; ++r) y[r] = (y[r] - L_.row(r).head(r).dot(y.head(r))) / L_(r, r);
    for (int r = m - 1; r >= 0; --r) {
        y[r] /= L_(r, r);
        y.head(r) -= y[r] * L_.row(r).head(r).transpose();
    }
}

Complementarity::Result Complementarity::solve(const ConstMatrixRef& S, const ConstRef& c,
                                               bool is_same_matrix, Ref lambda,
                                               int max_changes) noexcept {
    const auto k = static_cast<int>(c.size());
    assert(k <= L_.rows() && S.rows() == k && S.cols() == k && lambda.size() == k);
    std::ranges::fill(is_refused_, char{0});
    if (!is_same_matrix) {
        active_.clear();
        std::ranges::fill(is_active_, char{0});
        for (int row = 0; row < k; ++row) add(S, row);
    }
    if (max_changes < 0) max_changes = 4 * k + 16;

    Result result;
    for (;; ++result.num_changes) {
        const auto m = static_cast<int>(active_.size());
        auto forces = work_.head(m);
        for (int r = 0; r < m; ++r) forces[r] = c[active_[r]];
        back_substitute(forces);
        lambda.setZero();
        for (int r = 0; r < m; ++r) lambda[active_[r]] = forces[r];
        if (result.num_changes == max_changes) break;

        int worst = -1;
        if (m > 0 && forces.minCoeff(&worst) < 0) {
            drop(worst);
            continue;
        }
        // all push: is some row left behind?
        bool is_added = false;
        while (!is_added) {
            double largest = 0;
            worst = -1;
            for (int row = 0; row < k; ++row) {
                if (is_active_[row] || is_refused_[row]) continue;
                const double violation = c[row] - S.col(row).dot(lambda);
                if (violation <= largest) continue;
                const double terms = std::abs(c[row]) + S.col(row).cwiseAbs().dot(lambda);
                if (violation <= kViolation * terms) continue;
                largest = violation;
                worst = row;
            }
            if (worst < 0) return result;
            is_added = add(S, worst);
        }
    }

    // the changes go round in circles
    lambda = lambda.cwiseMax(0.0);
    result.has_converged =
        project_gauss_seidel(S, c, kFallbackSweeps, lambda) <= kFallbackTolerance;
    active_.clear();
    std::ranges::fill(is_active_, char{0});
    for (int row = 0; row < k; ++row)
        if (lambda[row] > 0 && !add(S, row)) lambda[row] = 0;
    return result;
}

void Complementarity::solve_active(Ref x) noexcept {
    const auto m = static_cast<int>(active_.size());
    auto y = work_.head(m);
    for (int r = 0; r < m; ++r) y[r] = x[active_[r]];
    back_substitute(y);
    x.setZero();
    for (int r = 0; r < m; ++r) x[active_[r]] = y[r];
}

double project_gauss_seidel(const Complementarity::ConstMatrixRef& S,
                            const Complementarity::ConstRef& c, int sweeps,
                            Complementarity::Ref lambda) noexcept {
    const auto k = static_cast<int>(c.size());
    for (int sweep = 0; sweep < sweeps; ++sweep)
        for (int row = 0; row < k; ++row)
            if (S(row, row) > 0)
                lambda[row] =
                    std::max(0.0, lambda[row] + (c[row] - S.col(row).dot(lambda)) / S(row, row));
    double violation = 0;
    for (int row = 0; row < k; ++row) {
        const double excess = S.col(row).dot(lambda) - c[row];
        violation = std::max(violation, lambda[row] > 0 ? std::abs(excess) : -excess);
    }
    const double scale = k > 0 ? c.cwiseAbs().maxCoeff() : 0.0;
    return scale > 0 ? violation / scale : violation;
}

}  // namespace pliant
