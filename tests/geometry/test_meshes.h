#pragma once

#include "pliant/core/hash.h"
#include "pliant/geometry/surface_mesh.h"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

/// Small meshes for tests. The closed ones share vertices and are oriented outwards.
namespace pliant::test {

/// A quad of vertices 0 to 3.
inline const std::vector<Triangle> kSquareFan = {{0, 1, 2}, {0, 2, 3}};

inline std::uint64_t fingerprint(const SurfaceMesh& mesh) {
    return hash_bytes(mesh.vertices.data(), mesh.vertices.size() * sizeof(Eigen::Vector3d),
                      hash_bytes(mesh.triangles.data(), mesh.triangles.size() * sizeof(Triangle)));
}

/// Uniform numbers that are the same on every platform.
class Random {
public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    double uniform(double low, double high) {
        return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
    }
    int below(int bound) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(bound)); }
    Eigen::Vector3d in_cube(double half_side) {
        const double x = uniform(-half_side, half_side), y = uniform(-half_side, half_side);
        return {x, y, uniform(-half_side, half_side)};
    }
    Eigen::Vector3d direction() {
        const double z = uniform(-1.0, 1.0), angle = uniform(0.0, 2.0 * std::numbers::pi);
        const double r = std::sqrt(1.0 - z * z);
        return {r * std::cos(angle), r * std::sin(angle), z};
    }

private:
    std::mt19937_64 engine_;
};

/// Latitudes and longitudes round the z axis: `rings` bands of 2 `rings` sectors, 4 rings (rings −
/// 1) triangles; rings ≥ 2. All vertices lie on the sphere round the origin.
inline SurfaceMesh make_sphere(double r, int rings) {
    const int sectors = 2 * rings;
    SurfaceMesh mesh;
    mesh.vertices.emplace_back(0.0, 0.0, r);
    for (int i = 1; i < rings; ++i) {
        const double theta = std::numbers::pi * i / rings;
        for (int j = 0; j < sectors; ++j) {
            const double phi = 2.0 * std::numbers::pi * j / sectors;
            mesh.vertices.emplace_back(r * std::sin(theta) * std::cos(phi),
                                       r * std::sin(theta) * std::sin(phi), r * std::cos(theta));
        }
    }
    mesh.vertices.emplace_back(0.0, 0.0, -r);
    const int south = mesh.num_vertices() - 1;
    const auto at = [&](int ring, int sector) {
        return 1 + (ring - 1) * sectors + sector % sectors;
    };
    for (int j = 0; j < sectors; ++j) mesh.triangles.push_back({0, at(1, j), at(1, j + 1)});
    for (int i = 1; i + 1 < rings; ++i)
        for (int j = 0; j < sectors; ++j) {
            mesh.triangles.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
            mesh.triangles.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
        }
    for (int j = 0; j < sectors; ++j)
        mesh.triangles.push_back({at(rings - 1, j), south, at(rings - 1, j + 1)});
    return mesh;
}

/// Ring of radius R in the plane z = 0, tube radius r; n steps round the ring, m round the tube.
inline SurfaceMesh make_torus(double R, double r, int n, int m) {
    SurfaceMesh mesh;
    for (int i = 0; i < n; ++i) {
        const double u = 2.0 * std::numbers::pi * i / n;
        for (int j = 0; j < m; ++j) {
            const double v = 2.0 * std::numbers::pi * j / m, rho = R + r * std::cos(v);
            mesh.vertices.emplace_back(rho * std::cos(u), rho * std::sin(u), r * std::sin(v));
        }
    }
    const auto at = [&](int i, int j) { return (i % n) * m + j % m; };
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < m; ++j) {
            mesh.triangles.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
            mesh.triangles.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
        }
    return mesh;
}

/// The unit cube [0, 1]³ of twelve triangles; vertex k sits at the bits (x = 1, y = 2, z = 4) of k.
inline SurfaceMesh make_cube() {
    SurfaceMesh mesh;
    for (int k = 0; k < 8; ++k) mesh.vertices.emplace_back(k & 1, (k >> 1) & 1, (k >> 2) & 1);
    mesh.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6},   // bottom, top
                      {0, 1, 5}, {0, 5, 4}, {2, 6, 7}, {2, 7, 3},   // y = 0, y = 1
                      {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};  // x = 0, x = 1
    return mesh;
}

/// n unit squares close above each other that all face upwards: below them the winding number
/// exceeds 1/2 far beyond their box.
inline SurfaceMesh make_stack_of_sheets(int n = 40) {
    SurfaceMesh mesh;
    for (int k = 0; k < n; ++k) {
        const double z = 1e-3 * k;
        mesh.vertices.insert(mesh.vertices.end(), {{0, 0, z}, {1, 0, z}, {1, 1, z}, {0, 1, z}});
        for (const Triangle& t : kSquareFan)
            mesh.triangles.push_back({4 * k + t[0], 4 * k + t[1], 4 * k + t[2]});
    }
    return mesh;
}

/// n separate triangles with edges of about 0.2 in the cube [−1, 1]³.
inline SurfaceMesh make_random_soup(int n, std::uint64_t seed) {
    Random random(seed);
    SurfaceMesh mesh;
    for (int i = 0; i < n; ++i) {
        const Eigen::Vector3d centre = random.in_cube(0.9);
        for (int k = 0; k < 3; ++k) mesh.vertices.push_back(centre + random.in_cube(0.1));
        mesh.triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
    }
    return mesh;
}

/// On, near and around the mesh, at corners and on sides too.
inline std::vector<Eigen::Vector3d> sample_points(const SurfaceMesh& mesh, int count,
                                                  std::uint64_t seed) {
    Random random(seed);
    const Box box = bounding_box(mesh.vertices);
    const double size = box.sizes().maxCoeff();
    std::vector<Eigen::Vector3d> points;
    for (int i = 0; i < count; ++i) {
        const int t = random.below(mesh.num_triangles());
        const Eigen::Vector3d a = mesh.corner(t, 0), b = mesh.corner(t, 1), c = mesh.corner(t, 2);
        switch (i % 6) {
            case 0: points.push_back(a); break;
            case 1: points.push_back(0.5 * (a + b)); break;
            case 2: points.push_back((a + b + c) / 3.0 + random.in_cube(1e-3 * size)); break;
            case 3: points.push_back(box.center() + random.in_cube(0.6 * size)); break;
            case 4: points.push_back(box.center() + random.in_cube(20 * size)); break;
            default: points.push_back(0.5 * (a + b) + random.in_cube(1e-9 * size)); break;
        }
    }
    return points;
}

/// A closed wedge with an edge of about 6 degrees along the y axis, opening towards +x.
inline SurfaceMesh make_wedge() {
    SurfaceMesh mesh;
    for (const double y : {0.0, 1.0})
        for (const auto& [px, pz] : {std::pair{0.0, 0.0}, {1.0, -0.05}, {1.0, 0.05}})
            mesh.vertices.emplace_back(px, y, pz);
    mesh.triangles = {{0, 1, 2}, {3, 5, 4}, {0, 3, 4}, {0, 4, 1},
                      {0, 2, 5}, {0, 5, 3}, {1, 4, 5}, {1, 5, 2}};
    return mesh;
}

}  // namespace pliant::test
