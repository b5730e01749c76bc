#pragma once

#include "pliant/geometry/surface_mesh.h"

#include <cmath>
#include <numbers>

namespace pliant::test {

/// Closed box with outward triangles, 8 vertices, 12 triangles.
inline SurfaceMesh box_surface(const Eigen::Vector3d& low = Eigen::Vector3d::Zero(),
                               const Eigen::Vector3d& high = Eigen::Vector3d::Ones()) {
    SurfaceMesh mesh;
    for (int i = 0; i < 8; ++i)
        mesh.vertices.emplace_back(i & 1 ? high.x() : low.x(), i & 2 ? high.y() : low.y(),
                                   i & 4 ? high.z() : low.z());
    mesh.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                      {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    return mesh;
}

/// Torus about the z axis, closed and outward: nu × nv vertices, twice as many triangles.
inline SurfaceMesh torus_surface(int nu, int nv, double large = 1.0, double small = 0.4) {
    SurfaceMesh mesh;
    const double turn = 2 * std::numbers::pi;
    for (int i = 0; i < nu; ++i)
        for (int j = 0; j < nv; ++j) {
            const double u = turn * i / nu, v = turn * j / nv, r = large + small * std::cos(v);
            mesh.vertices.emplace_back(r * std::cos(u), r * std::sin(u), small * std::sin(v));
        }
    const auto at = [&](int i, int j) { return (i % nu) * nv + j % nv; };
    for (int i = 0; i < nu; ++i)
        for (int j = 0; j < nv; ++j) {
            mesh.triangles.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
            mesh.triangles.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
        }
    return mesh;
}

/// Band of 2n triangles that joins its ends after half a turn (`twisted`) or plainly.
inline SurfaceMesh band_surface(int n, bool twisted) {
    SurfaceMesh mesh;
    const double turn = 2 * std::numbers::pi;
    for (int i = 0; i < n; ++i) {
        const double u = turn * i / n, tilt = twisted ? u / 2 : 0.3;
        const Eigen::Vector3d out(std::cos(u), std::sin(u), 0), up(0, 0, 1);
        const Eigen::Vector3d across = 0.3 * (std::cos(tilt) * out + std::sin(tilt) * up);
        mesh.vertices.push_back(out - across);
        mesh.vertices.push_back(out + across);
    }
    for (int i = 0; i < n; ++i) {
        const int a = 2 * i, b = a + 1;
        int c = (2 * i + 2) % (2 * n), d = (2 * i + 3) % (2 * n);
        if (twisted && i == n - 1) std::swap(c, d);
        mesh.triangles.push_back({a, c, d});
        mesh.triangles.push_back({a, d, b});
    }
    return mesh;
}

}  // namespace pliant::test
