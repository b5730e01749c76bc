#pragma once

#include "pliant/contact/pointshell.h"
#include "pliant/reduction/material_points.h"

#include <memory>
#include <span>

namespace pliant {

struct PointTreeData;

/// A pointshell as a nested tree of spheres that follow a reduced deformation, docs/contact.md
/// section "Point-tree", eq. (3)–(5). Level i has one node for each point of shell levels 0 … i;
/// a node's sphere is centred at its own point and contains all points below it for every q:
///     R_i(q) = min( R0_i + Σ_j a_ij |q_j| ,  R0_i + b_i |q| ).
/// Nodes are in breadth-first order, children side by side, the node's own copy first. Immutable,
/// copies share their data. Single precision: the radii hold for positions, rotations and the
/// radius itself evaluated in floats in any order, eq. (5); only the rounding of the last sum with
/// a translation is left to the caller.
class PointTree {
public:
    /// Rigid: r = 0. Throws InputError as check_pointshell does.
    explicit PointTree(Pointshell shell);
    /// Deformable: how its points move. Throws InputError also when the numbers of points differ,
    /// gradients are missing, or an entry is not finite or beyond 1e15.
    PointTree(Pointshell shell, const MaterialPoints& motion);
    /// The file is mapped, not copied. Throws InputError for files that are no tree.
    [[nodiscard]] static PointTree load(const std::filesystem::path& path);
    [[nodiscard]] static PointTree from_archive(const Archive& archive, const std::string& name);
    void save(const std::filesystem::path& path, const Provenance& provenance = {}) const;

    [[nodiscard]] int rank() const noexcept { return r_; }
    [[nodiscard]] int num_points() const noexcept;
    [[nodiscard]] int num_levels() const noexcept;
    [[nodiscard]] int num_nodes() const noexcept;  ///< of all levels
    [[nodiscard]] const Pointshell& shell() const noexcept;
    /// Nodes of level i are [level_start(i), level_start(i + 1)).
    [[nodiscard]] int level_start(int level) const noexcept;

    struct Node {
        int point = 0;        ///< of the shell
        int first_child = 0;  ///< in the next level; the node's own copy; of leaves 0
        int num_children = 0;
        float b = 0;  ///< of the Euclidean bound [m per unit of |q|]
    };
    [[nodiscard]] std::span<const Node> nodes() const noexcept;
    /// Row of a node: r groups (u_x u_y u_z a) of U_s and a_i, then (P_x P_y P_z R0), then zeros up
    /// to row_stride() floats; 64-byte aligned. Rigid: (P_x P_y P_z R0) alone, stride 4.
    [[nodiscard]] const float* row(int node) const noexcept {
        return rows_ + static_cast<std::size_t>(node) * static_cast<std::size_t>(row_stride_);
    }
    [[nodiscard]] int row_stride() const noexcept { return row_stride_; }
    /// Row of a point: r groups (ΔN_x ΔN_y ΔN_z 0), then (N_x N_y N_z 0): n = normalise(N + ΔN q).
    [[nodiscard]] const float* normal_row(int point) const noexcept {
        return normal_rows_ +
               static_cast<std::size_t>(point) * static_cast<std::size_t>(row_stride_);
    }
    /// A sphere around all points at rest, and m_j ≥ |U_s e_j| of every point: no point moves more
    /// than Σ_j m_j |Δq_j|.
    [[nodiscard]] const Eigen::Vector3d& centre() const noexcept;
    [[nodiscard]] double radius() const noexcept;
    [[nodiscard]] std::span<const double> reach() const noexcept;  ///< m, r numbers
    [[nodiscard]] std::size_t memory() const noexcept;             ///< [bytes]

    // Slow and obvious, for tests and pictures; q has r entries.
    [[nodiscard]] Eigen::Vector3d position(int node, std::span<const double> q) const;
    [[nodiscard]] double sphere_radius(int node, std::span<const double> q) const;
    [[nodiscard]] Eigen::Vector3d normal(int point, std::span<const double> q) const;

private:
    explicit PointTree(std::shared_ptr<const PointTreeData> data) noexcept;
    std::shared_ptr<const PointTreeData> data_;
    const float* rows_ = nullptr;
    const float* normal_rows_ = nullptr;
    int r_ = 0, row_stride_ = 4;
};

}  // namespace pliant
