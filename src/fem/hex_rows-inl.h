// Part of Highway files, compiled once for each instruction set; the guard lets each of them in.
#if defined(PLIANT_FEM_HEX_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIANT_FEM_HEX_ROWS_INL_H_
#undef PLIANT_FEM_HEX_ROWS_INL_H_
#else
#define PLIANT_FEM_HEX_ROWS_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "fem/hex_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Nodes of a block as rows x y z 0, aligned. Rows are given by their offsets, 4 × place.

/// Those of a block, the spare node first.
template <class T>
struct BlockNodes {
    static constexpr int kSize = 4 * (8 * kMaxHexesPerBlock + 1);

    const int* nodes;
    int count;
    alignas(64) T rows[kSize];

    HWY_INLINE BlockNodes(const HexBatches& hexes, int block)
        : nodes(hexes.nodes.data() + hexes.node_offsets[block]),
          count(hexes.node_offsets[block + 1] - hexes.node_offsets[block]) {}

    HWY_INLINE void clear() {
        for (int i = 0; i < 4 * (count + 1); ++i) rows[i] = 0;
    }
    /// all − origin, in doubles; `origin` is aligned and has a fourth number.
    HWY_INLINE void load(const double* all, const double* origin) {
        for (int c = 0; c < 4; ++c) rows[c] = 0;
        for (int i = 0; i < count; ++i)
            load_row(all + std::size_t{3} * nodes[i], origin, rows + 4 * (i + 1));
    }
    HWY_INLINE void add_to(double* all) const {
        for (int i = 0; i < count; ++i)
            add_row(rows + 4 * (i + 1), all + std::size_t{3} * nodes[i]);
    }

private:
    static HWY_INLINE void load_row(const double* p, const double* origin, T* row) {
#if HWY_MAX_BYTES >= 32
        const hn::FixedTag<double, 4> tag;
        const auto v = hn::Sub(hn::MaskedLoad(hn::FirstN(tag, 3), tag, p), hn::Load(tag, origin));
        if constexpr (sizeof(T) == sizeof(double))
            hn::Store(v, tag, row);
        else
            hn::Store(hn::DemoteTo(hn::FixedTag<float, 4>(), v), hn::FixedTag<float, 4>(), row);
#else
        for (int c = 0; c < 3; ++c) row[c] = static_cast<T>(p[c] - origin[c]);
        row[3] = 0;
#endif
    }
    static HWY_INLINE void add_row(const T* row, double* p) {
#if HWY_MAX_BYTES >= 32
        const hn::FixedTag<double, 2> tag;
        hn::Vec<decltype(tag)> xy;
        if constexpr (sizeof(T) == sizeof(double))
            xy = hn::Load(tag, row);
        else
            xy = hn::PromoteTo(tag, hn::Load(hn::FixedTag<float, 2>(), row));
        hn::StoreU(hn::Add(hn::LoadU(tag, p), xy), tag, p);
        p[2] += static_cast<double>(row[2]);
#else
        // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): clear() has set all rows
        for (int c = 0; c < 3; ++c) p[c] += static_cast<double>(row[c]);
#endif
    }
};

/// Asks for the nodes of the next block in the arrays of all nodes while this one is computed. A
/// few at a time: more than the processor can wait for would hold up its other loads.
template <int num_arrays>
class NodePrefetch {
    const int *node_, *end_;
    int share_;
    const double* arrays_[num_arrays];

public:
    /// `group` elements are computed between two calls of next().
    template <class... Arrays>
    HWY_INLINE NodePrefetch(const HexBatches& hexes, int block, int group, Arrays... arrays)
        : arrays_{arrays...} {
        const bool is_last = block + 2 == static_cast<int>(hexes.node_offsets.size());
        const int first = hexes.node_offsets[block + 1];
        const int end = is_last ? first : hexes.node_offsets[block + 2];
        node_ = hexes.nodes.data() + first;
        end_ = hexes.nodes.data() + end;
        share_ = (end - first) * group / kMaxHexesPerBlock + 1;
    }
    HWY_INLINE void next() {
        for (int i = 0; i < share_ && node_ != end_; ++i, ++node_)
            for (const double* array : arrays_) hwy::Prefetch(array + std::size_t{3} * *node_);
    }
};

#if HWY_TARGET == HWY_SCALAR

/// Adds x, y, z of each lane, which are in memory, to the three doubles at to[lane].
template <class D>
HWY_INLINE void add_triples(D, const double* x, const double* y, const double* z,
                            double* const* to) {
    to[0][0] += x[0];
    to[0][1] += y[0];
    to[0][2] += z[0];
}

/// Components of as many rows as the vectors have lanes.
template <class D, class T = hn::TFromD<D>, class V = hn::Vec<D>>
HWY_INLINE void load_rows(D d, const T* rows, const std::uint16_t* offsets, V (&xyz)[3]) {
    for (int c = 0; c < 3; ++c) xyz[c] = hn::Load(d, rows + offsets[0] + c);
}
template <class D, class T = hn::TFromD<D>, class V = hn::Vec<D>>
HWY_INLINE void add_to_rows(D d, const V (&xyz)[3], const std::uint16_t* offsets, T* rows) {
    for (int c = 0; c < 3; ++c) {
        T* const p = rows + offsets[0] + c;
        hn::Store(hn::Add(hn::Load(d, p), xyz[c]), d, p);
    }
}

#else

/// Adds x, y, z of each lane, which are in memory, to the three doubles at to[lane].
template <class D>
HWY_INLINE void add_triples(D d, const double* x, const double* y, const double* z,
                            double* const* to) {
    constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
    const hn::FixedTag<double, 2> pair;
    const auto add = [pair](hn::Vec<decltype(pair)> v, double* p)
                         HWY_ATTR { hn::StoreU(hn::Add(hn::LoadU(pair, p), v), pair, p); };
    const auto even = hn::InterleaveLower(d, hn::Load(d, x), hn::Load(d, y));
    const auto odd = hn::InterleaveUpper(d, hn::Load(d, x), hn::Load(d, y));
    if constexpr (kLanes == 4) {
        add(hn::LowerHalf(pair, even), to[0]);
        add(hn::LowerHalf(pair, odd), to[1]);
        add(hn::UpperHalf(pair, even), to[2]);
        add(hn::UpperHalf(pair, odd), to[3]);
    } else {
        static_assert(kLanes == 2);
        add(even, to[0]);
        add(odd, to[1]);
    }
    for (int lane = 0; lane < kLanes; ++lane) to[lane][2] += z[lane];
}

/// 16 bytes from the start of each of the rows 0, step, 2 step, …
template <std::size_t step, class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_pieces(D d, const T* rows, const std::uint16_t* offsets) {
    if constexpr (hn::MaxLanes(D()) * sizeof(T) == 16) {
        return hn::Load(d, rows + offsets[0]);
    } else {
        constexpr std::size_t kHalf = hn::MaxLanes(D()) * sizeof(T) / 32;
        const hn::Half<D> half;
        return hn::Combine(d, load_pieces<step>(half, rows, offsets + step * kHalf),
                           load_pieces<step>(half, rows, offsets));
    }
}

/// Adds the rows 0, step, 2 step, …, one after the other in v.
template <std::size_t step, class D, class T = hn::TFromD<D>>
HWY_INLINE void add_rows(D d, hn::Vec<D> v, const std::uint16_t* offsets, T* rows) {
    if constexpr (hn::MaxLanes(D()) == 4) {
        T* const row = rows + offsets[0];
        hn::Store(hn::Add(hn::Load(d, row), v), d, row);
    } else {
        const hn::Half<D> half;
        add_rows<step>(half, hn::LowerHalf(half, v), offsets, rows);
        add_rows<step>(half, hn::UpperHalf(half, v), offsets + step * hn::MaxLanes(half) / 4, rows);
    }
}

/// Components of as many rows as the vectors have lanes: 4 × 4 transposes, or 2 × 2 in double.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void load_rows(D d, const float* rows, const std::uint16_t* offsets, V (&xyz)[3]) {
    const V r0 = load_pieces<4>(d, rows, offsets), r1 = load_pieces<4>(d, rows, offsets + 1);
    const V r2 = load_pieces<4>(d, rows, offsets + 2), r3 = load_pieces<4>(d, rows, offsets + 3);
    const V xy02 = hn::InterleaveLower(d, r0, r2), xy13 = hn::InterleaveLower(d, r1, r3);
    xyz[0] = hn::InterleaveLower(d, xy02, xy13);
    xyz[1] = hn::InterleaveUpper(d, xy02, xy13);
    xyz[2] = hn::InterleaveLower(d, hn::InterleaveUpper(d, r0, r2), hn::InterleaveUpper(d, r1, r3));
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE void load_rows(D d, const double* rows, const std::uint16_t* offsets, V (&xyz)[3]) {
    const V xy0 = load_pieces<2>(d, rows, offsets), xy1 = load_pieces<2>(d, rows, offsets + 1);
    const V z0 = load_pieces<2>(d, rows + 2, offsets),
            z1 = load_pieces<2>(d, rows + 2, offsets + 1);
    xyz[0] = hn::InterleaveLower(d, xy0, xy1);
    xyz[1] = hn::InterleaveUpper(d, xy0, xy1);
    xyz[2] = hn::InterleaveLower(d, z0, z1);
}

/// Adds to the rows lane by lane, so that one row may occur in several lanes.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void add_to_rows(D d, const V (&xyz)[3], const std::uint16_t* offsets, float* rows) {
    const V zero = hn::Zero(d);
    const V xz01 = hn::InterleaveLower(d, xyz[0], xyz[2]);
    const V xz23 = hn::InterleaveUpper(d, xyz[0], xyz[2]);
    const V y01 = hn::InterleaveLower(d, xyz[1], zero), y23 = hn::InterleaveUpper(d, xyz[1], zero);
    add_rows<4>(d, hn::InterleaveLower(d, xz01, y01), offsets, rows);
    add_rows<4>(d, hn::InterleaveUpper(d, xz01, y01), offsets + 1, rows);
    add_rows<4>(d, hn::InterleaveLower(d, xz23, y23), offsets + 2, rows);
    add_rows<4>(d, hn::InterleaveUpper(d, xz23, y23), offsets + 3, rows);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE void add_to_rows(D d, const V (&xyz)[3], const std::uint16_t* offsets, double* rows) {
    if constexpr (hn::MaxLanes(D()) > 4) {
        const hn::Half<D> half;
        hn::Vec<decltype(half)> low[3], high[3];
        for (int c = 0; c < 3; ++c) {
            low[c] = hn::LowerHalf(half, xyz[c]);
            high[c] = hn::UpperHalf(half, xyz[c]);
        }
        add_to_rows(half, low, offsets, rows);
        add_to_rows(half, high, offsets + hn::MaxLanes(half), rows);
    } else {
        const V zero = hn::Zero(d);
        const V xy0 = hn::InterleaveLower(d, xyz[0], xyz[1]);
        const V xy1 = hn::InterleaveUpper(d, xyz[0], xyz[1]);
        const V z0 = hn::InterleaveLower(d, xyz[2], zero),
                z1 = hn::InterleaveUpper(d, xyz[2], zero);
        if constexpr (hn::MaxLanes(D()) == 4) {
            add_rows<1>(d, hn::ConcatLowerLower(d, z0, xy0), offsets, rows);
            add_rows<1>(d, hn::ConcatLowerLower(d, z1, xy1), offsets + 1, rows);
            add_rows<1>(d, hn::ConcatUpperUpper(d, z0, xy0), offsets + 2, rows);
            add_rows<1>(d, hn::ConcatUpperUpper(d, z1, xy1), offsets + 3, rows);
        } else {
            const auto add = [d](V v, double* half_row) HWY_ATTR {
                hn::Store(hn::Add(hn::Load(d, half_row), v), d, half_row);
            };
            add(xy0, rows + offsets[0]);
            add(z0, rows + offsets[0] + 2);
            add(xy1, rows + offsets[1]);
            add(z1, rows + offsets[1] + 2);
        }
    }
}
#endif

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
