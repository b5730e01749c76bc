#pragma once

#include "pliant/core/error.h"
#include "pliant/fem/conjugate_gradient.h"
#include "pliant/fem/constraints.h"
#include "pliant/fem/damping.h"
#include "pliant/fem/fem_state.h"
#include "pliant/fem/free_system.h"
#include "pliant/fem/linear_solver.h"
#include "pliant/fem/penalty_contact.h"

#include <memory>
#include <optional>
#include <span>

namespace pliant {

/// How the linear systems of Newton's method are solved.
enum class StepSolver {
    ConjugateGradient,  ///< no allocation in a step; wins up to some ten thousand unknowns
    Direct,             ///< factors every iteration; allocates with MUMPS
};

struct ImplicitOptions {
    double gamma = 0.5;       ///< of the displacement update, docs/fem.md eq. (T5); > 0
    double alpha = 0.5;       ///< of the velocity update; 1/2 is of second order, 1 damps most
                              ///< (with γ = 1.125); choose more than 1/2 where bodies touch
    int max_iterations = 1;   ///< of Newton's method; 1: the real-time setting
    double tolerance = 1e-8;  ///< stop when the residual is this times the largest force
    bool has_consistent_mass = true;
    Damping damping = {};
    StepSolver solver = StepSolver::ConjugateGradient;
    CgOptions cg = {Preconditioner::IncompleteCholesky, 1e-6, 500};
    double collapse_limit = 0.1;
};

struct ImplicitReport {
    StepStatus status = StepStatus::Ok;  ///< NotConverged: best iterate kept
    int newton_iterations = 0, cg_iterations = 0;
    double residual = 0, limit = 0;  ///< last one computed, and where it would stop [N]
    double linear_residual = 0;      ///< of the last linear system, relative
    double mass_shift = 0;           ///< times the mass, added where it was not definite, eq. (T8)
    SmallestDetF smallest_det_F;
    bool is_collapsing = false;
    PenaltyContact::Report contact;
};

/// Newmark's family, implicit in the displacements: any step length for linear bodies,
/// docs/fem.md eq. (T5)–(T8), stable for γ ≥ α ≥ 1/2. γ = α = 1/2 is the trapezoidal rule.
///     u' = u + dt v + dt²/2 a_γ,  v' = v + dt a_α,  a_θ = (1 − θ) a + θ a',
///     M a' + D v' + R(u') = f'
/// One object per thread: it holds the solver. After construction steps with ConjugateGradient
/// allocate nothing when one thread runs.
class ImplicitDynamics {
public:
    using ConstRef = FemModel::ConstRef;

    /// Throws InputError for options out of range.
    ImplicitDynamics(FemModel model, Constraints constraints, const ImplicitOptions& options = {},
                     std::optional<PenaltyContact> contact = {});
    ImplicitDynamics(ImplicitDynamics&&) noexcept;
    ImplicitDynamics& operator=(ImplicitDynamics&&) noexcept;
    ~ImplicitDynamics();

    [[nodiscard]] const FemModel& model() const noexcept;
    [[nodiscard]] const ImplicitOptions& options() const noexcept;

    [[nodiscard]] FemState make_state() const;
    /// Sets a from u, v and the load: M a = f − R(u) − D v. Allocates.
    void set_acceleration(FemState& s, const ConstRef& f,
                          std::span<const RigidMotion> motions = {});

    /// One step under the load `f` at its end [N], all 3n unknowns. Prescribed components of the
    /// state hold their values at the end when it is called, as in ExplicitDynamics. `motions` are
    /// those of the obstacles at the end; without any all rest at the origin. Never throws; keeps
    /// the state finite: a load, motion or dt that is not finite is ignored (InputIgnored: zero
    /// load, obstacle stopped where it was, no step), a step that leaves the finite numbers is
    /// undone (StepRejected).
    [[nodiscard]] ImplicitReport step(FemState& s, const ConstRef& f, double dt,
                                      std::span<const RigidMotion> motions = {}) noexcept;
    /// Loads on the obstacles in the last step.
    [[nodiscard]] std::span<const Wrench> wrenches() const noexcept;

    [[nodiscard]] Energy energy(const FemState& s);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
