#include "pliant/reduction/basis.h"

#include "core/dense_algebra.h"
#include "pliant/core/error.h"

#include <cassert>
#include <cmath>

namespace pliant {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Sparse = Eigen::SparseMatrix<double>;

double Basis::captured() const noexcept {
    const double all = singular_values.squaredNorm();
    return all > 0 ? singular_values.head(size()).squaredNorm() / all : 0.0;
}

Basis mass_pca(const MatrixXd& X, const Sparse& M, int r) {
    const auto n = static_cast<int>(X.cols());
    if (r < 1 || r > n)
        throw InputError("", "r", std::to_string(r),
                         "1 to " + std::to_string(n) + ", the number of shapes to choose from");
    // A Gram matrix shows singular values down to the root of rounding beside the largest. What the
    // first round finds is taken out of the shapes, and the next one sees what was hidden.
    constexpr double kSeen = 1e-6, kRounding = 1e-13;
    MatrixXd rest = X, principal(X.rows(), 0);
    VectorXd squares, values(n);
    double largest = 0;
    int rank = 0;
    for (bool is_first = true; rank < r; is_first = false) {
        const MatrixXd M_rest = M * rest;
        const SymmetricEigen eigen = symmetric_eigen(rest.transpose() * M_rest);
        squares = eigen.values.reverse().head(n - rank).cwiseMax(0.0);
        if (is_first) largest = std::sqrt(squares[0]);
        const double limit = std::max(kSeen * std::sqrt(squares[0]), kRounding * largest);
        int found = 0;
        while (rank + found < r && squares[found] > limit * limit) ++found;
        if (found == 0) break;
        MatrixXd joined(X.rows(), rank + found);
        joined << principal, rest * eigen.vectors.rowwise().reverse().leftCols(found);
        principal = mass_gram_schmidt(joined, M);
        found = static_cast<int>(principal.cols()) - rank;
        if (found == 0) break;
        values.segment(rank, found) = squares.head(found).cwiseSqrt();
        rank += found;
        rest.noalias() -= principal * (principal.transpose() * (M * rest)).eval();
    }
    values.tail(n - rank) = squares.tail(n - rank).cwiseSqrt();
    return {principal, values};
}

MatrixXd mass_gram_schmidt(const MatrixXd& X, const Sparse& M) {
    MatrixXd U(X.rows(), X.cols()), MU(X.rows(), X.cols());
    Eigen::Index count = 0;
    for (Eigen::Index j = 0; j < X.cols(); ++j) {
        VectorXd x = X.col(j);
        const double length = std::sqrt(std::max(x.dot(VectorXd(M * x)), 0.0));
        if (length == 0) continue;
        x /= length;
        // twice is enough [GiraudLangouRozloznik2005]
        for (int pass = 0; pass < 2; ++pass) {
            const VectorXd overlap = MU.leftCols(count).transpose() * x;
            x.noalias() -= U.leftCols(count) * overlap;
        }
        const VectorXd Mx = M * x;
        const double rest = std::sqrt(std::max(x.dot(Mx), 0.0));
        // what is left of a dependent column is rounding
        if (rest < 1e-10) continue;
        U.col(count) = x / rest;
        MU.col(count) = Mx / rest;
        ++count;
    }
    return U.leftCols(count);
}

MatrixXd weighted_modes_and_derivatives(const LinearModes& modes, const MatrixXd& derivatives,
                                        const Sparse& M) {
    const int k = modes.size();
    assert(derivatives.cols() == k * (k + 1) / 2);
    const double lowest = modes.eigenvalues[0];
    MatrixXd X(modes.shapes.rows(), k + derivatives.cols());
    for (int j = 0; j < k; ++j) X.col(j) = lowest / modes.eigenvalues[j] * modes.shapes.col(j);
    Eigen::Index column = k;
    for (int j = 0; j < k; ++j)
        for (int i = 0; i <= j; ++i, ++column) {
            const auto derivative = derivatives.col(column - k);
            const double length = std::sqrt(derivative.dot(VectorXd(M * derivative)));
            const double weight = lowest * lowest / (modes.eigenvalues[i] * modes.eigenvalues[j]);
            X.col(column) = (length > 0 ? weight / length : 0.0) * derivative;
        }
    return X;
}

void remove_rigid(const MatrixXd& rigid, const Sparse& M, MatrixXd& X) {
    if (rigid.cols() == 0) return;
    const MatrixXd overlap = rigid.transpose() * (M * X);
    X.noalias() -= rigid * overlap;
}

Basis merge_bases(std::span<const MatrixXd> bases, const Sparse& M, int r) {
    Eigen::Index columns = 0;
    for (const MatrixXd& basis : bases) columns += basis.cols();
    MatrixXd X(M.rows(), columns);
    columns = 0;
    for (const MatrixXd& basis : bases) {
        X.middleCols(columns, basis.cols()) = basis;
        columns += basis.cols();
    }
    return mass_pca(X, M, r);
}

}  // namespace pliant
