#include "pliant/particles/particle_layout.h"

#include "core/numbers.h"
#include "geometry/option_check.h"
#include "pliant/geometry/selection.h"
#include "pliant/geometry/surface_query.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

namespace pliant {
namespace {

using Eigen::Vector3d;

std::string text_of(const Vector3d& x) {
    std::ostringstream text;
    text << x.x() << ' ' << x.y() << ' ' << x.z();
    return text.str();
}
std::string text_of(double x) {
    std::ostringstream text;
    text << x;
    return text.str();
}

std::string field_of(std::size_t particle, const char* member) {
    return "particles[" + std::to_string(particle) + "]." + member;
}

}  // namespace

void check_layout(const ParticleLayout& layout, const std::string& name) {
    constexpr double kLargest = 1e6;
    const std::size_t n = layout.particles.size();
    if (n == 0) throw InputError(name, "has no particles; a body needs two at least");
    for (std::size_t i = 0; i < n; ++i) {
        const Particle& p = layout.particles[i];
        const auto check = [&](bool is_valid, const char* member, const std::string& value,
                               const char* expected) {
            if (!is_valid) throw InputError(name, field_of(i, member), value, expected);
        };
        check(p.position.allFinite() && p.position.cwiseAbs().maxCoeff() <= kLargest, "position",
              text_of(p.position), "three finite numbers in metres");
        check(p.radii.allFinite() && p.radii.minCoeff() > 0 && p.radii.maxCoeff() <= kLargest,
              "radius", text_of(p.radii), "more than 0 m: an oriented particle has a size");
        check(std::isfinite(p.mass) && p.mass > 0, "mass", text_of(p.mass), "more than 0 kg");
        check(p.mass >= 1e-20 && p.mass <= 1e20, "mass", text_of(p.mass), "1e-20 to 1e20 kg");
        check(p.stiffness >= 0 && p.stiffness <= 1, "stiffness", text_of(p.stiffness), "0 to 1");
        check(p.rotation.coeffs().allFinite() && p.rotation.norm() > 0, "rotation",
              text_of(p.rotation.vec()), "a quaternion (w, x, y, z) that is not zero");
        check(p.object >= 0 && at(p.object) < n, "object", std::to_string(p.object),
              "0 to the number of particles");
    }
    std::vector<int> num_links(n, 0);
    std::set<std::array<int, 2>> known;
    for (std::size_t k = 0; k < layout.links.size(); ++k) {
        auto [a, b] = layout.links[k];
        const std::string field = "links[" + std::to_string(k) + "]";
        const std::string value = std::to_string(a) + " " + std::to_string(b);
        if (a < 0 || b < 0 || at(a) >= n || at(b) >= n || a == b)
            throw InputError(name, field, value,
                             "two different particles of 0 to " + std::to_string(n - 1));
        if (layout.particles[at(a)].object != layout.particles[at(b)].object)
            throw InputError(name, field, value, "particles of one object");
        if (!known.insert({std::min(a, b), std::max(a, b)}).second)
            throw InputError(name, field, value, "a pair that was not linked before");
        ++num_links[at(a)];
        ++num_links[at(b)];
    }
    for (std::size_t i = 0; i < n; ++i)
        if (num_links[i] == 0 && layout.particles[i].stiffness > 0)
            throw InputError(name, "particle " + std::to_string(i) +
                                       " has no links, so that it would be a group of one; link "
                                       "it with its neighbours, or give it stiffness 0 if it is to "
                                       "move alone");
}

void check_layout_inside(const ParticleLayout& layout, const SurfaceMesh& surface,
                         const std::string& name) {
    const SurfaceQuery query(surface);
    for (std::size_t i = 0; i < layout.particles.size(); ++i) {
        const Particle& p = layout.particles[i];
        const ClosestPoint nearest = query.closest(p.position);
        if (nearest.distance <= p.radii.maxCoeff() || query.is_inside(p.position)) continue;
        throw InputError(name, field_of(i, "position"), text_of(p.position),
                         "inside the surface or within its radius of it; it is " +
                             text_of(nearest.distance) + " m outside");
    }
}

std::vector<Vector3d> centres_of(const ParticleLayout& layout) {
    std::vector<Vector3d> centres;
    for (const Particle& p : layout.particles) centres.push_back(p.position);
    return centres;
}

void set_stiffness(ParticleLayout& layout, const std::string& selection, double stiffness) {
    check_option(stiffness >= 0 && stiffness <= 1, "stiffness", stiffness, "0 to 1");
    for (const int i :
         select_some(selection, centres_of(layout), "stiffness", {"particle", "particles"}))
        layout.particles[at(i)].stiffness = stiffness;
}

}  // namespace pliant
