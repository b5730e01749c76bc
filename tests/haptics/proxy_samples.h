#pragma once

#include "haptics/proxy_trials.h"

/// Surfaces of production size for proxies.
namespace pliant::test {

/// A ring of even triangles with slight bumps; n × n vertices.
inline SurfaceMesh bumpy_ring(double radius, double tube, double bumps, int n) {
    SurfaceMesh mesh;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const double a = 2 * kPi * i / n, b = 2 * kPi * j / n;
            const double r = tube * (1 + bumps * std::sin(9 * a) * std::cos(5 * b));
            mesh.vertices.emplace_back((radius + r * std::cos(b)) * std::cos(a),
                                       (radius + r * std::cos(b)) * std::sin(a), r * std::sin(b));
        }
    const auto id = [n](int i, int j) { return i % n * n + j % n; };
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            mesh.triangles.push_back({id(i, j), id(i + 1, j), id(i + 1, j + 1)});
            mesh.triangles.push_back({id(i, j), id(i + 1, j + 1), id(i, j + 1)});
        }
    return mesh;
}

/// 69,938 triangles of 1 to 3 mm.
inline constexpr double kRingRadius = 0.1, kRingTube = 0.05;
inline SurfaceMesh ring_of_70k() { return bumpy_ring(kRingRadius, kRingTube, 0.02, 187); }
/// A way around the ring, `depth` below its surface without bumps.
inline Eigen::Vector3d ring_stroke(double s, double depth) {
    const double a = 0.37 * s / kRingRadius, b = 0.8 * s / kRingTube, r = kRingTube - depth;
    return {(kRingRadius + r * std::cos(b)) * std::cos(a),
            (kRingRadius + r * std::cos(b)) * std::sin(a), r * std::sin(b)};
}

/// Shapes that move the vertices of a mesh along smooth waves: Ū has entries of about `size`.
inline SurfaceShapes waving_shapes(const SurfaceMesh& mesh, int rank, double size) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<Eigen::Vector3d> waves, directions;
    for (int j = 0; j < rank; ++j) {
        waves.emplace_back(8 * uniform(random), 8 * uniform(random), 8 * uniform(random));
        directions.push_back(
            Eigen::Vector3d(uniform(random), uniform(random), uniform(random)).normalized());
    }
    return make_shapes(mesh, rank, [&](const Eigen::Vector3d& v, int j) -> Eigen::Vector3d {
        const auto i = static_cast<std::size_t>(j);
        return size * std::sin(waves[i].dot(v) + j) * directions[i];
    });
}

}  // namespace pliant::test
