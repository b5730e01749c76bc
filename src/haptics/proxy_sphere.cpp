#include "haptics/proxy_sphere.h"

#include "haptics/proxy_forces.h"
#include "pliant/contact/sphere_sweep.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

/// Contacts are looked for a little beyond the radius: more than the shrink gap, or a push from one
/// wall of a crease would lose the other one.
double contact_reach(const SphereCarryOptions& sphere) noexcept {
    return sphere.radius * (1 + 2 * (1 - sphere.shrink));
}

/// Of the shift that a squeeze left, in every tick with room: what was withheld comes back without
/// a click.
constexpr double kRelease = 0.1;

/// In radii: surfaces that push it farther in a tick have let go of what held it before.
constexpr double kFast = 0.5;

/// The part of `way` from `from` that ends nearest to `goal`, 0 to 1.
double nearest_part(const Eigen::Vector3d& from, const Eigen::Vector3d& way,
                    const Eigen::Vector3d& goal) noexcept {
    const double length = way.squaredNorm();
    return length > 0 ? std::clamp(way.dot(goal - from) / length, 0.0, 1.0) : 0;
}

}  // namespace

void ProxySphere::set_options(const ProxyOptions& options) noexcept {
    const double r = radius();
    options_ = options;
    options_.sphere.radius = r;
}

void ProxySphere::reset(const Eigen::Vector3d& position) noexcept {
    state_ = {};
    state_.position = state_.goal = state_.secure = before_ = position;
    shift_.setZero();
    was_squeezed_ = was_touching_ = false;
    has_anchor_ = false;
    spare_ = 0.2 * radius();
}

void ProxySphere::begin(const Eigen::Vector3d& goal, SurfaceNeighbourhood& near) noexcept {
    state_.carry = CarryEvent::None;
    state_.is_goal_ignored = !goal.allFinite();
    if (!state_.is_goal_ignored) state_.goal = goal;
    state_.triangles_tested = state_.gathers = 0;
    before_ = state_.position;
    was_squeezed_ = state_.is_squeezed;
    was_touching_ = state_.is_touching();
    near.reset_counters();
}

void ProxySphere::count(SurfaceNeighbourhood& near) noexcept {
    state_.triangles_tested += near.num_tested();
    state_.gathers += near.num_gathers();
    near.reset_counters();
}

void ProxySphere::follow_surfaces(SurfaceNeighbourhood& near) noexcept {
    // with its force as it was
    state_.moved_before = surface_motion(state_, options_, near);
    near.forget();
    near.gather_swept(state_.position, 1.01 * radius() + spare_);
    if (options_.has_ccd) {
        const CarryResult carried = carry_sphere(near, state_.position, options_.sphere);
        state_.position = carried.position;
        state_.carry = carried.event;
    }
    PopOutResult popped{.position = state_.position};
    if (options_.has_pop_out) popped = pop_out(near, state_.position, options_.sphere);
    state_.position = popped.position;
    state_.pops = popped.pops;
    state_.pop_rounds = popped.rounds;
    state_.is_squeezed = !popped.has_arrived;
    state_.secure = state_.position;
}

void ProxySphere::find_contacts(SurfaceNeighbourhood& near, const Eigen::Vector3d& goal) noexcept {
    const double r = radius(), reach = contact_reach(options_.sphere);
    const Eigen::Vector3d& p = state_.position;
    state_.num_contacts = 0;
    for (int i = 0; i < near.patch().size(); ++i) {
        if (!near.is_within(i, reach)) continue;
        const Corners t = near.patch().end(i);
        if (!(t.area_vector().dot(p - t.a) > 0)) continue;
        const NearTriangle nearest = near.nearest(i, p);
        if (nearest.distance > reach || !(nearest.distance > 0)) continue;
        const Eigen::Vector3d m = (p - nearest.point) / nearest.distance;
        // corners and sides belong to several triangles
        const auto end = state_.contacts.begin() + state_.num_contacts;
        if (std::any_of(state_.contacts.begin(), end, [&](const ProxyContact& other) {
                return (other.point - nearest.point).squaredNorm() < 1e-18 * r * r;
            }))
            continue;
        // where it is already nearer than r, it stays there: eq. (2)
        const ConstraintPlane plane{m, std::min(m.dot(nearest.point) + r, m.dot(p))};
        // nearest first; where there are too many, those give way that the goal is in front of
        const auto holds = [&](const ConstraintPlane& k) { return k.normal.dot(goal) < k.offset; };
        auto last = end;
        if (state_.num_contacts == kMaxPlanes) {
            last -= 1;
            while (last != state_.contacts.begin() && holds(last->plane)) --last;
            if (holds(last->plane)) last = end - 1;
            const bool is_held = holds(last->plane);
            if (holds(plane) == is_held ? nearest.distance >= last->distance : is_held) continue;
        } else {
            state_.num_contacts += 1;
        }
        // up or down to its place, over the one that gives way
        auto at = std::find_if(state_.contacts.begin(), end, [&](const ProxyContact& other) {
            return other.distance > nearest.distance;
        });
        if (at <= last) {
            std::move_backward(at, last, last + 1);
        } else {
            std::move(last + 1, at, last);
            at -= 1;
        }
        *at = {.surface = near.patch().surface(i),
               .triangle = near.patch().triangle(i),
               .barycentric = nearest.barycentric,
               .point = nearest.point,
               .normal = m,
               .distance = nearest.distance,
               .plane = plane,
               .multiplier = 0};
    }
}

PlaneGoal ProxySphere::find_subgoal(const Eigen::Vector3d& goal) noexcept {
    std::array<ConstraintPlane, kMaxPlanes> planes;
    const auto count = static_cast<std::size_t>(state_.num_contacts);
    for (std::size_t i = 0; i < count; ++i) planes[i] = state_.contacts[i].plane;
    const PlaneGoal found =
        nearest_feasible(goal, {planes.data(), count}, state_.position, 1e-7 * radius());
    // a cone too narrow for numbers still holds it
    if (!found.is_found)
        state_.contacts[0].multiplier =
            std::max(0.0, state_.contacts[0].normal.dot(state_.position - goal));
    for (int k = 0; k < found.num_active; ++k)
        state_.contacts[static_cast<std::size_t>(found.active[static_cast<std::size_t>(k)])]
            .multiplier = found.multiplier[static_cast<std::size_t>(k)];
    return found;
}

bool ProxySphere::move_to(SurfaceNeighbourhood& near, const Eigen::Vector3d& to) noexcept {
    const SphereHit hit =
        sweep_sphere(near, state_.position, to, options_.sphere.shrink * radius());
    if (hit.index < 0) {
        state_.position = to;
        return false;
    }
    // found with the smaller radius, placed with the full one
    const Eigen::Vector3d touching = state_.position + hit.s * (to - state_.position);
    const double distance = (touching - hit.point).norm();
    state_.position = touching;
    if (distance < radius() && hit.s > 0)
        state_.position = near.guarded_move(touching, hit.point + radius() * hit.normal, radius());
    return true;
}

void ProxySphere::approach(SurfaceNeighbourhood& near, const Eigen::Vector3d& goal) noexcept {
    const double r = radius(), reach = contact_reach(options_.sphere);
    // surfaces are mostly near: a short step first, then longer ones while nothing is hit
    double longest_step = std::max(near.covered(state_.position) - reach, 0.1 * r);
    state_.has_arrived = false;
    bool is_settled = false;
    double distance = (goal - state_.position).squaredNorm();
    for (state_.passes = 0; state_.passes < options_.max_passes; ++state_.passes) {
        near.require(state_.position, reach, spare_);
        near.measure(state_.position);
        find_contacts(near, goal);
        Eigen::Vector3d to = find_subgoal(goal).position;
        double length = (to - state_.position).norm();
        if (length <= 1e-6 * r) {
            // with contacts it stays where they and their multipliers were found
            if (state_.num_contacts == 0) state_.position = to;
            is_settled = state_.num_contacts > 0 || state_.passes == 0;
            state_.has_arrived = true;
            break;
        }
        const bool is_cut = length > longest_step;
        if (is_cut) {
            to = state_.position + longest_step / length * (to - state_.position);
            length = longest_step;
        }
        if (length > near.covered(state_.position) - reach) {
            near.require(state_.position, reach + length, 0.1 * r);
            near.measure(state_.position);
        }
        const bool is_hit = move_to(near, to);
        if (is_cut && !is_hit) longest_step *= 4;
        const double left = (goal - state_.position).squaredNorm();
        if (state_.passes > 0 && !(is_cut && !is_hit) && left > distance - 1e-12 * r * r) {
            state_.has_arrived = true;
            break;
        }
        distance = left;
    }
    if (is_settled) return;
    // multipliers of where it is now
    near.require(state_.position, reach, spare_);
    near.measure(state_.position);
    find_contacts(near, goal);
    (void)find_subgoal(goal);
}

Eigen::Vector3d ProxySphere::goal_with_friction(const SurfaceNeighbourhood& near) noexcept {
    const Eigen::Vector3d& goal = state_.goal;
    state_.is_sliding = state_.is_sliding && has_anchor_;
    if (!has_anchor_ || options_.static_friction <= 0) return goal;
    // the place it holds on to moves with the surface, unless it was carried already
    const MovingSurface& surface = *near.surfaces()[static_cast<std::size_t>(anchor_.surface)];
    Eigen::Vector3d shift =
        state_.carry == CarryEvent::Face
            ? Eigen::Vector3d(Eigen::Vector3d::Zero())
            : Eigen::Vector3d(
                  surface.corners(anchor_.triangle, TickMoment::End).at(anchor_.barycentric) -
                  surface.corners(anchor_.triangle, TickMoment::Start).at(anchor_.barycentric));
    const Eigen::Vector3d& n = anchor_normal_;
    shift -= n.dot(shift) * n;
    const Eigen::Vector3d offset = goal - (state_.position + shift);
    const double depth = -n.dot(offset);
    const Eigen::Vector3d along = offset + depth * n;
    const double length = along.norm();
    if (!(depth > 0)) {
        state_.is_sliding = false;
        return goal;
    }
    // cones, docs/proxy.md eq. (7)
    if (length > options_.static_friction * depth) state_.is_sliding = true;
    if (length <= options_.dynamic_friction * depth) state_.is_sliding = false;
    if (!state_.is_sliding) return goal - along;
    return goal - options_.dynamic_friction * depth / length * along;
}

void ProxySphere::follow_goal(SurfaceNeighbourhood& near) noexcept {
    if (state_.is_goal_ignored) {
        // stays, without force
        state_.num_contacts = 0;
        state_.passes = 0;
        has_anchor_ = false;
    } else {
        approach(near, goal_with_friction(near));
    }
    count(near);
}

Eigen::Vector3d ProxySphere::place_with_friction(const Eigen::Vector3d& to) const noexcept {
    Eigen::Vector3d n = Eigen::Vector3d::Zero();
    for (int i = 0; i < state_.num_contacts; ++i) {
        const ProxyContact& contact = state_.contacts[static_cast<std::size_t>(i)];
        n += contact.multiplier * contact.normal;
    }
    const Eigen::Vector3d offset = to - state_.position;
    const double length = n.norm(), depth = length > 0 ? -n.dot(offset) / length : 0;
    if (!(depth > 0) || options_.static_friction <= 0) return to;
    const Eigen::Vector3d along = offset + depth / length * n;
    if (along.norm() <= options_.static_friction * depth) return to - along;
    return to - options_.dynamic_friction * depth / along.norm() * along;
}

void ProxySphere::follow_tool(SurfaceNeighbourhood& near, const Eigen::Vector3d& to) noexcept {
    if (state_.is_goal_ignored || to == state_.position) return;
    // what keeps it from its goal so far
    std::array<ProxyContact, 3> first;
    std::size_t num_first = 0;
    for (int i = 0; i < state_.num_contacts && num_first < first.size(); ++i) {
        const ProxyContact& contact = state_.contacts[static_cast<std::size_t>(i)];
        if (contact.multiplier > 0) first[num_first++] = contact;
    }
    const int passes = state_.passes;
    const bool had_arrived = state_.has_arrived;
    approach(near, place_with_friction(to));
    state_.passes += passes;
    state_.has_arrived = state_.has_arrived && had_arrived;

    // where it is now, as seen from its own goal
    near.require(state_.position, contact_reach(options_.sphere), spare_);
    near.measure(state_.position);
    find_contacts(near, state_.goal);
    (void)find_subgoal(state_.goal);
    if (!state_.is_touching()) {
        std::copy_n(first.begin(), num_first, state_.contacts.begin());
        state_.num_contacts = static_cast<int>(num_first);
    }
    count(near);
}

double ProxySphere::spring_energy(const Eigen::Vector3d& shift) const noexcept {
    const Eigen::Vector3d& p = state_.position;
    const Eigen::Vector3d end = p - nearest_part(p, -shift, state_.goal) * shift;
    return 0.5 * options_.stiffness * (end - state_.goal).squaredNorm();
}

void ProxySphere::withhold() noexcept {
    if (state_.is_squeezed || was_squeezed_) {
        // the safe place goes along with the hand, not with surfaces, up to the push into the room
        Eigen::Vector3d safe = before_ - shift_;
        const Eigen::Vector3d way = state_.position - state_.secure;
        safe += nearest_part(safe, way, state_.goal) * way;
        shift_ = state_.position - safe;
    }
    if (!state_.is_squeezed) {
        // nobody pays for it: not more than may be spent
        const double gain = spring_energy((1 - kRelease) * shift_) - spring_energy(shift_);
        shift_ *= gain > options_.release ? 1 - kRelease * options_.release / gain : 1 - kRelease;
        if (!state_.is_touching() || shift_.norm() < 1e-3 * radius()) shift_.setZero();
    }
    state_.withheld = nearest_part(state_.position, -shift_, state_.goal) * shift_;
}

void ProxySphere::finish(SurfaceNeighbourhood& near, double stiffness) noexcept {
    options_.stiffness = stiffness;
    withhold();
    state_.force = state_.is_goal_ignored ? Eigen::Vector3d(Eigen::Vector3d::Zero())
                                          : hand_force(state_, options_, near);
    state_.moved = surface_motion(state_, options_, near);
    // what was free before, or in the way of something fast, is where they pushed it
    const Eigen::Vector3d way = state_.secure - before_;
    const bool is_fast = state_.carry != CarryEvent::None || way.norm() > kFast * radius();
    if ((is_fast || !was_touching_) && !state_.is_squeezed) state_.moved = way;
    if (is_fast && !state_.is_squeezed) state_.moved_before = way;

    // the next tick gathers as far as this one went
    spare_ = std::clamp(2 * (state_.position - before_).norm(), 0.1 * radius(), 4 * radius());
    Eigen::Vector3d push = Eigen::Vector3d::Zero();
    double most = 0;
    for (int i = 0; i < state_.num_contacts; ++i) {
        const ProxyContact& contact = state_.contacts[static_cast<std::size_t>(i)];
        push += contact.multiplier * contact.normal;
        if (contact.multiplier <= most) continue;
        most = contact.multiplier;
        anchor_ = contact;
    }
    has_anchor_ = push.norm() > 0;
    if (has_anchor_) anchor_normal_ = push.normalized();
    state_.status = state_.is_goal_ignored                      ? StepStatus::InputIgnored
                    : state_.is_squeezed || !state_.has_arrived ? StepStatus::NotConverged
                                                                : StepStatus::Ok;
}

}  // namespace pliant
