#include "greens/coarse_hats.h"

#include <Eigen/Geometry>

#include <optional>

#include "core/numbers.h"
#include "pliant/greens/hierarchical_basis.h"

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
    std::vector<CoarseHat> hats(surface.mesh.vertices.size());
    const auto add = [&](int k, int vertex, double weight) {
        CoarseHat& hat = hats[at(k)];
        hat.vertices.push_back(vertex);
        hat.weights.push_back(weight);
        hat.area += weight * areas[at(vertex)];
    };
    const int level = surface.num_levels() - 1;
    std::optional<HierarchicalBasis> basis;
    if (level >= 0) basis.emplace(surface, kinds);
    for (int k = 0; k < num_coarse_vertices(surface); ++k) {
        if (kinds[at(k)] != NodeKind::Free) continue;
        if (!basis) {
            add(k, k, 1);
            continue;
        }
        const WeightedVertices values = basis->values(basis->id(level, k));
        for (std::size_t i = 0; i < values.vertices.size(); ++i)
            add(k, values.vertices[i], values.weights[i]);
    }
    return hats;
}

}  // namespace pliant
