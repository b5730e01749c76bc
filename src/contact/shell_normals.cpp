#include "contact/shell_normals.h"

#include "pliant/core/parallel.h"
#include "pliant/geometry/surface_query.h"
#include "pliant/geometry/surface_topology.h"

namespace pliant {
namespace {

Eigen::Vector3d normal_of(const ClosestPoint& at, const SurfaceMesh& surface,
                          const SurfaceTopology& topology, const PseudoNormals& normals) {
    if (at.triangle < 0) return Eigen::Vector3d::Zero();
    const auto triangle = static_cast<std::size_t>(at.triangle);
    const auto index = static_cast<std::size_t>(at.feature_index);
    switch (at.feature) {
        case Feature::Face: break;
        case Feature::Edge:
            return normals
                .edge[static_cast<std::size_t>(topology.edge_of(at.triangle, at.feature_index))];
        case Feature::Vertex:
            return normals.vertex[static_cast<std::size_t>(surface.triangles[triangle][index])];
    }
    return normals.face[triangle];
}

}  // namespace

std::vector<Eigen::Vector3f> inward_normals(const std::vector<Eigen::Vector3f>& points,
                                            const DistanceField& field,
                                            const SurfaceMesh& surface) {
    const SurfaceTopology topology(surface);
    const PseudoNormals normals = pseudo_normals(surface, topology);
    const SurfaceQuery query(surface);
    std::vector<Eigen::Vector3f> inward(points.size());
    parallel_for(points.size(), 256, [&](std::size_t i) {
        const Eigen::Vector3d x = points[i].cast<double>();
        const Eigen::Vector3d gradient = field.sample(x).gradient;
        Eigen::Vector3d normal = normal_of(query.closest(x), surface, topology, normals);
        // faces without area have none
        if (normal.squaredNorm() < 0.25) normal = gradient;
        if (normal.dot(gradient) > 0) normal = -normal;
        // a field without slope says nothing: any direction is as good
        const double length = normal.norm();
        inward[i] = length > 1e-12 ? Eigen::Vector3f((normal / length).cast<float>())
                                   : Eigen::Vector3f::UnitZ();
    });
    return inward;
}

}  // namespace pliant
