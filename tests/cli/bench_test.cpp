#include "benchmarks/bench.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace pliant::bench {
namespace {

TEST(Benchmarks, TargetsAreSaidAndAllOfThemCount) {
    Benchmark benchmark;
    EXPECT_EQ(target_text(benchmark), "");
    EXPECT_TRUE(passes(benchmark, {.median_us = 1e9, .p999_us = 1e9}));
    benchmark.max_us = 40;
    EXPECT_EQ(target_text(benchmark), "<= 40 us");
    benchmark.max_p999_us = 120;
    EXPECT_EQ(target_text(benchmark), "<= 40 us, p99.9 <= 120 us");
    EXPECT_TRUE(passes(benchmark, {.median_us = 40, .p999_us = 120, .max_us = 1e6}));
    EXPECT_FALSE(passes(benchmark, {.median_us = 41, .p999_us = 100}));
    EXPECT_FALSE(passes(benchmark, {.median_us = 10, .p999_us = 121}));
    benchmark = {};
    benchmark.max_mean_us = 100;
    benchmark.min_ratio = 2;
    EXPECT_EQ(target_text(benchmark), "mean <= 100 us, >= 2x");
    EXPECT_TRUE(passes(benchmark, {.median_us = 50, .mean_us = 100, .reference_us = 100}));
    EXPECT_FALSE(passes(benchmark, {.median_us = 50, .mean_us = 101, .reference_us = 100}));
    EXPECT_FALSE(passes(benchmark, {.median_us = 51, .mean_us = 90, .reference_us = 100}));
}

TEST(Benchmarks, OneSlowSampleInFiveHundredIsSeenByTheTailAlone) {
    int count = 0;
    // wall time: the slow ones sleep for longer than anything else takes
    Benchmark benchmark;
    benchmark.samples = 1000;
    benchmark.wall_time = true;
    benchmark.setup = [&] {
        Workload workload;
        workload.run = [&] {
            if (++count % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
            return static_cast<double>(count);
        };
        return workload;
    };
    const Result result = measure(benchmark);
    EXPECT_EQ(count, 1100) << "the first tenth is warm-up";
    EXPECT_GE(result.p999_us, 50e3);
    EXPECT_EQ(result.max_us, result.p999_us) << "of a thousand the tail is the slowest";
    EXPECT_LT(result.median_us, 50e3);
    EXPECT_LT(result.p99_us, 50e3);
    EXPECT_GE(result.mean_us, 2 * 50e3 / 1000);
}

TEST(Benchmarks, OfRepeatedInputsTheShortestSampleCounts) {
    int count = 0;
    Benchmark benchmark;
    benchmark.samples = 40;
    benchmark.num_inputs = 10;
    benchmark.wall_time = true;
    benchmark.setup = [&] {
        Workload workload;
        workload.run = [&] {
            // one input is slow whenever it comes, another was interrupted once
            const int sample = count++ - 4;
            if (sample >= 0 && (sample % 10 == 3 || sample == 27))
                std::this_thread::sleep_for(std::chrono::milliseconds(sample == 27 ? 60 : 20));
            return 0.0;
        };
        return workload;
    };
    const Result result = measure(benchmark);
    EXPECT_GE(result.max_us, 20e3) << "the slow input stays";
    EXPECT_LT(result.max_us, 60e3) << "the interrupt does not";
    EXPECT_GE(result.mean_us, 2e3);
}

}  // namespace
}  // namespace pliant::bench
