#include "pliant/reduction/reduced_body.h"

#include "body/wind.h"
#include "core/numbers.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "reduction/body_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::end_face;
using test::kTick;
using test::tip;
using ::testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
const Vector3d kGravity(0, 0, -9.81);

/// Settled under constant loads; mass damping near critical of the first mode is fastest.
template <class Load>
void settle(ReducedBody& body, const Load& load) {
    body.set_parameter(1, 6);
    body.set_parameter(2, 0.005);
    for (int k = 0; k < 6000; ++k) {
        load();
        ASSERT_EQ(body.step(kTick), StepStatus::Ok) << "tick " << k;
    }
    ASSERT_LE(body.velocity(tip()).norm(), 1e-6);
}

TEST(ReducedBody, StepsAsTheReducedDynamicsOfItsModel) {
    const ReducedModel model = test::bar_model();
    ReducedBody body(model, {.damping = {.mass = 0.5, .stiffness = 0.01}});
    EXPECT_EQ(body.kind(), "reduced");
    body.set_gravity(kGravity);
    const ReducedDynamics dynamics(model.make_force(), model.mass(),
                                   {.damping = {.mass = 0.5, .stiffness = 0.01}});
    const auto ws = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    const SurfaceShapes shapes = model.shapes();
    const VectorXd extra = test::random_vector(model.rank(), 4);
    VectorXd last = VectorXd::Zero(model.rank());
    for (int k = 0; k < 200; ++k) {
        const Vector3d f(1, 2, std::sin(0.1 * k));
        VectorXd load = extra + model.gravity_load(kGravity);
        shapes.add_force(10, Vector3d(0.2, 0.3, 0.5), f, load);
        body.add_reduced_force(extra);
        body.add_force(end_face(), f);
        ASSERT_EQ(body.step(kTick), StepStatus::Ok);
        // loads are constant over the step; the mass is the identity
        s.a += load - last;
        last = load;
        (void)dynamics.step(s, load, kTick, *ws);
    }
    EXPECT_LE((body.state().q - s.q).norm(), 1e-12 * s.q.norm());
    EXPECT_GT(s.q.norm(), 0.01);
    EXPECT_EQ(body.report().counts[0], 200u);
    const Energy energy = body.energy();
    EXPECT_NEAR(energy.kinetic, dynamics.kinetic_energy(s), 1e-10 * energy.kinetic);
    EXPECT_NEAR(energy.elastic, dynamics.elastic_energy(s, *ws), 1e-10 * energy.elastic);
}

TEST(ReducedBody, EverythingTurnsWithThePose) {
    const ReducedModel model = test::bar_model();
    const Pose pose = test::tilted();
    ReducedBody upright(model), tilted(model, {.pose = pose});
    const auto turn = [&](const Vector3d& x) { return Vector3d(pose.rotation * x); };
    upright.set_gravity(kGravity);
    tilted.set_gravity(turn(kGravity));
    upright.set_wind_direction({1, 2, -1});
    tilted.set_wind_direction(turn({1, 2, -1}));
    upright.set_wind_pressure(30);
    tilted.set_wind_pressure(30);
    for (int k = 0; k < 300; ++k) {
        const Vector3d f(3, -4, 5);
        upright.add_force(tip(), f);
        tilted.add_force(tip(), turn(f));
        (void)upright.step(kTick);
        (void)tilted.step(kTick);
    }
    // the same mechanics, rounded in other axes
    for (const SurfacePoint& p : {tip(), end_face()}) {
        EXPECT_LE((pose.to_world(upright.position(p)) - tilted.position(p)).norm(), 1e-12);
        EXPECT_LE((turn(upright.velocity(p)) - tilted.velocity(p)).norm(), 1e-10);
        EXPECT_LE((turn(upright.normal(p)) - tilted.normal(p)).norm(), 1e-12);
        EXPECT_NEAR(upright.mobility(p), tilted.mobility(p), 1e-12 * tilted.mobility(p));
        Matrix3d C, C_tilted;
        ASSERT_TRUE(upright.compliance(p, C) && tilted.compliance(p, C_tilted));
        const Matrix3d R = pose.rotation.toRotationMatrix();
        EXPECT_LE((R * C * R.transpose() - C_tilted).norm(), 1e-9 * C.norm());
    }
    EXPECT_GT((upright.position(tip()) - Vector3d(0.8, 0.2, 0.2)).norm(), 0.1);
    EXPECT_EQ(tilted.pose().position, pose.position);
}

TEST(ReducedBody, WindPushesTheFacesThatMeetIt) {
    const ReducedModel model = test::bar_model();
    ReducedBody windy(model), pushed(model);
    const Vector3d direction(0, 3, 0);
    windy.set_wind_direction(direction);
    windy.set_wind_pressure(50);
    const std::vector<Vector3d> forces = wind_forces(windy.surface(), direction);
    for (int k = 0; k < 100; ++k) {
        for (int v = 0; v < 8; ++v)
            pushed.add_force(SurfacePoint::at_vertex(v), 50 * forces[static_cast<std::size_t>(v)]);
        (void)windy.step(kTick);
        (void)pushed.step(kTick);
    }
    EXPECT_LE((windy.state().q - pushed.state().q).norm(), 1e-12 * pushed.state().q.norm());
    EXPECT_GT(windy.position(tip()).y(), 0.2 + 1e-3);
    windy.set_wind_direction(Vector3d::Constant(kNan));
    windy.set_wind_pressure(kInf);
    EXPECT_EQ(windy.step(kTick), StepStatus::Ok);
}

TEST(ReducedBody, StartOfATickIsTheEndOfTheOneBefore) {
    ReducedBody body(test::bar_model());
    test::pull(body, 0, 50);
    for (int k = 0; k < 5; ++k) {
        const Vector3d before = body.position(end_face());
        test::pull(body, k, k + 1);
        EXPECT_EQ(body.position(end_face(), TickMoment::Start), before);
        EXPECT_NE(body.position(end_face()), before);
    }
    body.reset();
    EXPECT_EQ(body.position(tip(), TickMoment::Start), body.position(tip()));
}

TEST(ReducedBody, VelocityIsThatOfPositions) {
    ReducedBody body(test::bar_model());
    test::pull(body, 0, 100);
    // the trapezoidal rule: the mean of two velocities is exact
    const Vector3d v = body.velocity(end_face());
    test::pull(body, 100, 101);
    const Vector3d moved = body.position(end_face()) - body.position(end_face(), TickMoment::Start);
    EXPECT_LE((moved - 0.5 * kTick * (v + body.velocity(end_face()))).norm(), 1e-12);
    EXPECT_GT(moved.norm(), 1e-5);
}

TEST(ReducedBody, NormalsAreThoseOfTheDeformedTriangles) {
    ReducedBody body(test::bar_model());
    test::pull(body, 0, 300);
    std::vector<Vector3d> x;
    for (int v = 0; v < 8; ++v) x.push_back(body.position(SurfacePoint::at_vertex(v)));
    for (int t = 0; t < body.surface().num_triangles(); ++t) {
        const Triangle& corners = body.surface().triangles[static_cast<std::size_t>(t)];
        const auto at = [&](int k) { return x[static_cast<std::size_t>(corners[k])]; };
        const Vector3d n = (at(1) - at(0)).cross(at(2) - at(0)).normalized();
        EXPECT_LE(
            (body.normal(SurfacePoint::on_triangle(t, Vector3d::Constant(1.0 / 3))) - n).norm(),
            1e-12);
    }
    // of a vertex: of its first triangle
    EXPECT_EQ(body.normal(SurfacePoint::at_vertex(3)),
              body.normal(SurfacePoint::on_triangle(0, Vector3d(0, 0, 1))));
}

TEST(ReducedBody, MobilityIsTheLargestAnswerToAnImpulse) {
    ReducedBody body(test::bar_model());
    test::pull(body, 0, 100);
    const std::vector<double> start = test::saved(body);
    for (const SurfacePoint& p : {tip(), end_face(), SurfacePoint::at_vertex(1)}) {
        const double bound = body.mobility(p);
        // so short that inertia alone answers
        constexpr double dt = 1e-7, impulse = 1e-3;
        double largest = 0;
        for (unsigned seed = 0; seed < 60; ++seed) {
            ASSERT_TRUE(body.restore_state(start));
            ASSERT_EQ(body.step(dt), StepStatus::Ok);
            const Vector3d without = body.velocity(p);
            ASSERT_TRUE(body.restore_state(start));
            body.add_force(p, impulse / dt * test::random_vector(3, seed).normalized());
            ASSERT_EQ(body.step(dt), StepStatus::Ok);
            largest = std::max(largest, (body.velocity(p) - without).norm() / impulse);
        }
        EXPECT_LE(largest, 1.001 * bound);
        EXPECT_GE(largest, 0.9 * bound);
    }
    EXPECT_LE(body.mobility(SurfacePoint::at_vertex(0)), 1e-9);  // held there
}

TEST(ReducedBody, DampedSpringsBelowTheMobilityLimitAreStable) {
    // 0.7 of critical, and the weakest that makes up for the time between position and force
    for (const bool is_strong : {true, false}) {
        ReducedBody body(test::bar_model(), {.damping = {.stiffness = 0}});
        const Vector3d anchor = body.position(tip()) + Vector3d(0.01, -0.02, 0.01);
        const double m = 1 / body.mobility(tip()), k = 0.95 * m / (kTick * kTick);
        const double c = is_strong ? 1.4 * std::sqrt(k * m) : 0.55 * k * kTick;
        for (int tick = 0; tick < 5000; ++tick) {
            body.add_force(tip(), k * (anchor - body.position(tip())) - c * body.velocity(tip()));
            ASSERT_EQ(body.step(kTick), StepStatus::Ok);
            ASSERT_LE((body.position(tip()) - anchor).norm(), 0.1) << "tick " << tick;
        }
    }
}

TEST(ReducedBody, ComplianceIsTheDerivativeOfTheEquilibrium) {
    ReducedBody body(test::bar_model(), {.pose = test::tilted()});
    body.set_parameter(0, 2.5);
    const Vector3d f(20, -15, 30);
    settle(body, [&] { body.add_force(end_face(), f); });
    Matrix3d C;
    ASSERT_TRUE(body.compliance(end_face(), C));
    EXPECT_LE((C - C.transpose()).norm(), 1e-9 * C.norm());
    const std::vector<double> start = test::saved(body);
    for (int axis = 0; axis < 3; ++axis) {
        const double h = 0.02;
        std::array<Vector3d, 2> x;
        for (const int side : {0, 1}) {
            ASSERT_TRUE(body.restore_state(start));
            const Vector3d more = f + (side ? h : -h) * Vector3d::Unit(axis);
            settle(body, [&] { body.add_force(end_face(), more); });
            x[static_cast<std::size_t>(side)] = body.position(end_face());
        }
        const Vector3d differences = (x[1] - x[0]) / (2 * h);
        EXPECT_LE((C.col(axis) - differences).norm(), 1e-4 * C.norm()) << "axis " << axis;
    }
    EXPECT_FALSE(body.compliance(SurfacePoint::at_vertex(99), C));
}

TEST(ReducedBody, PrescribedPointsAreWhereTheyShouldBeAndSayWhatHoldsThem) {
    const ReducedModel model = test::bar_model();
    ReducedBody pulled(model, {.pose = test::tilted()}), held(model, {.pose = test::tilted()});
    const Vector3d f(10, -20, 15);
    settle(pulled, [&] { pulled.add_force(end_face(), f); });
    const Vector3d goal = pulled.position(end_face()), from = held.position(end_face());
    // moves there in 0.5 s
    int tick = 0;
    settle(held, [&] {
        const double part = std::min(1.0, ++tick / 500.0);
        ASSERT_TRUE(held.prescribe(end_face(), from + part * (goal - from)));
    });
    EXPECT_LE((held.position(end_face()) - goal).norm(), 1e-9);
    EXPECT_LE((held.holding_force(0) - f).norm(), 1e-5 * f.norm());
    EXPECT_LE((held.state().q - pulled.state().q).norm(), 1e-5 * pulled.state().q.norm());
    EXPECT_TRUE(held.holding_force(1).isZero(0));
    EXPECT_TRUE(held.holding_force(-1).isZero(0));

    held.release_all();
    EXPECT_TRUE(held.holding_force(0).isZero(0));
    settle(held, [] {});
    EXPECT_LE((held.position(end_face()) - from).norm(), 1e-6);
}

TEST(ReducedBody, HoldsAsManyPointsAsTheBasisCanMove) {
    ReducedBody body(test::bar_model({.rank = 20}));
    const auto stay = [&](int vertex) {
        const SurfacePoint p = SurfacePoint::at_vertex(vertex);
        return body.prescribe(p, body.position(p));
    };
    EXPECT_FALSE(stay(0));  // part of the end that is held
    EXPECT_TRUE(stay(1));
    EXPECT_TRUE(stay(1));  // again: only its target
    // the same place, and one that differs by less than the basis can tell
    const auto near = [&](double part) {
        // triangle 1 is (0, 3, 1)
        return SurfacePoint::on_triangle(1, Vector3d(0, part, 1 - part));
    };
    EXPECT_FALSE(body.prescribe(near(0), Vector3d::Zero()));
    EXPECT_FALSE(body.prescribe(near(1e-5), Vector3d::Zero()));
    EXPECT_FALSE(body.prescribe(tip(), Vector3d(0, kNan, 0)));
    EXPECT_FALSE(body.prescribe(SurfacePoint::at_vertex(8), Vector3d::Zero()));
    EXPECT_TRUE(stay(7));
    const Vector3d x = body.position(tip());
    for (int k = 0; k < 100; ++k) {
        body.add_force(SurfacePoint::at_vertex(3), Vector3d(0, 0, 20));
        ASSERT_EQ(body.step(kTick), StepStatus::Ok);
    }
    EXPECT_LE((body.position(tip()) - x).norm(), 1e-9);
    EXPECT_GT(body.holding_force(1).norm(), 0.1);

    // 3 rows for each point
    ReducedBody small(test::bar_model({.rank = 5}));
    EXPECT_TRUE(small.prescribe(tip(), small.position(tip())));
    EXPECT_FALSE(small.prescribe(end_face(), small.position(end_face())));
}

TEST(ReducedBody, FourPointsAtMost) {
    ReducedBody body(test::random_bar_model(30, false));
    int num_held = 0;
    for (const int v : {1, 3, 5, 7}) {
        const SurfacePoint p = SurfacePoint::at_vertex(v);
        num_held += body.prescribe(p, body.position(p) + Vector3d(1e-3, 0, 0)) ? 1 : 0;
    }
    EXPECT_EQ(num_held, 4);
    EXPECT_FALSE(body.prescribe(end_face(), Vector3d::Zero()));
    for (int k = 0; k < 20; ++k) ASSERT_EQ(body.step(kTick), StepStatus::Ok);
    EXPECT_NEAR(body.position(tip()).x(), 0.801, 1e-7);  // single precision at rest
    body.reset();
    EXPECT_TRUE(body.prescribe(end_face(), body.position(end_face())));
}

TEST(ReducedBody, StiffnessScalesDisplacementsAndFrequencies) {
    const ReducedModel model = test::bar_model();
    std::array<double, 2> displacement, period;
    for (const std::size_t i : {0u, 1u}) {
        ReducedBody body(model);
        const double z_rest = body.position(tip()).z();
        body.set_parameter(0, i == 0 ? 1 : 4);
        settle(body, [&] { body.add_force(tip(), Vector3d(0, 0, 1e-3)); });
        displacement[i] = body.position(tip()).z() - z_rest;
        // let go without damping: twenty ways up through the place at rest
        body.set_parameter(1, 0);
        body.set_parameter(2, 0);
        const double dt = i == 0 ? kTick : kTick / 2;
        double first = 0, last = 0, before = displacement[i];
        for (int k = 1, crossings = 0; crossings < 21; ++k) {
            ASSERT_LT(k, 200000);
            ASSERT_EQ(body.step(dt), StepStatus::Ok);
            const double z = body.position(tip()).z() - z_rest;
            if (before < 0 && z >= 0) {
                last = dt * (k - z / (z - before));
                if (crossings++ == 0) first = last;
            }
            before = z;
        }
        period[i] = last - first;
    }
    EXPECT_NEAR(displacement[0] / displacement[1], 4, 1e-4);
    EXPECT_NEAR(period[0] / period[1], 2, 1e-3);
}

TEST(ReducedBody, EnergyIsKeptAtEveryStiffness) {
    for (const double stiffness : {0.1, 1.0, 10.0}) {
        ReducedBody body(test::bar_model());
        body.set_parameter(0, stiffness);
        body.set_parameter(2, 0);
        for (int k = 0; k < 300; ++k) {
            body.add_force(tip(), Vector3d(0, 10, 10) * std::sqrt(stiffness));
            ASSERT_EQ(body.step(kTick), StepStatus::Ok);
        }
        const double before = body.energy().total(), dt = 1e-4;
        double swing = 0;
        for (int k = 0; k < 20000; ++k) {
            ASSERT_EQ(body.step(dt), StepStatus::Ok);
            swing = std::max(swing, body.energy().kinetic);
        }
        EXPECT_NEAR(body.energy().total(), before, 0.005 * before) << "stiffness " << stiffness;
        EXPECT_GT(swing, 0.2 * before);
    }
}

TEST(ReducedBody, ParametersAreClampedAndSurviveAReset) {
    ReducedBody body(test::bar_model(), {.damping = {.mass = 20, .stiffness = 0.004}});
    const std::vector<LiveParameter> parameters = body.parameters();
    ASSERT_EQ(parameters.size(), 4u);
    EXPECT_EQ(parameters[0].name, "stiffness");
    EXPECT_TRUE(parameters[0].is_logarithmic);
    EXPECT_EQ(parameters[1].value, 20);
    EXPECT_EQ(parameters[1].high, 20);  // what a body begins with is in its range
    EXPECT_EQ(parameters[2].value, 0.004);
    EXPECT_EQ(parameters[2].high, 0.05);

    // twice beyond the range is as at its end; not finite: unchanged
    const auto motion = [&](std::initializer_list<double> stiffness) {
        for (const double s : stiffness) body.set_parameter(0, s);
        body.set_parameter(4, 5);
        body.set_parameter(-1, 5);
        body.reset();
        test::pull(body, 0, 50);
        return body.state().q;
    };
    const VectorXd at_the_end = motion({10}), untuned = motion({1});
    EXPECT_NE(at_the_end, untuned);
    EXPECT_EQ(motion({20, kNan, kInf}), at_the_end);
}

TEST(ReducedBody, LinearBodiesAnswerInProportion) {
    const ReducedModel model = test::bar_model();
    ReducedBody linear(model, {.is_linear = true}), twice(model, {.is_linear = true}), full(model);
    for (int k = 0; k < 500; ++k) {
        linear.add_force(tip(), Vector3d(0, 0, 50));
        twice.add_force(tip(), Vector3d(0, 0, 100));
        full.add_force(tip(), Vector3d(0, 0, 100));
        for (ReducedBody* body : {&linear, &twice, &full})
            ASSERT_EQ(body->step(kTick), StepStatus::Ok);
    }
    EXPECT_LE((twice.state().q - 2 * linear.state().q).norm(), 1e-9 * twice.state().q.norm());
    EXPECT_NEAR(twice.energy().elastic, 4 * linear.energy().elastic, 1e-8 * twice.energy().elastic);
    EXPECT_GT((twice.state().q - full.state().q).norm(), 0.05 * full.state().q.norm());
}

TEST(ReducedBody, LinearIsSwitchedBetweenTicksAndTheMotionGoesOn) {
    set_num_threads(1);
    const ReducedModel model = test::bar_model();
    ReducedBody body(model), linear(model, {.is_linear = true});
    EXPECT_EQ(body.parameters()[3].name, "linear");
    EXPECT_EQ(body.parameters()[3].value, 0);
    EXPECT_EQ(linear.parameters()[3].value, 1);
    body.set_parameter(1, 2);
    linear.set_parameter(1, 2);
    const auto run = [](ReducedBody& b, int ticks) {
        for (int k = 0; k < ticks; ++k) {
            b.add_force(tip(), Vector3d(0, 0, 50));
            ASSERT_EQ(b.step(kTick), StepStatus::Ok);
        }
    };
    // switched at rest: as if it had been linear from the start, tuning included
    body.set_parameter(3, 1);
    run(body, 300);
    run(linear, 300);
    EXPECT_EQ(body.state().q, linear.state().q);

    // in motion: state kept, acceleration that of the other force, nothing allocated
    const VectorXd q = body.state().q, v = body.state().v, a = body.state().a;
    AllocationGuard guard;
    body.set_parameter(3, 0.2);
    body.step(kTick);
    body.set_parameter(3, 1);
    body.step(kTick);
    body.set_parameter(3, 0);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_LT((body.state().q - q).norm(), 3 * kTick * v.norm());
    EXPECT_GT((body.state().a - a).norm(), 1e-3 * a.norm());
    EXPECT_TRUE(body.state().a.allFinite());
    // and it comes to the rest of a body that was never linear
    ReducedBody full(model);
    for (ReducedBody* b : {&body, &full}) b->set_parameter(1, 10);
    run(body, 8000);
    run(full, 8000);
    EXPECT_LT((body.state().q - full.state().q).norm(), 1e-4 * full.state().q.norm());

    // a free body has no other answer
    EXPECT_EQ(ReducedBody(test::bar_model({.is_free = true})).parameters().size(), 3u);
    set_num_threads(0);
}

TEST(ReducedBody, SwitchFromAFarLinearShapeStaysFinite) {
    ReducedBody body(test::bar_model(), {.is_linear = true});
    for (int k = 0; k < 300; ++k) {
        body.add_force(tip(), Vector3d(0, -400, 4000));
        (void)body.step(kTick);
    }
    body.set_parameter(3, 0);
    for (int k = 0; k < 3000; ++k) (void)body.step(kTick);
    EXPECT_TRUE(body.state().q.allFinite());
    EXPECT_TRUE(std::isfinite(body.energy().total()));
    EXPECT_LT(body.report().counts[static_cast<std::size_t>(StepStatus::StepRejected)], 100u);
}

TEST(ReducedBody, AMotionThatNoStepCanFollowDoesNotFailForEver) {
    for (const double dt : {1e-3, 4e-3, 3e-2}) {
        ReducedBody body(test::bar_model(), {.damping = {.mass = 0, .stiffness = 0}});
        std::vector<double> state(static_cast<std::size_t>(body.state_size()));
        body.save_state(state);
        // velocities that bend the bar by hundreds of its lengths in a step
        for (int i = 0; i < body.model().rank(); ++i)
            state[static_cast<std::size_t>(body.model().rank() + i)] = 1e5 * (1 + i % 3);
        ASSERT_TRUE(body.restore_state(state));
        const double start = body.energy().total();
        for (int k = 0; k < 1000; ++k) (void)body.step(dt);
        EXPECT_LT(body.report().counts[static_cast<std::size_t>(StepStatus::StepRejected)], 50u)
            << dt;
        EXPECT_LE(body.energy().total(), 1.01 * start) << dt;
    }
}

TEST(ReducedBody, BodiesOfOneModelShareItAndAreTunedAlone) {
    const ReducedBodyModel shared(test::bar_model());
    ReducedBody a(shared), b(shared), alone(shared.model());
    EXPECT_EQ(a.display(), b.display());
    EXPECT_EQ(&a.shapes(), &b.shapes());
    b.set_parameter(0, 5);
    for (int k = 0; k < 100; ++k) {
        test::pull(a, k, k + 1);
        test::pull(b, k, k + 1);
        test::pull(alone, k, k + 1);
    }
    EXPECT_EQ(a.state().q, alone.state().q);
    EXPECT_GT((a.state().q - b.state().q).norm(), 0.1 * a.state().q.norm());
}

TEST(ReducedBody, ContinuesBitForBitAfterARestore) {
    ReducedBody body(test::bar_model(), {.pose = test::tilted()});
    body.set_gravity(kGravity);
    const std::vector<double> start = test::saved(body);
    test::pull(body, 0, 100);
    const std::vector<double> middle = test::saved(body);
    const Vector3d before = body.position(tip(), TickMoment::Start);
    test::pull(body, 100, 200);
    const std::vector<double> end = test::saved(body);
    ASSERT_TRUE(body.restore_state(middle));
    EXPECT_EQ(body.position(tip(), TickMoment::Start), before);
    test::pull(body, 100, 200);
    EXPECT_EQ(test::saved(body), end);

    // and a reset is a new body
    body.reset();
    EXPECT_EQ(test::saved(body), start);
    EXPECT_EQ(body.report().counts[0], 0u);
    test::pull(body, 0, 200);
    EXPECT_EQ(test::saved(body), end);
}

TEST(ReducedBody, RehearsalsLeaveNoTrace) {
    for (const bool is_free : {false, true}) {
        const ReducedModel model = test::bar_model({.is_free = is_free});
        ReducedBody plain(model, {.pose = test::tilted()}),
            rehearsing(model, {.pose = test::tilted()});
        for (ReducedBody* body : {&plain, &rehearsing}) body->set_gravity(kGravity);
        std::uint64_t allocations = 0;
        for (int k = 0; k < 50; ++k)
            for (ReducedBody* body : {&plain, &rehearsing}) {
                if (k == 25 && !is_free) {
                    ASSERT_TRUE(body->prescribe(tip(), body->position(tip())));
                }
                body->add_force(end_face(), {3, -1, 0.1 * k});
                body->add_wrench({Vector3d(0, 1, 0), Vector3d(0.1, 0, 0)});
                const AllocationGuard guard;
                if (body == &rehearsing) body->rehearse(kTick);  // with loads that wait
                body->step(kTick);
                if (body == &rehearsing) body->rehearse(kTick);
                allocations += guard.count();
            }
        EXPECT_EQ(test::saved(plain), test::saved(rehearsing));
        if (!is_free) {
            EXPECT_EQ(plain.holding_force(0), rehearsing.holding_force(0));
            EXPECT_GT(plain.holding_force(0).norm(), 0);
        }
        EXPECT_EQ(rehearsing.report().counts[0], 50u);
        EXPECT_EQ(allocations, 0u);
    }
}

TEST(ReducedBody, RefusesStatesThatAreNotItsOwn) {
    ReducedBody body(test::bar_model());
    test::pull(body, 0, 10);
    const std::vector<double> good = test::saved(body);
    EXPECT_FALSE(body.restore_state(std::vector<double>(good.size() + 1)));
    EXPECT_FALSE(body.restore_state({}));
    for (const double bad : {kNan, kInf}) {
        std::vector<double> state(good.size(), 0.0);
        state[state.size() / 2] = bad;
        EXPECT_FALSE(body.restore_state(state));
    }
    EXPECT_EQ(test::saved(body), good);
}

TEST(ReducedBody, BadInputIsIgnoredAndCounted) {
    ReducedBody body(test::bar_model());
    body.set_gravity(kGravity);
    test::pull(body, 0, 20);
    const std::vector<double> before = test::saved(body);
    for (const double dt : {kNan, kInf, -1.0, 0.0, 1e200}) {
        EXPECT_EQ(body.step(dt), StepStatus::InputIgnored) << dt;
        EXPECT_EQ(body.state().q, Eigen::Map<const VectorXd>(before.data(), 10));
    }
    ASSERT_TRUE(body.restore_state(before));
    ASSERT_EQ(body.step(kTick), StepStatus::Ok);
    const VectorXd q = body.state().q;
    const auto same_with = [&](const auto& input) {
        ASSERT_TRUE(body.restore_state(before));
        input();
        EXPECT_EQ(body.step(kTick), StepStatus::InputIgnored);
        EXPECT_EQ(body.state().q, q);
    };
    same_with([&] { body.add_force(tip(), Vector3d(0, kNan, 0)); });
    same_with([&] { body.add_force(tip(), Vector3d(kInf, 0, 0)); });
    same_with([&] { body.add_force(SurfacePoint::at_vertex(8), Vector3d(1, 0, 0)); });
    same_with([&] { body.add_force(SurfacePoint(), Vector3d(1, 0, 0)); });
    same_with([&] {
        body.add_force(SurfacePoint::on_triangle(0, Vector3d(kNan, 0, 0)), Vector3d(1, 0, 0));
    });
    same_with([&] { body.add_reduced_force(VectorXd::Constant(10, kNan)); });
    body.set_gravity(Vector3d(kNan, 0, 0));
    ASSERT_TRUE(body.restore_state(before));
    EXPECT_EQ(body.step(kTick), StepStatus::Ok);
    EXPECT_EQ(body.state().q, q);
    EXPECT_EQ(body.report().counts[static_cast<std::size_t>(StepStatus::InputIgnored)], 11u);

    const SurfacePoint nowhere = SurfacePoint::on_triangle(12, Vector3d(1, 0, 0));
    EXPECT_TRUE(body.position(nowhere).isZero(0) && body.velocity(nowhere).isZero(0));
    EXPECT_TRUE(body.normal(nowhere).isZero(0));
    EXPECT_EQ(body.mobility(nowhere), 0);
}

TEST(ReducedBody, StaysFiniteUnderAbsurdLoads) {
    ReducedBody body(test::bar_model());
    for (const double size : {1e6, 1e12, 1e100, 1e300, 1.7e308}) {
        for (int k = 0; k < 20; ++k) {
            body.add_force(tip(), Vector3d(size, -size, size));
            body.add_force(end_face(), Vector3d(size, size, size));
            (void)body.step(kTick);
            ASSERT_TRUE(body.position(tip()).allFinite() && body.velocity(tip()).allFinite());
            ASSERT_TRUE(std::isfinite(body.energy().elastic));
        }
        ASSERT_TRUE(body.prescribe(tip(), Vector3d(size, 0, 0)));
        (void)body.step(kTick);
        ASSERT_TRUE(body.position(tip()).allFinite());
        ASSERT_TRUE(body.holding_force(0).allFinite());
        body.release_all();
    }
}

TEST(ReducedBody, NothingAllocatesInATick) {
    set_num_threads(1);
    ReducedBody body(test::random_bar_model(60, false));
    std::vector<double> state = test::saved(body);
    std::vector<float> shown = test::display_state(body);
    const VectorXd extra = VectorXd::Zero(60);
    Matrix3d C;
    StepStatus status = StepStatus::Ok;
    bool is_held = true;
    std::uint64_t allocations = 0;
    {
        const AllocationGuard guard;
        body.set_gravity(kGravity);
        body.set_wind_pressure(3);
        for (int k = 0; k < 4; ++k) {
            body.set_parameter(0, 1.0 + k);
            body.set_parameter(2, 0.01 * k);
            for (int v = 1; v < 8; v += 2)
                is_held &= k < 2 || body.prescribe(SurfacePoint::at_vertex(v),
                                                   body.position(SurfacePoint::at_vertex(v)));
            body.add_force(end_face(), Vector3d(1, 2, 3) * body.mobility(end_face()));
            body.add_reduced_force(extra);
            status = body.step(kTick);
            is_held &= body.compliance(end_face(), C);
            (void)(body.position(tip(), TickMoment::Start) + body.velocity(tip()) +
                   body.normal(tip()) + body.holding_force(3));
            (void)body.energy();
            body.write_display(shown);
            body.save_state(state);
            is_held &= body.restore_state(state);
        }
        body.release_all();
        body.reset();
        allocations = guard.count();
    }
    EXPECT_EQ(status, StepStatus::Ok);
    EXPECT_TRUE(is_held);
    EXPECT_EQ(allocations, 0u);
}

TEST(ReducedBody, WrongOptionsAreNamed) {
    const ReducedModel model = test::bar_model();
    const auto message = [&](const ReducedBodyOptions& options) -> std::string {
        try {
            const ReducedBody body(model, options);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    ReducedBodyOptions options;
    options.damping.mass = -1;
    EXPECT_THAT(message(options), HasSubstr("damping.mass = -1 (expected 0 <= value < infinity)"));
    options = {};
    options.damping.stiffness = kNan;
    EXPECT_THAT(message(options), HasSubstr("damping.stiffness = nan"));
    options = {};
    options.pose.position.x() = kInf;
    EXPECT_THAT(message(options), HasSubstr("not a finite position and rotation"));
    options = {};
    options.pose.rotation.coeffs().setZero();
    EXPECT_THAT(message(options), HasSubstr("not a finite position and rotation"));
    options = {};
    options.velocity.angular.y() = 1;
    EXPECT_THAT(message(options), HasSubstr("that is held has a velocity"));
    options.velocity.angular.y() = kNan;
    EXPECT_THAT(message(options), HasSubstr("velocity of a reduced body is not finite"));
}

}  // namespace
}  // namespace pliant
