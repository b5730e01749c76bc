#include "particles/particle_links.h"

#include "core/numbers.h"
#include "geometry/disjoint_sets.h"

#include <algorithm>

namespace pliant {

using Eigen::Vector3d;

void add_link(ParticleLinks& links, int a, int b) {
    links.insert({std::min(a, b), std::max(a, b)});
}

std::vector<int> by_distance(const std::vector<Vector3d>& centres, std::size_t i) {
    std::vector<int> order;
    for (int j = 0; j < static_cast<int>(centres.size()); ++j)
        if (at(j) != i) order.push_back(j);
    std::vector<double> distance(centres.size());
    for (std::size_t j = 0; j < centres.size(); ++j)
        distance[j] = (centres[j] - centres[i]).squaredNorm();
    std::ranges::stable_sort(order,
                             [&](int a, int b) { return distance[at(a)] < distance[at(b)]; });
    return order;
}

void connect_parts(const std::vector<Vector3d>& centres, ParticleLinks& links) {
    for (;;) {
        DisjointSets sets(static_cast<int>(centres.size()));
        for (const auto& [a, b] : links) sets.join(a, b);
        double best = kInfinity;
        std::array<int, 2> pair{-1, -1};
        for (int a = 0; a < static_cast<int>(centres.size()); ++a)
            for (int b = a + 1; b < static_cast<int>(centres.size()); ++b) {
                const double d = (centres[at(a)] - centres[at(b)]).squaredNorm();
                if (d >= best || sets.root(a) == sets.root(b)) continue;
                best = d;
                pair = {a, b};
            }
        if (pair[0] < 0) return;
        links.insert(pair);
    }
}

ParticleLinks link_inside(const SurfaceQuery& query, const std::vector<Vector3d>& centres,
                          int count) {
    constexpr int kFewest = 3;
    ParticleLinks links;
    for (std::size_t i = 0; i < centres.size(); ++i) {
        const std::vector<int> order = by_distance(centres, i);
        const std::size_t tried = std::min(order.size(), at(4 * count));
        int found = 0;
        for (std::size_t k = 0; k < tried && found < count; ++k) {
            if (query.segment(centres[i], centres[at(order[k])])) continue;
            add_link(links, static_cast<int>(i), order[k]);
            ++found;
        }
        for (std::size_t k = 0; k < order.size() && found < kFewest; ++k, ++found)
            add_link(links, static_cast<int>(i), order[k]);
    }
    connect_parts(centres, links);
    return links;
}

}  // namespace pliant
