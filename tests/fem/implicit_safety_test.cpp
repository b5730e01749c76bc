// What implicit steps do with bad options, bad input and steps that go wrong.
#include "core/numbers.h"
#include "fem/implicit_samples.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using test::bar;
using test::free_body;
using test::GroundScene;
using test::held;
using test::input_error;
using test::kGravity;
using test::run;

TEST(ImplicitSafety, BadOptionsAreRefusedByName) {
    const FemModel model = bar();
    const auto text = [&](const ImplicitOptions& options) {
        return input_error([&] { ImplicitDynamics(model, held(model), options); });
    };
    EXPECT_EQ(text({.gamma = 0}), "gamma = 0 (expected value > 0)");
    EXPECT_EQ(text({.gamma = kNan}), "gamma = nan (expected value > 0)");
    EXPECT_EQ(text({.alpha = 1.5}), "alpha = 1.5 (expected 0 <= value <= 1)");
    EXPECT_EQ(text({.max_iterations = 0}), "max_iterations = 0 (expected value > 0)");
    EXPECT_EQ(text({.tolerance = -1}), "tolerance = -1 (expected 0 < value < 1)");
    EXPECT_EQ(text({.cg = {Preconditioner::Diagonal, 0, 10}}),
              "cg.tolerance = 0 (expected 0 < value < 1)");
    EXPECT_EQ(text({.cg = {Preconditioner::Diagonal, 1e-6, 0}}),
              "cg.max_iterations = 0 (expected value > 0)");
    EXPECT_EQ(text({.collapse_limit = kInfinity}),
              "collapse_limit = inf (expected a finite value)");
    EXPECT_NE(text({.damping = {.mass = -1}}), "");
}

TEST(ImplicitSafety, StepsThatDoNotConvergeKeepTheBestIterate) {
    const FemModel model = bar(Law::StVenantKirchhoff, 1e4);
    const VectorXd f = 5 * gravity_load(model, kGravity);
    // Newton's method stopped early
    ImplicitOptions few;
    few.max_iterations = 2;
    // one iteration, its linear system unfinished
    ImplicitOptions poor;
    poor.cg = {Preconditioner::Diagonal, 1e-6, 2};
    for (const ImplicitOptions& options : {few, poor}) {
        ImplicitDynamics dynamics(model, held(model), options);
        FemState s = dynamics.make_state();
        double first = f.norm();
        const ImplicitReport report = dynamics.step(s, f, 0.2);
        EXPECT_EQ(report.status, StepStatus::NotConverged);
        EXPECT_GT(report.residual, report.limit);
        EXPECT_LT(report.residual, first);
        EXPECT_TRUE(s.u.allFinite());
        EXPECT_GT(s.u.norm(), 0);
        EXPECT_EQ(s.time, 0.2);
    }
}

TEST(ImplicitSafety, EveryStepOfADropOnTheGroundConverges) {
    // where nodes touch the residual has kinks, at which halving a step gets nowhere
    struct Drop {
        double modulus, poisson_ratio, stiffness, dt;
        int steps;
    };
    for (const auto elements : {ElementFormulation::Plain, ElementFormulation::Accurate})
        for (const Drop& drop : {Drop{1e4, 0.45, 1e5, 2e-3, 250}, Drop{1e5, 0.4, 1e6, 2e-3, 250},
                                 Drop{2e4, 0.4, 1e5, 5e-3, 150}}) {
            const FemModel model(
                tet_box(4, 4, 8, Box(Vector3d(0, 0, 0.1), Vector3d(0.07, 0.07, 0.25))),
                {isotropic(drop.modulus, drop.poisson_ratio, 1000, Law::NeoHookean)}, {elements});
            ImplicitOptions options;
            options.alpha = 1;
            options.gamma = 1.125;
            // of accurate elements 8 of 650 steps need more than eight
            options.max_iterations = elements == ElementFormulation::Plain ? 8 : 16;
            ImplicitDynamics dynamics(
                model, free_body(model), options,
                PenaltyContact(model, {RigidShape::half_space()}, {.stiffness = drop.stiffness}));
            const VectorXd f = gravity_load(model, kGravity);
            FemState s = dynamics.make_state();
            const std::vector<RigidMotion> ground(1);
            dynamics.set_acceleration(s, f, ground);
            int num_failed = 0, num_touching = 0;
            for (int k = 0; k < drop.steps; ++k) {
                const ImplicitReport report = dynamics.step(s, f, drop.dt, ground);
                num_failed += report.status != StepStatus::Ok;
                num_touching += report.contact.num_contacts > 0;
            }
            EXPECT_EQ(num_failed, 0) << drop.modulus << ' ' << to_string(elements);
            EXPECT_GT(num_touching, 20) << "it must touch the ground";
        }
}

TEST(ImplicitSafety, IndefiniteMatricesAreShifted) {
    // squeezed below 57.7 % of its length, where St. Venant–Kirchhoff softens
    const FemModel model = bar(Law::StVenantKirchhoff, 1e5);
    for (const StepSolver solver : {StepSolver::ConjugateGradient, StepSolver::Direct})
        for (const int iterations : {1, 20}) {
            ImplicitOptions options;
            options.solver = solver;
            options.max_iterations = iterations;
            options.damping.mass = 5;
            ImplicitDynamics dynamics(model, free_body(model), options);
            FemState s = dynamics.make_state();
            const Eigen::Matrix3d squeeze = Vector3d(-0.6, 0, 0).asDiagonal();
            s.u = test::affine_displacements(model.mesh(), squeeze) +
                  test::random_displacements(model.num_unknowns(), 1e-3, 3);
            const VectorXd f = VectorXd::Zero(model.num_unknowns());
            dynamics.set_acceleration(s, f);
            double largest_shift = 0;
            for (int k = 0; k < 200; ++k) {
                const ImplicitReport report = dynamics.step(s, f, 1e-2);
                largest_shift = std::max(largest_shift, report.mass_shift);
                ASSERT_NE(report.status, StepStatus::StepRejected);
                ASSERT_TRUE(s.u.allFinite());
            }
            EXPECT_GT(largest_shift, 0);
            // the energy was that of the squeezed body
            EXPECT_LT(s.u.lpNorm<Eigen::Infinity>(), 2);
        }
}

TEST(ImplicitSafety, CollapseIsReported) {
    const FemModel model = bar();
    ImplicitDynamics dynamics(model, free_body(model), {});
    FemState s = dynamics.make_state();
    const VectorXd f = VectorXd::Zero(model.num_unknowns());
    EXPECT_FALSE(dynamics.step(s, f, 1e-5).is_collapsing);
    s.u = test::affine_displacements(model.mesh(), -0.95 * Eigen::Matrix3d::Identity());
    const ImplicitReport report = dynamics.step(s, f, 1e-5);
    EXPECT_TRUE(report.is_collapsing);
    EXPECT_LT(report.smallest_det_F.value, 0.01);
    EXPECT_GE(report.smallest_det_F.element, 0);
}

TEST(ImplicitSafety, InputThatIsNotFiniteIsIgnored) {
    const GroundScene scene;
    ImplicitDynamics dynamics(scene.model, free_body(scene.model), {}, scene.contact);
    const FemState start = run(dynamics, dynamics.make_state(), scene.f, 1e-3, 5);
    for (const double bad : {kNan, kInfinity, -kInfinity}) {
        FemState s = start;
        for (const double dt : {bad, 0.0, -1e-3, 1e-200, 1e200}) {
            EXPECT_EQ(dynamics.step(s, scene.f, dt).status, StepStatus::InputIgnored) << dt;
            EXPECT_EQ(s.u, start.u);
            EXPECT_EQ(s.time, start.time);
        }
        // as without a load
        VectorXd load = scene.f;
        load[4] = bad;
        EXPECT_EQ(dynamics.step(s, load, 1e-3).status, StepStatus::InputIgnored);
        FemState unloaded = start;
        EXPECT_EQ(dynamics.step(unloaded, 0 * scene.f, 1e-3).status, StepStatus::Ok);
        EXPECT_LT((s.u - unloaded.u).norm(), 1e-5 * s.u.norm());

        // the obstacle stops where it was
        const auto after = [&](const RigidMotion& first, const RigidMotion& second,
                               StepStatus expected) {
            FemState end = start;
            EXPECT_EQ(dynamics.step(end, scene.f, 1e-3, {&first, 1}).status, StepStatus::Ok);
            EXPECT_EQ(dynamics.step(end, scene.f, 1e-3, {&second, 1}).status, expected);
            return end.u;
        };
        RigidMotion raised, rising, broken;
        raised.pose.position.z() = rising.pose.position.z() = 1e-4;
        rising.velocity.linear.z() = 0.1;
        broken.pose.position.z() = bad;
        const VectorXd stopped = after(rising, broken, StepStatus::InputIgnored);
        EXPECT_LT((stopped - after(rising, raised, StepStatus::Ok)).norm(), 1e-5 * stopped.norm());
        EXPECT_GT((stopped - after(rising, {}, StepStatus::Ok)).norm(), 1e-3 * stopped.norm());

        s = start;
        s.v[7] = bad;
        EXPECT_EQ(dynamics.step(s, scene.f, 1e-3).status, StepStatus::StateReset);
        EXPECT_EQ(s.u, dynamics.make_state().u);
        EXPECT_EQ(dynamics.step(s, scene.f, 1e-3).status, StepStatus::Ok);
    }
}

TEST(ImplicitSafety, StepsThatLeaveTheFiniteNumbersAreUndone) {
    const FemModel model = bar();
    ImplicitOptions full;
    full.max_iterations = 10;
    for (const ImplicitOptions& options : {ImplicitOptions(), full}) {
        ImplicitDynamics dynamics(model, free_body(model), options);
        FemState s = dynamics.make_state();
        s.v = 1e180 * test::random_displacements(model.num_unknowns(), 1, 4);
        const FemState before = s;
        const VectorXd f = VectorXd::Zero(model.num_unknowns());
        EXPECT_EQ(dynamics.step(s, f, 1e-3).status, StepStatus::StepRejected);
        EXPECT_EQ(s.u, before.u);
        EXPECT_EQ(s.v, before.v);
        EXPECT_EQ(s.time, before.time);
        // and the object is fit for use
        s = dynamics.make_state();
        EXPECT_EQ(dynamics.step(s, gravity_load(model, kGravity), 1e-3).status, StepStatus::Ok);
    }
}

TEST(ImplicitSafety, AllocatesNothingInAStep) {
    set_num_threads(1);
    const GroundScene scene;
    const FemModel graded(graded_box(6, 1, 0.1), {isotropic(1e4, 0.3, 1000)});
    Constraints constraints(graded.num_nodes());
    constraints.prescribe(0, 0, 0);
    ImplicitOptions options;
    options.damping = {.mass = 1, .stiffness = 1e-3};
    ImplicitOptions full = options;
    full.max_iterations = 5;
    const PenaltyContact ground(graded, {RigidShape::half_space()}, {.stiffness = 100});
    std::vector<ImplicitDynamics> all;
    all.emplace_back(scene.model, free_body(scene.model), options, scene.contact);
    all.emplace_back(graded, constraints, full, ground);
    for (ImplicitDynamics& dynamics : all) {
        FemState s = dynamics.make_state();
        VectorXd f = gravity_load(dynamics.model(), kGravity);
        const RigidMotion motion;
        const AllocationGuard guard;
        int steps = 0;
        for (int k = 0; k < 5; ++k)
            steps += dynamics.step(s, f, 1e-3, {&motion, 1}).newton_iterations;
        f[0] = kNan;
        steps += dynamics.step(s, f, 1e-3).newton_iterations;
        s.v[0] = kNan;
        steps += dynamics.step(s, f, 1e-3).newton_iterations;
        const auto allocations = guard.count();
        EXPECT_EQ(allocations, 0u);
        EXPECT_GT(steps, 5);
    }
    set_num_threads(0);
}

TEST(ImplicitSafety, ResultsDoNotDependOnTheNumberOfThreads) {
    const GroundScene scene(1e4, 1e-4, 6);
    std::vector<VectorXd> ends;
    for (const int threads : {1, 2}) {
        set_num_threads(threads);
        ImplicitDynamics dynamics(scene.model, free_body(scene.model), {}, scene.contact);
        ends.push_back(run(dynamics, dynamics.make_state(), scene.f, 1e-3, 10).u);
    }
    set_num_threads(0);
    EXPECT_EQ(ends[0], ends[1]);
}

}  // namespace
}  // namespace pliant
