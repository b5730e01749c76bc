#include "core/numbers.h"
#include "core/resource_use.h"
#include "greens/corrected_operator.h"
#include "pliant/core/error.h"
#include "pliant/core/json_value.h"
#include "pliant/core/parallel.h"
#include "pliant/greens/surface_transform.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::MatrixXf;

/// Right-hand sides that a task takes through the whole matrix.
constexpr int kWaveletWidth = 16;
constexpr std::size_t kWaveletColumns = 16;  // that a task integrates

/// Blocks 3×3 by columns, as many as vertices.
using BlockColumn = std::vector<double>;

double block_norm(const double* block) { return Eigen::Map<const Matrix3d>(block).norm(); }

class WaveletOperator final : public CorrectedOperator {
public:
    WaveletOperator(const BoundaryModel& model, const SemiRegularMesh& surface,
                    const std::vector<NodeKind>& kinds, const WaveletOperatorOptions& options,
                    Progress& progress, WaveletOperatorReport& report)
        : CorrectedOperator(model, kinds),
          options_(options),
          transform_(surface, options.is_lifted ? WaveletKind::LiftedLinear : WaveletKind::Linear,
                     model.areas()),
          interpolation_(surface, WaveletKind::Linear, model.areas()),
          columns_(kinds.size()) {
        own_blocks_ = blocks_.integrated_own_blocks();
        blocks_.set_own_blocks(own_blocks_);
        progress.stage("wavelet columns", kinds.size());
        std::vector<std::int64_t> integrated(kinds.size());
        parallel_ranges(kinds.size(), kWaveletColumns, [&](std::size_t begin, std::size_t end) {
            ColumnBuilder builder(*this);
            for (std::size_t j = begin; j < end; ++j)
                integrated[j] = builder.build(static_cast<int>(j), columns_[j]);
            progress.advance(end - begin);
        });
        report.num_integrated =
            std::accumulate(integrated.begin(), integrated.end(), std::int64_t{0});
        for (const SparseColumn& column : columns_)
            report.num_blocks += static_cast<std::int64_t>(column.rows.size());
        report.compression = static_cast<double>(kinds.size()) * static_cast<double>(kinds.size()) /
                             static_cast<double>(report.num_blocks);
        num_bytes_ = 40 * report.num_blocks;
        if (options.has_rigid_correction) correct();
    }

private:
    struct SparseColumn {
        std::vector<int> rows;
        std::vector<float> blocks;  // nine each, by columns
    };

    /// ε of a level, docs/greens-large.md eq. (L5).
    [[nodiscard]] double tolerance(int vertex) const {
        return std::ldexp(options_.tolerance, transform_.level(vertex) - transform_.num_levels());
    }

    class ColumnBuilder {
    public:
        explicit ColumnBuilder(const WaveletOperator& matrix)
            : matrix_(matrix),
              workspace_(matrix.blocks_),
              values_(9 * matrix.columns_.size()),
              is_known_(matrix.columns_.size()),
              is_large_(matrix.columns_.size()) {}

        /// Returns how many blocks have been integrated.
        std::int64_t build(int j, SparseColumn& column) {
            matrix_.blocks_.set_nodes({&j, 1}, workspace_);
            num_integrated_ = 0;
            const double largest =
                matrix_.options_.is_adaptive ? integrate_where_needed(j) : integrate_all();
            matrix_.transform_.forward(values_.data(), 9);
            for (int i = 0; i < static_cast<int>(is_known_.size()); ++i) {
                const double* const block = values_.data() + 9 * i;
                if (!matrix_.transform_.is_base(i) &&
                    block_norm(block) < matrix_.tolerance(i) * largest)
                    continue;
                column.rows.push_back(i);
                for (int k = 0; k < 9; ++k) column.blocks.push_back(static_cast<float>(block[k]));
            }
            return num_integrated_;
        }

    private:
        void integrate(std::span<const int> rows) {
            matrix_.blocks_.unknowns(rows, workspace_, block_);
            for (std::size_t r = 0; r < rows.size(); ++r) {
                Eigen::Map<Matrix3d>(values_.data() + 9 * rows[r]) =
                    block_.block<3, 3>(3 * static_cast<Eigen::Index>(r), 0);
                is_known_[at(rows[r])] = 1;
            }
            num_integrated_ += static_cast<std::int64_t>(rows.size());
        }

        [[nodiscard]] double largest_known() const {
            double largest = 0;
            for (std::size_t i = 0; i < is_known_.size(); ++i)
                if (is_known_[i]) largest = std::max(largest, block_norm(values_.data() + 9 * i));
            return largest;
        }

        double integrate_all() {
            rows_.resize(is_known_.size());
            std::iota(rows_.begin(), rows_.end(), 0);
            integrate(rows_);
            return largest_known();
        }

        /// From coarse to fine, below what is not small; the rest is interpolated.
        double integrate_where_needed(int j) {
            const SurfaceTransform& linear = matrix_.interpolation_;
            std::ranges::fill(is_known_, 0);
            std::ranges::fill(is_large_, 0);
            // coarse levels may miss the node's own peak: it is there with all it is predicted from
            mark_surroundings(j);
            rows_.clear();
            for (int i = 0; i < static_cast<int>(is_known_.size()); ++i)
                if (is_large_[at(i)] || linear.is_base(i)) rows_.push_back(i);
            integrate(rows_);
            const double largest = largest_known();
            for (int i = 0; i < linear.level_sizes()[0]; ++i)
                if (block_norm(values_.data() + 9 * i) >= matrix_.tolerance(i) * largest)
                    is_large_[at(i)] = 1;
            for (int level = 1; level <= linear.num_levels(); ++level)
                integrate_level(level, largest);
            return largest;
        }

        void integrate_level(int level, double largest) {
            const SurfaceTransform& linear = matrix_.interpolation_;
            const int begin = linear.level_sizes()[at(level - 1)],
                      end = linear.level_sizes()[at(level)];
            // below a large coefficient, or below one whose parents are large
            rows_.clear();
            for (int m = begin; m < end; ++m) {
                bool is_needed = false;
                for (const int parent : linear.interpolation(m).vertices) {
                    is_needed = is_needed || is_large_[at(parent)];
                    for (const int above : linear.interpolation(parent).vertices)
                        is_needed = is_needed || is_large_[at(above)];
                }
                if (is_needed && !is_known_[at(m)]) rows_.push_back(m);
            }
            if (!rows_.empty()) integrate(rows_);
            for (int m = begin; m < end; ++m) {
                Matrix3d predicted = Matrix3d::Zero();
                const SurfaceTransform::Filter filter = linear.interpolation(m);
                for (std::size_t k = 0; k < filter.vertices.size(); ++k)
                    predicted += filter.weights[k] * Eigen::Map<const Matrix3d>(
                                                         values_.data() + 9 * filter.vertices[k]);
                Eigen::Map<Matrix3d> value(values_.data() + 9 * m);
                if (!is_known_[at(m)])
                    value = predicted;
                else if ((value - predicted).norm() >= matrix_.tolerance(m) * largest)
                    is_large_[at(m)] = 1;
            }
        }

        void mark_surroundings(int j) {
            std::vector<int> open;
            const auto mark = [&](int vertex) {
                if (is_large_[at(vertex)]) return;
                is_large_[at(vertex)] = 1;
                open.push_back(vertex);
            };
            const BoundaryAssembler& assembler = matrix_.blocks_.assembler();
            for (const int t : assembler.triangles_of(j))
                for (const int node : assembler.triangle(t).nodes) mark(node);
            while (!open.empty()) {
                const int vertex = open.back();
                open.pop_back();
                for (const int parent : matrix_.interpolation_.interpolation(vertex).vertices)
                    mark(parent);
            }
        }

        const WaveletOperator& matrix_;
        UnknownBlocks::Workspace workspace_;
        BlockColumn values_;
        MatrixXd block_;
        std::vector<char> is_known_, is_large_;
        std::vector<int> rows_;
        std::int64_t num_integrated_ = 0;
    };

    /// W⁻¹ Ã X, eq. (L5).
    void multiply(const Eigen::Ref<const MatrixXd>& X, Eigen::Ref<MatrixXd> Y) const override {
        const auto num_tiles = at((static_cast<int>(X.cols()) + kWaveletWidth - 1) / kWaveletWidth);
        parallel_for(num_tiles, 1, [&](std::size_t tile) {
            const Eigen::Index first = kWaveletWidth * static_cast<Eigen::Index>(tile);
            const int width =
                static_cast<int>(std::min<Eigen::Index>(kWaveletWidth, X.cols() - first));
            // right-hand sides side by side for each scalar row; lanes beyond them are zero
            using Lanes = Eigen::Matrix<float, kWaveletWidth, 3>;
            MatrixXf sums = MatrixXf::Zero(kWaveletWidth, num_unknowns());
            for (std::size_t j = 0; j < columns_.size(); ++j) {
                Lanes x = Lanes::Zero();
                x.topRows(width) = X.block(3 * static_cast<Eigen::Index>(j), first, 3, width)
                                       .transpose()
                                       .cast<float>();
                const SparseColumn& column = columns_[j];
                for (std::size_t k = 0; k < column.rows.size(); ++k) {
                    const float* const b = column.blocks.data() + 9 * k;
                    auto to = sums.middleCols<3>(3 * column.rows[k]);
                    for (int r = 0; r < 3; ++r)
                        to.col(r) += b[r] * x.col(0) + b[3 + r] * x.col(1) + b[6 + r] * x.col(2);
                }
            }
            transform_.inverse(sums.data(), 3 * kWaveletWidth);
            Y.middleCols(first, width) = sums.topRows(width).transpose().cast<double>();
        });
    }

    WaveletOperatorOptions options_;
    SurfaceTransform transform_, interpolation_;
    std::vector<SparseColumn> columns_;
};

}  // namespace

std::unique_ptr<BoundaryOperator> make_wavelet_operator(
    const BoundaryModel& model, const SemiRegularMesh& surface, const std::vector<NodeKind>& kinds,
    const WaveletOperatorOptions& options, Progress& progress, WaveletOperatorReport* report) {
    if (!(options.tolerance >= 0 && options.tolerance < 1))
        throw InputError("", "tolerance", to_text(JsonValue(options.tolerance)), "0 <= value < 1");
    if (model.options().elements != BoundaryElements::Linear ||
        model.num_nodes() != surface.mesh.num_vertices())
        throw InputError("",
                         "wavelet columns need a node at each vertex of a surface with levels: "
                         "linear elements without doubled nodes");
    if (surface.num_levels() < 1)
        throw InputError("",
                         "wavelet columns need a surface with subdivision connectivity, and this "
                         "one has a single level; pliant mesh --kind semiregular makes one with "
                         "several");
    WaveletOperatorReport unused;
    WaveletOperatorReport& told = report ? *report : unused;
    told = {};
    const SecondsOfScope scope(told.seconds);
    return std::make_unique<WaveletOperator>(model, surface, kinds, options, progress, told);
}

}  // namespace pliant
