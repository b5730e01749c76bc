#include "core/numbers.h"
#include "core/resource_use.h"
#include "fem/solver_backend.h"
#include "greens/cluster_tree.h"
#include "greens/cross_approximation.h"
#include "greens/rigid_correction.h"
#include "greens/single_products.h"
#include "greens/unknown_blocks.h"
#include "pliant/core/error.h"
#include "pliant/core/json_value.h"
#include "pliant/core/parallel.h"
#include "pliant/greens/boundary_operator.h"
#include "pliant/greens/wavelet_greens.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace pliant {
namespace {

using Eigen::AlignedBox3d;
using Eigen::MatrixXd;
using Eigen::MatrixXf;

/// Right-hand sides that pass through the matrix together.
constexpr Eigen::Index kPassWidth = 96;

/// A pair of clusters; of low rank U Vᵀ, or dense.
struct ClusterPair {
    int rows, columns;
    bool is_admissible;
    MatrixXf U, V;  // V alone once U is among those of its rows; V is the block if it is dense
    int rank = 0, offset = 0;  // its factors among all
};

/// Boxes around the targets of each cluster, and around where the functions of its nodes are not
/// zero.
struct ClusterBoxes {
    std::vector<AlignedBox3d> targets, supports;

    ClusterBoxes(const ClusterTree& tree, const BoundaryAssembler& assembler)
        : targets(tree.clusters.size()), supports(tree.clusters.size()) {
        for (std::size_t c = tree.clusters.size(); c-- > 0;) {
            const ClusterTree::Cluster& cluster = tree.clusters[c];
            if (!cluster.is_leaf()) {
                for (const int child : cluster.children) {
                    targets[c].extend(targets[at(child)]);
                    supports[c].extend(supports[at(child)]);
                }
                continue;
            }
            for (int i = cluster.begin; i < cluster.end; ++i) {
                const int node = tree.order[at(i)];
                targets[c].extend(assembler.target(node));
                for (const int t : assembler.triangles_of(node))
                    for (const auto& corner : assembler.triangle(t).corners)
                        supports[c].extend(Eigen::Vector3d(corner));
            }
        }
    }
};

class HierarchicalOperator final : public BoundaryOperator {
public:
    HierarchicalOperator(const BoundaryModel& model, const std::vector<NodeKind>& kinds,
                         const HierarchicalOptions& options, Progress& progress,
                         HierarchicalReport& report)
        : blocks_(model, kinds),
          tree_(model.positions(), options.leaf_nodes, domain_labels(kinds)),
          by_rows_(tree_.clusters.size()) {
        {
            const ClusterBoxes boxes(tree_, blocks_.assembler());
            add_pairs(0, 0, boxes, options.admissibility);
        }
        fill(options, progress);
        report.num_clusters = static_cast<int>(tree_.clusters.size());
        gather_by_rows(report);
        add_own_blocks();
        if (options.rigid_correction)
            correction_ =
                RigidCorrection(blocks_, [&](const MatrixXd& X, MatrixXd& Y) { multiply(X, Y); });
    }

    [[nodiscard]] int num_unknowns() const noexcept override { return 3 * blocks_.num_nodes(); }
    [[nodiscard]] std::int64_t num_bytes() const noexcept override { return num_bytes_; }
    void apply(const Eigen::Ref<const MatrixXd>& X, Eigen::Ref<MatrixXd> Y) const override {
        multiply(X, Y);
        correction_.add(X, Y);
    }

private:
    /// Columns of all pairs with the same rows, U side by side.
    struct RowBlocks {
        MatrixXf U;
        int offset = 0;                    // of its factors among all
        std::vector<int> dense, low_rank;  // pairs
    };

    [[nodiscard]] std::span<const int> nodes_of(int cluster) const {
        const ClusterTree::Cluster& c = tree_.clusters[at(cluster)];
        return {tree_.order.data() + c.begin, at(c.size())};
    }

    void add_pairs(int rows, int columns, const ClusterBoxes& boxes, double admissibility) {
        const ClusterTree::Cluster &I = tree_.clusters[at(rows)], &J = tree_.clusters[at(columns)];
        const double distance =
            boxes.targets[at(rows)].exteriorDistance(boxes.supports[at(columns)]);
        const double extent = std::min(boxes.targets[at(rows)].diagonal().norm(),
                                       boxes.supports[at(columns)].diagonal().norm());
        // columns of one kind: the root itself never is
        const bool is_admissible =
            distance > 0 && extent <= admissibility * distance && rows != 0 && columns != 0;
        if (is_admissible || (I.is_leaf() && J.is_leaf())) {
            pairs_.push_back({rows, columns, is_admissible, {}, {}});
            return;
        }
        const bool divides_rows = !I.is_leaf(), divides_columns = !J.is_leaf();
        for (int a = 0; a < (divides_rows ? 2 : 1); ++a)
            for (int b = 0; b < (divides_columns ? 2 : 1); ++b)
                add_pairs(divides_rows ? I.children[a] : rows,
                          divides_columns ? J.children[b] : columns, boxes, admissibility);
    }

    void fill(const HierarchicalOptions& options, Progress& progress) {
        // large ones first, so that no thread is left with one at the end
        std::vector<std::size_t> order(pairs_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        const auto work = [&](std::size_t p) {
            return tree_.clusters[at(pairs_[p].rows)].size() +
                   tree_.clusters[at(pairs_[p].columns)].size();
        };
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return work(a) > work(b); });
        progress.stage("hierarchical matrix", pairs_.size());
        parallel_ranges(pairs_.size(), 8, [&](std::size_t begin, std::size_t end) {
            UnknownBlocks::Workspace workspace(blocks_);
            for (std::size_t k = begin; k < end; ++k)
                fill_pair(pairs_[order[k]], options, workspace);
            progress.advance(end - begin);
        });
    }

    void fill_pair(ClusterPair& pair, const HierarchicalOptions& options,
                   UnknownBlocks::Workspace& workspace) const {
        const auto rows = nodes_of(pair.rows), columns = nodes_of(pair.columns);
        const int num_rows = static_cast<int>(rows.size()),
                  num_columns = static_cast<int>(columns.size());
        if (pair.is_admissible) {
            // with a larger rank the dense block is smaller
            const auto max_rank = static_cast<int>(std::int64_t{3} * num_rows * num_columns /
                                                   (num_rows + num_columns));
            std::vector<int> chosen;
            const auto choose = [&](std::span<const int> from, std::span<const int> places) {
                chosen.clear();
                for (const int k : places) chosen.push_back(from[at(k)]);
                return std::span<const int>(chosen);
            };
            const CrossEntries entries{[&](std::span<const int> places, MatrixXd& out) {
                                           blocks_.set_nodes(columns, workspace);
                                           blocks_.unknowns(choose(rows, places), workspace, out);
                                       },
                                       [&](std::span<const int> places, MatrixXd& out) {
                                           blocks_.set_nodes(choose(columns, places), workspace);
                                           blocks_.unknowns(rows, workspace, out);
                                       }};
            const auto low_rank =
                cross_approximation(num_rows, num_columns, options.tolerance, max_rank, entries);
            if (low_rank) {
                pair.rank = static_cast<int>(low_rank->U.cols());
                pair.U = low_rank->U.cast<float>();
                pair.V = low_rank->V.cast<float>();
                return;
            }
            pair.is_admissible = false;
        }
        MatrixXd block;
        blocks_.set_nodes(columns, workspace);
        blocks_.unknowns(rows, workspace, block);
        pair.V = block.cast<float>();
    }

    void gather_by_rows(HierarchicalReport& report) {
        double rank_sum = 0;
        for (int p = 0; p < static_cast<int>(pairs_.size()); ++p) {
            const ClusterPair& pair = pairs_[at(p)];
            RowBlocks& rows = by_rows_[at(pair.rows)];
            (pair.is_admissible ? rows.low_rank : rows.dense).push_back(p);
            report.num_low_rank += pair.is_admissible ? 1 : 0;
            report.num_dense += pair.is_admissible ? 0 : 1;
            rank_sum += pair.rank;
            (pair.is_admissible ? report.low_rank_bytes : report.dense_bytes) +=
                4 * (pair.U.size() + pair.V.size());
        }
        for (std::size_t c = 0; c < by_rows_.size(); ++c) {
            RowBlocks& rows = by_rows_[c];
            rows.offset = num_factors_;
            int rank = 0;
            for (const int p : rows.low_rank) {
                pairs_[at(p)].offset = num_factors_ + rank;
                rank += pairs_[at(p)].rank;
            }
            rows.U.resize(3 * tree_.clusters[c].size(), rank);
            for (const int p : rows.low_rank) {
                ClusterPair& pair = pairs_[at(p)];
                rows.U.middleCols(pair.offset - num_factors_, pair.rank) = pair.U;
                pair.U.resize(0, 0);
            }
            num_factors_ += rank;
        }
        report.mean_rank = rank_sum / std::max(1, report.num_low_rank);
        num_bytes_ = report.low_rank_bytes + report.dense_bytes;
    }

    /// A translation moves the body without tractions: the sums of the matrix itself, with which
    /// that is so to rounding, eq. (L3).
    void add_own_blocks() {
        const int n = blocks_.num_nodes();
        MatrixXd free_translations = MatrixXd::Zero(3 * n, 3), sums(3 * n, 3);
        for (int i = 0; i < n; ++i)
            if (blocks_.is_free(i)) free_translations.middleRows<3>(3 * i).setIdentity();
        multiply(free_translations, sums);
        std::vector<Eigen::Matrix3d> own = blocks_.fixed_row_sums();
        std::vector<int> at_fixed;
        for (int i = 0; i < n; ++i) {
            own[at(i)] = -own[at(i)] - sums.middleRows<3>(3 * i);
            const BoundaryAssembler::Home home = blocks_.assembler().home_of(i);
            for (int s = 0; s < 3; ++s)
                if (home.weights[s] != 0 && !blocks_.is_free(home.nodes[s])) {
                    at_fixed.push_back(i);
                    break;
                }
        }
        // there they are of the right-hand sides, which are exact
        const std::vector<Eigen::Matrix3d> exact = blocks_.integrated_own_blocks(at_fixed);
        for (std::size_t k = 0; k < exact.size(); ++k) own[at(at_fixed[k])] = exact[k];
        own_blocks_ = own;
        blocks_.set_own_blocks(std::move(own));
        // those of free nodes are of the matrix
        std::vector<int> place_of(at(n));
        for (int k = 0; k < n; ++k) place_of[at(tree_.order[at(k)])] = k;
        for (ClusterPair& pair : pairs_) {
            if (pair.is_admissible) continue;
            const ClusterTree::Cluster& columns = tree_.clusters[at(pair.columns)];
            const auto rows = nodes_of(pair.rows);
            for (std::size_t r = 0; r < rows.size(); ++r) {
                const BoundaryAssembler::Home home = blocks_.assembler().home_of(rows[r]);
                for (int s = 0; s < 3; ++s) {
                    const int place = place_of[at(home.nodes[s])];
                    if (home.weights[s] == 0 || !blocks_.is_free(home.nodes[s]) ||
                        place < columns.begin || place >= columns.end)
                        continue;
                    pair.V.block<3, 3>(3 * static_cast<Eigen::Index>(r),
                                       3 * (place - columns.begin)) +=
                        (home.weights[s] * own_blocks_[at(rows[r])]).cast<float>();
                }
            }
        }
    }

    /// Without correction.
    void multiply(const Eigen::Ref<const MatrixXd>& X, Eigen::Ref<MatrixXd> Y) const {
        const ScopedBlasThreads one_thread_each(1);
        for (Eigen::Index first = 0; first < X.cols(); first += kPassWidth) {
            const Eigen::Index width = std::min(kPassWidth, X.cols() - first);
            pass(X.middleCols(first, width), Y.middleCols(first, width));
        }
    }

    /// In the order of clusters, all right-hand sides of a row side by side.
    void pass(const Eigen::Ref<const MatrixXd>& X, Eigen::Ref<MatrixXd> Y) const {
        const int width = static_cast<int>(X.cols()), n = blocks_.num_nodes();
        MatrixXf x(width, 3 * n), y(width, 3 * n), factors(width, num_factors_);
        parallel_for(at(n), 256, [&](std::size_t k) {
            const int place = static_cast<int>(k);
            x.middleCols<3>(3 * place) =
                X.middleRows<3>(3 * tree_.order[k]).transpose().cast<float>();
        });
        // Vᵀ x
        parallel_for(pairs_.size(), 32, [&](std::size_t p) {
            const ClusterPair& pair = pairs_[p];
            if (pair.rank == 0) return;
            const ClusterTree::Cluster& columns = tree_.clusters[at(pair.columns)];
            const int inner = 3 * columns.size();
            multiply_single(width, pair.rank, inner, {x.col(3 * columns.begin).data(), width},
                            {pair.V.data(), inner}, 0, factors.col(pair.offset).data(), width);
        });
        // leaf by leaf: U of all clusters it is in, and dense blocks
        parallel_for(tree_.clusters.size(), 1, [&](std::size_t c) {
            const ClusterTree::Cluster& leaf = tree_.clusters[c];
            if (!leaf.is_leaf()) return;
            float* const to = y.col(3 * leaf.begin).data();
            const int num_rows = 3 * leaf.size();
            std::fill(to, to + static_cast<std::ptrdiff_t>(num_rows) * width, 0.0F);
            for (int up = static_cast<int>(c); up >= 0; up = tree_.clusters[at(up)].parent) {
                const RowBlocks& rows = by_rows_[at(up)];
                const int stride = 3 * tree_.clusters[at(up)].size();
                const int row = 3 * (leaf.begin - tree_.clusters[at(up)].begin);
                if (rows.U.cols() > 0)
                    multiply_single(width, num_rows, static_cast<int>(rows.U.cols()),
                                    {factors.col(rows.offset).data(), width},
                                    {rows.U.data() + row, stride, true}, 1, to, width);
                for (const int p : rows.dense) {
                    const ClusterTree::Cluster& columns = tree_.clusters[at(pairs_[at(p)].columns)];
                    multiply_single(width, num_rows, 3 * columns.size(),
                                    {x.col(3 * columns.begin).data(), width},
                                    {pairs_[at(p)].V.data() + row, stride, true}, 1, to, width);
                }
            }
        });
        parallel_for(at(n), 256, [&](std::size_t k) {
            const int place = static_cast<int>(k);
            Y.middleRows<3>(3 * tree_.order[k]) =
                y.middleCols<3>(3 * place).transpose().cast<double>();
        });
    }

    UnknownBlocks blocks_;
    ClusterTree tree_;
    std::vector<ClusterPair> pairs_;
    std::vector<RowBlocks> by_rows_;
    int num_factors_ = 0;
    std::int64_t num_bytes_ = 0;
    RigidCorrection correction_;
};

}  // namespace

std::unique_ptr<BoundaryOperator> make_hierarchical_operator(const BoundaryModel& model,
                                                             const std::vector<NodeKind>& kinds,
                                                             const HierarchicalOptions& options,
                                                             Progress& progress,
                                                             HierarchicalReport* report) {
    if (!(options.tolerance > 0 && options.tolerance < 1))
        throw InputError("", "tolerance", to_text(JsonValue(options.tolerance)), "0 < value < 1");
    if (!(options.admissibility > 0))
        throw InputError("", "admissibility", to_text(JsonValue(options.admissibility)),
                         "a positive number");
    if (options.leaf_nodes < 1)
        throw InputError("", "leaf_nodes", std::to_string(options.leaf_nodes), "1 or more");
    HierarchicalReport unused;
    HierarchicalReport& told = report ? *report : unused;
    told = {};
    const SecondsOfScope scope(told.seconds);
    return std::make_unique<HierarchicalOperator>(model, kinds, options, progress, told);
}

}  // namespace pliant
