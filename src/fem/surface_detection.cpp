#include "fem/surface_detection.h"

#include "core/numbers.h"
#include "fem/touch_points.h"
#include "geometry/closest_on_triangle.h"
#include "geometry/triangle.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

/// Of the mean edge: what candidates are listed within at least, how deep a point of an obstacle
/// may be, how near everything is looked at, and how near a side of a facet has no direction.
constexpr double kLeastMargin = 0.5, kDeepest = 1, kNear = 1e-3, kNoDirection = 1e-3;
/// Of the mean edge: between points along edges of obstacles.
constexpr double kSpacing = 0.25;
/// Facets listed for one point of an obstacle, in the mean.
constexpr int kFacetsPerPoint = 24;

Box world_box(const RigidShape& shape, const Pose& pose, double margin) {
    const Box& box = shape.bounds();
    if (!box.sizes().allFinite())
        return {Vector3d::Constant(-kInfinity), Vector3d::Constant(kInfinity)};
    const Vector3d half =
        0.5 * (1 + 1e-12) * pose.rotation.toRotationMatrix().cwiseAbs().lazyProduct(box.sizes()) +
        Vector3d::Constant(margin);
    const Vector3d centre = pose.to_world(box.center());
    return {centre - half, centre + half};
}

double distance_to(const Box& box, const Vector3d& x) {
    return std::sqrt(box.squaredExteriorDistance(x));
}

/// Where in the facet a corner or side of it is that another facet may share.
bool has_feature(const Triangle& other, const Triangle& t, Feature feature, int index) {
    const auto has = [&](int vertex) { return std::ranges::find(other, vertex) != other.end(); };
    const auto k = static_cast<std::size_t>(index);
    return has(t[k]) && (feature == Feature::Vertex || has(t[(k + 1) % 3]));
}

double angle_at(const Triangle& t, int vertex, const std::vector<Vector3d>& x) {
    const auto k = static_cast<std::size_t>(std::ranges::find(t, vertex) - t.begin());
    const Vector3d& corner = x[at(t[k])];
    const Vector3d a = x[at(t[(k + 1) % 3])] - corner, b = x[at(t[(k + 2) % 3])] - corner;
    return std::atan2(a.cross(b).norm(), a.dot(b));
}

}  // namespace

SurfaceDetection::SurfaceDetection(const CarriedSurface& surface,
                                   const std::vector<RigidBody*>& obstacles, int capacity)
    : mean_edge_(surface.mean_edge()),
      size_(surface.size()),
      num_vertices_(surface.num_vertices()) {
    const Box box = bounding_box(surface.surface().vertices);
    centre_ = box.isEmpty() ? Vector3d(Vector3d::Zero()) : Vector3d(box.center());
    if (surface.is_closed()) tree_.emplace(surface.surface());
    int num_points = 0;
    for (const RigidBody* body : obstacles) {
        const Box& bounds = body->shape().bounds();
        double radius = 0;
        for (int corner = 0; corner < 8; ++corner) {
            const auto k = static_cast<Box::CornerType>(corner);
            radius = std::max(radius, bounds.corner(k).norm());
        }
        obstacles_.push_back({body->shape(),
                              tree_ ? touch_points(body->surface(), body->shape(),
                                                   kSpacing * mean_edge_)
                                    : std::vector<Vector3d>(),
                              std::isfinite(radius) ? radius : kInfinity});
        num_points = std::max(num_points, static_cast<int>(obstacles_.back().points.size()));
    }
    constexpr int kMostContacts = 8192;
    capacity_ = capacity > 0 ? capacity : std::min(num_vertices_ + num_points, kMostContacts);
}

SurfaceDetection::Workspace SurfaceDetection::make_workspace() const {
    Workspace ws;
    if (tree_)
        ws.surface = tree_->make_workspace();
    else
        ws.surface.positions.resize(at(num_vertices_), Vector3d::Zero());
    ws.placed.assign(at(num_vertices_), 0);
    ws.near.resize(obstacles_.size());
    for (std::size_t o = 0; o < obstacles_.size(); ++o) {
        ws.near[o].vertices.reserve(at(num_vertices_));
        ws.near[o].points.reserve(obstacles_[o].points.size());
        ws.near[o].facets.reserve(kFacetsPerPoint * obstacles_[o].points.size());
    }
    ws.found.reserve(at(capacity_));
    return ws;
}

void SurfaceDetection::forget(Workspace& ws) const noexcept {
    for (Workspace::Near& near : ws.near) near.is_listed = false;
}

/// How far a rotation of one radian moves a place of the obstacle that the surface may touch.
double SurfaceDetection::radius_of(const Obstacle& o, const Pose& pose) const noexcept {
    return std::isfinite(o.radius) ? o.radius : (centre_ - pose.position).norm() + 10 * size_;
}

void SurfaceDetection::find(const CarriedSurface& surface, const VectorXd& u, double way,
                            std::span<const RigidMotion> motions, double dt, double growth,
                            Workspace& ws) const noexcept {
    ws.found.clear();
    ws.is_complete = true;
    ++ws.step;
    const double soft_way = surface.amplification() * way;
    for (std::size_t o = 0; o < obstacles_.size(); ++o) {
        Workspace::Near& near = ws.near[o];
        const auto& [pose, velocity, acceleration] = motions[o];
        const double radius = radius_of(obstacles_[o], pose);
        // twice what is left to go: other contacts change velocities
        near.reach = 2 * (growth * soft_way + dt * (velocity.linear.norm() +
                                           (velocity.angular.isZero(0.0)
                                                ? 0.0
                                                : radius * velocity.angular.norm()))) +
                     kNear * mean_edge_;
        if (near.is_listed) {
            const Vector3d turn = rotation_difference(near.pose.rotation, pose.rotation);
            near.travelled += soft_way + (pose.position - near.pose.position).norm() +
                              (turn.isZero(0.0) ? 0.0 : radius * turn.norm());
        }
        near.pose = pose;
        if (!near.is_listed || !(near.travelled + near.reach <= near.margin))
            list(surface, u, obstacles_[o], pose, near, ws);
        for (Workspace::VertexCandidate& c : near.vertices)
            if (c.clearance - near.travelled <= near.reach)
                meet_vertex(surface, u, static_cast<int>(o), pose, c, ws);
        for (Workspace::PointCandidate& c : near.points)
            if (c.clearance - near.travelled <= near.reach)
                meet_point(surface, u, static_cast<int>(o), pose, c, ws);
    }
}

/// Everything that can come within reach before the margin is used up.
void SurfaceDetection::list(const CarriedSurface& surface, const VectorXd& u, const Obstacle& o,
                            const Pose& pose, Workspace::Near& near,
                            Workspace& ws) const noexcept {
    near.is_listed = true;
    near.travelled = 0;
    near.margin = std::max(kLeastMargin * mean_edge_, 6 * near.reach);
    near.vertices.clear();
    bool is_moved = false;
    for (int v = 0; v < num_vertices_; ++v)
        if (ws.placed[at(v)] != ws.step) {
            ws.surface.positions[at(v)] = surface.position(v, u);
            ws.placed[at(v)] = ws.step;
            is_moved = true;
        }
    if (is_moved && tree_) tree_->fit_boxes(ws.surface);

    double nearest = kInfinity;
    const Box box = world_box(o.shape, pose, near.margin);
    for (int v = 0; v < num_vertices_; ++v) {
        const Vector3d& x = ws.surface.positions[at(v)];
        const double gap = box.contains(x) ? o.shape.sample(pose.to_body(x)).gap
                                           : near.margin + distance_to(box, x);
        nearest = std::min(nearest, gap);
        if (gap <= near.margin) near.vertices.push_back({v, gap});
    }
    // as many as there is room for: a smaller margin has fewer
    const double least = 1.5 * near.reach;
    for (double nearest_point = nearest;; nearest_point = nearest) {
        if (list_points(o, pose, near, nearest_point, ws)) {
            nearest = nearest_point;
            break;
        }
        if (near.margin <= least) {
            ws.is_complete = false;
            break;
        }
        near.margin = std::max(least, 0.5 * near.margin);
    }
    // far from each other nothing has to be listed for long
    if (near.vertices.empty() && near.points.empty())
        near.margin = std::max(near.margin, nearest - kDeepest * mean_edge_);
}

bool SurfaceDetection::list_points(const Obstacle& o, const Pose& pose, Workspace::Near& near,
                                   double& nearest, const Workspace& ws) const noexcept {
    near.points.clear();
    near.facets.clear();
    if (o.points.empty()) return true;
    const Box& all = FacetTree::bounds(ws.surface);
    const double distance = near.margin + kDeepest * mean_edge_;
    // the whole obstacle first
    const double apart = std::sqrt(world_box(o.shape, pose, 0).squaredExteriorDistance(all));
    if (apart > distance) {
        nearest = std::min(nearest, apart);
        return true;
    }
    for (std::size_t p = 0; p < o.points.size(); ++p) {
        const Vector3d x = pose.to_world(o.points[p]);
        if (const double outside = distance_to(all, x); outside > distance) {
            nearest = std::min(nearest, outside);
            continue;
        }
        const std::size_t first = near.facets.size();
        bool has_room = true;
        tree_->for_each_within(x, distance, ws.surface, [&](int facet) {
            if (near.facets.size() < near.facets.capacity())
                near.facets.push_back(facet);
            else
                has_room = false;
        });
        if (!has_room) return false;
        nearest = std::min(nearest, distance);
        if (near.facets.size() == first) continue;
        std::sort(near.facets.begin() + static_cast<std::ptrdiff_t>(first), near.facets.end());
        near.points.push_back({static_cast<int>(p), static_cast<int>(first),
                               static_cast<int>(near.facets.size() - first), -kInfinity});
    }
    return true;
}

void SurfaceDetection::meet_vertex(const CarriedSurface& surface, const VectorXd& u, int obstacle,
                                   const Pose& pose, Workspace::VertexCandidate& c,
                                   Workspace& ws) const noexcept {
    const Workspace::Near& near = ws.near[at(obstacle)];
    FoundContact contact;
    contact.obstacle = obstacle;
    contact.vertex = c.vertex;
    contact.x = surface.position(c.vertex, u);
    const ShapeSample sample = obstacles_[at(obstacle)].shape.sample(pose.to_body(contact.x));
    c.clearance = sample.gap + near.travelled;
    if (!(sample.gap <= near.reach)) return;
    contact.gap = sample.gap;
    contact.normal = pose.rotation * sample.normal;
    keep(contact, ws);
}

void SurfaceDetection::meet_point(const CarriedSurface& surface, const VectorXd& u, int obstacle,
                                  const Pose& pose, Workspace::PointCandidate& c,
                                  Workspace& ws) const noexcept {
    const Workspace::Near& near = ws.near[at(obstacle)];
    const std::vector<Triangle>& triangles = tree_->facets();
    std::vector<Vector3d>& x = ws.surface.positions;
    const std::span<const int> facets =
        std::span(near.facets).subspan(at(c.first_facet), at(c.num_facets));
    const Vector3d point = pose.to_world(obstacles_[at(obstacle)].points[at(c.point)]);

    // the nearest of its facets
    int facet = -1;
    detail::TrianglePoint nearest{kInfinity, Vector3d::Zero(), Feature::Face, 0};
    for (const int f : facets) {
        const Triangle& t = triangles[at(f)];
        for (const int v : t)
            if (ws.placed[at(v)] != ws.step) {
                x[at(v)] = surface.position(v, u);
                ws.placed[at(v)] = ws.step;
            }
        const detail::TrianglePoint p =
            detail::nearest_on_triangle(point, x[at(t[0])], x[at(t[1])], x[at(t[2])]);
        if (!(p.distance_squared < nearest.distance_squared)) continue;
        nearest = p;
        facet = f;
    }
    if (facet < 0) return;
    const double distance = std::sqrt(nearest.distance_squared);
    c.clearance = near.travelled + distance;
    if (distance > near.reach && distance > kDeepest * mean_edge_) return;

    // the facets at the nearest feature say which side it is on, docs/geometry.md eq. (2)
    const Triangle& t = triangles[at(facet)];
    const auto normal_of = [&](const Triangle& s) {
        return unit_or_zero(area_vector(x[at(s[0])], x[at(s[1])], x[at(s[2])]));
    };
    Vector3d outwards = normal_of(t);
    if (nearest.feature != Feature::Face) {
        outwards.setZero();
        const int corner = t[at(nearest.feature_index)];
        for (const int f : facets) {
            const Triangle& s = triangles[at(f)];
            if (!has_feature(s, t, nearest.feature, nearest.feature_index)) continue;
            outwards +=
                (nearest.feature == Feature::Vertex ? angle_at(s, corner, x) : 1.0) * normal_of(s);
        }
        outwards = unit_or_zero(outwards);
    }
    FoundContact contact;
    contact.obstacle = obstacle;
    contact.point = c.point;
    contact.facet = t;
    contact.weights = nearest.barycentric;
    for (int k = 0; k < 3; ++k) contact.x += nearest.barycentric[k] * x[at(t[at(k)])];
    const Vector3d away = point - contact.x;
    const bool is_inside = away.dot(outwards) < 0;
    contact.gap = is_inside ? -distance : distance;
    // what is deep counts as near
    c.clearance = near.travelled + contact.gap;
    if (!(contact.gap <= near.reach) || outwards.isZero(0.0)) return;
    const bool has_direction =
        nearest.feature != Feature::Face && distance > kNoDirection * mean_edge_;
    contact.normal =
        has_direction ? Vector3d((is_inside ? 1.0 : -1.0) / distance * away) : Vector3d(-outwards);
    keep(contact, ws);
}

void SurfaceDetection::keep(const FoundContact& contact, Workspace& ws) const noexcept {
    if (ws.found.size() < at(capacity_))
        ws.found.push_back(contact);
    else
        ws.is_complete = false;
}

}  // namespace pliant
