#include "contact/moving_body.h"

#include "contact/row_kernels.h"
#include "core/jacobi_eigen.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <string>

namespace pliant {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

/// Part of the rest stiffness that answers to impulses count on: bodies that soften when they bend
/// must not give way more than was thought, docs/contact.md eq. (28).
constexpr double kTrust = 0.5;

void check_surface(const ContactSurface& surface, const std::string& name) {
    const auto expect = [&](bool is_good, const char* field, double value, const char* expected) {
        if (!is_good)
            throw InputError("", name + ": surface." + field, std::to_string(value), expected);
    };
    expect(surface.stiffness >= 0 && surface.stiffness < 1e15, "stiffness", surface.stiffness,
           "0 <= value < 1e15, in newtons per metre; 0 for chosen");
    const double friction = surface.friction.value_or(0);
    expect(friction >= 0 && friction <= 10, "friction", friction, "0 <= value <= 10");
    expect(surface.restitution >= 0 && surface.restitution <= 0.9, "restitution",
           surface.restitution, "0 <= value <= 0.9");
}

/// a ×.
Matrix3d cross_matrix(const Vector3d& a) {
    Matrix3d m;
    m << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
    return m;
}

void check_rank(const std::string& what, int rank, int expected) {
    if (rank == expected) return;
    throw InputError("", what, std::to_string(rank) + " vectors",
                     std::to_string(expected) + ", as its body; build it with that model");
}

}  // namespace

MovingBody::MovingBody(const ContactBody& body, const std::string& name, ModesLibrary& library)
    : rigid_(dynamic_cast<RigidBody*>(body.body)),
      reduced_(dynamic_cast<ReducedBody*>(body.body)),
      tree_(body.tree),
      primitive_(body.primitive),
      surface_(body.surface),
      field_(body.field),
      principal_inertia_(Vector3d::Ones()),
      principal_axes_(Quaternion::Identity()),
      rotation_(Matrix3d::Identity()),
      centre_(Vector3d::Zero()),
      centre_velocity_(Vector3d::Zero()),
      spin_(Vector3d::Zero()),
      inverse_inertia_(Matrix3d::Zero()),
      response_(1),
      rates_(1) {
    if (!rigid_ && !reduced_)
        throw InputError("", name, body.body ? std::string(body.body->kind()) : "no body",
                         "a rigid or a reduced body");
    if (primitive_ && !rigid_) throw InputError("", name + " deforms and is no primitive");
    if (primitive_ && !field_) field_ = primitive_->field();
    check_surface(surface_, name);
    if (!body.tree && !field_ && !body.deformed)
        throw InputError("", name + " has neither points nor a field; build one of them");
    if (reduced_ && body.field)
        throw InputError("", name + " deforms and needs a deformed field, or none");
    if (rigid_ && body.deformed)
        throw InputError("", name + " is rigid and needs a field that does not deform, or none");
    const int r = reduced_ ? reduced_->model().rank() : 0;
    if (reduced_) modes_ = library.modes_of(reduced_->model());
    if (tree_) {
        check_rank("point-tree of " + name, tree_->rank(), r);
        if (reduced_) point_modes_ = library.table_of(*tree_, *modes_);
    }
    if (body.deformed) {
        check_rank("deformed field of " + name, body.deformed->rank(), r);
        deformed_ = std::make_unique<DeformedField>(*body.deformed);
        proxy_modes_ = library.table_of(*deformed_, body.deformed->num_proxies(), *modes_);
    }

    const std::optional<RigidMass>& mass = rigid_ ? rigid_->mass() : reduced_->rest_mass();
    has_frame_ = mass.has_value();
    if (has_frame_) {
        const SmallEigen<3> principal = jacobi_eigen<3>(mass->inertia);
        Matrix3d axes = principal.vectors;
        if (axes.determinant() < 0) axes.col(2) = -axes.col(2);
        principal_axes_ = Quaternion(axes).normalized();
        principal_inertia_ = principal.values;
        inverse_mass_ = 1 / mass->mass;
    }
    scale_ = contact_scale(*body.body);
    if (deformed_)
        scale_.cell = deformed_->resolution();
    else if (field_)
        scale_.cell = field_->resolution();
    load_ = acceleration_ = y_rate_ = VectorXd::Zero(r);
    length_ = padded_row(r);
    rates_ = response_ = AlignedArray<double>(static_cast<std::size_t>(std::max(length_, 1)));
}

std::span<const double> MovingBody::shape() const noexcept {
    if (!reduced_) return {};
    const VectorXd& q = reduced_->state().q;
    return {q.data(), static_cast<std::size_t>(q.size())};
}

BoundingSphere MovingBody::find_sphere() const noexcept {
    BoundingSphere sphere;
    sphere.has_points = tree_.has_value();
    sphere.has_solid = solid() != nullptr;
    sphere.is_moving = is_moving();
    sphere.is_primitive = primitive_.has_value();
    Vector3d centre = Vector3d::Zero();
    if (tree_) {
        centre = tree_->centre();
        sphere.rest_radius = sphere.radius = tree_->radius();
        const std::span<const double> q = shape(), reach = tree_->reach();
        for (std::size_t j = 0; j < q.size(); ++j) sphere.radius += reach[j] * std::abs(q[j]);
    }
    if (const DistanceField* field = solid()) {
        const Box& box = field->bounds();
        if (!tree_) centre = box.center();
        const bool is_bounded = box.min().allFinite() && box.max().allFinite();
        if (!is_bounded) centre.setZero();
        const double radius =
            is_bounded ? (box.center() - centre).norm() + 0.5 * box.diagonal().norm() : INFINITY;
        // a grid's box is wider than the solid that the points stand for
        if (!tree_ || !is_bounded) sphere.radius = radius;
        if (!tree_) sphere.rest_radius = radius;
    }
    sphere.centre = pose_.to_world(centre);
    return sphere;
}

bool MovingBody::begin(double dt) noexcept {
    wrench_ = {};
    load_.setZero();
    is_touched_ = false;
    if (rigid_) {
        const RigidMotion& motion = rigid_->motion();
        pose_ = motion.pose;
        centre_ = pose_.position;
        motion_ = motion.velocity;
        centre_velocity_ = motion.velocity.linear;
        spin_ = motion.velocity.angular;
        if (has_frame_) {
            const Vector3d arm = pose_.rotation * rigid_->mass()->centre;
            centre_ += arm;
            begin_frame(*rigid_->mass(), {motion.velocity.at(arm), motion.velocity.angular},
                        rigid_->next_load().about(arm), dt);
        }
    } else {
        pose_ = reduced_->pose();
        centre_ = reduced_->frame().pose.position;
        if (has_frame_)
            begin_frame(*reduced_->rest_mass(), reduced_->frame().velocity, reduced_->next_wrench(),
                        dt);
        begin_shape(dt);
        if (!tree_) update_solid();
    }
    rotation_ = pose_.rotation.toRotationMatrix();
    sphere_ = find_sphere();
    return is_finite(pose_) && Eigen::Map<const VectorXd>(rates_.data(), rank()).allFinite() &&
           motion_.linear.allFinite() && motion_.angular.allFinite();
}

void MovingBody::update_solid() noexcept {
    if (deformed_) deformed_->update(reduced_->state().q);
}

void MovingBody::begin_frame(const RigidMass& mass, const Twist& velocity, const Wrench& load,
                             double dt) noexcept {
    const Matrix3d axes = (pose_.rotation * principal_axes_).toRotationMatrix();
    centre_velocity_ = velocity.linear;
    spin_ = velocity.angular;
    motion_.linear = velocity.linear + dt / mass.mass * load.force;
    // Euler's equations in principal axes, by one Newton iteration of an implicit step: a body that
    // turns by more than a radian in a step would seem to gain energy otherwise
    const Vector3d omega = axes.transpose() * velocity.angular;
    const Vector3d momentum = principal_inertia_.cwiseProduct(omega);
    Matrix3d turning = dt * (cross_matrix(omega) * principal_inertia_.asDiagonal().toDenseMatrix() -
                             cross_matrix(momentum));
    turning.diagonal() += principal_inertia_;
    const Vector3d torque = axes.transpose() * load.torque - omega.cross(momentum);
    motion_.angular = axes * (omega + turning.inverse() * (dt * torque));
    inverse_inertia_ = axes * principal_inertia_.cwiseInverse().asDiagonal() * axes.transpose();
}

/// The step of docs/reduction.md eq. (17) in modes, without contact, eq. (28).
void MovingBody::begin_shape(double dt) noexcept {
    const ReducedTuning& tuning = reduced_->tuning();
    reduced_->next_acceleration(acceleration_);
    const ContactModes& modes = *modes_;
    y_rate_.noalias() = modes.to_modes * reduced_->state().v;
    Eigen::Map<VectorXd> out(rates_.data(), rank());
    out.noalias() = modes.to_modes * acceleration_;
    for (int i = 0; i < rank(); ++i) {
        const double lambda = tuning.stiffness * modes.lambda[i];
        const double rate = 0.5 * dt * (tuning.mass_damping + tuning.stiffness_damping * lambda) +
                            0.25 * dt * dt * lambda;
        out[i] = y_rate_[i] + dt * (out[i] - 0.5 * dt * lambda * y_rate_[i]) / (1 + rate);
        response_.data()[i] = 1 / (1 + kTrust * rate);
    }
}

SweepBody MovingBody::for_sweeps() noexcept {
    return {.has_frame = has_frame_,
            .inverse_mass = inverse_mass_,
            .inverse_inertia = inverse_inertia_.data(),
            .centre = centre_.data(),
            .rotation = rotation_.data(),
            .response = response_.data(),
            .length = length_,
            .linear = motion_.linear.data(),
            .angular = motion_.angular.data(),
            .rates = rates_.data()};
}

Matrix3d MovingBody::response_at(const Vector3d& p, const float* modes) const noexcept {
    Matrix3d G = Matrix3d::Zero();
    if (has_frame_) {
        const Vector3d r = p - centre_;
        const Matrix3d arm = cross_matrix(r);
        G = inverse_mass_ * Matrix3d::Identity() - arm * inverse_inertia_ * arm;
    }
    if (modes) {
        double s[6];
        point_response(modes, response_.data(), length_, s);
        Matrix3d bend;
        bend << s[0], s[1], s[2], s[1], s[3], s[4], s[2], s[4], s[5];
        G += rotation_ * bend * rotation_.transpose();
    }
    return G;
}

Vector3d MovingBody::bending(const float* modes, const double* rates) const noexcept {
    Vector3d sum = Vector3d::Zero();
    for (int axis = 0; axis < 3; ++axis, modes += length_)
        for (int i = 0; i < rank(); ++i) sum[axis] += static_cast<double>(modes[i]) * rates[i];
    return rotation_ * sum;
}

Vector3d MovingBody::velocity_now(const Vector3d& p, const float* modes) const noexcept {
    const Vector3d v = centre_velocity_ + spin_.cross(p - centre_);
    return modes ? Vector3d(v + bending(modes, y_rate_.data())) : v;
}

Vector3d MovingBody::velocity_next(const Vector3d& p, const float* modes) const noexcept {
    const Vector3d v = motion_.linear + motion_.angular.cross(p - centre_);
    return modes ? Vector3d(v + bending(modes, rates_.data())) : v;
}

void MovingBody::apply() noexcept {
    if (!is_touched_) return;
    if (rigid_) {
        rigid_->add_wrench(wrench_.about(pose_.position - centre_));
        return;
    }
    reduced_->add_wrench(wrench_);
    reduced_->add_reduced_force(load_);
}

}  // namespace pliant
