#include "haptics_experiments.h"

#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "mesh_picture.h"
#include "pliant/core/tick_histogram.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/haptics/fem_haptic_port.h"
#include "pliant/haptics/fem_haptic_tool.h"
#include "pliant/haptics/simulated_device.h"
#include "plot.h"
#include "samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

constexpr double kBarLength = 0.4, kBarSide = 0.1, kBarModulus = 1e5;
constexpr double kHandTick = 1e-3, kBarStep = 2e-3;
constexpr double kHandScale = 0.5;  ///< handle travel over travel in the scene
constexpr double kPressed = 0.09;   ///< way of the hand, in the scene [m]
constexpr double kStopped = 3, kResumed = 3.3, kJudged = 1.5;

/// What each tick showed.
struct HandSample {
    double time, hand, tool;  ///< heights over the start [m]
    double force, contact;    ///< at the handle, and of the simulator's newest step [N]
};
struct HandRun {
    std::vector<HandSample> samples;
    VolumeMesh mesh;
    Eigen::VectorXd bent;
    double level = 0;  ///< worst window above 15 Hz, hand still [N]
    bool is_calm = false;
    double force = 0, deflection = 0;  ///< hand still, mean and last
    double lag = 0;                    ///< of what the hand feels, hand still, mean [s]
    double margin = 0;                 ///< least W − S [J]
    double gain = 1;                   ///< least, of back-off
    double depth = 0;                  ///< deepest node [m]
    double tick_us = 0, step_us = 0;   ///< medians of thread CPU time
    int contacts = 0;
};

/// Palm, three fingers and thumb, above the free end of the bar.
std::vector<std::unique_ptr<RigidBody>> virtual_hand() {
    std::vector<std::unique_ptr<RigidBody>> proxies;
    const double z = kBarSide / 2 + 0.004;
    const auto add = [&](const RigidShape& shape, const Vector3d& at, const Vector3d& turn) {
        RigidBodyOptions options;
        options.pose = {at, rotation_from_vector(turn)};
        const VolumeMesh cube = hex_box(1, 1, 1, Box(Vector3d::Zero(), Vector3d::Ones()));
        proxies.push_back(std::make_unique<RigidBody>(
            shape, SurfaceMesh{cube.vertices, boundary_triangles(cube)}, options));
    };
    const Vector3d along_y(1.5707963267948966, 0, 0);
    add(RigidShape::box({0.03, 0.04, 0.012}), {kBarLength - 0.04, 0, z + 0.012}, Vector3d::Zero());
    for (const double x : {-0.022, 0.0, 0.022})
        add(RigidShape::capsule(0.009, 0.03), {kBarLength - 0.04 + x, 0.06, z + 0.012}, along_y);
    add(RigidShape::sphere(0.012), {kBarLength - 0.085, 0.01, z + 0.012}, Vector3d::Zero());
    return proxies;
}

/// Down within a second, then still.
Pose hand_target(double time) {
    const double s = std::clamp((time - 0.5) / 0.8, 0.0, 1.0);
    Pose target;
    target.position.z() = -kHandScale * kPressed * s * s * (3 - 2 * s);
    return target;
}

HandRun press_bar(FemCoupling coupling, const HandModel& hand, int cells, double seconds) {
    HandRun run;
    run.mesh = hex_box(4 * cells, cells, cells,
                       Box(Vector3d(0, -kBarSide / 2, -kBarSide / 2),
                           Vector3d(kBarLength, kBarSide / 2, kBarSide / 2)));
    const auto proxies = virtual_hand();
    std::vector<RigidBody*> obstacles;
    for (const auto& p : proxies) obstacles.push_back(p.get());
    Material material = isotropic(kBarModulus, 0.3, 1000);
    material.viscosity = 4000;
    FemBodyOptions body_options;
    body_options.fixed = "x < 1 %";
    body_options.elements = kPublishedElements.elements;
    FemBody bar(run.mesh, {material}, {}, obstacles, body_options);

    SimulatedDevice device({}, hand);
    FemHapticPortOptions port_options;
    port_options.workspace.scale = kHandScale;
    const CouplingGains gains = derive_gains(device.capabilities(), {.rate = 1 / kHandTick,
                                                                     .scale = kHandScale,
                                                                     .cell = 2e-3,
                                                                     .gyration = 0.03,
                                                                     .bounding = 0.08});
    FemHapticToolOptions tool_options;
    tool_options.coupling = coupling;
    FemHapticLink link;
    FemHapticTool tool(link, obstacles, {&bar}, tool_options);
    FemHapticPort port(device, link, gains, port_options);

    const double start = tool.last().tool.position.z();
    OscillationMeter meter;
    TickHistogram ticks, steps;
    double sim_time = 0;
    int num_still = 0;
    for (int k = 1; k * kHandTick <= seconds; ++k) {
        const double now = k * kHandTick;
        device.aim(hand_target(now));
        double begun = thread_cpu_time_us();
        const HapticTick& t = port.tick(now, kHandTick);
        ticks.record(thread_cpu_time_us() - begun);
        const bool is_stopped = now >= kStopped && now < kResumed;
        if (is_stopped) sim_time = now;
        while (!is_stopped && sim_time < now + 1e-9) {
            begun = thread_cpu_time_us();
            static_cast<void>(tool.begin_step(sim_time, kBarStep));
            for (const auto& p : proxies) static_cast<void>(p->step(kBarStep));
            static_cast<void>(bar.step(kBarStep));
            tool.end_step();
            steps.record(thread_cpu_time_us() - begun);
            sim_time += kBarStep;
        }
        // in its first tick the port knows no step yet
        if (k > 1)
            run.samples.push_back({now, t.manipulandum.position.z() - start,
                                   t.tool.position.z() - start, t.command.force.z(),
                                   tool.last().contact.force.z()});
        run.gain = std::min(run.gain, t.gain_scale);
        run.depth = std::max(run.depth, t.depth);
        if (now < kJudged || now >= kStopped) continue;
        run.force += t.contact.force.z();
        run.bent = bar.state().u;
        run.margin = port.port().least_margin();
        run.lag += port.steps().lag();
        ++num_still;
        run.contacts = t.num_contacts;
        const int before = meter.num_windows();
        meter.record({t.command.force, t.command.torque});
        if (meter.num_windows() == before) continue;
        run.level = std::max(run.level, meter.level().force);
    }
    run.force /= num_still;
    run.lag /= num_still;
    run.is_calm = !meter.is_oscillating() && run.level <= meter.options().force_limit;
    // of the axis under the palm
    const Vector3d place(kBarLength - 0.04, 0, 0);
    int nearest = 0;
    for (int v = 0; v < run.mesh.num_vertices(); ++v) {
        const auto& x = run.mesh.vertices;
        if ((x[static_cast<std::size_t>(v)] - place).norm() <
            (x[static_cast<std::size_t>(nearest)] - place).norm())
            nearest = v;
    }
    run.deflection = -run.bent[3 * nearest + 2];
    run.tick_us = ticks.summary().p50_us;
    run.step_us = steps.summary().p50_us;
    return run;
}

Series series_of(const HandRun& run, const char* label, int color, double from, double to,
                 double HandSample::*value, double factor, Stroke stroke = Stroke::Line) {
    Series series{label, {}, color, stroke};
    for (const HandSample& s : run.samples)
        if (s.time >= from && s.time <= to) series.points.emplace_back(s.time, factor * (s.*value));
    return series;
}

}  // namespace

void run_virtual_hand(Context& context) {
    Section& page = context.section;
    page.text(
        "A hand of a palm, three fingers and a thumb (a box, three capsules and a sphere that move "
        "as one piece) presses the free end of a soft cantilever of 0.4 × 0.1 × 0.1 m, E = 1e5 Pa, "
        "full finite elements. The simulator makes 500 steps a second, the simulated device 1000; "
        "what the hand feels is interpolated between the last two steps, one step late. Published "
        "is a tool that is where the hand is (kinematic) and feels that force; the dynamic tool, a "
        "mass on a spring, is ours. Both are judged. Handle "
        "travel is half of that in the scene. From 3 s to 3.3 s the simulator is stopped: the "
        "watchdog takes the force away and brings it back.");
    const int cells = context.sized(6, 4);
    struct Case {
        const char *coupling, *hand;
        FemCoupling mode;
        HandModel model;
    };
    const Case cases[] = {{"dynamic", "loose", FemCoupling::Dynamic, HandModel::loose()},
                          {"dynamic", "firm", FemCoupling::Dynamic, HandModel::firm()},
                          {"kinematic", "loose", FemCoupling::Kinematic, HandModel::loose()},
                          {"kinematic", "firm", FemCoupling::Kinematic, HandModel::firm()}};
    Table table{"virtual_hand",
                "Held still after the press; the criterion is docs/haptics.md eq. (24), W − S what "
                "the hand put in less what springs hold, eq. (21)",
                {{"coupling", "coupling"},
                 {"hand", "hand"},
                 {"force_N", "force, N"},
                 {"stiffness", "force/deflection, N/m"},
                 {"level_N", "above 15 Hz, N"},
                 {"calm", "criterion (24)"},
                 {"lag_ms", "force is late by, ms"},
                 {"gain", "force left by back-off"},
                 {"margin_mJ", "least W − S, mJ"},
                 {"contacts", "contacts"},
                 {"depth_um", "deepest node, µm"},
                 {"tick_us", "haptic tick, µs"},
                 {"step_us", "step, µs"}}};
    std::vector<HandRun> runs;
    for (const Case& c : cases) {
        runs.push_back(press_bar(c.mode, c.model, cells, 4.5));
        const HandRun& run = runs.back();
        const std::string what = format("%s, %s hand", c.coupling, c.hand);
        table.add({c.coupling, c.hand, Cell::number(run.force, "%.3f"),
                   Cell::number(run.force / run.deflection, "%.1f"),
                   page.at_most(what + ": force above 15 Hz, N", run.level, 0.03, "%.4f"),
                   run.is_calm ? "holds" : "fails", Cell::number(1e3 * run.lag, "%.2f"),
                   Cell::number(run.gain, "%.2f"),
                   page.at_least(what + ": W − S, mJ", 1e3 * run.margin, -0.2, "%.3g"),
                   Cell::count(run.contacts), Cell::number(1e6 * run.depth, "%.0f"),
                   Cell::number(run.tick_us, "%.2f"), Cell::number(run.step_us, "%.0f")});
        context.done(0.24 * static_cast<double>(runs.size()));
    }
    page.table(table);
    const HandRun& shown = runs[1];
    const HandRun& stiff = runs[3];
    double first = 0;
    for (const HandSample& s : stiff.samples)
        if (first == 0 && s.contact > 0) first = s.time;
    page.figure(
        {drawn({.title = "First touch, kinematic tool, firm hand",
                .x_label = "time, s",
                .y_label = "force, N",
                .series = {series_of(stiff, "at the end of the newest step", 1, first - 0.01,
                                     first + 0.06, &HandSample::contact, 1, Stroke::Dots),
                           series_of(stiff, "at the handle", 0, first - 0.01, first + 0.06,
                                     &HandSample::force, 1)}}),
         drawn({.title = "Press, hold, stopped simulator, firm hand",
                .x_label = "time, s",
                .y_label = "force at the handle, N",
                .series = {series_of(shown, "dynamic tool", 0, 0, 4.5, &HandSample::force, 1)},
                .guides = {{kStopped, "stopped", true}, {kResumed, "", true}}}),
         drawn({.title = "Hand and tool",
                .x_label = "time, s",
                .y_label = "height, mm",
                .series = {series_of(shown, "hand", 1, 0, 4.5, &HandSample::hand, 1e3),
                           series_of(shown, "tool", 0, 0, 4.5, &HandSample::tool, 1e3)}})},
        "What is shown is continuous, one step late and no more than the device has, 8.5 N; the "
        "contact force comes from the constraint, so that nodes rest on the hand without springs "
        "between them. Between the dotted lines the simulator is stopped.");
    const std::vector<Drawn> bodies{{&shown.mesh, {}, true}, {&shown.mesh, shown.bent, false}};
    page.figure({picture(bodies, box_around(bodies), {.width = 360}, "cantilever under the hand")},
                "The bar as it is held, and at rest.");
    // F/w = 3 E I/a³ at the distance a, with shear 1/(κ G A), κ = 5/6
    const double a = kBarLength - 0.04, inertia = std::pow(kBarSide, 4) / 12;
    const double shear = kBarModulus / 2.6 * kBarSide * kBarSide * 5 / 6;
    const double beam = 1 / (a * a * a / (3 * kBarModulus * inertia) + a / shear);
    page.text(
        format("The theory of thin beams with shear gives %.1f N/m for a force under the "
               "palm and small deflections. A kinematic tool has the mass of the bar in the hand, "
               "several steps late: it bounces, and back-off takes most of the force away. The "
               "springs of a dynamic tool are as fast as the device.",
               beam));
}

}  // namespace pliant::reproduce
