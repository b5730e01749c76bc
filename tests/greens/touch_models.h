#pragma once

#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include <Eigen/Geometry>

#include "pliant/geometry/structured_mesh.h"
#include "pliant/geometry/subdivision.h"
#include "pliant/greens/greens_model.h"
#include "tests/greens/elastic_box.h"

namespace pliant::test {

/// One node for each vertex, as linear elements have.
inline void finish_touch_model(GreensModel& model) {
    const SurfaceMesh& mesh = model.surface.mesh;
    model.normals = vertex_normals(mesh);
    for (const Triangle& corners : mesh.triangles) model.corner_nodes.push_back(corners);
    for (int v = 0; v <= mesh.num_vertices(); ++v) model.vertex_offsets.push_back(v);
    for (int v = 0; v < mesh.num_vertices(); ++v) {
        model.vertex_nodes.push_back(v);
        model.vertex_weights.push_back(1);
    }
}

/// The elastic box with its surface; `length` and `modulus` in SI.
inline std::shared_ptr<GreensModel> box_model(const ElasticBox& box, double length,
                                              double modulus) {
    auto model = std::make_shared<GreensModel>();
    model->reference = box.reference(length, modulus);
    const VolumeMesh tets =
        tet_box(4, 3, 3, Box(Eigen::Vector3d(0, 0, 0), Eigen::Vector3d(1, 0.75, 0.75)));
    // faces of one tet only, seen from outside
    std::map<Triangle, std::pair<Triangle, int>> faces;
    for (int e = 0; e < tets.num_elements(); ++e) {
        const auto nodes = tets.element(e);
        for (int apex = 0; apex < 4; ++apex) {
            Triangle face{nodes[at((apex + 1) % 4)], nodes[at((apex + 2) % 4)],
                          nodes[at((apex + 3) % 4)]};
            const auto& x = tets.vertices;
            const Eigen::Vector3d area =
                (x[at(face[1])] - x[at(face[0])]).cross(x[at(face[2])] - x[at(face[0])]);
            if (area.dot(x[at(nodes[at(apex)])] - x[at(face[0])]) > 0) std::swap(face[1], face[2]);
            Triangle key = face;
            std::sort(key.begin(), key.end());
            auto& entry = faces[key];
            entry.first = face;
            ++entry.second;
        }
    }
    std::map<int, int> place;  // surface nodes come in the order of the vertices
    for (const auto& [key, face] : faces)
        if (face.second == 1)
            for (const int v : key) place[v] = 0;
    int next = 0;
    for (auto& [vertex, node] : place) node = next++;
    SurfaceMesh& mesh = model->surface.mesh;
    mesh.vertices = model->reference.positions;
    for (const auto& [key, face] : faces)
        if (face.second == 1)
            mesh.triangles.push_back(
                {place[face.first[0]], place[face.first[1]], place[face.first[2]]});
    model->surface.num_vertices = {mesh.num_vertices()};
    model->surface.triangles = {mesh.triangles};
    finish_touch_model(*model);
    return model;
}

/// Any closed surface with the compliance of a full space, smoothed over the spacing of its nodes;
/// the lowest `support` of its height is fixed and has no columns.
inline std::shared_ptr<GreensModel> kelvin_model(SemiRegularMesh surface, double support,
                                                 double modulus = 1e4, double nu = 0.3) {
    auto model = std::make_shared<GreensModel>();
    model->surface = std::move(surface);
    const SurfaceMesh& mesh = model->surface.mesh;
    const Box bounds = bounding_box(mesh.vertices);
    ReferenceProblem& reference = model->reference;
    reference.length = bounds.sizes().maxCoeff();
    reference.modulus = modulus;
    reference.positions = mesh.vertices;
    reference.areas.assign(mesh.vertices.size(), 0);
    for (int t = 0; t < mesh.num_triangles(); ++t)
        for (int k = 0; k < 3; ++k)
            reference.areas[at(mesh.triangles[at(t)][at(k)])] +=
                (mesh.corner(t, 1) - mesh.corner(t, 0))
                    .cross(mesh.corner(t, 2) - mesh.corner(t, 0))
                    .norm() /
                6;
    DenseGreensLayout layout;
    layout.num_nodes = mesh.num_vertices();
    for (int v = 0; v < mesh.num_vertices(); ++v) {
        const bool is_fixed =
            mesh.vertices[at(v)].z() < bounds.min().z() + support * bounds.sizes().z();
        reference.kinds.push_back(is_fixed ? NodeKind::Fixed : NodeKind::Free);
        if (!is_fixed) layout.columns.push_back(v);
    }
    auto functions = std::make_shared<DenseGreensFunctions>(layout);
    Eigen::MatrixXd column(3 * layout.num_nodes, 3);
    for (const int j : layout.columns) {
        const double area = reference.areas[at(j)] / (reference.length * reference.length);
        for (int i = 0; i < layout.num_nodes; ++i) {
            const Eigen::Vector3d r =
                (mesh.vertices[at(i)] - mesh.vertices[at(j)]) / reference.length;
            const double distance = std::sqrt(r.squaredNorm() + 0.1 * area);
            column.middleRows<3>(3 * i) = area / (16 * std::numbers::pi * (1 - nu) * distance) *
                                          ((3 - 4 * nu) * Eigen::Matrix3d::Identity() +
                                           r * r.transpose() / (distance * distance));
        }
        functions->set_column(j, column);
    }
    reference.functions = functions;
    finish_touch_model(*model);
    return model;
}

}  // namespace pliant::test
