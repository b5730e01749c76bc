#include "pliant/contact/contact_pair.h"

#include <gtest/gtest.h>

#include <limits>

#include "geometry/simple_surfaces.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "pliant/field/analytic_field.h"
#include "reduction/body_samples.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using test::input_error;
using test::kTick;

constexpr double kRadius = 0.1;

/// Points on the faces of the bar of model_samples.h, about `spacing` apart, on one level.
Pointshell bar_shell(double spacing) {
    const Vector3d sizes(0.8, 0.2, 0.2);
    Pointshell shell;
    shell.spacing = spacing;
    for (int axis = 0; axis < 3; ++axis)
        for (const int side : {0, 1}) {
            const int a = (axis + 1) % 3, b = (axis + 2) % 3;
            const int na = static_cast<int>(sizes[a] / spacing),
                      nb = static_cast<int>(sizes[b] / spacing);
            for (int i = 0; i < na; ++i)
                for (int j = 0; j < nb; ++j) {
                    Vector3d p;
                    p[axis] = side * sizes[axis];
                    p[a] = (i + 0.5) * sizes[a] / na;
                    p[b] = (j + 0.5) * sizes[b] / nb;
                    shell.points.push_back(p.cast<float>());
                    shell.normals.push_back(
                        ((side == 0 ? 1 : -1) * Vector3d::Unit(axis)).cast<float>());
                }
        }
    shell.level_start = {0, shell.num_points()};
    return shell;
}

PointTree bar_tree(const ReducedModel& model) {
    const Pointshell shell = bar_shell(0.02);
    std::vector<Vector3d> points;
    for (const Eigen::Vector3f& p : shell.points) points.push_back(p.cast<double>());
    return {shell, material_points(model, points, true)};
}

Pose above(double gap) { return {Vector3d(0.7, 0.1, 0.2 + kRadius + gap), Quaternion::Identity()}; }

RigidBodyOptions placed(const Pose& pose) {
    RigidBodyOptions options;
    options.pose = pose;
    return options;
}

/// A bar held at one end and a ball above its free end that is driven.
struct Press {
    explicit Press(const ContactPairOptions& options = {},
                   const ReducedModel& model = test::bar_model())
        : bar(model, {.damping = {.mass = 6, .stiffness = 0.005}}),
          ball(RigidShape::sphere(kRadius), test::box_surface(), placed(above(0.01))),
          pair({&bar, bar_tree(model)}, {&ball, sphere_field(kRadius), {}}, options) {}
    void tick(double gap) {
        ball.drive_to(above(gap));
        last = pair.act(kTick);
        ball.step(kTick);
        bar.step(kTick);
    }
    /// Down to `depth` at 0.1 m/s, then still.
    void press(double depth, double seconds) {
        double gap = 0.01;
        for (int k = 0; k < static_cast<int>(seconds / kTick); ++k) {
            gap = std::max(gap - 1e-4, -depth);
            tick(gap);
        }
    }
    ReducedBody bar;
    RigidBody ball;
    ContactPair pair;
    StepStatus last = StepStatus::Ok;
};

ContactPairOptions stiff(double stiffness) {
    ContactPairOptions options;
    options.loads.stiffness = stiffness;
    return options;
}

TEST(ContactPair, NothingHappensApart) {
    Press scene;
    scene.press(-0.005, 0.05);
    EXPECT_EQ(scene.last, StepStatus::Ok);
    EXPECT_EQ(scene.pair.loads().num_contacts, 0);
    EXPECT_TRUE(scene.bar.state().q.isZero(0));
    EXPECT_TRUE(scene.ball.last_load().force.isZero(0));
}

TEST(ContactPair, APressedBodyComesToRestWhereItsForceBalancesTheContact) {
    // places of points are single precision: their last bit of 3e-8 m, times the stiffness, is what
    // forces can be in balance to
    Press scene(stiff(1000));
    scene.press(0.03, 8);
    EXPECT_LT(scene.bar.state().v.norm(), 1e-6);
    const ContactLoads& loads = scene.pair.loads();
    ASSERT_GT(loads.num_contacts, 0);
    // elastic force and contact are in balance
    const auto force = scene.bar.model().make_force();
    const auto ws = force->make_workspace();
    VectorXd R(scene.bar.model().rank());
    force->force(scene.bar.state().q, R, *ws);
    EXPECT_LT((R - loads.shell_load).norm(), 1e-5 * R.norm());
    // what the ball feels is what presses the bar
    EXPECT_TRUE(scene.ball.last_load().force.isApprox(-loads.on_shell.force, 1e-6));
    EXPECT_GT(scene.ball.last_load().force.z(), 0);
    // the surface gave way by the depth, but for the penalty's own
    const double sunk = 0.2 - scene.bar.position(test::tip()).z();
    EXPECT_NEAR(sunk, 0.03 * 1.2, 0.015);
    EXPECT_LT(loads.deepest, 0.005);
}

/// Largest change of the force on the ball in the last half second.
double unrest(Press& scene) {
    double low = 1e300, high = -1e300;
    for (int k = 0; k < 500; ++k) {
        scene.tick(-0.03);
        const double force = scene.ball.last_load().force.z();
        low = std::min(low, force);
        high = std::max(high, force);
    }
    return high - low;
}

TEST(ContactPair, TheDefaultIsQuietWhereExplicitExchangeIsNot) {
    test::BarOptions foam;
    foam.materials = {isotropic(1e5, 0.3, 10)};
    const ReducedModel light = test::bar_model(foam);
    const ContactPairOptions options = stiff(2e4);
    ContactPairOptions published = options;
    published.exchange = ContactExchange::Explicit;
    Press quiet(options, light), loud(published, light);
    quiet.press(0.03, 5);
    loud.press(0.03, 5);
    EXPECT_LT(unrest(quiet), 0.01);  // of about 4 N; depths are rounded to 2⁻²⁴ m
    EXPECT_GT(unrest(loud), 1);
    EXPECT_TRUE(loud.bar.state().q.allFinite());
}

TEST(ContactPair, FrictionHoldsTheSurfaceThatABallDrags) {
    ContactPairOptions options = stiff(3000);
    options.loads.friction = 0.5;
    Press rough(options), smooth(stiff(3000));
    for (Press* scene : {&rough, &smooth}) {
        scene->press(0.03, 2);
        for (int k = 0; k < 1000; ++k) {
            Pose pose = above(-0.03);
            pose.position.y() += 5e-6 * k;
            scene->ball.drive_to(pose);
            scene->pair.act(kTick);
            scene->ball.step(kTick);
            scene->bar.step(kTick);
        }
    }
    EXPECT_GT(rough.bar.position(test::tip()).y(), smooth.bar.position(test::tip()).y() + 1e-3);
    const Vector3d force = rough.pair.loads().on_shell.force;
    EXPECT_LE(std::abs(force.y()), 0.5 * std::abs(force.z()) * 1.2);
    EXPECT_GT(rough.pair.loads().num_sticking + rough.pair.loads().num_sliding, 0);
}

TEST(ContactPair, ALookGivesBodiesNothingAndKnowsNoFriction) {
    ContactPairOptions options = stiff(3000);
    options.loads.friction = 0.5;
    Press looked(options), same(options);
    const auto drag = [](Press& scene, int k) {
        Pose pose = above(-0.03);
        pose.position.y() += 5e-5 * k;
        scene.ball.drive_to(pose);
        scene.ball.step(kTick);
    };
    for (Press* scene : {&looked, &same}) {
        scene->press(0.03, 1);
        drag(*scene, 20);
        scene->pair.act(kTick);
    }
    ASSERT_GT(std::abs(same.pair.loads().on_shell.force.y()), 0.1);
    // the same contact, pressed alone
    ASSERT_EQ(looked.pair.look(), StepStatus::Ok);
    EXPECT_EQ(looked.pair.loads().num_contacts, same.pair.loads().num_contacts);
    EXPECT_EQ(looked.pair.loads().deepest, same.pair.loads().deepest);
    EXPECT_NEAR(looked.pair.loads().on_shell.force.z(), same.pair.loads().on_shell.force.z(),
                0.05 * std::abs(same.pair.loads().on_shell.force.z()));
    EXPECT_LT(std::abs(looked.pair.loads().on_shell.force.y()),
              0.5 * std::abs(same.pair.loads().on_shell.force.y()));
    // the step is that of the loads before
    looked.bar.step(kTick);
    same.bar.step(kTick);
    EXPECT_EQ(looked.bar.state().q, same.bar.state().q);
    EXPECT_EQ(looked.ball.last_load().force, same.ball.last_load().force);
}

TEST(ContactPair, AllocatesNothing) {
    set_num_threads(1);
    Press scene(stiff(3000));
    scene.press(0.03, 2);
    AllocationGuard guard;
    for (int k = 0; k < 10; ++k) scene.tick(-0.03);
    const auto allocations = guard.count();
    set_num_threads(0);
    EXPECT_EQ(allocations, 0u);
    EXPECT_GT(scene.pair.loads().num_contacts, 0);
}

TEST(ContactPair, TimeStepsThatAreNoneAreIgnored) {
    Press scene(stiff(3000));
    EXPECT_EQ(scene.pair.act(std::numeric_limits<double>::quiet_NaN()), StepStatus::InputIgnored);
    EXPECT_EQ(scene.pair.act(0), StepStatus::InputIgnored);
}

TEST(ContactPair, StiffnessAndFrictionMayBeChangedWhileItRuns) {
    Press scene(stiff(3000));
    scene.pair.set_stiffness(500);
    scene.pair.set_friction(0.4);
    EXPECT_EQ(scene.pair.forces().options().stiffness, 500);
    EXPECT_EQ(scene.pair.forces().options().friction, 0.4);
    // kept in range; what is no number changes nothing
    scene.pair.set_friction(-1);
    scene.pair.set_stiffness(std::numeric_limits<double>::quiet_NaN());
    EXPECT_EQ(scene.pair.forces().options().friction, 0);
    EXPECT_EQ(scene.pair.forces().options().stiffness, 500);
    scene.pair.set_stiffness(-3);
    EXPECT_GT(scene.pair.forces().options().stiffness, 0);
}

TEST(ContactPair, SaysWhatBodiesItCannotTake) {
    const ReducedModel model = test::bar_model(), free = test::bar_model({.is_free = true});
    ReducedBody bar(model), flying(free);
    RigidBody ball(RigidShape::sphere(kRadius), test::box_surface());
    const PointTree tree = bar_tree(model), rigid_tree(bar_shell(0.05));
    const FieldBody solid{&ball, sphere_field(kRadius), {}};
    EXPECT_EQ(input_error([&] {
                  ContactPair({&bar, rigid_tree}, solid);
              }),
              "point-tree = 0 vectors (expected 10, as its body; build it with that model)");
    EXPECT_EQ(input_error([&] {
                  ContactPair({&flying, tree}, solid);
              }),
              "shell body of a contact is a reduced body that flies freely: hold it somewhere "
              "(fixed)");
    EXPECT_EQ(input_error([&] {
                  ContactPair({&ball, rigid_tree}, {&ball, nullptr, {}});
              }),
              "field body of a contact has no field; build one");
    EXPECT_EQ(input_error([&] {
                  ContactPair({&ball, rigid_tree}, {&bar, sphere_field(1), {}});
              }),
              "field body of a contact deforms and needs a deformed field");
    EXPECT_EQ(input_error([&] {
                  ContactPair({nullptr, rigid_tree}, solid);
              }),
              "shell body of a contact = no body (expected a rigid or a reduced body)");
}

}  // namespace
}  // namespace pliant
