#pragma once

#include "pliant/core/progress.h"
#include "pliant/greens/column_source.h"
#include "reduction/build_cache.h"

#include <memory>
#include <span>
#include <vector>

namespace pliant {

/// Nodes whose columns are computed and kept together.
inline constexpr int kBatchNodes = 256;

/// Takes columns as they come, several threads different ones.
class ColumnSink {
public:
    virtual ~ColumnSink() = default;
    virtual void set_column(int node, const Eigen::Ref<const Eigen::MatrixXd>& values) = 0;
    virtual void set_body_columns(const Eigen::Ref<const Eigen::MatrixXd>& values) = 0;
};

/// Columns in single precision, batch by batch: those of an earlier build from its cache, the
/// others from a source, each kept as soon as it is finished. Borders of batches depend on the list
/// of columns alone, so that a build that was interrupted ends with the same bits.
class ColumnBatches {
public:
    /// `key`: all that the columns depend on but for their nodes. Without a sink, they are
    /// gathered as dense functions.
    ColumnBatches(DenseGreensLayout layout, const CacheKey& key, BuildCache& cache,
                  ColumnSink* sink = nullptr);

    /// Of nodes that no earlier build has left.
    [[nodiscard]] const std::vector<int>& missing() const noexcept { return missing_; }
    [[nodiscard]] bool is_complete() const noexcept { return missing_.empty() && has_body_; }
    /// Computes what is missing. Throws Cancelled between batches; what is finished stays kept.
    void compute(GreensColumnSource& source, Progress& progress);

    /// Null with a sink.
    [[nodiscard]] std::shared_ptr<const DenseGreensFunctions> functions() const noexcept {
        return functions_;
    }

private:
    struct Batch {
        std::span<const int> nodes;
        std::uint64_t key;
        bool is_kept;
    };
    void find_kept(Batch& batch);
    void set_columns(std::span<const int> nodes, const Eigen::MatrixXd& values);
    void set_body_columns(const Eigen::MatrixXd& values);
    void keep(std::uint64_t key, const Eigen::MatrixXd& values);

    DenseGreensLayout layout_;
    BuildCache& cache_;
    ColumnSink* sink_;
    std::shared_ptr<DenseGreensFunctions> functions_;
    std::vector<Batch> batches_;
    std::uint64_t body_key_ = 0;
    bool has_body_ = false;
    std::vector<int> missing_;
};

/// ‖D − Dᵀ‖ / ‖D‖ of D_ij = Ξ_ij / a_j over free nodes with columns, docs/greens.md eq. (C5);
/// over `max_nodes` of them, evenly from the list, where there are more.
[[nodiscard]] double reciprocity_defect(const GreensFunctions& functions,
                                        const std::vector<NodeKind>& kinds,
                                        const std::vector<double>& areas,
                                        std::size_t max_nodes = 1u << 30);

}  // namespace pliant
