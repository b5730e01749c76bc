#pragma once

#include "greens/dense_lu.h"
#include "pliant/greens/boundary_elements.h"
#include "pliant/greens/column_source.h"
#include "pliant/greens/greens_model.h"

#include <optional>
#include <vector>

namespace pliant {

/// Green's functions by boundary elements, docs/greens.md eq. (C1): rows of H u = G p + b are
/// assembled in tiles, whose columns go to the matrix of unknowns or, if they are asked for, to the
/// right-hand sides; one dense factorisation. Nondimensional: `model` is of unit length.
class BoundaryElementSource final : public GreensColumnSource {
public:
    /// `wanted`: nodes whose columns will be asked for; right-hand sides of these alone are kept,
    /// until each has been solved for. Throws InputError for a read-out outside the body.
    BoundaryElementSource(BoundaryModel model, std::vector<NodeKind> kinds, std::vector<int> wanted,
                          std::span<const GreensReadout> readouts);

    [[nodiscard]] int num_nodes() const noexcept override { return model_.num_nodes(); }
    [[nodiscard]] int block() const noexcept override { return model_.block(); }
    [[nodiscard]] int num_body_columns() const noexcept override { return model_.block(); }
    [[nodiscard]] int num_readouts() const noexcept override {
        return static_cast<int>(of_unknowns_.rows());
    }
    [[nodiscard]] int num_unknowns() const noexcept override {
        return model_.block() * num_nodes();
    }

    void prepare(Progress& progress) override;
    void columns(std::span<const int> nodes, Eigen::Ref<Eigen::MatrixXd> values) override;
    /// From the right-hand sides that are kept; where a node was not `wanted`, all of them are
    /// integrated again.
    void spread_columns(std::span<const SpreadKnown> spreads,
                        Eigen::Ref<Eigen::MatrixXd> values) override;
    void body_columns(Eigen::Ref<Eigen::MatrixXd> values) override;

private:
    /// The matrix of unknowns; fills in right-hand sides.
    [[nodiscard]] Eigen::MatrixXd assemble(Progress& progress);
    /// Σ weight · right-hand sides of nodes.
    void sum_kept(std::span<const SpreadKnown> spreads, Eigen::Ref<Eigen::MatrixXd> sums) const;
    void integrate_sums(std::span<const SpreadKnown> spreads,
                        Eigen::Ref<Eigen::MatrixXd> sums) const;
    /// Values of read-outs behind the unknowns, which are there already.
    void add_readouts(Eigen::Ref<Eigen::MatrixXd> values,
                      const Eigen::Ref<const Eigen::MatrixXd>& of_known) const;

    BoundaryModel model_;
    std::vector<NodeKind> kinds_;
    std::vector<int> place_of_;  // of the right-hand sides of each node, −1: not wanted
    int num_wanted_ = 0;
    // read-outs from unknowns, knowns and body forces
    Eigen::MatrixXd of_unknowns_, of_knowns_, of_body_forces_;
    Eigen::MatrixXd right_sides_;
    std::optional<DenseLu> factors_;
};

}  // namespace pliant
