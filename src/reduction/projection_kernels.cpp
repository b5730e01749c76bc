// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "reduction/projection_kernels.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduction/projection_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef PLIANT_UNROLL
#define PLIANT_UNROLL _Pragma("GCC unroll 8")
#endif

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<double, 4>;
using Vector = hn::Vec<Tag>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag()));

/// kVectors vectors of the three rows of one node; `values` of its columns are `count` apart.
template <int kVectors>
HWY_INLINE void multiply_columns(const int* rows, const double* values, int count, const double* U,
                                 int stride, double* Y) {
    const Tag d;
    Vector sums[3][kVectors];
    PLIANT_UNROLL for (int s = 0; s < 3; ++s) PLIANT_UNROLL for (int v = 0; v < kVectors; ++v)
        sums[s][v] = hn::Zero(d);
    for (int e = 0; e < count; ++e) {
        const double* const u = U + static_cast<std::size_t>(rows[e]) * stride;
        const Vector k[3] = {hn::Set(d, values[e]), hn::Set(d, values[e + count]),
                             hn::Set(d, values[e + 2 * count])};
        PLIANT_UNROLL for (int v = 0; v < kVectors; ++v) {
            const Vector x = hn::Load(d, u + v * kLanes);
            PLIANT_UNROLL for (int s = 0; s < 3; ++s) sums[s][v] = hn::MulAdd(k[s], x, sums[s][v]);
        }
    }
    PLIANT_UNROLL for (int s = 0; s < 3; ++s) PLIANT_UNROLL for (int v = 0; v < kVectors; ++v)
        hn::Store(sums[s][v], d, Y + s * stride + v * kLanes);
}

void multiply(const SymmetricColumns& K, int first, int end, const double* U, int stride,
              double* Y) {
    constexpr int kWide = 2 * kProjectionWidth;
    for (int node = first; node < end; ++node, Y += std::size_t{3} * stride) {
        const int offset = K.offsets[3 * node], count = K.offsets[3 * node + 1] - offset;
        const int* const rows = K.rows + offset;
        const double* const values = K.values + offset;
        int column = 0;
        for (; column + kWide <= stride; column += kWide)
            multiply_columns<kWide / kLanes>(rows, values, count, U + column, stride, Y + column);
        if (column < stride)
            multiply_columns<kProjectionWidth / kLanes>(rows, values, count, U + column, stride,
                                                        Y + column);
    }
}

/// Four rows and kProjectionWidth columns of AᵀB.
HWY_INLINE void add_tile(int num_rows, int stride, const double* A, const double* B, double* C) {
    const Tag d;
    constexpr int kVectors = kProjectionWidth / kLanes;
    Vector sums[4][kVectors];
    PLIANT_UNROLL for (int r = 0; r < 4; ++r) PLIANT_UNROLL for (int v = 0; v < kVectors; ++v)
        sums[r][v] = hn::Zero(d);
    for (int row = 0; row < num_rows; ++row, A += stride, B += stride) {
        PLIANT_UNROLL for (int r = 0; r < 4; ++r) {
            const Vector a = hn::Set(d, A[r]);
            PLIANT_UNROLL for (int v = 0; v < kVectors; ++v) sums[r][v] =
                hn::MulAdd(a, hn::Load(d, B + v * kLanes), sums[r][v]);
        }
    }
    PLIANT_UNROLL for (int r = 0; r < 4; ++r) PLIANT_UNROLL for (int v = 0; v < kVectors; ++v) {
        double* const to = C + r * stride + v * kLanes;
        hn::Store(hn::Add(sums[r][v], hn::Load(d, to)), d, to);
    }
}

void add_product(int num_rows, int stride, const double* A, const double* B, double* C) {
    for (int a = 0; a < stride; a += 4)
        for (int b = a / kProjectionWidth * kProjectionWidth; b < stride; b += kProjectionWidth)
            add_tile(num_rows, stride, A + a, B + b, C + static_cast<std::size_t>(a) * stride + b);
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(multiply);
HWY_EXPORT(add_product);

void multiply_by_basis(const SymmetricColumns& K, int first, int end, const double* U, int stride,
                       double* Y) noexcept {
    HWY_DYNAMIC_DISPATCH(multiply)(K, first, end, U, stride, Y);
}
void add_upper_product(int num_rows, int stride, const double* A, const double* B,
                       double* C) noexcept {
    HWY_DYNAMIC_DISPATCH(add_product)(num_rows, stride, A, B, C);
}

}  // namespace pliant
#endif
