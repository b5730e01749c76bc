#pragma once

#include "pliant/geometry/embedding.h"
#include "pliant/geometry/surface_mesh.h"
#include "pliant/geometry/volume_mesh.h"

#include <Eigen/Core>
#include <span>
#include <vector>

namespace pliant {

/// The drawn surface of a body of elements as contact sees it: x_v = X_v + Σ_k w_k u_k over nodes
/// that move on their own. Immutable.
class CarriedSurface {
public:
    /// What carries a vertex; weights sum to one.
    struct Carriers {
        std::span<const int> nodes;
        std::span<const double> weights;
    };

    /// `surface`: at rest, in the world; hanging nodes of `mesh` pass their share to their masters.
    CarriedSurface(SurfaceMesh surface, const Embedding& embedding, const VolumeMesh& mesh);

    [[nodiscard]] const SurfaceMesh& surface() const noexcept { return surface_; }
    [[nodiscard]] int num_vertices() const noexcept { return surface_.num_vertices(); }
    [[nodiscard]] Carriers carriers(int vertex) const noexcept {
        const auto v = static_cast<std::size_t>(vertex);
        const auto first = static_cast<std::size_t>(start_[v]);
        const auto count = static_cast<std::size_t>(start_[v + 1]) - first;
        return {std::span(nodes_).subspan(first, count), std::span(weights_).subspan(first, count)};
    }
    /// Σ w x over the carriers, of any field of the nodes.
    [[nodiscard]] Eigen::Vector3d carried(int vertex, const Eigen::VectorXd& x) const noexcept {
        const Carriers c = carriers(vertex);
        Eigen::Vector3d sum = Eigen::Vector3d::Zero();
        for (std::size_t k = 0; k < c.nodes.size(); ++k)
            sum += c.weights[k] * x.segment<3>(3 * Eigen::Index{c.nodes[k]});
        return sum;
    }
    [[nodiscard]] Eigen::Vector3d position(int vertex, const Eigen::VectorXd& u) const noexcept {
        return surface_.vertices[static_cast<std::size_t>(vertex)] + carried(vertex, u);
    }
    /// Largest Σ |w|: vertices move no farther than this times the nodes do.
    [[nodiscard]] double amplification() const noexcept { return amplification_; }
    [[nodiscard]] int most_carriers() const noexcept { return most_carriers_; }
    [[nodiscard]] double mean_edge() const noexcept { return mean_edge_; }  ///< at rest [m]
    [[nodiscard]] double size() const noexcept { return size_; }  ///< diagonal of the box [m]
    [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }

private:
    SurfaceMesh surface_;
    std::vector<int> start_, nodes_;
    std::vector<double> weights_;
    double amplification_ = 1, mean_edge_ = 0, size_ = 0;
    int most_carriers_ = 0;
    bool is_closed_ = false;
};

}  // namespace pliant
