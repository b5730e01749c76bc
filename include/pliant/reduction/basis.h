#pragma once

#include "pliant/reduction/modes.h"

#include <span>

namespace pliant {

/// Subspace u = U q of a body's displacements, UᵀMU = I.
struct Basis {
    Eigen::MatrixXd U;                ///< 3n × r, most important columns first
    Eigen::VectorXd singular_values;  ///< of all vectors it was made from, descending
    [[nodiscard]] int size() const noexcept { return static_cast<int>(U.cols()); }
    /// Σ σ² of the columns kept over all of them.
    [[nodiscard]] double captured() const noexcept;
};

/// The r-dimensional subspace that loses least of the columns of X in the norm of M,
/// docs/reduction.md eq. (7); no mean is subtracted. Fewer columns where X has lower rank. Throws
/// InputError for r < 1 or more than the columns of X.
[[nodiscard]] Basis mass_pca(const Eigen::MatrixXd& X, const Eigen::SparseMatrix<double>& M, int r);
/// Mass-orthonormal columns that span those of X, in their order; dependent ones are dropped.
[[nodiscard]] Eigen::MatrixXd mass_gram_schmidt(const Eigen::MatrixXd& X,
                                                const Eigen::SparseMatrix<double>& M);

/// Modes and derivatives, weighted by ratios of eigenvalues, for mass_pca, eq. (8).
[[nodiscard]] Eigen::MatrixXd weighted_modes_and_derivatives(const LinearModes& modes,
                                                             const Eigen::MatrixXd& derivatives,
                                                             const Eigen::SparseMatrix<double>& M);
/// Takes the rigid motions out of the columns of X: X − Ψ_R Ψ_Rᵀ M X.
void remove_rigid(const Eigen::MatrixXd& rigid, const Eigen::SparseMatrix<double>& M,
                  Eigen::MatrixXd& X);
/// One basis that spans all columns of several, at most r of them by mass_pca with equal weights.
[[nodiscard]] Basis merge_bases(std::span<const Eigen::MatrixXd> bases,
                                const Eigen::SparseMatrix<double>& M, int r);

}  // namespace pliant
