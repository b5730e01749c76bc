#include "contact/point_kd_tree.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <numeric>

namespace pliant {
namespace {

using Eigen::Vector3f;

constexpr int kLeafSize = 8;

double squared(double x) { return x * x; }

double distance_squared(const Vector3f& a, const Vector3f& b) {
    return squared(double{a[0]} - double{b[0]}) + squared(double{a[1]} - double{b[1]}) +
           squared(double{a[2]} - double{b[2]});
}

}  // namespace

PointKdTree::PointKdTree(std::span<const Vector3f> points) : order_(points.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    if (!points.empty()) build(points, 0, static_cast<int>(points.size()));
    sorted_.reserve(points.size());
    for (const int i : order_) sorted_.push_back(points[i]);
}

int PointKdTree::build(std::span<const Vector3f> points, int begin, int end) {
    const auto node = nodes_.size();
    nodes_.push_back({.begin = begin, .end = end});
    if (end - begin <= kLeafSize) return static_cast<int>(node);

    // halves along the widest axis
    const auto at = [&](int i) -> const Vector3f& { return points[i]; };
    Eigen::AlignedBox3f box;
    for (int k = begin; k < end; ++k) box.extend(at(order_[k]));
    int axis = 0;
    box.sizes().maxCoeff(&axis);
    const int middle = begin + (end - begin) / 2;
    std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
                     [&](int i, int j) { return at(i)[axis] < at(j)[axis]; });
    nodes_[node].split = at(order_[middle])[axis];
    nodes_[node].axis = axis;
    build(points, begin, middle);
    const int right = build(points, middle, end);
    nodes_[node].right = right;
    return static_cast<int>(node);
}

int PointKdTree::nearest(const Vector3f& x) const noexcept {
    assert(!sorted_.empty());
    struct Waiting {
        int node;
        double least;  // squared distance to the plane before it
    };
    // one entry for each level: fewer than 32, since halves are equal
    std::array<Waiting, 40> stack;
    int size = 0;
    stack[size++] = {0, 0};
    double best = std::numeric_limits<double>::infinity();
    int found = std::numeric_limits<int>::max();
    while (size > 0) {
        const Waiting waiting = stack[--size];
        if (waiting.least > best) continue;
        int n = waiting.node;
        while (nodes_[n].axis >= 0) {
            const Node& node = nodes_[n];
            const double beyond = double{x[node.axis]} - double{node.split};
            const bool is_left = beyond < 0;
            stack[size++] = {is_left ? node.right : n + 1, squared(beyond)};
            n = is_left ? n + 1 : node.right;
        }
        const Node& leaf = nodes_[n];
        for (int k = leaf.begin; k < leaf.end; ++k) {
            const double d = distance_squared(x, sorted_[k]);
            const int i = order_[k];
            if (d < best || (d == best && i < found)) {
                best = d;
                found = i;
            }
        }
    }
    return found;
}

}  // namespace pliant
