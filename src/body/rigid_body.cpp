#include "pliant/body/rigid_body.h"

#include "body/surface_display.h"
#include "body/wind.h"
#include "core/jacobi_eigen.h"
#include "geometry/triangle.h"

#include <Eigen/LU>
#include <cassert>
#include <cmath>

namespace pliant {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

/// Numbers of a saved state: pose, velocity, acceleration, time, load of the next step.
constexpr int kStateSize = 7 + 6 + 6 + 1 + 6;

/// Turns the body by `angle` about one of its principal axes, `rotation` takes these to the world,
/// and the angular momentum in these axes with it: in the world it stays.
void turn_about(int axis, double angle, Quaternion& rotation, Vector3d& momentum) noexcept {
    const Quaternion turn = rotation_from_vector(angle * Vector3d::Unit(axis));
    rotation = rotation * turn;
    momentum = turn.conjugate() * momentum;
}

/// Free rotation for dt seconds, docs/body.md eq. (10).
void spin_freely(const Vector3d& inertia, double dt, Quaternion& rotation,
                 Vector3d& momentum) noexcept {
    constexpr std::array<int, 5> kAxes = {0, 1, 2, 1, 0};
    constexpr std::array<double, 5> kParts = {0.5, 0.5, 1, 0.5, 0.5};
    for (std::size_t i = 0; i < kAxes.size(); ++i) {
        const int axis = kAxes[i];
        turn_about(axis, kParts[i] * dt * momentum[axis] / inertia[axis], rotation, momentum);
    }
    rotation.normalize();
}

Matrix3d cross_matrix(const Vector3d& r) {
    Matrix3d m;
    m << 0, -r.z(), r.y(), r.z(), 0, -r.x(), -r.y(), r.x(), 0;
    return m;
}

bool is_finite(const Wrench& wrench) noexcept {
    return wrench.force.allFinite() && wrench.torque.allFinite();
}

void check(const RigidBodyOptions& options) {
    if (options.script && options.mass)
        throw InputError("", "a rigid body has either a script or a mass, not both");
    if (!is_finite(options.pose) || !(options.pose.rotation.norm() > 0))
        throw InputError("", "the pose of a rigid body is not finite, or its rotation is zero");
    if (!options.velocity.linear.allFinite() || !options.velocity.angular.allFinite())
        throw InputError("", "the velocity of a rigid body is not finite");
    if (options.mass && !(options.mass->mass > 0 && std::isfinite(options.mass->mass)))
        throw InputError("", "mass", std::to_string(options.mass->mass), "more than 0 kg");
    if (options.mass && !(options.mass->centre.allFinite() && options.mass->inertia.allFinite()))
        throw InputError("", "centre of mass and inertia of a rigid body must be finite");
}

}  // namespace

RigidMass rigid_mass(const SurfaceMesh& surface, double density) {
    if (!(density > 0) || !std::isfinite(density))
        throw InputError("", "density", std::to_string(density), "more than 0 kg/m³");
    // tetrahedra to the middle of the box, docs/body.md eq. (9): far from it volumes would cancel
    const Box box = bounding_box(surface.vertices);
    const Vector3d apex = box.isEmpty() ? Vector3d::Zero() : Vector3d(box.center());
    double volume = 0;
    Vector3d first = Vector3d::Zero();
    Matrix3d second = Matrix3d::Zero();
    for (int t = 0; t < surface.num_triangles(); ++t) {
        const Vector3d a = surface.corner(t, 0) - apex, b = surface.corner(t, 1) - apex,
                       c = surface.corner(t, 2) - apex;
        const double part = a.dot(b.cross(c)) / 6;
        const Vector3d sum = a + b + c;
        volume += part;
        first += part / 4 * sum;
        second +=
            part / 20 *
            (a * a.transpose() + b * b.transpose() + c * c.transpose() + sum * sum.transpose());
    }
    // a sheet has a volume of rounding errors
    const double size = box.isEmpty() ? 0 : box.diagonal().norm();
    if (!(volume > 1e-12 * size * size * size) || !std::isfinite(volume))
        throw InputError("", "volume inside the surface", std::to_string(volume),
                         "more than 0 m³; the surface must be closed and point outwards, --repair "
                         "mends what can be mended");
    RigidMass result;
    result.mass = density * volume;
    const Vector3d offset = first / volume;
    result.centre = apex + offset;
    const Matrix3d about_centre = density * (second - volume * offset * offset.transpose());
    result.inertia = about_centre.trace() * Matrix3d::Identity() - about_centre;
    return result;
}

RigidBody::RigidBody(RigidShape shape, SurfaceMesh surface, const RigidBodyOptions& options)
    : Body(std::move(surface)),
      shape_(std::move(shape)),
      options_(options),
      mass_(options.mass),
      display_(std::make_shared<PosedSurfaceDisplay>(this->surface())) {
    check(options_);
    options_.pose.rotation.normalize();
    if (mass_) {
        const SmallEigen<3> principal = jacobi_eigen<3>(mass_->inertia);
        principal_inertia_ = principal.values;
        // a rod's inertia about its axis is nothing beside the others
        if (!(principal_inertia_[0] > 1e-12 * principal_inertia_[2]))
            throw InputError("", "the inertia of a rigid body must be positive about every axis");
        Matrix3d axes = principal.vectors;
        if (axes.determinant() < 0) axes.col(2) = -axes.col(2);
        principal_axes_ = Quaternion(axes).normalized();
        inverse_inertia_ = mass_->inertia.inverse();
    }
    // where it begins
    first_.pose = options_.pose;
    if (mass_) {
        first_.velocity = options_.velocity;
        set_acceleration(first_, {});
    }
    if (options_.script) first_ = options_.script->at(0);
    start_ = end_ = first_;
}

const RigidMotion& RigidBody::motion(TickMoment moment) const noexcept {
    return moment == TickMoment::Start ? start_ : end_;
}

void RigidBody::drive_to(const Pose& pose) noexcept {
    if (mass_ || options_.script) return;
    if (!pliant::is_finite(pose) || !(pose.rotation.norm() > 0)) {
        has_ignored_ = true;
        return;
    }
    target_ = pose;
    target_->rotation.normalize();
}

void RigidBody::put(const RigidMotion& motion) noexcept {
    if ((mass_ || guide_) && pliant::is_finite(motion)) end_ = motion;
}

void RigidBody::add_wrench(const Wrench& wrench) noexcept {
    if (is_finite(wrench))
        load_ += wrench;
    else
        has_ignored_ = true;
}

void RigidBody::add_force(const SurfacePoint& point, const Vector3d& force) noexcept {
    if (!is_valid(point) || !force.allFinite()) {
        has_ignored_ = true;
        return;
    }
    const Vector3d arm = end_.pose.rotation * body_point(point);
    load_ += {force, arm.cross(force)};
}

void RigidBody::set_gravity(const Vector3d& acceleration) noexcept {
    if (acceleration.allFinite()) gravity_ = acceleration;
}

void RigidBody::set_wind_direction(const Vector3d& direction) {
    if (!direction.allFinite()) return;
    wind_direction_ = unit_or_zero(direction);
    const std::vector<Vector3d> forces =
        wind_forces(surface(), first_.pose.rotation.conjugate() * wind_direction_);
    wind_area_ = 0;
    wind_moment_.setZero();
    for (std::size_t v = 0; v < forces.size(); ++v) {
        const double area = forces[v].norm();
        wind_area_ += area;
        wind_moment_ += area * surface().vertices[v];
    }
}

void RigidBody::set_wind_pressure(double pressure) noexcept {
    if (std::isfinite(pressure)) wind_pressure_ = pressure;
}

Vector3d RigidBody::body_point(const SurfacePoint& point) const noexcept {
    if (point.triangle < 0) return surface().vertices[static_cast<std::size_t>(point.vertex)];
    Vector3d x = Vector3d::Zero();
    for (int k = 0; k < 3; ++k) x += point.barycentric[k] * surface().corner(point.triangle, k);
    return x;
}

Vector3d RigidBody::position(const SurfacePoint& point, TickMoment moment) const noexcept {
    if (!is_valid(point)) return Vector3d::Zero();
    return motion(moment).pose.to_world(body_point(point));
}

Vector3d RigidBody::velocity(const SurfacePoint& point) const noexcept {
    if (!is_valid(point)) return Vector3d::Zero();
    return end_.velocity.at(end_.pose.rotation * body_point(point));
}

Vector3d RigidBody::normal(const SurfacePoint& point) const noexcept {
    if (!is_valid(point)) return Vector3d::Zero();
    const int t = triangle_of(point);
    if (t < 0) return Vector3d::Zero();
    const Vector3d &a = surface().corner(t, 0), &b = surface().corner(t, 1),
                   &c = surface().corner(t, 2);
    if (has_no_area(a, b, c)) return Vector3d::Zero();
    return end_.pose.rotation * unit_or_zero(area_vector(a, b, c));
}

double RigidBody::mobility(const SurfacePoint& point) const noexcept {
    if (!mass_ || !is_valid(point)) return 0;
    // velocity by an impulse at r from the centre: (I/m − [r] J⁻¹ [r]) P
    const Matrix3d r = cross_matrix(body_point(point) - mass_->centre);
    const Matrix3d response = Matrix3d::Identity() / mass_->mass - r * inverse_inertia_ * r;
    return jacobi_eigen<3>(response).values[2];
}

Energy RigidBody::energy() const noexcept {
    Energy energy;
    if (!mass_) return energy;
    const Vector3d v = end_.velocity.at(end_.pose.rotation * mass_->centre);
    const Vector3d omega = end_.pose.rotation.conjugate() * end_.velocity.angular;
    energy.kinetic = 0.5 * mass_->mass * v.squaredNorm() + 0.5 * omega.dot(mass_->inertia * omega);
    return energy;
}

Wrench RigidBody::next_load() const noexcept {
    Wrench load = load_;
    const Quaternion& rotation = end_.pose.rotation;
    // wind on the area that faced it at rest, docs/body.md eq. (6)
    const Vector3d push = wind_pressure_ * wind_direction_;
    load += {wind_area_ * push, (rotation * wind_moment_).cross(push)};
    if (mass_) {
        const Vector3d weight = mass_->mass * gravity_;
        load += {weight, (rotation * mass_->centre).cross(weight)};
    }
    return load;
}

void RigidBody::set_acceleration(RigidMotion& motion, const Wrench& load) const noexcept {
    const Quaternion& rotation = motion.pose.rotation;
    const Vector3d arm = rotation * mass_->centre, omega = motion.velocity.angular;
    const Vector3d omega_body = rotation.conjugate() * omega;
    const Vector3d torque = rotation.conjugate() * load.about(arm).torque;
    const Vector3d alpha =
        rotation * (inverse_inertia_ * (torque - omega_body.cross(mass_->inertia * omega_body)));
    // of the centre, less what the rotation adds there
    motion.acceleration = {
        load.force / mass_->mass - alpha.cross(arm) - omega.cross(omega.cross(arm)), alpha};
}

RigidMotion RigidBody::moved_by(const Wrench& load, double dt) const noexcept {
    const Pose& pose = end_.pose;
    const Vector3d arm = pose.rotation * mass_->centre;
    // the centre moves under a constant force: exact
    const Vector3d acceleration = load.force / mass_->mass;
    const Vector3d v = end_.velocity.at(arm);
    const Vector3d centre = pose.position + arm + dt * v + 0.5 * dt * dt * acceleration;

    // half of the torque's impulse, a free rotation, the other half
    const Vector3d half_impulse = 0.5 * dt * load.about(arm).torque;
    Quaternion axes = pose.rotation * principal_axes_;
    Vector3d momentum = principal_inertia_.cwiseProduct(axes.conjugate() * end_.velocity.angular) +
                        axes.conjugate() * half_impulse;
    spin_freely(principal_inertia_, dt, axes, momentum);
    momentum += axes.conjugate() * half_impulse;

    // back to the origin of the frame
    RigidMotion end;
    end.pose.rotation = (axes * principal_axes_.conjugate()).normalized();
    const Vector3d new_arm = end.pose.rotation * mass_->centre;
    end.pose.position = centre - new_arm;
    end.velocity.angular = axes * momentum.cwiseQuotient(principal_inertia_);
    end.velocity.linear = v + dt * acceleration - end.velocity.angular.cross(new_arm);
    set_acceleration(end, load);
    return end;
}

StepStatus RigidBody::do_step(double dt) noexcept {
    last_load_ = next_load();
    const StepStatus status = has_ignored_ ? StepStatus::InputIgnored : StepStatus::Ok;
    const Pose target = target_.value_or(end_.pose);
    load_ = {};
    has_ignored_ = false;
    target_.reset();
    start_ = end_;
    if (!(dt > 0) || !std::isfinite(dt)) return StepStatus::InputIgnored;

    RigidMotion next;
    if (mass_)
        next = moved_by(last_load_, dt);
    else if (options_.script)
        next = options_.script->at(time_ + dt);
    else
        next = follow(end_, target, dt);
    if (!pliant::is_finite(next)) return StepStatus::StepRejected;
    end_ = next;
    time_ += dt;
    return status;
}

void RigidBody::do_reset() noexcept {
    start_ = end_ = first_;
    time_ = 0;
    load_ = last_load_ = {};
    has_ignored_ = false;
    target_.reset();
}

int RigidBody::state_size() const noexcept { return kStateSize; }

void RigidBody::save_state(std::span<double> state) const noexcept {
    assert(state.size() == static_cast<std::size_t>(kStateSize));
    Eigen::Map<Eigen::Matrix<double, kStateSize, 1>> s(state.data());
    s << end_.pose.position, end_.pose.rotation.coeffs(), end_.velocity.linear,
        end_.velocity.angular, end_.acceleration.linear, end_.acceleration.angular, time_, load_.force, load_.torque;
}

bool RigidBody::restore_state(std::span<const double> state) noexcept {
    if (state.size() != static_cast<std::size_t>(kStateSize)) return false;
    const Eigen::Map<const Eigen::Matrix<double, kStateSize, 1>> s(state.data());
    if (!s.allFinite()) return false;
    RigidMotion motion;
    motion.pose.position = s.segment<3>(0);
    motion.pose.rotation.coeffs() = s.segment<4>(3);
    motion.velocity = {s.segment<3>(7), s.segment<3>(10)};
    motion.acceleration = {s.segment<3>(13), s.segment<3>(16)};
    if (std::abs(motion.pose.rotation.norm() - 1) > 1e-6) return false;
    start_ = end_ = motion;
    time_ = s[19];
    load_ = {s.segment<3>(20), s.segment<3>(23)};
    return true;
}

void RigidBody::write_display(std::span<float> state) const noexcept {
    write_pose(end_.pose, state);
}

}  // namespace pliant
