#include "pliant/greens/tolerance_view.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/numbers.h"
#include "tests/greens/wavelet_models.h"

namespace pliant {
namespace {

std::shared_ptr<const WaveletGreensFunctions> compressed_to(const GreensModel& model,
                                                            double tolerance,
                                                            bool thresholds_base = false) {
    return compress_greens(test::dense_functions(model), model.surface, model.reference.kinds,
                           model.reference.areas,
                           {.tolerance = tolerance, .thresholds_base = thresholds_base});
}

const GreensModel& seen_blob() {
    static const GreensModel model = test::blob_model(3);
    return model;
}

/// Rows of one column.
std::vector<float> seen_field(const WaveletGreensFunctions& functions, const ToleranceView* view,
                              double tolerance, int id) {
    const int n = functions.num_nodes();
    const std::vector<int> ids{id};
    const std::vector<float> weights{0.3f, -1, 0.6f};
    std::vector<float> sum(functions.sum_size(n), 0.0f), scratch(sum.size());
    if (view)
        view->accumulate(ids, weights, {}, tolerance, n, sum);
    else
        functions.accumulate(ids, weights, {}, n, sum);
    const auto rows = functions.field(sum, n, scratch);
    return {rows.begin(), rows.end()};
}

double rms_gap(const std::vector<float>& a, const std::vector<float>& b) {
    double gap = 0, norm = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        gap += std::pow(double{a[i]} - double{b[i]}, 2);
        norm += std::pow(double{a[i]}, 2);
    }
    return std::sqrt(gap / norm);
}

TEST(ToleranceView, IsWhatABuildWithThatToleranceWouldBe) {
    const auto fine = compressed_to(seen_blob(), 0.01);
    const ToleranceView view(fine);
    for (const double tolerance : {0.03, 0.1, 0.3}) {
        const auto built = compressed_to(seen_blob(), tolerance);
        const CompressionReport seen = view.report(tolerance), real = built->report();
        // only the amplitude that thresholds refer to is another, by 1 % at most
        EXPECT_NEAR(seen.compression / real.compression, 1, 0.01);
        // columns of body forces stay whole
        EXPECT_NEAR(static_cast<double>(seen.num_blocks) / static_cast<double>(real.num_blocks), 1,
                    0.03);
        // bounds, not far away
        EXPECT_GT(seen.rms, 0.9 * real.rms);
        EXPECT_LT(seen.rms, 1.2 * real.rms + fine->report().rms);
        EXPECT_GT(seen.max, 0.6 * real.max);
        EXPECT_LT(seen.max, 1.2 * real.max + fine->report().max);
        for (const int id : {built->layout().columns.front(), built->layout().columns.back()})
            EXPECT_LT(rms_gap(seen_field(*built, nullptr, 0, id),
                              seen_field(*fine, &view, tolerance, id)),
                      0.02);
    }
}

TEST(ToleranceView, ChangesNothingAtTheToleranceOfTheBuild) {
    const auto functions = compressed_to(seen_blob(), 0.05);
    const ToleranceView view(functions);
    const int id = functions->layout().columns.back();
    for (const double tolerance : {0.0, 0.01, 0.05}) {
        EXPECT_EQ(view.report(tolerance).num_blocks, functions->report().num_blocks);
        EXPECT_EQ(view.report(tolerance).rms, functions->report().rms);
        EXPECT_LT(rms_gap(seen_field(*functions, nullptr, 0, id),
                          seen_field(*functions, &view, tolerance, id)),
                  1e-6);
    }
    EXPECT_LT(view.report(0.06).num_blocks, functions->report().num_blocks);
}

TEST(ToleranceView, FirstRowsNeedTheirLevelAlone) {
    const auto functions = compressed_to(seen_blob(), 0.02);
    const ToleranceView view(functions);
    const int n = functions->transform().level_sizes()[1];
    const std::vector<int> ids{functions->layout().columns.front(),
                               functions->layout().columns.back()};
    const std::vector<float> weights{1, 0, 0, 0, 1, 0};
    std::vector<float> all(functions->sum_size(functions->num_nodes()), 0.0f),
        some(functions->sum_size(n), 0.0f);
    view.accumulate(ids, weights, {}, 0.1, functions->num_nodes(), all);
    view.accumulate(ids, weights, {}, 0.1, n, some);
    all.resize(some.size());
    EXPECT_EQ(all, some);
}

TEST(ToleranceView, TheBaseStaysUnlessTheBuildDropsIt) {
    const auto functions = compressed_to(seen_blob(), 0.01);
    const auto base = functions->transform().level_sizes()[0];
    const std::int64_t least = ToleranceView(functions).report(1e6).num_blocks;
    EXPECT_GE(least, static_cast<std::int64_t>(functions->layout().columns.size()) * base / 2);
    EXPECT_LT(ToleranceView(compressed_to(seen_blob(), 0.01, true)).report(1e6).num_blocks,
              least / 4);
}

}  // namespace
}  // namespace pliant
