#include "pliant/contact/point_traversal.h"

#include "contact/traversal_samples.h"
#include "core/numbers.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/simd.h"

#include <gtest/gtest.h>

#include <set>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::contacts_of;
using test::exhaustive_contacts;
using test::RandomMotion;
using test::rigid_tree;
using test::soft_tree;

struct NamedTree {
    const char* name;
    PointTree tree;
};
std::vector<NamedTree> named_trees() {
    return {{"rigid", rigid_tree(3000, 4)},
            {"r = 15", soft_tree(3000, 4, 15)},
            {"r = 3", soft_tree(1500, 3, 3)},
            {"r = 22", soft_tree(1500, 3, 22)}};
}

/// Every point once.
void expect_no_repetition(const PointTraversal& traversal) {
    const ContactPoints& c = traversal.contacts();
    std::set<int> points;
    for (int i = 0; i < c.count; ++i) {
        const auto k = static_cast<std::size_t>(i);
        EXPECT_TRUE(points.insert(c.point[k]).second);
        EXPECT_EQ(traversal.tree().nodes()[static_cast<std::size_t>(c.node[k])].point, c.point[k]);
    }
}

TEST(PointTraversal, FindsWhatAskingEveryPointFinds) {
    RandomMotion random(1);
    int num_touching = 0;
    for (const auto& [field_name, field] : test::sample_fields())
        for (const auto& [tree_name, tree] : named_trees()) {
            SCOPED_TRACE(std::string(field_name) + ", " + tree_name);
            PointTraversal traversal(tree, field);
            for (int i = 0; i < 40; ++i) {
                const Pose pose = random.pose(0.4);
                const auto q = random.shape(tree.rank(), random(0, 1));
                ASSERT_EQ(traversal.update(pose, q), StepStatus::Ok);
                const auto expected =
                    exhaustive_contacts(tree, *field, pose, q, tree.num_levels() - 1);
                ASSERT_EQ(test::sorted(contacts_of(traversal)), expected) << i;
                EXPECT_EQ(traversal.statistics().contacts, static_cast<int>(expected.size()));
                EXPECT_EQ(traversal.statistics().level, tree.num_levels() - 1);
                EXPECT_FALSE(traversal.statistics().is_truncated);
                expect_no_repetition(traversal);
                num_touching += !expected.empty() && expected.size() < 1000;
            }
        }
    EXPECT_GT(num_touching, 200);  // of 640
}

TEST(PointTraversal, PositionsAreThoseOfTheTree) {
    const PointTree tree = soft_tree(1500, 3, 15);
    PointTraversal traversal(tree, sphere_field(0.25));
    RandomMotion random(2);
    int count = 0;
    for (int i = 0; i < 20; ++i) {
        const Pose pose = random.pose(0.3);
        const auto q = random.shape(15, 0.6);
        (void)traversal.update(pose, q);
        const ContactPoints& c = traversal.contacts();
        for (std::size_t k = 0; k < static_cast<std::size_t>(c.count); ++k, ++count) {
            const Vector3d x = pose.to_world(tree.position(c.node[k], q));
            // some twenty roundings of lengths below 1 m
            EXPECT_LT((Vector3d(c.x[k], c.y[k], c.z[k]) - x).norm(), 1e-6);
            EXPECT_NEAR(c.distance[k], x.norm() - 0.25, 1e-6);
        }
    }
    EXPECT_GT(count, 500);
}

/// Along smooth motions with jumps; returns how many nodes rested.
long long compare_with_and_without_coherence(const PointTree& tree, const FieldPointer& field,
                                             double speed, unsigned seed) {
    PointTraversal coherent(tree, field);
    PointTraversal plain(tree, field, {.has_coherence = false});
    RandomMotion random(seed);
    double t = random(0, 10);
    long long skipped = 0, visited = 0, visited_plain = 0;
    for (int i = 0; i < 150; ++i) {
        t += i % 37 == 36 ? random(0.5, 5) : speed;
        const Pose pose = test::pose_on_path(t, 0.5);
        const auto q = test::shape_on_path(t, tree.rank(), 0.4);
        EXPECT_EQ(coherent.update(pose, q), StepStatus::Ok);
        EXPECT_EQ(plain.update(pose, q), StepStatus::Ok);
        const bool is_same = contacts_of(coherent) == contacts_of(plain);
        EXPECT_TRUE(is_same) << "tick " << i;
        if (!is_same) break;
        if (i % 10 == 0) {
            EXPECT_EQ(test::sorted(contacts_of(coherent)),
                      exhaustive_contacts(tree, *field, pose, q, tree.num_levels() - 1));
        }
        EXPECT_EQ(plain.statistics().skipped, 0);
        EXPECT_LE(coherent.statistics().visited, plain.statistics().visited);
        skipped += coherent.statistics().skipped;
        visited += coherent.statistics().visited;
        visited_plain += plain.statistics().visited;
    }
    EXPECT_LT(visited, visited_plain);
    return skipped;
}

TEST(PointTraversal, CoherenceChangesNothing) {
    for (const auto& [field_name, field] : test::sample_fields())
        for (const auto& [tree_name, tree] : named_trees()) {
            SCOPED_TRACE(std::string(field_name) + ", " + tree_name);
            EXPECT_GT(compare_with_and_without_coherence(tree, field, 1e-3, 1), 1000);
            EXPECT_GT(compare_with_and_without_coherence(tree, field, 2e-2, 2), 10);
        }
}

TEST(PointTraversal, DeformationAloneWakesNodes) {
    const PointTree tree = soft_tree(3000, 4, 3);
    const FieldPointer field = sphere_field(0.25);
    PointTraversal traversal(tree, field);
    // apart at rest by 3 cm
    const Pose pose{{0.48, 0.05, -0.2}, Quaternion::Identity()};
    int num_touching = 0, num_apart = 0;
    long long skipped = 0;
    for (int i = 0; i < 400; ++i) {
        const auto q = test::shape_on_path(0.01 * i, 3, 2.0);
        (void)traversal.update(pose, q);
        const auto expected = exhaustive_contacts(tree, *field, pose, q, 3);
        ASSERT_EQ(test::sorted(contacts_of(traversal)), expected) << i;
        ++(expected.empty() ? num_apart : num_touching);
        skipped += traversal.statistics().skipped;
    }
    EXPECT_GT(num_touching, 30);
    EXPECT_GT(num_apart, 30);
    EXPECT_GT(skipped, 1000);
}

TEST(PointTraversal, NodesRestWhileNothingMoves) {
    const PointTree tree = rigid_tree(3000, 4);
    PointTraversal traversal(tree, sphere_field(0.25));
    const Pose pose{{0.2, 0, 0.1}, Quaternion::Identity()};
    (void)traversal.update(pose, {});
    const auto before = contacts_of(traversal);
    ASSERT_FALSE(before.empty());
    const int visited = traversal.statistics().visited;
    (void)traversal.update(pose, {});
    EXPECT_EQ(contacts_of(traversal), before);
    EXPECT_LT(traversal.statistics().visited, visited);
    EXPECT_GT(traversal.statistics().skipped, 0);
    traversal.forget();
    (void)traversal.update(pose, {});
    EXPECT_EQ(traversal.statistics().visited, visited);
    EXPECT_EQ(traversal.statistics().skipped, 0);
    EXPECT_EQ(contacts_of(traversal), before);
}

TEST(PointTraversal, EveryLevelEqualsAskingItsPoints) {
    const PointTree tree = soft_tree(3000, 4, 15);
    const FieldPointer field = test::knob_field();
    RandomMotion random(3);
    for (int level = 0; level < 4; ++level) {
        PointTraversal traversal(tree, field, {.deepest_level = level});
        PointTraversal sweep(tree, field, {.has_tree = false, .deepest_level = level});
        for (int i = 0; i < 30; ++i) {
            const Pose pose = random.pose(0.3);
            const auto q = random.shape(15, 0.6);
            (void)traversal.update(pose, q);
            (void)sweep.update(pose, q);
            const auto expected = exhaustive_contacts(tree, *field, pose, q, level);
            ASSERT_EQ(test::sorted(contacts_of(traversal)), expected);
            ASSERT_EQ(test::sorted(contacts_of(sweep)), expected);
            EXPECT_EQ(traversal.statistics().level, level);
            EXPECT_FALSE(traversal.statistics().is_truncated);
            EXPECT_EQ(sweep.statistics().visited,
                      tree.level_start(level + 1) - tree.level_start(level));
        }
    }
}

TEST(PointTraversal, EveryInstructionSetFindsTheSame) {
    const PointTree tree = soft_tree(3000, 4, 15);
    const FieldPointer field = test::knob_field();
    RandomMotion random(4);
    for (int i = 0; i < 20; ++i) {
        const Pose pose = random.pose(0.3);
        const auto q = random.shape(15, 0.6);
        std::vector<test::FoundContact> first;
        for (const std::string& target : simd_targets()) {
            SCOPED_TRACE(target);
            const ScopedSimdTarget scope(target);
            PointTraversal traversal(tree, field);
            (void)traversal.update(pose, q);
            const auto found = test::sorted(contacts_of(traversal));
            ASSERT_EQ(found, exhaustive_contacts(tree, *field, pose, q, 3));
            if (target == simd_targets().front()) first = found;
            if (target == "AVX2" && simd_targets().front() == "AVX3") {
                EXPECT_EQ(found, first);
            }
            // sums with and without fused products differ by rounding
            std::set<int> points;
            for (const test::FoundContact& c : found) points.insert(c.point);
            for (const test::FoundContact& c : first) {
                if (c.distance < -1e-6) {
                    EXPECT_TRUE(points.contains(c.point));
                }
            }
            EXPECT_NEAR(static_cast<double>(points.size()), static_cast<double>(first.size()), 2);
        }
    }
}

/// A ball that swells and shrinks, and is trusted more or less.
class BreathingBall final : public DistanceField {
public:
    void distances(const PointBatch& p, float* distance) const noexcept override {
        for (int i = 0; i < p.count; ++i)
            distance[i] = std::sqrt(p.x[i] * p.x[i] + p.y[i] * p.y[i] + p.z[i] * p.z[i]) - radius;
    }
    void samples(const PointBatch& p, const SampleBatch& s) const noexcept override {
        distances(p, s.distance);
    }
    [[nodiscard]] const Box& bounds() const noexcept override { return box_; }
    [[nodiscard]] CullingMargin margin() const noexcept override { return trust; }
    [[nodiscard]] double resolution() const noexcept override { return 0; }
    float radius = 0.2f;
    CullingMargin trust;

private:
    Box box_{Vector3d::Constant(-1), Vector3d::Constant(1)};
};

TEST(PointTraversal, TravelOfTheFieldWakesNodes) {
    const PointTree tree = rigid_tree(3000, 4);
    const auto ball = std::make_shared<BreathingBall>();
    PointTraversal traversal(tree, ball);
    const Pose pose{{0.3, 0.1, 0.0}, Quaternion::Identity()};
    long long skipped = 0;
    std::size_t most = 0;
    for (int i = 0; i < 400; ++i) {
        const float before = ball->radius;
        ball->radius = static_cast<float>(0.15 + 0.15 * std::sin(0.02 * i));
        (void)traversal.update(pose, {}, double{std::abs(ball->radius - before)});
        const auto expected = exhaustive_contacts(tree, *ball, pose, {}, 3);
        ASSERT_EQ(test::sorted(contacts_of(traversal)), expected) << i;
        skipped += traversal.statistics().skipped;
        most = std::max(most, expected.size());
    }
    EXPECT_GT(skipped, 1000);
    EXPECT_GT(most, 300u);
}

/// A field whose values stretch lengths: 1-Lipschitz only after division.
class StretchedBall final : public DistanceField {
public:
    void distances(const PointBatch& p, float* distance) const noexcept override {
        for (int i = 0; i < p.count; ++i)
            distance[i] =
                stretch * (std::sqrt(p.x[i] * p.x[i] + p.y[i] * p.y[i] + p.z[i] * p.z[i]) - 0.2f);
    }
    void samples(const PointBatch& p, const SampleBatch& s) const noexcept override {
        distances(p, s.distance);
    }
    [[nodiscard]] const Box& bounds() const noexcept override { return box_; }
    [[nodiscard]] CullingMargin margin() const noexcept override {
        CullingMargin m;
        m.stretch = stretch;
        return m;
    }
    [[nodiscard]] double resolution() const noexcept override { return 0; }
    float stretch = 2;

private:
    Box box_{Vector3d::Constant(-1), Vector3d::Constant(1)};
};

TEST(PointTraversal, StretchIsTakenIntoAccount) {
    const PointTree tree = rigid_tree(3000, 4);
    const auto ball = std::make_shared<StretchedBall>();
    PointTraversal traversal(tree, ball);
    int num_touching = 0;
    for (int i = 0; i < 300; ++i) {
        const Pose pose = test::pose_on_path(1e-2 * i, 0.4);
        const float before = ball->stretch;
        ball->stretch = static_cast<float>(2 + 0.5 * std::sin(0.05 * i));
        // values change by so much within the reach of the shell
        const double travel = std::abs(ball->stretch - before) * 1.5;
        (void)traversal.update(pose, {}, travel);
        const auto expected = exhaustive_contacts(tree, *ball, pose, {}, 3);
        ASSERT_EQ(test::sorted(contacts_of(traversal)), expected) << i;
        num_touching += !expected.empty();
    }
    EXPECT_GT(num_touching, 30);
}

TEST(PointTraversal, LosingTrustWakesNodes) {
    const PointTree tree = rigid_tree(3000, 4);
    const Pose pose{{0.3, 0.1, 0.0}, Quaternion::Identity()};
    CullingMargin wide, stretched;
    wide.near = wide.far = 0.05f;
    stretched.stretch = 1.2f;
    for (const CullingMargin& trust : {wide, stretched}) {
        const auto ball = std::make_shared<BreathingBall>();
        PointTraversal traversal(tree, ball);
        (void)traversal.update(pose, {});
        (void)traversal.update(pose, {});
        const TraversalStatistics before = traversal.statistics();
        EXPECT_GT(before.skipped, 100);
        ball->trust = trust;
        (void)traversal.update(pose, {});
        EXPECT_GT(traversal.statistics().visited, before.visited + 100);
        EXPECT_LT(traversal.statistics().skipped, before.skipped);
        // gaining trust is no reason to look again
        ball->trust = {};
        (void)traversal.update(pose, {});
        EXPECT_LT(traversal.statistics().visited, before.visited + 100);
    }
}

/// The half-space x < 3000 m, exact.
class FarWall final : public DistanceField {
public:
    void distances(const PointBatch& p, float* distance) const noexcept override {
        for (int i = 0; i < p.count; ++i) distance[i] = p.x[i] - 3000;
    }
    void samples(const PointBatch& p, const SampleBatch& s) const noexcept override {
        distances(p, s.distance);
    }
    [[nodiscard]] const Box& bounds() const noexcept override { return box_; }
    [[nodiscard]] CullingMargin margin() const noexcept override { return {}; }
    [[nodiscard]] double resolution() const noexcept override { return 0; }

private:
    Box box_{Vector3d::Constant(-kInfinity), Vector3d::Constant(kInfinity)};
};

TEST(PointTraversal, RoundingOfPositionsHidesNoContact) {
    // one point hangs below another, straight at a wall so far away that floats are 0.24 mm apart
    const auto wall = std::make_shared<FarWall>();
    RandomMotion random(6);
    int num_touching = 0;
    for (int i = 0; i < 2000; ++i) {
        Pose pose{{3000.3 + random(-6e-4, 6e-4), 0, 0}, random.pose(1).rotation};
        const Vector3d root = random.vector(0.5);
        const Vector3d below = root - pose.rotation.conjugate() * Vector3d(0.3, 0, 0);
        pose.position.x() -= (pose.rotation * root).x();
        Pointshell shell;
        shell.points = {root.cast<float>(), below.cast<float>()};
        shell.normals = {Eigen::Vector3f::UnitX(), Eigen::Vector3f::UnitX()};
        shell.level_start = {0, 1, 2};
        const PointTree tree(shell);
        PointTraversal traversal(tree, wall);
        (void)traversal.update(pose, {});
        ASSERT_EQ(test::sorted(contacts_of(traversal)),
                  exhaustive_contacts(tree, *wall, pose, {}, 1));
        num_touching += traversal.contacts().count;
    }
    EXPECT_GT(num_touching, 500);
    EXPECT_LT(num_touching, 1500);
}

TEST(PointTraversal, FarFromTheOriginRoundingIsAllowedFor) {
    const PointTree tree = rigid_tree(3000, 4);
    const Vector3d far(3000, -2000, 1000);
    const FieldPointer field = move_field(sphere_field(0.25), far, Eigen::Quaterniond::Identity());
    PointTraversal traversal(tree, field);
    int num_touching = 0;
    for (int i = 0; i < 300; ++i) {
        Pose pose = test::pose_on_path(3e-3 * i, 0.4);
        pose.position += far;
        (void)traversal.update(pose, {});
        const auto expected = exhaustive_contacts(tree, *field, pose, {}, 3);
        ASSERT_EQ(test::sorted(contacts_of(traversal)), expected) << i;
        num_touching += !expected.empty();
    }
    EXPECT_GT(num_touching, 30);
}

TEST(PointTraversal, FrontierHoldsEveryPointOnce) {
    const PointTree tree = soft_tree(3000, 4, 3);
    PointTraversal traversal(tree, sphere_field(0.25));
    for (int i = 0; i < 60; ++i) {
        (void)traversal.update(test::pose_on_path(5e-3 * i, 0.4), test::shape_on_path(i, 3, 0.01));
        std::vector<int> times(static_cast<std::size_t>(tree.num_points()), 0);
        for (const int node : traversal.frontier())
            for (const int leaf : test::leaves_below(tree, node))
                ++times[static_cast<std::size_t>(
                    tree.nodes()[static_cast<std::size_t>(leaf)].point)];
        EXPECT_EQ(std::ranges::count(times, 1), tree.num_points()) << i;
    }
}

TEST(PointTraversal, ClearanceIsNeverMoreThanTheNearestPoint) {
    const PointTree tree = rigid_tree(3000, 4);
    for (const auto& [name, field] : test::sample_fields()) {
        SCOPED_TRACE(name);
        PointTraversal traversal(tree, field);
        for (int i = 0; i < 100; ++i) {
            const Pose pose = test::pose_on_path(1e-2 * i, 0.8);
            (void)traversal.update(pose, {});
            double nearest = kInfinity;
            for (int node = tree.level_start(3); node < tree.level_start(4); ++node) {
                const Vector3d x = pose.to_world(tree.position(node, {}));
                nearest = std::min(nearest, double{field->distance(x)});
            }
            EXPECT_LE(traversal.statistics().clearance, std::max(0.0, nearest) + 1e-6);
            if (nearest < -1e-6) {
                EXPECT_EQ(traversal.statistics().clearance, 0);
            }
        }
        // of a shell far away all of it, but for its size and what outside bounds leave out
        PointTraversal away(tree, field);
        (void)away.update({{3, 6, -6}, Quaternion::Identity()}, {});
        EXPECT_GT(away.statistics().clearance, 6);
        EXPECT_EQ(away.statistics().contacts, 0);
        EXPECT_EQ(away.statistics().visited, tree.level_start(1));
        EXPECT_EQ(away.statistics().level, 3);
    }
}

TEST(PointTraversal, IgnoresWhatIsNotFinite) {
    const PointTree tree = soft_tree(1500, 3, 3);
    const FieldPointer field = sphere_field(0.25);
    PointTraversal traversal(tree, field);
    const Pose good{{0.2, 0, 0}, Quaternion::Identity()};
    const std::vector<double> q{0.1, -0.2, 0.3};
    ASSERT_EQ(traversal.update(good, q), StepStatus::Ok);
    const auto expected = contacts_of(traversal);
    ASSERT_FALSE(expected.empty());

    Pose nan = good, infinite = good, huge = good, twisted = good, zero = good;
    nan.position.y() = kNan;
    infinite.position.x() = kInfinity;
    huge.position.z() = 1e200;
    twisted.rotation.w() = kNan;
    zero.rotation.coeffs().setZero();
    const auto expect_ignored = [&](const Pose& pose, const std::vector<double>& shape,
                                    double travel) {
        EXPECT_EQ(traversal.update(pose, shape, travel), StepStatus::InputIgnored);
        EXPECT_EQ(traversal.contacts().count, 0);
        EXPECT_EQ(traversal.statistics().level, -1);
        EXPECT_TRUE(traversal.frontier().empty());
        // and goes on as if nothing had been
        EXPECT_EQ(traversal.update(good, q), StepStatus::Ok);
        EXPECT_EQ(contacts_of(traversal), expected);
    };
    for (const Pose& pose : {nan, infinite, huge, twisted, zero}) expect_ignored(pose, q, 0);
    expect_ignored(good, {0.1, kNan, 0}, 0);
    expect_ignored(good, {kInfinity, 0, 0}, 0);
    expect_ignored(good, {0, 1e300, 0}, 0);
    expect_ignored(good, q, kNan);
    expect_ignored(good, q, kInfinity);
}

TEST(PointTraversal, AfterAnIgnoredTickEverythingIsAsked) {
    const PointTree tree = rigid_tree(1500, 3);
    const auto ball = std::make_shared<BreathingBall>();
    PointTraversal traversal(tree, ball);
    const Pose pose{{0.6, 0.1, 0}, Quaternion::Identity()};
    (void)traversal.update(pose, {});
    ASSERT_EQ(traversal.contacts().count, 0);
    // the field moved in the tick whose travel was not a number
    ball->radius = 0.6f;
    EXPECT_EQ(traversal.update(pose, {}, kNan), StepStatus::InputIgnored);
    (void)traversal.update(pose, {});
    const auto expected = exhaustive_contacts(tree, *ball, pose, {}, 2);
    EXPECT_FALSE(expected.empty());
    EXPECT_EQ(test::sorted(contacts_of(traversal)), expected);
}

TEST(PointTraversal, QuaternionsNeedNotHaveUnitLength) {
    const PointTree tree = rigid_tree(1500, 3);
    PointTraversal traversal(tree, sphere_field(0.25));
    Pose pose{{0.2, 0, 0}, rotation_from_vector({0.1, 0.2, 0.3})};
    (void)traversal.update(pose, {});
    const auto expected = contacts_of(traversal);
    pose.rotation.coeffs() *= 4;
    (void)traversal.update(pose, {});
    EXPECT_EQ(contacts_of(traversal).size(), expected.size());
}

TEST(PointTraversal, UpdateAllocatesNothing) {
    for (const bool has_tree : {true, false}) {
        const PointTree tree = soft_tree(3000, 4, 15);
        PointTraversal traversal(tree, test::knob_field(), {.budget = 2000, .has_tree = has_tree});
        RandomMotion random(5);
        std::vector<Pose> poses;
        std::vector<std::vector<double>> shapes;
        for (int i = 0; i < 50; ++i) {
            poses.push_back(random.pose(0.3));
            shapes.push_back(random.shape(15, 0.5));
        }
        poses[20].position.x() = kNan;
        const AllocationGuard guard;
        for (std::size_t i = 0; i < poses.size(); ++i) (void)traversal.update(poses[i], shapes[i]);
        traversal.forget();
        const auto allocations = guard.count();
        EXPECT_EQ(allocations, 0u);
    }
}

TEST(PointTraversal, AShellOfOnePointWorks) {
    Pointshell shell;
    shell.points = {{0.1f, 0, 0}};
    shell.normals = {{1, 0, 0}};
    shell.level_start = {0, 1};
    PointTraversal traversal(PointTree(shell), sphere_field(0.25));
    for (const double x : {0.3, 0.1, 0.1, 0.2, 0.0}) {
        (void)traversal.update({{x, 0, 0}, Quaternion::Identity()}, {});
        EXPECT_EQ(traversal.contacts().count, x + 0.1 < 0.25 ? 1 : 0);
    }
}

TEST(PointTraversal, CanBeMoved) {
    PointTraversal a(rigid_tree(1500, 3), sphere_field(0.25));
    const Pose pose{{0.2, 0, 0}, Quaternion::Identity()};
    (void)a.update(pose, {});
    const auto expected = contacts_of(a);
    PointTraversal b(std::move(a));
    (void)b.update(pose, {});
    EXPECT_EQ(contacts_of(b), expected);
    EXPECT_EQ(b.tree().num_points(), 1500);
    EXPECT_EQ(b.field().resolution(), 0);
}

}  // namespace
}  // namespace pliant
