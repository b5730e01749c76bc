#include "contact/traversal_samples.h"
#include "input_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace pliant {
namespace {

using test::contacts_of;
using test::exhaustive_contacts;
using test::input_error;
using test::RandomMotion;
using test::rigid_tree;
using test::soft_tree;
using ::testing::HasSubstr;

TEST(TraversalBudget, IsNeverExceededAndLevelsAreWhole) {
    const PointTree tree = soft_tree(6000, 5, 15);
    const FieldPointer field = test::knob_field();
    const int first_level = tree.level_start(1);
    std::vector<int> times(5, 0);
    for (const int budget : {first_level, 100, 300, 1000, 3000})
        for (const bool has_coherence : {true, false}) {
            PointTraversal traversal(tree, field,
                                     {.budget = budget, .has_coherence = has_coherence});
            RandomMotion random(1);
            double t = 0;
            for (int i = 0; i < 120; ++i) {
                t += i % 23 == 22 ? random(0, 5) : 3e-3;
                const Pose pose = test::pose_on_path(t, 0.4);
                const auto q = test::shape_on_path(t, 15, 0.4);
                ASSERT_EQ(traversal.update(pose, q), StepStatus::Ok);
                const TraversalStatistics& s = traversal.statistics();
                EXPECT_LE(s.visited, budget);
                EXPECT_EQ(s.is_truncated, s.level < 4);
                ASSERT_GE(s.level, 0);
                ++times[static_cast<std::size_t>(s.level)];
                ASSERT_EQ(test::sorted(contacts_of(traversal)),
                          exhaustive_contacts(tree, *field, pose, q, s.level))
                    << budget << ", " << i;
            }
        }
    // every level was the last one at some time
    for (const int n : times) EXPECT_GT(n, 0);
}

TEST(TraversalBudget, FrontierOfACoarseTraversalHoldsEveryPointOnce) {
    const PointTree tree = rigid_tree(6000, 5);
    PointTraversal traversal(tree, sphere_field(0.25), {.budget = 300});
    int num_truncated = 0;
    for (int i = 0; i < 60; ++i) {
        (void)traversal.update(test::pose_on_path(5e-3 * i, 0.3), {});
        num_truncated += traversal.statistics().is_truncated;
        std::size_t leaves = 0;
        for (const int node : traversal.frontier()) leaves += test::leaves_below(tree, node).size();
        EXPECT_EQ(leaves, 6000u);
    }
    EXPECT_GT(num_truncated, 10);
}

/// Nodes needed for all levels up to each one, without coherence.
std::vector<int> nodes_needed(const PointTree& tree, const FieldPointer& field, const Pose& pose) {
    std::vector<int> needed;
    for (int level = 0; level < tree.num_levels(); ++level) {
        PointTraversal traversal(tree, field, {.has_coherence = false, .deepest_level = level});
        (void)traversal.update(pose, {});
        needed.push_back(traversal.statistics().visited);
    }
    return needed;
}

TEST(TraversalBudget, DeeperLevelsAreBegunColdAndKeptWarm) {
    const PointTree tree = rigid_tree(6000, 5);
    const FieldPointer field = sphere_field(0.25);
    const Pose away{{5, 0, 0}, Quaternion::Identity()},
        touching{{0.1, 0, 0}, Quaternion::Identity()};
    const int needed = nodes_needed(tree, field, touching)[4];

    // fits warm only: not begun from a coarser level, kept when it was there before
    TraversalOptions options{.budget = needed + needed / 10, .has_coherence = false};
    PointTraversal traversal(tree, field, options);
    (void)traversal.update(touching, {});
    const int cold_level = traversal.statistics().level;
    EXPECT_LT(cold_level, 4);
    EXPECT_TRUE(traversal.statistics().is_truncated);
    for (int i = 0; i < 5; ++i) {
        (void)traversal.update(touching, {});
        EXPECT_EQ(traversal.statistics().level, cold_level);  // no flicker
    }
    (void)traversal.update(away, {});
    EXPECT_EQ(traversal.statistics().level, 4);  // nothing to do there
    for (int i = 0; i < 5; ++i) {
        (void)traversal.update(touching, {});
        EXPECT_EQ(traversal.statistics().level, 4);
        EXPECT_FALSE(traversal.statistics().is_truncated);
    }
    traversal.forget();
    (void)traversal.update(touching, {});
    EXPECT_EQ(traversal.statistics().level, cold_level);

    // fits cold: begun at once
    options.budget = static_cast<int>(needed / 0.8) + 2;
    traversal.set_options(options);
    (void)traversal.update(touching, {});
    EXPECT_EQ(traversal.statistics().level, 4);

    // does not fit at all
    options.budget = needed - 1;
    traversal.set_options(options);
    (void)traversal.update(away, {});
    (void)traversal.update(touching, {});
    EXPECT_LT(traversal.statistics().level, 4);
    options.budget = needed;
    traversal.set_options(options);
    (void)traversal.update(away, {});
    (void)traversal.update(touching, {});
    EXPECT_EQ(traversal.statistics().level, 4);
}

TEST(TraversalBudget, LevelsDoNotFlickerWhileNothingMoves) {
    const PointTree tree = soft_tree(6000, 5, 3);
    const FieldPointer field = test::knob_field();
    RandomMotion random(2);
    for (int site = 0; site < 40; ++site) {
        const Pose pose = random.pose(0.3);
        const auto q = random.shape(3, 0.5);
        PointTraversal traversal(tree, field, {.budget = 400});
        int level = 0;
        for (int i = 0; i < 8; ++i) {
            // coherence makes room for deeper levels, never less
            (void)traversal.update(pose, q);
            EXPECT_GE(traversal.statistics().level, level);
            level = traversal.statistics().level;
        }
    }
}

TEST(TraversalBudget, AsPublishedALevelThatWasBegunIsFinished) {
    const PointTree tree = rigid_tree(6000, 5);
    const FieldPointer field = sphere_field(0.25);
    const Pose away{{5, 0, 0}, Quaternion::Identity()},
        touching{{0.1, 0, 0}, Quaternion::Identity()};
    const std::vector<int> needed = nodes_needed(tree, field, touching);
    ASSERT_LT(needed[2], needed[3]);

    PointTraversal traversal(tree, field,
                             {.budget = needed[2] + 1, .is_hard = false, .has_coherence = false});
    (void)traversal.update(away, {});
    (void)traversal.update(touching, {});  // warm: V < budget after level 2
    EXPECT_EQ(traversal.statistics().level, 3);
    EXPECT_EQ(traversal.statistics().visited, needed[3]);
    EXPECT_TRUE(traversal.statistics().is_truncated);
    traversal.forget();
    (void)traversal.update(touching, {});  // cold
    EXPECT_EQ(traversal.statistics().level, needed[1] < 0.8 * (needed[2] + 1) ? 2 : 1);
    // a budget below the first level is no error here
    EXPECT_NO_THROW(traversal.set_options({.budget = 1, .is_hard = false}));
    (void)traversal.update(touching, {});
    EXPECT_EQ(traversal.statistics().level, 0);
}

TEST(TraversalBudget, SweepsTakeTheDeepestLevelThatFits) {
    const PointTree tree = rigid_tree(6000, 5);
    const FieldPointer field = sphere_field(0.25);
    const Pose touching{{0.1, 0, 0}, Quaternion::Identity()};
    PointTraversal traversal(tree, field, {.budget = 1500, .has_tree = false});
    (void)traversal.update(touching, {});
    EXPECT_EQ(traversal.statistics().visited, 1500);
    EXPECT_EQ(traversal.statistics().level, 3);
    EXPECT_TRUE(traversal.statistics().is_truncated);
    EXPECT_EQ(test::sorted(contacts_of(traversal)),
              exhaustive_contacts(tree, *field, touching, {}, 3));
    traversal.set_options({.budget = 1500, .is_hard = false, .has_tree = false});
    (void)traversal.update(touching, {});
    EXPECT_EQ(traversal.statistics().visited, 6000);
}

TEST(TraversalBudget, OptionsOutOfRangeAreExplained) {
    const PointTree tree = rigid_tree(6000, 5);
    const auto make = [&](TraversalOptions options) {
        return [&tree, options] { PointTraversal(tree, sphere_field(0.25), options); };
    };
    EXPECT_THAT(input_error(make({.budget = 22})),
                HasSubstr("the budget of 22 nodes does not hold the first level of the pointshell, "
                          "which has 23; raise it"));
    EXPECT_THAT(input_error(make({.budget = -1})), HasSubstr("budget = -1"));
    EXPECT_THAT(input_error(make({.cold_fraction = 0})), HasSubstr("cold_fraction"));
    EXPECT_THAT(input_error(make({.cold_fraction = 1.5})), HasSubstr("0 < value <= 1"));
    EXPECT_THAT(input_error(make({.deepest_level = -1})), HasSubstr("deepest_level = -1"));
    EXPECT_EQ(input_error(make({.budget = 23})), "");
    PointTraversal traversal(tree, sphere_field(0.25));
    EXPECT_THAT(input_error([&] { traversal.calibrate(0); }), HasSubstr("a positive time"));
    EXPECT_THAT(input_error([&] { traversal.calibrate(std::nan("")); }), HasSubstr("seconds"));
}

TEST(TraversalBudget, MayBeChangedBetweenUpdatesWithinWhatItWasMadeFor) {
    const PointTree tree = soft_tree(6000, 5, 15);
    const FieldPointer field = test::knob_field();
    const int first_level = tree.level_start(1);
    PointTraversal changed(tree, field);
    for (const int budget : {300, 3000, 1000}) {
        changed.set_budget(budget);
        EXPECT_EQ(changed.options().budget, budget);
        // the same as one that was made with this budget
        PointTraversal made(tree, field, {.budget = budget});
        changed.forget();
        for (int i = 0; i < 20; ++i) {
            const Pose pose = test::pose_on_path(3e-3 * i, 0.4);
            const auto q = test::shape_on_path(3e-3 * i, 15, 0.4);
            ASSERT_EQ(changed.update(pose, q), StepStatus::Ok);
            ASSERT_EQ(made.update(pose, q), StepStatus::Ok);
            EXPECT_LE(changed.statistics().visited, budget);
            EXPECT_EQ(changed.statistics().level, made.statistics().level);
            EXPECT_EQ(contacts_of(changed), contacts_of(made));
        }
    }
    changed.set_budget(1);
    EXPECT_EQ(changed.options().budget, first_level);
    changed.set_budget(1 << 30);
    EXPECT_EQ(changed.options().budget, tree.num_nodes());
    PointTraversal small(tree, field, {.budget = 500});
    small.set_budget(5000);
    EXPECT_EQ(small.options().budget, 500) << "its arrays hold no more";
}

TEST(TraversalBudget, CalibrationSetsABudgetThatGrowsWithTheTime) {
    const PointTree tree = soft_tree(20000, 5, 15);
    PointTraversal traversal(tree, test::knob_field(),
                             {.cold_fraction = 0.7, .has_coherence = false});
    EXPECT_EQ(traversal.calibrate(1e-9), tree.level_start(1));
    EXPECT_EQ(traversal.options().budget, tree.level_start(1));
    EXPECT_EQ(traversal.options().cold_fraction, 0.7);
    EXPECT_FALSE(traversal.options().has_coherence);
    EXPECT_EQ(traversal.calibrate(1e3), tree.num_nodes());
    // a node takes between 1 ns and 10 µs on any machine
    const int budget = traversal.calibrate(5e-5);
    EXPECT_GE(budget, tree.level_start(1));
    EXPECT_LE(budget, tree.num_nodes());
    (void)traversal.update({{0.1, 0, 0}, Quaternion::Identity()}, std::vector<double>(15, 0.1));
    EXPECT_LE(traversal.statistics().visited, budget);
}

}  // namespace
}  // namespace pliant
