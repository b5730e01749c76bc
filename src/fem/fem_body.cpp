#include "pliant/fem/fem_body.h"

#include "body/surface_display.h"
#include "body/wind.h"
#include "fem/fem_display.h"
#include "geometry/option_check.h"
#include "pliant/geometry/selection.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using Touch = ExplicitScene::Touch;

enum Parameter { kStiffness, kDrag, kFriction };
constexpr int kMotionNumbers = 19, kTouchNumbers = 4;
/// Steps that leave the finite numbers in a row before the body starts again.
constexpr int kMaxRejections = 20;

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

/// Along the smooth path between the motions at the ends of a step: cubic in position and in the
/// rotation vector, whose rate is taken for the angular velocity (turns of a step are small).
RigidMotion between(const RigidMotion& start, const RigidMotion& end, double t, double dt) {
    const double h00 = (1 + 2 * t) * (1 - t) * (1 - t), h10 = t * (1 - t) * (1 - t);
    const double h11 = t * t * (t - 1);
    const double d00 = 6 * t * (t - 1) / dt, d10 = (1 - t) * (1 - 3 * t), d11 = t * (3 * t - 2);
    const double c00 = (12 * t - 6) / (dt * dt), c10 = (6 * t - 4) / dt, c11 = (6 * t - 2) / dt;
    const Vector3d turn = rotation_difference(start.pose.rotation, end.pose.rotation);
    const auto blend = [&](double a, double b, double c, const Vector3d& step, const Vector3d& v0,
                           const Vector3d& v1) -> Vector3d { return a * step + b * v0 + c * v1; };
    const Vector3d step = end.pose.position - start.pose.position;
    const auto& [v0, w0] = start.velocity;
    const auto& [v1, w1] = end.velocity;
    RigidMotion m;
    m.pose.position = start.pose.position + blend(1 - h00, dt * h10, dt * h11, step, v0, v1);
    m.pose.rotation = rotation_from_vector(blend(1 - h00, dt * h10, dt * h11, turn, w0, w1)) *
                      start.pose.rotation;
    m.velocity = {blend(-d00, d10, d11, step, v0, v1), blend(-d00, d10, d11, turn, w0, w1)};
    m.acceleration = {blend(-c00, c10, c11, step, v0, v1), blend(-c00, c10, c11, turn, w0, w1)};
    return m;
}

/// Rates in a time that runs `factor` times as fast.
RigidMotion in_time(RigidMotion motion, double factor) {
    motion.velocity.linear /= factor;
    motion.velocity.angular /= factor;
    motion.acceleration.linear /= factor * factor;
    motion.acceleration.angular /= factor * factor;
    return motion;
}

void put(const RigidMotion& m, double* at) {
    Eigen::Map<Eigen::Matrix<double, kMotionNumbers, 1>>(at) << m.pose.position,
        m.pose.rotation.w(), m.pose.rotation.x(), m.pose.rotation.y(), m.pose.rotation.z(),
        m.velocity.linear, m.velocity.angular, m.acceleration.linear, m.acceleration.angular;
}
RigidMotion get(const double* at) {
    const auto vector = [at](int i) { return Vector3d(at[i], at[i + 1], at[i + 2]); };
    return {{vector(0), Quaternion(at[3], at[4], at[5], at[6])},
            {vector(7), vector(10)},
            {vector(13), vector(16)}};
}

}  // namespace

struct FemBody::Impl {
    Impl(VolumeMesh mesh_world, std::vector<Material> materials, const SurfaceMesh& surface_world,
         const Constraints& constraints, std::vector<RigidBody*> rigid_bodies,
         const FemBodyOptions& o);

    FemBodyOptions options;
    std::vector<RigidBody*> obstacles;
    std::shared_ptr<const FemDisplay> display;
    ExplicitScene scene;
    ExplicitScene::State state, start_state;
    mutable ExplicitScene::Workspace ws;
    mutable ExplicitDynamics::Workspace energy_ws;
    std::vector<RigidMotion> motions;  ///< of the obstacles in an inner step
    std::vector<Wrench> wrenches;
    std::vector<VectorXd> load;  ///< of the inner step; one body
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

    [[nodiscard]] const ExplicitDynamics& dynamics() const { return scene.bodies()[0]; }
    [[nodiscard]] FemState& fem() { return state.bodies[0]; }
    [[nodiscard]] const FemState& fem() const { return state.bodies[0]; }
    /// √s of docs/fem.md eq. (B1).
    [[nodiscard]] double tempo() const { return std::sqrt(stiffness); }
    [[nodiscard]] double longest_inner_step() const {
        const double limit =
            options.inner_step > 0 ? options.inner_step : 0.7 * dynamics().stable_step().dt;
        return limit / tempo();
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
    /// Contacts of another step length or stiffness are found anew.
    void forget_contacts() {
        for (auto& touches : state.touches) std::ranges::fill(touches, Touch{});
        state.has_captured = false;
    }
    StepStatus inner_step(int i, int n, double dt);
};

FemBody::Impl::Impl(VolumeMesh mesh_world, std::vector<Material> materials,
                    const SurfaceMesh& surface_world, const Constraints& constraints,
                    std::vector<RigidBody*> rigid_bodies, const FemBodyOptions& o)
    : options(o),
      obstacles(std::move(rigid_bodies)),
      display(std::make_shared<FemDisplay>(
          mesh_world,
          surface_world.num_vertices() > 0 ? surface_world : boundary_of(mesh_world).surface,
          carried_by(mesh_world, surface_world))),
      scene(
          [&] {
              std::vector<ExplicitDynamics> bodies;
              bodies.emplace_back(
                  FemModel(std::move(mesh_world), std::move(materials), {o.elements}), constraints,
                  o.dynamics);
              return bodies;
          }(),
          [&] {
              std::vector<RigidShape> shapes;
              for (const RigidBody* body : obstacles) shapes.push_back(body->shape());
              return shapes;
          }(),
          o.contact),
      state(scene.make_state()),
      ws(scene.make_workspace()),
      energy_ws(dynamics().make_workspace()),
      motions(obstacles.size()),
      wrenches(obstacles.size()),
      load(1, VectorXd::Zero(fem().u.size())),
      u_start(fem().u),
      pending(VectorXd::Zero(fem().u.size())),
      steady(pending),
      wind(pending),
      inverse_mass(VectorXd::Zero(fem().u.size() / 3)) {
    if (options.inner_step != 0) dynamics().check_step(options.inner_step);
    for (Eigen::Index node = 0; node < inverse_mass.size(); ++node) {
        const double mass = dynamics().mass()[3 * node];
        const bool is_held = dynamics().constraints().is_prescribed(static_cast<int>(node), 0) &&
                             dynamics().constraints().is_prescribed(static_cast<int>(node), 1) &&
                             dynamics().constraints().is_prescribed(static_cast<int>(node), 2);
        if (mass > 0 && !is_held) inverse_mass[node] = 1 / mass;
    }
    for (std::size_t i = 0; i < obstacles.size(); ++i) state.obstacles[i] = obstacles[i]->motion();
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
    for (RigidMotion& motion : state.obstacles) motion = in_time(motion, change);
    stiffness = factor;
    forget_contacts();
}

/// The i-th of n equal parts of a step of dt seconds.
StepStatus FemBody::Impl::inner_step(int i, int n, double dt) {
    const double t = static_cast<double>(i + 1) / n;
    for (std::size_t k = 0; k < obstacles.size(); ++k) {
        const RigidMotion& end = obstacles[k]->motion(TickMoment::End);
        motions[k] =
            in_time(i + 1 == n ? end : between(obstacles[k]->motion(TickMoment::Start), end, t, dt),
                    tempo());
    }
    VectorXd& f = load[0];
    f = steady;
    if (has_pending) f += pending;
    if (drag > 0) f.array() -= drag * tempo() * dynamics().mass().array() * fem().v.array();
    f /= stiffness;
    const double h = tempo() * dt / n;
    if (state.has_captured && std::abs(h - state.last_dt) > 1e-9 * h) forget_contacts();
    const ExplicitScene::Report report = scene.step(state, load, motions, h, ws);
    for (std::size_t k = 0; k < obstacles.size(); ++k) {
        const Wrench& w = ws.wrench(static_cast<int>(k));
        wrenches[k] += Wrench{stiffness / n * w.force, stiffness / n * w.torque};
    }
    if (!(report.smallest_det_F.value >= smallest_det_F.value))
        smallest_det_F = report.smallest_det_F;
    // a step that was rejected left nothing behind
    if (report.status == StepStatus::StepRejected) return report.status;
    is_inverted = is_inverted || !(report.smallest_det_F.value > 0);
    if (!(report.smallest_det_F.value >= inversions.worst.value))
        inversions.worst = report.smallest_det_F;
    return report.status;
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
    const double n = std::ceil(dt / impl_->longest_inner_step() * (1 - 1e-9));
    return n >= 1 && n < 1e6 ? static_cast<int>(n) : 1;
}
const SmallestDetF& FemBody::smallest_det_F() const noexcept { return impl_->smallest_det_F; }
const FemBody::Inversions& FemBody::inversions() const noexcept { return impl_->inversions; }
std::span<const Contact> FemBody::contacts() const noexcept { return impl_->ws.contacts(); }
const std::vector<RigidBody*>& FemBody::obstacles() const noexcept { return impl_->obstacles; }
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
    b.is_inverted = false;
    StepStatus worst = StepStatus::Ok;
    const int n = inner_steps(dt);
    for (int i = 0; i < n; ++i) {
        const StepStatus status = b.inner_step(i, n, dt);
        if (status == StepStatus::Ok) continue;
        if (worst != StepStatus::StateReset) worst = status;
        if (status != StepStatus::StepRejected) continue;
        // what is left of the motion made it fail: go on from rest, in the end from the start
        b.fem().v.setZero();
        b.fem().a.setZero();
        b.forget_contacts();
        if (++b.num_rejections >= kMaxRejections) {
            const Inversions so_far = b.inversions;
            do_reset();
            b.inversions = so_far;
            worst = StepStatus::StateReset;
        }
        break;
    }
    if (b.is_inverted) ++b.inversions.num_steps;
    if (worst != StepStatus::StepRejected) b.num_rejections = 0;
    for (std::size_t k = 0; k < b.obstacles.size(); ++k) b.obstacles[k]->add_wrench(b.wrenches[k]);
    if (b.has_pending) b.pending.setZero();
    b.has_pending = false;
    return worst;
}

void FemBody::do_reset() noexcept {
    Impl& b = *impl_;
    const double factor = b.stiffness;
    b.fem().u = b.start_state.bodies[0].u;
    b.fem().v = b.start_state.bodies[0].v;
    b.fem().a = b.start_state.bodies[0].a;
    b.fem().time = 0;
    std::ranges::copy(b.start_state.obstacles, b.state.obstacles.begin());
    for (RigidMotion& motion : b.state.obstacles) motion = in_time(motion, std::sqrt(factor));
    b.state.work[0] = {};
    b.state.last_dt = 0;
    b.forget_contacts();
    b.u_start = b.fem().u;
    b.pending.setZero();
    b.has_pending = false;
    b.num_rejections = 0;
    b.smallest_det_F = {};
    b.inversions = {};
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
             .value = impl_->options.contact.friction,
             .low = 0,
             .high = 2}};
}

void FemBody::set_parameter(int index, double value) noexcept {
    if (!std::isfinite(value)) return;
    switch (index) {
        case kStiffness: return impl_->set_stiffness(std::clamp(value, 0.1, 4.0));
        case kDrag: impl_->drag = std::clamp(value, 0.0, 20.0); return;
        case kFriction: return impl_->scene.set_friction(std::clamp(value, 0.0, 2.0));
        default: return;
    }
}

// A state: stiffness, displacements, rates, times; contacts; motions of the obstacles.

int FemBody::state_size() const noexcept {
    // of what never changes: other threads ask while vectors of the state trade places
    const auto touches =
        static_cast<std::size_t>(ExplicitScene::kMaxTouches) * impl_->scene.surface_nodes(0).size();
    return 8 + 3 * model().num_unknowns() +
           static_cast<int>(kTouchNumbers * touches + kMotionNumbers * impl_->obstacles.size());
}

void FemBody::save_state(std::span<double> state) const noexcept {
    if (state.size() != static_cast<std::size_t>(state_size())) return;
    const FemState& s = impl_->fem();
    const EnergyLog& work = impl_->state.work[0];
    const Eigen::Index n = s.u.size();
    double* at = state.data();
    for (const double number :
         {impl_->stiffness, s.time, impl_->state.last_dt, impl_->state.has_captured ? 1.0 : 0.0,
          work.external_work, work.contact_work, work.damping_work,
          static_cast<double>(impl_->num_rejections)})
        *at++ = number;
    for (const VectorXd* x : {&s.u, &s.v, &s.a}) {
        Eigen::Map<VectorXd>(at, n) = *x;
        at += n;
    }
    for (const Touch& t : impl_->state.touches[0])
        for (const double number :
             {static_cast<double>(t.obstacle), static_cast<double>(t.other_body),
              static_cast<double>(t.phase), t.owed})
            *at++ = number;
    for (const RigidMotion& motion : impl_->state.obstacles) {
        put(motion, at);
        at += kMotionNumbers;
    }
}

bool FemBody::restore_state(std::span<const double> state) noexcept {
    if (state.size() != static_cast<std::size_t>(state_size())) return false;
    if (!std::ranges::all_of(state, [](double x) { return std::isfinite(x); })) return false;
    const double saved_stiffness = state[0];
    if (!(saved_stiffness > 0)) return false;
    Impl& b = *impl_;
    const double factor = b.stiffness;
    const Eigen::Index n = b.fem().u.size();
    const double* at = state.data() + 1;
    b.fem().time = *at++;
    b.state.last_dt = *at++;
    b.state.has_captured = *at++ != 0;
    b.state.work[0] = {at[0], at[1], at[2]};
    b.num_rejections = static_cast<int>(std::clamp(at[3], 0.0, double{kMaxRejections}));
    at += 4;
    for (VectorXd* x : {&b.fem().u, &b.fem().v, &b.fem().a}) {
        *x = Eigen::Map<const VectorXd>(at, n);
        at += n;
    }
    const auto index = [](double x, std::size_t size) {
        return x >= 0 && x < static_cast<double>(size) ? static_cast<std::int32_t>(x) : -1;
    };
    for (Touch& t : b.state.touches[0]) {
        t = {index(at[0], b.obstacles.size()), -1, Touch::Phase::None, at[3]};
        const int phase = index(at[2], 4);
        if (t.obstacle >= 0 && phase > 0) t.phase = static_cast<Touch::Phase>(phase);
        at += kTouchNumbers;
    }
    for (RigidMotion& motion : b.state.obstacles) {
        motion = get(at);
        at += kMotionNumbers;
    }
    b.stiffness = saved_stiffness;
    if (factor != saved_stiffness) b.set_stiffness(factor);
    b.u_start = b.fem().u;
    return true;
}

void FemBody::write_display(std::span<float> state) const noexcept {
    if (state.size() != static_cast<std::size_t>(impl_->display->state_size())) return;
    write_pose(impl_->options.pose, state);
    Eigen::Map<Eigen::VectorXf>(state.data() + kPoseFloats, impl_->fem().u.size()) =
        impl_->fem().u.cast<float>();
}

}  // namespace pliant
