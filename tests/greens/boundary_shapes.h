#pragma once

#include <array>
#include <map>
#include <utility>

#include "core/numbers.h"
#include "pliant/geometry/surface_mesh.h"

namespace pliant::test {

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
