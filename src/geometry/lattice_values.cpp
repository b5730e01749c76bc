#include "geometry/lattice_values.h"

#include "core/numbers.h"
#include "geometry/fill_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

constexpr int kTestedBlock = 16;  // cells along the blocks that are tested as a whole

/// In cell sides, so that floats hold bodies of any size. Absurd values are clamped, since infinity
/// marks nodes that were not evaluated.
float evaluate(const Implicit& body, const BccLattice& lattice, int node) {
    const double value = body(lattice.position(node)) / lattice.cell();
    return static_cast<float>(std::clamp(value, -1e30, 1e30));
}

/// Signs of whole blocks where the Lipschitz bound allows it, single nodes elsewhere.
class NodeSampler {
public:
    NodeSampler(const Implicit& body, const BccLattice& lattice)
        : body_(body), lattice_(lattice), values_(lattice.num_nodes()) {}

    NodeValues run(Progress& progress) {
        std::array<std::size_t, 3> blocks{};
        for (std::size_t axis = 0; axis < 3; ++axis)
            blocks[axis] = at(lattice_.cells()[axis] / kTestedBlock + 1);
        const std::size_t count = blocks[0] * blocks[1] * blocks[2];
        progress.stage("distances", count);
        parallel_for(count, 1, [&](std::size_t b) {
            const std::size_t row = b / blocks[0];
            sample_block({static_cast<int>(b % blocks[0]) * kTestedBlock,
                          static_cast<int>(row % blocks[1]) * kTestedBlock,
                          static_cast<int>(row / blocks[1]) * kTestedBlock},
                         kTestedBlock);
            progress.advance();
        });
        return std::move(values_);
    }

private:
    void sample_block(const std::array<int, 3>& low, int size) {
        std::array<int, 3> high{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            high[axis] = std::min(low[axis] + size, lattice_.cells()[axis] + 1);
            if (high[axis] <= low[axis]) return;
        }
        // nodes span size − 1/2 cells along each axis
        const double half_side = 0.5 * (size - 0.5) * lattice_.cell();
        const Eigen::Vector3d centre =
            lattice_.position(lattice_.node(low[0], low[1], low[2], 0)).array() + half_side;
        const double value = body_(centre);
        if (std::abs(value) > 1.000001 * body_.lipschitz() * std::sqrt(3.0) * half_side) {
            constexpr float kUnknown = std::numeric_limits<float>::infinity();
            const float inferred = value < 0 ? -kUnknown : kUnknown;
            for_each_node(low, high, [&](int node) { values_[at(node)] = inferred; });
        } else if (size > 2) {
            const int half = size / 2;
            for (int octant = 0; octant < 8; ++octant)
                sample_block({low[0] + (octant & 1) * half, low[1] + ((octant >> 1) & 1) * half,
                              low[2] + (octant >> 2) * half},
                             half);
        } else {
            for_each_node(low, high,
                          [&](int node) { values_[at(node)] = evaluate(body_, lattice_, node); });
        }
    }
    template <class Visit>
    void for_each_node(const std::array<int, 3>& low, const std::array<int, 3>& high,
                       Visit&& visit) {
        for (int k = low[2]; k < high[2]; ++k)
            for (int j = low[1]; j < high[1]; ++j)
                for (int i = low[0]; i < high[0]; ++i)
                    for (int s = 0; s < 2; ++s) visit(lattice_.node(i, j, k, s));
    }

    const Implicit& body_;
    const BccLattice& lattice_;
    NodeValues values_;
};

/// The border and the nodes beside it have to be outside: neighbours are looked up without testing
/// for it, also those of outside nodes beside the inside.
void require_outside_border(const BccLattice& lattice, const NodeValues& values) {
    const auto& n = lattice.cells();
    const auto is_near = [](int index, int cells) { return index <= 1 || index >= cells - 1; };
    for (int k = 0; k <= n[2]; ++k)
        for (int j = 0; j <= n[1]; ++j) {
            const bool whole_row = is_near(k, n[2]) || is_near(j, n[1]);
            for (int i = 0; i <= n[0]; i += whole_row || i != 1 ? 1 : n[0] - 2)
                for (int s = 0; s < 2; ++s)
                    if (!(values[at(lattice.node(i, j, k, s))] > 0))
                        throw InputError("", kEndlessInside);
        }
}

/// Evaluates nodes next to a sign change that were only inferred, since the cut point between them
/// needs both values. For closed surfaces the inferred signs are right; across the holes of open
/// ones the sign changes far from any triangle, and this follows the change from node to node.
void settle_inferred_nodes(const Implicit& body, const BccLattice& lattice, NodeValues& values,
                           Progress& progress) {
    const auto differ = [&](int a, int b) { return (values[at(a)] < 0) != (values[at(b)] < 0); };
    std::vector<int> front = join_layers<int>(lattice, [&](int k, std::vector<int>& list) {
        lattice.for_each_inner_node(k, [&](int node) {
            if (!(values[at(node)] < 0)) return;
            for (int d = 0; d < BccLattice::kNumDirections; ++d) {
                const int other = lattice.neighbour(node, d);
                if (!differ(node, other)) continue;
                if (std::isinf(values[at(node)])) list.push_back(node);
                if (std::isinf(values[at(other)])) list.push_back(other);
            }
        });
    });
    while (!front.empty()) {
        std::sort(front.begin(), front.end());
        front.erase(std::unique(front.begin(), front.end()), front.end());
        parallel_ranges(front.size(), 64, [&](std::size_t begin, std::size_t end) {
            for (std::size_t n = begin; n < end; ++n)
                values[at(front[n])] = evaluate(body, lattice, front[n]);
            progress.advance(0);
        });
        std::vector<int> next;
        for (const int node : front) {
            if (lattice.is_border(node)) continue;
            for (int d = 0; d < BccLattice::kNumDirections; ++d) {
                const int other = lattice.neighbour(node, d);
                if (std::isinf(values[at(other)]) && differ(node, other)) next.push_back(other);
            }
        }
        front = std::move(next);
    }
}

}  // namespace

NodeValues sample_nodes(const Implicit& body, const BccLattice& lattice, Progress& progress) {
    NodeValues values = NodeSampler(body, lattice).run(progress);
    settle_inferred_nodes(body, lattice, values, progress);
    require_outside_border(lattice, values);
    return values;
}

}  // namespace pliant
