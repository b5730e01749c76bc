#pragma once

#include "pliant/core/progress.h"

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <functional>

namespace pliant {

struct EigenPairs {
    Eigen::VectorXd values;   ///< descending
    Eigen::MatrixXd vectors;  ///< M-orthonormal columns
    int num_solves = 0;       ///< right-hand sides
};

/// The largest `count` eigenvalues θ of B⁻¹M x = θ x for symmetric positive definite B and M, by
/// thick-restarted block Lanczos in the inner product of M [GrimesLewisSimon1994]: solves come in
/// blocks, which costs a direct solver a fraction of single ones, and clusters up to the block's
/// size are found at once. `solve` overwrites each column b by B⁻¹b. Vectors stay M-orthogonal to
/// the columns of `deflated`, which must be M-orthonormal and invariant. Converged when the
/// residual |B⁻¹M x − θ x|_M ≤ tolerance θ. Throws std::runtime_error when that does not happen.
[[nodiscard]] EigenPairs largest_eigenpairs(
    const std::function<void(Eigen::Ref<Eigen::MatrixXd>)>& solve,
    const Eigen::SparseMatrix<double>& M, int count, double tolerance,
    const Eigen::MatrixXd& deflated, Progress& progress);

}  // namespace pliant
