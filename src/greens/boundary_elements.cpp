#include "pliant/greens/boundary_elements.h"

#include <numbers>
#include <utility>

#include "greens/body_forces.h"
#include "greens/boundary_assembly.h"
#include "greens/boundary_mesh_checks.h"
#include "greens/boundary_nodes.h"
#include "greens/cavity_rows.h"
#include "pliant/core/error.h"
#include "pliant/core/json_value.h"

namespace pliant {
namespace {

SurfaceMesh checked_boundary_mesh(SurfaceMesh mesh, const BoundaryOptions& options) {
    if (!(options.poisson_ratio > -1 && options.poisson_ratio <= 0.5))
        throw InputError("", "poisson_ratio", to_text(JsonValue(options.poisson_ratio)),
                         "-1 < value <= 0.5");
    if (!(options.crease_angle >= 0 && options.crease_angle <= std::numbers::pi))
        throw InputError("", "crease_angle", to_text(JsonValue(options.crease_angle)),
                         "an angle from 0 to pi [rad]");
    check_boundary_mesh(mesh);
    // square roots start from estimates in single precision
    const double size = bounding_box(mesh.vertices).sizes().maxCoeff();
    if (!(size >= 1e-9 && size <= 1e9))
        throw InputError("", "size of the mesh", to_text(JsonValue(size)),
                         "1e-9 to 1e9: choose a unit nearer to its size");
    return mesh;
}

std::shared_ptr<const BoundaryNodes> numbered_nodes(const SurfaceMesh& mesh,
                                                    const BoundaryOptions& options) {
    BoundaryNodes nodes = options.elements == BoundaryElements::Constant
                              ? constant_nodes(mesh)
                              : linear_nodes(mesh, options.crease_angle);
    if (options.is_exterior)
        for (Eigen::Vector3d& normal : nodes.normals) normal = -normal;
    return std::make_shared<const BoundaryNodes>(std::move(nodes));
}

}  // namespace

BoundaryModel::BoundaryModel(SurfaceMesh mesh, const BoundaryOptions& options)
    : mesh_(checked_boundary_mesh(std::move(mesh), options)),
      options_(options),
      nodes_(numbered_nodes(mesh_, options_)),
      assembler_(std::make_shared<const BoundaryAssembler>(mesh_, *nodes_, options_)) {
    if (options_.is_exterior && options_.physics == BoundaryPhysics::Elastic)
        cavity_rows_ = std::make_shared<const CavityRows>(mesh_, *nodes_, options_);
}

int BoundaryModel::num_nodes() const noexcept { return nodes_->num_nodes(); }
const std::vector<Eigen::Vector3d>& BoundaryModel::positions() const noexcept {
    return nodes_->positions;
}
const std::vector<Eigen::Vector3d>& BoundaryModel::normals() const noexcept {
    return nodes_->normals;
}
const std::vector<double>& BoundaryModel::areas() const noexcept { return nodes_->areas; }
const std::vector<std::array<int, 3>>& BoundaryModel::corner_nodes() const noexcept {
    return nodes_->corner_nodes;
}

void BoundaryModel::assemble(int first_node, int num_row_nodes, Eigen::Ref<Eigen::MatrixXd> G,
                             Eigen::Ref<Eigen::MatrixXd> H) const {
    assembler_->assemble(first_node, num_row_nodes, G, H);
    if (cavity_rows_) cavity_rows_->add(first_node, num_row_nodes, G, H);
}

Eigen::MatrixXd BoundaryModel::body_force_columns() const {
    return gravity_columns(mesh_, *nodes_, options_);
}

}  // namespace pliant
