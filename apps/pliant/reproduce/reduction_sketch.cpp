#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "mesh_picture.h"
#include "pliant/fem/loads.h"
#include "plot.h"
#include "reduction_experiments.h"
#include "reduction_statics.h"
#include "samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kMastX = 0.27, kMastHalf = 0.03;  // place of the mast along the road [m]
constexpr double kStrongest = 7;                   // pull of the sketch [N]
constexpr int kLoadsPerStroke = 28;

/// A suspension bridge whose mast is pulled at the top.
struct Bridge {
    Sample sample;
    std::vector<int> top, middle;  ///< of the mast: the part between them is watched
    Vector3d direction;            ///< of the pull: across the road and a little down
    VectorXd pull;                 ///< 1 N
};

Bridge make_bridge(const Context& context) {
    const int resolution = context.sized(96, 36);
    Bridge bridge{make_sample({.shape = "bridge",
                               .resolution = resolution,
                               .fixed = "z < 6 %",
                               .num_modes = 10,
                               .lowest_frequency = 2}),
                  {},
                  {},
                  {0, std::cos(10 * kDegree), -std::sin(10 * kDegree)},
                  {}};
    const VolumeMesh& mesh = bridge.sample.model.mesh();
    const auto of_mast = [&](double low, double high) {
        return vertices_where(mesh, [&](const Vector3d& x) {
            return std::abs(x.x() - kMastX) < kMastHalf && x.z() > low && x.z() < high;
        });
    };
    // one layer of vertices at least
    const double half_cell = std::max(0.011, 0.51 / resolution);
    bridge.top = of_mast(0.262, 1);
    bridge.middle = of_mast(0.211 - half_cell, 0.211 + half_cell);
    bridge.pull = VectorXd::Zero(bridge.sample.model.num_unknowns());
    add_nodal_force(bridge.top, bridge.direction / static_cast<double>(bridge.top.size()),
                    bridge.pull);
    return bridge;
}

/// Of the upper part of the mast to the vertical [degrees].
double mast_angle(const Bridge& bridge, const VectorXd& u) {
    const auto mean = [&](const std::vector<int>& nodes) {
        Vector3d sum = Vector3d::Zero();
        for (const int i : nodes)
            sum += bridge.sample.model.mesh().vertices[static_cast<std::size_t>(i)] +
                   u.segment<3>(3 * i);
        return Vector3d(sum / static_cast<double>(nodes.size()));
    };
    const Vector3d d = mean(bridge.top) - mean(bridge.middle);
    return std::acos(d.z() / d.norm()) / kDegree;
}

/// Forces that share one pull among vertices.
SketchLoad shared(const std::vector<int>& nodes, const Vector3d& force) {
    return {nodes, {nodes.size(), force / static_cast<double>(nodes.size())}};
}

/// What a user does with the bridge: bends the mast to the ground, then tries it along the road,
/// and the deck.
std::vector<SketchLoad> strokes(const Bridge& bridge) {
    const std::vector<int> deck = vertices_where(bridge.sample.model.mesh(), [](const Vector3d& x) {
        return std::abs(x.x()) < 0.03 && x.z() < 0.1;
    });
    struct Stroke {
        const std::vector<int>& nodes;
        Vector3d strongest;
    };
    const Stroke all[] = {{bridge.top, kStrongest * bridge.direction},
                          {bridge.top, {-1.2, 0, 0}},
                          {bridge.top, {1.2, 0, 0}},
                          {deck, {0, 0, -2}},
                          {deck, {0, 2, 0}}};
    std::vector<SketchLoad> loads;
    for (const auto& [nodes, strongest] : all)
        for (int k = 1; k <= kLoadsPerStroke; ++k)
            loads.push_back(shared(nodes, static_cast<double>(k) / kLoadsPerStroke * strongest));
    return loads;
}

/// The elements beyond a place along the road, and displacements of their vertices.
struct Part {
    VolumeMesh mesh;
    std::vector<int> vertices;  ///< of the whole

    [[nodiscard]] Drawn at(const VectorXd& u) const {
        VectorXd v(3 * mesh.num_vertices());
        for (int i = 0; i < mesh.num_vertices(); ++i)
            v.segment<3>(3 * i) = u.segment<3>(3 * vertices[static_cast<std::size_t>(i)]);
        return {&mesh, v};
    }
};
Part part_beyond(const VolumeMesh& whole, double x) {
    Part part;
    part.mesh.kind = whole.kind;
    std::vector<int> place(whole.vertices.size(), -1);
    for (int e = 0; e < whole.num_elements(); ++e) {
        if (whole.vertices[static_cast<std::size_t>(whole.element(e)[0])].x() < x) continue;
        for (const int v : whole.element(e)) {
            int& at = place[static_cast<std::size_t>(v)];
            if (at < 0) {
                at = part.mesh.num_vertices();
                part.mesh.vertices.push_back(whole.vertices[static_cast<std::size_t>(v)]);
                part.vertices.push_back(v);
            }
            part.mesh.elements.push_back(at);
        }
    }
    return part;
}

/// Angle against load, and the shape under kStrongest.
struct SketchCurve {
    Series series;
    VectorXd shape;
    [[nodiscard]] double angle_at(double load) const {
        for (const auto& [f, angle] : series.points)
            if (std::abs(f - load) < 1e-9) return angle;
        return std::nan("");
    }
};
SketchCurve reduced_curve(const Bridge& bridge, const std::string& name, const Basis& basis,
                          int color) {
    constexpr int kPerNewton = 4;
    std::vector<double> loads;
    for (int k = 0; k <= kStrongest * kPerNewton; ++k)
        loads.push_back(static_cast<double>(k) / kPerNewton);
    const MatrixXd shapes = reduced_equilibria(bridge.sample.model, basis.U, bridge.pull, loads);
    SketchCurve curve{{format("%s, r = %d", name.c_str(), basis.size()), {}, color},
                      shapes.col(static_cast<Eigen::Index>(kStrongest * kPerNewton))};
    for (std::size_t k = 0; k < loads.size(); ++k)
        curve.series.points.emplace_back(
            loads[k], mast_angle(bridge, shapes.col(static_cast<Eigen::Index>(k))));
    return curve;
}
/// Where curves begin: the two sets of vertices are not exactly above each other.
std::vector<std::pair<double, double>> at_rest(const Bridge& bridge) {
    return {{0, mast_angle(bridge, VectorXd::Zero(bridge.pull.size()))}};
}
/// Of the first stroke of the sketch.
SketchCurve full_curve(const Bridge& bridge, const SketchRun& run) {
    SketchCurve curve{{"full, neo-Hookean", at_rest(bridge), 0, Stroke::LineAndDots}, {}};
    for (std::size_t k = 0; k < run.sketch.loads.size(); ++k) {
        const int load = run.sketch.loads[k];
        if (load >= kLoadsPerStroke) continue;
        curve.shape = run.sketch.shapes.col(static_cast<Eigen::Index>(k));
        curve.series.points.emplace_back(kStrongest * (load + 1) / kLoadsPerStroke,
                                         mast_angle(bridge, curve.shape));
    }
    return curve;
}
/// With the material of the reduced bodies, as far as it bears the load.
SketchCurve bearable_curve(Context& context, const Bridge& bridge, std::string& failure) {
    SketchCurve curve{{"full, St. Venant–Kirchhoff", at_rest(bridge), 3, Stroke::DashedAndDots},
                      {}};
    for (const double load : {0.7, 1.4, 2.1}) {
        const StaticResult result =
            solve_static(bridge.sample.model, bridge.sample.constraints, load * bridge.pull,
                         {.max_iterations = 100, .tolerance = 1e-5});
        context.done(0.8 + 0.09 * load);
        if (!result.has_converged()) {
            failure = format("at %g N it has %s", load,
                             result.status == StaticStatus::Collapsed
                                 ? "an equilibrium with elements turned inside out"
                                 : "no equilibrium that was found");
            break;
        }
        curve.series.points.emplace_back(load, mast_angle(bridge, result.u));
    }
    return curve;
}

void draw(Section& page, const Bridge& bridge, const SketchCurve& full, const SketchCurve& sketch,
          const SketchCurve& derivatives) {
    const Part part = part_beyond(bridge.sample.model.mesh(), 0.1);
    const Drawn a = part.at(full.shape), b = part.at(sketch.shape), c = part.at(derivatives.shape);
    const Box box = box_around({a, b, c});
    const View view{.azimuth = 28, .elevation = 14, .width = 300};
    page.figure(
        {picture({a}, box, view, "full, neo-Hookean"), picture({b}, box, view, sketch.series.label),
         picture({c}, box, view, derivatives.series.label)},
        format("The end of the bridge with its mast under %g N. Faces are coloured by the "
               "change of volume: grey unchanged, red doubled, blue halved.",
               kStrongest));
}

}  // namespace

void run_sketch_bases(Context& context) {
    Section& page = context.section;
    const Bridge bridge = make_bridge(context);
    const Sample& sample = bridge.sample;
    context.done(0.05);
    // a material that resists collapse, equal at rest
    Material tough = sample.model.materials()[0];
    tough.law = Law::NeoHookean;
    const SketchRun run =
        run_sketch(sample, FemModel(sample.model.mesh(), {tough}, kPublishedElements),
                   strokes(bridge),
                   {.load_distance = context.sized(0.1, 0.15),
                    .shape_distance = 0.05,
                    .statics = {.max_iterations = 100, .tolerance = 1e-5}});
    context.done(0.75);
    const int rank = std::min(15, static_cast<int>(run.sketch.shapes.cols()));
    const SketchCurve full = full_curve(bridge, run),
                      sketch = reduced_curve(bridge, "sketch",
                                             mass_pca(run.sketch.shapes, sample.mass, rank), 1),
                      derivatives =
                          reduced_curve(bridge, "derivatives", derivative_basis(sample, 15), 2);
    context.done(0.8);
    std::string failure;
    const SketchCurve bearable = bearable_curve(context, bridge, failure);

    page.text("A suspension bridge of 1 m, held at its piers and anchor blocks: " +
              cli::grouped(sample.model.mesh().num_elements()) + " hollow cubes, " +
              cli::grouped(sample.model.num_nodes()) +
              " vertices, first mode 2 Hz (published: 5,854 and 11,829, another bridge; ours is "
              "coarser to keep the static solves of the sketch short). The top of one mast is "
              "pulled across the road and 10° down by a force that keeps its direction. Two "
              "subspaces of St. Venant–Kirchhoff material, in equilibrium: modes and derivatives "
              "of k = 10, and a sketch of five strokes (the mast pulled that way, and along the "
              "road to both sides; the deck down and sideways). Angle: of the upper third of the "
              "mast to the vertical.");
    page.text(
        "The equilibria of the sketch are solved with neo-Hookean material of the same "
        "stiffness at rest; only their shapes enter the subspace. Full St. Venant–Kirchhoff "
        "material gives way in compression" +
        (failure.empty() ? "" : ": " + failure) + ".");
    page.text(
        format("The sketch was drawn up to %g N, and subspaces are asked up to there. The "
               "published sketch bent its mast to the ground.",
               kStrongest));
    const Plot plot{.title = "Mast of the bridge",
                    .x_label = "pull at its top, N",
                    .y_label = "angle to the vertical, degrees",
                    .series = {full.series, sketch.series, derivatives.series, bearable.series},
                    .guides = {{90, ""}, {30, ""}},
                    .width = 700,
                    .height = 400,
                    .y_low = 0,
                    .y_high = 110};
    page.figure({drawn(plot)},
                "Angle of the mast against the pull. Dotted: published, 90 degrees by a sketch, "
                "about 30 by derivatives. As far as it bears the load, St. Venant–Kirchhoff "
                "material lies on the neo-Hookean one.");
    Table table{"mast",
                format("Angle of the mast at %g N; a sketch bends if it comes within a tenth of "
                       "the full body, derivatives lock if they stay below half of it",
                       kStrongest),
                {{"body", "body"},
                 {"angle", "angle, degrees"},
                 {"share", "over full"},
                 {"published", "published"}}};
    const double whole = full.angle_at(kStrongest);
    const auto share = [&](const SketchCurve& curve) { return curve.angle_at(kStrongest) / whole; };
    table.add({full.series.label, Cell::number(whole, "%.1f"), "–", "–"});
    // the coarse bridge of --quick is another body: not judged
    const bool is_judged = !context.is_quick;
    table.add({sketch.series.label, Cell::number(sketch.angle_at(kStrongest), "%.1f"),
               is_judged ? page.compared("angle of the mast, sketch over full", share(sketch), 1,
                                         0.1, "%.2f")
                         : Cell::number(share(sketch), "%.2f"),
               "90"});
    table.add({derivatives.series.label, Cell::number(derivatives.angle_at(kStrongest), "%.1f"),
               is_judged ? page.at_most("angle of the mast, derivatives over full",
                                        share(derivatives), 0.5, "%.2f")
                         : Cell::number(share(derivatives), "%.2f"),
               "about 30"});
    page.table(table);
    draw(page, bridge, full, sketch, derivatives);
    add_sketch_table(page, {326, 142, 2.4 * 3600}, run);
    context.done(1);
}

}  // namespace pliant::reproduce
