#pragma once

#include "pliant/geometry/volume_mesh.h"

namespace pliant {

/// Points carried by a simulation mesh: u_point = Σ_k w_k u_vertex(k), docs/geometry.md eq. (6).
/// Trilinear weights in hexes, barycentric in tets; they sum to one. Immutable and thread-safe.
class Embedding {
public:
    /// Points outside every element use the nearest one and extrapolate its shape functions
    /// linearly from the nearest point on it, at most about one element size; docs/geometry.md eq.
    /// (8). Hanging nodes are replaced by their masters, so that only free vertices carry weight.
    /// Throws InputError for a mesh without elements and for points that are not finite.
    Embedding(const VolumeMesh& mesh, const std::vector<Eigen::Vector3d>& points);
    /// From stored data, for example an archive; throws InputError when it does not fit together.
    Embedding(int num_vertices, std::vector<int> start, std::vector<int> vertices,
              std::vector<double> weights);

    [[nodiscard]] int num_points() const noexcept { return static_cast<int>(start_.size()) - 1; }
    [[nodiscard]] int num_vertices() const noexcept { return num_vertices_; }
    [[nodiscard]] int num_outside() const noexcept {
        return num_outside_;
    }  ///< points in no element; not known (0) when made from stored data
    [[nodiscard]] const std::vector<int>& start() const noexcept { return start_; }
    [[nodiscard]] const std::vector<int>& vertices() const noexcept { return vertices_; }
    [[nodiscard]] const std::vector<double>& weights() const noexcept { return weights_; }
    /// Element that carries each point; empty when made from stored data.
    [[nodiscard]] const std::vector<int>& elements() const noexcept { return elements_; }

    /// u_points = W u_vertices: displacements down. Sizes 3 num_points() and 3 num_vertices(). No
    /// allocation.
    void transfer(std::span<const double> u_vertices, std::span<double> u_points) const noexcept;
    /// f_vertices += Wᵀ f_points: forces up, the exact adjoint of `transfer`. No allocation.
    void transfer_transposed(std::span<const double> f_points,
                             std::span<double> f_vertices) const noexcept;

private:
    int num_vertices_ = 0, num_outside_ = 0;
    std::vector<int> start_, vertices_, elements_;
    std::vector<double> weights_;
};

}  // namespace pliant
