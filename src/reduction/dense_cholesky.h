#pragma once

#include <cstddef>

namespace pliant {

/// Where a small symmetric matrix lies for its factorisation: lower triangle by columns, filled up
/// to a multiple of four rows with ones on the diagonal, and right-hand sides as further rows
/// below, so that the factorisation solves L y = b on the way.
struct CholeskyLayout {
    int size = 0;
    int max_loads = 1;

    [[nodiscard]] constexpr int padded() const noexcept { return (size + 3) / 4 * 4; }
    /// From column to column.
    [[nodiscard]] constexpr int stride() const noexcept { return num_rows(max_loads); }
    [[nodiscard]] constexpr int num_rows(int num_loads) const noexcept {
        return padded() + (num_loads + 3) / 4 * 4;
    }
    [[nodiscard]] constexpr std::size_t num_values() const noexcept {
        return static_cast<std::size_t>(padded()) * static_cast<std::size_t>(stride());
    }
};

/// Fills up with zeros and ones, which factorisations leave as they are: once for each array.
void prepare_cholesky(const CholeskyLayout& layout, double* A) noexcept;
/// A = L Lᵀ in place, with the reciprocals of the diagonal of L on the diagonal; the first
/// `num_loads` rows of loads become those of y. False when A is not positive definite to rounding.
/// `A` lies at a cache line.
[[nodiscard]] bool cholesky_factor(const CholeskyLayout& layout, double* A, int num_loads) noexcept;
/// x = L⁻ᵀ y for the load at `row`. `x` has padded() places.
void cholesky_back_solve(const CholeskyLayout& layout, const double* L, int row,
                         double* x) noexcept;

}  // namespace pliant
