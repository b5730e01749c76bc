#include "fem/fem_display.h"

#include "body/surface_display.h"

namespace pliant {

FemDisplay::FemDisplay(VolumeMesh mesh, SurfaceMesh surface_world, Embedding embedding)
    : mesh_(std::move(mesh)),
      surface_(std::move(surface_world)),
      embedding_(std::move(embedding)) {}

int FemDisplay::state_size() const noexcept { return kPoseFloats + 3 * mesh_.num_vertices(); }

void FemDisplay::positions(std::span<const float> state, std::span<float> x) const noexcept {
    const std::span<const float> u = state.subspan(kPoseFloats);
    for (std::size_t v = 0; v < surface_.vertices.size(); ++v) {
        Eigen::Vector3f sum = surface_.vertices[v].cast<float>();
        for (int k = embedding_.start()[v]; k < embedding_.start()[v + 1]; ++k) {
            const auto place = static_cast<std::size_t>(k);
            const auto node = static_cast<std::size_t>(embedding_.vertices()[place]);
            sum += static_cast<float>(embedding_.weights()[place]) *
                   Eigen::Map<const Eigen::Vector3f>(u.data() + 3 * node);
        }
        Eigen::Map<Eigen::Vector3f>(x.data() + 3 * v) = sum;
    }
}

void FemDisplay::normals(std::span<const float> x, std::span<float> n) const noexcept {
    area_weighted_normals(surface_.triangles, x, n);
}

std::vector<std::array<int, 2>> FemDisplay::mesh_edges() const { return element_edges(mesh_); }

int FemDisplay::num_mesh_nodes() const noexcept { return mesh_.num_vertices(); }

void FemDisplay::mesh_positions(std::span<const float> state, std::span<float> x) const noexcept {
    const std::span<const float> u = state.subspan(kPoseFloats);
    for (std::size_t v = 0; v < mesh_.vertices.size(); ++v)
        Eigen::Map<Eigen::Vector3f>(x.data() + 3 * v) =
            mesh_.vertices[v].cast<float>() + Eigen::Map<const Eigen::Vector3f>(u.data() + 3 * v);
}

}  // namespace pliant
