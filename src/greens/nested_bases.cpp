#include "greens/nested_bases.h"

#include "core/numbers.h"
#include "greens/single_products.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;

/// Rows from which the others follow, and how: X ≈ T X_rows.
struct RowInterpolation {
    std::vector<int> rows;
    MatrixXd T;
};

/// Cholesky factors of the weighted products of rows, the largest remainder next, until all
/// remainders together are below a share of the whole.
RowInterpolation interpolated_rows(const MatrixXd& X, const VectorXd& weights, double tolerance) {
    const Eigen::Index count = X.rows();
    if (X.size() == 0) return {{}, MatrixXd::Zero(count, 0)};
    MatrixXd S = MatrixXd::Zero(count, count);
    S.selfadjointView<Eigen::Lower>().rankUpdate(X * weights.asDiagonal());
    S.triangularView<Eigen::StrictlyUpper>() = S.transpose();
    RowInterpolation result;
    VectorXd left = S.diagonal();
    // factors are in single precision: below that remainders are rounding
    const double limit = std::max(tolerance * tolerance, 1e-14) * left.sum();
    MatrixXd L(count, count);
    Eigen::Index rank = 0;
    for (; rank < count; ++rank) {
        Eigen::Index pivot = 0;
        const double largest = left.maxCoeff(&pivot);
        if (left.sum() <= limit || !(largest > 0)) break;
        auto column = L.col(rank);
        column = S.col(pivot);
        column.noalias() -= L.leftCols(rank) * L.row(pivot).head(rank).transpose();
        column /= std::sqrt(largest);
        left -= column.cwiseAbs2();
        // what has been met is met, whatever rounding leaves
        for (const int row : result.rows) column[row] = 0;
        left[pivot] = 0;
        left = left.cwiseMax(0.0);
        result.rows.push_back(static_cast<int>(pivot));
    }
    // T = L L_rows⁻¹
    MatrixXd triangle(rank, rank);
    for (Eigen::Index k = 0; k < rank; ++k)
        triangle.row(k) = L.row(result.rows[static_cast<std::size_t>(k)]).head(rank);
    result.T = triangle.triangularView<Eigen::Lower>().solve<Eigen::OnTheRight>(L.leftCols(rank));
    return result;
}

}  // namespace

NestedBases::NestedBases(const ClusterTree& tree, std::vector<MatrixXf>& factors,
                         const std::vector<Eigen::VectorXf>& weights, double tolerance)
    : tree_(tree), bases_(tree.clusters.size()) {
    std::vector<int> depths(tree.clusters.size(), 0);
    std::vector<Eigen::Index> num_columns(tree.clusters.size(), 0);  // of a cluster and all above
    std::vector<VectorXd> all_weights(tree.clusters.size());
    for (std::size_t c = 0; c < tree.clusters.size(); ++c) {
        const int parent = tree.clusters[c].parent;
        const Eigen::Index own = factors[c].cols();
        if (parent >= 0) depths[c] = depths[at(parent)] + 1;
        const Eigen::Index above = parent >= 0 ? num_columns[at(parent)] : 0;
        num_columns[c] = above + own;
        all_weights[c].resize(num_columns[c]);
        if (parent >= 0) all_weights[c].head(above) = all_weights[at(parent)];
        all_weights[c].tail(own) = weights[c].cast<double>();
        by_depth_.resize(std::max(by_depth_.size(), at(depths[c] + 1)));
        by_depth_[at(depths[c])].push_back(static_cast<int>(c));
    }
    // from the leaves up: the rows of a cluster in all blocks of it and of what it is part of
    std::vector<MatrixXd> remaining(tree.clusters.size());
    std::vector<MatrixXf> coefficients(tree.clusters.size());
    for (auto level = by_depth_.rbegin(); level != by_depth_.rend(); ++level)
        parallel_for(level->size(), 1, [&](std::size_t k) {
            const std::size_t c = at((*level)[k]);
            const ClusterTree::Cluster& cluster = tree.clusters[c];
            MatrixXd X;
            if (cluster.is_leaf()) {
                X.resize(3 * cluster.size(), num_columns[c]);
                for (int up = static_cast<int>(c); up >= 0; up = tree.clusters[at(up)].parent) {
                    const MatrixXf& of_up = factors[at(up)];
                    X.middleCols(num_columns[at(up)] - of_up.cols(), of_up.cols()) =
                        of_up
                            .middleRows(3 * (cluster.begin - tree.clusters[at(up)].begin),
                                        3 * cluster.size())
                            .cast<double>();
                }
            } else {
                MatrixXd &first = remaining[at(cluster.children[0])],
                         &second = remaining[at(cluster.children[1])];
                X.resize(first.rows() + second.rows(), num_columns[c]);
                X << first, second;
                first.resize(0, 0);
                second.resize(0, 0);
            }
            const RowInterpolation found = interpolated_rows(X, all_weights[c], tolerance);
            bases_[c].T = found.T.cast<float>();
            MatrixXd chosen(static_cast<Eigen::Index>(found.rows.size()), X.cols());
            for (std::size_t r = 0; r < found.rows.size(); ++r)
                chosen.row(static_cast<Eigen::Index>(r)) = X.row(found.rows[r]);
            const Eigen::Index own = factors[c].cols();
            coefficients[c] = chosen.rightCols(own).cast<float>();
            remaining[c] = chosen.leftCols(chosen.cols() - own);
        });
    factors = std::move(coefficients);
    for (Basis& basis : bases_) {
        basis.offset = num_coefficients_;
        num_coefficients_ += static_cast<int>(basis.T.cols());
    }
}

std::int64_t NestedBases::num_bytes() const noexcept {
    std::int64_t bytes = 0;
    for (const Basis& basis : bases_) bytes += 4 * basis.T.size();
    return bytes;
}

void NestedBases::gather(const MatrixXf& values, MatrixXf& coefficients) const {
    const int width = static_cast<int>(values.rows());
    for (auto level = by_depth_.rbegin(); level != by_depth_.rend(); ++level)
        parallel_for(level->size(), 1, [&](std::size_t k) {
            const std::size_t c = at((*level)[k]);
            const Basis& basis = bases_[c];
            const ClusterTree::Cluster& cluster = tree_.clusters[c];
            const int stride = static_cast<int>(basis.T.rows());
            if (basis.T.cols() == 0) return;
            const auto add = [&](const float* from, int rows, int first, float factor) {
                multiply_single(width, static_cast<int>(basis.T.cols()), rows, {from, width},
                                {basis.T.data() + first, stride}, factor,
                                coefficients.col(basis.offset).data(), width);
            };
            if (cluster.is_leaf()) return add(values.col(3 * cluster.begin).data(), stride, 0, 0);
            int first = 0;
            coefficients.middleCols(basis.offset, basis.T.cols()).setZero();
            for (const int child : cluster.children)
                if (const int rows = rank(child); rows > 0) {
                    add(coefficients.col(offset(child)).data(), rows, first, 1);
                    first += rows;
                }
        });
}

void NestedBases::scatter(MatrixXf& coefficients, MatrixXf& values) const {
    const int width = static_cast<int>(values.rows());
    for (const std::vector<int>& level : by_depth_)
        parallel_for(level.size(), 1, [&](std::size_t k) {
            const std::size_t c = at(level[k]);
            const Basis& basis = bases_[c];
            const ClusterTree::Cluster& cluster = tree_.clusters[c];
            const int stride = static_cast<int>(basis.T.rows());
            if (basis.T.cols() == 0) return;
            const auto add = [&](float* to, int rows, int first) {
                multiply_single(width, rows, static_cast<int>(basis.T.cols()),
                                {coefficients.col(basis.offset).data(), width},
                                {basis.T.data() + first, stride, true}, 1, to, width);
            };
            if (cluster.is_leaf()) return add(values.col(3 * cluster.begin).data(), stride, 0);
            int first = 0;
            for (const int child : cluster.children)
                if (const int rows = rank(child); rows > 0) {
                    add(coefficients.col(offset(child)).data(), rows, first);
                    first += rows;
                }
        });
}

}  // namespace pliant
