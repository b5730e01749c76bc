#include "pliant/geometry/surface_mesh.h"

#include "geometry/triangle.h"

#include <cassert>
#include <cmath>

namespace pliant {

Box bounding_box(const std::vector<Eigen::Vector3d>& points) {
    Box box;
    for (const Eigen::Vector3d& p : points) box.extend(p);
    return box;
}

double surface_area(const SurfaceMesh& mesh) {
    double twice = 0;
    for (int t = 0; t < mesh.num_triangles(); ++t)
        twice += area_vector(mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2)).norm();
    return twice / 2;
}

double enclosed_volume(const SurfaceMesh& mesh) {
    if (mesh.triangles.empty()) return 0;
    // tetrahedra to a point on the mesh: far from the origin their volumes would cancel badly
    const Eigen::Vector3d apex = mesh.corner(0, 0);
    double six_fold = 0;
    for (int t = 0; t < mesh.num_triangles(); ++t)
        six_fold += (mesh.corner(t, 0) - apex)
                        .dot(area_vector(mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2)));
    return six_fold / 6;
}

Box box_of_triangles(const SurfaceMesh& mesh) {
    Box box;
    for (const Triangle& t : mesh.triangles)
        for (const int v : t) box.extend(mesh.vertices[static_cast<std::size_t>(v)]);
    return box;
}

void scale_to_size(SurfaceMesh& mesh, double size) {
    assert(size > 0);
    const Box box = mesh.triangles.empty() ? bounding_box(mesh.vertices) : box_of_triangles(mesh);
    if (box.isEmpty() || !(box.sizes().maxCoeff() > 0)) return;
    const Eigen::Vector3d centre = box.center();
    const double factor = size / box.sizes().maxCoeff();
    for (Eigen::Vector3d& x : mesh.vertices) x = centre + factor * (x - centre);
}

void append(SurfaceMesh& mesh, const SurfaceMesh& other) {
    const int shift = mesh.num_vertices();
    // sizes first: `other` may be `mesh` itself
    const std::size_t num_vertices = other.vertices.size();
    const std::size_t num_triangles = other.triangles.size();
    for (std::size_t i = 0; i < num_vertices; ++i) mesh.vertices.push_back(other.vertices[i]);
    for (std::size_t i = 0; i < num_triangles; ++i) {
        const Triangle& t = other.triangles[i];
        mesh.triangles.push_back({t[0] + shift, t[1] + shift, t[2] + shift});
    }
}

std::vector<Eigen::Vector3d> face_normals(const SurfaceMesh& mesh) {
    std::vector<Eigen::Vector3d> normals(mesh.triangles.size(), Eigen::Vector3d::Zero());
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const Eigen::Vector3d &a = mesh.corner(t, 0), &b = mesh.corner(t, 1),
                              &c = mesh.corner(t, 2);
        if (!has_no_area(a, b, c)) normals[t] = unit_or_zero(area_vector(a, b, c));
    }
    return normals;
}

std::vector<Eigen::Vector3d> vertex_normals(const SurfaceMesh& mesh) {
    std::vector<Eigen::Vector3d> normals(mesh.vertices.size(), Eigen::Vector3d::Zero());
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const std::array<Eigen::Vector3d, 3> x{mesh.corner(t, 0), mesh.corner(t, 1),
                                               mesh.corner(t, 2)};
        if (has_no_area(x[0], x[1], x[2])) continue;
        const Eigen::Vector3d area = area_vector(x[0], x[1], x[2]);
        const double twice_area = area.norm();
        for (int k = 0; k < 3; ++k) {
            // the sine part |e × f| is the same at all three corners
            const double cosine_part = (x[(k + 1) % 3] - x[k]).dot(x[(k + 2) % 3] - x[k]);
            const double angle = std::atan2(twice_area, cosine_part);
            normals[mesh.triangles[t][k]] += angle / twice_area * area;
        }
    }
    for (Eigen::Vector3d& n : normals) n = unit_or_zero(n);
    return normals;
}

}  // namespace pliant
