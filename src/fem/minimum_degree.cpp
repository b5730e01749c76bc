#include "fem/minimum_degree.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>

namespace pliant {
namespace {

/// Eliminated nodes are kept as cliques, one per pivot, listing the open nodes that it couples.
/// Open nodes with the same neighbours form a group, known by its first node and eliminated
/// together.
class MinimumDegree {
public:
    explicit MinimumDegree(const NodeGraph& graph)
        : neighbours_(graph.offsets.size() - 1),
          cliques_(neighbours_.size()),
          members_(neighbours_.size()),
          next_in_group_(neighbours_.size(), -1),
          last_in_group_(neighbours_.size()),
          weight_(neighbours_.size(), 1),
          degree_(neighbours_.size()),
          front_mark_(neighbours_.size(), 0),
          union_mark_(neighbours_.size(), 0),
          clique_mark_(neighbours_.size(), 0),
          weight_outside_(neighbours_.size(), 0) {
        for (int i = 0; i < graph.num_nodes(); ++i) {
            neighbours_[i].assign(graph.of(i).begin(), graph.of(i).end());
            last_in_group_[i] = i;
            degree_[i] = 1 + static_cast<int>(neighbours_[i].size());
            queue_.insert(key(i));
        }
        order_.reserve(neighbours_.size());
        while (!queue_.empty()) eliminate(std::get<2>(*queue_.begin()));
    }

    [[nodiscard]] std::vector<int> take_order() { return std::move(order_); }

private:
    using Key = std::tuple<int, int, int>;

    /// Smallest degree first; of equals the largest group, then the first node.
    [[nodiscard]] Key key(int i) const { return {degree_[i], -weight_[i], i}; }
    [[nodiscard]] bool is_open(int i) const { return weight_[i] > 0; }
    [[nodiscard]] bool is_in_front(int i) const { return front_mark_[i] == num_fronts_; }

    void eliminate(int pivot) {
        queue_.erase(key(pivot));
        std::vector<int> front = form_front(pivot);
        number_group(pivot);
        for (const int i : front) queue_.erase(key(i));
        prune(front);
        merge_groups(front);

        // groups that touch nothing outside the front follow at once: no further fill
        std::erase_if(front, [&](int i) {
            const bool is_done = is_open(i) && neighbours_[i].empty() && cliques_[i].empty();
            if (is_done) number_group(i);
            return !is_open(i);
        });

        int front_weight = 0;
        for (const int i : front) front_weight += weight_[i];
        for (const int i : front) {
            degree_[i] = front_weight + weight_beyond_front(i);
            queue_.insert(key(i));
        }
        for (const int i : front) cliques_[i].push_back(pivot);
        members_[pivot] = std::move(front);
    }

    /// The open nodes that the pivot couples; cliques of the pivot are swallowed.
    std::vector<int> form_front(int pivot) {
        ++num_fronts_;
        front_mark_[pivot] = num_fronts_;
        std::vector<int> front;
        const auto take = [&](int i) {
            if (!is_open(i) || is_in_front(i)) return;
            front_mark_[i] = num_fronts_;
            front.push_back(i);
        };
        for (const int i : neighbours_[pivot]) take(i);
        for (const int c : cliques_[pivot]) {
            for (const int i : members_[c]) take(i);
            members_[c] = {};
        }
        return front;
    }

    /// Drops what the new clique stands for, and weighs the part of every other clique outside it.
    void prune(const std::vector<int>& front) {
        for (const int i : front) {
            std::erase_if(neighbours_[i], [&](int j) { return !is_open(j) || is_in_front(j); });
            for (const int c : cliques_[i]) {
                if (clique_mark_[c] == num_fronts_) continue;
                clique_mark_[c] = num_fronts_;
                std::erase_if(members_[c], [&](int j) { return !is_open(j); });
                weight_outside_[c] = 0;
                for (const int j : members_[c])
                    if (!is_in_front(j)) weight_outside_[c] += weight_[j];
            }
            std::erase_if(cliques_[i], [&](int c) { return weight_outside_[c] == 0; });
        }
    }

    void merge_groups(const std::vector<int>& front) {
        std::vector<std::pair<std::uint64_t, int>> hashed;  // by neighbourhood
        for (const int i : front) {
            std::sort(neighbours_[i].begin(), neighbours_[i].end());
            std::sort(cliques_[i].begin(), cliques_[i].end());
            std::uint64_t hash = neighbours_[i].size();
            for (const auto* list : {&neighbours_[i], &cliques_[i]})
                for (const int j : *list)
                    hash = (hash ^ static_cast<std::uint64_t>(j)) * 0x9e3779b97f4a7c15;
            hashed.emplace_back(hash, i);
        }
        std::sort(hashed.begin(), hashed.end());
        for (auto a = hashed.begin(); a != hashed.end(); ++a)
            for (auto b = a + 1; b != hashed.end() && b->first == a->first; ++b) {
                const int i = a->second, j = b->second;
                if (!is_open(i) || !is_open(j) || neighbours_[i] != neighbours_[j] ||
                    cliques_[i] != cliques_[j])
                    continue;
                weight_[i] += weight_[j];
                next_in_group_[last_in_group_[i]] = j;
                last_in_group_[i] = last_in_group_[j];
                close(j);
            }
    }

    /// Weight of the open nodes outside the front that i is coupled with.
    int weight_beyond_front(int i) {
        if (neighbours_[i].empty() && cliques_[i].size() == 1)
            return weight_outside_[cliques_[i].front()];
        ++num_unions_;
        int weight = 0;
        const auto add = [&](int j) {
            if (!is_open(j) || is_in_front(j) || union_mark_[j] == num_unions_) return;
            union_mark_[j] = num_unions_;
            weight += weight_[j];
        };
        for (const int j : neighbours_[i]) add(j);
        for (const int c : cliques_[i])
            for (const int j : members_[c]) add(j);
        return weight;
    }

    void number_group(int i) {
        for (int k = i; k >= 0; k = next_in_group_[k]) order_.push_back(k);
        close(i);
    }

    void close(int i) {
        weight_[i] = 0;
        neighbours_[i] = {};
        cliques_[i] = {};
    }

    std::vector<std::vector<int>> neighbours_, cliques_;  // of open nodes; may list closed ones
    std::vector<std::vector<int>> members_;               // of the clique of each pivot
    std::vector<int> next_in_group_, last_in_group_;
    std::vector<int> weight_;  // nodes of the group; 0 once eliminated or merged
    std::vector<int> degree_;  // open nodes in its column, the group among them
    std::set<Key> queue_;
    std::vector<int> front_mark_, union_mark_, clique_mark_;
    std::vector<int> weight_outside_;  // of cliques, as seen from the front
    std::vector<int> order_;
    int num_fronts_ = 0, num_unions_ = 0;
};

}  // namespace

std::vector<int> minimum_degree_order(const NodeGraph& graph) {
    return MinimumDegree(graph).take_order();
}

}  // namespace pliant
