#include "pliant/fem/explicit_dynamics.h"

#include "fem/element_eigenvalue.h"
#include "fem/node_kernels.h"
#include "fem/stretch_watch.h"
#include "geometry/option_check.h"
#include "pliant/core/parallel.h"
#include "pliant/fem/free_system.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <sstream>

namespace pliant {
namespace {

using Eigen::VectorXd;

/// Unknowns of one task: enough that threads pay, and all its arrays fit the second-level cache.
constexpr std::size_t kStepGrain = 12288;
/// Hanging nodes or masters of one task.
constexpr std::size_t kHangingGrain = 1024;

std::size_t size_of(const VectorXd& x) { return static_cast<std::size_t>(x.size()); }

Eigen::Map<Eigen::Vector3d> at_node(double* x, int node) {
    return Eigen::Map<Eigen::Vector3d>(x + 3 * static_cast<std::size_t>(node));
}
Eigen::Map<const Eigen::Vector3d> at_node(const double* x, int node) {
    return Eigen::Map<const Eigen::Vector3d>(x + 3 * static_cast<std::size_t>(node));
}

/// Hands what hanging nodes have to their masters, or drops it.
void take_from_hanging(const VolumeMesh& mesh, HangingMode mode, VectorXd& x) {
    for (const HangingNode& h : mesh.hanging) {
        if (mode == HangingMode::Fold)
            for (int m = 0; m < h.num_masters; ++m)
                at_node(x.data(), h.masters[m]) += h.weight * at_node(x.data(), h.vertex);
        at_node(x.data(), h.vertex).setZero();
    }
}

std::string text_of(double value) {
    std::ostringstream text;
    text << value;
    return text.str();
}

}  // namespace

ExplicitDynamics::ExplicitDynamics(FemModel model, Constraints constraints,
                                   const ExplicitOptions& options)
    : model_(std::move(model)), constraints_(std::move(constraints)), options_(options) {
    check_damping(options_.damping);
    check_option(std::isfinite(options_.collapse_limit), "collapse_limit", options_.collapse_limit,
                 "a finite value");
    check_option(options_.fast_damping >= 0 && options_.fast_damping <= 1, "fast_damping",
                 options_.fast_damping, "0 <= value <= 1");
    (void)FreeSystem(model_, constraints_);  // refuses conditions on hanging nodes alone

    const VolumeMesh& mesh = model_.mesh();
    mass_ = lumped_mass(model_, options_.lumping);
    drag_ = lumped_drag(model_, options_.lumping) + options_.damping.mass * mass_;
    take_from_hanging(mesh, options_.hanging, mass_);
    take_from_hanging(mesh, options_.hanging, drag_);
    has_drag_ = drag_.any();

    std::vector<char> is_hanging(mesh.vertices.size(), 0);
    for (const HangingNode& h : mesh.hanging) is_hanging[h.vertex] = 1;
    for (int node = 0; node < mesh.num_vertices(); ++node)
        for (int axis = 0; axis < 3; ++axis)
            if (!is_hanging[node] && constraints_.is_prescribed(node, axis))
                prescribed_.push_back(3 * node + axis);

    if (options_.hanging == HangingMode::Fold) list_children();

    stable_step_ = element_stable_step(model_, options_.lumping);
    elastic_step_ = stable_step_.dt;
    smoothing_ = options_.fast_damping * elastic_step_;
    if (options_.damping.has_stiffness_part())
        viscous_rate_ = largest_viscous_eigenvalue(model_, options_.damping, options_.lumping);
    stable_step_.dt = damped(elastic_step_, viscous_rate_);
    watch_ = std::make_shared<const StretchWatch>(model_, options_.lumping,
                                                  4 / (elastic_step_ * elastic_step_));
}

/// A step without damping, with it: ζ = c / 2ω with ω = 2/dt and c the largest eigenvalue of M⁻¹D,
/// eq. (T15).
double ExplicitDynamics::damped(double dt, double viscous_rate) const noexcept {
    if (!options_.damping.has_stiffness_part() && smoothing_ == 0) return dt;
    const double c = (options_.damping.stiffness + smoothing_) * 4 / (dt * dt) + viscous_rate;
    return StepEstimator::with_damping(dt, c * dt / 4);
}

ExplicitDynamics::StretchLook ExplicitDynamics::look(const ConstRef& u,
                                                     Workspace& ws) const noexcept {
    const StretchWatch::Look seen = watch_->look(model_, u, ws.looks);
    StretchLook look{0, seen.stiffening, seen.smallest_stvk};
    if (std::isfinite(seen.stiffening) && std::isfinite(seen.largest_square))
        look.dt =
            damped(elastic_step_ / std::sqrt(seen.stiffening), viscous_rate_ * seen.largest_square);
    return look;
}

void ExplicitDynamics::list_children() {
    const VolumeMesh& mesh = model_.mesh();
    std::vector<int> count(mesh.vertices.size(), 0), next(mesh.vertices.size(), 0);
    for (const HangingNode& h : mesh.hanging)
        for (int m = 0; m < h.num_masters; ++m) ++count[h.masters[m]];
    child_offsets_.push_back(0);
    for (int node = 0; node < mesh.num_vertices(); ++node) {
        if (count[node] == 0) continue;
        next[node] = child_offsets_.back();
        masters_.push_back(node);
        child_offsets_.push_back(child_offsets_.back() + count[node]);
    }
    children_.resize(static_cast<std::size_t>(child_offsets_.back()));
    for (const HangingNode& h : mesh.hanging)
        for (int m = 0; m < h.num_masters; ++m)
            children_[next[h.masters[m]]++] = {h.vertex, h.weight};
}

void ExplicitDynamics::check_step(double dt) const {
    if (!(dt > 0 && dt <= stable_step_.dt))
        throw InputError("", "dt", text_of(dt),
                         "0 < dt <= " + text_of(stable_step_.dt) +
                             " s, the stability limit of element " +
                             std::to_string(stable_step_.element));
}

FemState ExplicitDynamics::make_state() const {
    const VectorXd zero = VectorXd::Zero(model_.num_unknowns());
    FemState s{zero, zero, zero};
    put_to_rest(s);
    return s;
}

ExplicitDynamics::Workspace ExplicitDynamics::make_workspace() const {
    const int n = model_.num_unknowns();
    const int n_damping = options_.damping.has_stiffness_part() ? n : 0;
    Workspace ws;
    ws.model = model_.make_workspace();
    for (VectorXd* x : {&ws.R, &ws.half_v, &ws.a, &ws.inverse_q, &ws.u_before}) x->setZero(n);
    for (VectorXd* x : {&ws.damping_force, &ws.scratch}) x->setZero(n_damping);
    for (VectorXd* x : {&ws.R_before, &ws.R_after}) x->setZero(smoothing_ > 0 ? n : 0);
    ws.reactions.setZero(std::ssize(prescribed_));
    ws.sums.resize(detail::num_ranges(static_cast<std::size_t>(n), kStepGrain));
    ws.looks = watch_->make_workspace();
    return ws;
}

void ExplicitDynamics::put_to_rest(FemState& s) const noexcept {
    s.u.setZero();
    s.v.setZero();
    s.a.setZero();
    for (const int i : prescribed_) s.u[i] = constraints_.displacements()[i];
    follow_masters(s.u);
}

void ExplicitDynamics::set_acceleration(FemState& s, const ConstRef& f,
                                        Workspace& ws) const noexcept {
    follow_masters(s.u);
    follow_masters(s.v);
    set_inverse_q(0, ws);
    (void)accelerate_at(s, s.v, f, 0, ws);
    follow_masters(ws.a);
    if (ws.a.allFinite())
        s.a = ws.a;
    else
        s.a.setZero();
}

void ExplicitDynamics::prescribe(FemState& s, int node, int axis, double u, double v,
                                 double a) const noexcept {
    assert(node >= 0 && node < model_.num_nodes() && axis >= 0 && axis < 3);
    if (!constraints_.is_prescribed(node, axis)) return;
    if (!(std::isfinite(u) && std::isfinite(v) && std::isfinite(a))) return;
    const int i = 3 * node + axis;
    s.u[i] = u;
    s.v[i] = v;
    s.a[i] = a;
}

ExplicitReport ExplicitDynamics::step(FemState& s, const ConstRef& f, double dt,
                                      Workspace& ws) const noexcept {
    if (!(dt > 0 && std::isfinite(dt)))
        return {.status = StepStatus::InputIgnored, .smallest_det_F = {}};
    predict(s, dt, ws);
    ExplicitReport report = accelerate(s, f, dt, ws);
    if (const StepStatus status = finish(s, dt, ws); status != StepStatus::Ok)
        report.status = status;
    return report;
}

void ExplicitDynamics::predict(FemState& s, double dt, Workspace& ws) const noexcept {
    assert(s.u.size() == model_.num_unknowns() && ws.R.size() == model_.num_unknowns());
    set_inverse_q(dt, ws);
    // eq. (T1), into the other array of u
    parallel_ranges(size_of(s.u), kStepGrain, [&](std::size_t begin, std::size_t end) {
        predict_unknowns(end - begin, dt, s.u.data() + begin, s.v.data() + begin,
                         s.a.data() + begin, ws.half_v.data() + begin, ws.u_before.data() + begin);
    });
    s.u.swap(ws.u_before);
    ws.time_before = s.time;
    // prescribed unknowns are at the end of the step already
    for (const int i : prescribed_) {
        s.u[i] = ws.u_before[i];
        ws.half_v[i] = s.v[i] - 0.5 * dt * s.a[i];
    }
    follow_masters(s.u);
    follow_masters(ws.half_v);
}

ExplicitReport ExplicitDynamics::accelerate(const FemState& s, const ConstRef& f, double dt,
                                            Workspace& ws) const noexcept {
    return accelerate_at(s, ws.half_v, f, dt, ws);
}

ExplicitReport ExplicitDynamics::accelerate_at(const FemState& s, const VectorXd& h,
                                               const ConstRef& f, double dt,
                                               Workspace& ws) const noexcept {
    assert(f.size() == model_.num_unknowns());
    ExplicitReport report;
    report.smallest_det_F = model_.internal_force(s.u, ws.R, ws.model, options_.precision);
    report.is_collapsing = !(report.smallest_det_F.value >= options_.collapse_limit);
    if (smoothing_ > 0 && dt > 0) add_fast_damping(dt, ws);
    const bool has_damping_force = ws.damping_force.size() > 0;
    const bool knows_last_forces = ws.time_of_forces == s.time;
    double stiffness_damping_power = 0;
    if (has_damping_force) {
        // the mean of the forces at both ends of the step, eq. (T16)
        const double last_power = ws.damping_force.dot(h);
        ws.damping_force.setZero();
        add_stiffness_damping(model_, options_.damping, s.u, h, ws.scratch, ws.damping_force);
        const double power = ws.damping_force.dot(h);
        stiffness_damping_power = knows_last_forces ? 0.5 * (last_power + power) : power;
    }
    fold_to_masters(f, ws);

    // eq. (T2)
    const AccelerationArrays arrays{
        .load = f.data(),
        .internal_force = ws.R.data(),
        .damping_force = has_damping_force ? ws.damping_force.data() : nullptr,
        .drag = has_drag_ ? drag_.data() : nullptr,
        .inverse_q = ws.inverse_q.data(),
        .h = h.data(),
        .a = ws.a.data()};
    parallel_ranges(size_of(ws.a), kStepGrain, [&](std::size_t begin, std::size_t end) {
        const Powers powers = accelerate_unknowns(arrays, begin, end);
        ws.sums[begin / kStepGrain] = {powers.load, powers.drag};
    });
    Powers powers{};
    for (const auto& [load, drag] : ws.sums) {
        powers.load += load;
        powers.drag += drag;
    }
    // a load that is not finite shows in its power: once more with zeros, in the place of a
    if (!std::isfinite(powers.load) && !f.allFinite()) {
        ws.a.setZero();
        ws.time_of_forces = std::numeric_limits<double>::quiet_NaN();
        report = accelerate_at(s, h, ws.a, dt, ws);
        report.status = StepStatus::InputIgnored;
        return report;
    }
    const double reactions = reaction_power(s, h, f, knows_last_forces, ws);
    ws.work = {.external_work = dt * (powers.load + reactions),
               .damping_work = dt * (powers.drag + stiffness_damping_power)};
    ws.time_of_forces = s.time + dt;

    for (const int i : prescribed_) ws.a[i] = s.a[i];
    return report;
}

/// eq. (T18). After predict() the old displacements are in the workspace.
void ExplicitDynamics::add_fast_damping(double dt, Workspace& ws) const noexcept {
    if (!ws.knows_R)
        (void)model_.internal_force(ws.u_before, ws.R_before, ws.model, options_.precision);
    ws.knows_R = true;
    const double factor = smoothing_ / dt;
    parallel_ranges(size_of(ws.R), kStepGrain, [&](std::size_t begin, std::size_t end) {
        const auto first = static_cast<Eigen::Index>(begin);
        const auto count = static_cast<Eigen::Index>(end - begin);
        auto R = ws.R.segment(first, count);
        ws.R_after.segment(first, count) = R;
        R += factor * (R - ws.R_before.segment(first, count));
    });
}

double ExplicitDynamics::reaction_power(const FemState& s, const VectorXd& h, const ConstRef& f,
                                        bool knows_last_forces, Workspace& ws) const noexcept {
    double power = 0;
    for (std::size_t k = 0; k < prescribed_.size(); ++k) {
        const int i = prescribed_[k];
        double reaction = mass_[i] * s.a[i] + drag_[i] * s.v[i] + ws.R[i] - f[i];
        if (ws.damping_force.size() > 0) reaction += ws.damping_force[i];
        double& stored = ws.reactions[static_cast<Eigen::Index>(k)];
        power += (knows_last_forces ? 0.5 * (stored + reaction) : reaction) * h[i];
        stored = reaction;
    }
    return power;
}

StepStatus ExplicitDynamics::finish(FemState& s, double dt, Workspace& ws) const noexcept {
    // eq. (T3), in the place of h
    parallel_ranges(size_of(ws.a), kStepGrain, [&](std::size_t begin, std::size_t end) {
        ws.sums[begin / kStepGrain][0] =
            finish_unknowns(end - begin, dt, ws.a.data() + begin, ws.half_v.data() + begin);
    });
    for (const int i : prescribed_) ws.half_v[i] = s.v[i];
    follow_masters(ws.half_v);
    follow_masters(ws.a);
    s.v.swap(ws.half_v);
    s.a.swap(ws.a);
    ws.R_before.swap(ws.R_after);
    s.time += dt;

    double finite_sum = 0;
    for (const auto& sums : ws.sums) finite_sum += sums[0];
    if (finite_sum == 0) return StepStatus::Ok;
    undo(s, ws);
    if (s.u.allFinite() && s.v.allFinite() && s.a.allFinite()) return StepStatus::StepRejected;
    put_to_rest(s);
    return StepStatus::StateReset;
}

void ExplicitDynamics::undo(FemState& s, Workspace& ws) const noexcept {
    s.u.swap(ws.u_before);
    s.v.swap(ws.half_v);
    s.a.swap(ws.a);
    ws.R_before.swap(ws.R_after);
    s.time = ws.time_before;
    ws.work = {};
}

void ExplicitDynamics::abandon(FemState& s, Workspace& ws) const noexcept {
    s.u.swap(ws.u_before);
    ws.time_of_forces = std::numeric_limits<double>::quiet_NaN();
    ws.work = {};
}

void ExplicitDynamics::set_inverse_q(double dt, Workspace& ws) const noexcept {
    if (ws.dt_of_q == dt || (ws.dt_of_q >= 0 && !has_drag_)) return;
    ws.dt_of_q = dt;
    for (Eigen::Index i = 0; i < mass_.size(); ++i) {
        const double q = mass_[i] + 0.5 * dt * drag_[i];
        ws.inverse_q[i] = q > 0 ? 1 / q : 0;
    }
    for (const int i : prescribed_) ws.inverse_q[i] = 0;
}

void ExplicitDynamics::follow_masters(VectorXd& x) const noexcept {
    const std::vector<HangingNode>& hanging = model_.mesh().hanging;
    parallel_ranges(hanging.size(), kHangingGrain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) {
            const HangingNode& h = hanging[k];
            Eigen::Vector3d sum = Eigen::Vector3d::Zero();
            for (int m = 0; m < h.num_masters; ++m) sum += at_node(x.data(), h.masters[m]);
            at_node(x.data(), h.vertex) = h.weight * sum;
        }
    });
}

void ExplicitDynamics::fold_to_masters(const ConstRef& f, Workspace& ws) const noexcept {
    const bool has_damping_force = ws.damping_force.size() > 0;
    parallel_ranges(masters_.size(), kHangingGrain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k)
            for (int c = child_offsets_[k]; c < child_offsets_[k + 1]; ++c) {
                const auto [node, weight] = children_[c];
                Eigen::Vector3d carried = at_node(ws.R.data(), node) - at_node(f.data(), node);
                if (has_damping_force) carried += at_node(ws.damping_force.data(), node);
                at_node(ws.R.data(), masters_[k]) += weight * carried;
            }
    });
}

Energy ExplicitDynamics::energy(const FemState& s, Workspace& ws) const {
    return {.kinetic = 0.5 * (mass_.array() * s.v.array().square()).sum(),
            .elastic = model_.energy(s.u, ws.model)};
}

Momentum ExplicitDynamics::momentum(const FemState& s) const noexcept {
    Momentum sum;
    for (int node = 0; node < model_.num_nodes(); ++node) {
        const Eigen::Vector3d p =
            at_node(mass_.data(), node).cwiseProduct(at_node(s.v.data(), node));
        const Eigen::Vector3d x = model_.mesh().vertices[node] + at_node(s.u.data(), node);
        sum.linear += p;
        sum.angular += x.cross(p);
    }
    return sum;
}

}  // namespace pliant
