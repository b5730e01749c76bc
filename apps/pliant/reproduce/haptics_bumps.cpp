#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "contact_bumps.h"
#include "contact_press.h"
#include "haptics_experiments.h"
#include "haptics_samples.h"
#include "pliant/haptics/oscillation.h"
#include "plot.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

struct FeltSlide {
    std::vector<double> place, height;
    std::vector<double> force;  ///< against the slide, at the handle [N]
    double depth_share = 0;
};

/// The hand slides the bar over the plate at 50 mm/s and presses it with about one newton.
FeltSlide slide_felt(const PointTree& bar, const Solid& plate, int level) {
    ToolInHandOptions options;
    options.cell = plate.cell();
    options.traversal.deepest_level = level;
    options.start.position = Vector3d(-0.04, 0, kBarRadius + 0.003);
    options.home = Vector3d(-0.04, 0, 0);
    ToolInHand held(bar, plate.field, options);
    FeltSlide slide;
    constexpr int kDown = 900, kTicks = 1600;
    for (int k = 0; k < kDown + kTicks; ++k) {
        Pose wanted = options.start;
        wanted.position.z() -= 0.008 * smooth_step(k / 600.0);
        wanted.position.x() += 5e-5 * std::max(0, k - kDown);
        const HapticTick& tick = held.step(wanted);
        slide.depth_share = std::max(slide.depth_share, tick.depth / held.gains().max_depth);
        if (k < kDown) continue;
        slide.place.push_back(1e3 * tick.tool.position.x());
        slide.force.push_back(std::max(0.0, -tick.command.force.x()));
        slide.height.push_back(1e3 * (tick.tool.position.z() - kBarRadius));
    }
    return slide;
}

struct FeltPress {
    std::vector<double> nodes, level, force, time_us;
    std::vector<Vector3d> command;
    double depth_share = 0, changes = 0;
};

/// The middle of the contacts where the recorded press is deepest, in the axes of the shell: held
/// elsewhere, the serpent turns away.
Vector3d pressed_place(const Press& press) {
    const Pose& deepest = press.poses[press.poses.size() / 2];
    Probe probe(press.tree, press.field);
    static_cast<void>(probe.at(deepest));
    const ContactPoints& found = probe.traversal().contacts();
    Vector3d sum = Vector3d::Zero();
    for (std::size_t i = 0; i < static_cast<std::size_t>(found.count); ++i)
        sum += Vector3d(found.x[i], found.y[i], found.z[i]);
    return deepest.to_body(sum / std::max(1, found.count));
}

/// The hand follows the recorded press; times are the best of the passes for each tick.
FeltPress press_felt(const Press& press, const Vector3d& grasp, double cell,
                     const TraversalOptions& traversal, int passes) {
    ToolInHandOptions options;
    options.cell = cell;
    options.traversal = traversal;
    options.traversal.has_coherence = false;  // nodes of a tick would depend on the speed
    options.tool.grasp = grasp;
    options.is_timed = true;
    options.start = press.poses.front();
    // 5 cm of the scene are 4 cm of the handle
    options.tool.workspace.scale = 0.8;
    FeltPress run;
    // half a second at rest: the force comes slowly after enabling
    const std::size_t rest = 600, num_ticks = press.poses.size();
    for (int pass = 0; pass < passes; ++pass) {
        ToolInHand held(press.tree, press.field, options);
        for (std::size_t k = 0; k < rest; ++k) held.step(options.start);
        for (std::size_t k = 0; k < num_ticks; ++k) {
            const HapticTick& tick = held.step(press.poses[k]);
            if (pass > 0) {
                run.time_us[k] = std::min(run.time_us[k], held.contact_us());
                continue;
            }
            const TraversalStatistics& found = held.statistics();
            run.depth_share = std::max(run.depth_share, tick.depth / held.gains().max_depth);
            run.nodes.push_back(found.visited);
            run.level.push_back(found.level + 1);
            if (k > 0 && run.level[k] != run.level[k - 1]) run.changes += 1;
            run.force.push_back(tick.command.force.norm());
            run.command.push_back(tick.command.force);
            run.time_us.push_back(held.contact_us());
        }
    }
    return run;
}

double max_of(const std::vector<double>& values) {
    return *std::max_element(values.begin(), values.end());
}

}  // namespace

void run_felt_bumps(Context& context) {
    Section& page = context.section;
    const auto& [plate, bar] = bump_sample(context);
    page.text(format(
        "The bar of 6 mm in a simulated hand of 300 N/m slides at 50 mm/s over the plate with six "
        "bumps of 2 mm, pressed by the hand: what the handle feels, by levels of the shell. Cells "
        "of %.2f mm. Published: six bumps of a dinosaur's back are felt one by one at 1 kHz with "
        "the finest shell of the bridge.",
        1e3 * plate.cell()));
    Table table{
        "felt_bumps",
        "Peaks of the force that holds the slide back, higher than a fifth of the highest of "
        "the same level and all finer ones",
        {{"level", "level"},
         {"points", "points"},
         {"peaks", "peaks felt"},
         {"highest_n", "highest force, N"},
         {"lift_mm", "lifted by, mm"},
         {"depth_share", "deepest / bound"}}};
    Plot plot{.title = "Force that holds the slide back",
              .x_label = "place, mm",
              .y_label = "force, N",
              .width = 620};
    double highest = 0;
    for (int level = kBarLevels - 1; level >= 0; --level) {
        const FeltSlide slide = slide_felt(bar, plate, level);
        highest = std::max(highest, max_of(slide.force));
        const auto peaks = static_cast<int>(find_peaks(slide.force, 0.2 * highest).size());
        table.add(
            {Cell::count(level + 1),
             Cell::count(bar.shell().level_start[static_cast<std::size_t>(level) + 1]),
             level == kBarLevels - 1 && !context.is_quick
                 ? page.compared("bumps felt at the finest level", peaks, kNumBumps, 0, "%.0f")
                 : Cell::count(peaks),
             Cell::number(max_of(slide.force), "%.2f"), Cell::number(max_of(slide.height), "%.2f"),
             level == kBarLevels - 1
                 ? page.at_most("depth while sliding over its bound", slide.depth_share, 1, "%.2f")
                 : Cell::number(slide.depth_share, "%.2f")});
        if (level != kBarLevels - 1 && level > 1) continue;
        Series series{format("level %d", level + 1), {}, level};
        for (std::size_t k = 0; k < slide.force.size(); k += 4)
            series.points.emplace_back(slide.place[k], slide.force[k]);
        plot.series.push_back(std::move(series));
    }
    std::reverse(table.rows.begin(), table.rows.end());
    page.figure({drawn(plot)},
                "As felt at the handle along the slide, by levels of the shell. Where points are "
                "farther apart, some are felt by themselves and some bumps are not.");
    page.table(table);
}

void run_felt_degradation(Context& context) {
    Section& page = context.section;
    const Press& press = press_sample(context.is_quick);
    context.done(0.7);
    constexpr int kBudget = 600;
    // as the field of the figure is built
    const double cell = 0.6 * 1.5 / context.sized(256, 128);
    page.text(format(
        "The serpent (%s points, %d levels), held where it touches, is pressed on the figure as "
        "recorded, without a budget of nodes, with a hard one of %d, and with the published rule "
        "that finishes the level it has begun: what the handle feels of it. Published: 85,018 "
        "points, threshold 600; the force hardly changes, 2 to 3 changes of level per second.",
        cli::grouped(press.tree.num_points()).c_str(), press.tree.num_levels(), kBudget));
    const Vector3d grasp = pressed_place(press);
    const int passes = context.sized(3, 1);
    const FeltPress full = press_felt(press, grasp, cell, {}, passes);
    context.done(0.85);
    const FeltPress hard = press_felt(press, grasp, cell, {.budget = kBudget}, passes);
    const FeltPress soft =
        press_felt(press, grasp, cell, {.budget = kBudget, .is_hard = false}, passes);
    Table table{"felt_degradation",
                "The press as felt with and without a budget; jumps beyond 0.05 N of what "
                "the neighbouring ticks explain",
                {{"budget", "budget"},
                 {"most_nodes", "most nodes"},
                 {"contact_us", "contact where it cuts, mean, µs"},
                 {"changes_per_s", "changes of level per s"},
                 {"highest_n", "highest force, N"},
                 {"jumps", "jumps"},
                 {"jump_n", "largest, N"},
                 {"depth_share", "deepest / bound"},
                 {"difference", "difference of force, rms over rms"}}};
    const double seconds = kHapticStep * static_cast<double>(press.poses.size());
    const auto add = [&](const std::string& name, const FeltPress& run) {
        const std::vector<ForceJump> jumps = find_jumps(run.command, 0.05);
        double sum = 0, size = 0;
        for (std::size_t k = 0; k < full.command.size(); ++k) {
            sum += (run.command[k] - full.command[k]).squaredNorm();
            size += full.command[k].squaredNorm();
        }
        const double difference = std::sqrt(sum / size), changes = run.changes / seconds;
        // ticks that a budget shortens
        double time = 0;
        int num_cut = 0;
        for (std::size_t k = 0; k < full.nodes.size(); ++k)
            if (full.nodes[k] > kBudget) time += run.time_us[k], ++num_cut;
        const bool is_hard = &run == &hard;
        table.add({name,
                   is_hard
                       ? page.at_most("nodes of the felt press", max_of(run.nodes), kBudget, "%.0f")
                       : Cell::number(max_of(run.nodes), "%.0f"),
                   num_cut > 0 ? Cell::number(time / num_cut, "%.1f") : Cell("–"),
                   is_hard && !context.is_quick
                       ? page.at_most("changes of level per second", changes, 3, "%.1f")
                       : Cell::number(changes, "%.1f"),
                   Cell::number(max_of(run.force), "%.2f"),
                   Cell::count(static_cast<std::int64_t>(jumps.size())),
                   Cell::number(jumps.empty() ? 0 : jumps.front().size, "%.3f"),
                   page.at_most("depth of the felt press over its bound, " + name, run.depth_share,
                                1, "%.2f"),
                   &run == &soft && !context.is_quick
                       ? page.at_most("force felt with the published rule, relative difference",
                                      difference, 0.1, "%.3f")
                       : Cell::number(difference, "%.3f")});
    };
    add("none", full);
    add("600, hard", hard);
    add("600, as published", soft);
    page.figure({drawn(Plot{.title = "Force at the handle",
                            .x_label = "time, s",
                            .y_label = "force, N",
                            .series = {tick_curve("no budget", full.force, 0),
                                       tick_curve("600 nodes", hard.force, 1, Stroke::Dashed)}}),
                 drawn(Plot{.title = "Nodes visited",
                            .x_label = "time, s",
                            .y_label = "nodes",
                            .series = {tick_curve("no budget", full.nodes, 0),
                                       tick_curve("600 nodes", hard.nodes, 1)},
                            .guides = {{600.0, "budget"}}}),
                 drawn(Plot{.title = "Level",
                            .x_label = "time, s",
                            .y_label = "levels finished",
                            .series = {tick_curve("no budget", full.level, 0),
                                       tick_curve("600 nodes", hard.level, 1)}})},
                "The press with and without a budget of nodes.");
    page.table(table);
}

}  // namespace pliant::reproduce
