#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "core/numbers.h"
#include "greens_experiments.h"
#include "greens_samples.h"
#include "mesh_picture.h"
#include "plot.h"

namespace pliant::reproduce {
namespace {

using cli::format;

/// What remains of values when the mean of the neighbours is taken away; NaN where it does not
/// count.
std::vector<double> against_neighbours(const SurfaceMesh& mesh, const std::vector<double>& values,
                                       const std::vector<char>& counts) {
    std::vector<double> sum(values.size(), 0), number(values.size(), 0);
    for (const Triangle& t : mesh.triangles)
        for (std::size_t k = 0; k < 3; ++k) {
            const auto a = at(t[k]), b = at(t[(k + 1) % 3]);
            if (!counts[a] || !counts[b]) continue;
            sum[a] += values[b];
            number[a] += 1;
        }
    std::vector<double> rest;
    for (std::size_t v = 0; v < values.size(); ++v)
        rest.push_back(counts[v] && number[v] > 0 ? values[v] - sum[v] / number[v] : kNan);
    return rest;
}

/// Of stiffness from vertex to vertex.
struct MaskVariation {
    double roughness = 0;                  ///< RMS of its logarithm against that of the neighbours
    double correlation = 0;                ///< of that with the same of areas
    double spread = 0;                     ///< largest over least
    std::vector<double> stiffness, areas;  ///< of each vertex against its neighbours

    /// What follows the areas, and so the mesh.
    [[nodiscard]] double of_mesh() const { return roughness * std::abs(correlation); }
};

MaskVariation variation_of(const GreensModel& model, const SurfaceStiffness& stiffness) {
    const SurfaceMesh& mesh = model.surface.mesh;
    std::vector<double> areas(mesh.vertices.size()), logs(mesh.vertices.size(), kNan);
    std::vector<char> counts(mesh.vertices.size(), 1);
    for (std::size_t v = 0; v < areas.size(); ++v) {
        areas[v] = std::log(model.reference.areas[v]);
        const int vertex = static_cast<int>(v);
        counts[v] = !stiffness.is_rigid(vertex);
        if (counts[v]) logs[v] = std::log(stiffness.vertex_stiffness(vertex).norm());
    }
    // masks at the support are cut off there: its neighbours do not count either
    std::vector<char> is_inner = counts;
    for (const Triangle& t : mesh.triangles)
        for (std::size_t k = 0; k < 3; ++k)
            if (!counts[at(t[k])]) is_inner[at(t[(k + 1) % 3])] = is_inner[at(t[(k + 2) % 3])] = 0;
    MaskVariation result;
    result.stiffness = against_neighbours(mesh, logs, is_inner);
    result.areas = against_neighbours(mesh, areas, is_inner);
    double kk = 0, ka = 0, aa = 0, count = 0;
    for (std::size_t v = 0; v < logs.size(); ++v) {
        const double k = result.stiffness[v], a = result.areas[v];
        if (!std::isfinite(k)) continue;
        kk += k * k;
        ka += k * a;
        aa += a * a;
        count += 1;
    }
    double low = kInfinity, high = -kInfinity;
    for (std::size_t v = 0; v < logs.size(); ++v) {
        if (!is_inner[v]) continue;
        low = std::min(low, logs[v]);
        high = std::max(high, logs[v]);
    }
    result.roughness = std::sqrt(kk / count);
    result.correlation = ka / std::sqrt(kk * aa);
    result.spread = std::exp(high - low);
    return result;
}

/// For a picture: −1 and 1 are this far below and above the neighbours.
std::vector<double> scaled_to(std::vector<double> values, double full) {
    for (double& value : values) value /= full;
    return values;
}

}  // namespace

void run_mask_radii(Context& context) {
    Section& page = context.section;
    const auto model = greens_sample_model("kidney");
    const double edge = mean_edge(model->surface.mesh);
    page.text(format(
        "The kidney of 322 vertices, mean edge %.1f mm. Stiffness of each vertex (the logarithm of "
        "its norm) against the mean of its neighbours: one part of that is the shape of the body, "
        "another follows the areas of vertices and comes from the mesh alone. Published: a radius "
        "of twice the mean edge removes the latter.",
        1e3 * edge));
    Table table{"masks",
                "Variation from vertex to vertex, away from the support",
                {{"radius_edges", "radius, mean edges"},
                 {"radius_mm", "radius, mm"},
                 {"roughness_percent", "stiffness against neighbours, % RMS"},
                 {"correlation", "correlation with areas"},
                 {"mesh_percent", "of it from the mesh, % RMS"},
                 {"of_single", "of that of single vertices"},
                 {"spread", "stiffest over softest"}}};
    Series all{"all", {}, 6, Stroke::LineAndDots},
        of_mesh{"from the mesh", {}, 0, Stroke::LineAndDots};
    std::vector<std::string> pictures;
    const View view{.azimuth = -65, .elevation = 35, .width = 300};
    double single = 0;
    for (const double factor : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0}) {
        const SurfaceStiffness stiffness =
            factor == 0 ? masked_stiffness(model, MaskKind::Vertex)
                        : masked_stiffness(model, MaskKind::Cone, factor * edge);
        const MaskVariation v = variation_of(*model, stiffness);
        if (factor == 0) single = v.of_mesh();
        const double left = v.of_mesh() / single;
        table.add({factor == 0 ? Cell("single vertex") : Cell::number(factor, "%.1f"),
                   Cell::number(1e3 * factor * edge, "%.1f"),
                   Cell::number(100 * v.roughness, "%.2f"),
                   factor == 0 ? page.at_least("single vertices: correlation of stiffness and area",
                                               v.correlation, 0.5, "%.2f")
                               : Cell::number(v.correlation, "%.2f"),
                   Cell::number(100 * v.of_mesh(), "%.2f"),
                   factor == 2 ? page.at_most("radius of two edges: variation from the mesh, of "
                                              "that of single vertices",
                                              left, 0.25, "%.3f")
                               : Cell::number(left, "%.3f"),
                   Cell::number(v.spread, "%.2f")});
        all.points.emplace_back(factor, 100 * v.roughness);
        of_mesh.points.emplace_back(factor, 100 * v.of_mesh());
        if (factor == 0)
            pictures.push_back(surface_picture(model->surface.mesh, scaled_to(v.areas, 0.15), view,
                                               "areas, ± 15 %"));
        if (factor == 0 || factor == 2)
            pictures.push_back(surface_picture(
                model->surface.mesh, scaled_to(v.stiffness, 0.08), view,
                factor == 0 ? "stiffness of single vertices, ± 8 %" : "radius 2 edges, ± 8 %"));
    }
    page.table(table);
    page.figure(pictures,
                "Areas and stiffness of vertices against the mean of their neighbours: blue below, "
                "red above; the support and what touches it has no colour.");
    page.figure({drawn({.title = "Variation from vertex to vertex",
                        .x_label = "radius of the mask, mean edges",
                        .y_label = "variation, % RMS",
                        .series = {all, of_mesh}})},
                "What remains with wide masks is the shape of the kidney: ridges and ends.");
}

}  // namespace pliant::reproduce
