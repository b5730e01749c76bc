#include "geometry/sharp_features.h"

#include "core/numbers.h"
#include "pliant/core/error.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pliant {

SharpFeatures::SharpFeatures(const SurfaceMesh& control, const SubdivisionRules& rules)
    : creases_(rules.creases), is_corner_(control.vertices.size(), 0) {
    const SurfaceTopology topology(control);
    const auto is_less = [](const SurfaceTopology::Edge& p, const SurfaceTopology::Edge& q) {
        return p.a != q.a ? p.a < q.a : p.b < q.b;
    };
    for (std::size_t i = 0; i < creases_.size(); ++i) {
        std::ranges::sort(creases_[i]);
        const SurfaceTopology::Edge wanted{creases_[i][0], creases_[i][1], 0, 0};
        if (std::ranges::binary_search(topology.edges(), wanted, is_less)) continue;
        throw InputError(
            "", "creases[" + std::to_string(i) + "]",
            std::to_string(rules.creases[i][0]) + "-" + std::to_string(rules.creases[i][1]),
            "two vertices that an edge of the control mesh joins");
    }
    std::ranges::sort(creases_);
    for (std::size_t i = 0; i < rules.corners.size(); ++i) {
        const int v = rules.corners[i];
        if (v < 0 || v >= control.num_vertices())
            throw InputError("", "corners[" + std::to_string(i) + "]", std::to_string(v),
                             "a vertex, 0 … " + std::to_string(control.num_vertices() - 1));
        is_corner_[at(v)] = 1;
    }
}

bool SharpFeatures::is_crease(int a, int b) const {
    return std::ranges::binary_search(creases_, std::array{std::min(a, b), std::max(a, b)});
}

bool SharpFeatures::is_corner(int vertex) const noexcept {
    return at(vertex) < is_corner_.size() && is_corner_[at(vertex)] != 0;
}

void SharpFeatures::split(const std::vector<SurfaceTopology::Edge>& edges, int num_vertices) {
    if (creases_.empty()) return;
    std::vector<std::array<int, 2>> halves;
    for (std::size_t e = 0; e < edges.size(); ++e) {
        if (!is_crease(edges[e])) continue;
        const int middle = num_vertices + static_cast<int>(e);
        halves.push_back({edges[e].a, middle});
        halves.push_back({edges[e].b, middle});
    }
    std::ranges::sort(halves);
    creases_ = std::move(halves);
}

double loop_weight(int k) {
    const double c = 0.375 + 0.25 * std::cos(2 * std::numbers::pi / k);
    return (0.625 - c * c) / k;
}

}  // namespace pliant
