#pragma once

#include <array>
#include <cstdint>

namespace pliant {

/// Durations of ticks in logarithmic buckets: `record` is O(1) and never allocates. Percentiles are
/// rounded up by at most 1.6 % or 1 ns, docs/core.md section "Tick statistics".
class TickHistogram {
public:
    struct Summary {
        std::uint64_t count = 0;
        std::uint64_t missed = 0;  ///< recorded durations above the deadline
        double mean_us = 0, p50_us = 0, p99_us = 0, p999_us = 0;
        double max_us = 0;  ///< exact
    };

    /// A tick longer than `deadline_us` counts as missed; 0 means no deadline.
    explicit TickHistogram(double deadline_us = 0.0) noexcept;

    /// Non-finite and negative durations are counted as zero-length.
    void record(double duration_us) noexcept;
    void merge(const TickHistogram& other) noexcept;
    void reset() noexcept;
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    /// Upper edge of the bucket at which the given fraction of all ticks is reached, never above
    /// the longest tick [µs]; 0 when empty.
    [[nodiscard]] double percentile_us(double fraction) const noexcept;
    [[nodiscard]] Summary summary() const noexcept;

private:
    // 64 sub-buckets per power of two of nanoseconds, up to 2^40 ns (18 minutes)
    static constexpr int kSubBits = 6;
    static constexpr int kBuckets = (41 - kSubBits) << kSubBits;
    static int bucket_of(std::uint64_t ns) noexcept;
    static double upper_edge_ns(int bucket) noexcept;

    std::array<std::uint64_t, kBuckets> buckets_{};
    std::uint64_t count_ = 0, missed_ = 0;
    double sum_ns_ = 0, max_ns_ = 0, deadline_ns_ = 0;
};

/// CPU time of the calling thread [µs]: what benchmarks and tick statistics use on shared machines.
[[nodiscard]] double thread_cpu_time_us() noexcept;

}  // namespace pliant
