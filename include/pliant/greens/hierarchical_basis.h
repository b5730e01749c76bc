#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "pliant/geometry/subdivision.h"
#include "pliant/greens/greens_functions.h"

namespace pliant {

/// Some vertices, ascending, with a number for each.
struct WeightedVertices {
    std::span<const int> vertices;
    std::span<const double> weights;
};

/// The functions φ_[l,k] of all levels l of a semi-regular mesh: 1 at their own vertex k of level
/// l, 0 at the others of that level, linear in between, docs/greens-constraints.md eqs. (H1) and
/// (H2). Those of one domain (free or fixed nodes) vanish on the others. A function and its column
/// of Green's functions have the id k + num_vertices · (L − l): below num_vertices are the vertices
/// themselves. Immutable.
class HierarchicalBasis {
public:
    /// Nodes are the vertices of the finest level. Throws InputError when sizes differ or the mesh
    /// has no coarser level.
    HierarchicalBasis(const SemiRegularMesh& mesh, std::span<const NodeKind> kinds);
    /// Any domains, by number; −1: in none, without functions.
    HierarchicalBasis(const SemiRegularMesh& mesh, std::vector<int> domains);

    [[nodiscard]] int num_levels() const noexcept { return num_levels_; }  ///< L
    [[nodiscard]] int num_vertices() const noexcept { return counts_.back(); }
    /// |K(l)|
    [[nodiscard]] int num_vertices(int level) const noexcept {
        return counts_[static_cast<std::size_t>(level)];
    }
    [[nodiscard]] int num_ids() const noexcept { return (num_levels_ + 1) * num_vertices(); }
    [[nodiscard]] int id(int level, int vertex) const noexcept {
        return vertex + num_vertices() * (num_levels_ - level);
    }
    [[nodiscard]] int level_of(int id) const noexcept { return num_levels_ - id / num_vertices(); }
    [[nodiscard]] int vertex_of(int id) const noexcept { return id % num_vertices(); }
    /// Whether there is such a function: its vertex is one of its level.
    [[nodiscard]] bool has(int id) const noexcept {
        return id >= 0 && id < num_ids() && vertex_of(id) < num_vertices(level_of(id)) &&
               domains_[static_cast<std::size_t>(vertex_of(id))] >= 0;
    }
    /// Of the vertex itself: the coarsest on which it has a function.
    [[nodiscard]] int vertex_level(int vertex) const noexcept;
    [[nodiscard]] int domain(int vertex) const noexcept {
        return domains_[static_cast<std::size_t>(vertex)];
    }

    /// s̃: what the value at a vertex is interpolated from on the level before its own; empty for
    /// those of level 0, and where the coarser level has no vertex of the domain.
    [[nodiscard]] WeightedVertices stencil(int vertex) const noexcept;
    /// φ(x_i) wherever it is not zero.
    [[nodiscard]] WeightedVertices values(int id) const noexcept;
    /// φ_[l,k](x_i) of all functions of a level that are not zero at a vertex.
    [[nodiscard]] WeightedVertices covering(int level, int vertex) const noexcept;
    /// φ(x_i), by search.
    [[nodiscard]] double value(int id, int vertex) const noexcept;

    /// a_[l,k] = I_[l,k] by id, from the areas of the vertices, eq. (H4); 0 where there is none.
    [[nodiscard]] std::vector<double> areas(std::span<const double> vertex_areas) const;
    /// Σ φ(x_i) a_i x_i / a_[l,k] by id: where the resultant of a uniform traction times φ acts.
    [[nodiscard]] std::vector<Eigen::Vector3d> centres(
        std::span<const double> vertex_areas, std::span<const Eigen::Vector3d> positions) const;
    /// Ξ^l = Ξ^{l+1} H_lᵀ in place, eq. (H3): `columns` are those of level + 1, `block` for each of
    /// its vertices; then the first |K(level)| are those of `level`.
    void refine_up(int level, int block, Eigen::Ref<Eigen::MatrixXd> columns) const;

private:
    struct Rows {
        std::vector<std::size_t> offsets{0};
        std::vector<int> vertices;
        std::vector<double> weights;
        [[nodiscard]] WeightedVertices row(int index) const noexcept;
        void push(int vertex, double weight);
        void finish_row() { offsets.push_back(vertices.size()); }
    };
    void find_stencils(const SemiRegularMesh& mesh);
    void find_values(int level);

    int num_levels_;
    std::vector<int> counts_, domains_;
    Rows stencils_;
    std::vector<Rows> values_, covering_;  // by level; of the vertices of the level; of all
};

}  // namespace pliant
