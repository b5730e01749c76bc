#include "haptics/six_solve.h"

#include <Eigen/LU>
#include <array>
#include <cmath>
#include <numeric>

namespace pliant {

namespace {

/// Rᵀ of A P = Q R by Gram and Schmidt, the longest column first; `order`: P. The singular values
/// and right vectors of A (in this order) are those of R, and Q is not needed.
Matrix6d graded_rows(Matrix6d A, std::array<int, 6>& order) noexcept {
    std::iota(order.begin(), order.end(), 0);
    Matrix6d L = Matrix6d::Zero();
    for (int k = 0; k < 6; ++k) {
        int pivot = k;
        double longest = A.col(k).squaredNorm();
        for (int j = k + 1; j < 6; ++j)
            if (const double square = A.col(j).squaredNorm(); square > longest) {
                longest = square;
                pivot = j;
            }
        if (!(longest > 0)) break;
        if (pivot != k) {
            A.col(k).swap(A.col(pivot));
            L.row(k).swap(L.row(pivot));
            std::swap(order[static_cast<std::size_t>(k)], order[static_cast<std::size_t>(pivot)]);
        }
        const double length = std::sqrt(longest);
        const Vector6d q = A.col(k) / length;
        L(k, k) = length;
        for (int j = k + 1; j < 6; ++j) {
            const double along = q.dot(A.col(j));
            L(j, k) = along;
            A.col(j) -= along * q;
        }
    }
    return L;
}

}  // namespace

RightSingular right_singular(const Matrix6d& A, double least) noexcept {
    // the columns of Rᵀ are graded, and turning them by pairs until all are orthogonal (one-sided
    // Jacobi) takes few sweeps; Rᵀ W = V Σ
    std::array<int, 6> order;
    Matrix6d L = graded_rows(A, order);
    Vector6d squares = L.colwise().squaredNorm();

    // pairs that together stay below the bound need no turning; a sweep is of 15 pairs
    const double ignored = least * least / 6 * squares.maxCoeff();
    constexpr double kOrthogonal = 1e-11;
    constexpr int kMaxSweeps = 12;  // convergence is quadratic: five are usual
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
        bool is_done = true;
        for (int p = 0; p < 5; ++p)
            for (int q = p + 1; q < 6; ++q) {
                const double pp = squares[p], qq = squares[q];
                if (pp < ignored && qq < ignored) continue;
                const double pq = L.col(p).dot(L.col(q));
                if (!(pq * pq > kOrthogonal * kOrthogonal * pp * qq)) continue;
                is_done = false;
                const double zeta = (qq - pp) / (2 * pq);
                const double t =
                    std::copysign(1.0, zeta) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
                const double c = 1 / std::sqrt(1 + t * t), s = c * t;
                const Vector6d column = L.col(p);
                L.col(p) = c * column - s * L.col(q);
                L.col(q) = s * column + c * L.col(q);
                squares[p] = pp - t * pq;
                squares[q] = qq + t * pq;
            }
        if (is_done) break;
        squares = L.colwise().squaredNorm();  // updates lose digits of small ones
    }
    RightSingular out;
    out.values = squares.cwiseSqrt();
    for (int j = 0; j < 6; ++j) {
        const double scale = out.values[j] > 0 ? 1 / out.values[j] : 0;
        for (int i = 0; i < 6; ++i) out.V(order[static_cast<std::size_t>(i)], j) = scale * L(i, j);
    }
    return out;
}

SixSolution solve_six(const Matrix6d& A, const Vector6d& b, const Vector6d& goal, double threshold,
                      CouplingSolve solve) noexcept {
    SixSolution out;
    // ‖A‖ ‖A⁻¹‖ in Frobenius norms bounds the condition from above: no direction is degenerate
    const Matrix6d inverse = A.inverse();
    const double bound = A.norm() * inverse.norm();
    if (solve == CouplingSolve::Lu || bound * threshold <= 1) {
        out.x = inverse * b;
        out.is_good = out.x.allFinite();
        return out;
    }
    const RightSingular svd = right_singular(A, threshold);
    const double least = threshold * svd.values.maxCoeff();
    // u = A v / σ: only right vectors are needed; squares of ratios down to the threshold cost no
    // more digits than a step has
    const Vector6d projected = A.transpose() * b;
    const bool follows = solve == CouplingSolve::Svd;
    if (follows) out.x = goal;
    for (int j = 0; j < 6; ++j) {
        const double value = svd.values[j];
        if (!(value >= least) || !(value > 0)) {
            ++out.num_degenerate;
            continue;
        }
        const Vector6d v = svd.V.col(j);
        // the degenerate rest of `goal` is what the other directions leave of it
        const double along = v.dot(projected) / (value * value);
        out.x += (along - (follows ? v.dot(goal) : 0.0)) * v;
    }
    out.is_good = out.x.allFinite();
    return out;
}

}  // namespace pliant
