#include "greens/unknown_blocks.h"

#include "core/numbers.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include <Eigen/Cholesky>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;

/// Rows that a task integrates.
constexpr int kUnknownRowTile = 64;

}  // namespace

UnknownBlocks::UnknownBlocks(BoundaryModel model, std::vector<NodeKind> kinds)
    : model_(std::move(model)), kinds_(std::move(kinds)) {
    assert(static_cast<int>(kinds_.size()) == model_.num_nodes());
    if (model_.block() != 3 || model_.options().is_exterior)
        throw InputError("", "compressed boundary operators are for the inside of elastic bodies");
    for (int node = 0; node < num_nodes(); ++node)
        if (!is_free(node)) fixed_.push_back(node);
}

void UnknownBlocks::set_nodes(std::span<const int> nodes, Workspace& workspace) const {
    for (const int node : workspace.nodes) workspace.place_of[at(node)] = -1;
    workspace.nodes.assign(nodes.begin(), nodes.end());
    for (std::size_t k = 0; k < nodes.size(); ++k)
        workspace.place_of[at(nodes[k])] = static_cast<int>(k);
    assembler().set_patch(nodes, workspace.assembly);
}

void UnknownBlocks::pick(std::span<const int> rows, bool of_unknowns, Workspace& workspace,
                         MatrixXd& out) const {
    assembler().assemble_patch(rows, workspace.assembly, workspace.G, workspace.H);
    const auto num_rows = 3 * static_cast<Eigen::Index>(rows.size());
    out.resize(num_rows, 3 * static_cast<Eigen::Index>(workspace.nodes.size()));
    for (std::size_t k = 0; k < workspace.nodes.size(); ++k) {
        const auto column = 3 * static_cast<Eigen::Index>(k);
        const auto g = workspace.G.block(0, column, num_rows, 3);
        const auto h = workspace.H.block(0, column, num_rows, 3);
        // exchange of columns, eq. (L1)
        if (is_free(workspace.nodes[k]))
            out.middleCols(column, 3) = of_unknowns ? h : g;
        else
            out.middleCols(column, 3) = of_unknowns ? -g : -h;
    }
    if (own_.empty()) return;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const BoundaryAssembler::Home home = assembler().home_of(rows[r]);
        for (int s = 0; s < 3; ++s) {
            const int place = workspace.place_of[at(home.nodes[s])];
            if (home.weights[s] == 0 || place < 0 || is_free(home.nodes[s]) != of_unknowns)
                continue;
            out.block<3, 3>(3 * static_cast<Eigen::Index>(r), 3 * place) +=
                (of_unknowns ? 1 : -1) * home.weights[s] * own_[at(rows[r])];
        }
    }
}

void UnknownBlocks::unknowns(std::span<const int> rows, Workspace& workspace, MatrixXd& out) const {
    pick(rows, true, workspace, out);
}

void UnknownBlocks::knowns(std::span<const int> rows, Workspace& workspace, MatrixXd& out) const {
    pick(rows, false, workspace, out);
}

std::vector<Matrix3d> UnknownBlocks::integrated_own_blocks(std::span<const int> rows) const {
    std::vector<Matrix3d> own(rows.size());
    std::vector<int> all(kinds_.size());
    std::iota(all.begin(), all.end(), 0);
    parallel_ranges(rows.size(), kUnknownRowTile, [&](std::size_t begin, std::size_t end) {
        Workspace workspace(*this);
        assembler().set_patch(all, workspace.assembly);
        for (std::size_t i = begin; i < end; i += kTargetLanes) {
            const auto some = rows.subspan(i, std::min<std::size_t>(kTargetLanes, end - i));
            assembler().assemble_patch(some, workspace.assembly, workspace.G, workspace.H);
            for (std::size_t r = 0; r < some.size(); ++r)
                for (int k = 0; k < 3; ++k)
                    for (int j = 0; j < 3; ++j) {
                        double sum = 0;
                        for (int node = 0; node < num_nodes(); ++node)
                            sum += workspace.H(3 * static_cast<Eigen::Index>(r) + k, 3 * node + j);
                        own[i + r](k, j) = -sum;
                    }
        }
    });
    return own;
}

std::vector<Matrix3d> UnknownBlocks::integrated_own_blocks() const {
    std::vector<int> all(kinds_.size());
    std::iota(all.begin(), all.end(), 0);
    return integrated_own_blocks(all);
}

MatrixXd UnknownBlocks::rigid_motions() const {
    const int n = num_nodes();
    // about the centre of the free nodes, in units of their size: well conditioned
    const std::vector<Vector3d>& x = model_.positions();
    Vector3d centre = Vector3d::Zero();
    for (int i = 0; i < n; ++i)
        if (is_free(i)) centre += x[at(i)];
    centre /= std::max(1, n - static_cast<int>(fixed_.size()));
    const bool can_turn = model_.options().elements == BoundaryElements::Linear;
    MatrixXd motions(3 * n, can_turn ? 6 : 3);
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < 3; ++k) {
            motions.block<3, 1>(3 * i, k) = Vector3d::Unit(k);
            if (can_turn)
                motions.block<3, 1>(3 * i, 3 + k) = Vector3d::Unit(k).cross(x[at(i)] - centre);
        }
    // orthonormal on free nodes
    MatrixXd free = motions;
    for (const int node : fixed_) free.middleRows<3>(3 * node).setZero();
    const Eigen::LLT<MatrixXd> gram(free.transpose() * free);
    gram.matrixU().solveInPlace<Eigen::OnTheRight>(motions);
    return motions;
}

MatrixXd UnknownBlocks::free_rigid_motions() const {
    MatrixXd Q = rigid_motions();
    for (const int node : fixed_) Q.middleRows<3>(3 * node).setZero();
    return Q;
}

MatrixXd UnknownBlocks::fixed_product(const MatrixXd& values) const {
    MatrixXd product = MatrixXd::Zero(values.rows(), values.cols());
    std::vector<int> all(kinds_.size());
    std::iota(all.begin(), all.end(), 0);
    MatrixXd of_fixed(3 * static_cast<Eigen::Index>(fixed_.size()), values.cols());
    for (std::size_t k = 0; k < fixed_.size(); ++k)
        of_fixed.middleRows<3>(3 * static_cast<Eigen::Index>(k)) =
            values.middleRows<3>(3 * fixed_[k]);
    parallel_ranges(kinds_.size(), kUnknownRowTile, [&](std::size_t begin, std::size_t end) {
        Workspace workspace(*this);
        MatrixXd block;
        set_nodes(fixed_, workspace);
        knowns({all.data() + begin, end - begin}, workspace, block);
        product.middleRows(3 * static_cast<Eigen::Index>(begin),
                           3 * static_cast<Eigen::Index>(end - begin)) =
            -block.lazyProduct(of_fixed);
    });
    return product;
}

MatrixXd UnknownBlocks::product_with_rigid_motions() const {
    // 0 = H r = H_free r_free + H_fixed r_fixed
    return -fixed_product(rigid_motions());
}

std::vector<Matrix3d> UnknownBlocks::fixed_row_sums() const {
    assert(own_.empty());
    MatrixXd translations(3 * num_nodes(), 3);
    for (int i = 0; i < num_nodes(); ++i) translations.middleRows<3>(3 * i).setIdentity();
    const MatrixXd product = fixed_product(translations);
    std::vector<Matrix3d> sums(kinds_.size());
    for (int i = 0; i < num_nodes(); ++i) sums[at(i)] = product.middleRows<3>(3 * i);
    return sums;
}

}  // namespace pliant
