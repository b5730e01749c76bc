#include <algorithm>

#include "apps/pliant/output.h"
#include "contact_experiments.h"
#include "contact_samples.h"
#include "pliant/contact/contact_pair.h"
#include "pliant/core/simd.h"
#include "pliant/core/tick_histogram.h"
#include "pliant/geometry/shapes.h"
#include "pliant/scene/scene_file.h"
#include "plot.h"

namespace pliant::reproduce {
namespace {

using cli::format;

constexpr double kInsertionStep = 1e-3;  // [s]

/// The demo's path, one pose for each tick of 1 kHz.
std::vector<Pose> recorded_poses(int stride) {
    const SceneDescription scene = demo_scene("peg-hole");
    const auto peg = std::find_if(scene.bodies.begin(), scene.bodies.end(),
                                  [](const BodyDescription& body) { return body.name == "peg"; });
    const ScriptedMotion& path = *std::get<RigidSource>(peg->source).motion;
    std::vector<Pose> poses;
    for (int k = 0; k < 12200; k += stride) poses.push_back(path.at(kInsertionStep * k).pose);
    return poses;
}

/// Peg and hole as bodies of a loop.
struct Insertion {
    Solid peg, hole;
    PointTree tree;
    std::vector<Pose> poses;
};
Insertion make_insertion(bool is_quick) {
    Solid peg = make_solid(make_shape("peg"), is_quick ? 128 : 256);
    Solid hole = make_solid(make_shape("hole"), is_quick ? 128 : 256, 1.2);
    PointTree tree(make_shell(peg, is_quick ? 16000 : 64000, is_quick ? 4 : 5, is_quick ? 8 : 0));
    return {std::move(peg), std::move(hole), std::move(tree), recorded_poses(is_quick ? 20 : 1)};
}

struct InsertionRun {
    int budget = 0;  ///< 0: none
    std::vector<double> time_us, nodes, level, contacts;
    TickHistogram::Summary times;
};

/// Caches as a tick finds them after others had the processor.
class Others {
public:
    Others() : values_(std::size_t{6} << 20, 1.0f) {}
    void run() {
        if (simd_sum(values_.data(), values_.size()) < 0) values_[0] = 0;  // never: keeps the sum
    }

private:
    std::vector<float> values_;
};

struct RunOptions {
    double budget_s = 0;  ///< time of a tick; 0: no budget
    bool is_cold = false;
    bool is_away = false;  ///< stays at its first pose, over the hole
    int stride = 1;        ///< every so many poses
};
InsertionRun replay(const Insertion& sample, const RunOptions& options) {
    RigidBody peg(RigidShape::sphere(1), sample.peg.mesh);  // contact asks the field, not the shape
    RigidBody hole(RigidShape::sphere(1), sample.hole.mesh);
    ContactPairOptions pair_options;
    pair_options.loads.stiffness = 2 * 8.5 / sample.hole.cell();
    ContactPair pair({&peg, sample.tree}, {&hole, sample.hole.field, {}}, pair_options);
    InsertionRun run;
    if (options.budget_s > 0) run.budget = pair.calibrate(options.budget_s);
    Others others;
    TickHistogram histogram;
    for (std::size_t k = 0; k < sample.poses.size();
         k += static_cast<std::size_t>(options.stride)) {
        peg.drive_to(sample.poses[options.is_away ? 0 : k]);
        (void)peg.step(kInsertionStep);
        if (options.is_cold) others.run();
        const double start = thread_cpu_time_us();
        (void)pair.act(kInsertionStep);
        const double time = thread_cpu_time_us() - start;
        const TraversalStatistics& found = pair.traversal().statistics();
        run.time_us.push_back(time);
        run.nodes.push_back(found.visited);
        run.level.push_back(found.level + 1);
        run.contacts.push_back(found.contacts);
        histogram.record(time);
    }
    run.times = histogram.summary();
    return run;
}

double largest(const std::vector<double>& values) {
    return *std::max_element(values.begin(), values.end());
}

/// The largest of each part of the path: peaks must not fall between the points of a plot.
Series curve(const std::string& label, const std::vector<double>& values, double seconds, int color,
             Stroke stroke = Stroke::Line) {
    Series series{label, {}, color, stroke};
    const std::size_t count = std::min<std::size_t>(400, values.size());
    for (std::size_t i = 0; i < count; ++i) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(i * values.size() / count);
        const auto last =
            values.begin() + static_cast<std::ptrdiff_t>((i + 1) * values.size() / count);
        series.points.emplace_back(seconds * static_cast<double>(i) / static_cast<double>(count),
                                   *std::max_element(first, last));
    }
    return series;
}

}  // namespace

void run_insertion(Context& context) {
    Section& page = context.section;
    const Insertion sample = make_insertion(context.is_quick);
    context.done(0.4);
    const double seconds = 12.2;
    page.text(format(
        "A keyed peg (%s points, %d levels, rigid) goes into a hole that is 0.6 mm wider all round "
        "(cells of %.2f mm), is turned and tilted in it until it touches everywhere, and is pulled "
        "out again: the path of the demo peg-hole, recorded by dragging the peg with a spring, "
        "replayed at 1 kHz. A tick is all of the contact: traversal, loads and gradients of both "
        "bodies. Its budget is given as a time, which ContactPair::calibrate turns into nodes: by "
        "the cost of a node with cold caches, measured anew each time, with 40 %% left for loads. "
        "So budgets of one time differ by the noise of that measurement, and ticks that find their "
        "data in the caches stay far below. In the rows \"cold\" 24 MB are read before each tick, "
        "so that it finds nothing in the caches, and every %s pose is taken: coherence saves less "
        "between poses that are farther apart. "
        "In the first row the peg stays over the hole: ticks after its first have nothing to do, "
        "and their time is not due to nodes. "
        "Published for a dragon in a hole of its own shape: threshold of 2,000 nodes, below 1 ms.",
        cli::grouped(sample.tree.num_points()).c_str(), sample.tree.num_levels(),
        1e3 * sample.hole.cell(), context.is_quick ? "fourth" : "second"));

    Table table{"insertion",
                "Contact tick over the path, thread CPU time",
                {{"budget", "budget"},
                 {"caches", "caches"},
                 {"nodes_allowed", "nodes allowed"},
                 {"most_nodes", "most nodes"},
                 {"most_contacts", "most contacts"},
                 {"least_level", "levels, least"},
                 {"p50_us", "p50, µs"},
                 {"p99_us", "p99, µs"},
                 {"p999_us", "p99.9, µs"},
                 {"max_us", "max, µs"}}};
    const int cold_stride = context.sized(4, 2);
    const auto add = [&](const RunOptions& options) {
        const InsertionRun run = replay(sample, options);
        const double limit = 1e6 * options.budget_s;
        const char* caches = options.is_cold ? "cold" : "warm";
        const auto time = [](double us) { return Cell::number(us, "%.1f"); };
        table.add({options.is_away        ? "over the hole"
                   : options.budget_s > 0 ? format("%.0f µs", limit)
                                          : "none",
                   caches, run.budget > 0 ? Cell::count(run.budget) : Cell("all"),
                   run.budget > 0
                       ? page.at_most("nodes of a tick", largest(run.nodes), run.budget, "%.0f")
                       : Cell::number(largest(run.nodes), "%.0f"),
                   Cell::number(largest(run.contacts), "%.0f"),
                   Cell::number(*std::min_element(run.level.begin(), run.level.end()), "%.0f"),
                   time(run.times.p50_us), time(run.times.p99_us),
                   // 305 ticks of the quick page have no 99.9 % but their largest
                   limit > 0 && !context.is_quick
                       ? page.at_most(format("p99.9 of the contact tick, budget of %.0f µs, "
                                             "%s caches",
                                             limit, caches),
                                      run.times.p999_us, limit, "%.1f")
                       : time(run.times.p999_us),
                   time(run.times.max_us)});
        return run;
    };
    (void)add({.is_cold = true, .is_away = true, .stride = cold_stride});
    const InsertionRun full = add({});
    context.done(0.5);
    const InsertionRun cold_full = add({.is_cold = true, .stride = cold_stride});
    context.done(0.65);
    const InsertionRun wide = add({.budget_s = 400e-6});
    const InsertionRun narrow = add({.budget_s = 200e-6});
    context.done(0.75);
    const InsertionRun cold_wide =
        add({.budget_s = 400e-6, .is_cold = true, .stride = cold_stride});
    const InsertionRun cold_narrow =
        add({.budget_s = 200e-6, .is_cold = true, .stride = cold_stride});

    page.figure({drawn(Plot{.title = "Nodes visited",
                            .x_label = "time, s",
                            .y_label = "nodes",
                            .series = {curve("no budget", full.nodes, seconds, 0),
                                       curve("400 µs", wide.nodes, seconds, 1),
                                       curve("200 µs", narrow.nodes, seconds, 2)},
                            .log_y = true}),
                 drawn(Plot{.title = "Contact tick, warm caches",
                            .x_label = "time, s",
                            .y_label = "time, µs",
                            .series = {curve("no budget", full.time_us, seconds, 0),
                                       curve("400 µs", wide.time_us, seconds, 1),
                                       curve("200 µs", narrow.time_us, seconds, 2)},
                            .guides = {{400, ""}, {200, ""}},
                            .log_y = true}),
                 drawn(Plot{.title = "Contact tick, cold caches",
                            .x_label = "time, s",
                            .y_label = "time, µs",
                            .series = {curve("no budget", cold_full.time_us, seconds, 0),
                                       curve("400 µs", cold_wide.time_us, seconds, 1),
                                       curve("200 µs", cold_narrow.time_us, seconds, 2)},
                            .guides = {{400, ""}, {200, ""}},
                            .log_y = true})},
                "The largest value of each of 400 parts of the path. Dotted: both budgets as "
                "times. Levels are finished or left out whole: where both budgets end at the same "
                "one, they visit the same nodes.");
    page.table(table);
}

}  // namespace pliant::reproduce
