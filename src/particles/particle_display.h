#pragma once

#include "pliant/body/body.h"
#include "pliant/particles/particle_model.h"

namespace pliant {

/// Draws a body of particles: its display state is the pose, then place and turn (w, x, y, z) of
/// each. The simulation mesh that is shown are the particles, as three ellipses each, and links.
class ParticleDisplay final : public BodyDisplay {
public:
    static constexpr int kNumbers = 7;     ///< of a particle
    static constexpr int kRingNodes = 10;  ///< of an ellipse

    /// At rest in the world.
    explicit ParticleDisplay(const ParticleModel& model_world);

    [[nodiscard]] int state_size() const noexcept override;
    void positions(std::span<const float> state, std::span<float> x) const noexcept override;
    void normals(std::span<const float> x, std::span<float> n) const noexcept override;
    [[nodiscard]] std::vector<std::array<int, 2>> mesh_edges() const override;
    [[nodiscard]] int num_mesh_nodes() const noexcept override;
    void mesh_positions(std::span<const float> state, std::span<float> x) const noexcept override;

private:
    SkinWeights skin_;
    std::vector<float> rest_;                 // vertices
    std::vector<Eigen::Vector3f> particles_;  // at rest
    std::vector<Eigen::Matrix3f> axes_;       // half axes of the ellipsoids at rest, in columns
    std::vector<Triangle> triangles_;
    std::vector<std::array<int, 2>> links_;
};

}  // namespace pliant
