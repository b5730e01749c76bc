#include <algorithm>
#include <cmath>
#include <vector>

#include "apps/pliant/output.h"
#include "contact_samples.h"
#include "core/numbers.h"
#include "pliant/geometry/shapes.h"
#include "pliant/greens/measured_greens.h"
#include "wavelets_experiments.h"
#include "wavelets_samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;

/// Of the body's length, and so much that columns are noise for the larger part.
constexpr double kProbeNoise = 1e-4, kMuchProbeNoise = 5e-3;

/// The toy as a robot would know it, docs/greens-measured.md.
GreensModel measured_toy(const GreensModel& exact, double noise) {
    const AllCores all;
    SyntheticProbing probing;
    probing.hidden_share = 0.2;
    probing.noise = noise * exact.reference.length;
    MeasuredGreensOptions options;
    options.fixed = shape_support("toy", exact.surface);
    if (noise > kProbeNoise) options.max_error = kInfinity;
    return build_measured_model(exact.surface, synthetic_measurement(exact, probing), options);
}

/// Of the curve, over the tolerance.
double largest_max(const CompressionCurve& curve) {
    double worst = 0;
    for (const CompressionPoint& point : curve.points)
        if (std::isfinite(point.max)) worst = std::max(worst, point.max / point.tolerance);
    return worst;
}

double linear_over_butterfly(const std::vector<CompressionCurve>& curves, double rms) {
    return curves[0].compression_at_rms(rms) / curves[1].compression_at_rms(rms);
}

}  // namespace

void run_measured_curves(Context& context) {
    Section& page = context.section;
    page.text(
        "The toy on level 1, probed at the vertices of level 0 by a synthetic robot that does not "
        "see a fifth of the surface and errs by 1e-4 of the body's length; columns between probes "
        "are inferred. With two levels a kept base bounds compression. Published for a measured "
        "tiger of the same size: near 4 at best; beyond 4 where the base is thresholded, practical "
        "near 10 % RMS; linear clearly better than butterfly; MAX of lifted linear well below ε. "
        "The last two are not reproduced; they are of the data, not of the method: fields of an "
        "elastic body are smooth, "
        "and butterflies predict them as well as lines or better; lines are a little better where "
        "noise is the larger part of the columns, which a build refuses unless it is allowed. With "
        "one "
        "round of wavelets all thresholds are ε itself, and neighbours of opposite signs just "
        "below it add up: MAX is about ε or a little more.");
    const auto exact = wavelet_model("toy", 1);
    const GreensModel model = measured_toy(*exact, kProbeNoise);
    context.done(0.5);
    const int num_free = model.num_free_columns();
    const int num_base = static_cast<int>(
        std::count(model.reference.kinds.begin(),
                   model.reference.kinds.begin() + model.surface.num_vertices[0], NodeKind::Free));
    const std::vector<CompressionCurve> kept = compression_curves(model, false),
                                        dropped = compression_curves(model, true);
    page.figure({error_against_compression("Base kept: error and compression", by_kind(kept)),
                 error_against_tolerance("Base kept: error and tolerance", by_kind(kept))},
                format("RMS: lines with dots. MAX: dashes. %d free vertices, %d of them of the "
                       "base: compression is at most %.2f.",
                       num_free, num_base, double{1} * num_free / num_base));
    page.figure(
        {error_against_compression("Base thresholded: error and compression", by_kind(dropped)),
         error_against_tolerance("Base thresholded: error and tolerance", by_kind(dropped))},
        "RMS: lines with dots. MAX: dashes. Curves end where a column would lose its whole base.");
    Table table{
        "claims", "Statements", {{"what", "what"}, {"value", "value"}, {"published", "published"}}};
    const double best = kept[0].points.back().compression;
    table.add({format("base kept: compression at ε = %.1f", kept[0].points.back().tolerance),
               page.at_most("base kept: compression", best, 1.0 * num_free / num_base, "%.2f"),
               "near 4"});
    table.add({"base thresholded: compression at 10 % RMS",
               page.at_least("base thresholded: compression at 10 % RMS",
                             dropped[0].compression_at_rms(0.1), 4, "%.2f"),
               "above 4"});
    table.add({"the same, lifted linear over lifted butterfly",
               page.at_least("measured, base thresholded: linear over butterfly at 10 % RMS",
                             linear_over_butterfly(dropped, 0.1), 1, "%.3f"),
               "clearly better"});
    const std::vector<CompressionCurve> noisy =
        compression_curves(measured_toy(*exact, kMuchProbeNoise), false);
    table.add({format("the same with a noise of %g of the length, base kept, at 5 %% RMS",
                      kMuchProbeNoise),
               Cell::number(linear_over_butterfly(noisy, 0.05), "%.3f"), ""});
    // the specification has seen 1.23 for lifted linear
    table.add({"base kept, lifted linear: largest MAX / ε",
               page.at_most("measured, base kept: MAX / ε", largest_max(kept[0]), 1.25, "%.2f"),
               ""});
    table.add(
        {"base thresholded, lifted linear: largest MAX / ε",
         page.at_most("measured, base thresholded: MAX / ε", largest_max(dropped[0]), 1, "%.2f"),
         "well below 1"});
    page.table(table);
    Table points = point_table("points", "Points of the curves", "base", "base");
    for (const CompressionCurve& curve : kept) add_points(points, "kept", curve);
    for (const CompressionCurve& curve : dropped) add_points(points, "thresholded", curve);
    page.table(points);
}

}  // namespace pliant::reproduce
