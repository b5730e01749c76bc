#pragma once

#include "pliant/fem/explicit_scene.h"
#include "pliant/fem/linear_solver.h"
#include "pliant/fem/ordering.h"

#include <memory>
#include <span>

namespace pliant {

struct CoupledOptions {
    double largest_step = 0;  ///< T [s]; the steps are T, T/2, T/4, …
    int num_steps = 3;        ///< 1 to 8, each factored beforehand
    bool has_consistent_mass = true;
    Lumping lumping = Lumping::RowSum;  ///< where mass is not consistent
    bool has_lumped_drag = false;
    /// Full matrix at rest, D = drag + α M + β K₀ + viscosities: viscoelasticity. `is_tangential`
    /// has no meaning here.
    Damping damping = {};
    Ordering ordering = Ordering::CoverNestedDissection;
    SolverKind solver = SolverKind::EigenLdlt;  ///< the one that solves without allocation
    /// Hold mode and obstacles only; capacity 0: one for each surface node, 512 at most.
    ContactOptions contact = {};
    double collapse_limit = 0.1;
};

/// Central differences with full mass and damping matrices, docs/fem.md section "Coupled path":
///     (M + dt/2 D) a' = f − R(u') − D (v + dt/2 a)                                           (T9)
/// The matrix depends on dt alone: it is factored once for each step of the set T/2^i. Where D
/// comes from drag and α M alone and conditions hold whole nodes, one n × n factor serves all three
/// components. Contact with obstacles by the Schur complement of the normals, eq. (C11)–(C13).
///
/// One object per thread and body: it holds solvers, work space and the nodes that contact holds.
/// With EigenLdlt and one thread steps allocate nothing.
class CoupledDynamics {
public:
    using ConstRef = FemModel::ConstRef;

    struct Report {
        StepStatus status = StepStatus::Ok;
        SmallestDetF smallest_det_F;
        bool is_collapsing = false;
        int num_contacts = 0;
    };

    /// Throws InputError for a largest step that is not positive or above the stability limit (it
    /// says the limit), and for other options out of range.
    CoupledDynamics(FemModel model, Constraints constraints, const CoupledOptions& options,
                    std::vector<RigidShape> obstacles = {});
    CoupledDynamics(CoupledDynamics&&) noexcept;
    CoupledDynamics& operator=(CoupledDynamics&&) noexcept;
    ~CoupledDynamics();

    [[nodiscard]] const FemModel& model() const noexcept;
    /// 2/ω of the consistent or lumped system at rest [s], from below by less than 0.1 %. Damping
    /// does not lower it.
    [[nodiscard]] double stable_step() const noexcept;
    /// T/2^i [s].
    [[nodiscard]] double step_length(int i) const noexcept;
    /// The largest of the set that is at most `dt`; the smallest if none is.
    [[nodiscard]] int step_for(double dt) const noexcept;
    /// Whether one scalar factor serves three components.
    [[nodiscard]] bool is_scalar() const noexcept;
    /// Of the smallest step's factor: fill, flops, memory.
    [[nodiscard]] const SolverStatistics& statistics() const noexcept;

    /// At rest, prescribed displacements applied.
    [[nodiscard]] FemState make_state() const;
    /// Sets a from u, v and the load: M a = f − R(u) − D v, or zero if that is not finite; contact
    /// lets all nodes go. Call after changing u or v; hanging nodes are put between their masters.
    void set_acceleration(FemState& s, const ConstRef& f);
    /// Moves a prescribed unknown: its displacement, velocity and acceleration at the end of the
    /// next step, which keeps them. Ignored for components that are not prescribed and for numbers
    /// that are not finite.
    void prescribe(FemState& s, int node, int axis, double u, double v, double a) const noexcept;

    /// One step of length step_length(i) under the load `f` at its end [N]; `motions` of the
    /// obstacles at its end, none: they rest. A load that is not finite counts as zero, and an
    /// obstacle whose motion is not finite stays (InputIgnored). A step that leaves the finite
    /// numbers is undone, and after a capture one of another length is refused (StepRejected); a
    /// state that is not finite is put to rest (StateReset). NotConverged, CapacityExceeded: of
    /// contact. A state of another time than the last one lets all nodes go.
    [[nodiscard]] Report step(FemState& s, const ConstRef& f, int i,
                              std::span<const RigidMotion> motions = {}) noexcept;
    /// Of the last step.
    [[nodiscard]] std::span<const Contact> contacts() const noexcept;
    /// On each obstacle in the last step, about the origin of its frame.
    [[nodiscard]] std::span<const Wrench> wrenches() const noexcept;

    [[nodiscard]] Energy energy(const FemState& s);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
