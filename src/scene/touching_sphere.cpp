#include "scene/touching_sphere.h"

#include <algorithm>

namespace pliant {

std::vector<std::unique_ptr<MovingSurface>> surfaces_of(const std::vector<TouchedBody>& bodies) {
    std::vector<std::unique_ptr<MovingSurface>> surfaces;
    for (const TouchedBody& one : bodies) {
        surfaces.push_back(make_moving_surface(*one.body));
        surfaces.back()->set_pop_out(one.pop_out);
    }
    return surfaces;
}

std::vector<MovingSurface*> pointers_to(const std::vector<std::unique_ptr<MovingSurface>>& owned) {
    std::vector<MovingSurface*> surfaces;
    for (const auto& surface : owned) surfaces.push_back(surface.get());
    return surfaces;
}

TouchingSphere::TouchingSphere(std::vector<TouchedBody> bodies, const ProxyOptions& options,
                               const Eigen::Vector3d& start, double bearable)
    : bodies_(std::move(bodies)),
      surfaces_(surfaces_of(bodies_)),
      proxy_(pointers_to(surfaces_), options),
      start_(start),
      bearable_(bearable) {
    reset();
}

const ProxyState& TouchingSphere::tick(const Eigen::Vector3d& goal,
                                       const ProxyTuning& tuning) noexcept {
    ProxyOptions options = proxy_.options();
    options.stiffness = tuning.stiffness;
    options.static_friction = tuning.static_friction;
    options.dynamic_friction = tuning.dynamic_friction;
    options.has_force_shading = tuning.has_force_shading;
    options.has_ccd = tuning.has_ccd;
    // bodies get no more than they bear, docs/scene.md eq. (8)
    options.body_force =
        bearable_ > 0 && tuning.stiffness > bearable_ ? bearable_ / tuning.stiffness : 1;
    options.release = tuning.release;
    tuned_ = proxy_.set_options(options);

    const ShownSprings before = shown_;
    const Eigen::Vector3d goal_before = proxy_.state().goal;
    const bool was_withheld = !proxy_.state().withheld.isZero();
    const ProxyState& state = proxy_.tick(goal);
    proxy_.apply_forces();
    const SpringSum spring = one_spring(state.force, state.spring_end(), state.goal);
    show(spring, before, tuning.max_force);
    // what was withheld comes back as far as somebody pays for it, docs/proxy.md eq. (8)
    if (was_withheld || !state.withheld.isZero()) {
        const double hand =
            -0.5 * (before.wrench.force + shown_.wrench.force).dot(state.goal - goal_before);
        const double paid = std::max(before.energy + hand + work_ + tuning.release, 0.0);
        const double linear = 0.5 * spring.wrench.force.dot(spring.stretch);
        if (shown_.energy > paid)
            show(spring, before, part_with_energy(linear, paid) * spring.wrench.force.norm());
    }
    all_pops_ += static_cast<std::uint64_t>(state.pops);
    carried_ += state.carry == CarryEvent::None ? 0 : 1;
    squeezed_ += state.is_squeezed ? 1 : 0;
    return state;
}

void TouchingSphere::show(const SpringSum& spring, const ShownSprings& before,
                          double max_force) noexcept {
    const ProxyState& state = proxy_.state();
    shown_ = shown_springs(spring, max_force, 0);
    // surfaces take no more than the spring has
    work_ = std::max(
        0.5 * (before.wrench.force.dot(state.moved_before) + shown_.wrench.force.dot(state.moved)),
        -before.energy);
}

double TouchingSphere::depth() const noexcept {
    const ProxyState& s = state();
    return s.num_contacts > 0 ? std::max(radius() - s.contacts[0].distance, 0.0) : 0;
}

void TouchingSphere::reset() noexcept {
    put(start_);
    tuned_ = StepStatus::Ok;
    work_ = 0;
    all_pops_ = carried_ = squeezed_ = 0;
}

void TouchingSphere::fill(ShownProxy& shown) const noexcept {
    const ProxyState& s = state();
    shown.radius = radius();
    shown.position = s.position;
    shown.num_planes = 0;
    for (int i = 0; i < s.num_contacts && shown.num_planes < 3; ++i) {
        const ProxyContact& contact = s.contacts[static_cast<std::size_t>(i)];
        if (contact.multiplier > 0)
            shown.planes[static_cast<std::size_t>(shown.num_planes++)] = {contact.point,
                                                                          contact.normal};
    }
    const TrianglePatch& patch = proxy_.neighbourhood().patch();
    shown.num_triangles = std::min(patch.size(), ShownProxy::kMaxTriangles);
    for (int i = 0; i < shown.num_triangles; ++i)
        shown.triangles[static_cast<std::size_t>(i)] = {
            bodies_[static_cast<std::size_t>(patch.surface(i))].number, patch.triangle(i)};
    shown.pops = s.pops;
    shown.passes = s.passes;
    shown.triangles_tested = s.triangles_tested;
    shown.all_pops = all_pops_;
    shown.carried = carried_;
    shown.squeezed = squeezed_;
    shown.is_squeezed = s.is_squeezed;
    shown.is_sliding = s.is_sliding;
    shown.is_ignored = status() == StepStatus::InputIgnored;
    shown.has_arrived = s.has_arrived;
    shown.is_stale = false;
}

}  // namespace pliant
