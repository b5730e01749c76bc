#include "geometry/element_tree.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace pliant {

ElementTree::ElementTree(const VolumeMesh& mesh, double margin) : order_(mesh.num_elements()) {
    assert(mesh.num_elements() > 0);
    std::vector<Box> boxes(order_.size());
    std::vector<Eigen::Vector3d> centres(order_.size());
    for (int e = 0; e < mesh.num_elements(); ++e) {
        Box& box = boxes[e];
        for (const int v : mesh.element(e)) box.extend(mesh.vertices[v]);
        centres[e] = box.center();
        const Eigen::Vector3d wider = Eigen::Vector3d::Constant(margin * box.diagonal().norm());
        box = Box(box.min() - wider, box.max() + wider);
    }

    // halve at the median along the longest side until few are left
    constexpr int kLeafSize = 4;
    std::iota(order_.begin(), order_.end(), 0);
    nodes_.reserve(order_.size());
    nodes_.push_back({Box(), 0, mesh.num_elements()});
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
        const int first = nodes_[n].first, count = nodes_[n].count;
        Box box, spread;
        for (int i = first; i < first + count; ++i) {
            box.extend(boxes[order_[i]]);
            spread.extend(centres[order_[i]]);
        }
        nodes_[n].box = box;
        if (count <= kLeafSize) continue;
        int axis = 0;
        spread.sizes().maxCoeff(&axis);
        const auto begin = order_.begin() + first, middle = begin + count / 2;
        std::nth_element(begin, middle, begin + count, [&](int a, int b) {
            return centres[a][axis] != centres[b][axis] ? centres[a][axis] < centres[b][axis]
                                                        : a < b;
        });
        const int children = static_cast<int>(nodes_.size());
        nodes_.push_back({Box(), first, count / 2});
        nodes_.push_back({Box(), first + count / 2, count - count / 2});
        nodes_[n].first = children;
        nodes_[n].count = 0;
    }

    boxes_.reserve(order_.size());
    for (const int e : order_) boxes_.push_back(boxes[e]);
}

}  // namespace pliant
