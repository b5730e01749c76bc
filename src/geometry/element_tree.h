#pragma once

#include "pliant/geometry/volume_mesh.h"

#include <array>
#include <limits>

namespace pliant {

/// Boxes around the elements of a volume mesh in a balanced binary tree: finds the elements whose
/// box holds a point, and the nearest element. Immutable and thread-safe.
class ElementTree {
public:
    /// Boxes are widened by `margin` times their diagonal.
    ElementTree(const VolumeMesh& mesh, double margin);

    /// Calls `visit(element)` for each element whose box contains `p`, in no special order.
    template <class Visit>
    void visit_around(const Eigen::Vector3d& p, const Visit& visit) const {
        std::array<int, kMaxDepth> stack;
        int size = 0;
        stack[size++] = 0;
        while (size > 0) {
            const Node& node = nodes_[stack[--size]];
            if (!node.box.contains(p)) continue;
            if (node.count == 0) {
                stack[size++] = node.first;
                stack[size++] = node.first + 1;
                continue;
            }
            for (int i = node.first; i < node.first + node.count; ++i)
                if (boxes_[i].contains(p)) visit(order_[i]);
        }
    }

    /// The element with the smallest `distance_squared(element)`, the lowest index among equals.
    /// That distance must be at least the one to the element's box.
    template <class Distance>
    [[nodiscard]] int nearest(const Eigen::Vector3d& p, const Distance& distance_squared) const {
        struct Waiting {
            int node;
            double distance;
        };
        std::array<Waiting, kMaxDepth> stack;
        int size = 0, best = order_[0];  // should even squared distances overflow
        double best_distance = std::numeric_limits<double>::infinity();
        stack[size++] = {0, nodes_[0].box.squaredExteriorDistance(p)};
        while (size > 0) {
            const Waiting top = stack[--size];
            if (top.distance > best_distance) continue;
            const Node& node = nodes_[top.node];
            if (node.count == 0) {
                Waiting near{node.first, nodes_[node.first].box.squaredExteriorDistance(p)};
                Waiting far{node.first + 1, nodes_[node.first + 1].box.squaredExteriorDistance(p)};
                if (far.distance < near.distance) std::swap(near, far);
                stack[size++] = far;
                stack[size++] = near;
                continue;
            }
            for (int i = node.first; i < node.first + node.count; ++i) {
                if (boxes_[i].squaredExteriorDistance(p) > best_distance) continue;
                const double d = distance_squared(order_[i]);
                if (d < best_distance || (d == best_distance && order_[i] < best)) {
                    best = order_[i];
                    best_distance = d;
                }
            }
        }
        return best;
    }

private:
    static constexpr int kMaxDepth = 64;  // halves: 2³¹ elements need fewer than 40 entries
    struct Node {
        Box box;
        int first;  // leaf: place in order_; else the first of two children
        int count;  // 0: not a leaf
    };
    std::vector<Node> nodes_;
    std::vector<int> order_;
    std::vector<Box> boxes_;  // in that order
};

}  // namespace pliant
