#pragma once

#include "pliant/body/body.h"
#include "pliant/reduction/reduced_model.h"

namespace pliant {

/// Display of the bodies of a reduced model: state is the pose of the rest shape's axes and q,
/// docs/reduction.md eq. (27). Nodes of the simulation mesh move with the basis itself.
class ReducedDisplay final : public BodyDisplay {
public:
    explicit ReducedDisplay(ReducedModel model);

    [[nodiscard]] int state_size() const noexcept override;
    void positions(std::span<const float> state, std::span<float> x) const noexcept override;
    void normals(std::span<const float> x, std::span<float> n) const noexcept override;
    [[nodiscard]] std::vector<std::array<int, 2>> mesh_edges() const override;
    [[nodiscard]] int num_mesh_nodes() const noexcept override;
    void mesh_positions(std::span<const float> state, std::span<float> x) const noexcept override;

private:
    ReducedModel model_;
    SurfaceShapes shapes_;
    Eigen::VectorXf nodes_;  ///< x y z of the simulation mesh at rest
};

}  // namespace pliant
