#include "haptics/proxy_forces.h"

#include "contact/triangle_fan.h"

namespace pliant {
namespace {

/// The contact that holds most.
const ProxyContact* strongest_contact(const ProxyState& state) noexcept {
    const ProxyContact* best = nullptr;
    for (int i = 0; i < state.num_contacts; ++i) {
        const ProxyContact& contact = state.contacts[static_cast<std::size_t>(i)];
        if (contact.multiplier > 0 && (!best || contact.multiplier > best->multiplier))
            best = &contact;
    }
    return best;
}

/// Shares `force` among the contacts: each takes its multiplier times `factor`, the strongest one
/// also what is left, docs/proxy.md eq. (5); all of them as much less as the hand feels.
template <class Take>
void share_force(const ProxyState& state, const ProxyOptions& options,
                 const ProxyContact& strongest, const Eigen::Vector3d& force, double factor,
                 const Take& take) noexcept {
    Eigen::Vector3d rest = force;
    const double length = (state.position - state.goal).norm();
    const double shown = length > 0 ? (state.spring_end() - state.goal).norm() / length : 1;
    for (int i = 0; i < state.num_contacts; ++i) {
        const ProxyContact& contact = state.contacts[static_cast<std::size_t>(i)];
        if (contact.multiplier <= 0 || &contact == &strongest) continue;
        const Eigen::Vector3d share =
            factor * shown * options.stiffness * contact.multiplier * contact.normal;
        rest -= share;
        take(contact, share);
    }
    take(strongest, rest);
}

}  // namespace

Eigen::Vector3d hand_force(const ProxyState& state, const ProxyOptions& options,
                           const SurfaceNeighbourhood& near) noexcept {
    const ProxyContact* contact = strongest_contact(state);
    if (!contact) return Eigen::Vector3d::Zero();
    const Eigen::Vector3d force = options.stiffness * (state.spring_end() - state.goal);
    std::array<ConstraintPlane, 3> planes;
    if (!options.has_force_shading || state.active_planes(planes) != 1) return force;

    // the same push along the normal interpolated between the corners
    const MovingSurface& surface = *near.surfaces()[static_cast<std::size_t>(contact->surface)];
    Eigen::Vector3d shaded = Eigen::Vector3d::Zero();
    for (int k = 0; k < 3; ++k)
        if (contact->barycentric[k] > 0)
            shaded +=
                contact->barycentric[k] *
                TriangleFan(surface, contact->triangle, Eigen::Vector3d::Unit(k)).normal(surface);
    const double push = force.dot(contact->normal);
    if (!(shaded.norm() > 1e-6) || !(push > 0)) return force;
    return force + push * (shaded.normalized() - contact->normal);
}

Eigen::Vector3d surface_motion(const ProxyState& state, const ProxyOptions& options,
                               const SurfaceNeighbourhood& near) noexcept {
    const ProxyContact* best = strongest_contact(state);
    const double size = state.force.squaredNorm();
    if (!best || state.is_squeezed || !(size > 0)) return Eigen::Vector3d::Zero();
    double work = 0;
    share_force(state, options, *best, state.force, 1,
                [&](const ProxyContact& contact, const Eigen::Vector3d& share) {
                    const MovingSurface& surface =
                        *near.surfaces()[static_cast<std::size_t>(contact.surface)];
                    const Corners end = surface.corners(contact.triangle, TickMoment::End),
                                  start = surface.corners(contact.triangle, TickMoment::Start);
                    work += share.dot(end.at(contact.barycentric) - start.at(contact.barycentric));
                });
    return work / size * state.force;
}

ForceSpreader::ForceSpreader(const std::vector<MovingSurface*>& surfaces) {
    std::size_t most = 0;
    for (const MovingSurface* surface : surfaces) {
        const auto count = static_cast<std::size_t>(surface->num_vertices());
        is_listed_.emplace_back(count, 0);
        most = std::max(most, count);
    }
    weights_.resize(most);
}

void ForceSpreader::apply(const ProxyState& state, const ProxyOptions& options,
                          SurfaceNeighbourhood& near) noexcept {
    const ProxyContact* best = strongest_contact(state);
    if (!best || state.is_squeezed) return;
    share_force(state, options, *best, -options.body_force * state.force, -options.body_force,
                [&](const ProxyContact& contact, const Eigen::Vector3d& share) {
                    spread(contact, share, state, options, near);
                });
}

void ForceSpreader::spread(const ProxyContact& contact, const Eigen::Vector3d& force,
                           const ProxyState& state, const ProxyOptions& options,
                           SurfaceNeighbourhood& near) noexcept {
    const MovingSurface& surface = *near.surfaces()[static_cast<std::size_t>(contact.surface)];
    Body* body = surface.body();
    if (!body) return;
    if (options.mask == ForceMask::Smooth && spread_smoothly(contact, force, state, options, near))
        return;
    const Triangle& t = surface.triangle(contact.triangle);
    Eigen::Vector3d weights = contact.barycentric;
    if (options.mask == ForceMask::InverseDistance) {
        for (int k = 0; k < 3; ++k) {
            if (contact.barycentric[k] <= 1e-9) weights[k] = 0;
            if (weights[k] == 0) continue;
            const double d =
                (surface.position(t[static_cast<std::size_t>(k)], TickMoment::End) - state.position)
                    .norm();
            weights[k] = 1 / (d + 1e-3 * options.sphere.radius);
        }
        weights /= weights.sum();
    }
    // at the corners: bodies that remember where they were pulled see the same places while the
    // proxy slides over a triangle
    for (int k = 0; k < 3; ++k)
        if (weights[k] != 0)
            body->add_force(SurfacePoint::at_vertex(t[static_cast<std::size_t>(k)]),
                            weights[k] * force);
}

bool ForceSpreader::spread_smoothly(const ProxyContact& contact, const Eigen::Vector3d& force,
                                    const ProxyState& state, const ProxyOptions& options,
                                    SurfaceNeighbourhood& near) noexcept {
    const double reach = options.mask_radius * options.sphere.radius;
    const MovingSurface& surface = *near.surfaces()[static_cast<std::size_t>(contact.surface)];
    auto& is_listed = is_listed_[static_cast<std::size_t>(contact.surface)];
    near.require(state.position, reach, 0);
    std::size_t count = 0;
    double sum = 0;
    for (int i = 0; i < near.patch().size(); ++i) {
        if (near.patch().surface(i) != contact.surface) continue;
        const Corners corners = near.patch().end(i);
        const Triangle& t = surface.triangle(near.patch().triangle(i));
        const Eigen::Vector3d* const x[3] = {&corners.a, &corners.b, &corners.c};
        for (std::size_t k = 0; k < 3; ++k) {
            char& seen = is_listed[static_cast<std::size_t>(t[k])];
            const double u = (*x[k] - state.position).squaredNorm() / (reach * reach);
            if (seen || u >= 1) continue;
            seen = 1;
            weights_[count++] = {t[k], (1 - u) * (1 - u)};
            sum += weights_[count - 1].weight;
        }
    }
    for (std::size_t i = 0; i < count; ++i) {
        is_listed[static_cast<std::size_t>(weights_[i].vertex)] = 0;
        surface.body()->add_force(SurfacePoint::at_vertex(weights_[i].vertex),
                                  weights_[i].weight / sum * force);
    }
    return count > 0;
}

}  // namespace pliant
