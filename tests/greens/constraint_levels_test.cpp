#include "pliant/greens/constraint_levels.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "pliant/core/allocation_guard.h"
#include "pliant/greens/distributed_contact.h"
#include "tests/greens/hierarchical_models.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using Status = ConstraintLevels::Status;

/// 642 vertices on four levels, 1 m and 10 kPa, with the columns of all levels.
std::shared_ptr<const GreensModel> pressed_body() {
    static const auto model = std::make_shared<const GreensModel>(
        with_coarser_columns(*test::kelvin_model(test::blob(3), 0.2), 0));
    return model;
}

std::vector<HeldNode> cap(const GreensModel& model, double least, const Vector3d& displacement) {
    std::vector<HeldNode> held;
    for (int i = 0; i < model.num_nodes(); ++i)
        if (model.reference.kinds[at(i)] == NodeKind::Free &&
            model.reference.positions[at(i)].normalized().z() > least)
            held.push_back({i, displacement, 0});
    return held;
}

/// docs/greens-constraints.md eq. (H10), with plain sums over all vertices.
TEST(ContactMap, KeepsTouchedAndCoveredVertices) {
    const auto model = pressed_body();
    const ReferenceProblem& reference = model->reference;
    const HierarchicalBasis& basis = *reference.hierarchy;
    std::mt19937 random(1);
    ContactMap map(reference, 642, 1, 0.5);
    const auto areas = basis.areas(reference.areas);
    int num_touched = 0, num_covered = 0;
    for (int round = 0; round < 20; ++round) {
        const Vector3d towards =
            Vector3d(double(random() % 100) - 50, double(random() % 100) - 50, 40).normalized();
        std::vector<HeldNode> held;
        for (int i = 0; i < model->num_nodes(); ++i)
            if (reference.kinds[at(i)] == NodeKind::Free &&
                reference.positions[at(i)].normalized().dot(towards) > 0.8 && random() % 5 > 0)
                held.push_back({i, 1e-3 * Vector3d(i, 2, -i % 7), 0});
        std::shuffle(held.begin(), held.end(), random);
        for (int level = 0; level <= 3; ++level) {
            const auto mapped = map.map(held, level);
            std::vector<HeldNode> expected;
            for (int k = 0; k < basis.num_vertices(level); ++k) {
                const int id = basis.id(level, k);
                if (!reference.functions->has_column(id)) continue;
                double covered = 0;
                Vector3d mean = Vector3d::Zero();
                const HeldNode* own = nullptr;
                for (const HeldNode& node : held) {
                    const double share =
                        basis.value(id, node.node) * reference.areas[at(node.node)];
                    covered += share;
                    mean += share * node.displacement;
                    if (node.node == k) own = &node;
                }
                if (own)
                    expected.push_back({id, own->displacement, 0});
                else if (covered >= 0.5 * areas[at(id)])
                    expected.push_back({id, mean / covered, 0});
                num_touched += own != nullptr;
                num_covered += !own && covered >= 0.5 * areas[at(id)];
            }
            if (expected.empty()) continue;
            ASSERT_EQ(mapped.size(), expected.size());
            std::vector<HeldNode> sorted(mapped.begin(), mapped.end());
            std::sort(sorted.begin(), sorted.end(),
                      [](const auto& a, const auto& b) { return a.node < b.node; });
            for (std::size_t k = 0; k < expected.size(); ++k) {
                EXPECT_EQ(sorted[k].node, expected[k].node);
                EXPECT_LT((sorted[k].displacement - expected[k].displacement).norm(), 1e-15);
            }
        }
    }
    EXPECT_GT(num_touched, 100);
    EXPECT_GT(num_covered, 20);
}

TEST(ContactMap, EveryGroupKeepsANode) {
    const auto model = pressed_body();
    ContactMap map(model->reference, 642, 3);
    std::vector<HeldNode> held = cap(*model, 0.7, {0, 0, -0.01});
    // one node of the finest level far from it, as another thing touches it
    int alone = 600;
    while (model->reference.kinds[at(alone)] == NodeKind::Fixed ||
           model->reference.positions[at(alone)].normalized().z() > 0.2)
        ++alone;
    held.push_back({alone, {0.02, 0, 0}, 2});
    for (int level = 0; level <= 3; ++level) {
        const auto mapped = map.map(held, level);
        const auto count = std::count_if(mapped.begin(), mapped.end(),
                                         [](const HeldNode& node) { return node.group == 2; });
        ASSERT_EQ(count, 1) << level;
        const auto found = std::find_if(mapped.begin(), mapped.end(),
                                        [](const HeldNode& node) { return node.group == 2; });
        EXPECT_LT((found->displacement - Vector3d(0.02, 0, 0)).norm(), 1e-15);
        EXPECT_GT(model->reference.hierarchy->value(found->node, alone), 0.3);
    }
    EXPECT_TRUE(map.map({}, 1).empty());
}

/// Times of a machine that needs 1.3 ns for each operation of docs/greens.md eqs. (10)–(12).
UpdateCosts counted_costs() {
    std::vector<UpdateTiming> timings;
    for (const double s : {2., 5., 10., 20., 40., 60., 100.}) {
        timings.push_back({s, 0, 0, false, 1.3e-9 * 72 * s * s * s});
        for (const double a : {1., 2., 5., 10., 20., 40.})
            for (const double r : {0., 1., 3., 10., 30.})
                if (a <= s && a + r > 0) {
                    const double s1 = s - a, whole = s1 + r;
                    const double cut = 54 * r * whole * whole + 54 * r * r * whole + 72 * r * r * r;
                    const double add = 162 * (a * s1 * s1 + a * a * s1 + 4. / 9 * a * a * a) +
                                       9 * (s1 * s1 + a * a);
                    timings.push_back({s, a, r, true, 1.3e-9 * (cut + add)});
                }
    }
    return UpdateCosts::fit(timings);
}

/// Operations of what the solver did and of the sums of the frame, at 1 ns each.
double counted_seconds(const CapacitanceSolver& solver, bool has_solved, int num_nodes) {
    const double s = solver.report().size / 3.0, a = solver.report().added / 3.0,
                 r = solver.report().removed / 3.0, s1 = s - a, whole = s1 + r;
    double operations = 18 * s * s;
    if (has_solved && solver.report().status == CapacitanceStatus::Refactored)
        operations += 72 * s * s * s;
    if (has_solved && solver.report().status == CapacitanceStatus::Updated)
        operations += 54 * r * whole * whole + 54 * r * r * whole + 72 * r * r * r +
                      162 * (a * s1 * s1 + a * a * s1 + 4. / 9 * a * a * a) + 9 * (s1 * s1 + a * a);
    operations += 18.0 * num_nodes * static_cast<double>(solver.known_columns().size());
    return 1e-9 * operations;
}

/// A ball that is pressed into the body and drawn back: nodes in contact and where they are held,
/// frame by frame, as unilateral contact on the finest level has them.
struct PressedFrames {
    std::vector<std::vector<HeldNode>> frames;
    std::size_t most = 0;
};

constexpr double kBall = 2, kDepth = 0.18;  // [m]
constexpr int kHalf = 100;                  // frames
constexpr double kStep = kDepth / kHalf;

const PressedFrames& pressed_frames() {
    static const PressedFrames result = [] {
        PressedFrames script;
        const auto model = pressed_body();
        DistributedContact contact(model, {RigidShape::sphere(kBall)}, UpdateCosts(),
                                   {.max_nodes = 200});
        double top = 0;
        for (const Vector3d& x : model->reference.positions) top = std::max(top, x.z());
        for (int f = 0; f <= 2 * kHalf; ++f) {
            const double depth = kDepth * (1 - std::abs(f - kHalf) / double(kHalf)) - 0.002;
            const Pose pose{{0.02, 0.01, top + kBall - depth}, Eigen::Quaterniond::Identity()};
            (void)contact.step({&pose, 1});
            std::vector<HeldNode> held;
            for (const TouchedNode& touched : contact.touched())
                held.push_back(
                    {touched.node,
                     pose.to_world(touched.anchor) - model->reference.positions[at(touched.node)],
                     0});
            script.most = std::max(script.most, held.size());
            script.frames.push_back(held);
        }
        return script;
    }();
    return result;
}

struct PressedRun {
    std::vector<int> levels;
    double largest_predicted = 0, largest_counted = 0;
    double largest_change = 0;  // of a displacement between frames [m]
    double largest_switch = 0;  // of the frames in which the level changed
    int num_switches = 0, num_kept = 0;
    std::size_t allocations = 0;
};

PressedRun run_pressed(double budget, int fade_frames) {
    const auto model = pressed_body();
    const int n = model->num_nodes();
    static const UpdateCosts costs = counted_costs();
    CapacitanceSolver solver(model->reference, costs,
                             {.max_dofs = 600, .cache = {.max_bytes = std::size_t{32} << 20}});
    ConstraintLevels levels(
        model->reference,
        {.budget = budget, .block_seconds = 1.3 * 18e-9, .fade_frames = fade_frames});
    std::vector<float> shown(3 * at(n), 0.0f), before(3 * at(n), 0.0f);
    PressedRun run;
    for (const auto& held : pressed_frames().frames) {
        std::swap(shown, before);
        AllocationGuard guard;
        const Status status = levels.solve(solver, held);
        solver.evaluate(n);
        levels.write_displacements(solver, shown);
        run.allocations += guard.count();
        EXPECT_NE(status, Status::BadInput);
        const bool has_solved = status != Status::Kept;
        run.num_kept += !has_solved;
        if (has_solved)
            run.largest_predicted = std::max(run.largest_predicted, levels.report().predicted);
        run.largest_counted = std::max(run.largest_counted, counted_seconds(solver, has_solved, n));
        double change = 0;
        for (int i = 0; i < n; ++i)
            change = std::max(change, double((Eigen::Map<Eigen::Vector3f>(shown.data() + 3 * i) -
                                              Eigen::Map<Eigen::Vector3f>(before.data() + 3 * i))
                                                 .norm()));
        if (run.levels.empty()) change = 0;
        run.largest_change = std::max(run.largest_change, change);
        if (status == Status::Degraded || status == Status::Refined) {
            ++run.num_switches;
            run.largest_switch = std::max(run.largest_switch, change);
        }
        run.levels.push_back(levels.level());
    }
    return run;
}

TEST(ConstraintLevels, GrowingContactStaysWithinEveryBudget) {
    // as fine as it is, a frame takes 2.2 ms, and nothing moves faster than the ball
    const PressedRun unlimited = run_pressed(1, 4);
    EXPECT_EQ(pressed_frames().most, 58u);
    EXPECT_GT(unlimited.largest_counted, 2e-3);
    EXPECT_EQ(unlimited.num_switches, 0);
    EXPECT_LT(unlimited.largest_change, 1.01 * kStep);

    struct Expected {
        double budget;  // [s]
        int coarsest, num_switches;
        double change;  // largest between frames, in steps of the ball
    };
    for (const Expected& expected : {Expected{2e-3, 2, 2, 2.3}, Expected{1e-3, 2, 2, 2.3},
                                     Expected{4e-4, 2, 2, 2.2}, Expected{1.5e-4, 1, 4, 4.6}}) {
        const PressedRun run = run_pressed(expected.budget, 4),
                         sudden = run_pressed(expected.budget, 1);
        EXPECT_LE(run.largest_predicted, expected.budget);
        EXPECT_LE(run.largest_counted, expected.budget);
        EXPECT_EQ(run.num_kept, 0);
        EXPECT_EQ(run.allocations, 0u);
        EXPECT_EQ(*std::min_element(run.levels.begin(), run.levels.end()), expected.coarsest);
        EXPECT_EQ(run.levels.front(), 3);
        EXPECT_EQ(run.levels.back(), 3);
        EXPECT_EQ(run.num_switches, expected.num_switches);
        // no jump: the ball's step, and a quarter of what the jump would have been
        EXPECT_LT(run.largest_change, expected.change * kStep) << expected.budget;
        EXPECT_LT(run.largest_change, unlimited.largest_change + 1.02 * sudden.largest_change / 4);
        EXPECT_GT(sudden.largest_change, 1.7 * run.largest_change);
    }
}

TEST(ConstraintLevels, FadesLinearlyFromWhatWasShown) {
    const auto model = pressed_body();
    const int n = model->num_nodes();
    CapacitanceSolver solver(model->reference, UpdateCosts(), {.max_dofs = 600});
    ConstraintLevels levels(model->reference, {.budget = 1, .fade_frames = 4});
    const auto held = cap(*model, 0.6, {0, 0, -0.05});
    const auto show = [&] {
        solver.evaluate(n);
        std::vector<float> out(3 * at(n));
        levels.write_displacements(solver, out);
        return Eigen::Map<Eigen::VectorXf>(out.data(), 3 * n).eval();
    };
    ASSERT_EQ(levels.solve(solver, held), Status::Solved);
    const Eigen::VectorXf fine = show();
    ASSERT_TRUE(levels.set_budget(2e-5));
    ASSERT_EQ(levels.solve(solver, held), Status::Degraded);
    std::vector<float> now(3 * at(n));
    std::vector<Eigen::VectorXf> shown{show()};
    solver.write_displacements(now);
    const Eigen::VectorXf coarse = Eigen::Map<Eigen::VectorXf>(now.data(), 3 * n);
    for (int f = 1; f < 5; ++f) {
        ASSERT_EQ(levels.solve(solver, held), Status::Solved);
        shown.push_back(show());
    }
    for (int f = 0; f < 5; ++f) {
        const float part = std::min(1.0f, float(f + 1) / 4);
        const Eigen::VectorXf expected = fine + part * (coarse - fine);
        EXPECT_LT((shown[at(f)] - expected).lpNorm<Eigen::Infinity>(), 1e-7f) << f;
    }
    EXPECT_GT((coarse - fine).lpNorm<Eigen::Infinity>(), 1e-3f);
    // conditions of the coarse level are met by what is shown at last
    for (const HeldNode& node : levels.conditions()) {
        const int vertex = model->reference.hierarchy->vertex_of(node.node);
        EXPECT_LT((shown[4].segment<3>(3 * vertex).cast<double>() - node.displacement).norm(),
                  1e-5);
    }
}

TEST(ConstraintLevels, ReturnsOnlyAfterCalmFrames) {
    const auto model = pressed_body();
    static const UpdateCosts costs = counted_costs();
    CapacitanceSolver solver(model->reference, costs, {.max_dofs = 600});
    ConstraintLevels levels(model->reference,
                            {.budget = 1.2e-3, .block_seconds = 1.3 * 18e-9, .calm_frames = 6});
    const auto small = cap(*model, 0.95, {0, 0, -0.01}), large = cap(*model, 0.6, {0, 0, -0.01});
    ASSERT_EQ(levels.solve(solver, small), Status::Solved);
    ASSERT_EQ(levels.level(), 3);
    ASSERT_EQ(levels.solve(solver, large), Status::Degraded);
    const int coarse = levels.level();
    // to and fro: not finer as long as every fifth frame is too much for it
    for (int f = 1; f <= 40; ++f) {
        ASSERT_EQ(levels.solve(solver, f % 5 == 0 ? large : small), Status::Solved) << f;
        EXPECT_EQ(levels.level(), coarse);
    }
    for (int f = 1; f <= 5; ++f) {
        EXPECT_EQ(levels.solve(solver, small), Status::Solved);
        EXPECT_EQ(levels.report().calm, f);
    }
    EXPECT_EQ(levels.solve(solver, small), Status::Refined);
    EXPECT_EQ(levels.level(), coarse + 1);
}

TEST(ConstraintLevels, KeepsTheLastSolutionWhereNothingFits) {
    const auto model = pressed_body();
    CapacitanceSolver solver(model->reference, UpdateCosts(), {.max_dofs = 600});
    ConstraintLevels levels(model->reference, {.coarsest = 2, .budget = 1});
    const auto held = cap(*model, 0.8, {0, 0, -0.01});
    ASSERT_EQ(levels.solve(solver, held), Status::Solved);
    const auto force = solver.force(std::vector<int>{held[0].node});
    EXPECT_GT(force.norm(), 0);
    ASSERT_TRUE(levels.set_budget(1e-9));
    EXPECT_FALSE(levels.set_budget(0));
    EXPECT_FALSE(levels.set_budget(kNan));
    EXPECT_EQ(levels.solve(solver, cap(*model, 0.7, {0, 0, -0.02})), Status::Kept);
    EXPECT_EQ(levels.report().solver, CapacitanceStatus::OverBudget);
    EXPECT_EQ(solver.force(std::vector<int>{held[0].node}), force);
    EXPECT_EQ(levels.conditions().size(), held.size());
    // another level may be solvable where one is too large for the solver
    CapacitanceSolver little(model->reference, UpdateCosts(), {.max_dofs = 60});
    ConstraintLevels roomy(model->reference, {.budget = 1});
    EXPECT_EQ(roomy.solve(little, cap(*model, 0.5, {0, 0, -0.02})), Status::Degraded);
    EXPECT_LE(roomy.conditions().size(), 20u);
}

TEST(ConstraintLevels, RefusesBadInput) {
    const auto model = pressed_body();
    CapacitanceSolver solver(model->reference, UpdateCosts(), {.max_dofs = 600});
    ConstraintLevels levels(model->reference, {.max_nodes = 4});
    const HeldNode good{cap(*model, 0.9, {})[0].node, {0, 0, -0.01}, 0};
    const auto refuses = [&](const std::vector<HeldNode>& held) {
        return levels.solve(solver, held) == Status::BadInput;
    };
    EXPECT_TRUE(refuses({good, good}));
    EXPECT_TRUE(refuses({{good.node, {0, kNan, 0}, 0}}));
    EXPECT_TRUE(refuses({{good.node, {0, 0, 0}, 1}}));
    EXPECT_TRUE(refuses({{-1, {0, 0, 0}, 0}}));
    EXPECT_TRUE(refuses({{model->num_nodes(), {0, 0, 0}, 0}}));
    EXPECT_TRUE(refuses(std::vector<HeldNode>(5)));
    int fixed = 0;
    while (model->reference.kinds[at(fixed)] == NodeKind::Free) ++fixed;
    EXPECT_TRUE(refuses({{fixed, {0, 0, 0}, 0}}));
    EXPECT_FALSE(refuses({good}));

    const auto error = [&](const ConstraintLevelOptions& options) {
        return test::input_error([&] { ConstraintLevels(model->reference, options); });
    };
    EXPECT_EQ(error({.coarsest = 4}), "levels.coarsest = 4 (expected 0 to 3)");
    EXPECT_EQ(error({.budget = 0}), "levels.budget = 0.000000 (expected value > 0 [s])");
    EXPECT_EQ(error({.cover = 1.5}), "levels.cover = 1.500000 (expected 0 < value <= 1)");
    EXPECT_EQ(test::input_error(
                  [] { ConstraintLevels(test::kelvin_model(test::blob(1), 0.3)->reference); }),
              "constraint levels: the body has no columns of coarser levels; refine them first");
}

}  // namespace
}  // namespace pliant
