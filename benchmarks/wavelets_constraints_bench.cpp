#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/wavelet_rabbit.h"
#include "benchmarks/wavelets_bench.h"
#include "core/numbers.h"
#include "pliant/greens/constraint_levels.h"

namespace pliant::bench {
namespace {

using Eigen::Vector3d;

constexpr double kFrame = 1e-3;        // [s], which frames are judged by
constexpr double kContactShare = 0.6;  // of it is the budget of predictions, which err
constexpr int kContact = 40;           // nodes of level 2
constexpr int kGrown = 300;            // nodes, at most
constexpr std::size_t kElementColumns = 20, kSummedColumns = 60;

/// Free vertices of the rabbit's belly, by distance from its middle: the foremost vertex of the
/// lower half.
std::vector<int> belly_of(const ReferenceProblem& rabbit, std::size_t count) {
    const auto& x = rabbit.positions;
    const Box bounds = bounding_box(x);
    std::vector<int> nodes;
    for (int i = 0; i < static_cast<int>(x.size()); ++i)
        if (rabbit.kinds[at(i)] == NodeKind::Free && x[at(i)].z() < bounds.center().z())
            nodes.push_back(i);
    const int middle = *std::max_element(nodes.begin(), nodes.end(),
                                         [&](int a, int b) { return x[at(a)].x() < x[at(b)].x(); });
    std::sort(nodes.begin(), nodes.end(), [&](int a, int b) {
        return (x[at(a)] - x[at(middle)]).norm() < (x[at(b)] - x[at(middle)]).norm();
    });
    nodes.resize(count);
    return nodes;
}

const ReferenceProblem& rabbit_problem(bool is_compressed) {
    const WaveletRabbit& rabbit = wavelet_rabbit();
    return is_compressed ? rabbit.compressed_16 : rabbit.dense.reference;
}

/// Vertices of level 2 around one of them, the nearest ones, as ids.
std::vector<int> patch_of_level_two(const ReferenceProblem& rabbit, int centre) {
    const HierarchicalBasis& basis = *rabbit.hierarchy;
    std::vector<int> vertices;
    for (int k = 0; k < basis.num_vertices(2); ++k)
        if (rabbit.kinds[at(k)] == NodeKind::Free) vertices.push_back(k);
    const Vector3d middle = rabbit.positions[at(vertices[at(centre) % vertices.size()])];
    std::sort(vertices.begin(), vertices.end(), [&](int a, int b) {
        return (rabbit.positions[at(a)] - middle).norm() <
               (rabbit.positions[at(b)] - middle).norm();
    });
    vertices.resize(kContact);
    for (int& vertex : vertices) vertex = basis.id(2, vertex);
    std::sort(vertices.begin(), vertices.end());
    return vertices;
}

struct ContactFrames {
    CapacitanceSolver solver;
    std::vector<std::vector<ChangedDof>> lists;
    std::vector<double> values;
    std::vector<float> shown;
    std::size_t frame = 0;

    ContactFrames(const ReferenceProblem& reference, bool moves)
        : solver(reference, UpdateCosts(),
                 {.max_dofs = 3 * kContact,
                  .cache = {.max_bytes = std::size_t{4} << 20, .nursery = 2}}),
          values(3 * kContact),
          shown(3 * reference.positions.size()) {
        // a moving contact gives up a node in every frame and takes another
        std::vector<int> ids = patch_of_level_two(reference, 0);
        const std::vector<int> others = patch_of_level_two(reference, 60);
        lists.push_back(dofs_of(ids));
        for (std::size_t k = 0; moves && k < others.size(); ++k) {
            if (std::find(ids.begin(), ids.end(), others[k]) != ids.end()) continue;
            ids.erase(ids.begin());
            ids.push_back(others[k]);
            lists.push_back(dofs_of(ids));
        }
        for (std::size_t k = lists.size(); k > 2; --k) {
            std::vector<ChangedDof> back = lists[k - 2];
            lists.push_back(std::move(back));
        }
    }
    static std::vector<ChangedDof> dofs_of(std::vector<int> ids) {
        std::sort(ids.begin(), ids.end());
        std::vector<ChangedDof> dofs;
        for (const int id : ids)
            for (int k = 0; k < 3; ++k) dofs.push_back({id, Vector3d::Unit(k)});
        return dofs;
    }
    /// One frame: conditions, inverse, displacements of all vertices.
    double run() {
        for (std::size_t k = 0; k < values.size(); ++k)
            values[k] =
                0.01 * solver.reference().length * std::sin(0.1 * double(frame) + double(k));
        (void)solver.solve(lists[frame % lists.size()], values);
        solver.evaluate(static_cast<int>(shown.size()) / 3);
        solver.write_displacements(shown);
        ++frame;
        return double{shown[100]} + double{shown[shown.size() / 2]};
    }
};

Workload contact_at_level_two(bool is_compressed, bool moves) {
    auto frames = std::make_shared<ContactFrames>(rabbit_problem(is_compressed), moves);
    Workload load;
    load.run = [frames] { return frames->run(); };
    return load;
}

/// Contact that grows over the belly up to 300 nodes and shrinks again, on the level that fits.
struct GrowingFrames {
    std::vector<int> belly;
    CapacitanceSolver solver;
    ConstraintLevels levels;
    double depth;
    std::vector<HeldNode> held;
    std::vector<float> shown;
    int frame = 0;

    explicit GrowingFrames(const ReferenceProblem& reference)
        : belly(belly_of(reference, kGrown)),
          solver(reference, UpdateCosts::measure(120),
                 {.max_dofs = 3 * kGrown,
                  .cache = {.max_bytes = std::size_t{64} << 20, .is_touched = true}}),
          levels(reference, {.coarsest = 2,
                             .budget = kContactShare * kFrame,
                             .block_seconds = seconds_of_a_block(reference),
                             .element_seconds = seconds_of_an_element(reference),
                             .fixed_seconds = 3e-5}),
          depth(0.05 * reference.length),
          shown(3 * reference.positions.size()) {
        held.reserve(belly.size());
    }

    /// Of a sum of columns, on this machine: of other columns each time, as after a change of the
    /// level, when none of them is in the caches.
    static double seconds_of_a_block(const ReferenceProblem& reference) {
        std::vector<int> nodes;
        for (int i = 0; i < reference.functions->num_nodes(); ++i)
            if (reference.kinds[at(i)] == NodeKind::Free) nodes.push_back(i);
        std::shuffle(nodes.begin(), nodes.end(), std::mt19937(3));
        std::size_t first = 0;
        const std::vector<float> weights(3 * kSummedColumns, 0.5f);
        std::vector<float> sum(reference.functions->sum_size(reference.functions->num_nodes()));
        Benchmark timed;
        timed.samples = 50;
        timed.setup = [&] {
            Workload load;
            load.run = [&] {
                std::fill(sum.begin(), sum.end(), 0.0f);
                first = first + kSummedColumns > nodes.size() ? 0 : first;
                reference.functions->accumulate(
                    std::span<const int>(nodes).subspan(first, kSummedColumns), weights, {},
                    reference.functions->num_nodes(), sum, SummedRows::Displacements);
                first += kSummedColumns;
                return double{sum.front()};
            };
            return load;
        };
        return 1e-6 * measure(timed).p99_us /
               (kSummedColumns * reference.functions->mean_column_blocks());
    }

    /// Of the response of one node to another: of dense functions, three lines of a matrix that is
    /// larger than the caches.
    static double seconds_of_an_element(const ReferenceProblem& reference) {
        const std::vector<int> nodes = belly_of(reference, kGrown);
        std::size_t first = 0;
        Benchmark timed;
        timed.samples = 50;
        timed.setup = [&] {
            Workload load;
            load.run = [&] {
                double sum = 0;
                float block[9];
                for (std::size_t k = 0; k < kElementColumns; ++k, ++first)
                    for (const int row : nodes) {
                        reference.functions->element(row, nodes[first % nodes.size()], block);
                        sum += double{block[0]};
                    }
                return sum;
            };
            load.operations = static_cast<double>(kElementColumns * nodes.size());
            return load;
        };
        return 1e-6 * measure(timed).p99_us;
    }

    double run() {
        const int half = 250, phase = frame++ % (2 * half);
        const double part = 1 - std::abs(phase - half) / double(half);
        held.clear();
        for (std::size_t k = 0; k < std::size_t(part * double(belly.size())); ++k)
            held.push_back({belly[k], {-depth * part, 0, 0}, 0});
        (void)levels.solve(solver, held);
        solver.evaluate(static_cast<int>(shown.size()) / 3);
        levels.write_displacements(solver, shown);
        return double{shown[100]} + double{shown[shown.size() / 2]};
    }
};

Workload growing_contact(bool is_compressed) {
    auto frames = std::make_shared<GrowingFrames>(rabbit_problem(is_compressed));
    Workload load;
    load.run = [frames] { return frames->run(); };
    return load;
}

}  // namespace

std::vector<Benchmark> wavelets_constraints_benchmarks() {
    std::vector<Benchmark> all;
    for (const bool is_compressed : {true, false}) {
        const std::string storage = is_compressed ? "/wavelet" : "/dense";
        for (const bool moves : {false, true}) {
            Benchmark benchmark;
            benchmark.module = "wavelets";
            benchmark.name = std::string("constraints/") + (moves ? "moving" : "pressing") +
                             "/rabbit/n=2562/s=40/level=2" + storage;
            benchmark.setup = [=] { return contact_at_level_two(is_compressed, moves); };
            benchmark.max_us = 1e6 * kFrame;
            benchmark.samples = 1000;
            all.push_back(benchmark);
        }
        Benchmark growing;
        growing.module = "wavelets";
        growing.name = "constraints/degradation/rabbit/n=2562/s<=300" + storage;
        growing.setup = [=] { return growing_contact(is_compressed); };
        // of so many samples this is the slowest: every frame
        growing.max_p999_us = 1e6 * kFrame;
        growing.samples = 1000;
        all.push_back(growing);
    }
    return all;
}

}  // namespace pliant::bench
