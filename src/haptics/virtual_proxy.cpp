#include "pliant/haptics/virtual_proxy.h"

#include "haptics/proxy_forces.h"
#include "pliant/contact/sphere_sweep.h"

#include <cmath>

namespace pliant {
namespace {

/// Contacts are looked for a little beyond the radius: more than the shrink gap, or a push from one
/// wall of a crease would lose the other one.
double contact_reach(const SphereCarryOptions& sphere) noexcept {
    return sphere.radius * (1 + 2 * (1 - sphere.shrink));
}

}  // namespace

bool ProxyState::is_touching() const noexcept {
    return std::any_of(contacts.begin(), contacts.begin() + num_contacts,
                       [](const ProxyContact& contact) { return contact.multiplier > 0; });
}

int ProxyState::active_planes(std::array<ConstraintPlane, 3>& planes) const noexcept {
    int count = 0;
    for (int i = 0; i < num_contacts && count < 3; ++i) {
        const ProxyContact& contact = contacts[static_cast<std::size_t>(i)];
        if (contact.multiplier > 0) planes[static_cast<std::size_t>(count++)] = contact.plane;
    }
    return count;
}

void check(const ProxyOptions& options) {
    check(options.sphere);
    const auto require = [](bool is_good, const char* field, double value, const char* expected) {
        if (!is_good) throw InputError("", field, std::to_string(value), expected);
    };
    require(options.max_passes >= 1 && options.max_passes <= 10'000, "passes of the proxy",
            options.max_passes, "1 to 10000");
    require(options.stiffness >= 0 && options.stiffness < 1e9, "stiffness of the proxy",
            options.stiffness, "0 N/m or more, e.g. 500");
    require(options.dynamic_friction >= 0 && options.dynamic_friction <= 10,
            "dynamic friction of the proxy", options.dynamic_friction, "0 to 10");
    require(options.static_friction >= options.dynamic_friction && options.static_friction <= 10,
            "static friction of the proxy", options.static_friction,
            "dynamic friction or more, up to 10");
    require(options.mask_radius > 1 && options.mask_radius <= 100, "mask radius of the proxy",
            options.mask_radius, "1 < value <= 100 radii");
    require(std::isfinite(options.body_force), "body force of the proxy", options.body_force,
            "a finite factor");
}

struct VirtualProxy::Impl {
    Impl(std::vector<MovingSurface*> surfaces, const ProxyOptions& given)
        : options(given), near(std::move(surfaces)), spreader(near.surfaces()) {}

    [[nodiscard]] double radius() const noexcept { return options.sphere.radius; }

    void follow_surfaces() noexcept;
    [[nodiscard]] Eigen::Vector3d goal_with_friction(const Eigen::Vector3d& goal) noexcept;
    void follow_goal(const Eigen::Vector3d& goal) noexcept;
    void find_contacts() noexcept;
    [[nodiscard]] PlaneGoal find_subgoal(const Eigen::Vector3d& goal) noexcept;
    /// Goes towards `to`; false: nothing in the way.
    bool move_to(const Eigen::Vector3d& to) noexcept;

    ProxyOptions options;
    SurfaceNeighbourhood near;
    ForceSpreader spreader;
    ProxyState state;
    double spare = 0;  // beyond what must be covered, so that a tick gathers once

    // what friction holds on to
    bool has_anchor = false;
    ProxyContact anchor;
    Eigen::Vector3d anchor_normal = Eigen::Vector3d::UnitZ();
};

void VirtualProxy::Impl::follow_surfaces() noexcept {
    for (MovingSurface* surface : near.surfaces()) surface->advance();
    near.forget();
    near.gather_swept(state.position, 1.01 * radius() + spare);
    if (options.has_ccd) {
        const CarryResult carried = carry_sphere(near, state.position, options.sphere);
        state.position = carried.position;
        state.carry = carried.event;
    }
    const PopOutResult popped = pop_out(near, state.position, options.sphere);
    state.position = popped.position;
    state.pops = popped.pops;
    state.pop_rounds = popped.rounds;
    state.is_squeezed = !popped.has_arrived;
    state.secure = state.position;
}

void VirtualProxy::Impl::find_contacts() noexcept {
    const double r = radius(), reach = contact_reach(options.sphere);
    const Eigen::Vector3d& p = state.position;
    state.num_contacts = 0;
    for (int i = 0; i < near.patch().size(); ++i) {
        if (!near.is_within(i, reach)) continue;
        const Corners t = near.patch().end(i);
        if (!(t.area_vector().dot(p - t.a) > 0)) continue;
        const NearTriangle nearest = near.nearest(i, p);
        if (nearest.distance > reach || !(nearest.distance > 0)) continue;
        const Eigen::Vector3d m = (p - nearest.point) / nearest.distance;
        // corners and sides belong to several triangles
        const auto end = state.contacts.begin() + state.num_contacts;
        if (std::any_of(state.contacts.begin(), end, [&](const ProxyContact& other) {
                return (other.point - nearest.point).squaredNorm() < 1e-18 * r * r;
            }))
            continue;
        // nearest first; the last one gives way where there are too many
        const auto at = std::find_if(state.contacts.begin(), end, [&](const ProxyContact& other) {
            return other.distance > nearest.distance;
        });
        if (state.num_contacts == kMaxPlanes && at == end) continue;
        if (state.num_contacts < kMaxPlanes) state.num_contacts += 1;
        std::move_backward(at, state.contacts.begin() + state.num_contacts - 1,
                           state.contacts.begin() + state.num_contacts);
        *at = {.surface = near.patch().surface(i),
               .triangle = near.patch().triangle(i),
               .barycentric = nearest.barycentric,
               .point = nearest.point,
               .normal = m,
               .distance = nearest.distance,
               // where it is already nearer than r, it stays there: eq. (2)
               .plane = {m, std::min(m.dot(nearest.point) + r, m.dot(p))},
               .multiplier = 0};
    }
}

PlaneGoal VirtualProxy::Impl::find_subgoal(const Eigen::Vector3d& goal) noexcept {
    std::array<ConstraintPlane, kMaxPlanes> planes;
    const auto count = static_cast<std::size_t>(state.num_contacts);
    for (std::size_t i = 0; i < count; ++i) planes[i] = state.contacts[i].plane;
    const PlaneGoal found =
        nearest_feasible(goal, {planes.data(), count}, state.position, 1e-7 * radius());
    // a cone too narrow for numbers still holds it
    if (!found.is_found)
        state.contacts[0].multiplier =
            std::max(0.0, state.contacts[0].normal.dot(state.position - goal));
    for (int k = 0; k < found.num_active; ++k)
        state.contacts[static_cast<std::size_t>(found.active[static_cast<std::size_t>(k)])]
            .multiplier = found.multiplier[static_cast<std::size_t>(k)];
    return found;
}

bool VirtualProxy::Impl::move_to(const Eigen::Vector3d& to) noexcept {
    const SphereHit hit = sweep_sphere(near, state.position, to, options.sphere.shrink * radius());
    if (hit.index < 0) {
        state.position = to;
        return false;
    }
    // found with the smaller radius, placed with the full one
    const Eigen::Vector3d touching = state.position + hit.s * (to - state.position);
    const double distance = (touching - hit.point).norm();
    state.position = touching;
    if (distance < radius() && hit.s > 0)
        state.position = near.guarded_move(touching, hit.point + radius() * hit.normal, radius());
    return true;
}

void VirtualProxy::Impl::follow_goal(const Eigen::Vector3d& goal) noexcept {
    const double r = radius(), reach = contact_reach(options.sphere);
    // surfaces are mostly near: a short step first, then longer ones while nothing is hit
    double longest_step = std::max(near.covered(state.position) - reach, 0.1 * r);
    state.has_arrived = false;
    double distance = (goal - state.position).squaredNorm();
    for (state.passes = 0; state.passes < options.max_passes; ++state.passes) {
        near.require(state.position, reach, spare);
        near.measure(state.position);
        find_contacts();
        Eigen::Vector3d to = find_subgoal(goal).position;
        double length = (to - state.position).norm();
        if (length <= 1e-6 * r) {
            if (state.num_contacts == 0) state.position = to;
            state.has_arrived = true;
            break;
        }
        const bool is_cut = length > longest_step;
        if (is_cut) {
            to = state.position + longest_step / length * (to - state.position);
            length = longest_step;
        }
        if (length > near.covered(state.position) - reach) {
            near.require(state.position, reach + length, 0.1 * r);
            near.measure(state.position);
        }
        const bool is_hit = move_to(to);
        if (is_cut && !is_hit) longest_step *= 4;
        const double left = (goal - state.position).squaredNorm();
        if (state.passes > 0 && !(is_cut && !is_hit) && left > distance - 1e-12 * r * r) {
            state.has_arrived = true;
            break;
        }
        distance = left;
    }
    if (state.has_arrived && state.passes == 0 && state.num_contacts == 0) return;
    // multipliers of where it is now
    near.require(state.position, reach, spare);
    near.measure(state.position);
    find_contacts();
    (void)find_subgoal(goal);
}

Eigen::Vector3d VirtualProxy::Impl::goal_with_friction(const Eigen::Vector3d& goal) noexcept {
    state.is_sliding = state.is_sliding && has_anchor;
    if (!has_anchor || options.static_friction <= 0) return goal;
    // the place it holds on to moves with the surface, unless it was carried already
    const MovingSurface& surface = *near.surfaces()[static_cast<std::size_t>(anchor.surface)];
    Eigen::Vector3d shift =
        state.carry == CarryEvent::Face
            ? Eigen::Vector3d(Eigen::Vector3d::Zero())
            : Eigen::Vector3d(
                  surface.corners(anchor.triangle, TickMoment::End).at(anchor.barycentric) -
                  surface.corners(anchor.triangle, TickMoment::Start).at(anchor.barycentric));
    const Eigen::Vector3d& n = anchor_normal;
    shift -= n.dot(shift) * n;
    const Eigen::Vector3d offset = goal - (state.position + shift);
    const double depth = -n.dot(offset);
    const Eigen::Vector3d along = offset + depth * n;
    const double length = along.norm();
    if (!(depth > 0)) {
        state.is_sliding = false;
        return goal;
    }
    // cones, docs/proxy.md eq. (7)
    if (length > options.static_friction * depth) state.is_sliding = true;
    if (length <= options.dynamic_friction * depth) state.is_sliding = false;
    if (!state.is_sliding) return goal - along;
    return goal - options.dynamic_friction * depth / length * along;
}

VirtualProxy::VirtualProxy(std::vector<MovingSurface*> surfaces, const ProxyOptions& options) {
    check(options);
    impl_ = std::make_unique<Impl>(std::move(surfaces), options);
    reset(Eigen::Vector3d::Zero());
}

VirtualProxy::~VirtualProxy() = default;

void VirtualProxy::reset(const Eigen::Vector3d& position) noexcept {
    impl_->state = {};
    impl_->state.position = impl_->state.goal = impl_->state.secure = position;
    impl_->has_anchor = false;
    impl_->spare = 0.2 * impl_->radius();
    for (MovingSurface* surface : impl_->near.surfaces()) surface->restart();
    impl_->near.forget();
}

const ProxyState& VirtualProxy::tick(const Eigen::Vector3d& goal) noexcept {
    Impl& self = *impl_;
    ProxyState& state = self.state;
    state.carry = CarryEvent::None;
    state.is_goal_ignored = !goal.allFinite();
    if (!state.is_goal_ignored) state.goal = goal;
    self.near.reset_counters();

    const Eigen::Vector3d before = state.position;
    self.follow_surfaces();
    if (state.is_goal_ignored) {
        // stays, without force
        state.num_contacts = 0;
        state.passes = 0;
        self.has_anchor = false;
    } else {
        self.follow_goal(self.goal_with_friction(goal));
    }
    state.force = state.is_goal_ignored ? Eigen::Vector3d(Eigen::Vector3d::Zero())
                                        : hand_force(state, self.options, self.near);

    // the next tick gathers as far as this one went
    self.spare =
        std::clamp(2 * (state.position - before).norm(), 0.1 * self.radius(), 4 * self.radius());
    Eigen::Vector3d push = Eigen::Vector3d::Zero();
    double most = 0;
    for (int i = 0; i < state.num_contacts; ++i) {
        const ProxyContact& contact = state.contacts[static_cast<std::size_t>(i)];
        push += contact.multiplier * contact.normal;
        if (contact.multiplier <= most) continue;
        most = contact.multiplier;
        self.anchor = contact;
    }
    self.has_anchor = push.norm() > 0;
    if (self.has_anchor) self.anchor_normal = push.normalized();

    state.triangles_tested = self.near.num_tested();
    state.gathers = self.near.num_gathers();
    state.status = state.is_goal_ignored                     ? StepStatus::InputIgnored
                   : state.is_squeezed || !state.has_arrived ? StepStatus::NotConverged
                                                             : StepStatus::Ok;
    return state;
}

const ProxyState& VirtualProxy::state() const noexcept { return impl_->state; }
const ProxyOptions& VirtualProxy::options() const noexcept { return impl_->options; }

void VirtualProxy::set_options(const ProxyOptions& options) noexcept {
    try {
        check(options);
    } catch (const InputError&) {
        return;
    }
    const double radius = impl_->radius();
    impl_->options = options;
    impl_->options.sphere.radius = radius;
}

void VirtualProxy::apply_forces() noexcept {
    impl_->spreader.apply(impl_->state, impl_->options, impl_->near);
}

}  // namespace pliant
