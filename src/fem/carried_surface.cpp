#include "fem/carried_surface.h"

#include "pliant/geometry/surface_query.h"
#include "pliant/geometry/surface_topology.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// A fin that is thinner than a cell is extrapolated from far away: by its weights alone it could be
/// anywhere in the next step, and everything would have to be looked at in each of them.
constexpr double kMostAmplification = 3;

double mean_edge_of(const SurfaceMesh& surface) {
    double sum = 0;
    for (int t = 0; t < surface.num_triangles(); ++t)
        for (int k = 0; k < 3; ++k)
            sum += (surface.corner(t, (k + 1) % 3) - surface.corner(t, k)).norm();
    return surface.num_triangles() > 0 ? sum / (3.0 * surface.num_triangles()) : 0;
}

bool has_two_sides_at_every_edge(const SurfaceMesh& surface) {
    const SurfaceTopology topology(surface);
    return surface.num_triangles() > 0 &&
           std::ranges::all_of(topology.edges(), [](const auto& e) { return e.num_uses == 2; });
}

}  // namespace

CarriedSurface::CarriedSurface(SurfaceMesh surface, const Embedding& embedding,
                               const VolumeMesh& mesh)
    : surface_(std::move(surface)),
      start_{0},
      mean_edge_(mean_edge_of(surface_)),
      is_closed_(has_two_sides_at_every_edge(surface_)) {
    std::vector<const HangingNode*> hanging(mesh.vertices.size(), nullptr);
    for (const HangingNode& h : mesh.hanging) hanging[static_cast<std::size_t>(h.vertex)] = &h;
    std::map<int, double> shares;
    for (std::size_t v = 0; v < surface_.vertices.size(); ++v) {
        shares.clear();
        for (int k = embedding.start()[v]; k < embedding.start()[v + 1]; ++k) {
            const int node = embedding.vertices()[static_cast<std::size_t>(k)];
            const double weight = embedding.weights()[static_cast<std::size_t>(k)];
            if (const HangingNode* h = hanging[static_cast<std::size_t>(node)])
                for (int m = 0; m < h->num_masters; ++m)
                    shares[h->masters[static_cast<std::size_t>(m)]] += weight * h->weight;
            else
                shares[node] += weight;
        }
        double sum = 0;
        for (const auto& [node, weight] : shares) {
            if (weight == 0) continue;
            nodes_.push_back(node);
            weights_.push_back(weight);
            sum += std::abs(weight);
        }
        amplification_ = std::max(amplification_, std::min(sum, kMostAmplification));
        start_.push_back(static_cast<int>(nodes_.size()));
        most_carriers_ = std::max(most_carriers_, start_[v + 1] - start_[v]);
    }
    const Box box = bounding_box(surface_.vertices);
    size_ = box.isEmpty() ? 0 : box.diagonal().norm();
}

}  // namespace pliant
