#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <array>
#include <vector>

namespace pliant {

using Triangle = std::array<int, 3>;  ///< vertex indices, anticlockwise seen from outside
using Box = Eigen::AlignedBox3d;

/// Indexed triangles. Positions in metres; any set of triangles is allowed, see surface_check.h for
/// what is wrong with it.
struct SurfaceMesh {
    std::vector<Eigen::Vector3d> vertices;
    std::vector<Triangle> triangles;

    [[nodiscard]] int num_vertices() const noexcept { return static_cast<int>(vertices.size()); }
    [[nodiscard]] int num_triangles() const noexcept { return static_cast<int>(triangles.size()); }
    [[nodiscard]] const Eigen::Vector3d& corner(int triangle, int k) const noexcept {
        return vertices[static_cast<std::size_t>(
            triangles[static_cast<std::size_t>(triangle)][static_cast<std::size_t>(k)])];
    }
};

[[nodiscard]] Box bounding_box(const std::vector<Eigen::Vector3d>& points);
/// Box of the vertices that triangles use.
[[nodiscard]] Box box_of_triangles(const SurfaceMesh& mesh);
[[nodiscard]] double surface_area(const SurfaceMesh& mesh);
/// Signed volume by the divergence theorem; meaningful for closed, consistently oriented meshes.
[[nodiscard]] double enclosed_volume(const SurfaceMesh& mesh);
/// Scales so that the longest side of the box of its triangles, whose corners must exist, is `size`
/// metres, keeping its centre; of its vertices, where there are no triangles.
void scale_to_size(SurfaceMesh& mesh, double size);
/// Adds all of `other`, indices shifted.
void append(SurfaceMesh& mesh, const SurfaceMesh& other);

[[nodiscard]] std::vector<Eigen::Vector3d> face_normals(
    const SurfaceMesh& mesh);  ///< unit; zero for degenerate faces
/// Angle-weighted vertex normals, the pseudonormals of [BaerentzenAanaes2005]: unit; zero where no
/// face with area meets the vertex.
[[nodiscard]] std::vector<Eigen::Vector3d> vertex_normals(const SurfaceMesh& mesh);

}  // namespace pliant
