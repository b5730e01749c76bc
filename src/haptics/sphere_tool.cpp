#include "pliant/haptics/sphere_tool.h"

#include "core/numbers.h"
#include "haptics/proxy_forces.h"
#include "haptics/proxy_sphere.h"
#include "haptics/rigid_fit.h"
#include "pliant/particles/particle_dynamics.h"

#include <chrono>
#include <cmath>
#include <optional>
#include <sstream>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Time since it was asked last [s].
class PhaseClock {
public:
    double lap() noexcept {
        const auto now = std::chrono::steady_clock::now();
        const double passed = std::chrono::duration<double>(now - last_).count();
        last_ = now;
        return passed;
    }

private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Rigid tools need no links.
ParticleLayout checked_spheres(ParticleLayout layout, bool is_rigid) {
    ParticleLayout loose = layout;
    if (is_rigid)
        for (Particle& p : loose.particles) p.stiffness = 0;
    check_layout(loose);
    for (std::size_t i = 0; i < layout.particles.size(); ++i) {
        const Vector3d& radii = layout.particles[i].radii;
        if (radii[0] == radii[1] && radii[1] == radii[2]) continue;
        std::ostringstream text;
        text << radii.transpose();
        throw InputError("", "radii of sphere " + std::to_string(i) + " of the tool", text.str(),
                         "three equal ones: proxies are spheres, as place_spheres gives them");
    }
    return layout;
}

ProxyOptions sphere_options(const SphereToolOptions& tool, double radius) {
    ProxyOptions options = tool.sphere;
    options.sphere.radius = radius;
    options.has_force_shading = false;  // springs have an energy
    return options;
}

/// A hand that can be followed; its rotation is made a unit.
bool take_hand(const Pose& given, Pose& hand) noexcept {
    const double length = given.rotation.coeffs().norm();
    if (!is_finite(given) || !(length > 1e-6) || !std::isfinite(length)) return false;
    hand = {given.position, Quaternion(given.rotation.coeffs() / length)};
    return true;
}

}  // namespace

void check(const SphereToolOptions& options) {
    ProxyOptions sphere = options.sphere;
    sphere.sphere.radius = 1;  // comes from the layout
    check(sphere);
    const auto require = [](bool is_good, const char* field, double value, const char* expected) {
        if (!is_good) throw InputError("", field, std::to_string(value), expected);
    };
    require(options.iterations >= 1 && options.iterations <= 1000, "iterations of the tool",
            options.iterations, "1 to 1000");
    require(options.translation_stiffness >= 0 && options.translation_stiffness < 1e9,
            "translation stiffness of the tool", options.translation_stiffness,
            "0 N/m or more, e.g. 500");
    require(options.rotation_stiffness >= 0 && options.rotation_stiffness < 1e9,
            "rotation stiffness of the tool", options.rotation_stiffness,
            "0 N/m or more, e.g. 500");
    require(options.centre.allFinite(), "centre of the tool", kNan, "a place, in metres");
}

struct SphereTool::Impl {
    Impl(const SurfaceSet& surfaces, bool owns_surfaces, ParticleLayout given,
         const SphereToolOptions& given_options)
        : layout(checked_spheres(std::move(given), given_options.is_rigid)),
          options(given_options),
          near(surfaces.surfaces()),
          spreader(surfaces.surfaces()),
          fit(layout, options.centre),
          places(layout.particles.size()),
          turns(layout.particles.size()) {
        check(options);
        if (owns_surfaces) own = surfaces;
        for (const Particle& p : layout.particles) {
            offsets.push_back(p.position - options.centre);
            spheres.emplace_back(sphere_options(options, p.radii[0]));
            check(spheres.back().options());
        }
        if (options.is_rigid) return;
        dynamics.emplace(layout);
        ws = dynamics->make_workspace();
    }

    void follow_hand(const Pose& hand) noexcept;
    void keep_shape() noexcept;
    void find_wrench() noexcept;

    ParticleLayout layout;
    SphereToolOptions options;
    std::optional<SurfaceSet> own;  // advanced here; others by their owner
    SurfaceNeighbourhood near;      // of one sphere after the other
    ForceSpreader spreader;
    RigidFit fit;
    std::optional<ParticleDynamics> dynamics;  // of tools that bend
    std::shared_ptr<ParticleDynamics::Workspace> ws;
    std::vector<Vector3d> offsets;  // o_i
    std::vector<ProxySphere> spheres;
    std::vector<Vector3d> places;  // where the shape wants spheres
    std::vector<Quaternion> turns;
    SphereToolState state;
    double share = 0;  // 1/n of eq. (4)
};

/// The haptic constraint, once and before all others, eqs. (1) and (2).
void SphereTool::Impl::follow_hand(const Pose& hand) noexcept {
    state.push_time = state.follow_time = 0;
    PhaseClock clock;
    for (std::size_t i = 0; i < spheres.size(); ++i) {
        const Vector3d goal =
            state.is_hand_ignored ? Vector3d(Vector3d::Constant(kNan)) : hand.to_world(offsets[i]);
        spheres[i].begin(goal, near);
        spheres[i].follow_surfaces(near);
        state.push_time += clock.lap();
        spheres[i].follow_goal(near);
        state.follow_time += clock.lap();
    }
}

/// Shape matching of what surfaces stopped, then as far towards it as surfaces let, eq. (3).
void SphereTool::Impl::keep_shape() noexcept {
    PhaseClock clock;
    bool is_free = true;
    for (std::size_t i = 0; i < spheres.size(); ++i) {
        places[i] = spheres[i].state().position;
        is_free = is_free && places[i] == spheres[i].state().goal;
        turns[i] = state.hand.rotation;
    }
    state.fit = is_free ? state.hand : fit(places, state.hand.rotation);
    // in the shape at rest nothing would change but by rounding
    if (!is_free) {
        bool is_sound = is_finite(state.fit);
        if (options.is_rigid && is_sound)
            for (std::size_t i = 0; i < spheres.size(); ++i) {
                places[i] = state.fit.to_world(offsets[i]);
                turns[i] = state.fit.rotation;
            }
        else if (is_sound)
            is_sound = dynamics->project(places, turns, options.iterations, *ws);
        for (std::size_t i = 0; i < spheres.size() && is_sound; ++i) {
            if (options.has_second_pass)
                spheres[i].follow_tool(near, places[i]);
            else
                spheres[i].put(places[i]);
        }
        if (!is_sound) state.fit = state.hand;
    }
    state.shape_time = clock.lap();
}

void SphereTool::Impl::find_wrench() noexcept {
    state.num_touching = state.num_squeezed = state.passes = state.pops = 0;
    state.triangles_tested = 0;
    state.largest_offset = 0;
    bool has_arrived = true;
    for (const ProxySphere& sphere : spheres) {
        const ProxyState& s = sphere.state();
        state.num_touching += s.is_touching();
        state.num_squeezed += s.is_squeezed;
        state.passes += s.passes;
        state.pops += s.pops;
        state.triangles_tested += s.triangles_tested;
        state.largest_offset = std::max(state.largest_offset, (s.position - s.goal).norm());
        has_arrived = has_arrived && s.has_arrived;
    }
    share = 1.0 / (options.share == ToolShare::Total ? static_cast<int>(spheres.size())
                                                     : std::max(1, state.num_touching));
    state.wrench = {};
    for (ProxySphere& sphere : spheres) {
        sphere.finish(near, share * options.translation_stiffness);
        const ProxyState& s = sphere.state();
        if (state.is_hand_ignored || !s.is_touching()) continue;
        state.wrench.force += s.force;
        state.wrench.torque += share * options.rotation_stiffness *
                               (s.goal - state.hand.position).cross(s.spring_end() - s.goal);
    }
    if (!state.wrench.force.allFinite() || !state.wrench.torque.allFinite()) {
        state.wrench = {};
        has_arrived = false;
    }
    state.status = state.is_hand_ignored                    ? StepStatus::InputIgnored
                   : state.num_squeezed > 0 || !has_arrived ? StepStatus::NotConverged
                                                            : StepStatus::Ok;
}

SphereTool::SphereTool(std::vector<MovingSurface*> surfaces, ParticleLayout spheres,
                       const SphereToolOptions& options)
    : impl_(std::make_unique<Impl>(SurfaceSet(std::move(surfaces)), true, std::move(spheres),
                                   options)) {
    reset({});
}

SphereTool::SphereTool(const SurfaceSet& surfaces, ParticleLayout spheres,
                       const SphereToolOptions& options)
    : impl_(std::make_unique<Impl>(surfaces, false, std::move(spheres), options)) {
    reset({});
}

SphereTool::~SphereTool() = default;

const ParticleLayout& SphereTool::layout() const noexcept { return impl_->layout; }
const SphereToolOptions& SphereTool::options() const noexcept { return impl_->options; }
const SphereToolState& SphereTool::state() const noexcept { return impl_->state; }
int SphereTool::num_spheres() const noexcept { return static_cast<int>(impl_->spheres.size()); }
const ProxyState& SphereTool::sphere(int i) const noexcept { return impl_->spheres[at(i)].state(); }
double SphereTool::radius(int i) const noexcept { return impl_->spheres[at(i)].radius(); }
const Quaternion& SphereTool::turn(int i) const noexcept { return impl_->turns[at(i)]; }
const Vector3d& SphereTool::offset(int i) const noexcept { return impl_->offsets[at(i)]; }
double SphereTool::translation_stiffness() const noexcept {
    return impl_->share * impl_->options.translation_stiffness;
}
double SphereTool::rotation_stiffness() const noexcept {
    return impl_->share * impl_->options.rotation_stiffness;
}

StepStatus SphereTool::set_options(const SphereToolOptions& options) noexcept {
    try {
        check(options);
    } catch (const InputError&) {
        return StepStatus::InputIgnored;
    }
    const bool is_rigid = impl_->options.is_rigid;
    const Vector3d centre = impl_->options.centre;
    impl_->options = options;
    impl_->options.is_rigid = is_rigid;
    impl_->options.centre = centre;
    for (ProxySphere& sphere : impl_->spheres)
        sphere.set_options(sphere_options(options, sphere.radius()));
    return StepStatus::Ok;
}

void SphereTool::reset(const Pose& hand) noexcept {
    Impl& self = *impl_;
    Pose taken;
    if (!take_hand(hand, taken)) return;
    self.state = {};
    self.state.hand = self.state.fit = taken;
    self.share = 1.0 / num_spheres();
    for (std::size_t i = 0; i < self.spheres.size(); ++i) {
        self.spheres[i].reset(taken.to_world(self.offsets[i]));
        self.turns[i] = taken.rotation;
    }
    if (self.own) self.own->restart();
    self.near.forget();
}

const SphereToolState& SphereTool::tick(const Pose& hand) noexcept {
    Impl& self = *impl_;
    self.state.is_hand_ignored = !take_hand(hand, self.state.hand);
    if (self.own) self.own->advance();
    self.follow_hand(self.state.hand);
    self.state.shape_time = 0;
    if (!self.state.is_hand_ignored) self.keep_shape();
    self.find_wrench();
    return self.state;
}

void SphereTool::apply_forces() noexcept {
    for (const ProxySphere& sphere : impl_->spheres)
        impl_->spreader.apply(sphere.state(), sphere.options(), impl_->near);
}

}  // namespace pliant
