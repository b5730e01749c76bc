#include "benchmarks/particles_bench.h"

#include <memory>

#include "pliant/geometry/shapes.h"
#include "pliant/particles/particle_body.h"

namespace pliant::bench {
namespace {

using Eigen::Vector3d;

/// A lattice whose inner particles have groups of all their neighbours; those at the border none.
ParticleLayout lattice(int nx, int ny, int nz) {
    ParticleLayout layout;
    const auto number = [&](int i, int j, int k) { return (k * ny + j) * nx + i; };
    for (int k = 0; k < nz; ++k)
        for (int j = 0; j < ny; ++j)
            for (int i = 0; i < nx; ++i) {
                Particle p;
                p.position = 0.01 * Vector3d(i, j, k);
                p.radii.setConstant(0.004);
                p.mass = 1e-3;
                const bool is_inner = i > 0 && j > 0 && i + 1 < nx && j + 1 < ny &&
                                      (nz == 1 || (k > 0 && k + 1 < nz));
                p.stiffness = is_inner ? 0.6 : 0;
                layout.particles.push_back(p);
                for (int c = -1; c <= 0; ++c)
                    for (int b = -1; b <= 1; ++b)
                        for (int a = -1; a <= 1; ++a) {
                            const bool is_before = c < 0 || b < 0 || (b == 0 && a < 0);
                            if (!is_before || i + a < 0 || j + b < 0 || k + c < 0 || i + a >= nx ||
                                j + b >= ny)
                                continue;
                            layout.links.push_back({number(i + a, j + b, k + c), number(i, j, k)});
                        }
            }
    return layout;
}

/// One pass of shape matching over a lattice that shakes.
Workload matching_workload(int nx, int ny, int nz) {
    struct Shaken {
        explicit Shaken(ParticleLayout layout)
            : dynamics(std::move(layout)),
              state(dynamics.make_state()),
              ws(dynamics.make_workspace()) {}
        ParticleDynamics dynamics;
        ParticleState state;
        std::shared_ptr<ParticleDynamics::Workspace> ws;
    };
    const auto c = std::make_shared<Shaken>(lattice(nx, ny, nz));
    for (std::size_t i = 0; i < c->state.velocity.size(); ++i)
        c->state.velocity[i] = Vector3d(static_cast<double>(i * 7919 % 13) - 6,
                                        static_cast<double>(i * 104729 % 11) - 5,
                                        static_cast<double>(i * 1299709 % 7) - 3);
    ParticleDynamics::Tuning tuning = c->dynamics.tuning();
    tuning.iterations = 1;
    const std::vector<Vector3d> forces(c->state.position.size(), Vector3d::Zero());
    (void)c->dynamics.step(c->state, forces, Vector3d::Zero(), 1e-3, tuning, *c->ws);
    Workload workload;
    workload.operations = c->dynamics.num_groups();
    workload.run = [c] {
        c->dynamics.match_once(*c->ws);
        return static_cast<double>(ParticleDynamics::report(*c->ws).num_unsettled);
    };
    return workload;
}

/// So many fish of 137 particles, dropped onto one another, after a second of falling.
std::shared_ptr<ParticleBody> fish_pile(int count) {
    SurfaceMesh surface = make_shape("fish", 24);
    const ParticleModel fish = make_particle_model(place_particles(surface), surface);
    std::vector<PlacedParticles> parts;
    for (int k = 0; k < count; ++k)
        parts.push_back(
            {&fish,
             {{0.01 * k, 0.07, 0.06 + 0.12 * k}, rotation_from_vector({0.5 * EIGEN_PI, 0, 0})}});
    ParticleBodyOptions options;
    options.dynamics.planes = {
        {}, {{1, 0, 0}, -0.2}, {{-1, 0, 0}, -0.2}, {{0, 1, 0}, -0.12}, {{0, -1, 0}, -0.12}};
    options.dynamics.damping = 1;
    auto body = std::make_shared<ParticleBody>(combine(parts), options);
    body->set_gravity({0, 0, -9.81});
    for (int k = 0; k < 1000; ++k) body->step(1e-3);
    return body;
}

Workload pile_workload() {
    const auto body = fish_pile(4);
    Workload workload;
    workload.run = [body] {
        body->step(1e-3);
        return body->state().position[7].z() + body->step_report().num_contacts;
    };
    return workload;
}

Workload skinning_workload() {
    const auto body = fish_pile(4);
    const auto display = body->display();
    const auto state =
        std::make_shared<std::vector<float>>(static_cast<std::size_t>(display->state_size()));
    const auto x = std::make_shared<std::vector<float>>(3 * body->surface().vertices.size());
    body->write_display(*state);
    Workload workload;
    workload.operations = static_cast<double>(body->surface().vertices.size());
    workload.run = [body, display, state, x] {
        display->positions(*state, *x);
        return static_cast<double>((*x)[5]);
    };
    return workload;
}

}  // namespace

std::vector<Benchmark> particles_benchmarks() {
    return {{.module = "particles",
             .name = "match_group/27/n=512",
             .setup = [] { return matching_workload(10, 10, 10); },
             .max_us = 0.12,
             .samples = 400},
            {.module = "particles",
             .name = "match_group/9/n=961",
             .setup = [] { return matching_workload(33, 33, 1); },
             .max_us = 0.06,
             .samples = 400},
            {.module = "particles",
             .name = "step/four_fish/n=548",
             .setup = pile_workload,
             .max_us = 1000,
             .samples = 3000},
            {.module = "particles",
             .name = "skin_vertex/four_fish",
             .setup = skinning_workload,
             .samples = 400}};
}

}  // namespace pliant::bench
