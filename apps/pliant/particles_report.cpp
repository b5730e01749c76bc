#include "particles_report.h"

#include <algorithm>
#include <cstdio>

#include "output.h"
#include "pliant/particles/particle_dynamics.h"

namespace pliant::cli {
namespace {

struct Range {
    double low = 1e300, high = 0;
    void add(double x) {
        low = std::min(low, x);
        high = std::max(high, x);
    }
};
Range radii_of(const ParticleModel& model) {
    Range range;
    for (const Particle& p : model.layout.particles) {
        range.add(p.radii.minCoeff());
        range.add(p.radii.maxCoeff());
    }
    return range;
}
Range stiffness_of(const ParticleModel& model) {
    Range range;
    for (const Particle& p : model.layout.particles) range.add(p.stiffness);
    return range;
}

}  // namespace

void print_particles(const ParticleModel& model) {
    const ParticleDynamics dynamics(model.layout);
    std::printf("surface      %s vertices, %s triangles\n",
                grouped(model.surface.num_vertices()).c_str(),
                grouped(model.surface.num_triangles()).c_str());
    std::printf("particles    %s, %s links%s, %.4g kg\n",
                grouped(model.layout.num_particles()).c_str(),
                grouped(static_cast<std::int64_t>(model.layout.links.size())).c_str(),
                model.layout.is_cloth ? " that keep their length" : "", model.mass());
    const Range radii = radii_of(model), stiffness = stiffness_of(model);
    std::printf("radii        %.3g … %.3g m\n", radii.low, radii.high);
    std::printf("stiffness    %.3g … %.3g\n", stiffness.low, stiffness.high);
    std::printf("groups       %s in %d rounds\n", grouped(dynamics.num_groups()).c_str(),
                dynamics.num_colours());
}

void write_particles(const ParticleModel& model, JsonWriter& json) {
    const Range radii = radii_of(model), stiffness = stiffness_of(model);
    json.key("particles")
        .begin_object()
        .member("num_vertices", model.surface.num_vertices())
        .member("num_triangles", model.surface.num_triangles())
        .member("num_particles", model.layout.num_particles())
        .member("num_links", static_cast<int>(model.layout.links.size()))
        .member("num_objects", model.layout.num_objects())
        .member("cloth", model.layout.is_cloth)
        .member("mass_kg", model.mass())
        .member("smallest_radius_m", radii.low)
        .member("largest_radius_m", radii.high)
        .member("smallest_stiffness", stiffness.low)
        .member("largest_stiffness", stiffness.high)
        .end_object();
}

}  // namespace pliant::cli
