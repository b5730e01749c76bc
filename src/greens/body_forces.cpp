#include "greens/body_forces.h"

#include <cmath>

#include "core/numbers.h"
#include "geometry/triangle.h"
#include "greens/graded_quadrature.h"
#include "greens/kelvin.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"

namespace pliant {

Eigen::MatrixXd volume_integral(const SurfaceMesh& mesh, const BoundaryOptions& options,
                                const Eigen::Vector3d& x) {
    const bool is_elastic = options.physics == BoundaryPhysics::Elastic;
    const KelvinFactors factors(options.poisson_ratio);
    Eigen::Matrix3d sum = Eigen::Matrix3d::Zero();
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const TriangleCorners corners{mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2)};
        const Eigen::Vector3d normal = area_vector(corners[0], corners[1], corners[2]) / 2;
        // u* falls like 1/r, so div(r u*) = 2 u*; r·n is the same all over a flat triangle, and
        // zero but for rounding where x is in its plane
        const double height = normal.dot(corners[0] - x);
        if (std::abs(height) <= 1e-13 * normal.norm() * (x.norm() + longest_side(corners)))
            continue;
        for_each_point(corners, x, [&](const Eigen::Vector3d& y, const Eigen::Vector3d&, double w) {
            if (is_elastic)
                sum += w * height / 2 * kelvin_displacement(factors, y - x);
            else
                sum(0, 0) += w * height / 2 * laplace_potential(y - x);
        });
    }
    if (is_elastic) return sum;
    return sum.topLeftCorner<1, 1>();
}

Eigen::MatrixXd gravity_columns(const SurfaceMesh& mesh, const BoundaryNodes& nodes,
                                const BoundaryOptions& options) {
    if (options.is_exterior)
        throw InputError("",
                         "a constant body force has no finite effect in the unbounded body of an "
                         "exterior problem; use loads on its surface or concentrated forces");
    const int block = options.physics == BoundaryPhysics::Elastic ? 3 : 1;
    Eigen::MatrixXd columns(block * nodes.num_nodes(), block);
    parallel_for(at(nodes.num_nodes()), 16, [&](std::size_t i) {
        columns.middleRows(block * static_cast<int>(i), block) =
            volume_integral(mesh, options, nodes.targets[i]);
    });
    return columns;
}

}  // namespace pliant
