#pragma once

#include "pliant/core/parallel.h"
#include "pliant/field/distance_grid.h"
#include "pliant/geometry/polygonize.h"

#include <algorithm>
#include <functional>

namespace pliant::test {

/// A solid by its exact distance, as a dense grid and as a mesh.
struct ShellSample {
    DistanceGrid field;
    SurfaceMesh surface;
};

/// `resolution` cells along each side of a box 1.3 times as large as `box`.
inline DistanceGrid sampled_field(const std::function<double(const Eigen::Vector3d&)>& distance,
                                  const Box& box, int resolution) {
    GridFrame frame;
    const double side = 1.3 * box.sizes().maxCoeff();
    frame.cell = side / resolution;
    frame.low = box.center() - Eigen::Vector3d::Constant(side / 2);
    frame.cells = {resolution, resolution, resolution};
    const auto n = static_cast<std::size_t>(resolution) + 1;
    std::vector<float> values(n * n * n);
    parallel_for(n, 1, [&](std::size_t k) {
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t i = 0; i < n; ++i)
                values[(k * n + j) * n + i] = static_cast<float>(distance(
                    frame.vertex(static_cast<int>(i), static_cast<int>(j), static_cast<int>(k))));
    });
    return DistanceGrid::dense(frame, std::move(values), 0.0f);
}

inline ShellSample sample_of(const Implicit& body, int resolution = 64) {
    return {sampled_field(body, body.box(), resolution), polygonize(body, {.resolution = 32})};
}

inline ShellSample unit_sphere(int resolution = 64) {
    return sample_of(implicit::sphere(Eigen::Vector3d::Zero(), 1), resolution);
}

inline ShellSample torus() {
    return sample_of(implicit::torus(Eigen::Vector3d::Zero(), Eigen::Vector3d::UnitZ(), 1.0, 0.4));
}

/// Exact also inside, unlike implicit::box.
inline double box_distance(const Eigen::Vector3d& x, const Eigen::Vector3d& half) {
    const Eigen::Array3d q = x.array().abs() - half.array();
    return q.max(0.0).matrix().norm() + std::min(q.maxCoeff(), 0.0);
}

}  // namespace pliant::test
