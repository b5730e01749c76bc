#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pliant/core/progress.h"
#include "pliant/greens/column_source.h"
#include "pliant/greens/greens_model.h"
#include "pliant/greens/hierarchical_basis.h"

namespace pliant {

/// Columns of the functions of all levels from a source that knows nodes alone: those of coarser
/// levels from one solution each, for known values φ(x_i) I at the nodes, eq. (H5). Ids as those
/// of the basis. What stores columns takes it for any other source.
class HierarchicalColumnSource final : public GreensColumnSource {
public:
    /// `source` has been prepared, or is by prepare(). Throws InputError when nodes of the source
    /// are not the vertices of the basis.
    HierarchicalColumnSource(std::shared_ptr<GreensColumnSource> source,
                             std::shared_ptr<const HierarchicalBasis> basis);

    [[nodiscard]] int num_nodes() const noexcept override { return source_->num_nodes(); }
    [[nodiscard]] int num_column_levels() const noexcept override {
        return basis_->num_levels() + 1;
    }
    [[nodiscard]] int block() const noexcept override { return source_->block(); }
    [[nodiscard]] int num_body_columns() const noexcept override {
        return source_->num_body_columns();
    }
    [[nodiscard]] int num_readouts() const noexcept override { return source_->num_readouts(); }
    [[nodiscard]] int num_unknowns() const noexcept override { return source_->num_unknowns(); }

    void prepare(Progress& progress) override;
    void columns(std::span<const int> ids, Eigen::Ref<Eigen::MatrixXd> values) override;
    void spread_columns(std::span<const SpreadKnown> spreads,
                        Eigen::Ref<Eigen::MatrixXd> values) override;
    void body_columns(Eigen::Ref<Eigen::MatrixXd> values) override {
        source_->body_columns(values);
    }

private:
    std::shared_ptr<GreensColumnSource> source_;
    std::shared_ptr<const HierarchicalBasis> basis_;
};

/// Columns of coarser functions as sums of columns that are there, eq. (H3): a source for whatever
/// stores them, so that compressed columns are thresholded after refining.
class RefinedColumnSource final : public GreensColumnSource {
public:
    /// `fine` is not compressed. Throws InputError when its nodes are not the vertices of the
    /// basis.
    RefinedColumnSource(std::shared_ptr<const DenseGreensFunctions> fine,
                        std::shared_ptr<const HierarchicalBasis> basis);

    [[nodiscard]] int num_nodes() const noexcept override { return fine_->num_nodes(); }
    [[nodiscard]] int num_column_levels() const noexcept override {
        return basis_->num_levels() + 1;
    }
    [[nodiscard]] int block() const noexcept override { return fine_->block(); }
    [[nodiscard]] int num_body_columns() const noexcept override {
        return fine_->num_body_columns();
    }
    [[nodiscard]] int num_readouts() const noexcept override { return fine_->num_readouts(); }
    [[nodiscard]] int num_unknowns() const noexcept override { return 0; }

    void prepare(Progress&) override {}
    /// Nodes of the functions must have columns.
    void columns(std::span<const int> ids, Eigen::Ref<Eigen::MatrixXd> values) override;
    void body_columns(Eigen::Ref<Eigen::MatrixXd> values) override;

private:
    std::shared_ptr<const DenseGreensFunctions> fine_;
    std::shared_ptr<const HierarchicalBasis> basis_;
};

/// Ids of the functions of a level all of whose nodes have a column in `fine`; ascending.
[[nodiscard]] std::vector<int> refinable_ids(const GreensFunctions& fine,
                                             const HierarchicalBasis& basis, int level);

/// All columns `ids` of a source, dense. In batches that `progress` sees; throws Cancelled between
/// them.
[[nodiscard]] std::shared_ptr<DenseGreensFunctions> dense_columns(GreensColumnSource& source,
                                                                  std::vector<int> ids,
                                                                  Progress& progress);

/// The model with dense columns of the levels `coarsest` to L − 1 as well, refined from its own: a
/// third more memory at most. Throws InputError for Green's functions that are not dense, a surface
/// without levels, nodes that are not its vertices, and a level that is not below L.
[[nodiscard]] GreensModel with_coarser_columns(const GreensModel& model, int coarsest,
                                               Progress& progress = Progress::none());

}  // namespace pliant
