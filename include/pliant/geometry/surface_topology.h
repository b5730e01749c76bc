#pragma once

#include "pliant/geometry/surface_mesh.h"

#include <span>

namespace pliant {

/// Who touches whom on a surface mesh. Works on any set of triangles with valid indices.
class SurfaceTopology {
public:
    struct Edge {
        int a, b;                 ///< a < b; a == b only on a triangle that repeats a corner
        int first_use, num_uses;  ///< read through `uses()`
    };
    struct EdgeUse {
        int triangle, side;  ///< side k joins corners k and (k + 1) % 3
        bool is_forward;     ///< the triangle runs the edge from a to b
    };

    explicit SurfaceTopology(const SurfaceMesh& mesh);

    [[nodiscard]] const std::vector<Edge>& edges() const noexcept { return edges_; }
    [[nodiscard]] std::span<const EdgeUse> uses(const Edge& edge) const noexcept;
    [[nodiscard]] int edge_of(int triangle, int side) const noexcept {
        return triangle_edges_[3 * static_cast<std::size_t>(triangle) +
                               static_cast<std::size_t>(side)];
    }
    /// Triangle across the side, or −1 where the edge is open or shared by more than two.
    [[nodiscard]] int neighbour(int triangle, int side) const noexcept;
    [[nodiscard]] std::span<const int> triangles_at(int vertex) const noexcept;
    /// Connected (over shared edges) component of each triangle, numbered by first triangle.
    [[nodiscard]] const std::vector<int>& components() const noexcept { return components_; }
    [[nodiscard]] int num_components() const noexcept { return num_components_; }
    /// V − E + F over the vertices in use; 2 for a sphere, 0 for a torus.
    [[nodiscard]] int euler_number() const noexcept { return euler_number_; }

private:
    std::vector<Edge> edges_;
    std::vector<EdgeUse> uses_;
    std::vector<int> triangle_edges_, vertex_start_, vertex_triangles_, components_;
    int num_components_ = 0, euler_number_ = 0;
};

/// Normals that decide inside or outside at the closest feature, [BaerentzenAanaes2005];
/// docs/geometry.md eq. (2).
struct PseudoNormals {
    std::vector<Eigen::Vector3d> face, edge, vertex;  ///< edge: indexed as SurfaceTopology::edges()
};
[[nodiscard]] PseudoNormals pseudo_normals(const SurfaceMesh& mesh,
                                           const SurfaceTopology& topology);

}  // namespace pliant
