#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <Eigen/Core>

namespace pliant {

/// What the reference problem prescribes at a node: its traction, or its displacement.
enum class NodeKind : std::uint8_t { Free, Fixed };

/// Which rows a sum of columns is for.
enum class SummedRows : std::uint8_t { All, Displacements };

/// Green's functions of a reference problem, v = Ξ v̄ + B β (docs/greens.md eq. (1)): the response
/// of every unknown to a unit value of each known. Nondimensional. Every node has block() values:
/// three for elasticity, one for a scalar field. Dense, compressed and hierarchical data share this
/// interface; what runs in a step uses nothing else. Immutable while shared: any number of threads.
class GreensFunctions {
public:
    virtual ~GreensFunctions() = default;

    [[nodiscard]] virtual int num_nodes() const noexcept = 0;
    [[nodiscard]] virtual int block() const noexcept = 0;
    /// Ids of columns are below num_nodes · num_column_levels. Id node + num_nodes · k is that of
    /// the function of this node k levels above the finest, docs/greens-constraints.md; the first
    /// num_nodes are the nodes themselves.
    [[nodiscard]] virtual int num_column_levels() const noexcept { return 1; }
    [[nodiscard]] int num_column_ids() const noexcept { return num_nodes() * num_column_levels(); }
    /// Node at which the function of a column is 1.
    [[nodiscard]] int row_of(int column) const noexcept { return column % num_nodes(); }
    /// Only nodes that may carry loads or change their condition have a column.
    [[nodiscard]] virtual bool has_column(int column) const noexcept = 0;
    /// Mean number of blocks that a column adds to a sum.
    [[nodiscard]] virtual double mean_column_blocks() const noexcept { return num_nodes(); }

    /// Ξ_ij of node i and column j, by rows, into block()² places. The column must be there.
    virtual void element(int i, int j, float* values) const noexcept = 0;
    /// out += Σ_k Ξ_:nodes[k] weights[k], block() weights for each column. `out` may be shorter
    /// than the columns: the first rows only, which are the coarser levels of a semi-regular mesh;
    /// compressed functions then leave out what finer levels add to them.
    virtual void add_columns(std::span<const int> nodes, std::span<const float> weights,
                             std::span<float> out) const noexcept = 0;

    /// Parameters β of body forces: one column each.
    [[nodiscard]] virtual int num_body_columns() const noexcept = 0;
    /// Rows of node i of column k of B, block() places.
    virtual void body_element(int i, int k, float* values) const noexcept = 0;
    virtual void add_body_columns(std::span<const float> weights,
                                  std::span<float> out) const noexcept = 0;

    // Sums that are kept and added to, in the form in which they superpose cheapest: the rows
    // themselves, or coefficients that are transformed once, whatever went into the sum.

    /// Floats for the rows of the first `num_nodes` nodes.
    [[nodiscard]] virtual std::size_t sum_size(int num_nodes) const noexcept {
        return static_cast<std::size_t>(num_nodes) * static_cast<std::size_t>(block());
    }
    /// sum += Σ_k Ξ_:nodes[k] weights[k] + B body_weights as far as the first `num_nodes` nodes
    /// need it. `body_weights` may be empty. What fixed nodes would get may be left out where
    /// displacements alone are asked for.
    virtual void accumulate(std::span<const int> nodes, std::span<const float> weights,
                            std::span<const float> body_weights, int num_nodes,
                            std::span<float> sum, SummedRows = SummedRows::All) const noexcept {
        const auto rows = sum.first(sum_size(num_nodes));
        add_columns(nodes, weights, rows);
        if (!body_weights.empty()) add_body_columns(body_weights, rows);
    }
    /// Rows of the first `num_nodes` nodes: in the sum, or in `scratch` of the same size. This may
    /// be the sum itself, which is used up then: less memory to touch.
    [[nodiscard]] virtual std::span<const float> field(std::span<const float> sum, int num_nodes,
                                                       std::span<float> scratch) const noexcept {
        (void)scratch;
        return sum.first(sum_size(num_nodes));
    }
    /// Rows of one node of a sum for all nodes.
    virtual void row_of_sum(std::span<const float> sum, int node, float* values) const noexcept {
        const auto size = static_cast<std::size_t>(block());
        for (std::size_t k = 0; k < size; ++k)
            values[k] = sum[static_cast<std::size_t>(node) * size + k];
    }
    /// Rows of single nodes come cheaper from a sum of columns than from their elements.
    [[nodiscard]] virtual bool prefers_sums() const noexcept { return false; }

    /// Further linear results that superpose like the unknowns: interior displacements, stresses.
    [[nodiscard]] virtual int num_readouts() const noexcept = 0;
    virtual void add_readouts(std::span<const int> nodes, std::span<const float> weights,
                              std::span<float> out) const noexcept = 0;
    virtual void add_body_readouts(std::span<const float> weights,
                                   std::span<float> out) const noexcept = 0;
};

/// What dense Green's functions hold.
struct DenseGreensLayout {
    int num_nodes = 0;
    int block = 3;
    std::vector<int> columns;  ///< nodes (or further ids) with a column, each once
    int num_body_columns = 0;
    int num_readouts = 0;
    int num_column_levels = 1;  ///< more than 1: ids of coarser functions, too
};

/// All columns in single precision, each scalar column at a cache line of its own: sums read memory
/// in order. Columns are set once, in any order, before the object is shared.
class DenseGreensFunctions final : public GreensFunctions {
public:
    /// Zeros. Throws InputError for sizes that make no sense and columns of nodes that are not
    /// there.
    explicit DenseGreensFunctions(DenseGreensLayout layout);
    /// Values that are there already, as in a mapped file: `values` as those of values(), at an
    /// address that is a multiple of 64, kept by `owner`. Nothing can be set. Throws InputError
    /// for another number of values, too.
    DenseGreensFunctions(DenseGreensLayout layout, std::span<const float> values,
                         std::shared_ptr<const void> owner);
    DenseGreensFunctions(const DenseGreensFunctions&) = delete;
    DenseGreensFunctions& operator=(const DenseGreensFunctions&) = delete;

    /// `values` has block·num_nodes rows, then the read-outs, and block columns. Throws InputError
    /// when a value is not finite in single precision.
    void set_column(int node, const Eigen::Ref<const Eigen::MatrixXd>& values);
    void set_body_column(int k, const Eigen::Ref<const Eigen::VectorXd>& values);

    [[nodiscard]] int num_nodes() const noexcept override { return layout_.num_nodes; }
    [[nodiscard]] int block() const noexcept override { return layout_.block; }
    [[nodiscard]] int num_column_levels() const noexcept override {
        return layout_.num_column_levels;
    }
    [[nodiscard]] bool has_column(int column) const noexcept override {
        return column >= 0 && static_cast<std::size_t>(column) < place_.size() &&
               place_[static_cast<std::size_t>(column)] >= 0;
    }
    void element(int i, int j, float* values) const noexcept override;
    void add_columns(std::span<const int> nodes, std::span<const float> weights,
                     std::span<float> out) const noexcept override;
    [[nodiscard]] int num_body_columns() const noexcept override {
        return layout_.num_body_columns;
    }
    void body_element(int i, int k, float* values) const noexcept override;
    void add_body_columns(std::span<const float> weights,
                          std::span<float> out) const noexcept override;
    [[nodiscard]] int num_readouts() const noexcept override { return layout_.num_readouts; }
    void add_readouts(std::span<const int> nodes, std::span<const float> weights,
                      std::span<float> out) const noexcept override;
    void add_body_readouts(std::span<const float> weights,
                           std::span<float> out) const noexcept override;
    [[nodiscard]] const DenseGreensLayout& layout() const noexcept { return layout_; }
    /// Scalar columns in the order of the layout's, then those of body forces, stride() apart.
    [[nodiscard]] std::span<const float> values() const noexcept {
        return {values_, stride_ * num_scalar_columns()};
    }
    [[nodiscard]] std::size_t stride() const noexcept { return stride_; }
    /// Of nodes and body forces.
    [[nodiscard]] std::size_t num_scalar_columns() const noexcept;
    [[nodiscard]] std::size_t num_bytes() const noexcept { return values().size_bytes(); }

private:
    void read_layout();
    /// Those of nodes first, then those of body forces.
    [[nodiscard]] const float* scalar_column(std::size_t index) const noexcept {
        return values_ + index * stride_;
    }
    [[nodiscard]] std::size_t first_scalar_column(int node) const noexcept;
    [[nodiscard]] std::size_t first_body_column() const noexcept;
    void store(std::size_t index, const Eigen::Ref<const Eigen::VectorXd>& values, const char* kind,
               int number);
    void add_rows(std::span<const int> nodes, std::span<const float> weights, std::size_t first_row,
                  std::span<float> out) const noexcept;
    void add_body_rows(std::span<const float> weights, std::size_t first_row,
                       std::span<float> out) const noexcept;

    DenseGreensLayout layout_;
    std::size_t stride_ = 0;
    std::vector<int> place_;  // of the column of each id, −1: none
    std::shared_ptr<const void> owner_;
    const float* values_ = nullptr;
    float* writable_ = nullptr;  // the same, where this object made them
};

}  // namespace pliant
