#include "contact/triangle_order.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace pliant {
namespace {

void split_run(const std::vector<Eigen::Vector3d>& centres, std::vector<int>& order,
               std::ptrdiff_t first, std::ptrdiff_t last, int leaf) {
    if (last - first <= leaf) return;
    Box box;
    for (auto i = first; i < last; ++i)
        box.extend(centres[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])]);
    Eigen::Index axis;
    box.sizes().maxCoeff(&axis);
    // a power of two of leaves on the left, so that runs of such lengths are never torn apart
    const auto leaves = static_cast<std::size_t>((last - first + leaf - 1) / leaf);
    const auto middle = first + static_cast<std::ptrdiff_t>(std::bit_floor(leaves - 1)) * leaf;
    std::nth_element(order.begin() + first, order.begin() + middle, order.begin() + last,
                     [&](int a, int b) {
                         const double x = centres[static_cast<std::size_t>(a)][axis];
                         const double y = centres[static_cast<std::size_t>(b)][axis];
                         return x < y || (x == y && a < b);
                     });
    split_run(centres, order, first, middle, leaf);
    split_run(centres, order, middle, last, leaf);
}

}  // namespace

std::vector<int> order_triangles(const SurfaceMesh& mesh, int leaf) {
    std::vector<Eigen::Vector3d> centres;
    centres.reserve(mesh.triangles.size());
    for (int t = 0; t < mesh.num_triangles(); ++t)
        centres.push_back((mesh.corner(t, 0) + mesh.corner(t, 1) + mesh.corner(t, 2)) / 3);
    std::vector<int> order(mesh.triangles.size());
    std::iota(order.begin(), order.end(), 0);
    split_run(centres, order, 0, static_cast<std::ptrdiff_t>(order.size()), leaf);
    return order;
}

}  // namespace pliant
