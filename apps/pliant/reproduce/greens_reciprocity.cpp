#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "core/numbers.h"
#include "greens/boundary_cases.h"
#include "greens_experiments.h"
#include "greens_samples.h"
#include "plot.h"

namespace pliant::reproduce {
namespace {

using cli::format;

/// Of the blob fixed below z = −1/2 of its unit size, between up to 400 free nodes [%].
double asymmetry_percent(int level, double poisson_ratio) {
    const SurfaceMesh unit = blob_case_surface(level);
    std::vector<int> fixed, free;
    for (int v = 0; v < unit.num_vertices(); ++v)
        (unit.vertices[at(v)].z() < -0.5 ? fixed : free).push_back(v);
    // spread evenly over the numbering, which is spread over the surface by levels
    std::vector<int> chosen;
    const std::size_t count = std::min<std::size_t>(400, free.size());
    for (std::size_t k = 0; k < count; ++k) chosen.push_back(free[k * free.size() / count]);
    GreensBuildOptions options;
    options.poisson_ratio = poisson_ratio;
    options.fixed = listed(fixed);
    options.contactable = listed(chosen);
    return 100 * build_greens_model(greens_blob(level), options).asymmetry;
}

}  // namespace

void run_reciprocity(Context& context) {
    Section& page = context.section;
    page.text(
        "What a force at j does at i, a force at i does at j. Collocation has it approximately: "
        "‖M − Mᵀ‖ / ‖M‖ with M_ij = Ξ_ij / a_j over free nodes of a smooth blob fixed below z = "
        "−1/2. Expected of this discretisation: about 5, 3 and 1.4 %, which are the limits here.");
    Table table{
        "reciprocity",
        "Departure from reciprocity, %",
        {{"nodes", "nodes"}, {"nu_03", "ν = 0.3"}, {"nu_05", "ν = 0.5"}, {"expected", "expected"}}};
    constexpr double kExpected[] = {5, 3, 1.4};
    Series compressible{"ν = 0.3", {}, 0, Stroke::LineAndDots},
        incompressible{"ν = 0.5", {}, 1, Stroke::LineAndDots};
    for (int k = 0; k < context.sized(3, 2); ++k) {
        const int nodes = 10 * (1 << (2 * (k + 2))) + 2;
        const double a = asymmetry_percent(k + 2, 0.3), b = asymmetry_percent(k + 2, 0.5);
        const auto what = [&](const char* nu) {
            return format("%d nodes, ν = %s: departure, %%", nodes, nu);
        };
        table.add({Cell::count(nodes), page.at_most(what("0.3"), a, kExpected[k], "%.2f"),
                   page.at_most(what("0.5"), b, kExpected[k], "%.2f"), Cell::number(kExpected[k])});
        compressible.points.emplace_back(nodes, a);
        incompressible.points.emplace_back(nodes, b);
        context.done(k == 0 ? 0.02 : 0.1);
    }
    page.table(table);
    page.figure({drawn({.title = "Departure from reciprocity",
                        .x_label = "nodes",
                        .y_label = "departure, %",
                        .series = {compressible, incompressible},
                        .log_x = true,
                        .log_y = true})},
                "It falls to little more than half with each level.");
}

}  // namespace pliant::reproduce
