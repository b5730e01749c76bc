#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "apps/pliant/output.h"
#include "core/numbers.h"
#include "greens_experiments.h"
#include "greens_samples.h"
#include "pliant/core/tick_histogram.h"
#include "pliant/geometry/surface_query.h"
#include "pliant/greens/point_contact.h"
#include "plot.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

/// The kidney, and a path of a fingertip below its upper side, as long as the script wants.
struct StrokedKidney {
    std::shared_ptr<const GreensModel> model = greens_sample_model("kidney");
    SurfaceStiffness stiffness = masked_stiffness(model, MaskKind::Cone, 0.012);
    SurfaceQuery surface{model->surface.mesh};
    double size = model->reference.length;

    /// At a part 0 … 1 of the stroke: over the body and back, deeper and less deep.
    [[nodiscard]] Vector3d tip(double s) const {
        const Vector3d above =
            bounding_box(model->surface.mesh.vertices).center() +
            size * Vector3d(0.14 - 0.2 * std::cos(6.2832 * s), 0.07 * std::sin(12.5664 * s), 1);
        const auto hit = surface.ray(above, {0, 0, -1});
        const double height = hit ? above.z() - hit->t : 0;
        const double depth = 0.03 + 0.02 * std::sin(18.85 * s);
        return {above.x(), above.y(), height - size * depth};
    }
    [[nodiscard]] Vector3d start() const { return tip(0) + Vector3d(0, 0, 0.06 * size); }
};

struct StrokeTick {
    double time = 0;
    Vector3d force = Vector3d::Zero();  ///< on the hand [N]
    double pressure = 0, tangential = 0;
    bool crosses = false, slides = false;
};

struct StrokeResult {
    std::vector<StrokeTick> ticks;
    int crossings = 0, sliding = 0, free_ticks = 0;
    double largest_change = 0, largest_crossing = 0;  ///< of the force between ticks [N]
    double cone_excess = 0;  ///< largest of (|f_t| − μ N) / |f|, not below zero
    TickHistogram times;
};

StrokeResult stroke_kidney(const StrokedKidney& kidney, double friction, int num_ticks,
                           double seconds) {
    StrokeResult result;
    PointContactSettings settings;
    settings.friction = friction;
    PointContacts contacts(kidney.model, 1, settings);
    PointInput input{kidney.start()};
    (void)contacts.tick({&input, 1}, kidney.stiffness);
    int triangle = -1;
    for (int k = 0; k <= num_ticks; ++k) {
        const double s = static_cast<double>(k) / num_ticks;
        input.tip = kidney.tip(s);
        const double begun = thread_cpu_time_us();
        const PointContact& c = contacts.tick({&input, 1}, kidney.stiffness).points[0];
        result.times.record(thread_cpu_time_us() - begun);
        StrokeTick tick{s * seconds, -c.force, -c.force.dot(c.normal), 0, false, false};
        tick.tangential = (c.force + tick.pressure * c.normal).norm();
        tick.crosses = triangle >= 0 && c.triangle != triangle;
        tick.slides = c.phase == PointPhase::Sliding;
        result.free_ticks += !c.is_touching();
        if (!result.ticks.empty()) {
            const double change = (tick.force - result.ticks.back().force).norm();
            result.largest_change = std::max(result.largest_change, change);
            if (tick.crosses) result.largest_crossing = std::max(result.largest_crossing, change);
        }
        result.cone_excess =
            std::max(result.cone_excess, (tick.tangential - friction * tick.pressure) /
                                             std::max(c.force.norm(), 1e-12));
        result.crossings += tick.crosses;
        result.sliding += tick.slides;
        triangle = c.triangle;
        result.ticks.push_back(tick);
    }
    return result;
}

/// What a display does beside the ticks: reads the newest frame, deforms the body, and stalls.
struct StalledDisplay {
    int frames = 0;
    double last_depth = 0;  ///< of the lowest displacement shown [m]
};

/// The stroke at 1 kHz in real time; without a display, or with one that stalls.
std::vector<Vector3d> paced_forces(const StrokedKidney& kidney, int num_ticks, int stall_ms,
                                   StalledDisplay& display) {
    PointContacts contacts(kidney.model, 1);
    std::atomic<bool> stops{false};
    std::thread shows;
    if (stall_ms >= 0)
        shows = std::thread([&] {
            CapacitanceOptions options;
            options.max_dofs = 3;
            options.max_loads = 200;
            CapacitanceSolver solver(kidney.model->reference, UpdateCosts(), options);
            PointLoads loads(kidney.model->num_nodes(), 200);
            std::vector<float> field(3 * at(kidney.model->num_nodes()));
            while (!stops) {
                if (!contacts.update()) {
                    std::this_thread::yield();
                    continue;
                }
                loads.clear();
                const PointContact& contact = contacts.published().points[0];
                if (contact.is_touching()) (void)loads.add(kidney.stiffness, contact);
                (void)solver.set_loads(loads.nodes(), loads.tractions());
                (void)solver.solve({}, {});
                solver.evaluate(kidney.model->num_nodes());
                solver.write_displacements(field);
                display.last_depth = double{*std::min_element(field.begin(), field.end())};
                if (++display.frames % 5 == 0)
                    std::this_thread::sleep_for(std::chrono::milliseconds(stall_ms));
            }
        });
    std::vector<Vector3d> forces;
    PointInput input{kidney.start()};
    (void)contacts.tick({&input, 1}, kidney.stiffness);
    auto next = std::chrono::steady_clock::now();
    for (int k = 0; k <= num_ticks; ++k) {
        input.tip = kidney.tip(static_cast<double>(k) / num_ticks);
        forces.push_back(contacts.tick({&input, 1}, kidney.stiffness).points[0].force);
        next += std::chrono::milliseconds(1);
        std::this_thread::sleep_until(next);
    }
    stops = true;
    if (shows.joinable()) shows.join();
    return forces;
}

}  // namespace

void run_kidney_strokes(Context& context) {
    Section& page = context.section;
    page.text(
        "A fingertip is drawn over the upper side of the kidney and back, 1 to 5 mm deep, at 1 "
        "kHz, with a mask of 12 mm. Its force must be continuous where the contact passes from one "
        "triangle to the next, so that twice the ticks halve the largest change between two of "
        "them; and stay inside the friction cone. Above 99.9 % of the ticks are four: "
        "interruptions of the machine are among them.");
    const StrokedKidney kidney;
    const int num_ticks = context.sized(4000, 1500);
    const double seconds = 1e-3 * num_ticks;
    Table table{"strokes",
                "Strokes",
                {{"friction", "friction"},
                 {"ticks", "ticks"},
                 {"crossings", "triangles entered"},
                 {"sliding_percent", "sliding, %"},
                 {"largest_N", "largest force, N"},
                 {"change_mN", "largest change in a tick, mN"},
                 {"crossing_mN", "where triangles change, mN"},
                 {"halved", "largest change with twice the ticks, relative"},
                 {"cone", "beyond the cone, of the force"},
                 {"free", "ticks without contact"},
                 {"tick_us", "tick, median, µs"},
                 {"p999_us", "99.9 %, µs"}}};
    StrokeResult shown;
    for (const double friction : {0.0, 0.1, 0.3, 1.0}) {
        StrokeResult run = stroke_kidney(kidney, friction, num_ticks, seconds);
        const StrokeResult twice = stroke_kidney(kidney, friction, 2 * num_ticks, seconds);
        double largest = 0;
        for (const StrokeTick& tick : run.ticks) largest = std::max(largest, tick.force.norm());
        const auto what = [&](const char* of) { return format("friction %g: %s", friction, of); };
        const TickHistogram::Summary times = run.times.summary();
        table.add(
            {Cell::number(friction), Cell::count(num_ticks), Cell::count(run.crossings),
             Cell::number(100.0 * run.sliding / static_cast<double>(run.ticks.size()), "%.0f"),
             Cell::number(largest, "%.3f"), Cell::number(1e3 * run.largest_change, "%.2f"),
             Cell::number(1e3 * run.largest_crossing, "%.2f"),
             page.at_most(what("largest change of the force with twice the ticks"),
                          twice.largest_change / run.largest_change, 0.65, "%.3f"),
             page.at_most(what("force beyond the cone"),
                          std::max(run.cone_excess, twice.cone_excess), 1e-12, "%.1e"),
             page.compared(what("ticks without contact"), run.free_ticks, 0, 0, "%.0f"),
             Cell::number(times.p50_us, "%.2f"), Cell::number(times.p999_us, "%.2f")});
        if (friction == 0.3) shown = std::move(run);
    }
    page.table(table);
    context.done(0.3);

    Series across{"across the surface", {}, 1}, pressing{"pressing", {}, 0},
        crossings{"another triangle", {}, 6, Stroke::Dots}, ratio{"", {}, 0};
    for (const StrokeTick& tick : shown.ticks) {
        across.points.emplace_back(tick.time, tick.tangential);
        pressing.points.emplace_back(tick.time, tick.pressure);
        if (tick.crosses) crossings.points.emplace_back(tick.time, tick.pressure);
        ratio.points.emplace_back(tick.time, tick.tangential / tick.pressure);
    }
    page.figure({drawn({.title = "Force, friction 0.3",
                        .x_label = "time, s",
                        .y_label = "force, N",
                        .series = {pressing, across, crossings}}),
                 drawn({.title = "Across over pressing",
                        .x_label = "time, s",
                        .y_label = "ratio",
                        .series = {ratio},
                        .guides = {{0.3, "friction"}},
                        .y_low = 0,
                        .y_high = 0.4})},
                "Dots: the contact enters another triangle.");

    const int paced_ticks = context.sized(1000, 250);
    page.heading("A display that stalls");
    page.text(
        "The same stroke at 1 kHz in real time, alone and beside a thread that reads the newest "
        "contact, deforms the whole body and sleeps after every fifth frame. Publication is one "
        "way: every force is the same to the last bit.");
    Table stalls{"stalls",
                 "Forces with a display beside the ticks",
                 {{"stall_ms", "sleeps for, ms"},
                  {"frames", "frames shown"},
                  {"ticks", "ticks"},
                  {"different", "ticks with another force"}}};
    StalledDisplay none;
    const std::vector<Vector3d> alone = paced_forces(kidney, paced_ticks, -1, none);
    for (const int stall_ms : {0, 20, 100}) {
        StalledDisplay display;
        const std::vector<Vector3d> forces = paced_forces(kidney, paced_ticks, stall_ms, display);
        int different = 0;
        for (std::size_t k = 0; k < forces.size(); ++k) different += forces[k] != alone[k];
        stalls.add(
            {Cell::count(stall_ms), Cell::count(display.frames),
             Cell::count(static_cast<std::int64_t>(forces.size())),
             page.compared(format("display that sleeps for %d ms: forces that differ", stall_ms),
                           different, 0, 0, "%.0f")});
    }
    page.table(stalls);
}

}  // namespace pliant::reproduce
