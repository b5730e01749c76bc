#include "fem/downward_numbering.h"

#include <array>
#include <cstdint>

namespace pliant {
namespace {

using Eigen::Vector3d;

class SimpleDissection {
public:
    SimpleDissection(const VolumeMesh& mesh, const ActiveElements& elements)
        : elements_(elements), numbering_(elements.is_active), mark_(mesh.vertices.size(), -1) {
        const auto num_elements = static_cast<std::size_t>(elements.size());
        low_.resize(num_elements);
        high_.resize(num_elements);
        centroid_.resize(num_elements, Vector3d::Zero());
        std::vector<int> set;
        for (int e = 0; e < elements.size(); ++e) {
            if (elements.of(e).empty()) continue;
            Box box;
            for (const int node : elements.of(e)) {
                box.extend(mesh.vertices[node]);
                centroid_[e] += mesh.vertices[node];
            }
            low_[e] = box.min();
            high_[e] = box.max();
            centroid_[e] /= static_cast<double>(elements.of(e).size());
            set.push_back(e);
        }
        dissect(set);
    }

    [[nodiscard]] Dissection take() { return {numbering_.take_order(), std::move(splits_)}; }

private:
    enum Part { Middle, Left, Right };
    struct Cut {
        int axis = -1;
        double plane = 0;
        std::array<int, 3> sizes{};  // elements of each part
    };

    [[nodiscard]] Part part_of(int e, int axis, double plane) const {
        if (high_[e][axis] <= plane) return Left;
        return low_[e][axis] >= plane ? Right : Middle;
    }

    [[nodiscard]] Cut cut_at_median(std::span<const int> set, int axis) {
        coordinates_.clear();
        for (const int e : set) coordinates_.push_back(centroid_[e][axis]);
        const auto middle = coordinates_.begin() + static_cast<std::ptrdiff_t>(set.size() / 2);
        std::nth_element(coordinates_.begin(), middle, coordinates_.end());
        Cut cut{axis, *middle, {}};
        for (const int e : set) ++cut.sizes[part_of(e, axis, cut.plane)];
        return cut;
    }

    void number_nodes(std::span<const int> set) {
        for (const int e : set)
            for (const int node : elements_.of(e)) numbering_.number(node);
    }

    void dissect(std::span<int> set, bool is_separator = false) {
        if (set.empty()) return;
        // the axis with the fewest elements cut; every part must be smaller by a sixteenth, which
        // bounds the depth and, below 16 elements, asks for nothing but progress
        Cut best;
        for (int axis = 0; axis < 3 && set.size() > 1; ++axis) {
            const Cut cut = cut_at_median(set, axis);
            const int largest = *std::max_element(cut.sizes.begin(), cut.sizes.end());
            if (16 * static_cast<std::int64_t>(largest) >
                15 * static_cast<std::int64_t>(set.size()))
                continue;
            if (best.axis < 0 || cut.sizes[Middle] < best.sizes[Middle]) best = cut;
        }
        if (best.axis < 0) return number_nodes(set);

        // sort the elements by part, keeping their order
        scratch_.assign(set.begin(), set.end());
        std::array<int, 3> next{0, best.sizes[Middle], best.sizes[Middle] + best.sizes[Left]};
        for (const int e : scratch_) set[next[part_of(e, best.axis, best.plane)]++] = e;
        const auto middle = set.first(best.sizes[Middle]);
        const auto left = set.subspan(best.sizes[Middle], best.sizes[Left]);
        const auto right = set.last(best.sizes[Right]);

        dissect(middle, true);
        number_shared_nodes(left, right);
        const int separator = numbering_.lowest();
        dissect(left, is_separator);
        const int left_begin = numbering_.lowest();
        dissect(right, is_separator);
        if (!is_separator) splits_.push_back({numbering_.lowest(), left_begin, separator});
    }

    /// Nodes exactly on the plane may belong to both sides without an element being cut.
    void number_shared_nodes(std::span<const int> left, std::span<const int> right) {
        ++num_cuts_;
        for (const int e : left)
            for (const int node : elements_.of(e)) mark_[node] = num_cuts_;
        for (const int e : right)
            for (const int node : elements_.of(e))
                if (mark_[node] == num_cuts_) numbering_.number(node);
    }

    const ActiveElements& elements_;
    DownwardNumbering numbering_;
    std::vector<DissectionSplit> splits_;
    std::vector<Vector3d> low_, high_, centroid_;  // of each element's active nodes
    std::vector<int> scratch_;
    std::vector<double> coordinates_;
    std::vector<int> mark_;  // last cut that saw the node on its left side
    int num_cuts_ = 0;
};

}  // namespace

Dissection simple_dissection(const VolumeMesh& mesh, const ActiveElements& elements) {
    return SimpleDissection(mesh, elements).take();
}

}  // namespace pliant
