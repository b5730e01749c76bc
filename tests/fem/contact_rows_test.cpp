#include "fem/contact_rows.h"

#include "fem/contact_rules.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kRowStep = 1e-3;

/// A node of one body and a node of another, both of mass 2 and q = 2.5.
struct TwoNodes {
    std::array<VectorXd, 2> v, a_before, half_v, a, inverse_q, inverse_mass;
    std::vector<ConstrainedBody> bodies;

    TwoNodes() : bodies(2) {
        for (int b = 0; b < 2; ++b) {
            v[b] = VectorXd::Zero(3);
            a_before[b] = VectorXd::Zero(3);
            a[b] = VectorXd::Zero(3);
            inverse_q[b] = VectorXd::Constant(3, 0.4);
            inverse_mass[b] = VectorXd::Constant(3, 0.5);
            bodies[b] = {&v[b],      &a_before[b], &inverse_q[b],      &inverse_mass[b],
                         &half_v[b], &a[b],        std::vector<int>(1)};
        }
        predict();
    }
    void predict() {
        for (int b = 0; b < 2; ++b) half_v[b] = v[b] + 0.5 * kRowStep * a_before[b];
    }
};
ContactRow row_of(bool is_pair, const Vector3d& normal) {
    ContactRow row;
    row.add(0, 0, 1);
    if (is_pair) row.add(1, 0, -1);
    row.normal = normal.normalized();
    return row;
}

TEST(ContactRows, ACaptureTakesTheRelativeVelocityToThatOfTheSurface) {
    for (const bool is_pair : {false, true}) {
        TwoNodes nodes;
        nodes.v[0] << 0.1, 0.2, -0.7;
        nodes.a_before[0] << 5, -3, 40;
        nodes.v[1] << 0, 0.1, 0.3;
        nodes.a_before[1] << 0, 0, -20;
        nodes.predict();
        ContactRow row = row_of(is_pair, {0.2, -0.1, 1});
        const SurfaceMotion surface{.v = is_pair ? Vector3d::Zero() : Vector3d(0.1, 0, 0.05)};
        EXPECT_TRUE(is_approaching(row, surface, nodes.bodies));
        EXPECT_TRUE(goes_on_approaching(row, surface, nodes.bodies, kRowStep));
        want_capture(row, surface, true, nodes.bodies, kRowStep);
        solve_contacts(std::span(&row, 1), nodes.bodies, 0, 1);
        const Vector3d v = row.relative(nodes.bodies, &ConstrainedBody::half_v) +
                           0.5 * kRowStep * row.relative(nodes.bodies, &ConstrainedBody::a);
        EXPECT_NEAR((v - surface.v).dot(row.normal), 0, 1e-15);
        EXPECT_GT(row.normal_force, row.correction);

        // what the next step takes back: the velocity with which the node came in
        const Vector3d incoming = row.relative(nodes.bodies, &ConstrainedBody::half_v) - surface.v;
        const double mass = is_pair ? 1 : 2;
        EXPECT_NEAR(row.correction, -mass * incoming.dot(row.normal) / kRowStep, 1e-10);
    }
}

TEST(ContactRows, SidesThatPartOrTurnBackAreNotCaptured) {
    TwoNodes nodes;
    const ContactRow row = row_of(false, Vector3d::UnitZ());
    nodes.v[0] << 1, 1, 0.1;
    EXPECT_FALSE(is_approaching(row, {}, nodes.bodies));
    EXPECT_TRUE(is_approaching(row, {.v = Vector3d(0, 0, 0.2)}, nodes.bodies));
    nodes.v[0] << 1, 1, -0.1;
    nodes.a[0] << 0, 0, 150;  // by 0.15 m/s until the next half step
    nodes.predict();
    EXPECT_TRUE(is_approaching(row, {}, nodes.bodies));
    EXPECT_FALSE(goes_on_approaching(row, {}, nodes.bodies, kRowStep));
}

TEST(ContactRows, HoldingFollowsTheCurvatureOfTheSurface) {
    // sliding over a sphere of radius 0.5 m at 2 m/s: v²/R inwards
    TwoNodes nodes;
    nodes.v[0] << 2, 0, 0;
    nodes.predict();
    const double angle = 2 * kRowStep / 0.5;
    ContactRow row = row_of(false, {std::sin(angle), 0, std::cos(angle)});
    want_hold(row, {}, nodes.bodies, kRowStep);
    EXPECT_NEAR(row.normal_acceleration, -8, 1e-4);
}

TEST(ContactRows, HoldingFollowsATurningPlane) {
    // a plane through the x axis turns about it; a node slides across the axis: 2 ω v̂ by Coriolis
    const double omega = 3, speed = 2, y = 0.4;
    RigidMotion start, end;
    start.velocity.angular.x() = end.velocity.angular.x() = omega;
    end.pose.rotation = rotation_from_vector(Vector3d(omega * kRowStep, 0, 0));
    TwoNodes nodes;
    nodes.v[0] << 0, speed, omega * y;
    nodes.predict();
    const Vector3d n = end.pose.rotation * Vector3d::UnitZ();
    const Vector3d x = end.pose.rotation * Vector3d(0, y + speed * kRowStep, 0);
    ContactRow row = row_of(false, n);
    want_hold(row, surface_motion(start, end, x), nodes.bodies, kRowStep);
    EXPECT_NEAR(row.normal_acceleration, 2 * omega * speed, 0.01 * 2 * omega * speed);
    EXPECT_NEAR(row.normal_velocity, omega * (y + speed * kRowStep), 1e-12);
}

TEST(ContactRows, SurfaceMotionIsOfOneMaterialPoint) {
    RigidMotion start;
    start.pose.position = Vector3d(1, 2, 3);
    start.velocity = {Vector3d(0.1, 0.2, 0.3), Vector3d(1, -2, 0.5)};
    start.acceleration = {Vector3d(1, 1, -1), Vector3d(0.5, 0, 2)};
    const RigidMotion end = advance(start, kRowStep);
    const SurfaceMotion surface = surface_motion(start, end, end.pose.to_world({0.3, 0.1, 0.2}));
    EXPECT_LT((surface.v_before - start.velocity_at(start.pose.to_world({0.3, 0.1, 0.2}))).norm(),
              1e-14);
    EXPECT_LT((surface.v - surface.v_before - kRowStep * surface.a).norm(), 1e-5);
}

TEST(ContactRows, StickEndsSlidingAtTheNextHalfStep) {
    TwoNodes nodes;
    nodes.v[0] << 0.3, -0.2, 0;
    nodes.a_before[0] << 10, 4, 0;
    nodes.a[0] << 1, 2, -9;
    nodes.predict();
    ContactRow row = row_of(false, Vector3d::UnitZ());
    const SurfaceMotion surface{.v = Vector3d(0.1, 0, 0), .a = Vector3d(2, 0, 0)};
    want_hold(row, surface, nodes.bodies, kRowStep);
    solve_contacts(std::span(&row, 1), nodes.bodies, 1e9, 1);
    const Vector3d next = nodes.half_v[0] + kRowStep * nodes.a[0];
    EXPECT_NEAR(next.x(), 0.1 + 0.5 * kRowStep * 2, 1e-15);
    EXPECT_NEAR(next.y(), 0, 1e-15);
}

TEST(ContactRows, WorkIsTheChangeOfKineticEnergy) {
    // of h = v + dt/2 a, where nothing but the contact acts
    TwoNodes nodes;
    nodes.v[0] << 0.1, 0.2, -0.7;
    nodes.v[1] << 0, 0.1, 0.3;
    nodes.inverse_q = nodes.inverse_mass;
    nodes.predict();
    const auto energy = [&](double dt) {
        return std::array{(nodes.half_v[0] + dt * nodes.a[0]).squaredNorm(),
                          (nodes.half_v[1] + dt * nodes.a[1]).squaredNorm()};  // ½ · 2
    };
    const auto before = energy(0);
    ContactRow row = row_of(true, {0.1, 0, 1});
    want_capture(row, {}, true, nodes.bodies, kRowStep);
    solve_contacts(std::span(&row, 1), nodes.bodies, 0.3, 1);
    keep_half_velocities(row, nodes.bodies);
    row.smallest_reset = -1;
    row.normal_velocity = -0.1;
    const std::vector<int> held{0};
    reset_velocities(std::span(&row, 1), held, nodes.bodies, kRowStep, 1);
    EXPECT_LT(row.reset_impulse, 0);
    std::array<double, 2> work{};
    add_contact_work(row, nodes.bodies, kRowStep, work);
    const auto after = energy(kRowStep);
    for (int b = 0; b < 2; ++b) EXPECT_NEAR(work[b], after[b] - before[b], 1e-14);
}

}  // namespace
}  // namespace pliant
