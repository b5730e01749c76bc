#pragma once

#include <numeric>
#include <utility>
#include <vector>

namespace pliant {

/// Union-find. The root of a set is its smallest member, so results do not depend on the order of
/// joins.
class DisjointSets {
public:
    explicit DisjointSets(int count) : parent_(count) {
        std::iota(parent_.begin(), parent_.end(), 0);
    }
    [[nodiscard]] int root(int i) noexcept {
        while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
        return i;
    }
    void join(int i, int j) noexcept {
        i = root(i);
        j = root(j);
        if (i < j) parent_[j] = i;
        if (j < i) parent_[i] = j;
    }
    /// Number of the set of each member, counted in the order of first members, and how many.
    [[nodiscard]] std::pair<std::vector<int>, int> numbered() {
        std::vector<int> number(parent_.size());
        int count = 0;
        for (int i = 0; i < static_cast<int>(parent_.size()); ++i)
            number[i] = root(i) == i ? count++ : number[root(i)];
        return {std::move(number), count};
    }

private:
    std::vector<int> parent_;
};

}  // namespace pliant
