#pragma once

#include "pliant/fem/constraints.h"
#include "pliant/fem/fem_model.h"
#include "pliant/fem/linear_solver.h"
#include "pliant/geometry/embedding.h"
#include "pliant/greens/column_source.h"
#include "pliant/greens/greens_model.h"

#include <memory>
#include <optional>
#include <vector>

namespace pliant {

/// What finite elements solve for, nondimensional.
struct FiniteProblem {
    VolumeMesh mesh;
    std::vector<Material> materials;  ///< of regions; densities over their mean
    std::vector<int> vertices;        ///< of boundary nodes
    /// Where boundary nodes lie on a surface beside the mesh, one point each: u = W u_mesh, forces
    /// go to the vertices by Wᵀ. None: nodes are their vertices.
    std::optional<Embedding> places = {};
    std::vector<double> areas;        ///< of boundary nodes
    std::vector<NodeKind> kinds;
    std::vector<GreensReadout> readouts;
};

/// Green's functions by finite elements, docs/greens.md eqs. (C2)–(C4): one sparse factorisation
/// of all vertices that are not fixed. Nodes beside the mesh, eq. (C6): all vertices are unknown,
/// and springs k that are a million times as stiff as the elements hold the fixed nodes,
///     (K + k W_fᵀW_f) u_mesh = W_nᵀ a p + k W_fᵀ u_f,   u = W u_mesh,
///     a p_f = k (u_f − W_f u_mesh)
class FiniteElementSource final : public GreensColumnSource {
public:
    /// Throws InputError for a read-out outside the body.
    explicit FiniteElementSource(FiniteProblem problem);

    [[nodiscard]] int num_nodes() const noexcept override {
        return static_cast<int>(problem_.vertices.size());
    }
    [[nodiscard]] int block() const noexcept override { return 3; }
    [[nodiscard]] int num_body_columns() const noexcept override { return 3; }
    [[nodiscard]] int num_readouts() const noexcept override {
        return static_cast<int>(readouts_.rows());
    }
    [[nodiscard]] int num_unknowns() const noexcept override { return num_unknowns_; }

    void prepare(Progress& progress) override;
    void columns(std::span<const int> nodes, Eigen::Ref<Eigen::MatrixXd> values) override;
    void spread_columns(std::span<const SpreadKnown> spreads,
                        Eigen::Ref<Eigen::MatrixXd> values) override;
    void body_columns(Eigen::Ref<Eigen::MatrixXd> values) override;

private:
    /// K, and of it the part of the unknowns, which is returned.
    [[nodiscard]] FemModel::Matrix assemble();
    [[nodiscard]] FemModel::Matrix with_springs() const;
    /// Visits the vertices of a node with their weights.
    template <class Visit>
    void each_vertex(int node, const Visit& visit) const;
    /// Solves for `loads` of the unknowns and reads out; `known` and `load` of column c, over all
    /// 3n components, are given by the functions that add them.
    template <class AddKnown, class SubtractLoad>
    void solve(Eigen::MatrixXd& loads, Eigen::Ref<Eigen::MatrixXd> values,
               const AddKnown& add_known, const SubtractLoad& subtract_load);
    void spread_on_places(std::span<const SpreadKnown> spreads,
                          Eigen::Ref<Eigen::MatrixXd> values);

    FiniteProblem problem_;
    FemModel model_;
    FemModel::Matrix K_;
    Eigen::SparseMatrix<double, Eigen::RowMajor> readouts_;
    std::vector<int> unknown_of_;  // of each component, −1: fixed
    int num_unknowns_ = 0;
    double spring_ = 0;  // k of (C6)
    std::unique_ptr<LinearSolver> solver_;
};

}  // namespace pliant
