#include <algorithm>
#include <cmath>
#include <numbers>

#include "apps/pliant/output.h"
#include "mesh_picture.h"
#include "pliant/fem/explicit_dynamics.h"
#include "pliant/fem/implicit_dynamics.h"
#include "pliant/fem/loads.h"
#include "pliant/geometry/embedding.h"
#include "pliant/geometry/selection.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/simulation_mesh.h"
#include "pliant/reduction/reduced_dynamics.h"
#include "pliant/reduction/snapshots.h"
#include "plot.h"
#include "reduction_experiments.h"
#include "reduction_statics.h"
#include "samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kSpoonLength = 0.2, kFrequency = 10;  // [m], [Hz]
constexpr double kPeriod = 1 / kFrequency, kPush = 0.1 * kPeriod, kSpoonDuration = 1.8 * kPeriod;
constexpr double kReducedStep = kPeriod / 500;  // of reduced bodies
/// 1 % of critical damping for the first mode [1/s].
constexpr double kDamping = 2 * 0.01 * 2 * std::numbers::pi * kFrequency;
/// Loads are given by the deflection of the tip, in lengths of the spoon, that a linear body would
/// show under them at rest.
constexpr double kImpulses[] = {0.7, 1.4}, kStroke = 0.4, kExtreme = 2;

/// A spoon held at the end of its handle.
struct Spoon {
    Sample sample;
    std::vector<int> tip, root;  ///< ends of the bowl
    VectorXd lift;               ///< upward load of the tip for a linear deflection of one length
    VectorXd linear;             ///< that deflection
};

Vector3d mean_of(const Spoon& spoon, const std::vector<int>& nodes, const VectorXd& u) {
    Vector3d sum = Vector3d::Zero();
    for (const int i : nodes)
        sum +=
            spoon.sample.model.mesh().vertices[static_cast<std::size_t>(i)] + u.segment<3>(3 * i);
    return sum / static_cast<double>(nodes.size());
}

Spoon make_spoon(const Context& context) {
    Spoon spoon{make_sample({.shape = "spoon",
                             .resolution = context.sized(96, 28),
                             .size = kSpoonLength,
                             .fixed = "x < 6 %",
                             .num_modes = 6,
                             .lowest_frequency = kFrequency}),
                {},
                {},
                {},
                {}};
    const FemModel& model = spoon.sample.model;
    spoon.tip = select(highest(0.03, 0), model.mesh().vertices);
    spoon.root = vertices_where(model.mesh(), [](const Vector3d& x) {
        return std::abs(x.x() - 0.25 * kSpoonLength) < 0.005;
    });
    spoon.lift = VectorXd::Zero(model.num_unknowns());
    add_nodal_force(spoon.tip, Vector3d::UnitZ(), spoon.lift);
    spoon.linear = solve_linear_static(model, spoon.sample.constraints, spoon.lift);
    const VectorXd rest = VectorXd::Zero(model.num_unknowns());
    const double deflection =
        (mean_of(spoon, spoon.tip, spoon.linear) - mean_of(spoon, spoon.tip, rest)).z();
    spoon.lift *= kSpoonLength / deflection;
    spoon.linear *= kSpoonLength / deflection;
    return spoon;
}

/// Height of the tip over its place at rest.
double tip_height(const Spoon& spoon, const VectorXd& u) {
    double sum = 0;
    for (const int i : spoon.tip) sum += u[3 * i + 2];
    return sum / static_cast<double>(spoon.tip.size());
}

/// By how much the bowl has turned up [degrees].
double bend_angle(const Spoon& spoon, const VectorXd& u) {
    const auto slope = [&](const VectorXd& w) {
        const Vector3d d = mean_of(spoon, spoon.tip, w) - mean_of(spoon, spoon.root, w);
        return std::atan2(d.z(), d.x());
    };
    return (slope(u) - slope(VectorXd::Zero(u.size()))) * 180 / std::numbers::pi;
}

/// What a user does with the spoon: four strokes, each a pull that grows.
std::vector<SketchLoad> strokes(const Spoon& spoon, int loads_per_stroke) {
    // a pull at one side of the bowl turns it as well
    std::vector<int> side;
    for (const int i : spoon.tip)
        if (spoon.sample.model.mesh().vertices[static_cast<std::size_t>(i)].y() > 0)
            side.push_back(i);
    struct Stroke {
        const std::vector<int>& nodes;
        Vector3d direction;
    };
    const Stroke all[] = {{spoon.tip, Vector3d::UnitZ()},
                          {spoon.tip, -Vector3d::UnitZ()},
                          {spoon.tip, Vector3d::UnitY()},
                          {side, {0, 0.5, 1}}};
    const double strength = kStroke * spoon.lift.sum();  // all components point up
    std::vector<SketchLoad> loads;
    for (const auto& [nodes, direction] : all)
        for (int k = 1; k <= loads_per_stroke; ++k) {
            const double part = static_cast<double>(k) / loads_per_stroke;
            loads.push_back(
                {nodes,
                 {nodes.size(), part * strength / static_cast<double>(nodes.size()) * direction}});
        }
    return loads;
}

/// The tip after the impulse.
struct SpoonMotion {
    std::string name;
    std::vector<std::pair<double, double>> heights;  ///< time [s], tip over its place at rest [m]

    [[nodiscard]] double extreme() const {
        double largest = 0;
        for (const auto& [t, z] : heights) largest = std::max(largest, z);
        return largest;
    }
    /// From the first way down through the place at rest to the second one [s].
    [[nodiscard]] double first_period() const {
        std::vector<double> crossings;
        for (std::size_t k = 1; k < heights.size(); ++k) {
            const auto& [t0, z0] = heights[k - 1];
            const auto& [t1, z1] = heights[k];
            if (z0 > 0 && z1 <= 0) crossings.push_back(t0 + (t1 - t0) * z0 / (z0 - z1));
        }
        return crossings.size() < 2 ? std::nan("") : crossings[1] - crossings[0];
    }
};

struct FullMotion {
    SpoonMotion motion;
    int num_steps = 0;
    double dt = 0;  ///< [s]
};
FullMotion full_motion(Context& context, const Spoon& spoon, double strength,
                       SnapshotRecorder& recorder) {
    const ExplicitDynamics dynamics(spoon.sample.model, spoon.sample.constraints,
                                    {.damping = {.mass = kDamping}});
    // the push ends with a step
    const int push_steps = static_cast<int>(std::ceil(kPush / (0.9 * dynamics.stable_step().dt)));
    FullMotion full{{"full", {{0, 0}}}};
    full.dt = kPush / push_steps;
    full.num_steps = static_cast<int>(std::lround(kSpoonDuration / full.dt));
    FemState s = dynamics.make_state();
    ExplicitDynamics::Workspace workspace = dynamics.make_workspace();
    const VectorXd push = strength * spoon.lift, none = VectorXd::Zero(push.size());
    dynamics.set_acceleration(s, push, workspace);
    const int interval = push_steps / 20 + 1;
    const double done_before = strength == kImpulses[0] ? 0.5 : 0.6;
    for (int k = 0; k < full.num_steps; ++k) {
        (void)dynamics.step(s, k < push_steps ? push : none, full.dt, workspace);
        if (k % interval != 0) continue;
        full.motion.heights.emplace_back(s.time, tip_height(spoon, s.u));
        recorder.record(s.time, s.u);
        context.done(done_before + 0.1 * k / full.num_steps);
    }
    return full;
}

ReducedDynamics reduced_dynamics(const Spoon& spoon, const Eigen::MatrixXd& U, int max_iterations) {
    return {polynomial_force(spoon.sample.model, U),
            Eigen::MatrixXd::Identity(U.cols(), U.cols()),
            {.max_iterations = max_iterations, .damping = {.mass = kDamping}}};
}

SpoonMotion reduced_motion(const Spoon& spoon, double strength, const std::string& name,
                           const Basis& basis) {
    const ReducedDynamics dynamics = reduced_dynamics(spoon, basis.U, 10);
    ReducedState s = dynamics.make_state();
    const auto workspace = dynamics.make_workspace();
    const VectorXd push = strength * (basis.U.transpose() * spoon.lift),
                   none = VectorXd::Zero(push.size());
    dynamics.set_acceleration(s, push, *workspace);
    SpoonMotion motion{name, {{0, 0}}};
    while (s.time < kSpoonDuration) {
        // the load at the end of a step counts
        (void)dynamics.step(s, s.time + kReducedStep < kPush + 1e-9 ? push : none, kReducedStep,
                            *workspace);
        motion.heights.emplace_back(s.time, tip_height(spoon, basis.U * s.q));
    }
    return motion;
}

/// One impulse: a plot of the tip, and rows of the table.
std::string impulse(Context& context, const Spoon& spoon, const SketchRun& sketch, double strength,
                    Table& table) {
    Section& page = context.section;
    const Sample& sample = spoon.sample;
    SnapshotRecorder recorder(sample.model, sample.constraints, 0);
    const FullMotion full = full_motion(context, spoon, strength, recorder);
    const bool is_strong = strength > kImpulses[0];
    if (!is_strong)
        page.text("A push up at the tip of the bowl for " + format("%g", 1e3 * kPush) +
                  " ms, then free motion with 1 % of critical damping of the first mode. Full: "
                  "central differences with lumped mass, " +
                  cli::grouped(full.num_steps) + format(" steps of %.2f µs. ", 1e6 * full.dt) +
                  "Three subspaces of r = 12, by implicit Newmark in steps of " +
                  format("%g", 1e3 * kReducedStep) +
                  " ms, iterated to convergence: the best one for the full motion itself "
                  "(mass-PCA of " +
                  format("%d", recorder.size()) +
                  " of its shapes), modes and modal derivatives of k = 6, and the sketch. Period: "
                  "from the first way down through the place at rest to the second. Height: the "
                  "extreme one of the tip. Errors are against the full simulation; the published "
                  "ones are of another spoon, whose amplitude is not known, and therefore two "
                  "impulses.");

    struct Case {
        std::string name;
        Basis basis;
        double published;                         // frequency error [%]
        double frequency_limit, amplitude_limit;  // [%]
    };
    const auto num_shapes = static_cast<int>(sketch.sketch.shapes.cols());
    const Case cases[] = {
        {"snapshots", mass_pca(recorder.shapes(), sample.mass, 12), std::nan(""), 1, 2},
        {"derivatives, k = 6", derivative_basis(sample, 12), -4.6, 4.6, 10},
        {"sketch", mass_pca(sketch.sketch.shapes, sample.mass, std::min(12, num_shapes)), -10.1,
         10.1, 10}};
    Plot plot{.title = is_strong ? "Impulse twice as strong" : "Impulse",
              .x_label = "time, ms",
              .y_label = "height of the tip, mm"};
    const auto draw = [&](const SpoonMotion& motion, int color, Stroke stroke) {
        Series series{motion.name, {}, color, stroke};
        for (const auto& [t, z] : motion.heights) series.points.emplace_back(1e3 * t, 1e3 * z);
        plot.series.push_back(std::move(series));
    };
    const char* which = is_strong ? "double" : "single";
    const double period = full.motion.first_period(), height = full.motion.extreme();
    table.add({which, "full", Cell::count(sample.model.num_unknowns()),
               Cell::number(1e3 * period, "%.2f"), "–", "–", Cell::number(1e3 * height, "%.1f"),
               "–", "–"});
    draw(full.motion, 0, Stroke::Line);
    int color = 1;
    for (const Case& c : cases) {
        const SpoonMotion motion = reduced_motion(spoon, strength, c.name, c.basis);
        const double frequency = 100 * (period / motion.first_period() - 1),
                     amplitude = 100 * (motion.extreme() / height - 1);
        const std::string what = format("%s impulse, %s, ", which, c.name.c_str());
        const bool is_snapshot = std::isnan(c.published);
        table.add(
            {which, c.name, Cell::count(c.basis.size()),
             Cell::number(1e3 * motion.first_period(), "%.2f"),
             page.compared(what + "frequency error [%]", frequency, 0, c.frequency_limit, "%+.2f"),
             is_snapshot ? Cell("almost none") : Cell::number(c.published, "%+.1f"),
             Cell::number(1e3 * motion.extreme(), "%.1f"),
             page.compared(what + "amplitude error [%]", amplitude, 0, c.amplitude_limit, "%+.2f"),
             is_snapshot ? "almost none" : "nearly right"});
        draw(motion, color++, Stroke::Dashed);
    }
    return drawn(plot);
}

void impulses(Context& context, const Spoon& spoon, const SketchRun& sketch) {
    Section& page = context.section;
    page.heading("Impulse");
    Table table{"impulse",
                "First period and extreme height of the tip; limits: the published frequency "
                "errors (snapshots: 1 %), amplitudes within 10 % (snapshots: 2 %)",
                {{"impulse", "impulse"},
                 {"subspace", "subspace"},
                 {"r", "r"},
                 {"period_ms", "period, ms"},
                 {"frequency_error", "frequency, error %"},
                 {"published_error", "published, %"},
                 {"height_mm", "height, mm"},
                 {"amplitude_error", "height, error %"},
                 {"published_amplitude", "published"}}};
    std::vector<std::string> plots;
    for (const double strength : kImpulses)
        plots.push_back(impulse(context, spoon, sketch, strength, table));
    page.figure(plots,
                "Height of the tip in the full simulation and in three subspaces of r = 12.");
    page.table(table);
    page.text(
        "Ours are too fast where the published ones were too slow. A subspace can only raise the "
        "frequencies of small motions (Rayleigh's principle), and does so the more the further a "
        "body bends: at the double impulse modes and derivatives of r = 12 no longer keep its "
        "period, the sketch does so better.");
}

void speed(Context& context, const Spoon& spoon) {
    Section& page = context.section;
    page.heading("Speed");
    // a moving spoon and steps of a fiftieth of its period
    const double dt = kPeriod / 50;
    ImplicitDynamics full(spoon.sample.model, spoon.sample.constraints,
                          {.damping = {.mass = kDamping}, .solver = StepSolver::Direct});
    FemState start = full.make_state();
    start.v = 0.1 * spoon.linear;
    const VectorXd none = VectorXd::Zero(spoon.lift.size());
    const double full_us = best_time_us([&] {
        FemState s = start;
        (void)full.step(s, none, dt);
    });
    context.done(0.71);
    const Basis basis = derivative_basis(spoon.sample, 12);
    const ReducedDynamics reduced = reduced_dynamics(spoon, basis.U, 1);
    ReducedState s = reduced.make_state();
    s.v = basis.U.transpose() * (spoon.sample.mass * start.v);
    const auto workspace = reduced.make_workspace();
    const VectorXd none_reduced = VectorXd::Zero(basis.size());
    constexpr int kMany = 1000;
    const double many_us = best_time_us([&] {
        for (int k = 0; k < kMany; ++k) (void)reduced.step(s, none_reduced, dt, *workspace);
    });
    const double reduced_us = many_us / kMany;
    Table table{"speed",
                "One step of implicit Newmark with one Newton iteration, one core",
                {{"whose", ""},
                 {"full_us", "full, µs"},
                 {"reduced_us", "r = 12, µs"},
                 {"ratio", "full / reduced"}}};
    table.add({"published, 2004", "–", Cell::number(30.2, "%.1f"), Cell::count(50000)});
    table.add({"measured", Cell::count(std::lround(full_us)),
               page.at_most("step at r = 12 [µs]", reduced_us, 30.2, "%.2f"),
               Cell::count(std::lround(full_us / reduced_us))});
    page.table(table);
    page.text(
        "The ratio is reported, not judged: every gain of the full solver lowers it. Ours factors "
        "the matrix of the whole spoon in each step; the published time of a full step is not "
        "given.");
}

/// A coarser spoon that follows a fine one, for pictures of moderate size.
class Picture {
public:
    Picture(const FemModel& model, int resolution)
        : mesh_(coarse_mesh(resolution)), embedding_(model.mesh(), mesh_.vertices) {}

    [[nodiscard]] Drawn at(const VectorXd& u) const {
        VectorXd coarse(3 * mesh_.num_vertices());
        embedding_.transfer({u.data(), static_cast<std::size_t>(u.size())},
                            {coarse.data(), static_cast<std::size_t>(coarse.size())});
        return {&mesh_, coarse};
    }
    [[nodiscard]] Drawn rest() const { return {&mesh_, {}, true}; }

private:
    static VolumeMesh coarse_mesh(int resolution) {
        SurfaceMesh surface = make_shape("spoon");
        const double scale = kSpoonLength / bounding_box(surface.vertices).sizes().maxCoeff();
        for (Vector3d& x : surface.vertices) x *= scale;
        return build_simulation_mesh(SurfaceQuery(surface),
                                     {.kind = "voxel", .resolution = resolution});
    }
    VolumeMesh mesh_;
    Embedding embedding_;
};

/// Loads and shapes of the full body; weak pulls are in the sketch already.
std::vector<std::pair<double, VectorXd>> full_bends(Context& context, const Spoon& spoon,
                                                    const SketchRun& sketch) {
    std::vector<std::pair<double, VectorXd>> bends;
    const auto strength = [&](const SketchLoad& load) {
        Vector3d sum = Vector3d::Zero();
        for (const Vector3d& force : load.forces) sum += force;
        return sum.z() / spoon.lift.sum();
    };
    const auto is_lift = [&](const SketchLoad& load) {
        return load.nodes.size() == spoon.tip.size() && load.forces[0].z() > 0;
    };
    for (std::size_t k = 0; k < sketch.sketch.loads.size(); ++k) {
        const auto i = static_cast<std::size_t>(sketch.sketch.loads[k]);
        if (is_lift(sketch.loads[i]))
            bends.emplace_back(strength(sketch.loads[i]),
                               sketch.sketch.shapes.col(static_cast<Eigen::Index>(k)));
    }
    const Sample& sample = spoon.sample;
    for (const double load : {0.4 * kExtreme, kExtreme}) {
        const StaticResult result =
            solve_static(sample.model, sample.constraints, load * spoon.lift,
                         {.max_iterations = 400, .tolerance = 1e-5});
        if (result.has_converged()) bends.emplace_back(load, result.u);
        context.done(load < kExtreme ? 0.8 : 0.98);
    }
    return bends;
}

void extreme_bend(Context& context, const Spoon& spoon, const SketchRun& sketch) {
    Section& page = context.section;
    const Sample& sample = spoon.sample;
    page.heading("Extreme bend");
    page.text(
        "The tip is pulled up by a force that keeps its direction, in equilibrium. Loads are "
        "given as the height that a linear body would reach, in lengths of the spoon; angle: "
        "how far the bowl has turned. Full: nonlinear statics of all " +
        cli::grouped(sample.model.num_unknowns()) +
        " unknowns. Subspaces: k = 6 modes with their derivatives, r = 15, as published (a "
        "picture, without numbers), and the six modes alone, with the same nonlinear forces: "
        "they lock at once.");

    const std::vector<std::pair<double, VectorXd>> full_shapes = full_bends(context, spoon, sketch);
    constexpr int kLoads = 40;
    std::vector<double> loads;
    for (int k = 0; k <= kLoads; ++k) loads.push_back(kExtreme * k / kLoads);
    const Eigen::MatrixXd subspaces[] = {
        reduced_equilibria(sample.model, derivative_basis(sample, 15).U, spoon.lift, loads),
        reduced_equilibria(sample.model, sample.modes.shapes, spoon.lift, loads)};
    Plot angles{.title = "Angle of the bowl",
                .x_label = "load (height of a linear body / length)",
                .y_label = "degrees"},
        heights{.title = "Height of the tip",
                .x_label = "load (height of a linear body / length)",
                .y_label = "height / length",
                .y_high = 1};
    const auto add_curve = [&](Series series, auto shape_of, std::size_t count) {
        Series height = series;
        for (std::size_t k = 0; k < count; ++k) {
            const auto& [load, u] = shape_of(k);
            series.points.emplace_back(load, bend_angle(spoon, u));
            height.points.emplace_back(load, tip_height(spoon, u) / kSpoonLength);
        }
        angles.series.push_back(std::move(series));
        heights.series.push_back(std::move(height));
    };
    add_curve(
        {"full", {{0, 0}}, 0, Stroke::LineAndDots}, [&](std::size_t k) { return full_shapes[k]; },
        full_shapes.size());
    const char* names[] = {"derivatives, r = 15", "modes alone, r = 6"};
    for (std::size_t b = 0; b < 2; ++b)
        add_curve(
            {names[b], {}, static_cast<int>(b) + 1},
            [&](std::size_t k) {
                return std::pair(loads[k],
                                 VectorXd(subspaces[b].col(static_cast<Eigen::Index>(k))));
            },
            loads.size());
    heights.series.push_back({"linear", {{0, 0}, {1, 1}}, 3, Stroke::Dashed});
    page.figure({drawn(angles), drawn(heights)},
                "Bend of the spoon against the load. The full body was solved at the dots.");

    const VectorXd& u_full = full_shapes.back().second;
    const VectorXd u_reduced = subspaces[0].col(kLoads), u_modes = subspaces[1].col(kLoads);
    Table table{"bend",
                "Under the strongest pull; at least 60 degrees count as an extreme bend",
                {{"body", "body"}, {"angle_deg", "angle, degrees"}, {"height_mm", "height, mm"}}};
    const auto row = [&](const char* name, const VectorXd& u, const Cell& angle) {
        table.add({name, angle, Cell::number(1e3 * tip_height(spoon, u), "%.1f")});
    };
    row("full", u_full, Cell::number(bend_angle(spoon, u_full), "%.1f"));
    row(names[0], u_reduced,
        page.at_least("spoon bent at r = 15 [degrees]", bend_angle(spoon, u_reduced), 60, "%.1f"));
    row(names[1], u_modes, Cell::number(bend_angle(spoon, u_modes), "%.1f"));
    page.table(table);

    const Picture picture_of(sample.model, context.sized(44, 32));
    const Drawn rest = picture_of.rest(), a = picture_of.at(u_full), b = picture_of.at(u_reduced),
                c = picture_of.at(u_modes);
    const Box box = box_around({rest, a, b, c});
    const View view{.azimuth = -75, .elevation = 12, .width = 310};
    page.figure({picture({rest, a}, box, view, "full"), picture({rest, b}, box, view, names[0]),
                 picture({rest, c}, box, view, names[1])},
                "The spoon under the strongest pull, drawn with coarser cubes; the outline is the "
                "rest shape.");
}

}  // namespace

void run_spoon(Context& context) {
    const Spoon spoon = make_spoon(context);
    const Sample& sample = spoon.sample;
    context.section.text(
        format("A spoon of %g mm, held at the end of its handle: ", 1e3 * kSpoonLength) +
        cli::grouped(sample.model.mesh().num_elements()) + " hollow cubes, " +
        cli::grouped(sample.model.num_nodes()) +
        " vertices (published: 2,005 and 3,698, another spoon). St. Venant–Kirchhoff, Poisson's "
        "ratio 0.4, Young's modulus such that the first mode has " +
        format("%g Hz. ", kFrequency) +
        "The sketch records four strokes at the tip (up, down, sideways, and up at one side), " +
        format("each grows until a linear body would be moved by %g of its length.", kStroke));
    context.done(0.02);
    const SketchRun sketch = run_sketch(sample, sample.model, strokes(spoon, context.sized(25, 16)),
                                        {.load_distance = context.sized(0.13, 0.17),
                                         .shape_distance = 0.05,
                                         .statics = {.max_iterations = 200, .tolerance = 1e-5}});
    context.done(0.5);
    impulses(context, spoon, sketch);
    speed(context, spoon);
    context.done(0.72);
    extreme_bend(context, spoon, sketch);
    context.section.heading("Sketch");
    add_sketch_table(context.section, {353, 45, 45 * 60}, sketch);
    context.done(1);
}

}  // namespace pliant::reproduce
