#include <cmath>
#include <memory>
#include <vector>

#include "benchmarks/contact_bench.h"
#include "pliant/core/simd.h"
#include "tests/contact/traversal_samples.h"

namespace pliant::bench {
namespace {

/// A ball with bumps in a grid of 256³ cells. The bumps are small: values are distances to about
/// three per cent.
std::shared_ptr<const DistanceField> bumpy_ball() {
    static const auto field = [] {
        constexpr int kCells = 256;
        GridFrame frame;
        frame.low = Eigen::Vector3d::Constant(-0.6);
        frame.cell = 1.2 / kCells;
        frame.cells = {kCells, kCells, kCells};
        std::vector<float> values;
        values.reserve(std::size_t{257} * 257 * 257);
        for (int k = 0; k <= kCells; ++k)
            for (int j = 0; j <= kCells; ++j)
                for (int i = 0; i <= kCells; ++i) {
                    const Eigen::Vector3d x = frame.vertex(i, j, k);
                    const double bumps = std::sin(20 * x.x()) * std::cos(23 * x.y());
                    values.push_back(static_cast<float>(x.norm() - 0.35 + 1e-3 * bumps));
                }
        return std::make_shared<DistanceGrid>(DistanceGrid::dense(frame, std::move(values), 0.2f));
    }();
    return field;
}

const PointTree& rigid_shell() {
    static const PointTree tree(test::sphere_shell(1'020'000, 6, Eigen::Vector3d::Zero(), 0.4));
    return tree;
}
const PointTree& soft_shell() {
    static const PointTree tree = [] {
        const Pointshell shell = test::sphere_shell(256'000, 5, Eigen::Vector3d::Zero(), 0.4);
        return PointTree(shell, test::wave_motion(shell, 15, 0.02));
    }();
    return tree;
}

/// The two balls touch, at another place for every `t`.
Pose touching_pose(double t, double depth) {
    const Eigen::Vector3d direction(std::cos(t), std::sin(t), std::sin(0.7 * t));
    return {(0.75 - depth) * direction.normalized(), rotation_from_vector(0.5 * direction)};
}

struct Tick {
    Tick(const PointTree& tree, const TraversalOptions& options, double contact_depth)
        : traversal(tree, bumpy_ball(), options),
          q(static_cast<std::size_t>(tree.rank()), 0.05),
          depth(contact_depth) {}
    double run(double t) {
        (void)traversal.update(touching_pose(t, depth), q);
        return traversal.statistics().visited + 1e-3 * traversal.statistics().contacts;
    }
    PointTraversal traversal;
    std::vector<double> q;
    double depth;
    double time = 0;
};

/// One node after the other, depth first.
double recurse(const PointTraversal& traversal, const Pose& pose, std::span<const double> q,
               int node) {
    const PointTree& tree = traversal.tree();
    const Eigen::Vector3d x = pose.to_world(tree.position(node, q));
    const float d = traversal.field().distance(x);
    const PointTree::Node& n = tree.nodes()[static_cast<std::size_t>(node)];
    double sum = d < 0 ? double{d} : 0.0;
    if (d <= tree.sphere_radius(node, q) + traversal.field().margin().at(d))
        for (int c = 0; c < n.num_children; ++c)
            sum += recurse(traversal, pose, q, n.first_child + c);
    return sum;
}

/// The same pose again and again.
Workload warm_workload(const PointTree& tree, double depth) {
    const auto tick = std::make_shared<Tick>(tree, TraversalOptions{.has_coherence = false}, depth);
    (void)tick->run(1);
    Workload workload;
    workload.operations = workload.reference_operations = tick->traversal.statistics().visited;
    workload.run = [tick] { return tick->run(1); };
    workload.run_reference = [tick] {
        const Pose pose = touching_pose(1, tick->depth);
        double sum = 0;
        for (int node = 0; node < tick->traversal.tree().level_start(1); ++node)
            sum += recurse(tick->traversal, pose, tick->q, node);
        return sum;
    };
    return workload;
}

/// Between ticks the yardstick reads 64 MB: nothing is left in the caches.
Workload cold_workload(const PointTree& tree, double depth) {
    const auto tick = std::make_shared<Tick>(tree, TraversalOptions{.has_coherence = false}, depth);
    const auto others = std::make_shared<std::vector<float>>(std::size_t{16} << 20, 1.0f);
    (void)tick->run(1);
    Workload workload;
    workload.operations = tick->traversal.statistics().visited;
    workload.run = [tick] { return tick->run(1); };
    workload.run_reference = [others] { return double{simd_sum(others->data(), others->size())}; };
    return workload;
}

/// A slide of 0.1 mm in each tick, whole ticks.
Workload sliding_workload(const PointTree& tree, double depth) {
    const auto coherent = std::make_shared<Tick>(tree, TraversalOptions{}, depth);
    const auto plain =
        std::make_shared<Tick>(tree, TraversalOptions{.has_coherence = false}, depth);
    Workload workload;
    workload.run = [coherent] { return coherent->run(coherent->time += 1.2e-4); };
    workload.run_reference = [plain] { return plain->run(plain->time += 1.2e-4); };
    return workload;
}

Workload sweep_workload() {
    const PointTree tree(test::sphere_shell(10'000, 1, Eigen::Vector3d::Zero(), 0.4));
    const auto tick = std::make_shared<Tick>(tree, TraversalOptions{.has_tree = false}, 5e-3);
    Workload workload;
    workload.run = [tick] { return tick->run(tick->time += 1e-3); };
    return workload;
}

}  // namespace

std::vector<Benchmark> contact_traversal_benchmarks() {
    struct Shell {
        std::string name;
        const PointTree& (*tree)();
        double depth, warm_us, cold_us;
    };
    std::vector<Benchmark> all;
    for (const Shell& shell : {Shell{"rigid/1.02M", rigid_shell, 8e-4, 0.015, 0.035},
                               Shell{"r=15/256k", soft_shell, 1.5e-3, 0.025, 0.085}}) {
        all.push_back({.module = "contact",
                       .name = "traversal/node/warm/" + shell.name,
                       .setup = [=] { return warm_workload(shell.tree(), shell.depth); },
                       .reference = "one node at a time, depth first",
                       .max_us = shell.warm_us,
                       .samples = 300});
        all.push_back({.module = "contact",
                       .name = "traversal/node/cold/" + shell.name,
                       .setup = [=] { return cold_workload(shell.tree(), shell.depth); },
                       .reference = "pass over 64 MB",
                       .max_us = shell.cold_us,
                       .samples = 100});
        all.push_back({.module = "contact",
                       .name = "traversal/tick/slide/" + shell.name,
                       .setup = [=] { return sliding_workload(shell.tree(), shell.depth); },
                       .reference = "without coherence",
                       .samples = 300});
    }
    all.push_back({.module = "contact",
                   .name = "traversal/sweep/10k rigid points",
                   .setup = sweep_workload,
                   .max_us = 80,
                   .samples = 300});
    return all;
}

}  // namespace pliant::bench
