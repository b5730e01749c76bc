#pragma once

#include "reduction/aligned_array.h"
#include "reduction/dense_cholesky.h"

#include <Eigen/Cholesky>

namespace pliant {

/// Dense symmetric systems of one size, by Cholesky or, where the matrix is not positive definite,
/// by LDLᵀ. The matrix is written anew before each solution, both triangles. Allocates nothing
/// after construction.
class SymmetricSolver {
public:
    using Matrix = Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>>;

    SymmetricSolver(int size, int max_loads);

    /// Where A is to be written for solve_definite(), which destroys it.
    [[nodiscard]] Matrix definite() noexcept;
    /// X ← A⁻¹ X for its first columns. False, and X as it was, unless A is positive definite.
    [[nodiscard]] bool solve_definite(Eigen::MatrixXd& X, int num_loads) noexcept;

    /// The same for any symmetric A. False when it is singular or not finite.
    [[nodiscard]] Matrix indefinite() noexcept;
    [[nodiscard]] bool solve_indefinite(Eigen::MatrixXd& X, int num_loads) noexcept;

private:
    CholeskyLayout layout_;
    AlignedArray<double> A_, x_;
    Eigen::MatrixXd general_;
    Eigen::VectorXd load_;
    Eigen::LDLT<Eigen::MatrixXd> ldlt_;
};

}  // namespace pliant
