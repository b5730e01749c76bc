#include "core/numbers.h"
#include "core/resource_use.h"
#include "fem/solver_backend.h"
#include "greens/cluster_tree.h"
#include "greens/corrected_operator.h"
#include "greens/cross_approximation.h"
#include "greens/nested_bases.h"
#include "greens/single_products.h"
#include "pliant/core/error.h"
#include "pliant/core/json_value.h"
#include "pliant/core/parallel.h"
#include "pliant/greens/wavelet_greens.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>

namespace pliant {
namespace {

using Eigen::AlignedBox3d;
using Eigen::MatrixXd;
using Eigen::MatrixXf;

/// Share of the tolerance that common bases may add.
constexpr double kBasisShare = 0.3;
/// Right-hand sides that pass through the matrix together.
constexpr Eigen::Index kPassWidth = 96;

/// A pair of clusters; of low rank U Vᵀ, or dense.
struct ClusterPair {
    int rows, columns;
    bool is_admissible;
    MatrixXf U, V;             // V is the block if it is dense
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

class HierarchicalOperator final : public CorrectedOperator {
public:
    HierarchicalOperator(const BoundaryModel& model, const std::vector<NodeKind>& kinds,
                         const HierarchicalOptions& options, Progress& progress,
                         HierarchicalReport& report)
        : CorrectedOperator(model, kinds),
          tree_(model.positions(), options.leaf_nodes, domain_labels(kinds)),
          place_of_(tree_.order.size()),
          by_rows_(tree_.clusters.size()) {
        for (std::size_t k = 0; k < tree_.order.size(); ++k)
            place_of_[at(tree_.order[k])] = static_cast<int>(k);
        {
            const ClusterBoxes boxes(tree_, blocks_.assembler());
            add_pairs(0, 0, boxes, options.admissibility);
        }
        fill(options, progress);
        report.num_clusters = static_cast<int>(tree_.clusters.size());
        gather_by_rows();
        share_bases(options.tolerance, report);
        add_own_blocks();
        if (options.has_rigid_correction) correct();
    }

private:
    /// Columns of all pairs with the same rows, U side by side, as coefficients of their basis.
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

    void gather_by_rows() {
        for (int p = 0; p < static_cast<int>(pairs_.size()); ++p) {
            RowBlocks& rows = by_rows_[at(pairs_[at(p)].rows)];
            (pairs_[at(p)].is_admissible ? rows.low_rank : rows.dense).push_back(p);
        }
        for (RowBlocks& rows : by_rows_) {
            rows.offset = num_factors_;
            for (const int p : rows.low_rank) {
                pairs_[at(p)].offset = num_factors_;
                num_factors_ += pairs_[at(p)].rank;
            }
        }
    }

    /// U and V in bases that all pairs of a cluster share; then they are small.
    void share_bases(double tolerance, HierarchicalReport& report) {
        const std::size_t num_clusters = tree_.clusters.size();
        std::vector<std::vector<int>> pairs_of_columns(num_clusters);
        for (int p = 0; p < static_cast<int>(pairs_.size()); ++p)
            if (pairs_[at(p)].is_admissible)
                pairs_of_columns[at(pairs_[at(p)].columns)].push_back(p);
        const auto shared = [&](bool of_rows, const auto& pairs_of, auto&& take) {
            std::vector<MatrixXf> factors(num_clusters);
            std::vector<Eigen::VectorXf> weights(num_clusters);
            for (std::size_t c = 0; c < num_clusters; ++c) {
                Eigen::Index rank = 0;
                for (const int p : pairs_of(c)) rank += pairs_[at(p)].rank;
                factors[c].resize(3 * tree_.clusters[c].size(), rank);
                weights[c].resize(rank);
                rank = 0;
                for (const int p : pairs_of(c)) {
                    const ClusterPair& pair = pairs_[at(p)];
                    const MatrixXf &own = of_rows ? pair.U : pair.V,
                                   &other = of_rows ? pair.V : pair.U;
                    const Eigen::VectorXf reach = other.colwise().norm();
                    const float norm = reach.cwiseProduct(own.colwise().norm().transpose()).norm();
                    factors[c].middleCols(rank, pair.rank) = own;
                    weights[c].segment(rank, pair.rank) = reach / std::max(norm, 1e-30F);
                    rank += pair.rank;
                }
            }
            NestedBases bases(tree_, factors, weights, kBasisShare * tolerance);
            for (std::size_t c = 0; c < num_clusters; ++c) take(c, std::move(factors[c]));
            return bases;
        };
        std::vector<MatrixXf> of_columns(num_clusters);
        row_bases_ = std::make_unique<const NestedBases>(shared(
            true, [&](std::size_t c) -> const auto& { return by_rows_[c].low_rank; },
            [&](std::size_t c, MatrixXf&& U) { by_rows_[c].U = std::move(U); }));
        column_bases_ = std::make_unique<const NestedBases>(shared(
            false, [&](std::size_t c) -> const auto& { return pairs_of_columns[c]; },
            [&](std::size_t c, MatrixXf&& V) { of_columns[c] = std::move(V); }));
        for (std::size_t c = 0; c < num_clusters; ++c) {
            Eigen::Index rank = 0;
            for (const int p : pairs_of_columns[c]) {
                ClusterPair& pair = pairs_[at(p)];
                pair.V = of_columns[c].middleCols(rank, pair.rank);
                pair.U.resize(0, 0);
                rank += pair.rank;
            }
        }

        double rank_sum = 0;
        for (const ClusterPair& pair : pairs_) {
            (pair.is_admissible ? report.num_low_rank : report.num_dense) += 1;
            (pair.is_admissible ? report.low_rank_bytes : report.dense_bytes) += 4 * pair.V.size();
            rank_sum += pair.rank;
        }
        for (const RowBlocks& rows : by_rows_) report.low_rank_bytes += 4 * rows.U.size();
        report.low_rank_bytes += row_bases_->num_bytes() + column_bases_->num_bytes();
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
        for (ClusterPair& pair : pairs_) {
            if (pair.is_admissible) continue;
            const ClusterTree::Cluster& columns = tree_.clusters[at(pair.columns)];
            const auto rows = nodes_of(pair.rows);
            for (std::size_t r = 0; r < rows.size(); ++r) {
                const BoundaryAssembler::Home home = blocks_.assembler().home_of(rows[r]);
                for (int s = 0; s < 3; ++s) {
                    const int place = place_of_[at(home.nodes[s])];
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

    void multiply(const Eigen::Ref<const MatrixXd>& X, Eigen::Ref<MatrixXd> Y) const override {
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
        each_line(width, [&](int node, int place, int first, int count) {
            for (int c = 0; c < 3; ++c)
                for (int k = first; k < first + count; ++k)
                    x(k, 3 * place + c) = static_cast<float>(X(3 * node + c, k));
        });
        // Vᵀ x, by the bases of columns
        MatrixXf of_columns(width, column_bases_->num_coefficients()),
            of_rows(width, row_bases_->num_coefficients());
        column_bases_->gather(x, of_columns);
        parallel_for(pairs_.size(), 32, [&](std::size_t p) {
            const ClusterPair& pair = pairs_[p];
            if (pair.rank == 0) return;
            const int inner = static_cast<int>(pair.V.rows());
            multiply_single(width, pair.rank, inner,
                            {of_columns.col(column_bases_->offset(pair.columns)).data(), width},
                            {pair.V.data(), inner}, 0, factors.col(pair.offset).data(), width);
        });
        // U of each cluster, and dense blocks leaf by leaf
        parallel_for(tree_.clusters.size(), 1, [&](std::size_t c) {
            const RowBlocks& rows = by_rows_[c];
            const int rank = row_bases_->rank(static_cast<int>(c));
            if (rank == 0) return;
            float* const to = of_rows.col(row_bases_->offset(static_cast<int>(c))).data();
            std::fill(to, to + static_cast<std::ptrdiff_t>(rank) * width, 0.0F);
            if (rows.U.cols() > 0)
                multiply_single(width, rank, static_cast<int>(rows.U.cols()),
                                {factors.col(rows.offset).data(), width},
                                {rows.U.data(), rank, true}, 1, to, width);
        });
        parallel_for(tree_.clusters.size(), 1, [&](std::size_t c) {
            const ClusterTree::Cluster& leaf = tree_.clusters[c];
            if (!leaf.is_leaf()) return;
            float* const to = y.col(3 * leaf.begin).data();
            const int num_rows = 3 * leaf.size();
            std::fill(to, to + static_cast<std::ptrdiff_t>(num_rows) * width, 0.0F);
            for (int up = static_cast<int>(c); up >= 0; up = tree_.clusters[at(up)].parent) {
                const int stride = 3 * tree_.clusters[at(up)].size();
                const int row = 3 * (leaf.begin - tree_.clusters[at(up)].begin);
                for (const int p : by_rows_[at(up)].dense) {
                    const ClusterTree::Cluster& columns = tree_.clusters[at(pairs_[at(p)].columns)];
                    multiply_single(width, num_rows, 3 * columns.size(),
                                    {x.col(3 * columns.begin).data(), width},
                                    {pairs_[at(p)].V.data() + row, stride, true}, 1, to, width);
                }
            }
        });
        row_bases_->scatter(of_rows, y);
        each_line(width, [&](int node, int place, int first, int count) {
            for (int c = 0; c < 3; ++c)
                for (int k = first; k < first + count; ++k)
                    Y(3 * node + c, k) = double{y(k, 3 * place + c)};
        });
    }

    /// Between columns and the order of clusters: some right-hand sides at a time, whole cache
    /// lines on the one side and few columns, read in order, on the other.
    template <class Visit>
    void each_line(int width, const Visit& visit) const {
        constexpr int kLine = 16;
        parallel_ranges(place_of_.size(), 256, [&](std::size_t begin, std::size_t end) {
            for (int first = 0; first < width; first += kLine)
                for (std::size_t node = begin; node < end; ++node)
                    visit(static_cast<int>(node), place_of_[node], first,
                          std::min(kLine, width - first));
        });
    }

    ClusterTree tree_;
    std::vector<int> place_of_;  // of each node in the order of clusters
    std::vector<ClusterPair> pairs_;
    std::vector<RowBlocks> by_rows_;
    std::unique_ptr<const NestedBases> row_bases_, column_bases_;
    int num_factors_ = 0;
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
