#include "pliant/haptics/dynamic_coupling.h"

#include "haptics/coupling_springs.h"
#include "haptics/gain_rules.h"
#include "haptics/input_range.h"

#include <cmath>

namespace pliant {

using Eigen::Vector3d;

namespace {

bool is_finite_load(const Wrench& load) noexcept {
    return load.force.allFinite() && load.torque.allFinite();
}

/// Viscous constants that damp springs against mass and inertia.
struct Dampers {
    Dampers(const CouplingGains& gains, const DynamicCouplingOptions& options)
        : inertia(options.mass * gains.length * gains.length),
          shift(2 * options.damping_ratio * std::sqrt(gains.stiffness * options.mass)),
          turn(2 * options.damping_ratio * std::sqrt(gains.angular_stiffness * inertia)) {}
    double inertia, shift, turn;
};

}  // namespace

DynamicCoupling::DynamicCoupling(const CouplingGains& gains, const DynamicCouplingOptions& options)
    : gains_(gains), options_(options) {
    check_gains(gains);
    require_range("coupling.mass", options.mass, 1e-6, 1e6, "kg");
    require_range("coupling.damping_ratio", options.damping_ratio, 0, 100, "");
    require_range("coupling.steps", options.steps, 1, 1000, "");
    require_range("coupling.velocity_filter", options.velocity_filter, 1e-3, 1, "");
    require_range("coupling.max_speed", options.max_speed, 1e-6, 1e6, "m/s");
}

void DynamicCoupling::set_gains(const CouplingGains& gains) noexcept {
    gains_ = sane_gains(gains, gains_);
}

void DynamicCoupling::place(const Pose& pose) noexcept {
    if (!is_usable(pose)) return;
    pose_ = {pose.position, pose.rotation.normalized()};
    twist_ = {};
    has_hand_ = is_in_contact_ = false;
    hand_velocity_.setZero();
    report_ = {};
}

StepStatus DynamicCoupling::update(const Pose& manipulandum, const ToolContact& contact,
                                   double dt) noexcept {
    report_ = {};
    if (!is_usable(manipulandum) || !is_finite_load(contact.load) || !std::isfinite(dt) ||
        !(dt > 0))
        return report_.status = StepStatus::InputIgnored;
    const Quaternion hand = manipulandum.rotation.normalized();
    is_in_contact_ = contact.num_contacts > 0;

    // the hand's velocity has to be measured: one pole against the steps of encoders
    const Vector3d moved =
        has_hand_ ? Vector3d(manipulandum.position - last_hand_.position) : Vector3d::Zero();
    hand_velocity_ += options_.velocity_filter * (moved / dt - hand_velocity_);
    last_hand_ = manipulandum;
    has_hand_ = true;

    const Dampers damper(gains_, options_);
    const double h = dt / options_.steps;
    Pose pose = pose_;
    Twist twist = twist_;
    for (int step = 0; step < options_.steps; ++step) {
        const Vector3d force = gains_.stiffness * (manipulandum.position - pose.position) +
                               damper.shift * (hand_velocity_ - twist.linear) + contact.load.force;
        // the damper of rotations sees the object alone
        const Vector3d torque =
            gains_.angular_stiffness * rotation_difference(pose.rotation, hand) -
            damper.turn * twist.angular + contact.load.torque;
        twist.linear = shortened(twist.linear + h / options_.mass * force, options_.max_speed);
        twist.angular = shortened(twist.angular + h / damper.inertia * torque,
                                  options_.max_speed / gains_.length);
        pose = advance(pose, twist, h);
    }
    const bool is_kept = is_usable(pose) && twist.linear.allFinite() && twist.angular.allFinite();
    if (!is_kept) {
        twist_ = {};
        return report_.status = StepStatus::StepRejected;
    }
    report_.shift = (pose.position - pose_.position).norm();
    report_.turn = rotation_difference(pose_.rotation, pose.rotation).norm();
    pose_ = pose;
    twist_ = twist;
    return report_.status;
}

Wrench DynamicCoupling::rendered(const Pose& manipulandum) const noexcept {
    if (!is_usable(manipulandum) || (options_.is_silent_in_free_space && !is_in_contact_))
        return {};
    const Dampers damper(gains_, options_);
    const Vector3d force = gains_.stiffness * (pose_.position - manipulandum.position) +
                           damper.shift * (twist_.linear - hand_velocity_);
    const Vector3d torque = gains_.angular_stiffness *
                            rotation_difference(manipulandum.rotation.normalized(), pose_.rotation);
    return {shortened(force, gains_.rendered_force), shortened(torque, gains_.rendered_torque)};
}

double DynamicCoupling::stored_energy(const Pose& manipulandum) const noexcept {
    if (!is_usable(manipulandum)) return 0;
    const double stretch = (manipulandum.position - pose_.position).norm();
    const double theta =
        rotation_difference(pose_.rotation, manipulandum.rotation.normalized()).norm();
    const Dampers damper(gains_, options_);
    return clamped_energy(stretch, gains_.stiffness, gains_.rendered_force) +
           clamped_energy(theta, gains_.angular_stiffness, gains_.rendered_torque) +
           0.5 * options_.mass * twist_.linear.squaredNorm() +
           0.5 * damper.inertia * twist_.angular.squaredNorm();
}

DirectRendering::DirectRendering(const CouplingGains& gains) : gains_(gains) { check_gains(gains); }

void DirectRendering::set_gains(const CouplingGains& gains) noexcept {
    gains_ = sane_gains(gains, gains_);
}

void DirectRendering::place(const Pose& pose) noexcept {
    if (!is_usable(pose)) return;
    pose_ = {pose.position, pose.rotation.normalized()};
    contact_ = {};
    report_ = {};
}

StepStatus DirectRendering::update(const Pose& manipulandum, const ToolContact& contact,
                                   double dt) noexcept {
    report_ = {};
    if (!is_usable(manipulandum) || !is_finite_load(contact.load) || !std::isfinite(dt) ||
        !(dt > 0))
        return report_.status = StepStatus::InputIgnored;
    const Quaternion rotation = manipulandum.rotation.normalized();
    report_.shift = (manipulandum.position - pose_.position).norm();
    report_.turn = rotation_difference(pose_.rotation, rotation).norm();
    pose_ = {manipulandum.position, rotation};
    contact_ = contact.load;
    return report_.status;
}

Wrench DirectRendering::rendered(const Pose& manipulandum) const noexcept {
    if (!is_usable(manipulandum)) return {};
    return {shortened(contact_.force, gains_.rendered_force),
            shortened(contact_.torque, gains_.rendered_torque)};
}

}  // namespace pliant
