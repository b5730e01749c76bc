#include "reduction/reduced_display.h"

#include "body/surface_display.h"

#include <cassert>

namespace pliant {
namespace {

void move_to_world(std::span<const float> state, std::span<float> x) noexcept {
    const DisplayPose pose(state);
    for (std::size_t i = 0; i + 2 < x.size(); i += 3) {
        Eigen::Map<Eigen::Vector3f> place(x.data() + i);
        place = pose.to_world(place);
    }
}

}  // namespace

ReducedDisplay::ReducedDisplay(ReducedModel model)
    : model_(std::move(model)), shapes_(model_.shapes()) {
    const VolumeMesh mesh = model_.mesh();
    nodes_.resize(3 * Eigen::Index{mesh.num_vertices()});
    for (int i = 0; i < mesh.num_vertices(); ++i)
        nodes_.segment<3>(3 * Eigen::Index{i}) =
            mesh.vertices[static_cast<std::size_t>(i)].cast<float>();
}

int ReducedDisplay::state_size() const noexcept { return kPoseFloats + model_.rank(); }
int ReducedDisplay::num_mesh_nodes() const noexcept { return model_.num_vertices(); }

void ReducedDisplay::positions(std::span<const float> state, std::span<float> x) const noexcept {
    assert(static_cast<int>(state.size()) == state_size());
    shapes_.positions(state.subspan(kPoseFloats), x);
    move_to_world(state, x);
}

void ReducedDisplay::normals(std::span<const float> x, std::span<float> n) const noexcept {
    shapes_.normals(x, n);
}

std::vector<std::array<int, 2>> ReducedDisplay::mesh_edges() const {
    return element_edges(model_.mesh());
}

void ReducedDisplay::mesh_positions(std::span<const float> state,
                                    std::span<float> x) const noexcept {
    assert(static_cast<int>(state.size()) == state_size());
    assert(static_cast<Eigen::Index>(x.size()) == nodes_.size());
    const auto U = model_.basis();
    Eigen::Map<Eigen::VectorXf> all(x.data(), nodes_.size());
    all = nodes_;
    for (int k = 0; k < model_.rank(); ++k)
        all += U.col(k).cast<float>() * state[static_cast<std::size_t>(kPoseFloats + k)];
    move_to_world(state, x);
}

}  // namespace pliant
