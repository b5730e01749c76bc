#include "contact/pop_out_modes.h"
#include "pliant/contact/sphere_carry.h"

#include <cmath>

namespace pliant {
namespace {

void require_range(bool is_good, const char* field, double value, const char* expected) {
    if (!is_good) throw InputError("", field, std::to_string(value), expected);
}

}  // namespace

void check(const SphereCarryOptions& options) {
    require_range(options.radius > 0 && options.radius < 1e6, "radius of the proxy", options.radius,
                  "more than 0 m, e.g. 0.005");
    require_range(options.shrink > 0.5 && options.shrink <= 1, "shrink of the proxy",
                  options.shrink, "0.5 < value <= 1");
    require_range(options.least_pop >= 0 && options.least_pop <= 1, "least pop of the proxy",
                  options.least_pop, "0 to 1 radii");
    require_range(options.max_pops >= 1 && options.max_pops <= 100'000, "rounds of pop-out",
                  options.max_pops, "1 to 100000");
}

PopOutResult pop_out(SurfaceNeighbourhood& near, const Eigen::Vector3d& p,
                     const SphereCarryOptions& options) noexcept {
    const double r = options.radius, found_at = options.shrink * r;
    PopOutResult result{.position = p};
    Eigen::Vector3d x = p;
    const PopOutModes modes(near, options);
    // the published list is made once, at the start
    const auto is_listed = [&](int i, const Corners& t) {
        return modes.of(i) != PopOutMode::HalfSpace || (p - t.a).dot(t.area_vector()) > 0;
    };
    bool has_moved = true, is_clear = false;
    while (has_moved && result.rounds < options.max_pops) {
        has_moved = false;
        is_clear = true;
        near.require(x, 1.01 * r, 0.5 * r);
        near.measure(x);
        // as published each triangle in turn; guarded, the nearest first: on flat ground its push
        // is the only one
        for (const int i : modes.has_guarded() ? near.within(found_at) : near.in_order()) {
            const NearTriangle nearest = near.nearest(i, x);
            if (nearest.distance >= found_at) continue;
            is_clear = false;
            const Corners t = near.patch().end(i);
            if (!is_listed(i, t)) continue;
            const Eigen::Vector3d away =
                nearest.distance > 1e-9 * r
                    ? Eigen::Vector3d((x - nearest.point) / nearest.distance)
                    : t.unit_normal();
            const Eigen::Vector3d target =
                x + std::max(r - nearest.distance, options.least_pop * r) * away;
            result.pops += 1;
            const int gathers = near.num_gathers();
            const Eigen::Vector3d next = modes.move(near, x, target, r);
            has_moved = has_moved || next != x;
            x = next;
            // another gather numbers triangles anew
            if (near.num_gathers() != gathers) {
                has_moved = true;
                break;
            }
        }
        result.rounds += has_moved ? 1 : 0;
    }
    result.position = x;
    if (is_clear) return result;
    near.require(x, 1.01 * r, 0.5 * r);
    const double room = near.clearance(x);
    result.has_arrived = room >= found_at * (1 - 1e-9);
    if (!result.has_arrived) {
        near.require(p, 1.01 * r, 0.5 * r);
        if (near.clearance(p) >= room) result.position = p;
    }
    return result;
}

}  // namespace pliant
