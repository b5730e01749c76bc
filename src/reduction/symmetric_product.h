#pragma once

#include <Eigen/Core>

namespace pliant {

/// T += X Xᵀ, upper triangle, by the level-3 BLAS on so many threads.
void add_symmetric_product(const Eigen::Ref<const Eigen::MatrixXd>& X, Eigen::MatrixXd& T,
                           int num_threads);

}  // namespace pliant
