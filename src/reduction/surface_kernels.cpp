// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "reduction/surface_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduction/surface_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef PLIANT_UNROLL
#define PLIANT_UNROLL _Pragma("GCC unroll 8")
#endif

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, 8>;
using Vector = hn::Vec<Tag>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag()));

HWY_INLINE Vector load(const float* p) { return hn::LoadU(Tag(), p); }
HWY_INLINE Vector load(const std::int16_t* p) {
    const hn::Rebind<std::int16_t, Tag> narrow;
    return hn::ConvertTo(Tag(), hn::PromoteTo(hn::RebindToSigned<Tag>(), hn::LoadU(narrow, p)));
}
/// The first `count` < kLanes, then zeros.
template <class T>
HWY_INLINE Vector load_some(const T* p, int count) {
    HWY_ALIGN float values[kLanes] = {};
    for (int i = 0; i < count; ++i) values[i] = static_cast<float>(p[i]);
    return hn::Load(Tag(), values);
}

/// Coordinates cut into vectors: whole ones, and a last one that ends with the row. Entries that it
/// shares with the one before count as zero.
class Coordinates {
public:
    HWY_INLINE Coordinates(int size, const float* q)
        : whole_(size / kLanes * kLanes), last_(size - kLanes) {
        for (int i = 0; i < whole_; ++i) q_[i] = q[i];
        for (int lane = 0; lane < kLanes; ++lane) {
            const int i = last_ + lane;
            q_[whole_ + lane] = i >= whole_ && i < size ? q[i] : 0.0f;
        }
        // a row shorter than a vector begins with its lane 0
        if (size < kLanes)
            for (int lane = 0; lane < kLanes; ++lane) q_[lane] = lane < size ? q[lane] : 0.0f;
    }
    HWY_INLINE int whole() const { return whole_; }
    HWY_INLINE int last() const { return last_; }
    HWY_INLINE Vector at(int i) const { return hn::Load(Tag(), q_ + i); }

private:
    HWY_ALIGN float q_[kMaxSurfaceColumns + 8];
    int whole_, last_;
};

/// kRows partial sums of rows that begin at `row`.
template <int kRows, class T>
HWY_INLINE void sum_rows(const SurfaceRows<T>& rows, const T* row, const Coordinates& q,
                         Vector* sums) {
    PLIANT_UNROLL for (int r = 0; r < kRows; ++r) sums[r] = hn::Zero(Tag());
    for (int i = 0; i < q.whole(); i += kLanes) {
        const Vector factor = q.at(i);
        PLIANT_UNROLL for (int r = 0; r < kRows; ++r) sums[r] =
            hn::MulAdd(load(row + r * rows.stride + i), factor, sums[r]);
    }
    if (q.whole() == rows.size) return;
    const Vector factor = q.at(q.whole());
    if (q.last() >= 0) {
        PLIANT_UNROLL for (int r = 0; r < kRows; ++r) sums[r] =
            hn::MulAdd(load(row + r * rows.stride + q.last()), factor, sums[r]);
    } else {
        for (int r = 0; r < kRows; ++r)
            sums[r] = hn::Mul(load_some(row + r * rows.stride, rows.size), factor);
    }
}

#if HWY_TARGET != HWY_SCALAR
/// Sums of the lanes of four vectors, in each block of four lanes.
HWY_INLINE Vector add_lanes(Vector a, Vector b, Vector c, Vector d) {
    const Tag tag;
    const hn::Repartition<std::uint64_t, Tag> wide;
    const Vector ab = hn::Add(hn::InterleaveLower(tag, a, b), hn::InterleaveUpper(tag, a, b));
    const Vector cd = hn::Add(hn::InterleaveLower(tag, c, d), hn::InterleaveUpper(tag, c, d));
    const auto x = hn::BitCast(wide, ab), y = hn::BitCast(wide, cd);
    return hn::Add(hn::BitCast(tag, hn::InterleaveLower(wide, x, y)),
                   hn::BitCast(tag, hn::InterleaveUpper(wide, x, y)));
}
#endif

/// out = base + the sums of eight rows.
HWY_INLINE void store_eight(const Vector* sums, const float* base, float* out) {
    const Tag tag;
    const auto store = [&](Vector v, int i) {
        hn::StoreU(base ? hn::Add(v, hn::LoadU(tag, base + i)) : v, tag, out + i);
    };
#if HWY_TARGET == HWY_SCALAR
    for (int i = 0; i < 8; ++i) store(sums[i], i);
#else
    const Vector low = add_lanes(sums[0], sums[1], sums[2], sums[3]);
    const Vector high = add_lanes(sums[4], sums[5], sums[6], sums[7]);
#if HWY_MAX_BYTES >= 32
    store(hn::Add(hn::ConcatLowerLower(tag, high, low), hn::ConcatUpperUpper(tag, high, low)), 0);
#else
    store(low, 0);
    store(high, 4);
#endif
#endif
}
/// The same for kRows < 8.
template <int kRows>
HWY_INLINE void store_few(const Vector* sums, const float* base, float* out) {
    for (int i = 0; i < kRows; ++i) {
        const float sum = hn::GetLane(hn::SumOfLanes(Tag(), sums[i]));
        out[i] = base ? base[i] + sum : sum;
    }
}

template <class T>
HWY_INLINE void multiply(const SurfaceRows<T>& rows, std::size_t num_rows, const float* q,
                         const float* base, float* out) {
    const Coordinates coordinates(rows.size, q);
    const auto stride = static_cast<std::size_t>(rows.stride);
    std::size_t i = 0;
    for (; i + 8 <= num_rows; i += 8) {
        Vector sums[8];
        sum_rows<8>(rows, rows.values + i * stride, coordinates, sums);
        store_eight(sums, base ? base + i : nullptr, out + i);
    }
    for (; i < num_rows; ++i) {
        Vector sums[1];
        sum_rows<1>(rows, rows.values + i * stride, coordinates, sums);
        store_few<1>(sums, base ? base + i : nullptr, out + i);
    }
}

template <class T>
HWY_INLINE void multiply_of(const int* vertices, std::size_t num_vertices,
                            const SurfaceRows<T>& rows, const float* q, const float* base,
                            float* out) {
    const Coordinates coordinates(rows.size, q);
    for (std::size_t i = 0; i < num_vertices; ++i) {
        const auto row = 3 * static_cast<std::size_t>(vertices[i]);
        Vector sums[3];
        sum_rows<3>(rows, rows.values + row * static_cast<std::size_t>(rows.stride), coordinates,
                    sums);
        store_few<3>(sums, base ? base + row : nullptr, out + 3 * i);
    }
}

void multiply_f32(const SurfaceRows<float>& rows, std::size_t num_rows, const float* q,
                  const float* base, float* out) {
    multiply(rows, num_rows, q, base, out);
}
void multiply_i16(const SurfaceRows<std::int16_t>& rows, std::size_t num_rows, const float* q,
                  const float* base, float* out) {
    multiply(rows, num_rows, q, base, out);
}
void multiply_of_f32(const int* vertices, std::size_t num_vertices, const SurfaceRows<float>& rows,
                     const float* q, const float* base, float* out) {
    multiply_of(vertices, num_vertices, rows, q, base, out);
}
void multiply_of_i16(const int* vertices, std::size_t num_vertices,
                     const SurfaceRows<std::int16_t>& rows, const float* q, const float* base,
                     float* out) {
    multiply_of(vertices, num_vertices, rows, q, base, out);
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(multiply_f32);
HWY_EXPORT(multiply_i16);
HWY_EXPORT(multiply_of_f32);
HWY_EXPORT(multiply_of_i16);

void multiply_rows(const SurfaceRows<float>& rows, std::size_t num_rows, const float* q,
                   const float* base, float* out) noexcept {
    HWY_DYNAMIC_DISPATCH(multiply_f32)(rows, num_rows, q, base, out);
}
void multiply_rows(const SurfaceRows<std::int16_t>& rows, std::size_t num_rows, const float* q,
                   const float* base, float* out) noexcept {
    HWY_DYNAMIC_DISPATCH(multiply_i16)(rows, num_rows, q, base, out);
}
void multiply_rows_of(const int* vertices, std::size_t num_vertices, const SurfaceRows<float>& rows,
                      const float* q, const float* base, float* out) noexcept {
    HWY_DYNAMIC_DISPATCH(multiply_of_f32)(vertices, num_vertices, rows, q, base, out);
}
void multiply_rows_of(const int* vertices, std::size_t num_vertices,
                      const SurfaceRows<std::int16_t>& rows, const float* q, const float* base,
                      float* out) noexcept {
    HWY_DYNAMIC_DISPATCH(multiply_of_i16)(vertices, num_vertices, rows, q, base, out);
}

}  // namespace pliant
#endif
