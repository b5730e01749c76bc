#pragma once

#include "pliant/reduction/reduced_force.h"

namespace pliant {

/// R = K q, W = ½ qᵀK q with a constant symmetric K. Coordinates so large that results would
/// overflow count as the largest that do not.
[[nodiscard]] std::unique_ptr<ReducedForce> make_linear_force(Eigen::MatrixXd K);
/// The same with K of the rest shape of another force.
[[nodiscard]] std::unique_ptr<ReducedForce> linearized(const ReducedForce& force);

}  // namespace pliant
