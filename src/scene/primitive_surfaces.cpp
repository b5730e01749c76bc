#include "scene/primitive_surfaces.h"

#include <cmath>
#include <map>
#include <numbers>

namespace pliant {
namespace {

/// The convex hull of eight corners in the order of hexes: 0–3 anticlockwise at the bottom.
const std::array<Triangle, 12> kBoxTriangles{{{0, 2, 1},
                                              {0, 3, 2},
                                              {4, 5, 6},
                                              {4, 6, 7},
                                              {0, 1, 5},
                                              {0, 5, 4},
                                              {1, 2, 6},
                                              {1, 6, 5},
                                              {2, 3, 7},
                                              {2, 7, 6},
                                              {3, 0, 4},
                                              {3, 4, 7}}};

SurfaceMesh octahedron() {
    SurfaceMesh mesh;
    for (int axis = 0; axis < 3; ++axis) {
        mesh.vertices.emplace_back(Eigen::Vector3d::Unit(axis));
        mesh.vertices.emplace_back(-Eigen::Vector3d::Unit(axis));
    }
    mesh.triangles = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                      {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
    return mesh;
}

/// Each triangle into four, new vertices on the unit sphere.
void subdivide_on_sphere(SurfaceMesh& mesh) {
    std::map<std::pair<int, int>, int> middles;
    const auto middle = [&](int a, int b) {
        const auto [entry, is_new] = middles.try_emplace(std::minmax(a, b), mesh.num_vertices());
        if (is_new) {
            const Eigen::Vector3d sum = mesh.vertices[static_cast<std::size_t>(a)] +
                                        mesh.vertices[static_cast<std::size_t>(b)];
            mesh.vertices.push_back(sum.normalized());
        }
        return entry->second;
    };
    std::vector<Triangle> finer;
    for (const auto& [a, b, c] : mesh.triangles) {
        const int ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
        finer.insert(finer.end(), {{a, ab, ca}, {b, bc, ab}, {c, ca, bc}, {ab, bc, ca}});
    }
    mesh.triangles = std::move(finer);
}

}  // namespace

SurfaceMesh sphere_surface(double radius) {
    SurfaceMesh mesh = octahedron();
    for (int level = 0; level < 4; ++level) subdivide_on_sphere(mesh);
    for (Eigen::Vector3d& x : mesh.vertices) x *= radius;
    return mesh;
}

SurfaceMesh box_surface(const Eigen::Vector3d& sizes) {
    SurfaceMesh mesh;
    const Eigen::Vector3d half = 0.5 * sizes;
    for (const double z : {-half.z(), half.z()}) {
        mesh.vertices.emplace_back(-half.x(), -half.y(), z);
        mesh.vertices.emplace_back(half.x(), -half.y(), z);
        mesh.vertices.emplace_back(half.x(), half.y(), z);
        mesh.vertices.emplace_back(-half.x(), half.y(), z);
    }
    mesh.triangles.assign(kBoxTriangles.begin(), kBoxTriangles.end());
    return mesh;
}

SurfaceMesh capsule_surface(double radius, double length) {
    constexpr int kAround = 32, kRingsPerEnd = 8;
    SurfaceMesh mesh;
    // rings from the south pole up: those of the lower half sphere, then of the upper one
    mesh.vertices.emplace_back(0, 0, -0.5 * length - radius);
    for (int ring = 1; ring <= 2 * kRingsPerEnd; ++ring) {
        const bool is_lower = ring <= kRingsPerEnd;
        const int step = is_lower ? ring : ring - 1;  // the equator is there twice
        const double latitude = std::numbers::pi * (step / (2.0 * kRingsPerEnd) - 0.5);
        const double z = radius * std::sin(latitude) + (is_lower ? -0.5 : 0.5) * length;
        for (int k = 0; k < kAround; ++k) {
            const double angle = 2 * std::numbers::pi * k / kAround;
            mesh.vertices.emplace_back(radius * std::cos(latitude) * std::cos(angle),
                                       radius * std::cos(latitude) * std::sin(angle), z);
        }
    }
    mesh.vertices.emplace_back(0, 0, 0.5 * length + radius);

    const auto at = [](int ring, int k) { return 1 + (ring - 1) * kAround + k % kAround; };
    const int last = mesh.num_vertices() - 1;
    for (int k = 0; k < kAround; ++k) {
        mesh.triangles.push_back({0, at(1, k + 1), at(1, k)});
        for (int ring = 1; ring < 2 * kRingsPerEnd; ++ring) {
            mesh.triangles.push_back({at(ring, k), at(ring, k + 1), at(ring + 1, k + 1)});
            mesh.triangles.push_back({at(ring, k), at(ring + 1, k + 1), at(ring + 1, k)});
        }
        mesh.triangles.push_back({at(2 * kRingsPerEnd, k), at(2 * kRingsPerEnd, k + 1), last});
    }
    return mesh;
}

SurfaceMesh wedge_surface(const Eigen::Vector3d& sizes) {
    SurfaceMesh mesh;
    const double x = 0.5 * sizes.x(), y = 0.5 * sizes.y();
    mesh.vertices = {{-x, -y, 0}, {x, -y, 0},         {x, y, 0},
                     {-x, y, 0},  {0, -y, sizes.z()}, {0, y, sizes.z()}};
    mesh.triangles = {{0, 2, 1}, {0, 3, 2}, {0, 1, 4}, {2, 3, 5},
                      {1, 2, 5}, {1, 5, 4}, {3, 0, 4}, {3, 4, 5}};
    return mesh;
}

SurfaceMesh ground_surface(double size) {
    const double s = 0.5 * size;
    return {{{-s, -s, 0}, {s, -s, 0}, {s, s, 0}, {-s, s, 0}}, {{0, 1, 2}, {0, 2, 3}}};
}

SurfaceMesh sheet_surface(double width, double depth, int across, int along) {
    SurfaceMesh mesh;
    for (int j = 0; j <= along; ++j)
        for (int i = 0; i <= across; ++i)
            mesh.vertices.emplace_back(width * (double(i) / across - 0.5),
                                       depth * (double(j) / along - 0.5), 0.0);
    const auto at = [&](int i, int j) { return i + (across + 1) * j; };
    for (int j = 0; j < along; ++j)
        for (int i = 0; i < across; ++i) {
            mesh.triangles.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
            mesh.triangles.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
        }
    return mesh;
}

SurfaceMesh fan_surface(double radius, int sectors) {
    SurfaceMesh mesh;
    mesh.vertices.emplace_back(0.0, 0.0, 0.0);
    for (int k = 0; k < sectors; ++k) {
        const double angle = 2 * std::numbers::pi * k / sectors;
        mesh.vertices.emplace_back(radius * std::cos(angle), radius * std::sin(angle), 0.0);
        mesh.triangles.push_back({0, 1 + k, 1 + (k + 1) % sectors});
    }
    return mesh;
}

}  // namespace pliant
