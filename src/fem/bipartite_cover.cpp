#include "fem/bipartite_cover.h"

#include <algorithm>
#include <limits>

namespace pliant {
namespace {

constexpr int kUnreached = std::numeric_limits<int>::max();

class HopcroftKarp {
public:
    explicit HopcroftKarp(const BipartiteGraph& graph)
        : graph_(graph),
          partner_of_left_(static_cast<std::size_t>(graph.num_left()), -1),
          partner_of_right_(static_cast<std::size_t>(graph.num_right), -1),
          level_(partner_of_left_.size()),
          next_edge_(partner_of_left_.size()) {
        match_greedily();
        // each phase augments along a maximal set of disjoint shortest paths
        while (find_levels()) {
            std::copy(graph.offsets.begin(), graph.offsets.end() - 1, next_edge_.begin());
            for (int i = 0; i < graph.num_left(); ++i)
                if (partner_of_left_[i] < 0) augment_from(i);
        }
    }

    [[nodiscard]] const std::vector<int>& partner_of_left() const { return partner_of_left_; }
    [[nodiscard]] const std::vector<int>& partner_of_right() const { return partner_of_right_; }
    /// Whether alternating paths from unmatched left vertices reach left vertex i.
    [[nodiscard]] bool is_reached(int i) const { return level_[i] != kUnreached; }

private:
    void match(int i, int j) {
        partner_of_left_[i] = j;
        partner_of_right_[j] = i;
    }

    void match_greedily() {
        for (int i = 0; i < graph_.num_left(); ++i)
            for (int e = graph_.offsets[i]; e < graph_.offsets[i + 1]; ++e)
                if (partner_of_right_[graph_.right[e]] < 0) {
                    match(i, graph_.right[e]);
                    break;
                }
    }

    /// Breadth first from the unmatched left vertices as far as the first free right vertices;
    /// false when there are none, and then all of Z is reached.
    bool find_levels() {
        queue_.clear();
        last_level_ = kUnreached;
        for (int i = 0; i < graph_.num_left(); ++i) {
            level_[i] = partner_of_left_[i] < 0 ? 0 : kUnreached;
            if (level_[i] == 0) queue_.push_back(i);
        }
        for (std::size_t head = 0; head < queue_.size(); ++head) {
            const int i = queue_[head];
            if (level_[i] > last_level_) break;
            for (int e = graph_.offsets[i]; e < graph_.offsets[i + 1]; ++e) {
                const int back = partner_of_right_[graph_.right[e]];
                if (back < 0) {
                    last_level_ = level_[i];
                } else if (level_[back] == kUnreached) {
                    level_[back] = level_[i] + 1;
                    queue_.push_back(back);
                }
            }
        }
        return last_level_ != kUnreached;
    }

    /// Depth first along rising levels, with an explicit stack: paths may be long.
    void augment_from(int root) {
        path_.assign(1, root);
        while (!path_.empty()) {
            const int i = path_.back();
            if (next_edge_[i] == graph_.offsets[i + 1]) {
                path_.pop_back();  // dead end
                if (!path_.empty()) ++next_edge_[path_.back()];
                continue;
            }
            const int back = partner_of_right_[graph_.right[next_edge_[i]]];
            if (back < 0) {
                for (const int k : path_) match(k, graph_.right[next_edge_[k]]);
                // other paths of this phase pass these vertices by
                for (const int k : path_) next_edge_[k] = graph_.offsets[k + 1];
                return;
            }
            if (level_[i] < last_level_ && level_[back] == level_[i] + 1)
                path_.push_back(back);
            else
                ++next_edge_[i];
        }
    }

    const BipartiteGraph& graph_;
    std::vector<int> partner_of_left_, partner_of_right_;
    std::vector<int> level_;      // left vertices before this one on its shortest alternating path
    int last_level_ = 0;          // where the shortest augmenting paths end
    std::vector<int> next_edge_;  // not yet tried in this phase
    std::vector<int> queue_, path_;
};

}  // namespace

std::vector<int> maximum_matching(const BipartiteGraph& graph) {
    return HopcroftKarp(graph).partner_of_left();
}

VertexCover minimum_cover(const BipartiteGraph& graph) {
    const HopcroftKarp matching(graph);
    VertexCover cover;
    for (int i = 0; i < graph.num_left(); ++i)
        if (!matching.is_reached(i)) cover.left.push_back(i);
    // a right vertex is reached just when its partner is; unmatched ones never are
    for (int j = 0; j < graph.num_right; ++j) {
        const int partner = matching.partner_of_right()[j];
        if (partner >= 0 && matching.is_reached(partner)) cover.right.push_back(j);
    }
    return cover;
}

}  // namespace pliant
