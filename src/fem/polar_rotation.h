#pragma once

#include <Eigen/Core>

namespace pliant {

/// The rotation R (det R = +1, also for inverted F) nearest to F, the one that maximises tr RᵀF.
/// Where several are equally near (rank 1, F = 0) it is one of them. About 0.08 µs, or 0.7 µs for
/// an F that is inverted or nearly singular.
[[nodiscard]] Eigen::Matrix3d polar_rotation(const Eigen::Matrix3d& F) noexcept;

}  // namespace pliant
