#include "particles/particle_display.h"

#include "body/surface_display.h"
#include "core/numbers.h"
#include "particles/skin_kernels.h"

namespace pliant {

using Eigen::Vector3f;

ParticleDisplay::ParticleDisplay(const ParticleModel& model_world)
    : skin_(model_world.skin),
      triangles_(model_world.surface.triangles),
      links_(model_world.layout.links) {
    for (const Eigen::Vector3d& x : model_world.surface.vertices)
        for (const double component : x) rest_.push_back(static_cast<float>(component));
    for (const Particle& p : model_world.layout.particles)
        particles_.push_back(p.position.cast<float>());
}

int ParticleDisplay::state_size() const noexcept {
    return kPoseFloats + kNumbers * num_mesh_nodes();
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

std::vector<std::array<int, 2>> ParticleDisplay::mesh_edges() const { return links_; }

int ParticleDisplay::num_mesh_nodes() const noexcept { return static_cast<int>(particles_.size()); }

void ParticleDisplay::mesh_positions(std::span<const float> state,
                                     std::span<float> x) const noexcept {
    for (std::size_t i = 0; i < particles_.size(); ++i)
        for (std::size_t c = 0; c < 3; ++c)
            x[3 * i + c] = state[at(kPoseFloats) + at(kNumbers) * i + c];
}

}  // namespace pliant
