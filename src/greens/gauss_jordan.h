#pragma once

#include <cstddef>

namespace pliant {

/// What an inversion in place works with, besides the matrix.
struct GaussJordanScratch {
    double* factors;  ///< 4 · size places
    int* pivots;      ///< size places
};

/// A ← A⁻¹ by exchange of four columns at a time, with pivots from the rows that are left,
/// docs/greens.md eq. (9). A lies by columns, `stride` apart, with zeros in the padding of its rows
/// (padded_rows). False when a pivot is zero to rounding; A is then spoilt. 2 size³ operations.
[[nodiscard]] bool invert_in_place(double* A, std::size_t stride, int size,
                                   const GaussJordanScratch& scratch) noexcept;

}  // namespace pliant
