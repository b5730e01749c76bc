#include "pliant/body/rigid_motion.h"

namespace pliant {

using Eigen::Vector3d;

namespace {

bool is_finite(const Twist& twist) noexcept {
    return twist.linear.allFinite() && twist.angular.allFinite();
}

}  // namespace

Vector3d RigidMotion::velocity_at(const Vector3d& x_world) const {
    return velocity.at(x_world - pose.position);
}

Vector3d RigidMotion::acceleration_at(const Vector3d& x_world) const {
    const Vector3d r = x_world - pose.position;
    return acceleration.at(r) + velocity.angular.cross(velocity.angular.cross(r));
}

bool is_finite(const RigidMotion& motion) noexcept {
    return is_finite(motion.pose) && is_finite(motion.velocity) && is_finite(motion.acceleration);
}

RigidMotion advance(const RigidMotion& motion, double h) {
    const Vector3d &v = motion.velocity.linear, &a = motion.acceleration.linear;
    const Vector3d &omega = motion.velocity.angular, &alpha = motion.acceleration.angular;
    // docs/body.md eq. (4): the mean twist, and what turns about changing axes leave
    const Twist mean{v + 0.5 * h * a, omega + 0.5 * h * alpha + h * h / 12.0 * alpha.cross(omega)};
    const RigidMotion end{
        advance(motion.pose, mean, h), {v + h * a, omega + h * alpha}, motion.acceleration};
    return is_finite(end) ? end : motion;
}

RigidMotion follow(const RigidMotion& previous, const Pose& pose, double h) {
    const Twist velocity{
        (pose.position - previous.pose.position) / h,
        rotation_difference(previous.pose.rotation, pose.rotation) / h,
    };
    const Twist acceleration{
        (velocity.linear - previous.velocity.linear) / h,
        (velocity.angular - previous.velocity.angular) / h,
    };
    const RigidMotion end{pose, velocity, acceleration};
    return is_finite(end) ? end : previous;
}

}  // namespace pliant
