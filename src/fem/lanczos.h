#pragma once

#include <Eigen/Core>
#include <functional>

namespace pliant {

/// Largest eigenvalue λ of K x = λ M x for symmetric K and symmetric positive definite M, both
/// n × n, by Lanczos' iteration in the inner product of M, docs/fem.md eq. (T11). From above: the
/// Ritz value plus its residual, which the iteration brings below `tolerance` of it.
[[nodiscard]] double largest_eigenvalue(
    int n, const std::function<void(const Eigen::VectorXd& x, Eigen::VectorXd& Kx)>& multiply,
    const std::function<void(Eigen::VectorXd& x)>& solve_mass, double tolerance = 1e-3);

}  // namespace pliant
