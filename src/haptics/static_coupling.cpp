#include "pliant/haptics/static_coupling.h"

#include "haptics/coupling_springs.h"
#include "haptics/gain_rules.h"
#include "haptics/six_solve.h"

#include <algorithm>
#include <cmath>

namespace pliant {

using Eigen::Vector3d;

namespace {

constexpr double kLeverTime = 0.02;  ///< of the low-pass of the lever [s]

/// Both springs at a pose.
struct CouplingSprings {
    SpringLoad force, torque;
};
CouplingSprings springs(const Vector3d& stretch, const Vector3d& phi, const CouplingGains& gains,
                        const CouplingOptions& options, double max_torque) noexcept {
    const SpringLaw shift = {gains.stiffness, gains.max_force, options.saturation};
    const SpringLaw turn = {gains.angular_stiffness, max_torque, options.saturation};
    return {force_spring(stretch, shift), options.limits_torque
                                              ? torque_spring(phi, turn)
                                              : sine_spring(phi, gains.angular_stiffness)};
}

bool is_bounded_contact(const ToolContact& contact) noexcept {
    // squares and products of sixth order must stay finite
    constexpr double kLargest = 1e40;
    const auto is_bounded = [](const auto& m) {
        return m.allFinite() && m.cwiseAbs().maxCoeff() < kLargest;
    };
    return is_bounded(contact.load.force) && is_bounded(contact.load.torque) &&
           is_bounded(contact.gradient) && is_bounded(contact.normals) &&
           std::isfinite(contact.clearance);
}

}  // namespace

StaticCoupling::StaticCoupling(const CouplingGains& gains, const CouplingOptions& options)
    : gains_(gains), options_(options) {
    check_gains(gains);
    lever_ = gains_.largest_lever;
    report_.lever = lever_;
    report_.max_torque = max_torque();
}

void StaticCoupling::set_gains(const CouplingGains& gains) noexcept {
    gains_ = sane_gains(gains, gains_);
    lever_ = std::clamp(lever_, gains_.least_lever, gains_.largest_lever);
}

void StaticCoupling::set_step_scale(double scale) noexcept {
    if (std::isfinite(scale)) step_scale_ = std::clamp(scale, 1e-3, 1.0);
}

void StaticCoupling::place(const Pose& pose) noexcept {
    if (!is_usable(pose)) return;
    pose_ = {pose.position, pose.rotation.normalized()};
    lever_ = gains_.largest_lever;
    report_ = {};
}

double StaticCoupling::max_torque() const noexcept {
    return gains_.max_torque * lever_ / gains_.largest_lever;  // eq. (18)
}

void StaticCoupling::follow_lever(const Vector3d& phi, const ToolContact& contact,
                                  double dt) noexcept {
    double target = gains_.largest_lever;
    if (contact.num_contacts > 0) {
        // rms of a · (r × n) over the contacts; unit normals make the trace their number
        const double count = contact.normals.topLeftCorner<3, 3>().trace();
        const double theta = phi.norm();
        target = lever_;  // without a direction to turn to
        if (theta > 1e-9 && count > 0) {
            const Vector3d a = phi / theta;
            const double squares = a.dot(contact.normals.bottomRightCorner<3, 3>() * a);
            target = std::clamp(std::sqrt(std::max(0.0, squares / count)), gains_.least_lever,
                                gains_.largest_lever);
        }
    }
    lever_ += (1 - std::exp(-dt / kLeverTime)) * (target - lever_);
}

StepStatus StaticCoupling::update(const Pose& manipulandum, const ToolContact& contact,
                                  double dt) noexcept {
    report_ = {};
    report_.lever = lever_;
    if (!is_usable(manipulandum) || !is_bounded_contact(contact) || !std::isfinite(dt) || !(dt > 0))
        return report_.status = StepStatus::InputIgnored;
    const Vector3d stretch = manipulandum.position - pose_.position;
    const Vector3d phi = rotation_difference(pose_.rotation, manipulandum.rotation.normalized());
    follow_lever(phi, contact, dt);
    report_.lever = lever_;
    report_.max_torque = max_torque();
    const CouplingSprings spring = springs(stretch, phi, gains_, options_, max_torque());
    report_.is_force_saturated = spring.force.is_saturated;
    report_.is_torque_saturated = spring.torque.is_saturated;

    // zero net load to first order, eq. (17); damping enters the matrix alone: it takes energy out
    // whatever the encoders say
    Matrix6d A = contact.gradient;
    A.topLeftCorner<3, 3>() += spring.force.gradient;
    A.bottomRightCorner<3, 3>() += spring.torque.gradient;
    if (options_.contact_damping > 0)
        A -= std::min(options_.contact_damping / dt, 1e40) * contact.normals;
    Vector6d load, goal;
    load << spring.force.load + contact.load.force, spring.torque.load + contact.load.torque;

    // rotations as lengths, eq. (19)
    const double length = options_.scales_rotations ? gains_.length : 1.0;
    A.bottomRows<3>() /= length;
    A.rightCols<3>() /= length;
    load.tail<3>() /= length;
    goal << stretch, length * phi;
    const SixSolution solution = solve_six(A, -load, goal, gains_.threshold, options_.solve);
    report_.num_degenerate = solution.num_degenerate;
    if (!solution.is_good) return report_.status = StepStatus::StepRejected;

    // static damping, then limits, eq. (20)
    const double kept = 1 - gains_.static_damping;
    Vector3d shift = kept * solution.x.head<3>();
    Vector3d turn = kept / length * solution.x.tail<3>();
    if (options_.limits_steps) {
        double max_shift = gains_.max_shift, max_turn = gains_.max_turn;
        if (options_.adapts_to_clearance) {
            const double room = contact.num_contacts > 0 ? 0 : std::max(0.0, contact.clearance);
            max_shift = std::min(max_shift, 0.5 * gains_.max_depth + 0.7 * room);
            max_turn = std::min(max_turn, (0.5 * gains_.max_depth + 0.3 * room) / gains_.reach);
        }
        report_.is_shift_limited = shift.norm() > step_scale_ * max_shift;
        report_.is_turn_limited = turn.norm() > step_scale_ * max_turn;
        shift = shortened(shift, step_scale_ * max_shift);
        turn = shortened(turn, step_scale_ * max_turn);
    }
    const Pose next = {pose_.position + shift,
                       (rotation_from_vector(turn) * pose_.rotation).normalized()};
    if (!is_usable(next)) return report_.status = StepStatus::StepRejected;
    pose_ = next;
    report_.shift = shift.norm();
    report_.turn = turn.norm();
    return report_.status;
}

Wrench StaticCoupling::coupling_load(const Pose& manipulandum) const noexcept {
    if (!is_usable(manipulandum)) return {};
    const CouplingSprings spring =
        springs(manipulandum.position - pose_.position,
                rotation_difference(pose_.rotation, manipulandum.rotation.normalized()), gains_,
                options_, max_torque());
    return {spring.force.load, spring.torque.load};
}

Matrix6d StaticCoupling::coupling_gradient(const Pose& manipulandum) const noexcept {
    Matrix6d A = Matrix6d::Zero();
    if (!is_usable(manipulandum)) return A;
    const CouplingSprings spring =
        springs(manipulandum.position - pose_.position,
                rotation_difference(pose_.rotation, manipulandum.rotation.normalized()), gains_,
                options_, max_torque());
    A.topLeftCorner<3, 3>() = spring.force.gradient;
    A.bottomRightCorner<3, 3>() = spring.torque.gradient;
    return A;
}

Wrench StaticCoupling::rendered(const Pose& manipulandum) const noexcept {
    if (!is_usable(manipulandum)) return {};
    const Vector3d force = gains_.stiffness * (pose_.position - manipulandum.position);
    const Vector3d torque = gains_.angular_stiffness *
                            rotation_difference(manipulandum.rotation.normalized(), pose_.rotation);
    return {shortened(force, gains_.rendered_force), shortened(torque, gains_.rendered_torque)};
}

double StaticCoupling::stored_energy(const Pose& manipulandum) const noexcept {
    if (!is_usable(manipulandum)) return 0;
    const double stretch = (manipulandum.position - pose_.position).norm();
    const double theta =
        rotation_difference(pose_.rotation, manipulandum.rotation.normalized()).norm();
    return clamped_energy(stretch, gains_.stiffness, gains_.rendered_force) +
           clamped_energy(theta, gains_.angular_stiffness, gains_.rendered_torque);
}

}  // namespace pliant
