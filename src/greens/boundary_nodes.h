#pragma once

#include <array>
#include <vector>

#include "pliant/geometry/surface_mesh.h"

namespace pliant {

/// Nodes of a boundary discretisation and where their equations are written (targets);
/// docs/greens.md eqs. (D1), (D2).
struct BoundaryNodes {
    std::vector<Eigen::Vector3d> positions;
    std::vector<Eigen::Vector3d> normals;  ///< unit
    std::vector<double> areas;             ///< ∫ φ_i
    std::vector<std::array<int, 3>> corner_nodes;
    /// Equal to the position, but inside one triangle for doubled nodes and constant elements.
    std::vector<Eigen::Vector3d> targets;
    std::vector<int> target_triangles;            ///< −1: the target is a vertex of the mesh
    std::vector<Eigen::Vector3d> target_weights;  ///< barycentric in that triangle

    [[nodiscard]] int num_nodes() const noexcept { return static_cast<int>(positions.size()); }
};

/// One node for each vertex; with `crease_angle` > 0 [rad], one for each smooth fan of triangles
/// around a vertex, fans ending at edges whose normals differ by more. The first node of vertex v
/// is v; further ones follow in the order of vertices, so that coarse levels stay prefixes.
[[nodiscard]] BoundaryNodes linear_nodes(const SurfaceMesh& mesh, double crease_angle);

/// One node for each triangle, at its centroid.
[[nodiscard]] BoundaryNodes constant_nodes(const SurfaceMesh& mesh);

}  // namespace pliant
