#include "carried_body.h"

#include <limits>
#include <numeric>

#include "pliant/geometry/shapes.h"
#include "pliant/geometry/simulation_mesh.h"

namespace pliant::reproduce {

CarriedBody::CarriedBody(const VolumeMesh& fine, const std::string& shape, int resolution,
                         double size) {
    constexpr int kFewElements = 1000;
    if (fine.num_elements() <= kFewElements) {
        coarse_ = fine;
        nearest_.resize(fine.vertices.size());
        std::iota(nearest_.begin(), nearest_.end(), 0);
        return;
    }
    SurfaceMesh surface = make_shape(shape);
    const double scale = size / bounding_box(surface.vertices).sizes().maxCoeff();
    for (Eigen::Vector3d& x : surface.vertices) x *= scale;
    coarse_ = build_simulation_mesh(SurfaceQuery(surface),
                                    {.kind = "voxel", .resolution = resolution, .is_hollow = true});
    for (const Eigen::Vector3d& x : coarse_.vertices) {
        int best = -1;
        double least = std::numeric_limits<double>::infinity();
        for (int i = 0; i < fine.num_vertices(); ++i) {
            const double square = (fine.vertices[static_cast<std::size_t>(i)] - x).squaredNorm();
            if (square >= least) continue;
            least = square;
            best = i;
        }
        nearest_.push_back(best);
    }
}

Eigen::VectorXd CarriedBody::moved(const Eigen::VectorXd& u) const {
    Eigen::VectorXd moved(3 * coarse_.num_vertices());
    for (int i = 0; i < coarse_.num_vertices(); ++i)
        moved.segment<3>(3 * i) = u.segment<3>(3 * nearest_[static_cast<std::size_t>(i)]);
    return moved;
}

}  // namespace pliant::reproduce
