#include "greens/boundary_source.h"

#include "core/numbers.h"
#include "core/resource_use.h"
#include "pliant/core/parallel.h"
#include "pliant/greens/boundary_readouts.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace pliant {
namespace {

using Eigen::MatrixXd;

/// Nodes whose equations are integrated together.
constexpr int kTileNodes = 128;

}  // namespace

BoundaryElementSource::BoundaryElementSource(BoundaryModel model, std::vector<NodeKind> kinds,
                                             std::vector<int> wanted,
                                             std::span<const GreensReadout> readouts)
    : model_(std::move(model)), kinds_(std::move(kinds)), place_of_(kinds_.size(), -1) {
    for (const int node : wanted) place_of_[at(node)] = num_wanted_++;
    BoundaryReadouts rows = boundary_readouts(model_, readouts);
    for (int node = 0; node < num_nodes(); ++node)
        if (kinds_[at(node)] == NodeKind::Fixed)
            rows.of_displacements.middleCols(block() * node, block())
                .swap(rows.of_tractions.middleCols(block() * node, block()));
    of_unknowns_ = std::move(rows.of_displacements);
    of_knowns_ = std::move(rows.of_tractions);
    of_body_forces_ = std::move(rows.of_body_forces);
}

void BoundaryElementSource::prepare(Progress& progress) {
    MatrixXd A = assemble(progress);
    const SecondsOfScope scope(factor_seconds_);
    factors_.emplace(std::move(A), progress);
}

MatrixXd BoundaryElementSource::assemble(Progress& progress) {
    const SecondsOfScope scope(assembly_seconds_);
    const int n = num_nodes(), b = block();
    MatrixXd A(b * n, b * n);
    right_sides_.resize(b * n, b * num_wanted_);
    MatrixXd G(b * kTileNodes, b * n), H(b * kTileNodes, b * n);
    progress.stage("boundary integrals", at(n));
    for (int first = 0; first < n; first += kTileNodes) {
        const int count = std::min(kTileNodes, n - first), rows = b * count;
        model_.assemble(first, count, G.topRows(rows), H.topRows(rows));
        // exchange of columns, eq. (C1)
        parallel_for(at(n), 32, [&](std::size_t j) {
            const int node = static_cast<int>(j), column = b * node, place = place_of_[j];
            const bool is_free = kinds_[j] == NodeKind::Free;
            auto unknown = A.block(b * first, column, rows, b);
            const auto g = G.block(0, column, rows, b), h = H.block(0, column, rows, b);
            if (is_free)
                unknown = h;
            else
                unknown = -g;
            if (place < 0) return;
            auto known = right_sides_.block(b * first, b * place, rows, b);
            if (is_free)
                known = g;
            else
                known = -h;
        });
        progress.advance(at(count));
    }
    return A;
}

void BoundaryElementSource::columns(std::span<const int> nodes, Eigen::Ref<MatrixXd> values) {
    const int b = block();
    auto unknowns = values.topRows(num_unknowns());
    MatrixXd of_known(num_readouts(), values.cols());
    for (std::size_t k = 0; k < nodes.size(); ++k) {
        const int node = nodes[k];
        const Eigen::Index column = b * static_cast<Eigen::Index>(k);
        assert(place_of_[at(node)] >= 0);
        unknowns.middleCols(column, b) = right_sides_.middleCols(b * place_of_[at(node)], b);
        of_known.middleCols(column, b) = of_knowns_.middleCols(b * node, b);
    }
    factors_->solve_in_place(unknowns);
    add_readouts(values, of_known);
}

void BoundaryElementSource::sum_kept(std::span<const SpreadKnown> spreads,
                                     Eigen::Ref<MatrixXd> sums) const {
    const int b = block();
    parallel_for(spreads.size(), 4, [&](std::size_t k) {
        auto sum = sums.middleCols(b * static_cast<Eigen::Index>(k), b);
        sum.setZero();
        for (std::size_t i = 0; i < spreads[k].nodes.size(); ++i)
            sum += spreads[k].weights[i] *
                   right_sides_.middleCols(b * place_of_[at(spreads[k].nodes[i])], b);
    });
}

void BoundaryElementSource::integrate_sums(std::span<const SpreadKnown> spreads,
                                           Eigen::Ref<MatrixXd> sums) const {
    const int n = num_nodes(), b = block();
    MatrixXd G(b * kTileNodes, b * n), H(b * kTileNodes, b * n);
    for (int first = 0; first < n; first += kTileNodes) {
        const int count = std::min(kTileNodes, n - first), rows = b * count;
        model_.assemble(first, count, G.topRows(rows), H.topRows(rows));
        parallel_for(spreads.size(), 4, [&](std::size_t k) {
            auto sum = sums.block(b * first, b * static_cast<Eigen::Index>(k), rows, b);
            sum.setZero();
            for (std::size_t i = 0; i < spreads[k].nodes.size(); ++i) {
                const int node = spreads[k].nodes[i];
                const double weight = spreads[k].weights[i];
                if (kinds_[at(node)] == NodeKind::Free)
                    sum += weight * G.block(0, b * node, rows, b);
                else
                    sum -= weight * H.block(0, b * node, rows, b);
            }
        });
    }
}

void BoundaryElementSource::spread_columns(std::span<const SpreadKnown> spreads,
                                           Eigen::Ref<MatrixXd> values) {
    const int b = block();
    auto unknowns = values.topRows(num_unknowns());
    MatrixXd of_known = MatrixXd::Zero(num_readouts(), values.cols());
    bool are_kept = true;
    for (std::size_t k = 0; k < spreads.size(); ++k)
        for (std::size_t i = 0; i < spreads[k].nodes.size(); ++i) {
            const int node = spreads[k].nodes[i];
            are_kept = are_kept && place_of_[at(node)] >= 0;
            of_known.middleCols(b * static_cast<Eigen::Index>(k), b) +=
                spreads[k].weights[i] * of_knowns_.middleCols(b * node, b);
        }
    if (are_kept)
        sum_kept(spreads, unknowns);
    else
        integrate_sums(spreads, unknowns);
    factors_->solve_in_place(unknowns);
    add_readouts(values, of_known);
}

void BoundaryElementSource::body_columns(Eigen::Ref<MatrixXd> values) {
    auto unknowns = values.topRows(num_unknowns());
    unknowns = model_.body_force_columns();
    factors_->solve_in_place(unknowns);
    add_readouts(values, of_body_forces_);
}

void BoundaryElementSource::add_readouts(Eigen::Ref<MatrixXd> values,
                                         const Eigen::Ref<const MatrixXd>& of_known) const {
    if (num_readouts() == 0) return;
    values.bottomRows(num_readouts()) = of_known;
    values.bottomRows(num_readouts()).noalias() += of_unknowns_ * values.topRows(num_unknowns());
}

}  // namespace pliant
