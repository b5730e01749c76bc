#include <gtest/gtest.h>

#include "haptics/alpha_samples.h"

// The puzzle of two linked tubes in a simulated hand. 10,000 tries without the path are those of
// `pliant reproduce haptics`.

namespace pliant {
namespace {

using namespace test;
using Eigen::Vector3d;

TEST(AlphaPuzzle, StoredPathIsOneAndUnlinksTheTubes) {
    const AlphaPuzzle puzzle = coarse_puzzle();
    EXPECT_NEAR(puzzle.linking(puzzle.path().at(0).pose), 1, 0.05);
    EXPECT_NEAR(puzzle.linking(puzzle.path().at(puzzle.out_time()).pose), 0, 0.01);
    // out and back in less than half a minute, at the speed of a hand
    EXPECT_GT(puzzle.out_time(), 5);
    EXPECT_LT(puzzle.path().largest_rates().linear, 0.3);
    // free all the way
    PointTraversal traversal(puzzle.tree(), puzzle.field());
    for (int k = 0; 2e-3 * k < puzzle.out_time(); ++k) {
        static_cast<void>(traversal.update(puzzle.path().at(2e-3 * k).pose, {}));
        ASSERT_EQ(traversal.contacts().count, 0) << 2e-3 * k << " s";
    }
}

TEST(AlphaPuzzle, FollowingThePathSolvesItWithForceFeedbackAndBoundedDepth) {
    const AlphaPuzzle puzzle = coarse_puzzle();
    for (const HandModel& hand : {HandModel::loose(), HandModel::firm()}) {
        ToolInHandOptions options = puzzle.options();
        options.hand = hand;
        ToolInHand held = puzzle.hold(options);
        // 3 mm and 3 degrees beside the path: contact has to guide the tube
        int in_contact = 0;
        double depth = 0, force = 0;
        for (int k = 0; kHapticStep * k < puzzle.out_time() + 0.3; ++k) {
            const double time = std::min(kHapticStep * k, puzzle.out_time());
            const Pose wanted = puzzle.path().at(time).pose;
            const HapticTick& tick = held.step(unsteady(wanted, time, 0.003, 0.05));
            depth = std::max(depth, tick.depth);
            force = std::max(force, tick.command.force.norm());
            in_contact += tick.num_contacts > 0 ? 1 : 0;
        }
        EXPECT_GT(in_contact, 1000);
        EXPECT_GT(force, 0.1);
        EXPECT_LE(depth, held.gains().max_depth);
        EXPECT_NEAR(puzzle.linking(held.haptics().last().tool), 0, 0.01);
    }
}

TEST(AlphaPuzzle, PullingWithoutThePathNeverFreesIt) {
    const AlphaPuzzle puzzle = coarse_puzzle();
    ToolInHandOptions options = puzzle.options();
    options.hand = HandModel::firm();
    options.device.steps_per_sample = 5;
    options.home = Vector3d::Zero();
    ToolInHand held = puzzle.hold(options);
    double force = 0, depth = 0;
    for (int number = 0; number < 200; ++number) {
        const PushOutcome outcome = push_once(held, puzzle, number);
        EXPECT_FALSE(outcome.is_out) << "try " << number;
        force = std::max(force, outcome.force);
        depth = std::max(depth, outcome.depth);
    }
    EXPECT_LE(depth, 1.05 * held.gains().max_depth);   // a tick's way is linear in the bound
    EXPECT_NEAR(force, held.gains().max_force, 1e-6);  // all the device can show
}

}  // namespace
}  // namespace pliant
