#include "greens/boundary_nodes.h"

#include <algorithm>
#include <cmath>

#include "core/numbers.h"
#include "geometry/triangle.h"
#include "pliant/geometry/surface_topology.h"

namespace pliant {
namespace {

/// How far the target of a doubled node is moved from its vertex, as a share of the way to the
/// opposite side: near enough to stand for the vertex, far enough that the equations of the nodes
/// of one vertex differ (docs/greens.md section "Doubled nodes" has the measurements).
constexpr double kTargetShift = 0.25;

int corner_with(const Triangle& triangle, int vertex) {
    return static_cast<int>(std::ranges::find(triangle, vertex) - triangle.begin());
}

double corner_angle(const SurfaceMesh& mesh, int triangle, int corner) {
    const Eigen::Vector3d a =
        mesh.corner(triangle, (corner + 1) % 3) - mesh.corner(triangle, corner);
    const Eigen::Vector3d b =
        mesh.corner(triangle, (corner + 2) % 3) - mesh.corner(triangle, corner);
    return std::atan2(a.cross(b).norm(), a.dot(b));
}

/// The fans of a mesh: which edges end them, and their triangles in order.
class SmoothFans {
public:
    SmoothFans(const SurfaceMesh& mesh, double crease_angle)
        : mesh_(mesh), topology_(mesh), normals_(face_normals(mesh)) {
        is_crease_.resize(topology_.edges().size(), 0);
        if (!(crease_angle > 0)) return;
        for (std::size_t e = 0; e < is_crease_.size(); ++e) {
            const auto uses = topology_.uses(topology_.edges()[e]);
            if (uses.size() != 2) continue;
            const Eigen::Vector3d &a = normals_[at(uses[0].triangle)],
                                  &b = normals_[at(uses[1].triangle)];
            is_crease_[e] = std::atan2(a.cross(b).norm(), a.dot(b)) > crease_angle;
        }
    }

    /// Fans of a vertex, each anticlockwise from a crease; a single one without order where no two
    /// creases meet.
    [[nodiscard]] std::vector<std::vector<int>> around(int vertex) const {
        const auto triangles = topology_.triangles_at(vertex);
        std::vector<std::vector<int>> fans;
        for (const int first : triangles) {
            if (!begins_fan(first, vertex)) continue;
            std::vector<int> fan{first};
            for (int t = first; fan.size() < triangles.size();) {
                const int side = (corner_with(mesh_.triangles[at(t)], vertex) + 2) % 3;
                if (is_crease_[at(topology_.edge_of(t, side))]) break;
                t = topology_.neighbour(t, side);
                if (t < 0) break;
                fan.push_back(t);
            }
            fans.push_back(std::move(fan));
        }
        if (fans.size() < 2) fans.assign(1, {triangles.begin(), triangles.end()});
        return fans;
    }
    [[nodiscard]] const Eigen::Vector3d& normal(int triangle) const {
        return normals_[at(triangle)];
    }

private:
    /// Side k joins corners k and k + 1: the one at which an anticlockwise walk around corner k
    /// enters the triangle.
    [[nodiscard]] bool begins_fan(int triangle, int vertex) const {
        const int corner = corner_with(mesh_.triangles[at(triangle)], vertex);
        return is_crease_[at(topology_.edge_of(triangle, corner))] != 0;
    }

    const SurfaceMesh& mesh_;
    SurfaceTopology topology_;
    std::vector<Eigen::Vector3d> normals_;
    std::vector<char> is_crease_;
};

/// A target inside the fan: in the triangle that holds the middle of its angle, in that direction
/// or a quarter away from the triangle's own sides.
void move_target_inside(const SurfaceMesh& mesh, int vertex, const std::vector<int>& fan,
                        BoundaryNodes& nodes, int node) {
    double middle = 0;
    for (const int t : fan)
        middle += corner_angle(mesh, t, corner_with(mesh.triangles[at(t)], vertex)) / 2;
    double passed = 0;
    for (const int t : fan) {
        const int corner = corner_with(mesh.triangles[at(t)], vertex);
        const double angle = corner_angle(mesh, t, corner);
        passed += angle;
        if (passed < middle && t != fan.back()) continue;
        const double share = std::clamp(1 - (passed - middle) / angle, 0.25, 0.75);
        Eigen::Vector3d weights;
        weights[corner] = 1 - kTargetShift;
        weights[(corner + 1) % 3] = kTargetShift * (1 - share);
        weights[(corner + 2) % 3] = kTargetShift * share;
        nodes.target_triangles[at(node)] = t;
        nodes.target_weights[at(node)] = weights;
        nodes.targets[at(node)].setZero();
        for (int k = 0; k < 3; ++k) nodes.targets[at(node)] += weights[k] * mesh.corner(t, k);
        return;
    }
}

}  // namespace

BoundaryNodes linear_nodes(const SurfaceMesh& mesh, double crease_angle) {
    BoundaryNodes nodes;
    nodes.positions = mesh.vertices;
    nodes.corner_nodes.resize(mesh.triangles.size());
    const SmoothFans smooth(mesh, crease_angle);

    // number the nodes: first fans first
    std::vector<std::vector<std::vector<int>>> fans(mesh.vertices.size());
    for (int v = 0; v < mesh.num_vertices(); ++v) fans[at(v)] = smooth.around(v);
    std::vector<std::vector<int>> fan_nodes(mesh.vertices.size());
    for (int v = 0; v < mesh.num_vertices(); ++v)
        for (std::size_t f = 0; f < fans[at(v)].size(); ++f) {
            if (f > 0) nodes.positions.push_back(mesh.vertices[at(v)]);
            fan_nodes[at(v)].push_back(f == 0 ? v : nodes.num_nodes() - 1);
        }

    const auto count = nodes.positions.size();
    nodes.normals.assign(count, Eigen::Vector3d::Zero());
    nodes.areas.assign(count, 0);
    nodes.targets = nodes.positions;
    nodes.target_triangles.assign(count, -1);
    nodes.target_weights.assign(count, Eigen::Vector3d::Zero());
    for (int v = 0; v < mesh.num_vertices(); ++v)
        for (std::size_t f = 0; f < fans[at(v)].size(); ++f) {
            const int node = fan_nodes[at(v)][f];
            for (const int t : fans[at(v)][f]) {
                const int corner = corner_with(mesh.triangles[at(t)], v);
                nodes.corner_nodes[at(t)][at(corner)] = node;
                nodes.normals[at(node)] += corner_angle(mesh, t, corner) * smooth.normal(t);
                nodes.areas[at(node)] +=
                    area_vector(mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2)).norm() / 6;
            }
            nodes.normals[at(node)] = unit_or_zero(nodes.normals[at(node)]);
            if (fans[at(v)].size() > 1) move_target_inside(mesh, v, fans[at(v)][f], nodes, node);
        }
    return nodes;
}

BoundaryNodes constant_nodes(const SurfaceMesh& mesh) {
    BoundaryNodes nodes;
    nodes.normals = face_normals(mesh);
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        nodes.positions.push_back((mesh.corner(t, 0) + mesh.corner(t, 1) + mesh.corner(t, 2)) / 3);
        nodes.areas.push_back(
            area_vector(mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2)).norm() / 2);
        nodes.corner_nodes.push_back({t, t, t});
        nodes.target_triangles.push_back(t);
        nodes.target_weights.push_back(Eigen::Vector3d::Constant(1.0 / 3));
    }
    nodes.targets = nodes.positions;
    return nodes;
}

}  // namespace pliant
