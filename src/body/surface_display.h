#pragma once

#include "pliant/body/body.h"

namespace pliant {

/// A pose as the first kPoseFloats numbers of a display state.
void write_pose(const Pose& pose, std::span<float> state) noexcept;

/// A pose read back from a display state, ready to move many points.
struct DisplayPose {
    explicit DisplayPose(std::span<const float> state) noexcept;
    [[nodiscard]] Eigen::Vector3f to_world(const Eigen::Vector3f& x_body) const noexcept {
        return rotation * x_body + position;
    }

    Eigen::Matrix3f rotation;
    Eigen::Vector3f position;
};

/// Unit normals at the vertices x of triangles, averaged over faces by area; zero where there is
/// none. What BodyDisplay::normals promises.
void area_weighted_normals(const std::vector<Triangle>& triangles, std::span<const float> x,
                           std::span<float> n) noexcept;

/// Display of a surface that only its pose moves.
class PosedSurfaceDisplay final : public BodyDisplay {
public:
    explicit PosedSurfaceDisplay(const SurfaceMesh& surface);

    [[nodiscard]] int state_size() const noexcept override { return kPoseFloats; }
    void positions(std::span<const float> state, std::span<float> x) const noexcept override;
    void normals(std::span<const float> x, std::span<float> n) const noexcept override;
    [[nodiscard]] std::vector<std::array<int, 2>> mesh_edges() const override { return {}; }
    [[nodiscard]] int num_mesh_nodes() const noexcept override { return 0; }
    void mesh_positions(std::span<const float>, std::span<float>) const noexcept override {}

private:
    std::vector<Eigen::Vector3f> vertices_;
    std::vector<Triangle> triangles_;
};

}  // namespace pliant
