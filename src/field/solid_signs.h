#pragma once

#include "pliant/geometry/surface_query.h"
#include "pliant/geometry/surface_topology.h"

namespace pliant::detail {

/// On which side of a solid's surface a point is, once its nearest point is known: what
/// SurfaceQuery::signed_distance does within, for searches whose nearest points are needed too.
class SolidSigns {
public:
    explicit SolidSigns(const SurfaceQuery& solid)
        : solid_(&solid),
          topology_(solid.mesh()),
          normals_(pseudo_normals(solid.mesh(), topology_)) {
        // beside a triangle without area the sum of normals lacks neighbours
        const SurfaceMesh& mesh = solid.mesh();
        for (int t = 0; t < mesh.num_triangles(); ++t) {
            if (!normals_.face[at(t)].isZero(0.0)) continue;
            for (int k = 0; k < 3; ++k) {
                normals_.edge[at(topology_.edge_of(t, k))].setZero();
                normals_.vertex[at(mesh.triangles[at(t)][at(k)])].setZero();
            }
        }
    }

    /// docs/geometry.md eq. (2)
    [[nodiscard]] bool is_inside(const Eigen::Vector3d& x,
                                 const ClosestPoint& nearest) const noexcept {
        const int t = nearest.triangle, k = nearest.feature_index;
        const Eigen::Vector3d& normal =
            nearest.feature == Feature::Face ? normals_.face[at(t)]
            : nearest.feature == Feature::Edge
                ? normals_.edge[at(topology_.edge_of(t, k))]
                : normals_.vertex[at(solid_->mesh().triangles[at(t)][at(k)])];
        if (normal.isZero(0.0)) return solid_->is_inside(x);
        return (x - solid_->mesh().corner(t, k)).dot(normal) < 0;
    }

private:
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }

    const SurfaceQuery* solid_;
    SurfaceTopology topology_;
    PseudoNormals normals_;  // zero where they cannot tell
};

}  // namespace pliant::detail
