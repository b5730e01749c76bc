#include "greens/column_batches.h"

#include "core/numbers.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace pliant {
namespace {

constexpr const char* kBatchStage = "greens";
constexpr const char* kBatchChunk = "columns";

/// Values of an archive of the right shape, one row for each scalar column.
std::optional<Eigen::MatrixXd> read_batch(const std::optional<Archive>& archive,
                                          std::uint64_t num_columns, std::uint64_t num_rows) {
    if (!archive || !archive->has(kBatchChunk)) return std::nullopt;
    const ChunkInfo& info = archive->info(kBatchChunk);
    if (info.type != ChunkType::F32 || info.shape != std::vector{num_columns, num_rows})
        return std::nullopt;
    const auto values = archive->get<float>(kBatchChunk);
    return Eigen::Map<const Eigen::MatrixXf>(values.data(), static_cast<Eigen::Index>(num_rows),
                                             static_cast<Eigen::Index>(num_columns))
        .cast<double>();
}

}  // namespace

ColumnBatches::ColumnBatches(DenseGreensLayout layout, const CacheKey& key, BuildCache& cache,
                             ColumnSink* sink)
    : layout_(std::move(layout)),
      cache_(cache),
      sink_(sink),
      functions_(sink ? nullptr : std::make_shared<DenseGreensFunctions>(layout_)) {
    const std::span<const int> nodes = layout_.columns;
    for (std::size_t first = 0; first < nodes.size(); first += kBatchNodes) {
        const auto some =
            nodes.subspan(first, std::min<std::size_t>(kBatchNodes, nodes.size() - first));
        batches_.push_back({some, CacheKey(key).add(some).hash(), false});
        find_kept(batches_.back());
    }
    body_key_ = CacheKey(key).add("body").hash();
    const auto rows = at(layout_.block) * at(layout_.num_nodes) + at(layout_.num_readouts);
    if (const auto values =
            read_batch(cache_.find(kBatchStage, body_key_), at(layout_.num_body_columns), rows)) {
        set_body_columns(*values);
        has_body_ = true;
    }
}

void ColumnBatches::set_columns(std::span<const int> nodes, const Eigen::MatrixXd& values) {
    parallel_for(nodes.size(), 16, [&](std::size_t k) {
        const auto column =
            values.middleCols(static_cast<Eigen::Index>(k) * layout_.block, layout_.block);
        if (sink_)
            sink_->set_column(nodes[k], column);
        else
            functions_->set_column(nodes[k], column);
    });
}

void ColumnBatches::set_body_columns(const Eigen::MatrixXd& values) {
    if (sink_) return sink_->set_body_columns(values);
    for (int k = 0; k < layout_.num_body_columns; ++k)
        functions_->set_body_column(k, values.col(k));
}

void ColumnBatches::find_kept(Batch& batch) {
    const auto rows = at(layout_.block) * at(layout_.num_nodes) + at(layout_.num_readouts);
    const auto values = read_batch(cache_.find(kBatchStage, batch.key),
                                   batch.nodes.size() * at(layout_.block), rows);
    batch.is_kept = values.has_value();
    if (!batch.is_kept)
        missing_.insert(missing_.end(), batch.nodes.begin(), batch.nodes.end());
    else
        set_columns(batch.nodes, *values);
}

void ColumnBatches::keep(std::uint64_t key, const Eigen::MatrixXd& values) {
    cache_.save(kBatchStage, key, [&](const std::filesystem::path& path) {
        const Eigen::MatrixXf rounded = values.cast<float>();
        ArchiveWriter writer("cache-greens");
        writer.add<float>(kBatchChunk, {rounded.data(), static_cast<std::size_t>(rounded.size())},
                          {static_cast<std::uint64_t>(rounded.cols()),
                           static_cast<std::uint64_t>(rounded.rows())});
        writer.save(path);
    });
}

void ColumnBatches::compute(GreensColumnSource& source, Progress& progress) {
    if (!has_body_) {
        progress.stage("body forces");
        Eigen::MatrixXd values(source.num_rows(), layout_.num_body_columns);
        source.body_columns(values);
        set_body_columns(values);
        keep(body_key_, values);
        has_body_ = true;
    }
    progress.stage("Green's functions", missing_.size());
    for (Batch& batch : batches_) {
        if (batch.is_kept) continue;
        Eigen::MatrixXd values(source.num_rows(),
                               static_cast<Eigen::Index>(batch.nodes.size()) * layout_.block);
        source.columns(batch.nodes, values);
        set_columns(batch.nodes, values);
        keep(batch.key, values);
        batch.is_kept = true;
        progress.advance(batch.nodes.size());
    }
    missing_.clear();
}

double reciprocity_defect(const GreensFunctions& functions, const std::vector<NodeKind>& kinds,
                          const std::vector<double>& areas, std::size_t max_nodes) {
    struct Sums {
        double whole = 0, skew = 0;
    };
    const int block = functions.block();
    std::vector<int> nodes;
    for (int node = 0; node < functions.num_nodes(); ++node)
        if (functions.has_column(node) && kinds[at(node)] == NodeKind::Free) nodes.push_back(node);
    if (const std::size_t all = nodes.size(); all > max_nodes) {
        for (std::size_t k = 0; k < max_nodes; ++k) nodes[k] = nodes[k * all / max_nodes];
        nodes.resize(max_nodes);
    }
    const Sums sums = parallel_reduce(
        nodes.size(), 8, Sums{},
        [&](std::size_t begin, std::size_t end) {
            Sums part;
            float ij[9], ji[9];
            for (std::size_t a = begin; a < end; ++a)
                for (std::size_t b = 0; b <= a; ++b) {
                    const int i = nodes[a], j = nodes[b];
                    functions.element(i, j, ij);
                    functions.element(j, i, ji);
                    const double weight = a == b ? 1 : 2;
                    for (int r = 0; r < block; ++r)
                        for (int c = 0; c < block; ++c) {
                            const double x = ij[r * block + c] / areas[at(j)];
                            const double y = ji[c * block + r] / areas[at(i)];
                            part.whole += weight * 0.5 * (x * x + y * y);
                            part.skew += weight * (x - y) * (x - y);
                        }
                }
            return part;
        },
        [](const Sums& a, const Sums& b) {
            return Sums{a.whole + b.whole, a.skew + b.skew};
        });
    return sums.whole > 0 ? std::sqrt(sums.skew / sums.whole) : 0;
}

}  // namespace pliant
