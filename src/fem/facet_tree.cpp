#include "fem/facet_tree.h"

#include "core/numbers.h"
#include "geometry/closest_on_triangle.h"
#include "geometry/triangle.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace pliant {
namespace {

using Eigen::Vector3d;

std::vector<int> corners_of(const std::vector<Triangle>& facets) {
    std::vector<int> nodes;
    nodes.reserve(3 * facets.size());
    for (const Triangle& facet : facets) nodes.insert(nodes.end(), facet.begin(), facet.end());
    std::ranges::sort(nodes);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
}

/// The facets on their own vertices, those of `nodes`.
SurfaceMesh surface_of(const VolumeMesh& mesh, const std::vector<Triangle>& facets,
                       const std::vector<int>& nodes) {
    SurfaceMesh surface;
    std::vector<int> place(mesh.vertices.size(), -1);
    for (const int node : nodes) {
        place[node] = surface.num_vertices();
        surface.vertices.push_back(mesh.vertices[node]);
    }
    for (const Triangle& facet : facets)
        surface.triangles.push_back({place[facet[0]], place[facet[1]], place[facet[2]]});
    return surface;
}

/// All corners, seen from the origin, lie beyond a plane across the way to the triangle's middle:
/// cheaper than to measure the triangle.
bool is_beyond(const Vector3d& a, const Vector3d& b, const Vector3d& c, double distance_squared) {
    const Vector3d way = a + b + c;
    const double nearest = std::min({a.dot(way), b.dot(way), c.dot(way)});
    return nearest > 0 && nearest * nearest > distance_squared * way.squaredNorm();
}

double angle_between(const Vector3d& a, const Vector3d& b) {
    return std::atan2(a.cross(b).norm(), a.dot(b));
}

}  // namespace

double shortest_edge(const VolumeMesh& mesh, const std::vector<Triangle>& facets) {
    double shortest = kInfinity;
    for (const Triangle& facet : facets)
        for (int k = 0; k < 3; ++k)
            shortest = std::min(
                shortest, (mesh.vertices[facet[k]] - mesh.vertices[facet[(k + 1) % 3]]).norm());
    return shortest;
}

FacetTree::FacetTree(const VolumeMesh& mesh)
    : facets_(boundary_triangles(mesh)),
      nodes_(corners_of(facets_)),
      surface_(surface_of(mesh, facets_, nodes_)),
      topology_(surface_),
      order_(facets_.size()) {
    assert(!facets_.empty());
    build();
}

FacetTree::FacetTree(SurfaceMesh surface)
    : facets_(surface.triangles),
      nodes_(static_cast<std::size_t>(surface.num_vertices())),
      surface_(std::move(surface)),
      topology_(surface_),
      order_(facets_.size()) {
    assert(!facets_.empty());
    std::iota(nodes_.begin(), nodes_.end(), 0);
    build();
}

void FacetTree::build() {
    std::vector<Vector3d> centres;
    centres.reserve(facets_.size());
    for (int f = 0; f < surface_.num_triangles(); ++f)
        centres.emplace_back(surface_.corner(f, 0) + surface_.corner(f, 1) + surface_.corner(f, 2));

    // halve at the median along the longest side until few are left
    std::iota(order_.begin(), order_.end(), 0);
    tree_.push_back({0, surface_.num_triangles()});
    for (std::size_t n = 0; n < tree_.size(); ++n) {
        const auto [first, count] = tree_[n];
        const auto begin = order_.begin() + first, end = begin + count, middle = begin + count / 2;
        if (count <= kLeafSize) {
            std::sort(begin, end);
            continue;
        }
        Box spread;
        for (auto facet = begin; facet != end; ++facet) spread.extend(centres[*facet]);
        int axis = 0;
        spread.sizes().maxCoeff(&axis);
        std::nth_element(begin, middle, end, [&](int a, int b) {
            return centres[a][axis] != centres[b][axis] ? centres[a][axis] < centres[b][axis]
                                                        : a < b;
        });
        tree_[n] = {static_cast<int>(tree_.size()), 0};
        tree_.push_back({first, count / 2});
        tree_.push_back({first + count / 2, count - count / 2});
    }
}

FacetTree::Workspace FacetTree::make_workspace() const {
    Workspace ws{surface_.vertices, std::vector<Box>(tree_.size())};
    fit_boxes(ws);
    return ws;
}

void FacetTree::refit(const Eigen::Ref<const Eigen::VectorXd>& u, Workspace& ws) const noexcept {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        ws.positions[i] = surface_.vertices[i] + u.segment<3>(3 * Eigen::Index{nodes_[i]});
    fit_boxes(ws);
}

void FacetTree::fit_boxes(Workspace& ws) const noexcept {
    // children before their parents
    for (std::size_t n = tree_.size(); n-- > 0;) {
        const auto [first, count] = tree_[n];
        if (count == 0) {
            ws.boxes[n] = ws.boxes[first].merged(ws.boxes[first + 1]);
            continue;
        }
        Box box;
        for (int i = first; i < first + count; ++i)
            for (int k = 0; k < 3; ++k) box.extend(corner(order_[i], k, ws));
        ws.boxes[n] = box;
    }
}

FacetTree::Closest FacetTree::closest(const Vector3d& x, double radius,
                                      const Workspace& ws) const noexcept {
    if (!x.allFinite() || !(radius >= 0)) return {};
    const Box& all = bounds(ws);
    const double size = std::max(all.min().cwiseAbs().maxCoeff(), all.max().cwiseAbs().maxCoeff());
    // distances to boxes and to facets round differently: boxes farther by less are opened
    const double noise = 1e-14 * (size + x.cwiseAbs().maxCoeff());
    const auto opening = [&](double distance) { return (distance + noise) * (distance + noise); };

    struct Waiting {
        int node;
        double distance_squared;
    };
    std::array<Waiting, kMaxDepth> stack;
    int depth = 0, facet = -1;
    detail::TrianglePoint nearest{};
    double distance = radius, open_within = opening(radius);
    stack[depth++] = {0, all.squaredExteriorDistance(x)};
    while (depth > 0) {
        const Waiting top = stack[--depth];
        if (top.distance_squared > open_within) continue;
        const auto [first, count] = tree_[top.node];
        if (count == 0) {
            Waiting near{first, ws.boxes[first].squaredExteriorDistance(x)};
            Waiting far{first + 1, ws.boxes[first + 1].squaredExteriorDistance(x)};
            if (far.distance_squared < near.distance_squared) std::swap(near, far);
            stack[depth++] = far;
            stack[depth++] = near;
            continue;
        }
        for (int i = first; i < first + count; ++i) {
            const int f = order_[i];
            const Vector3d &a = corner(f, 0, ws), &b = corner(f, 1, ws), &c = corner(f, 2, ws);
            if (is_beyond(a - x, b - x, c - x, open_within)) continue;
            const detail::TrianglePoint p = detail::nearest_on_triangle(x, a, b, c);
            const double d = std::sqrt(p.distance_squared);
            if (!(d <= distance) || (d == distance && facet >= 0 && facet < f)) continue;
            nearest = p;
            facet = f;
            distance = d;
            open_within = opening(d);
        }
    }
    if (facet < 0) return {};

    // docs/body.md eq. (2): the pseudonormal of the feature gives the sign; a face is also the
    // direction, and so is any feature so near that round-off decides about it
    const Vector3d from_corner = x - corner(facet, nearest.feature_index, ws);
    const Vector3d pseudonormal = feature_normal(facet, nearest.feature, nearest.feature_index, ws);
    const bool is_inside = from_corner.dot(pseudonormal) < 0;
    Closest result{facet, nearest.barycentric, is_inside ? -distance : distance, pseudonormal};
    if (nearest.feature == Feature::Face || distance <= 1e-10 * size) {
        if (pseudonormal.isZero(0.0)) result.normal = Vector3d::UnitZ();
        return result;
    }
    Vector3d point = Vector3d::Zero();
    for (int k = 0; k < 3; ++k) point += nearest.barycentric[k] * corner(facet, k, ws);
    result.normal = (is_inside ? -1.0 : 1.0) * (x - point).normalized();
    return result;
}

bool FacetTree::is_within(int facet, const Vector3d& x, double radius,
                          const Workspace& ws) const noexcept {
    return detail::nearest_on_triangle(x, corner(facet, 0, ws), corner(facet, 1, ws),
                                       corner(facet, 2, ws))
               .distance_squared <= radius * radius;
}

Vector3d FacetTree::facet_normal(int facet, const Workspace& ws) const noexcept {
    return unit_or_zero(
        area_vector(corner(facet, 0, ws), corner(facet, 1, ws), corner(facet, 2, ws)));
}

Vector3d FacetTree::feature_normal(int facet, Feature feature, int index,
                                   const Workspace& ws) const noexcept {
    if (feature == Feature::Face) return facet_normal(facet, ws);
    Vector3d sum = Vector3d::Zero();
    if (feature == Feature::Edge) {
        const auto& edge = topology_.edges()[topology_.edge_of(facet, index)];
        for (const auto& use : topology_.uses(edge)) sum += facet_normal(use.triangle, ws);
        return unit_or_zero(sum);
    }
    const int node = surface_.triangles[facet][index];
    for (const int f : topology_.triangles_at(node)) {
        const auto& t = surface_.triangles[f];
        const int k = static_cast<int>(std::ranges::find(t, node) - t.begin());
        const Vector3d &x = ws.positions[node], &next = corner(f, (k + 1) % 3, ws),
                       &last = corner(f, (k + 2) % 3, ws);
        sum += angle_between(next - x, last - x) * facet_normal(f, ws);
    }
    return unit_or_zero(sum);
}

}  // namespace pliant
