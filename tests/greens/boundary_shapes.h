#pragma once

#include <cmath>
#include <map>

#include "core/numbers.h"
#include "pliant/geometry/subdivision.h"

namespace pliant::test {

/// An icosahedron, split `levels` times and projected onto a sphere: 10·4^levels + 2 vertices.
inline SurfaceMesh sphere_surface(int levels, double radius = 1) {
    const double g = (1 + std::sqrt(5.0)) / 2;
    SurfaceMesh mesh;
    mesh.vertices = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                     {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
    mesh.triangles = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                      {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                      {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                      {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
    for (int level = 0; level < levels; ++level) {
        mesh = midpoint_subdivide(mesh, 1).mesh;
        for (Eigen::Vector3d& x : mesh.vertices) x.normalize();
    }
    for (Eigen::Vector3d& x : mesh.vertices) x = radius * x.normalized();
    return mesh;
}

/// The unit cube [0, 1]³ with n×n squares on each face, their diagonals turned by turns.
inline SurfaceMesh cube_surface(int n) {
    SurfaceMesh mesh;
    std::map<std::array<int, 3>, int> places;
    const auto vertex = [&](const std::array<int, 3>& p) {
        const auto [place, is_new] = places.try_emplace(p, mesh.num_vertices());
        if (is_new) mesh.vertices.push_back(Eigen::Vector3d(p[0], p[1], p[2]) / n);
        return place->second;
    };
    for (int axis = 0; axis < 3; ++axis)
        for (int side = 0; side < 2; ++side)
            for (int a = 0; a < n; ++a)
                for (int b = 0; b < n; ++b) {
                    const auto corner = [&](int da, int db) {
                        std::array<int, 3> p;
                        p[at(axis)] = side * n;
                        p[at((axis + 1) % 3)] = a + da;
                        p[at((axis + 2) % 3)] = b + db;
                        return vertex(p);
                    };
                    const int q[4] = {corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)};
                    Triangle s{q[0], q[1], q[3]}, t{q[1], q[2], q[3]};
                    if ((a + b) % 2 != 0) s = {q[0], q[1], q[2]}, t = {q[0], q[2], q[3]};
                    if (side == 0) std::swap(s[1], s[2]), std::swap(t[1], t[2]);
                    mesh.triangles.push_back(s);
                    mesh.triangles.push_back(t);
                }
    return mesh;
}

}  // namespace pliant::test
