#pragma once

#include "pliant/geometry/volume_mesh.h"

#include <array>

namespace pliant {

/// Faces with corners anticlockwise seen from outside.
inline constexpr std::array<std::array<int, 3>, 4> kTetFaces{
    {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}}};
inline constexpr std::array<std::array<int, 4>, 6> kHexFaces{
    {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}}};

/// The three neighbours of each hex corner, in right-handed order.
inline constexpr std::array<std::array<int, 3>, 8> kHexCornerEdges{
    {{1, 3, 4}, {2, 0, 5}, {3, 1, 6}, {0, 2, 7}, {7, 5, 0}, {4, 6, 1}, {5, 7, 2}, {6, 4, 3}}};

[[nodiscard]] constexpr int faces_per_element(ElementKind kind) noexcept {
    return kind == ElementKind::Tet4 ? 4 : 6;
}
[[nodiscard]] constexpr int nodes_per_face(ElementKind kind) noexcept {
    return kind == ElementKind::Tet4 ? 3 : 4;
}
/// Vertices of one face in order; the fourth is −1 for tets.
[[nodiscard]] inline std::array<int, 4> face_vertices(const VolumeMesh& mesh, int element,
                                                      int side) noexcept {
    const auto nodes = mesh.element(element);
    std::array<int, 4> corners{-1, -1, -1, -1};
    for (int k = 0; k < nodes_per_face(mesh.kind); ++k)
        corners[k] =
            nodes[mesh.kind == ElementKind::Tet4 ? kTetFaces[side][k] : kHexFaces[side][k]];
    return corners;
}

}  // namespace pliant
