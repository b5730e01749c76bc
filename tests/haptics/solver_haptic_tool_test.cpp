#include <gtest/gtest.h>

#include <Eigen/LU>
#include <limits>

#include "contact/solver_samples.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/haptics/solver_haptic_tool.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::input_error, test::RigidScene;

constexpr double kSolverStep = 0.01, kToolMass = 0.4, kToolGyration = 0.03, kHandStiffness = 50,
                 kHandTurning = 0.04;
const Vector3d kToolGrasp(0.01, 0, 0.02), kToolHalf(0.05, 0.05, 0.02);

/// A block in a hand over a plane at z = 0, its weight carried.
class HeldBlock {
public:
    explicit HeldBlock(const Vector3d& position,
                       const SolverHapticToolOptions& options = {.grasp = kToolGrasp}) {
        scene_.dt = kSolverStep;
        scene_.gravity.setZero();
        scene_.add_ground();
        body = &scene_.add(held_mass(kToolMass, kToolGyration, kToolGrasp),
                           {position, Quaternion::Identity()}, {},
                           PointTree(test::face_shell(kToolHalf, 4)), {});
        scene_.start({.stiffness = 2000, .friction = 0.4});
        tool = std::make_unique<SolverHapticTool>(link, *body, *scene_.solver, 1, options);
    }
    /// The hand holds the grasp point at `pose` for one step.
    const FemToolState& step(const Pose& pose, const Twist& velocity = {}) {
        FemHandState& hand = link.hand.write_slot();
        hand = {1, now_, pose, velocity, kHandStiffness, kHandTurning};
        link.hand.publish();
        status = tool->begin_step(now_, kSolverStep);
        scene_.tick();
        now_ += kSolverStep;
        return tool->end_step();
    }
    [[nodiscard]] Vector3d grasp() const { return body->motion().pose.to_world(kToolGrasp); }

    FemHapticLink link;
    RigidBody* body = nullptr;
    std::unique_ptr<SolverHapticTool> tool;
    StepStatus status = StepStatus::Ok;

private:
    RigidScene scene_;
    double now_ = 0;
};

/// Mass, spring and damper by implicit Euler, solved as a system of two unknowns.
double implicit_velocity(double mass, double k, double shift, double v, double v_hand) {
    // m v' = m v + dt (k d' + d (v_h − v')), d' = d − dt v', d = 2 √(k m), m + dt d + dt² k = mass
    const double root = std::sqrt(mass) - kSolverStep * std::sqrt(k), m = root * root;
    const double d = 2 * std::sqrt(k * m);
    Eigen::Matrix2d a;
    a << m + kSolverStep * d, -kSolverStep * k, kSolverStep, 1;
    return (a.inverse() * Eigen::Vector2d(m * v + kSolverStep * d * v_hand, shift))[0];
}

TEST(SolverHapticTool, FollowsTheHandByImplicitEuler) {
    HeldBlock held({0, 0, 1}, {.grasp = kToolGrasp, .predicts = false});
    const Vector3d target = held.grasp() + Vector3d(0.02, -0.01, 0.03);
    const Vector3d turn(0, 0.2, 0), v_hand(0.05, 0, -0.02);
    Vector3d v = Vector3d::Zero(), w = Vector3d::Zero();
    for (int k = 0; k < 5; ++k) {
        const Vector3d shift = target - held.grasp();
        const Vector3d angle =
            rotation_difference(held.body->motion().pose.rotation, rotation_from_vector(turn));
        for (int i = 0; i < 3; ++i) {
            v[i] = implicit_velocity(kToolMass, kHandStiffness, shift[i], v[i], v_hand[i]);
            w[i] = implicit_velocity(kToolMass * kToolGyration * kToolGyration, kHandTurning,
                                     angle[i], w[i], 0);
        }
        held.step({target, rotation_from_vector(turn)}, {v_hand, Vector3d::Zero()});
        const RigidMotion& motion = held.body->motion();
        const Vector3d got = motion.velocity.at(motion.pose.rotation * kToolGrasp);
        EXPECT_LT((got - v).norm(), 1e-12) << k;
        EXPECT_LT((motion.velocity.angular - w).norm(), 1e-12) << k;
    }
}

TEST(SolverHapticTool, SettlesWhereTheHandIsWithoutOvershoot) {
    HeldBlock held({0, 0, 1});
    const Pose target{held.grasp() + Vector3d(0.03, 0, 0), rotation_from_vector({0, 0, 0.5})};
    double farthest = 0;
    for (int k = 0; k < 200; ++k) {
        held.step(target);
        farthest = std::max(farthest, held.grasp().x() - target.position.x());
    }
    EXPECT_LT((held.grasp() - target.position).norm(), 1e-9);
    EXPECT_LT(farthest, 1e-3);
    EXPECT_TRUE(held.tool->last().contact.force.isZero(0));
}

TEST(SolverHapticTool, AtRestContactIsTheForceOfTheSprings) {
    HeldBlock held({0, 0, 0.021});
    const Pose target{held.grasp() + Vector3d(0.004, 0, -0.05), Quaternion::Identity()};
    for (int k = 0; k < 300; ++k) held.step(target);
    const FemToolState& state = held.tool->last();
    ASSERT_EQ(state.num_contacts, 16);
    const Vector3d pull = kHandStiffness * (target.position - held.grasp());
    EXPECT_GT(state.contact.force.z(), 2);
    EXPECT_LT((state.contact.force + pull).norm(), 1e-3) << "friction too";
    const Vector3d turning = kHandTurning * rotation_difference(held.body->motion().pose.rotation,
                                                                Quaternion::Identity());
    EXPECT_LT((state.contact.torque + turning).norm(), 1e-4);
    EXPECT_GT(state.depth, 0);
    EXPECT_LT(state.depth, 1e-3);
    EXPECT_GE(state.lent, 0);
}

TEST(SolverHapticTool, StaysCalmOnSpringsFarTooStiffForTheStep) {
    HeldBlock held({0, 0, 0.03}, {.grasp = kToolGrasp, .predicts = false});
    double last = 0, change = 0;
    for (int k = 0; k < 400; ++k) {
        FemHandState& hand = held.link.hand.write_slot();
        hand = {1, k * kSolverStep, {held.grasp(), Quaternion::Identity()}, {}, 1e7, 1e5};
        hand.pose.position = {0, 0, 0.02};
        held.link.hand.publish();
        static_cast<void>(held.tool->begin_step(k * kSolverStep, kSolverStep));
        held.body->step(kSolverStep);
        held.tool->end_step();
        if (k > 200) change = std::max(change, std::abs(held.grasp().z() - last));
        last = held.grasp().z();
        ASSERT_TRUE(is_finite(held.body->motion().pose)) << k;
    }
    EXPECT_LT(change, 1e-9);
}

TEST(SolverHapticTool, WithoutAHandItComesToRestWhereItIs) {
    HeldBlock held({0, 0, 1});
    const Pose target{held.grasp() + Vector3d(0.5, 0, 0), Quaternion::Identity()};
    for (int k = 0; k < 5; ++k) held.step(target);
    EXPECT_GT(held.body->motion().velocity.linear.norm(), 0.1);
    held.tool->reset();  // another epoch: the hand above is of the first
    held.step(target);
    EXPECT_LT(held.body->motion().velocity.linear.norm(), 1e-12);
}

TEST(SolverHapticTool, OddTimesAndHandsChangeNothing) {
    HeldBlock held({0, 0, 1});
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const auto& [now, dt] : {std::pair{nan, kSolverStep}, {0.0, nan}, {0.0, 0.0}, {0.0, -1.0}})
        EXPECT_EQ(held.tool->begin_step(now, dt), StepStatus::InputIgnored);
    EXPECT_TRUE(held.body->next_load().force.isZero(0));
    for (const double bad : {nan, std::numeric_limits<double>::infinity(), 1e300}) {
        held.step({{bad, 0, 0}, Quaternion::Identity()}, {{bad, 0, 0}, {0, 0, bad}});
        EXPECT_LT((held.grasp() - Vector3d(0.01, 0, 1.02)).norm(), 1e-12) << bad;
    }
}

TEST(SolverHapticTool, SpeedsAreLimited) {
    HeldBlock held({0, 0, 1}, {.grasp = kToolGrasp, .max_speed = 0.2, .predicts = false});
    for (int k = 0; k < 50; ++k) {
        held.step({held.grasp() + Vector3d(10, 0, 0), Quaternion::Identity()});
        const RigidMotion& motion = held.body->motion();
        EXPECT_LE(motion.velocity.at(motion.pose.rotation * kToolGrasp).norm(), 0.2 + 1e-12);
    }
}

TEST(SolverHapticTool, StepsAllocateNothing) {
    if (!AllocationGuard::is_active()) GTEST_SKIP();
    HeldBlock held({0, 0, 0.021});
    const Pose target{held.grasp() + Vector3d(0, 0, -0.03), Quaternion::Identity()};
    held.step(target);
    const AllocationGuard guard;
    for (int k = 0; k < 20; ++k) held.step(target);
    held.tool->reset();
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
}

TEST(SolverHapticTool, MassesByRuleFollowWithinThreeStepsAndLetSpringsGrow) {
    EXPECT_EQ(held_mass_for(1, 1e-3), 0.05);
    const double dt = 1 / 120.0, k = 400, m = held_mass_for(k, dt);
    EXPECT_NEAR(std::sqrt(k / m) * dt, 0.25, 1e-12);
    const RigidMass mass = held_mass(m, 0.1, kToolGrasp);
    EXPECT_EQ(mass.mass, m);
    EXPECT_EQ(mass.centre, kToolGrasp);
    EXPECT_NEAR(mass.inertia(2, 2), 0.01 * m, 1e-15);
}

TEST(SolverHapticTool, SaysWhatItCannotHold) {
    RigidScene scene;
    scene.add_ground();
    RigidBody& body = scene.add_box(kToolHalf, 1, {});
    scene.start();
    FemHapticLink link;
    const auto error = [&](RigidBody& b, const SolverHapticToolOptions& options) {
        return input_error([&] { SolverHapticTool(link, b, *scene.solver, 1, options); });
    };
    EXPECT_EQ(error(body, {}), "");
    EXPECT_EQ(error(body, {.grasp = kToolGrasp}),
              "the mass of a haptic tool is not about its grasp point; make its body with "
              "held_mass()");
    EXPECT_EQ(error(*scene.bodies[0], {}),
              "a haptic tool among bodies that move has no mass; make its body with held_mass()");
    EXPECT_NE(error(body, {.max_speed = 0}).find("tool.max_speed"), std::string::npos);
    EXPECT_NE(error(body, {.damping_ratio = -1}).find("tool.damping_ratio"), std::string::npos);
}

}  // namespace
}  // namespace pliant
