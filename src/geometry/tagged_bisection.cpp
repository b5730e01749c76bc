#include "geometry/tagged_bisection.h"

#include "core/numbers.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <tuple>
#include <utility>

namespace pliant {

TaggedBisection::TaggedBisection(const std::array<int, 3>& cubes, int side) {
    const auto vertex = [&](const Point& p) {
        return (p[2] * (cubes[1] + 1) + p[1]) * (cubes[0] + 1) + p[0];
    };
    for (int k = 0; k <= cubes[2]; ++k)
        for (int j = 0; j <= cubes[1]; ++j)
            for (int i = 0; i <= cubes[0]; ++i) points_.push_back({i * side, j * side, k * side});
    stars_.resize(points_.size());
    for (int k = 0; k < cubes[2]; ++k)
        for (int j = 0; j < cubes[1]; ++j)
            for (int i = 0; i < cubes[0]; ++i) {
                // one tet per order of walking along the three axes from corner to corner
                std::array<std::size_t, 3> order{0, 1, 2};
                do {
                    Point p{i, j, k};
                    std::array<int, 4> x{vertex(p), 0, 0, 0};
                    for (std::size_t step = 0; step < 3; ++step) {
                        ++p[order[step]];
                        x[step + 1] = vertex(p);
                    }
                    add_tet(x, 3);
                } while (std::next_permutation(order.begin(), order.end()));
            }
}

int TaggedBisection::squared_longest_edge(std::size_t tet) const noexcept {
    const Tet& t = tets_[tet];
    const Point &a = points_[at(t.x[0])], &b = points_[at(t.x[at(t.type)])];
    int sum = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) sum += (b[axis] - a[axis]) * (b[axis] - a[axis]);
    return sum;
}

int TaggedBisection::add_tet(const std::array<int, 4>& x, int type) {
    const int tet = static_cast<int>(tets_.size());
    tets_.push_back({x, static_cast<std::int8_t>(type)});
    for (const int vertex : x) stars_[at(vertex)].push_back(tet);
    return tet;
}

void TaggedBisection::split(int tet, int middle) {
    const Tet parent = tets_[at(tet)];
    const int k = parent.type, next = k == 1 ? 3 : k - 1;
    // x0…x(k−1) and x1…xk, then the new vertex, then the rest
    std::array<int, 4> lower = parent.x, upper = parent.x;
    for (int n = 0; n < k; ++n) upper[at(n)] = parent.x[at(n + 1)];
    lower[at(k)] = upper[at(k)] = middle;
    tets_[at(tet)].first_child = add_tet(lower, next);
    add_tet(upper, next);
}

void TaggedBisection::find_ring(int a, int b, std::vector<int>& ring) {
    if (stars_[at(b)].size() < stars_[at(a)].size()) std::swap(a, b);
    auto& star = stars_[at(a)];
    std::erase_if(star, [&](int tet) { return !is_leaf(at(tet)); });
    ring.clear();
    for (const int tet : star) {
        const auto& x = tets_[at(tet)].x;
        if (std::find(x.begin(), x.end(), b) != x.end()) ring.push_back(tet);
    }
}

void TaggedBisection::bisect(int tet) {
    std::vector<int> ring;
    while (is_leaf(at(tet))) {
        const Tet& t = tets_[at(tet)];
        const int a = t.x[0], b = t.x[at(t.type)];
        find_ring(a, b, ring);
        // neighbours that would be bisected at another edge go first
        const auto other_edge = std::find_if(ring.begin(), ring.end(), [&](int r) {
            const Tet& neighbour = tets_[at(r)];
            const int c = neighbour.x[0], d = neighbour.x[at(neighbour.type)];
            return std::minmax(a, b) != std::minmax(c, d);
        });
        if (other_edge != ring.end()) {
            bisect(*other_edge);
            continue;
        }
        const Point &p = points_[at(a)], &q = points_[at(b)];
        const Point middle{(p[0] + q[0]) / 2, (p[1] + q[1]) / 2, (p[2] + q[2]) / 2};
        assert(2 * middle[0] == p[0] + q[0] && 2 * middle[1] == p[1] + q[1] &&
               2 * middle[2] == p[2] + q[2]);
        const int vertex = static_cast<int>(points_.size());
        points_.push_back(middle);
        stars_.emplace_back();
        for (const int r : ring) split(r, vertex);
    }
}

std::vector<int> TaggedBisection::leaves() const {
    std::vector<int> result, stack;
    // roots stand before all their descendants and are nobody's children
    std::vector<char> is_child(tets_.size(), 0);
    for (const Tet& t : tets_)
        if (t.first_child >= 0) is_child[at(t.first_child)] = is_child[at(t.first_child) + 1] = 1;
    for (std::size_t root = 0; root < tets_.size() && !is_child[root]; ++root) {
        stack.assign(1, static_cast<int>(root));
        while (!stack.empty()) {
            const int tet = stack.back();
            stack.pop_back();
            const int child = tets_[at(tet)].first_child;
            if (child < 0)
                result.push_back(tet);
            else
                stack.insert(stack.end(), {child + 1, child});
        }
    }
    return result;
}

std::array<int, 4> TaggedBisection::oriented(int tet) const noexcept {
    std::array<int, 4> x = tets_[at(tet)].x;
    std::array<std::array<long long, 3>, 3> e{};
    for (std::size_t n = 0; n < 3; ++n)
        for (std::size_t axis = 0; axis < 3; ++axis)
            e[n][axis] = points_[at(x[n + 1])][axis] - points_[at(x[0])][axis];
    const long long determinant = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                                  e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                                  e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
    if (determinant < 0) std::swap(x[2], x[3]);
    return x;
}

VolumeMesh extract_mesh(const TaggedBisection& forest, const std::vector<int>& tets,
                        const Eigen::Vector3d& origin, double cell) {
    const auto& points = forest.points();
    std::vector<int> used;
    for (const int tet : tets)
        for (const int vertex : forest.tets()[at(tet)].x) used.push_back(vertex);
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    std::sort(used.begin(), used.end(), [&](int a, int b) {
        const auto &p = points[at(a)], &q = points[at(b)];
        return std::tie(p[2], p[1], p[0]) < std::tie(q[2], q[1], q[0]);
    });

    VolumeMesh mesh;
    mesh.kind = ElementKind::Tet4;
    std::vector<int> number(points.size(), -1);
    for (const int vertex : used) {
        number[at(vertex)] = mesh.num_vertices();
        const auto& p = points[at(vertex)];
        mesh.vertices.push_back(origin + cell * Eigen::Vector3d(p[0], p[1], p[2]));
    }
    for (const int tet : tets)
        for (const int vertex : forest.oriented(tet)) mesh.elements.push_back(number[at(vertex)]);
    return mesh;
}

}  // namespace pliant
