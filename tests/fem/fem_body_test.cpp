#include "pliant/fem/fem_body.h"

#include "core/numbers.h"
#include "fem/contact_samples.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using test::hex_cube;
using test::kGravity;

const Material kSoft = isotropic(2e4, 0.3, 1000);

RigidBody ground() {
    SurfaceMesh square;
    square.vertices = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
    square.triangles = {{0, 1, 2}, {0, 2, 3}};
    return RigidBody(RigidShape::half_space(), square);
}

/// The reference cube, 1 kg, 0.1 m, centred in x and y.
FemBody cube(std::vector<RigidBody*> obstacles = {}, FemBodyOptions options = {}, double z = 0) {
    return FemBody(hex_cube(3, 0.1, {-0.05, -0.05, z}), {kSoft}, {}, std::move(obstacles), options);
}
std::vector<double> saved(const Body& body) {
    std::vector<double> state(static_cast<std::size_t>(body.state_size()));
    body.save_state(state);
    return state;
}
/// Surface vertex nearest to a place.
SurfacePoint vertex_at(const Body& body, const Vector3d& x) {
    int nearest = 0;
    for (int v = 0; v < body.surface().num_vertices(); ++v)
        if ((body.surface().vertices[v] - x).norm() < (body.surface().vertices[nearest] - x).norm())
            nearest = v;
    return SurfacePoint::at_vertex(nearest);
}

TEST(FemBody, TakesTheStepsOfItsElements) {
    FemBody body = cube();
    body.set_gravity(kGravity);
    const ExplicitDynamics reference = test::reference_cube(3, 0, {-0.05, -0.05, 0});
    FemState s = reference.make_state();
    ExplicitDynamics::Workspace ws = reference.make_workspace();
    const VectorXd weight = gravity_load(reference.model(), kGravity);
    const double dt = 1e-3;
    ASSERT_EQ(body.inner_steps(dt), 1);
    for (int i = 0; i < 300; ++i) {
        ASSERT_EQ(body.step(dt), StepStatus::Ok);
        ASSERT_EQ(reference.step(s, weight, dt, ws).status, StepStatus::Ok);
    }
    EXPECT_LT((body.state().u - s.u).norm(), 1e-13 * s.u.norm());
    EXPECT_LT((body.state().v - s.v).norm(), 1e-13 * s.v.norm());
}

TEST(FemBody, RestsOnTheGroundWithItsWeight) {
    RigidBody floor = ground();
    FemBody body = cube({&floor}, {}, 1e-4);
    body.set_gravity(kGravity);
    body.set_parameter(1, 20);
    Wrench mean;
    for (int i = 0; i < 2000; ++i) {
        (void)floor.step(2e-3);
        ASSERT_EQ(body.step(2e-3), StepStatus::Ok);
        if (i >= 1000) mean += body.wrench(0);
    }
    EXPECT_NEAR(mean.force.z() / 1000, -9.81, 0.02);
    EXPECT_NEAR(floor.last_load().force.z(), -9.81, 0.5);
    EXPECT_GT(body.position(vertex_at(body, {0, 0, 0})).z(), -1e-4);
}

TEST(FemBody, ForcesAtPointsGiveTheirMomentum) {
    FemBody body = cube();
    const Vector3d force(0.3, -0.2, 0.5), weights(0.2, 0.5, 0.3);
    const double dt = 5e-3;
    EXPECT_GT(body.inner_steps(dt), 1);
    const SurfacePoint point = SurfacePoint::on_triangle(7, weights);
    for (int i = 0; i < 10; ++i) {
        body.add_force(point, 0.5 * force);
        body.add_force(point, 0.5 * force);
        ASSERT_EQ(body.step(dt), StepStatus::Ok);
    }
    // the first acceleration acts for half an inner step only, and forces are gone after a step
    ASSERT_EQ(body.step(dt), StepStatus::Ok);
    VectorXd momentum = VectorXd::Zero(3);
    const ExplicitDynamics reference = test::reference_cube(3, 0, {-0.05, -0.05, 0});
    for (Eigen::Index i = 0; i < body.state().v.size(); ++i)
        momentum[i % 3] += reference.mass()[i] * body.state().v[i];
    EXPECT_LT((momentum - 10 * dt * force).norm(), 1e-12);
}

TEST(FemBody, AnswersPlacesAndVelocitiesOfItsSurface) {
    FemBody body = cube();
    const SurfacePoint point = SurfacePoint::on_triangle(11, {0.1, 0.3, 0.6});
    body.set_gravity(kGravity);
    body.add_force(vertex_at(body, {0.05, 0.05, 0.1}), {1, 2, 3});
    ASSERT_EQ(body.step(1e-3), StepStatus::Ok);
    const Vector3d before = body.position(point);
    ASSERT_EQ(body.step(1e-3), StepStatus::Ok);
    EXPECT_EQ(body.position(point, TickMoment::Start), before);
    EXPECT_NE(body.position(point), before);
    // velocity by differences
    const Vector3d middle = body.velocity(point);
    const Vector3d at = body.position(point);
    ASSERT_EQ(body.step(1e-6), StepStatus::Ok);
    EXPECT_LT(((body.position(point) - at) / 1e-6 - middle).norm(), 1e-3 * middle.norm());
    const Triangle& t = body.surface().triangles[11];
    const Vector3d x0 = body.position(SurfacePoint::at_vertex(t[0])),
                   x1 = body.position(SurfacePoint::at_vertex(t[1])),
                   x2 = body.position(SurfacePoint::at_vertex(t[2]));
    EXPECT_LT((0.1 * x0 + 0.3 * x1 + 0.6 * x2 - body.position(point)).norm(), 1e-15);
    EXPECT_LT(((x1 - x0).cross(x2 - x0).normalized() - body.normal(point)).norm(), 1e-12);
}

TEST(FemBody, TurnedBodiesMoveTheSame) {
    FemBodyOptions options;
    options.pose = {{0.3, -0.1, 0.7}, rotation_from_vector({0.4, -1.1, 0.6})};
    FemBody straight = cube(), turned = cube({}, options);
    const auto turn = [&](const Vector3d& v) -> Vector3d {
        return options.pose.to_world(v) - options.pose.position;
    };
    straight.set_gravity(kGravity);
    turned.set_gravity(turn(kGravity));
    const SurfacePoint pulled = SurfacePoint::at_vertex(5);
    for (int i = 0; i < 100; ++i) {
        straight.add_force(pulled, {0.5, 0.2, 1});
        turned.add_force(pulled, turn({0.5, 0.2, 1}));
        ASSERT_EQ(straight.step(1e-3), StepStatus::Ok);
        ASSERT_EQ(turned.step(1e-3), StepStatus::Ok);
    }
    for (int v = 0; v < straight.surface().num_vertices(); ++v) {
        const SurfacePoint p = SurfacePoint::at_vertex(v);
        EXPECT_LT((options.pose.to_world(straight.position(p)) - turned.position(p)).norm(), 1e-9);
    }
}

TEST(FemBody, StiffnessScalesSagAndKeepsVelocities) {
    const auto sag = [](double stiffness) {
        FemBodyOptions options;
        options.fixed = "z < 1 %";
        FemBody body = cube({}, options);
        body.set_parameter(0, stiffness);
        body.set_parameter(1, 20);
        body.set_gravity(0.01 * kGravity);
        for (int i = 0; i < 3000; ++i) EXPECT_EQ(body.step(1e-3), StepStatus::Ok);
        return body.position(vertex_at(body, {0, 0, 0.1})).z() - 0.1;
    };
    const double soft = sag(1), stiff = sag(4);
    EXPECT_LT(soft, 0);
    EXPECT_NEAR(soft / stiff, 4, 0.02);

    // a change in flight: nothing jumps
    FemBody body = cube();
    body.set_gravity(kGravity);
    for (int i = 0; i < 50; ++i) ASSERT_EQ(body.step(1e-3), StepStatus::Ok);
    const SurfacePoint point = SurfacePoint::at_vertex(3);
    const Vector3d v = body.velocity(point);
    const double kinetic = body.energy().kinetic;
    body.set_parameter(0, 2.5);
    EXPECT_LT((body.velocity(point) - v).norm(), 1e-14);
    EXPECT_NEAR(body.energy().kinetic, kinetic, 1e-12 * kinetic);
    for (int i = 0; i < 50; ++i) ASSERT_EQ(body.step(1e-3), StepStatus::Ok);
    EXPECT_NEAR(body.velocity(point).z(), -9.81 * 0.1, 0.01);
}

TEST(FemBody, FourTimesTheStiffnessIsTwiceTheTempo) {
    FemBodyOptions options;
    options.fixed = "z < 1 %";
    FemBody stiff = cube({}, options), soft = cube({}, options);
    stiff.set_parameter(0, 4);
    const SurfacePoint top = vertex_at(stiff, {0, 0, 0.1});
    for (int i = 0; i < 400; ++i) {
        if (i < 10) {
            stiff.add_force(top, {4, 0, 2});
            soft.add_force(top, {1, 0, 0.5});
        }
        ASSERT_EQ(stiff.step(5e-4), StepStatus::Ok);
        ASSERT_EQ(soft.step(1e-3), StepStatus::Ok);
    }
    EXPECT_LT((stiff.state().u - soft.state().u).norm(), 1e-12 * soft.state().u.norm());
    EXPECT_LT((stiff.velocity(top) - 2 * soft.velocity(top)).norm(),
              1e-10 * soft.velocity(top).norm());
    EXPECT_NEAR(stiff.energy().total(), 4 * soft.energy().total(), 1e-9 * soft.energy().total());
}

TEST(FemBody, MobilityIsTheVelocityOfAnImpulse) {
    FemBodyOptions options;
    options.fixed = "z < 1 %";
    FemBody body = cube({}, options);
    const double h = 1e-6;
    for (const SurfacePoint& point :
         {vertex_at(body, {0.05, 0.05, 0.1}), SurfacePoint::on_triangle(20, {0.2, 0.5, 0.3})}) {
        body.reset();
        body.add_force(point, {0, 0, 1e-3 / h});
        ASSERT_EQ(body.step(h), StepStatus::Ok);
        ASSERT_EQ(body.step(h), StepStatus::Ok);
        const double change = body.velocity(point).z() / 1e-3;
        EXPECT_LE(change, 1.01 * body.mobility(point));
        if (point.triangle < 0) {
            EXPECT_GT(change, 0.4 * body.mobility(point));
        }
    }
    EXPECT_EQ(body.mobility(vertex_at(body, {0, 0, 0})), 0);
}

TEST(FemBody, ContinuesBitForBitFromASavedState) {
    RigidBody floor = ground();
    FemBody body = cube({&floor}, {}, 0.001);
    body.set_gravity(kGravity);
    body.set_parameter(0, 1.5);
    const auto run = [&](int n) {
        for (int i = 0; i < n; ++i) {
            (void)floor.step(1e-3);
            EXPECT_EQ(body.step(1e-3), StepStatus::Ok);
        }
    };
    run(137);
    const std::vector<double> middle = saved(body);
    run(200);
    const std::vector<double> end = saved(body);
    ASSERT_TRUE(body.restore_state(middle));
    EXPECT_EQ(saved(body), middle);
    run(200);
    EXPECT_EQ(saved(body), end);

    std::vector<double> bad = middle;
    bad[20] = kNan;
    EXPECT_FALSE(body.restore_state(bad));
    EXPECT_FALSE(body.restore_state(std::span(middle).first(10)));
    EXPECT_EQ(saved(body), end);
}

TEST(FemBody, ResetGoesBackToTheStart) {
    RigidBody floor = ground();
    FemBody body = cube({&floor}, {}, 0.001);
    const std::vector<double> start = saved(body);
    body.set_gravity(kGravity);
    for (int i = 0; i < 100; ++i) (void)body.step(1e-3);
    body.add_force(SurfacePoint::at_vertex(0), {1, 1, 1});
    body.reset();
    EXPECT_EQ(saved(body), start);
    body.set_gravity(Vector3d::Zero());
    ASSERT_EQ(body.step(1e-3), StepStatus::Ok);
    EXPECT_EQ(body.state().v.norm(), 0) << "the pending force is gone";
}

TEST(FemBody, AStepInPartsIsLikeShortSteps) {
    // a sphere pushed into the block: steps of 4 ms in four parts against steps of 1 ms
    const auto top_after = [](int ticks, double dt) {
        SurfaceMesh tiny;
        tiny.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        tiny.triangles = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
        RigidBodyOptions path;
        path.script = ScriptedMotion({{0, {{0, 0, 0.131}, Quaternion::Identity()}},
                                      {0.1, {{0, 0, 0.115}, Quaternion::Identity()}}});
        RigidBody sphere(RigidShape::sphere(0.03), tiny, path);
        FemBodyOptions options;
        options.fixed = "z < 1 %";
        options.friction = 0;
        options.inner_step = 1e-3;
        FemBody body = cube({&sphere}, options);
        EXPECT_EQ(body.inner_steps(dt), std::lround(dt / 1e-3));
        body.set_parameter(1, 20);
        for (int i = 0; i < ticks; ++i) {
            (void)sphere.step(dt);
            EXPECT_EQ(body.step(dt), StepStatus::Ok);
        }
        return body.wrench(0).force.z();
    };
    const double fine = top_after(400, 1e-3), coarse = top_after(100, 4e-3);
    EXPECT_GT(fine, 0.1);
    // the path between the ends of a step is not the scripted one
    EXPECT_NEAR(coarse, fine, 0.01 * fine);
}

TEST(FemBody, CarriesAnEmbeddedSurface) {
    SurfaceMesh inner;
    inner.vertices = {{0, 0, 0.02}, {0.02, 0, 0.02}, {0, 0.02, 0.02}, {0, 0, 0.08}};
    inner.triangles = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
    FemBody body(hex_cube(3, 0.1, {-0.05, -0.05, 0}), {kSoft}, inner, {});
    EXPECT_EQ(body.surface().num_vertices(), 4);
    body.set_gravity({0, 0, -1});
    for (int i = 0; i < 100; ++i) ASSERT_EQ(body.step(1e-3), StepStatus::Ok);
    // falls as it is
    for (int v = 0; v < 4; ++v)
        EXPECT_LT(
            (body.position(SurfacePoint::at_vertex(v)) - inner.vertices[v] + Vector3d(0, 0, 0.005))
                .norm(),
            1e-4);

    const auto display = body.display();
    std::vector<float> state(static_cast<std::size_t>(display->state_size())), x(12), n(12);
    body.write_display(state);
    display->positions(state, x);
    for (int v = 0; v < 4; ++v)
        for (int k = 0; k < 3; ++k)
            EXPECT_NEAR(x[3 * v + k], body.position(SurfacePoint::at_vertex(v))[k], 1e-7);
    display->normals(x, n);
    EXPECT_NEAR(Eigen::Map<Eigen::Vector3f>(n.data()).norm(), 1, 1e-6);
    EXPECT_EQ(display->num_mesh_nodes(), 64);
    EXPECT_EQ(display->mesh_edges().size(), 3u * 3 * 16);
    std::vector<float> nodes(3 * 64);
    display->mesh_positions(state, nodes);
    EXPECT_NEAR(nodes[2], -0.005, 1e-4);
}

TEST(FemBody, WindPushesWithThePressureOnItsShadow) {
    FemBody body = cube();
    body.set_wind_direction({1, 0, 0});
    body.set_wind_pressure(50);
    ASSERT_EQ(body.step(1e-4), StepStatus::Ok);
    ASSERT_EQ(body.step(1e-4), StepStatus::Ok);
    // 50 Pa on 0.01 m² and 1 kg; the first acceleration counts half
    double momentum = 0;
    const ExplicitDynamics reference = test::reference_cube(3, 0, {-0.05, -0.05, 0});
    for (Eigen::Index i = 0; i < body.state().v.size(); i += 3)
        momentum += reference.mass()[i] * body.state().v[i];
    EXPECT_NEAR(momentum, 50 * 0.01 * 1.5e-4, 1e-9);
}

TEST(FemBody, BadInputChangesNothing) {
    FemBody body = cube();
    const std::vector<double> start = saved(body);
    body.add_force(SurfacePoint::at_vertex(0), {kNan, 0, 0});
    body.add_force(SurfacePoint::at_vertex(-1), {1, 0, 0});
    body.add_force(SurfacePoint::at_vertex(1 << 20), {1, 0, 0});
    body.add_force(SurfacePoint::on_triangle(0, {kNan, 0, 0}), {1, 0, 0});
    body.set_gravity({kNan, 0, 0});
    body.set_wind_pressure(kNan);
    body.set_parameter(0, kNan);
    body.set_parameter(99, 1);
    EXPECT_EQ(body.step(kNan), StepStatus::InputIgnored);
    EXPECT_EQ(body.step(-1), StepStatus::InputIgnored);
    EXPECT_EQ(saved(body), start);
    ASSERT_EQ(body.step(1e-3), StepStatus::Ok);
    EXPECT_EQ(body.state().v.norm(), 0);
    EXPECT_EQ(body.position(SurfacePoint::at_vertex(-1)), Vector3d::Zero());
}

TEST(FemBody, HugeForcesLeaveItFiniteAndItRecovers) {
    FemBody body = cube();
    for (int i = 0; i < 200; ++i) {
        body.add_force(SurfacePoint::at_vertex(0), {1e300, 0, 0});
        (void)body.step(1e-3);
        ASSERT_TRUE(body.state().u.allFinite() && body.state().v.allFinite());
    }
    EXPECT_GT(body.report().counts[static_cast<std::size_t>(StepStatus::StepRejected)], 0u);

    // a shape from which no step is possible
    const std::vector<double> start = saved(cube());
    std::vector<double> far = start;
    for (std::size_t i = 14; i < 46; ++i) far[i] = i % 2 ? 1e200 : -1e200;
    ASSERT_TRUE(body.restore_state(far));
    for (int i = 0; i < 30; ++i) (void)body.step(1e-3);
    EXPECT_EQ(body.report().counts[static_cast<std::size_t>(StepStatus::StateReset)], 1u);
    EXPECT_EQ(body.report().last, StepStatus::Ok);
    EXPECT_EQ(body.state().u.norm(), 0);
}

TEST(FemBody, StepsAllocateNothing) {
    set_num_threads(1);
    RigidBody floor = ground();
    FemBody body = cube({&floor}, {}, 0.0005);
    body.set_gravity(kGravity);
    std::vector<double> state(static_cast<std::size_t>(body.state_size()));
    std::vector<float> shown(static_cast<std::size_t>(body.display()->state_size()));
    for (int i = 0; i < 20; ++i) (void)body.step(1e-3);
    AllocationGuard guard;
    for (int i = 0; i < 50; ++i) {
        body.add_force(SurfacePoint::at_vertex(4), {0.1, 0, 0.1});
        body.set_parameter(0, 1 + 0.01 * i);
        (void)floor.step(1e-3);
        (void)body.step(2e-3);
        (void)body.energy();
        body.save_state(state);
        (void)body.restore_state(state);
        body.write_display(shown);
    }
    body.reset();
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    set_num_threads(0);
}

TEST(FemBody, RefusesAnUnstableInnerStep) {
    FemBodyOptions options;
    options.inner_step = 1;
    EXPECT_NE(test::input_error([&] { (void)cube({}, options); }).find("the stability limit"),
              std::string::npos);
    options.inner_step = 0;
    options.fixed = "z < -3";
    EXPECT_NE(test::input_error([&] { (void)cube({}, options); }).find("selects no vertex"),
              std::string::npos);
}

}  // namespace
}  // namespace pliant
