#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "apps/pliant/output.h"
#include "contact_samples.h"
#include "core/numbers.h"
#include "samples.h"
#include "wavelets_experiments.h"
#include "wavelets_samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;

/// Thread CPU times [µs].
struct SumTimes {
    double column = 0;     ///< of adding one column to a sum
    double transform = 0;  ///< of reading all rows of a sum
    double element = 0;    ///< of one block
};

SumTimes measure_sums(const GreensFunctions& functions, const std::vector<int>& ids) {
    const int n = functions.num_nodes();
    std::vector<float> weights(3 * ids.size()), sum(functions.sum_size(n)), scratch(sum.size());
    for (std::size_t k = 0; k < weights.size(); ++k)
        weights[k] = 1e-3f * static_cast<float>(k % 17);
    SumTimes times;
    const double all = best_time_us(
        [&] {
            std::fill(sum.begin(), sum.end(), 0.0f);
            functions.accumulate(ids, weights, {}, n, sum);
        },
        2e5);
    times.column = all / static_cast<double>(ids.size());
    times.transform = best_time_us([&] { (void)functions.field(sum, n, scratch); });
    constexpr int kElements = 1000;
    float block[9];
    times.element = best_time_us([&] {
                        for (int k = 0; k < kElements; ++k)
                            functions.element(ids[at(k * 37) % ids.size()],
                                              ids[at(k * 101) % ids.size()], block);
                    }) /
                    kElements;
    return times;
}

std::shared_ptr<const WaveletGreensFunctions> compressed(const GreensModel& model,
                                                         double tolerance) {
    const AllCores all;
    return compress_greens(dense_functions(model), model.surface, model.reference.kinds,
                           model.reference.areas, {.tolerance = tolerance});
}

/// y ≈ a + b x by least squares; the share of the variance it explains.
struct LineFit {
    double offset = 0, slope = 0, explained = 0;
};
LineFit fitted_line(const std::vector<std::pair<double, double>>& points) {
    double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
    const auto count = static_cast<double>(points.size());
    for (const auto& [x, y] : points) {
        sx += x / count, sy += y / count;
        sxx += x * x / count, sxy += x * y / count, syy += y * y / count;
    }
    const double variance = sxx - sx * sx, covariance = sxy - sx * sy;
    LineFit fit;
    fit.slope = covariance / variance;
    fit.offset = sy - fit.slope * sx;
    fit.explained = covariance * covariance / (variance * (syy - sy * sy));
    return fit;
}

}  // namespace

void run_wavelet_sums(Context& context) {
    Section& page = context.section;
    page.text(
        "Time to add one column to a sum of coefficients, lifted linear, against the blocks it "
        "has, "
        "and of the one inverse transform that reads the sum. One thread. Published for rabbit 3 "
        "on a Pentium III in Java: 190 µs for a dense column, 380 µs for a transform, time "
        "linear in the number of blocks; 8, 20 and 36 µs for one block of the matrix, 3 × 3, by "
        "the inverse of its column alone, on 2, 3 and 4 levels.");
    const auto model = wavelet_model("rabbit", context.sized(3, 2));
    const std::vector<int>& ids = dense_functions(*model).layout().columns;
    const SumTimes dense = measure_sums(*model->reference.functions, ids);
    context.done(0.1);
    Table table{"summation",
                format("Rabbit of %d vertices: one column", model->num_nodes()),
                {{"tolerance", "ε"},
                 {"blocks", "blocks kept of a column"},
                 {"column_us", "column, µs"},
                 {"ns_per_block", "ns for each block"},
                 {"transform_us", "transform, µs"},
                 {"speed_up", "dense column over this"}}};
    table.add({"dense", Cell::count(model->num_nodes()), Cell::number(dense.column, "%.3f"),
               Cell::number(1e3 * dense.column / model->num_nodes(), "%.2f"), "none",
               Cell::number(1)});
    std::vector<std::pair<double, double>> points;
    for (const double tolerance : curve_tolerances()) {
        const auto functions = compressed(*model, tolerance);
        const SumTimes times = measure_sums(*functions, ids);
        const double blocks = functions->mean_column_blocks();
        points.emplace_back(blocks, times.column);
        table.add({Cell::number(tolerance), Cell::number(blocks, "%.1f"),
                   Cell::number(times.column, "%.3f"),
                   Cell::number(1e3 * times.column / blocks, "%.2f"),
                   Cell::number(times.transform, "%.2f"),
                   Cell::number(dense.column / times.column, "%.1f")});
    }
    context.done(0.6);
    std::sort(points.begin(), points.end());
    const LineFit fit = fitted_line(points);
    const double last = points.back().first;
    page.figure(
        {drawn(Plot{.title = "Adding one column",
                    .x_label = "blocks kept of a column, mean",
                    .y_label = "time, µs",
                    .series = {{"measured", points, 0, Stroke::Dots},
                               {format("%.2f µs + %.1f ns a block", fit.offset, 1e3 * fit.slope),
                                {{0, fit.offset}, {last, fit.offset + fit.slope * last}},
                                0,
                                Stroke::Line}},
                    .guides = {{dense.column, "dense"}}})},
        "A straight line through the times; dotted: a dense column, whose blocks all count.");
    page.table(table);
    Table line{"line",
               "The straight line",
               {{"offset_us", "offset, µs"}, {"slope_ns", "ns a block"}, {"explained", "R²"}}};
    line.add({Cell::number(fit.offset, "%.3f"), Cell::number(1e3 * fit.slope, "%.2f"),
              context.is_quick ? Cell::number(fit.explained, "%.4f")
                               : page.at_least("time against blocks: R² of a straight line",
                                               fit.explained, 0.95, "%.4f")});
    page.table(line);

    Table sizes{"sizes",
                "Models of several sizes at ε = 0.05; in brackets published ones",
                {{"body", "body"},
                 {"dense_us", "dense column, µs"},
                 {"column_us", "column, µs"},
                 {"transform_us", "transform, µs"},
                 {"element_us", "one block of the matrix, µs"},
                 {"break_even", "columns from which wavelets win"}}};
    constexpr double kPublishedElement[] = {8, 20, 36};
    const int finest = context.sized(4, 3);
    for (int level = 2; level <= finest; ++level) {
        const auto body = wavelet_model("rabbit", level);
        const auto functions = compressed(*body, 0.05);
        const auto& all_ids = dense_functions(*body).layout().columns;
        // as many as a contact has
        const std::vector<int> some(
            all_ids.begin(), all_ids.begin() + std::min<std::ptrdiff_t>(500, std::ssize(all_ids)));
        const SumTimes full = measure_sums(*body->reference.functions, some),
                       sparse = measure_sums(*functions, some);
        Cell element = page.at_most(format("rabbit %d: one block, µs", level), sparse.element,
                                    kPublishedElement[level - 2], "%.3f");
        element.text += format(" (%g)", kPublishedElement[level - 2]);
        Cell dense_cell = Cell::number(full.column, "%.2f"),
             transform_cell = Cell::number(sparse.transform, "%.1f");
        if (level == 3) dense_cell.text += " (190)", transform_cell.text += " (380)";
        sizes.add(
            {format("Rabbit %d", level), dense_cell, Cell::number(sparse.column, "%.2f"),
             transform_cell, element,
             full.column > sparse.column
                 ? Cell::number(std::floor(sparse.transform / (full.column - sparse.column)) + 1,
                                "%.0f")
                 : Cell("never")});
    }
    page.table(sizes);
}

}  // namespace pliant::reproduce
