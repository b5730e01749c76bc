#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "greens_experiments.h"
#include "greens_samples.h"
#include "pliant/geometry/shapes.h"
#include "plot.h"

namespace pliant::reproduce {
namespace {

using cli::format;

constexpr double kPublishedSingle[] = {7.3, 2.8, 1.1}, kPublishedMasked[] = {13.3, 11.8, 11.2};

/// Frobenius norms at the upper tip, or means over the free vertices of the control mesh [N/m].
struct RefinedStiffness {
    int vertices = 0;
    double single = 0, masked = 0;
};

RefinedStiffness stiffness_at_level(const std::string& shape, int level, double radius,
                                    const std::string& contactable) {
    const auto model = greens_sample_model(shape, level, nullptr, contactable);
    const SurfaceStiffness point = masked_stiffness(model, MaskKind::Vertex),
                           patch = masked_stiffness(model, MaskKind::Cone, radius);
    const auto& x = model->surface.mesh.vertices;
    RefinedStiffness result{static_cast<int>(x.size()), 0, 0};
    if (shape == "nodule") {
        const auto top = std::max_element(
            x.begin(), x.end(), [](const auto& a, const auto& b) { return a.z() < b.z(); });
        const int v = static_cast<int>(top - x.begin());
        return {result.vertices, point.vertex_stiffness(v).norm(),
                patch.vertex_stiffness(v).norm()};
    }
    int count = 0;
    for (int v = 0; v < model->surface.num_vertices[0]; ++v) {
        if (point.is_rigid(v)) continue;
        result.single += point.vertex_stiffness(v).norm();
        result.masked += patch.vertex_stiffness(v).norm();
        ++count;
    }
    result.single /= count;
    result.masked /= count;
    return result;
}

Series stiffness_curve(const char* label, const std::vector<RefinedStiffness>& levels,
                       double RefinedStiffness::*value, int color) {
    Series series{label, {}, color, Stroke::LineAndDots};
    for (const RefinedStiffness& s : levels) series.points.emplace_back(s.vertices, s.*value);
    return series;
}

}  // namespace

void run_stiffness_refinement(Context& context) {
    Section& page = context.section;
    page.text(
        "What a point-like contact feels: Frobenius norm of the stiffness at the upper tip of the "
        "nodule (E = 10 kPa, ν = 0.3, flat face fixed). A force on a single vertex spreads over "
        "the triangles around it, which shrink: its stiffness vanishes. A cone of fixed radius, "
        "the mean edge of level 1, keeps it. The published units are arbitrary: ours are scaled to "
        "the same masked stiffness at level 3.");
    const double radius = mean_edge(make_semi_regular("nodule", 1).mesh);
    const int last = context.sized(4, 3);
    std::vector<RefinedStiffness> levels;
    for (int level = 1; level <= last; ++level) {
        levels.push_back(stiffness_at_level("nodule", level, radius, "z > 40 %"));
        context.done(0.6 * std::pow(0.25, last - level));
    }
    const double unit = kPublishedMasked[2] / levels[2].masked;
    Table table{"stiffness",
                format("Tip of the nodule, mask of %.1f mm", 1e3 * radius),
                {{"level", "level"},
                 {"vertices", "vertices"},
                 {"single", "single vertex"},
                 {"published_single", "published"},
                 {"masked", "masked"},
                 {"published_masked", "published"},
                 {"single_N_m", "single, N/m"},
                 {"masked_N_m", "masked, N/m"},
                 {"single_ratio", "single over the level before"},
                 {"masked_ratio", "masked over the level before"}}};
    for (std::size_t k = 0; k < levels.size(); ++k) {
        const RefinedStiffness& s = levels[k];
        const bool is_published = k < 3;
        const std::string where = format("nodule, %d vertices: ", s.vertices);
        const auto change = [&](double RefinedStiffness::*value) {
            return s.*value / (levels[k - 1].*value);
        };
        table.add(
            {Cell::count(static_cast<int>(k) + 1), Cell::count(s.vertices),
             is_published ? page.compared(where + "single vertex, published units", unit * s.single,
                                          kPublishedSingle[k], 0.25 * kPublishedSingle[k], "%.2f")
                          : Cell::number(unit * s.single, "%.2f"),
             is_published ? Cell::number(kPublishedSingle[k], "%.1f") : Cell("–"),
             is_published ? page.compared(where + "masked, published units", unit * s.masked,
                                          kPublishedMasked[k], 0.1 * kPublishedMasked[k], "%.2f")
                          : Cell::number(unit * s.masked, "%.2f"),
             is_published ? Cell::number(kPublishedMasked[k], "%.1f") : Cell("–"),
             Cell::number(s.single, "%.1f"), Cell::number(s.masked, "%.1f"),
             k == 0 ? Cell("–")
                    : page.at_most(where + "single over the level before",
                                   change(&RefinedStiffness::single), 0.6, "%.3f"),
             k == 0 ? Cell("–")
                    : page.compared(where + "masked over the level before",
                                    change(&RefinedStiffness::masked), 1, k == 1 ? 0.2 : 0.06,
                                    "%.3f")});
    }
    page.table(table);
    std::vector<RefinedStiffness> published, ours;
    for (std::size_t k = 0; k < levels.size(); ++k) {
        ours.push_back({levels[k].vertices, unit * levels[k].single, unit * levels[k].masked});
        if (k < 3)
            published.push_back({levels[k].vertices, kPublishedSingle[k], kPublishedMasked[k]});
    }

    const double kidney_radius = mean_edge(make_semi_regular("kidney", 1).mesh);
    std::vector<RefinedStiffness> kidney;
    for (int level = 1; level <= context.sized(3, 2); ++level)
        kidney.push_back(stiffness_at_level("kidney", level, kidney_radius, ""));
    Table other{"kidney",
                format("Kidney, mean over the free vertices of its control mesh, mask of %.0f mm",
                       1e3 * kidney_radius),
                {{"vertices", "vertices"},
                 {"single_N_m", "single, N/m"},
                 {"masked_N_m", "masked, N/m"},
                 {"masked_ratio", "masked over the level before"}}};
    for (std::size_t k = 0; k < kidney.size(); ++k)
        other.add({Cell::count(kidney[k].vertices), Cell::number(kidney[k].single, "%.1f"),
                   Cell::number(kidney[k].masked, "%.1f"),
                   k == 0
                       ? Cell("–")
                       : page.compared(format("kidney, %d vertices: masked over the level "
                                              "before",
                                              kidney[k].vertices),
                                       kidney[k].masked / kidney[k - 1].masked, 1, 0.12, "%.3f")});
    page.table(other);
    page.figure(
        {drawn({.title = "Tip of the nodule",
                .x_label = "vertices",
                .y_label = "stiffness, published units",
                .series = {stiffness_curve("masked", ours, &RefinedStiffness::masked, 0),
                           stiffness_curve("single vertex", ours, &RefinedStiffness::single, 1),
                           stiffness_curve("masked, published", published,
                                           &RefinedStiffness::masked, 6),
                           stiffness_curve("single vertex, published", published,
                                           &RefinedStiffness::single, 7)},
                .log_x = true,
                .log_y = true}),
         drawn({.title = "Kidney, mean",
                .x_label = "vertices",
                .y_label = "stiffness, N/m",
                .series = {stiffness_curve("masked", kidney, &RefinedStiffness::masked, 0),
                           stiffness_curve("single vertex", kidney, &RefinedStiffness::single, 1)},
                .log_x = true,
                .log_y = true})},
        "Single vertices become ever softer as meshes become finer; masks converge.");
}

}  // namespace pliant::reproduce
