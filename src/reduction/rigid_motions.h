#pragma once

#include "pliant/fem/free_system.h"

namespace pliant {

/// The six rigid motions, small rotations about the centre of mass, M-orthonormal: 3n × 6.
[[nodiscard]] Eigen::MatrixXd rigid_motions(const VolumeMesh& mesh,
                                            const Eigen::SparseMatrix<double>& M);
/// The rows of X that are free unknowns, in their order.
[[nodiscard]] Eigen::MatrixXd free_rows(const FreeSystem& system, const Eigen::MatrixXd& X);

}  // namespace pliant
