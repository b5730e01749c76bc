#include "contact/sweep_order.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace pliant {

std::vector<int> sweep_order(const PointTree& tree, int level) {
    constexpr int kBits = 10;
    const double scale = tree.radius() > 0 ? ((1 << kBits) - 1) / (2 * tree.radius()) : 0;
    std::vector<std::pair<std::uint32_t, int>> places;
    for (int node = tree.level_start(level); node < tree.level_start(level + 1); ++node) {
        const int point = tree.nodes()[static_cast<std::size_t>(node)].point;
        const Eigen::Vector3d x =
            tree.shell().points[static_cast<std::size_t>(point)].cast<double>() - tree.centre();
        std::uint32_t code = 0;
        for (int c = 0; c < 3; ++c) {
            const auto step = static_cast<std::uint32_t>(scale * (x[c] + tree.radius()));
            for (int bit = 0; bit < kBits; ++bit) code |= (step >> bit & 1U) << (3 * bit + c);
        }
        places.emplace_back(code, node);
    }
    std::ranges::sort(places);
    std::vector<int> order;
    for (const auto& [code, node] : places) order.push_back(node);
    return order;
}

}  // namespace pliant
