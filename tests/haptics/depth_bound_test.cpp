#include <gtest/gtest.h>

#include <numbers>

#include "haptics/bound_samples.h"

// No contact gets deeper than max_depth, whatever the hand does: docs/haptics.md eq. (20b). The
// hand feels nothing and goes where it wants; fields are exact, and points are asked by themselves,
// so that nothing is left but what a step of half a bound turns out of its tangent.

namespace pliant {
namespace {

using namespace test;

std::vector<BoundScene> bound_scenes() {
    std::vector<BoundScene> all;
    all.push_back({"box on a plane", block(0.02, 0.02, 0.02, 4e-3), ground(), {{0, 0, 0.022}}});
    all.push_back({"box in a slot", block(0.02, 0.015, 0.01), walls_at(0.0102, {2}), {}});
    all.push_back({"box in a shaft", block(0.01, 0.01, 0.02), walls_at(0.0102, {0, 1}), {}});
    all.push_back({"plate in a slot", block(0.03, 0.03, 0.002), walls_at(0.0021, {2}), {}});
    all.push_back(
        {"sphere in a tube", ball_tool(0.01, 2000), invert_field(capsule_field(0.0102, 1.0)), {}});
    all.push_back(
        {"ball in a socket", ball_tool(0.01, 2000), invert_field(sphere_field(0.0101)), {}});
    all.push_back(
        {"rod between posts", block(0.06, 0.003, 0.003), posts_at(0.01, 0.003, 0.002), {}});
    const ToolShape pole = block(0.15, 0.004, 0.004, 3e-3);
    all.push_back({"pole held at its centre", pole, posts_at(0.05, 0.004, 0.01), {}});
    all.push_back({"pole held at its end",
                   held_at(pole, {-0.15, 0, 0}),
                   posts_at(0.05, 0.004, 0.01),
                   {{-0.15, 0, 0}}});
    all.push_back({"box on the edge of a box",
                   block(0.02, 0.015, 0.01),
                   box_field({0.05, 0.05, 0.02}),
                   {{0.05, 0, 0.0305}}});
    return all;
}

TEST(DepthBound, HoldsHoweverFastTheHandMovesAndTurns) {
    double published = 0;
    for (const BoundScene& scene : bound_scenes())
        for (const double seconds : {0.4, 0.1, 0.02})
            for (const double turn : {0.5, 3.0}) {
                const Hand hand = wandering(scene.start, 0.05, turn, seconds, 3);
                const BoundOutcome out = run_hand(scene, hand, 1);
                EXPECT_LE(out.depth, 1 + kTangent) << scene.name << " " << seconds << " " << turn;
                EXPECT_GT(out.contact, 0.1) << scene.name << " " << seconds << " " << turn;
                if (turn > 1 && seconds == 0.1) {
                    CouplingOptions cut;
                    cut.holds_depth = false;
                    published = std::max(published, run_hand(scene, hand, 1, cut).depth);
                }
            }
    // poles are turned through their posts where steps are only cut to their length
    EXPECT_GT(published, 3);
}

TEST(DepthBound, HoldsForABoxTurnedOnItsCornerWhileItSlidesFast) {
    const BoundScene scene = bound_scenes()[0];
    // 0.4 m/s along the plane, 20 mm below it, turning by 80° in half a second and back
    const Hand hand = [](double t) {
        const double angle = 1.4 * std::sin(2 * std::numbers::pi * t);
        return Pose{{0.4 * t, 0, -0.02}, rotation_from_vector({angle, 0.7 * angle, 0})};
    };
    const BoundOutcome held = run_hand(scene, hand, 2);
    EXPECT_LE(held.depth, 1 + kTangent);
    EXPECT_GT(held.num_limited, 1000);
    // it slides as fast as steps of half the bound allow
    EXPECT_NEAR(held.pose.position.x(), 2 * 0.25, 0.1);
    CouplingOptions cut;
    cut.holds_depth = false;
    EXPECT_GT(run_hand(scene, hand, 2, cut).depth, 1.5);
}

TEST(DepthBound, ToolsComeBackToAHandThatWaits) {
    for (const BoundScene& scene : bound_scenes()) {
        const Hand fast = wandering(scene.start, 0.05, 1.0, 0.1, 5);
        const Hand hand = [&](double t) { return t < 1 ? fast(t) : scene.start; };
        const BoundOutcome out = run_hand(scene, hand, 3);
        EXPECT_LE(out.depth, 1 + kTangent) << scene.name;
        // rods and boxes may be caught behind what they passed; those in a hollow cannot
        if (scene.name.find(" in a ") == std::string::npos) continue;
        EXPECT_LT((out.pose.position - scene.start.position).norm(), 1e-3) << scene.name;
        EXPECT_LT(rotation_vector(out.pose.rotation).norm(), 0.05) << scene.name;
    }
}

TEST(DepthBound, SlidingAtTheLimitOfStepsKeepsTheForceOfThePlane) {
    // pressed by 5 mm with a turn of 0.2 rad, faster than half the bound in a tick: where the
    // limit cut the way out of contact, the corner sank to 0.7 of the bound
    const BoundScene scene = bound_scenes()[0];
    for (const double speed : {0.2, 0.3, 0.8}) {
        const Hand hand = [=](double t) {
            const double press = std::min(1.0, t / 0.2);
            return Pose{{speed * std::max(0.0, t - 0.3), 0, 0.02 - 0.005 * press},
                        rotation_from_vector({0, 0.2 * press, 0})};
        };
        EXPECT_LT(run_hand(scene, hand, 1.5).depth, 0.25) << speed;
    }
}

}  // namespace
}  // namespace pliant
