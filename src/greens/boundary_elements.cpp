#include "pliant/greens/boundary_elements.h"

#include <utility>

#include "greens/boundary_assembly.h"
#include "greens/boundary_nodes.h"

namespace pliant {
namespace {

std::shared_ptr<const BoundaryNodes> boundary_nodes(const SurfaceMesh& mesh,
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
    : mesh_(std::move(mesh)),
      options_(options),
      nodes_(boundary_nodes(mesh_, options_)),
      assembler_(std::make_shared<const BoundaryAssembler>(mesh_, *nodes_, options_)) {}

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
}

}  // namespace pliant
