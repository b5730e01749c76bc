#pragma once

#include <array>
#include <vector>

#include <Eigen/Core>

#include "greens/surface_walk.h"
#include "pliant/geometry/subdivision.h"
#include "pliant/geometry/surface_topology.h"

namespace pliant {

/// Where the field around one vertex is found around another one, displaced along the surface,
/// docs/greens-measured.md eq. (M6). The surface must outlive it. Immutable.
class ShiftedColumns {
public:
    explicit ShiftedColumns(const SurfaceMesh& mesh);

    /// Vertices at most `rings` edges from `vertex`, which comes first.
    [[nodiscard]] std::vector<int> near(int vertex, int rings) const;
    /// The point that lies from `from` as `row` does from `to`.
    [[nodiscard]] SurfaceWalk::Place shifted(int row, int to, int from) const;

private:
    /// In the tangent plane, of the length of x.
    [[nodiscard]] Eigen::Vector3d flattened(const Eigen::Vector3d& x, int vertex) const;

    const SurfaceMesh& mesh_;
    SurfaceTopology topology_;
    SurfaceWalk walk_;
    std::vector<Eigen::Vector3d> normals_;
};

}  // namespace pliant
