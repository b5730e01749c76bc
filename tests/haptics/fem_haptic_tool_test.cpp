#include "pliant/haptics/fem_haptic_tool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/numbers.h"
#include "haptics/fem_loop_samples.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "pliant/fem/mass.h"

namespace pliant {
namespace {

using namespace test;
using Eigen::Vector3d;

/// The simulator's end alone; the hand is written into the link.
class FemToolBench {
public:
    static constexpr double kStepLength = 2e-3;

    explicit FemToolBench(const FemLoopOptions& options) : loop(options) {
        start_ = proxy(0);
        FemHandState& hand = loop.link.hand.write_slot();
        hand.stiffness = 600;
        hand.angular_stiffness = 0.3;
    }
    [[nodiscard]] Pose proxy(std::size_t i) const { return loop.proxies[i]->motion().pose; }
    /// Hand `shift` from where the tool began, then a step.
    const FemToolState& step(const Pose& shift, const Twist& velocity = {},
                             double dt = kStepLength) {
        FemHandState hand;
        hand.epoch = epoch;
        hand.time = loop.sim_time;
        hand.pose = {start_.position + shift.position, shift.rotation * start_.rotation};
        hand.velocity = velocity;
        hand.stiffness = 600;
        hand.angular_stiffness = 0.3;
        loop.link.hand.write_slot() = hand;
        loop.link.hand.publish();
        loop.simulate(dt);
        return loop.tool->last();
    }

    FemLoop loop;
    std::uint64_t epoch = 1;

private:
    Pose start_;
};

FemLoopOptions tool_sample(FemCoupling coupling) {
    FemLoopOptions options;
    options.tool.coupling = coupling;
    return options;
}

Pose shifted_by(double x, double y, double z) {
    return {Vector3d(x, y, z), Quaternion::Identity()};
}

class FemTool : public testing::TestWithParam<FemCoupling> {};
INSTANTIATE_TEST_SUITE_P(Couplings, FemTool,
                         testing::Values(FemCoupling::Kinematic, FemCoupling::Dynamic));

TEST_P(FemTool, ForceIsThatOfTheContactConstraintAboutTheGraspPoint) {
    FemLoopOptions options = tool_sample(GetParam());
    options.has_hand = true;
    options.tool.grasp = {0.01, -0.02, 0.03};
    FemToolBench bench(options);
    ASSERT_EQ(bench.loop.block->inner_steps(1e-3), 1);
    int most = 0;
    for (int k = 0; k < 300; ++k) {
        const double s = std::min(1.0, k / 200.0);
        const FemToolState& state =
            bench.step({Vector3d(0.01, -0.02, 0.03) + Vector3d(0.004 * s, 0, -0.02 * s),
                        rotation_from_vector({0, 0.1 * s, 0})},
                       {}, 1e-3);
        // with one inner step: minus the forces on the nodes, at the nodes
        Wrench sum;
        for (const FemContact& c : bench.loop.block->contacts())
            sum += {-c.force, (c.point - state.tool.position).cross(-c.force)};
        ASSERT_LT((state.contact.force - sum.force).norm(), 1e-12) << k;
        ASSERT_LT((state.contact.torque - sum.torque).norm(), 1e-13) << k;
        ASSERT_EQ(state.num_contacts, static_cast<int>(bench.loop.block->contacts().size()));
        most = std::max(most, state.num_contacts);
    }
    EXPECT_GT(most, 8);
    EXPECT_GT(bench.loop.tool->last().contact.force.z(), 1);
}

TEST_P(FemTool, ImpulseOnTheToolIsMomentumThatTheBodyGot) {
    FemLoopOptions options = tool_sample(GetParam());
    options.is_held = false;
    options.viscosity = 0;
    options.modulus = 2e4;  // several inner steps
    FemToolBench bench(options);
    ASSERT_GT(bench.loop.block->inner_steps(FemToolBench::kStepLength), 1);
    const Eigen::VectorXd mass = lumped_mass(bench.loop.block->model());
    Vector3d impulse = Vector3d::Zero();
    int last_contact = 0;
    for (int k = 0; k < 250; ++k) {
        // a push, then the hand stops and the block flies off
        const double s = std::min(1.0, k / 100.0);
        const FemToolState& state = bench.step(shifted_by(0.002 * s, 0, -0.01 * s));
        impulse += FemToolBench::kStepLength * state.contact.force;
        if (state.num_contacts > 0) last_contact = k;
    }
    Vector3d momentum = Vector3d::Zero();
    const Eigen::VectorXd& v = bench.loop.block->state().v;
    for (Eigen::Index i = 0; i < v.size(); ++i) momentum[i % 3] += mass[i] * v[i];
    ASSERT_LT(last_contact, 245);
    EXPECT_LT(momentum.z(), -0.02);
    EXPECT_LT((momentum + impulse).norm(), 1e-12 * 250);
}

TEST_P(FemTool, ProxiesOfAHandMoveAsOnePiece) {
    FemLoopOptions options = tool_sample(GetParam());
    options.has_hand = true;
    FemToolBench bench(options);
    std::vector<Pose> offsets;
    for (std::size_t i = 0; i < bench.loop.proxies.size(); ++i)
        offsets.push_back(bench.proxy(0).inverse() * bench.proxy(i));
    for (int k = 0; k < 200; ++k) {
        const double s = k / 200.0;
        bench.step({{0.02 * s, 0, 0.05 * s}, rotation_from_vector({0.5 * s, 0.2 * s, 1.5 * s})});
    }
    for (std::size_t i = 0; i < offsets.size(); ++i) {
        const Pose expected = bench.proxy(0) * offsets[i];
        EXPECT_LT((bench.proxy(i).position - expected.position).norm(), 1e-14);
        EXPECT_LT(rotation_difference(bench.proxy(i).rotation, expected.rotation).norm(), 1e-13);
    }
    EXPECT_GT(rotation_vector(bench.proxy(0).rotation).norm(), 1.4);
}

TEST_P(FemTool, AHandThatMovesEvenlyIsWhereTheToolIsWhenItIsShown) {
    FemLoopOptions options = tool_sample(GetParam());
    FemToolBench bench(options);
    const Twist velocity{{0.05, 0.02, 0.04}, {0, 0, 0.5}};
    const Pose start = bench.proxy(0);
    double now = 0;
    for (int k = 0; k < 150; ++k) {
        now = bench.loop.sim_time;
        bench.step(advance(Pose{}, velocity, now), velocity);
    }
    // the state at the end of the step is shown one step later
    const Pose hand = advance(Pose{}, velocity, now + 2 * FemToolBench::kStepLength);
    EXPECT_LT((bench.loop.tool->last().tool.position - start.position - hand.position).norm(),
              1e-6);
    EXPECT_LT(rotation_difference(bench.loop.tool->last().tool.rotation, hand.rotation).norm(),
              1e-5);
}

TEST(FemTool, SpringOfADynamicToolAtRestIsTheContactForce) {
    FemLoopOptions options = tool_sample(FemCoupling::Dynamic);
    options.viscosity = 2e4;  // rest within the time of the test
    FemToolBench bench(options);
    const Pose hand = shifted_by(0, 0, -0.015);
    for (int k = 0; k < 1500; ++k) bench.step(hand);
    const FemToolState& state = bench.loop.tool->last();
    const double z = kBlockHeight + kProxyRadius + FemLoopOptions().clearance - 0.015;
    EXPECT_GT(state.contact.force.z(), 0.3);
    EXPECT_NEAR(600 * (state.tool.position.z() - z), state.contact.force.z(), 1e-6);
}

TEST(FemTool, ADynamicToolOfAnyMassIsInBalanceWithTheNodesItTouches) {
    FemLoopOptions options = tool_sample(FemCoupling::Dynamic);
    options.viscosity = 2e4;
    options.tool.mass = 1e-4;
    FemToolBench bench(options);
    double last = 0, largest_change = 0;
    for (int k = 0; k < 1500; ++k) {
        const FemToolState& state = bench.step(shifted_by(0, 0, -0.03 * std::min(1.0, k / 300.0)));
        if (k > 1000)
            largest_change = std::max(largest_change, std::abs(state.contact.force.z() - last));
        last = state.contact.force.z();
    }
    EXPECT_GT(last, 0.5);
    EXPECT_LT(largest_change, 1e-3);
}

TEST_P(FemTool, WhatWasLentIsGivenBack) {
    FemLoopOptions options = tool_sample(GetParam());
    options.viscosity = 200;
    FemToolBench bench(options);
    double most = 0, elastic = 0;
    for (int k = 0; k < 2000; ++k) {
        const double depth = 0.5 * (1 - std::cos(3.14159265 * k / 1000.0));
        const FemToolState& state = bench.step(shifted_by(0, 0, -0.02 * depth));
        if (state.lent > most) {
            most = state.lent;
            elastic = bench.loop.block->energy().total();
        }
    }
    EXPECT_GT(most, 2e-3);
    // what the tool did is in the body, but for what drag and captures took
    EXPECT_NEAR(elastic, most, 0.1 * most);
    EXPECT_EQ(bench.loop.tool->last().lent, 0);
}

TEST_P(FemTool, SpeedIsLimited) {
    FemLoopOptions options = tool_sample(GetParam());
    options.tool.max_speed = 0.2;
    options.tool.max_turning = 1;
    FemToolBench bench(options);
    Pose last = bench.proxy(0);
    for (int k = 0; k < 100; ++k) {
        const Pose now = bench.step({{1, 0, 1}, rotation_from_vector({0, 0, 3})}).tool;
        ASSERT_LT((now.position - last.position).norm(), 0.2 * FemToolBench::kStepLength + 1e-12);
        ASSERT_LT(rotation_difference(last.rotation, now.rotation).norm(),
                  1 * FemToolBench::kStepLength + 1e-12);
        last = now;
    }
}

TEST_P(FemTool, HandsAndTimesThatAreNoNumbersMoveNothing) {
    FemToolBench bench(tool_sample(GetParam()));
    for (int k = 0; k < 300; ++k) bench.step(shifted_by(0, 0, -0.01));
    const Pose before = bench.loop.tool->last().tool;
    const Quaternion bad(kNan, 0, 0, 0);
    bench.step(shifted_by(0, 0, kNan));
    bench.step(shifted_by(kInfinity, 0, 0));
    bench.step({Vector3d::Zero(), bad});
    bench.step(shifted_by(0, 0, -0.01), {{kNan, 0, 0}, {}});
    EXPECT_LT((bench.loop.tool->last().tool.position - before.position).norm(), 1e-3);
    // no time, no step and nothing published
    bench.loop.link.steps.update();
    const std::uint64_t count = bench.loop.link.steps.read_slot().count;
    for (const double dt : {0.0, -1.0, kNan, kInfinity})
        EXPECT_EQ(bench.loop.tool->begin_step(bench.loop.sim_time, dt), StepStatus::InputIgnored);
    EXPECT_EQ(bench.loop.tool->begin_step(kNan, 1e-3), StepStatus::InputIgnored);
    bench.loop.tool->end_step();
    bench.loop.link.steps.update();
    EXPECT_EQ(bench.loop.link.steps.read_slot().count, count);
    // and on it goes
    for (int k = 0; k < 300; ++k) bench.step(shifted_by(0, 0, -0.01));
    EXPECT_TRUE(is_finite(bench.loop.tool->last().tool));
    EXPECT_GT(bench.loop.tool->last().contact.force.z(), 0.1);
}

TEST_P(FemTool, AHandOfAnEarlierStartIsNotFollowed) {
    FemToolBench bench(tool_sample(GetParam()));
    for (int k = 0; k < 200; ++k) bench.step(shifted_by(0, 0, 0.03));
    for (const auto& p : bench.loop.proxies) p->reset();
    bench.loop.tool->reset();
    for (int k = 0; k < 50; ++k) bench.step(shifted_by(0, 0, 0.03));
    EXPECT_EQ(bench.loop.tool->last().tool.position.z(), bench.proxy(0).position.z());
    EXPECT_NEAR(bench.proxy(0).position.z(),
                kBlockHeight + kProxyRadius + FemLoopOptions().clearance, 1e-12);
    bench.epoch = 2;
    for (int k = 0; k < 200; ++k) bench.step(shifted_by(0, 0, 0.03));
    EXPECT_GT(bench.proxy(0).position.z(), 0.12);
}

TEST(FemTool, AStepSaysAtItsBeginningWhenItWillEnd) {
    FemToolBench bench(tool_sample(FemCoupling::Dynamic));
    bench.step({});
    static_cast<void>(bench.loop.tool->begin_step(bench.loop.sim_time, 3e-3));
    bench.loop.link.steps.update();
    const FemToolSteps& begun = bench.loop.link.steps.read_slot();
    EXPECT_EQ(begun.count, 2u);
    EXPECT_DOUBLE_EQ(begun.next, 5e-3);
    EXPECT_DOUBLE_EQ(begun.state(1).time, 2e-3);
}

TEST(FemTool, AClockThatRunsBackBeginsAnew) {
    FemToolBench bench(tool_sample(FemCoupling::Kinematic));
    for (int k = 0; k < 20; ++k) bench.step({});
    bench.loop.link.steps.update();
    EXPECT_EQ(bench.loop.link.steps.read_slot().epoch, 1u);
    bench.loop.sim_time = 0;
    bench.step({});
    bench.loop.link.steps.update();
    EXPECT_EQ(bench.loop.link.steps.read_slot().epoch, 2u);
    EXPECT_EQ(bench.loop.link.steps.read_slot().count, 2u);
}

TEST_P(FemTool, StepsAllocateNothing) {
    set_num_threads(1);
    FemLoopOptions options = tool_sample(GetParam());
    options.has_hand = true;
    FemToolBench bench(options);
    for (int k = 0; k < 50; ++k) bench.step(shifted_by(0, 0, -0.0004 * k));
    AllocationGuard guard;
    for (int k = 0; k < 50; ++k) bench.step(shifted_by(0, 0, -0.02));
    const auto allocations = guard.count();
    EXPECT_GT(bench.loop.tool->last().num_contacts, 0);
    EXPECT_EQ(allocations, 0u);
}

std::string refusal_of(const std::function<void()>& make) {
    try {
        make();
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(FemTool, WhatCannotBeAToolIsRefusedWithItsReason) {
    FemHapticLink link;
    const auto proxy = proxy_at(RigidShape::sphere(0.01), sphere_surface(0.01), {0, 0, 1});
    const auto stranger = proxy_at(RigidShape::sphere(0.01), sphere_surface(0.01), {0, 0, 1});
    const auto block = soft_block(5e3, true, 0, {proxy.get()});
    const std::vector<const FemBody*> bodies{block.get()};
    EXPECT_EQ(refusal_of([&] { FemHapticTool(link, {}, bodies); }),
              "a haptic tool has no rigid body; give the proxies that touch");
    EXPECT_EQ(refusal_of([&] {
                  FemHapticTool(link, {proxy.get(), stranger.get()}, bodies);
              }),
              "proxy 1 of a haptic tool is no obstacle of any of its FEM bodies; give it to one of "
              "them");
    RigidBodyOptions moving;
    moving.mass = RigidMass{1, Vector3d::Zero(), Eigen::Matrix3d::Identity()};
    RigidBody heavy(RigidShape::sphere(0.01), box_surface(), moving);
    EXPECT_EQ(refusal_of([&] { FemHapticTool(link, {&heavy}, bodies); }),
              "proxy of a haptic tool is a rigid body with mass or script: leave them out, the "
              "device moves it");
    FemHapticToolOptions options;
    options.mass = 0;
    EXPECT_EQ(refusal_of([&] { FemHapticTool(link, {proxy.get()}, bodies, options); }),
              "tool.mass = 0 (expected 1e-06 to 1e+06 kg)");
    options = {};
    options.grasp.x() = kNan;
    EXPECT_EQ(refusal_of([&] { FemHapticTool(link, {proxy.get()}, bodies, options); }),
              "grasp point of a haptic tool is not finite; give three numbers");
}

}  // namespace
}  // namespace pliant
