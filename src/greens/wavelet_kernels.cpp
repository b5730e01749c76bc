// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "greens/wavelet_kernels.h"

#include <cstddef>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "greens/wavelet_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> load_floats(D d, const float* values) {
    return hn::LoadU(d, values);
}
template <class D>
HWY_INLINE hn::Vec<D> load_floats(D d, const std::int16_t* values) {
    const hn::RebindToSigned<D> wide;
    const hn::Rebind<std::int16_t, D> narrow;
    return hn::ConvertTo(d, hn::PromoteTo(wide, hn::LoadU(narrow, values)));
}

template <class T>
HWY_INLINE void add_block(int node, const T* block, const float* weights, float* sum) {
    const hn::CappedTag<float, 4> d;
    float* const to = sum + kPaddedBlock * static_cast<std::size_t>(node);
    for (std::size_t c = 0; c < kPaddedBlock; c += hn::Lanes(d)) {
        const auto value =
            hn::MulAdd(hn::Set(d, weights[0]), load_floats(d, block + c), hn::LoadU(d, to + c));
        const auto other =
            hn::MulAdd(hn::Set(d, weights[1]), load_floats(d, block + 3 + c),
                       hn::Mul(hn::Set(d, weights[2]), load_floats(d, block + 6 + c)));
        hn::StoreU(hn::Add(value, other), d, to + c);
    }
}

/// Blocks `begin` to `end` of a column. Pointers are values of their own: what is stored might
/// otherwise change them.
template <class T>
HWY_INLINE void add_range(const int* nodes, const T* blocks, std::size_t begin, std::size_t end,
                          const float* weights, float* sum) {
    for (std::size_t k = begin; k < end; ++k) add_block(nodes[k], blocks + 9 * k, weights, sum);
}

void sparse_integers(const SparseBlocks& column, const float* weights, float* sum) {
    std::size_t begin = 0;
    for (std::size_t level = 0; level < column.num_levels; ++level) {
        const float unit = column.units[2 * level];
        const float scaled[3] = {unit * weights[0], unit * weights[1], unit * weights[2]};
        const std::size_t end = column.level_ends[level];
        add_range(column.nodes, column.integers, begin, end, scaled, sum);
        begin = end;
    }
}

void sparse_blocks(const SparseBlocks& column, const float* w, float* sum) {
    const float weights[3] = {w[0], w[1], w[2]};
    add_range(column.nodes, column.blocks, 0, column.count, weights, sum);
}

template <class T>
HWY_INLINE void weighted_blocks(const std::uint32_t* places, const float* weights, int count,
                                const T* blocks, float* out) {
    const hn::CappedTag<float, 8> d;
    for (std::size_t c = 0; c < 8; c += hn::Lanes(d)) {
        auto sum = hn::Zero(d);
        for (int k = 0; k < count; ++k)
            sum = hn::MulAdd(hn::Set(d, weights[k]),
                             load_floats(d, blocks + 9 * std::size_t{places[k]} + c), sum);
        hn::StoreU(sum, d, out + c);
    }
    float last = 0;
    for (int k = 0; k < count; ++k)
        last += weights[k] * static_cast<float>(blocks[9 * std::size_t{places[k]} + 8]);
    out[8] = last;
}
void blocks_of_places(const std::uint32_t* places, const float* weights, int count,
                      const float* blocks, float* out) {
    weighted_blocks(places, weights, count, blocks, out);
}
void integers_of_places(const std::uint32_t* places, const float* weights, int count,
                        const std::int16_t* integers, float* out) {
    weighted_blocks(places, weights, count, integers, out);
}

void padded(const int* nodes, const float* weights, int count, const float* sum, float* out) {
    const hn::CappedTag<float, 4> d;
    for (std::size_t c = 0; c < kPaddedBlock; c += hn::Lanes(d)) {
        auto total = hn::Zero(d);
        for (int k = 0; k < count; ++k)
            total = hn::MulAdd(
                hn::Set(d, weights[k]),
                hn::LoadU(d, sum + kPaddedBlock * static_cast<std::size_t>(nodes[k]) + c), total);
        hn::StoreU(total, d, out + c);
    }
}

void unpadded(float* values, std::size_t count) {
    const hn::CappedTag<float, 4> d;
    // what a vector leaves behind its third value, the next one covers
    for (std::size_t k = 0; k + 1 < count; ++k)
        for (std::size_t c = 0; c < kPaddedBlock; c += hn::Lanes(d))
            hn::StoreU(hn::LoadU(d, values + kPaddedBlock * k + c), d, values + 3 * k + c);
    if (count == 0) return;
    for (std::size_t c = 0; c < 3; ++c)
        values[3 * (count - 1) + c] = values[kPaddedBlock * (count - 1) + c];
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(sparse_blocks);
HWY_EXPORT(sparse_integers);
HWY_EXPORT(blocks_of_places);
HWY_EXPORT(integers_of_places);
HWY_EXPORT(padded);
HWY_EXPORT(unpadded);

void add_sparse_blocks(const SparseBlocks& column, const float* weights, float* sum) noexcept {
    if (column.integers)
        HWY_DYNAMIC_DISPATCH(sparse_integers)(column, weights, sum);
    else
        HWY_DYNAMIC_DISPATCH(sparse_blocks)(column, weights, sum);
}
void sum_blocks(const std::uint32_t* places, const float* weights, int count, const float* blocks,
                float* out) noexcept {
    HWY_DYNAMIC_DISPATCH(blocks_of_places)(places, weights, count, blocks, out);
}
void sum_blocks(const std::uint32_t* places, const float* weights, int count,
                const std::int16_t* integers, float* out) noexcept {
    HWY_DYNAMIC_DISPATCH(integers_of_places)(places, weights, count, integers, out);
}
void remove_padding(float* values, std::size_t count) noexcept {
    HWY_DYNAMIC_DISPATCH(unpadded)(values, count);
}
void sum_padded(const int* nodes, const float* weights, int count, const float* sum,
                float* out) noexcept {
    HWY_DYNAMIC_DISPATCH(padded)(nodes, weights, count, sum, out);
}

}  // namespace pliant
#endif
