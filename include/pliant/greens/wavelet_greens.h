#pragma once

#include "pliant/core/progress.h"
#include "pliant/greens/column_source.h"
#include "pliant/greens/greens_functions.h"
#include "pliant/greens/surface_transform.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <Eigen/Core>

namespace pliant {

struct SparseBlocks;

struct WaveletOptions {
    WaveletKind kind = WaveletKind::LiftedLinear;
    /// ε: largest error of a column against its largest block, nearly; 0 ≤ ε < 1.
    double tolerance = 0.05;
    bool thresholds_base = false;  ///< drops small coefficients of the base as well
    int bits = 32;                 ///< of each number of a block, in files and in memory: 32 or 16
};

/// Throws InputError.
void check_options(const WaveletOptions& options);

/// Free nodes are domain 0, fixed ones domain 1: their rows are displacements and tractions.
[[nodiscard]] std::vector<int> domain_labels(std::span<const NodeKind> kinds);

/// What compression left, docs/greens-wavelets.md eq. (W9).
struct CompressionReport {
    WaveletOptions options;
    std::int64_t num_blocks = 0;       ///< of all columns
    std::int64_t num_free_blocks = 0;  ///< free rows of columns of free nodes: as the errors
    double compression = 1;            ///< all blocks over those kept, free rows and columns
    double rms = 0;                    ///< ‖Ξ̂ − Ξ‖ / ‖Ξ‖
    double max = 0;           ///< largest error of a block over the largest block of its column
    double quantisation = 0;  ///< the same, of rounding to 16 bits alone
};

/// Which columns there are: ids, as in DenseGreensLayout. The id of the column of node k is k;
/// those of its basis functions on coarser levels l are k + num_nodes·(L − l).
using GreensLayout = DenseGreensLayout;

/// Sparse columns of wavelet coefficients, coarse to fine.
struct WaveletColumns {
    /// L + 1 of each column: blocks of levels 0 … l. Columns of body forces come last, block()
    /// of them together.
    std::vector<std::uint32_t> level_ends;
    std::vector<int> nodes;       ///< ascending in each column
    std::vector<float> readouts;  ///< num_readouts rows of each scalar column
    // block² values of each node, by columns; more may follow
    std::vector<float> blocks;           ///< of 32 bits
    std::vector<std::int16_t> integers;  ///< of 16 bits, times their unit
    /// Of 16 bits: unit of the blocks of each level of each column, of free and of fixed nodes.
    std::vector<float> units;
};

/// Green's functions as wavelet coefficients of their columns, small ones left out, over the
/// domains of free and of fixed nodes: docs/greens-wavelets.md. Nodes are the vertices of a
/// semi-regular mesh. Sums are coefficients, transformed once when they are read.
class WaveletGreensFunctions final : public GreensFunctions {
public:
    /// Throws InputError for columns that do not fit to the mesh.
    WaveletGreensFunctions(const SemiRegularMesh& mesh, std::span<const NodeKind> kinds,
                           std::span<const double> areas, GreensLayout layout,
                           WaveletColumns columns, const CompressionReport& report);

    [[nodiscard]] int num_nodes() const noexcept override { return layout_.num_nodes; }
    [[nodiscard]] int block() const noexcept override { return layout_.block; }
    [[nodiscard]] int num_column_levels() const noexcept override {
        return layout_.num_column_levels;
    }
    [[nodiscard]] double mean_column_blocks() const noexcept override {
        return static_cast<double>(num_blocks_) / std::max(1.0, static_cast<double>(num_groups()));
    }
    [[nodiscard]] bool has_column(int id) const noexcept override {
        return id >= 0 && static_cast<std::size_t>(id) < place_.size() &&
               place_[static_cast<std::size_t>(id)] >= 0;
    }
    /// By row functionals; `i` counts modulo num_nodes.
    void element(int i, int j, float* values) const noexcept override;
    /// One inverse transform. Memory for it is kept by each thread from its first call on: in a
    /// step use sums.
    void add_columns(std::span<const int> ids, std::span<const float> weights,
                     std::span<float> out) const noexcept override;
    [[nodiscard]] int num_body_columns() const noexcept override {
        return layout_.num_body_columns;
    }
    void body_element(int i, int k, float* values) const noexcept override;
    void add_body_columns(std::span<const float> weights,
                          std::span<float> out) const noexcept override;

    [[nodiscard]] std::size_t sum_size(int num_nodes) const noexcept override;
    void accumulate(std::span<const int> ids, std::span<const float> weights,
                    std::span<const float> body_weights, int num_nodes, std::span<float> sum,
                    SummedRows rows = SummedRows::All) const noexcept override;
    [[nodiscard]] std::span<const float> field(std::span<const float> sum, int num_nodes,
                                               std::span<float> scratch) const noexcept override;
    void row_of_sum(std::span<const float> sum, int node, float* values) const noexcept override;
    [[nodiscard]] bool prefers_sums() const noexcept override { return true; }

    [[nodiscard]] int num_readouts() const noexcept override { return layout_.num_readouts; }
    void add_readouts(std::span<const int> ids, std::span<const float> weights,
                      std::span<float> out) const noexcept override;
    void add_body_readouts(std::span<const float> weights,
                           std::span<float> out) const noexcept override;

    [[nodiscard]] const GreensLayout& layout() const noexcept { return layout_; }
    [[nodiscard]] const SurfaceTransform& transform() const noexcept { return transform_; }
    [[nodiscard]] const CompressionReport& report() const noexcept { return report_; }
    [[nodiscard]] WaveletColumns columns() const;  ///< a copy in the order of nodes
    [[nodiscard]] std::size_t num_bytes() const noexcept;
    /// Floats of a sum that belong to each node.
    [[nodiscard]] std::size_t sum_stride() const noexcept;

    /// One column: free nodes from coarse to fine, then fixed ones.
    struct Column {
        std::span<const int> nodes;
        std::span<const float> blocks;           ///< of 32 bits
        std::span<const std::int16_t> integers;  ///< of 16 bits
        /// Blocks of levels 0 … l, of free nodes and then of fixed ones.
        std::span<const std::uint32_t> level_ends;
        std::span<const float> units;  ///< of 16 bits: of free and of fixed nodes for each level
    };
    [[nodiscard]] Column column(int id) const noexcept;
    /// The k-th block of a column: block² values, by columns.
    void copy_block(const Column& column, std::size_t k, float* values) const noexcept;
    /// Of the column in layout().columns; −1: none.
    [[nodiscard]] int place(int id) const noexcept { return place_[static_cast<std::size_t>(id)]; }

private:
    [[nodiscard]] std::size_t num_heads() const noexcept;
    [[nodiscard]] std::size_t num_groups() const noexcept;  // columns, and groups of body columns
    [[nodiscard]] Column group(std::size_t index) const noexcept;
    [[nodiscard]] int level_of_prefix(int num_nodes) const noexcept;
    [[nodiscard]] SparseBlocks blocks_to(std::size_t index, std::size_t domain,
                                         int level) const noexcept;
    void add_blocks(const SparseBlocks& column, const float* weights, float* sum) const noexcept;
    void look_ahead(std::span<const int> ids) const noexcept;
    void add_body_groups(std::span<const float> weights, int level, SummedRows rows,
                         float* sum) const noexcept;
    void add_field(std::span<float> sum, std::span<float> out) const noexcept;
    void group_element(int i, std::size_t index, float* by_columns) const noexcept;
    void check_columns(const WaveletColumns& columns) const;
    void divide_by_domains(WaveletColumns columns, std::vector<int> place);
    void find_rows();
    void find_places();

    GreensLayout layout_;
    SurfaceTransform transform_;
    CompressionReport report_;
    std::vector<float> readouts_;
    std::size_t num_blocks_ = 0;
    std::shared_ptr<const void> memory_;  // of what sums read:
    std::span<const int> place_;          // of the column of each id, −1: none
    // all of a column together: ends of levels, units, nodes, blocks, as those of Column
    std::span<const std::uint32_t> records_;
    std::span<const std::size_t> starts_;  // of each column in records_
    std::vector<int> rank_;                // of each node: free ones first
    // which ranks a column has blocks for, and how many come before each word
    std::size_t words_ = 0;
    std::vector<std::uint64_t> masks_;
    std::vector<std::uint32_t> ranks_;
    std::vector<std::uint8_t> unit_of_node_;  // among the units of a column
    // row functionals
    std::vector<int> row_starts_, row_nodes_;
    std::vector<float> row_weights_;
};

/// Compresses columns one by one, in any order, and never holds more than a few that are not.
class WaveletGreensBuilder {
public:
    /// Throws InputError for options that make no sense, and sizes that differ from the mesh: its
    /// vertices are the nodes.
    WaveletGreensBuilder(const SemiRegularMesh& mesh, std::vector<NodeKind> kinds,
                         std::vector<double> areas, GreensLayout layout,
                         const WaveletOptions& options);
    ~WaveletGreensBuilder();

    /// block·num_nodes rows, then those of read-outs; block columns. Several threads may set
    /// different columns. Throws InputError for values that are not finite in single precision,
    /// when nothing of the base would be left, and when 16 bits are too few for the tolerance.
    void set_column(int id, const Eigen::Ref<const Eigen::MatrixXd>& values);
    /// The same rows, one column for each body force.
    void set_body_columns(const Eigen::Ref<const Eigen::MatrixXd>& values);
    /// All columns were set.
    [[nodiscard]] std::shared_ptr<const WaveletGreensFunctions> finish();

private:
    struct Packed;
    [[nodiscard]] Packed pack(const Eigen::Ref<const Eigen::MatrixXd>& values, int id,
                              double tolerance) const;

    const SemiRegularMesh& mesh_;
    std::vector<NodeKind> kinds_;
    std::vector<double> areas_;
    GreensLayout layout_;
    WaveletOptions options_;
    SurfaceTransform transform_;
    std::vector<int> place_;
    std::vector<Packed> packed_;
};

/// From a source that is prepared, batch by batch on all cores; the same bits every time.
[[nodiscard]] std::shared_ptr<const WaveletGreensFunctions> compress_greens(
    GreensColumnSource& source, const SemiRegularMesh& mesh, const std::vector<NodeKind>& kinds,
    const std::vector<double>& areas, const std::vector<int>& columns,
    const WaveletOptions& options, Progress& progress = Progress::none());
/// From columns that are there.
[[nodiscard]] std::shared_ptr<const WaveletGreensFunctions> compress_greens(
    const DenseGreensFunctions& dense, const SemiRegularMesh& mesh,
    const std::vector<NodeKind>& kinds, const std::vector<double>& areas,
    const WaveletOptions& options, Progress& progress = Progress::none());

}  // namespace pliant
