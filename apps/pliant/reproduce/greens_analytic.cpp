#include <cmath>
#include <functional>

#include "apps/pliant/output.h"
#include "greens/boundary_cases.h"
#include "greens_experiments.h"
#include "plot.h"

namespace pliant::reproduce {
namespace {

using cli::format;

BoundaryOptions boundary_options(double poisson_ratio,
                                 BoundaryElements elements = BoundaryElements::Linear) {
    BoundaryOptions options;
    options.poisson_ratio = poisson_ratio;
    options.elements = elements;
    return options;
}

/// A problem with a known solution at several sizes.
struct AnalyticCase {
    std::string name;
    int first_level;
    std::function<BoundaryCaseErrors(int)> errors;
    double limit;        ///< of the error at the last size but one, which the quick page ends with
    double least_order;  ///< between the last two; 0: errors cancel in part, not judged
    int color;
};

std::vector<AnalyticCase> analytic_cases() {
    const BoundaryOptions constant = boundary_options(0.3, BoundaryElements::Constant);
    BoundaryOptions doubled = boundary_options(0.3), doubled_half = boundary_options(0.5);
    doubled.crease_angle = doubled_half.crease_angle = 0.8;
    return {
        {"sphere under pressure, ν = 0.3", 1,
         [](int level) { return sphere_under_pressure(level, boundary_options(0.3)); }, 1e-3, 0, 0},
        {"sphere under pressure, ν = 0.5", 1,
         [](int level) { return sphere_under_pressure(level, boundary_options(0.5)); }, 1e-3, 2, 1},
        {"cavity under pressure, ν = 0.3", 1,
         [](int level) { return cavity_under_pressure(level, boundary_options(0.3)); }, 0.01, 0, 2},
        {"cavity under pressure, ν = 0.5", 1,
         [](int level) { return cavity_under_pressure(level, boundary_options(0.5)); }, 0.01, 1.7,
         3},
        {"cavity, constant elements, ν = 0.3", 0,
         [constant](int level) { return cavity_under_pressure(level, constant); }, 0.05, 1, 4},
        {"cylinder in torsion, ν = 0.3", 2,
         [doubled](int rings) { return cylinder_in_torsion(rings, doubled).fields; }, 0.004, 1.7,
         5},
        {"cylinder in torsion, ν = 0.5", 2,
         [doubled_half](int rings) { return cylinder_in_torsion(rings, doubled_half).fields; },
         0.004, 1.7, 6},
        {"Laplace in a sphere", 1,
         [](int level) { return laplace_in_sphere(level, boundary_options(0)); }, 0.02, 1, 7}};
}

}  // namespace

void run_boundary_cases(Context& context) {
    Section& page = context.section;
    page.text(
        "Problems with known solutions: a sphere under pressure, a spherical cavity under pressure "
        "in an unbounded body (Lamé), a cylinder twisted at its end (St. Venant; nodes doubled at "
        "the rims), a harmonic function in a sphere. Errors are RMS over the surface, relative; "
        "the order p is that of error ~ hᵖ between two meshes, h the root of the mean area of "
        "triangles. At ν = 0.3 errors of shape and of values cancel in part for sphere and cavity: "
        "there the order says little and is not judged.");
    Table table{"analytic",
                "Errors and orders of convergence, lengths in radii; errors but those of the first "
                "size and the last orders of displacement are judged",
                {{"case", "case"},
                 {"nodes", "nodes"},
                 {"size", "h"},
                 {"displacement", "displacement"},
                 {"order", "order"},
                 {"traction", "traction at supports"},
                 {"traction_order", "order"}}};
    Plot plot{.title = "Displacements",
              .x_label = "h, radii",
              .y_label = "relative error, RMS",
              .log_x = true,
              .log_y = true};
    const std::vector<AnalyticCase> cases = analytic_cases();
    const int num_sizes = context.sized(3, 2);
    double done = 0;
    for (const AnalyticCase& c : cases) {
        Series series{c.name, {}, c.color, Stroke::LineAndDots};
        BoundaryCaseErrors before;
        for (int k = 0; k < num_sizes; ++k) {
            const BoundaryCaseErrors e = c.errors(c.first_level + k);
            series.points.emplace_back(e.element_size, e.displacement);
            const bool is_last = k == num_sizes - 1;
            const auto order = [&](double coarse, double fine) {
                return convergence_order(coarse, before.element_size, fine, e.element_size);
            };
            const std::string what = format("%s, %d nodes", c.name.c_str(), e.num_nodes);
            Cell of_displacement("–"), of_traction("–");
            if (k > 0) {
                const double p = order(before.displacement, e.displacement);
                of_displacement = is_last && c.least_order > 0
                                      ? page.at_least(what + ": order", p, c.least_order, "%.2f")
                                      : Cell::number(p, "%.2f");
                if (e.traction > 0)
                    of_traction = Cell::number(order(before.traction, e.traction), "%.2f");
            }
            table.add({c.name, Cell::count(e.num_nodes), Cell::number(e.element_size, "%.3f"),
                       k == 0
                           ? Cell::number(e.displacement, "%.1e")
                           : page.at_most(what + ": displacement", e.displacement, c.limit, "%.1e"),
                       of_displacement,
                       e.traction > 0 ? Cell::number(e.traction, "%.1e") : Cell("–"), of_traction});
            before = e;
        }
        plot.series.push_back(series);
        context.done(++done / static_cast<double>(cases.size() + 1));
    }
    page.table(table);
    BoundaryOptions doubled = boundary_options(0.3), shared = doubled;
    doubled.crease_angle = 0.8;
    Table torsion{"torsion",
                  "Torsion: what shared nodes at the rims do, ν = 0.3",
                  {{"nodes_at_rims", "nodes at the rims"},
                   {"nodes", "nodes"},
                   {"twist_percent", "twist over the exact one, − 1, %"},
                   {"reaction_percent", "torque of the support over the applied one, − 1, %"}}};
    const int rings = context.sized(4, 3);
    const TorsionErrors with = cylinder_in_torsion(rings, doubled),
                        without = cylinder_in_torsion(rings, shared);
    torsion.add(
        {"doubled", Cell::count(with.fields.num_nodes),
         page.compared("torsion: twist, doubled nodes, %", 100 * with.stiffness, 0, 0.5, "%.2f"),
         page.compared("torsion: reaction, doubled nodes, %", 100 * with.reaction, 0, 0.1,
                       "%.3f")});
    torsion.add({"shared", Cell::count(without.fields.num_nodes),
                 Cell::number(100 * without.stiffness, "%.1f"),
                 Cell::number(100 * without.reaction, "%.2f")});
    page.table(torsion);
    plot.width = 700;
    plot.height = 420;
    page.figure({drawn(plot)}, "Errors against the size of triangles.");
}

}  // namespace pliant::reproduce
