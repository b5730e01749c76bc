#include "pliant/geometry/subdivision.h"

#include "core/numbers.h"
#include "geometry/sharp_features.h"
#include "pliant/core/error.h"
#include "pliant/geometry/surface_check.h"
#include "pliant/geometry/surface_topology.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr double kMaxFineTriangles = 5e7;
constexpr double kBytesPerFineTriangle = 100;  // of the result and of the work on the last level

void require_levels(const SurfaceMesh& mesh, int levels) {
    if (levels < 0)
        throw InputError("", "levels", std::to_string(levels), "a number of rounds, 0 or more");
    const double fine = mesh.num_triangles() * std::pow(4.0, levels);
    if (fine <= kMaxFineTriangles) return;
    const int most = static_cast<int>(std::log(kMaxFineTriangles / mesh.num_triangles()) /
                                      std::log(4.0));  // rounded down
    char estimate[120];
    std::snprintf(estimate, sizeof estimate,
                  " would make %.3g triangles and take about %.3g GB of memory", fine,
                  fine * kBytesPerFineTriangle * 1e-9);
    throw InputError("", "levels", std::to_string(levels),
                     "at most " + std::to_string(most) + " for a mesh of " +
                         std::to_string(mesh.num_triangles()) + " triangles; " +
                         std::to_string(levels) + estimate);
}

void require_manifold(const SurfaceMesh& mesh, bool is_border_allowed) {
    SurfaceReport report = check_surface(mesh);
    report.is_inside_out = false;  // the wall of a cavity is fine
    if (is_border_allowed) report.open_edges = {};
    std::string defects = report.text();
    if (defects.empty()) return;
    for (std::size_t k; (k = defects.find('\n')) != std::string::npos;) defects.replace(k, 1, ", ");
    throw InputError("", std::string("a mesh to subdivide must be ") +
                             (is_border_allowed ? "" : "closed and ") + "manifold, but this has " +
                             defects +
                             "; try 'pliant convert --repair', or mend it in a modelling program");
}

/// The corner of the other triangle at this side, or −1 on a border.
int vertex_across(const SurfaceMesh& mesh, const SurfaceTopology& topology, int triangle,
                  int side) {
    for (const SurfaceTopology::EdgeUse& use :
         topology.uses(topology.edges()[at(topology.edge_of(triangle, side))]))
        if (use.triangle != triangle) return mesh.triangles[at(use.triangle)][at(use.side + 2) % 3];
    return -1;
}

std::array<int, 8> eight_points(const SurfaceMesh& mesh, const SurfaceTopology& topology,
                                const SurfaceTopology::Edge& edge) {
    std::array<int, 8> points{edge.a, edge.b, -1, -1, -1, -1, -1, -1};
    for (const SurfaceTopology::EdgeUse& use : topology.uses(edge)) {
        // side + 1 leaves the end of this side, side + 2 comes back to its beginning
        const int at_end = vertex_across(mesh, topology, use.triangle, (use.side + 1) % 3);
        const int at_begin = vertex_across(mesh, topology, use.triangle, (use.side + 2) % 3);
        const std::size_t k = use.is_forward ? 0 : 1;
        points[2 + k] = mesh.triangles[at(use.triangle)][at(use.side + 2) % 3];
        points[4 + 2 * k] = use.is_forward ? at_begin : at_end;
        points[5 + 2 * k] = use.is_forward ? at_end : at_begin;
    }
    return points;
}

/// One round of splits without positions; the vertex on edge e becomes number n + e.
std::vector<Triangle> split_triangles(const SurfaceMesh& mesh, const SurfaceTopology& topology) {
    std::vector<Triangle> fine;
    fine.reserve(4 * mesh.triangles.size());
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const auto [a, b, c] = mesh.triangles[at(t)];
        const int ab = mesh.num_vertices() + topology.edge_of(t, 0);
        const int bc = mesh.num_vertices() + topology.edge_of(t, 1);
        const int ca = mesh.num_vertices() + topology.edge_of(t, 2);
        fine.insert(fine.end(), {{a, ab, ca}, {ab, b, bc}, {ca, bc, c}, {bc, ca, ab}});
    }
    return fine;
}

/// Even positions of the next level, docs/geometry-subdivision.md eqs. (2) and (3).
std::vector<Vector3d> even_points(const SurfaceMesh& mesh, const SurfaceTopology& topology,
                                  const SharpFeatures& sharp) {
    struct Ring {
        Vector3d sum = Vector3d::Zero(), crease_sum = Vector3d::Zero();
        int valence = 0, num_creases = 0;
        void add(const Vector3d& x, bool is_crease) {
            sum += x;
            ++valence;
            if (!is_crease) return;
            crease_sum += x;
            ++num_creases;
        }
    };
    std::vector<Ring> rings(mesh.vertices.size());
    for (const SurfaceTopology::Edge& edge : topology.edges()) {
        const bool is_crease = sharp.is_crease(edge);
        rings[at(edge.a)].add(mesh.vertices[at(edge.b)], is_crease);
        rings[at(edge.b)].add(mesh.vertices[at(edge.a)], is_crease);
    }
    std::vector<Vector3d> points = mesh.vertices;
    for (int v = 0; v < mesh.num_vertices(); ++v) {
        const Ring& ring = rings[at(v)];
        if (sharp.is_corner(v) || ring.num_creases > 2) continue;
        if (ring.num_creases == 2) {
            points[at(v)] = 0.75 * points[at(v)] + 0.125 * ring.crease_sum;
        } else {
            const double beta = loop_weight(ring.valence);
            points[at(v)] = (1 - ring.valence * beta) * points[at(v)] + beta * ring.sum;
        }
    }
    return points;
}

/// Splits `levels` times; `sharp` null keeps the surface as it is.
SemiRegularMesh subdivide(const SurfaceMesh& control, int levels, SharpFeatures* sharp) {
    SemiRegularMesh result;
    result.mesh = control;
    result.num_vertices = {control.num_vertices()};
    result.triangles = {control.triangles};
    for (int level = 0; level < levels; ++level) {
        SurfaceMesh& mesh = result.mesh;
        const SurfaceTopology topology(mesh);
        std::vector<Vector3d> points = sharp ? even_points(mesh, topology, *sharp) : mesh.vertices;
        points.reserve(points.size() + topology.edges().size());
        for (const SurfaceTopology::Edge& edge : topology.edges()) {
            const std::array<int, 8> near = eight_points(mesh, topology, edge);
            const auto x = [&](std::size_t k) { return mesh.vertices[at(near[k])]; };
            // odd positions, docs/geometry-subdivision.md eq. (1)
            if (sharp && !sharp->is_crease(edge))
                points.emplace_back(0.375 * (x(0) + x(1)) + 0.125 * (x(2) + x(3)));
            else
                points.emplace_back(0.5 * (x(0) + x(1)));
            result.neighbourhood.push_back(near);
        }
        if (sharp) sharp->split(topology.edges(), mesh.num_vertices());
        mesh.triangles = split_triangles(mesh, topology);
        mesh.vertices = std::move(points);
        result.num_vertices.push_back(mesh.num_vertices());
        result.triangles.push_back(mesh.triangles);
    }
    return result;
}

}  // namespace

SemiRegularMesh loop_subdivide(const SurfaceMesh& control, int levels,
                               const SubdivisionRules& rules) {
    require_manifold(control, false);
    require_levels(control, levels);
    SharpFeatures sharp(control, rules);
    return subdivide(control, levels, &sharp);
}

SemiRegularMesh midpoint_subdivide(const SurfaceMesh& mesh, int levels) {
    require_manifold(mesh, true);
    require_levels(mesh, levels);
    return subdivide(mesh, levels, nullptr);
}

int level_of_vertex(const SemiRegularMesh& mesh, int vertex) noexcept {
    assert(vertex >= 0 && vertex < mesh.num_vertices.back());
    int level = 0;
    while (vertex >= mesh.num_vertices[at(level)]) ++level;
    return level;
}

TrianglePoint point_on_coarser(TrianglePoint point, int rounds) noexcept {
    for (; rounds > 0; --rounds) {
        const int child = point.triangle % 4;
        const Vector3d c = point.barycentric;
        if (child == 3) {
            // corner k is the middle of the side across from corner k of the parent
            point.barycentric = {0.5 * (c[1] + c[2]), 0.5 * (c[2] + c[0]), 0.5 * (c[0] + c[1])};
        } else {
            point.barycentric = 0.5 * c;
            point.barycentric[child] = c[child] + 0.5 * (c[(child + 1) % 3] + c[(child + 2) % 3]);
        }
        point.triangle = parent_triangle(point.triangle);
    }
    return point;
}

TrianglePoint point_on_finer(TrianglePoint point, int rounds) noexcept {
    for (; rounds > 0; --rounds) {
        const Vector3d c = point.barycentric;
        int child = 3;
        for (int k = 0; k < 3; ++k)
            if (c[k] >= 0.5) child = k;
        if (child == 3) {
            point.barycentric = Vector3d::Ones() - 2 * c;
        } else {
            point.barycentric = 2 * c;
            point.barycentric[child] = c[child] - c[(child + 1) % 3] - c[(child + 2) % 3];
        }
        point.triangle = 4 * point.triangle + child;
    }
    return point;
}

SemiRegularMesh coarse_levels(const SemiRegularMesh& mesh, int level) {
    assert(level >= 0 && level <= mesh.num_levels());
    const auto prefix = [](const auto& all, std::size_t count) {
        return std::decay_t<decltype(all)>(all.begin(), all.begin() + static_cast<long>(count));
    };
    SemiRegularMesh coarse;
    coarse.num_vertices = prefix(mesh.num_vertices, at(level) + 1);
    coarse.triangles = prefix(mesh.triangles, at(level) + 1);
    const std::size_t count = at(coarse.num_vertices.back());
    coarse.neighbourhood = prefix(mesh.neighbourhood, count - at(mesh.num_vertices.front()));
    coarse.mesh = {prefix(mesh.mesh.vertices, count), coarse.triangles.back()};
    return coarse;
}

}  // namespace pliant
