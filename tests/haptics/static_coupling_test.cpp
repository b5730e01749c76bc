#include "pliant/haptics/static_coupling.h"
#include "core/numbers.h"
#include "haptics/loop_step.h"

#include <gtest/gtest.h>

#include <random>

#include "pliant/core/allocation_guard.h"
#include "pliant/field/analytic_field.h"
#include "tests/haptics/coupling_samples.h"

namespace pliant {
namespace {

using namespace test;
using Matrix6d = Eigen::Matrix<double, 6, 6>;
using Vector6d = Eigen::Matrix<double, 6, 1>;

CouplingScene sample_scene() {
    CouplingScene scene;
    scene.cell = 2e-3;
    scene.gyration = 0.02;
    scene.bounding = 0.03;
    return scene;
}
CouplingGains sample_gains() { return derive_gains(sample_device(), sample_scene()); }

Pose moved(const Pose& pose, const Vector6d& by) {
    return {pose.position + by.head<3>(),
            (rotation_from_vector(by.tail<3>()) * pose.rotation).normalized()};
}
Vector6d stacked(const Wrench& w) {
    Vector6d v;
    v << w.force, w.torque;
    return v;
}

/// Central differences of a load by shifts and turns of a pose.
template <typename Load>
Matrix6d differences(const Load& load, const Pose& pose, double step) {
    Matrix6d m;
    for (int j = 0; j < 6; ++j) {
        const Vector6d by = step * Vector6d::Unit(j);
        m.col(j) = (load(moved(pose, by)) - load(moved(pose, -by))) / (2 * step);
    }
    return m;
}

TEST(CouplingGradient, MatchesDifferencesForBothSaturationsAndTorqueLawsUpTo180Degrees) {
    std::mt19937 random(1);
    for (const auto saturation :
         {CouplingSaturation::Exponential, CouplingSaturation::Spline, CouplingSaturation::None})
        for (const bool limits_torque : {true, false})
            for (const double stretch : {0.0, 1e-3, 0.01, 0.02, 0.2})
                for (const double angle : {0.0, 1e-5, 2e-3, 0.1, 0.2, 1.0, 2.0, 3.0, 3.1415}) {
                    CouplingOptions options;
                    options.saturation = saturation;
                    options.limits_torque = limits_torque;
                    StaticCoupling coupling(sample_gains(), options);
                    const Pose tool = {test::normal_vector(random),
                                       rotation_from_vector(test::normal_vector(random))};
                    Vector6d by;
                    by << stretch * test::normal_vector(random).normalized(),
                        angle * test::normal_vector(random).normalized();
                    const Pose hand = moved(tool, by);
                    coupling.place(tool);
                    const Matrix6d gradient = coupling.coupling_gradient(hand);
                    const Matrix6d expected = differences(
                        [&](const Pose& pose) {
                            StaticCoupling other = coupling;
                            other.place(pose);
                            return stacked(other.coupling_load(hand));
                        },
                        tool, 1e-6);
                    // of unlike units, each against its own spring; differences have about nine
                    // digits, one less where the slope of a law has its kink
                    EXPECT_LT((gradient - expected).topRows<3>().norm(), 1e-6 * 600);
                    EXPECT_LT((gradient - expected).bottomRows<3>().norm(),
                              1e-6 * sample_gains().angular_stiffness)
                        << angle;
                }
}

TEST(CouplingGradient, OfContactMatchesDifferencesForToolsOfPointsAndOfFields) {
    // a patch of points in a sphere; whatever moves, weights and contacts stay as they are
    ToolShape patch;
    patch.add_box({0.004, 0.004, 0.0005}, 0.002);
    ContactLoadOptions loads;
    loads.stiffness = 8500;
    loads.scaling = ContactScaling::None;
    loads.takes_field_gradient = true;
    PointTraversal traversal(patch.tree(), sphere_field(0.02));
    ContactForces forces(traversal, nullptr, loads);
    std::mt19937 random(6);
    const Pose shell = {test::normal_vector(random, 0.005),
                        rotation_from_vector(test::normal_vector(random))};
    const Pose field = {test::normal_vector(random, 0.002),
                        rotation_from_vector(test::normal_vector(random))};
    const auto at = [&](const Pose& s, const Pose& f) {
        static_cast<void>(traversal.update(f.inverse() * s, {}));
        static_cast<void>(forces.update(traversal, {s, f, s.position, f.position}, {}));
        return forces.loads();
    };
    const ContactLoads now = at(shell, field);
    EXPECT_EQ(now.num_contacts, traversal.tree().num_points());
    const Matrix6d by_shell =
        differences([&](const Pose& p) { return stacked(at(p, field).on_shell); }, shell, 1e-4);
    // contacts are in single precision
    EXPECT_LT((now.shell_gradient - by_shell).norm(), 1e-3 * by_shell.norm());

    // mirrored: seen from a field that turns and shifts, points and normals go the other way
    const auto mirrored = [&](const Pose& p) {
        const Quaternion back = (p.rotation * field.rotation.conjugate()).conjugate();
        const Vector3d shift = p.position - field.position;
        return Pose{back * (shell.position - field.position) + field.position - shift,
                    back * shell.rotation};
    };
    const Matrix6d by_field = differences(
        [&](const Pose& p) { return stacked(at(mirrored(p), field).on_field); }, field, 1e-4);
    EXPECT_LT((now.field_gradient - by_field).norm(), 1e-3 * by_field.norm());
    // direct: the shell stays
    loads.gradients = GradientForm::Direct;
    forces.set_options(loads);
    const ContactLoads direct = at(shell, field);
    const Matrix6d by_direct =
        differences([&](const Pose& p) { return stacked(at(shell, p).on_field); }, field, 1e-4);
    EXPECT_LT((direct.field_gradient - by_direct).norm(), 1e-3 * by_direct.norm());
}

TEST(CouplingLoad, IsLinearThenBendsToThePlateauWithoutAKink) {
    const CouplingGains gains = sample_gains();
    const double linear = gains.max_force / (2 * gains.stiffness);
    for (const auto saturation : {CouplingSaturation::Exponential, CouplingSaturation::Spline}) {
        CouplingOptions options;
        options.saturation = saturation;
        const StaticCoupling coupling(gains, options);
        const auto load = [&](double r) { return coupling.coupling_load({{r, 0, 0}}).force.x(); };
        const auto slope = [&](double r) { return -coupling.coupling_gradient({{r, 0, 0}})(0, 0); };
        EXPECT_NEAR(load(0.5 * linear), 0.5 * linear * gains.stiffness, 1e-12);
        EXPECT_NEAR(load(linear * (1 + 1e-9)), 0.5 * gains.max_force, 1e-7);
        EXPECT_NEAR(slope(linear * (1 + 1e-9)), gains.stiffness, 1e-5);
        EXPECT_NEAR(load(100 * linear), gains.max_force, 1e-12);
        double last = 0;
        for (double r = 0; r < 10 * linear; r += 0.1 * linear) {
            EXPECT_GE(load(r), last);
            EXPECT_LE(load(r), gains.max_force);
            last = load(r);
        }
    }
    CouplingOptions options;
    options.saturation = CouplingSaturation::Spline;
    EXPECT_DOUBLE_EQ(StaticCoupling(gains, options).coupling_load({{3 * linear, 0, 0}}).force.x(),
                     gains.max_force);
}

TEST(CouplingLoad, TorqueTurnsTheShorterWayAndHasTheSizeOfItsLaw) {
    CouplingGains gains = sample_gains();
    StaticCoupling coupling(gains);
    for (const double angle : {0.1, 1.0, 3.0}) {
        const Vector3d turn(0, 0, angle);
        EXPECT_GT(coupling.coupling_load({Vector3d::Zero(), rotation_from_vector(turn)}).torque.z(),
                  0);
        const Vector3d beyond(0, 0, 2 * std::numbers::pi - angle);
        EXPECT_LT(
            coupling.coupling_load({Vector3d::Zero(), rotation_from_vector(beyond)}).torque.z(), 0);
    }
    // far out: T_max = F_max ρ/2 without contact
    const Pose hand = {Vector3d::Zero(), rotation_from_vector({0, 0, 3})};
    EXPECT_NEAR(coupling.coupling_load(hand).torque.z(), gains.max_force * 0.01, 1e-3);
    // as published: 2 k_R sin(θ/2)
    CouplingOptions options;
    options.limits_torque = false;
    EXPECT_NEAR(StaticCoupling(gains, options).coupling_load(hand).torque.z(),
                2 * gains.angular_stiffness * std::sin(1.5), 1e-12);
}

TEST(CouplingRendered, IsLinearClampedAndTheGradientOfTheStoredEnergy) {
    CouplingGains gains = sample_gains();
    gains.rendered_torque = 0.05;
    StaticCoupling coupling(gains);
    std::mt19937 random(3);
    for (const double size : {0.002, 0.01, 0.05})
        for (const double angle : {0.05, 0.1, 2.0}) {
            const Pose hand = {
                size * test::normal_vector(random).normalized(),
                rotation_from_vector(angle * test::normal_vector(random).normalized())};
            const Wrench shown = coupling.rendered(hand);
            EXPECT_NEAR(shown.force.norm(), std::min(gains.stiffness * size, 8.5), 1e-9);
            EXPECT_NEAR(shown.torque.norm(), std::min(gains.angular_stiffness * angle, 0.05), 1e-9);
            // towards the tool; work of the hand against it is what is stored, also beyond the
            // clamp
            constexpr double h = 1e-6;
            for (int j = 0; j < 6; ++j) {
                const Vector6d by = h * Vector6d::Unit(j);
                const double slope = (coupling.stored_energy(moved(hand, by)) -
                                      coupling.stored_energy(moved(hand, -by))) /
                                     (2 * h);
                EXPECT_NEAR(-slope, stacked(shown)[j], 1e-6);
            }
        }
}

TEST(StaticCoupling, DampsBeforeItLimitsSteps) {
    const CouplingGains gains = sample_gains();
    StaticCoupling coupling(gains);
    ToolContact free;
    free.clearance = 1;
    // half of 1 mm is within 0.6 mm: taken whole
    ASSERT_EQ(coupling.update({{1e-3, 0, 0}}, free, kLoopStep), StepStatus::Ok);
    EXPECT_NEAR(coupling.pose().position.x(), 0.5e-3, 1e-12);
    EXPECT_FALSE(coupling.report().is_shift_limited);
    coupling.place({});
    ASSERT_EQ(coupling.update({{2e-3, 0, 0}, rotation_from_vector({0, 0.1, 0})}, free, kLoopStep),
              StepStatus::Ok);
    EXPECT_NEAR(coupling.pose().position.x(), 0.6e-3, 1e-12);
    EXPECT_NEAR(coupling.report().turn, 2 * std::numbers::pi / 1000, 1e-12);
    EXPECT_TRUE(coupling.report().is_shift_limited);
    EXPECT_TRUE(coupling.report().is_turn_limited);
    // against limit cycles
    coupling.place({});
    coupling.set_step_scale(0.25);
    coupling.set_step_scale(kNan);
    ASSERT_EQ(coupling.update({{2e-3, 0, 0}}, free, kLoopStep), StepStatus::Ok);
    EXPECT_NEAR(coupling.pose().position.x(), 0.15e-3, 1e-12);
}

TEST(StaticCoupling, StepsShrinkWithTheClearance) {
    CouplingGains gains = sample_gains();
    gains.max_depth = 1e-4;  // turns are limited by it before the speed
    for (const double clearance : {0.0, 1e-4, 1e-3, 1.0}) {
        StaticCoupling coupling(gains);
        ToolContact near;
        near.clearance = clearance;
        ASSERT_EQ(coupling.update({{0.1, 0, 0}, rotation_from_vector({0, 1, 0})}, near, kLoopStep),
                  StepStatus::Ok);
        const double half = 0.5 * gains.max_depth;
        EXPECT_NEAR(coupling.report().shift, std::min(0.6e-3, half + 0.7 * clearance), 1e-12);
        EXPECT_NEAR(coupling.report().turn,
                    std::min(2 * std::numbers::pi / 1000, (half + 0.3 * clearance) / gains.reach),
                    1e-12);
    }
}

/// One contact whose lever about z is known.
ToolContact contact_at(const Vector3d& r, const Vector3d& n, double stiffness, double depth) {
    Vector6d J;
    J << n, r.cross(n);
    ToolContact contact;
    contact.num_contacts = 1;
    contact.normals = J * J.transpose();
    contact.gradient = -stiffness * contact.normals;
    contact.load = {stiffness * depth * n, stiffness * depth * r.cross(n)};
    return contact;
}

TEST(StaticCoupling, TorqueFollowsTheLeverOfContactsWithin20Milliseconds) {
    const CouplingGains gains = sample_gains();  // levers 2 to 10 mm
    struct Case {
        double arm, lever;
    };
    for (const Case c : {Case{0.005, 0.005}, Case{0.05, 0.01}, Case{0.0, 0.002}}) {
        StaticCoupling coupling(gains);
        const ToolContact contact = contact_at({c.arm, 0, 0}, {0, 1, 0}, 0, 0);
        const Pose hand = {Vector3d::Zero(),
                           rotation_from_vector({0, 0, 3})};  // not reached so soon
        EXPECT_DOUBLE_EQ(coupling.report().lever, 0.01);
        for (int i = 0; i < 20; ++i) {
            ASSERT_EQ(coupling.update(hand, contact, kLoopStep), StepStatus::Ok);
        }
        EXPECT_NEAR(coupling.report().lever, c.lever + (0.01 - c.lever) * std::exp(-1.0), 1e-9);
        for (int i = 0; i < 400; ++i) static_cast<void>(coupling.update(hand, contact, kLoopStep));
        EXPECT_NEAR(coupling.report().lever, c.lever, 1e-8);
        EXPECT_NEAR(coupling.report().max_torque, gains.max_force * c.lever, 1e-7);
        // back to half the radius of gyration without contact
        for (int i = 0; i < 400; ++i) static_cast<void>(coupling.update(hand, {}, kLoopStep));
        EXPECT_NEAR(coupling.report().lever, 0.01, 1e-8);
    }
    // rms over contacts, also when they are weighted
    StaticCoupling coupling(gains);
    ToolContact two = contact_at({0.004, 0, 0}, {0, 1, 0}, 0, 0);
    two.normals += contact_at({0.008, 0, 0}, {0, 1, 0}, 0, 0).normals;
    two.normals *= 0.1;
    for (int i = 0; i < 400; ++i)
        static_cast<void>(
            coupling.update({Vector3d::Zero(), rotation_from_vector({0, 0, 3})}, two, kLoopStep));
    EXPECT_NEAR(coupling.report().lever, std::sqrt((16e-6 + 64e-6) / 2), 1e-8);
}

TEST(StaticCoupling, ContactDamperTakesEnergyOutAndAddsNoLoad) {
    CouplingGains gains = sample_gains();
    gains.static_damping = 0;
    CouplingOptions damped;
    damped.contact_damping = 50;
    damped.limits_steps = false;
    CouplingOptions plain = damped;
    plain.contact_damping = 0;
    // out of equilibrium: the damper slows the approach, along the normal alone
    const ToolContact contact = contact_at(Vector3d::Zero(), {0, 0, 1}, 8500, 0);
    const Pose hand = {{1e-3, 0, -1e-3}};
    StaticCoupling a(gains, damped), b(gains, plain);
    ASSERT_EQ(a.update(hand, contact, kLoopStep), StepStatus::Ok);
    ASSERT_EQ(b.update(hand, contact, kLoopStep), StepStatus::Ok);
    EXPECT_NEAR(b.pose().position.z(), -1e-3 * 600 / (600 + 8500), 1e-12);
    EXPECT_NEAR(a.pose().position.z(), -1e-3 * 600 / (600 + 8500 + 50 / kLoopStep), 1e-12);
    EXPECT_NEAR(a.pose().position.x(), b.pose().position.x(), 1e-12);
    // in equilibrium nothing moves: no load
    const double depth = 1e-3 * 600 / (600 + 8500);
    ToolContact balanced = contact_at(Vector3d::Zero(), {0, 0, 1}, 8500, depth);
    StaticCoupling c(gains, damped);
    c.place({{0, 0, -depth}});
    ASSERT_EQ(c.update({{0, 0, -1e-3}}, balanced, kLoopStep), StepStatus::Ok);
    EXPECT_NEAR(c.report().shift, 0, 1e-15);
}

TEST(StaticCoupling, DegenerateDirectionsGoStraightToTheHand) {
    // a wall that holds z; everything else is free
    CouplingGains gains = sample_gains();
    ToolContact contact = contact_at(Vector3d::Zero(), {0, 0, 1}, 1e7, 0);
    contact.load = {Vector3d(0, 0, 8.5), Vector3d::Zero()};
    CouplingOptions options;
    options.limits_steps = false;
    const Vector3d turn(0.2, -0.3, 0.4);
    const Pose hand = {{0.3, 0, -0.5}, rotation_from_vector(turn)};
    StaticCoupling svd(gains, options);
    ASSERT_EQ(svd.update(hand, contact, kLoopStep), StepStatus::Ok);
    EXPECT_EQ(svd.report().num_degenerate, 3);  // shifts along the wall, and turns about the axis
    EXPECT_NEAR(svd.pose().position.x(), 0.15, 1e-6);
    EXPECT_NEAR(svd.pose().position.z(), 0, 1e-5);
    EXPECT_LT((rotation_vector(svd.pose().rotation) - 0.5 * turn).norm(), 1e-9);
    options.solve = CouplingSolve::Truncated;
    StaticCoupling stays(gains, options);
    ASSERT_EQ(stays.update(hand, contact, kLoopStep), StepStatus::Ok);
    EXPECT_LT(stays.pose().position.norm(), 1e-5);
    EXPECT_LT(rotation_vector(stays.pose().rotation).norm(), 1e-9);
}

TEST(StaticCoupling, SpringsOfALongToolOnAHardContactAreFeltThoughTheyAreSoftBesideIt) {
    CouplingScene scene = sample_scene();
    scene.gyration = 0.23;  // a pole of 40 cm held at its end
    scene.bounding = 0.4;
    const CouplingGains gains = derive_gains(sample_device(), scene);
    StaticCoupling coupling(gains);
    const Pose hand = {{0, 0, -0.01}};
    // rests on an edge at a lever of 10 cm
    const Vector3d lever(0.1, 0, 0), up(0, 0, 1);
    for (int i = 0; i < 3000; ++i) {
        const Vector3d arm = coupling.pose().rotation * lever;
        const double depth = std::max(0.0, -(coupling.pose().position + arm).z());
        ASSERT_EQ(coupling.update(hand, contact_at(arm, up, 1e5, depth), kLoopStep),
                  StepStatus::Ok);
    }
    EXPECT_EQ(coupling.report().num_degenerate, 0);
    const Wrench felt = coupling.rendered(hand);
    const Vector3d arm = coupling.pose().rotation * lever;
    EXPECT_GT(felt.force.norm(), 0.1);
    EXPECT_LT((felt.torque - arm.cross(felt.force)).norm(), 1e-6 * felt.torque.norm());
}

TEST(StaticCoupling, StaysFiniteThroughTurnsOf400DegreesAndBack) {
    std::mt19937 random(8);
    for (const bool limits_torque : {true, false})
        for (const auto solve : {CouplingSolve::Svd, CouplingSolve::Truncated, CouplingSolve::Lu})
            for (const auto saturation :
                 {CouplingSaturation::Exponential, CouplingSaturation::Spline}) {
                CouplingOptions options;
                options.limits_torque = limits_torque;
                options.solve = solve;
                options.saturation = saturation;
                StaticCoupling coupling(sample_gains(), options);
                // something holds the tool: springs to where it is
                const Vector3d axis = test::normal_vector(random).normalized();
                for (int i = 0; i < 4000; ++i) {
                    ToolContact contact;
                    contact.num_contacts = 1;
                    contact.gradient = -1e4 * Matrix6d::Identity();
                    contact.load.force = -1e4 * coupling.pose().position;
                    contact.load.torque = -1e4 * rotation_vector(coupling.pose().rotation);
                    // passes through, and turns round at, exactly half a turn
                    const double t = i < 2000 ? i * 1e-3 : (4000 - i) * 1e-3;
                    double angle = 400.0 / 180 * std::numbers::pi * std::min(t, 1.0);
                    if (i % 7 == 0) angle = std::numbers::pi;
                    static_cast<void>(
                        coupling.update({Vector3d::Zero(), rotation_from_vector(angle * axis)},
                                        contact, kLoopStep));
                    ASSERT_TRUE(is_finite(coupling.pose()));
                    ASSERT_LT(rotation_vector(coupling.pose().rotation).norm(), 1e-3);
                }
            }
}

TEST(StaticCoupling, FollowsExactlyInFreeSpace) {
    StaticCoupling coupling(sample_gains());
    const Pose hand = {{0.02, -0.01, 0.03}, rotation_from_vector({0.3, -2.0, 1.5})};
    ToolContact free;
    free.clearance = 1;
    for (int i = 0; i < 1500; ++i)
        ASSERT_EQ(coupling.update(hand, free, kLoopStep), StepStatus::Ok);
    EXPECT_LT((coupling.pose().position - hand.position).norm(), 1e-9);
    EXPECT_LT(rotation_difference(coupling.pose().rotation, hand.rotation).norm(), 1e-9);
}

TEST(StaticCoupling, IgnoresWhatIsNotFiniteAndStaysFiniteWhateverComes) {
    StaticCoupling coupling(sample_gains());
    coupling.place({{1, 2, 3}});
    const Pose before = coupling.pose();
    const auto is_ignored = [&](const Pose& hand, const ToolContact& contact, double dt) {
        return coupling.update(hand, contact, dt) == StepStatus::InputIgnored &&
               coupling.pose().position == before.position &&
               coupling.pose().rotation.coeffs() == before.rotation.coeffs();
    };
    for (const double bad : {kNan, kInfinity, -kInfinity, 1e300}) {
        EXPECT_TRUE(is_ignored({{bad, 0, 0}}, {}, kLoopStep));
        ToolContact contact;
        contact.load.force.x() = bad;
        EXPECT_TRUE(is_ignored({}, contact, kLoopStep));
        contact = {};
        contact.load.torque.y() = bad;
        EXPECT_TRUE(is_ignored({}, contact, kLoopStep));
        contact = {};
        contact.gradient(2, 3) = bad;
        EXPECT_TRUE(is_ignored({}, contact, kLoopStep));
        contact = {};
        contact.normals(2, 3) = bad;
        EXPECT_TRUE(is_ignored({}, contact, kLoopStep));
    }
    for (const double bad : {kNan, kInfinity, -kInfinity, 0.0, -1.0})
        EXPECT_TRUE(is_ignored({}, {}, bad));
    ToolContact far;
    far.clearance = kNan;
    EXPECT_TRUE(is_ignored({}, far, kLoopStep));
    EXPECT_TRUE(is_ignored({Vector3d::Zero(), Quaternion(0, 0, 0, 0)}, {}, kLoopStep));
    EXPECT_TRUE(is_ignored({Vector3d::Zero(), Quaternion(kNan, 0, 0, 1)}, {}, kLoopStep));
    EXPECT_EQ(coupling.rendered({{kNan, 0, 0}}).force, Vector3d::Zero());
    EXPECT_EQ(coupling.coupling_load({{kNan, 0, 0}}).force, Vector3d::Zero());
    EXPECT_EQ(coupling.coupling_gradient({{kNan, 0, 0}}), Matrix6d::Zero());
    EXPECT_EQ(coupling.stored_energy({{kNan, 0, 0}}), 0);
    coupling.place({{kNan, 0, 0}});
    EXPECT_EQ(coupling.pose().position, before.position);
}

TEST(StaticCoupling, JumpsAndRandomLoadsLeaveItFiniteWithinItsStepLimits) {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> exponent(-3, 38);
    for (const auto solve : {CouplingSolve::Svd, CouplingSolve::Truncated, CouplingSolve::Lu})
        for (const auto saturation : {CouplingSaturation::Exponential, CouplingSaturation::Spline,
                                      CouplingSaturation::None}) {
            CouplingOptions options;
            options.solve = solve;
            options.saturation = saturation;
            options.contact_damping = 1;
            StaticCoupling coupling(sample_gains(), options);
            for (int i = 0; i < 500; ++i) {
                const double size = i % 2 ? 1.0 : std::pow(10, exponent(random));
                ToolContact contact;
                contact.num_contacts = i % 3;
                contact.load = {test::normal_vector(random, size),
                                test::normal_vector(random, size)};
                for (double& v : contact.gradient.reshaped())
                    v = size * test::normal_vector(random).x();
                contact.normals = contact.gradient * 1e-3;
                contact.clearance = test::normal_vector(random).x();
                const Pose last = coupling.pose();
                // metres between readings
                static_cast<void>(
                    coupling.update({test::normal_vector(random, 3),
                                     rotation_from_vector(test::normal_vector(random, 3))},
                                    contact, kLoopStep));
                ASSERT_TRUE(is_finite(coupling.pose()));
                ASSERT_LE((coupling.pose().position - last.position).norm(), 0.6e-3 * (1 + 1e-9));
                ASSERT_NEAR(coupling.pose().rotation.norm(), 1, 1e-12);
                ASSERT_TRUE(coupling.rendered({}).force.norm() <= 8.5 * (1 + 1e-12));
            }
        }
}

TEST(StaticCoupling, KeepsGainsInRangeWhileItRuns) {
    StaticCoupling coupling(sample_gains());
    CouplingGains bad = sample_gains();
    bad.stiffness = kNan;
    bad.angular_stiffness = -1;
    bad.static_damping = 7;
    bad.max_shift = 0;
    bad.largest_lever = 0;
    coupling.set_gains(bad);
    EXPECT_EQ(coupling.gains().stiffness, sample_gains().stiffness);
    EXPECT_GT(coupling.gains().angular_stiffness, 0);
    EXPECT_EQ(coupling.gains().static_damping, 0.99);
    EXPECT_GT(coupling.gains().max_shift, 0);
    EXPECT_GE(coupling.gains().largest_lever, coupling.gains().least_lever);
    ASSERT_EQ(coupling.update({{0.1, 0, 0}}, {}, kLoopStep), StepStatus::Ok);
    EXPECT_TRUE(is_finite(coupling.pose()));
}

TEST(StaticCoupling, RefusesGainsThatNoCouplingCanWorkWith) {
    const auto message = [](auto change) {
        CouplingGains gains = sample_gains();
        change(gains);
        try {
            StaticCoupling coupling(gains);
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_NE(message([](CouplingGains& g) { g.stiffness = 0; }).find("coupling.stiffness = 0"),
              std::string::npos);
    EXPECT_NE(message([](CouplingGains& g) { g.max_depth = kNan; }).find("coupling.max_depth"),
              std::string::npos);
    EXPECT_NE(message([](CouplingGains& g) { g.static_damping = 1; }).find("0.99"),
              std::string::npos);
    EXPECT_NE(message([](CouplingGains& g) { g.least_lever = 1; }).find("the largest lever"),
              std::string::npos);
    EXPECT_EQ(message([](CouplingGains&) {}), "");
}

TEST(StaticCoupling, AllocatesNothing) {
    StaticCoupling coupling(sample_gains());
    const ToolContact contact = contact_at({0.01, 0, 0}, {0, 0, 1}, 1e7, 1e-6);
    const Pose hand = {{0.3, 0.1, -0.5}, rotation_from_vector({0, 0, 2})};
    AllocationGuard guard;
    static_cast<void>(coupling.update(hand, contact, kLoopStep));
    static_cast<void>(coupling.update(hand, {}, kLoopStep));
    const double sum = coupling.rendered(hand).force.sum() + coupling.stored_energy(hand) +
                       coupling.coupling_gradient(hand).sum();
    coupling.set_gains(coupling.gains());
    const auto count = guard.count();
    EXPECT_TRUE(std::isfinite(sum));
    EXPECT_EQ(count, 0u);
}

}  // namespace
}  // namespace pliant
