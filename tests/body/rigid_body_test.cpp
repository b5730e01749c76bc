#include "pliant/body/rigid_body.h"

#include "core/numbers.h"
#include "geometry/simple_surfaces.h"
#include "geometry/test_meshes.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using testing::HasSubstr;

// Mass properties

Matrix3d box_inertia(double mass, const Vector3d& sides) {
    const Vector3d squares = sides.cwiseAbs2();
    return mass / 12 *
           Vector3d(squares.y() + squares.z(), squares.z() + squares.x(), squares.x() + squares.y())
               .asDiagonal()
               .toDenseMatrix();
}

TEST(RigidMass, OfABoxIsExact) {
    const RigidMass mass = rigid_mass(test::box_surface({10, -1, 2}, {12, 2, 7}), 3);
    EXPECT_NEAR(mass.mass, 90, 1e-12);
    EXPECT_LT((mass.centre - Vector3d(11, 0.5, 4.5)).norm(), 1e-13);
    EXPECT_LT((mass.inertia - box_inertia(90, {2, 3, 5})).norm(), 1e-11);
}

TEST(RigidMass, OfATetrahedronIsExact) {
    SurfaceMesh corner;
    corner.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    corner.triangles = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    const RigidMass mass = rigid_mass(corner, 6);
    EXPECT_NEAR(mass.mass, 1, 1e-15);
    EXPECT_LT((mass.centre - Vector3d::Constant(0.25)).norm(), 1e-15);
    // ∫ x² = 1/60, ∫ x y = 1/120 of the corner tetrahedron of density 1
    Matrix3d expected = Matrix3d::Constant(-6.0 / 120);
    expected.diagonal().setConstant(2 * 6.0 / 60);
    expected -= (3 * Matrix3d::Identity() - Matrix3d::Ones()) / 16;
    EXPECT_LT((mass.inertia - expected).norm(), 1e-15);
}

TEST(RigidMass, OfASphereConvergesAtSecondOrder) {
    std::array<double, 2> errors{};
    for (int i = 0; i < 2; ++i) {
        const RigidMass mass = rigid_mass(test::make_sphere(2, 16 << i), 1);
        EXPECT_LT(mass.centre.norm(), 1e-13);
        const double exact = 0.4 * 4.0 / 3 * std::numbers::pi * 32;  // 2/5 m r²
        errors[static_cast<std::size_t>(i)] =
            (mass.inertia - exact * Matrix3d::Identity()).norm() / exact;
    }
    EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2, 0.1);
}

TEST(RigidMass, OfAHollowBoxIsTheDifference) {
    SurfaceMesh hollow = test::box_surface({0, 0, 0}, {4, 4, 4});
    SurfaceMesh cavity = test::box_surface({1, 1, 1}, {2, 3, 2});
    for (Triangle& t : cavity.triangles) std::swap(t[1], t[2]);
    append(hollow, cavity);
    const RigidMass mass = rigid_mass(hollow, 1);
    EXPECT_NEAR(mass.mass, 62, 1e-12);
    const Vector3d centre = (64 * Vector3d(2, 2, 2) - 2 * Vector3d(1.5, 2, 1.5)) / 62;
    EXPECT_LT((mass.centre - centre).norm(), 1e-13);
    const auto shifted = [](double m, const Vector3d& r) -> Matrix3d {
        return m * (r.squaredNorm() * Matrix3d::Identity() - r * r.transpose());
    };
    const Matrix3d inertia = box_inertia(64, {4, 4, 4}) + shifted(64, Vector3d(2, 2, 2) - centre) -
                             box_inertia(2, {1, 2, 1}) - shifted(2, Vector3d(1.5, 2, 1.5) - centre);
    EXPECT_LT((mass.inertia - inertia).norm(), 1e-11);
}

TEST(RigidMass, WithoutVolumeOrDensityIsRefused) {
    const auto error = [](const SurfaceMesh& surface, double density) {
        return test::input_error([&] { (void)rigid_mass(surface, density); });
    };
    SurfaceMesh inside_out = test::box_surface(), sheet = test::box_surface({0, 0, 0}, {1, 1, 0});
    for (Triangle& t : inside_out.triangles) std::swap(t[1], t[2]);
    EXPECT_THAT(error(inside_out, 1), HasSubstr("volume inside the surface = -1.0"));
    EXPECT_THAT(error(sheet, 1), HasSubstr("must be closed and point outwards"));
    EXPECT_THAT(error({}, 1), HasSubstr("volume inside the surface"));
    EXPECT_THAT(error(test::box_surface(), 0), HasSubstr("density = 0"));
    EXPECT_THAT(error(test::box_surface(), kNan), HasSubstr("density"));
}

// Dynamic bodies

/// A box whose frame sits at a corner, far from the centre of mass; turned and moving.
RigidBodyOptions thrown_options(const SurfaceMesh& surface) {
    RigidBodyOptions options;
    options.mass = rigid_mass(surface, 100);
    options.pose = {{1, -2, 3}, rotation_from_vector({0.4, 1, -0.3})};
    options.velocity = {{0.3, 0.5, -1}, {2, -1, 0.5}};
    return options;
}
RigidBody thrown_box(const Vector3d& sides = {0.5, 0.8, 1.1}) {
    const SurfaceMesh surface = test::box_surface({0, 0, 0}, sides);
    return {RigidShape::mesh(surface), surface, thrown_options(surface)};
}

struct Momentum {
    Vector3d linear, angular;  ///< about the origin of the world
};
Momentum momentum(const RigidBody& body, const RigidMass& mass) {
    const RigidMotion& motion = body.motion();
    const Vector3d arm = motion.pose.rotation * mass.centre;
    const Vector3d p = mass.mass * motion.velocity.at(arm);
    const Vector3d spin =
        motion.pose.rotation *
        (mass.inertia * (motion.pose.rotation.conjugate() * motion.velocity.angular));
    return {p, (motion.pose.position + arm).cross(p) + spin};
}

TEST(RigidBody, FreeFlightKeepsMomentumAndEnergyWithoutDrift) {
    // thrown so that it spins about the intermediate axis and tumbles
    const SurfaceMesh surface = test::box_surface({0, 0, 0}, {0.5, 0.8, 1.1});
    RigidBodyOptions options = thrown_options(surface);
    options.velocity.angular = options.pose.rotation * Vector3d(0.02, 6, 0.01);
    RigidBody body(RigidShape::mesh(surface), surface, options);
    const Momentum before = momentum(body, *options.mass);
    const double energy = body.energy().total();
    double worst = 0, least_spin = 1;
    for (int i = 0; i < 20000; ++i) {  // 20 s: several tumbles
        ASSERT_EQ(body.step(1e-3), StepStatus::Ok);
        worst = std::max(worst, std::abs(body.energy().total() - energy) / energy);
        const Vector3d omega =
            body.motion().pose.rotation.conjugate() * body.motion().velocity.angular;
        least_spin = std::min(least_spin, omega.y() / 6);
    }
    EXPECT_LT(least_spin, -0.9);  // it turned over
    const Momentum after = momentum(body, *options.mass);
    EXPECT_LT((after.linear - before.linear).norm(), 1e-12 * before.linear.norm());
    // 20,000 roundings
    EXPECT_LT((after.angular - before.angular).norm(), 1e-11 * before.angular.norm());
    EXPECT_LT(worst, 1e-4);
    EXPECT_LT(std::abs(body.energy().total() - energy), worst * energy);
}

TEST(RigidBody, FreeRotationIsOfSecondOrder) {
    const auto end = [](int steps) {
        RigidBody body = thrown_box();
        for (int i = 0; i < steps; ++i) (void)body.step(1.0 / steps);
        return body.motion();
    };
    const RigidMotion exact = end(16384);
    const auto error = [&](int steps) {
        const RigidMotion motion = end(steps);
        return rotation_difference(motion.pose.rotation, exact.pose.rotation).norm() +
               (motion.velocity.angular - exact.velocity.angular).norm();
    };
    const double coarse = error(64), fine = error(128);
    EXPECT_LT(fine, 1e-3);
    EXPECT_NEAR(std::log2(coarse / fine), 2, 0.1);
}

TEST(RigidBody, FallsExactly) {
    RigidBody body = thrown_box();
    const RigidMass mass = rigid_mass(body.surface(), 100);
    const auto centre = [&] { return body.motion().pose.to_world(mass.centre); };
    const Vector3d x = centre(), v = body.motion().velocity_at(x), g(0, 1, -9.81);
    body.set_gravity(g);
    for (int i = 0; i < 100; ++i) ASSERT_EQ(body.step(0.01), StepStatus::Ok);
    EXPECT_LT((centre() - x - v - 0.5 * g).norm(), 1e-12);
    EXPECT_LT((body.motion().velocity_at(centre()) - v - g).norm(), 1e-12);
    EXPECT_LT((body.last_load().force - mass.mass * g).norm(), 1e-12 * mass.mass);
    // acceleration of the centre by that of the frame
    EXPECT_LT((body.motion().acceleration_at(centre()) - g).norm(), 1e-11);
}

TEST(RigidBody, AnImpulseChangesVelocitiesByTheMassThatThePointHas) {
    test::Random random(4);
    RigidBody body = thrown_box();
    const RigidMass mass = rigid_mass(body.surface(), 100);
    constexpr double kStep = 1e-6;  // so short that nothing else happens
    for (int i = 0; i < 20; ++i) {
        body.reset();
        const SurfacePoint point =
            SurfacePoint::on_triangle(random.below(12), Vector3d(0.2, 0.3, 0.5));
        const Vector3d before = body.velocity(point), impulse = random.direction();
        const Momentum start = momentum(body, mass);
        const Vector3d x = body.position(point);
        body.add_force(point, impulse / kStep);
        ASSERT_EQ(body.step(kStep), StepStatus::Ok);
        const Momentum end = momentum(body, mass);
        EXPECT_LT((end.linear - start.linear - impulse).norm(), 1e-9);
        EXPECT_LT((end.angular - start.angular - x.cross(impulse)).norm(), 1e-4);
        const double change = (body.velocity(point) - before).norm();
        EXPECT_LE(change, body.mobility(point) + 1e-4);
        EXPECT_GT(change, 0.2 * body.mobility(point));
    }
}

TEST(RigidBody, ForcesDoTheWorkThatTheEnergySays) {
    // a constant force at a point, resolved in short steps
    RigidBody body = thrown_box();
    const SurfacePoint point = SurfacePoint::at_vertex(6);
    const Vector3d force(3, -20, 8);
    double work = 0;
    const double before = body.energy().total();
    for (int i = 0; i < 4000; ++i) {
        const Vector3d x = body.position(point);
        body.add_force(point, force);
        ASSERT_EQ(body.step(2.5e-4), StepStatus::Ok);
        EXPECT_EQ(body.position(point, TickMoment::Start), x);
        work += force.dot(body.position(point) - x);
    }
    EXPECT_GT(std::abs(work), 1);
    // the torque is that of the start of each step: first order
    EXPECT_NEAR(body.energy().total() - before, work, 2e-3 * std::abs(work));
}

TEST(RigidBody, VelocitiesAndAccelerationsAreThoseOfTheMotion) {
    RigidBody body = thrown_box();
    const SurfacePoint point = SurfacePoint::on_triangle(3, {0.1, 0.6, 0.3});
    for (int i = 0; i < 10; ++i) (void)body.step(1e-5);
    const Vector3d x = body.position(point), v = body.velocity(point);
    const Vector3d a = body.motion().acceleration_at(x);
    (void)body.step(1e-5);
    EXPECT_LT(((body.position(point) - x) / 1e-5 - v).norm(), 1e-4);
    EXPECT_LT(((body.velocity(point) - v) / 1e-5 - a).norm(), 1e-3 * a.norm());
}

TEST(RigidBody, WrenchesAndForcesAddUp) {
    RigidBody with_force = thrown_box(), with_wrench = thrown_box();
    const SurfacePoint point = SurfacePoint::at_vertex(5);
    const Vector3d force(1, 2, 3);
    const Vector3d arm = with_force.position(point) - with_force.motion().pose.position;
    with_force.add_force(point, force);
    with_wrench.add_wrench({0.5 * force, arm.cross(force)});
    with_wrench.add_wrench({0.5 * force, Vector3d::Zero()});
    (void)with_force.step(1e-3);
    (void)with_wrench.step(1e-3);
    EXPECT_LT((with_force.last_load().torque - with_wrench.last_load().torque).norm(), 1e-14);
    EXPECT_LT((with_force.motion().pose.position - with_wrench.motion().pose.position).norm(),
              1e-15);
    // gone after the step
    (void)with_force.step(1e-3);
    EXPECT_EQ(with_force.last_load().force, Vector3d(Vector3d::Zero()));
}

TEST(RigidBody, WindPushesWhatFacedItAtTheStart) {
    const SurfaceMesh surface = test::box_surface({0, 0, 0}, {2, 3, 5});
    RigidBodyOptions options;
    options.mass = rigid_mass(surface, 1);
    options.pose.rotation = rotation_from_vector({0, 0, 0.5});
    RigidBody body(RigidShape::mesh(surface), surface, options);
    body.set_wind_direction({2, 0, 0});
    body.set_wind_pressure(10);
    (void)body.step(1e-3);
    const double area = 15 * std::cos(0.5) + 10 * std::sin(0.5);
    EXPECT_LT((body.last_load().force - Vector3d(10 * area, 0, 0)).norm(), 1e-11);
    // the faces x = 0 and y = 3 of the body are to windward; torque of their centres
    const Quaternion& R = options.pose.rotation;
    const Vector3d push(10, 0, 0);
    const Vector3d torque = (R * Vector3d(0, 1.5, 2.5)).cross(15 * std::cos(0.5) * push) +
                            (R * Vector3d(1, 3, 2.5)).cross(10 * std::sin(0.5) * push);
    EXPECT_LT((body.last_load().torque - torque).norm(), 1e-11 * torque.norm());
}

// Bodies that forces do not move

TEST(RigidBody, StaticBodyFeelsLoadsButStays) {
    const SurfaceMesh surface = test::box_surface();
    RigidBodyOptions options;
    options.pose.position = {1, 0, 0};
    RigidBody body(RigidShape::mesh(surface), surface, options);
    body.set_gravity({0, 0, -9.81});
    body.add_force(SurfacePoint::at_vertex(7), {0, 0, 5});
    ASSERT_EQ(body.step(1e-3), StepStatus::Ok);
    EXPECT_EQ(body.motion().pose.position, Vector3d(1, 0, 0));
    EXPECT_EQ(body.last_load().force, Vector3d(0, 0, 5));
    EXPECT_EQ(body.last_load().torque, Vector3d(5, -5, 0));
    EXPECT_EQ(body.mobility(SurfacePoint::at_vertex(0)), 0);
    EXPECT_EQ(body.energy().total(), 0);
    Matrix3d C;
    EXPECT_FALSE(body.compliance(SurfacePoint::at_vertex(0), C));
    EXPECT_FALSE(body.prescribe(SurfacePoint::at_vertex(0), {0, 0, 0}));
}

TEST(RigidBody, DrivenBodyHasTheRatesOfItsPoses) {
    const SurfaceMesh surface = test::box_surface();
    RigidBody body(RigidShape::mesh(surface), surface);
    const Pose target{{0.01, 0, 0}, rotation_from_vector({0, 0, 0.02})};
    body.drive_to(target);
    ASSERT_EQ(body.step(0.01), StepStatus::Ok);
    const RigidMotion expected = follow(RigidMotion{}, target, 0.01);
    EXPECT_EQ(body.motion().velocity.linear, expected.velocity.linear);
    EXPECT_LT((body.motion().velocity.angular - Vector3d(0, 0, 2)).norm(), 1e-12);
    EXPECT_EQ(body.motion(TickMoment::Start).pose.position, Vector3d(Vector3d::Zero()));
    // not driven: it stops; a lost device: it stays
    body.drive_to({{kNan, 0, 0}, Quaternion::Identity()});
    EXPECT_EQ(body.step(0.01), StepStatus::InputIgnored);
    EXPECT_EQ(body.motion().pose.position, target.position);
    EXPECT_EQ(body.motion().velocity.linear, Vector3d(Vector3d::Zero()));
}

TEST(RigidBody, ScriptedBodyFollowsItsPath) {
    const SurfaceMesh surface = test::box_surface();
    RigidBodyOptions options;
    options.script = ScriptedMotion::oscillation({}, {0, 0, 0.2}, {0.3, 0, 0}, 1.5, 0.4);
    RigidBody body(RigidShape::mesh(surface), surface, options);
    for (int i = 0; i < 300; ++i) {
        body.add_force(SurfacePoint::at_vertex(0), {0, 0, 1e6});
        body.drive_to({{9, 9, 9}, Quaternion::Identity()});
        ASSERT_EQ(body.step(1e-3), StepStatus::Ok);
    }
    const RigidMotion expected = options.script->at(0.3);
    EXPECT_LT((body.motion().pose.position - expected.pose.position).norm(), 1e-12);
    EXPECT_LT((body.motion().velocity.angular - expected.velocity.angular).norm(), 1e-11);
    EXPECT_EQ(body.last_load().force, Vector3d(0, 0, 1e6));
    body.reset();
    EXPECT_EQ(body.motion().pose.position, options.script->at(0).pose.position);
}

// Everything else of a body

TEST(RigidBody, NormalsTurnWithIt) {
    const RigidBody body = thrown_box();
    // the side x = 0, and a vertex of it through its first triangle, z = 0
    EXPECT_LT((body.normal(SurfacePoint::on_triangle(8, {1, 0, 0})) -
               body.motion().pose.rotation * -Vector3d::UnitX())
                  .norm(),
              1e-15);
    EXPECT_LT(
        (body.normal(SurfacePoint::at_vertex(0)) - body.motion().pose.rotation * -Vector3d::UnitZ())
            .norm(),
        1e-15);
}

TEST(RigidBody, DisplayShowsItsVertices) {
    const RigidBody body = thrown_box();
    const auto display = body.display();
    std::vector<float> state(static_cast<std::size_t>(display->state_size())), x(24), n(24);
    body.write_display(state);
    display->positions(state, x);
    display->normals(x, n);
    for (int v = 0; v < 8; ++v) {
        const Eigen::Map<const Eigen::Vector3f> drawn(x.data() + 3 * v), normal(n.data() + 3 * v);
        EXPECT_LT((drawn.cast<double>() - body.position(SurfacePoint::at_vertex(v))).norm(), 1e-6);
        EXPECT_NEAR(normal.norm(), 1, 1e-6);
        const Vector3d outwards =
            drawn.cast<double>() - body.motion().pose.to_world({0.25, 0.4, 0.55});
        EXPECT_GT(normal.cast<double>().dot(outwards), 0);
    }
    EXPECT_TRUE(display->mesh_edges().empty());
}

TEST(RigidBody, SavedStateContinuesBitForBit) {
    RigidBody body = thrown_box(), other = thrown_box();
    body.set_gravity({0, 0, -9.81});
    other.set_gravity({0, 0, -9.81});
    for (int i = 0; i < 50; ++i) (void)body.step(1e-3);
    std::vector<double> state(static_cast<std::size_t>(body.state_size())), end = state,
                                                                            again = state;
    body.save_state(state);
    ASSERT_TRUE(other.restore_state(state));
    for (int i = 0; i < 50; ++i) {
        (void)body.step(1e-3);
        (void)other.step(1e-3);
    }
    body.save_state(end);
    other.save_state(again);
    EXPECT_EQ(end, again);
    // what cannot be is refused and changes nothing
    std::vector<double> bad = state;
    bad[2] = kNan;
    EXPECT_FALSE(body.restore_state(bad));
    bad = state;
    bad[3] = bad[4] = bad[5] = bad[6] = 0;
    EXPECT_FALSE(body.restore_state(bad));
    EXPECT_FALSE(body.restore_state(std::span(state).first(3)));
    body.save_state(again);
    EXPECT_EQ(end, again);
    // reset goes back to the throw
    body.reset();
    EXPECT_EQ(body.motion().pose.position, Vector3d(1, -2, 3));
    EXPECT_EQ(body.motion().velocity.angular, Vector3d(2, -1, 0.5));
}

TEST(RigidBody, StaysFiniteWhateverComes) {
    RigidBody body = thrown_box();
    const RigidMotion before = body.motion();
    const SurfacePoint point = SurfacePoint::at_vertex(1);
    body.add_force(point, {kNan, 0, 0});
    EXPECT_EQ(body.step(1e-3), StepStatus::InputIgnored);
    EXPECT_EQ(body.step(1e-3), StepStatus::Ok);
    body.add_force(SurfacePoint::at_vertex(8), {0, 0, 1});
    EXPECT_EQ(body.step(1e-3), StepStatus::InputIgnored);
    body.add_wrench({{0, 0, 0}, {0, kInfinity, 0}});
    EXPECT_EQ(body.step(1e-3), StepStatus::InputIgnored);
    body.set_gravity({0, 0, kNan});
    body.set_wind_pressure(kNan);
    EXPECT_EQ(body.step(1e-3), StepStatus::Ok);
    for (const double dt : {0.0, -1.0, kNan, kInfinity})
        EXPECT_EQ(body.step(dt), StepStatus::InputIgnored);
    for (int i = 0; i < 4; ++i) body.add_force(point, {1e308, 0, 0});
    EXPECT_EQ(body.step(1e-3), StepStatus::StepRejected);
    EXPECT_EQ(body.step(1e-3), StepStatus::Ok);
    EXPECT_TRUE(is_finite(body.motion()));
    EXPECT_LT((body.motion().pose.position - before.pose.position).norm(), 0.1);
    // a spin far too fast for the step
    body.add_wrench({{0, 0, 0}, {1e9, 2e9, -1e9}});
    for (int i = 0; i < 100; ++i) EXPECT_EQ(body.step(1e-3), StepStatus::Ok);
    EXPECT_TRUE(is_finite(body.motion()));
}

TEST(RigidBody, StepAllocatesNothing) {
    RigidBody body = thrown_box();
    const SurfacePoint point = SurfacePoint::on_triangle(2, {0.2, 0.2, 0.6});
    std::vector<double> state(static_cast<std::size_t>(body.state_size()));
    std::vector<float> shown(kPoseFloats);
    const AllocationGuard guard;
    double sum = 0;
    for (int i = 0; i < 10; ++i) {
        body.add_force(point, {1, 2, 3});
        (void)body.step(1e-3);
        sum += body.mobility(point) + body.normal(point).x() + body.energy().total();
        body.save_state(state);
        (void)body.restore_state(state);
        body.write_display(shown);
        body.reset();
    }
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_TRUE(std::isfinite(sum));
}

TEST(RigidBody, BadOptionsAreRefused) {
    const SurfaceMesh surface = test::box_surface();
    const auto error = [&](const RigidBodyOptions& options) {
        return test::input_error(
            [&] { const RigidBody body(RigidShape::mesh(surface), surface, options); });
    };
    RigidBodyOptions options;
    options.mass = RigidMass{1, Vector3d::Zero(), Matrix3d::Identity()};
    EXPECT_EQ(error(options), "");
    options.script = ScriptedMotion(std::vector{Keyframe{}});
    EXPECT_THAT(error(options), HasSubstr("either a script or a mass"));
    options.script.reset();
    options.mass->mass = -2;
    EXPECT_THAT(error(options), HasSubstr("mass = -2"));
    options.mass->mass = 2;
    options.mass->inertia(0, 0) = 0;
    EXPECT_THAT(error(options), HasSubstr("positive about every axis"));
    options.mass.reset();
    options.velocity.linear.x() = kNan;
    EXPECT_THAT(error(options), HasSubstr("velocity of a rigid body"));
    options.pose.position.x() = kInfinity;
    EXPECT_THAT(error(options), HasSubstr("pose of a rigid body"));
}

TEST(RigidBody, NextLoadIsWhatTheNextStepTakes) {
    RigidBodyOptions options;
    options.pose.rotation = rotation_from_vector(Vector3d(0.3, -0.2, 0.5));
    RigidMass mass;
    mass.mass = 2;
    mass.centre = Vector3d(0.1, 0.2, -0.3);
    mass.inertia = Vector3d(0.1, 0.2, 0.25).asDiagonal();
    options.mass = mass;
    RigidBody body(RigidShape::sphere(0.1), test::box_surface(), options);
    ASSERT_TRUE(body.mass().has_value());
    EXPECT_EQ(body.mass()->centre, mass.centre);
    EXPECT_TRUE(body.next_load().force.isZero(0));
    body.set_gravity(Vector3d(0, 0, -10));
    body.add_wrench({Vector3d(1, 2, 3), Vector3d(4, 5, 6)});
    const Wrench next = body.next_load();
    EXPECT_TRUE(next.force.isApprox(Vector3d(1, 2, -17), 1e-15));
    EXPECT_EQ(body.step(1e-3), StepStatus::Ok);
    EXPECT_EQ(body.last_load().force, next.force);
    EXPECT_EQ(body.last_load().torque, next.torque);
    // gravity is left
    EXPECT_TRUE(body.next_load().force.isApprox(Vector3d(0, 0, -20), 1e-15));
}

}  // namespace
}  // namespace pliant
