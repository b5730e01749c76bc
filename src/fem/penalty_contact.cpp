#include "pliant/fem/penalty_contact.h"

#include "fem/fem_model_data.h"
#include "geometry/option_check.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// A node inside an obstacle.
struct NodeContact {
    int obstacle, node;
    Vector3d x, normal;
    double gap;
    double normal_force;  ///< 0 when the damper would pull
    double viscosity;     ///< friction force over sliding velocity [N s/m]
    Vector3d sliding;     ///< relative velocity across the normal
};

/// docs/fem.md eq. (C10) at one node; motion as the obstacle moves there.
NodeContact resolve(const PenaltyOptions& options, const RigidMotion& motion, int obstacle,
                    int node, const Vector3d& x, const Vector3d& v, const ShapeSample& sample) {
    NodeContact c{obstacle, node, x, motion.pose.rotation * sample.normal, sample.gap, 0, 0, {}};
    const Vector3d relative = v - motion.velocity_at(x);
    const double approach = relative.dot(c.normal);
    c.sliding = relative - approach * c.normal;
    const double force = -options.stiffness * c.gap - options.damping * approach;
    // not for velocities that are not finite either
    if (!(force > 0 && std::isfinite(force) && c.sliding.allFinite())) {
        c.sliding.setZero();
        return c;
    }
    c.normal_force = force;
    c.viscosity = options.friction * force / std::max(c.sliding.norm(), options.slip_speed);
    return c;
}

/// Calls `visit` for every node inside an obstacle: obstacle by obstacle, nodes ascending.
template <class Visit>
void for_each_contact(const std::vector<Vector3d>& rest, const std::vector<int>& nodes,
                      const std::vector<RigidShape>& obstacles, const PenaltyOptions& options,
                      const FemModel::ConstRef& u, const FemModel::ConstRef& v,
                      std::span<const RigidMotion> motions, const Visit& visit) {
    assert(motions.size() == obstacles.size());
    for (int o = 0; o < static_cast<int>(obstacles.size()); ++o) {
        const RigidMotion& motion = motions[o];
        const RigidShape& shape = obstacles[o];
        if (!is_finite(motion)) continue;
        const Matrix3d to_body = motion.pose.rotation.conjugate().toRotationMatrix();
        for (const int node : nodes) {
            const Eigen::Index at = 3 * Eigen::Index{node};
            const Vector3d x = rest[node] + u.segment<3>(at);
            const Vector3d x_body = to_body * (x - motion.pose.position);
            if (!shape.bounds().contains(x_body)) continue;
            const ShapeSample sample = shape.sample(x_body);
            if (sample.gap < 0)
                visit(resolve(options, motion, o, node, x, v.segment<3>(at), sample));
        }
    }
}

std::vector<int> free_surface_nodes(const VolumeMesh& mesh) {
    std::vector<char> is_chosen(mesh.vertices.size(), 0);
    for (const Triangle& t : boundary_triangles(mesh))
        for (const int node : t) is_chosen[node] = 1;
    for (const HangingNode& h : mesh.hanging) is_chosen[h.vertex] = 0;
    std::vector<int> nodes;
    for (int i = 0; i < mesh.num_vertices(); ++i)
        if (is_chosen[i]) nodes.push_back(i);
    return nodes;
}

/// Of a matrix of nodes' blocks, each of them with its diagonal.
void add_to_diagonal_block(int node, const Matrix3d& block, FemModel::Matrix& A) {
    const int begin = A.outerIndexPtr()[3 * node], end = A.outerIndexPtr()[3 * node + 1];
    const int* const rows = A.innerIndexPtr();
    double* value = A.valuePtr() + (std::lower_bound(rows + begin, rows + end, 3 * node) - rows);
    for (int column = 0; column < 3; ++column, value += end - begin)
        for (int row = 0; row < 3; ++row) value[row] += block(row, column);
}

}  // namespace

PenaltyContact::PenaltyContact(FemModel model, std::vector<RigidShape> obstacles,
                               const PenaltyOptions& options)
    : model_(std::move(model)), obstacles_(std::move(obstacles)), options_(options) {
    const auto check = [](const char* field, double value, bool may_be_zero) {
        check_option((may_be_zero ? value >= 0 : value > 0) && std::isfinite(value), field, value,
                     may_be_zero ? "0 <= value < infinity" : "0 < value < infinity");
    };
    check("penalty.stiffness", options.stiffness, false);
    check("penalty.damping", options.damping, true);
    check("penalty.friction", options.friction, true);
    check("penalty.slip_speed", options.slip_speed, false);
    nodes_ = free_surface_nodes(model_.mesh());
}

PenaltyContact::Report PenaltyContact::add_force(const FemModel::ConstRef& u,
                                                 const FemModel::ConstRef& v,
                                                 std::span<const RigidMotion> motions,
                                                 FemModel::Ref f,
                                                 std::span<Wrench> wrenches) const noexcept {
    assert(wrenches.empty() || wrenches.size() == obstacles_.size());
    std::ranges::fill(wrenches, Wrench{});
    Report report;
    for_each_contact(model_.mesh().vertices, nodes_, obstacles_, options_, u, v, motions,
                     [&](const NodeContact& c) {
                         const Vector3d force = c.normal_force * c.normal - c.viscosity * c.sliding;
                         f.segment<3>(3 * Eigen::Index{c.node}) += force;
                         if (!wrenches.empty())
                             wrenches[c.obstacle] += Wrench{
                                 -force, force.cross(c.x - motions[c.obstacle].pose.position)};
                         ++report.num_contacts;
                         report.energy += 0.5 * options_.stiffness * c.gap * c.gap;
                         report.deepest = std::max(report.deepest, -c.gap);
                     });
    return report;
}

void PenaltyContact::add_matrix(const FemModel::ConstRef& u, const FemModel::ConstRef& v,
                                std::span<const RigidMotion> motions, double a, double b,
                                FemModel::Matrix& A) const noexcept {
    assert(A.rows() == model_.num_unknowns());
    for_each_contact(model_.mesh().vertices, nodes_, obstacles_, options_, u, v, motions,
                     [&](const NodeContact& c) {
                         if (c.normal_force == 0) return;
                         const double along = a * options_.stiffness + b * options_.damping;
                         const double across = b * c.viscosity;
                         // scaled afterwards: exactly symmetric
                         Matrix3d block = c.normal * c.normal.transpose();
                         block *= along - across;
                         block.diagonal().array() += across;
                         add_to_diagonal_block(c.node, block, A);
                     });
}

}  // namespace pliant
