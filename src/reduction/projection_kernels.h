#pragma once

/// Kernels of UᵀKU, compiled for each instruction set. Matrices of basis vectors are stored by
/// rows of `stride` doubles, a multiple of kProjectionWidth, with zeros behind the last vector, and
/// begin at multiples of 64 bytes.
namespace pliant {

inline constexpr int kProjectionWidth = 8;

/// A symmetric sparse matrix by columns, both triangles; the three columns of a node fill the same
/// rows.
struct SymmetricColumns {
    const int *offsets, *rows;
    const double* values;
};

/// Rows of K U for the nodes [first, end), three each, into Y.
void multiply_by_basis(const SymmetricColumns& K, int first, int end, const double* U, int stride,
                       double* Y) noexcept;
/// C += AᵀB: at least the upper triangle of `stride` rows of `stride`, with A and B of `num_rows`.
void add_upper_product(int num_rows, int stride, const double* A, const double* B,
                       double* C) noexcept;

}  // namespace pliant
