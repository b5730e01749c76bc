#pragma once

#include "pliant/geometry/volume_mesh.h"

#include <string>

namespace pliant::reproduce {

/// Few large voxels of a shape that move with a fine mesh of it: pictures of large meshes stay
/// small.
class CarriedBody {
public:
    /// `fine` is the shape in metres, longest side `size`. Small meshes are taken as they are.
    CarriedBody(const VolumeMesh& fine, const std::string& shape, int resolution, double size = 1);

    [[nodiscard]] const VolumeMesh& mesh() const noexcept { return coarse_; }
    /// Displacements of the voxels for those of the fine mesh: of the nearest vertex each.
    [[nodiscard]] Eigen::VectorXd moved(const Eigen::VectorXd& u) const;

private:
    VolumeMesh coarse_;
    std::vector<int> nearest_;
};

}  // namespace pliant::reproduce
