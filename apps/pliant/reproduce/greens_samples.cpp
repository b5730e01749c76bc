#include "greens_samples.h"

#include <algorithm>

#include "core/numbers.h"
#include "greens/boundary_cases.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/surface_query.h"

namespace pliant::reproduce {

using Eigen::Vector3d;

const std::vector<GreensSample>& greens_samples() {
    static const std::vector<GreensSample> all = {
        {"Nodule", "nodule", 130, 89, 1.1, 1.1, 0.05},
        {"Kidney", "kidney", 322, 217, 7.7, 3.1, 0.13},
        {"Spatula", "spatula", 620, 559, 45, 5.7, 0.34},
        {"Banana seat", "banana-seat", 546, 245, 25, 20, 0.15}};
    return all;
}

std::string greens_support(const std::string& shape, const SemiRegularMesh& surface) {
    return shape_support(shape, surface);
}

SemiRegularMesh greens_blob(int level) {
    SurfaceMesh mesh = blob_case_surface(level);
    scale_to_size(mesh, 0.1);
    return midpoint_subdivide(mesh, 0);
}

std::string listed(const std::vector<int>& vertices) {
    std::string list;
    for (const int v : vertices) list += (list.empty() ? "list " : ",") + std::to_string(v);
    return list;
}

std::shared_ptr<const GreensModel> greens_sample_model(const std::string& shape, int levels,
                                                       GreensBuildReport* report,
                                                       const std::string& contactable) {
    const SemiRegularMesh surface = make_semi_regular(shape, levels);
    GreensBuildOptions options;
    options.youngs_modulus = 1e4;
    options.fixed = greens_support(shape, surface);
    options.contactable = contactable;
    return std::make_shared<GreensModel>(
        build_greens_model(surface, options, Progress::none(), report));
}

SurfaceStiffness masked_stiffness(const std::shared_ptr<const GreensModel>& model, MaskKind kind,
                                  double radius) {
    SurfaceStiffnessOptions options;
    options.mask.kind = kind;
    options.mask.radius = radius;
    return SurfaceStiffness(model, options);
}

std::vector<int> free_nodes_near(const GreensModel& model, const Vector3d& place) {
    std::vector<int> nodes;
    for (int node = 0; node < model.num_nodes(); ++node)
        if (model.reference.kinds[at(node)] == NodeKind::Free &&
            model.reference.functions->has_column(node))
            nodes.push_back(node);
    const auto distance = [&](int node) {
        return (model.reference.positions[at(node)] - place).squaredNorm();
    };
    std::stable_sort(nodes.begin(), nodes.end(),
                     [&](int a, int b) { return distance(a) < distance(b); });
    return nodes;
}

std::vector<ChangedDof> captured_nodes(const std::vector<int>& nodes, int first, int end) {
    std::vector<ChangedDof> dofs;
    for (int k = first; k < end; ++k)
        for (int axis = 0; axis < 3; ++axis) dofs.push_back({nodes[at(k)], Vector3d::Unit(axis)});
    return dofs;
}

Vector3d point_on_top(const GreensModel& model, const Vector3d& offset) {
    const Vector3d above = bounding_box(model.surface.mesh.vertices).center() +
                           model.reference.length * (offset + Vector3d::UnitZ());
    const auto hit = SurfaceQuery(model.surface.mesh).ray(above, {0, 0, -1});
    return hit ? Vector3d(above - hit->t * Vector3d::UnitZ()) : above;
}

double mean_edge(const SurfaceMesh& mesh) {
    double sum = 0;
    for (int t = 0; t < mesh.num_triangles(); ++t)
        for (int k = 0; k < 3; ++k) sum += (mesh.corner(t, k) - mesh.corner(t, (k + 1) % 3)).norm();
    return sum / (3.0 * mesh.num_triangles());
}

}  // namespace pliant::reproduce
