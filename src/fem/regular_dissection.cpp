#include "fem/downward_numbering.h"
#include "pliant/core/error.h"

#include <array>
#include <limits>
#include <string>

namespace pliant {
namespace {

using Layers = std::array<int, 3>;  // of a node along x, y, z

/// Numbers the layers of equal coordinate along each axis; coordinates within 1e-6 of the longest
/// side are equal.
std::vector<Layers> node_layers(const VolumeMesh& mesh) {
    std::vector<Layers> layers(mesh.vertices.size());
    const double tolerance = 1e-6 * bounding_box(mesh.vertices).sizes().maxCoeff();
    std::vector<std::pair<double, int>> sorted;
    for (int axis = 0; axis < 3; ++axis) {
        sorted.clear();
        for (int i = 0; i < mesh.num_vertices(); ++i)
            sorted.emplace_back(mesh.vertices[i][axis], i);
        std::sort(sorted.begin(), sorted.end());
        int layer = 0;
        double first = sorted.empty() ? 0 : sorted.front().first;
        for (const auto& [x, node] : sorted) {
            if (x > first + tolerance) {
                ++layer;
                first = x;
            }
            layers[node][axis] = layer;
        }
    }
    return layers;
}

class RegularDissection {
public:
    RegularDissection(const VolumeMesh& mesh, const ActiveElements& elements)
        : layers_(node_layers(mesh)), numbering_(elements.is_active) {
        check(elements);
        std::vector<int> nodes;
        for (int i = 0; i < mesh.num_vertices(); ++i)
            if (elements.is_active[i]) nodes.push_back(i);
        dissect(nodes);
    }

    [[nodiscard]] Dissection take() { return {numbering_.take_order(), std::move(splits_)}; }

private:
    /// Layers separate only when no element reaches over one.
    void check(const ActiveElements& elements) const {
        for (int e = 0; e < elements.size(); ++e)
            for (int axis = 0; axis < 3; ++axis) {
                int low = std::numeric_limits<int>::max(), high = -1;
                for (const int i : elements.of(e)) {
                    low = std::min(low, layers_[i][axis]);
                    high = std::max(high, layers_[i][axis]);
                }
                if (high - 1 > low)
                    throw InputError(
                        "",
                        "ordering = regular-nested-dissection needs a grid of nodes, but element " +
                            std::to_string(e) + " reaches past the next layer of nodes along " +
                            "xyz"[axis] + "; use cover-nested-dissection");
            }
    }

    void dissect(std::span<int> nodes) {
        if (nodes.empty()) return;
        Layers low, high;
        low.fill(std::numeric_limits<int>::max());
        high.fill(-1);
        for (const int i : nodes)
            for (int axis = 0; axis < 3; ++axis) {
                low[axis] = std::min(low[axis], layers_[i][axis]);
                high[axis] = std::max(high[axis], layers_[i][axis]);
            }
        int axis = 0;
        for (int a = 1; a < 3; ++a)
            if (high[a] - low[a] > high[axis] - low[axis]) axis = a;
        const int middle = (low[axis] + high[axis]) / 2;

        const auto right = std::stable_partition(nodes.begin(), nodes.end(),
                                                 [&](int i) { return layers_[i][axis] <= middle; });
        const auto separator = std::stable_partition(
            nodes.begin(), right, [&](int i) { return layers_[i][axis] < middle; });
        for (auto i = separator; i != right; ++i) numbering_.number(*i);
        const int separator_begin = numbering_.lowest();
        dissect({nodes.begin(), separator});
        const int left_begin = numbering_.lowest();
        dissect({right, nodes.end()});
        splits_.push_back({numbering_.lowest(), left_begin, separator_begin});
    }

    std::vector<Layers> layers_;
    DownwardNumbering numbering_;
    std::vector<DissectionSplit> splits_;
};

}  // namespace

Dissection regular_dissection(const VolumeMesh& mesh, const ActiveElements& elements) {
    return RegularDissection(mesh, elements).take();
}

}  // namespace pliant
