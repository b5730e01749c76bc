#include "server/greens_assets.h"

#include "core/numbers.h"
#include "pliant/greens/wavelet_greens.h"
#include "server/binary_writer.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

/// Sum over the nodes that a vertex shows, or what the first of them says.
double area_of_vertex(const GreensModel& model, int vertex) {
    double area = 0;
    const int end = model.vertex_offsets[at(vertex) + 1];
    for (int k = model.vertex_offsets[at(vertex)]; k < end; ++k)
        area += static_cast<double>(model.vertex_weights[at(k)]) *
                model.reference.areas[at(model.vertex_nodes[at(k)])];
    return area;
}

bool is_fixed_vertex(const GreensModel& model, int vertex) {
    const int end = model.vertex_offsets[at(vertex) + 1];
    for (int k = model.vertex_offsets[at(vertex)]; k < end; ++k)
        if (model.reference.kinds[at(model.vertex_nodes[at(k)])] == NodeKind::Free) return false;
    return true;
}

/// In the mean of all directions.
float stiffness_of_vertex(const SurfaceStiffness& stiffness, int vertex) {
    return static_cast<float>(stiffness.vertex_stiffness(vertex).norm() / std::sqrt(3.0));
}

/// Outwards, of the triangles around it at rest.
Eigen::Vector3d normal_of_vertex(const SurfaceMesh& mesh, int vertex) {
    Eigen::Vector3d sum = Eigen::Vector3d::Zero();
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const Triangle& corners = mesh.triangles[at(t)];
        if (std::find(corners.begin(), corners.end(), vertex) == corners.end()) continue;
        sum += (mesh.corner(t, 1) - mesh.corner(t, 0)).cross(mesh.corner(t, 2) - mesh.corner(t, 0));
    }
    return sum.stableNormalized();
}

}  // namespace

const GreensDisplay& display_of(const GreensBody& body) {
    return static_cast<const GreensDisplay&>(*body.display());
}

SharedBytes encode_greens(const GreensBody& body) {
    const SurfaceStiffness& masked = body.first_stiffness();
    const SurfaceStiffness alone(body.shared_model(), {.mask = {.kind = MaskKind::Vertex}});
    const int count = body.surface().num_vertices();
    BinaryWriter out(8 + 16 * at(count));
    out.u32(static_cast<std::uint32_t>(count));
    out.u32(0);
    for (int v = 0; v < count; ++v) {
        // one of the model, or between some of them where a finer surface is shown
        const TrianglePoint place = body.place_on_model(SurfacePoint::at_vertex(v));
        std::array<float, 4> values = {};
        for (int k = 0; k < 3; ++k) {
            const auto weight = static_cast<float>(place.barycentric[k]);
            if (place.triangle < 0 || weight == 0) continue;
            const int u = body.model().surface.mesh.triangles[at(place.triangle)][at(k)];
            values[0] += weight * (is_fixed_vertex(body.model(), u) ? 1.0f : 0.0f);
            values[1] += weight * static_cast<float>(area_of_vertex(body.model(), u));
            values[2] += weight * stiffness_of_vertex(alone, u);
            values[3] += weight * stiffness_of_vertex(masked, u);
        }
        for (const float value : values) out.f32(value);
    }
    return out.take();
}

SharedBytes encode_unit_field(const GreensBody& body, int vertex) {
    const int count = body.surface().num_vertices();
    if (vertex < 0 || vertex >= count) return nullptr;
    const SurfaceStiffness& masked = body.first_stiffness();
    // the vertex of the model, or the nearest one where a finer surface is shown
    const TrianglePoint place = body.place_on_model(SurfacePoint::at_vertex(vertex));
    if (place.triangle < 0) return nullptr;
    Eigen::Index corner = 0;
    place.barycentric.maxCoeff(&corner);
    const int of_model = body.model().surface.mesh.triangles[at(place.triangle)][at(corner)];
    const std::span<const int> nodes = masked.mask_nodes(of_model);
    const std::span<const double> densities = masked.mask_densities(of_model);
    const Eigen::Vector3d force = -normal_of_vertex(body.surface(), vertex);
    std::vector<float> tractions;
    for (const double density : densities)
        for (int k = 0; k < 3; ++k)
            tractions.push_back(
                static_cast<float>(density * force[k] / body.model().reference.modulus));
    std::vector<float> u(3 * at(count));
    display_of(body).respond(nodes, tractions, u);
    BinaryWriter out(8 + 4 * u.size());
    out.u32(static_cast<std::uint32_t>(count));
    out.u32(0);
    out.floats(u);
    return out.take();
}

SharedBytes encode_sparsity(const GreensBody& body) {
    const auto* const wavelets =
        dynamic_cast<const WaveletGreensFunctions*>(body.model().reference.functions.get());
    if (wavelets == nullptr) return nullptr;
    const std::vector<int>& columns = wavelets->layout().columns;
    const auto num_nodes = at(body.model().num_nodes());
    constexpr std::size_t kMostPixels = 256;
    const std::size_t width = std::min(kMostPixels, columns.size()),
                      height = std::min(kMostPixels, num_nodes);
    // nodes are numbered from coarse to fine
    std::vector<float> kept(width * height, 0.0f), whole(width * height, 0.0f);
    std::vector<std::size_t> nodes_in(height, 0);
    for (std::size_t i = 0; i < num_nodes; ++i) ++nodes_in[i * height / num_nodes];
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const std::size_t x = c * width / columns.size();
        for (std::size_t y = 0; y < height; ++y)
            whole[y * width + x] += static_cast<float>(nodes_in[y]);
        for (const int node : wavelets->column(columns[c]).nodes)
            kept[at(node) * height / num_nodes * width + x] += 1;
    }
    for (std::size_t k = 0; k < kept.size(); ++k) kept[k] /= whole[k];
    BinaryWriter out(8 + 4 * kept.size());
    out.u32(static_cast<std::uint32_t>(width));
    out.u32(static_cast<std::uint32_t>(height));
    out.floats(kept);
    return out.take();
}

}  // namespace pliant
