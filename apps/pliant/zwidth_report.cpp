#include "zwidth_report.h"

#include <algorithm>
#include <cmath>

#include "output.h"
#include "pliant/core/json_writer.h"
#include "pliant/core/parallel.h"
#include "pliant/core/version.h"
#include "reproduce/plot.h"

namespace pliant::cli {
namespace {

using reproduce::Cell;
using reproduce::Plot;
using reproduce::Section;
using reproduce::Series;
using reproduce::Stroke;

/// docs/haptics.md eq. (25)
double sampled_bound(const ZWidthStudy& study, double stiffness) {
    return 0.5 * stiffness / study.options.device.rate;
}

std::vector<ZWidthVariant> variants_of(const ZWidthOptions& options) {
    ZWidthOptions ideal = options;
    ideal.hand = HandModel::absent();
    ideal.device.delay = 0;
    ideal.device.friction = ideal.device.motor_bandwidth = 0;
    ideal.device.capabilities.position_step = 0;

    std::vector<ZWidthVariant> variants{{"ideal", "ideal", ideal}};
    const auto add = [&](const std::string& key, const std::string& label, auto&& change) {
        variants.push_back({key, label, ideal});
        change(variants.back().options);
    };
    const int delay = std::max(options.device.delay, 1);
    add("delayed", format("delay %d", delay), [&](ZWidthOptions& o) { o.device.delay = delay; });
    const double step = options.device.capabilities.position_step;
    const double shown_step = step > 0 ? step : 5e-5;
    add("encoder", format("encoder %.3g µm", 1e6 * shown_step),
        [&](ZWidthOptions& o) { o.device.capabilities.position_step = shown_step; });
    const double friction = options.device.friction > 0 ? options.device.friction : 0.03;
    add("friction", format("friction %.3g N", friction),
        [&](ZWidthOptions& o) { o.device.friction = friction; });
    add("loose", "loose hand", [](ZWidthOptions& o) { o.hand = HandModel::loose(); });
    add("firm", "firm hand", [](ZWidthOptions& o) { o.hand = HandModel::firm(); });
    return variants;
}

/// The wall's own damping that is stable, "0 to 63".
std::string stable_range(const ZWidthMap& map, std::size_t row) {
    const std::size_t columns = map.dampings.size();
    double low = -1, high = -1;
    for (std::size_t c = 0; c < columns; ++c) {
        if (!map.cells[row * columns + c].is_stable) continue;
        if (low < 0) low = map.dampings[c];
        high = map.dampings[c];
    }
    return low < 0 ? "none" : format("%.3g to %.3g", low, high);
}

/// Of walls without damping; 0: none of them is stable.
double stiffest_stable(const ZWidthMap& map) {
    double stiffest = 0;
    for (const ZWidthCell& cell : map.cells)
        if (cell.is_stable && cell.damping == 0) stiffest = std::max(stiffest, cell.stiffness);
    return stiffest;
}

std::string summary(const ZWidthStudy& study) {
    const double stiffest = stiffest_stable(study.map);
    return stiffest > 0 ? format(
                              "Stiffest wall of the table that stays stable without damping of its "
                              "own: %.0f N/m.",
                              stiffest)
                        : "No wall of the table stays stable without damping of its own.";
}

Series curve(const std::string& label, const std::vector<double>& x, const std::vector<double>& y,
             int color, Stroke stroke) {
    Series series{label, {}, color, stroke};
    for (std::size_t i = 0; i < x.size(); ++i) series.points.emplace_back(x[i], y[i]);
    return series;
}

std::string map_plot(const ZWidthStudy& study) {
    // no damping has no place on a logarithmic axis: half of the least
    const std::vector<double>& dampings = study.map.dampings;
    const auto least =
        std::find_if(dampings.begin(), dampings.end(), [](double b) { return b > 0; });
    const double lowest = 0.5 * (least == dampings.end() ? 1.0 : *least);
    Series stable{"stable", {}, 2, Stroke::Dots}, unstable{"oscillates", {}, 4, Stroke::Dots};
    for (const ZWidthCell& cell : study.map.cells)
        (cell.is_stable ? stable : unstable)
            .points.emplace_back(cell.stiffness, std::max(cell.damping, lowest));
    return reproduce::drawn({.title = "Virtual walls on this device",
                             .x_label = "stiffness of the wall [N/m]",
                             .y_label = "its damping [N s/m]; lowest row: 0",
                             .series = {stable, unstable},
                             .log_x = true,
                             .log_y = true});
}

std::string needed_plot(const ZWidthStudy& study) {
    const std::vector<double>& stiffnesses = study.map.stiffnesses;
    std::vector<double> bounds;
    bounds.reserve(stiffnesses.size());
    for (const double k : stiffnesses) bounds.push_back(sampled_bound(study, k));
    Plot plot{.title = "Viscous damping that a wall without damping needs",
              .x_label = "stiffness of the wall [N/m]",
              .y_label = "damping of the device [N s/m]",
              .series = {curve("K T/2", stiffnesses, bounds, 6, Stroke::Dashed),
                         curve("this device", stiffnesses, study.map.needed_damping, 0,
                               Stroke::LineAndDots)},
              .guides = {{study.options.device.damping, "its own damping"}},
              .log_x = true,
              .log_y = true};
    int color = 1;
    for (const ZWidthVariant& variant : study.variants) {
        const Stroke stroke = variant.key == "ideal" ? Stroke::Dots : Stroke::Line;
        plot.series.push_back(curve(variant.label, stiffnesses, variant.needed, color, stroke));
        color = color == 5 ? 7 : color + 1;  // 6 is the bound's
    }
    return drawn(plot);
}

}  // namespace

ZWidthStudy study_zwidth(const ZWidthOptions& options, Progress& progress) {
    ZWidthStudy study;
    study.options = options;
    study.map = sweep_zwidth(options, progress);
    study.variants = variants_of(options);
    const std::size_t rows = study.map.stiffnesses.size();
    for (ZWidthVariant& variant : study.variants) variant.needed.resize(rows);
    progress.stage("what shifts them", rows * study.variants.size());
    parallel_for(rows * study.variants.size(), 1, [&](std::size_t i) {
        ZWidthVariant& variant = study.variants[i / rows];
        variant.needed[i % rows] = needed_damping(variant.options, study.map.stiffnesses[i % rows]);
        progress.advance();
    });
    return study;
}

void print(const ZWidthStudy& study) {
    std::vector<std::string> header{"K N/m", "K T/2", "this device"};
    for (const ZWidthVariant& variant : study.variants) header.push_back(variant.label);
    header.emplace_back("stable wall damping");
    Table table(header);
    for (std::size_t row = 0; row < study.map.stiffnesses.size(); ++row) {
        const double stiffness = study.map.stiffnesses[row];
        std::vector<std::string> cells{format("%.0f", stiffness),
                                       format("%.4f", sampled_bound(study, stiffness)),
                                       format("%.4f", study.map.needed_damping[row])};
        for (const ZWidthVariant& variant : study.variants)
            cells.push_back(format("%.4f", variant.needed[row]));
        cells.push_back(stable_range(study.map, row));
        table.add(cells);
    }
    std::printf(
        "Viscous damping of the device [N s/m] at which a wall without damping of its own "
        "becomes stable,\nby stiffness; 'ideal' and what shifts it, one by one: neither "
        "hand, delay, encoder steps nor friction.\n\n");
    table.print();
    std::printf("\n%s\n", summary(study).c_str());
}

std::vector<std::string> json_lines(const ZWidthStudy& study) {
    std::vector<std::string> lines;
    for (const ZWidthCell& cell : study.map.cells) {
        JsonWriter json;
        json.begin_object().member("stiffness", cell.stiffness).member("damping", cell.damping);
        json.member("stable", cell.is_stable).member("growth", cell.growth);
        lines.push_back(json.member("remaining", cell.remaining).end_object().text());
    }
    for (std::size_t row = 0; row < study.map.stiffnesses.size(); ++row) {
        const double stiffness = study.map.stiffnesses[row];
        JsonWriter json;
        json.begin_object().member("stiffness", stiffness);
        json.member("half_stiffness_times_period", sampled_bound(study, stiffness));
        json.member("needed_damping", study.map.needed_damping[row]);
        for (const ZWidthVariant& variant : study.variants)
            json.member("needed_damping_" + variant.key, variant.needed[row]);
        lines.push_back(json.end_object().text());
    }
    return lines;
}

std::string zwidth_page(const ZWidthStudy& study) {
    const DeviceModel& device = study.options.device;
    Section section("zwidth", "Stable virtual walls");
    const HandModel& hand = study.options.hand;
    section.text(
        format("Device of %.3g kg with %.3g N s/m and %.3g N of dry friction at %.0f Hz; delay of "
               "forces in samples: %d; encoder steps of %.3g µm; ",
               device.mass, device.damping, device.friction, device.rate, device.delay,
               1e6 * device.capabilities.position_step) +
        (hand.stiffness + hand.damping > 0
             ? format("a hand of %.3g N/m and %.3g N s/m.", hand.stiffness, hand.damping)
             : "no hand."));
    section.text(summary(study));
    section.figure({map_plot(study), needed_plot(study)},
                   "First: each dot is a trial, the handle resting in the wall and hit inwards. "
                   "Second: the damping at which walls without damping of their own become stable; "
                   "curves end where none is needed.");

    reproduce::Table table{
        "needed", "Damping needed [N s/m], and the wall's own damping that is stable", {}};
    table.columns = {{"stiffness", "K [N/m]"}, {"bound", "K T/2"}, {"device", "this device"}};
    for (const ZWidthVariant& variant : study.variants)
        table.columns.push_back({variant.key, variant.label});
    table.columns.push_back({"stable", "stable wall damping"});
    for (std::size_t row = 0; row < study.map.stiffnesses.size(); ++row) {
        const double stiffness = study.map.stiffnesses[row];
        const double bound = sampled_bound(study, stiffness);
        std::vector<Cell> cells{Cell::number(stiffness, "%.0f"), Cell::number(bound),
                                Cell::number(study.map.needed_damping[row])};
        for (const ZWidthVariant& variant : study.variants) {
            // the bound is derived for small b T/m
            const bool is_derived =
                variant.key == "ideal" && bound < 0.1 * device.mass * device.rate;
            cells.push_back(is_derived ? section.compared(format("K = %.0f N/m", stiffness),
                                                          variant.needed[row], bound, 0.1 * bound)
                                       : Cell::number(variant.needed[row]));
        }
        cells.emplace_back(stable_range(study.map, row));
        table.add(cells);
    }
    section.table(table);
    return reproduce::html_page("Z-width", format("Written by pliant %s haptics zwidth.", kVersion),
                                {section});
}

}  // namespace pliant::cli
