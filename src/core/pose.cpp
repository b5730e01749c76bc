#include "pliant/core/pose.h"

#include <cmath>

namespace pliant {

using Eigen::Vector3d;

Vector3d Pose::to_world(const Vector3d& x_body) const { return rotation * x_body + position; }

Vector3d Pose::to_body(const Vector3d& x_world) const {
    return rotation.conjugate() * (x_world - position);
}

Pose Pose::inverse() const {
    const Quaternion back = rotation.conjugate();
    return {-(back * position), back};
}

Pose operator*(const Pose& a, const Pose& b) {
    return {a.to_world(b.position), a.rotation * b.rotation};
}

bool is_finite(const Pose& pose) noexcept {
    return pose.position.allFinite() && pose.rotation.coeffs().allFinite();
}

Vector3d Twist::at(const Vector3d& offset_world) const {
    return linear + angular.cross(offset_world);
}

Wrench Wrench::about(const Vector3d& shift_world) const {
    return {force, torque - shift_world.cross(force)};
}

Wrench& Wrench::operator+=(const Wrench& other) {
    force += other.force;
    torque += other.torque;
    return *this;
}

Wrench operator+(Wrench a, const Wrench& b) { return a += b; }

Wrench operator-(const Wrench& a) { return {-a.force, -a.torque}; }

double power(const Wrench& wrench, const Twist& twist) {
    return wrench.force.dot(twist.linear) + wrench.torque.dot(twist.angular);
}

Quaternion rotation_from_vector(const Vector3d& v) {
    // docs/core.md eq. (4); the quotient is accurate for every angle that does not underflow
    const double angle = v.norm();
    const double half_sinc = angle > 0 ? std::sin(0.5 * angle) / angle : 0.5;
    const Vector3d xyz = half_sinc * v;
    return {std::cos(0.5 * angle), xyz.x(), xyz.y(), xyz.z()};
}

Vector3d rotation_vector(const Quaternion& q) {
    // of q and −q take the one with the shorter rotation; at π, where both are equally long, the
    // one that points to the positive side
    Vector3d xyz = q.vec();
    double w = q.w();
    const double* leading = xyz.data();
    while (leading != xyz.data() + 2 && *leading == 0.0) ++leading;
    if (w < 0.0 || (w == 0.0 && *leading < 0.0)) {
        w = -w;
        xyz = -xyz;
    }
    // docs/core.md eq. (5): the arctangent of two arguments keeps all digits near 0 and near π
    const double sine = xyz.norm();
    return (sine > 0.0 ? 2.0 * std::atan2(sine, w) / sine : 2.0) * xyz;
}

Vector3d rotation_difference(const Quaternion& from, const Quaternion& to) {
    return rotation_vector(to * from.conjugate());
}

Pose advance(const Pose& pose, const Twist& twist, double h) {
    const Quaternion turn = rotation_from_vector(h * twist.angular);
    return {pose.position + h * twist.linear, (turn * pose.rotation).normalized()};
}

Pose interpolate(const Pose& a, const Pose& b, double t) {
    const Vector3d arc = rotation_difference(a.rotation, b.rotation);
    const Quaternion turn = rotation_from_vector(t * arc);
    return {a.position + t * (b.position - a.position), (turn * a.rotation).normalized()};
}

}  // namespace pliant
