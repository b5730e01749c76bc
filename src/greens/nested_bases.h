#pragma once

#include "greens/cluster_tree.h"

#include <cstdint>
#include <vector>

#include <Eigen/Core>

namespace pliant {

/// Bases that all low-rank blocks of a cluster share, those of a parent made from those of its
/// children: docs/greens-large.md section "Nested bases". Values of a cluster's points are
/// interpolated from a few of them, three for each point, in single precision.
class NestedBases {
public:
    /// `factors` has 3·size rows for each cluster and columns of any number, which matter as
    /// `weights` say; they become coefficients: the rows from which the others follow. The
    /// mean of what is lost, relative and weighted, is about `tolerance`.
    NestedBases(const ClusterTree& tree, std::vector<Eigen::MatrixXf>& factors,
                const std::vector<Eigen::VectorXf>& weights, double tolerance);

    [[nodiscard]] int num_coefficients() const noexcept { return num_coefficients_; }
    /// Of a cluster, among all.
    [[nodiscard]] int offset(int cluster) const noexcept { return bases_[index(cluster)].offset; }
    [[nodiscard]] int rank(int cluster) const noexcept {
        return static_cast<int>(bases_[index(cluster)].T.cols());
    }
    [[nodiscard]] std::int64_t num_bytes() const noexcept;
    /// Coefficients of all clusters from values of all points (columns; one row for each of many
    /// right-hand sides), by transposed interpolation from the leaves up.
    void gather(const Eigen::MatrixXf& values, Eigen::MatrixXf& coefficients) const;
    /// Adds interpolated coefficients to values, from the root down; coefficients are used up.
    void scatter(Eigen::MatrixXf& coefficients, Eigen::MatrixXf& values) const;

private:
    struct Basis {
        Eigen::MatrixXf T;  // rows of points, or of the coefficients of both children
        int offset = 0;
    };
    static std::size_t index(int cluster) noexcept { return static_cast<std::size_t>(cluster); }

    const ClusterTree& tree_;
    std::vector<std::vector<int>> by_depth_;  // clusters, the root first
    std::vector<Basis> bases_;
    int num_coefficients_ = 0;
};

}  // namespace pliant
