#pragma once

#include <functional>
#include <optional>
#include <span>

#include <Eigen/Core>

namespace pliant {

/// Entries of a matrix of 3×3 blocks, as they are asked for; results are resized.
struct CrossEntries {
    std::function<void(std::span<const int> block_rows, Eigen::MatrixXd& out)> rows;
    std::function<void(std::span<const int> block_columns, Eigen::MatrixXd& out)> columns;
};

/// U Vᵀ
struct LowRank {
    Eigen::MatrixXd U, V;
};

/// Low rank from few rows and columns, docs/greens-large.md eq. (L4): crosses of eight block rows
/// at a time, chosen by the largest residual among these, until eight further ones are met without
/// a cross; then the smallest rank that meets `tolerance` (Frobenius, relative, one half for each
/// step). Nothing when more than `max_rank` were needed.
[[nodiscard]] std::optional<LowRank> cross_approximation(int num_block_rows, int num_block_columns,
                                                         double tolerance, int max_rank,
                                                         const CrossEntries& entries);

}  // namespace pliant
