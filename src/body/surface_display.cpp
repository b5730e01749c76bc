#include "body/surface_display.h"

#include <algorithm>
#include <cassert>

namespace pliant {

using Eigen::Vector3f;

void write_pose(const Pose& pose, std::span<float> state) noexcept {
    assert(state.size() >= static_cast<std::size_t>(kPoseFloats));
    Eigen::Map<Vector3f>(state.data()) = pose.position.cast<float>();
    state[3] = static_cast<float>(pose.rotation.w());
    Eigen::Map<Vector3f>(state.data() + 4) = pose.rotation.vec().cast<float>();
}

DisplayPose::DisplayPose(std::span<const float> state) noexcept {
    assert(state.size() >= static_cast<std::size_t>(kPoseFloats));
    position = Eigen::Map<const Vector3f>(state.data());
    rotation = Eigen::Quaternionf(state[3], state[4], state[5], state[6]).toRotationMatrix();
}

void area_weighted_normals(const std::vector<Triangle>& triangles, std::span<const float> x,
                           std::span<float> n) noexcept {
    assert(n.size() == x.size());
    const auto vertex = [&](int v) {
        return Eigen::Map<const Vector3f>(x.data() + 3 * static_cast<std::size_t>(v));
    };
    const auto normal = [&](int v) {
        return Eigen::Map<Vector3f>(n.data() + 3 * static_cast<std::size_t>(v));
    };
    std::fill(n.begin(), n.end(), 0.0f);
    for (const Triangle& t : triangles) {
        const Vector3f a = vertex(t[0]), b = vertex(t[1]), c = vertex(t[2]);
        const Vector3f twice_area = (b - a).cross(c - a);
        for (const int v : t) normal(v) += twice_area;
    }
    // lengths in double: squares of areas below 1e-19 m² underflow in float
    for (std::size_t v = 0; 3 * v < n.size(); ++v) {
        Eigen::Map<Vector3f> sum(n.data() + 3 * v);
        const double length = sum.cast<double>().norm();
        if (length > 0)
            sum = (sum.cast<double>() / length).cast<float>();
        else
            sum.setZero();
    }
}

PosedSurfaceDisplay::PosedSurfaceDisplay(const SurfaceMesh& surface)
    : triangles_(surface.triangles) {
    vertices_.reserve(surface.vertices.size());
    for (const Eigen::Vector3d& x : surface.vertices) vertices_.push_back(x.cast<float>());
}

void PosedSurfaceDisplay::positions(std::span<const float> state,
                                    std::span<float> x) const noexcept {
    assert(x.size() == 3 * vertices_.size());
    const DisplayPose pose(state);
    for (std::size_t v = 0; v < vertices_.size(); ++v)
        Eigen::Map<Vector3f>(x.data() + 3 * v) = pose.to_world(vertices_[v]);
}

void PosedSurfaceDisplay::normals(std::span<const float> x, std::span<float> n) const noexcept {
    area_weighted_normals(triangles_, x, n);
}

}  // namespace pliant
