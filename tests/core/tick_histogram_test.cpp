#include "pliant/core/tick_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "pliant/core/allocation_guard.h"

namespace pliant {
namespace {

constexpr double kRelativeError = 1.0 / 64;  // docs/core.md eq. (8)
constexpr double kResolution_us = 1e-3;

/// The exact value: the smallest duration that at least `fraction` of all durations do not exceed.
double reference_percentile(std::vector<double> durations, double fraction) {
    std::sort(durations.begin(), durations.end());
    const double rank = std::ceil(fraction * static_cast<double>(durations.size()) - 1e-9);
    return durations[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

void expect_percentiles(const TickHistogram& histogram, const std::vector<double>& durations) {
    for (const double fraction : {0.0, 0.01, 0.07, 0.5, 0.9, 0.99, 0.999, 1.0}) {
        const double exact = reference_percentile(durations, fraction);
        const double found = histogram.percentile_us(fraction);
        // the factor covers the rounding of microseconds to nanoseconds
        EXPECT_GE(found, exact * (1 - 1e-12)) << fraction;
        EXPECT_LE(found, exact * (1 + kRelativeError) + kResolution_us) << fraction;
    }
}

TEST(TickHistogram, PercentilesMatchSortedReference) {
    std::mt19937_64 random(11);
    for (const double log_spread : {0.1, 1.0, 3.0})
        for (const std::size_t count : {1u, 2u, 100u, 5000u}) {
            std::lognormal_distribution<double> duration(std::log(300.0), log_spread);
            TickHistogram histogram;
            std::vector<double> durations(count);
            for (double& value : durations) histogram.record(value = duration(random));
            expect_percentiles(histogram, durations);
        }
}

TEST(TickHistogram, ErrorBoundHoldsFromNanosecondsToMinutes) {
    for (double us = 1e-4; us < 1e9; us *= 1.013) {
        TickHistogram histogram;
        histogram.record(us);
        histogram.record(4e9);  // so that the first is not the longest, which is known exactly
        const double found = histogram.percentile_us(0.5);
        ASSERT_GE(found, us * (1 - 1e-12));
        ASSERT_LE(found, us * (1 + kRelativeError) + kResolution_us);
    }
}

TEST(TickHistogram, SummaryCountsMissedTicksAndKeepsTheMaximumExact) {
    TickHistogram histogram(1000.0);
    for (int i = 1; i <= 1000; ++i) histogram.record(i);
    histogram.record(1000.5);
    histogram.record(1234.567);
    const TickHistogram::Summary summary = histogram.summary();
    EXPECT_EQ(summary.count, 1002u);
    EXPECT_EQ(summary.missed, 2u) << "1000 µs meets the deadline";
    EXPECT_DOUBLE_EQ(summary.max_us, 1234.567);
    EXPECT_NEAR(summary.mean_us, (500500 + 1000.5 + 1234.567) / 1002, 1e-9);
    EXPECT_NEAR(summary.p50_us, 501, 501 * kRelativeError);
    EXPECT_NEAR(summary.p99_us, 992, 992 * kRelativeError);
    EXPECT_NEAR(summary.p999_us, 1000.5, 1000.5 * kRelativeError);
    EXPECT_DOUBLE_EQ(histogram.percentile_us(1.0), 1234.567);
}

TEST(TickHistogram, WithoutDeadlineNothingIsMissed) {
    TickHistogram histogram;
    histogram.record(1e9);
    EXPECT_EQ(histogram.summary().missed, 0u);
}

TEST(TickHistogram, EmptyHistogramIsAllZero) {
    const TickHistogram::Summary summary = TickHistogram(5.0).summary();
    EXPECT_EQ(summary.count, 0u);
    EXPECT_EQ(summary.mean_us, 0.0);
    EXPECT_EQ(summary.p50_us, 0.0);
    EXPECT_EQ(summary.max_us, 0.0);
}

TEST(TickHistogram, OddDurationsAreCountedAsZeroLength) {
    TickHistogram histogram(1.0);
    histogram.record(-3.0);
    histogram.record(std::numeric_limits<double>::quiet_NaN());
    histogram.record(std::numeric_limits<double>::infinity());
    histogram.record(-std::numeric_limits<double>::infinity());
    const TickHistogram::Summary summary = histogram.summary();
    EXPECT_EQ(summary.count, 4u);
    EXPECT_EQ(summary.missed, 0u);
    EXPECT_EQ(summary.max_us, 0.0);
    EXPECT_EQ(summary.p99_us, 0.0);
}

TEST(TickHistogram, DurationsBeyondTheLastBucketReportTheLongest) {
    TickHistogram histogram;
    for (const double us : {1e10, 1e300, std::numeric_limits<double>::max() / 1e4})
        histogram.record(us);
    EXPECT_EQ(histogram.count(), 3u);
    EXPECT_GE(histogram.percentile_us(0.5), 1e300);
}

TEST(TickHistogram, MergeEqualsRecordingEverythingInOne) {
    std::mt19937_64 random(5);
    std::exponential_distribution<double> duration(0.01);
    TickHistogram first(100.0), second(100.0), both(100.0);
    for (int i = 0; i < 1000; ++i) {
        const double us = duration(random);
        (i % 3 == 0 ? first : second).record(us);
        both.record(us);
    }
    first.merge(second);
    EXPECT_EQ(first.summary().count, both.summary().count);
    EXPECT_EQ(first.summary().missed, both.summary().missed);
    EXPECT_EQ(first.summary().max_us, both.summary().max_us);
    EXPECT_NEAR(first.summary().mean_us, both.summary().mean_us, 1e-9);
    for (const double fraction : {0.1, 0.5, 0.99, 0.999})
        EXPECT_EQ(first.percentile_us(fraction), both.percentile_us(fraction));
}

TEST(TickHistogram, ResetForgetsTicksAndKeepsTheDeadline) {
    TickHistogram histogram(10.0);
    histogram.record(20.0);
    histogram.reset();
    EXPECT_EQ(histogram.count(), 0u);
    EXPECT_EQ(histogram.percentile_us(0.5), 0.0);
    histogram.record(11.0);
    EXPECT_EQ(histogram.summary().missed, 1u);
}

TEST(TickHistogram, RecordsWithoutAllocating) {
    TickHistogram histogram(10.0);
    const AllocationGuard guard;
    for (int i = 0; i < 1000; ++i) histogram.record(0.1 * i);
    const std::uint64_t allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_EQ(histogram.count(), 1000u);
}

TEST(ThreadCpuTime, GrowsWithWork) {
    const double start = thread_cpu_time_us();
    volatile double sum = 0;
    for (int i = 0; i < 1000000; ++i) sum = sum + i;
    EXPECT_GT(thread_cpu_time_us(), start);
}

}  // namespace
}  // namespace pliant
