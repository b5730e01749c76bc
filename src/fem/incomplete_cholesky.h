#pragma once

#include "fem/block_matrix.h"

namespace pliant {

/// Incomplete factor of a block matrix on its own pattern, as a preconditioner.
class IncompleteCholesky {
public:
    /// Allocates.
    void set_pattern(const BlockMatrix& A);
    /// Raises the diagonal until all pivots are positive; if nothing helps, takes the diagonal
    /// blocks `D_inverse` alone.
    void factor(const BlockMatrix& A, const std::vector<double>& D_inverse) noexcept;
    /// z = ((I + L) D (I + L)ᵀ)⁻¹ r.
    void apply(const double* r, double* z) noexcept;
    [[nodiscard]] double shift() const noexcept { return shift_; }

private:
    int num_rows_ = 0;
    std::vector<int> offsets_, columns_, upper_offsets_, upper_columns_;
    std::vector<int> sources_;  ///< blocks of A
    std::vector<int> transposed_, update_offsets_, updates_;
    std::vector<double> A_lower_, A_diagonal_, scaled_, L_, L_transposed_, D_inverse_, work_;
    double shift_ = 0;
};

}  // namespace pliant
