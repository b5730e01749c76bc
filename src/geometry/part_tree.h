#pragma once

#include "pliant/geometry/surface_mesh.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

namespace pliant {

/// Signed distance to an axis-aligned box, negative inside.
[[nodiscard]] inline double box_distance(const Box& box, const Eigen::Vector3d& x) {
    // coordinate by coordinate: the innermost loop of every union
    const Eigen::Vector3d &low = box.min(), &high = box.max();
    const double qx = std::max(low[0] - x[0], x[0] - high[0]),
                 qy = std::max(low[1] - x[1], x[1] - high[1]),
                 qz = std::max(low[2] - x[2], x[2] - high[2]);
    const double inside = std::max(qx, std::max(qy, qz));
    if (inside <= 0.0) return inside;
    const double dx = std::max(qx, 0.0), dy = std::max(qy, 0.0), dz = std::max(qz, 0.0);
    return std::sqrt(dx * dx + dy * dy + dz * dz);
}

/// Binary tree of boxes over the parts of a union. A part is anything with `value(x)`, a `box` that
/// contains it, and a `core` box that contains it when thickened by `reach`; a thin core bounds
/// round parts much better than their box. Outside the thickened core a part counts as
/// max(value, distance to the core − reach), which has the same zero set and makes skipping exact.
template <class Part>
class PartTree {
public:
    /// `lipschitz` bounds the steepness of every part.
    PartTree(std::vector<Part> parts, double lipschitz)
        : parts_(std::move(parts)), lipschitz_(lipschitz) {
        assert(!parts_.empty());
        std::vector<int> order(parts_.size());
        std::iota(order.begin(), order.end(), 0);
        nodes_.reserve(2 * parts_.size());
        for (const Part& part : parts_) box_.extend(part.box);
        build(order.data(), static_cast<int>(order.size()));
    }

    [[nodiscard]] const Box& box() const noexcept { return box_; }

    /// Smallest value of the parts.
    [[nodiscard]] double minimum(const Eigen::Vector3d& x) const {
        double best = std::numeric_limits<double>::infinity();
        visit(x, 0.0, best, [](double) {});
        return best;
    }

    /// Calls `take(value)` for at least all parts less than `margin` above the smallest value,
    /// which it returns.
    template <class Take>
    double near_minimum(const Eigen::Vector3d& x, double margin, Take&& take) const {
        double best = std::numeric_limits<double>::infinity();
        visit(x, margin, best, take);
        return best;
    }

private:
    struct Node {
        Box core;
        double reach;
        int right;  ///< second child (the first follows its parent), or −1 − part at a leaf
    };

    int build(int* order, int count) {
        const int index = static_cast<int>(nodes_.size());
        nodes_.push_back({Box(), 0.0, -1 - order[0]});
        for (int i = 0; i < count; ++i) {
            nodes_[index].core.extend(parts_[order[i]].core);
            nodes_[index].reach = std::max(nodes_[index].reach, parts_[order[i]].reach);
        }
        if (count > 1) {
            // split at the median of the centres along their longest extent
            Box centres;
            for (int i = 0; i < count; ++i) centres.extend(parts_[order[i]].core.center());
            int axis = 0;
            centres.sizes().maxCoeff(&axis);
            std::stable_sort(order, order + count, [&](int a, int b) {
                return parts_[a].core.center()[axis] < parts_[b].core.center()[axis];
            });
            build(order, count / 2);
            nodes_[index].right = build(order + count / 2, count - count / 2);
        }
        return index;
    }

    /// No part under the node can be below this.
    [[nodiscard]] double lower_bound(const Node& node, const Eigen::Vector3d& x) const {
        const double d = box_distance(node.core, x);
        return (d > 0.0 ? d : lipschitz_ * d) - node.reach;
    }

    template <class Take>
    void visit(const Eigen::Vector3d& x, double margin, double& best, Take&& take) const {
        struct Entry {
            int node;
            double bound;
        };
        std::array<Entry, 64> stack;  // median splits keep the depth below 32
        int size = 0;
        stack[size++] = {0, lower_bound(nodes_[0], x)};
        while (size > 0) {
            const Entry entry = stack[--size];
            if (entry.bound >= best + margin) continue;
            const Node& node = nodes_[entry.node];
            if (node.right < 0) {
                double value = parts_[-1 - node.right].value(x);
                if (entry.bound > 0.0) value = std::max(value, entry.bound);
                best = std::min(best, value);
                if (value < best + margin) take(value);
                continue;
            }
            // nearer child on top
            Entry near{entry.node + 1, lower_bound(nodes_[entry.node + 1], x)};
            Entry far{node.right, lower_bound(nodes_[node.right], x)};
            if (far.bound < near.bound) std::swap(near, far);
            stack[size++] = far;
            stack[size++] = near;
        }
    }

    std::vector<Part> parts_;
    std::vector<Node> nodes_;
    Box box_;
    double lipschitz_;
};

}  // namespace pliant
