#pragma once

#include "pliant/core/progress.h"
#include "pliant/fem/constraints.h"
#include "pliant/fem/fem_model.h"
#include "pliant/fem/linear_solver.h"

namespace pliant {

// Equilibrium of a body under a dead load `f` of all 3n unknowns [N] and essential conditions,
// docs/fem.md section "Statics". Both functions throw InputError for a load that is not finite, for
// a body that is free to move (naming the rigid motions) and for one with a loose joint (naming a
// vertex).

/// Small displacements: K(0) u = f − R(0). Returns all 3n displacements [m].
[[nodiscard]] Eigen::VectorXd solve_linear_static(const FemModel& model,
                                                  const Constraints& constraints,
                                                  const Eigen::VectorXd& f,
                                                  SolverKind solver = SolverKind::Auto);

struct StaticOptions {
    int load_steps = 1;       ///< parts in which load and prescribed displacements are applied
    int max_halvings = 8;     ///< of a part that does not converge
    int max_iterations = 40;  ///< of Newton's method in one part
    /// Stop when the residual is at most this times the larger of load and internal force, or as
    /// small as rounding lets it be.
    double tolerance = 1e-9;
    SolverKind solver = SolverKind::Auto;
};

enum class StaticStatus {
    Converged,
    NotConverged,  ///< no equilibrium found under the whole load
    Collapsed,     ///< an equilibrium under the whole load, but with inverted elements
};
[[nodiscard]] std::string_view to_string(StaticStatus status) noexcept;

/// One iteration of Newton's method.
struct StaticIteration {
    double load_fraction;  ///< aimed at
    double residual;       ///< |Tᵀ(f − R)| before the step [N]
    double limit;          ///< at which it would stop [N]
    double step;           ///< length taken by the line search; 0 after the last one
};

struct StaticResult {
    StaticStatus status = StaticStatus::Converged;
    /// What went wrong, with the last residuals, and what to try; empty when Converged.
    std::string message;
    Eigen::VectorXd u;         ///< all 3n displacements: of the last equilibrium found
    double load_fraction = 0;  ///< of load and prescribed displacements that `u` carries
    double energy = 0;         ///< W(u) [J]
    SmallestDetF smallest_det_F;
    std::vector<StaticIteration> iterations;

    [[nodiscard]] bool has_converged() const noexcept { return status == StaticStatus::Converged; }
};

/// Large displacements: R(u) = f by Newton's method with a line search on the energy W(u) − f·u.
/// Where K is not positive definite its diagonal is raised, so that unstable equilibria are left
/// behind. Load steps that fail are halved.
[[nodiscard]] StaticResult solve_static(const FemModel& model, const Constraints& constraints,
                                        const Eigen::VectorXd& f, const StaticOptions& options = {},
                                        Progress& progress = Progress::none());

}  // namespace pliant
