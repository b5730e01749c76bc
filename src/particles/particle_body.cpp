#include "pliant/particles/particle_body.h"

#include "body/surface_display.h"
#include "body/wind.h"
#include "core/numbers.h"
#include "particles/particle_display.h"
#include "pliant/geometry/selection.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Steps that leave the finite numbers in a row before the body starts again.
constexpr int kMaxParticleRejections = 20;
constexpr int kStateNumbers = 13;  // of a particle
enum ParticleParameter { kParticleStiffness, kParticleDamping, kParticleFriction, kParticlePasses };

ParticleModel in_world(const ParticleModel& model, const Pose& pose) {
    const PlacedParticles part{&model, pose};
    return combine({&part, 1});
}

ParticleOptions with_attachments(const ParticleModel& model, const ParticleBodyOptions& options) {
    ParticleOptions dynamics = options.dynamics;
    const std::vector<Vector3d> centres = centres_of(model.layout);
    for (const auto& [selection, motion, is_driven] : options.held)
        dynamics.attachments.push_back(
            {select_some(selection, centres, "held", {"particle", "particles"}), motion,
             is_driven});
    return dynamics;
}

/// At rest, but for the particles that nothing holds: they move as one piece.
ParticleState thrown(const ParticleDynamics& dynamics, const Twist& velocity) {
    ParticleState state = dynamics.make_state();
    const std::vector<Particle>& particles = dynamics.layout().particles;
    Vector3d centre = Vector3d::Zero();
    double mass = 0;
    for (const Particle& p : particles) {
        centre += p.mass * p.position;
        mass += p.mass;
    }
    centre /= mass;
    for (std::size_t i = 0; i < particles.size(); ++i) {
        if (dynamics.is_attached(static_cast<int>(i))) continue;
        state.velocity[i] =
            velocity.linear + velocity.angular.cross(particles[i].position - centre);
        state.spin[i] = velocity.angular;
    }
    return state;
}

}  // namespace

struct ParticleBody::Impl {
    Impl(ParticleModel given, const ParticleBodyOptions& options)
        : model(std::move(given)),
          model_world(in_world(model, options.pose)),
          pose(options.pose),
          dynamics(model_world, with_attachments(model, options)),
          display(std::make_shared<ParticleDisplay>(model_world)),
          state(thrown(dynamics, options.velocity)),
          start(state),
          first(state),
          ws(dynamics.make_workspace()),
          pending(state.position.size(), Vector3d::Zero()),
          forces(pending),
          wind(pending),
          tuning(dynamics.tuning()) {
        for (const Attachment& attachment : dynamics.options().attachments)
            if (attachment.is_driven)
                driven.insert(driven.end(), attachment.particles.begin(),
                              attachment.particles.end());
        std::ranges::sort(driven);
    }

    /// Adds `force` on a vertex to the particles that carry it.
    static void spread(const SkinWeights& skin, int vertex, const Vector3d& force,
                       std::vector<Vector3d>& to) {
        const auto v = at(vertex);
        for (std::size_t k = 0; k < skin.particles[v].size(); ++k)
            to[at(skin.particles[v][k])] += double{skin.weights[v][k]} * force;
    }
    /// Arm from a particle to the vertex at rest, as it is turned in `s`.
    [[nodiscard]] Vector3d arm(int particle, int vertex, const ParticleState& s) const {
        return s.turn[at(particle)] * (model_world.surface.vertices[at(vertex)] -
                                       model_world.layout.particles[at(particle)].position);
    }
    [[nodiscard]] Vector3d vertex_position(int vertex, const ParticleState& s) const {
        Vector3d x = Vector3d::Zero();
        for (std::size_t k = 0; k < at(SkinWeights::kInfluences); ++k) {
            const int i = model.skin.particles[at(vertex)][k];
            x +=
                double{model.skin.weights[at(vertex)][k]} * (s.position[at(i)] + arm(i, vertex, s));
        }
        return x;
    }
    [[nodiscard]] Vector3d vertex_velocity(int vertex) const {
        Vector3d v = Vector3d::Zero();
        for (std::size_t k = 0; k < at(SkinWeights::kInfluences); ++k) {
            const int i = model.skin.particles[at(vertex)][k];
            v += double{model.skin.weights[at(vertex)][k]} *
                 (state.velocity[at(i)] + state.spin[at(i)].cross(arm(i, vertex, state)));
        }
        return v;
    }
    /// `value(vertex)` blended over a surface point.
    template <class Value>
    [[nodiscard]] auto blend(const SurfacePoint& point, const Value& value) const
        -> decltype(value(0)) {
        if (point.triangle < 0) return value(point.vertex);
        const Triangle& t = model.surface.triangles[at(point.triangle)];
        return point.barycentric[0] * value(t[0]) + point.barycentric[1] * value(t[1]) +
               point.barycentric[2] * value(t[2]);
    }
    static void copy(const ParticleState& from, ParticleState& to) {
        std::ranges::copy(from.position, to.position.begin());
        std::ranges::copy(from.velocity, to.velocity.begin());
        std::ranges::copy(from.turn, to.turn.begin());
        std::ranges::copy(from.spin, to.spin.begin());
        to.time = from.time;
    }

    ParticleModel model, model_world;
    Pose pose;
    ParticleDynamics dynamics;
    std::shared_ptr<const ParticleDisplay> display;
    ParticleState state, start, first;  ///< now, when the last step began, when all began
    std::shared_ptr<ParticleDynamics::Workspace> ws;
    std::vector<Vector3d> pending, forces;  ///< given since the last step; of this step
    std::vector<Vector3d> wind;             ///< per pressure
    double wind_pressure = 0;
    Vector3d gravity = Vector3d::Zero();
    ParticleDynamics::Tuning tuning;
    int num_rejections = 0;
    std::vector<int> driven;
};

ParticleBody::ParticleBody(ParticleModel model, const ParticleBodyOptions& options)
    : Body(model.surface), impl_(std::make_unique<Impl>(std::move(model), options)) {}
ParticleBody::~ParticleBody() = default;

const ParticleModel& ParticleBody::model() const noexcept { return impl_->model; }
const ParticleState& ParticleBody::state() const noexcept { return impl_->state; }
const ParticleDynamics& ParticleBody::dynamics() const noexcept { return impl_->dynamics; }
const ParticleDynamics::Report& ParticleBody::step_report() const noexcept {
    return ParticleDynamics::report(*impl_->ws);
}
std::shared_ptr<const BodyDisplay> ParticleBody::display() const { return impl_->display; }

const std::vector<int>& ParticleBody::driven() const noexcept { return impl_->driven; }
void ParticleBody::drive(int particle, const Vector3d& position, const Quaternion& turn) noexcept {
    if (particle >= 0 && at(particle) < impl_->state.position.size())
        impl_->dynamics.drive(particle, position, turn, *impl_->ws);
}

StepStatus ParticleBody::do_step(double dt) noexcept {
    Impl& b = *impl_;
    if (!(dt > 0 && std::isfinite(dt))) return StepStatus::InputIgnored;
    for (std::size_t i = 0; i < b.forces.size(); ++i)
        b.forces[i] = b.pending[i] + b.wind_pressure * b.wind[i];
    std::ranges::fill(b.pending, Vector3d::Zero());
    Impl::copy(b.state, b.start);
    StepStatus status = b.dynamics.step(b.state, b.forces, b.gravity, dt, b.tuning, *b.ws);
    if (status != StepStatus::StepRejected) {
        b.num_rejections = 0;
        return status;
    }
    // what is left of the motion may make it fail again: go on from rest, in the end from the start
    std::ranges::fill(b.state.velocity, Vector3d::Zero());
    std::ranges::fill(b.state.spin, Vector3d::Zero());
    if (++b.num_rejections >= kMaxParticleRejections) {
        do_reset();
        status = StepStatus::StateReset;
    }
    return status;
}

void ParticleBody::do_reset() noexcept {
    Impl::copy(impl_->first, impl_->state);
    Impl::copy(impl_->first, impl_->start);
    for (const int i : impl_->driven)
        drive(i, impl_->first.position[at(i)], impl_->first.turn[at(i)]);
    std::ranges::fill(impl_->pending, Vector3d::Zero());
    impl_->num_rejections = 0;
}

void ParticleBody::add_force(const SurfacePoint& point, const Vector3d& force) noexcept {
    if (!is_valid(point) || !force.allFinite()) return;
    const SkinWeights& skin = impl_->model.skin;
    if (point.triangle < 0) return Impl::spread(skin, point.vertex, force, impl_->pending);
    const Triangle& t = surface().triangles[at(point.triangle)];
    for (int k = 0; k < 3; ++k)
        Impl::spread(skin, t[at(k)], point.barycentric[k] * force, impl_->pending);
}

void ParticleBody::set_gravity(const Vector3d& acceleration) noexcept {
    if (acceleration.allFinite()) impl_->gravity = acceleration;
}

void ParticleBody::set_wind_direction(const Vector3d& direction) {
    const std::vector<Vector3d> forces = wind_forces(impl_->model_world.surface, direction);
    std::ranges::fill(impl_->wind, Vector3d::Zero());
    for (std::size_t v = 0; v < forces.size(); ++v)
        Impl::spread(impl_->model.skin, static_cast<int>(v), forces[v], impl_->wind);
}

void ParticleBody::set_wind_pressure(double pressure) noexcept {
    if (std::isfinite(pressure)) impl_->wind_pressure = pressure;
}

Vector3d ParticleBody::position(const SurfacePoint& point, TickMoment moment) const noexcept {
    if (!is_valid(point)) return Vector3d::Zero();
    const ParticleState& s = moment == TickMoment::Start ? impl_->start : impl_->state;
    return impl_->blend(point, [&](int v) { return impl_->vertex_position(v, s); });
}

Vector3d ParticleBody::velocity(const SurfacePoint& point) const noexcept {
    if (!is_valid(point)) return Vector3d::Zero();
    return impl_->blend(point, [&](int v) { return impl_->vertex_velocity(v); });
}

Vector3d ParticleBody::normal(const SurfacePoint& point) const noexcept {
    if (!is_valid(point)) return Vector3d::Zero();
    const int triangle = triangle_of(point);
    if (triangle < 0) return Vector3d::Zero();
    const Triangle& t = surface().triangles[at(triangle)];
    const Vector3d a = impl_->vertex_position(t[0], impl_->state);
    const Vector3d n = (impl_->vertex_position(t[1], impl_->state) - a)
                           .cross(impl_->vertex_position(t[2], impl_->state) - a);
    const double length = n.norm();
    return length > 0 && std::isfinite(length) ? Vector3d(n / length) : Vector3d::Zero();
}

double ParticleBody::mobility(const SurfacePoint& point) const noexcept {
    if (!is_valid(point)) return 0;
    // before the passes, which only share motion out; of a point in a triangle at most the mean of
    // the corners, since squares are convex
    return impl_->blend(point, [&](int v) {
        double sum = 0;
        for (std::size_t k = 0; k < at(SkinWeights::kInfluences); ++k) {
            const int i = impl_->model.skin.particles[at(v)][k];
            const double w = impl_->model.skin.weights[at(v)][k];
            if (!impl_->dynamics.is_attached(i))
                sum += w * w / impl_->model.layout.particles[at(i)].mass;
        }
        return sum;
    });
}

Energy ParticleBody::energy() const noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < impl_->state.velocity.size(); ++i) {
        const Particle& p = impl_->model_world.layout.particles[i];
        // in its own axes: moments of inertia m/5 (b² + c²), …
        const Vector3d w = (impl_->state.turn[i] * p.rotation).conjugate() * impl_->state.spin[i];
        const Vector3d square = p.radii.cwiseAbs2();
        const Vector3d inertia = p.mass / 5 * (Vector3d::Constant(square.sum()) - square);
        sum += 0.5 *
               (p.mass * impl_->state.velocity[i].squaredNorm() + w.dot(inertia.cwiseProduct(w)));
    }
    return {sum, 0};
}

std::vector<LiveParameter> ParticleBody::parameters() const {
    const ParticleOptions& o = impl_->dynamics.options();
    return {{.name = "stiffness",
             .label = "Stiffness",
             .unit = "",
             .help = "Factor of how far particles follow the goals of their groups in one pass; "
                     "any value is safe.",
             .value = 1,
             .low = 0.01,
             .high = 1,
             .is_logarithmic = true},
            {.name = "damping",
             .label = "Damping",
             .unit = "1/s",
             .help = "Slows all motion, as a viscous medium does; any value is safe.",
             .value = o.damping,
             .low = 0,
             .high = std::max(20.0, o.damping)},
            {.name = "friction",
             .label = "Friction",
             .unit = "",
             .help = "Coulomb's coefficient at planes and between objects.",
             .value = o.friction,
             .low = 0,
             .high = std::max(2.0, o.friction)},
            {.name = "passes",
             .label = "Passes",
             .unit = "",
             .help = "Over all constraints in a step; more are stiffer and take longer.",
             .value = static_cast<double>(o.iterations),
             .low = 1,
             .high = std::max(20.0, static_cast<double>(o.iterations))}};
}

void ParticleBody::set_parameter(int index, double value) noexcept {
    if (!std::isfinite(value)) return;
    const ParticleOptions& o = impl_->dynamics.options();
    ParticleDynamics::Tuning& tuning = impl_->tuning;
    switch (index) {
        case kParticleStiffness: tuning.stiffness = std::clamp(value, 0.01, 1.0); return;
        case kParticleDamping:
            tuning.damping = std::clamp(value, 0.0, std::max(20.0, o.damping));
            return;
        case kParticleFriction:
            tuning.friction = std::clamp(value, 0.0, std::max(2.0, o.friction));
            return;
        case kParticlePasses:
            tuning.iterations = static_cast<int>(
                std::lround(std::clamp(value, 1.0, std::max(20.0, double(o.iterations)))));
            return;
        default: return;
    }
}

// A state: time and rejections, then position, velocity, turn and spin of each particle.

int ParticleBody::state_size() const noexcept {
    return 2 + kStateNumbers * impl_->model.layout.num_particles();
}

void ParticleBody::save_state(std::span<double> state) const noexcept {
    if (state.size() != at(state_size())) return;
    const ParticleState& s = impl_->state;
    state[0] = s.time;
    state[1] = impl_->num_rejections;
    for (std::size_t i = 0; i < s.position.size(); ++i)
        Eigen::Map<Eigen::Matrix<double, kStateNumbers, 1>>(state.data() + 2 +
                                                            at(kStateNumbers) * i)
            << s.position[i],
            s.velocity[i], s.turn[i].w(), s.turn[i].vec(), s.spin[i];
}

bool ParticleBody::restore_state(std::span<const double> state) noexcept {
    if (state.size() != at(state_size())) return false;
    if (!std::ranges::all_of(state, [](double x) { return std::isfinite(x); })) return false;
    for (std::size_t i = 0; i < impl_->state.turn.size(); ++i) {
        const Eigen::Map<const Eigen::Vector4d> q(state.data() + 2 + at(kStateNumbers) * i + 6);
        if (!(std::abs(q.norm() - 1) <= 1e-6)) return false;
    }
    ParticleState& s = impl_->state;
    s.time = state[0];
    impl_->num_rejections =
        static_cast<int>(std::clamp(state[1], 0.0, double{kMaxParticleRejections}));
    for (std::size_t i = 0; i < s.position.size(); ++i) {
        const double* const p = state.data() + 2 + at(kStateNumbers) * i;
        s.position[i] = Eigen::Map<const Vector3d>(p);
        s.velocity[i] = Eigen::Map<const Vector3d>(p + 3);
        s.turn[i] = Quaternion(p[6], p[7], p[8], p[9]);
        s.spin[i] = Eigen::Map<const Vector3d>(p + 10);
    }
    Impl::copy(s, impl_->start);
    return true;
}

void ParticleBody::write_display(std::span<float> state) const noexcept {
    if (state.size() != at(impl_->display->state_size())) return;
    write_pose(impl_->pose, state);
    const ParticleState& s = impl_->state;
    for (std::size_t i = 0; i < s.position.size(); ++i) {
        float* const p = state.data() + kPoseFloats + at(ParticleDisplay::kNumbers) * i;
        Eigen::Map<Eigen::Vector3f>(p, 3) = s.position[i].cast<float>();
        p[3] = static_cast<float>(s.turn[i].w());
        Eigen::Map<Eigen::Vector3f>(p + 4) = s.turn[i].vec().cast<float>();
    }
}

}  // namespace pliant
