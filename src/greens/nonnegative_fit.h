#pragma once

#include <Eigen/Core>

namespace pliant {

/// x ≥ 0 that makes ‖A x − b‖ least: active sets of Lawson and Hanson. Columns are scaled inside.
[[nodiscard]] Eigen::VectorXd nonnegative_fit(const Eigen::MatrixXd& A, const Eigen::VectorXd& b);

}  // namespace pliant
