#include "pliant/fem/fem_body.h"

#include "body/surface_display.h"
#include "body/wind.h"
#include "core/numbers.h"
#include "fem/element_guard.h"
#include "fem/fem_display.h"
#include "fem/rigid_part.h"
#include "fem/rigid_partners.h"
#include "geometry/option_check.h"
#include "pliant/geometry/selection.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

enum Parameter { kStiffness, kDrag, kFriction };
constexpr int kKeptNumbers = 5, kHandedNumbers = 12;
/// Steps that leave the finite numbers in a row before the body starts again.
constexpr int kMaxRejections = 20;
/// Of the stable step that the elements of the present shape allow.
constexpr double kWatchedPart = 0.85;
/// Of that at rest, with and without fast damping.
constexpr double kDampedPart = 0.85, kUndampedPart = 0.7;
/// Inner steps between two looks at the elements: few while their stiffness changes. A change of
/// the smallest det F by more than this part of it asks for one at once.
constexpr int kMostBetweenLooks = 32;
constexpr double kNewDetF = 0.05;
/// An inner step may bring det F down to this, and to half of what it was.
constexpr double kLeastDetF = 0.05;
/// Inner steps are halved down to this part before nodes are slowed.
constexpr double kShortestPart = 1.0 / 4;
/// Times that nodes are slowed for one inner step.
constexpr int kMaxHoldUps = 4;
/// Where St. Venant and Kirchhoff's law under compression is softest: docs/fem.md eq. (M6).
constexpr double kSoftestStretch = 0.57735026918962576;
constexpr int kPaceNumbers = 5;

VolumeMesh moved(VolumeMesh mesh, const Pose& pose) {
    for (Vector3d& x : mesh.vertices) x = pose.to_world(x);
    return mesh;
}

/// The boundary of the mesh on vertices of its own.
struct Boundary {
    SurfaceMesh surface;
    std::vector<int> nodes;
};
Boundary boundary_of(const VolumeMesh& mesh) {
    Boundary boundary;
    std::vector<int> place(mesh.vertices.size(), -1);
    for (Triangle t : boundary_triangles(mesh)) {
        for (int& v : t) {
            int& p = place[static_cast<std::size_t>(v)];
            if (p < 0) {
                p = static_cast<int>(boundary.nodes.size());
                boundary.nodes.push_back(v);
                boundary.surface.vertices.push_back(mesh.vertices[static_cast<std::size_t>(v)]);
            }
            v = p;
        }
        boundary.surface.triangles.push_back(t);
    }
    return boundary;
}

Embedding carried_by(const VolumeMesh& mesh, const SurfaceMesh& surface) {
    if (surface.num_vertices() > 0) return Embedding(mesh, surface.vertices);
    Boundary boundary = boundary_of(mesh);
    std::vector<int> start(boundary.nodes.size() + 1);
    for (std::size_t i = 0; i < start.size(); ++i) start[i] = static_cast<int>(i);
    std::vector<double> weights(boundary.nodes.size(), 1.0);
    return {mesh.num_vertices(), std::move(start), std::move(boundary.nodes), std::move(weights)};
}

Constraints hold(const VolumeMesh& mesh, const std::string& fixed) {
    Constraints constraints(mesh.num_vertices());
    if (!fixed.empty()) constraints.fix(select_some(fixed, mesh.vertices, "fixed"));
    return constraints;
}

/// Of shear waves along the longest side, about the slowest vibration [rad/s].
double slowest_frequency(const FemModel& model) {
    Vector3d low = model.mesh().vertices.front(), high = low;
    for (const Vector3d& x : model.mesh().vertices) {
        low = low.cwiseMin(x);
        high = high.cwiseMax(x);
    }
    double speed = std::numeric_limits<double>::infinity();
    for (const Material& material : model.materials())
        speed = std::min(speed, std::sqrt(material.mu / material.density));
    return 2 * speed / (high - low).maxCoeff();
}

ExplicitOptions damped(const FemBodyOptions& o) {
    check_option(o.damping_ratio >= 0 && o.damping_ratio <= 0.5, "damping_ratio", o.damping_ratio,
                 "0 <= value <= 0.5");
    ExplicitOptions dynamics = o.dynamics;
    if (o.damping_ratio > 0) dynamics.fast_damping = 2 * o.damping_ratio;
    return dynamics;
}

/// Largest speed of a node.
double fastest(const VectorXd& v) {
    double squared = 0;
    for (Eigen::Index i = 0; i < v.size(); i += 3)
        squared = std::max(squared, v.segment<3>(i).squaredNorm());
    return std::sqrt(squared);
}

}  // namespace

struct FemBody::Impl {
    Impl(VolumeMesh mesh_world, std::vector<Material> materials, const SurfaceMesh& surface_world,
         const Constraints& constraints, std::vector<RigidBody*> rigid_bodies,
         const FemBodyOptions& o);

    FemBodyOptions options;
    std::shared_ptr<const FemDisplay> display;
    ExplicitDynamics elements;
    RigidPartners partners;
    SurfaceContact contact;
    FemState state, start_state;
    std::vector<SurfaceContact::Kept> kept;  ///< forces of the last inner step
    ExplicitDynamics::Workspace ws;
    SurfaceContact::Workspace contact_ws;
    mutable ExplicitDynamics::Workspace energy_ws;
    std::vector<Wrench> wrenches;
    VectorXd load;               ///< of the inner step
    VectorXd contact_a;          ///< the part of the accelerations that is of contact
    double last_h = 0;           ///< inner step that solved for it, in the time of (B1); 0: none
    VectorXd u_start;            ///< displacements when the last step began
    VectorXd pending;            ///< loads of the next step
    VectorXd steady;             ///< gravity and wind
    VectorXd wind;               ///< per pressure
    VectorXd inverse_mass;       ///< of each node; zero where held
    Vector3d gravity = Vector3d::Zero();
    double wind_pressure = 0;
    bool has_pending = false;
    double stiffness = 1, drag = 0;
    int num_rejections = 0;
    SmallestDetF smallest_det_F;  ///< of the last step
    Inversions inversions;        ///< since the reset
    bool is_inverted = false;     ///< in this step
    ElementGuard guard;
    RigidPart rigid_part;
    double internal_damping = 0;                   ///< 2ζω [1/s]
    Care care;                                     ///< since the reset
    int num_taken = 0;                             ///< inner steps of the last step
    bool is_held_up = false, is_softened = false;  ///< in this step
    /// How fast the body may go: what the last look found, and when the next one is due.
    struct Pace {
        double stable_dt = 0;                 ///< bound that was seen [s]
        double det_F = 1, det_F_at_look = 1;  ///< the smallest, now and then
        int between_looks = 4, since_look = 0;
        double rate = 1;  ///< time of the body over that of the world in the last inner step
    } pace;

    [[nodiscard]] const ExplicitDynamics& dynamics() const { return elements; }
    [[nodiscard]] FemState& fem() { return state; }
    [[nodiscard]] const FemState& fem() const { return state; }
    /// √s of docs/fem.md eq. (B1).
    [[nodiscard]] double tempo() const { return std::sqrt(stiffness); }
    [[nodiscard]] double longest_step_at_rest() const {
        const double part = options.damping_ratio > 0 ? kDampedPart : kUndampedPart;
        const double limit =
            options.inner_step > 0 ? options.inner_step : part * dynamics().stable_step().dt;
        return limit / tempo();
    }
    [[nodiscard]] double longest_inner_step() const {
        const double at_rest = longest_step_at_rest();
        const double part = std::max(kWatchedPart, at_rest * tempo() / dynamics().stable_step().dt);
        return std::clamp(part * pace.stable_dt / tempo(), 1e-3 * at_rest, at_rest);
    }
    [[nodiscard]] Vector3d carried(int vertex, const VectorXd& x) const {
        const Embedding& e = display->embedding();
        Vector3d sum = Vector3d::Zero();
        for (int k = e.start()[static_cast<std::size_t>(vertex)];
             k < e.start()[static_cast<std::size_t>(vertex) + 1]; ++k)
            sum += e.weights()[static_cast<std::size_t>(k)] *
                   x.segment<3>(3 * Eigen::Index{e.vertices()[static_cast<std::size_t>(k)]});
        return sum;
    }
    void spread(int vertex, const Vector3d& force) {
        const Embedding& e = display->embedding();
        for (int k = e.start()[static_cast<std::size_t>(vertex)];
             k < e.start()[static_cast<std::size_t>(vertex) + 1]; ++k)
            pending.segment<3>(3 * Eigen::Index{e.vertices()[static_cast<std::size_t>(k)]}) +=
                e.weights()[static_cast<std::size_t>(k)] * force;
        has_pending = true;
    }
    /// Σ weight · value(vertex) over the corners of a point, or its vertex.
    template <class Value>
    auto at(const SurfacePoint& p, Value value) const -> decltype(value(0)) {
        if (p.triangle < 0) return value(p.vertex);
        const Triangle& t =
            display->surface_world().triangles[static_cast<std::size_t>(p.triangle)];
        return p.barycentric[0] * value(t[0]) + p.barycentric[1] * value(t[1]) +
               p.barycentric[2] * value(t[2]);
    }
    [[nodiscard]] Vector3d vertex_position(int vertex, const VectorXd& u) const {
        return display->surface_world().vertices[static_cast<std::size_t>(vertex)] +
               carried(vertex, u);
    }
    void set_steady_load();
    void set_stiffness(double factor);
    /// Contact begins anew.
    void forget_contacts() {
        kept.clear();
        contact_a.setZero();
        last_h = 0;
        partners.forget();
        contact.forget(contact_ws);
    }
    void watch();
    /// A part of a step, in parts of it, and the body's own time for it [s].
    struct Part {
        double start, end, own_time;
        bool is_last;
    };
    struct Outcome {
        StepStatus status = StepStatus::Ok;
        bool is_inverting = false;  ///< refused for its det F
    };
    Outcome inner_step(const Part& part, double dt);
    /// Whether the body must begin anew.
    bool start_again(StepStatus& worst);
};

FemBody::Impl::Impl(VolumeMesh mesh_world, std::vector<Material> materials,
                    const SurfaceMesh& surface_world, const Constraints& constraints,
                    std::vector<RigidBody*> rigid_bodies, const FemBodyOptions& o)
    : options(o),
      display(std::make_shared<FemDisplay>(
          mesh_world,
          surface_world.num_vertices() > 0 ? surface_world : boundary_of(mesh_world).surface,
          carried_by(mesh_world, surface_world))),
      elements(FemModel(std::move(mesh_world), std::move(materials), {o.elements}), constraints,
               damped(o)),
      partners(std::move(rigid_bodies)),
      contact(CarriedSurface(display->surface_world(), display->embedding(),
                             elements.model().mesh()),
              partners.obstacles(), o.friction, o.contact_capacity),
      state(elements.make_state()),
      start_state(state),
      kept(contact.make_kept()),
      ws(elements.make_workspace()),
      contact_ws(contact.make_workspace()),
      energy_ws(elements.make_workspace()),
      wrenches(partners.obstacles().size()),
      load(VectorXd::Zero(fem().u.size())),
      contact_a(load),
      u_start(fem().u),
      pending(VectorXd::Zero(fem().u.size())),
      steady(pending),
      wind(pending),
      inverse_mass(VectorXd::Zero(fem().u.size() / 3)),
      guard(dynamics()),
      rigid_part(dynamics()),
      internal_damping(2 * o.damping_ratio * slowest_frequency(dynamics().model())) {
    const auto& [linear, angular] = options.velocity;
    check_option(linear.allFinite() && angular.allFinite(), "velocity", linear.transpose(),
                 "finite numbers");
    if (!linear.isZero(0) || !angular.isZero(0)) {
        if (rigid_part.is_held())
            throw InputError("", "velocity", "that of a held body", "a body that nothing holds");
        rigid_part.set(options.velocity, fem());
    }
    check_option(options.budget >= 1 && options.budget <= 1000, "budget", options.budget,
                 "1 <= value <= 1000");
    check_option(o.friction >= 0 && std::isfinite(o.friction), "friction", o.friction,
                 "0 <= value < infinity");
    check_option(o.contact_capacity >= 0, "contact_capacity", o.contact_capacity, "0 <= value");
    pace.stable_dt = dynamics().stable_step().dt;
    if (options.inner_step != 0) dynamics().check_step(options.inner_step);
    for (Eigen::Index node = 0; node < inverse_mass.size(); ++node) {
        const double mass = dynamics().mass()[3 * node];
        const bool is_held = dynamics().constraints().is_prescribed(static_cast<int>(node), 0) &&
                             dynamics().constraints().is_prescribed(static_cast<int>(node), 1) &&
                             dynamics().constraints().is_prescribed(static_cast<int>(node), 2);
        if (mass > 0 && !is_held) inverse_mass[node] = 1 / mass;
    }
    start_state = state;
}

void FemBody::Impl::set_steady_load() {
    steady = wind_pressure * wind;
    for (Eigen::Index node = 0; node < steady.size() / 3; ++node)
        steady.segment<3>(3 * node) += dynamics().mass()[3 * node] * gravity;
}

/// docs/fem.md eq. (B1): rates of the state are in the time √s t.
void FemBody::Impl::set_stiffness(double factor) {
    const double change = std::sqrt(factor / stiffness);
    fem().v /= change;
    fem().a /= change * change;
    contact_a /= change * change;
    last_h *= change;
    stiffness = factor;
}

/// Looks at the elements when it is time to.
void FemBody::Impl::watch() {
    const bool is_new = !(std::abs(pace.det_F - pace.det_F_at_look) <=
                          kNewDetF * std::max(std::abs(pace.det_F_at_look), kLeastDetF));
    if (!is_new && pace.since_look < pace.between_looks) return;
    const ExplicitDynamics::StretchLook seen = dynamics().look(fem().u, energy_ws);
    const double change = std::abs(std::log(std::max(seen.dt, 1e-300) / pace.stable_dt));
    if (change > 0.05) pace.between_looks = std::max(1, pace.between_looks / 4);
    if (change < 0.01) pace.between_looks = std::min(kMostBetweenLooks, 2 * pace.between_looks);
    pace.stable_dt = std::max(seen.dt, 1e-6 * dynamics().stable_step().dt);
    pace.det_F_at_look = pace.det_F;
    pace.since_look = 0;
    care.stiffening = std::max(care.stiffening, seen.stiffening);
    care.smallest_stvk = std::min(care.smallest_stvk, seen.smallest_stvk);
    is_softened = is_softened || seen.smallest_stvk < kSoftestStretch;
}

/// A part of a step of dt seconds.
FemBody::Impl::Outcome FemBody::Impl::inner_step(const Part& part, double dt) {
    const double share = part.end - part.start;
    // what is shorter than its share by rounding is not slower
    pace.rate = part.own_time < (1 - 1e-9) * share * dt ? part.own_time / (share * dt) : 1;
    const double h = tempo() * part.own_time;
    // impulses of contact are those of the step that solved for them, whatever this one's length
    if (last_h > 0 && last_h != h) fem().v += 0.5 * (last_h - h) * contact_a;
    last_h = h;
    VectorXd& f = load;
    f = steady;
    if (has_pending) f += pending;
    if (drag > 0) f.array() -= drag * tempo() * dynamics().mass().array() * fem().v.array();
    f /= stiffness;
    if (internal_damping > 0) rigid_part.damp(fem(), internal_damping, f);
    elements.predict(state, h, ws);
    const ExplicitReport report = elements.accelerate(state, f, h, ws);
    // a step that is refused or rejected leaves nothing behind
    if (report.smallest_det_F.value < guard.least_det_F(pace.det_F)) {
        elements.abandon(state, ws);
        return {StepStatus::StepRejected, true};
    }
    partners.predict(part.is_last ? 1 : part.end, dt, share * dt, tempo() * pace.rate, stiffness);
    // places go where h took them; the next step may be longer
    const double way = h * fastest(ws.half_v);
    const double longest = dt / std::ceil(dt / longest_inner_step() * (1 - 1e-9));
    const double horizon = std::max(h, tempo() * longest);
    contact_a = ws.a;
    const StepStatus found =
        contact.solve({state.u, ws.half_v, ws.inverse_q, ws.a}, way, partners.motions(),
                      partners.partner_of(), partners.solved(), kept, h, horizon, contact_ws);
    contact_a = ws.a - contact_a;
    if (const StepStatus finished = elements.finish(state, h, ws); finished != StepStatus::Ok)
        return {finished};
    for (Wrench& w : contact_ws.wrenches) w = {stiffness * w.force, stiffness * w.torque};
    partners.accept(contact_ws.wrenches);
    kept.swap(contact_ws.kept);
    for (std::size_t k = 0; k < wrenches.size(); ++k) {
        const Wrench& w = contact_ws.wrenches[k];
        wrenches[k] += Wrench{share * w.force, share * w.torque};
    }
    ++pace.since_look;
    // without any number: as if it were at rest
    pace.det_F = std::min(report.smallest_det_F.value, 1e30);
    if (!(report.smallest_det_F.value >= smallest_det_F.value))
        smallest_det_F = report.smallest_det_F;
    is_inverted = is_inverted || !(report.smallest_det_F.value > 0);
    if (!(report.smallest_det_F.value >= inversions.worst.value))
        inversions.worst = report.smallest_det_F;
    if (pace.rate < 1) care.slowest = std::min(care.slowest, pace.rate);
    return {found != StepStatus::Ok ? found : report.status};
}

FemBody::FemBody(VolumeMesh mesh, std::vector<Material> materials, SurfaceMesh surface,
                 std::vector<RigidBody*> obstacles, const FemBodyOptions& options)
    : Body(surface.num_vertices() > 0 ? surface : boundary_of(mesh).surface) {
    const Constraints constraints = hold(mesh, options.fixed);
    for (Vector3d& x : surface.vertices) x = options.pose.to_world(x);
    impl_ = std::make_unique<Impl>(moved(std::move(mesh), options.pose), std::move(materials),
                                   surface, constraints, std::move(obstacles), options);
}
FemBody::~FemBody() = default;

const FemModel& FemBody::model() const noexcept { return impl_->dynamics().model(); }
const FemState& FemBody::state() const noexcept { return impl_->fem(); }
int FemBody::inner_steps(double dt) const noexcept {
    const double n = std::ceil(dt / impl_->longest_step_at_rest() * (1 - 1e-9));
    return n >= 1 && n < 1e6 ? static_cast<int>(n) : 1;
}
int FemBody::inner_steps_taken() const noexcept { return impl_->num_taken; }
const SmallestDetF& FemBody::smallest_det_F() const noexcept { return impl_->smallest_det_F; }
const FemBody::Inversions& FemBody::inversions() const noexcept { return impl_->inversions; }
const FemBody::Care& FemBody::care() const noexcept { return impl_->care; }
std::span<const FemContact> FemBody::contacts() const noexcept {
    return impl_->contact_ws.contacts;
}
const std::vector<RigidBody*>& FemBody::obstacles() const noexcept {
    return impl_->partners.obstacles();
}
const Wrench& FemBody::wrench(int obstacle) const noexcept {
    return impl_->wrenches[static_cast<std::size_t>(obstacle)];
}
std::shared_ptr<const BodyDisplay> FemBody::display() const { return impl_->display; }

StepStatus FemBody::do_step(double dt) noexcept {
    Impl& b = *impl_;
    std::ranges::fill(b.wrenches, Wrench{});
    if (!(dt > 0 && std::isfinite(dt))) return StepStatus::InputIgnored;
    b.u_start = b.fem().u;
    b.smallest_det_F = {};
    b.is_inverted = b.is_held_up = b.is_softened = false;
    StepStatus worst = StepStatus::Ok;
    b.partners.begin();
    const int most = static_cast<int>(std::ceil(b.options.budget * inner_steps(dt)));
    b.num_taken = 0;
    bool is_slowed = false, is_given_up = false;
    int num_held_up = 0;  // in this inner step
    // equal parts as long as the limit stays; `part_of_limit` after one that was refused
    double t = 0, part_of_limit = 1, held_limit = std::numeric_limits<double>::infinity();
    while (t < 1 && b.num_taken < most && !is_given_up) {
        b.watch();
        const double limit = std::min(held_limit, part_of_limit * b.longest_inner_step());
        const double needed = std::max(1.0, std::ceil((1 - t) * dt / limit * (1 - 1e-9)));
        const double n = std::min(needed, static_cast<double>(most - b.num_taken));
        const double own_time = std::min(limit, (1 - t) * dt / n);
        const Impl::Part part{t, n == 1 ? 1 : t + (1 - t) / n, own_time, n == 1};
        const Impl::Outcome report = b.inner_step(part, dt);
        ++b.num_taken;
        if (report.is_inverting) {
            ++b.care.num_halved;
            b.pace.since_look = b.pace.between_looks;
            // shorter steps are of no use to an element that is there already
            if (part_of_limit > kShortestPart && b.pace.det_F > 2 * kLeastDetF) {
                part_of_limit /= 2;
                continue;
            }
            // slow the nodes for a step of full length; beyond help where that does not do
            part_of_limit = 1;
            held_limit = num_held_up == 0 ? b.longest_inner_step() : own_time;
            is_given_up = ++num_held_up > kMaxHoldUps ||
                          !b.guard.hold_up(b.fem(), b.tempo() * held_limit, b.pace.det_F);
            // which took the accelerations away
            b.contact_a.setZero();
            if (is_given_up) worst = StepStatus::StepRejected;
            b.is_held_up = true;
            continue;
        }
        is_slowed = is_slowed || b.pace.rate < 1;
        t = part.end;
        part_of_limit = 1;
        num_held_up = 0;
        held_limit = std::numeric_limits<double>::infinity();
        if (report.status == StepStatus::Ok) continue;
        if (worst != StepStatus::StateReset) worst = report.status;
        is_given_up = report.status == StepStatus::StepRejected;
    }
    // not one of them was possible
    if (t == 0 && worst == StepStatus::Ok) {
        worst = StepStatus::StepRejected;
        is_given_up = true;
    }
    if (is_given_up && b.start_again(worst)) {
        const Inversions so_far = b.inversions;
        const Care care_so_far = b.care;
        do_reset();
        b.inversions = so_far;
        b.care = care_so_far;
    }
    if (t < 1 && !is_given_up) {
        is_slowed = true;
        b.care.slowest = std::min(b.care.slowest, t);
    }
    if (b.is_inverted) ++b.inversions.num_steps;
    b.care.num_slowed += is_slowed;
    b.care.num_held_up += b.is_held_up;
    b.care.num_softened += b.is_softened;
    if (is_slowed && worst == StepStatus::Ok) worst = StepStatus::CapacityExceeded;
    if (worst != StepStatus::StepRejected) b.num_rejections = 0;
    b.partners.end(b.wrenches, (1 - t) * dt);
    if (b.has_pending) b.pending.setZero();
    b.has_pending = false;
    return worst;
}

/// What is left of the motion made it fail: go on from rest, in the end from the start.
bool FemBody::Impl::start_again(StepStatus& worst) {
    fem().v.setZero();
    fem().a.setZero();
    forget_contacts();
    if (++num_rejections < kMaxRejections) return false;
    worst = StepStatus::StateReset;
    return true;
}

void FemBody::do_reset() noexcept {
    Impl& b = *impl_;
    b.state = b.start_state;
    b.forget_contacts();
    b.u_start = b.fem().u;
    b.pending.setZero();
    b.has_pending = false;
    b.num_rejections = 0;
    b.smallest_det_F = {};
    b.inversions = {};
    b.care = {};
    b.num_taken = 0;
    ExplicitDynamics::forget(b.ws);
    b.pace = {.stable_dt = b.dynamics().stable_step().dt};
    std::ranges::fill(b.wrenches, Wrench{});
}

void FemBody::add_force(const SurfacePoint& point, const Vector3d& force) noexcept {
    if (!is_valid(point) || !force.allFinite()) return;
    if (point.triangle < 0) return impl_->spread(point.vertex, force);
    const Triangle& t = surface().triangles[static_cast<std::size_t>(point.triangle)];
    for (std::size_t k = 0; k < 3; ++k)
        impl_->spread(t[k], point.barycentric[static_cast<Eigen::Index>(k)] * force);
}

void FemBody::set_gravity(const Vector3d& acceleration) noexcept {
    if (!acceleration.allFinite()) return;
    impl_->gravity = acceleration;
    impl_->set_steady_load();
}

void FemBody::set_wind_direction(const Vector3d& direction) {
    const std::vector<Vector3d> forces = wind_forces(impl_->display->surface_world(), direction);
    impl_->wind.setZero();
    impl_->display->embedding().transfer_transposed(
        {forces.data()->data(), 3 * forces.size()},
        {impl_->wind.data(), static_cast<std::size_t>(impl_->wind.size())});
    impl_->set_steady_load();
}

void FemBody::set_wind_pressure(double pressure) noexcept {
    if (!std::isfinite(pressure) || pressure == impl_->wind_pressure) return;
    impl_->wind_pressure = pressure;
    impl_->set_steady_load();
}

Vector3d FemBody::position(const SurfacePoint& point, TickMoment moment) const noexcept {
    if (!is_valid(point)) return Vector3d::Zero();
    const VectorXd& u = moment == TickMoment::Start ? impl_->u_start : impl_->fem().u;
    return impl_->at(point, [&](int v) { return impl_->vertex_position(v, u); });
}

Vector3d FemBody::velocity(const SurfacePoint& point) const noexcept {
    if (!is_valid(point)) return Vector3d::Zero();
    return impl_->tempo() *
           impl_->at(point, [&](int v) { return impl_->carried(v, impl_->fem().v); });
}

Vector3d FemBody::normal(const SurfacePoint& point) const noexcept {
    if (!is_valid(point)) return Vector3d::Zero();
    const int triangle = triangle_of(point);
    if (triangle < 0) return Vector3d::Zero();
    const Triangle& t = surface().triangles[static_cast<std::size_t>(triangle)];
    const VectorXd& u = impl_->fem().u;
    const Vector3d x = impl_->vertex_position(t[0], u);
    const Vector3d n =
        (impl_->vertex_position(t[1], u) - x).cross(impl_->vertex_position(t[2], u) - x);
    const double length = n.norm();
    return length > 0 && std::isfinite(length) ? Vector3d(n / length) : Vector3d::Zero();
}

double FemBody::mobility(const SurfacePoint& point) const noexcept {
    if (!is_valid(point)) return 0;
    const Embedding& e = impl_->display->embedding();
    // of a point in a triangle: at most the mean of the corners, since squares are convex
    return impl_->at(point, [&](int v) {
        double sum = 0;
        for (int k = e.start()[static_cast<std::size_t>(v)];
             k < e.start()[static_cast<std::size_t>(v) + 1]; ++k) {
            const double w = e.weights()[static_cast<std::size_t>(k)];
            sum += w * w * impl_->inverse_mass[e.vertices()[static_cast<std::size_t>(k)]];
        }
        return sum;
    });
}

Energy FemBody::energy() const noexcept {
    const Energy e = impl_->dynamics().energy(impl_->fem(), impl_->energy_ws);
    return {impl_->stiffness * e.kinetic, impl_->stiffness * e.elastic};
}

std::vector<LiveParameter> FemBody::parameters() const {
    return {{.name = "stiffness",
             .label = "Stiffness",
             .unit = "",
             .help = "Factor of the elastic forces; damping ratios stay. Stiffer costs more inner "
                     "steps.",
             .value = 1,
             .low = 0.1,
             .high = 4,
             .is_logarithmic = true},
            {.name = "drag",
             .label = "Drag",
             .unit = "1/s",
             .help = "Slows all motion, as a viscous medium does; any value is safe.",
             .value = 0,
             .low = 0,
             .high = 20},
            {.name = "friction",
             .label = "Friction",
             .unit = "",
             .help = "Coulomb's coefficient against rigid bodies.",
             .value = impl_->options.friction,
             .low = 0,
             .high = 2}};
}

void FemBody::set_parameter(int index, double value) noexcept {
    if (!std::isfinite(value)) return;
    switch (index) {
        case kStiffness: return impl_->set_stiffness(std::clamp(value, 0.1, 4.0));
        case kDrag: impl_->drag = std::clamp(value, 0.0, 20.0); return;
        case kFriction: return impl_->contact.set_friction(std::clamp(value, 0.0, 2.0));
        default: return;
    }
}

// A state: stiffness, time, pace, displacements, rates; forces of contact, and what rigid bodies got.

int FemBody::state_size() const noexcept {
    // of what never changes: other threads ask while vectors of the state trade places
    return 6 + kPaceNumbers + 4 * model().num_unknowns() + kKeptNumbers * impl_->contact.capacity() +
           kHandedNumbers * static_cast<int>(obstacles().size());
}

void FemBody::save_state(std::span<double> state) const noexcept {
    if (state.size() != at(state_size())) return;
    const Impl& b = *impl_;
    const FemState& s = b.fem();
    double* place = state.data();
    for (const double number :
         {b.stiffness, s.time, static_cast<double>(b.num_rejections),
          static_cast<double>(b.kept.size()), b.last_h, b.partners.last_step(),
          b.pace.stable_dt, b.pace.det_F, b.pace.det_F_at_look,
          static_cast<double>(b.pace.between_looks), static_cast<double>(b.pace.since_look)})
        *place++ = number;
    for (const VectorXd* x : {&s.u, &s.v, &s.a, &b.contact_a}) {
        Eigen::Map<VectorXd>(place, x->size()) = *x;
        place += x->size();
    }
    for (std::size_t k = 0; k < at(b.contact.capacity()); ++k) {
        const SurfaceContact::Kept kept =
            k < b.kept.size() ? b.kept[k] : SurfaceContact::Kept{};
        Eigen::Map<Eigen::Matrix<double, kKeptNumbers, 1>>(place)
            << kept.obstacle, kept.index, kept.force;
        place += kKeptNumbers;
    }
    for (const auto& [expected, last] : b.partners.handed()) {
        Eigen::Map<Eigen::Matrix<double, kHandedNumbers, 1>>(place)
            << expected.force, expected.torque, last.force, last.torque;
        place += kHandedNumbers;
    }
}

bool FemBody::restore_state(std::span<const double> state) noexcept {
    if (state.size() != at(state_size())) return false;
    if (!std::ranges::all_of(state, [](double x) { return std::isfinite(x); })) return false;
    Impl& b = *impl_;
    const double saved_stiffness = state[0], num_kept = state[3];
    if (!(saved_stiffness > 0)) return false;
    if (!(num_kept >= 0 && num_kept <= b.contact.capacity())) return false;
    const double factor = b.stiffness;
    b.fem().time = state[1];
    b.num_rejections = static_cast<int>(std::clamp(state[2], 0.0, double{kMaxRejections}));
    b.forget_contacts();
    b.last_h = std::max(0.0, state[4]);
    b.partners.set_last_step(std::max(0.0, state[5]));
    const double* place = state.data() + 6;
    b.pace = {
        .stable_dt = std::clamp(place[0], 0.0, b.dynamics().stable_step().dt),
        .det_F = place[1],
        .det_F_at_look = place[2],
        .between_looks = static_cast<int>(std::clamp(place[3], 1.0, double{kMostBetweenLooks})),
        .since_look = static_cast<int>(std::clamp(place[4], 0.0, double{kMostBetweenLooks})),
        .rate = 1};
    place += kPaceNumbers;
    for (VectorXd* x : {&b.fem().u, &b.fem().v, &b.fem().a, &b.contact_a}) {
        *x = Eigen::Map<const VectorXd>(place, x->size());
        place += x->size();
    }
    const auto vector = [&](int i) { return Vector3d(place[i], place[i + 1], place[i + 2]); };
    const auto index = [](double x) {
        return std::abs(x) < 1e9 ? static_cast<std::int32_t>(x) : -1;
    };
    for (int k = 0; k < b.contact.capacity(); ++k, place += kKeptNumbers)
        if (k < num_kept) b.kept.push_back({index(place[0]), index(place[1]), vector(2)});
    for (RigidPartners::Handed& handed : b.partners.handed()) {
        handed = {{vector(0), vector(3)}, {vector(6), vector(9)}};
        place += kHandedNumbers;
    }
    b.stiffness = saved_stiffness;
    if (factor != saved_stiffness) b.set_stiffness(factor);
    b.u_start = b.fem().u;
    ExplicitDynamics::forget(b.ws);
    return true;
}

void FemBody::write_display(std::span<float> state) const noexcept {
    if (state.size() != static_cast<std::size_t>(impl_->display->state_size())) return;
    write_pose(impl_->options.pose, state);
    Eigen::Map<Eigen::VectorXf>(state.data() + kPoseFloats, impl_->fem().u.size()) =
        impl_->fem().u.cast<float>();
}

}  // namespace pliant
