#pragma once

#include "pliant/core/error.h"
#include "pliant/fem/constraints.h"
#include "pliant/fem/damping.h"
#include "pliant/fem/fem_state.h"
#include "pliant/fem/mass.h"
#include "pliant/fem/stable_step.h"

#include <array>
#include <limits>
#include <memory>
#include <vector>

namespace pliant {

class StretchWatch;

/// What becomes of the force and mass that elements put on hanging nodes.
enum class HangingMode {
    Fold,           ///< handed to the masters: keeps linear and angular momentum
    OverwriteOnly,  ///< dropped, for comparison: momentum drifts
};

struct ExplicitOptions {
    Lumping lumping = Lumping::RowSum;
    HangingMode hanging = HangingMode::Fold;
    Precision precision = Precision::Double;  ///< of the element forces; states are in double
    Damping damping = {};
    double collapse_limit = 0.1;  ///< a smaller det F at a quadrature point is reported
    /// Damping ζ of the fastest vibration at rest, from 0 to 1, and of slower ones in proportion to
    /// their frequency: f_S = β (R(u') − R(u)) / dt, eq. (T18), with β = ζ dt for the stable step
    /// without it. The same as Damping::stiffness β, which is tangential, without a product with K.
    double fast_damping = 0;
};

/// What one step did.
struct ExplicitReport {
    StepStatus status = StepStatus::Ok;
    SmallestDetF smallest_det_F;
    bool is_collapsing = false;  ///< smallest_det_F below the limit: cut the step, the load or stop
};

/// Central differences with lumped mass and drag: every unknown has its own equation,
/// docs/fem.md eq. (T1)–(T4), [Zhuang2000]. One step is
///     u' = u + dt h,   q a' = f − R(u') − d h − f_D(u', h),   v' = h + dt/2 a',
/// with h = v + dt/2 a, q = m + dt/2 d and f_D the stiffness-like part of Damping. Second order,
/// with f_D first order; stable for dt below stable_step().
///
/// step() does it all. Contact takes the parts one by one and changes the accelerations between
/// them: see ExplicitScene. Immutable; one state and workspace per thread. After make_…() nothing
/// allocates with one thread.
class ExplicitDynamics {
public:
    using ConstRef = FemModel::ConstRef;
    /// Vectors trade places with those of the state, so that a step can be taken back at no cost.
    struct Workspace {
        FemModel::Workspace model;
        /// Internal force; masters of hanging nodes have got what these carry, loads included.
        Eigen::VectorXd R;
        Eigen::VectorXd half_v;         ///< h from predict() to finish(); afterwards the old v
        Eigen::VectorXd damping_force;  ///< f_D; empty without that kind of damping
        Eigen::VectorXd scratch;        ///< as damping_force
        /// With fast damping: R of the state, of its elements alone, and that at the end of the
        /// step.
        Eigen::VectorXd R_before, R_after;
        bool knows_R = false;  ///< the former is that of the state
        /// a' from accelerate() to finish(), for contact to change; afterwards the old a.
        Eigen::VectorXd a;
        Eigen::VectorXd inverse_q;  ///< 1/q; 0 for prescribed and hanging unknowns
        double dt_of_q = -1;        ///< the step inverse_q belongs to
        Eigen::VectorXd u_before;   ///< the old u
        double time_before = 0;
        std::vector<std::array<double, 2>> sums;  ///< of each range of unknowns
        Eigen::VectorXd reactions;                ///< forces that move the prescribed unknowns
        /// Of damping_force and reactions: where it is that of the state, the work of a step counts
        /// the mean of the forces at its ends.
        double time_of_forces = std::numeric_limits<double>::quiet_NaN();
        EnergyLog work;                            ///< of the step; contact work is not in it
        std::vector<std::array<double, 3>> looks;  ///< of each range of elements
    };
    /// What the stretch of the elements in their present shape does to the stable step.
    struct StretchLook {
        double dt = 0;          ///< bound for steps [s], at most that at rest; 0: not finite
        double stiffening = 1;  ///< of the stiffest element: ω² over that of the body at rest, ≥ 1
        /// Smallest principal stretch in elements of St. Venant and Kirchhoff's law, which softens
        /// below 1/√3; 1: there are none.
        double smallest_stvk = 1;
    };

    /// Throws InputError for bad damping, for a collapse limit that is not finite, and for a
    /// condition on a hanging node alone.
    ExplicitDynamics(FemModel model, Constraints constraints, const ExplicitOptions& options = {});

    [[nodiscard]] const FemModel& model() const noexcept { return model_; }
    [[nodiscard]] const ExplicitOptions& options() const noexcept { return options_; }
    /// Lumped mass and drag (α M included) of all 3n unknowns, as the step uses them: folded to the
    /// masters, zero at hanging nodes.
    [[nodiscard]] const Eigen::VectorXd& mass() const noexcept { return mass_; }
    [[nodiscard]] const Eigen::VectorXd& drag() const noexcept { return drag_; }
    [[nodiscard]] const Constraints& constraints() const noexcept { return constraints_; }
    /// Bound for steps, from the elements at rest, damping allowed for. Not safe with
    /// OverwriteOnly, which drops mass.
    [[nodiscard]] StableStep stable_step() const noexcept { return stable_step_; }
    /// Bound for steps from the shape u, element by element, docs/fem.md eq. (T17). Costs some 10
    /// ns a tetrahedron and 100 ns a hex, which is for every few steps.
    [[nodiscard]] StretchLook look(const ConstRef& u, Workspace& ws) const noexcept;
    /// Throws InputError that says the limit when dt is not positive or above it.
    void check_step(double dt) const;

    /// At rest, prescribed displacements applied.
    [[nodiscard]] FemState make_state() const;
    [[nodiscard]] Workspace make_workspace() const;
    /// Tells that the displacements of the state are not those that the last step left.
    static void forget(Workspace& ws) noexcept { ws.knows_R = false; }
    /// Sets a from u, v and the load: M a = f − R(u) − D v, or zero if that is not finite. Call
    /// after changing u or v; hanging nodes are put between their masters.
    void set_acceleration(FemState& s, const ConstRef& f, Workspace& ws) const noexcept;
    /// Moves a prescribed unknown: its displacement, velocity and acceleration at the end of the
    /// next step, which keeps them. Ignored for components that are not prescribed and for numbers
    /// that are not finite.
    void prescribe(FemState& s, int node, int axis, double u, double v, double a) const noexcept;

    /// One step under the load `f` at its end [N], all 3n unknowns. A load that is not finite
    /// counts as zero, and for a dt that is not positive and finite there is no step
    /// (InputIgnored). A step that leaves the finite numbers is undone (StepRejected), unless the
    /// state was not finite before: then the body is put to rest (StateReset).
    [[nodiscard]] ExplicitReport step(FemState& s, const ConstRef& f, double dt,
                                      Workspace& ws) const noexcept;

    // The parts of a step, in this order, for a dt that is positive and finite.

    /// u', the half-step velocity and 1/q.
    void predict(FemState& s, double dt, Workspace& ws) const noexcept;
    /// a' into ws.a, as if there were no contact; not yet of hanging nodes.
    [[nodiscard]] ExplicitReport accelerate(const FemState& s, const ConstRef& f, double dt,
                                            Workspace& ws) const noexcept;
    /// v', a' and hanging nodes; undoes the step if not all is finite.
    [[nodiscard]] StepStatus finish(FemState& s, double dt, Workspace& ws) const noexcept;
    /// Takes back the step that finish() has just made.
    void undo(FemState& s, Workspace& ws) const noexcept;
    /// Takes back a step that accelerate() has just looked at, in place of finish().
    void abandon(FemState& s, Workspace& ws) const noexcept;

    [[nodiscard]] Energy energy(const FemState& s, Workspace& ws) const;
    [[nodiscard]] Momentum momentum(const FemState& s) const noexcept;

private:
    /// a' = (f − R(u) − f_D(u, h) − d h) / q into ws.a and the work of h into ws.work.
    ExplicitReport accelerate_at(const FemState& s, const Eigen::VectorXd& h, const ConstRef& f,
                                 double dt, Workspace& ws) const noexcept;
    void list_children();
    /// Adds the force of fast damping to R.
    void add_fast_damping(double dt, Workspace& ws) const noexcept;
    [[nodiscard]] double damped(double dt, double viscous_rate) const noexcept;
    void set_inverse_q(double dt, Workspace& ws) const noexcept;
    /// x of hanging nodes = mean of their masters.
    void follow_masters(Eigen::VectorXd& x) const noexcept;
    /// R of masters += their share of R − f + f_D of the hanging nodes.
    void fold_to_masters(const ConstRef& f, Workspace& ws) const noexcept;
    /// Of the forces that move prescribed unknowns, into ws.reactions as well.
    double reaction_power(const FemState& s, const Eigen::VectorXd& h, const ConstRef& f,
                          bool knows_last_forces, Workspace& ws) const noexcept;
    void put_to_rest(FemState& s) const noexcept;

    FemModel model_;
    Constraints constraints_;
    ExplicitOptions options_;
    Eigen::VectorXd mass_, drag_;
    bool has_drag_ = false;
    std::vector<int> prescribed_;  ///< unknowns, those of hanging nodes left out
    /// Nodes that are masters, and the hanging nodes of each.
    struct Child {
        int node;
        double weight;
    };
    std::vector<int> masters_, child_offsets_;
    std::vector<Child> children_;
    StableStep stable_step_;
    double elastic_step_ = 0;  ///< without damping [s]
    double smoothing_ = 0;     ///< β of eq. (T18) [s]
    double viscous_rate_ = 0;  ///< λ_max(M⁻¹V) at rest [1/s]
    std::shared_ptr<const StretchWatch> watch_;
};

}  // namespace pliant
