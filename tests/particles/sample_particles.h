#pragma once

#include "pliant/particles/particle_layout.h"

#include <random>

namespace pliant {

/// A block of n₁ × n₂ × n₃ balls, `spacing` apart, each linked with all next to it, also across
/// corners.
inline ParticleLayout particle_block(int nx, int ny, int nz, double spacing = 0.1,
                                     double stiffness = 1) {
    ParticleLayout layout;
    for (int k = 0; k < nz; ++k)
        for (int j = 0; j < ny; ++j)
            for (int i = 0; i < nx; ++i) {
                Particle p;
                p.position = spacing * Eigen::Vector3d(i, j, k);
                p.radii.setConstant(0.4 * spacing);
                p.mass = 0.01;
                p.stiffness = stiffness;
                layout.particles.push_back(p);
            }
    for (int a = 0; a < layout.num_particles(); ++a)
        for (int b = a + 1; b < layout.num_particles(); ++b)
            if ((layout.particles[static_cast<std::size_t>(a)].position -
                 layout.particles[static_cast<std::size_t>(b)].position)
                    .norm() < 1.8 * spacing)
                layout.links.push_back({a, b});
    return layout;
}

/// Balls in a row, each linked with the next.
inline ParticleLayout particle_chain(int count, double spacing = 0.1, double stiffness = 1) {
    ParticleLayout layout = particle_block(count, 1, 1, spacing, stiffness);
    return layout;
}

inline Eigen::Vector3d random_vector(std::mt19937& random) {
    std::normal_distribution<double> normal;
    return {normal(random), normal(random), normal(random)};
}
inline Quaternion random_rotation(std::mt19937& random) {
    std::normal_distribution<double> normal;
    return Quaternion(normal(random), normal(random), normal(random), normal(random)).normalized();
}

}  // namespace pliant
