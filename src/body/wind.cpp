#include "body/wind.h"

#include "geometry/triangle.h"

#include <cmath>

namespace pliant {

using Eigen::Vector3d;

std::vector<Vector3d> wind_forces(const SurfaceMesh& surface, const Vector3d& direction) {
    std::vector<Vector3d> forces(surface.vertices.size(), Vector3d::Zero());
    const Vector3d d = unit_or_zero(direction);
    if (!d.allFinite()) return forces;
    for (int t = 0; t < surface.num_triangles(); ++t) {
        const Vector3d twice_area =
            area_vector(surface.corner(t, 0), surface.corner(t, 1), surface.corner(t, 2));
        // false for triangles that are not finite, too
        const double facing = -twice_area.dot(d);
        if (!(facing > 0) || !std::isfinite(facing)) continue;
        for (const int v : surface.triangles[static_cast<std::size_t>(t)])
            forces[static_cast<std::size_t>(v)] += facing / 6 * d;
    }
    return forces;
}

}  // namespace pliant
