#include "pliant/core/tick_histogram.h"

#include <time.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

namespace pliant {
namespace {

constexpr double kLongestNs = 1099511627776.0;  // 2^40, the end of the last bucket

}  // namespace

TickHistogram::TickHistogram(double deadline_us) noexcept : deadline_ns_(1e3 * deadline_us) {}

int TickHistogram::bucket_of(std::uint64_t ns) noexcept {
    // docs/core.md eq. (8): below 2^kSubBits one bucket per nanosecond, above it the leading
    // kSubBits + 1 binary digits choose the bucket
    const int shift = std::max(0, static_cast<int>(std::bit_width(ns)) - kSubBits - 1);
    return (shift << kSubBits) + static_cast<int>(ns >> shift);
}

double TickHistogram::upper_edge_ns(int bucket) noexcept {
    const int shift = std::max(0, (bucket >> kSubBits) - 1);
    return std::ldexp(bucket - (shift << kSubBits) + 1, shift);
}

void TickHistogram::record(double duration_us) noexcept {
    const double ns = std::isfinite(duration_us) && duration_us > 0.0 ? 1e3 * duration_us : 0.0;
    const int bucket = ns < kLongestNs ? bucket_of(static_cast<std::uint64_t>(ns)) : kBuckets - 1;
    ++buckets_[static_cast<std::size_t>(bucket)];
    ++count_;
    if (deadline_ns_ > 0.0 && ns > deadline_ns_) ++missed_;
    sum_ns_ += ns;
    max_ns_ = std::max(max_ns_, ns);
}

void TickHistogram::merge(const TickHistogram& other) noexcept {
    for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    missed_ += other.missed_;
    sum_ns_ += other.sum_ns_;
    max_ns_ = std::max(max_ns_, other.max_ns_);
}

void TickHistogram::reset() noexcept {
    buckets_.fill(0);
    count_ = missed_ = 0;
    sum_ns_ = max_ns_ = 0.0;
}

double TickHistogram::percentile_us(double fraction) const noexcept {
    if (count_ == 0) return 0.0;
    // the factor keeps round-off from asking for one more tick (0.07 · 100 is just above 7)
    const double wanted = std::ceil(fraction * static_cast<double>(count_) * (1.0 - 1e-12));
    std::uint64_t seen = 0;
    for (int bucket = 0; bucket < kBuckets - 1; ++bucket) {
        seen += buckets_[static_cast<std::size_t>(bucket)];
        if (seen > 0 && static_cast<double>(seen) >= wanted)
            return 1e-3 * std::min(upper_edge_ns(bucket), max_ns_);
    }
    return 1e-3 * max_ns_;  // the last bucket also holds everything longer than kLongestNs
}

TickHistogram::Summary TickHistogram::summary() const noexcept {
    Summary result;
    result.count = count_;
    result.missed = missed_;
    result.mean_us = count_ == 0 ? 0.0 : 1e-3 * sum_ns_ / static_cast<double>(count_);
    result.p50_us = percentile_us(0.5);
    result.p99_us = percentile_us(0.99);
    result.p999_us = percentile_us(0.999);
    result.max_us = 1e-3 * max_ns_;
    return result;
}

double thread_cpu_time_us() noexcept {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

}  // namespace pliant
