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
        return DemoPuzzle{
            AlphaPuzzle(first.field, first.cell(), PointTree(make_shell(second, 5571, 4))),
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
        "it, so that contact has to guide the tube. Force feedback is on. Workspace: 1 cm of the "
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
                 "The path followed by four hands; depth against its bound of half a cell",
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
                            .y_label = "N",
                            .series = {tick_curve("firm", runs[3].force, 1),
                                       tick_curve("trembles", run.force, 0)}}),
                 drawn(Plot{.title = "Nodes visited and contacts",
                            .x_label = "time, s",
                            .y_label = "number",
                            .series = {tick_curve("nodes", run.nodes, 2),
                                       tick_curve("contacts", run.contacts, 3)}}),
                 drawn(Plot{.title = "Depth",
                            .x_label = "time, s",
                            .y_label = "depth / bound",
                            .series = {tick_curve("trembles", share, 4)},
                            .guides = {{1.0, "bound"}}})},
                "The way out: free for a second and a half, then through the gap, then free.");
}

void run_alpha_pushes(Context& context) {
    Section& page = context.section;
    const AlphaPuzzle& puzzle = demo_puzzle().puzzle;
    const int num_tries = context.sized(10000, 300);
    ToolInHandOptions options = puzzle.options();
    options.hand = HandModel::firm();
    options.device.steps_per_sample = 5;
    options.home = Vector3d::Zero();
    std::vector<PushOutcome> tries(static_cast<std::size_t>(num_tries));
    double bound = 0, force = 0;
    {
        const AllCores all;
        // batches, so that progress can be told
        constexpr int kBatch = 500;
        for (int first = 0; first < num_tries; first += kBatch) {
            const int count = std::min(kBatch, num_tries - first);
            parallel_ranges(static_cast<std::size_t>(count), 25,
                            [&](std::size_t begin, std::size_t end) {
                                ToolInHand held = puzzle.hold(options);
                                for (std::size_t i = begin; i < end; ++i) {
                                    const int number = first + static_cast<int>(i);
                                    tries[static_cast<std::size_t>(number)] =
                                        test::push_once(held, puzzle, number);
                                }
                            });
            context.done(static_cast<double>(first + count) / num_tries);
        }
        const ToolInHand held = puzzle.hold(options);
        bound = held.gains().max_depth;
        force = held.gains().max_force;
    }
    page.text(format(
        "%s tries without the path: a firm hand pulls from the linked start towards two places "
        "30 cm away, with random turns up to 180°, for a quarter of a second each, and shakes. The "
        "hand is up to 12 cm beside the handle, so that the device shows all of its %.1f N, and "
        "the tube is pressed against the other one with as much. A try is out when the loops, "
        "each closed across its gap, are no longer linked.",
        cli::grouped(num_tries).c_str(), force));
    int num_out = 0, num_deep = 0;
    double depth = 0, felt = 0, farthest = 0;
    std::vector<double> depths;
    for (const PushOutcome& one : tries) {
        num_out += one.is_out ? 1 : 0;
        num_deep += one.depth > bound ? 1 : 0;
        depth = std::max(depth, one.depth);
        felt = std::max(felt, one.force);
        farthest = std::max(farthest, one.farthest);
        depths.push_back(one.depth / bound);
    }
    std::sort(depths.begin(), depths.end());
    Table table{"alpha_pushes",
                "Pulling without the path",
                {{"tries", "tries"},
                 {"out", "out"},
                 {"farthest_mm", "farthest from the start, mm"},
                 {"force_n", "largest force, N"},
                 {"deepest", "deepest / bound"},
                 {"median", "median of the deepest of a try"},
                 {"beyond", "tries beyond the bound"}}};
    table.add({Cell::count(num_tries),
               page.compared("tries without the path that came out", num_out, 0, 0, "%.0f"),
               Cell::number(1e3 * farthest, "%.0f"),
               page.at_least("largest force of the pulls", felt, 0.99 * force, "%.2f"),
               page.at_most("depth of the pulls over the bound", depth / bound, 1.1, "%.2f"),
               Cell::number(depths[depths.size() / 2], "%.2f"), Cell::count(num_deep)});
    page.table(table);
    Series series{"", {}, 0};
    for (std::size_t i = 0; i < depths.size(); i += std::max<std::size_t>(1, depths.size() / 300))
        series.points.emplace_back(
            100.0 * static_cast<double>(i) / static_cast<double>(depths.size()), depths[i]);
    page.figure({drawn(Plot{.title = "Deepest contact of each try",
                            .x_label = "tries, %",
                            .y_label = "depth / bound",
                            .series = {std::move(series)},
                            .guides = {{1.0, "bound"}}})},
                "");
}

}  // namespace pliant::reproduce
