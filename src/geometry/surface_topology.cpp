#include "pliant/geometry/surface_topology.h"

#include "geometry/disjoint_sets.h"
#include "geometry/triangle.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <tuple>

namespace pliant {

SurfaceTopology::SurfaceTopology(const SurfaceMesh& mesh) {
    const int num_vertices = mesh.num_vertices(), num_triangles = mesh.num_triangles();
    const auto corner = [&](int triangle, int k) { return mesh.triangles[triangle][k % 3]; };

    // half-edges in buckets by their lower vertex: a counting sort, then tiny sorts by the other
    struct HalfEdge {
        int b, index;  // index: 3 · triangle + side
    };
    std::vector<int> bucket(num_vertices + 1, 0);
    for (const Triangle& t : mesh.triangles)
        for (int k = 0; k < 3; ++k) {
            assert(t[k] >= 0 && t[k] < num_vertices);
            ++bucket[std::min(t[k], t[(k + 1) % 3]) + 1];
        }
    std::partial_sum(bucket.begin(), bucket.end(), bucket.begin());
    std::vector<HalfEdge> half_edges(3 * mesh.triangles.size());
    std::vector<int> next(bucket.begin(), bucket.end() - 1);
    for (int t = 0; t < num_triangles; ++t)
        for (int k = 0; k < 3; ++k) {
            const auto [a, b] = std::minmax({corner(t, k), corner(t, k + 1)});
            half_edges[next[a]++] = {b, 3 * t + k};
        }

    // runs of equal ends are the edges
    uses_.reserve(half_edges.size());
    edges_.reserve(half_edges.size() / 2 + 16);
    triangle_edges_.resize(half_edges.size());
    for (int a = 0; a < num_vertices; ++a) {
        const auto begin = half_edges.begin() + bucket[a], end = half_edges.begin() + bucket[a + 1];
        std::sort(begin, end, [](const HalfEdge& p, const HalfEdge& q) {
            return p.b != q.b ? p.b < q.b : p.index < q.index;
        });
        for (auto h = begin; h != end; ++h) {
            if (h == begin || h->b != (h - 1)->b)
                edges_.push_back({a, h->b, static_cast<int>(uses_.size()), 0});
            ++edges_.back().num_uses;
            const int t = h->index / 3, side = h->index % 3;
            uses_.push_back({t, side, corner(t, side) == a});
            triangle_edges_[h->index] = static_cast<int>(edges_.size()) - 1;
        }
    }

    // triangles around each vertex, ascending; one that repeats a corner is listed once
    const auto is_first_mention = [](const Triangle& t, int k) {
        return (k < 1 || t[k] != t[0]) && (k < 2 || t[k] != t[1]);
    };
    vertex_start_.assign(num_vertices + 1, 0);
    for (const Triangle& t : mesh.triangles)
        for (int k = 0; k < 3; ++k)
            if (is_first_mention(t, k)) ++vertex_start_[t[k] + 1];
    const int num_unused =
        static_cast<int>(std::count(vertex_start_.begin() + 1, vertex_start_.end(), 0));
    std::partial_sum(vertex_start_.begin(), vertex_start_.end(), vertex_start_.begin());
    vertex_triangles_.resize(vertex_start_.back());
    next.assign(vertex_start_.begin(), vertex_start_.end() - 1);
    for (int t = 0; t < num_triangles; ++t)
        for (int k = 0; k < 3; ++k)
            if (is_first_mention(mesh.triangles[t], k))
                vertex_triangles_[next[mesh.triangles[t][k]]++] = t;

    // components: a side from a vertex to itself joins nothing
    DisjointSets sets(num_triangles);
    for (const Edge& edge : edges_)
        if (edge.a != edge.b)
            for (const EdgeUse& use : uses(edge)) sets.join(uses(edge)[0].triangle, use.triangle);
    std::tie(components_, num_components_) = sets.numbered();

    // repeated corners collapse a triangle to an edge or a point: it adds no face, the side no edge
    const auto num_edges = std::ranges::count_if(edges_, [](const Edge& e) { return e.a != e.b; });
    const auto num_faces = std::ranges::count_if(
        mesh.triangles, [](const Triangle& t) { return !has_repeated_corner(t); });
    euler_number_ = num_vertices - num_unused - static_cast<int>(num_edges - num_faces);
}

std::span<const SurfaceTopology::EdgeUse> SurfaceTopology::uses(const Edge& edge) const noexcept {
    return {uses_.data() + edge.first_use, static_cast<std::size_t>(edge.num_uses)};
}

int SurfaceTopology::neighbour(int triangle, int side) const noexcept {
    const Edge& edge = edges_[edge_of(triangle, side)];
    if (edge.num_uses != 2 || edge.a == edge.b) return -1;
    const auto both = uses(edge);
    if (both[0].triangle == both[1].triangle) return -1;  // a triangle folded onto itself
    return both[0].triangle == triangle ? both[1].triangle : both[0].triangle;
}

std::span<const int> SurfaceTopology::triangles_at(int vertex) const noexcept {
    const int begin = vertex_start_[vertex], end = vertex_start_[vertex + 1];
    return {vertex_triangles_.data() + begin, static_cast<std::size_t>(end - begin)};
}

PseudoNormals pseudo_normals(const SurfaceMesh& mesh, const SurfaceTopology& topology) {
    PseudoNormals normals;
    normals.face = face_normals(mesh);
    normals.vertex = vertex_normals(mesh);
    normals.edge.reserve(topology.edges().size());
    for (const SurfaceTopology::Edge& edge : topology.edges()) {
        Eigen::Vector3d sum = Eigen::Vector3d::Zero();
        for (const SurfaceTopology::EdgeUse& use : topology.uses(edge))
            sum += normals.face[use.triangle];
        normals.edge.push_back(unit_or_zero(sum));
    }
    return normals;
}

}  // namespace pliant
