#include "pliant/contact/contact_solver.h"

#include <gtest/gtest.h>

#include <limits>

#include "contact/solver_samples.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::at;
using test::input_error;
using test::kStandardGravity;
using test::RigidScene;

const Vector3d kHalf = Vector3d::Constant(0.1);

/// Largest and smallest of something.
struct Range {
    void add(double x) {
        low = std::min(low, x);
        high = std::max(high, x);
    }
    [[nodiscard]] double width() const { return high - low; }
    double low = 1e300, high = -1e300;
};

/// Two balls that meet off centre while both turn, far from the origin.
RigidScene collision(double speed, double mass_ratio, double offset) {
    RigidScene scene;
    scene.gravity.setZero();
    scene.add_ball(0.1, 1, at(0.101, offset, 0.3), {Vector3d(-speed, 0, 0.1), Vector3d(0, 0, 3)},
                   1000);
    scene.add_ball(0.1, mass_ratio, at(-0.101, 0, 0.3), {Vector3d(speed, 0, 0), Vector3d(1, 2, 0)},
                   1000);
    return scene;
}

TEST(ContactSolver, NothingHappensApart) {
    RigidScene scene;
    scene.gravity.setZero();
    scene.add_ground();
    scene.add_ball(0.1, 1, at(0, 0, 0.11));
    scene.start();
    scene.run(0.01);
    EXPECT_EQ(scene.last, StepStatus::Ok);
    EXPECT_EQ(scene.solver->statistics().num_contacts, 0);
    EXPECT_TRUE(scene.solver->contacts().empty());
    EXPECT_EQ(scene.kinetic_energy(), 0);
}

TEST(ContactSolver, ACollisionKeepsBothMomenta) {
    for (const double friction : {0.0, 0.6}) {
        RigidScene scene = collision(2, 1.5, 0.05);
        scene.start({.stiffness = 1e5, .friction = friction});
        const Wrench before = scene.momentum();
        int touching = 0;
        for (int k = 0; k < 60; ++k) {
            scene.tick();
            touching += scene.solver->statistics().num_contacts > 0;
            const Wrench now = scene.momentum();
            // of 2 kg m/s and 0.6 kg m²/s
            ASSERT_LT((now.force - before.force).norm(), 1e-12);
            ASSERT_LT((now.torque - before.torque).norm(), 1e-12);
        }
        EXPECT_GT(touching, 1);
        EXPECT_EQ(scene.solver->statistics().num_contacts, 0);
        // they did turn away
        EXPECT_GT(scene.bodies[0]->motion().velocity.linear.x(), -0.5);
    }
}

TEST(ContactSolver, CollisionsNeverGainEnergy) {
    for (const double speed : {0.01, 1.0, 10.0})
        for (const double ratio : {1.0, 100.0})
            for (const double stiffness : {1e3, 1e5, 1e8})
                for (const double friction : {0.0, 0.5}) {
                    RigidScene scene = collision(speed, ratio, 0.03);
                    scene.start({.stiffness = stiffness, .friction = friction});
                    const double before = scene.kinetic_energy();
                    for (int k = 0; k < 200; ++k) {
                        scene.tick();
                        ASSERT_LE(scene.kinetic_energy(), before * (1 + 1e-9))
                            << "speed " << speed << ", masses 1:" << ratio << ", k " << stiffness
                            << ", friction " << friction << ", tick " << k;
                    }
                }
}

TEST(ContactSolver, ForcesAreOppositeAndReachPrescribedBodiesToo) {
    RigidScene scene;
    scene.add_ground();
    RigidBody& box = scene.add_box(kHalf, 1, at(0, 0, 0.0999));
    scene.start();
    scene.run(1);
    Vector3d sum = Vector3d::Zero();
    for (const ContactSolver::Contact& c : scene.solver->contacts()) {
        EXPECT_EQ(c.shell, 1);
        EXPECT_EQ(c.field, 0);
        sum += c.force;
    }
    EXPECT_LT((scene.bodies[0]->last_load().force + sum).norm(), 1e-12);
    EXPECT_LT((box.last_load().force - sum - scene.gravity).norm(), 1e-12);
    EXPECT_NEAR(sum.z(), kStandardGravity, 1e-4 * kStandardGravity);
}

TEST(ContactSolver, ABoxRestsForAMinuteAsDeepAsStaticsSays) {
    RigidScene scene;
    scene.add_ground();
    const RigidBody& box = scene.add_box(kHalf, 1, at(0, 0, 0.1 + 0.002));
    scene.start({.friction = 0.4});
    const double before = scene.energy();
    scene.run(2);
    Range z, x, turn;
    for (int k = 0; k < 58000; ++k) {
        scene.tick();
        z.add(box.motion().pose.position.z());
        x.add(box.motion().pose.position.x());
        turn.add(rotation_vector(box.motion().pose.rotation).norm());
        ASSERT_LT(scene.energy() + scene.solver->statistics().elastic_energy, before * (1 + 1e-3));
    }
    // 16 points share the stiffness of L = 10
    EXPECT_NEAR(z.low, 0.1 - kStandardGravity / 1e5, 1e-7);
    EXPECT_LT(z.width(), 2e-8);  // depths are rounded to 2⁻²⁷ m
    EXPECT_LT(x.width(), 2e-7);
    EXPECT_LT(turn.high, 1e-6);
}

TEST(ContactSolver, AStackStandsForAMinute) {
    RigidScene scene;
    scene.dt = 2e-3;
    scene.add_ground();
    for (int i = 0; i < 5; ++i) scene.add_box(kHalf, 1, at(0, 0, 0.1 + 0.2 * i), {}, 3);
    scene.start({.friction = 0.5});
    const double before = scene.energy();
    scene.run(4);
    Range z, x;
    double most = 0;
    for (int k = 0; k < 28000; ++k) {
        scene.tick();
        const Vector3d& p = scene.bodies[5]->motion().pose.position;
        z.add(p.z());
        x.add(p.x());
        most = std::max(most, scene.energy() + scene.solver->statistics().elastic_energy);
    }
    EXPECT_LT(most, before * (1 + 1e-3));
    // each contact carries what is above it: 5 + 4 + … + 1 weights over nine points of 10⁴ N/m
    EXPECT_NEAR(z.low, 0.9 - 15 * kStandardGravity / 9e4, 2e-6);
    EXPECT_LT(z.width(), 2e-7);
    EXPECT_LT(x.width(), 2e-6);
}

TEST(ContactSolver, FrictionStopsASlideWhereItShould) {
    RigidScene scene;
    scene.add_ground();
    const RigidBody& box = scene.add_box(kHalf, 2, at(0, 0, 0.1 - 2 * kStandardGravity / 1e5),
                                         {Vector3d(1, 0, 0), Vector3d::Zero()});
    scene.start({.friction = 0.3});
    const double before = scene.energy() + 0.5 * 2 * kStandardGravity * 2 * kStandardGravity / 1e5;
    double most = 0;
    for (int k = 0; k < 10000; ++k) {
        scene.tick();
        most = std::max(most, scene.energy() + scene.solver->statistics().elastic_energy);
    }
    EXPECT_LT(most, before * (1 + 1e-3));
    // v²/(2 μ g)
    EXPECT_NEAR(box.motion().pose.position.x(), 1 / (2 * 0.3 * kStandardGravity), 2e-3);
    EXPECT_LT(box.motion().velocity.linear.norm(), 1e-6);
    EXPECT_EQ(scene.solver->statistics().num_sliding, 0);
}

TEST(ContactSolver, ABoxHoldsOnASlopeBelowTheAngleOfFrictionAndSlidesAbove) {
    for (const double slope : {0.25, 0.35}) {
        RigidScene scene;
        // gravity is tilted instead of the ground
        const double angle = std::atan(slope);
        scene.gravity = kStandardGravity * Vector3d(std::sin(angle), 0, -std::cos(angle));
        scene.add_ground();
        const RigidBody& box = scene.add_box(kHalf, 1, at(0, 0, 0.0999));
        scene.start({.friction = 0.3});
        scene.run(1);
        const double first = box.motion().pose.position.x();
        scene.run(2);
        const double way = box.motion().pose.position.x() - first;
        if (slope < 0.3) {
            EXPECT_LT(std::abs(way), 1e-7);
        } else {
            // from 1 s to 3 s
            const double a = kStandardGravity * (std::sin(angle) - 0.3 * std::cos(angle));
            EXPECT_NEAR(way, 0.5 * a * (9 - 1), 0.02 * way);
        }
    }
}

TEST(ContactSolver, ABoxThatLeansOnASlopeComesToRest) {
    // friction at half the height presses it onto its lower edge: a part of the points lifts off.
    // Weights that follow their number at once made it rock by 1 cm/s for ever
    for (const double friction : {0.51, 0.6, 1.0}) {
        RigidScene scene;
        scene.dt = 2e-3;
        const double angle = std::atan(0.5);
        scene.gravity = 9 * Vector3d(std::sin(angle), 0, -std::cos(angle));
        scene.add_ground();
        const RigidBody& box = scene.add_box(Vector3d::Constant(0.05), 0.5, at(0, 0, 0.05), {}, 7);
        scene.start({.stiffness = 5000, .friction = friction});
        const double before = scene.energy();
        scene.run(4);
        const Vector3d first = box.motion().pose.position;
        for (int k = 0; k < 500; ++k) {
            scene.tick();
            ASSERT_LT(box.motion().velocity.linear.norm(), 1e-6) << friction;
            ASSERT_LT(box.motion().velocity.angular.norm(), 1e-5) << friction;
        }
        EXPECT_LT((box.motion().pose.position - first).norm(), 1e-8) << friction << ", in a second";
        EXPECT_LT(scene.energy() + scene.solver->statistics().elastic_energy, before);
        EXPECT_LT(scene.solver->statistics().num_contacts, 49);
        EXPECT_GT(scene.solver->statistics().num_contacts, 20);
    }
}

/// 3 × 3 points on each face, those at the rim 0.2 mm from the edges.
Pointshell rim_shell(double half) {
    Pointshell shell = test::face_shell(Vector3d::Constant(half), 3);
    const auto inset = static_cast<float>(half - 2e-4);
    for (Eigen::Vector3f& p : shell.points)
        for (float& x : p)
            if (std::abs(x) < 0.9f * static_cast<float>(half) && x != 0)
                x = std::copysign(inset, x);
    return shell;
}

TEST(ContactSolver, ABoxOnAnEqualOneIsNotPushedSideways) {
    // its rim is nearer to the sides of the lower box than to its top: depths are 0.5 mm
    for (const double friction : {0.0, 0.5}) {
        RigidScene scene;
        scene.dt = 2e-3;
        scene.add_ground();
        const PointTree tree(rim_shell(0.05));
        const FieldPointer field = box_field(Vector3d::Constant(0.05));
        const RigidMass mass = test::box_mass(Vector3d::Constant(0.05), 0.5);
        scene.add(mass, at(0, 0, 0.05), {}, tree, field);
        const RigidBody& top = scene.add(mass, at(1e-4, 0, 0.15), {}, tree, field);
        scene.start({.stiffness = 1000, .friction = friction});
        const double before = scene.energy();
        double most = 0;
        // without friction it slides off in time, as boxes do
        for (int k = 0; k < 60; ++k) {
            scene.tick();
            ASSERT_LT(std::abs(top.motion().velocity.linear.x()), 2e-3) << friction;
            most = std::max(most, scene.energy() + scene.solver->statistics().elastic_energy);
        }
        EXPECT_LT(most, before * (1 + 1e-3));
        if (friction == 0) continue;
        scene.run(5);
        EXPECT_LT(scene.kinetic_energy(), 1e-12);
        EXPECT_NEAR(top.motion().pose.position.x(), 1e-4, 1e-4);
        EXPECT_GT(scene.solver->statistics().deepest, 4e-4);
        for (const ContactSolver::Contact& c : scene.solver->contacts())
            EXPECT_LE(c.force.head<2>().norm(), friction * c.force.z() * (1 + 1e-6) + 1e-9);
    }
}

TEST(ContactSolver, ABallRollsForAMinuteWithoutGainingEnergy) {
    RigidScene scene;
    scene.add_ground();
    // rolling without sliding
    const RigidBody& ball =
        scene.add_ball(0.1, 1, at(0, 0, 0.1), {Vector3d(1, 0, 0), Vector3d(0, 10, 0)}, 1000);
    scene.start({.friction = 0.5});
    const double before = scene.energy();
    double most = 0;
    for (int k = 0; k < 60000; ++k) {
        scene.tick();
        most = std::max(most, scene.energy() + scene.solver->statistics().elastic_energy);
    }
    EXPECT_LT(most, before + 1e-3 * kStandardGravity * 0.1);
    EXPECT_GT(ball.motion().pose.position.x(), 0.5);
    EXPECT_NEAR(ball.motion().pose.position.z(), 0.1, 2e-3);
}

TEST(ContactSolver, FrictionTurnsASlidingBallIntoARollingOne) {
    RigidScene scene;
    scene.add_ground();
    const RigidBody& ball =
        scene.add_ball(0.1, 1, at(0, 0, 0.1 - 1e-4), {Vector3d(1, 0, 0), Vector3d::Zero()}, 20000);
    scene.start({.friction = 0.3});
    // by μ g t = 2/7 v
    scene.run(1.2 * 2 / 7.0 / (0.3 * kStandardGravity));
    const Twist& v = ball.motion().velocity;
    EXPECT_NEAR(v.linear.x(), 5 / 7.0, 0.02);
    EXPECT_NEAR(v.linear.x(), 0.1 * v.angular.y(), 0.02);
}

TEST(ContactSolver, AHeavyBoxRestsOnALightOne) {
    RigidScene scene;
    scene.add_ground();
    scene.add_box(kHalf, 1, at(0, 0, 0.1));
    scene.add_box(kHalf, 100, at(0, 0, 0.3));
    scene.start({.stiffness = 1e5, .friction = 0.5});
    scene.run(4);
    Range z;
    for (int k = 0; k < 2000; ++k) {
        scene.tick();
        z.add(scene.bodies[2]->motion().pose.position.z());
    }
    EXPECT_NEAR(z.low, 0.3 - (201 * kStandardGravity) / 1e6, 1e-5);
    EXPECT_LT(z.width(), 1e-6);
    EXPECT_LT(scene.kinetic_energy(), 1e-8);
}

TEST(ContactSolver, VeryStiffContactIsQuiet) {
    for (const double stiffness : {1e8, 1e12}) {
        RigidScene scene;
        scene.add_ground();
        scene.add_box(kHalf, 1, at(0, 0, 0.101), {Vector3d(0, 0, -3), Vector3d::Zero()});
        scene.start({.stiffness = stiffness, .friction = 0.5});
        const double before = scene.energy();
        double most = 0;
        for (int k = 0; k < 4000; ++k) {
            scene.tick();
            most = std::max(most, scene.energy());
        }
        EXPECT_LT(most, before * (1 + 1e-3)) << stiffness;
        // depths of statics are below the rounding of positions: it falls for a step now and then
        EXPECT_LT(scene.kinetic_energy(), 0.01 * 0.5 * std::pow(kStandardGravity * scene.dt, 2))
            << stiffness;
        EXPECT_NEAR(scene.bodies[1]->motion().pose.position.z(), 0.1, 1e-5) << stiffness;
    }
}

TEST(ContactSolver, AScriptedBodyCarriesABoxAlong) {
    RigidScene scene;
    scene.add_ground();
    const RigidBody& box = scene.add_box(kHalf, 1, at(0, 0, 0.0999));
    scene.start({.friction = 0.4});
    RigidBody& belt = *scene.bodies[0];
    for (int k = 1; k <= 1000; ++k) {
        belt.drive_to(at(0.5e-3 * k, 0, 0));
        scene.tick();
    }
    EXPECT_NEAR(box.motion().velocity.linear.x(), 0.5, 1e-3);
    // one step behind, and what it took to get going, v²/(2 μ g)
    EXPECT_NEAR(box.motion().pose.position.x(), 0.5 - 0.25 / (2 * 0.4 * kStandardGravity), 2e-3);
}

/// Twelve balls in a heap, all in contact with several others.
RigidScene heap() {
    RigidScene scene;
    scene.add_ground();
    for (int i = 0; i < 12; ++i)
        scene.add_ball(0.1, 1 + i % 3, at(0.11 * (i % 2), 0.12 * (i / 2 % 2), 0.1 + 0.15 * (i / 4)),
                       {}, 500);
    return scene;
}

TEST(ContactSolver, IsTheSameForEveryNumberOfThreads) {
    std::vector<Vector3d> first;
    for (const int threads : {1, 2, 3}) {
        set_num_threads(threads);
        RigidScene scene = heap();
        scene.start({.friction = 0.4});
        int most = 0;
        for (int k = 0; k < 200; ++k) {
            scene.tick();
            most = std::max(most, scene.solver->statistics().num_contacts);
        }
        EXPECT_GT(most, 200);  // else it is done by one
        std::vector<Vector3d> places;
        for (const auto& body : scene.bodies) places.push_back(body->motion().pose.position);
        if (threads == 1) first = places;
        for (std::size_t i = 0; i < places.size(); ++i) EXPECT_EQ(places[i], first[i]);
    }
    set_num_threads(0);
}

TEST(ContactSolver, AllocatesNothing) {
    set_num_threads(1);
    RigidScene scene = heap();
    scene.start({.friction = 0.4});
    int most = 0;
    AllocationGuard guard;
    for (int k = 0; k < 20; ++k) {
        scene.tick();
        most = std::max(most, scene.solver->statistics().num_contacts);
    }
    const auto allocations = guard.count();
    set_num_threads(0);
    EXPECT_EQ(allocations, 0u);
    EXPECT_GT(most, 200);
}

TEST(ContactSolver, SaysWhenThereAreTooManyAndStaysSound) {
    RigidScene scene = heap();
    scene.start({.max_pairs = 3, .max_contacts = 16});
    scene.tick();
    EXPECT_EQ(scene.last, StepStatus::CapacityExceeded);
    EXPECT_LE(scene.solver->statistics().num_pairs, 3);
    EXPECT_LE(scene.solver->statistics().num_contacts, 16);
    scene.run(0.5);
    for (const auto& body : scene.bodies) EXPECT_TRUE(is_finite(body->motion()));
}

TEST(ContactSolver, TimeStepsThatAreNoneAreIgnored) {
    RigidScene scene;
    scene.add_ground();
    scene.add_box(kHalf, 1, at(0, 0, 0.09));
    scene.start();
    for (const double dt : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity(), 1e-300}) {
        EXPECT_EQ(scene.solver->act(dt), StepStatus::InputIgnored);
        EXPECT_TRUE(scene.solver->contacts().empty());
    }
    EXPECT_EQ(scene.solver->act(1e-3), StepStatus::Ok);
    EXPECT_FALSE(scene.solver->contacts().empty());
}

TEST(ContactSolver, SurvivesBodiesBeyondAllNumbers) {
    RigidScene scene;
    scene.add_ground();
    scene.add_box(kHalf, 1, at(0, 0, -1e200));
    scene.add_box(kHalf, 1, at(0, 0, 0.0999), {Vector3d(0, 0, -1e150), Vector3d(1e160, 0, 0)});
    scene.add_box(kHalf, 1, at(1, 0, 0.0999));
    scene.start({.friction = 0.5});
    for (int k = 0; k < 10; ++k) scene.tick();
    for (const auto& body : scene.bodies) EXPECT_TRUE(is_finite(body->motion()));
}

TEST(ContactSolver, ForgetsFrictionAnchors) {
    RigidScene scene;
    scene.gravity += Vector3d(1, 0, 0);
    scene.add_ground();
    RigidBody& box = scene.add_box(kHalf, 1, at(0, 0, 0.0999));
    scene.start({.friction = 0.5});
    scene.run(1);
    const auto side_force = [&] {
        Vector3d sum = Vector3d::Zero();
        for (const ContactSolver::Contact& c : scene.solver->contacts()) sum += c.force;
        return sum.x();
    };
    EXPECT_NEAR(side_force(), -1, 1e-3);
    // taken elsewhere: the springs would pull it back
    std::vector<double> state(static_cast<std::size_t>(box.state_size()));
    box.save_state(state);
    state[0] += 0.5;
    ASSERT_TRUE(box.restore_state(state));
    scene.solver->forget();
    scene.tick();
    EXPECT_LT(std::abs(side_force()), 1.5);
    scene.run(0.5);
    EXPECT_NEAR(box.motion().pose.position.x(), 0.5, 1e-3);
}

TEST(ContactSolver, SaysWhatBodiesAndOptionsItCannotTake) {
    RigidBody ball(RigidShape::sphere(0.1), test::box_surface());
    const PointTree tree(test::sphere_shell(100, 2));
    const auto make = [](std::vector<ContactBody> bodies, const ContactSolverOptions& o = {}) {
        return input_error([&] { ContactSolver(std::move(bodies), o); });
    };
    EXPECT_EQ(make({}), "contact needs at least one body");
    EXPECT_EQ(make({{nullptr, tree, {}, {}}}),
              "contact body 0 = no body (expected a rigid or a reduced body)");
    EXPECT_EQ(make({{&ball, {}, {}, {}}}),
              "contact body 0 has neither points nor a field; build one of them");
    EXPECT_EQ(make({{&ball, tree, {}, {}}, {&ball, {}, sphere_field(1), {}}}),
              "contact body 1 is the same as body 0; give each body once, with points and field");
    const std::vector<ContactBody> good = {{&ball, tree, {}, {}}};
    EXPECT_EQ(make(good, {.stiffness = -1}),
              "contact.stiffness = -1 (expected 0 < value < 1e15, in newtons per metre)");
    EXPECT_NE(make(good, {.damping_steps = -1}).find("contact.damping_steps"), std::string::npos);
    EXPECT_NE(make(good, {.max_iterations = 0}).find("contact.max_iterations"), std::string::npos);
    EXPECT_NE(make(good, {.max_pairs = 0}).find("contact.max_pairs"), std::string::npos);
    EXPECT_NE(make(good, {.max_contacts = 1}).find("contact.max_contacts"), std::string::npos);
}

}  // namespace
}  // namespace pliant
