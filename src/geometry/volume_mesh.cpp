#include "pliant/geometry/volume_mesh.h"

#include "geometry/face_table.h"
#include "geometry/trilinear.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

namespace pliant {
namespace {

using Eigen::Vector3d;

double triple(const Vector3d& a, const Vector3d& b, const Vector3d& c) { return a.cross(b).dot(c); }

double six_fold_tet_volume(const VolumeMesh& mesh, int element) {
    const auto n = mesh.element(element);
    const Vector3d& origin = mesh.vertices[n[0]];
    return triple(mesh.vertices[n[1]] - origin, mesh.vertices[n[2]] - origin,
                  mesh.vertices[n[3]] - origin);
}

double hex_volume(const VolumeMesh& mesh, int element) {
    const TrilinearMap map(mesh, element);
    const double g = 1 / std::numbers::sqrt3;
    double volume = 0;
    for (const auto& s : kHexSigns)
        volume += map.jacobian(Vector3d(s[0] * g, s[1] * g, s[2] * g)).determinant();
    return volume;
}

/// Outline of an outer quad with the hanging vertices on its edges, cut into triangles.
void cut_quad(const FaceTable& faces, const std::array<int, 4>& c, std::vector<Triangle>& out) {
    std::array<int, 8> outline{};
    int size = 0, first = -1;
    for (int k = 0; k < 4; ++k) {
        outline[size++] = c[k];
        const int middle = faces.middle(c[k], c[(k + 1) % 4]);
        if (middle < 0) continue;
        if (first < 0) first = size;
        outline[size++] = middle;
    }
    // a fan from the first hanging vertex has no flat triangles; without one, the diagonal starts
    // at the lowest vertex
    if (first < 0) first = static_cast<int>(std::ranges::min_element(c) - c.begin());
    for (int k = 1; k + 1 < size; ++k)
        out.push_back(
            {outline[first], outline[(first + k) % size], outline[(first + k + 1) % size]});
}

/// The quarters of a coarse face that no finer cell covers, around its centre.
void cut_quarters(const FaceTable& faces, const FaceTable::CutFace& cut,
                  std::vector<Triangle>& out) {
    const auto c = faces.corners(cut.face);
    for (int k = 0; k < 4; ++k) {
        const int a = c[k], b = c[(k + 1) % 4], middle = faces.middle(a, b);
        if (middle < 0) {
            out.push_back({a, b, cut.centre});
        } else {
            if (!cut.is_covered[k]) out.push_back({a, middle, cut.centre});
            if (!cut.is_covered[(k + 1) % 4]) out.push_back({middle, b, cut.centre});
        }
    }
}

}  // namespace

double element_volume(const VolumeMesh& mesh, int element) {
    return mesh.kind == ElementKind::Tet4 ? six_fold_tet_volume(mesh, element) / 6
                                          : hex_volume(mesh, element);
}

double total_volume(const VolumeMesh& mesh, bool is_weighted) {
    const bool use_filled = is_weighted && !mesh.filled.empty();
    return parallel_reduce(
        static_cast<std::size_t>(mesh.num_elements()), 4096, 0.0,
        [&](std::size_t begin, std::size_t end) {
            double sum = 0;
            for (std::size_t e = begin; e < end; ++e)
                sum +=
                    element_volume(mesh, static_cast<int>(e)) * (use_filled ? mesh.filled[e] : 1);
            return sum;
        },
        std::plus<>());
}

double smallest_jacobian(const VolumeMesh& mesh, int element) {
    if (mesh.kind == ElementKind::Tet4) return six_fold_tet_volume(mesh, element);
    const auto n = mesh.element(element);
    double smallest = std::numeric_limits<double>::infinity();
    for (int a = 0; a < 8; ++a) {
        const Vector3d& origin = mesh.vertices[n[a]];
        const auto& edges = kHexCornerEdges[a];
        smallest = std::min(smallest, triple(mesh.vertices[n[edges[0]]] - origin,
                                             mesh.vertices[n[edges[1]]] - origin,
                                             mesh.vertices[n[edges[2]]] - origin));
    }
    return smallest;
}

std::pair<double, double> dihedral_range(const VolumeMesh& tets) {
    assert(tets.kind == ElementKind::Tet4 && tets.num_elements() > 0);
    double smallest = std::numbers::pi, largest = 0;
    for (int e = 0; e < tets.num_elements(); ++e) {
        const auto n = tets.element(e);
        std::array<Vector3d, 4> normals;
        for (int f = 0; f < 4; ++f) {
            const Vector3d& a = tets.vertices[n[kTetFaces[f][0]]];
            normals[f] = (tets.vertices[n[kTetFaces[f][1]]] - a)
                             .cross(tets.vertices[n[kTetFaces[f][2]]] - a);
        }
        for (int f = 0; f < 4; ++f)
            for (int g = f + 1; g < 4; ++g) {
                // between outward normals lies the outer angle
                const double outer =
                    std::atan2(normals[f].cross(normals[g]).norm(), normals[f].dot(normals[g]));
                smallest = std::min(smallest, std::numbers::pi - outer);
                largest = std::max(largest, std::numbers::pi - outer);
            }
    }
    const double degrees = 180 / std::numbers::pi;
    return {degrees * smallest, degrees * largest};
}

std::vector<Triangle> boundary_triangles(const VolumeMesh& mesh) {
    const FaceTable faces(mesh);
    std::vector<Triangle> triangles;
    auto cut = faces.cut_faces().begin();
    for (int f = 0; f < faces_per_element(mesh.kind) * mesh.num_elements(); ++f) {
        const bool is_cut = cut != faces.cut_faces().end() && cut->face == f;
        const auto c = faces.corners(f);
        if (!faces.is_inner(f)) {
            if (mesh.kind == ElementKind::Tet4)
                triangles.push_back({c[0], c[1], c[2]});
            else if (is_cut)
                cut_quarters(faces, *cut, triangles);
            else
                cut_quad(faces, c, triangles);
        }
        if (is_cut) ++cut;
    }
    return triangles;
}

std::vector<std::array<int, 2>> element_edges(const VolumeMesh& mesh) {
    static constexpr std::array<std::array<int, 2>, 6> kTetEdges{
        {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};
    static constexpr std::array<std::array<int, 2>, 12> kHexEdges{{{0, 1},
                                                                   {1, 2},
                                                                   {2, 3},
                                                                   {3, 0},
                                                                   {4, 5},
                                                                   {5, 6},
                                                                   {6, 7},
                                                                   {7, 4},
                                                                   {0, 4},
                                                                   {1, 5},
                                                                   {2, 6},
                                                                   {3, 7}}};
    const std::span<const std::array<int, 2>> pairs =
        mesh.kind == ElementKind::Tet4 ? std::span<const std::array<int, 2>>(kTetEdges)
                                       : std::span<const std::array<int, 2>>(kHexEdges);
    std::vector<std::array<int, 2>> edges;
    edges.reserve(pairs.size() * static_cast<std::size_t>(mesh.num_elements()));
    for (int e = 0; e < mesh.num_elements(); ++e) {
        const std::span<const int> nodes = mesh.element(e);
        for (const auto& [a, b] : pairs) {
            const int i = nodes[static_cast<std::size_t>(a)];
            const int j = nodes[static_cast<std::size_t>(b)];
            edges.push_back({std::min(i, j), std::max(i, j)});
        }
    }
    std::ranges::sort(edges);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    return edges;
}

}  // namespace pliant
