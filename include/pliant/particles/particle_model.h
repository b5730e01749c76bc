#pragma once

#include "pliant/core/archive.h"
#include "pliant/particles/particle_layout.h"

#include <span>

namespace pliant {

/// Up to kInfluences particles that carry each vertex, weights adding up to one.
struct SkinWeights {
    static constexpr int kInfluences = 4;
    std::vector<std::array<int, kInfluences>> particles;  ///< unused places: any, weight zero
    std::vector<std::array<float, kInfluences>> weights;
};
/// By the inverse square of the distance at rest, fading out towards the fifth nearest,
/// docs/particles.md eq. (8).
[[nodiscard]] SkinWeights skin_weights(const ParticleLayout& layout,
                                       const std::vector<Eigen::Vector3d>& vertices);

/// A body of oriented particles and the surface they carry. Immutable once built.
struct ParticleModel {
    static constexpr const char* kArchiveKind = "particle-model";

    ParticleLayout layout;
    SurfaceMesh surface;
    SkinWeights skin;

    [[nodiscard]] double mass() const noexcept;
};
/// Checks the layout, also against the surface, and finds the weights.
[[nodiscard]] ParticleModel make_particle_model(ParticleLayout layout, SurfaceMesh surface,
                                                const std::string& name = {});
/// Several models, each at a pose, as one of as many objects more.
struct PlacedParticles {
    const ParticleModel* model;
    Pose pose;
};
[[nodiscard]] ParticleModel combine(std::span<const PlacedParticles> parts);

/// A `.pliant` file of kind "particle-model". Loading checks everything.
void save_particle_model(const ParticleModel& model, const std::filesystem::path& path,
                         const Provenance& provenance = {});
[[nodiscard]] ParticleModel read_particle_model(const Archive& archive, const std::string& name);
[[nodiscard]] ParticleModel load_particle_model(const std::filesystem::path& path);

}  // namespace pliant
