#pragma once

/// Kernels of the contact solver, compiled for each instruction set. Lengths are multiples of
/// kRowPadding, numbers beyond what is meant are zero.
namespace pliant {

inline constexpr int kRowPadding = 8;
[[nodiscard]] constexpr int padded_row(int size) noexcept {
    return (size + kRowPadding - 1) / kRowPadding * kRowPadding;
}

/// Σ a b.
[[nodiscard]] double dot_rows(const double* a, const double* b, int count) noexcept;
/// y += factor x.
void add_row(double factor, const double* x, double* y, int count) noexcept;

}  // namespace pliant
