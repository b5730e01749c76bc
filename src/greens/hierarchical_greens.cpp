#include "pliant/greens/hierarchical_greens.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "core/numbers.h"
#include "greens/column_batches.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"

namespace pliant {
namespace {

void require_vertices(int num_nodes, const HierarchicalBasis& basis) {
    if (num_nodes != basis.num_vertices())
        throw InputError("", "hierarchical columns: nodes", std::to_string(num_nodes),
                         std::to_string(basis.num_vertices()) + ", one for each vertex");
}

/// φ(x_i) at its nodes, for each id.
std::vector<SpreadKnown> spreads_of(const HierarchicalBasis& basis, std::span<const int> ids) {
    std::vector<SpreadKnown> spreads;
    for (const int id : ids) {
        assert(basis.has(id));
        const WeightedVertices values = basis.values(id);
        spreads.push_back({values.vertices, values.weights});
    }
    return spreads;
}

}  // namespace

HierarchicalColumnSource::HierarchicalColumnSource(std::shared_ptr<GreensColumnSource> source,
                                                   std::shared_ptr<const HierarchicalBasis> basis)
    : source_(std::move(source)), basis_(std::move(basis)) {
    require_vertices(source_->num_nodes(), *basis_);
}

void HierarchicalColumnSource::prepare(Progress& progress) {
    source_->prepare(progress);
    assembly_seconds_ = source_->assembly_seconds();
    factor_seconds_ = source_->factor_seconds();
}

void HierarchicalColumnSource::columns(std::span<const int> ids,
                                       Eigen::Ref<Eigen::MatrixXd> values) {
    const bool are_nodes =
        std::all_of(ids.begin(), ids.end(), [&](int id) { return id < num_nodes(); });
    if (are_nodes)
        source_->columns(ids, values);
    else
        source_->spread_columns(spreads_of(*basis_, ids), values);
}

void HierarchicalColumnSource::spread_columns(std::span<const SpreadKnown> spreads,
                                              Eigen::Ref<Eigen::MatrixXd> values) {
    source_->spread_columns(spreads, values);
}

RefinedColumnSource::RefinedColumnSource(std::shared_ptr<const DenseGreensFunctions> fine,
                                         std::shared_ptr<const HierarchicalBasis> basis)
    : fine_(std::move(fine)), basis_(std::move(basis)) {
    require_vertices(fine_->num_nodes(), *basis_);
}

void RefinedColumnSource::columns(std::span<const int> ids, Eigen::Ref<Eigen::MatrixXd> values) {
    const int b = block();
    const std::size_t stride = fine_->stride();
    // columns lie in the order of the layout's
    std::vector<int> place(at(fine_->num_column_ids()), -1);
    const std::vector<int>& there = fine_->layout().columns;
    for (std::size_t k = 0; k < there.size(); ++k) place[at(there[k])] = static_cast<int>(k);
    parallel_for(ids.size(), 4, [&](std::size_t k) {
        const WeightedVertices from = basis_->values(ids[k]);
        for (int c = 0; c < b; ++c) {
            auto sum = values.col(b * static_cast<Eigen::Index>(k) + c);
            sum.setZero();
            for (std::size_t i = 0; i < from.vertices.size(); ++i) {
                assert(fine_->has_column(from.vertices[i]));
                const std::size_t column = at(b * place[at(from.vertices[i])] + c);
                sum += from.weights[i] * Eigen::Map<const Eigen::VectorXf>(
                                             fine_->values().data() + column * stride, num_rows())
                                             .cast<double>();
            }
        }
    });
}

void RefinedColumnSource::body_columns(Eigen::Ref<Eigen::MatrixXd> values) {
    const std::size_t first = fine_->num_scalar_columns() - at(num_body_columns());
    for (int k = 0; k < num_body_columns(); ++k)
        values.col(k) = Eigen::Map<const Eigen::VectorXf>(
                            fine_->values().data() + (first + at(k)) * fine_->stride(), num_rows())
                            .cast<double>();
}

std::vector<int> refinable_ids(const GreensFunctions& fine, const HierarchicalBasis& basis,
                               int level) {
    std::vector<int> ids;
    for (int k = 0; k < basis.num_vertices(level); ++k) {
        const int id = basis.id(level, k);
        if (!basis.has(id)) continue;
        const auto nodes = basis.values(id).vertices;
        if (std::all_of(nodes.begin(), nodes.end(), [&](int i) { return fine.has_column(i); }))
            ids.push_back(id);
    }
    return ids;
}

std::shared_ptr<DenseGreensFunctions> dense_columns(GreensColumnSource& source,
                                                    std::vector<int> ids, Progress& progress) {
    const int b = source.block();
    auto functions = std::make_shared<DenseGreensFunctions>(
        DenseGreensLayout{.num_nodes = source.num_nodes(),
                          .block = b,
                          .columns = ids,
                          .num_body_columns = source.num_body_columns(),
                          .num_readouts = source.num_readouts(),
                          .num_column_levels = source.num_column_levels()});
    progress.stage("Green's functions", ids.size());
    Eigen::MatrixXd values(source.num_rows(), source.num_body_columns());
    source.body_columns(values);
    for (int k = 0; k < source.num_body_columns(); ++k)
        functions->set_body_column(k, values.col(k));
    const std::span<const int> all = ids;
    for (std::size_t first = 0; first < all.size(); first += kBatchNodes) {
        const auto some =
            all.subspan(first, std::min<std::size_t>(kBatchNodes, all.size() - first));
        values.resize(source.num_rows(), b * static_cast<Eigen::Index>(some.size()));
        source.columns(some, values);
        for (std::size_t k = 0; k < some.size(); ++k)
            functions->set_column(some[k], values.middleCols(b * static_cast<Eigen::Index>(k), b));
        progress.advance(some.size());
    }
    return functions;
}

GreensModel with_coarser_columns(const GreensModel& model, int coarsest, Progress& progress) {
    const auto fine =
        std::dynamic_pointer_cast<const DenseGreensFunctions>(model.reference.functions);
    if (!fine)
        throw InputError("",
                         "coarser columns are refined from dense Green's functions; refine first, "
                         "then compress");
    GreensModel result = model;
    const auto basis =
        std::make_shared<const HierarchicalBasis>(model.surface, model.reference.kinds);
    if (coarsest < 0 || coarsest >= basis->num_levels())
        throw InputError("", "constraint level", std::to_string(coarsest),
                         "0 to " + std::to_string(basis->num_levels() - 1) +
                             ", levels coarser than the surface");
    std::vector<int> ids;
    for (const int id : fine->layout().columns)
        if (id < fine->num_nodes()) ids.push_back(id);
    for (int level = basis->num_levels() - 1; level >= coarsest; --level) {
        const std::vector<int> more = refinable_ids(*fine, *basis, level);
        ids.insert(ids.end(), more.begin(), more.end());
    }
    RefinedColumnSource source(fine, basis);
    result.reference.functions = dense_columns(source, std::move(ids), progress);
    result.reference.hierarchy = basis;
    return result;
}

}  // namespace pliant
