#pragma once

#include <cstddef>
#include <cstdint>

/// Kernels of surfaces carried by a subspace, compiled for each instruction set; docs/reduction.md
/// eq. (22).
namespace pliant {

/// Longest row.
inline constexpr int kMaxSurfaceColumns = 1024;

/// A matrix by rows, `size` entries of each in use, next rows `stride` entries apart. Nothing
/// beyond the entries in use is read.
template <class T>
struct SurfaceRows {
    const T* values;
    int size, stride;
};

/// out_i = base_i + row_i · q for `num_rows` rows; base may be null for zero.
void multiply_rows(const SurfaceRows<float>& rows, std::size_t num_rows, const float* q,
                   const float* base, float* out) noexcept;
void multiply_rows(const SurfaceRows<std::int16_t>& rows, std::size_t num_rows, const float* q,
                   const float* base, float* out) noexcept;
/// The same for rows 3v, 3v + 1, 3v + 2 of the vertices listed; base is that of all rows.
void multiply_rows_of(const int* vertices, std::size_t num_vertices, const SurfaceRows<float>& rows,
                      const float* q, const float* base, float* out) noexcept;
void multiply_rows_of(const int* vertices, std::size_t num_vertices,
                      const SurfaceRows<std::int16_t>& rows, const float* q, const float* base,
                      float* out) noexcept;

}  // namespace pliant
