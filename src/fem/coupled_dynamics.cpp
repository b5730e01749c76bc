#include "pliant/fem/coupled_dynamics.h"

#include "fem/coupled_contact.h"
#include "fem/coupled_system.h"
#include "fem/finite_state.h"
#include "geometry/option_check.h"

#include <cassert>
#include <cmath>
#include <new>

namespace pliant {
namespace {

using Eigen::VectorXd;

constexpr int kMaxSteps = 8;

/// Refuses what no system can be built from; returns the options.
const CoupledOptions& checked(const CoupledOptions& options) {
    check_option(options.largest_step > 0 && std::isfinite(options.largest_step), "largest_step",
                 options.largest_step, "a positive number of seconds");
    check_option(options.num_steps >= 1 && options.num_steps <= kMaxSteps, "num_steps",
                 options.num_steps, "1 to 8");
    check_option(std::isfinite(options.collapse_limit), "collapse_limit", options.collapse_limit,
                 "a finite value");
    check_damping(options.damping);
    const ContactOptions& contact = options.contact;
    check_option(contact.mode == ContactMode::Hold, "contact.mode", "literal",
                 "hold: the coupled path has no other");
    check_option(contact.friction >= 0 && std::isfinite(contact.friction), "contact.friction",
                 contact.friction, "0 <= value < infinity");
    check_option(contact.sweeps >= 1, "contact.sweeps", contact.sweeps, "at least 1");
    check_option(contact.reach >= 0 && std::isfinite(contact.reach), "contact.reach", contact.reach,
                 "0 <= value < infinity");
    check_option(contact.capacity >= 0, "contact.capacity", contact.capacity, "0 or more");
    return options;
}

}  // namespace

struct CoupledDynamics::Impl {
    FemModel model;
    Constraints constraints;
    double collapse_limit;
    CoupledSystem system;
    CoupledContact contact;
    FemModel::Workspace model_ws;
    FemState before;
    VectorXd h, R, residual;
    VectorXd a_free;       // of the free unknowns
    double last_time = 0;  // at the end of the last step

    Impl(FemModel m, Constraints c, const CoupledOptions& options,
         std::vector<RigidShape> obstacles)
        : model(std::move(m)),
          constraints(std::move(c)),
          collapse_limit(options.collapse_limit),
          system(model, constraints, options),
          contact(model, system, std::move(obstacles), options.contact),
          model_ws(model.make_workspace()) {
        const VectorXd zero = VectorXd::Zero(model.num_unknowns());
        before = {zero, zero, zero};
        h = R = residual = zero;
        a_free.setZero(system.num_free());
    }

    void put_to_rest(FemState& s) const noexcept {
        s.u.setZero();
        s.v.setZero();
        s.a.setZero();
        if (!std::isfinite(s.time)) s.time = 0;
        for (const int i : system.prescribed()) s.u[i] = constraints.displacements()[i];
        system.follow(s.u);
    }

    /// u at the end of the step and h = v + dt/2 a; prescribed unknowns are at the end already.
    void predict(FemState& s, double dt) noexcept {
        h = s.v + (0.5 * dt) * s.a;
        for (const int i : system.prescribed()) h[i] = s.v[i];
        for (const int i : system.free()) s.u[i] += dt * h[i];
        system.follow(s.u);
        system.follow(h);
    }

    /// Right-hand side of eq. (T9) for the velocities w: Tᵀ (f − R(u) − D w − M a_p).
    void find_residual(const FemState& s, const VectorXd& w, const ConstRef& f, bool has_load,
                       Report& report) {
        report.smallest_det_F = model.internal_force(s.u, R, model_ws);
        report.is_collapsing = !(report.smallest_det_F.value >= collapse_limit);
        residual = -R;
        if (has_load) residual += f;
        system.subtract_damping(w, residual);
        system.subtract_prescribed_inertia(s.a, residual);
        system.fold(residual, a_free);
    }

    StepStatus advance(FemState& s, const ConstRef& f, bool has_load, int i, Report& report) {
        const double dt = system.steps().length(i);
        predict(s, dt);
        find_residual(s, h, f, has_load, report);
        system.solve(i, a_free);
        system.scatter(a_free, s.a);
        StepStatus status = StepStatus::Ok;
        if (contact.has_obstacles()) {
            status = contact.solve(i, before, s.u, s.a);
            if (contact.has_forces()) {
                a_free += contact.changes().col(0);
                system.scatter(a_free, s.a);
            }
        }
        // eq. (T3)
        for (const int k : system.free()) s.v[k] = h[k] + 0.5 * dt * s.a[k];
        if (contact.has_forces()) {
            const auto reset = contact.changes().col(1);
            for (int k = 0; k < system.num_free(); ++k) s.v[system.free()[k]] += reset[k];
        }
        system.follow(s.v);
        s.time += dt;
        return status;
    }
};

CoupledDynamics::CoupledDynamics(FemModel model, Constraints constraints,
                                 const CoupledOptions& options, std::vector<RigidShape> obstacles)
    : impl_(std::make_unique<Impl>(std::move(model), std::move(constraints), checked(options),
                                   std::move(obstacles))) {}
CoupledDynamics::CoupledDynamics(CoupledDynamics&&) noexcept = default;
CoupledDynamics& CoupledDynamics::operator=(CoupledDynamics&&) noexcept = default;
CoupledDynamics::~CoupledDynamics() = default;

const FemModel& CoupledDynamics::model() const noexcept { return impl_->model; }
double CoupledDynamics::stable_step() const noexcept { return impl_->system.stable_step(); }
double CoupledDynamics::step_length(int i) const noexcept {
    assert(i >= 0 && i < impl_->system.steps().size());
    return impl_->system.steps().length(i);
}
int CoupledDynamics::step_for(double dt) const noexcept {
    const StepSet& steps = impl_->system.steps();
    for (int i = 0; i < steps.size(); ++i)
        if (steps.length(i) <= dt) return i;
    return steps.size() - 1;
}
bool CoupledDynamics::is_scalar() const noexcept { return impl_->system.is_scalar(); }
const SolverStatistics& CoupledDynamics::statistics() const noexcept {
    return impl_->system.steps().statistics();
}
std::span<const Contact> CoupledDynamics::contacts() const noexcept {
    return impl_->contact.contacts();
}
std::span<const Wrench> CoupledDynamics::wrenches() const noexcept {
    return impl_->contact.wrenches();
}

FemState CoupledDynamics::make_state() const {
    FemState s{impl_->before.u, impl_->before.v, impl_->before.a};
    impl_->put_to_rest(s);
    return s;
}

void CoupledDynamics::prescribe(FemState& s, int node, int axis, double u, double v,
                                double a) const noexcept {
    assert(node >= 0 && node < impl_->model.num_nodes() && axis >= 0 && axis < 3);
    if (!impl_->constraints.is_prescribed(node, axis)) return;
    if (!(std::isfinite(u) && std::isfinite(v) && std::isfinite(a))) return;
    const int i = 3 * node + axis;
    s.u[i] = u;
    s.v[i] = v;
    s.a[i] = a;
}

void CoupledDynamics::set_acceleration(FemState& s, const ConstRef& f) {
    Impl& d = *impl_;
    d.contact.forget();
    d.last_time = s.time;
    d.system.follow(s.u);
    d.system.follow(s.v);
    Report report;
    d.find_residual(s, s.v, f, f.allFinite(), report);
    d.system.solve_mass(d.a_free);
    if (!d.a_free.allFinite()) d.a_free.setZero();
    d.system.scatter(d.a_free, s.a);
}

CoupledDynamics::Report CoupledDynamics::step(FemState& s, const ConstRef& f, int i,
                                              std::span<const RigidMotion> motions) noexcept {
    Impl& d = *impl_;
    assert(s.u.size() == d.model.num_unknowns() && f.size() == d.model.num_unknowns());
    Report report;
    if (!is_finite(s)) {
        d.put_to_rest(s);
        d.contact.forget();
        d.last_time = s.time;
        report.status = StepStatus::StateReset;
        return report;
    }
    // another state than the one this object has seen last
    if (s.time != d.last_time) d.contact.forget();
    if (i < 0 || i >= d.system.steps().size() || d.contact.refuses(i)) {
        report.status = StepStatus::StepRejected;
        return report;
    }
    const bool has_load = f.allFinite();
    const StepStatus moved = d.contact.move(motions);
    d.before = s;
    try {
        report.status = d.advance(s, f, has_load, i, report);
        if (!is_finite(s)) report.status = StepStatus::StepRejected;
    } catch (const std::bad_alloc&) {
        report.status = StepStatus::StepRejected;
    }
    if (report.status == StepStatus::StepRejected) {
        s = d.before;
        d.contact.undo();
        return report;
    }
    d.last_time = s.time;
    d.contact.commit(i);
    report.num_contacts = static_cast<int>(d.contact.contacts().size());
    if (!has_load || moved != StepStatus::Ok) report.status = StepStatus::InputIgnored;
    return report;
}

Energy CoupledDynamics::energy(const FemState& s) {
    return {.kinetic = impl_->system.kinetic_energy(s.v),
            .elastic = impl_->model.energy(s.u, impl_->model_ws)};
}

}  // namespace pliant
