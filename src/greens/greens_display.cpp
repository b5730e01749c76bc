#include "pliant/greens/greens_body.h"

#include "body/surface_display.h"
#include "core/numbers.h"
#include "greens/greens_state.h"
#include "pliant/greens/hierarchical_basis.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace pliant {

ShownSurface::ShownSurface(const GreensModel& model, int levels, const SurfaceQuery& detail,
                           double reach, Progress& progress)
    : rounds(levels), displaced(model.surface.mesh, levels) {
    report = displaced.fit(detail, reach, progress);
    mesh.triangles = displaced.triangles();
    mesh.vertices.resize(at(displaced.num_vertices()));
    displaced.evaluate(model.surface.mesh.vertices, mesh.vertices);
}

GreensDisplay::GreensDisplay(std::shared_ptr<const GreensModel> model, int max_loads,
                             std::vector<int> driven, std::shared_ptr<const ShownSurface> shown,
                             int wireframe)
    : model_(std::move(model)),
      max_loads_(max_loads),
      driven_(std::move(driven)),
      shown_(std::move(shown)),
      wireframe_(wireframe) {
    if (const auto& basis = model_->reference.hierarchy)
        level_areas_ = basis->areas(model_->reference.areas);
}

int GreensDisplay::state_size() const noexcept {
    return kGreensLoads + kFloatsPerLoad * max_loads_ + 3 * static_cast<int>(driven_.size());
}

void GreensDisplay::displacements(std::span<const float> state, std::span<float> u) const noexcept {
    const auto count = static_cast<std::size_t>(state[kGreensCount]);
    std::vector<int> nodes(count);
    std::vector<float> tractions(3 * count);
    for (std::size_t i = 0; i < count; ++i) {
        const float* const load = state.data() + kGreensLoads + kFloatsPerLoad * i;
        nodes[i] = static_cast<int>(load[0]);
        std::copy_n(load + 1, 3, tractions.begin() + static_cast<std::ptrdiff_t>(3 * i));
    }
    sum(nodes, tractions, state.subspan(kGreensGravity, 3), state.last(3 * driven_.size()), u);
}

void GreensDisplay::sum(std::span<const int> nodes, std::span<const float> tractions,
                        std::span<const float> gravity, std::span<const float> driven,
                        std::span<float> u) const noexcept {
    assert(u.size() == 3 * at(model_->num_nodes()));
    const GreensFunctions& functions = *model_->reference.functions;
    const int num_nodes = model_->num_nodes();
    const std::size_t size = functions.sum_size(num_nodes);
    std::vector<float> sum(size, 0.0f), scratch(size);
    functions.accumulate(nodes, tractions, gravity.first(functions.num_body_columns() == 3 ? 3 : 0),
                         num_nodes, sum);
    if (!driven.empty()) functions.accumulate(driven_, driven, {}, num_nodes, sum);
    const auto rows = functions.field(sum, num_nodes, scratch);
    // rows of supports are tractions
    const auto length = static_cast<float>(model_->reference.length);
    for (std::size_t i = 0; i < model_->reference.kinds.size(); ++i) {
        const float factor = model_->reference.kinds[i] == NodeKind::Free ? length : 0.0f;
        for (std::size_t k = 0; k < 3; ++k) u[3 * i + k] = factor * rows[3 * i + k];
    }
    for (std::size_t i = 0; 3 * i < driven.size(); ++i)
        for (std::size_t k = 0; k < 3; ++k) u[3 * at(driven_[i]) + k] = length * driven[3 * i + k];
}

Eigen::Vector3f GreensDisplay::at_vertex(std::span<const float> u, std::size_t v) const noexcept {
    Eigen::Vector3f sum = Eigen::Vector3f::Zero();
    const int end = model_->vertex_offsets[v + 1];
    for (int k = model_->vertex_offsets[v]; k < end; ++k)
        sum += model_->vertex_weights[at(k)] *
               Eigen::Map<const Eigen::Vector3f>(u.data() + 3 * at(model_->vertex_nodes[at(k)]));
    return sum;
}

/// Of the first vertices of the model.
void GreensDisplay::write_positions(std::span<const float> state, std::size_t count,
                                    std::span<float> x) const noexcept {
    const std::vector<Eigen::Vector3d>& rest = model_->surface.mesh.vertices;
    assert(x.size() == 3 * count && count <= rest.size());
    std::vector<float> u(3 * at(model_->num_nodes()));
    displacements(state, u);
    const DisplayPose pose(state);
    for (std::size_t v = 0; v < count; ++v)
        Eigen::Map<Eigen::Vector3f>(x.data() + 3 * v) =
            pose.to_world(rest[v].cast<float>() + at_vertex(u, v));
}

void GreensDisplay::positions(std::span<const float> state, std::span<float> x) const noexcept {
    const std::vector<Eigen::Vector3d>& rest = model_->surface.mesh.vertices;
    if (!shown_) return write_positions(state, rest.size(), x);
    std::vector<float> u(3 * at(model_->num_nodes()));
    displacements(state, u);
    std::vector<Eigen::Vector3d> control(rest.size()), fine(shown_->mesh.vertices.size());
    for (std::size_t v = 0; v < rest.size(); ++v)
        control[v] = rest[v] + at_vertex(u, v).cast<double>();
    shown_->displaced.evaluate(control, fine);
    const DisplayPose pose(state);
    for (std::size_t v = 0; v < fine.size(); ++v)
        Eigen::Map<Eigen::Vector3f>(x.data() + 3 * v) = pose.to_world(fine[v].cast<float>());
}

std::vector<std::array<int, 2>> GreensDisplay::mesh_edges() const {
    std::vector<std::array<int, 2>> edges;
    if (wireframe_ < 0) return edges;
    for (const Triangle& triangle : model_->surface.triangles[at(wireframe_)])
        for (std::size_t k = 0; k < 3; ++k)
            // each from one of its two sides
            if (triangle[k] < triangle[(k + 1) % 3])
                edges.push_back({triangle[k], triangle[(k + 1) % 3]});
    return edges;
}

int GreensDisplay::num_mesh_nodes() const noexcept {
    return wireframe_ < 0 ? 0 : model_->surface.num_vertices[at(wireframe_)];
}

void GreensDisplay::mesh_positions(std::span<const float> state,
                                   std::span<float> x) const noexcept {
    write_positions(state, at(num_mesh_nodes()), x);
}

void GreensDisplay::respond(std::span<const int> nodes, std::span<const float> tractions,
                            std::span<float> u_vertices) const noexcept {
    constexpr std::array<float, 3> kNoGravity = {};
    std::vector<float> u(3 * at(model_->num_nodes()));
    sum(nodes, tractions, kNoGravity, {}, u);
    if (shown_) {
        const std::vector<Eigen::Vector3d>& rest = model_->surface.mesh.vertices;
        std::vector<Eigen::Vector3d> control(rest.size()), fine(shown_->mesh.vertices.size());
        for (std::size_t v = 0; v < rest.size(); ++v)
            control[v] = rest[v] + at_vertex(u, v).cast<double>();
        shown_->displaced.evaluate(control, fine);
        for (std::size_t v = 0; 3 * v < u_vertices.size(); ++v)
            Eigen::Map<Eigen::Vector3f>(u_vertices.data() + 3 * v) =
                (fine[v] - shown_->mesh.vertices[v]).cast<float>();
        return;
    }
    for (std::size_t v = 0; 3 * v < u_vertices.size(); ++v)
        Eigen::Map<Eigen::Vector3f>(u_vertices.data() + 3 * v) = at_vertex(u, v);
}

void GreensDisplay::normals(std::span<const float> x, std::span<float> n) const noexcept {
    area_weighted_normals(shown_ ? shown_->mesh.triangles : model_->surface.mesh.triangles, x, n);
}

void GreensDisplay::loaded_nodes(std::span<const float> state,
                                 std::vector<LoadedNode>& nodes) const {
    std::vector<float> u(3 * at(model_->num_nodes()));
    displacements(state, u);
    const DisplayPose pose(state);
    const auto modulus = static_cast<float>(model_->reference.modulus) * state[kGreensModulus];
    const auto count = static_cast<std::size_t>(state[kGreensCount]);
    nodes.clear();
    for (std::size_t i = 0; i < count; ++i) {
        const float* const load = state.data() + kGreensLoads + kFloatsPerLoad * i;
        const auto id = at(static_cast<int>(load[0]));
        LoadedNode one{.node = model_->reference.functions->row_of(static_cast<int>(load[0]))};
        const auto n = at(one.node);
        const Eigen::Vector3f x = model_->reference.positions[n].cast<float>() +
                                  Eigen::Map<const Eigen::Vector3f>(u.data() + 3 * n);
        const auto area = static_cast<float>(level_areas_.empty() ? model_->reference.areas[n]
                                                                  : level_areas_[id]);
        Eigen::Map<Eigen::Vector3f>(one.position.data()) = pose.to_world(x);
        Eigen::Map<Eigen::Vector3f>(one.force.data()) =
            pose.rotation * Eigen::Map<const Eigen::Vector3f>(load + 1) * (modulus * area);
        nodes.push_back(one);
    }
}

}  // namespace pliant
