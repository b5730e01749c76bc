#include "scene/hand.h"

#include "pliant/body/rigid_body.h"
#include "scene/one_mass_body.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::OneMassBody;
using test::StepRule;

constexpr double kDt = 1e-3;
constexpr StepRule kRules[] = {StepRule::SymplecticEuler, StepRule::ConstantAcceleration,
                               StepRule::Newmark};

const SurfacePoint kPoint = SurfacePoint::on_triangle(10, {0.2, 0.3, 0.5});  // side x = 0.5

TEST(MovingTarget, MovesEvenlyAndArrivesOnTime) {
    MovingTarget target;
    target.position = {1, 0, 0};
    target.move_to({2, 0, 4}, 0.0105);
    for (int i = 1; i <= 10; ++i) {
        EXPECT_LT((target.velocity - Vector3d(1, 0, 4) / 0.0105).norm(), 1e-9);
        target.advance(kDt);
        EXPECT_NEAR(target.position.z(), 4 * i / 10.5, 1e-12);
    }
    target.advance(kDt);
    EXPECT_EQ(target.position, Vector3d(2, 0, 4));
    EXPECT_EQ(target.velocity, Vector3d(Vector3d::Zero()));
    target.move_to({5, 5, 5}, 0);
    EXPECT_EQ(target.position, Vector3d(5, 5, 5));
}

TEST(Hand, SpringIsAFactorOfTheStiffnessOfTheBody) {
    OneMassBody body({.mass = 2, .stiffness = 500});
    Hand hand;
    HandSettings settings{.stiffness = 3, .damping = 0.7, .dt = kDt};
    hand.grab(body, kPoint, {0, 0, 0}, 0, settings);
    EXPECT_DOUBLE_EQ(hand.stiffness(), 1500);  // softest direction counts
    EXPECT_DOUBLE_EQ(hand.damping(), 1.4 * std::sqrt(1500.0 * 2) + 1.5 * kDt * 1500);
    EXPECT_DOUBLE_EQ(hand.force_limit(), 1500 * 0.25);  // its sides are 1 m long
    settings.stiffness = 0.5;
    settings.force_limit = 7;
    hand.update(settings);
    EXPECT_DOUBLE_EQ(hand.stiffness(), 250);
    EXPECT_DOUBLE_EQ(hand.force_limit(), 7);
}

TEST(Hand, SpringNeverExceedsWhatTheTickCanBear) {
    for (const double stiffness : {0.0, 1.0, 1e3, 1e9})
        for (const double factor : {0.1, 3.0, 10.0})
            for (const double damping : {0.0, 2.0}) {
                OneMassBody body({.mass = 2, .stiffness = stiffness});
                Hand hand;
                hand.grab(body, kPoint, {0, 0, 0}, 0,
                          {.stiffness = factor, .damping = damping, .dt = kDt});
                EXPECT_GT(hand.stiffness(), 0);
                EXPECT_LE(hand.stiffness() * kDt * kDt / 2, 0.2 * (1 + 1e-12));
                EXPECT_LE(hand.damping() * kDt / 2, 0.6 * (1 + 1e-12));
            }
}

/// Pulls by 0.1 m in 20 ms, then lets the target rest. Whether the motion fades: no faster in the
/// second half than in the first.
bool settles(OneMassBody& body, const HandSettings& settings, int ticks) {
    Hand hand;
    hand.grab(body, kPoint, body.position(kPoint) + Vector3d(0.1, 0.02, 0), 0.02, settings);
    double early = 0, late = 0;
    for (int i = 0; i < ticks; ++i) {
        hand.act(settings.dt);
        (void)body.step(settings.dt);
        if (i >= 20)
            (2 * i < ticks ? early : late) = std::max(2 * i < ticks ? early : late, body.v.norm());
    }
    return late < 0.99 * early + 1e-9;
}

TEST(Hand, PullingAFreeMassIsStableForEverySetting) {
    // forces stay below the limit: nothing but damping may save it
    for (const StepRule rule : kRules)
        for (const double factor : {0.1, 1.0, 3.0, 10.0})
            for (const double damping : {0.0, 0.1, 0.7, 2.0}) {
                OneMassBody body({.rule = rule});
                const HandSettings settings{
                    .stiffness = factor, .damping = damping, .force_limit = 1e9, .dt = kDt};
                EXPECT_TRUE(settles(body, settings, 3000))
                    << static_cast<int>(rule) << " " << factor << " " << damping;
            }
}

TEST(Hand, PullingAnElasticBodyIsStableForEverySetting) {
    // modes from slow to far above the rate of the loop; 6 % of critical damping, see docs/scene.md
    for (const double omega_dt : {0.003, 0.03, 0.3, 1.0, 2.0, 10.0, 100.0})
        for (const double factor : {0.1, 3.0, 10.0})
            for (const double damping : {0.0, 0.7, 2.0}) {
                const double m = 2, omega = omega_dt / kDt;
                OneMassBody body({.rule = StepRule::Newmark,
                                  .mass = m,
                                  .stiffness = m * omega * omega,
                                  .damping = 0.12 * m * omega});
                const HandSettings settings{
                    .stiffness = factor, .damping = damping, .force_limit = 1e9, .dt = kDt};
                EXPECT_TRUE(settles(body, settings, 4000))
                    << omega_dt << " " << factor << " " << damping;
            }
}

TEST(Hand, PullingARigidBodyAtACornerIsStableForEverySetting) {
    const SurfaceMesh surface = test::box_surface({0, 0, 0}, {0.1, 0.2, 0.6});
    for (const double factor : {0.1, 3.0, 10.0})
        for (const double damping : {0.0, 0.7, 2.0}) {
            RigidBodyOptions options;
            options.mass = rigid_mass(surface, 300);
            RigidBody body(RigidShape::mesh(surface), surface, options);
            const SurfacePoint corner = SurfacePoint::at_vertex(7);
            Hand hand;
            hand.grab(body, corner, body.position(corner) + Vector3d(0.05, 0, 0.02), 0.1,
                      {.stiffness = factor, .damping = damping, .dt = kDt});
            double most = 0, later = 0;
            for (int i = 0; i < 4000; ++i) {
                hand.act(kDt);
                ASSERT_EQ(body.step(kDt), StepStatus::Ok);
                (i < 1000 ? most : later) =
                    std::max(i < 1000 ? most : later, body.energy().total());
            }
            // what the hand gave in the first second only decreases: it turns about the corner
            EXPECT_LT(later, most * (1 + 1e-9)) << factor << " " << damping;
            EXPECT_LT((body.position(corner) - hand.target()).norm(), 0.02);
        }
}

TEST(Hand, PulledBodyComesToTheBalanceOfBothSprings) {
    OneMassBody body({.rule = StepRule::Newmark, .mass = 1, .stiffness = 200, .damping = 5});
    Hand hand;
    const Vector3d start = body.position(kPoint);
    hand.grab(body, kPoint, start + Vector3d(0.1, 0, 0), 0.1, {.stiffness = 3, .dt = kDt});
    for (int i = 0; i < 5000; ++i) {
        hand.act(kDt);
        (void)body.step(kDt);
    }
    // springs of 600 and 200 N/m in series over 0.1 m
    EXPECT_NEAR(body.x.x(), 0.075, 1e-6);
    EXPECT_NEAR(hand.force().x(), 15, 1e-4);
    EXPECT_LT((hand.target() - start - Vector3d(0.1, 0, 0)).norm(), 1e-12);
}

TEST(Hand, MassFollowsAnEvenlyMovingTargetWithoutLag) {
    OneMassBody body({});
    Hand hand;
    const Vector3d start = body.position(kPoint);
    hand.grab(body, kPoint, start, 0, {.dt = kDt});
    hand.drag(start + Vector3d(0, 4, 0), 4);
    for (int i = 0; i < 2000; ++i) {
        hand.act(kDt);
        (void)body.step(kDt);
    }
    EXPECT_NEAR(body.x.y(), 2, 1e-9);
    EXPECT_LT(hand.force().norm(), 1e-6);
}

TEST(Hand, ForceIsClippedToItsLimit) {
    OneMassBody body({.mass = 1, .stiffness = 1000});
    Hand hand;
    hand.grab(body, kPoint, {100, 200, 0}, 0, {.force_limit = 4, .dt = kDt});
    hand.act(kDt);
    EXPECT_NEAR(hand.force().norm(), 4, 1e-12);
    EXPECT_NEAR(body.load.norm(), 4, 1e-12);
    EXPECT_GT(hand.force().y(), hand.force().x());
    // so far away that nothing is known
    hand.drag({1e308, 1e308, -1e308}, 0);
    hand.act(kDt);
    EXPECT_TRUE(hand.force().allFinite());
}

TEST(Hand, ShowsAForceOnWhatDoesNotMove) {
    const SurfaceMesh surface = test::box_surface();
    RigidBody wall(RigidShape::mesh(surface), surface);
    Hand hand;
    const SurfacePoint point = SurfacePoint::at_vertex(7);
    hand.grab(wall, point, {1.01, 1, 1}, 0, {.stiffness = 3, .dt = kDt});
    hand.act(kDt);
    (void)wall.step(kDt);
    EXPECT_LT((hand.force() - Vector3d(3, 0, 0)).norm(), 1e-9);  // 300 N/m
    EXPECT_LT((wall.last_load().force - hand.force()).norm(), 1e-12);
    hand.drag({50, 1, 1}, 0);
    hand.act(kDt);
    EXPECT_NEAR(hand.force().norm(), 75, 1e-9);  // at a quarter of its size
}

TEST(Hand, PokePushesInwardsAfterARamp) {
    OneMassBody body({.mass = 1, .stiffness = 1000});
    Hand hand;
    hand.poke(body, kPoint, 5, {.dt = kDt});
    EXPECT_EQ(hand.kind(), Hand::Kind::Poke);
    for (int i = 0; i < 25; ++i) hand.act(kDt);
    EXPECT_LT((hand.force() - Vector3d(-2.5, 0, 0)).norm(), 1e-12);
    for (int i = 0; i < 30; ++i) hand.act(kDt);
    EXPECT_LT((hand.force() - Vector3d(-5, 0, 0)).norm(), 1e-12);
    EXPECT_EQ(hand.target(), hand.point());
    body.load.setZero();
    hand.release();
    hand.act(kDt);
    EXPECT_EQ(body.load, Vector3d(Vector3d::Zero()));
}

TEST(Hand, AutomaticPokeMovesThePointByTwoPercentOfTheSize) {
    OneMassBody body({.rule = StepRule::Newmark, .mass = 1, .stiffness = 1000, .damping = 20});
    Hand hand;
    hand.poke(body, kPoint, 0, {.dt = kDt});
    for (int i = 0; i < 5000; ++i) {
        hand.act(kDt);
        (void)body.step(kDt);
    }
    EXPECT_NEAR(body.x.x(), -0.02, 1e-6);
    // the scene's force, if it has one
    hand.poke(body, kPoint, 0, {.poke_force = 3, .dt = kDt});
    EXPECT_EQ(hand.force_limit(), 3);
    // a body without stiffness is pushed by its mass
    OneMassBody free({.mass = 2});
    hand.poke(free, kPoint, 0, {.dt = kDt});
    EXPECT_NEAR(hand.force_limit(), 0.02 * 0.03 * 2 / (kDt * kDt), 1e-9);
}

}  // namespace
}  // namespace pliant
