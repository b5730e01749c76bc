#include "pliant/haptics/body_grip.h"

#include "core/numbers.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

/// What a hand holds, where it is at the start.
ParticleLayout held_spheres(const ParticleBody& body) {
    const std::vector<int>& driven = body.driven();
    if (driven.empty())
        throw InputError("", "particles of the body that a hand holds", "none",
                         "some of them held with is_driven");
    const ParticleLayout& all = body.dynamics().layout();  // in the world
    std::vector<int> place(all.particles.size(), -1);
    ParticleLayout held;
    for (const int i : driven) {
        place[at(i)] = held.num_particles();
        Particle p = all.particles[at(i)];
        p.radii.setConstant(std::cbrt(p.radii.prod()));
        held.particles.push_back(p);
    }
    for (const auto& [a, b] : all.links)
        if (place[at(a)] >= 0 && place[at(b)] >= 0)
            held.links.push_back({place[at(a)], place[at(b)]});
    return held;
}

Pose middle_of(const ParticleLayout& layout) {
    Pose pose;
    for (const Particle& p : layout.particles)
        pose.position += p.position / static_cast<double>(layout.num_particles());
    return pose;
}

SphereToolOptions held_at(SphereToolOptions options, const Eigen::Vector3d& centre) {
    options.centre = centre;
    return options;
}

}  // namespace

BodyGrip::BodyGrip(ParticleBody& body, const SurfaceSet& surfaces, SphereToolOptions options)
    : body_(body),
      start_(middle_of(held_spheres(body))),
      tool_(surfaces, held_spheres(body), held_at(std::move(options), start_.position)) {
    reset();
}

const SphereToolState& BodyGrip::tick(const Pose& hand) noexcept {
    const SphereToolState& state = tool_.tick(hand);
    for (int i = 0; i < tool_.num_spheres(); ++i)
        body_.drive(body_.driven()[at(i)], tool_.sphere(i).position, tool_.turn(i));
    return state;
}

}  // namespace pliant
