#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "core/numbers.h"
#include "greens_experiments.h"
#include "pliant/greens/update_costs.h"
#include "plot.h"
#include "samples.h"

#include <Eigen/LU>

namespace pliant::reproduce {
namespace {

using cli::format;

/// Published operations of an update over those of LU, r = s₊/s, q = s₋/s of the result.
double published_ratio(double r, double q) {
    return 9 * r + 9 * q - 9 * r * r + 6 * r * q + 15 * q * q + 4 * r * r * r + 3 * q * r * r +
           9 * q * q * r + 10 * q * q * q;
}

/// Direct deletion, then addition: 3 q and 9 r (1 − r) + 4 r³.
double direct_ratio(double r, double q) { return 9 * r * (1 - r) + 4 * r * r * r + 3 * q; }

/// Where a growing function reaches `level` within [0, 1]; 1 if it does not.
template <class Function>
double reaches(Function&& f, double level) {
    double low = 0, high = 1;
    if (f(high) < level) return 1;
    for (int k = 0; k < 60; ++k) {
        const double middle = 0.5 * (low + high);
        (f(middle) < level ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

/// q at which a ratio reaches a level, over r.
template <class Ratio>
Series break_even(const std::string& label, Ratio&& ratio, double level, int color,
                  Stroke stroke = Stroke::Line) {
    Series series{label, {}, color, stroke};
    for (int k = 0; k <= 100; ++k) {
        const double r = 0.01 * k;
        if (ratio(r, 0.0) > level) break;
        series.points.emplace_back(r, reaches([&](double q) { return ratio(r, q); }, level));
    }
    return series;
}

/// Of a dense matrix, the best of some runs.
double factor_seconds(int num_unknowns) {
    const Eigen::MatrixXd matrix = Eigen::MatrixXd::Random(num_unknowns, num_unknowns);
    Eigen::PartialPivLU<Eigen::MatrixXd> factor(num_unknowns);
    return 1e-6 * best_time_us([&] { factor.compute(matrix); });
}

double error_quantile(std::vector<double> errors, double fraction) {
    std::sort(errors.begin(), errors.end());
    return errors[static_cast<std::size_t>(fraction * static_cast<double>(errors.size() - 1))];
}

}  // namespace

void run_cost_ratios(Context& context) {
    Section& page = context.section;
    page.text(
        "Cost of an update over that of an LU factorisation of the result (18 s³ operations; the "
        "published inverse takes 72 s³, Pliant's 54 s³), for fractions r₊ added and r₋ deleted. "
        "Published: R = 9r₊ + 9r₋ − 9r₊² + 6r₊r₋ + 15r₋² + 4r₊³ + 3r₋r₊² + 9r₋²r₊ + 10r₋³, with "
        "deletion by redundant nodes. Direct deletion needs 3r₋ instead. Where updating stops to "
        "pay is measured here: by the times of updates, of the inverse from scratch and of an LU "
        "factorisation on this machine.");
    const auto added = [](double r) { return published_ratio(r, 0); };
    const auto deleted = [](double q) { return published_ratio(0, q); };
    const int size = context.sized(100, 40);
    const std::vector<UpdateTiming> timings = UpdateCosts::time_updates(size, context.sized(5, 2));
    double scratch = 0;
    for (const UpdateTiming& t : timings)
        if (!t.is_update && t.size == size) scratch = t.seconds;
    // in units of 18 s³ operations at the speed of the inverse from scratch
    const auto measured_ratio = [&](double seconds) { return 3 * seconds / scratch; };
    Table table{"ratios",
                format("Rows r₊, columns r₋, s = %d: published R / direct deletion / measured "
                       "(3 × time over that of the inverse from scratch)",
                       size),
                {{"added", "r₊ \\ r₋"}}};
    std::vector<double> numbers;  // of nodes changed
    for (const UpdateTiming& t : timings)
        if (t.is_update && t.size == size && t.added == 0) numbers.push_back(t.removed);
    for (const double number : numbers)
        table.columns.push_back({format("removed_%.0f", number), format("%.3g", number / size)});
    for (const double num_added : numbers) {
        std::vector<Cell> row{Cell::number(num_added / size, "%.3g")};
        for (const double num_removed : numbers) {
            double found = kNan;
            for (const UpdateTiming& t : timings)
                if (t.is_update && t.size == size && t.added == num_added &&
                    t.removed == num_removed)
                    found = measured_ratio(t.seconds);
            const double r = num_added / size, q = num_removed / size;
            Cell cell = Cell::number(found);
            cell.text =
                format("%.2f / %.2f / %.2f", published_ratio(r, q), direct_ratio(r, q), found);
            row.push_back(cell);
        }
        table.add(std::move(row));
    }
    page.table(table);

    const UpdateCosts fitted_costs = UpdateCosts::fit(timings);
    const auto fitted_ratio = [&](double r, double q) {
        return measured_ratio(fitted_costs.update(size, r * size, q * size));
    };
    const double lu_ratio = measured_ratio(factor_seconds(3 * size));
    Table limits{"break_even",
                 format("Fractions of nodes beyond which an update costs more, s = %d", size),
                 {{"what", ""}, {"fraction", "measured"}, {"published", "published, counted"}}};
    const auto add_limit = [&](const char* what, double found, double published) {
        limits.add({what, Cell::number(found, "%.3f"), Cell::number(published, "%.4f")});
    };
    const auto fitted_added = [&](double r) { return fitted_ratio(r, 0); };
    const auto fitted_deleted = [&](double q) { return fitted_ratio(0, q); };
    add_limit("addition against LU", reaches(fitted_added, lu_ratio), 0.1261);
    add_limit("addition against the inverse", reaches(fitted_added, 3), 1);
    add_limit("deletion against LU", reaches(fitted_deleted, lu_ratio), 0.0950);
    add_limit("deletion against the inverse", reaches(fitted_deleted, 3), 0.2842);
    page.table(limits);
    page.figure(
        {drawn({.title = "Break-even lines",
                .x_label = "fraction added, r₊",
                .y_label = "fraction deleted, r₋",
                .series = {break_even("R = 1: LU, published", published_ratio, 1, 6),
                           break_even("R = 4: inverse, published", published_ratio, 4, 7),
                           break_even("R = 1, direct deletion", direct_ratio, 1, 0),
                           break_even("R = 3: inverse, direct deletion", direct_ratio, 3, 1),
                           break_even("R = 3, measured and fitted", fitted_ratio, 3, 1,
                                      Stroke::Dashed)},
                .y_low = 0,
                .y_high = 0.6}),
         drawn({.title = "Cut along the axes",
                .x_label = "fraction",
                .y_label = "R",
                .series =
                    [&] {
                        std::vector<Series> cuts = {{"added, formula", {}, 0, Stroke::Line},
                                                    {"deleted, published", {}, 6, Stroke::Line},
                                                    {"deleted directly", {}, 1, Stroke::Line},
                                                    {"added, measured", {}, 0, Stroke::Dots},
                                                    {"deleted, measured", {}, 1, Stroke::Dots}};
                        for (int k = 0; k <= 50; ++k) {
                            const double r = 0.01 * k;
                            cuts[0].points.emplace_back(r, added(r));
                            if (deleted(r) < 6) cuts[1].points.emplace_back(r, deleted(r));
                            cuts[2].points.emplace_back(r, direct_ratio(0, r));
                        }
                        for (const UpdateTiming& t : timings) {
                            if (!t.is_update || t.size != size) continue;
                            if (t.removed == 0)
                                cuts[3].points.emplace_back(t.added / size,
                                                            measured_ratio(t.seconds));
                            if (t.added == 0)
                                cuts[4].points.emplace_back(t.removed / size,
                                                            measured_ratio(t.seconds));
                        }
                        return cuts;
                    }(),
                .guides = {{1, "LU"}, {3, "inverse"}, {4, "inverse, published"}}})},
        "Below and left of a line updating is cheaper. Measured updates start above zero: they "
        "copy "
        "the inverse they begin with.");
}

void run_cost_model(Context& context) {
    Section& page = context.section;
    page.text(
        "Polynomials of degree three with coefficients that are not negative are fitted to one "
        "sweep of timings and predict a second one, of the same machine a moment later. Asked: "
        "about 25 %. The numbers depend on what else the machine does, and are not judged.");
    const int max_size = context.sized(200, 40), repeats = context.sized(3, 2);
    const UpdateCosts costs = UpdateCosts::fit(UpdateCosts::time_updates(max_size, repeats));
    context.done(0.5);
    const std::vector<UpdateTiming> second = UpdateCosts::time_updates(max_size, repeats);
    Table table{"prediction",
                "Error of the prediction, % of the measured time",
                {{"what", ""},
                 {"timings", "timings"},
                 {"median", "median"},
                 {"p75", "three quarters within"},
                 {"p90", "nine tenths within"},
                 {"worst", "largest"},
                 {"within_25", "share within 25 %"}}};
    Series points{"updates", {}, 0, Stroke::Dots}, inverses{"from scratch", {}, 1, Stroke::Dots};
    for (const int kind : {0, 1, 2}) {
        std::vector<double> errors;
        double within = 0;
        for (const UpdateTiming& t : second) {
            if ((kind == 1 && t.is_update) || (kind == 2 && !t.is_update)) continue;
            const double predicted =
                t.is_update ? costs.update(t.size, t.added, t.removed) : costs.from_scratch(t.size);
            errors.push_back(100 * std::abs(predicted / t.seconds - 1));
            within += errors.back() <= 25;
            if (kind == 0)
                (t.is_update ? points : inverses)
                    .points.emplace_back(1e6 * t.seconds, 1e6 * predicted);
        }
        table.add({kind == 0 ? "all" : (kind == 1 ? "inverses from scratch" : "updates"),
                   Cell::count(static_cast<std::int64_t>(errors.size())),
                   Cell::number(error_quantile(errors, 0.5), "%.1f"),
                   Cell::number(error_quantile(errors, 0.75), "%.1f"),
                   Cell::number(error_quantile(errors, 0.9), "%.1f"),
                   Cell::number(error_quantile(errors, 1), "%.0f"),
                   Cell::number(100 * within / static_cast<double>(errors.size()), "%.0f %%")});
    }
    page.table(table);
    const auto ends =
        std::minmax_element(points.points.begin(), points.points.end(),
                            [](const auto& a, const auto& b) { return a.first < b.first; });
    page.figure({drawn({.title = "Prediction",
                        .x_label = "measured, µs",
                        .y_label = "predicted, µs",
                        .series = {points,
                                   inverses,
                                   {"equal",
                                    {{ends.first->first, ends.first->first},
                                     {ends.second->first, ends.second->first}},
                                    6}},
                        .log_x = true,
                        .log_y = true})},
                "Points on the line are predicted exactly.");
}

}  // namespace pliant::reproduce
