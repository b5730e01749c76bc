#pragma once

#include "fem/mesh_dissection.h"

#include <algorithm>
#include <utility>

namespace pliant {

/// Hands out positions from the last one downwards, so that separators come last.
class DownwardNumbering {
public:
    explicit DownwardNumbering(const std::vector<char>& is_active)
        : is_numbered_(is_active.size(), 0),
          order_(static_cast<std::size_t>(std::count(is_active.begin(), is_active.end(), 1))),
          next_(static_cast<int>(order_.size())) {}

    [[nodiscard]] bool is_numbered(int node) const { return is_numbered_[node] != 0; }
    /// Numbers the node unless it has a number.
    void number(int node) {
        if (is_numbered_[node]) return;
        is_numbered_[node] = 1;
        order_[--next_] = node;
    }
    /// The lowest position given so far.
    [[nodiscard]] int lowest() const { return next_; }
    [[nodiscard]] std::vector<int> take_order() { return std::move(order_); }

private:
    std::vector<char> is_numbered_;
    std::vector<int> order_;
    int next_;
};

}  // namespace pliant
