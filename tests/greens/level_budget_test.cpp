#include "pliant/greens/level_budget.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "pliant/core/allocation_guard.h"
#include "tests/greens/hierarchical_models.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::HierarchicalBlob;

/// A ball of radius 2 above a body of 642 vertices with columns of all levels.
class BudgetedTouch : public ::testing::Test {
protected:
    static const HierarchicalBlob& blob() {
        static const HierarchicalBlob made = test::hierarchical_blob(3);
        return made;
    }
    explicit BudgetedTouch()
        : contact_(blob().model, {RigidShape::sphere(2)}, UpdateCosts(), {.max_nodes = 200}) {}

    static LevelBudget levels_for(double budget, int calm = 8) {
        ConstraintLevelOptions options;
        options.budget = budget;
        options.calm_frames = calm;
        return LevelBudget(*blob().model, UpdateCosts(), options);
    }
    /// So far into the top of the body.
    static Pose pressed_by(double depth) {
        double top = 0;
        for (const Vector3d& x : blob().model->reference.positions) top = std::max(top, x.z());
        Pose pose;
        pose.position = {0, 0, top + 2 - depth};
        return pose;
    }
    int level() const { return contact_.level() < 0 ? 3 : contact_.level(); }
    double needed(const LevelBudget& levels) const {
        return levels.predicted(static_cast<double>(contact_.touched().size()) +
                                contact_.report().left_out);
    }
    DistributedContact contact_;
};

TEST_F(BudgetedTouch, GrowingContactGoesCoarserAtOnceAndFinerWhenItIsCalm) {
    const double budget = 4e-5;
    LevelBudget levels = levels_for(budget);
    EXPECT_EQ(levels.finest(), -1);
    int coarsest = 3, changes = 0, before = 3;
    for (int frame = 0; frame <= 100; ++frame) {
        const Pose pose = pressed_by(0.0036 * std::min(frame, 100 - frame));
        (void)levels.step(contact_, {&pose, 1}, 0);
        EXPECT_TRUE(needed(levels) <= budget || level() == 0) << "frame " << frame;
        changes += level() != before;
        EXPECT_GE(level(), frame <= 50 ? 0 : before) << "never coarser while it shrinks";
        before = level();
        coarsest = std::min(coarsest, level());
    }
    EXPECT_LT(coarsest, 3);
    EXPECT_EQ(changes, 2 * (3 - coarsest)) << "there and back, no flicker";
    const Pose away = pressed_by(-0.1);
    for (int calm = 0; calm < 30; ++calm) (void)levels.step(contact_, {&away, 1}, 0);
    EXPECT_EQ(level(), 3);
}

TEST_F(BudgetedTouch, StaysOnTheFinestLevelWhereItFitsAndNoCoarserThanItIsTold) {
    LevelBudget wide = levels_for(10), narrow = levels_for(1e-9);
    const Pose pose = pressed_by(0.1);
    (void)wide.step(contact_, {&pose, 1}, 0);
    EXPECT_EQ(level(), 3);
    (void)narrow.step(contact_, {&pose, 1}, 2);
    EXPECT_EQ(level(), 2);
    (void)narrow.step(contact_, {&pose, 1}, 1);
    EXPECT_EQ(level(), 1);
    (void)narrow.step(contact_, {&pose, 1}, -1);
    EXPECT_EQ(level(), 3);
}

TEST_F(BudgetedTouch, WaitsForCalmSteps) {
    LevelBudget levels = levels_for(4e-5, 5);
    Pose pose = pressed_by(0.18);
    (void)levels.step(contact_, {&pose, 1}, 0);
    const int pressed = level();
    ASSERT_LT(pressed, 3);
    pose = pressed_by(-0.1);
    for (int k = 0; k < 5; ++k) {
        (void)levels.step(contact_, {&pose, 1}, 0);
        EXPECT_EQ(level(), pressed);
    }
    (void)levels.step(contact_, {&pose, 1}, 0);
    EXPECT_EQ(level(), pressed + 1);
}

/// What the cache holds from one run decides neither levels nor the last bits of the next.
TEST_F(BudgetedTouch, RunsAfterAResetAreEqual) {
    const auto run = [&](LevelBudget& levels) {
        std::vector<double> felt;
        for (int frame = 0; frame <= 60; ++frame) {
            const Pose pose = pressed_by(0.18 * std::sin(0.1 * frame));
            (void)levels.step(contact_, {&pose, 1}, 0);
            felt.push_back(level());
            const Wrench load = contact_.load(0);
            felt.insert(felt.end(), load.force.begin(), load.force.end());
        }
        return felt;
    };
    LevelBudget wide = levels_for(2e-3), narrow = levels_for(6e-5);
    const std::vector<double> first = run(narrow);
    contact_.reset();
    (void)contact_.set_level(-1);
    (void)run(wide);
    contact_.reset();
    (void)contact_.set_level(-1);
    narrow.reset();
    EXPECT_EQ(run(narrow), first);
}

TEST_F(BudgetedTouch, AllocatesNothing) {
    LevelBudget levels = levels_for(4e-5);
    const Pose low = pressed_by(0.18), high = pressed_by(0.02);
    (void)levels.step(contact_, {&high, 1}, 0);
    AllocationGuard guard;
    for (int k = 0; k < 12; ++k) (void)levels.step(contact_, {k % 6 ? &high : &low, 1}, 0);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
}

TEST_F(BudgetedTouch, NeedsLevelsAndABudget) {
    EXPECT_EQ(test::input_error([] { (void)levels_for(0); }),
              "levels.budget = 0.000000 (expected value > 0 [s])");
}

}  // namespace
}  // namespace pliant
