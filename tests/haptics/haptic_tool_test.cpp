#include "pliant/haptics/haptic_tool.h"
#include "core/numbers.h"
#include "haptics/loop_step.h"

#include <gtest/gtest.h>

#include <limits>

#include "haptics/loop_samples.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::HapticLoop;
using test::input_error;
using test::LoopOptions;
using test::LoopScene;

/// Says what it is told and remembers what it was told.
class PuppetDevice final : public HapticDevice {
public:
    PuppetDevice() { capabilities_.damping = 0; }
    [[nodiscard]] const DeviceCapabilities& capabilities() const noexcept override {
        return capabilities_;
    }
    [[nodiscard]] DeviceState read(double now) noexcept override {
        state.time = now;
        return state;
    }
    void write(const DeviceCommand& command) noexcept override { written = command; }

    DeviceState state;
    DeviceCommand written;

private:
    DeviceCapabilities capabilities_;
};

/// A box above a plane in the hand of a puppet.
struct PuppetShow {
    explicit PuppetShow(const HapticToolOptions& options = {}, double gap = 0.002)
        : tool(RigidShape::sphere(0.01), test::box_surface(), placed(gap)),
          floor(RigidShape::sphere(0.01), test::box_surface()),
          pair({&tool, PointTree(test::box_shell(Vector3d::Constant(0.02), 0.004))},
               {&floor, plane_set_field({FieldPlane{}}), {}}),
          gains(derive_gains(device.capabilities(),
                             {.cell = 1e-3, .gyration = 0.02, .bounding = 0.035})),
          haptics(device, tool, {&pair}, gains, options) {}
    static RigidBodyOptions placed(double gap) {
        RigidBodyOptions options;
        options.pose.position.z() = 0.02 + gap;
        return options;
    }
    const HapticTick& tick() {
        now += kLoopStep;
        static_cast<void>(pair.act(kLoopStep));
        const HapticTick& t = haptics.tick(now, kLoopStep);
        static_cast<void>(tool.step(kLoopStep));
        return t;
    }
    /// Handle moves by `shift` at 50 mm/s, then rests.
    const HapticTick& move(const Vector3d& shift, double rest = 0.3) {
        if (now == 0) tick();  // takes the handle as it is
        const int n = std::max(1, static_cast<int>(shift.norm() / (0.05 * kLoopStep)));
        for (int k = 0; k < n; ++k) {
            device.state.pose.position += shift / n;
            tick();
        }
        return wait(rest);
    }
    const HapticTick& wait(double seconds) {
        for (int k = 0; k < static_cast<int>(seconds / kLoopStep + 0.5); ++k) tick();
        return haptics.last();
    }
    PuppetDevice device;
    RigidBody tool, floor;
    ContactPair pair;
    CouplingGains gains;
    HapticTool haptics;
    double now = 0;
};

TEST(HapticTool, BeginsWithTheManipulandumAtTheToolWhereverTheHandleIs) {
    PuppetShow show;
    show.device.state.pose = {Vector3d(0.03, -0.02, 0.01), rotation_from_vector({0.3, 0, 1})};
    const HapticTick& t = show.wait(0.2);
    EXPECT_LT((t.manipulandum.position - t.tool.position).norm(), 1e-12);
    EXPECT_LT((t.tool.position - Vector3d(0, 0, 0.022)).norm(), 1e-12);
    EXPECT_LT(rotation_vector(t.tool.rotation).norm(), 1e-12);
    EXPECT_TRUE(show.device.written.force.isZero(1e-9));
}

TEST(HapticTool, FollowsInFreeSpaceWithAlmostNoForce) {
    PuppetShow show;
    const HapticTick& t = show.move({0.01, 0.005, 0.02});
    EXPECT_LT((t.tool.position - Vector3d(0.01, 0.005, 0.042)).norm(), 1e-7);
    EXPECT_LT((show.tool.motion().pose.position - t.tool.position).norm(), 1e-12);
    EXPECT_LT(show.device.written.force.norm(), 1e-4);
    EXPECT_EQ(t.num_contacts, 0);
    EXPECT_EQ(t.status, StepStatus::Ok);
    EXPECT_STREQ(show.haptics.notice(), "");
}

TEST(HapticTool, FarFromContactItFollowsFastHandsAndArrivesSlowly) {
    PuppetShow show({}, 0.05);
    show.tick();
    double lag = 0, depth = 0;
    for (int k = 0; k < 200; ++k) {
        show.device.state.pose.position.z() -= 4e-4;  // 0.4 m/s, half a step limit of contact
        const HapticTick& t = show.tick();
        if (t.tool.position.z() > 0.03)
            lag = std::max(lag, (t.tool.position - t.manipulandum.position).norm());
        depth = std::max(depth, t.depth);
    }
    EXPECT_LT(lag, 1e-3);
    EXPECT_GT(depth, 0);
    EXPECT_LT(depth, show.gains.max_depth);
}

TEST(HapticTool, ShowsTheSpringsWhileTheToolStaysOut) {
    PuppetShow show;
    const HapticTick& t = show.move({0, 0, -0.007}, 0.6);  // 5 mm beyond the plane
    EXPECT_GT(t.num_contacts, 0);
    EXPECT_LT(t.depth, t.max_depth);
    EXPECT_EQ(t.max_depth, show.gains.max_depth);
    EXPECT_NEAR(t.command.force.z(), show.gains.stiffness * 0.005, 0.03);
    EXPECT_LT(t.command.force.head<2>().norm(), 1e-6);
    EXPECT_TRUE(show.device.written.force.isApprox(t.command.force, 0));
    EXPECT_NEAR(t.stored_energy, 0.5 * show.gains.stiffness * 2.5e-5, 2e-4);
    // contact and springs are in balance
    const Wrench springs = show.haptics.coupling().coupling_load(t.manipulandum);
    EXPECT_LT((springs.force + t.contact.force).norm(), 1e-3);
}

/// Net load on a tool that came to rest, over its parts.
double imbalance(HapticLoop& loop, const Vector3d& grasp) {
    const HapticTick& t = loop.haptics->last();
    const Pose hand = {t.manipulandum.to_world(grasp), t.manipulandum.rotation};
    const Wrench springs = loop.haptics->coupling().coupling_load(hand);
    const double force = (springs.force + t.contact.force).norm() / t.contact.force.norm();
    const double torque = (springs.torque + t.contact.torque).norm() / t.contact.torque.norm();
    return std::max(force, torque);
}

TEST(HapticTool, LoadsBalanceAboutAnyGraspPointForShellsAndFields) {
    for (const LoopScene scene : {LoopScene::BoxOnPlane, LoopScene::SphereOnBox}) {
        LoopOptions options;
        options.scene = scene;
        options.hand = HandModel::firm();
        options.tool.grasp = Vector3d(0.006, -0.004, -0.008);
        HapticLoop loop(options);
        for (int k = 0; k < 3000; ++k) {
            const double s = std::min(1.0, k / 600.0);
            loop.step({Vector3d(0, 0, -0.01 * s), rotation_from_vector({0.1 * s, 0.05 * s, 0})});
        }
        const HapticTick& t = loop.haptics->last();
        ASSERT_GT(t.num_contacts, 0);
        ASSERT_GT(t.contact.force.norm(), 1);
        // off its centre, the tool turns under the contact
        EXPECT_GT(t.contact.torque.norm(), 1e-3) << static_cast<int>(scene);
        // a hand that settles between encoder steps keeps it moving a little
        EXPECT_LT(imbalance(loop, options.tool.grasp), 1e-2) << static_cast<int>(scene);
        // contact acts about the grasp point: the same as about the frame, moved
        const Wrench on_frame = scene == LoopScene::BoxOnPlane ? loop.pair->loads().on_shell
                                                               : loop.pair->loads().on_field;
        const Vector3d shift = t.tool.rotation * options.tool.grasp;
        EXPECT_LT((t.contact.torque - on_frame.about(shift).torque).norm(), 1e-4);
    }
}

TEST(HapticTool, TorquesAreScaledByTheWorkspaceAndForcesAreNot) {
    HapticToolOptions options;
    options.workspace.scale = 0.5;
    options.injects_damping = false;
    PuppetShow show(options);
    // 3.5 mm of the handle are 7 mm of the tool; flat on the plane, it cannot turn
    show.wait(0.6);
    show.move({0, 0, -0.0035}, 0.1);
    show.device.state.pose.rotation = rotation_from_vector({0, 0.02, 0});
    const HapticTick& t = show.wait(0.3);
    EXPECT_NEAR(t.coupling.force.z(), 3, 0.1);
    EXPECT_GT(t.coupling.torque.norm(), 1e-4);
    EXPECT_TRUE(t.command.torque.isApprox(0.5 * t.coupling.torque, 1e-9));
    EXPECT_TRUE(t.command.force.isApprox(t.coupling.force, 1e-9));
}

TEST(HapticTool, WithoutFeedbackTheToolIsHeldOutAndTheHandFeelsNothing) {
    HapticToolOptions options;
    options.shows_force = false;
    PuppetShow show(options);
    double deepest = 0, strongest = 0;
    for (int k = 0; k < 1500; ++k) {
        if (k < 1000) show.device.state.pose.position.z() -= 2e-4;  // 20 cm below
        const HapticTick& t = show.tick();
        deepest = std::max(deepest, t.depth);
        strongest = std::max(strongest, show.device.written.force.norm());
    }
    EXPECT_GT(deepest, 0);
    EXPECT_LT(deepest, show.gains.max_depth);
    EXPECT_EQ(strongest, 0);
    EXPECT_NEAR(show.haptics.last().coupling.force.z(), 8.5, 1e-9);
    EXPECT_GT(show.haptics.last().tool.position.z(), 0.02 - show.gains.max_depth);
    // comes up from zero when switched on, and goes when switched off, without a jump
    std::vector<Vector3d> forces;
    const auto record = [&](bool is_on) {
        show.haptics.show_force(is_on);
        for (int k = 0; k < 600; ++k) forces.push_back(show.tick().command.force);
    };
    record(true);
    EXPECT_NEAR(forces.back().z(), 8.5, 1e-9);
    record(false);
    EXPECT_EQ(forces.back().norm(), 0);
    EXPECT_TRUE(find_jumps(forces, 0.2).empty());
}

TEST(HapticTool, TicksDeeperThanTheBoundAreCountedUntilReset) {
    // begins a cell deep, twice the bound
    PuppetShow show({}, -1e-3);
    const HapticTick& t = show.tick();
    EXPECT_EQ(t.violations, 1u);
    EXPECT_NEAR(t.worst_depth, 1e-3, 1e-8);
    EXPECT_EQ(t.worst_depth, t.depth);
    show.move({0, 0, 0.01});
    EXPECT_EQ(t.depth, 0);
    EXPECT_NEAR(t.worst_depth, 1e-3, 1e-8);
    const auto violations = t.violations;
    EXPECT_LT(violations, 5u);
    show.move({0, 0, -0.02});
    EXPECT_GT(t.depth, 0);
    EXPECT_EQ(t.violations, violations);
    show.haptics.reset();
    EXPECT_EQ(t.violations, 0u);
    EXPECT_EQ(t.worst_depth, 0);
}

TEST(HapticTool, DampingIsInjectedInContactOnly) {
    HapticToolOptions with, without;
    without.injects_damping = false;
    PuppetShow a(with), b(without);
    ASSERT_GT(a.gains.injection, 0);
    for (PuppetShow* show : {&a, &b}) {
        show->wait(0.6);  // ramp of safety
        show->move({0.01, 0, 0}, 0);
    }
    EXPECT_EQ(a.haptics.last().command.force, b.haptics.last().command.force);
    for (PuppetShow* show : {&a, &b}) {
        show->move({0, 0, -0.005}, 0.2);
        show->move({0.02, 0, 0}, 0);  // 50 mm/s along the plane
    }
    const Vector3d difference = a.haptics.last().command.force - b.haptics.last().command.force;
    EXPECT_LT((difference - Vector3d(-a.gains.injection * 0.05, 0, 0)).norm(), 1e-6);
}

TEST(HapticTool, DampingTakesOutWhatTheLoopMadeButNotStepsOfEncoders) {
    HapticToolOptions options;
    options.injects_damping = false;
    options.backs_off = false;
    PuppetShow show(options);
    show.wait(0.6);
    show.move({0, 0, -0.006}, 0.1);
    // in and out at up to 0.5 m/s: the sampled spring makes energy
    double most = 0;
    for (int k = 0; k < 300; ++k) {
        show.device.state.pose.position.z() += 5e-4 * std::cos(0.25 * k);
        show.tick();
        most = std::max(most, show.haptics.port().damping());
    }
    EXPECT_GT(most, 0.1);
    EXPECT_GT(show.haptics.port().taken_out(), 0);
    ASSERT_GT(show.haptics.port().deficit(), 0);
    show.wait(0.1);
    for (int k = 0; k < 100; ++k) {
        const double step = show.device.capabilities().position_step;
        if (k % 10 == 0) show.device.state.pose.position.z() += k % 20 == 0 ? step : -step;
        show.tick();
        EXPECT_GT(show.haptics.port().deficit(), 0);
        EXPECT_EQ(show.haptics.port().damping(), 0);
    }
}

TEST(HapticTool, ALostDeviceFeelsNothingAndFindsTheToolWhereItWas) {
    LoopOptions options;
    options.hand = HandModel::firm();
    HapticLoop loop(options);
    Pose target;
    for (int k = 0; k < 1500; ++k) {
        target.position.z() = -0.01 * std::min(1.0, k / 600.0);
        loop.step(target);
    }
    ASSERT_GT(loop.haptics->last().command.force.z(), 2);
    const Pose before = loop.tool->motion().pose;
    loop.device->set_connected(false);
    double last = loop.haptics->last().command.force.norm();
    for (int k = 0; k < 400; ++k) {
        const double force = loop.step().command.force.norm();
        EXPECT_LE(force, last + 1e-12);
        EXPECT_GE(force, last - 0.2);  // over 50 ms
        last = force;
        if (k > 80) {
            EXPECT_EQ(force, 0);
        }
    }
    EXPECT_NE(std::string(loop.haptics->notice()).find("does not answer"), std::string::npos);
    EXPECT_LT((loop.tool->motion().pose.position - before.position).norm(), 1e-5);

    // back, with the hand elsewhere: neither force nor tool jump
    target.position += Vector3d(0.01, 0, 0.004);
    loop.device->aim(target);
    for (int k = 0; k < 300; ++k) loop.step();
    loop.device->set_connected(true);
    std::vector<Vector3d> forces;
    Vector3d place = loop.tool->motion().pose.position;
    double farthest = 0;
    for (int k = 0; k < 1000; ++k) {
        forces.push_back(loop.step().command.force);
        farthest = std::max(farthest, (loop.tool->motion().pose.position - place).norm());
        place = loop.tool->motion().pose.position;
    }
    EXPECT_TRUE(find_jumps(forces, 0.05).empty());
    EXPECT_LT(farthest, 1e-4);
    EXPECT_LT((place - before.position).norm(), 1e-3);
    EXPECT_STREQ(loop.haptics->notice(), "");
    // and pushes again
    target.position.z() -= 0.01;
    for (int k = 0; k < 500; ++k) loop.step(target);
    EXPECT_GT(loop.haptics->last().command.force.z(), 1);
}

TEST(HapticTool, ReadingsThatAreNotFiniteMoveNothing) {
    PuppetShow show;
    show.move({0, 0, -0.005}, 0.6);
    const Pose before = show.tool.motion().pose;
    const Pose good = show.device.state.pose;
    for (const double bad : {kNan, std::numeric_limits<double>::infinity(), 1e300}) {
        show.device.state.pose.position.x() = bad;
        EXPECT_EQ(show.tick().status, StepStatus::InputIgnored);
        show.wait(0.2);
        EXPECT_TRUE(show.device.written.force.allFinite());
        EXPECT_TRUE(is_finite(show.tool.motion().pose));
        EXPECT_LT((show.tool.motion().pose.position - before.position).norm(), 1e-4);
    }
    EXPECT_EQ(show.device.written.force.norm(), 0);
    show.device.state.pose = good;
    EXPECT_LT(show.tick().command.force.norm(), 0.1);
    EXPECT_EQ(show.wait(0.6).status, StepStatus::Ok);
    EXPECT_STREQ(show.haptics.notice(), "");
}

TEST(HapticTool, AJumpOfTheHandleDoesNotThrowTheTool) {
    PuppetShow show;
    show.move({0, 0, -0.005}, 0.6);
    const Vector3d before = show.tool.motion().pose.position;
    show.device.state.pose.position += Vector3d(1, 0, -1);
    show.tick();
    EXPECT_NE(std::string(show.haptics.notice()).find("jumped"), std::string::npos);
    show.wait(1);
    EXPECT_LT((show.tool.motion().pose.position - before).norm(), 1e-3);
    EXPECT_LT(show.device.written.force.norm(), 0.1);
}

TEST(HapticTool, TimesThatAreNoTimesStopTheForce) {
    PuppetShow show;
    show.move({0, 0, -0.007}, 0.6);
    ASSERT_GT(show.device.written.force.norm(), 1);
    const Pose before = show.tool.motion().pose;
    const double times[][2] = {
        {kNan, kLoopStep}, {show.now, kNan}, {show.now, 0}, {show.now, -kLoopStep}};
    for (const auto& [now, dt] : times) {
        EXPECT_EQ(show.haptics.tick(now, dt).status, StepStatus::InputIgnored);
        EXPECT_EQ(show.device.written.force.norm(), 0);
    }
    static_cast<void>(show.tool.step(kLoopStep));
    EXPECT_EQ((show.tool.motion().pose.position - before.position).norm(), 0);
    EXPECT_EQ(show.wait(0.6).status, StepStatus::Ok);
    EXPECT_GT(show.device.written.force.norm(), 1);
}

TEST(HapticTool, WhileClutchedTheHandIsFree) {
    HapticToolOptions options;
    options.workspace.clutch_button = 1;
    PuppetShow show(options);
    show.move({0, 0, -0.007}, 0.6);
    const Pose hand = show.haptics.last().manipulandum;
    const double force = show.haptics.last().command.force.z();
    show.device.state.buttons = 2;
    const HapticTick& t = show.move({0.02, 0.01, 0.03});
    EXPECT_EQ(t.command.force.norm(), 0);
    EXPECT_LT((t.manipulandum.position - hand.position).norm(), 1e-12);
    // comes back slowly
    show.device.state.buttons = 0;
    EXPECT_LT(show.tick().command.force.norm(), 0.02);
    show.wait(0.6);
    EXPECT_LT((t.manipulandum.position - hand.position).norm(), 1e-12);
    EXPECT_NEAR(t.command.force.z(), force, 1e-3);
}

TEST(HapticTool, AToolThatWasPutElsewhereTakesTheManipulandumAlong) {
    PuppetShow show;
    show.move({0.01, 0, -0.007}, 0.6);
    show.tool.reset();
    show.haptics.reset();
    const HapticTick& t = show.wait(0.2);
    EXPECT_LT((t.tool.position - Vector3d(0, 0, 0.022)).norm(), 1e-12);
    EXPECT_LT((t.manipulandum.position - t.tool.position).norm(), 1e-12);
    // also without being told
    show.move({0.01, 0, -0.007}, 0.6);
    show.tool.reset();
    show.wait(0.2);
    EXPECT_LT((t.tool.position - Vector3d(0, 0, 0.022)).norm(), 1e-12);
    EXPECT_LT(t.command.force.norm(), 1e-9);
}

TEST(HapticTool, GainsMayChangeWhileItRuns) {
    PuppetShow show;
    show.move({0, 0, -0.007}, 0.8);
    CouplingGains softer = show.gains;
    softer.stiffness *= 0.5;
    softer.max_depth *= 2;
    softer.contact_stiffness *= 0.5;
    show.haptics.set_gains(softer);
    const HapticTick& t = show.wait(0.3);
    EXPECT_NEAR(t.command.force.z(), softer.stiffness * 0.005, 0.03);
    EXPECT_EQ(t.max_depth, softer.max_depth);
    EXPECT_EQ(show.pair.forces().options().stiffness, softer.contact_stiffness);
    CouplingGains bad = softer;
    bad.stiffness = kNan;
    show.haptics.set_gains(bad);
    EXPECT_EQ(show.haptics.gains().stiffness, softer.stiffness);
}

TEST(HapticTool, AllocatesNothing) {
    set_num_threads(1);
    PuppetShow show;
    show.move({0, 0, -0.004}, 0.1);
    show.device.state.pose.position.z() -= 2e-3;
    AllocationGuard guard;
    for (int k = 0; k < 300; ++k) show.tick();
    static_cast<void>(show.haptics.notice());
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_GT(show.haptics.last().num_contacts, 0);
    set_num_threads(0);
}

TEST(HapticTool, WhatIsNoToolIsNamed) {
    PuppetShow show;
    const auto error = [&](RigidBody& tool, const HapticToolOptions& options) {
        return input_error(
            [&] { HapticTool haptics(show.device, tool, {&show.pair}, show.gains, options); });
    };
    RigidBodyOptions heavy;
    heavy.mass = RigidMass{1, Vector3d::Zero(), Eigen::Matrix3d::Identity()};
    RigidBody with_mass(RigidShape::sphere(1), test::box_surface(), heavy);
    EXPECT_NE(error(with_mass, {}).find("with mass: leave out its density"), std::string::npos);
    RigidBodyOptions played;
    played.script = ScriptedMotion({{0.0, Pose{}}, {1.0, Pose{}}});
    RigidBody with_script(RigidShape::sphere(1), test::box_surface(), played);
    EXPECT_NE(error(with_script, {}).find("with a script"), std::string::npos);
    RigidBody stranger(RigidShape::sphere(1), test::box_surface());
    EXPECT_NE(error(stranger, {}).find("contact 0 of a haptic tool is one of other bodies"),
              std::string::npos);
    HapticToolOptions options;
    options.grasp.x() = kNan;
    EXPECT_NE(error(show.tool, options).find("grasp point"), std::string::npos);
    options = {};
    options.rate = 0;
    EXPECT_NE(error(show.tool, options).find("haptics.rate"), std::string::npos);
    options = {};
    options.workspace.scale = -1;
    EXPECT_NE(error(show.tool, options), "");
}

}  // namespace
}  // namespace pliant
