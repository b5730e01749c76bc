#include "greens/block_preconditioner.h"

#include "core/numbers.h"
#include "fem/solver_backend.h"
#include "greens/cluster_tree.h"
#include "greens/single_products.h"
#include "greens/unknown_blocks.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <cmath>

extern "C" {
void dgetrf_(const int* rows, const int* cols, double* A, const int* stride, int* pivots,
             int* info);
void dgetri_(const int* size, double* A, const int* stride, const int* pivots, double* work,
             const int* work_size, int* info);
}

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::Vector3d;

/// Right-hand sides that pass together.
constexpr Eigen::Index kPreconditionerWidth = 96;
/// Unknowns that a task of the coarse part takes.
constexpr int kCoarseTile = 3 * 512;

/// false: singular to working precision.
bool replace_by_inverse(MatrixXd& A) {
    const int n = static_cast<int>(A.rows()), work_size = 64 * n;
    std::vector<int> pivots(at(n));
    std::vector<double> work(at(work_size));
    int info = 0;
    dgetrf_(&n, &n, A.data(), &n, pivots.data(), &info);
    if (info != 0) return false;
    dgetri_(&n, A.data(), &n, pivots.data(), work.data(), &work_size, &info);
    return info == 0 && A.allFinite();
}

/// Motions of a cluster: rigid ones of its free nodes, and constant tractions of its fixed ones, as
/// far as they are independent; orthonormal columns.
MatrixXd cluster_motions(std::span<const int> nodes, const UnknownBlocks& blocks) {
    const auto& x = blocks.model().positions();
    Vector3d centre = Vector3d::Zero();
    for (const int node : nodes) centre += x[at(node)];
    centre /= static_cast<double>(nodes.size());
    double radius = 0;
    for (const int node : nodes) radius = std::max(radius, (x[at(node)] - centre).norm());
    MatrixXd motions = MatrixXd::Zero(3 * static_cast<Eigen::Index>(nodes.size()), 9);
    for (std::size_t i = 0; i < nodes.size(); ++i)
        for (int k = 0; k < 3; ++k) {
            auto rows = motions.middleRows<3>(3 * static_cast<Eigen::Index>(i));
            if (!blocks.is_free(nodes[i])) {
                rows.col(6 + k) = Vector3d::Unit(k);
                continue;
            }
            rows.col(k) = Vector3d::Unit(k);
            if (radius > 0)
                rows.col(3 + k) = Vector3d::Unit(k).cross(x[at(nodes[i])] - centre) / radius;
        }
    // Gram and Schmidt, without what little is left of dependent ones
    MatrixXd kept(motions.rows(), 0);
    for (int c = 0; c < 9; ++c) {
        Eigen::VectorXd column = motions.col(c);
        const double before = column.norm();
        for (int twice = 0; twice < 2; ++twice) column -= kept * (kept.transpose() * column);
        if (column.norm() <= 1e-3 * std::max(before, 1e-3)) continue;
        kept.conservativeResize(Eigen::NoChange, kept.cols() + 1);
        kept.col(kept.cols() - 1) = column.normalized();
    }
    return kept;
}

}  // namespace

struct BlockPreconditioner::Parts {
    struct Leaf {
        int begin, end;  // places
        MatrixXf inverse;
        MatrixXf motions;  // of the coarse problem
        int offset = 0;    // of its coarse unknowns
    };
    std::vector<int> order;
    std::vector<Leaf> leaves;
    int num_coarse = 0;
    MatrixXf coarse_inverse;  // times the motions transposed gives coarse unknowns
    MatrixXf product;         // A times motions, 3n × coarse, in the order of places
};

BlockPreconditioner::~BlockPreconditioner() = default;

BlockPreconditioner::BlockPreconditioner(const BoundaryModel& model,
                                         const std::vector<NodeKind>& kinds,
                                         const BoundaryOperator& A,
                                         const PreconditionerOptions& options, Progress& progress)
    : parts_(std::make_unique<Parts>()) {
    UnknownBlocks blocks(model, kinds);
    blocks.set_own_blocks(A.own_blocks());
    ClusterTree tree(model.positions(), options.leaf_nodes);
    for (const ClusterTree::Cluster& cluster : tree.clusters)
        if (cluster.is_leaf()) parts_->leaves.push_back({cluster.begin, cluster.end, {}, {}});
    parts_->order = std::move(tree.order);
    const ScopedBlasThreads one_thread_each(1);
    auto& leaves = parts_->leaves;
    progress.stage("preconditioner", leaves.size());
    parallel_for(leaves.size(), 1, [&](std::size_t k) {
        Parts::Leaf& leaf = leaves[k];
        const std::span<const int> nodes(parts_->order.data() + leaf.begin,
                                         at(leaf.end - leaf.begin));
        UnknownBlocks::Workspace workspace(blocks);
        MatrixXd block;
        blocks.set_nodes(nodes, workspace);
        blocks.unknowns(nodes, workspace, block);
        if (!replace_by_inverse(block))
            throw InputError("",
                             "the boundary equations of a part of this body are singular: look for "
                             "surfaces that touch or coincide");
        leaf.inverse = block.cast<float>();
        if (options.has_coarse) leaf.motions = cluster_motions(nodes, blocks).cast<float>();
        progress.advance();
    });
    if (!options.has_coarse) return;

    // A times the motions of each cluster, and what they make of it
    for (Parts::Leaf& leaf : leaves) {
        leaf.offset = parts_->num_coarse;
        parts_->num_coarse += static_cast<int>(leaf.motions.cols());
    }
    const int num_coarse = parts_->num_coarse;
    parts_->product.resize(A.num_unknowns(), num_coarse);
    MatrixXd coarse(num_coarse, num_coarse);
    progress.stage("coarse problem", leaves.size());
    const std::size_t leaves_at_once = at(static_cast<int>(kPreconditionerWidth) / 9);
    for (std::size_t first = 0; first < leaves.size(); first += leaves_at_once) {
        const std::size_t end = std::min(leaves.size(), first + leaves_at_once);
        const int column = leaves[first].offset;
        const int count = (end < leaves.size() ? leaves[end].offset : num_coarse) - column;
        MatrixXd X = MatrixXd::Zero(A.num_unknowns(), count), Y(A.num_unknowns(), count);
        for (std::size_t k = first; k < end; ++k)
            for (int i = leaves[k].begin; i < leaves[k].end; ++i)
                X.block(3 * parts_->order[at(i)], leaves[k].offset - column, 3,
                        leaves[k].motions.cols()) =
                    leaves[k].motions.middleRows<3>(3 * (i - leaves[k].begin)).cast<double>();
        A.apply(X, Y);
        for (int i = 0; i < model.num_nodes(); ++i)
            parts_->product.block(3 * i, column, 3, count) =
                Y.middleRows<3>(3 * parts_->order[at(i)]).cast<float>();
        progress.advance(end - first);
    }
    for (const Parts::Leaf& leaf : leaves)
        coarse.middleRows(leaf.offset, leaf.motions.cols()) =
            (leaf.motions.transpose() *
             parts_->product.middleRows(3 * leaf.begin, 3 * (leaf.end - leaf.begin)))
                .cast<double>();
    if (!replace_by_inverse(coarse))
        throw InputError("",
                         "the boundary equations of this body are singular: look for surfaces that "
                         "touch or coincide, and hold more of the body");
    parts_->coarse_inverse = coarse.cast<float>();
}

std::int64_t BlockPreconditioner::num_bytes() const noexcept {
    std::int64_t entries = parts_->product.size() + parts_->coarse_inverse.size();
    for (const auto& leaf : parts_->leaves) entries += leaf.inverse.size() + leaf.motions.size();
    return 4 * entries;
}

void BlockPreconditioner::apply(const Eigen::Ref<const MatrixXd>& X, Eigen::Ref<MatrixXd> Y) const {
    const ScopedBlasThreads one_thread_each(1);
    const auto& leaves = parts_->leaves;
    const int n = static_cast<int>(parts_->order.size()), num_coarse = parts_->num_coarse;
    for (Eigen::Index first = 0; first < X.cols(); first += kPreconditionerWidth) {
        const int width = static_cast<int>(std::min(kPreconditionerWidth, X.cols() - first));
        MatrixXf x(width, 3 * n), y(width, 3 * n), projected(width, num_coarse),
            coarse(width, num_coarse);
        parallel_for(at(n), 256, [&](std::size_t k) {
            const int place = static_cast<int>(k);
            x.middleCols<3>(3 * place) =
                X.block(3 * parts_->order[k], first, 3, width).transpose().cast<float>();
        });
        // coarse unknowns, and what they leave, eq. (L9)
        if (num_coarse > 0) {
            parallel_for(leaves.size(), 4, [&](std::size_t k) {
                const auto& leaf = leaves[k];
                const int rows = 3 * (leaf.end - leaf.begin);
                multiply_single(width, static_cast<int>(leaf.motions.cols()), rows,
                                {x.col(3 * leaf.begin).data(), width}, {leaf.motions.data(), rows},
                                0, projected.col(leaf.offset).data(), width);
            });
            multiply_single(width, num_coarse, num_coarse, {projected.data(), width},
                            {parts_->coarse_inverse.data(), num_coarse, true}, 0, coarse.data(),
                            width);
            const MatrixXf minus = -coarse;
            parallel_ranges(at(3 * n), at(kCoarseTile), [&](std::size_t begin, std::size_t end) {
                multiply_single(width, static_cast<int>(end - begin), num_coarse,
                                {minus.data(), width},
                                {parts_->product.data() + begin, 3 * n, true}, 1,
                                x.data() + begin * at(width), width);
            });
        }
        parallel_for(leaves.size(), 1, [&](std::size_t k) {
            const auto& leaf = leaves[k];
            const int rows = 3 * (leaf.end - leaf.begin);
            multiply_single(width, rows, rows, {x.col(3 * leaf.begin).data(), width},
                            {leaf.inverse.data(), rows, true}, 0, y.col(3 * leaf.begin).data(),
                            width);
            if (num_coarse > 0)
                multiply_single(width, rows, static_cast<int>(leaf.motions.cols()),
                                {coarse.col(leaf.offset).data(), width},
                                {leaf.motions.data(), rows, true}, 1, y.col(3 * leaf.begin).data(),
                                width);
        });
        parallel_for(at(n), 256, [&](std::size_t k) {
            const int place = static_cast<int>(k);
            Y.block(3 * parts_->order[k], first, 3, width) =
                y.middleCols<3>(3 * place).transpose().cast<double>();
        });
    }
}

}  // namespace pliant
