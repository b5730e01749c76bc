#include "pliant/core/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pliant {
namespace {

class Parallel : public testing::TestWithParam<int> {
protected:
    void SetUp() override { set_num_threads(GetParam()); }
    void TearDown() override { set_num_threads(0); }
};
INSTANTIATE_TEST_SUITE_P(Threads, Parallel, testing::Values(1, 2, 3, 8));

TEST_P(Parallel, VisitsEveryIndexOnce) {
    for (const std::size_t count : {0u, 1u, 7u, 64u, 1000u})
        for (const std::size_t grain : {0u, 1u, 7u, 5000u}) {
            std::vector<std::atomic<int>> visits(count);
            parallel_for(count, grain, [&](std::size_t i) { ++visits[i]; });
            for (const auto& visit : visits) EXPECT_EQ(visit, 1);
        }
}

TEST_P(Parallel, RangeBordersDependOnCountAndGrainAlone) {
    std::vector<std::pair<std::size_t, std::size_t>> ranges(4);
    parallel_ranges(10, 3, [&](std::size_t begin, std::size_t end) {
        ranges[begin / 3] = {begin, end};
    });
    const decltype(ranges) expected = {{0, 3}, {3, 6}, {6, 9}, {9, 10}};
    EXPECT_EQ(ranges, expected);
}

TEST_P(Parallel, HugeGrainMakesOneRange) {
    std::atomic<int> num_ranges{0};
    parallel_ranges(10, std::numeric_limits<std::size_t>::max(),
                    [&](std::size_t begin, std::size_t end) {
                        ++num_ranges;
                        EXPECT_EQ(begin, 0u);
                        EXPECT_EQ(end, 10u);
                    });
    EXPECT_EQ(num_ranges, 1);
}

/// Values of very different sizes, whose floating-point sum depends on the order.
std::vector<double> ragged_values() {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> exponent(-12, 12);
    std::vector<double> values(10007);
    for (double& value : values) value = std::pow(10.0, exponent(random)) * (random() & 1 ? 1 : -1);
    return values;
}

double parallel_sum(const std::vector<double>& values) {
    return parallel_reduce(
        values.size(), 64, 0.0,
        [&](std::size_t begin, std::size_t end) {
            double sum = 0;
            for (std::size_t i = begin; i < end; ++i) sum += values[i];
            return sum;
        },
        [](double a, double b) { return a + b; });
}

TEST_P(Parallel, ReductionIsBitIdenticalToOneThread) {
    const std::vector<double> values = ragged_values();
    set_num_threads(1);
    const double expected = parallel_sum(values);
    set_num_threads(GetParam());
    for (int repeat = 0; repeat < 20; ++repeat) EXPECT_EQ(parallel_sum(values), expected);
}

TEST_P(Parallel, ReductionKeepsTheOrderOfRanges) {
    const std::string alphabet = "abcdefghijklmnopqrstuvwxyz";
    for (std::size_t count = 0; count <= alphabet.size(); ++count) {
        const std::string joined = parallel_reduce(
            count, 3, std::string(),
            [&](std::size_t begin, std::size_t end) { return alphabet.substr(begin, end - begin); },
            [](std::string a, const std::string& b) { return a += b; });
        EXPECT_EQ(joined, alphabet.substr(0, count));
    }
}

TEST_P(Parallel, ExceptionOfTheLowestRangeReachesTheCaller) {
    for (int repeat = 0; repeat < 50; ++repeat) {
        try {
            parallel_for(1000, 1, [](std::size_t i) {
                if (i % 100 == 37) throw std::out_of_range(std::to_string(i));
            });
            FAIL() << "no exception";
        } catch (const std::out_of_range& error) {
            EXPECT_STREQ(error.what(), "37");
        }
    }
}

TEST_P(Parallel, ALaterExceptionOfAHigherRangeDoesNotReplaceTheFirst) {
    using namespace std::chrono_literals;
    for (int repeat = 0; repeat < 20; ++repeat) {
        std::atomic<bool> lower_failed{false};
        try {
            parallel_for(2, 1, [&](std::size_t i) {
                // where both run at the same time, the higher one fails last
                for (int wait = 0; i == 1 && wait < 20 && !lower_failed; ++wait)
                    std::this_thread::sleep_for(100us);
                std::this_thread::sleep_for(500us);
                if (i == 0) lower_failed = true;
                throw std::runtime_error(std::to_string(i));
            });
            FAIL() << "no exception";
        } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), "0");
        }
    }
}

TEST_P(Parallel, NestedLoopsWork) {
    std::vector<std::atomic<int>> visits(40 * 50);
    parallel_for(40, 1, [&](std::size_t i) {
        parallel_for(50, 1, [&](std::size_t j) { ++visits[50 * i + j]; });
    });
    for (const auto& visit : visits) EXPECT_EQ(visit, 1);
}

TEST_P(Parallel, PhasesRunEveryItemOnceAndOneAfterTheOther) {
    const std::vector<int> offsets{0, 0, 1, 41, 41, 1041, 1043, 1043};
    for (int repeat = 0; repeat < 50; ++repeat) {
        std::vector<std::atomic<int>> visits(1043);
        std::vector<std::atomic<int>> num_done(offsets.size() - 1);
        std::atomic<bool> is_ordered{true};
        parallel_phases(offsets, [&](int i) {
            ++visits[i];
            std::size_t phase = 0;
            while (offsets[phase + 1] <= i) ++phase;
            for (std::size_t p = 0; p < phase; ++p)
                if (num_done[p] != offsets[p + 1] - offsets[p]) is_ordered = false;
            ++num_done[phase];
        });
        for (const auto& visit : visits) EXPECT_EQ(visit, 1);
        EXPECT_TRUE(is_ordered);
    }
    int calls = 0;
    parallel_phases(std::vector<int>{}, [&](int) { ++calls; });
    parallel_phases(std::vector<int>{0}, [&](int) { ++calls; });
    parallel_phases(std::vector<int>{0, 0}, [&](int) { ++calls; });
    EXPECT_EQ(calls, 0);
}

TEST_P(Parallel, PhasesWaitForTheirSlowestItem) {
    const std::vector<int> offsets{0, 4, 8, 12, 16};
    std::atomic<int> num_done{0};
    std::atomic<bool> is_ordered{true};
    parallel_phases(offsets, [&](int i) {
        if (num_done < i / 4 * 4) is_ordered = false;
        if (i % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        ++num_done;
    });
    EXPECT_TRUE(is_ordered);
    EXPECT_EQ(num_done, 16);
}

TEST_P(Parallel, ExceptionEndsThePhases) {
    const std::vector<int> offsets{0, 10, 20, 30};
    std::atomic<int> calls_after{0};
    try {
        parallel_phases(offsets, [&](int i) {
            if (i == 13 || i == 17) throw std::runtime_error(std::to_string(i));
            if (i >= 20) ++calls_after;
        });
        FAIL() << "no exception";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "13");
    }
    EXPECT_EQ(calls_after, 0);
}

TEST_P(Parallel, LoopsNestInPhases) {
    const std::vector<int> offsets{0, 8, 16, 24};
    std::vector<std::atomic<int>> visits(24 * 50);
    parallel_phases(offsets, [&](int i) {
        parallel_for(50, 1, [&](std::size_t j) { ++visits[50 * static_cast<std::size_t>(i) + j]; });
    });
    for (const auto& visit : visits) EXPECT_EQ(visit, 1);
}

TEST(ParallelThreads, NumberCanBeSetAndRestored) {
    const int original = num_threads();
    set_num_threads(1);
    EXPECT_EQ(num_threads(), 1);
    set_num_threads(0);
    EXPECT_EQ(num_threads(), original);
}

}  // namespace
}  // namespace pliant
