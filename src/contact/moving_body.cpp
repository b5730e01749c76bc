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
      field_(body.field),
      root_inertia_(Vector3d::Ones()),
      principal_axes_(Quaternion::Identity()),
      to_principal_(Matrix3d::Identity()),
      centre_(Vector3d::Zero()),
      centre_velocity_(Vector3d::Zero()) {
    if (!rigid_ && !reduced_)
        throw InputError("", name, body.body ? std::string(body.body->kind()) : "no body",
                         "a rigid or a reduced body");
    if (!body.tree && !body.field && !body.deformed)
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
        root_inertia_ = principal.values.cwiseSqrt();
        root_mass_ = std::sqrt(mass->mass);
    }
    w = VectorXd::Zero(padded_row((has_frame_ ? 6 : 0) + r));
    load_ = root_response_ = acceleration_ = y_rate_ = VectorXd::Zero(r);
}

std::span<const double> MovingBody::shape() const noexcept {
    if (!reduced_) return {};
    const VectorXd& q = reduced_->state().q;
    return {q.data(), static_cast<std::size_t>(q.size())};
}

BoundingSphere MovingBody::sphere() const noexcept {
    BoundingSphere sphere;
    sphere.has_points = tree_.has_value();
    sphere.has_solid = solid() != nullptr;
    sphere.is_moving = is_moving();
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
        known_ = motion.velocity;
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
        if (deformed_) deformed_->update(reduced_->state().q);
    }
    return is_finite(pose_) && w.allFinite() && known_.linear.allFinite() &&
           known_.angular.allFinite();
}

void MovingBody::begin_frame(const RigidMass& mass, const Twist& velocity, const Wrench& load,
                             double dt) noexcept {
    to_principal_ = (pose_.rotation * principal_axes_).conjugate().toRotationMatrix();
    centre_velocity_ = velocity.linear;
    w.head<3>() = root_mass_ * (velocity.linear + dt / mass.mass * load.force);
    // Euler's equations in principal axes
    const Vector3d omega = to_principal_ * velocity.angular;
    const Vector3d momentum = root_inertia_.cwiseAbs2().cwiseProduct(omega);
    const Vector3d torque = to_principal_ * load.torque - omega.cross(momentum);
    w.segment<3>(3) = (momentum + dt * torque).cwiseQuotient(root_inertia_);
}

/// The step of docs/reduction.md eq. (17) in modes, without contact, eq. (28).
void MovingBody::begin_shape(double dt) noexcept {
    const ReducedTuning& tuning = reduced_->tuning();
    reduced_->next_acceleration(acceleration_);
    const ContactModes& modes = *modes_;
    y_rate_.noalias() = modes.to_modes * reduced_->state().v;
    auto out = w.segment(has_frame_ ? 6 : 0, rank());
    out.noalias() = modes.to_modes * acceleration_;
    for (int i = 0; i < rank(); ++i) {
        const double lambda = tuning.stiffness * modes.lambda[i];
        const double rate = 0.5 * dt * (tuning.mass_damping + tuning.stiffness_damping * lambda) +
                            0.25 * dt * dt * lambda;
        const double y = y_rate_[i] + dt * (out[i] - 0.5 * dt * lambda * y_rate_[i]) / (1 + rate);
        root_response_[i] = 1 / std::sqrt(1 + kTrust * rate);
        out[i] = y / root_response_[i];
    }
}

double MovingBody::known_velocity(const Vector3d& p, const Vector3d& e) const noexcept {
    if (is_moving()) return 0;
    return e.dot(known_.at(p - pose_.position));
}

void MovingBody::write_row(const Vector3d& p, const Vector3d& e, const float* modes,
                           double* row) const noexcept {
    double* const end = row + size();
    if (has_frame_) {
        Eigen::Map<Vector3d>{row} = e / root_mass_;
        Eigen::Map<Vector3d>{row + 3} =
            (to_principal_ * (p - centre_).cross(e)).cwiseQuotient(root_inertia_);
        row += 6;
    }
    if (modes) {
        const Vector3d d = pose_.rotation.conjugate() * e;
        for (int j = 0; j < rank(); ++j, modes += 3)
            *row++ = root_response_[j] * (modes[0] * d[0] + modes[1] * d[1] + modes[2] * d[2]);
    }
    std::fill(row, end, 0.0);
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
