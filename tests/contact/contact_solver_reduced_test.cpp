#include <gtest/gtest.h>

#include "contact/solver_samples.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "pliant/field/build_field.h"
#include "reduction/body_samples.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using test::at;
using test::kStandardGravity;
using test::kTick;

/// Of points of the shell that touch: Σ Uᵀ Rᵀ f on the shell body.
VectorXd shell_load(const PointTree& tree, const ReducedBody& body, const ContactSolver& solver,
                    int index) {
    VectorXd sum = VectorXd::Zero(tree.rank());
    for (const ContactSolver::Contact& c : solver.contacts()) {
        if (c.shell != index) continue;
        const auto nodes = tree.nodes();
        int node = 0;
        while (nodes[static_cast<std::size_t>(node)].point != c.point) ++node;
        const Vector3d f = body.pose().rotation.conjugate() * c.force;
        for (int j = 0; j < tree.rank(); ++j)
            for (int k = 0; k < 3; ++k) sum[j] += tree.row(node)[4 * j + k] * f[k];
    }
    return sum;
}

VectorXd elastic_force(const ReducedBody& body) {
    const auto force = body.model().make_force();
    const auto ws = force->make_workspace();
    VectorXd R(body.model().rank());
    force->force(body.state().q, R, *ws);
    return R;
}

struct Ground {
    RigidBody body{RigidShape::half_space(), test::box_surface()};
    [[nodiscard]] ContactBody part() { return {&body, {}, plane_set_field({{}}), {}}; }
};

/// A soft bar of 32 kg above the ground.
struct Drop {
    explicit Drop(const Pose& pose, const ContactSolverOptions& options, const Twist& velocity = {})
        : model(test::bar_model({.is_free = true})),
          tree(test::carried_tree(test::bar_shell(500, 2), model)),
          bar(model,
              {.pose = pose, .velocity = velocity, .damping = {.mass = 4, .stiffness = 0.01}}),
          solver({ground.part(), {&bar, tree, {}, {}}}, options) {
        bar.set_gravity(Vector3d(0, 0, -kStandardGravity));
    }
    void tick() {
        last = solver.act(kTick);
        ground.body.step(kTick);
        bar.step(kTick);
    }
    [[nodiscard]] double energy() const {
        const double mass = bar.rest_mass()->mass;
        return bar.energy().total() + mass * kStandardGravity * bar.frame().pose.position.z();
    }
    ReducedModel model;
    PointTree tree;
    Ground ground;
    ReducedBody bar;
    ContactSolver solver;
    StepStatus last = StepStatus::Ok;
};

TEST(ContactSolverReduced, ADroppedBodyComesToRestAtItsElasticEquilibrium) {
    for (const double stiffness : {1e4, 1e7}) {
        Drop scene({Vector3d(0, 0, 0.3), rotation_from_vector(Vector3d(0.1, 0.3, 0))},
                   {.stiffness = stiffness, .friction = 0.4});
        const double before = scene.energy();
        for (int k = 0; k < 8000; ++k) {
            scene.tick();
            ASSERT_LT(scene.energy(), before * (1 + 1e-3)) << k;
        }
        EXPECT_EQ(scene.last, StepStatus::Ok);
        EXPECT_LT(scene.bar.frame().velocity.linear.norm(), 1e-4) << stiffness;
        EXPECT_LT(scene.bar.state().v.norm(), 1e-3) << stiffness;
        Vector3d sum = Vector3d::Zero();
        for (const ContactSolver::Contact& c : scene.solver.contacts()) sum += c.force;
        const double weight = scene.bar.rest_mass()->mass * kStandardGravity;
        EXPECT_NEAR(sum.z(), weight, 1e-3 * weight);
        const VectorXd R = elastic_force(scene.bar);
        const VectorXd load = shell_load(scene.tree, scene.bar, scene.solver, 1);
        EXPECT_LT((R - load).norm(), 5e-3 * load.norm()) << stiffness;
        EXPECT_GT(scene.bar.state().q.norm(), 1e-3);
    }
}

TEST(ContactSolverReduced, CollidingBodiesKeepTheirMomentum) {
    const ReducedModel model = test::bar_model({.is_free = true});
    const PointTree tree = test::carried_tree(test::bar_shell(800, 2), model);
    ReducedBody bar(model, {.velocity = {Vector3d(0, 0, 1), Vector3d(0.5, 0, 0)}});
    RigidBodyOptions options;
    options.pose = at(0.6, 0.05, 0.31);
    options.velocity.linear = Vector3d(0, 0, -2);
    options.mass = test::ball_mass(0.1, 5);
    RigidBody ball(RigidShape::sphere(0.1), test::box_surface(), options);
    ContactSolver solver({{&bar, tree, {}, {}}, {&ball, {}, sphere_field(0.1), {}}},
                         {.friction = 0.3});
    const auto momentum = [&] {
        return Vector3d(bar.rest_mass()->mass * bar.frame().velocity.linear +
                        5 * ball.motion().velocity.linear);
    };
    const auto energy = [&] { return bar.energy().total() + ball.energy().kinetic; };
    const Vector3d before = momentum();
    const double energy_before = energy();
    int touching = 0;
    for (int k = 0; k < 300; ++k) {
        solver.act(kTick);
        bar.step(kTick);
        ball.step(kTick);
        touching += solver.statistics().num_contacts > 0;
        ASSERT_LT((momentum() - before).norm(), 1e-12 * before.norm() * 10);
        ASSERT_LT(energy(), energy_before * (1 + 1e-3));
    }
    EXPECT_GT(touching, 3);
    EXPECT_GT(ball.motion().velocity.linear.z(), -0.5);
    EXPECT_GT(bar.state().q.norm(), 0);
}

TEST(ContactSolverReduced, ABoxRestsOnAHeldBodyByItsDeformedField) {
    const ReducedModel model = test::bar_model();
    ReducedBody bar(model, {.damping = {.mass = 6, .stiffness = 0.005}});
    const DeformedFieldModel field(model, {.resolution = 32}, {.num_proxies = 60});
    const Vector3d half = Vector3d::Constant(0.05);
    RigidBodyOptions options;
    options.pose = at(0.4, 0.1, 0.25);
    options.mass = test::box_mass(half, 0.5);
    RigidBody box(RigidShape::box(half), test::box_surface(), options);
    box.set_gravity(Vector3d(0, 0, -kStandardGravity));
    const PointTree tree(test::face_shell(half, 4));
    ContactSolver solver({{&bar, {}, {}, field}, {&box, tree, {}, {}}},
                         {.stiffness = 2e3, .friction = 0.8});
    for (int k = 0; k < 3000; ++k) {
        solver.act(kTick);
        bar.step(kTick);
        box.step(kTick);
    }
    ASSERT_GT(solver.statistics().num_contacts, 0);
    EXPECT_GT(box.motion().pose.position.z(), 0.2);
    // the bar carries it: elastic force against the proxies' load
    DeformedField deformed(field);
    deformed.update(bar.state().q);
    VectorXd load = VectorXd::Zero(model.rank());
    for (const ContactSolver::Contact& c : solver.contacts())
        deformed.add_load(deformed.nearest_proxy(c.position), -c.force, load.data());
    EXPECT_LT((elastic_force(bar) - load).norm(), 0.1 * load.norm());
    EXPECT_LT(bar.position(test::tip()).z(), 0.2 - 1e-3);
}

TEST(ContactSolverReduced, CopiesShareTreesAndThreadsChangeNothing) {
    const ReducedBodyModel model(test::random_bar_model(12, true));
    const PointTree tree = test::carried_tree(test::bar_shell(600, 2), model.model());
    std::vector<VectorXd> first;
    for (const int threads : {1, 2}) {
        set_num_threads(threads);
        Ground ground;
        std::vector<std::unique_ptr<ReducedBody>> bars;
        std::vector<ContactBody> parts = {ground.part()};
        for (int i = 0; i < 20; ++i) {
            bars.push_back(std::make_unique<ReducedBody>(
                model, ReducedBodyOptions{.pose = at(i, 0, 0.001 * i)}));
            bars.back()->set_gravity(Vector3d(0, 0, -kStandardGravity));
            parts.push_back({bars.back().get(), tree, {}, {}});
        }
        ContactSolver solver(parts, {.friction = 0.3});
        int most = 0;
        for (int k = 0; k < 100; ++k) {
            solver.act(kTick);
            for (const auto& bar : bars) bar->step(kTick);
            most = std::max(most, solver.statistics().num_contacts);
        }
        EXPECT_GT(most, 200);
        for (std::size_t i = 0; i < bars.size(); ++i) {
            if (threads == 1)
                first.push_back(bars[i]->state().q);
            else
                EXPECT_EQ(bars[i]->state().q, first[i]);
        }
    }
    set_num_threads(0);
}

TEST(ContactSolverReduced, AllocatesNothing) {
    set_num_threads(1);
    Drop scene(at(0, 0, -0.001), {.friction = 0.4});
    for (int k = 0; k < 10; ++k) scene.tick();
    AllocationGuard guard;
    for (int k = 0; k < 10; ++k) scene.tick();
    const auto allocations = guard.count();
    set_num_threads(0);
    EXPECT_EQ(allocations, 0u);
    EXPECT_GT(scene.solver.statistics().num_contacts, 10);
}

TEST(ContactSolverReduced, SaysWhatDoesNotFit) {
    const ReducedModel model = test::bar_model();
    ReducedBody bar(model);
    RigidBody ball(RigidShape::sphere(0.1), test::box_surface());
    const PointTree rigid(test::bar_shell(100, 1));
    EXPECT_EQ(test::input_error([&] {
                  ContactSolver({{&bar, rigid, {}, {}}});
              }),
              "point-tree of contact body 0 = 0 vectors (expected 10, as its body; build it with "
              "that model)");
    EXPECT_EQ(test::input_error([&] {
                  ContactSolver({{&bar, {}, sphere_field(1), {}}});
              }),
              "contact body 0 deforms and needs a deformed field, or none");
    const DeformedFieldModel field(model, {.resolution = 16}, {.num_proxies = 20});
    EXPECT_EQ(test::input_error([&] {
                  ContactSolver({{&ball, {}, {}, field}});
              }),
              "contact body 0 is rigid and needs a field that does not deform, or none");
}

}  // namespace
}  // namespace pliant
