// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "pliant/core/simd.h"

#include <algorithm>
#include <cassert>

#include "pliant/core/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Element i is added to strand i mod kStrands, whatever the width of a vector; the strands are
/// then folded in halves: docs/core.md eq. (9).
template <class T>
HWY_INLINE T sum_in_strands(const T* values, std::size_t count) {
    constexpr std::size_t kStrands = 128 / sizeof(T);
    const hn::ScalableTag<T> tag;
    constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
    constexpr std::size_t kVectors = kStrands / kLanes;

    // independent accumulators hide the latency of an addition
    hn::Vec<decltype(tag)> sums[kVectors];
#pragma GCC unroll 32
    for (std::size_t k = 0; k < kVectors; ++k) sums[k] = hn::Zero(tag);
    std::size_t i = 0;
    for (; i + kStrands <= count; i += kStrands) {
#pragma GCC unroll 32
        for (std::size_t k = 0; k < kVectors; ++k)
            sums[k] = hn::Add(sums[k], hn::LoadU(tag, values + i + k * kLanes));
    }
    HWY_ALIGN T strands[kStrands];
#pragma GCC unroll 32
    for (std::size_t k = 0; k < kVectors; ++k) hn::Store(sums[k], tag, strands + k * kLanes);

    for (std::size_t k = 0; i + k < count; ++k) strands[k] += values[i + k];
    for (std::size_t half = kStrands / 2; half > 0; half /= 2)
        for (std::size_t k = 0; k < half; ++k) strands[k] += strands[k + half];
    return strands[0];
}

float sum_f32(const float* values, std::size_t count) { return sum_in_strands(values, count); }
double sum_f64(const double* values, std::size_t count) { return sum_in_strands(values, count); }

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(sum_f32);
HWY_EXPORT(sum_f64);

float simd_sum(const float* values, std::size_t count) noexcept {
    return HWY_DYNAMIC_DISPATCH(sum_f32)(values, count);
}

double simd_sum(const double* values, std::size_t count) noexcept {
    return HWY_DYNAMIC_DISPATCH(sum_f64)(values, count);
}

std::vector<std::string> simd_targets() {
    std::vector<std::string> names;
    // the lowest bit is the best target
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
        names.emplace_back(hwy::TargetName(target));
    return names;
}

namespace {

bool scope_is_open = false;

}  // namespace

ScopedSimdTarget::ScopedSimdTarget(const std::string& name) {
    assert(!scope_is_open);
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        if (name != hwy::TargetName(target)) continue;
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
        scope_is_open = true;
        return;
    }
    std::string known;
    for (const std::string& target : simd_targets()) known += (known.empty() ? "" : ", ") + target;
    throw InputError("", "SIMD target", name, "one of " + known);
}

ScopedSimdTarget::~ScopedSimdTarget() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    scope_is_open = false;
}

}  // namespace pliant
#endif
