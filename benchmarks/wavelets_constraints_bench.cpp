#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/wavelets_bench.h"
#include "core/numbers.h"
#include "greens/boundary_source.h"
#include "pliant/core/progress.h"
#include "pliant/greens/constraint_levels.h"
#include "pliant/greens/hierarchical_greens.h"
#include "pliant/greens/wavelet_greens.h"
#include "tests/greens/wavelet_domains.h"

namespace pliant::bench {
namespace {

using Eigen::Vector3d;

constexpr double kFrame = 1e-3;        // [s]
constexpr double kContactShare = 0.6;  // of a frame that contact may take; predictions err
constexpr int kContact = 40;           // nodes

/// A blob with two ears of 2,562 vertices on five levels by boundary elements, its bottom quarter
/// fixed. Columns are solved for one by one, of the functions of level 2 and of a belly on all
/// finer levels.
struct EaredBlob {
    SemiRegularMesh surface = test::eared_blob(4);
    ReferenceProblem reference;  // dense
    std::vector<int> belly;      // by distance from its middle

    EaredBlob() {
        const Box bounds = bounding_box(surface.mesh.vertices);
        reference.length = bounds.sizes().maxCoeff();
        for (Vector3d& x : surface.mesh.vertices) x /= reference.length;
        const double lowest = (bounds.min().z() + 0.25 * bounds.sizes().z()) / reference.length;
        const BoundaryModel boundary(surface.mesh, {});
        reference.positions = surface.mesh.vertices;
        reference.areas = boundary.areas();
        reference.length = 1;
        reference.modulus = 1e4;
        for (const Vector3d& x : surface.mesh.vertices)
            reference.kinds.push_back(x.z() < lowest ? NodeKind::Fixed : NodeKind::Free);
        auto basis = std::make_shared<const HierarchicalBasis>(surface, reference.kinds);
        find_belly();

        const int n = surface.mesh.num_vertices();
        std::vector<int> ids(belly.begin(), belly.end());
        std::vector<char> is_belly(at(n), 0);
        for (const int i : belly) is_belly[at(i)] = 1;
        for (int level = 3; level >= 2; --level)
            for (int k = 0; k < basis->num_vertices(level); ++k)
                if (reference.kinds[at(k)] == NodeKind::Free && (level == 2 || is_belly[at(k)]))
                    ids.push_back(basis->id(level, k));
        auto source = std::make_shared<BoundaryElementSource>(
            boundary, reference.kinds, all_nodes(n), std::span<const GreensReadout>{});
        HierarchicalColumnSource columns(source, basis);
        columns.prepare(Progress::none());
        reference.functions = dense_columns(columns, ids, Progress::none());
        reference.hierarchy = basis;
    }

    static std::vector<int> all_nodes(int count) {
        std::vector<int> nodes(at(count));
        std::iota(nodes.begin(), nodes.end(), 0);
        return nodes;
    }

    void find_belly() {
        const auto& x = surface.mesh.vertices;
        int middle = 0;
        for (int i = 0; i < surface.mesh.num_vertices(); ++i)
            if (reference.kinds[at(i)] == NodeKind::Free && x[at(i)].y() < x[at(middle)].y())
                middle = i;
        for (int i = 0; i < surface.mesh.num_vertices(); ++i)
            if (reference.kinds[at(i)] == NodeKind::Free) belly.push_back(i);
        std::sort(belly.begin(), belly.end(), [&](int a, int b) {
            return (x[at(a)] - x[at(middle)]).norm() < (x[at(b)] - x[at(middle)]).norm();
        });
        belly.resize(300);
    }

    static const std::shared_ptr<const EaredBlob>& shared() {
        static const auto blob = std::make_shared<const EaredBlob>();
        return blob;
    }
};

/// The same with compressed columns.
const ReferenceProblem& compressed_reference() {
    static const ReferenceProblem compressed = [] {
        const EaredBlob& blob = *EaredBlob::shared();
        ReferenceProblem reference = blob.reference;
        reference.functions =
            compress_greens(dynamic_cast<const DenseGreensFunctions&>(*blob.reference.functions),
                            blob.surface, reference.kinds, reference.areas, {});
        return reference;
    }();
    return compressed;
}

/// Vertices of level 2 around one of them, the nearest ones, as ids.
std::vector<int> patch_of_level_two(const EaredBlob& blob, int centre) {
    const HierarchicalBasis& basis = *blob.reference.hierarchy;
    std::vector<int> vertices;
    for (int k = 0; k < basis.num_vertices(2); ++k)
        if (blob.reference.kinds[at(k)] == NodeKind::Free) vertices.push_back(k);
    const Vector3d middle = blob.reference.positions[at(vertices[at(centre) % vertices.size()])];
    std::sort(vertices.begin(), vertices.end(), [&](int a, int b) {
        return (blob.reference.positions[at(a)] - middle).norm() <
               (blob.reference.positions[at(b)] - middle).norm();
    });
    vertices.resize(kContact);
    for (int& vertex : vertices) vertex = basis.id(2, vertex);
    std::sort(vertices.begin(), vertices.end());
    return vertices;
}

struct ContactFrames {
    std::shared_ptr<const EaredBlob> blob = EaredBlob::shared();
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
        std::vector<int> ids = patch_of_level_two(*blob, 0);
        const std::vector<int> others = patch_of_level_two(*blob, 60);
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
            values[k] = 0.01 * std::sin(0.1 * double(frame) + double(k));
        (void)solver.solve(lists[frame % lists.size()], values);
        solver.evaluate(static_cast<int>(shown.size()) / 3);
        solver.write_displacements(shown);
        ++frame;
        return double{shown[100]} + double{shown[shown.size() / 2]};
    }
};

Workload contact_at_level_two(bool is_compressed, bool moves) {
    auto frames = std::make_shared<ContactFrames>(
        is_compressed ? compressed_reference() : EaredBlob::shared()->reference, moves);
    Workload load;
    load.run = [frames] { return frames->run(); };
    return load;
}

/// Contact that grows over the belly up to 300 nodes and shrinks again, on the level that fits.
struct GrowingFrames {
    std::shared_ptr<const EaredBlob> blob = EaredBlob::shared();
    CapacitanceSolver solver;
    ConstraintLevels levels;
    std::vector<HeldNode> held;
    std::vector<float> shown;
    int frame = 0;

    GrowingFrames(const ReferenceProblem& reference, bool is_compressed)
        : solver(reference, UpdateCosts::measure(120), {.max_dofs = 3 * 300}),
          levels(reference, {.coarsest = 2,
                             .budget = kContactShare * kFrame,
                             .block_seconds = seconds_of_a_block(reference),
                             .element_seconds = is_compressed ? 4e-7 : 0,
                             .fixed_seconds = 3e-5}),
          shown(3 * reference.positions.size()) {
        held.reserve(blob->belly.size());
    }

    /// Of a sum of columns, on this machine.
    static double seconds_of_a_block(const ReferenceProblem& reference) {
        std::vector<int> nodes(EaredBlob::shared()->belly.begin(),
                               EaredBlob::shared()->belly.begin() + 100);
        const std::vector<float> weights(3 * nodes.size(), 0.5f);
        std::vector<float> sum(reference.functions->sum_size(reference.functions->num_nodes()));
        Benchmark timed;
        timed.samples = 50;
        timed.setup = [&] {
            Workload load;
            load.run = [&] {
                std::fill(sum.begin(), sum.end(), 0.0f);
                reference.functions->accumulate(nodes, weights, {},
                                                reference.functions->num_nodes(), sum);
                return double{sum.front()};
            };
            return load;
        };
        return 1e-6 * measure(timed).p99_us / (100 * reference.functions->mean_column_blocks());
    }

    double run() {
        const int half = 250, phase = frame++ % (2 * half);
        const double part = 1 - std::abs(phase - half) / double(half);
        held.clear();
        for (std::size_t k = 0; k < std::size_t(part * double(blob->belly.size())); ++k)
            held.push_back({blob->belly[k], {0, 0.05 * part, 0}, 0});
        (void)levels.solve(solver, held);
        solver.evaluate(static_cast<int>(shown.size()) / 3);
        levels.write_displacements(solver, shown);
        return double{shown[100]} + double{shown[shown.size() / 2]};
    }
};

Workload growing_contact(bool is_compressed) {
    auto frames = std::make_shared<GrowingFrames>(
        is_compressed ? compressed_reference() : EaredBlob::shared()->reference, is_compressed);
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
                             "/n=2562/s=40/level=2" + storage;
            benchmark.setup = [=] { return contact_at_level_two(is_compressed, moves); };
            benchmark.max_us = 1e6 * kFrame;
            benchmark.samples = 1000;
            all.push_back(benchmark);
        }
        Benchmark growing;
        growing.module = "wavelets";
        growing.name = "constraints/degradation/n=2562/s<=300" + storage;
        growing.setup = [=] { return growing_contact(is_compressed); };
        growing.max_p999_us = 1e6 * kFrame;
        growing.samples = 1000;
        all.push_back(growing);
    }
    return all;
}

}  // namespace pliant::bench
