// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "greens/column_kernels.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "greens/column_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef PLIANT_UNROLL
#define PLIANT_UNROLL _Pragma("GCC unroll 8")
#endif

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using ColumnTag = hn::CappedTag<T, kColumnPad>;

template <class T>
HWY_INLINE void add_group(const T* const* columns, const T* weights, std::size_t rows, T* out) {
    const ColumnTag<T> d;
    using Vector = hn::Vec<ColumnTag<T>>;
    const std::size_t lanes = hn::Lanes(d);
    const T* c[kColumnsAtOnce];
    Vector w[kColumnsAtOnce];
    PLIANT_UNROLL for (int k = 0; k < kColumnsAtOnce; ++k) {
        c[k] = columns[k];
        w[k] = hn::Set(d, weights[k]);
    }
    std::size_t row = 0;
    for (; row + lanes <= rows; row += lanes) {
        // two chains hide the latency of an addition
        Vector even = hn::LoadU(d, out + row), odd = hn::Zero(d);
        PLIANT_UNROLL for (int k = 0; k < kColumnsAtOnce; k += 2) {
            even = hn::MulAdd(w[k], hn::LoadU(d, c[k] + row), even);
            odd = hn::MulAdd(w[k + 1], hn::LoadU(d, c[k + 1] + row), odd);
        }
        hn::StoreU(hn::Add(even, odd), d, out + row);
    }
    for (; row < rows; ++row)
        for (int k = 0; k < kColumnsAtOnce; ++k) out[row] += weights[k] * c[k][row];
}

/// kColumns columns of X.
template <int kRank, int kColumns, class T>
HWY_INLINE void add_rank_to_columns(T* X, std::size_t stride, int rows, const T* P,
                                    std::size_t p_stride, const T* D, std::size_t d_stride) {
    const ColumnTag<T> d;
    using Vector = hn::Vec<ColumnTag<T>>;
    const int lanes = static_cast<int>(hn::Lanes(d));
    Vector w[kColumns][kRank];
    PLIANT_UNROLL for (int j = 0; j < kColumns; ++j) PLIANT_UNROLL for (int r = 0; r < kRank; ++r)
        w[j][r] = hn::Set(d, D[static_cast<std::size_t>(j) * d_stride + r]);
    for (int row = 0; row < rows; row += lanes) {
        Vector p[kRank];
        PLIANT_UNROLL for (int r = 0; r < kRank; ++r) p[r] =
            hn::LoadU(d, P + static_cast<std::size_t>(r) * p_stride + row);
        PLIANT_UNROLL for (int j = 0; j < kColumns; ++j) {
            T* const to = X + static_cast<std::size_t>(j) * stride + row;
            Vector x = hn::LoadU(d, to);
            PLIANT_UNROLL for (int r = 0; r < kRank; ++r) x = hn::MulAdd(w[j][r], p[r], x);
            hn::StoreU(x, d, to);
        }
    }
}

template <int kRank, class T>
HWY_INLINE void add_rank(const PaddedColumns<T>& X, const T* P, std::size_t p_stride, const T* D,
                         std::size_t d_stride) {
    const auto from = [&](int j) { return X.values + static_cast<std::size_t>(j) * X.stride; };
    const auto factors = [&](int j) { return D + static_cast<std::size_t>(j) * d_stride; };
    int j = 0;
    for (; j + 2 <= X.cols; j += 2)
        add_rank_to_columns<kRank, 2>(from(j), X.stride, X.rows, P, p_stride, factors(j), d_stride);
    if (j < X.cols)
        add_rank_to_columns<kRank, 1>(from(j), X.stride, X.rows, P, p_stride, factors(j), d_stride);
}

template <class T>
HWY_INLINE void add_ranks(const PaddedColumns<T>& X, const T* P, std::size_t p_stride, const T* D,
                          std::size_t d_stride, int rank) {
    int r = 0;
    for (; r + 4 <= rank; r += 4)
        add_rank<4>(X, P + static_cast<std::size_t>(r) * p_stride, p_stride, D + r, d_stride);
    const T* const rest = P + static_cast<std::size_t>(r) * p_stride;
    if (rank - r == 3) add_rank<3>(X, rest, p_stride, D + r, d_stride);
    if (rank - r == 2) add_rank<2>(X, rest, p_stride, D + r, d_stride);
    if (rank - r == 1) add_rank<1>(X, rest, p_stride, D + r, d_stride);
}

template <int kCount, class T>
HWY_INLINE void multiply_some(const PaddedColumns<const T>& X, const T* B, const T* R,
                              std::size_t stride, int count, T* P, T* Q) {
    const ColumnTag<T> d;
    using Vector = hn::Vec<ColumnTag<T>>;
    const int lanes = static_cast<int>(hn::Lanes(d));
    for (int k = 0; k < kCount; ++k)
        for (int row = 0; row < X.rows; row += lanes)
            hn::StoreU(hn::Zero(d), d, P + static_cast<std::size_t>(k) * stride + row);
    for (int j = 0; j < X.cols; ++j) {
        const T* const x_column = X.values + static_cast<std::size_t>(j) * X.stride;
        Vector b[kCount], sum[kCount];
        PLIANT_UNROLL for (int k = 0; k < kCount; ++k) {
            b[k] = hn::Set(d, B[static_cast<std::size_t>(k) * stride + j]);
            sum[k] = hn::Zero(d);
        }
        for (int row = 0; row < X.rows; row += lanes) {
            const Vector x = hn::LoadU(d, x_column + row);
            PLIANT_UNROLL for (int k = 0; k < kCount; ++k) {
                const std::size_t place = static_cast<std::size_t>(k) * stride + row;
                hn::StoreU(hn::MulAdd(b[k], x, hn::LoadU(d, P + place)), d, P + place);
                sum[k] = hn::MulAdd(hn::LoadU(d, R + place), x, sum[k]);
            }
        }
        PLIANT_UNROLL for (int k = 0; k < kCount; ++k) Q[j * count + k] =
            hn::GetLane(hn::SumOfLanes(d, sum[k]));
    }
}

template <class T>
HWY_INLINE void multiply_all(const PaddedColumns<const T>& X, const T* B, const T* R,
                             std::size_t stride, int count, T* P, T* Q) {
    int k = 0;
    const auto from = [&](auto* values) { return values + static_cast<std::size_t>(k) * stride; };
    for (; k + 3 <= count; k += 3)
        multiply_some<3>(X, from(B), from(R), stride, count, from(P), Q + k);
    if (count - k == 2) multiply_some<2>(X, from(B), from(R), stride, count, from(P), Q + k);
    if (count - k == 1) multiply_some<1>(X, from(B), from(R), stride, count, from(P), Q + k);
}

void group_f32(const float* const* columns, const float* weights, std::size_t rows, float* out) {
    add_group(columns, weights, rows, out);
}
void group_f64(const double* const* columns, const double* weights, std::size_t rows, double* out) {
    add_group(columns, weights, rows, out);
}
void low_rank_f32(const PaddedColumns<float>& X, const float* P, std::size_t p_stride,
                  const float* D, std::size_t d_stride, int rank) {
    add_ranks(X, P, p_stride, D, d_stride, rank);
}
void low_rank_f64(const PaddedColumns<double>& X, const double* P, std::size_t p_stride,
                  const double* D, std::size_t d_stride, int rank) {
    add_ranks(X, P, p_stride, D, d_stride, rank);
}
void both_sides_f32(const PaddedColumns<const float>& X, const float* B, const float* R,
                    std::size_t stride, int count, float* P, float* Q) {
    multiply_all(X, B, R, stride, count, P, Q);
}
void both_sides_f64(const PaddedColumns<const double>& X, const double* B, const double* R,
                    std::size_t stride, int count, double* P, double* Q) {
    multiply_all(X, B, R, stride, count, P, Q);
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(group_f32);
HWY_EXPORT(group_f64);
HWY_EXPORT(low_rank_f32);
HWY_EXPORT(low_rank_f64);
HWY_EXPORT(both_sides_f32);
HWY_EXPORT(both_sides_f64);

void add_column_group(const float* const* columns, const float* weights, std::size_t rows,
                      float* out) noexcept {
    HWY_DYNAMIC_DISPATCH(group_f32)(columns, weights, rows, out);
}
void add_column_group(const double* const* columns, const double* weights, std::size_t rows,
                      double* out) noexcept {
    HWY_DYNAMIC_DISPATCH(group_f64)(columns, weights, rows, out);
}
void add_low_rank(const PaddedColumns<float>& X, const float* P, std::size_t p_stride,
                  const float* D, std::size_t d_stride, int rank) noexcept {
    HWY_DYNAMIC_DISPATCH(low_rank_f32)(X, P, p_stride, D, d_stride, rank);
}
void add_low_rank(const PaddedColumns<double>& X, const double* P, std::size_t p_stride,
                  const double* D, std::size_t d_stride, int rank) noexcept {
    HWY_DYNAMIC_DISPATCH(low_rank_f64)(X, P, p_stride, D, d_stride, rank);
}
void multiply_both_sides(const PaddedColumns<const float>& X, const float* B, const float* R,
                         std::size_t stride, int count, float* P, float* Q) noexcept {
    HWY_DYNAMIC_DISPATCH(both_sides_f32)(X, B, R, stride, count, P, Q);
}
void multiply_both_sides(const PaddedColumns<const double>& X, const double* B, const double* R,
                         std::size_t stride, int count, double* P, double* Q) noexcept {
    HWY_DYNAMIC_DISPATCH(both_sides_f64)(X, B, R, stride, count, P, Q);
}

}  // namespace pliant
#endif
