#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "contact/point_traversal_impl.h"
#include "pliant/core/simd.h"
#include "pliant/core/tick_histogram.h"

namespace pliant {

namespace {

constexpr int kNodes = 2048;  ///< of one measurement, about what a tick visits
constexpr int kMeasurements = 5;
/// Read between measurements: a tick finds the caches full of what others did.
constexpr std::size_t kFlushFloats = std::size_t{6} << 20;
/// Of the time wanted. The cost is a median and must hold in 999 ticks of 1,000, of which the
/// slowest take 1.5 times as long where others use the same memory; a tick also has loads to sum
/// and parts that do not grow with the number of nodes. docs/contact.md, experiment `insertion`.
constexpr double kShare = 0.6;

}  // namespace

void PointTraversal::Impl::queue_sample(int level, int count, std::uint32_t& random) noexcept {
    const int size = level_size(level);
    num_fresh = std::min(count, size);
    num_copies = 0;
    // families of four from all over the level, as a traversal meets them
    for (int i = 0; i < num_fresh; ++i) {
        if (i % 4 == 0) random = random * 1664525u + 1013904223u;
        const int place = static_cast<int>(random % static_cast<std::uint32_t>(size)) + i % 4;
        fresh[static_cast<std::size_t>(i)] = tree.level_start(level) + std::min(place, size - 1);
    }
}

int PointTraversal::calibrate(double seconds) {
    if (!(seconds > 0) || !std::isfinite(seconds))
        throw InputError("", "seconds", std::to_string(seconds), "a positive time");
    const PointTree& tree = impl_->tree;
    TraversalOptions options = impl_->options;
    options.has_tree = true;
    options.is_hard = true;
    options.budget = std::max(impl_->level_size(0), 2 * kNodes);
    options.deepest_level = tree.num_levels() - 1;
    Impl probe(tree, impl_->field, options);

    // the shell in the middle of the field: no point is answered by a bound
    const Box& box = impl_->field->bounds();
    Pose pose;
    if (box.min().allFinite() && box.max().allFinite())
        pose.position = box.center() - tree.centre();
    const std::vector<double> q(static_cast<std::size_t>(tree.rank()), 0.0);
    (void)probe.update(pose, q, 0);

    // leaves, and nodes whose children are looked up
    const std::vector<float> others(kFlushFloats, 1.0f);
    std::vector<double> costs;
    std::uint32_t random = 1;
    for (int i = 0; i < kMeasurements; ++i) {
        double time = 0;
        int nodes = 0;
        for (const int level : {probe.deepest, std::max(0, probe.deepest - 1)}) {
            probe.queue_sample(level, kNodes, random);
            nodes += probe.num_fresh;
            probe.lists.num_open = probe.lists.num_culled = probe.contacts.count = 0;
            // never true: keeps the pass over `others`
            if (simd_sum(others.data(), others.size()) < 0) ++nodes;
            const double start = thread_cpu_time_us();
            probe.visit_queue();
            if (level < probe.deepest) (void)probe.queue_children(kNodes);
            time += thread_cpu_time_us() - start;
        }
        costs.push_back(time * 1e-6 / nodes);
    }
    std::sort(costs.begin(), costs.end());
    const double cost = std::max(costs[kMeasurements / 2], 1e-10);

    options = impl_->options;
    options.budget = static_cast<int>(std::clamp(
        kShare * seconds / cost, double(impl_->level_size(0)), double(tree.num_nodes())));
    // arrays that are large enough stay as they are
    if (options.has_tree && options.budget <= impl_->most_nodes)
        set_budget(options.budget);
    else
        set_options(options);
    return options.budget;
}

}  // namespace pliant
