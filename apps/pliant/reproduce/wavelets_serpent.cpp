#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "apps/pliant/output.h"
#include "contact_samples.h"
#include "core/numbers.h"
#include "core/resource_use.h"
#include "greens/greens_nodes.h"
#include "greens/iterative_source.h"
#include "mesh_picture.h"
#include "pliant/geometry/shapes.h"
#include "pliant/greens/hierarchical_greens.h"
#include "wavelets_experiments.h"
#include "wavelets_samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

constexpr double kMostSeconds = 360;  // from the surface to all columns, on two cores

/// The serpent of longest side 1 with the columns of its free functions of level 0.
struct SerpentColumns {
    SemiRegularMesh surface;
    std::vector<NodeKind> kinds;
    std::vector<double> areas;
    std::vector<int> ids;
    std::shared_ptr<const HierarchicalBasis> basis;
    std::shared_ptr<const DenseGreensFunctions> functions;
    IterativeReport report;
    double matrix_seconds = 0, preconditioner_seconds = 0, column_seconds = 0;

    explicit SerpentColumns(int levels) : surface(make_semi_regular("serpent-ring", levels)) {
        const AllCores all;
        GreensBuildOptions options;
        options.fixed = shape_support("serpent-ring", surface);
        const Box box = bounding_box(surface.mesh.vertices);
        for (Vector3d& x : surface.mesh.vertices) x = (x - box.center()) / box.sizes().maxCoeff();
        BoundaryModel model(surface.mesh, {});
        areas = model.areas();
        kinds = node_kinds(model.positions(), 1, options);
        basis = std::make_shared<const HierarchicalBasis>(surface, kinds);
        for (int v = 0; v < surface.num_vertices[0]; ++v)
            if (kinds[at(v)] == NodeKind::Free) ids.push_back(basis->id(0, v));

        auto source = std::make_shared<IterativeBoundarySource>(std::move(model), kinds,
                                                                std::span<const GreensReadout>());
        HierarchicalColumnSource columns(source, basis);
        columns.prepare(Progress::none());
        {
            const SecondsOfScope scope(column_seconds);
            functions = dense_columns(columns, ids, Progress::none());
        }
        matrix_seconds = source->assembly_seconds();
        preconditioner_seconds = source->factor_seconds();
        report = *source->report();
    }
};

/// A push from above onto the highest function of level 0, on a level that can be drawn.
std::string pushed_serpent(const SerpentColumns& body, const GreensFunctions& functions,
                           const std::string& label) {
    int id = body.ids[0];
    const auto height = [&](int column) {
        return body.surface.mesh.vertices[at(body.basis->vertex_of(column))].z();
    };
    for (const int other : body.ids)
        if (height(other) > height(id)) id = other;
    const float load[] = {0, 0, -1};
    std::vector<float> field(3 * body.kinds.size(), 0.0f);
    functions.add_columns(std::span(&id, 1), load, field);
    const SemiRegularMesh coarse =
        coarse_levels(body.surface, std::min(2, body.surface.num_levels()));
    SurfaceMesh mesh = coarse.mesh;
    std::vector<double> colours(mesh.vertices.size());
    double largest = 0;
    for (std::size_t v = 0; v < body.kinds.size(); ++v)
        if (body.kinds[v] == NodeKind::Free)
            largest = std::max(
                largest, double{std::hypot(field[3 * v], field[3 * v + 1], field[3 * v + 2])});
    for (std::size_t v = 0; v < colours.size(); ++v) {
        if (body.kinds[v] != NodeKind::Free) continue;
        const Vector3d u(field[3 * v], field[3 * v + 1], field[3 * v + 2]);
        mesh.vertices[v] += 0.1 / largest * u;
        colours[v] = u.norm() / largest;
    }
    return surface_picture(mesh, colours, {.azimuth = -30, .elevation = 35, .width = 440}, label);
}

}  // namespace

void run_serpent_columns(Context& context) {
    Section& page = context.section;
    const SerpentColumns body(context.sized(3, 1));
    context.done(0.9);
    page.text(format(
        "A serpent that bites its tail, %d vertices: columns of the %zu free functions of level 0, "
        "one solution each by a hierarchical matrix and GMRES (docs/greens-large.md) with a "
        "residual of 1e-4. Published for a dragon of 9,920 vertices: 123 columns, 369 right-hand "
        "sides, 470 products each, 23 days of processor time; compression about 100 at 5 %% RMS, "
        "which a kept base does not allow.",
        body.surface.mesh.num_vertices(), body.ids.size()));
    Table solved{"solved",
                 "Solution for the columns",
                 {{"right_sides", "right-hand sides"},
                  {"products", "products, mean"},
                  {"residual", "largest residual"},
                  {"matrix_s", "matrix, s"},
                  {"preconditioner_s", "preconditioner, s"},
                  {"columns_s", "columns, s"},
                  {"total_s", "all, s"}}};
    solved.add(
        {Cell::count(3 * std::ssize(body.ids)), Cell::number(body.report.mean_iterations, "%.1f"),
         page.at_most("largest residual", body.report.max_residual, 1e-4, "%.1e"),
         Cell::number(body.matrix_seconds, "%.0f"),
         Cell::number(body.preconditioner_seconds, "%.0f"),
         Cell::number(body.column_seconds, "%.0f"),
         page.at_most("matrix, preconditioner and all columns, s",
                      body.matrix_seconds + body.preconditioner_seconds + body.column_seconds,
                      kMostSeconds, "%.0f")});
    page.table(solved);

    const int num_free =
        static_cast<int>(std::count(body.kinds.begin(), body.kinds.end(), NodeKind::Free));
    const double bound = double{1} * num_free / static_cast<double>(body.ids.size());
    Table table{"compression",
                "Compression at 5 % RMS, or at ε = 0.4 where that errs less",
                {{"base", "base"},
                 {"transform", "transform"},
                 {"compression", "compression"},
                 {"largest_rms", "RMS at ε = 0.4"},
                 {"published", "published"}}};
    Table points = point_table("points", "Points of the curves", "base", "base");
    for (const bool thresholds_base : {false, true}) {
        const std::string base = thresholds_base ? "thresholded" : "kept";
        std::vector<CompressionCurve> curves;
        for (const WaveletKind kind : {WaveletKind::LiftedLinear, WaveletKind::LiftedButterfly})
            curves.push_back(
                compression_curve({body.surface, body.kinds, body.areas, *body.functions}, body.ids,
                                  kind, thresholds_base));
        page.figure(
            {error_against_compression("Base " + base + ": error and compression", by_kind(curves)),
             error_against_tolerance("Base " + base + ": error and tolerance", by_kind(curves))},
            thresholds_base
                ? "RMS: lines with dots. MAX: dashes. Curves end where a column would lose "
                  "its whole base."
                : format("RMS: lines with dots. MAX: dashes. With %d free vertices, %zu of "
                         "them of the base, compression is at most %.1f.",
                         num_free, body.ids.size(), bound));
        for (const CompressionCurve& curve : curves) {
            const double compression = curve.compression_within_rms(0.05);
            const CompressionPoint& last = curve.points.back();
            table.add({base, words_for(curve.kind),
                       thresholds_base && !context.is_quick
                           ? page.at_least("serpent, base thresholded, " + words_for(curve.kind) +
                                               ": compression within 5 % RMS",
                                           compression, 80, "%.1f")
                           : Cell::number(compression, "%.1f"),
                       Cell::number(last.rms, "%.3f"), "about 100"});
            add_points(points, base, curve);
        }
    }
    page.table(table);
    constexpr double kShownTolerance = 0.2;
    const auto functions = compress_greens(*body.functions, body.surface, body.kinds, body.areas,
                                           {.tolerance = kShownTolerance});
    page.figure({pushed_serpent(body, *body.functions, "exact"),
                 pushed_serpent(body, *functions, format("ε = %.1f", kShownTolerance))},
                "A push from above on one function of level 0; red: displacement, drawn as a tenth "
                "of the body, its level 2 shown.");
    page.table(points);
}

}  // namespace pliant::reproduce
