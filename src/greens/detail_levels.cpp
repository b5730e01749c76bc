#include "greens/detail_levels.h"

#include "core/numbers.h"

#include <algorithm>
#include <cassert>
#include <map>

namespace pliant {

DetailLevels::DetailLevels(std::vector<Triangle> finest, int rounds)
    : finest_(std::move(finest)), rounds_(rounds), num_vertices_(at(rounds + 1), 0) {
    for (int level = 0; level <= rounds; ++level) {
        const int count = static_cast<int>(finest_.size()) >> (2 * (rounds - level));
        for (int t = 0; t < count; ++t)
            for (const int v : triangle(level, t))
                num_vertices_[at(level)] = std::max(num_vertices_[at(level)], v + 1);
        if (level == 0) continue;
        parents_.resize(at(num_vertices_[at(level)] - num_vertices_[0]));
        for (int t = 0; t < count / 4; ++t) {
            const Triangle coarse = triangle(level - 1, t), middle = triangle(level, 4 * t + 3);
            for (std::size_t k = 0; k < 3; ++k)
                parents_[at(middle[k] - num_vertices_[0])] = {coarse[(k + 1) % 3],
                                                              coarse[(k + 2) % 3]};
        }
    }
}

/// Corner k stays that of child k.
Triangle DetailLevels::triangle(int level, int t) const noexcept {
    const int children = 1 << (2 * (rounds_ - level));
    Triangle corners{};
    for (int k = 0; k < 3; ++k)
        corners[at(k)] = finest_[at(t * children + k * ((children - 1) / 3))][at(k)];
    return corners;
}

std::vector<std::array<int, 2>> DetailLevels::edges(int level) const {
    std::vector<std::array<int, 2>> edges;
    const int count = static_cast<int>(finest_.size()) >> (2 * (rounds_ - level));
    for (int t = 0; t < count; ++t) {
        const Triangle corners = triangle(level, t);
        for (std::size_t k = 0; k < 3; ++k)
            // each from one of its two sides
            if (corners[k] < corners[(k + 1) % 3])
                edges.push_back({corners[k], corners[(k + 1) % 3]});
    }
    // halves, where the next level has split them
    std::map<std::array<int, 2>, int> middles;
    for (std::size_t i = 0; i < parents_.size(); ++i) {
        const auto [a, b] = parents_[i];
        middles[{std::min(a, b), std::max(a, b)}] = num_vertices_[0] + static_cast<int>(i);
    }
    for (int finer = level; finer < rounds_; ++finer) {
        std::vector<std::array<int, 2>> halves;
        for (const auto& [a, b] : edges) {
            const int middle = middles.at({std::min(a, b), std::max(a, b)});
            halves.push_back({a, middle});
            halves.push_back({middle, b});
        }
        edges.swap(halves);
    }
    return edges;
}

void DetailLevels::flatten(std::span<float> x, int level) const noexcept {
    assert(x.size() == 3 * at(num_vertices_.back()));
    for (std::size_t v = at(num_vertices(level)); v < at(num_vertices_.back()); ++v) {
        const auto [a, b] = parents_[v - at(num_vertices_[0])];
        for (std::size_t k = 0; k < 3; ++k)
            x[3 * v + k] = 0.5f * (x[3 * at(a) + k] + x[3 * at(b) + k]);
    }
}

}  // namespace pliant
