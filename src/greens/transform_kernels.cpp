// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "greens/transform_kernels.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "greens/transform_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <bool kSubtracts, class V>
HWY_INLINE V changed(V value, V by) {
    return kSubtracts ? hn::Sub(value, by) : hn::Add(value, by);
}

/// kCount components from `at` on, of vertices that are `width` apart.
template <int kCount, bool kSubtracts, class T>
HWY_INLINE void add_row(T* values, std::size_t width, std::size_t row, const int* vertices,
                        const T* weights, int count) {
    const hn::CappedTag<T, kCount> d;
    for (std::size_t c = 0; c < kCount; c += hn::Lanes(d)) {
        auto sum = hn::Zero(d);
        for (int k = 0; k < count; ++k)
            sum = hn::MulAdd(
                hn::Set(d, weights[k]),
                hn::LoadU(d, values + static_cast<std::size_t>(vertices[k]) * width + c), sum);
        T* const to = values + row * width + c;
        hn::StoreU(changed<kSubtracts>(hn::LoadU(d, to), sum), d, to);
    }
}

template <int kCount, bool kSubtracts, class T>
HWY_INLINE void add_pair(T* values, std::size_t width, std::size_t row, const int* pair, T weight) {
    const hn::CappedTag<T, kCount> d;
    const T* const a = values + static_cast<std::size_t>(pair[0]) * width;
    const T* const b = values + static_cast<std::size_t>(pair[1]) * width;
    T* const to = values + row * width;
    const auto w = hn::Set(d, weight);
    for (std::size_t c = 0; c < kCount; c += hn::Lanes(d)) {
        const auto mean = hn::Mul(w, hn::Add(hn::LoadU(d, a + c), hn::LoadU(d, b + c)));
        hn::StoreU(changed<kSubtracts>(hn::LoadU(d, to + c), mean), d, to + c);
    }
}

/// kFirst components, then kSecond more.
template <int kFirst, int kSecond, bool kSubtracts, class T>
HWY_INLINE void add_some(const TransformRows<T>& rows, T* values, std::size_t width) {
    for (int i = 0; i < rows.count; ++i) {
        const int begin = rows.offsets[i], count = rows.offsets[i + 1] - begin;
        if (count == 0) continue;
        const auto row = static_cast<std::size_t>(rows.first_row + i);
        add_row<kFirst, kSubtracts>(values, width, row, rows.vertices + begin, rows.weights + begin,
                                    count);
        if constexpr (kSecond > 0)
            add_row<kSecond, kSubtracts>(values + kFirst, width, row, rows.vertices + begin,
                                         rows.weights + begin, count);
    }
}

template <int kFirst, int kSecond, bool kSubtracts, class T>
HWY_INLINE void add_some(const TransformPairs<T>& rows, T* values, std::size_t width) {
    for (int i = 0; i < rows.count; ++i) {
        const auto row = static_cast<std::size_t>(rows.first_row + i);
        add_pair<kFirst, kSubtracts>(values, width, row, rows.pairs + 2 * i, rows.weights[i]);
        if constexpr (kSecond > 0)
            add_pair<kSecond, kSubtracts>(values + kFirst, width, row, rows.pairs + 2 * i,
                                          rows.weights[i]);
    }
}

template <int kFirst, int kSecond, class Rows, class T>
HWY_INLINE void add_signed(const Rows& rows, T* values, std::size_t width, bool subtracts) {
    if (subtracts)
        add_some<kFirst, kSecond, true>(rows, values, width);
    else
        add_some<kFirst, kSecond, false>(rows, values, width);
}

/// Three and nine components, vectors and blocks, go through together.
template <class Rows, class T>
HWY_INLINE void add_all(const Rows& rows, T* values, int width, bool subtracts) {
    const auto stride = static_cast<std::size_t>(width);
    if (width == 3) return add_signed<2, 1>(rows, values, stride, subtracts);
    if (width == 9) return add_signed<8, 1>(rows, values, stride, subtracts);
    int rest = width;
    for (; rest >= 8; rest -= 8, values += 8) add_signed<8, 0>(rows, values, stride, subtracts);
    if (rest >= 4) {
        add_signed<4, 0>(rows, values, stride, subtracts);
        rest -= 4;
        values += 4;
    }
    for (; rest > 0; --rest, ++values) add_signed<1, 0>(rows, values, stride, subtracts);
}

void rows_f32(const TransformRows<float>& rows, float* values, int width, bool subtracts) {
    add_all(rows, values, width, subtracts);
}
void rows_f64(const TransformRows<double>& rows, double* values, int width, bool subtracts) {
    add_all(rows, values, width, subtracts);
}
void pairs_f32(const TransformPairs<float>& rows, float* values, int width, bool subtracts) {
    add_all(rows, values, width, subtracts);
}
void pairs_f64(const TransformPairs<double>& rows, double* values, int width, bool subtracts) {
    add_all(rows, values, width, subtracts);
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(rows_f32);
HWY_EXPORT(rows_f64);
HWY_EXPORT(pairs_f32);
HWY_EXPORT(pairs_f64);

void add_transform_rows(const TransformRows<float>& rows, float* values, int width,
                        bool subtracts) noexcept {
    HWY_DYNAMIC_DISPATCH(rows_f32)(rows, values, width, subtracts);
}
void add_transform_rows(const TransformRows<double>& rows, double* values, int width,
                        bool subtracts) noexcept {
    HWY_DYNAMIC_DISPATCH(rows_f64)(rows, values, width, subtracts);
}
void add_transform_pairs(const TransformPairs<float>& rows, float* values, int width,
                         bool subtracts) noexcept {
    HWY_DYNAMIC_DISPATCH(pairs_f32)(rows, values, width, subtracts);
}
void add_transform_pairs(const TransformPairs<double>& rows, double* values, int width,
                         bool subtracts) noexcept {
    HWY_DYNAMIC_DISPATCH(pairs_f64)(rows, values, width, subtracts);
}

}  // namespace pliant
#endif
