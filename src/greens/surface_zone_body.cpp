#include "greens/surface_zone_body.h"

#include "body/surface_display.h"
#include "core/jacobi_eigen.h"
#include "core/numbers.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double kLoadTime = 0.05;  // lag of forces [s], that of bonded seams
/// Seams may give way so much more than the zone with its seams held, for springs to be stable.
constexpr double kSeamsGiveWay = 8;

/// All vertices, in the world, behind the pose.
class PlacedVertices final : public BodyDisplay {
public:
    explicit PlacedVertices(const SurfaceMesh& surface)
        : triangles_(surface.triangles), num_vertices_(surface.num_vertices()) {}

    [[nodiscard]] int state_size() const noexcept override {
        return kPoseFloats + 3 * num_vertices_;
    }
    void positions(std::span<const float> state, std::span<float> x) const noexcept override {
        std::ranges::copy(state.subspan(kPoseFloats, x.size()), x.begin());
    }
    void normals(std::span<const float> x, std::span<float> n) const noexcept override {
        area_weighted_normals(triangles_, x, n);
    }
    [[nodiscard]] std::vector<std::array<int, 2>> mesh_edges() const override { return {}; }
    [[nodiscard]] int num_mesh_nodes() const noexcept override { return 0; }
    void mesh_positions(std::span<const float>, std::span<float>) const noexcept override {}

private:
    std::vector<Triangle> triangles_;
    int num_vertices_;
};

}  // namespace

SurfaceZoneBody::SurfaceZoneBody(std::shared_ptr<SurfaceZone> zone, double rate)
    : Body(zone->surface()),
      zone_(std::move(zone)),
      rate_(rate),
      now_(zone_->surface().vertices),
      before_(now_),
      display_(std::make_shared<PlacedVertices>(zone_->surface())) {
    load_ = wanted_ = Eigen::VectorXd::Zero(zone_->load_size());
    u_ = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(3 * zone_->seam_positions().size()));
}

void SurfaceZoneBody::place(const Pose& pose, const Eigen::VectorXd& u) noexcept {
    assert(u.size() == u_.size());
    pose_ = pose;
    u_ = u;
}

/// docs/greens-zones.md eq. (17).
void SurfaceZoneBody::follow_loads(double dt) noexcept {
    zone_->add_weight(pose_.rotation.conjugate() * gravity_, wanted_);
    load_ += -std::expm1(-dt / kLoadTime) * (wanted_ / stiffness_ - load_);
    wanted_.setZero();
    (void)zone_->set_load(load_);
}

SurfaceZoneBody::Corners SurfaceZoneBody::corners(const SurfacePoint& point) const noexcept {
    if (point.triangle < 0) return {{point.vertex, point.vertex, point.vertex}, Vector3d::UnitX()};
    return {surface().triangles[at(point.triangle)], point.barycentric};
}

void SurfaceZoneBody::add_force(const SurfacePoint& point, const Vector3d& force) noexcept {
    if (!is_valid(point) || !force.allFinite()) {
        has_ignored_ = true;
        return;
    }
    const Corners where = corners(point);
    const Vector3d in_zone = pose_.rotation.conjugate() * force;
    for (int k = 0; k < 3; ++k)
        if (where.weights[k] != 0)
            zone_->add_force(where.vertices[at(k)], where.weights[k] * in_zone, wanted_);
}

void SurfaceZoneBody::set_gravity(const Vector3d& acceleration) noexcept {
    if (acceleration.allFinite()) gravity_ = acceleration;
}

void SurfaceZoneBody::move() noexcept {
    zone_->place_surface(u_, now_);
    for (Vector3d& x : now_) x = pose_.to_world(x);
}

StepStatus SurfaceZoneBody::do_step(double dt) noexcept {
    if (!(dt > 0) || !std::isfinite(dt)) {
        wanted_.setZero();
        return StepStatus::InputIgnored;
    }
    dt_ = dt;
    std::swap(before_, now_);
    move();
    return std::exchange(has_ignored_, false) ? StepStatus::InputIgnored : StepStatus::Ok;
}

void SurfaceZoneBody::do_reset() noexcept {
    load_.setZero();
    wanted_.setZero();
    has_ignored_ = false;
    dt_ = 0;
    (void)zone_->set_load(load_);
    move();
    before_ = now_;
}

Vector3d SurfaceZoneBody::position(const SurfacePoint& point, TickMoment moment) const noexcept {
    Vector3d x = Vector3d::Zero();
    if (!is_valid(point)) return x;
    const std::vector<Vector3d>& vertices = moment == TickMoment::End ? now_ : before_;
    const Corners where = corners(point);
    for (int k = 0; k < 3; ++k) x += where.weights[k] * vertices[at(where.vertices[at(k)])];
    return x;
}

Vector3d SurfaceZoneBody::velocity(const SurfacePoint& point) const noexcept {
    if (!is_valid(point) || !(dt_ > 0)) return Vector3d::Zero();
    return (position(point) - position(point, TickMoment::Start)) / dt_;
}

Vector3d SurfaceZoneBody::normal(const SurfacePoint& point) const noexcept {
    const int triangle = is_valid(point) ? triangle_of(point) : -1;
    if (triangle < 0) return Vector3d::Zero();
    const Triangle& v = surface().triangles[at(triangle)];
    const Vector3d area = (now_[at(v[1])] - now_[at(v[0])]).cross(now_[at(v[2])] - now_[at(v[0])]);
    const double size = area.norm();
    return size > 0 ? Vector3d(area / size) : Vector3d(Vector3d::Zero());
}

Matrix3d SurfaceZoneBody::held_compliance(const SurfacePoint& point) const noexcept {
    const Corners where = corners(point);
    Matrix3d C = Matrix3d::Zero();
    for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l)
            if (where.weights[k] != 0 && where.weights[l] != 0)
                C += where.weights[k] * where.weights[l] / stiffness_ *
                     zone_->vertex_compliance(where.vertices[at(k)], where.vertices[at(l)]);
    return C;
}

/// As of bodies with Green's functions, docs/greens.md eq. (F3).
double SurfaceZoneBody::mobility(const SurfacePoint& point) const noexcept {
    if (!is_valid(point)) return 0;
    const Matrix3d C = held_compliance(point);
    const double largest = jacobi_eigen<3>(Matrix3d(0.5 * (C + C.transpose()))).values[2];
    return -std::expm1(-1 / (rate_ * kLoadTime)) * rate_ * rate_ * kSeamsGiveWay *
           std::max(0.0, largest);
}

int SurfaceZoneBody::state_size() const noexcept {
    return 1 + static_cast<int>(load_.size() + 6 * static_cast<Eigen::Index>(now_.size()));
}

void SurfaceZoneBody::save_state(std::span<double> state) const noexcept {
    assert(state.size() == at(state_size()));
    auto out = state.begin();
    *out++ = dt_;
    out = std::ranges::copy(load_, out).out;
    for (const auto* vertices : {&now_, &before_})
        for (const Vector3d& x : *vertices) out = std::ranges::copy(x, out).out;
}

bool SurfaceZoneBody::restore_state(std::span<const double> state) noexcept {
    if (state.size() != at(state_size()) || !(state[0] >= 0) ||
        !std::ranges::all_of(state, [](double x) { return std::isfinite(x); }))
        return false;
    const double* next = state.data();
    dt_ = *next++;
    for (double& one : load_) one = *next++;
    for (auto* vertices : {&now_, &before_})
        for (Vector3d& x : *vertices) {
            x = Eigen::Map<const Vector3d>(next);
            next += 3;
        }
    (void)zone_->set_load(load_);
    return true;
}

void SurfaceZoneBody::write_display(std::span<float> state) const noexcept {
    assert(state.size() == at(display_->state_size()));
    write_pose(pose_, state);
    float* out = state.data() + kPoseFloats;
    for (const Vector3d& x : now_)
        for (int axis = 0; axis < 3; ++axis) *out++ = static_cast<float>(x[axis]);
}

}  // namespace pliant
