#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "contact_experiments.h"
#include "contact_press.h"
#include "pliant/core/tick_histogram.h"
#include "plot.h"

namespace pliant::reproduce {
namespace {

using cli::format;

struct CoherenceRun {
    std::vector<double> nodes, time_us;
    std::vector<int> contacts;

    [[nodiscard]] double mean(const std::vector<double>& values) const {
        double sum = 0;
        for (const double value : values) sum += value;
        return sum / static_cast<double>(values.size());
    }
};

/// The recording `speed` times as fast: every so manieth pose. The soft shell swings a little.
CoherenceRun replay(const Press& press, bool is_soft, bool has_coherence, int speed,
                    int num_passes) {
    CoherenceRun run;
    const PointTree& tree = is_soft ? press.soft_tree : press.tree;
    PointTraversal traversal(tree, press.field, {.has_coherence = has_coherence});
    std::vector<double> q(static_cast<std::size_t>(tree.rank()), 0.0);
    for (int pass = 0; pass < num_passes; ++pass) {
        traversal.forget();
        std::size_t k = 0;
        for (std::size_t at = 0; at < press.poses.size(); at += static_cast<std::size_t>(speed)) {
            if (is_soft) q[0] = 1e-3 * std::sin(2e-3 * static_cast<double>(at));
            const double start = thread_cpu_time_us();
            (void)traversal.update(press.poses[at], q);
            const double time = thread_cpu_time_us() - start;
            if (pass == 0) {
                run.nodes.push_back(traversal.statistics().visited);
                run.contacts.push_back(traversal.statistics().contacts);
                run.time_us.push_back(time);
            } else {
                run.time_us[k] = std::min(run.time_us[k], time);
            }
            ++k;
        }
    }
    return run;
}

}  // namespace

void run_coherence(Context& context) {
    Section& page = context.section;
    const Press& press = press_sample(context.is_quick);
    context.done(0.5);
    page.text(
        "The recording of the press with and without temporal coherence, also faster and slower: "
        "nodes "
        "that cannot have come into contact since they were asked are left out. The set of "
        "contacts is the same in every tick. Where a node is cheap to ask, remembering it costs "
        "about as much; coherence pays for soft shells, slow motion and deformed fields. "
        "Published: 20 to 45 % less time, 40 to 80 % fewer nodes in the four pairs above.");
    Table table{"coherence",
                "Means over all ticks",
                {{"shell", "shell"},
                 {"speed", "largest speed, m/s"},
                 {"nodes", "nodes"},
                 {"nodes_without", "without"},
                 {"saved_nodes", "fewer nodes, %"},
                 {"us", "traversal, µs"},
                 {"us_without", "without"},
                 {"saved_time", "less time, %"},
                 {"different", "ticks with other contacts"}}};
    const int passes = context.sized(5, 2);
    std::vector<Series> curves;
    struct Variant {
        bool is_soft;
        int speed;
    };
    for (const auto [is_soft, speed] :
         {Variant{false, 1}, {false, 4}, {false, 16}, {true, 1}, {true, 4}, {true, 16}}) {
        const CoherenceRun with = replay(press, is_soft, true, speed, passes),
                           without = replay(press, is_soft, false, speed, passes);
        double fastest = 0;
        for (std::size_t k = static_cast<std::size_t>(speed); k < press.poses.size();
             k += static_cast<std::size_t>(speed))
            fastest = std::max(fastest, (press.poses[k].position -
                                         press.poses[k - static_cast<std::size_t>(speed)].position)
                                                .norm() /
                                            1e-3);
        int different = 0;
        for (std::size_t k = 0; k < with.contacts.size(); ++k)
            if (with.contacts[k] != without.contacts[k]) ++different;
        const double fewer = 100 * (1 - with.mean(with.nodes) / without.mean(without.nodes));
        table.add({is_soft ? "r = 15" : "rigid", Cell::number(fastest, "%.2f"),
                   Cell::number(with.mean(with.nodes), "%.0f"),
                   Cell::number(without.mean(without.nodes), "%.0f"),
                   speed == 1 ? page.at_least(format("nodes saved by coherence, %s [%%]",
                                                     is_soft ? "r = 15" : "rigid"),
                                              fewer, 20, "%.0f")
                              : Cell::number(fewer, "%.0f"),
                   Cell::number(with.mean(with.time_us), "%.2f"),
                   Cell::number(without.mean(without.time_us), "%.2f"),
                   Cell::number(100 * (1 - with.mean(with.time_us) / without.mean(without.time_us)),
                                "%.0f"),
                   page.compared("ticks with other contacts", different, 0, 0, "%.0f")});
        if (speed != 1 || is_soft) continue;
        const auto curve = [&](const std::string& label, const std::vector<double>& values,
                               int color) {
            Series series{label, {}, color};
            const std::size_t stride = std::max<std::size_t>(1, values.size() / 500);
            for (std::size_t k = 0; k < values.size(); k += stride)
                series.points.emplace_back(1e-3 * static_cast<double>(k), values[k]);
            curves.push_back(std::move(series));
        };
        curve("without coherence", without.nodes, 0);
        curve("with coherence", with.nodes, 1);
    }
    page.figure({drawn(Plot{.title = "Nodes visited",
                            .x_label = "time, s",
                            .y_label = "nodes",
                            .series = curves,
                            .width = 620})},
                "The rigid shell at the slowest speed.");
    page.table(table);
}

}  // namespace pliant::reproduce
