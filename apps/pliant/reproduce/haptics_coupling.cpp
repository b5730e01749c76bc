#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "haptics/coupling_samples.h"
#include "haptics_experiments.h"
#include "haptics_samples.h"
#include "pliant/field/analytic_field.h"
#include "pliant/haptics/dynamic_coupling.h"
#include "pliant/haptics/oscillation.h"
#include "plot.h"
#include "samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

/// The box of 4 cm that all couplings hold.
test::ToolShape held_box() {
    test::ToolShape shape;
    shape.add_box({0.02, 0.02, 0.02}, 2e-3);
    return shape;
}

struct BareRun {
    double air = 0;    ///< root mean square of the force felt in the air [N]
    double rest = 0;   ///< above 15 Hz at rest in contact, docs/haptics.md eq. (24) [N]
    double jump = 0;   ///< largest change of the force in a tick of rest [N]
    double depth = 0;  ///< largest [m]
    double cycle_us = 0;
    std::vector<double> force;
};

/// Device, hand and coupling without anything that helps: a second in the air at 50 mm/s, down on
/// a plane at 0.2 m/s and 10 mm into it, then still.
template <class Coupling>
BareRun hold_bare(Coupling coupling, const CouplingGains& gains) {
    const test::ToolShape shape = held_box();
    ContactLoadOptions loads;
    loads.stiffness = gains.contact_stiffness;
    test::ToolScene scene(shape, plane_set_field({FieldPlane{}}), loads);
    SimulatedDevice device(DeviceModel{});
    WorkspaceMap map(device.capabilities());
    const Pose start{Vector3d(0, 0, 0.04), Quaternion::Identity()};
    map.place(start, device.read(0));
    coupling.place(start);
    OscillationMeter meter;
    BareRun run;
    double air = 0, last = 0;
    constexpr int kAir = 1000, kTicks = 3500, kStill = 2500;
    for (int k = 1; k <= kTicks; ++k) {
        const double time = kHapticStep * k;
        const double aside = 0.05 * std::min(time, 1.0);
        const double down = std::clamp(0.2 * (time - 1.0), 0.0, 0.03);
        device.aim({Vector3d(aside, 0, -down), Quaternion::Identity()});
        const Pose hand = map.update(device.read(time), kHapticStep);
        const ToolContact contact = scene.contact(coupling.pose());
        run.depth = std::max(run.depth, scene.depth());
        if (k == kTicks)
            run.cycle_us = best_time_us(
                [&] {
                    Coupling copy = coupling;
                    static_cast<void>(copy.update(hand, contact, kHapticStep));
                },
                2000);
        static_cast<void>(coupling.update(hand, contact, kHapticStep));
        const DeviceCommand command = map.to_device(coupling.rendered(hand));
        device.write(command);
        const double force = command.force.norm();
        run.force.push_back(force);
        if (k > 100 && k <= kAir) air += command.force.squaredNorm();
        if (k > kStill) {
            meter.record({command.force, command.torque});
            run.rest = std::max(run.rest, meter.level().force);
            run.jump = std::max(run.jump, std::abs(force - last));
        }
        last = force;
    }
    run.air = std::sqrt(air / (kAir - 100));
    return run;
}

// ---- ways to solve ----

struct SolveScene {
    std::string name;
    test::ToolShape tool;
    FieldPointer field;
    Pose (*hand)(double time);
    Pose (*expected)(double time);  ///< where the tool should be, free directions
    Vector3d free;                  ///< of shifts, 1 for axes that contact leaves free
};

FieldPointer solid_beyond(double half, std::initializer_list<int> axes) {
    std::vector<FieldPointer> parts;
    for (const int axis : axes)
        for (const double side : {-1.0, 1.0})
            parts.push_back(plane_set_field({{side * Vector3d::Unit(axis), -half}}));
    return unite_fields(parts);
}

std::vector<SolveScene> solve_scenes() {
    std::vector<SolveScene> scenes;
    test::ToolShape small;
    small.add_sphere(0.01, 500);
    const FieldPointer floor = plane_set_field({FieldPlane{}});
    scenes.push_back({"free space, hand 150 mm ahead at 0.3 m/s",
                      small,
                      floor,
                      [](double t) {
                          return Pose{{0.15 + 0.3 * t, 0, 1}, Quaternion::Identity()};
                      },
                      [](double t) {
                          return Pose{{0.15 + 0.3 * t, 0, 1}, Quaternion::Identity()};
                      },
                      {1, 1, 1}});
    test::ToolShape box;
    box.add_box({0.01, 0.01, 0.02}, 2e-3);
    scenes.push_back(
        {"box in a shaft, 300 mm into a corner, pulled along",
         box,
         solid_beyond(0.0102, {0, 1}),
         [](double t) {
             return Pose{{0.3, 0.3, 0.2 * std::max(0.0, t - 0.3)}, rotation_from_vector({0, 0, 1})};
         },
         [](double t) {
             return Pose{{0, 0, 0.2 * std::max(0.0, t - 0.3)}, Quaternion::Identity()};
         },
         {0, 0, 1}});
    test::ToolShape ball;
    ball.add_sphere(0.01, 4000);
    scenes.push_back({"sphere in a tube, 200 mm into it, pulled along",
                      ball,
                      invert_field(capsule_field(0.0102, 1.0)),
                      [](double t) {
                          return Pose{{0.2, 0, 0.1 * t}, rotation_from_vector({0, 0, 2.5 * t})};
                      },
                      [](double t) {
                          return Pose{{0, 0, 0.1 * t}, rotation_from_vector({0, 0, 2.5 * t})};
                      },
                      {0, 0, 1}});
    test::ToolShape plate;
    plate.add_box({0.03, 0.03, 0.002}, 2e-3);
    scenes.push_back({"plate in a slot, 200 mm into it and turned, pulled along",
                      plate,
                      solid_beyond(0.0021, {2}),
                      [](double t) {
                          return Pose{{0.1 * t, 0, 0.2}, rotation_from_vector({0, 0.9, 0})};
                      },
                      [](double t) {
                          return Pose{{0.1 * t, 0, 0}, Quaternion::Identity()};
                      },
                      {1, 1, 0}});
    return scenes;
}

struct SolveRun {
    double depth = 0, lag = 0, shake = 0, cycle_us = 0;
    int most_degenerate = 0;
};

SolveRun run_solve(const SolveScene& scene, CouplingSolve solve) {
    const CouplingGains gains = derive_gains(
        test::sample_device(),
        {.cell = 2e-3, .gyration = scene.tool.gyration(), .bounding = 1.001 * scene.tool.reach()});
    ContactLoadOptions loads;
    loads.stiffness = gains.contact_stiffness;
    test::ToolScene contact(scene.tool, scene.field, loads);
    StaticCoupling coupling(gains, {.solve = solve});
    coupling.place(
        {scene.expected(0).position.cwiseProduct(Vector3d(0, 0, 1)), Quaternion::Identity()});
    SolveRun run;
    Vector3d last_step = Vector3d::Zero(), last = coupling.pose().position;
    double shake = 0;
    constexpr int kTicks = 1200, kJudged = 400;
    for (int k = 0; k < kTicks; ++k) {
        const Pose hand = scene.hand(kHapticStep * k);
        const ToolContact& touch = contact.contact(coupling.pose());
        if (k > 100) run.depth = std::max(run.depth, contact.depth());
        if (k % 100 == 50) {
            const double us = best_time_us(
                [&] {
                    StaticCoupling copy = coupling;
                    static_cast<void>(copy.update(hand, touch, kHapticStep));
                },
                500);
            run.cycle_us = std::max(run.cycle_us, us);
        }
        static_cast<void>(coupling.update(hand, touch, kHapticStep));
        run.most_degenerate = std::max(run.most_degenerate, coupling.report().num_degenerate);
        const Vector3d step = coupling.pose().position - last;
        if (k >= kTicks - kJudged) shake += (step - last_step).squaredNorm() / kJudged;
        last_step = step;
        last = coupling.pose().position;
    }
    const Pose wanted = scene.expected(kHapticStep * (kTicks - 1));
    run.lag = (last - wanted.position).cwiseProduct(scene.free).norm();
    run.shake = std::sqrt(shake);
    return run;
}

}  // namespace

void run_couplings(Context& context) {
    Section& page = context.section;
    const test::ToolShape shape = held_box();
    SimulatedDevice device{DeviceModel{}};
    const CouplingGains gains =
        derive_gains(device.capabilities(),
                     {.cell = 1e-3, .gyration = shape.gyration(), .bounding = shape.reach()});
    page.text(format(
        "A box of 4 cm in a simulated hand (300 N/m, 2 N s/m; device of 0.1 kg, encoders of 20 µm, "
        "one sample of delay) moves through the air for a second, goes down on a plane and rests "
        "on it, pressed by the hand. Springs of %.0f N/m, contact of %.0f N/m per point. Couplings "
        "alone: no damping injection, back-off or passivity controller. Published: the dynamic "
        "coupling needs a mass, a damping and the hand's velocity, and its noise led to the static "
        "one; no numbers.",
        gains.stiffness, gains.contact_stiffness));
    DynamicCouplingOptions heavy, silent;
    heavy.mass = 0.5;
    silent.is_silent_in_free_space = true;
    struct Row {
        std::string name;
        BareRun run;
    };
    const std::vector<Row> rows = {
        {"static", hold_bare(StaticCoupling(gains), gains)},
        {"dynamic, 50 g", hold_bare(DynamicCoupling(gains), gains)},
        {"dynamic, 500 g", hold_bare(DynamicCoupling(gains, heavy), gains)},
        {"dynamic, silent in the air", hold_bare(DynamicCoupling(gains, silent), gains)},
        {"direct", hold_bare(DirectRendering(gains), gains)}};
    Table table{"couplings",
                "What is felt; the criterion of rest is 0.03 N",
                {{"coupling", "coupling"},
                 {"air_n", "in the air, rms, N"},
                 {"rest_n", "at rest above 15 Hz, rms, N"},
                 {"jump_n", "largest jump at rest, N"},
                 {"depth_share", "deepest / bound"},
                 {"cycle_us", "cycle, µs"}}};
    Plot plot{.title = "Force felt", .x_label = "time, s", .y_label = "force, N"};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const BareRun& run = rows[i].run;
        const double share = run.depth / gains.max_depth;
        table.add(
            {rows[i].name, Cell::number(run.air, "%.4f"),
             i == 0   ? page.at_most("static coupling at rest", run.rest, 0.03, "%.4f")
             : i == 1 ? page.at_least("dynamic coupling of 50 g at rest", run.rest, 0.03, "%.4f")
                      : Cell::number(run.rest, "%.4f"),
             Cell::number(run.jump, "%.4f"),
             i == 0 ? page.at_most("depth of the static coupling", share, 1, "%.2f")
                    : Cell::number(share, "%.2f"),
             i == 0
                 ? page.at_most("static coupling stage, published 90 µs", run.cycle_us, 90, "%.2f")
                 : Cell::number(run.cycle_us, "%.2f")});
        if (i != 2 && i != 3)
            plot.series.push_back(
                tick_curve(rows[i].name, run.force, static_cast<int>(i), Stroke::Line, 1200));
    }
    std::reverse(plot.series.begin(), plot.series.end());  // the calm one above the others
    page.figure(
        {drawn(plot)},
        "In the air until 1.05 s, in contact from 1.1 s on, the hand still from 1.15 s on.");
    page.table(table);
}

void run_solves(Context& context) {
    Section& page = context.section;
    page.text(
        "Where the springs are saturated they say nothing about directions that contact leaves "
        "free. The decomposition sends the tool there straight to the hand; the truncated one "
        "leaves it, which must be told apart; LU solves as if nothing were degenerate, and ends at "
        "the same places here: these scenes do not show that it needs the decomposition. "
        "Hand without feedback, far away, 600 N/m, 1 mm allowed. Published: 5 µs for LU, 30 µs for "
        "the decomposition, 90 µs for the whole stage; truncation lags.");
    Table table{"solves",
                "Depth and lag along free directions after 1.2 s; shaking: change of the "
                "tool's step from tick to tick, rms of the last 0.4 s",
                {{"scene", "scene"},
                 {"solve", "solve"},
                 {"degenerate", "degenerate directions, most"},
                 {"depth_mm", "deepest after 0.1 s, mm"},
                 {"lag_mm", "lag, mm"},
                 {"shake_um", "shaking, µm"},
                 {"cycle_us", "stage, longest, µs"}}};
    int done = 0;
    const std::vector<SolveScene> scenes = solve_scenes();
    for (const SolveScene& scene : scenes)
        for (const CouplingSolve solve :
             {CouplingSolve::Svd, CouplingSolve::Truncated, CouplingSolve::Lu}) {
            const SolveRun run = run_solve(scene, solve);
            const bool is_svd = solve == CouplingSolve::Svd;
            table.add({scene.name,
                       is_svd                              ? "SVD"
                       : solve == CouplingSolve::Truncated ? "truncated"
                                                           : "LU",
                       Cell::count(run.most_degenerate),
                       is_svd
                           ? page.at_most("depth, SVD, " + scene.name, 1e3 * run.depth, 1, "%.3f")
                           : Cell::number(1e3 * run.depth, "%.3f"),
                       is_svd ? page.at_most("lag, SVD, " + scene.name, 1e3 * run.lag, 5, "%.2f")
                       : solve == CouplingSolve::Truncated
                           ? page.at_least("lag, truncated, told apart, " + scene.name,
                                           1e3 * run.lag, 5.01, "%.2f")
                           : Cell::number(1e3 * run.lag, "%.2f"),
                       Cell::number(1e6 * run.shake, "%.2f"),
                       is_svd ? page.at_most("stage, SVD, " + scene.name, run.cycle_us, 90, "%.2f")
                              : Cell::number(run.cycle_us, "%.2f")});
            context.done(++done / 12.0);
        }
    page.table(table);
}

}  // namespace pliant::reproduce
