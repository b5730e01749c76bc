#pragma once

#include "pliant/core/progress.h"
#include "pliant/greens/greens_functions.h"

#include <span>
#include <vector>

#include <Eigen/Core>

namespace pliant {

/// A known value that is shared out among nodes of one kind: weight · v̄ at each.
struct SpreadKnown {
    std::span<const int> nodes;  ///< each once
    std::span<const double> weights;
};

/// Produces Green's functions column by column, whatever the method: finite or boundary elements,
/// or measurements. What stores them takes them in any order and keeps none in double precision.
/// Nondimensional: positions in units of the body's length, tractions in those of its modulus.
class GreensColumnSource {
public:
    virtual ~GreensColumnSource() = default;

    [[nodiscard]] virtual int num_nodes() const noexcept = 0;
    /// As of GreensFunctions: more than 1 where `columns` takes ids of coarser functions.
    [[nodiscard]] virtual int num_column_levels() const noexcept { return 1; }
    [[nodiscard]] virtual int block() const noexcept = 0;
    [[nodiscard]] virtual int num_body_columns() const noexcept = 0;
    [[nodiscard]] virtual int num_readouts() const noexcept = 0;
    /// Scalar, of the system that is factored.
    [[nodiscard]] virtual int num_unknowns() const noexcept = 0;
    /// block·num_nodes + num_readouts
    [[nodiscard]] int num_rows() const noexcept { return block() * num_nodes() + num_readouts(); }

    /// What all columns share, assembly and factorisation: once, before the first column. Throws
    /// InputError for a body that cannot be solved for, and Cancelled.
    virtual void prepare(Progress& progress) = 0;
    /// Block columns of `nodes` side by side: num_rows() rows, block() columns for each node.
    /// Deterministic: the same list of nodes gives the same bits.
    virtual void columns(std::span<const int> nodes, Eigen::Ref<Eigen::MatrixXd> values) = 0;
    /// The same for known values that are spread over nodes, Σ weight · column of the node. Sources
    /// with a linear system solve it for the sum; others add up `columns`. Ask for as many at once
    /// as memory allows: boundary elements may have to integrate anew in each call.
    virtual void spread_columns(std::span<const SpreadKnown> spreads,
                                Eigen::Ref<Eigen::MatrixXd> values);
    /// num_rows() rows, one column for each parameter β.
    virtual void body_columns(Eigen::Ref<Eigen::MatrixXd> values) = 0;

    // Of prepare [s].
    [[nodiscard]] double assembly_seconds() const noexcept { return assembly_seconds_; }
    [[nodiscard]] double factor_seconds() const noexcept { return factor_seconds_; }

protected:
    double assembly_seconds_ = 0, factor_seconds_ = 0;
};

}  // namespace pliant
