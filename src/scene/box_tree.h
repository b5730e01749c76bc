#pragma once

#include "pliant/geometry/surface_mesh.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace pliant {

/// Boxes of several owners, to find those that others meet without comparing every two: a binary
/// tree, split at the median of the longest side. Built in O(n log n); a search costs about the
/// logarithm of n and what it finds.
class BoxTree {
public:
    struct Entry {
        Box box;
        int owner = 0;
    };

    explicit BoxTree(std::vector<Entry> entries) : entries_(std::move(entries)) {
        if (!entries_.empty()) build(0, entries_.size());
    }

    /// Whether `is_it` is true for one of the entries whose boxes intersect `box`; asks until then.
    template <class IsIt>
    [[nodiscard]] bool any(const Box& box, const IsIt& is_it) const {
        return !nodes_.empty() && any_in(0, box, is_it);
    }
    /// Boxes that were compared by any() so far.
    [[nodiscard]] std::uint64_t num_compared() const noexcept { return num_compared_; }

private:
    static constexpr std::size_t kLeaf = 4;
    struct Node {
        Box box;
        std::size_t begin = 0, end = 0;   ///< its entries
        std::size_t left = 0, right = 0;  ///< 0: it is a leaf
    };

    std::size_t build(std::size_t begin, std::size_t end) {
        const std::size_t place = nodes_.size();
        Node node{.box = {}, .begin = begin, .end = end};
        Box centres;
        for (std::size_t i = begin; i < end; ++i) {
            node.box.extend(entries_[i].box);
            centres.extend(entries_[i].box.center());
        }
        nodes_.push_back(node);
        if (end - begin <= kLeaf) return place;
        Eigen::Index axis = 0;
        centres.sizes().maxCoeff(&axis);
        const std::size_t middle = begin + (end - begin) / 2;
        const auto at = [&](std::size_t i) {
            return entries_.begin() + static_cast<std::ptrdiff_t>(i);
        };
        std::nth_element(at(begin), at(middle), at(end), [axis](const Entry& a, const Entry& b) {
            return a.box.center()[axis] < b.box.center()[axis];
        });
        const std::size_t left = build(begin, middle), right = build(middle, end);
        nodes_[place].left = left;
        nodes_[place].right = right;
        return place;
    }

    template <class IsIt>
    [[nodiscard]] bool any_in(std::size_t place, const Box& box, const IsIt& is_it) const {
        const Node& node = nodes_[place];
        ++num_compared_;
        if (!node.box.intersects(box)) return false;
        if (node.left != 0) return any_in(node.left, box, is_it) || any_in(node.right, box, is_it);
        for (std::size_t i = node.begin; i < node.end; ++i) {
            ++num_compared_;
            if (entries_[i].box.intersects(box) && is_it(entries_[i])) return true;
        }
        return false;
    }

    std::vector<Entry> entries_;
    std::vector<Node> nodes_;
    mutable std::uint64_t num_compared_ = 0;
};

}  // namespace pliant
