#include "greens/coarse_hats.h"

#include <Eigen/Geometry>

#include "core/numbers.h"

namespace pliant {

int num_coarse_vertices(const SemiRegularMesh& surface) noexcept {
    const int levels = surface.num_levels();
    return levels > 0 ? surface.num_vertices[at(levels - 1)] : surface.mesh.num_vertices();
}

std::vector<double> vertex_areas(const SurfaceMesh& mesh) {
    std::vector<double> areas(mesh.vertices.size(), 0.0);
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const Eigen::Vector3d a = mesh.corner(t, 1) - mesh.corner(t, 0),
                              b = mesh.corner(t, 2) - mesh.corner(t, 0);
        for (const int v : mesh.triangles[at(t)]) areas[at(v)] += a.cross(b).norm() / 6;
    }
    return areas;
}

std::vector<CoarseHat> coarse_hats(const SemiRegularMesh& surface,
                                   const std::vector<NodeKind>& kinds,
                                   const std::vector<double>& areas) {
    const int num_coarse = num_coarse_vertices(surface);
    std::vector<CoarseHat> hats(surface.mesh.vertices.size());
    const auto add = [&](int k, int vertex, double weight) {
        CoarseHat& hat = hats[at(k)];
        hat.vertices.push_back(vertex);
        hat.weights.push_back(weight);
        hat.area += weight * areas[at(vertex)];
    };
    const auto is_free = [&](int v) { return kinds[at(v)] == NodeKind::Free; };
    for (int k = 0; k < num_coarse; ++k)
        if (is_free(k)) add(k, k, 1);
    for (int v = num_coarse; v < surface.mesh.num_vertices(); ++v) {
        if (!is_free(v)) continue;
        const auto& around = surface.neighbourhood[at(v - surface.num_vertices[0])];
        const bool is_first = is_free(around[0]), is_second = is_free(around[1]);
        const double weight = is_first && is_second ? 0.5 : 1;
        if (is_first) add(around[0], v, weight);
        if (is_second) add(around[1], v, weight);
    }
    return hats;
}

}  // namespace pliant
