#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "apps/pliant/output.h"
#include "contact_samples.h"
#include "core/numbers.h"
#include "pliant/geometry/shapes.h"
#include "wavelets_experiments.h"
#include "wavelets_samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;

/// MAX of lifted linear wavelets over ε: about this on all bodies.
constexpr double kMostOverTolerance = 1.25;
constexpr double kAllowance = 0.05;  // "about", for the largest of eleven tolerances

/// A body on one level with the curves of all transforms.
struct CurvedBody {
    std::string title;
    int free_vertices = 0;
    std::vector<CompressionCurve> curves;  // lifted linear first

    CurvedBody(const std::string& shape, const std::string& name, int levels, bool thresholds_base)
        : title(format("%s %d", name.c_str(), levels)) {
        const auto model = wavelet_model(shape, levels);
        free_vertices = model->num_free_columns();
        curves = compression_curves(*model, thresholds_base);
    }
    [[nodiscard]] const CompressionCurve& lifted_linear() const { return curves[0]; }
};

void draw_curves(Section& page, const CurvedBody& body) {
    page.figure(
        {error_against_compression(body.title + ": error and compression", by_kind(body.curves)),
         error_against_tolerance(body.title + ": error and tolerance", by_kind(body.curves))},
        "RMS: lines with dots. MAX: dashes. docs/greens-wavelets.md eq. (W9).");
}

/// Of every transform at one error.
void tell_transforms(Section& page, const std::vector<CurvedBody>& bodies) {
    constexpr double kRms = 0.05;
    Table table{"transforms",
                "Compression at 5 % RMS, between the points of the curves",
                {{"body", "body"},
                 {"lifted_linear", "lifted linear"},
                 {"lifted_butterfly", "lifted butterfly"},
                 {"linear", "linear"},
                 {"butterfly", "butterfly"}}};
    for (const CurvedBody& body : bodies) {
        std::vector<Cell> row = {body.title};
        for (const CompressionCurve& curve : body.curves)
            row.push_back(Cell::number(curve.compression_at_rms(kRms), "%.1f"));
        table.add(std::move(row));
    }
    page.table(table);
}

void check_rabbit(Section& page, const CurvedBody& body) {
    struct Published {
        double tolerance, compression;
    };
    constexpr std::array<Published, 3> kPublished = {{{0.01, 8.4}, {0.05, 25}, {0.20, 68}}};
    Table table{"accepted",
                body.title + ", lifted linear, beside the published compression",
                {{"tolerance", "ε"},
                 {"compression", "compression"},
                 {"published", "published"},
                 {"rms", "RMS"},
                 {"max", "MAX"},
                 {"max_over_tolerance", "MAX / ε"}}};
    for (const Published& published : kPublished) {
        const CompressionPoint& point = body.lifted_linear().at_tolerance(published.tolerance);
        const std::string where = format("ε = %.2f: ", published.tolerance);
        table.add({Cell::number(published.tolerance), Cell::number(point.compression, "%.1f"),
                   Cell::number(published.compression),
                   page.at_most(where + "RMS", point.rms, published.tolerance, "%.4f"),
                   Cell::number(point.max, "%.4f"),
                   page.at_most(where + "MAX / ε, published near 1", point.max / point.tolerance,
                                kMostOverTolerance, "%.2f")});
    }
    page.table(table);

    Table claims{"claims",
                 body.title + ": statements on the transforms, compression at 5 % RMS",
                 {{"what", "compression"}, {"ratio", "ratio"}, {"published", "published"}}};
    const auto at_5 = [&](std::size_t kind) { return body.curves[kind].compression_at_rms(0.05); };
    claims.add({"lifted linear over linear",
                page.at_least("lifted over unlifted linear", at_5(0) / at_5(2), 1, "%.2f"),
                "lifted better"});
    claims.add(
        {"lifted butterfly over lifted linear",
         page.compared("butterfly over linear, both lifted", at_5(1) / at_5(0), 1, 0.2, "%.2f"),
         "benefit negligible"});
    double largest = 0;
    for (const CompressionPoint& point : body.lifted_linear().points)
        largest = std::max(largest, point.max / point.tolerance);
    claims.add({"MAX / ε of lifted linear, largest of all tolerances",
                page.at_most("MAX / ε, largest of all tolerances", largest,
                             kMostOverTolerance + kAllowance, "%.2f"),
                "about 1.25"});
    page.table(claims);
}

/// The rabbit beside shapes that nobody chose for their compression.
void tell_other_shapes(Section& page, const CurvedBody& rabbit) {
    Table table{"other_shapes",
                "Compression of shapes made for other experiments, one level finer than there, "
                "lifted linear, coarsest level kept",
                {{"body", "body"},
                 {"free", "free vertices"},
                 {"at_001", "ε = 0.01"},
                 {"at_005", "0.05"},
                 {"at_020", "0.20"},
                 {"max", "MAX / ε, largest"}}};
    const auto add = [&](const CurvedBody& body) {
        const CompressionCurve& curve = body.lifted_linear();
        const auto at = [&](double tolerance) {
            return Cell::number(curve.at_tolerance(tolerance).compression, "%.1f");
        };
        double largest = 0;
        for (const CompressionPoint& point : curve.points)
            largest = std::max(largest, point.max / point.tolerance);
        table.add({body.title, Cell::count(body.free_vertices), at(0.01), at(0.05), at(0.2),
                   page.at_most(body.title + ": MAX / ε, largest of all tolerances", largest,
                                kMostOverTolerance + kAllowance, "%.2f")});
    };
    add(rabbit);
    for (const auto& [shape, name] : {std::pair{"kidney", "Kidney"}, std::pair{"toy", "Toy"}})
        add(CurvedBody(shape, name, make_semi_regular(shape).num_levels() + 1, false));
    page.table(table);
}

/// How much better the finer of two levels compresses at the same error.
void compare_levels(Section& page, const std::vector<CurvedBody>& bodies) {
    Plot plot{.title = "Lifted linear: speed-up against the coarser model",
              .x_label = "RMS error",
              .y_label = "ratio of compressions"};
    plot.log_x = true;
    Table table{"ratios",
                "Compression over that of the next coarser model at the same RMS",
                {{"bodies", "bodies"},
                 {"rms", "RMS"},
                 {"ratio", "ratio"},
                 {"n_log_n", "4 log m / log 4m"}}};
    for (std::size_t k = 0; k + 1 < bodies.size(); ++k) {
        const double m = bodies[k].free_vertices, limit = 4 * std::log(m) / std::log(4 * m);
        Series series{bodies[k + 1].title + " over " + bodies[k].title,
                      {},
                      static_cast<int>(k),
                      Stroke::LineAndDots};
        for (const double rms :
             {0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.065, 0.08, 0.1}) {
            const double ratio = bodies[k + 1].lifted_linear().compression_at_rms(rms) /
                                 bodies[k].lifted_linear().compression_at_rms(rms);
            if (!std::isfinite(ratio)) continue;
            series.points.emplace_back(rms, ratio);
            table.add({bodies[k + 1].title + " over " + bodies[k].title, Cell::number(rms),
                       Cell::number(ratio, "%.2f"), Cell::number(limit, "%.2f")});
        }
        plot.series.push_back(std::move(series));
        if (k + 2 < bodies.size()) continue;
        const auto across = [](double at) {
            return std::vector<std::pair<double, double>>{{0.0075, at}, {0.1, at}};
        };
        plot.series.push_back({"blocks ~ m", across(4), 6, Stroke::Dashed});
        plot.series.push_back({format("m log m, m = %.0f", m), across(limit), 7, Stroke::Dashed});
    }
    page.figure({drawn(plot)},
                "Dashed: the ratio if as many blocks were kept for each column on every level, "
                "which is 4, and if all blocks grew as m log m.");
    page.table(table);
}

}  // namespace

void run_rabbit_curves(Context& context) {
    Section& page = context.section;
    page.text(
        "All columns of free vertices of the rabbit, four transforms, the coarsest level kept. "
        "Published for another rabbit of the same numbers of vertices: compression 8.4, 25 and 68 "
        "at ε = 0.01, 0.05 and 0.20 on level 4; errors of linear and butterfly nearly the same; "
        "lifted better than unlifted; compression grows with the model. Ours was chosen: of some "
        "eighteen shapes of its ears the one whose compression is nearest to these, and held so "
        "that the published numbers of vertices are free. That its compression agrees says "
        "nothing; what other shapes give stands beside it.");
    std::vector<CurvedBody> bodies;
    const int finest = context.sized(4, 3);
    for (int level = 2; level <= finest; ++level) {
        bodies.emplace_back("rabbit", "Rabbit", level, false);
        draw_curves(page, bodies.back());
        context.done(std::pow(4.0, level - finest) * 0.9);
    }
    Table sizes{"sizes",
                "Models of several levels",
                {{"body", "body"}, {"free", "free vertices"}, {"published", "published"}}};
    constexpr std::array<int, 3> kPublishedFree = {133, 537, 2145};
    for (std::size_t k = 0; k < bodies.size(); ++k)
        sizes.add({bodies[k].title, Cell::count(bodies[k].free_vertices),
                   Cell::count(kPublishedFree[k])});
    page.table(sizes);
    if (!context.is_quick) {
        check_rabbit(page, bodies.back());
        tell_other_shapes(page, bodies.back());
    }
    tell_transforms(page, bodies);
    compare_levels(page, bodies);
    Table points = point_table("points", "Points of the curves", "body", "body");
    for (const CurvedBody& body : bodies)
        for (const CompressionCurve& curve : body.curves) add_points(points, body.title, curve);
    page.table(points);

    // the same by what builds use
    const auto model = wavelet_model("rabbit", 2);
    const AllCores all;
    const auto built =
        compress_greens(dense_functions(*model), model->surface, model->reference.kinds,
                        model->reference.areas, {.tolerance = 0.1});
    const CompressionPoint& point = bodies[0].lifted_linear().at_tolerance(0.1);
    Table same{"same",
               "The curve of rabbit 2 at ε = 0.1 against the report of a compressed build",
               {{"what", "number"}, {"curve", "curve"}, {"build", "build"}, {"gap", "gap"}}};
    const auto compare = [&](const char* what, double curve, double build) {
        same.add({what, Cell::number(curve, "%.6g"), Cell::number(build, "%.6g"),
                  page.at_most(format("%s of curve and build, gap", what),
                               std::abs(curve / build - 1), 1e-5, "%.1e")});
    };
    compare("compression", point.compression, built->report().compression);
    compare("RMS", point.rms, built->report().rms);
    compare("MAX", point.max, built->report().max);
    page.table(same);
}

void run_finger_curves(Context& context) {
    Section& page = context.section;
    page.text(
        "The pad of a finger, whose coarsest level is thresholded as well. Published: useful "
        "compression at 5 to 10 % MAX, much better on level 3 than on level 2.");
    std::vector<CurvedBody> bodies;
    for (const int level : {2, 3}) {
        bodies.emplace_back("finger", "Finger", level, true);
        draw_curves(page, bodies.back());
        context.done(level == 2 ? 0.2 : 0.9);
    }
    Table table{
        "maxima",
        "Lifted linear: compression at a given MAX",
        {{"max", "MAX"}, {"level_2", "Finger 2"}, {"level_3", "Finger 3"}, {"ratio", "ratio"}}};
    for (const double max : {0.05, 0.1}) {
        const double coarse = bodies[0].lifted_linear().compression_at_max(max),
                     fine = bodies[1].lifted_linear().compression_at_max(max);
        table.add({Cell::number(max), Cell::number(coarse, "%.2f"), Cell::number(fine, "%.2f"),
                   page.at_least(format("level 3 over level 2 at %.0f %% MAX", 100 * max),
                                 fine / coarse, 1.5, "%.2f")});
    }
    page.table(table);
    tell_transforms(page, bodies);
    Table points = point_table("points", "Points of the curves", "body", "body");
    for (const CurvedBody& body : bodies)
        for (const CompressionCurve& curve : body.curves) add_points(points, body.title, curve);
    page.table(points);
}

}  // namespace pliant::reproduce
