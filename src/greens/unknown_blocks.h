#pragma once

#include "greens/boundary_assembly.h"
#include "pliant/greens/boundary_elements.h"
#include "pliant/greens/greens_functions.h"

#include <span>
#include <utility>
#include <vector>

#include <Eigen/Core>

namespace pliant {

/// Parts of the equations A v = −Ā v̄ of a boundary problem, docs/greens-large.md eqs. (L1)–(L3):
/// any rows, any columns. Elastic bodies, not the space around them.
class UnknownBlocks {
public:
    /// Of one thread.
    struct Workspace {
        explicit Workspace(const UnknownBlocks& blocks)
            : assembly(blocks.assembler()), place_of(blocks.kinds_.size(), -1) {}
        BoundaryAssembler::Workspace assembly;
        std::vector<int> nodes, place_of;
        Eigen::MatrixXd G, H;
    };

    /// Throws InputError for other models.
    UnknownBlocks(BoundaryModel model, std::vector<NodeKind> kinds);

    [[nodiscard]] int num_nodes() const noexcept { return static_cast<int>(kinds_.size()); }
    [[nodiscard]] bool is_free(int node) const {
        return kinds_[static_cast<std::size_t>(node)] == NodeKind::Free;
    }
    [[nodiscard]] const BoundaryAssembler& assembler() const { return model_.assembler(); }
    [[nodiscard]] const BoundaryModel& model() const { return model_; }

    /// What row sums give, eq. (L3); added to blocks from then on.
    void set_own_blocks(std::vector<Eigen::Matrix3d> own_blocks) { own_ = std::move(own_blocks); }
    [[nodiscard]] const std::vector<Eigen::Matrix3d>& own_blocks() const noexcept { return own_; }
    /// The same from integrals over the whole surface: of `rows`, in their order.
    [[nodiscard]] std::vector<Eigen::Matrix3d> integrated_own_blocks(
        std::span<const int> rows) const;
    /// Of all rows, work n².
    [[nodiscard]] std::vector<Eigen::Matrix3d> integrated_own_blocks() const;

    /// The columns that follow.
    void set_nodes(std::span<const int> nodes, Workspace& workspace) const;
    /// A of equations `rows` and of the nodes set: `out` is resized.
    void unknowns(std::span<const int> rows, Workspace& workspace, Eigen::MatrixXd& out) const;
    /// −Ā of the same.
    void knowns(std::span<const int> rows, Workspace& workspace, Eigen::MatrixXd& out) const;

    /// Rigid motions of the free nodes, orthonormal, zero rows at fixed nodes: 3n × 6, or 3n × 3,
    /// translations, for constant elements, whose values cannot turn.
    [[nodiscard]] Eigen::MatrixXd free_rigid_motions() const;
    /// A times these, from H · rigid = 0, that is from columns of fixed nodes alone; needs own
    /// blocks.
    [[nodiscard]] Eigen::MatrixXd product_with_rigid_motions() const;
    /// Σ_j H_ij over fixed nodes j, without own blocks.
    [[nodiscard]] std::vector<Eigen::Matrix3d> fixed_row_sums() const;

private:
    void pick(std::span<const int> rows, bool of_unknowns, Workspace& workspace,
              Eigen::MatrixXd& out) const;
    /// H of fixed nodes (with own blocks if there are) times `values` (3n rows).
    [[nodiscard]] Eigen::MatrixXd fixed_product(const Eigen::MatrixXd& values) const;
    /// All rigid motions that belong to free_rigid_motions, at every node.
    [[nodiscard]] Eigen::MatrixXd rigid_motions() const;

    BoundaryModel model_;
    std::vector<NodeKind> kinds_;
    std::vector<int> fixed_;
    std::vector<Eigen::Matrix3d> own_;
};

}  // namespace pliant
