#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

#include "apps/pliant/output.h"
#include "fem_experiments.h"
#include "mesh_picture.h"
#include "pliant/fem/explicit_scene.h"
#include "pliant/fem/loads.h"
#include "plot.h"
#include "samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kBounceSide = 0.1, kGravity = 9.81, kBounceDensity = 1000;

/// A soft cube above an inclined plane through the origin; downhill is +x.
struct Slope {
    double degrees = 0;
    [[nodiscard]] Eigen::Matrix3d rotation() const {
        return Eigen::AngleAxisd(degrees * std::numbers::pi / 180, Vector3d::UnitY())
            .toRotationMatrix();
    }
    [[nodiscard]] Vector3d normal() const { return rotation().col(2); }
    [[nodiscard]] Vector3d downhill() const { return rotation().col(0); }
};

struct BounceSample {
    double time, along, height, lowest;  ///< of the centre of mass and of the lowest node, metres
    double kinetic, elastic, potential, taken_out;  ///< joules
};
struct BounceRun {
    VolumeMesh mesh;
    std::vector<BounceSample> samples;
    std::vector<VectorXd> frames;
    double normal_impulse = 0, friction_impulse = 0, smallest_det_F = 1;
    double base_speed = 0;  ///< fastest node of the base at the end
    double dt = 0, deepest = 0;
    double contact_loss = 0;  ///< energy that contact took [J]
};

/// A cube of n³ elements, let go at a height of `gap`.
struct Setup {
    int n = 4;
    Slope slope = {};
    double gap = 0, friction = 0.3;
    double viscosity = 0;        ///< kg/(m³ s)
    double duration = 1;         ///< s
    double step_fraction = 0.6;  ///< of the limit
    std::vector<double> frame_times = {};
};

BounceRun run_block(const Setup& setup) {
    const Slope& slope = setup.slope;
    const std::vector<double>& frame_times = setup.frame_times;
    BounceRun run;
    run.mesh = soft_cube(setup.n, kBounceSide);
    for (Vector3d& x : run.mesh.vertices)
        x = slope.rotation() * (x - Vector3d(0.5 * kBounceSide, 0.5 * kBounceSide, -setup.gap));
    Material material = isotropic(2e4, 0.3, kBounceDensity);
    material.viscosity = setup.viscosity;
    const FemModel model(run.mesh, {material}, kPublishedElements);
    std::vector<ExplicitDynamics> bodies;
    bodies.emplace_back(model, Constraints(model.num_nodes()));
    const ExplicitScene scene(std::move(bodies), {RigidShape::half_space(slope.normal())},
                              {.friction = setup.friction});
    const ExplicitDynamics& body = scene.bodies()[0];
    const std::vector<VectorXd> loads{gravity_load(model, {0, 0, -kGravity})};
    const std::vector<RigidMotion> motions(1);
    ExplicitScene::State state = scene.make_state();
    ExplicitScene::Workspace workspace = scene.make_workspace();
    ExplicitDynamics::Workspace energy_workspace = body.make_workspace();
    FemState& s = state.bodies[0];
    body.set_acceleration(s, loads[0], energy_workspace);

    const double dt = setup.step_fraction * scene.stable_step(), mass = body.mass().sum() / 3;
    run.dt = dt;
    const auto record = [&] {
        Vector3d centre = Vector3d::Zero();
        double lowest = 1e9;
        for (int i = 0; i < model.num_nodes(); ++i) {
            const Vector3d x =
                run.mesh.vertices[static_cast<std::size_t>(i)] + s.u.segment<3>(3 * i);
            centre += body.mass()[3 * i] / mass * x;
            lowest = std::min(lowest, slope.normal().dot(x));
        }
        const Energy energy = body.energy(s, energy_workspace);
        run.samples.push_back({s.time, slope.downhill().dot(centre), slope.normal().dot(centre),
                               lowest, energy.kinetic, energy.elastic, -loads[0].dot(s.u),
                               state.work[0].damping_work - state.work[0].contact_work});
    };
    record();
    std::size_t next_frame = 0;
    while (s.time < setup.duration) {
        while (next_frame < frame_times.size() && s.time >= frame_times[next_frame] - 0.5 * dt) {
            run.frames.push_back(s.u);
            ++next_frame;
        }
        const ExplicitScene::Report report = scene.step(state, loads, motions, dt, workspace);
        run.smallest_det_F = std::min(run.smallest_det_F, report.smallest_det_F.value);
        for (const Contact& contact : workspace.contacts()) {
            run.normal_impulse += contact.normal_force * dt;
            run.friction_impulse += -contact.force.dot(slope.downhill()) * dt;
        }
        for (const Contact& contact : workspace.contacts())
            run.deepest = std::max(run.deepest, -contact.gap);
        // the work of a capture is counted one step later, when the velocity has been reset
        if (!state.has_captured) record();
        if (report.status != StepStatus::Ok) break;
    }
    run.contact_loss = -state.work[0].contact_work;
    while (run.frames.size() < frame_times.size()) run.frames.push_back(s.u);
    for (int i = 0; i < model.num_nodes(); ++i) {
        const Vector3d x = run.mesh.vertices[static_cast<std::size_t>(i)];
        if (slope.normal().dot(x) < setup.gap + 1e-9)
            run.base_speed = std::max(run.base_speed, s.v.segment<3>(3 * i).norm());
    }
    return run;
}

std::vector<std::pair<double, double>> curve(const BounceRun& run, double BounceSample::*member,
                                             double scale = 1) {
    std::vector<std::pair<double, double>> points;
    for (const BounceSample& sample : run.samples)
        points.emplace_back(sample.time, scale * sample.*member);
    return points;
}

Plot energy_plot(const BounceRun& run, const std::string& title) {
    Plot plot{.title = title, .x_label = "time, s", .y_label = "energy, J"};
    std::vector<std::pair<double, double>> total;
    for (const BounceSample& s : run.samples)
        total.emplace_back(s.time, s.kinetic + s.elastic + s.potential + s.taken_out);
    plot.series = {{"kinetic", curve(run, &BounceSample::kinetic), 0},
                   {"elastic", curve(run, &BounceSample::elastic), 1},
                   {"of weight", curve(run, &BounceSample::potential), 2},
                   {"taken out by drag and contact", curve(run, &BounceSample::taken_out), 4},
                   {"sum", total, 6, Stroke::Dashed}};
    return plot;
}

/// Change of the sum of all energies until the end, relative to the largest that was in the body.
double energy_error(const BounceRun& run) {
    const auto sum = [](const BounceSample& s) {
        return s.kinetic + s.elastic + s.potential + s.taken_out;
    };
    double scale = 0;
    for (const BounceSample& s : run.samples) scale = std::max(scale, s.kinetic + s.elastic);
    return std::abs(sum(run.samples.back()) - sum(run.samples.front())) / scale;
}

void bounce(Context& context) {
    Section& page = context.section;
    page.heading("Bounce");
    const double gap = 0.03, duration = context.sized(1.0, 0.5);
    const std::vector<double> times{0, 0.078, 0.11, 0.145, 0.2};
    Setup setup{.n = context.sized(6, 4), .gap = gap, .viscosity = 200, .duration = duration};
    setup.frame_times = times;
    const BounceRun run = run_block(setup);
    Plot heights{.title = "Height", .x_label = "time, s", .y_label = "height, cm"};
    heights.series = {{"centre of mass", curve(run, &BounceSample::height, 100), 0},
                      {"lowest node", curve(run, &BounceSample::lowest, 100), 1}};
    heights.guides = {{0, "plane", false}};
    page.text(
        format("A cube of 0.1 m (E = 2e4 Pa, ν = 0.3, drag 200 kg/(m³ s)) falls %.0f cm onto a "
               "plane, with a step of 0.6 of the limit of the contact-free body all along.",
               100 * gap));
    page.figure(
        {drawn(heights), drawn(energy_plot(run, "Energy"))},
        "Height and energy. The dashed sum counts what drag and contact took out. Moments at "
        "which a captured node is inside, one step each, are left out; the table has the "
        "deepest.");
    std::vector<std::string> pictures;
    Box box(Vector3d(-0.08, -0.08, -0.01), Vector3d(0.08, 0.08, 0.135));
    for (std::size_t k = 0; k < times.size(); ++k)
        pictures.push_back(picture(
            {{&run.mesh, run.frames[k]}}, box, {.azimuth = -65, .elevation = 12, .width = 180},
            format("t = %.0f ms", 1e3 * times[k]), {Vector3d::Zero(), Vector3d::UnitZ()}));
    page.figure(pictures,
                "The same rule makes the cube land, spread and leave. Blue is compressed.");
    Table table{"bounce",
                "Bounce",
                {{"quantity", "quantity"}, {"value", "value"}, {"expected", "expected"}}};
    const double one_step = 1e3 * std::sqrt(2 * kGravity * gap) * run.dt;
    table.add({"deepest node, mm, against the way of one step at the speed of impact",
               page.at_most("bounce: deepest node [mm]", 1e3 * run.deepest, 2 * one_step, "%.3f"),
               format("%.2f; at most twice that", one_step)});
    table.add(
        {"smallest det F", Cell::number(run.smallest_det_F, "%.3f"), "above 0.1: no collapse"});
    page.table(table);

    Table balance{
        "energy_balance",
        "Energy that appears or is lost beside the work that is counted, after the whole run, "
        "relative to the largest kinetic and elastic energy",
        {{"step_over_limit", "step / limit"}, {"error", "error"}, {"expected", "expected"}}};
    for (const double fraction : {0.6, 0.3, 0.15}) {
        setup.step_fraction = fraction;
        const double error = energy_error(fraction == 0.6 ? run : run_block(setup));
        balance.add(
            {Cell::number(fraction, "%.2f"),
             fraction > 0.2 ? Cell::number(error, "%.4f")
                            : page.at_most("bounce: energy balance at a quarter of the step", error,
                                           0.02, "%.4f"),
             fraction > 0.2 ? "falls with the square of the step, or faster" : "at most 0.02"});
    }
    page.table(balance);

    Table refined{
        "refinement",
        "The first impact of that fall with finer meshes, without friction and drag: energy "
        "that contact takes, over that of the fall. Small is taken as 5 %",
        {{"n", "elements along a side"},
         {"contact_loss", "taken by contact, %"},
         {"deepest_mm", "deepest node, mm"}}};
    setup.step_fraction = 0.6;
    setup.friction = setup.viscosity = 0;
    setup.duration = 0.2;
    const double fall = kBounceDensity * std::pow(kBounceSide, 3) * kGravity * gap;
    std::vector<double> losses;
    for (const int n : {3, 6, 12}) {
        setup.n = n;
        const BounceRun finer = run_block(setup);
        losses.push_back(finer.contact_loss / fall);
        refined.add({Cell::count(n), Cell::number(100 * losses.back(), "%.2f"),
                     Cell::number(1e3 * finer.deepest, "%.3f")});
    }
    refined.add({"power of the element's size",
                 page.at_least("bounce: loss of energy in contact, power of the element's size",
                               0.5 * std::log2(losses.front() / losses.back()), 0.5, "%.2f"),
                 ""});
    refined.add({"at the finest",
                 page.at_most("bounce: loss of energy in contact at the finest [%]",
                              100 * losses.back(), 5, "%.2f"),
                 ""});
    page.table(refined);
}

void slide_and_stick(Context& context) {
    Section& page = context.section;
    page.heading("Slide and stick");
    const Slope slope{20};
    const double angle = slope.degrees * std::numbers::pi / 180, drag = 1000.0 / kBounceDensity;
    const double duration = 0.6;
    page.text(
        "The same cube on a plane inclined by 20° (tan = 0.364), drag 1000 kg/(m³ s). With "
        "friction 0.2 it must slide with g (sin − μ cos), less drag; with 0.6 it must "
        "not slide: its centre moves only as far as it leans, while nodes of its base that lift "
        "off as it shakes may still be moving at the end.");
    Plot plot{
        .title = "Way of the centre of mass downhill", .x_label = "time, s", .y_label = "way, cm"};
    Table table{"slope",
                "Way downhill after 0.6 s (tolerance 1.5 cm: the soft block leans by about 1 "
                "cm), impulses (tolerance 0.01 where it slides; at rest the tangent of the slope, "
                "not judged), speed of the base at the end",
                {{"friction", "friction"},
                 {"way_cm", "way, cm"},
                 {"theory_cm", "theory"},
                 {"friction_over_normal", "friction / normal impulse"},
                 {"expected_ratio", "expected"},
                 {"base_speed", "fastest base node at the end, m/s"},
                 {"energy_error", "energy balance error"}}};
    std::vector<std::string> pictures;
    std::vector<Plot> energies;
    const Box box(Vector3d(-0.08, -0.08, -0.16), Vector3d(0.37, 0.08, 0.11));
    int color = 0;
    for (const double friction : {0.2, 0.6}) {
        const bool slides = friction < std::tan(angle);
        const BounceRun run = run_block({.n = context.sized(5, 3),
                                         .slope = slope,
                                         .friction = friction,
                                         .viscosity = 1000,
                                         .duration = duration,
                                         .frame_times = {duration}});
        const double push = kGravity * (std::sin(angle) - friction * std::cos(angle));
        const auto way = [&](double t) {
            return slides ? push / drag * (t - (1 - std::exp(-drag * t)) / drag) : 0.0;
        };
        std::vector<std::pair<double, double>> measured, theory;
        for (const BounceSample& s : run.samples) {
            measured.emplace_back(s.time, 100 * (s.along - run.samples.front().along));
            theory.emplace_back(s.time, 100 * way(s.time));
        }
        plot.series.push_back({format("friction %.1f", friction), measured, color});
        plot.series.push_back({slides ? "rigid block" : "", theory, color, Stroke::Dashed});
        ++color;
        const double expected_way = 100 * way(run.samples.back().time),
                     ratio = run.friction_impulse / run.normal_impulse;
        const std::string what = format("slope, friction %.1f: ", friction);
        table.add(
            {Cell::number(friction, "%.1f"),
             page.compared(what + "way [cm]", measured.back().second, expected_way, 1.5, "%.2f"),
             Cell::number(expected_way, "%.2f"),
             slides ? page.compared(what + "friction over normal impulse", ratio, friction, 0.01,
                                    "%.3f")
                    : Cell::number(ratio, "%.3f"),
             Cell::number(slides ? friction : std::tan(angle), "%.3f"),
             Cell::number(run.base_speed, "%.3f"), Cell::number(energy_error(run), "%.4f")});
        pictures.push_back(picture({{&run.mesh, {}, true}, {&run.mesh, run.frames[0]}}, box,
                                   {.azimuth = -80, .elevation = 8, .width = 420},
                                   format("friction %.1f, after %.1f s", friction, duration),
                                   {Vector3d::Zero(), slope.normal()}));
        energies.push_back(energy_plot(run, format("Energy, friction %.1f", friction)));
        context.done(slides ? 0.7 : 1);
    }
    page.figure({drawn(plot), drawn(energies[0])},
                "Way downhill against a rigid block's (dashed), and the energies of the sliding "
                "block. The sticking block leans until friction holds it.");
    page.figure(pictures, "Outline: at the start.");
    page.table(table);
}

}  // namespace

void run_bounce(Context& context) {
    context.section.text(
        "One rule covers bouncing, sliding and sticking: a node that would end a step inside "
        "gets the acceleration that stops its approach, and is held until its force would pull. "
        "Published as animations; here against theory.");
    bounce(context);
    context.done(0.4);
    slide_and_stick(context);
}

}  // namespace pliant::reproduce
