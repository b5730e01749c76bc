#pragma once

#include "pliant/geometry/volume_mesh.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

/// Slow and obvious looks at tetrahedral meshes.
namespace pliant::test {

struct TetCheck {
    double smallest_volume = 1e300;
    int overused_faces = 0;  ///< in more than two tets
    int open_edges = 0;      ///< in an odd number of boundary faces
    int pinched_edges = 0;   ///< in four or more boundary faces
    int orphans = 0;
    std::vector<int> boundary_vertices;  ///< ascending
};

inline TetCheck check_tets(const VolumeMesh& mesh) {
    TetCheck check;
    constexpr int kFaces[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
    std::vector<std::array<int, 3>> faces;
    std::vector<char> used(mesh.vertices.size(), 0), on_boundary(mesh.vertices.size(), 0);
    for (int e = 0; e < mesh.num_elements(); ++e) {
        check.smallest_volume = std::min(check.smallest_volume, element_volume(mesh, e));
        const auto tet = mesh.element(e);
        for (const int v : tet) used[static_cast<std::size_t>(v)] = 1;
        for (const auto& face : kFaces) {
            std::array<int, 3> key{};
            for (std::size_t k = 0; k < 3; ++k) key[k] = tet[static_cast<std::size_t>(face[k])];
            std::sort(key.begin(), key.end());
            faces.push_back(key);
        }
    }
    std::sort(faces.begin(), faces.end());
    std::map<std::array<int, 2>, int> edges;
    for (std::size_t begin = 0, end = 0; begin < faces.size(); begin = end) {
        while (end < faces.size() && faces[end] == faces[begin]) ++end;
        if (end - begin > 2) ++check.overused_faces;
        if (end - begin != 1) continue;
        const auto& f = faces[begin];
        for (const auto& edge : {std::array{f[0], f[1]}, {f[1], f[2]}, {f[0], f[2]}}) ++edges[edge];
        for (const int v : f) on_boundary[static_cast<std::size_t>(v)] = 1;
    }
    for (const auto& [edge, count] : edges) {
        if (count % 2 != 0) ++check.open_edges;
        if (count > 2) ++check.pinched_edges;
    }
    check.orphans = static_cast<int>(std::count(used.begin(), used.end(), 0));
    for (int v = 0; v < mesh.num_vertices(); ++v)
        if (on_boundary[static_cast<std::size_t>(v)]) check.boundary_vertices.push_back(v);
    return check;
}

inline bool is_same_mesh(const VolumeMesh& a, const VolumeMesh& b) {
    return a.elements == b.elements && a.filled == b.filled && a.vertices == b.vertices;
}

}  // namespace pliant::test
