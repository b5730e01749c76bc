#pragma once

#include <Eigen/SparseCore>
#include <vector>

namespace pliant {

/// Indices, ascending, of the columns that remain when the one in the densest neighbourhood is
/// dropped again and again until all distances are at least `distance`. Each dropped column is
/// nearer than that to one that remains. Of equals the first remains. O(N²).
[[nodiscard]] std::vector<int> thin_samples(const Eigen::MatrixXd& samples, double distance);
/// The same with shapes for samples and distances in the norm of M, as a fraction of the largest
/// shape; below about 1e-7 that is rounding.
[[nodiscard]] std::vector<int> thin_shapes(const Eigen::MatrixXd& shapes,
                                           const Eigen::SparseMatrix<double>& M, double fraction);

}  // namespace pliant
