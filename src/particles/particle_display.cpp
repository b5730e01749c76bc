#include "particles/particle_display.h"

#include "body/surface_display.h"
#include "core/numbers.h"
#include "particles/skin_kernels.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pliant {

using Eigen::Vector3f;

ParticleDisplay::ParticleDisplay(const ParticleModel& model_world)
    : skin_(model_world.skin),
      triangles_(model_world.surface.triangles),
      links_(model_world.layout.links) {
    for (const Eigen::Vector3d& x : model_world.surface.vertices)
        for (const double component : x) rest_.push_back(static_cast<float>(component));
    for (const Particle& p : model_world.layout.particles) {
        particles_.push_back(p.position.cast<float>());
        axes_.push_back(
            (p.rotation.toRotationMatrix() * p.radii.asDiagonal()).eval().cast<float>());
    }
}

int ParticleDisplay::state_size() const noexcept {
    return kPoseFloats + kNumbers * static_cast<int>(particles_.size());
}

void ParticleDisplay::positions(std::span<const float> state, std::span<float> x) const noexcept {
    // moving surfaces ask in every tick: room that each thread keeps
    thread_local std::vector<SkinPlacement> placements;
    placements.resize(particles_.size());
    for (std::size_t i = 0; i < particles_.size(); ++i) {
        const float* const p = state.data() + kPoseFloats + at(kNumbers) * i;
        const Eigen::Matrix3f T = Eigen::Quaternionf(p[3], p[4], p[5], p[6]).toRotationMatrix();
        const Vector3f shift = Eigen::Map<const Vector3f>(p) - T * particles_[i];
        for (int c = 0; c < 4; ++c) {
            Eigen::Map<Eigen::Vector4f> column(placements[i].columns[c]);
            column << (c < 3 ? Vector3f(T.col(c)) : shift), 0.0f;
        }
    }
    skin_vertices(placements, skin_.particles, skin_.weights, rest_, x);
}

void ParticleDisplay::normals(std::span<const float> x, std::span<float> n) const noexcept {
    area_weighted_normals(triangles_, x, n);
}

std::vector<std::array<int, 2>> ParticleDisplay::mesh_edges() const {
    std::vector<std::array<int, 2>> edges = links_;
    for (int first = static_cast<int>(particles_.size()); first < num_mesh_nodes();
         first += kRingNodes)
        for (int k = 0; k < kRingNodes; ++k)
            edges.push_back({first + k, first + (k + 1) % kRingNodes});
    return edges;
}

int ParticleDisplay::num_mesh_nodes() const noexcept {
    return static_cast<int>(particles_.size()) * (1 + 3 * kRingNodes);
}

/// Centres, then the ellipses across each pair of axes, particle by particle.
void ParticleDisplay::mesh_positions(std::span<const float> state,
                                     std::span<float> x) const noexcept {
    float* out = x.data() + 3 * particles_.size();
    for (std::size_t i = 0; i < particles_.size(); ++i) {
        const float* const p = state.data() + kPoseFloats + at(kNumbers) * i;
        const Vector3f centre = Eigen::Map<const Vector3f>(p);
        Eigen::Map<Vector3f>(x.data() + 3 * i) = centre;
        const Eigen::Matrix3f axes = Eigen::Quaternionf(p[3], p[4], p[5], p[6]) * axes_[i];
        for (int ring = 0; ring < 3; ++ring)
            for (int k = 0; k < kRingNodes; ++k, out += 3) {
                const float angle = 2 * std::numbers::pi_v<float> * float(k) / kRingNodes;
                const Vector3f place = centre + std::cos(angle) * axes.col(ring) +
                                       std::sin(angle) * axes.col((ring + 1) % 3);
                std::copy_n(place.data(), 3, out);
            }
    }
}

}  // namespace pliant
