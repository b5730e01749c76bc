#pragma once

/// Kernel of the contact solver, compiled for each instruction set. The modes of a point are three
/// rows of `length` floats, its shifts along x, y and z; lengths are multiples of kRowPadding,
/// numbers beyond what is meant are zero.
namespace pliant {

inline constexpr int kRowPadding = 8;
[[nodiscard]] constexpr int padded_row(int size) noexcept {
    return (size + kRowPadding - 1) / kRowPadding * kRowPadding;
}

/// U diag(response) Uᵀ: xx, xy, xz, yy, yz, zz.
void point_response(const float* modes, const double* response, int length, double* sums) noexcept;

}  // namespace pliant
