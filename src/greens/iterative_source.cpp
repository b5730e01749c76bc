#include "greens/iterative_source.h"

#include "core/numbers.h"
#include "core/resource_use.h"
#include "greens/cluster_tree.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"
#include "pliant/greens/boundary_readouts.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <utility>

namespace pliant {
namespace {

using Eigen::MatrixXd;

constexpr std::size_t kRightSideRows = 64;    // of a task
constexpr std::size_t kRightSideNodes = 192;  // whose columns are integrated together
constexpr int kNamedColumns = 5;              // in messages

std::string short_number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2g", value);
    return text;
}

}  // namespace

double iterative_matrix_bytes(double num_nodes) noexcept {
    return num_nodes * (35e3 + 6e3 * std::log2(std::max(1.0, num_nodes / 64)));
}

IterativeBoundarySource::IterativeBoundarySource(BoundaryModel model, std::vector<NodeKind> kinds,
                                                 std::span<const GreensReadout> readouts,
                                                 const IterativeOptions& options)
    : blocks_(std::move(model), kinds), kinds_(std::move(kinds)), options_(options) {
    BoundaryReadouts rows = boundary_readouts(blocks_.model(), readouts);
    for (int node = 0; node < num_nodes(); ++node)
        if (!blocks_.is_free(node))
            rows.of_displacements.middleCols<3>(3 * node).swap(
                rows.of_tractions.middleCols<3>(3 * node));
    of_unknowns_ = std::move(rows.of_displacements);
    of_knowns_ = std::move(rows.of_tractions);
    of_body_forces_ = std::move(rows.of_body_forces);
    const ClusterTree tree(blocks_.model().positions(), static_cast<int>(kRightSideNodes));
    place_in_space_.resize(kinds_.size());
    for (std::size_t k = 0; k < tree.order.size(); ++k)
        place_in_space_[at(tree.order[k])] = static_cast<int>(k);
}

void IterativeBoundarySource::prepare(Progress& progress) {
    progress_ = &progress;
    {
        const SecondsOfScope scope(assembly_seconds_);
        matrix_ = options_.make_matrix
                      ? options_.make_matrix(blocks_.model(), kinds_, progress)
                      : make_hierarchical_operator(blocks_.model(), kinds_, options_.matrix,
                                                   progress, &report_->matrix);
        blocks_.set_own_blocks(matrix_->own_blocks());
    }
    const SecondsOfScope scope(factor_seconds_);
    preconditioner_ = std::make_unique<BlockPreconditioner>(blocks_.model(), kinds_, *matrix_,
                                                            options_.preconditioner, progress);
    report_->matrix_bytes = matrix_->num_bytes();
    report_->preconditioner_bytes = preconditioner_->num_bytes();
}

MatrixXd IterativeBoundarySource::right_sides(std::span<const SpreadKnown> spreads) const {
    // which sums the column of a node goes to
    struct Use {
        int place, node, spread;
        double weight;
    };
    std::vector<Use> uses;
    for (std::size_t k = 0; k < spreads.size(); ++k)
        for (std::size_t i = 0; i < spreads[k].nodes.size(); ++i) {
            const int node = spreads[k].nodes[i];
            uses.push_back(
                {place_in_space_[at(node)], node, static_cast<int>(k), spreads[k].weights[i]});
        }
    std::ranges::sort(uses, [](const Use& a, const Use& b) {
        return a.place != b.place ? a.place < b.place : a.spread < b.spread;
    });
    std::vector<int> nodes;
    std::vector<std::size_t> first_use;
    for (std::size_t u = 0; u < uses.size(); ++u)
        if (u == 0 || uses[u].node != uses[u - 1].node) {
            nodes.push_back(uses[u].node);
            first_use.push_back(u);
        }
    first_use.push_back(uses.size());

    MatrixXd sums = MatrixXd::Zero(num_unknowns(), 3 * static_cast<Eigen::Index>(spreads.size()));
    std::vector<int> all(kinds_.size());
    std::iota(all.begin(), all.end(), 0);
    parallel_ranges(all.size(), kRightSideRows, [&](std::size_t begin, std::size_t end) {
        UnknownBlocks::Workspace workspace(blocks_);
        MatrixXd block;
        for (std::size_t first = 0; first < nodes.size(); first += kRightSideNodes) {
            const std::size_t count = std::min(kRightSideNodes, nodes.size() - first);
            blocks_.set_nodes({nodes.data() + first, count}, workspace);
            blocks_.knowns({all.data() + begin, end - begin}, workspace, block);
            for (std::size_t k = 0; k < count; ++k)
                for (std::size_t u = first_use[first + k]; u < first_use[first + k + 1]; ++u)
                    sums.block(3 * static_cast<Eigen::Index>(begin), 3 * uses[u].spread,
                               block.rows(), 3) +=
                        uses[u].weight * block.middleCols<3>(3 * static_cast<Eigen::Index>(k));
        }
    });
    return sums;
}

template <class NameOf>
void IterativeBoundarySource::solve(Eigen::Ref<MatrixXd> values, const NameOf& name_of) {
    assert(matrix_);
    const double column_bytes = 8.0 * num_unknowns() * (options_.max_iterations + 4.0);
    const auto width = 3 * std::max<Eigen::Index>(
                               1, static_cast<Eigen::Index>(options_.memory / column_bytes / 3));
    std::string missed;
    int num_missed = 0, num_named = 0;
    Eigen::Index last_missed = -1;
    double worst = 0;
    for (Eigen::Index first = 0; first < values.cols(); first += width) {
        const Eigen::Index count = std::min(width, values.cols() - first);
        const MatrixXd B = values.middleCols(first, count);
        const GmresReport solved = gmres(
            *matrix_, preconditioner_.get(), B, values.middleCols(first, count),
            {options_.tolerance, options_.max_iterations}, [&](int iteration, double residual) {
                progress_->note(std::to_string(iteration) + " products, residual " +
                                short_number(residual));
                progress_->advance(0);
            });
        for (std::size_t k = 0; k < solved.residuals.size(); ++k) {
            const double residual = solved.residuals[k];
            report_->mean_iterations =
                (report_->mean_iterations * report_->num_solved + solved.iterations[k]) /
                (report_->num_solved + 1);
            ++report_->num_solved;
            report_->max_iterations = std::max(report_->max_iterations, solved.iterations[k]);
            report_->max_residual = std::max(report_->max_residual, residual);
            if (residual <= options_.tolerance) continue;
            worst = std::max(worst, residual);
            ++num_missed;
            // a column has three
            const Eigen::Index column = (first + static_cast<Eigen::Index>(k)) / 3;
            if (column == last_missed) continue;
            last_missed = column;
            if (num_named++ < kNamedColumns)
                missed += (missed.empty() ? "" : ", ") + name_of(column);
        }
    }
    if (num_missed > 0)
        throw InputError(
            "", "the iterative solver left residuals of up to " + short_number(worst) + " after " +
                    std::to_string(options_.max_iterations) +
                    " products, more than the tolerance " + short_number(options_.tolerance) +
                    ", at " + std::to_string(num_missed) + " right-hand sides (" + missed +
                    (num_named > kNamedColumns ? ", …" : "") +
                    "); loosen the tolerance, allow more products, make the surface more even, or "
                    "use the direct solver");
}

void IterativeBoundarySource::columns(std::span<const int> nodes, Eigen::Ref<MatrixXd> values) {
    const double one = 1;
    std::vector<SpreadKnown> spreads;
    for (const int& node : nodes) spreads.push_back({{&node, 1}, {&one, 1}});
    spread_columns(spreads, values);
}

void IterativeBoundarySource::spread_columns(std::span<const SpreadKnown> spreads,
                                             Eigen::Ref<MatrixXd> values) {
    MatrixXd of_known = MatrixXd::Zero(num_readouts(), values.cols());
    for (std::size_t k = 0; k < spreads.size(); ++k)
        for (std::size_t i = 0; i < spreads[k].nodes.size(); ++i)
            of_known.middleCols<3>(3 * static_cast<Eigen::Index>(k)) +=
                spreads[k].weights[i] * of_knowns_.middleCols<3>(3 * spreads[k].nodes[i]);
    values.topRows(num_unknowns()) = right_sides(spreads);
    solve(values.topRows(num_unknowns()), [&](Eigen::Index k) {
        // the node where a function is largest is its own
        const SpreadKnown& spread = spreads[static_cast<std::size_t>(k)];
        const auto largest = std::ranges::max_element(spread.weights) - spread.weights.begin();
        return (spread.nodes.size() > 1 ? "function at node " : "node ") +
               std::to_string(spread.nodes[static_cast<std::size_t>(largest)]);
    });
    add_readouts(values, of_known);
}

void IterativeBoundarySource::body_columns(Eigen::Ref<MatrixXd> values) {
    values.topRows(num_unknowns()) = blocks_.model().body_force_columns();
    solve(values.topRows(num_unknowns()), [](Eigen::Index) { return std::string("body force"); });
    add_readouts(values, of_body_forces_);
}

void IterativeBoundarySource::add_readouts(Eigen::Ref<MatrixXd> values,
                                           const Eigen::Ref<const MatrixXd>& of_known) const {
    if (num_readouts() == 0) return;
    values.bottomRows(num_readouts()) = of_known;
    values.bottomRows(num_readouts()).noalias() += of_unknowns_ * values.topRows(num_unknowns());
}

}  // namespace pliant
