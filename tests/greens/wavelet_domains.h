#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "core/numbers.h"
#include "pliant/geometry/subdivision.h"

namespace pliant::test {

/// Twelve vertices on the unit sphere.
inline SurfaceMesh icosahedron() {
    const double p = 0.5 * (1 + std::sqrt(5.0));
    SurfaceMesh mesh;
    for (const double a : {-1.0, 1.0})
        for (const double b : {-p, p}) {
            mesh.vertices.emplace_back(0, a, b);
            mesh.vertices.emplace_back(a, b, 0);
            mesh.vertices.emplace_back(b, 0, a);
        }
    for (Eigen::Vector3d& x : mesh.vertices) x.normalize();
    // faces: triples at the length of an edge from each other, turned outwards
    const auto is_edge = [&](int i, int j) {
        return (mesh.vertices[at(i)] - mesh.vertices[at(j)]).norm() < 1.1;
    };
    for (int i = 0; i < 12; ++i)
        for (int j = i + 1; j < 12; ++j)
            for (int k = j + 1; k < 12; ++k)
                if (is_edge(i, j) && is_edge(j, k) && is_edge(i, k)) {
                    Eigen::Matrix3d corners;
                    corners << mesh.vertices[at(i)], mesh.vertices[at(j)], mesh.vertices[at(k)];
                    if (corners.determinant() > 0)
                        mesh.triangles.push_back({i, j, k});
                    else
                        mesh.triangles.push_back({i, k, j});
                }
    return mesh;
}

/// A blob with two ears, on an icosahedral base: vertices of a sphere, moved along their radii.
inline SemiRegularMesh eared_blob(int levels) {
    SemiRegularMesh blob = midpoint_subdivide(icosahedron(), levels);
    const Eigen::Vector3d ears[] = {Eigen::Vector3d(0.45, 0.1, 0.9).normalized(),
                                    Eigen::Vector3d(-0.45, 0.1, 0.9).normalized()};
    for (Eigen::Vector3d& x : blob.mesh.vertices) {
        x.normalize();
        double radius = 1 + 0.1 * x.x() * x.y();
        for (const Eigen::Vector3d& ear : ears)
            radius += 0.7 * std::exp(-8 * (x - ear).squaredNorm());
        x = radius * Eigen::Vector3d(x.x(), 0.85 * x.y(), 1.1 * x.z());
    }
    return blob;
}

/// A third of the triangles around each vertex.
inline std::vector<double> hat_areas(const SurfaceMesh& mesh) {
    std::vector<double> areas(mesh.vertices.size(), 0.0);
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const Eigen::Vector3d a = mesh.corner(t, 1) - mesh.corner(t, 0),
                              b = mesh.corner(t, 2) - mesh.corner(t, 0);
        for (const int v : mesh.triangles[at(t)])
            areas[at(v)] +=
                Eigen::Vector3d(a.y() * b.z() - a.z() * b.y(), a.z() * b.x() - a.x() * b.z(),
                                a.x() * b.y() - a.y() * b.x())
                    .norm() /
                6;
    }
    return areas;
}

struct NamedDomains {
    std::string name;
    std::vector<int> labels;
};

/// Those of the whole surface, of two halves, and of parts with vertices without neighbours.
inline std::vector<NamedDomains> some_domains(const SemiRegularMesh& mesh) {
    const std::size_t n = mesh.mesh.vertices.size();
    std::vector<NamedDomains> all{{"full", std::vector<int>(n, 0)},
                                  {"cut", std::vector<int>(n, 0)},
                                  {"strip", std::vector<int>(n, -1)},
                                  {"patch", std::vector<int>(n, -1)},
                                  {"random", std::vector<int>(n, -1)}};
    std::mt19937 random(7);
    for (std::size_t v = 0; v < n; ++v) {
        const Eigen::Vector3d& x = mesh.mesh.vertices[v];
        if (x.z() < -0.5) all[1].labels[v] = 1;
        if (std::abs(x.x() - 0.31) < 0.12) all[2].labels[v] = 0;
        // no vertex of the base
        if ((x - mesh.mesh.vertices.back()).norm() < 0.3) all[3].labels[v] = 0;
        if (random() % 5 < 2) all[4].labels[v] = 0;
    }
    return all;
}

}  // namespace pliant::test
