#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "mesh_picture.h"
#include "pliant/core/tick_histogram.h"
#include "pliant/haptics/simulated_device.h"
#include "pliant/haptics/sphere_port.h"
#include "proxy_experiments.h"
#include "proxy_samples.h"
#include "tests/haptics/hand_curtain.h"
#include "tests/haptics/tool_samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;
using test::hand_at;
using test::HandCurtain;
using test::tool_grid;

/// Mean thread CPU times of ticks of a hand of so many spheres, and of all of a step [µs].
struct HandTimes {
    double tick = 0, step = 0;
};
HandTimes time_hand(int spheres, bool is_touching, int ticks) {
    SphereToolOptions options = HandCurtain::hand_options();
    options.is_rigid = spheres == 1;  // nothing to bend
    HandCurtain scene(spheres, options);
    const int free = is_touching ? 400 : 0;  // 0.8 s: deep in the curtain
    for (int k = 0; k < free; ++k) scene.step();
    Pose hand = HandCurtain::pose_at(scene.time());
    if (!is_touching) hand.position.x() -= 2;
    HandTimes mean;
    for (int k = 0; k < ticks; ++k) {
        const double start = thread_cpu_time_us();
        (void)scene.hand().tick(hand);
        mean.tick += (thread_cpu_time_us() - start) / ticks;
        scene.hand().apply_forces();
        (void)scene.curtain().step(HandCurtain::kStep);
        mean.step += (thread_cpu_time_us() - start) / ticks;
    }
    return mean;
}

struct DragRun {
    std::vector<Vector3d> force;  // every millisecond [N]
    double touching = 0;
};

/// A rigid tool of nine spheres slides over a floor along x or y, pressed by 2 mm. `period` 0: one
/// rate.
DragRun slide_tool(int axis, double speed, int period) {
    test::TouchingTool touch(test::block_below(0.3, 0.3), tool_grid(3, 3, 0.5),
                             test::tool_options(true));
    SphereLink link(9);
    SpherePort port(link, touch.tool);
    const auto hand_on_way = [axis](double way, double z) {
        return axis == 0 ? hand_at(way, 0, z) : hand_at(0, way, z);
    };
    touch.tool.reset(hand_on_way(-0.1, 0.02));
    DragRun run;
    for (int ms = 0; ms < 1000; ++ms) {
        const double down = std::min(1.0, ms / 200.0);
        const Pose hand =
            hand_on_way(-0.1 + 1e-3 * speed * std::max(0, ms - 300), 0.02 - 0.018 * down);
        if (period == 0) {
            run.force.push_back(touch.tool.tick(hand).wrench.force);
        } else {
            if (ms % period == 0) {
                (void)touch.tool.tick(hand);
                link.publish(touch.tool, 1e-3 * ms);
            }
            run.force.push_back(port.tick(hand, 1e-3 * ms).wrench.force);
        }
    }
    run.touching = touch.tool.state().num_touching;
    return run;
}

/// Of the last half second.
double mean_drag(const DragRun& run, int axis) {
    double sum = 0;
    for (std::size_t i = 500; i < run.force.size(); ++i) sum -= run.force[i][axis];
    return sum / static_cast<double>(run.force.size() - 500);
}

Series drag_series(const DragRun& run, int axis, const std::string& label, int color) {
    Series series{label, {}, color};
    for (std::size_t i = 0; i < run.force.size(); i += 2)
        series.points.emplace_back(1e-3 * static_cast<double>(i), run.force[i][axis]);
    return series;
}

/// What a hand does to a curtain while one action of the recording lasts.
struct CurtainTouch {
    int steps = 0, touching = 0;
    int touches = 0;  ///< separate ones
};
using CurtainTouches = std::array<CurtainTouch, HandCurtain::kActions.size()>;

std::size_t action_at(double time) {
    std::size_t action = 0;
    while (action + 1 < HandCurtain::kActions.size() &&
           time > HandCurtain::kActions[action].end + 0.5 * HandCurtain::kStep)
        ++action;
    return action;
}

/// A device in a hand that presses a tool by 2 mm on a floor and holds it still there, the force
/// told every `period` ms only, or every millisecond from what a loop of that period tells.
/// Returns how much the handle moves up and down in the last half second [m].
double handle_motion(int period, bool has_two_rates) {
    test::TouchingTool touch(test::block_below(0.3, 0.3), tool_grid(3, 3, 0.5),
                             test::tool_options(true));
    SphereLink link(9);
    SpherePort port(link, touch.tool);
    SimulatedDevice device(DeviceModel{});
    constexpr double kStart = 0.02;
    touch.tool.reset(hand_at(0, 0, kStart));
    double lowest = 1e9, highest = -1e9;
    DeviceCommand command;
    for (int ms = 1; ms <= 2000; ++ms) {
        const double down = std::min(1.0, ms / 200.0);
        device.aim(hand_at(0, 0, -0.018 * down));
        const double height = device.read(1e-3 * ms).pose.position.z();
        const Pose hand = hand_at(0, 0, kStart + height);
        if (ms % period == 0) {
            command.force = touch.tool.tick(hand).wrench.force;
            link.publish(touch.tool, 1e-3 * ms);
        }
        if (has_two_rates) command.force = port.tick(hand, 1e-3 * ms).wrench.force;
        device.write(command);
        if (ms <= 1500) continue;
        lowest = std::min(lowest, height);
        highest = std::max(highest, height);
    }
    return highest - lowest;
}

/// Most spheres behind a thin plate while a tool of 25 is pressed and rocked half over its edge.
int spheres_behind(bool is_rigid, bool has_second_pass) {
    SurfaceMesh plate = test::thin_plate(0.2, 0.001, 10);
    for (Vector3d& v : plate.vertices) v.x() -= 0.1;
    SphereToolOptions options = test::tool_options(is_rigid);
    options.has_second_pass = has_second_pass;
    test::TouchingTool touch(plate, tool_grid(5, 5, is_rigid ? 1.0 : 0.9), options);
    touch.tool.reset(hand_at(0.005, 0, 0.03));
    int most = 0;
    for (int k = 0; k < 200; ++k) {
        const double down = std::min(1.0, k / 60.0);
        (void)touch.tool.tick(
            hand_at(0.005, 0, 0.03 - 0.045 * down, {0, 0.6 * std::sin(0.1 * k) * down, 0}));
        int behind = 0;
        for (int i = 0; i < touch.tool.num_spheres(); ++i) {
            const Vector3d& p = touch.tool.sphere(i).position;
            behind += p.x() < -test::kToolRadius && p.z() < 0;
        }
        most = std::max(most, behind);
    }
    return most;
}

}  // namespace

void run_hand_curtain(Context& context) {
    Section& page = context.section;
    const int spheres = 37, steps = context.sized(1250, 300);
    HandCurtain scene(spheres);
    page.text(format(
        "A deformable hand of %d spheres (2 m, four passes, springs of 20 N/m) taps on, presses, "
        "catches and probes a double-faced curtain of 8 m, 0.2 kg, %s triangles, one particle per "
        "vertex, two "
        "passes; %.1f s, steps of 2 ms. Published on an i5-7300: no force in free air, 45 to 59 "
        "steps a second.",
        spheres, cli::grouped(scene.curtain().surface().num_triangles()).c_str(),
        HandCurtain::kStep * steps));
    std::vector<double> force, torque;
    std::string csv =
        "time_s,hand_x_m,hand_y_m,hand_z_m,turn_w,turn_x,turn_y,turn_z,force_x_n,force_y_n,"
        "force_z_n,torque_x_nm,torque_y_nm,torque_z_nm\n";
    double push = 0, follow = 0, shape = 0, curtain = 0, total = 0, in_air = 0;
    int free = 0;
    bool was_touching = false;
    CurtainTouches touches;
    std::vector<std::string> pictures;
    for (int k = 0; k < steps; ++k) {
        const double before = thread_cpu_time_us();
        scene.step(HandCurtain::recorded_pose(scene.time() + HandCurtain::kStep));
        const double time = thread_cpu_time_us() - before;
        const SphereToolState& state = scene.hand().state();
        total += time / steps;
        push += 1e6 * state.push_time / steps;
        follow += 1e6 * state.follow_time / steps;
        shape += 1e6 * state.shape_time / steps;
        curtain += (time - 1e6 * (state.push_time + state.follow_time + state.shape_time)) / steps;
        force.push_back(state.wrench.force.norm());
        torque.push_back(state.wrench.torque.norm());
        const Vector3d &f = state.wrench.force, &t = state.wrench.torque;
        const Vector3d& d = state.hand.position;
        const Quaternion& q = state.hand.rotation;
        csv += format("%.6g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g", scene.time(), d.x(), d.y(), d.z(),
                      q.w(), q.x(), q.y(), q.z());
        csv += format(",%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n", f.x(), f.y(), f.z(), t.x(), t.y(), t.z());
        CurtainTouch& touch = touches[action_at(scene.time())];
        const bool is_touching = state.num_touching > 0;
        touch.steps += 1;
        touch.touching += is_touching;
        touch.touches += is_touching && !was_touching;
        was_touching = is_touching;
        if (state.num_touching == 0) {
            ++free;
            in_air = std::max(in_air, force.back() + torque.back());
        }
        if (k == 75 || k == 500 || k == 850 || k == 1100)
            pictures.push_back(
                surface_picture(surface_now(scene.curtain()),
                                std::vector<double>(scene.curtain().surface().vertices.size(), 0.0),
                                {.azimuth = 25, .elevation = 12, .width = 224},
                                format("after %.1f s", scene.time())));
        context.done(static_cast<double>(k) / steps);
    }
    const auto over_time = [](const std::vector<double>& values) {
        Series series{"", {}, 0};
        for (std::size_t i = 0; i < values.size(); i += 2)
            series.points.emplace_back(HandCurtain::kStep * static_cast<double>(i), values[i]);
        return series;
    };
    page.figure({drawn({.title = "Size of the force",
                        .x_label = "time, s",
                        .y_label = "force, N",
                        .series = {over_time(force)}}),
                 drawn({.title = "Size of the torque",
                        .x_label = "time, s",
                        .y_label = "torque, N m",
                        .series = {over_time(torque)}})},
                "What the hand feels about its middle: all spheres, every second step.");
    page.figure(pictures, "The curtain without the hand, seen from the other side.");
    Table phases{"hand_curtain_phases",
                 "Mean time of a step, ms",
                 {{"phase", "phase"}, {"published_ms", "published"}, {"ms", "here"}}};
    const auto add = [&](const char* name, const char* published, double us) {
        phases.add({name, published, Cell::number(1e-3 * us, "%.3f")});
    };
    add("curtain (with its forces)", "PBD of both: 4", curtain);
    add("CCD and pop-out, skinning included", "3", push);
    add("first pass of the proxies", "both: 8 to 12", follow);
    add("shape and second pass", "–", shape);
    page.table(phases);
    Table table{"hand_curtain",
                "The recording",
                {{"steps", "steps a second"},
                 {"published", "published"},
                 {"free", "steps in free air"},
                 {"in_air", "largest force or torque there, N, N m"},
                 {"highest", "highest force, N"}}};
    table.add({context.is_quick
                   ? Cell::number(1e6 / total, "%.0f")
                   : page.at_least("steps a second, hand on curtain", 1e6 / total, 500, "%.0f"),
               "45 to 59", Cell::count(free),
               page.at_most("force of the hand in free air", in_air, 0, "%.3g"),
               Cell::number(*std::max_element(force.begin(), force.end()), "%.2f")});
    page.table(table);
    Table actions{"hand_curtain_actions",
                  "What the hand does",
                  {{"action", "action"},
                   {"until", "until, s"},
                   {"touches", "separate touches"},
                   {"share", "share of its steps in contact"}}};
    for (std::size_t i = 0; i < touches.size(); ++i) {
        const HandCurtain::Action& action = HandCurtain::kActions[i];
        const CurtainTouch& touch = touches[i];
        if (touch.steps == 0) continue;
        actions.add({action.name, Cell::number(action.end, "%.1f"),
                     i == 0 ? page.compared("touches of the hand that taps twice", touch.touches, 2,
                                            0, "%.0f")
                            : Cell::count(touch.touches),
                     Cell::number(touch.touching / (1.0 * touch.steps), "%.2f")});
    }
    page.table(actions);
    page.log("curtain", csv);
}

void run_proxy_counts(Context& context) {
    Section& page = context.section;
    page.text(
        "The same hand with 1 to 50 spheres, 2.5 m away from the curtain and deep in it: mean "
        "time of its tick (the proxies), skinning of the curtain included, and of the whole step "
        "of the simulation with it. Published as curves on an i5-7300.");
    Table table{"proxies",
                "Mean time of a step, ms",
                {{"spheres", "spheres"},
                 {"free_ms", "tick in free air"},
                 {"free_step_ms", "simulation in free air"},
                 {"held_ms", "tick in contact"},
                 {"held_step_ms", "simulation in contact"},
                 {"each_us", "tick in contact, µs for each sphere"}}};
    Series free{"tick in free air", {}, 0, Stroke::LineAndDots},
        held{"tick in contact", {}, 1, Stroke::LineAndDots},
        free_step{"simulation in free air", {}, 2, Stroke::LineAndDots},
        held_step{"simulation in contact", {}, 3, Stroke::LineAndDots};
    const int ticks = context.sized(200, 20);
    const std::vector<int> counts =
        context.sized(std::vector<int>{1, 2, 5, 10, 20, 37, 50}, std::vector<int>{1, 10, 37});
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const int n = counts[i];
        const HandTimes f = time_hand(n, false, ticks), h = time_hand(n, true, ticks);
        const auto ms = [](double us) { return Cell::number(1e-3 * us, "%.3f"); };
        table.add({Cell::count(n), ms(f.tick), ms(f.step), ms(h.tick), ms(h.step),
                   Cell::number(h.tick / n, "%.1f")});
        free.points.emplace_back(n, 1e-3 * f.tick);
        held.points.emplace_back(n, 1e-3 * h.tick);
        free_step.points.emplace_back(n, 1e-3 * f.step);
        held_step.points.emplace_back(n, 1e-3 * h.step);
        context.done(static_cast<double>(i + 1) / static_cast<double>(counts.size()));
    }
    page.figure({drawn({.title = "Tick of the hand and step of the simulation",
                        .x_label = "spheres",
                        .y_label = "time, ms",
                        .series = {free, held, free_step, held_step}})},
                "Means of the table below, here only; one sphere is a rigid tool.");
    page.table(table);
}

void run_tool_drag(Context& context) {
    Section& page = context.section;
    page.text(
        "A rigid tool of nine spheres slides along a floor, in x and in y, pressed by 2 mm, once "
        "with its whole tick at 1 kHz and once with a loop of 20 and 40 ms that tells the haptic "
        "thread where spheres are: their age T, half a period on average, is felt as drag "
        "k |C|/N v T (k: spring of 500 N/m, |C|/N: share of the spheres that touch, v: speed). "
        "Published as curves: force along the floor only with two rates, in proportion to the "
        "computing time.");
    Table table{"drag",
                "Mean force against the motion",
                {{"direction", "along"},
                 {"rate", "rates"},
                 {"speed", "speed, m/s"},
                 {"drag_n", "drag, N"},
                 {"model_n", "k |C|/N v T, N"},
                 {"ratio", "ratio"}}};
    std::vector<std::string> plots;
    std::string csv = "along,period_ms,speed_m_s,time_s,force_x_n,force_y_n,force_z_n\n";
    for (const int axis : {0, 1}) {
        const char* const along = axis == 0 ? "x" : "y";
        Plot drags{.title = format("Force along %s, 0.1 m/s", along),
                   .x_label = "time, s",
                   .y_label = "force, N"};
        Plot up{.title = format("Force upwards, sliding along %s", along),
                .x_label = "time, s",
                .y_label = "force, N"};
        for (const double speed : {0.05, 0.1, 0.2})
            for (const int period : {0, 20, 40}) {
                const DragRun run = slide_tool(axis, speed, period);
                const std::string name = period == 0 ? "one" : format("two, %d ms", period);
                // ages from 0 to period − 1 ms
                const double model =
                    500 * run.touching / 9 * speed * 0.5e-3 * std::max(0, period - 1);
                const double drag = mean_drag(run, axis);
                table.add({along, name, Cell::number(speed, "%.2f"),
                           period == 0
                               ? page.at_most(format("drag of one rate along %s at %.2f m/s [N]",
                                                     along, speed),
                                              std::abs(drag), 1e-6, "%.4f")
                               : Cell::number(drag, "%.4f"),
                           Cell::number(model, "%.4f"),
                           period == 0 ? Cell("–")
                                       : page.compared(format("drag over its model, %s, along %s, "
                                                              "%.2f m/s",
                                                              name.c_str(), along, speed),
                                                       drag / model, 1, 0.2, "%.3f")});
                for (std::size_t i = 0; i < run.force.size(); ++i) {
                    const Vector3d& f = run.force[i];
                    csv += format("%s,%d,%g,%.3f,%.9g,%.9g,%.9g\n", along, period, speed,
                                  1e-3 * static_cast<double>(i), f.x(), f.y(), f.z());
                }
                if (speed == 0.1) {
                    drags.series.push_back(drag_series(run, axis, name, period / 20));
                    up.series.push_back(drag_series(run, 2, name, period / 20));
                }
            }
        plots.push_back(drawn(drags));
        plots.push_back(drawn(up));
    }
    page.figure(
        plots,
        "Force on the hand at 0.1 m/s, which slides from 0.3 s on: drag is below 0. One rate, "
        "and two with a period of 20 and of 40 ms.");
    page.table(table);
    Table motion{
        "handle_motion",
        "A handle in a hand, pressed by 2 mm and held still: how much it moves up and down",
        {{"period_ms", "time of the dynamics, ms"},
         {"one_mm", "one rate, mm"},
         {"two_mm", "two rates, mm"}}};
    for (const int period : {1, 20, 40}) {
        const double one = 1e3 * handle_motion(period, false),
                     two = 1e3 * handle_motion(period, true);
        motion.add({Cell::count(period), Cell::number(one, "%.3f"), Cell::number(two, "%.3f")});
        if (period > 1)
            (void)page.at_least(format("motion of the handle at one rate over that at two, "
                                       "dynamics of %d ms",
                                       period),
                                one / two, 2, "%.1f");
    }
    page.text(
        "The first table sets the drag beside the formula that describes it: it shows that what "
        "two rates add is the age of what they tell, and nothing else. What two rates are for is "
        "in the second one. Published: without them the drag is gone and the hand moves more.");
    page.table(motion);
    page.log("drag", csv);
    context.done(1);
}

void run_tool_limits(Context& context) {
    Section& page = context.section;
    page.text(
        "A tool of 25 spheres is pressed and rocked half over the edge of a plate of 1 mm. Shape "
        "matching knows nothing of surfaces: without the second pass of the proxies it takes "
        "spheres through. Reference, rigid tool: 10 spheres without, none with it.");
    Table table{"tunnelling",
                "Most spheres behind the plate at once",
                {{"tool", "tool"}, {"without", "one pass"}, {"with", "two passes"}}};
    for (const bool is_rigid : {true, false}) {
        const char* name = is_rigid ? "rigid" : "bends";
        table.add({name,
                   page.at_least(format("spheres through the plate, one pass, %s", name),
                                 spheres_behind(is_rigid, false), 1, "%.0f"),
                   page.at_most(format("spheres through the plate, two passes, %s", name),
                                spheres_behind(is_rigid, true), 0, "%.0f")});
    }
    page.table(table);

    page.text(
        "Spheres of radius 4 mm, 10 mm apart, go down over a ball in the middle between four of "
        "them. What is smaller than the gap passes through the tool without being felt: the "
        "published limitation, which more or larger spheres push back.");
    Table gaps{"gaps",
               "A ball between the spheres of a tool",
               {{"ball_mm", "radius of the ball, mm"},
                {"gap_mm", "radius of the gap, mm"},
                {"force_n", "highest force on the way, N"}}};
    const double gap = std::sqrt(0.5) * test::kToolSpacing - test::kToolRadius;
    for (const double radius : {1e-3, 2e-3, 3e-3, 4e-3, 8e-3}) {
        test::TouchingTool touch(test::bumpy_ball(radius, 0, 12, 1), tool_grid(4, 4, 1.0),
                                 test::tool_options(true));
        touch.tool.reset(hand_at(0, 0, 0.03));
        double force = 0;
        for (int k = 0; k <= 200; ++k)
            force = std::max(force,
                             touch.tool.tick(hand_at(0, 0, 0.03 - 2e-4 * k)).wrench.force.norm());
        const bool passes = radius < gap;
        gaps.add({Cell::number(1e3 * radius, "%.0f"), Cell::number(1e3 * gap, "%.2f"),
                  passes ? page.at_most(format("force of a ball of %.0f mm in a gap", 1e3 * radius),
                                        force, 0, "%.3f")
                         : page.at_least(format("force of a ball of %.0f mm", 1e3 * radius), force,
                                         1e-3, "%.3f")});
    }
    page.table(gaps);
    context.done(1);
}

}  // namespace pliant::reproduce
