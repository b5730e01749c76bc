#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include "apps/pliant/output.h"
#include "haptics/alpha_samples.h"
#include "haptics_experiments.h"
#include "haptics_samples.h"
#include "held_demos.h"
#include "pliant/core/tick_histogram.h"
#include "pliant/scene/scene_file.h"
#include "pliant/scene/world.h"

// The contact demos as their scene files have them, along the paths of their hands.

namespace pliant::reproduce {
namespace {

using cli::format;

constexpr double kDemoPathTime = 12;  // [s]

/// Contact demos whose coupling bounds the depth.
std::vector<std::string> bounded_demos(bool is_quick) {
    if (is_quick) return {"peg-hole", "alpha-puzzle"};
    return {"hoses",    "serpent-figure", "serpent-creature", "figure-axe",  "alpha-puzzle",
            "peg-hole", "bridge-ball",    "bridge-creature",  "chair-walls", "squeeze"};
}

/// How a hand goes along a path.
struct PathHand {
    const char* name;
    double speed = 1;   ///< of the path's
    double wander = 0;  ///< beside it, at the handle [m]
    double turn = 0;    ///< [rad]
    double bound = 1;   ///< of the depth, over d_pen

    [[nodiscard]] bool is_own() const { return wander == 0; }
};

struct DemoDepths {
    double bound = 0, depth = 0;  ///< d_pen and the deepest [m]
    std::uint64_t violations = 0;
    int num_touching = 0;  ///< ticks
};

DemoDepths follow_demo(const std::string& name, const PathHand& hand, bool has_force,
                       double seconds) {
    SceneDescription scene = demo_scene(name);
    scene.held_tool->has_force = has_force;
    const ScriptedMotion path = way_of_hand(scene);
    World world(std::move(scene));
    const SimulationLoop& loop = world.loop(0);
    const double wander = hand.wander / loop.haptics()->workspace.scale;
    DemoDepths found;
    for (int k = 0; k * loop.dt() < seconds; ++k) {
        const double time = k * loop.dt();
        if (!hand.is_own())
            world.apply(
                hand_to(test::unsteady(path.at(hand.speed * time).pose, time, wander, hand.turn)));
        while (world.advance() != 0) {
        }
        const HapticTick& tick = *loop.haptic_tick();
        found.bound = tick.max_depth;
        found.depth = std::max(found.depth, tick.depth);
        found.violations = tick.violations;
        if (tick.num_contacts > 0) ++found.num_touching;
    }
    return found;
}

/// Times of ticks in quarters of an octave, for a plot.
Series tick_times(const std::string& label, const std::vector<double>& times_us, int color) {
    std::map<int, int> counts;
    for (const double time : times_us)
        ++counts[static_cast<int>(std::floor(4 * std::log2(std::max(time, 1.0))))];
    Series series{label, {}, color, Stroke::LineAndDots};
    for (const auto& [bucket, count] : counts)
        series.points.emplace_back(std::exp2((bucket + 0.5) / 4),
                                   count / static_cast<double>(times_us.size()));
    return series;
}

}  // namespace

void run_demo_depth(Context& context) {
    Section& page = context.section;
    const double seconds = context.sized(kDemoPathTime, 6.0);
    const std::vector<PathHand> hands = {
        {.name = "its own path"},
        {.name = "beside it", .wander = 0.01, .turn = 0.3, .bound = 1.1},
        {.name = "beside it, fast", .speed = 3, .wander = 0.02, .turn = 0.3, .bound = 1.1}};
    page.text(format(
        "Demos whose coupling bounds the depth, %g s each, from their scene files: bodies, "
        "scripts, device and hand as they are, with force feedback and with the motors off, where "
        "the hand goes wherever it wants. On the path of the scene no tick may be deeper than "
        "d_pen. Beside it the hand wanders by 10 mm at the handle and 17° about each axis (fast: "
        "20 mm, and along the path three times as quickly), into walls and through tubes: there "
        "a tenth of d_pen is left for discretisation, a twentieth of a cell of the fields: "
        "beyond 1.05 d_pen contacts that contradict each other leave the tool a tenth of its "
        "step, and soft bodies swing back into it. A budget of nodes is not in this bound: where "
        "it leaves out the finer levels of a shell, their points go deeper unseen, and are found "
        "beyond d_pen in the tick in which their level comes back. Where that happens depends on "
        "the way of the hand to the last bit, and so on the processor: with AVX2 one tick of "
        "serpent-figure in the fast hand (2,500 nodes) is at 1.43 d_pen, none without a budget.",
        seconds));
    Table table{"demo_depth",
                "Deepest tick over d_pen, with and without force feedback",
                {{"demo", "demo"},
                 {"bound_mm", "d_pen, mm"},
                 {"hand", "hand"},
                 {"touching", "ticks in contact, on"},
                 {"depth_on", "depth over d_pen, on"},
                 {"violations_on", "ticks beyond"},
                 {"touching_off", "in contact, off"},
                 {"depth_off", "depth over d_pen, off"},
                 {"violations_off", "ticks beyond"}}};
    const std::vector<std::string> demos = bounded_demos(context.is_quick);
    int done = 0;
    for (const std::string& demo : demos) {
        int num_touching = 0;
        for (const PathHand& hand : hands) {
            std::vector<Cell> row = {demo, "", hand.name};
            for (const bool has_force : {true, false}) {
                const DemoDepths found = follow_demo(demo, hand, has_force, seconds);
                const std::string name =
                    demo + ", " + hand.name + (has_force ? "" : ", feedback off");
                num_touching += found.num_touching;
                row[1] = Cell::number(1e3 * found.bound, "%.3f");
                row.push_back(Cell::count(found.num_touching));
                row.push_back(
                    page.at_most("depth, " + name, found.depth / found.bound, hand.bound, "%.4f"));
                const auto beyond = static_cast<double>(found.violations);
                row.push_back(hand.is_own()
                                  ? page.at_most("ticks beyond d_pen, " + name, beyond, 0, "%.0f")
                                  : Cell::number(beyond, "%.0f"));
                context.done(++done / (2.0 * static_cast<double>(hands.size() * demos.size())));
            }
            table.add(std::move(row));
        }
        static_cast<void>(page.at_least("ticks in contact, " + demo, num_touching, 1000, "%.0f"));
    }
    page.table(table);
}

void run_demo_ticks(Context& context) {
    Section& page = context.section;
    const double seconds = context.sized(kDemoPathTime, 3.0);
    constexpr double kCyclePeriod = 1000;  // acceptance test 17 [µs]
    page.text(format(
        "Everything that a haptic cycle does in the contact demos, on their own paths with the "
        "simulated device (20 steps of integration): device, hand, contact, coupling, safety and "
        "the steps of the bodies. Thread CPU time of each of the first %g s of ticks, no best of "
        "several runs. 99.9 %% of them are to be below a millisecond.",
        seconds));
    Table table{"demo_ticks",
                "Time of a haptic cycle, µs",
                {{"demo", "demo"},
                 {"ticks", "ticks"},
                 {"median", "median"},
                 {"mean", "mean"},
                 {"p99", "99 %"},
                 {"p999", "99.9 %"},
                 {"max", "longest"}}};
    std::vector<std::string> demos = bounded_demos(context.is_quick);
    std::erase(demos, "squeeze");  // its hoses touch themselves, which was not published
    std::vector<Plot> plots(2);
    int done = 0;
    for (const std::string& demo : demos) {
        World world(demo_scene(demo));
        TickHistogram histogram(kCyclePeriod);
        std::vector<double> times;
        while (times.size() * world.loop(0).dt() < seconds) {
            const double start = thread_cpu_time_us();
            const int loop = world.advance();
            const double time = thread_cpu_time_us() - start;
            if (loop != 0) continue;
            histogram.record(time);
            times.push_back(time);
        }
        const TickHistogram::Summary s = histogram.summary();
        table.add(
            {demo, Cell::count(static_cast<std::int64_t>(s.count)), Cell::number(s.p50_us, "%.1f"),
             Cell::number(s.mean_us, "%.1f"), Cell::number(s.p99_us, "%.1f"),
             page.at_most("99.9 % of cycles, " + demo + ", µs", s.p999_us, kCyclePeriod, "%.1f"),
             Cell::number(s.max_us, "%.0f")});
        Plot& plot = plots[static_cast<std::size_t>(2 * done) / demos.size()];
        plot.series.push_back(tick_times(demo, times, static_cast<int>(plot.series.size())));
        context.done(++done / static_cast<double>(demos.size()));
    }
    std::vector<std::string> drawings;
    for (Plot& plot : plots) {
        plot.title = "Times of haptic cycles";
        plot.x_label = "time, µs";
        plot.y_label = "share of ticks per quarter of an octave";
        plot.guides = {{kCyclePeriod, "1 ms", true}};
        plot.log_x = plot.log_y = true;
        drawings.push_back(drawn(plot));
    }
    page.figure(drawings, "How many ticks take how long; the line is the period of the loop.");
    page.table(table);
}

}  // namespace pliant::reproduce
