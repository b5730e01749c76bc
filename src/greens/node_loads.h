#pragma once

#include "core/numbers.h"

#include <Eigen/Core>
#include <span>
#include <vector>

namespace pliant {

/// Nondimensional tractions of some nodes, each once.
class NodeLoads {
public:
    NodeLoads(int num_nodes, int capacity) : place_(at(num_nodes), -1) {
        nodes_.reserve(at(capacity));
        values_.reserve(at(capacity));
    }
    void clear() noexcept {
        for (const int node : nodes_) place_[at(node)] = -1;
        nodes_.clear();
        values_.clear();
    }
    /// False: no room for another node.
    bool add(int node, const Eigen::Vector3d& value) noexcept {
        int& place = place_[at(node)];
        if (place < 0) {
            if (nodes_.size() == nodes_.capacity()) return false;
            place = static_cast<int>(nodes_.size());
            nodes_.push_back(node);
            values_.push_back(Eigen::Vector3d::Zero());
        }
        values_[at(place)] += value;
        return true;
    }
    void copy_from(const NodeLoads& other) noexcept {
        clear();
        for (int i = 0; i < other.size(); ++i) add(other.node(i), other.value(i));
    }
    [[nodiscard]] int size() const noexcept { return static_cast<int>(nodes_.size()); }
    [[nodiscard]] std::span<const int> nodes() const noexcept { return nodes_; }
    [[nodiscard]] std::span<const Eigen::Vector3d> values() const noexcept { return values_; }
    [[nodiscard]] int node(int i) const noexcept { return nodes_[at(i)]; }
    [[nodiscard]] const Eigen::Vector3d& value(int i) const noexcept { return values_[at(i)]; }

private:
    std::vector<int> nodes_, place_;
    std::vector<Eigen::Vector3d> values_;
};

}  // namespace pliant
