#include "pliant/haptics/static_coupling.h"

#include "haptics/coupling_depth.h"
#include "haptics/coupling_springs.h"
#include "haptics/gain_rules.h"
#include "haptics/six_solve.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace pliant {

using Eigen::Vector3d;

namespace {

constexpr double kLeverTime = 0.02;   ///< of the low-pass of the lever [s]
constexpr double kWorkingPart = 0.5;  // of the weaker spring, below which it no longer works

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

bool is_bounded_list(const ToolContact& contact) noexcept {
    const auto all = std::span(contact.deep)
                         .first(static_cast<std::size_t>(
                             std::clamp(contact.num_deep, 0, ToolContact::kMaxDeep)));
    return contact.num_deep == static_cast<int>(all.size()) && std::isfinite(contact.other_depth) &&
           std::ranges::all_of(all, [](const DeepContact& d) {
               const double size = d.inward.squaredNorm();
               return size > 1e-6 && size < 1e40 && std::isfinite(d.depth);
           });
}

bool is_bounded_contact(const ToolContact& contact) noexcept {
    // squares and products of sixth order must stay finite
    constexpr double kLargest = 1e40;
    const auto is_bounded = [](const auto& m) {
        return m.allFinite() && m.cwiseAbs().maxCoeff() < kLargest;
    };
    return is_bounded(contact.load.force) && is_bounded(contact.load.torque) &&
           is_bounded(contact.gradient) && is_bounded(contact.normals) &&
           std::isfinite(contact.clearance) && is_bounded_list(contact);
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
    expected_depth_ = -1;
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

/// Eq. (20), (20a).
void StaticCoupling::limit_step(const ToolContact& contact, const Matrix6d& A, const Vector6d& load,
                                double length, Vector6d& step) noexcept {
    double max_shift = gains_.max_shift, max_turn = gains_.max_turn;
    if (options_.adapts_to_clearance) {
        const double room = contact.num_contacts > 0 ? 0 : std::max(0.0, contact.clearance);
        max_shift = std::min(max_shift, 0.5 * gains_.max_depth + 0.7 * room);
        max_turn = std::min(max_turn, (0.5 * gains_.max_depth + 0.3 * room) / gains_.reach);
    }
    max_shift *= step_scale_;
    max_turn *= step_scale_ * length;
    const double shift = step.head<3>().norm() / max_shift, turn = step.tail<3>().norm() / max_turn;
    report_.is_shift_limited = shift > 1;
    report_.is_turn_limited = turn > 1;

    // cut to its length, a long way along the contact would leave nothing of the way out of it:
    // what makes it shorter is a spring that stiff directions hardly feel
    const double excess = std::max(shift, turn), work = load.dot(step);
    if (options_.holds_depth && contact.num_contacts > 0 && excess > 1 && work > 0) {
        const double kept = 1 - gains_.static_damping;
        const double stiffness = kept * work * (excess - 1) / (shift * shift + turn * turn);
        Matrix6d B = A;
        B.diagonal().head<3>().array() -= stiffness / (max_shift * max_shift);
        B.diagonal().tail<3>().array() -= stiffness / (max_turn * max_turn);
        const SixSolution held = solve_six(B, -load, step, gains_.threshold, CouplingSolve::Lu);
        if (held.is_good) step = kept * held.x;
    }
    step.head<3>() = shortened(step.head<3>(), max_shift);
    step.tail<3>() = shortened(step.tail<3>(), max_turn);
}

/// Eq. (20b).
void StaticCoupling::hold_step(const ToolContact& contact, double length, Vector6d& step) noexcept {
    DepthBound bound = {gains_.max_depth, 0, length, gains_.reach};
    double deepest = contact.other_depth;
    for (int i = 0; i < contact.num_deep; ++i)
        deepest = std::max(deepest, contact.deep[static_cast<std::size_t>(i)].depth);
    // what is deeper than the last step made it came by itself, and goes on
    if (expected_depth_ >= 0)
        bound.approach = std::clamp(deepest - expected_depth_, 0.0, gains_.max_depth);
    report_.is_held = hold_depth(contact, bound, step);
    expected_depth_ = expected_depth(contact, bound, step);
}

double StaticCoupling::degenerate_below(double stiffest, double length) const noexcept {
    // a long tool on a hard contact: springs that work are no degenerate directions, however soft
    // they are beside it. Without scaled rotations: as published
    if (!options_.scales_rotations) return gains_.threshold;
    const double weakest = std::min(gains_.stiffness, gains_.angular_stiffness / (length * length));
    return std::min(gains_.threshold, kWorkingPart * weakest / std::max(stiffest, weakest));
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
    const SixSolution solution =
        solve_six(A, -load, goal, degenerate_below(A.norm(), length), options_.solve);
    report_.num_degenerate = solution.num_degenerate;
    if (!solution.is_good) return report_.status = StepStatus::StepRejected;

    // static damping, then limits
    Vector6d step = (1 - gains_.static_damping) * solution.x;
    if (options_.limits_steps) limit_step(contact, A, load, length, step);
    if (options_.limits_steps && options_.holds_depth) hold_step(contact, length, step);
    const Vector3d shift = step.head<3>(), turn = step.tail<3>() / length;
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
