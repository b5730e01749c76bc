#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace pliant {

/// Eigenvalues of a small symmetric matrix in ascending order, with orthonormal vectors as columns.
template <int N>
struct SmallEigen {
    Eigen::Vector<double, N> values;
    Eigen::Matrix<double, N, N> vectors;
};

/// Jacobi's method: plane rotations that zero one entry after the other. Accurate to rounding, no
/// allocation, bounded. Reads both triangles.
template <int N>
[[nodiscard]] SmallEigen<N> jacobi_eigen(Eigen::Matrix<double, N, N> A) noexcept {
    constexpr int kMaxSweeps = 30;  // convergence is quadratic: below ten are usual
    Eigen::Matrix<double, N, N> V = Eigen::Matrix<double, N, N>::Identity();
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
        bool is_diagonal = true;
        for (int p = 0; p < N; ++p)
            for (int q = p + 1; q < N; ++q) {
                const double size = std::sqrt(std::abs(A(p, p) * A(q, q)));
                if (!(std::abs(A(p, q)) > 1e-17 * size) || A(p, q) == 0) continue;
                is_diagonal = false;
                // tan 2θ = 2 A_pq / (A_qq − A_pp), the smaller angle
                const double theta = 0.5 * (A(q, q) - A(p, p)) / A(p, q);
                const double t =
                    std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(1, theta));
                const double c = 1 / std::hypot(1, t), s = t * c;
                const Eigen::Vector<double, N> row_p = A.row(p), row_q = A.row(q);
                A.row(p) = c * row_p - s * row_q;
                A.row(q) = s * row_p + c * row_q;
                const Eigen::Vector<double, N> col_p = A.col(p), col_q = A.col(q);
                A.col(p) = c * col_p - s * col_q;
                A.col(q) = s * col_p + c * col_q;
                A(p, q) = A(q, p) = 0;
                const Eigen::Vector<double, N> v_p = V.col(p), v_q = V.col(q);
                V.col(p) = c * v_p - s * v_q;
                V.col(q) = s * v_p + c * v_q;
            }
        if (is_diagonal) break;
    }
    int order[N];
    for (int i = 0; i < N; ++i) order[i] = i;
    for (int i = 1; i < N; ++i)
        for (int k = i; k > 0 && A(order[k], order[k]) < A(order[k - 1], order[k - 1]); --k)
            std::swap(order[k], order[k - 1]);
    SmallEigen<N> result;
    for (int i = 0; i < N; ++i) {
        result.values[i] = A(order[i], order[i]);
        result.vectors.col(i) = V.col(order[i]);
    }
    return result;
}

}  // namespace pliant
