#pragma once

#include "greens/block_preconditioner.h"
#include "greens/gmres.h"
#include "greens/unknown_blocks.h"
#include "pliant/greens/boundary_operator.h"
#include "pliant/greens/column_source.h"
#include "pliant/greens/greens_model.h"

#include <functional>
#include <memory>
#include <vector>

namespace pliant {

/// Makes the matrix that the solver takes products of.
using MakeBoundaryOperator = std::function<std::unique_ptr<BoundaryOperator>(
    const BoundaryModel& model, const std::vector<NodeKind>& kinds, Progress& progress)>;

struct IterativeOptions {
    double tolerance = 1e-4;   ///< relative residual of each column
    int max_iterations = 200;  ///< products for a column
    double memory = 8e9;       ///< for Krylov spaces [bytes]: how many columns are solved at once
    HierarchicalOptions matrix = {};
    MakeBoundaryOperator make_matrix = {};  ///< any other one in its place
    PreconditionerOptions preconditioner = {};
};

struct IterativeReport {
    HierarchicalReport matrix;  ///< where it is the hierarchical one
    std::int64_t matrix_bytes = 0, preconditioner_bytes = 0;
    int num_solved = 0;      ///< right-hand sides
    int max_iterations = 0;  ///< of one of them
    double mean_iterations = 0;
    double max_residual = 0;  ///< relative, true
};

/// Memory that prepare() takes [bytes], from the number of nodes; docs/greens-large.md eq. (L11).
[[nodiscard]] double iterative_matrix_bytes(double num_nodes) noexcept;

/// Green's functions by boundary elements without a matrix of n² entries,
/// docs/greens-large.md: a compressed matrix, its preconditioner and GMRES for many columns at
/// once. Right-hand sides are integrated exactly, when they are asked for. Nondimensional.
class IterativeBoundarySource final : public GreensColumnSource {
public:
    /// Throws InputError for a read-out outside the body.
    IterativeBoundarySource(BoundaryModel model, std::vector<NodeKind> kinds,
                            std::span<const GreensReadout> readouts,
                            const IterativeOptions& options = {});

    [[nodiscard]] int num_nodes() const noexcept override { return blocks_.num_nodes(); }
    [[nodiscard]] int block() const noexcept override { return 3; }
    [[nodiscard]] int num_body_columns() const noexcept override { return 3; }
    [[nodiscard]] int num_readouts() const noexcept override {
        return static_cast<int>(of_unknowns_.rows());
    }
    [[nodiscard]] int num_unknowns() const noexcept override { return 3 * num_nodes(); }

    /// `progress` is asked about cancellation while columns are solved for: it must live as long as
    /// that goes on.
    void prepare(Progress& progress) override;
    // These throw InputError that names columns whose tolerance was not reached, and Cancelled.
    void columns(std::span<const int> nodes, Eigen::Ref<Eigen::MatrixXd> values) override;
    void spread_columns(std::span<const SpreadKnown> spreads,
                        Eigen::Ref<Eigen::MatrixXd> values) override;
    void body_columns(Eigen::Ref<Eigen::MatrixXd> values) override;

    /// So far; it outlives the source.
    [[nodiscard]] std::shared_ptr<const IterativeReport> report() const noexcept { return report_; }

private:
    /// −Ā times spread unit values.
    [[nodiscard]] Eigen::MatrixXd right_sides(std::span<const SpreadKnown> spreads) const;
    /// Overwrites right-hand sides by solutions.
    template <class NameOf>
    void solve(Eigen::Ref<Eigen::MatrixXd> values, const NameOf& name_of);
    void add_readouts(Eigen::Ref<Eigen::MatrixXd> values,
                      const Eigen::Ref<const Eigen::MatrixXd>& of_known) const;

    UnknownBlocks blocks_;
    std::vector<NodeKind> kinds_;
    IterativeOptions options_;
    std::vector<int> place_in_space_;  // of nodes, neighbours near each other
    // read-outs from unknowns, knowns and body forces
    Eigen::MatrixXd of_unknowns_, of_knowns_, of_body_forces_;
    std::unique_ptr<BoundaryOperator> matrix_;
    std::unique_ptr<BlockPreconditioner> preconditioner_;
    Progress* progress_ = nullptr;
    std::shared_ptr<IterativeReport> report_ = std::make_shared<IterativeReport>();
};

}  // namespace pliant
