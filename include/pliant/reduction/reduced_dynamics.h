#pragma once

#include "pliant/core/error.h"
#include "pliant/reduction/reduced_force.h"
#include "pliant/reduction/reduced_viscosity.h"

namespace pliant {

/// Motion in reduced coordinates.
struct ReducedState {
    Eigen::VectorXd q, v, a;  ///< position, velocity, acceleration
    double time = 0;          ///< [s]
};

struct ReducedDamping {
    double mass = 0;            ///< α [1/s]
    double stiffness = 0;       ///< β [s]
    bool is_tangential = true;  ///< K of the present shape; otherwise of the rest shape
    /// Of the strain rate, docs/reduction.md eq. (20). Null: none.
    std::shared_ptr<const ReducedViscosity> viscosity = {};
};

struct ReducedOptions {
    double gamma = 0.5;             ///< ≥ ½; more damps numerically, β_N = (γ + ½)²/4
    int max_iterations = 1;         ///< of Newton's method in a step
    double tolerance = 1e-8;        ///< of the residual, relative to the largest term
    int max_halvings = 4;           ///< of a step that fails
    double acceleration_limit = 0;  ///< |a| above which forces are scaled down; 0: none
    ReducedDamping damping = {};
};

/// What may change between the steps of one body.
struct ReducedTuning {
    double stiffness = 1;          ///< factor of W, R and K, > 0
    double mass_damping = 0;       ///< α [1/s]
    double stiffness_damping = 0;  ///< β [s]
};

/// Contact in one step, docs/contact.md eq. (21): the load is f at its start and changes by
/// −K (q − q_n) − β K q̇ in it.
struct ReducedContact {
    Eigen::MatrixXd stiffness;  ///< K, r × r, symmetric, not negative
    double damping = 0;         ///< β [s]
    bool is_active = false;     ///< false: no contact, whatever the matrix says
};

struct ReducedReport {
    StepStatus status = StepStatus::Ok;
    int iterations = 0, halvings = 0;
    double residual = 0;         ///< last one computed; with one iteration that before it
    bool is_indefinite = false;  ///< the matrix was not positive definite: solved by LDLᵀ
};

/// Implicit Newmark in a subspace, docs/reduction.md eq. (16)–(19); one Newton iteration by
/// default, from the position that the velocity leads to: second order, with damping too.
/// Immutable; one state and workspace per thread; steps allocate nothing.
class ReducedDynamics {
public:
    using ConstRef = Eigen::Ref<const Eigen::VectorXd>;
    /// Scratch of one body, and its tuning: at first as the options say.
    struct Workspace {
        virtual ~Workspace() = default;
        ReducedTuning tuning;
        ReducedContact contact;  ///< of the steps until changed; none at first
    };

    /// `mass`: r × r, the identity for a basis of unedited density. Throws InputError for options
    /// out of range or a mass that is not positive definite.
    ReducedDynamics(std::shared_ptr<const ReducedForce> force, Eigen::MatrixXd mass,
                    const ReducedOptions& options = {});
    ReducedDynamics(ReducedDynamics&&) noexcept;
    ReducedDynamics& operator=(ReducedDynamics&&) noexcept;
    ~ReducedDynamics();

    [[nodiscard]] int size() const noexcept;
    [[nodiscard]] const ReducedForce& force() const noexcept;
    [[nodiscard]] const ReducedOptions& options() const noexcept;

    [[nodiscard]] ReducedState make_state() const;
    [[nodiscard]] std::unique_ptr<Workspace> make_workspace() const;
    /// Sets the acceleration from q, v and the load.
    void set_acceleration(ReducedState& s, const ConstRef& f, Workspace& ws) const noexcept;

    /// One implicit step under the reduced load f at its end. The state stays finite: a step that
    /// fails or gains energy is retried in halves, then undone (StepRejected); a load that is not
    /// finite counts as none and a dt that is no time step is not done (InputIgnored).
    [[nodiscard]] ReducedReport step(ReducedState& s, const ConstRef& f, double dt,
                                     Workspace& ws) const noexcept;
    /// The same with positions held: C q = d at the end, rows of C independent (at most 12, else
    /// CapacityExceeded). `multipliers` are the forces on the body that hold it: Cᵀ times them is
    /// added to the load.
    [[nodiscard]] ReducedReport step_constrained(ReducedState& s, const ConstRef& f, double dt,
                                                 const Eigen::Ref<const Eigen::MatrixXd>& C,
                                                 const ConstRef& d,
                                                 Eigen::Ref<Eigen::VectorXd> multipliers,
                                                 Workspace& ws) const noexcept;
    /// Central differences; stable below explicit_limit().
    [[nodiscard]] ReducedReport step_explicit(ReducedState& s, const ConstRef& f, double dt,
                                              Workspace& ws) const noexcept;
    /// 2/ω_max of the rest shape, of stiffness 1 [s].
    [[nodiscard]] double explicit_limit() const noexcept;
    /// Equilibrium under f, from s.q: Newton with line search on W − f·q. Leaves s at rest there.
    [[nodiscard]] ReducedReport solve_static(ReducedState& s, const ConstRef& f, int max_iterations,
                                             Workspace& ws) const noexcept;
    /// Y = C K⁻¹ Cᵀ with K of the shape s.q, at most 12 rows: how far C q moves for loads Cᵀ.
    /// False, and Y as it was, where K is not positive definite.
    [[nodiscard]] bool compliance(const ReducedState& s, const Eigen::Ref<const Eigen::MatrixXd>& C,
                                  Eigen::Ref<Eigen::MatrixXd> Y, Workspace& ws) const noexcept;

    [[nodiscard]] double kinetic_energy(const ReducedState& s) const noexcept;
    [[nodiscard]] double elastic_energy(const ReducedState& s, Workspace& ws) const noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Independent linear oscillators q̈_i + (α + β λ_i) q̇_i + λ_i q_i = f_i, advanced exactly for a
/// load that is constant over the step, eq. (21).
class ModalOscillators {
public:
    ModalOscillators(Eigen::VectorXd eigenvalues, double alpha, double beta);
    [[nodiscard]] int size() const noexcept { return static_cast<int>(eigenvalues_.size()); }
    [[nodiscard]] ReducedState make_state() const;
    [[nodiscard]] StepStatus step(ReducedState& s, const Eigen::Ref<const Eigen::VectorXd>& f,
                                  double dt) const noexcept;

private:
    Eigen::VectorXd eigenvalues_, damping_;
};

}  // namespace pliant
