#include "greens/cavity_rows.h"

#include <cmath>
#include <numbers>

#include "core/numbers.h"
#include "geometry/triangle.h"
#include "greens/graded_quadrature.h"
#include "greens/interior_kernels.h"
#include "pliant/geometry/surface_query.h"
#include "pliant/geometry/surface_topology.h"

namespace pliant {
namespace {

/// Starts of the search for a point inside each cavity.
constexpr int kNumStarts = 64;

struct Cavity {
    std::vector<int> triangles;
    double area = 0;
};

/// Half way through the cavity from one of its triangles, as far from its wall as any of them.
Eigen::Vector3d point_within(const SurfaceQuery& query, const Cavity& cavity) {
    const SurfaceMesh& mesh = query.mesh();
    Eigen::Vector3d best = Eigen::Vector3d::Zero();
    double best_distance = -1;
    const std::size_t stride = (cavity.triangles.size() + kNumStarts - 1) / kNumStarts;
    for (std::size_t k = 0; k < cavity.triangles.size(); k += stride) {
        const int t = cavity.triangles[k];
        const TriangleCorners corners{mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2)};
        const Eigen::Vector3d inward =
            -unit_or_zero(area_vector(corners[0], corners[1], corners[2]));
        // past the triangle itself
        const double skip = 1e-6 * longest_side(corners);
        const Eigen::Vector3d start = triangle_centroid(corners) + skip * inward;
        const auto hit = query.ray(start, inward);
        if (!hit) continue;
        const Eigen::Vector3d x = start + hit->t / 2 * inward;
        const double distance = query.closest(x).distance;
        if (distance > best_distance) best = x, best_distance = distance;
    }
    return best;
}

}  // namespace

CavityRows::CavityRows(const SurfaceMesh& mesh, const BoundaryNodes& nodes,
                       const BoundaryOptions& options)
    : normals_(nodes.normals) {
    const SurfaceTopology topology(mesh);
    const SurfaceQuery query(mesh);
    const std::vector<Eigen::Vector3d> normals = face_normals(mesh);
    std::vector<Cavity> cavities(at(topology.num_components()));
    std::vector<double> areas;
    cavities_.resize(at(nodes.num_nodes()));
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const int c = topology.components()[at(t)];
        areas.push_back(
            area_vector(mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2)).norm() / 2);
        cavities[at(c)].triangles.push_back(t);
        cavities[at(c)].area += areas.back();
        for (const int node : nodes.corner_nodes[at(t)]) cavities_[at(node)] = c;
    }

    of_tractions_.setZero(topology.num_components(), 3 * nodes.num_nodes());
    of_displacements_.setZero(topology.num_components(), 3 * nodes.num_nodes());
    for (int c = 0; c < topology.num_components(); ++c) {
        const Eigen::Vector3d x = point_within(query, cavities[at(c)]);
        // with the radius of a sphere of this area, the rows have the size of those of G and H
        const double radius = std::sqrt(cavities[at(c)].area / (4 * std::numbers::pi));
        for (int t = 0; t < mesh.num_triangles(); ++t) {
            const Eigen::Vector3d n = -normals[at(t)];
            for_each_point(
                {mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2)}, x,
                [&](const Eigen::Vector3d& y, const Eigen::Vector3d& shape, double w) {
                    const double weight = w * areas[at(t)] * radius / 3;
                    const double nu = options.poisson_ratio;
                    const Eigen::RowVector3d p =
                        weight * kelvin_stress_of_traction(nu, y - x).topRows<3>().colwise().sum();
                    const Eigen::RowVector3d u =
                        weight *
                        kelvin_stress_of_displacement(nu, y - x, n).topRows<3>().colwise().sum();
                    for (int k = 0; k < 3; ++k) {
                        const int column = 3 * nodes.corner_nodes[at(t)][at(k)];
                        of_tractions_.block<1, 3>(c, column) += shape[k] * p;
                        of_displacements_.block<1, 3>(c, column) += shape[k] * u;
                    }
                });
        }
    }
}

void CavityRows::add(int first_target, int num_targets, Eigen::Ref<Eigen::MatrixXd> G,
                     Eigen::Ref<Eigen::MatrixXd> H) const {
    for (int i = 0; i < num_targets; ++i) {
        const Eigen::Vector3d& n = normals_[at(first_target + i)];
        const int c = cavities_[at(first_target + i)];
        G.middleRows<3>(3 * i) += n * of_tractions_.row(c);
        H.middleRows<3>(3 * i) += n * of_displacements_.row(c);
    }
}

}  // namespace pliant
