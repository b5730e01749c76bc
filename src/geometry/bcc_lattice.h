#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pliant {

/// Body-centred cubic lattice: the corners and the centres of `cells` cubes of side `cell`, joined
/// by long edges (length `cell`, between equal kinds) and short edges (√3/2 `cell`, corner to
/// centre). All its tetrahedra are congruent: two opposite long edges and four short ones.
///
/// Nodes are numbered z-major: node = 2 ((k (n_y + 1) + j) (n_x + 1) + i) + s, with s = 0 for the
/// corner (i, j, k) and s = 1 for the centre half a cell above it. Nodes with an index of 0 or n on
/// some axis are the border, the only ones that lack neighbours.
class BccLattice {
public:
    static constexpr int kNumDirections = 14;  ///< 0…5 long: −x +x −y +y −z +z; 6…13 short
    static constexpr int kNumTets = 12;        ///< per cell

    /// One of the 12 tetrahedra of a cell, with positive volume. Corners 0 and 1 are centres,
    /// 2 and 3 are cube corners; edges 0–1 and 2–3 are the long ones.
    struct Tet {
        std::array<int, 4> offset;  ///< node of each corner minus the node of the cell's centre
        std::array<std::array<std::int8_t, 4>, 4> direction;  ///< from corner a to corner b
    };

    BccLattice(const Eigen::Vector3d& origin, double cell, const std::array<int, 3>& cells);

    [[nodiscard]] double cell() const noexcept { return cell_; }
    [[nodiscard]] const std::array<int, 3>& cells() const noexcept { return cells_; }
    /// Includes a padding of centres beyond the last cells.
    [[nodiscard]] std::size_t num_nodes() const noexcept;
    [[nodiscard]] int node(int i, int j, int k, int s) const noexcept {
        return 2 * ((k * (cells_[1] + 1) + j) * (cells_[0] + 1) + i) + s;
    }
    [[nodiscard]] Eigen::Vector3d position(int node) const noexcept;
    /// Defined for nodes off the border.
    [[nodiscard]] int neighbour(int node, int direction) const noexcept {
        return node +
               offset_[static_cast<std::size_t>(node & 1)][static_cast<std::size_t>(direction)];
    }
    [[nodiscard]] bool is_border(int node) const noexcept;
    /// Calls `visit(node)` for the nodes off the border in the layer k, in ascending order.
    template <class Visit>
    void for_each_inner_node(int k, Visit&& visit) const {
        if (k == 0 || k == cells_[2]) return;
        for (int j = 1; j < cells_[1]; ++j)
            for (int i = 1; i < cells_[0]; ++i)
                for (int s = 0; s < 2; ++s) visit(node(i, j, k, s));
    }
    [[nodiscard]] const std::array<Tet, kNumTets>& tets() const noexcept { return tets_; }

    [[nodiscard]] static constexpr bool is_long(int direction) noexcept { return direction < 6; }
    [[nodiscard]] static constexpr int opposite(int direction) noexcept {
        return is_long(direction) ? direction ^ 1 : 6 + ((direction - 6) ^ 7);
    }

private:
    [[nodiscard]] std::array<int, 3> indices(int node) const noexcept;

    Eigen::Vector3d origin_;
    double cell_;
    std::array<int, 3> cells_;
    std::array<std::array<int, kNumDirections>, 2> offset_{};  // by kind of node
    std::array<Tet, kNumTets> tets_{};
};

/// A node moves onto a cut point nearer than this fraction of the edge. With our choice of
/// diagonals these values bound the angles better than those of [LabelleShewchuk2007];
/// docs/geometry-meshing.md.
inline constexpr double kWarpLong = 0.265, kWarpShort = 0.385;

/// What is left of a lattice tet once its nodes have been warped: the sign of each corner (+1
/// inside, 0 on the surface, −1 outside) and the mesh vertices that may be used.
struct CutTet {
    std::array<int, 4> sign;
    std::array<int, 4> corner;              ///< vertex of each corner that is not outside
    std::array<std::array<int, 4>, 4> cut;  ///< vertex on the edge from an inside to an outside one
};
/// Appends the part of the tet inside the surface as 0 to 3 tets of positive volume, four vertices
/// each. Tets that share a face cut it alike. Stencils: docs/geometry-meshing.md,
/// [LabelleShewchuk2007] §3.
void append_stencil(const CutTet& tet, const std::vector<Eigen::Vector3d>& vertices,
                    std::vector<int>& elements);

}  // namespace pliant
