#include "pliant/contact/sphere_carry.h"

#include "contact/pop_out_modes.h"
#include "contact/triangle_fan.h"
#include "geometry/closest_on_triangle.h"
#include "pliant/contact/coplanarity.h"

#include <cmath>

namespace pliant {
namespace {

/// Nearer than this many radii to a triangle while crossing its plane, the centre is on it:
/// neighbours overlap, no crack is left between them.
constexpr double kOnFace = 1e-6;

struct Meeting {
    int index = -1;
    double time = 2, distance = 0;
    Eigen::Vector3d barycentric = Eigen::Vector3d::Zero(), point = Eigen::Vector3d::Zero();
};

/// First meetings of the resting centre with faces, and with sides and corners nearer than r.
struct Meetings {
    Meeting face, edge;
};

Meetings find_meetings(SurfaceNeighbourhood& near, const Eigen::Vector3d& p,
                       const SphereCarryOptions& options) noexcept {
    Meetings found;
    for (const int i : near.crossings(p, options.radius)) {
        const Coplanarity f = coplanarity(p, near.patch().start(i), near.patch().end(i));
        std::array<double, 3> roots;
        int count = falling_roots(f, roots);
        if (!options.has_facing_test && count == 0) {
            // the other direction as well
            Coplanarity mirrored = f;
            for (double& k : mirrored.k) k = -k;
            count = falling_roots(mirrored, roots);
        }
        for (int k = 0; k < count; ++k) {
            const double s = roots[static_cast<std::size_t>(k)];
            if (s > found.face.time + 1e-9) break;
            const Corners t = near.patch().between(i, s);
            const detail::TrianglePoint foot = detail::nearest_on_triangle(p, t.a, t.b, t.c);
            const double distance = std::sqrt(foot.distance_squared);
            Meeting& meeting = distance <= kOnFace * options.radius ? found.face : found.edge;
            // of those that come at the same time, the nearest
            const bool is_first =
                s < meeting.time - 1e-9 || (s < meeting.time + 1e-9 && distance < meeting.distance);
            if (distance < options.radius && is_first)
                meeting = {i, s, distance, foot.barycentric, t.at(foot.barycentric)};
            if (&meeting == &found.face) break;
        }
    }
    return found;
}

/// Of a triangle that may have lost its area: then those around its corners decide, by area.
Eigen::Vector3d outward(const MovingSurface& surface, int t, const TriangleFan& fan) noexcept {
    Eigen::Vector3d n = fan.normal(surface);
    if (n.isZero()) n = clear_normal(surface.corners(t, TickMoment::End));
    if (!n.isZero()) return n;
    for (int k = 0; k < 3; ++k)
        n += TriangleFan(surface, t, Eigen::Vector3d::Unit(k)).area_vector(surface);
    const double size = n.norm();
    return size > 0 ? Eigen::Vector3d(n / size) : Eigen::Vector3d::Zero();
}

}  // namespace

CarryResult carry_sphere(SurfaceNeighbourhood& near, const Eigen::Vector3d& p,
                         const SphereCarryOptions& options) noexcept {
    const double r = options.radius;
    const Meetings found = find_meetings(near, p, options);
    const PopOutModes modes(near, options);
    CarryResult result{.position = p};
    if (found.face.index >= 0) {
        const MovingSurface& surface = near.surface_of(found.face.index);
        const int t = near.patch().triangle(found.face.index);
        const int id = near.patch().surface(found.face.index);
        result = {p, CarryEvent::Face, found.face.time, id, t};
        // on with the material point, and out as far as there is room, eq. (6)
        const Eigen::Vector3d contact =
            surface.corners(t, TickMoment::End).at(found.face.barycentric);
        const TriangleFan fan(surface, t, found.face.barycentric);
        const Eigen::Vector3d n = outward(surface, t, fan);
        double room = r;
        if (modes.has_guarded()) {
            near.require(contact, 1.1 * r, 0.5 * r);
            room = near.free_length(contact, n, r, [&](int i) {
                return modes.of(i) != PopOutMode::Guarded ||
                       (near.patch().surface(i) == id && fan.has(near.patch().triangle(i))) ||
                       near.crossing_length(i, contact, n, r) < 1e-8 * r;
            });
        }
        result.position = contact + (room < r ? 0.5 * room : r) * n;
    } else if (found.edge.index >= 0) {
        result = {p, CarryEvent::Edge, found.edge.time, near.patch().surface(found.edge.index),
                  near.patch().triangle(found.edge.index)};
        // aside, just enough for it to pass, eq. (7)
        const Eigen::Vector3d away = p - found.edge.point;
        const double distance = away.norm();
        const Eigen::Vector3d aside = p + (r - distance) / distance * away;
        result.position = modes.move(near, p, aside, r);
    }
    return result;
}

}  // namespace pliant
