#pragma once

#include "pliant/geometry/volume_mesh.h"

#include <algorithm>
#include <array>
#include <vector>

/// Slow and obvious looks at meshes of axis-parallel cubes.
namespace pliant::test {

inline Box cell_box(const VolumeMesh& mesh, int e) {
    Box box;
    for (const int v : mesh.element(e)) box.extend(mesh.vertices[static_cast<std::size_t>(v)]);
    return box;
}

inline double volume_of_cells(const VolumeMesh& mesh, bool weighted) {
    double volume = 0;
    for (int e = 0; e < mesh.num_elements(); ++e)
        volume += cell_box(mesh, e).volume() *
                  (weighted ? mesh.filled[static_cast<std::size_t>(e)] : 1.0);
    return volume;
}

/// Each element is a cube with its corners in VTK order.
inline bool are_cubes_in_vtk_order(const VolumeMesh& mesh) {
    constexpr std::array<std::array<int, 3>, 8> kUnit{
        {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}}};
    for (int e = 0; e < mesh.num_elements(); ++e) {
        const Box box = cell_box(mesh, e);
        const double side = box.sizes().x();
        for (std::size_t k = 0; k < 8; ++k) {
            const Eigen::Vector3d expected =
                box.min() + side * Eigen::Vector3d(kUnit[k][0], kUnit[k][1], kUnit[k][2]);
            const auto v = static_cast<std::size_t>(mesh.element(e)[k]);
            if ((mesh.vertices[v] - expected).norm() > 1e-12 * (1 + side)) return false;
        }
    }
    return true;
}

inline bool is_every_vertex_used(const VolumeMesh& mesh) {
    std::vector<char> used(mesh.vertices.size(), 0);
    for (const int v : mesh.elements) used[static_cast<std::size_t>(v)] = 1;
    return std::count(used.begin(), used.end(), 1) == mesh.num_vertices();
}

/// Vertices run by z, then y, then x. `step` is below half the smallest spacing.
inline bool is_ordered(const VolumeMesh& mesh, double step) {
    return std::is_sorted(mesh.vertices.begin(), mesh.vertices.end(),
                          [step](const Eigen::Vector3d& a, const Eigen::Vector3d& b) {
                              for (int axis = 2; axis >= 0; --axis)
                                  if (std::abs(a[axis] - b[axis]) > step) return a[axis] < b[axis];
                              return false;
                          });
}

/// How many of the points lie in no element, allowing for `slack` metres.
inline int num_uncovered(const VolumeMesh& mesh, const std::vector<Eigen::Vector3d>& points,
                         double slack) {
    std::vector<Box> boxes;
    for (int e = 0; e < mesh.num_elements(); ++e) boxes.push_back(cell_box(mesh, e));
    return static_cast<int>(
        std::count_if(points.begin(), points.end(), [&](const Eigen::Vector3d& x) {
            return std::none_of(boxes.begin(), boxes.end(),
                                [&](const Box& box) { return box.exteriorDistance(x) <= slack; });
        }));
}

inline bool same_mesh(const VolumeMesh& a, const VolumeMesh& b) {
    const auto same_hanging = [](const HangingNode& p, const HangingNode& q) {
        return p.vertex == q.vertex && p.num_masters == q.num_masters && p.masters == q.masters &&
               p.weight == q.weight;
    };
    return a.kind == b.kind && a.vertices == b.vertices && a.elements == b.elements &&
           a.filled == b.filled &&
           std::equal(a.hanging.begin(), a.hanging.end(), b.hanging.begin(), b.hanging.end(),
                      same_hanging);
}

inline SurfaceMesh moved(SurfaceMesh mesh, const Eigen::Vector3d& shift) {
    for (Eigen::Vector3d& v : mesh.vertices) v += shift;
    return mesh;
}

inline SurfaceMesh flipped(SurfaceMesh mesh) {
    for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
    return mesh;
}

inline SurfaceMesh joined(SurfaceMesh a, const SurfaceMesh& b) {
    append(a, b);
    return a;
}

/// The square [0, 1]² in the plane z = 0 of two triangles that face +z.
inline SurfaceMesh make_sheet() {
    SurfaceMesh mesh;
    mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
    mesh.triangles = {{0, 1, 2}, {0, 2, 3}};
    return mesh;
}

}  // namespace pliant::test
