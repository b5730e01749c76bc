#include "contact/row_kernels.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "pliant/core/simd.h"

namespace pliant {
namespace {

TEST(RowKernels, ResponseEqualsPlainLoopsOnEveryTarget) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (const std::string& target : simd_targets())
        for (const int length : {8, 16, 48, 64}) {
            SCOPED_TRACE(target);
            const ScopedSimdTarget scope(target);
            const auto n = static_cast<std::size_t>(length);
            std::vector<float> modes(3 * n);
            std::vector<double> response(n);
            for (float& v : modes) v = static_cast<float>(uniform(random));
            for (double& v : response) v = 1 + uniform(random);

            double sums[6];
            point_response(modes.data(), response.data(), length, sums);
            double squares[3][3] = {};
            for (std::size_t j = 0; j < n; ++j)
                for (std::size_t a = 0; a < 3; ++a)
                    for (std::size_t b = 0; b < 3; ++b)
                        squares[a][b] +=
                            double{modes[a * n + j]} * response[j] * double{modes[b * n + j]};
            int k = 0;
            for (std::size_t a = 0; a < 3; ++a)
                for (std::size_t b = a; b < 3; ++b, ++k)
                    EXPECT_NEAR(sums[k], squares[a][b], 1e-14 * length);
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
