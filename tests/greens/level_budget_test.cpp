#include "pliant/greens/level_budget.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "pliant/core/allocation_guard.h"
#include "tests/greens/hierarchical_models.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::HierarchicalBlob;

/// Dense functions that count the blocks of Ξ that are read.
class ReadBlocks final : public GreensFunctions {
public:
    explicit ReadBlocks(std::shared_ptr<const GreensFunctions> counted)
        : counted_(std::move(counted)) {}
    [[nodiscard]] int num_nodes() const noexcept override { return counted_->num_nodes(); }
    [[nodiscard]] int block() const noexcept override { return counted_->block(); }
    [[nodiscard]] int num_column_levels() const noexcept override {
        return counted_->num_column_levels();
    }
    [[nodiscard]] bool has_column(int column) const noexcept override {
        return counted_->has_column(column);
    }
    void element(int i, int j, float* values) const noexcept override {
        ++num_blocks;
        counted_->element(i, j, values);
    }
    void add_columns(std::span<const int> nodes, std::span<const float> weights,
                     std::span<float> out) const noexcept override {
        num_blocks += nodes.size() * out.size() / 3;
        counted_->add_columns(nodes, weights, out);
    }
    [[nodiscard]] int num_body_columns() const noexcept override { return 0; }
    void body_element(int, int, float*) const noexcept override {}
    void add_body_columns(std::span<const float>, std::span<float>) const noexcept override {}
    [[nodiscard]] int num_readouts() const noexcept override { return 0; }
    void add_readouts(std::span<const int>, std::span<const float>,
                      std::span<float>) const noexcept override {}
    void add_body_readouts(std::span<const float>, std::span<float>) const noexcept override {}

    mutable std::size_t num_blocks = 0;

private:
    std::shared_ptr<const GreensFunctions> counted_;
};

/// A ball of radius 2 above a body of 642 vertices with columns of all levels.
class BudgetedTouch : public ::testing::Test {
protected:
    static const HierarchicalBlob& blob() {
        static const HierarchicalBlob made = test::hierarchical_blob(3);
        return made;
    }
    explicit BudgetedTouch()
        : counted_(std::make_shared<ReadBlocks>(blob().model->reference.functions)),
          model_(counted_model(counted_)),
          contact_(model_, {RigidShape::sphere(2)}, UpdateCosts(), {.max_nodes = 200}) {}

    static std::shared_ptr<const GreensModel> counted_model(
        const std::shared_ptr<const GreensFunctions>& functions) {
        auto model = std::make_shared<GreensModel>(*blob().model);
        model->reference.functions = functions;
        return model;
    }

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
    std::shared_ptr<const ReadBlocks> counted_;
    std::shared_ptr<const GreensModel> model_;
    DistributedContact contact_;
};

TEST_F(BudgetedTouch, GrowingContactGoesCoarserAtOnceAndFinerWhenItIsCalm) {
    const double budget = 4e-5;
    LevelBudget levels = levels_for(budget);
    EXPECT_EQ(levels.finest(), -1);
    int coarsest = 3, changes = 0, before = 3;
    for (int frame = 0; frame <= 100; ++frame) {
        const Pose pose = pressed_by(0.0036 * std::min(frame, 100 - frame));
        counted_->num_blocks = 0;
        (void)levels.step(contact_, {&pose, 1}, 0);
        contact_.solver().evaluate(contact_.solver().reference().functions->num_nodes());
        // what was done, on levels that were given up as well: inverses, and 1 ns for a block
        ASSERT_GT(level(), 0) << "frame " << frame;
        const double done = levels.spent() + 1e-9 * static_cast<double>(counted_->num_blocks);
        EXPECT_LE(done, budget) << "frame " << frame;
        EXPECT_LE(needed(levels), budget) << "frame " << frame;
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

/// All at once: finer levels are given up before anything is solved on them.
TEST_F(BudgetedTouch, SuddenContactPaysForTheLevelThatFitsAlone) {
    LevelBudget levels = levels_for(1e-4);
    const Pose pose = pressed_by(0.18);
    counted_->num_blocks = 0;
    (void)levels.step(contact_, {&pose, 1}, 0);
    const std::size_t num_blocks = counted_->num_blocks;
    ASSERT_EQ(level(), 1);
    EXPECT_EQ(contact_.report().status, DistributedContact::Status::Settled);
    EXPECT_GT(levels.spent(), 0);
    EXPECT_LE(levels.spent() + 1e-9 * static_cast<double>(num_blocks), 1e-4);

    DistributedContact alone(model_, {RigidShape::sphere(2)}, UpdateCosts(),
                             {.max_nodes = 200, .level = 1});
    counted_->num_blocks = 0;
    (void)alone.step({&pose, 1});
    EXPECT_EQ(levels.spent(), alone.report().seconds);
    EXPECT_EQ(num_blocks, counted_->num_blocks);
    EXPECT_EQ(contact_.load(0).force, alone.load(0).force);
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
