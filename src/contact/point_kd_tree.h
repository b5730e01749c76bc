#pragma once

#include <Eigen/Geometry>
#include <span>
#include <vector>

namespace pliant {

/// Balanced tree for nearest points. Distances are compared in double, and of equally near points
/// the lowest index wins, so that the answer is that of asking every point. Thread-safe.
class PointKdTree {
public:
    /// Keeps a copy of the points.
    explicit PointKdTree(std::span<const Eigen::Vector3f> points);
    /// Needs one point at least.
    [[nodiscard]] int nearest(const Eigen::Vector3f& x) const noexcept;

private:
    struct Node {
        float split = 0;
        int axis = -1;  // −1: a leaf
        int begin = 0, end = 0;
        int right = 0;  // the left child is the next node
    };
    int build(std::span<const Eigen::Vector3f> points, int begin, int end);

    std::vector<Node> nodes_;
    std::vector<int> order_;
    std::vector<Eigen::Vector3f> sorted_;  // the points in that order
};

}  // namespace pliant
