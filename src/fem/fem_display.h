#pragma once

#include "pliant/body/body.h"
#include "pliant/geometry/embedding.h"
#include "pliant/geometry/volume_mesh.h"

namespace pliant {

/// Draws a body of elements: its display state is the pose and the displacements of all nodes.
class FemDisplay final : public BodyDisplay {
public:
    /// `surface_world`: at rest, carried by the nodes of `mesh` through `embedding`.
    FemDisplay(VolumeMesh mesh, SurfaceMesh surface_world, Embedding embedding);

    [[nodiscard]] const SurfaceMesh& surface_world() const noexcept { return surface_; }
    [[nodiscard]] const Embedding& embedding() const noexcept { return embedding_; }

    [[nodiscard]] int state_size() const noexcept override;
    void positions(std::span<const float> state, std::span<float> x) const noexcept override;
    void normals(std::span<const float> x, std::span<float> n) const noexcept override;
    [[nodiscard]] std::vector<std::array<int, 2>> mesh_edges() const override;
    [[nodiscard]] int num_mesh_nodes() const noexcept override;
    void mesh_positions(std::span<const float> state, std::span<float> x) const noexcept override;

private:
    VolumeMesh mesh_;
    SurfaceMesh surface_;
    Embedding embedding_;
};

}  // namespace pliant
