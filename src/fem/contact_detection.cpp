#include "fem/contact_detection.h"

#include "core/numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Touch = ExplicitScene::Touch;
using Phase = Touch::Phase;

constexpr int kMaxTouches = ExplicitScene::kMaxTouches;

Box world_box(const RigidShape& shape, const Pose& pose) {
    const Box& box = shape.bounds();
    if (!box.sizes().allFinite())
        return {Vector3d::Constant(-kInfinity), Vector3d::Constant(kInfinity)};
    // half sizes along the world's axes; a little more than all for round-off
    const Vector3d half =
        0.5 * (1 + 1e-12) * pose.rotation.toRotationMatrix().cwiseAbs().lazyProduct(box.sizes());
    const Vector3d centre = pose.to_world(box.center());
    return {centre - half, centre + half};
}

/// The touch of a node with an obstacle or a body; a new one if there was none.
Touch touch_with(const Touch* touches, int obstacle, int other_body) {
    for (int k = 0; k < kMaxTouches && touches[k].phase != Phase::None; ++k)
        if (touches[k].obstacle == obstacle && touches[k].other_body == other_body)
            return touches[k];
    return {.obstacle = obstacle, .other_body = other_body};
}

}  // namespace

ContactDetection::ContactDetection(const std::vector<ExplicitDynamics>& bodies,
                                   const std::vector<RigidShape>& obstacles,
                                   const ContactOptions& options)
    : num_obstacles_(static_cast<int>(obstacles.size())),
      soft_soft_(options.touches_soft && bodies.size() > 1) {
    int num_nodes = 0;
    for (const ExplicitDynamics& body : bodies) {
        const VolumeMesh& mesh = body.model().mesh();
        const FacetTree& surface = surfaces_.emplace_back(mesh);
        reach_.push_back(options.reach > 0 ? options.reach
                                           : 0.5 * shortest_edge(mesh, surface.facets()));
        first_node_.push_back(num_nodes);
        num_nodes += static_cast<int>(surface.nodes().size());
    }
    first_node_.push_back(num_nodes);
    const int num_others = num_obstacles_ + (soft_soft_ ? static_cast<int>(bodies.size()) - 1 : 0);
    capacity_ =
        options.capacity > 0 ? options.capacity : num_nodes * std::min(kMaxTouches, num_others);
}

ContactDetection::Workspace ContactDetection::make_workspace() const {
    Workspace ws;
    ws.clearances.assign(num_obstacles_, std::vector<Workspace::Clearance>(first_node_.back()));
    for (const FacetTree& surface : surfaces_) ws.surfaces.push_back(surface.make_workspace());
    ws.obstacle_boxes.resize(num_obstacles_);
    ws.found.reserve(capacity_);
    return ws;
}

void ContactDetection::find(const std::vector<ExplicitDynamics>& bodies,
                            const std::vector<RigidShape>& obstacles, const ExplicitScene::State& s,
                            std::span<const RigidMotion> motions, Workspace& ws) const noexcept {
    ws.found.clear();
    ws.is_complete = true;
    for (int o = 0; o < num_obstacles_; ++o)
        ws.obstacle_boxes[o] = world_box(obstacles[o], motions[o].pose);
    if (soft_soft_)
        for (std::size_t b = 0; b < bodies.size(); ++b)
            surfaces_[b].refit(s.bodies[b].u, ws.surfaces[b]);

    for (int b = 0; b < static_cast<int>(bodies.size()); ++b) {
        const VolumeMesh& mesh = bodies[b].model().mesh();
        const std::vector<int>& nodes = surfaces_[b].nodes();
        for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
            FoundTouch touch;
            touch.body = b;
            touch.surface_node = i;
            touch.x =
                mesh.vertices[nodes[i]] + s.bodies[b].u.segment<3>(3 * Eigen::Index{nodes[i]});
            const Touch* touches = &s.touches[b][static_cast<std::size_t>(kMaxTouches) * i];
            for (int o = 0; o < num_obstacles_; ++o) {
                touch.before = touch_with(touches, o, -1);
                meet_obstacle(touch, obstacles[o], motions[o].pose, ws);
            }
            if (!soft_soft_) continue;
            for (int c = 0; c < static_cast<int>(bodies.size()); ++c) {
                if (c == b) continue;
                touch.before = touch_with(touches, -1, c);
                meet_body(touch, ws);
            }
        }
    }
}

void ContactDetection::meet_obstacle(FoundTouch& touch, const RigidShape& shape, const Pose& pose,
                                     Workspace& ws) const noexcept {
    const int o = touch.before.obstacle;
    if (!touch.is_kept() && !ws.obstacle_boxes[o].contains(touch.x)) return;
    const Vector3d x_body = pose.to_body(touch.x);
    // the gap shrinks no faster than the node moves
    auto& clearance = ws.clearances[o][first_node_[touch.body] + touch.surface_node];
    if (!touch.is_kept() && clearance.gap > 0 &&
        (x_body - clearance.x_body).squaredNorm() < clearance.gap * clearance.gap)
        return;
    const ShapeSample sample = shape.sample(x_body);
    clearance = {x_body, std::isfinite(sample.gap) ? sample.gap : 0.0};
    touch.gap = sample.gap;
    touch.normal = pose.rotation * sample.normal;
    keep(touch, ws);
}

void ContactDetection::meet_body(FoundTouch& touch, Workspace& ws) const noexcept {
    const int c = touch.before.other_body;
    if (!touch.is_kept() && !FacetTree::bounds(ws.surfaces[c]).contains(touch.x)) return;
    const FacetTree::Closest closest =
        surfaces_[c].closest(touch.x, reach_[touch.body], ws.surfaces[c]);
    touch.facet = closest.facet;
    touch.weights = closest.weights;
    touch.gap = closest.gap;
    touch.normal = closest.normal;
    keep(touch, ws);
}

void ContactDetection::keep(const FoundTouch& touch, Workspace& ws) const noexcept {
    if (!(touch.gap <= 0) && !touch.is_kept()) return;
    // those of one node follow each other
    const std::size_t n = ws.found.size(), first = n - std::min<std::size_t>(n, kMaxTouches);
    const bool is_node_full = n - first == kMaxTouches && ws.found[first].body == touch.body &&
                              ws.found[first].surface_node == touch.surface_node;
    if (is_node_full || n == static_cast<std::size_t>(capacity_))
        ws.is_complete = false;
    else
        ws.found.push_back(touch);
}

}  // namespace pliant
