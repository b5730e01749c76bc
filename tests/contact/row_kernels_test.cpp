#include "contact/row_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "pliant/core/simd.h"

namespace pliant {
namespace {

TEST(RowKernels, EqualPlainLoopsOnEveryTarget) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (const std::string& target : simd_targets())
        for (const int count : {8, 16, 48, 64}) {
            SCOPED_TRACE(target);
            const ScopedSimdTarget scope(target);
            std::vector<double> x(static_cast<std::size_t>(count)), y(x);
            double sum = 0;
            for (std::size_t i = 0; i < x.size(); ++i) {
                x[i] = uniform(random);
                y[i] = uniform(random);
                sum += x[i] * y[i];
            }
            EXPECT_NEAR(dot_rows(x.data(), y.data(), count), sum, 1e-14 * count);
            std::vector<double> out = y;
            add_row(0.3, x.data(), out.data(), count);
            for (std::size_t i = 0; i < x.size(); ++i)
                EXPECT_NEAR(out[i], std::fma(0.3, x[i], y[i]), 1e-15);
        }
}

TEST(RowKernels, RowsAreFilledUpToWholeVectors) {
    EXPECT_EQ(padded_row(0), 0);
    EXPECT_EQ(padded_row(6), 8);
    EXPECT_EQ(padded_row(8), 8);
    EXPECT_EQ(padded_row(46), 48);
}

}  // namespace
}  // namespace pliant
