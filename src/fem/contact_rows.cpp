#include "fem/contact_rows.h"

#include "fem/contact_rules.h"

namespace pliant {

using Eigen::Vector3d;

namespace {

double normal_velocity(const ContactRow& row, const SurfaceMotion& surface,
                       std::span<const ConstrainedBody> bodies) noexcept {
    return (row.relative(bodies, &ConstrainedBody::v_before) - surface.v).dot(row.normal);
}

void want_stick(ContactRow& row, const SurfaceMotion& surface,
                std::span<const ConstrainedBody> bodies, double dt) noexcept {
    // eq. (C7): no sliding at the next half step
    const Vector3d half_v = row.relative(bodies, &ConstrainedBody::half_v);
    row.stick_acceleration = (surface.v + 0.5 * dt * surface.a - half_v) / dt;
    row.normal_velocity = surface.v.dot(row.normal);
}

/// Σ weight · (h + dt a) over the nodes of each side. Components that are prescribed are left out:
/// their supports carry what contact does to them.
std::array<Vector3d, 2> side_velocities(const ContactRow& row,
                                        std::span<const ConstrainedBody> bodies,
                                        double dt) noexcept {
    std::array<Vector3d, 2> sum{Vector3d::Zero(), Vector3d::Zero()};
    for (int k = 0; k < row.num_terms; ++k) {
        const auto& [b, node, weight] = row.terms[k];
        const Eigen::Index i = 3 * Eigen::Index{node};
        for (int axis = 0; axis < 3; ++axis)
            if ((*bodies[b].inverse_mass)[i + axis] > 0)
                sum[b == row.side_body(0) ? 0 : 1][axis] +=
                    weight * ((*bodies[b].half_v)[i + axis] + dt * (*bodies[b].a)[i + axis]);
    }
    return sum;
}

}  // namespace

SurfaceMotion surface_motion(const RigidMotion& start, const RigidMotion& end,
                             const Vector3d& x_world) {
    const Vector3d x_start = start.pose.to_world(end.pose.to_body(x_world));
    return {end.velocity_at(x_world), end.acceleration_at(x_world), start.velocity_at(x_start)};
}

bool is_approaching(const ContactRow& row, const SurfaceMotion& surface,
                    std::span<const ConstrainedBody> bodies) noexcept {
    return normal_velocity(row, surface, bodies) < 0;
}

bool goes_on_approaching(const ContactRow& row, const SurfaceMotion& surface,
                         std::span<const ConstrainedBody> bodies, double dt) noexcept {
    const Vector3d next_half_v = row.relative(bodies, &ConstrainedBody::half_v) +
                                 dt * row.relative(bodies, &ConstrainedBody::a);
    return (next_half_v - surface.v - 0.5 * dt * surface.a).dot(row.normal) < 0;
}

void want_capture(ContactRow& row, const SurfaceMotion& surface, bool is_reset,
                  std::span<const ConstrainedBody> bodies, double dt) noexcept {
    want_stick(row, surface, bodies, dt);
    const double a = row.relative(bodies, &ConstrainedBody::a_before).dot(row.normal);
    row.normal_acceleration = capture_acceleration(normal_velocity(row, surface, bodies), a, dt);
    if (!is_reset) return;
    const double W = row.inverse_mass(bodies, &ConstrainedBody::inverse_mass);
    const Vector3d half_v =
        row.relative(bodies, &ConstrainedBody::half_v) - (surface.v - 0.5 * dt * surface.a);
    if (W > 0) row.correction = capture_correction(1 / W, half_v.dot(row.normal), dt);
}

void want_hold(ContactRow& row, const SurfaceMotion& surface,
               std::span<const ConstrainedBody> bodies, double dt) noexcept {
    want_stick(row, surface, bodies, dt);
    // velocities were tangential to the old normal: what they have along the new one must go
    const Vector3d v = row.relative(bodies, &ConstrainedBody::v_before) - surface.v_before;
    row.normal_acceleration = surface.a.dot(row.normal) - v.dot(row.normal) / dt;
}

void keep_half_velocities(ContactRow& row, std::span<const ConstrainedBody> bodies) noexcept {
    row.half_v_before = side_velocities(row, bodies, 0);
}

void add_contact_work(const ContactRow& row, std::span<const ConstrainedBody> bodies, double dt,
                      std::span<double> work) noexcept {
    const auto after = side_velocities(row, bodies, dt);
    const Vector3d impulse =
        (dt * row.normal_force + row.reset_impulse) * row.normal + dt * row.friction_force;
    for (int side = 0; side < 2; ++side)
        if (const int body = row.side_body(side); body >= 0)
            work[body] += 0.5 * impulse.dot(row.half_v_before[side] + after[side]);
}

}  // namespace pliant
