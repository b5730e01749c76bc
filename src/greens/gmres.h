#pragma once

#include "greens/block_preconditioner.h"
#include "pliant/greens/boundary_operator.h"

#include <functional>
#include <vector>

#include <Eigen/Core>

namespace pliant {

struct GmresOptions {
    double tolerance = 1e-4;   ///< ‖b − A x‖ / ‖b‖
    int max_iterations = 300;  ///< products for each right-hand side
};

struct GmresReport {
    std::vector<int> iterations;    ///< of each right-hand side
    std::vector<double> residuals;  ///< true ones, relative
    [[nodiscard]] bool is_solved(double tolerance) const;
};

/// Solves A X = B from X = 0 by GMRES without restarts [SaadSchultz1986], a Krylov space for each
/// right-hand side, products for all of them at once; preconditioned from the right by `M`
/// (nullptr: not), so that residuals are true ones. A space ends when its estimate meets the
/// tolerance; where the residual itself does not, another one corrects it, at most twice.
/// `told(iteration, largest residual)` may throw.
GmresReport gmres(const BoundaryOperator& A, const BlockPreconditioner* M,
                  const Eigen::Ref<const Eigen::MatrixXd>& B, Eigen::Ref<Eigen::MatrixXd> X,
                  const GmresOptions& options = {},
                  const std::function<void(int, double)>& told = {});

}  // namespace pliant
