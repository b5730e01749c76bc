#pragma once

#include "pliant/geometry/surface_mesh.h"

#include <span>
#include <string>

namespace pliant {

enum class ElementKind { Tet4, Hex8 };
[[nodiscard]] constexpr int nodes_per_element(ElementKind kind) noexcept {
    return kind == ElementKind::Tet4 ? 4 : 8;
}

/// A vertex in the middle of a coarser neighbour's edge or face: u = Σ weight_k u(master_k),
/// masters free.
struct HangingNode {
    int vertex = -1;
    int num_masters = 0;  ///< 2 on an edge, 4 on a face
    std::array<int, 4> masters{-1, -1, -1, -1};
    double weight = 0;  ///< of each master: 1 / num_masters
};

/// Simulation mesh of one element kind. Tet4 has positive volume in the order (0,1,2,3); Hex8 is
/// numbered as in VTK: 0–3 anticlockwise at the bottom (seen from the top), 4–7 above them.
/// Positions in metres.
struct VolumeMesh {
    ElementKind kind = ElementKind::Tet4;
    std::vector<Eigen::Vector3d> vertices;
    std::vector<int> elements;              ///< flat, nodes_per_element(kind) each
    std::vector<int> regions;               ///< material region of each element; empty: all 0
    std::vector<std::string> region_names;  ///< may be empty
    std::vector<double> filled;        ///< fraction of each element inside the body; empty: all 1
    std::vector<HangingNode> hanging;  ///< of graded meshes

    [[nodiscard]] int num_vertices() const noexcept { return static_cast<int>(vertices.size()); }
    [[nodiscard]] int num_elements() const noexcept {
        return static_cast<int>(elements.size() /
                                static_cast<std::size_t>(nodes_per_element(kind)));
    }
    [[nodiscard]] std::span<const int> element(int e) const noexcept {
        const auto n = static_cast<std::size_t>(nodes_per_element(kind));
        return {elements.data() + static_cast<std::size_t>(e) * n, n};
    }
};

/// Volume of one element: exact for tets, by 2×2×2 Gauss points for hexes (exact for trilinear
/// ones).
[[nodiscard]] double element_volume(const VolumeMesh& mesh, int element);
/// Σ volume, or Σ volume · filled.
[[nodiscard]] double total_volume(const VolumeMesh& mesh, bool is_weighted = false);
/// The smallest Jacobian determinant over the corners (hex, of the map from the unit cube), or 6 ×
/// volume (tet); ≤ 0 means inverted.
[[nodiscard]] double smallest_jacobian(const VolumeMesh& mesh, int element);
/// Smallest and largest dihedral angle over all tetrahedra [degrees]; needs one at least.
[[nodiscard]] std::pair<double, double> dihedral_range(const VolumeMesh& tets);

/// Outer faces as triangles, oriented outwards, on the vertices of the volume mesh. Hex faces are
/// split in two, or, where hanging nodes lie on their edges, so that the triangles fit their
/// neighbours. Faces between a coarse cell and its finer neighbours are inner ones.
[[nodiscard]] std::vector<Triangle> boundary_triangles(const VolumeMesh& mesh);

/// Edges of the elements, each once: lower vertex first, in ascending order.
[[nodiscard]] std::vector<std::array<int, 2>> element_edges(const VolumeMesh& mesh);

/// What is wrong, or right, with a volume mesh.
struct VolumeReport {
    int num_vertices = 0, num_elements = 0;
    Box box;  ///< of the vertices that are finite and within 1e30
    int num_inverted = 0, first_inverted = -1;
    double worst_jacobian = 0;                ///< of the first inverted element
    int num_orphans = 0, first_orphan = -1;   ///< vertices that no element uses
    int num_invalid = 0, first_invalid = -1;  ///< elements with an index out of range or repeated
    int num_non_finite = 0, first_non_finite = -1;  ///< vertices beyond 1e30 too
    int num_parts = 0;                              ///< connected through shared faces
    int num_weak_joints = 0,
        first_weak_joint = -1;  ///< vertices whose elements are not connected through faces there
    [[nodiscard]] bool is_clean() const noexcept;
    [[nodiscard]] std::string text() const;  ///< one line per finding; empty when clean
};
[[nodiscard]] VolumeReport check_volume(const VolumeMesh& mesh);
/// The elements that can be measured, on the same vertices: those with vertices that exist, differ,
/// and are finite and within 1e30.
[[nodiscard]] VolumeMesh valid_elements(const VolumeMesh& mesh);
/// Keeps the part (connected through faces) of the largest volume and drops unused vertices;
/// returns the number of removed elements.
int keep_largest_part(VolumeMesh& mesh);

}  // namespace pliant
