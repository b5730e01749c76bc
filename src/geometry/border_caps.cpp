#include "geometry/border_caps.h"

#include <algorithm>
#include <tuple>

namespace pliant {
namespace {

struct DirectedEdge {
    int from, to;  // vertices that stand for all at their place
};

/// For each vertex, the one vertex that stands for all at the same place.
std::vector<int> vertices_by_place(const std::vector<Eigen::Vector3d>& vertices) {
    std::vector<int> order(vertices.size()), place(vertices.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    const auto position = [&](int i) {
        const Eigen::Vector3d& v = vertices[static_cast<std::size_t>(i)];
        return std::tuple(v.x(), v.y(), v.z());
    };
    std::sort(order.begin(), order.end(), [&](int a, int b) {
        return std::tuple(position(a), a) < std::tuple(position(b), b);
    });
    for (std::size_t i = 0; i < order.size(); ++i) {
        const bool is_new = i == 0 || position(order[i]) != position(order[i - 1]);
        place[static_cast<std::size_t>(order[i])] =
            is_new ? order[i] : place[static_cast<std::size_t>(order[i - 1])];
    }
    return place;
}

/// Edges that more triangles run one way than the other, once for each in excess, sorted.
std::vector<DirectedEdge> border_edges(const SurfaceMesh& mesh) {
    const std::vector<int> place = vertices_by_place(mesh.vertices);
    struct Use {
        int low, high, direction;
    };
    std::vector<Use> uses;
    uses.reserve(3 * mesh.triangles.size());
    for (const Triangle& t : mesh.triangles)
        for (std::size_t side = 0; side < 3; ++side) {
            const int a = place[static_cast<std::size_t>(t[side])];
            const int b = place[static_cast<std::size_t>(t[(side + 1) % 3])];
            if (a != b) uses.push_back({std::min(a, b), std::max(a, b), a < b ? 1 : -1});
        }
    const auto ends = [](const Use& use) { return std::tie(use.low, use.high); };
    std::sort(uses.begin(), uses.end(),
              [&](const Use& p, const Use& q) { return ends(p) < ends(q); });

    std::vector<DirectedEdge> border;
    for (std::size_t first = 0, last; first < uses.size(); first = last) {
        int excess = 0;
        for (last = first; last < uses.size() && ends(uses[last]) == ends(uses[first]); ++last)
            excess += uses[last].direction;
        const auto [low, high, direction] = uses[first];
        for (; excess > 0; --excess) border.push_back({low, high});
        for (; excess < 0; ++excess) border.push_back({high, low});
    }
    std::sort(border.begin(), border.end(), [](const DirectedEdge& p, const DirectedEdge& q) {
        return std::tie(p.from, p.to) < std::tie(q.from, q.to);
    });
    return border;
}

/// Splits the border into loops that visit no vertex twice. As many edges arrive at a vertex as
/// leave it, so that a walk along unused edges can only end where it began; each time it meets
/// itself, a loop comes off.
std::vector<std::vector<int>> border_loops(const std::vector<DirectedEdge>& border,
                                           std::size_t num_vertices) {
    std::vector<std::size_t> next(num_vertices, 0), end(num_vertices, 0);
    for (std::size_t e = border.size(); e-- > 0;) {
        const auto from = static_cast<std::size_t>(border[e].from);
        next[from] = e;
        if (end[from] == 0) end[from] = e + 1;
    }
    std::vector<int> step_of(num_vertices, -1), walk;  // where on the walk a vertex is
    std::vector<std::vector<int>> loops;
    for (const DirectedEdge& start : border) {
        int at = start.from;
        while (next[static_cast<std::size_t>(at)] < end[static_cast<std::size_t>(at)]) {
            step_of[static_cast<std::size_t>(at)] = static_cast<int>(walk.size());
            walk.push_back(at);
            at = border[next[static_cast<std::size_t>(at)]++].to;
            const int met = step_of[static_cast<std::size_t>(at)];
            if (met < 0) continue;
            loops.emplace_back(walk.begin() + met, walk.end());
            for (const int v : loops.back()) step_of[static_cast<std::size_t>(v)] = -1;
            walk.resize(static_cast<std::size_t>(met));
        }
    }
    return loops;
}

}  // namespace

SurfaceMesh with_border_caps(const SurfaceMesh& mesh) {
    SurfaceMesh closed = mesh;
    for (const std::vector<int>& loop : border_loops(border_edges(mesh), mesh.vertices.size())) {
        const auto end_of = [&](std::size_t i) { return loop[(i + 1) % loop.size()]; };
        // centroid of the loop as a curve
        Eigen::Vector3d sum = Eigen::Vector3d::Zero();
        double length = 0;
        for (std::size_t i = 0; i < loop.size(); ++i) {
            const Eigen::Vector3d& a = mesh.vertices[static_cast<std::size_t>(loop[i])];
            const Eigen::Vector3d& b = mesh.vertices[static_cast<std::size_t>(end_of(i))];
            sum += (b - a).norm() * 0.5 * (a + b);
            length += (b - a).norm();
        }
        const int apex = closed.num_vertices();
        // lengths below 1e-162 vanish in their squares
        closed.vertices.push_back(length > 0 ? Eigen::Vector3d(sum / length)
                                             : mesh.vertices[static_cast<std::size_t>(loop[0])]);
        for (std::size_t i = 0; i < loop.size(); ++i)
            closed.triangles.push_back({end_of(i), loop[i], apex});
    }
    return closed;
}

}  // namespace pliant
