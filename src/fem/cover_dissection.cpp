#include "fem/bipartite_cover.h"
#include "fem/downward_numbering.h"

#include <array>
#include <cstdint>

namespace pliant {
namespace {

using Eigen::Vector3d;

class CoverDissection {
public:
    CoverDissection(const VolumeMesh& mesh, const ActiveElements& elements)
        : mesh_(mesh),
          elements_(elements),
          numbering_(elements.is_active),
          mark_(mesh.vertices.size(), -1),
          index_(mesh.vertices.size(), 0) {
        std::vector<int> set;
        centroid_.resize(static_cast<std::size_t>(elements.size()), Vector3d::Zero());
        for (int e = 0; e < elements.size(); ++e) {
            if (elements.of(e).empty()) continue;
            for (const int node : elements.of(e)) centroid_[e] += mesh.vertices[node];
            centroid_[e] /= static_cast<double>(elements.of(e).size());
            set.push_back(e);
        }
        dissect(std::move(set));
    }

    [[nodiscard]] Dissection take() { return {numbering_.take_order(), std::move(splits_)}; }

private:
    struct Cut {
        int axis = -1;
        double plane = 0;
        std::vector<int> cover;  // nodes
    };

    [[nodiscard]] bool is_left(int node, const Cut& cut) const {
        return mesh_.vertices[node][cut.axis] < cut.plane;
    }

    /// Unnumbered nodes of the elements, each once.
    [[nodiscard]] std::vector<int> open_nodes(const std::vector<int>& set) {
        ++num_marks_;
        std::vector<int> nodes;
        for (const int e : set)
            for (const int node : elements_.of(e))
                if (!numbering_.is_numbered(node) && mark_[node] != num_marks_) {
                    mark_[node] = num_marks_;
                    nodes.push_back(node);
                }
        return nodes;
    }

    /// Half of the elements have their centroids on each side.
    [[nodiscard]] double median_plane(const std::vector<int>& set, int axis) {
        coordinates_.clear();
        for (const int e : set) coordinates_.push_back(centroid_[e][axis]);
        const auto middle = coordinates_.begin() + static_cast<std::ptrdiff_t>(set.size() / 2);
        std::nth_element(coordinates_.begin(), middle, coordinates_.end());
        return *middle;
    }

    /// A smallest set of nodes that covers all edges across the plane.
    [[nodiscard]] std::vector<int> cover_of(const std::vector<int>& set, const Cut& cut) {
        std::array<std::vector<int>, 2> crossing;  // nodes with such edges; [1] holds the left ones
        std::vector<std::vector<int>> rows;        // right partners of each left node
        const auto index_of = [&](int node, bool left) {
            auto& nodes = crossing[left];
            const int i = index_[node];
            if (i < static_cast<int>(nodes.size()) && nodes[i] == node) return i;
            nodes.push_back(node);
            return index_[node] = static_cast<int>(nodes.size()) - 1;
        };
        std::array<std::vector<int>, 2> sides;  // open nodes of one element
        for (const int e : set) {
            for (auto& side : sides) side.clear();
            for (const int node : elements_.of(e))
                if (!numbering_.is_numbered(node)) sides[is_left(node, cut)].push_back(node);
            if (sides[0].empty() || sides[1].empty()) continue;
            for (const int i : sides[1]) {
                const int row = index_of(i, true);
                if (row == static_cast<int>(rows.size())) rows.emplace_back();
                for (const int j : sides[0]) rows[row].push_back(index_of(j, false));
            }
        }

        BipartiteGraph graph;
        graph.num_right = static_cast<int>(crossing[0].size());
        for (auto& row : rows) {
            std::sort(row.begin(), row.end());
            row.erase(std::unique(row.begin(), row.end()), row.end());
            graph.right.insert(graph.right.end(), row.begin(), row.end());
            graph.offsets.push_back(static_cast<int>(graph.right.size()));
        }
        const VertexCover cover = minimum_cover(graph);
        std::vector<int> nodes;
        for (const int i : cover.left) nodes.push_back(crossing[1][i]);
        for (const int j : cover.right) nodes.push_back(crossing[0][j]);
        return nodes;
    }

    [[nodiscard]] Cut best_cut(const std::vector<int>& set, const std::vector<int>& nodes) {
        Cut best;
        for (int axis = 0; axis < 3; ++axis) {
            Cut cut{axis, median_plane(set, axis), {}};
            cut.cover = cover_of(set, cut);
            // what stays on each side
            std::array<std::int64_t, 2> sizes{};
            for (const int node : nodes) ++sizes[is_left(node, cut)];
            for (const int node : cut.cover) --sizes[is_left(node, cut)];
            // both sides must be smaller by a sixteenth, which bounds the depth
            const auto [smaller, larger] = std::minmax(sizes[0], sizes[1]);
            if (smaller == 0 || 16 * larger > 15 * static_cast<std::int64_t>(nodes.size()))
                continue;
            if (best.axis < 0 || cut.cover.size() < best.cover.size()) best = std::move(cut);
        }
        return best;
    }

    void dissect(std::vector<int> set) {
        const std::vector<int> nodes = open_nodes(set);
        if (nodes.empty()) return;
        const Cut best = best_cut(set, nodes);
        if (best.axis < 0) {
            for (const int node : nodes) numbering_.number(node);
            return;
        }
        for (const int node : best.cover) numbering_.number(node);
        const int separator = numbering_.lowest();

        // an element's open nodes now lie on one side only
        std::vector<int> left, right;
        for (const int e : set)
            for (const int node : elements_.of(e))
                if (!numbering_.is_numbered(node)) {
                    (is_left(node, best) ? left : right).push_back(e);
                    break;
                }
        set = {};
        dissect(std::move(left));
        const int left_begin = numbering_.lowest();
        dissect(std::move(right));
        splits_.push_back({numbering_.lowest(), left_begin, separator});
    }

    const VolumeMesh& mesh_;
    const ActiveElements& elements_;
    DownwardNumbering numbering_;
    std::vector<DissectionSplit> splits_;
    std::vector<int> mark_;   // last list of open nodes that took the node
    std::vector<int> index_;  // of the node among those of its side
    std::vector<Vector3d> centroid_;
    std::vector<double> coordinates_;
    int num_marks_ = 0;
};

}  // namespace

Dissection cover_dissection(const VolumeMesh& mesh, const ActiveElements& elements) {
    return CoverDissection(mesh, elements).take();
}

}  // namespace pliant
