#include "pliant/core/simd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "input_error.h"
#include "pliant/core/error.h"

namespace pliant {
namespace {

/// The order of additions of docs/core.md eq. (9), written plainly.
template <class T>
T reference_sum(const T* values, std::size_t count) {
    std::vector<T> strands(128 / sizeof(T), T{0});
    for (std::size_t i = 0; i < count; ++i) strands[i % strands.size()] += values[i];
    while (strands.size() > 1) {
        const std::size_t half = strands.size() / 2;
        for (std::size_t k = 0; k < half; ++k) strands[k] += strands[k + half];
        strands.resize(half);
    }
    return strands[0];
}

template <class T>
std::vector<T> random_values(std::size_t count) {
    std::mt19937 random(1);
    std::normal_distribution<T> normal;
    std::vector<T> values(count);
    for (T& value : values) value = normal(random);
    return values;
}

template <class T>
void expect_reference_sums() {
    const std::vector<T> values = random_values<T>(5000);
    for (const std::size_t count : {0u, 1u, 3u, 15u, 16u, 17u, 31u, 32u, 33u, 127u, 1000u, 4096u})
        for (const std::size_t start : {0u, 1u, 2u, 3u, 7u})
            EXPECT_EQ(simd_sum(values.data() + start, count),
                      reference_sum(values.data() + start, count))
                << count << " values from " << start;
}

TEST(SimdSum, EveryTargetGivesTheSameBitsAtEveryAlignment) {
    const std::vector<std::string> targets = simd_targets();
    ASSERT_FALSE(targets.empty());
    for (const std::string& name : targets) {
        SCOPED_TRACE(name);
        const ScopedSimdTarget target(name);
        EXPECT_EQ(simd_targets(), std::vector<std::string>{name});
        expect_reference_sums<float>();
        expect_reference_sums<double>();
    }
    EXPECT_EQ(simd_targets(), targets) << "the choice ends with the scope";
    expect_reference_sums<float>();
}

TEST(SimdSum, AgreesWithExtendedPrecision) {
    const std::vector<double> values = random_values<double>(5000);
    long double exact = 0, magnitude = 0;
    for (const double value : values) {
        exact += value;
        magnitude += std::fabs(value);
    }
    // 16 strands of 313 values: each addition rounds by at most 2^-53 of the magnitude
    EXPECT_NEAR(simd_sum(values.data(), values.size()), static_cast<double>(exact),
                317 * 1.2e-16 * static_cast<double>(magnitude));
}

TEST(ScopedSimdTarget, UnknownTargetIsRefusedWithTheListOfKnownOnes) {
    const std::string error = test::input_error([] { const ScopedSimdTarget target("AVX99"); });
    EXPECT_THAT(error, testing::HasSubstr("SIMD target = AVX99 (expected one of "));
    EXPECT_THAT(error, testing::HasSubstr(simd_targets().front()));
}

}  // namespace
}  // namespace pliant
