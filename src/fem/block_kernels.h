#pragma once

/// Kernels on 3 × 3 blocks, compiled for each instruction set. Blocks are nine doubles by columns;
/// every array of blocks or block vectors has one more double at its end, because kernels read and
/// rewrite four doubles at a time.
namespace pliant {

/// Sparse rows of blocks.
struct BlockRows {
    int num_rows;
    const int *offsets, *columns;
    const double* values;
};

/// y = A x.
void multiply_blocks(const BlockRows& A, const double* x, double* y) noexcept;
/// y_i = D_i x_i.
void multiply_diagonal_blocks(int num_rows, const double* D, const double* x, double* y) noexcept;
/// Solves (I + L) y = b in place, L strictly lower.
void solve_unit_lower(const BlockRows& L, double* y) noexcept;
/// Solves (I + U) y = b in place, U strictly upper.
void solve_unit_upper(const BlockRows& U, double* y) noexcept;

/// A ≈ (I + L) D (I + L)ᵀ on the pattern of A, docs/fem.md eq. (S5).
struct IncompleteFactorBlocks {
    int num_rows;
    const int *offsets, *columns;  ///< rows of L
    const int* update_offsets;     ///< for block ij of L the blocks ik and jk of L, k < j, …
    const int* updates;            ///< … as pairs
    const int* transposed;         ///< where block ij stands in Lᵀ
    const double *A_lower, *A_diagonal;
    double* scaled;  ///< L D, work space
    double *L, *L_transposed, *D_inverse;
};
/// With the diagonal of A multiplied by 1 + shift. False if a pivot is not clearly positive.
[[nodiscard]] bool factor_incompletely(const IncompleteFactorBlocks& factor, double shift) noexcept;

/// Inverse of a symmetric positive definite block. False, and nothing written, if a pivot is below
/// 1e-4 of its entry in `reference`, the block's diagonal before elimination.
[[nodiscard]] bool invert_definite_block(const double* block, const double* reference,
                                         double* inverse) noexcept;

}  // namespace pliant
