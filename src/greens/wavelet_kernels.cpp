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

void sparse_blocks(const int* nodes, const float* blocks, std::size_t count, const float* weights,
                   float* sum) {
    const hn::CappedTag<float, 4> d;
    const auto x = hn::Set(d, weights[0]), y = hn::Set(d, weights[1]), z = hn::Set(d, weights[2]);
    for (std::size_t k = 0; k < count; ++k, blocks += 9) {
        float* const to = sum + kPaddedBlock * static_cast<std::size_t>(nodes[k]);
        for (std::size_t c = 0; c < kPaddedBlock; c += hn::Lanes(d)) {
            auto value = hn::MulAdd(x, hn::LoadU(d, blocks + c), hn::LoadU(d, to + c));
            const auto other = hn::MulAdd(y, hn::LoadU(d, blocks + 3 + c),
                                          hn::Mul(z, hn::LoadU(d, blocks + 6 + c)));
            value = hn::Add(value, other);
            hn::StoreU(value, d, to + c);
        }
    }
}

void blocks_of_places(const std::uint32_t* places, const float* weights, int count,
                      const float* blocks, float* out) {
    const hn::CappedTag<float, 8> d;
    for (std::size_t c = 0; c < 8; c += hn::Lanes(d)) {
        auto sum = hn::Zero(d);
        for (int k = 0; k < count; ++k)
            sum = hn::MulAdd(hn::Set(d, weights[k]),
                             hn::LoadU(d, blocks + 9 * std::size_t{places[k]} + c), sum);
        hn::StoreU(sum, d, out + c);
    }
    float last = 0;
    for (int k = 0; k < count; ++k) last += weights[k] * blocks[9 * std::size_t{places[k]} + 8];
    out[8] = last;
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

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(sparse_blocks);
HWY_EXPORT(blocks_of_places);
HWY_EXPORT(padded);

void add_sparse_blocks(const int* nodes, const float* blocks, std::size_t count,
                       const float* weights, float* sum) noexcept {
    HWY_DYNAMIC_DISPATCH(sparse_blocks)(nodes, blocks, count, weights, sum);
}
void sum_blocks(const std::uint32_t* places, const float* weights, int count, const float* blocks,
                float* out) noexcept {
    HWY_DYNAMIC_DISPATCH(blocks_of_places)(places, weights, count, blocks, out);
}
void sum_padded(const int* nodes, const float* weights, int count, const float* sum,
                float* out) noexcept {
    HWY_DYNAMIC_DISPATCH(padded)(nodes, weights, count, sum, out);
}

}  // namespace pliant
#endif
