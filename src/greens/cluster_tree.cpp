#include "greens/cluster_tree.h"

#include "core/numbers.h"

#include <algorithm>
#include <numeric>

namespace pliant {

ClusterTree::ClusterTree(const std::vector<Eigen::Vector3d>& points, int leaf_size,
                         const std::vector<int>& classes)
    : order(points.size()) {
    std::iota(order.begin(), order.end(), 0);
    clusters.push_back({0, static_cast<int>(points.size())});
    const auto divide = [&](int index, int middle) {
        const int begin = clusters[at(index)].begin, end = clusters[at(index)].end;
        for (int k = 0; k < 2; ++k) {
            clusters[at(index)].children[k] = static_cast<int>(clusters.size());
            clusters.push_back({k == 0 ? begin : middle, k == 0 ? middle : end});
            clusters.back().parent = index;
        }
    };
    if (!classes.empty()) {
        const auto middle = std::stable_partition(order.begin(), order.end(),
                                                  [&](int i) { return classes[at(i)] == 0; });
        const int count = static_cast<int>(middle - order.begin());
        if (count > 0 && count < static_cast<int>(points.size())) divide(0, count);
    }
    for (int index = 0; index < static_cast<int>(clusters.size()); ++index) {
        const Cluster cluster = clusters[at(index)];
        if (!cluster.is_leaf() || cluster.size() <= leaf_size) continue;
        Eigen::AlignedBox3d box;
        for (int i = cluster.begin; i < cluster.end; ++i) box.extend(points[at(order[at(i)])]);
        Eigen::Index axis = 0;
        box.sizes().maxCoeff(&axis);
        const int middle = (cluster.begin + cluster.end) / 2;
        std::nth_element(order.begin() + cluster.begin, order.begin() + middle,
                         order.begin() + cluster.end, [&](int a, int b) {
                             const double x = points[at(a)][axis], y = points[at(b)][axis];
                             return x != y ? x < y : a < b;
                         });
        divide(index, middle);
    }
}

}  // namespace pliant
