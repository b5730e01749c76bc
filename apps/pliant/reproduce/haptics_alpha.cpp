#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "contact_samples.h"
#include "haptics/alpha_samples.h"
#include "haptics_experiments.h"
#include "haptics_samples.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/shapes.h"
#include "plot.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

using test::AlphaPuzzle;
using test::PushOutcome;

/// As in the demo; made once for both experiments.
struct DemoPuzzle {
    AlphaPuzzle puzzle;
    double cell;
};
const DemoPuzzle& demo_puzzle() {
    static const DemoPuzzle demo = [] {
        const Solid first = make_solid(make_shape("alpha-tube-1"), 128);
        const Solid second = make_solid(make_shape("alpha-tube-2"), 128);
        return DemoPuzzle{AlphaPuzzle(first.field, PointTree(make_shell(second, 5571, 4))),
                          first.cell()};
    }();
    return demo;
}

struct SolvingHand {
    std::string name;
    HandModel hand;
    double shift = 0, turn = 0;  ///< by which it wanders [m], [rad]
};

struct SolvedRun {
    std::vector<double> nodes, contacts, depth, force, contact_us, tick_us;
    double last_linking = 1, bound = 0;
    int ticks_in_contact = 0;
};

/// The whole way out and half a second at its end; times are the best of the passes.
SolvedRun follow_path(const AlphaPuzzle& puzzle, const SolvingHand& by, int passes) {
    SolvedRun run;
    ToolInHandOptions options = puzzle.options();
    options.hand = by.hand;
    options.is_timed = true;
    const int num_ticks = static_cast<int>((puzzle.out_time() + 0.5) / kHapticStep);
    for (int pass = 0; pass < passes; ++pass) {
        ToolInHand held = puzzle.hold(options);
        for (int k = 0; k < num_ticks; ++k) {
            const double time = std::min(kHapticStep * k, puzzle.out_time());
            const Pose wanted = puzzle.path().at(time).pose;
            const HapticTick& tick = held.step(test::unsteady(wanted, time, by.shift, by.turn));
            const auto i = static_cast<std::size_t>(k);
            if (pass > 0) {
                run.contact_us[i] = std::min(run.contact_us[i], held.contact_us());
                run.tick_us[i] = std::min(run.tick_us[i], held.tick_us());
                continue;
            }
            run.nodes.push_back(held.statistics().visited);
            run.contacts.push_back(tick.num_contacts);
            run.depth.push_back(tick.depth);
            run.force.push_back(tick.command.force.norm());
            run.contact_us.push_back(held.contact_us());
            run.tick_us.push_back(held.tick_us());
            if (tick.num_contacts > 0) ++run.ticks_in_contact;
        }
        const HapticTick& last = held.haptics().last();
        run.bound = held.gains().max_depth;
        run.last_linking = puzzle.linking(last.tool);
    }
    return run;
}

double greatest(const std::vector<double>& values) {
    return *std::max_element(values.begin(), values.end());
}

// ---- without the path ----

struct PushRow {
    double bound = 0, max_force = 0;  ///< allowed [m], of the springs [N]
    int num_out = 0;
    double force = 0, farthest = 0;  ///< largest [N], [m]
    std::vector<double> depths;      ///< largest of each try over the bound, in order of size
};

/// On all cores; progress goes from one fraction to the other.
PushRow push_many(Context& context, const ToolInHandOptions& options, int num_tries, double from,
                  double to) {
    const AlphaPuzzle& puzzle = demo_puzzle().puzzle;
    const AllCores all;
    std::vector<PushOutcome> tries(static_cast<std::size_t>(num_tries));
    constexpr std::size_t kBatch = 500;
    for (std::size_t first = 0; first < tries.size(); first += kBatch) {
        const std::size_t count = std::min(kBatch, tries.size() - first);
        parallel_ranges(count, 25, [&](std::size_t begin, std::size_t end) {
            ToolInHand held = puzzle.hold(options);
            for (std::size_t i = first + begin; i < first + end; ++i)
                tries[i] = test::push_once(held, puzzle, static_cast<int>(i));
        });
        context.done(from + (to - from) * static_cast<double>(first + count) /
                                static_cast<double>(tries.size()));
    }
    const CouplingGains gains = puzzle.hold(options).gains();
    PushRow row;
    row.bound = gains.max_depth;
    row.max_force = gains.max_force;
    for (const PushOutcome& one : tries) {
        row.num_out += one.is_out ? 1 : 0;
        row.force = std::max(row.force, one.force);
        row.farthest = std::max(row.farthest, one.farthest);
        row.depths.push_back(one.depth / gains.max_depth);
    }
    std::sort(row.depths.begin(), row.depths.end());
    return row;
}

}  // namespace

void run_alpha_puzzle(Context& context) {
    Section& page = context.section;
    const AlphaPuzzle& puzzle = demo_puzzle().puzzle;
    context.done(0.5);
    page.text(format(
        "Two linked tubes, 20 mm thick; the gap where each crosses itself leaves 22 mm. The second "
        "is in a simulated hand (%s points in %d levels), the first is a field of 128³ cells of "
        "%.2f mm. The hand follows a path that a planner found, 0.87 mm from contact in its "
        "narrowest part: exactly, and as people do, who are millimetres and degrees beside "
        "it, so that contact has to guide the tube. Force feedback is on. The depth allowed is "
        "0.25 mm: half a cell would be more than the room in the gap. Workspace: 1 cm of the "
        "handle is 2.5 cm of the scene.",
        cli::grouped(puzzle.tree().num_points()).c_str(), puzzle.tree().num_levels(),
        1e3 * demo_puzzle().cell));

    HandModel trembling;
    trembling.tremor = 2e-4;
    const std::vector<SolvingHand> hands = {{"exact", {}, 0, 0},
                                            {"loose", HandModel::loose(), 0.003, 0.05},
                                            {"medium, trembles", trembling, 0.003, 0.05},
                                            {"firm", HandModel::firm(), 0.003, 0.05}};
    Table solved{"alpha_solution",
                 "The path followed by four hands",
                 {{"hand", "hand"},
                  {"beside_mm", "beside the path, mm"},
                  {"linking", "linking number at the end"},
                  {"in_contact_s", "in contact, s"},
                  {"contacts", "contacts, most"},
                  {"force_n", "force felt, most, N"},
                  {"depth_share", "deepest / bound"},
                  {"tick_us", "tick, mean, µs"}}};
    std::vector<SolvedRun> runs;
    for (const SolvingHand& by : hands) {
        runs.push_back(follow_path(puzzle, by, context.sized(4, 1)));
        const SolvedRun& run = runs.back();
        double mean = 0;
        for (const double t : run.tick_us) mean += t / static_cast<double>(run.tick_us.size());
        solved.add(
            {by.name, Cell::number(1e3 * by.shift, "%.0f"),
             page.compared("linking number, hand " + by.name, run.last_linking, 0, 0.02, "%.3f"),
             Cell::number(kHapticStep * run.ticks_in_contact, "%.1f"),
             Cell::number(greatest(run.contacts), "%.0f"),
             Cell::number(greatest(run.force), "%.2f"),
             page.at_most("deepest over its bound, hand " + by.name,
                          greatest(run.depth) / run.bound, 1, "%.2f"),
             Cell::number(mean, "%.1f")});
        context.done(0.5 + 0.1 * static_cast<double>(runs.size()));
    }
    page.table(solved);

    // start, the tick with most contacts, and the end, beside what was published
    const SolvedRun& run = runs[2];
    const auto middle = static_cast<std::size_t>(
        std::max_element(run.contacts.begin(), run.contacts.end()) - run.contacts.begin());
    Table table{"alpha_puzzle",
                "Ticks of the trembling hand; published: alpha puzzle 1.0 with 5,571 points "
                "in 4 levels and 128³ cells on a Core 2 Duo of 2.66 GHz",
                {{"where", "where"},
                 {"time_s", "at, s"},
                 {"nodes", "nodes"},
                 {"published_nodes", "published"},
                 {"contacts", "contacts"},
                 {"published_contacts", "published"},
                 {"contact_us", "contact, µs"},
                 {"tick_us", "tick with simulated device, µs"},
                 {"published_us", "published, µs"}}};
    const auto add = [&](const std::string& where, std::size_t k, int nodes, int contacts,
                         double us) {
        table.add({where, Cell::number(kHapticStep * static_cast<double>(k), "%.2f"),
                   Cell::number(run.nodes[k], "%.0f"), Cell::count(nodes),
                   Cell::number(run.contacts[k], "%.0f"), Cell::count(contacts),
                   Cell::number(run.contact_us[k], "%.1f"),
                   page.at_most("tick of the puzzle, " + where, run.tick_us[k], us, "%.1f"),
                   Cell::number(us, "%.0f")});
    };
    add("start", 50, 2, 0, 106);
    add("middle", middle, 233, 5, 156);
    add("solved", run.nodes.size() - 1, 16, 0, 108);
    page.table(table);
    std::vector<double> share;
    for (const double d : run.depth) share.push_back(d / run.bound);
    page.figure({drawn(Plot{.title = "Force felt",
                            .x_label = "time, s",
                            .y_label = "force, N",
                            .series = {tick_curve("firm", runs[3].force, 1),
                                       tick_curve("trembles", run.force, 0)}}),
                 drawn(Plot{.title = "Nodes visited",
                            .x_label = "time, s",
                            .y_label = "nodes",
                            .series = {tick_curve("trembles", run.nodes, 2)}}),
                 drawn(Plot{.title = "Contacts",
                            .x_label = "time, s",
                            .y_label = "contacts",
                            .series = {tick_curve("trembles", run.contacts, 3)}}),
                 drawn(Plot{.title = "Depth",
                            .x_label = "time, s",
                            .y_label = "depth / bound",
                            .series = {tick_curve("trembles", share, 4)},
                            .guides = {{1.0, "bound"}}})},
                "The way out: free at first, then through the gap, then free. Only some ticks are "
                "drawn; the largest values of all are in the tables.");
}

void run_alpha_pushes(Context& context) {
    Section& page = context.section;
    const AlphaPuzzle& puzzle = demo_puzzle().puzzle;
    ToolInHandOptions options = puzzle.options();
    options.hand = HandModel::firm();
    options.device.steps_per_sample = 5;
    options.home = Vector3d::Zero();
    const PushRow strict = push_many(context, options, context.sized(10000, 300), 0, 0.9);
    options.cell = demo_puzzle().cell;
    const PushRow lax = push_many(context, options, context.sized(1000, 100), 0.9, 1);
    page.text(format(
        "Tries without the path: a firm hand pulls from the linked start towards places 30 cm away "
        "for half a second, with random turns up to 180°, and shakes; half of the tries turn the "
        "tube first and pull it straight then. The hand is up to 12 cm beside the handle, so that "
        "the device shows all of its %.1f N, and the tube is pressed against the other one with as "
        "much. A try is out when the loops, each closed across its gap, are no longer linked. "
        "Contacts that contradict each other may leave the tube a little deeper than allowed.",
        strict.max_force));
    Table table{"alpha_pushes",
                "Pulling without the path; below, with half a cell as the depth allowed, which is "
                "more than the 1 mm that the gap leaves at each side",
                {{"bound_mm", "allowed, mm"},
                 {"tries", "tries"},
                 {"out", "out"},
                 {"farthest_mm", "farthest from the start, mm"},
                 {"force_n", "largest force, N"},
                 {"deepest", "deepest / allowed"},
                 {"median", "median of the deepest of a try"},
                 {"beyond", "tries beyond"}}};
    for (const PushRow* row : {&strict, &lax}) {
        const bool is_strict = row == &strict;
        const double out = row->num_out;
        table.add({Cell::number(1e3 * row->bound, "%.2f"),
                   Cell::count(static_cast<std::int64_t>(row->depths.size())),
                   is_strict
                       ? page.compared("tries without the path that came out", out, 0, 0, "%.0f")
                       : Cell::number(out, "%.0f"),
                   Cell::number(1e3 * row->farthest, "%.0f"),
                   is_strict ? page.at_least("largest force of the pulls", row->force,
                                             0.99 * row->max_force, "%.2f")
                             : Cell::number(row->force, "%.2f"),
                   page.at_most("depth of the pulls over what is allowed", row->depths.back(), 1.05,
                                "%.3f"),
                   Cell::number(row->depths[row->depths.size() / 2], "%.2f"),
                   Cell::count(std::count_if(row->depths.begin(), row->depths.end(),
                                             [](double depth) { return depth > 1; }))});
    }
    page.table(table);
}

}  // namespace pliant::reproduce
