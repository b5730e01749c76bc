#include "pliant/fem/loads.h"

#include "fem/check_node.h"
#include "fem/node_shares.h"
#include "geometry/face_table.h"
#include "pliant/core/error.h"
#include "pliant/fem/mass.h"

#include <cassert>
#include <cmath>
#include <numbers>
#include <sstream>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

/// ∫ φ_a dA of a bilinear face by 2 × 2 Gauss points.
std::array<double, 4> quad_shares(const VolumeMesh& mesh, const ElementFace& face) {
    constexpr int kSigns[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    std::array<double, 4> shares{};
    for (const auto& point : kSigns) {
        const double xi = point[0] / std::numbers::sqrt3, eta = point[1] / std::numbers::sqrt3;
        Vector3d dx_dxi = Vector3d::Zero(), dx_deta = Vector3d::Zero();
        std::array<double, 4> phi{};
        for (int a = 0; a < 4; ++a) {
            const double f = 1 + kSigns[a][0] * xi, g = 1 + kSigns[a][1] * eta;
            phi[a] = f * g / 4;
            dx_dxi += kSigns[a][0] * g / 4 * mesh.vertices[face[a]];
            dx_deta += kSigns[a][1] * f / 4 * mesh.vertices[face[a]];
        }
        const double area = dx_dxi.cross(dx_deta).norm();
        for (int a = 0; a < 4; ++a) shares[a] += area * phi[a];
    }
    return shares;
}

std::array<double, 4> triangle_shares(const VolumeMesh& mesh, const ElementFace& face) {
    const Vector3d &a = mesh.vertices[face[0]], &b = mesh.vertices[face[1]],
                   &c = mesh.vertices[face[2]];
    const double share = (b - a).cross(c - a).norm() / 6;
    return {share, share, share, 0};
}

}  // namespace

VectorXd gravity_load(const FemModel& model, const Vector3d& acceleration) {
    VectorXd f = lumped_mass(model);
    for (int i = 0; i < model.num_nodes(); ++i) f.segment<3>(3 * i).array() *= acceleration.array();
    return f;
}

VectorXd body_force_load(const FemModel& model, const Vector3d& force_per_volume) {
    const FemModelData& d = model.data();
    VectorXd f = VectorXd::Zero(model.num_unknowns());
    with_element(d.mesh.kind, [&](auto num_nodes_constant) {
        constexpr int N = num_nodes_constant;
        for_each_block(d.blocks, [&](int, int first, int end) {
            for (int place = first; place < end; ++place) {
                const auto shares = node_shares<N>(d, place, Lumping::RowSum);
                for (int a = 0; a < N; ++a)
                    f.segment<3>(3 * d.nodes[static_cast<std::size_t>(place) * N + a]) +=
                        shares[a] * force_per_volume;
            }
        });
    });
    return f;
}

std::vector<ElementFace> boundary_faces(const VolumeMesh& mesh) {
    const FaceTable table(mesh);
    const int num_faces = faces_per_element(mesh.kind) * mesh.num_elements();
    std::vector<ElementFace> faces;
    auto cut = table.cut_faces().begin();
    for (int face = 0; face < num_faces; ++face) {
        if (cut != table.cut_faces().end() && cut->face == face)
            ++cut;
        else if (!table.is_inner(face))
            faces.push_back(table.corners(face));
    }
    return faces;
}

std::vector<ElementFace> boundary_faces(const VolumeMesh& mesh, std::span<const int> nodes) {
    std::vector<char> is_chosen(mesh.vertices.size(), 0);
    for (const int node : nodes) {
        check_node(node, mesh.num_vertices());
        is_chosen[node] = 1;
    }
    std::vector<ElementFace> faces = boundary_faces(mesh);
    std::erase_if(faces, [&](const ElementFace& face) {
        for (const int node : face)
            if (node >= 0 && !is_chosen[node]) return true;
        return false;
    });
    return faces;
}

void add_traction(const VolumeMesh& mesh, std::span<const ElementFace> faces,
                  const Vector3d& traction, VectorXd& f) {
    assert(f.size() == 3 * mesh.num_vertices());
    for (const ElementFace& face : faces) {
        const auto shares = face[3] < 0 ? triangle_shares(mesh, face) : quad_shares(mesh, face);
        for (int a = 0; a < 4; ++a)
            if (face[a] >= 0) f.segment<3>(3 * face[a]) += shares[a] * traction;
    }
}

void add_nodal_force(std::span<const int> nodes, const Vector3d& force, VectorXd& f) {
    for (const int node : nodes) {
        check_node(node, static_cast<int>(f.size() / 3));
        f.segment<3>(3 * node) += force;
    }
}

void check_load(const VectorXd& f) {
    for (Eigen::Index i = 0; i < f.size(); ++i)
        if (!std::isfinite(f[i])) {
            std::ostringstream text;
            text << f[i] << " N";
            throw InputError(
                "", "load." + std::string(1, "xyz"[i % 3]) + " of node " + std::to_string(i / 3),
                text.str(), "a finite value");
        }
}

}  // namespace pliant
