#pragma once

#include <vector>

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace pliant {

/// Points in clusters that are halved across their longest side until they are small.
struct ClusterTree {
    struct Cluster {
        int begin = 0, end = 0;      ///< in `order`
        int children[2] = {-1, -1};  ///< −1: a leaf
        int parent = -1;
        [[nodiscard]] int size() const noexcept { return end - begin; }
        [[nodiscard]] bool is_leaf() const noexcept { return children[0] < 0; }
    };
    std::vector<int> order;         ///< points, cluster by cluster
    std::vector<Cluster> clusters;  ///< the root first, parents before children

    /// Clusters of more than `leaf_size` points are halved. With `classes` (0 or 1, of each point)
    /// the root divides these first.
    ClusterTree(const std::vector<Eigen::Vector3d>& points, int leaf_size,
                const std::vector<int>& classes = {});
};

}  // namespace pliant
