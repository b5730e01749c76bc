#include "greens/surface_walk.h"

#include <algorithm>

#include <Eigen/Geometry>

#include "core/numbers.h"
#include "pliant/geometry/surface_topology.h"

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Triangles crossed by one way; what is left is dropped.
constexpr int kMaxCrossings = 32;

}  // namespace

SurfaceWalk::SurfaceWalk(const SurfaceMesh& mesh) : mesh_(mesh) {
    const SurfaceTopology topology(mesh);
    facets_.resize(mesh.triangles.size());
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        Facet& facet = facets_[at(t)];
        const Vector3d area =
            (mesh.corner(t, 1) - mesh.corner(t, 0)).cross(mesh.corner(t, 2) - mesh.corner(t, 0));
        facet.normal = area.normalized();
        for (int k = 0; k < 3; ++k) {
            const Vector3d edge = mesh.corner(t, (k + 2) % 3) - mesh.corner(t, (k + 1) % 3);
            const Vector3d gradient = area.cross(edge) / area.squaredNorm();
            facet.gradients[at(k)] = gradient.allFinite() ? gradient : Vector3d(Vector3d::Zero());
            facet.neighbours[at(k)] = topology.neighbour(t, (k + 1) % 3);
        }
    }
}

SurfaceWalk::Place SurfaceWalk::walk(Place place, const Vector3d& step) const noexcept {
    const Facet* facet = &facets_[at(place.triangle)];
    Vector3d way = step - step.dot(facet->normal) * facet->normal;
    if (!(way.norm() > 1e-3 * step.norm())) return place;
    way *= step.norm() / way.norm();
    Vector3d& b = place.barycentric;
    for (int crossing = 0; crossing < kMaxCrossings; ++crossing) {
        // how far until a coordinate vanishes
        const Vector3d rates(facet->gradients[0].dot(way), facet->gradients[1].dot(way),
                             facet->gradients[2].dot(way));
        double part = 1;
        int corner = -1;
        for (int k = 0; k < 3; ++k)
            if (rates[k] < 0 && b[k] + part * rates[k] < 0) {
                part = std::max(-b[k] / rates[k], 0.0);
                corner = k;
            }
        b += part * rates;
        if (corner < 0) break;
        b[corner] = 0;
        const int next = facet->neighbours[at(corner)];
        if (next < 0) break;
        // the edge in both triangles
        const auto& here = mesh_.triangles[at(place.triangle)];
        const auto& there = mesh_.triangles[at(next)];
        Vector3d across = Vector3d::Zero();
        int opposite = 0;
        for (int k = 0; k < 3; ++k) {
            bool is_shared = false;
            for (int l = 0; l < 3; ++l)
                if (l != corner && here[at(l)] == there[at(k)]) {
                    across[k] = b[l];
                    is_shared = true;
                }
            if (!is_shared) opposite = k;
        }
        const Vector3d edge = (mesh_.vertices[at(here[at((corner + 2) % 3)])] -
                               mesh_.vertices[at(here[at((corner + 1) % 3)])])
                                  .normalized();
        const Facet& other = facets_[at(next)];
        const double along = way.dot(edge), beyond = (way - along * edge).norm();
        way =
            (1 - part) * (along * edge + beyond * other.gradients[at(opposite)].stableNormalized());
        b = across;
        place.triangle = next;
        facet = &other;
    }
    return place;
}

}  // namespace pliant
