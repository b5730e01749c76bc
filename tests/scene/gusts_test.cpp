#include "scene/gusts.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pliant {
namespace {

TEST(Gusts, AreSmoothBoundedAndWithoutMean) {
    const Gusts gusts(7);
    double mean = 0, square = 0, steepest = 0;
    constexpr int kSamples = 100000;
    for (int i = 0; i < kSamples; ++i) {
        const double t = 0.01 * i, n = gusts.at(t);
        ASSERT_LE(std::abs(n), 1);
        mean += n / kSamples;
        square += n * n / kSamples;
        steepest = std::max(steepest, std::abs(gusts.at(t + 1e-3) - n) / 1e-3);
    }
    EXPECT_LT(std::abs(mean), 0.02);
    EXPECT_NEAR(std::sqrt(square), 0.25, 0.02);  // eight sines of size 1/8
    EXPECT_LT(steepest, 5);
}

TEST(Gusts, DependOnTheSeedAlone) {
    const Gusts a(1), b(1), other(2);
    EXPECT_EQ(a.at(3.7), b.at(3.7));
    EXPECT_NE(a.at(3.7), other.at(3.7));
}

}  // namespace
}  // namespace pliant
