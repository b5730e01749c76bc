#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "apps/pliant/output.h"
#include "contact_samples.h"
#include "core/numbers.h"
#include "pliant/greens/hierarchical_greens.h"
#include "wavelets_experiments.h"
#include "wavelets_samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;

/// Ids of the columns of one level, ascending.
std::vector<int> ids_of_level(const GreensModel& model, int level) {
    const HierarchicalBasis& basis = *model.reference.hierarchy;
    std::vector<int> ids;
    for (const int id : dense_functions(model).layout().columns)
        if (basis.level_of(id) == level &&
            model.reference.kinds[at(basis.vertex_of(id))] == NodeKind::Free)
            ids.push_back(id);
    std::sort(ids.begin(), ids.end());
    return ids;
}

GreensModel with_all_levels(const GreensModel& model) {
    const AllCores all;
    return with_coarser_columns(model, 0);
}

/// Blocks that are kept: a dot for each, rows and columns coarse to fine, lines between levels.
struct Pattern {
    std::string label;
    int num_rows = 0, num_columns = 0;
    std::vector<int> row_borders, column_borders;
    std::string dots;  // of an SVG path
    int num_kept = 0;

    [[nodiscard]] std::string drawn_pattern() const {
        constexpr int kDot = 2, kMargin = 4, kCaption = 20;
        const int width = std::max(kDot * num_columns, 150) + 2 * kMargin,
                  height = kDot * num_rows + 2 * kMargin;
        std::string out = format(
            "<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
            "role=\"img\">\n<title>%s</title>\n",
            width, height + kCaption, width, height + kCaption, escaped(label).c_str());
        out += format("<g transform=\"translate(%d %d) scale(%d)\">\n", kMargin, kMargin, kDot);
        std::string lines = format("M0 0H%dV%dH0Z", num_columns, num_rows);
        for (const int row : row_borders) lines += format("M0 %dH%d", row, num_columns);
        for (const int column : column_borders) lines += format("M%d 0V%d", column, num_rows);
        out += "<path class=\"axis\" style=\"stroke-width:.4\" d=\"" + lines + "\"/>\n";
        out += "<path class=\"s0\" fill=\"none\" d=\"" + dots + "\"/>\n</g>\n";
        return out + format("<text x=\"%d\" y=\"%d\">%s</text>\n</svg>", kMargin,
                            height + kCaption - 6, escaped(label).c_str());
    }
};

Pattern pattern_of(const WaveletGreensFunctions& functions, const GreensModel& model, int level) {
    Pattern pattern;
    // places among free vertices; these are numbered level by level
    std::vector<int> place(at(model.num_nodes()), -1);
    for (int v = 0, l = 0; v < model.num_nodes(); ++v) {
        if (v == model.surface.num_vertices[at(l)]) {
            pattern.row_borders.push_back(pattern.num_rows);
            if (l < level) pattern.column_borders.push_back(pattern.num_rows);
            ++l;
        }
        if (model.reference.kinds[at(v)] == NodeKind::Free) place[at(v)] = pattern.num_rows++;
    }
    for (const int id : ids_of_level(model, level)) {
        for (const int node : functions.column(id).nodes) {
            if (place[at(node)] < 0) continue;
            pattern.dots += format("M%d %d.5h1", pattern.num_columns, place[at(node)]);
            ++pattern.num_kept;
        }
        ++pattern.num_columns;
    }
    pattern.label = format("level %d: %d of %d × %d", level, pattern.num_kept, pattern.num_rows,
                           pattern.num_columns);
    return pattern;
}

}  // namespace

void run_wavelet_patterns(Context& context) {
    Section& page = context.section;
    page.text(
        "Coefficients of free rows that are kept of rabbit 2 with lifted linear wavelets and "
        "ε = 0.1, for constraints on its three levels. Rows and columns go from the coarsest level "
        "to the finest. Published: 4,444 blocks on the finest level, 25 %; 671 on the next.");
    const GreensModel model = with_all_levels(*wavelet_model("rabbit", 2));
    const auto functions =
        compress_greens(dense_functions(model), model.surface, model.reference.kinds,
                        model.reference.areas, {.tolerance = 0.1});
    Table table{"kept",
                "Blocks kept",
                {{"level", "constraint level"},
                 {"rows", "rows"},
                 {"columns", "columns"},
                 {"blocks", "blocks"},
                 {"share", "share, %"},
                 {"published", "published blocks"}}};
    std::vector<std::string> drawings;
    for (int level = 2; level >= 0; --level) {
        const Pattern pattern = pattern_of(*functions, model, level);
        const double share =
            100.0 * pattern.num_kept / (double{1} * pattern.num_rows * pattern.num_columns);
        drawings.push_back(pattern.drawn_pattern());
        table.add({Cell::count(level), Cell::count(pattern.num_rows),
                   Cell::count(pattern.num_columns), Cell::count(pattern.num_kept),
                   level == 2
                       ? page.compared("rabbit 2 at ε = 0.1: blocks kept, %", share, 25, 5, "%.1f")
                       : Cell::number(share, "%.1f"),
                   level == 2   ? Cell::count(4444)
                   : level == 1 ? Cell::count(671)
                                : Cell("not known")});
    }
    page.figure(drawings, "Rabbit 2: patterns of the blocks kept, one dot each");
    page.table(table);
}

void run_level_curves(Context& context) {
    Section& page = context.section;
    const int finest = context.sized(4, 3);
    page.text(
        "Columns of hat functions of coarser levels, refined from those of the vertices and "
        "compressed over the same rows. Published: levels compress about equally well at the same "
        "RMS, slightly better when coarser, so that every coarser level of constraints makes sums "
        "about four times faster; that is what is judged, as 4 ± 1.");
    const GreensModel model = with_all_levels(*wavelet_model("rabbit", finest));
    context.done(0.4);
    Table points = point_table("points", "Points of the curves", "level", "constraint level");
    Table table{"levels",
                "Compression at 5 % RMS, between the points of the curves",
                {{"level", "constraint level"},
                 {"columns", "columns"},
                 {"lifted_linear", "lifted linear"},
                 {"lifted_butterfly", "lifted butterfly"},
                 {"over_finest", "lifted linear, over the finest"},
                 {"speed_up", "blocks of the next finer level over its own"}}};
    std::vector<std::vector<CompressionCurve>> curves(2);
    double finer_blocks = 0, least_ratio = 1, least_gain = 1e300, most_gain = 0;
    for (int level = finest; level >= 0; --level) {
        const std::vector<int> ids = ids_of_level(model, level);
        for (std::size_t k = 0; k < 2; ++k) {
            curves[k].push_back(compression_curve(
                {model.surface, model.reference.kinds, model.reference.areas,
                 dense_functions(model)},
                ids, k == 0 ? WaveletKind::LiftedLinear : WaveletKind::LiftedButterfly, false));
            add_points(points, format("%d", level), curves[k].back());
        }
        const double linear = curves[0].back().compression_at_rms(0.05),
                     ratio = linear / curves[0].front().compression_at_rms(0.05),
                     blocks = static_cast<double>(ids.size()) / linear;
        table.add(
            {Cell::count(level), Cell::count(static_cast<int>(ids.size())),
             Cell::number(linear, "%.1f"),
             Cell::number(curves[1].back().compression_at_rms(0.05), "%.1f"),
             Cell::number(ratio, "%.2f"),
             level == finest || context.is_quick
                 ? Cell(level == finest ? "–" : format("%.2f", finer_blocks / blocks))
                 : page.compared(format("sums of level %d over those of the next finer", level),
                                 finer_blocks / blocks, 4, 1, "%.2f")});
        least_ratio = std::min(least_ratio, ratio);
        if (level < finest) {
            least_gain = std::min(least_gain, finer_blocks / blocks);
            most_gain = std::max(most_gain, finer_blocks / blocks);
        }
        finer_blocks = blocks;
        context.done(1 - 0.5 * std::pow(4.0, level - finest));
    }
    for (std::size_t k = 0; k < 2; ++k) {
        std::vector<LabelledCurve> labelled;
        for (std::size_t c = 0; c < curves[k].size(); ++c)
            labelled.push_back({format("level %d", finest - static_cast<int>(c)), &curves[k][c],
                                static_cast<int>(c)});
        const std::string kind = words_for(curves[k][0].kind);
        page.figure(
            {error_against_compression(
                 format("Rabbit %d, %s: error and compression", finest, kind.c_str()), labelled),
             error_against_tolerance(
                 format("Rabbit %d, %s: error and tolerance", finest, kind.c_str()), labelled)},
            "RMS: lines with dots. MAX: dashes.");
    }
    page.table(table);
    page.text(format(
        "So sums become %.1f to %.1f times faster for each coarser level. Coarser levels compress "
        "%s at the same RMS, down to %.2f of the finest: the tolerance is relative to the largest "
        "block of a column, and the response to a load of width h falls off as h / r, so that far "
        "from a wide load more of it is above the tolerance.",
        least_gain, most_gain, least_ratio < 1 ? "less" : "no less", least_ratio));
    page.table(points);
}

}  // namespace pliant::reproduce
