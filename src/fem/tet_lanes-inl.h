// Vectors of nodes to and from the lanes of a vector, and what the lanes of the tetrahedra's kernels
// find besides forces. Highway includes this file once for each instruction set.
#if defined(PLIANT_FEM_TET_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIANT_FEM_TET_LANES_INL_H
#undef PLIANT_FEM_TET_LANES_INL_H
#else
#define PLIANT_FEM_TET_LANES_INL_H
#endif

#include <hwy/highway.h>
#include <limits>

#include "fem/matrix3-inl.h"
#include "fem/tet_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// At most 256 bits: wider vectors bring nothing where they are split inside (measured on Zen 4),
/// and four doubles are the padded vector of a node.
template <class T>
using LaneTag = hn::CappedTag<T, 32 / sizeof(T)>;

template <class D>
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
/// Adds the numbers of a vector to those in memory.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void add_to(D d, const hn::Vec<D>& v, T* to) {
    hn::Store(hn::Add(hn::Load(d, to), v), d, to);
}

// gather: x, y and z of the vectors at `places` of `from`, one in each lane.
// scatter_add: adds x, y and z of each lane to the vector at `scale` times its place of `to`.

#if HWY_MAX_BYTES >= 32
using FourDoubles = hn::FixedTag<double, 4>;
using EightFloats = hn::FixedTag<float, 8>;

HWY_INLINE Vector3<FourDoubles> gather(FourDoubles d, const double* HWY_RESTRICT from,
                                       const std::uint16_t* places) {
    hn::Vec<FourDoubles> v[4];
    PLIANT_UNROLL
    for (int l = 0; l < 4; ++l) v[l] = hn::Load(d, from + places[l]);
    const auto xz0 = hn::InterleaveLower(d, v[0], v[1]), xz2 = hn::InterleaveLower(d, v[2], v[3]);
    const auto y0 = hn::InterleaveUpper(d, v[0], v[1]), y2 = hn::InterleaveUpper(d, v[2], v[3]);
    return {{hn::ConcatLowerLower(d, xz2, xz0), hn::ConcatLowerLower(d, y2, y0),
             hn::ConcatUpperUpper(d, xz2, xz0)}};
}

HWY_INLINE Vector3<EightFloats> gather(EightFloats d, const float* HWY_RESTRICT from,
                                       const std::uint16_t* places) {
    const hn::Half<EightFloats> half;
    hn::Vec<EightFloats> v[4];  // lanes l and l + 4
    PLIANT_UNROLL
    for (int l = 0; l < 4; ++l)
        v[l] =
            hn::Combine(d, hn::Load(half, from + places[l + 4]), hn::Load(half, from + places[l]));
    const auto xy0 = hn::InterleaveLower(d, v[0], v[2]), xy1 = hn::InterleaveLower(d, v[1], v[3]);
    const auto z0 = hn::InterleaveUpper(d, v[0], v[2]), z1 = hn::InterleaveUpper(d, v[1], v[3]);
    return {{hn::InterleaveLower(d, xy0, xy1), hn::InterleaveUpper(d, xy0, xy1),
             hn::InterleaveLower(d, z0, z1)}};
}

template <int scale, class V>
HWY_INLINE void scatter_add(FourDoubles d, const V& x, const V& y, const V& z,
                            const std::uint16_t* places, double* HWY_RESTRICT to) {
    const V zero = hn::Zero(d);
    const V xy0 = hn::InterleaveLower(d, x, y), xy1 = hn::InterleaveUpper(d, x, y);
    const V z0 = hn::InterleaveLower(d, z, zero), z1 = hn::InterleaveUpper(d, z, zero);
    add_to(d, hn::ConcatLowerLower(d, z0, xy0), to + scale * places[0]);
    add_to(d, hn::ConcatLowerLower(d, z1, xy1), to + scale * places[1]);
    add_to(d, hn::ConcatUpperUpper(d, z0, xy0), to + scale * places[2]);
    add_to(d, hn::ConcatUpperUpper(d, z1, xy1), to + scale * places[3]);
}

template <int scale, class V>
HWY_INLINE void scatter_add(EightFloats d, const V& x, const V& y, const V& z,
                            const std::uint16_t* places, float* HWY_RESTRICT to) {
    const hn::Half<EightFloats> half;
    const V zero = hn::Zero(d);
    const V xz0 = hn::InterleaveLower(d, x, z), xz2 = hn::InterleaveUpper(d, x, z);
    const V y0 = hn::InterleaveLower(d, y, zero), y2 = hn::InterleaveUpper(d, y, zero);
    const V v[4] = {hn::InterleaveLower(d, xz0, y0), hn::InterleaveUpper(d, xz0, y0),
                    hn::InterleaveLower(d, xz2, y2), hn::InterleaveUpper(d, xz2, y2)};
    PLIANT_UNROLL
    for (int l = 0; l < 4; ++l) {
        add_to(half, hn::LowerHalf(half, v[l]), to + scale * places[l]);
        add_to(half, hn::UpperHalf(half, v[l]), to + scale * places[l + 4]);
    }
}
#else
template <class D, class T = hn::TFromD<D>>
HWY_INLINE Vector3<D> gather(D d, const T* HWY_RESTRICT from, const std::uint16_t* places) {
    HWY_ALIGN T columns[3][kLanes<D>];
    for (int l = 0; l < kLanes<D>; ++l)
        for (int i = 0; i < 3; ++i) columns[i][l] = from[places[l] + i];
    return {{hn::Load(d, columns[0]), hn::Load(d, columns[1]), hn::Load(d, columns[2])}};
}

template <int scale, class D, class V, class T = hn::TFromD<D>>
HWY_INLINE void scatter_add(D d, const V& x, const V& y, const V& z, const std::uint16_t* places,
                            T* HWY_RESTRICT to) {
    HWY_ALIGN T columns[3][kLanes<D>];
    hn::Store(x, d, columns[0]);
    hn::Store(y, d, columns[1]);
    hn::Store(z, d, columns[2]);
    for (int l = 0; l < kLanes<D>; ++l)
        for (int i = 0; i < 3; ++i) to[scale * places[l] + i] += columns[i][l];
}
#endif

/// Bits of the lanes that the law leaves out.
template <class D, class Law>
HWY_INLINE void note_redo(const Law& law, int first_lane, std::uint8_t& redo) {
    if constexpr (Law::kMayRedo) {
        const D d;
        if (HWY_LIKELY(hn::AllFalse(d, law.redo()))) return;
        std::uint8_t bits[8] = {};
        hn::StoreMaskBits(d, law.redo(), bits);
        redo = static_cast<std::uint8_t>(redo | bits[0] << first_lane);
    }
}

template <class D>
HWY_INLINE void keep_smallest(const hn::Vec<D>& det, int group, hn::Vec<D>& smallest,
                              hn::Vec<D>& group_of_smallest) {
    const D d;
    const auto is_less = hn::Lt(det, smallest);
    smallest = hn::IfThenElse(is_less, det, smallest);
    group_of_smallest =
        hn::IfThenElse(is_less, hn::Set(d, static_cast<hn::TFromD<D>>(group)), group_of_smallest);
}

template <class D>
HWY_INLINE TetDetF smallest_of_lanes(const hn::Vec<D>& values, const hn::Vec<D>& groups) {
    using T = hn::TFromD<D>;
    const D d;
    HWY_ALIGN T value[kLanes<D>], group[kLanes<D>];
    hn::Store(values, d, value);
    hn::Store(groups, d, group);
    TetDetF smallest{std::numeric_limits<double>::infinity(), 0, 0};
    for (int l = 0; l < kLanes<D>; ++l) {
        const int lane = static_cast<int>(group[l]) * kLanes<D> + l;
        const int best = smallest.batch * kTetLanes + smallest.lane;
        const double here = static_cast<double>(value[l]);
        if (here < smallest.value || (here == smallest.value && lane < best))
            smallest = {here, lane / kTetLanes, lane % kTetLanes};
    }
    return smallest;
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
