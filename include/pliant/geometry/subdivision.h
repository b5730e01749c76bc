#pragma once

#include "pliant/geometry/surface_mesh.h"

#include <array>
#include <vector>

namespace pliant {

/// What stays sharp of a control mesh. A vertex with two creases runs along them, one with three or
/// more is a corner, one with a single crease is where the crease fades out.
struct SubdivisionRules {
    std::vector<std::array<int, 2>> creases;  ///< edges, by their two vertices in any order
    std::vector<int> corners;                 ///< vertices that do not move
};

/// A mesh that comes from L rounds of splitting every triangle in four,
/// docs/geometry-subdivision.md. Vertices are numbered level by level: those of level l are the
/// first num_vertices[l], so that coarse data are prefixes of fine data.
struct SemiRegularMesh {
    SurfaceMesh mesh;               ///< the finest level, L
    std::vector<int> num_vertices;  ///< |K(l)|, l = 0 … L
    /// Of each level. Triangle t becomes 4t + k at its corner k = 0, 1, 2 (which stays corner k)
    /// and 4t + 3 in the middle, with corner k on the side across from corner k.
    std::vector<std::vector<Triangle>> triangles;
    /// Of vertex num_vertices[0] + i on the level before its own: v1 v2 f1 f2 e1 … e4. It splits
    /// the edge v1 v2, v1 < v2, with f1 on the left and f2 on the right seen from outside; e1, e2
    /// are across v1 f1 and v2 f1, e3, e4 across v1 f2 and v2 f2. −1 beyond an open border; around
    /// vertices with three neighbours one vertex can stand in two places.
    std::vector<std::array<int, 8>> neighbourhood;

    /// Rounds of subdivision, L: there are L + 1 levels.
    [[nodiscard]] int num_levels() const noexcept {
        return static_cast<int>(num_vertices.size()) - 1;
    }
};

/// Loop subdivision [Loop1987] with creases and corners [Hoppe1994]; docs/geometry-subdivision.md
/// eqs. (1)–(3). All vertices of the result are smoothed to the finest level. Throws InputError for
/// a mesh that is open or not manifold, for a crease that is no edge, and when `levels` would give
/// more than 50 million triangles.
[[nodiscard]] SemiRegularMesh loop_subdivide(const SurfaceMesh& control, int levels,
                                             const SubdivisionRules& rules = {});
/// Splits every triangle in four flat ones; the surface stays the same. An open border is allowed.
[[nodiscard]] SemiRegularMesh midpoint_subdivide(const SurfaceMesh& mesh, int levels);
/// ℓ(v): 0 for the vertices of the coarsest level, else the round that made it.
[[nodiscard]] int level_of_vertex(const SemiRegularMesh& mesh, int vertex) noexcept;
/// Triangle of the level before that a triangle came from; its children are 4t … 4t + 3.
[[nodiscard]] inline constexpr int parent_triangle(int triangle) noexcept { return triangle / 4; }
/// A place on the surface of some level.
struct TrianglePoint {
    int triangle = -1;
    Eigen::Vector3d barycentric{1, 0, 0};  ///< of its corners
};
/// The same place in the triangle `rounds` levels coarser that holds it, and in the one so much
/// finer (of several at an edge any), docs/geometry-subdivision.md eq. (4). Exact up to rounding.
[[nodiscard]] TrianglePoint point_on_coarser(TrianglePoint point, int rounds) noexcept;
[[nodiscard]] TrianglePoint point_on_finer(TrianglePoint point, int rounds) noexcept;
/// The levels 0 … `level` alone, their vertices where they are on the finest level; 0 ≤ level ≤ L.
[[nodiscard]] SemiRegularMesh coarse_levels(const SemiRegularMesh& mesh, int level);

}  // namespace pliant
