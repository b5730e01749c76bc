#include "core/numbers.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "pliant/reduction/reduced_body.h"
#include "reduction/body_samples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using test::end_face;
using test::kTick;
using test::tip;

/// Of the bar: 0.8 × 0.2 × 0.2 m of 1000 kg/m³.
constexpr double kMass = 32;
const Vector3d kCentre(0.4, 0.1, 0.1);

ReducedModel free_model(int rank = 10) { return test::bar_model({.rank = rank, .is_free = true}); }
ReducedBodyOptions thrown(FlightCoupling coupling = FlightCoupling::Coupled) {
    return {.pose = test::tilted(),
            .velocity = {Vector3d(1, 2, 3), Vector3d(2, -1, 3)},
            .coupling = coupling};
}

TEST(FlyingReducedBody, BeginsWhereThePosePutsTheRestShape) {
    const ReducedBody body(free_model(), thrown());
    const Pose pose = test::tilted();
    for (int v = 0; v < 8; ++v) {
        const SurfacePoint p = SurfacePoint::at_vertex(v);
        const Vector3d x = pose.to_world(body.surface().vertices[static_cast<std::size_t>(v)]);
        EXPECT_LE((body.position(p) - x).norm(), 1e-7);  // single precision at rest
        // of the centre of mass, and turning about it
        const Vector3d arm = x - pose.to_world(kCentre);
        EXPECT_LE((body.velocity(p) - Vector3d(1, 2, 3) - Vector3d(2, -1, 3).cross(arm)).norm(),
                  1e-6);
    }
    EXPECT_LE((body.pose().position - pose.position).norm(), 1e-15);
    const Energy energy = body.energy();
    EXPECT_EQ(energy.elastic, 0);
    EXPECT_GT(energy.kinetic, 0.5 * kMass * 14);
}

TEST(FlyingReducedBody, FliesAsItsFreeFlight) {
    const ReducedModel model = free_model();
    for (const FlightCoupling coupling : {FlightCoupling::Coupled, FlightCoupling::Decoupled}) {
        ReducedBody body(model, thrown(coupling));
        const FreeFlight flight(
            ReducedDynamics(model.make_force(), model.mass(), {.damping = {.stiffness = 0.002}}),
            model.inertia(), coupling);
        const auto ws = flight.make_workspace();
        FreeState s = flight.make_state();
        s.frame.pose = {test::tilted().to_world(model.inertia().centre), test::tilted().rotation};
        s.frame.velocity = {Vector3d(1, 2, 3), Vector3d(2, -1, 3)};
        flight.set_acceleration(s, {}, VectorXd::Zero(10), *ws);
        const Vector3d gravity(0, 0, -9.81), f(20, -10, 5);
        body.set_gravity(gravity);
        VectorXd last = VectorXd::Zero(10);
        for (int k = 0; k < 200; ++k) {
            body.add_force(tip(), f);
            ASSERT_EQ(body.step(kTick), StepStatus::Ok);
            // the same by hand
            const Quaternion R = s.frame.pose.rotation;
            VectorXd load = VectorXd::Zero(10);
            model.shapes().add_force(7, R.conjugate() * f, load);
            const Vector3d arm =
                R * (model.shapes().position(7, s.shape.q) - model.inertia().centre);
            s.shape.a += load - last;
            last = load;
            (void)flight.step(s, {f + flight.mass() * gravity, arm.cross(f)}, load, kTick, *ws);
        }
        EXPECT_LE((body.state().q - s.shape.q).norm(), 1e-10 * s.shape.q.norm());
        const Pose pose = {s.frame.pose.position - s.frame.pose.rotation * model.inertia().centre,
                           s.frame.pose.rotation};
        EXPECT_LE((body.pose().position - pose.position).norm(), 1e-10);
        EXPECT_LE(body.pose().rotation.angularDistance(pose.rotation), 1e-7);
        const double elastic = flight.dynamics().elastic_energy(s.shape, *ws->reduced);
        EXPECT_NEAR(body.energy().elastic, elastic, 1e-8 * elastic);
        EXPECT_NEAR(body.energy().kinetic, flight.kinetic_energy(s), 1e-8 * body.energy().kinetic);
        EXPECT_GT(s.shape.q.norm(), 1e-3);
    }
}

TEST(FlyingReducedBody, FallsWithoutDeforming) {
    ReducedBody body(free_model(), {.pose = test::tilted()});
    body.set_gravity({0, 0, -9.81});
    const Vector3d from = body.position(tip());
    for (int k = 0; k < 500; ++k) ASSERT_EQ(body.step(kTick), StepStatus::Ok);
    EXPECT_LE((body.position(tip()) - from - Vector3d(0, 0, -0.5 * 9.81 * 0.25)).norm(), 1e-9);
    EXPECT_NEAR(body.velocity(tip()).z(), -9.81 * 0.5, 1e-9);
    EXPECT_LE(body.state().q.norm(), 1e-12);
}

TEST(FlyingReducedBody, PointForcesGiveTheirImpulseAndTorque) {
    const ReducedModel model = free_model();
    ReducedBody body(model);
    const FreeFlight flight(ReducedDynamics(model.make_force(), model.mass()), model.inertia());
    // one short push
    const Vector3d f(100, -200, 300), arm = body.position(tip()) - kCentre;
    body.add_force(tip(), f);
    ASSERT_EQ(body.step(kTick), StepStatus::Ok);
    FreeState s = flight.make_state();
    const std::vector<double> saved = test::saved(body);
    s.shape = body.state();
    // at the end of the state: poses, then velocity
    const double* const frame = saved.data() + saved.size() - 26;
    s.frame.pose = {Eigen::Map<const Vector3d>(frame), body.pose().rotation};
    s.frame.velocity = {Eigen::Map<const Vector3d>(frame + 14),
                        Eigen::Map<const Vector3d>(frame + 17)};
    const Wrench momentum = flight.momentum(s);
    EXPECT_LE((momentum.force - kTick * f).norm(), 1e-12);
    const Vector3d spin = momentum.torque - s.frame.pose.position.cross(momentum.force);
    EXPECT_LE((spin - kTick * arm.cross(f)).norm(), 1e-6 * spin.norm());
    EXPECT_GT(body.state().q.norm(), 0);
}

TEST(FlyingReducedBody, VelocitiesArePositionDifferences) {
    // of second order: four times less with half the step
    std::array<double, 2> error;
    for (const std::size_t i : {0u, 1u}) {
        ReducedBody body(free_model(), thrown());
        const double dt = i == 0 ? 2e-3 : 1e-3;
        for (int k = 0; k < (i == 0 ? 50 : 100); ++k) {
            if (k * dt < 0.05) body.add_force(tip(), Vector3d(300, 0, 500));
            ASSERT_EQ(body.step(dt), StepStatus::Ok);
        }
        const Vector3d before = body.velocity(end_face());
        ASSERT_EQ(body.step(dt), StepStatus::Ok);
        const Vector3d moved =
            body.position(end_face()) - body.position(end_face(), TickMoment::Start);
        error[i] = (moved / dt - 0.5 * (before + body.velocity(end_face()))).norm();
    }
    EXPECT_LE(error[0], 1e-3);
    EXPECT_LE(error[1], 0.4 * error[0]);
}

TEST(FlyingReducedBody, MobilityBoundsTheAnswerToAnImpulse) {
    for (const FlightCoupling coupling : {FlightCoupling::Coupled, FlightCoupling::Decoupled}) {
        ReducedBody body(free_model(), thrown(coupling));
        test::pull(body, 0, 100);
        const std::vector<double> start = test::saved(body);
        for (const SurfacePoint& p : {tip(), end_face(), SurfacePoint::at_vertex(0)}) {
            constexpr double dt = 1e-6, impulse = 1e-2;
            double largest = 0;
            for (unsigned seed = 0; seed < 60; ++seed) {
                ASSERT_TRUE(body.restore_state(start));
                const Vector3d f = impulse / dt * test::random_vector(3, seed).normalized();
                ASSERT_EQ(body.step(dt), StepStatus::Ok);
                const Vector3d without = body.velocity(p);
                ASSERT_TRUE(body.restore_state(start));
                body.add_force(p, f);
                ASSERT_EQ(body.step(dt), StepStatus::Ok);
                largest = std::max(largest, (body.velocity(p) - without).norm() / impulse);
            }
            EXPECT_LE(largest, body.mobility(p));
            EXPECT_GE(largest, 0.1 * body.mobility(p));
        }
    }
}

TEST(FlyingReducedBody, WindPushesAQuarterOfTheSurfaceWithoutTorque) {
    ReducedBody body(free_model());
    body.set_wind_direction({0, 2, 0});
    body.set_wind_pressure(10);
    for (int k = 0; k < 1000; ++k) ASSERT_EQ(body.step(kTick), StepStatus::Ok);
    const double area = 2 * (0.2 * 0.2) + 4 * (0.8 * 0.2);
    for (const SurfacePoint& p : {tip(), SurfacePoint::at_vertex(0)})
        EXPECT_LE((body.velocity(p) - Vector3d(0, 10 * area / 4 / kMass, 0)).norm(), 1e-9);
    body.set_wind_direction(Vector3d(kNan, 0, 0));
    body.set_wind_pressure(kNan);
    const Vector3d v = body.velocity(tip());
    ASSERT_EQ(body.step(kTick), StepStatus::Ok);
    EXPECT_LE((body.velocity(tip()) - v).norm(), 1e-9);
}

TEST(FlyingReducedBody, TakesForcesOnly) {
    ReducedBody body(free_model());
    EXPECT_FALSE(body.prescribe(tip(), body.position(tip())));
    Eigen::Matrix3d C;
    EXPECT_FALSE(body.compliance(tip(), C));
    EXPECT_TRUE(body.holding_force(0).isZero(0));
}

TEST(FlyingReducedBody, StiffnessCountsInFlight) {
    const ReducedModel model = free_model();
    ReducedBody soft(model, {.damping = {.stiffness = 0}}), hard(model, {.damping = {}});
    hard.set_parameter(0, 10);
    for (ReducedBody* body : {&soft, &hard}) {
        body->set_parameter(1, 0);
        body->set_parameter(2, 0);
        for (int k = 0; k < 150; ++k) {
            body->add_force(tip(), Vector3d(0, 20, 30));
            ASSERT_EQ(body->step(kTick), StepStatus::Ok);
        }
    }
    EXPECT_GT(soft.state().q.norm(), 2 * hard.state().q.norm());
    // undamped, unloaded: energy stays
    for (ReducedBody* body : {&soft, &hard}) {
        const double before = body->energy().total();
        for (int k = 0; k < 5000; ++k) ASSERT_EQ(body->step(2e-4), StepStatus::Ok);
        EXPECT_NEAR(body->energy().total(), before, 0.005 * before);
    }
}

TEST(FlyingReducedBody, ContinuesBitForBitAfterARestore) {
    for (const FlightCoupling coupling : {FlightCoupling::Coupled, FlightCoupling::Decoupled}) {
        ReducedBody body(free_model(), thrown(coupling));
        body.set_gravity({0, 0, -9.81});
        const std::vector<double> start = test::saved(body);
        const Pose pose = body.pose();
        test::pull(body, 0, 100);
        const std::vector<double> middle = test::saved(body);
        const Vector3d before = body.position(tip(), TickMoment::Start);
        test::pull(body, 100, 200);
        const std::vector<double> end = test::saved(body);
        const Pose end_pose = body.pose();
        ASSERT_TRUE(body.restore_state(middle));
        EXPECT_EQ(body.position(tip(), TickMoment::Start), before);
        test::pull(body, 100, 200);
        EXPECT_EQ(test::saved(body), end);
        EXPECT_EQ(body.pose().position, end_pose.position);

        body.reset();
        EXPECT_EQ(test::saved(body), start);
        EXPECT_EQ(body.pose().position, pose.position);
        test::pull(body, 0, 200);
        EXPECT_EQ(test::saved(body), end);
        // a rotation that is none
        std::vector<double> bad = end;
        for (std::size_t i = bad.size() - 23; i < bad.size() - 19; ++i) bad[i] = 0;
        EXPECT_FALSE(body.restore_state(bad));
        EXPECT_EQ(test::saved(body), end);
    }
}

TEST(FlyingReducedBody, StaysFiniteUnderAbsurdLoads) {
    ReducedBody body(free_model(), thrown());
    for (const double size : {1e6, 1e12, 1e100, 1e300, 1.7e308}) {
        for (int k = 0; k < 10; ++k) {
            body.add_force(tip(), Vector3d(size, -size, size));
            body.add_force(end_face(), Vector3d(size, size, kNan));
            EXPECT_NE(body.step(kTick), StepStatus::Ok);
            ASSERT_TRUE(body.position(tip()).allFinite() && body.velocity(tip()).allFinite());
        }
        for (const double dt : {kNan, -1.0, 1e300})
            EXPECT_EQ(body.step(dt), StepStatus::InputIgnored);
    }
    body.set_gravity(Vector3d::Constant(1.7e308));
    (void)body.step(kTick);
    EXPECT_TRUE(body.position(tip()).allFinite() && is_finite(body.pose()));
    body.set_gravity(Vector3d::Zero());
    body.reset();
    test::pull(body, 0, 10);
}

TEST(FlyingReducedBody, NothingAllocatesInATick) {
    set_num_threads(1);
    const ReducedBodyModel model(test::random_bar_model(60, true));
    for (const FlightCoupling coupling : {FlightCoupling::Coupled, FlightCoupling::Decoupled}) {
        ReducedBody body(model, thrown(coupling));
        std::vector<double> state = test::saved(body);
        std::vector<float> shown = test::display_state(body);
        StepStatus status = StepStatus::Ok;
        bool is_restored = true;
        std::uint64_t allocations = 0;
        {
            const AllocationGuard guard;
            body.set_gravity({0, 0, -9.81});
            body.set_wind_pressure(3);
            for (int k = 0; k < 3; ++k) {
                body.set_parameter(0, 1.0 + k);
                body.add_force(end_face(), Vector3d(1, 2, 3) * body.mobility(end_face()));
                status = body.step(kTick);
                (void)(body.position(tip(), TickMoment::Start) + body.velocity(tip()) +
                       body.normal(tip()));
                (void)body.energy();
                body.write_display(shown);
                body.save_state(state);
                is_restored &= body.restore_state(state);
            }
            body.reset();
            allocations = guard.count();
        }
        EXPECT_EQ(status, StepStatus::Ok);
        EXPECT_TRUE(is_restored);
        EXPECT_EQ(allocations, 0u);
    }
}

TEST(FlyingReducedBody, WrenchesMoveItAsForcesAtItsPointsDo) {
    const ReducedModel model = test::bar_model({.is_free = true});
    ReducedBody pushed(model, {.pose = test::tilted()}), turned(model, {.pose = test::tilted()});
    const Vector3d force(3, -2, 5);
    const Vector3d arm = pushed.position(tip()) - pushed.frame().pose.position;
    pushed.add_force(tip(), force);
    turned.add_wrench({force, arm.cross(force)});
    EXPECT_TRUE(turned.next_wrench().torque.isApprox(pushed.next_wrench().torque, 1e-14));
    pushed.step(kTick);
    turned.step(kTick);
    // but for the deformation, which a wrench does not make
    const Twist &a = pushed.frame().velocity, &b = turned.frame().velocity;
    EXPECT_LT((a.linear - b.linear).norm(), 1e-15);
    EXPECT_LT((a.angular - b.angular).norm(), 1e-3 * b.angular.norm());
    EXPECT_TRUE(turned.state().q.isZero(1e-9));
    turned.add_wrench({Vector3d::Constant(std::numeric_limits<double>::quiet_NaN()), force});
    EXPECT_EQ(turned.step(kTick), StepStatus::InputIgnored);
}

TEST(FlyingReducedBody, AWrenchDoesNothingToAHeldOne) {
    ReducedBody body(test::bar_model());
    EXPECT_FALSE(body.rest_mass().has_value());
    body.add_wrench({Vector3d(1, 2, 3), Vector3d(1, 2, 3)});
    EXPECT_TRUE(body.next_wrench().force.isZero(0));
    EXPECT_EQ(body.step(kTick), StepStatus::Ok);
    EXPECT_TRUE(body.state().q.isZero(0));
}

TEST(FlyingReducedBody, SaysHowTheNextStepBegins) {
    for (const bool is_free : {false, true}) {
        const ReducedModel model = test::bar_model({.is_free = is_free});
        ReducedBody body(model);
        body.set_gravity(Vector3d(0, 0, -9.81));
        test::pull(body, 0, 20);
        const VectorXd q = body.state().q, v = body.state().v;
        VectorXd a = VectorXd::Zero(q.size());
        body.add_force(tip(), Vector3d(1, 2, 3));
        body.next_acceleration(a);
        const Wrench wrench = body.next_wrench();
        const Vector3d speed = body.frame().velocity.linear;
        // a very short step follows the prediction
        const double h = 1e-7;
        body.step(h);
        EXPECT_LT((body.state().v - v - h * a).norm(), 1e-3 * h * a.norm());
        if (!is_free) continue;
        const double mass = body.rest_mass()->mass;
        EXPECT_LT((body.frame().velocity.linear - speed - h / mass * wrench.force).norm(), 1e-12);
        EXPECT_NEAR(mass, 32, 1e-6);
        EXPECT_TRUE(body.rest_mass()->centre.isApprox(Vector3d(0.4, 0.1, 0.1), 1e-9));
        EXPECT_NEAR(body.rest_mass()->inertia(0, 0), 32 * 2 * 0.04 / 12, 1e-2);
    }
}

}  // namespace
}  // namespace pliant
