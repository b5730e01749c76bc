// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "field/grid_kernels.h"

#include <cstddef>
#include <cstdint>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "field/grid_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using Ints = hn::Vec<hn::RebindToSigned<D>>;

template <class D>
struct GridVector {
    hn::Vec<D> x, y, z;
};
template <class D>
struct IntGridVector {
    Ints<D> x, y, z;
};
/// A value and its derivatives.
template <class D>
struct Answer {
    hn::Vec<D> value;
    GridVector<D> gradient;
};

template <class D>
HWY_INLINE Answer<D> zero_answer(D d) {
    const auto zero = hn::Zero(d);
    return {zero, {zero, zero, zero}};
}

/// values[index] and values[index + 1], read together.
template <class D>
struct Pair {
    hn::Vec<D> first, second;
};
template <class D>
HWY_INLINE Pair<D> load_pairs(D d, const float* values, Ints<D> index) {
#if HWY_TARGET != HWY_SCALAR
    if constexpr (hn::MaxLanes(D()) > 1) {
        // 64-bit gathers; offsets in bytes do not fit into 32 bits
        const hn::Repartition<std::uint64_t, D> pairs;
        const hn::Repartition<std::int64_t, D> offsets;
        const hn::Half<hn::RebindToSigned<D>> half;
        const auto* base = reinterpret_cast<const std::uint64_t*>(values);
        const auto lower = hn::GatherOffset(
            pairs, base, hn::ShiftLeft<2>(hn::PromoteTo(offsets, hn::LowerHalf(half, index))));
        const auto upper = hn::GatherOffset(
            pairs, base, hn::ShiftLeft<2>(hn::PromoteTo(offsets, hn::UpperHalf(half, index))));
        const auto a = hn::BitCast(d, lower), b = hn::BitCast(d, upper);
        return {hn::ConcatEven(d, b, a), hn::ConcatOdd(d, b, a)};
    }
#endif
    const float* pair = values + hn::GetLane(index);
    return {hn::Set(d, pair[0]), hn::Set(d, pair[1])};
}
template <class D>
HWY_INLINE Ints<D> load_ints(D, const int* values, Ints<D> index) {
    const hn::RebindToSigned<D> ints;
    if constexpr (hn::MaxLanes(D()) == 1)
        return hn::Set(ints, values[hn::GetLane(index)]);
    else
        return hn::GatherIndex(ints, values, index);
}

/// Trilinear, eq. (2) and (3), in the cell whose lowest vertex is at `index`; derivatives per cell.
template <bool kGradient, class D>
HWY_INLINE Answer<D> interpolate(D d, const float* values, Ints<D> index, std::ptrdiff_t row,
                                 std::ptrdiff_t slice, const GridVector<D>& f) {
    const Pair<D> p00 = load_pairs(d, values, index);
    const Pair<D> p10 = load_pairs(d, values + row, index);
    const Pair<D> p01 = load_pairs(d, values + slice, index);
    const Pair<D> p11 = load_pairs(d, values + slice + row, index);
    const auto x00 = hn::Sub(p00.second, p00.first), x10 = hn::Sub(p10.second, p10.first);
    const auto x01 = hn::Sub(p01.second, p01.first), x11 = hn::Sub(p11.second, p11.first);

    const auto v00 = hn::MulAdd(f.x, x00, p00.first), v10 = hn::MulAdd(f.x, x10, p10.first);
    const auto v01 = hn::MulAdd(f.x, x01, p01.first), v11 = hn::MulAdd(f.x, x11, p11.first);
    const auto y0 = hn::Sub(v10, v00), y1 = hn::Sub(v11, v01);
    const auto v0 = hn::MulAdd(f.y, y0, v00), v1 = hn::MulAdd(f.y, y1, v01);
    const auto z = hn::Sub(v1, v0);

    Answer<D> answer = zero_answer(d);
    answer.value = hn::MulAdd(f.z, z, v0);
    if constexpr (kGradient) {
        const auto x0 = hn::MulAdd(f.y, hn::Sub(x10, x00), x00);
        const auto x1 = hn::MulAdd(f.y, hn::Sub(x11, x01), x01);
        answer.gradient.x = hn::MulAdd(f.z, hn::Sub(x1, x0), x0);
        answer.gradient.y = hn::MulAdd(f.z, hn::Sub(y1, y0), y0);
        answer.gradient.z = z;
    }
    return answer;
}

template <class D>
HWY_INLINE Ints<D> linear_index(D, const IntGridVector<D>& i, int row, int rows) {
    const hn::RebindToSigned<D> ints;
    const auto line = hn::Add(hn::Mul(i.z, hn::Set(ints, rows)), i.y);
    return hn::Add(hn::Mul(line, hn::Set(ints, row)), i.x);
}

template <class D>
HWY_INLINE GridVector<D> scaled(const GridVector<D>& v, hn::Vec<D> factor) {
    return {hn::Mul(v.x, factor), hn::Mul(v.y, factor), hn::Mul(v.z, factor)};
}
template <class D>
HWY_INLINE Answer<D> choose(hn::Mask<D> mask, const Answer<D>& yes, const Answer<D>& no) {
    return {hn::IfThenElse(mask, yes.value, no.value),
            {hn::IfThenElse(mask, yes.gradient.x, no.gradient.x),
             hn::IfThenElse(mask, yes.gradient.y, no.gradient.y),
             hn::IfThenElse(mask, yes.gradient.z, no.gradient.z)}};
}
/// Bricks where there are any, block corners elsewhere; derivatives per fine cell.
template <bool kGradient, class D>
HWY_INLINE Answer<D> look_up_sparse(D d, const GridView& grid, const GridVector<D>& u,
                                    const IntGridVector<D>& i, const GridVector<D>& f) {
    const hn::RebindToSigned<D> ints;
    const IntGridVector<D> block = {hn::ShiftRight<3>(i.x), hn::ShiftRight<3>(i.y),
                                    hn::ShiftRight<3>(i.z)};
    const auto brick =
        load_ints(d, grid.brick_of_block, linear_index(d, block, grid.row - 1, grid.rows - 1));
    const auto is_fine = hn::Gt(brick, hn::Set(ints, -1));

    Answer<D> fine = zero_answer(d), coarse = zero_answer(d);
    if (!hn::AllFalse(ints, is_fine)) {
        const auto seven = hn::Set(ints, 7);
        const IntGridVector<D> local = {hn::And(i.x, seven), hn::And(i.y, seven),
                                        hn::And(i.z, seven)};
        const auto start = hn::Mul(hn::Max(brick, hn::Zero(ints)), hn::Set(ints, kBrickStride));
        fine = interpolate<kGradient>(d, grid.bricks, hn::Add(start, linear_index(d, local, 9, 9)),
                                      9, 81, f);
        if (hn::AllTrue(ints, is_fine)) return fine;
    }
    const auto eighth = hn::Set(d, 0.125f);
    const GridVector<D> F = {hn::Sub(hn::Mul(u.x, eighth), hn::ConvertTo(d, block.x)),
                             hn::Sub(hn::Mul(u.y, eighth), hn::ConvertTo(d, block.y)),
                             hn::Sub(hn::Mul(u.z, eighth), hn::ConvertTo(d, block.z))};
    coarse = interpolate<kGradient>(d, grid.coarse, linear_index(d, block, grid.row, grid.rows),
                                    grid.row, grid.slice, F);
    if constexpr (kGradient) coarse.gradient = scaled<D>(coarse.gradient, eighth);
    return choose<D>(hn::RebindMask(d, is_fine), fine, coarse);
}

/// Lower bound outside the box, eq. (2), of points `e` cells away from the
/// nearest point of the box.
template <class D>
HWY_INLINE Answer<D> outside_bound(D d, const GridView& grid, const GridVector<D>& p,
                                   const GridVector<D>& e) {
    // squares of larger numbers would overflow; smaller ones are lower bounds too
    const auto largest = hn::Set(d, 1e18f);
    const auto clamped = [&](hn::Vec<D> v)
                             HWY_ATTR { return hn::Max(hn::Min(v, largest), hn::Neg(largest)); };
    const GridVector<D> c = {clamped(e.x), clamped(e.y), clamped(e.z)};
    const auto length = hn::Sqrt(hn::MulAdd(c.x, c.x, hn::MulAdd(c.y, c.y, hn::Mul(c.z, c.z))));
    const auto bound = hn::MulAdd(length, hn::Set(d, grid.cell), hn::Set(d, grid.boundary));

    // 0 · p is zero for finite p, nan otherwise
    const auto zero = hn::Zero(d);
    const auto is_finite =
        hn::Eq(hn::MulAdd(p.x, zero, hn::MulAdd(p.y, zero, hn::Mul(p.z, zero))), zero);
    const auto infinity = hn::Set(d, std::numeric_limits<float>::infinity());
    return {hn::IfThenElse(is_finite, bound, infinity),
            {hn::IfThenElseZero(is_finite, hn::Div(c.x, length)),
             hn::IfThenElseZero(is_finite, hn::Div(c.y, length)),
             hn::IfThenElseZero(is_finite, hn::Div(c.z, length))}};
}

template <bool kSparse, bool kGradient, class D>
HWY_INLINE Answer<D> look_up(D d, const GridView& grid, const GridVector<D>& p) {
    const hn::RebindToSigned<D> ints;
    const auto scale = hn::Set(d, grid.scale), zero = hn::Zero(d);
    // grid coordinates, the nearest ones inside, and the way from those, eq. (1)
    GridVector<D> u, inner, e;
    const auto split = [&](hn::Vec<D> x, int axis, hn::Vec<D>& u_axis, hn::Vec<D>& inner_axis,
                           hn::Vec<D>& e_axis) HWY_ATTR {
        u_axis = hn::MulAdd(x, scale, hn::Set(d, grid.offset[axis]));
        inner_axis = hn::Min(hn::Max(u_axis, zero), hn::Set(d, grid.end[axis]));
        e_axis = hn::Sub(u_axis, inner_axis);
    };
    split(p.x, 0, u.x, inner.x, e.x);
    split(p.y, 1, u.y, inner.y, e.y);
    split(p.z, 2, u.z, inner.z, e.z);
    // false for nan
    const auto is_inside =
        hn::Le(hn::Add(hn::Add(hn::Abs(e.x), hn::Abs(e.y)), hn::Abs(e.z)), hn::Set(d, grid.slack));
    const bool all_inside = hn::AllTrue(d, is_inside);

    Answer<D> answer = zero_answer(d);
    if (!hn::AllFalse(d, is_inside)) {
        // what is outside, or no number, looks up the corner instead
        if (!all_inside)
            inner = {hn::IfThenElseZero(is_inside, inner.x), hn::IfThenElseZero(is_inside, inner.y),
                     hn::IfThenElseZero(is_inside, inner.z)};
        // the upper faces belong to the last cells
        const auto cell_of = [&](hn::Vec<D> v, int axis) HWY_ATTR {
            return hn::Min(hn::ConvertTo(ints, v), hn::Set(ints, grid.last[axis]));
        };
        const IntGridVector<D> i = {cell_of(inner.x, 0), cell_of(inner.y, 1), cell_of(inner.z, 2)};
        const GridVector<D> f = {hn::Sub(inner.x, hn::ConvertTo(d, i.x)),
                                 hn::Sub(inner.y, hn::ConvertTo(d, i.y)),
                                 hn::Sub(inner.z, hn::ConvertTo(d, i.z))};
        if constexpr (kSparse)
            answer = look_up_sparse<kGradient>(d, grid, inner, i, f);
        else
            answer = interpolate<kGradient>(d, grid.coarse, linear_index(d, i, grid.row, grid.rows),
                                            grid.row, grid.slice, f);
        if constexpr (kGradient) answer.gradient = scaled<D>(answer.gradient, scale);
    }
    if (!all_inside) answer = choose<D>(is_inside, answer, outside_bound(d, grid, p, e));
    return answer;
}

/// Loads, looks up and stores as many points as a vector has lanes.
template <bool kSparse, bool kGradient, class D>
HWY_INLINE void look_up_at(D d, const GridView& grid, const GridPoints& points,
                           const GridAnswers& out, int at) {
    const GridVector<D> p = {hn::LoadU(d, points.x + at), hn::LoadU(d, points.y + at),
                             hn::LoadU(d, points.z + at)};
    const Answer<D> answer = look_up<kSparse, kGradient>(d, grid, p);
    hn::StoreU(answer.value, d, out.distance + at);
    if constexpr (kGradient) {
        hn::StoreU(answer.gradient.x, d, out.gx + at);
        hn::StoreU(answer.gradient.y, d, out.gy + at);
        hn::StoreU(answer.gradient.z, d, out.gz + at);
    }
}

#if HWY_TARGET != HWY_SCALAR
/// One point inside the box with the three axes in one vector: the arithmetic of look_up, bit for
/// bit, in fewer instructions. False for points that are not inside.
template <bool kSparse, bool kGradient>
HWY_INLINE bool look_up_inside(const GridView& grid, const GridPoints& points,
                               const GridAnswers& out, int at) {
    using D = hn::Full128<float>;
    const D d;
    const hn::RebindToSigned<D> ints;
    const hn::Half<D> two;
    const auto xy = hn::InterleaveLower(d, hn::Set(d, points.x[at]), hn::Set(d, points.y[at]));
    const auto p = hn::ConcatUpperLower(d, hn::Set(d, points.z[at]), xy);
    const auto u = hn::MulAdd(p, hn::Set(d, grid.scale), hn::LoadU(d, grid.offset));
    const auto inner = hn::Min(hn::Max(u, hn::Zero(d)), hn::LoadU(d, grid.end));
    if (!hn::AllTrue(d, hn::Eq(u, inner))) return false;
    const auto cell = hn::Min(hn::ConvertTo(ints, inner), hn::LoadU(ints, grid.last));
    auto f = hn::Sub(inner, hn::ConvertTo(d, cell));
    HWY_ALIGN int i[4];
    hn::Store(cell, ints, i);

    // the lowest vertex of the cell
    const float* base = nullptr;
    std::ptrdiff_t row = grid.row, slice = grid.slice;
    auto scale = hn::Set(d, grid.scale);
    if constexpr (kSparse) {
        const int bx = i[0] >> 3, by = i[1] >> 3, bz = i[2] >> 3;
        const int brick = grid.brick_of_block[(bz * (grid.rows - 1) + by) * (grid.row - 1) + bx];
        if (brick >= 0) {
            row = 9;
            slice = 81;
            base = grid.bricks + std::ptrdiff_t{brick} * kBrickStride + (i[2] & 7) * 81 +
                   (i[1] & 7) * 9 + (i[0] & 7);
        } else {
            base = grid.coarse + bz * slice + by * row + bx;
            const auto eighth = hn::Set(d, 0.125f);
            f = hn::Sub(hn::Mul(inner, eighth), hn::ConvertTo(d, hn::ShiftRight<3>(cell)));
            scale = hn::Mul(eighth, scale);
        }
    } else {
        base = grid.coarse + i[2] * slice + i[1] * row + i[0];
    }

    // rows 00, 10, 01, 11 in the lanes, then 0, 1, then one; see interpolate()
    const auto low = hn::Combine(d, hn::LoadU(two, base + row), hn::LoadU(two, base));
    const auto high =
        hn::Combine(d, hn::LoadU(two, base + slice + row), hn::LoadU(two, base + slice));
    const auto first = hn::ConcatEven(d, high, low);
    const auto fx = hn::Broadcast<0>(f), fy = hn::Broadcast<1>(f), fz = hn::Broadcast<2>(f);
    const auto x = hn::Sub(hn::ConcatOdd(d, high, low), first);
    const auto v = hn::MulAdd(fx, x, first);
    const auto v_even = hn::ConcatEven(d, v, v);
    const auto y = hn::Sub(hn::ConcatOdd(d, v, v), v_even);
    const auto w = hn::MulAdd(fy, y, v_even);
    const auto w_even = hn::DupEven(w);
    const auto z = hn::Sub(hn::DupOdd(w), w_even);
    out.distance[at] = hn::GetLane(hn::MulAdd(fz, z, w_even));
    if constexpr (kGradient) {
        const auto x_even = hn::ConcatEven(d, x, x);
        const auto x_row = hn::MulAdd(fy, hn::Sub(hn::ConcatOdd(d, x, x), x_even), x_even);
        const auto along = [&](hn::Vec<D> pair) HWY_ATTR {
            const auto even = hn::DupEven(pair);
            return hn::MulAdd(fz, hn::Sub(hn::DupOdd(pair), even), even);
        };
        out.gx[at] = hn::GetLane(hn::Mul(along(x_row), scale));
        out.gy[at] = hn::GetLane(hn::Mul(along(y), scale));
        out.gz[at] = hn::GetLane(hn::Mul(z, scale));
    }
    return true;
}
#endif

/// One point wherever it is; apart from look_up_one, which so needs few registers.
template <bool kSparse, bool kGradient>
HWY_NOINLINE void look_up_anywhere(const GridView& grid, const GridPoints& points,
                                   const GridAnswers& out, int at) {
    look_up_at<kSparse, kGradient>(hn::CappedTag<float, 1>(), grid, points, out, at);
}

template <bool kSparse, bool kGradient>
HWY_INLINE void look_up_one(const GridView& grid, const GridPoints& points, const GridAnswers& out,
                            int at) {
#if HWY_TARGET != HWY_SCALAR
    if (look_up_inside<kSparse, kGradient>(grid, points, out, at)) return;
#endif
    look_up_anywhere<kSparse, kGradient>(grid, points, out, at);
}

template <bool kSparse, bool kGradient>
HWY_NOINLINE void look_up_all(const GridView& grid, const GridPoints& points,
                              const GridAnswers& out) {
    const hn::ScalableTag<float> wide;
    constexpr int kLanes = static_cast<int>(hn::MaxLanes(wide));
    int i = 0;
    for (; i + kLanes <= points.count; i += kLanes)
        look_up_at<kSparse, kGradient>(wide, grid, points, out, i);
    const int rest = points.count - i;
    // a vector costs as much as a few single points
    if (rest <= kLanes / 4) {
        for (; i < points.count; ++i) look_up_one<kSparse, kGradient>(grid, points, out, i);
        return;
    }
    // copies of the last point fill a vector
    HWY_ALIGN float p[3][kLanes];
    HWY_ALIGN float answer[4][kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
        const int from = i + (lane < rest ? lane : rest - 1);
        p[0][lane] = points.x[from];
        p[1][lane] = points.y[from];
        p[2][lane] = points.z[from];
    }
    look_up_at<kSparse, kGradient>(wide, grid, {p[0], p[1], p[2], kLanes},
                                   {answer[0], answer[1], answer[2], answer[3]}, 0);
    for (int lane = 0; lane < rest; ++lane) {
        out.distance[i + lane] = answer[0][lane];
        if constexpr (kGradient) {
            out.gx[i + lane] = answer[1][lane];
            out.gy[i + lane] = answer[2][lane];
            out.gz[i + lane] = answer[3][lane];
        }
    }
}

template <bool kSparse, bool kGradient>
HWY_INLINE void look_up_points(const GridView& grid, const GridPoints& points,
                               const GridAnswers& out) {
    if (points.count == 1)
        look_up_one<kSparse, kGradient>(grid, points, out, 0);
    else
        look_up_all<kSparse, kGradient>(grid, points, out);
}

void distances_of(const GridView& grid, const GridPoints& points, float* distance) {
    const GridAnswers out = {distance, nullptr, nullptr, nullptr};
    if (grid.brick_of_block)
        look_up_points<true, false>(grid, points, out);
    else
        look_up_points<false, false>(grid, points, out);
}
void samples_of(const GridView& grid, const GridPoints& points, const GridAnswers& out) {
    if (grid.brick_of_block)
        look_up_points<true, true>(grid, points, out);
    else
        look_up_points<false, true>(grid, points, out);
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(distances_of);
HWY_EXPORT(samples_of);

void grid_distances(const GridView& grid, const GridPoints& points, float* distance) noexcept {
    HWY_DYNAMIC_DISPATCH(distances_of)(grid, points, distance);
}
void grid_samples(const GridView& grid, const GridPoints& points,
                  const GridAnswers& answers) noexcept {
    HWY_DYNAMIC_DISPATCH(samples_of)(grid, points, answers);
}

}  // namespace pliant
#endif
