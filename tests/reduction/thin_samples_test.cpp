#include "pliant/reduction/thin_samples.h"

#include "reduction/force_samples.h"

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <algorithm>
#include <numbers>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Indices = std::vector<int>;

/// A dense cloud, a thin one, and a lone sample.
MatrixXd clouds(int dimension) {
    MatrixXd samples = test::random_basis(dimension, 300, 1.0);
    samples.leftCols(200) *= 0.05;
    samples.col(299).setConstant(20);
    return samples;
}

TEST(ThinSamples, DropsTheDensestFirst) {
    // on a line: the middle one of three, then one of the pair
    MatrixXd samples(1, 6);
    samples << 0, 0.9, 1.8, 5, 5.1, 9;
    EXPECT_EQ(thin_samples(samples, 1.0), (Indices{0, 2, 3, 5}));
    EXPECT_EQ(thin_samples(samples, 0.05), (Indices{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(thin_samples(samples, 100).size(), 1u);
}

/// By the definition: densities anew after every drop.
Indices thinned_slowly(const MatrixXd& samples, double distance) {
    Indices kept, dropped;
    for (int i = 0; i < samples.cols(); ++i) kept.push_back(i);
    const auto density = [&](int i) {
        double sum = 0;
        for (const int j : kept) {
            const double d = (samples.col(i) - samples.col(j)).norm() / distance;
            if (j != i && d < 1) sum += 1 - d * d;
        }
        return sum;
    };
    while (true) {
        // of equals the last
        auto densest = kept.begin();
        for (auto i = kept.begin(); i != kept.end(); ++i)
            if (density(*i) >= density(*densest)) densest = i;
        if (density(*densest) == 0) break;
        dropped.push_back(*densest);
        kept.erase(densest);
    }
    for (auto i = dropped.rbegin(); i != dropped.rend(); ++i)
        if (density(*i) == 0) kept.push_back(*i);
    std::sort(kept.begin(), kept.end());
    return kept;
}

TEST(ThinSamples, EqualsTheSlowDefinition) {
    for (const int dimension : {1, 2, 3, 6})
        for (const double distance : {0.05, 0.3, 1.0, 2.5}) {
            const MatrixXd samples = clouds(dimension).middleCols(150, 90);
            EXPECT_EQ(thin_samples(samples, distance), thinned_slowly(samples, distance))
                << dimension << ' ' << distance;
        }
}

TEST(ThinSamples, KeptOnesAreApartAndDroppedOnesNearAKeptOne) {
    for (const int dimension : {1, 2, 5, 20})
        for (const double distance : {0.1, 0.5, 2.0, 6.0}) {
            SCOPED_TRACE(std::to_string(dimension) + ", " + std::to_string(distance));
            const MatrixXd samples = clouds(dimension);
            const Indices kept = thin_samples(samples, distance);
            EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
            EXPECT_EQ(kept.back(), 299);
            for (int i = 0; i < samples.cols(); ++i) {
                double nearest = 1e300;
                for (const int j : kept)
                    if (j != i)
                        nearest = std::min(nearest, (samples.col(i) - samples.col(j)).norm());
                if (std::binary_search(kept.begin(), kept.end(), i))
                    EXPECT_GE(nearest, distance) << i;
                else
                    EXPECT_LT(nearest, distance) << i;
            }
        }
}

TEST(ThinSamples, BringsBackWhatItsDroppedNeighboursLeaveAlone) {
    // 0 goes first (four neighbours), then 1 … 4, each between two outer ones; nothing is left
    // near 0
    MatrixXd samples(2, 13);
    samples.col(0).setZero();
    for (int arm = 0; arm < 4; ++arm) {
        const Eigen::Rotation2Dd turn(arm * std::numbers::pi / 2);
        samples.col(1 + arm) = turn * Eigen::Vector2d(0.8, 0);
        samples.col(5 + arm) = turn * Eigen::Vector2d(1.6, 0.55);
        samples.col(9 + arm) = turn * Eigen::Vector2d(1.6, -0.55);
    }
    EXPECT_EQ(thin_samples(samples, 1.0), (Indices{0, 5, 6, 7, 8, 9, 10, 11, 12}));
}

TEST(ThinSamples, OfEqualSamplesTheFirstRemains) {
    const MatrixXd samples = MatrixXd::Constant(3, 7, 2.5);
    EXPECT_EQ(thin_samples(samples, 1e-3), Indices{0});
    EXPECT_EQ(thin_samples(samples, 0).size(), 7u);
    EXPECT_TRUE(thin_samples(MatrixXd(3, 0), 1.0).empty());
}

TEST(ThinShapes, MeasuresDistancesInTheMassNorm) {
    // heavy and light unknowns: shapes far apart by the light one alone count as near
    Eigen::SparseMatrix<double> M(2, 2);
    M.insert(0, 0) = 100;
    M.insert(1, 1) = 1e-4;
    MatrixXd shapes(2, 4);
    shapes.col(0) << 1, 0;
    shapes.col(1) << 1, 5;
    shapes.col(2) << 0.8, 0;
    shapes.col(3) << 0, 0;
    EXPECT_EQ(thin_shapes(shapes, M, 0.1), (Indices{0, 2, 3}));
    // the largest shape has length 10: fractions of it, not metres
    EXPECT_EQ(thin_shapes(shapes, M, 0.25).size(), 2u);
    EXPECT_TRUE(thin_shapes(MatrixXd(2, 0), M, 0.1).empty());
    EXPECT_EQ(thin_shapes(MatrixXd::Zero(2, 3), M, 0.1).size(), 3u);
}

}  // namespace
}  // namespace pliant
