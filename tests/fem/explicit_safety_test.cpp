#include "core/numbers.h"
#include "fem/explicit_samples.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"

#include <gtest/gtest.h>

/// Bad input, precision, threads and memory of explicit steps.
namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::FemSample;
using test::draggy;
using test::HangingBar;
using test::input_error;
using test::soft;

TEST(ExplicitSafety, RefusesBadOptionsAndConditionsOnHangingNodesAlone) {
    const FemModel model(graded_box(6), {soft()});
    const Constraints none(model.num_nodes());
    EXPECT_EQ(input_error([&] { ExplicitDynamics(model, none, {.damping = {.stiffness = -1}}); }),
              "damping.stiffness = -1 (expected 0 <= value < infinity)");
    EXPECT_EQ(input_error([&] { ExplicitDynamics(model, none, {.collapse_limit = kNan}); }),
              "collapse_limit = nan (expected a finite value)");
    Constraints constraints(model.num_nodes());
    constraints.prescribe(model.mesh().hanging.front().vertex, 0, 0);
    EXPECT_NE(input_error([&] { ExplicitDynamics(model, constraints); }).find("lies in the middle"),
              std::string::npos);
}
TEST(ExplicitSafety, LoadsThatAreNotFiniteCountAsNone) {
    for (const double bad : {kNan, kInfinity, -kInfinity})
        for (const VolumeMesh& mesh : {test::distorted_tets(2), graded_box(6)}) {
            FemSample with_bad_load((FemModel(mesh, {draggy()}))),
                unloaded((FemModel(mesh, {draggy()})));
            for (FemSample* body : {&with_bad_load, &unloaded}) {
                body->s.v = test::random_displacements(static_cast<int>(body->s.v.size()), 0.01, 1);
                body->dynamics.set_acceleration(body->s, body->load, body->ws);
            }
            const int place = mesh.hanging.empty() ? 7 : 3 * mesh.hanging.front().vertex;
            with_bad_load.load[place] = bad;
            const double dt = 0.5 * unloaded.dynamics.stable_step().dt;
            EXPECT_EQ(with_bad_load.step(dt).status, StepStatus::InputIgnored);
            EXPECT_EQ(unloaded.step(dt).status, StepStatus::Ok);
            EXPECT_EQ(with_bad_load.s.u, unloaded.s.u);
            EXPECT_EQ(with_bad_load.s.v, unloaded.s.v);
            EXPECT_EQ(with_bad_load.work.external_work, 0);
        }
}

TEST(ExplicitSafety, StepsOfBadLengthDoNotHappen) {
    HangingBar bar(soft());
    const FemState before = bar.s;
    for (const double bad : {0.0, -1e-3, kNan, kInfinity}) {
        EXPECT_EQ(bar.step(bad).status, StepStatus::InputIgnored);
        EXPECT_EQ(bar.s.u, before.u);
        EXPECT_EQ(bar.s.time, 0);
    }
}

TEST(ExplicitSafety, AStepThatExplodesIsUndoneToTheBit) {
    HangingBar bar(draggy(), {.damping = {.stiffness = 1e-4}});
    for (int k = 0; k < 10; ++k) (void)bar.step(1e-3);
    const FemState before = bar.s;
    EXPECT_EQ(bar.step(1e200).status, StepStatus::StepRejected);
    bar.load.setConstant(1e308);
    EXPECT_EQ(bar.step(1e-3).status, StepStatus::StepRejected);
    EXPECT_EQ(bar.s.u, before.u);
    EXPECT_EQ(bar.s.v, before.v);
    EXPECT_EQ(bar.s.a, before.a);
    EXPECT_EQ(bar.s.time, before.time);
    EXPECT_EQ(bar.ws.work.external_work, 0);
    // and goes on
    bar.load = gravity_load(bar.dynamics.model(), Vector3d(0, -9.81, 0));
    EXPECT_EQ(bar.step(1e-3).status, StepStatus::Ok);
}

TEST(ExplicitSafety, AFinishedStepCanBeUndone) {
    HangingBar bar(draggy());
    for (int k = 0; k < 10; ++k) (void)bar.step(1e-3);
    const FemState before = bar.s;
    (void)bar.step(1e-3);
    EXPECT_NE(bar.s.u, before.u);
    bar.dynamics.undo(bar.s, bar.ws);
    EXPECT_EQ(bar.s.u, before.u);
    EXPECT_EQ(bar.s.v, before.v);
    EXPECT_EQ(bar.s.a, before.a);
    EXPECT_EQ(bar.s.time, before.time);
}

TEST(ExplicitSafety, AStateThatIsNotFiniteIsPutToRest) {
    for (const int member : {0, 1, 2}) {
        HangingBar bar(soft());
        (void)bar.step(1e-3);
        (member == 0 ? bar.s.u : member == 1 ? bar.s.v : bar.s.a)[70] = kNan;
        EXPECT_EQ(bar.step(1e-3).status, StepStatus::StateReset);
        EXPECT_TRUE(bar.s.u.isZero() && bar.s.v.isZero() && bar.s.a.isZero());
        EXPECT_EQ(bar.step(1e-3).status, StepStatus::Ok);
        EXPECT_TRUE(bar.s.u.allFinite());
    }
}

TEST(ExplicitSafety, ReportsElementsNearCollapse) {
    const FemModel model(hex_box(3, 1, 1, Box(Vector3d::Zero(), Vector3d(3, 1, 1))), {soft()});
    FemSample body(model);
    const auto squeeze = [&](double stretch) {  // of the last element, along x
        body.s = body.dynamics.make_state();
        for (int i = 0; i < model.num_nodes(); ++i)
            if (model.mesh().vertices[i].x() > 2.5) body.s.u[3 * i] = stretch - 1;
        return body.step(1e-9);
    };
    const ExplicitReport safe = squeeze(0.15), near = squeeze(0.05), inverted = squeeze(-0.1);
    EXPECT_NEAR(safe.smallest_det_F.value, 0.15, 1e-6);
    EXPECT_EQ(safe.smallest_det_F.element, 2);
    EXPECT_FALSE(safe.is_collapsing);
    EXPECT_NEAR(near.smallest_det_F.value, 0.05, 1e-6);
    EXPECT_TRUE(near.is_collapsing);
    EXPECT_NEAR(inverted.smallest_det_F.value, -0.1, 1e-6);
    EXPECT_TRUE(inverted.is_collapsing);
}

TEST(ExplicitSafety, SinglePrecisionFollowsDouble) {
    HangingBar one(soft()), two(soft(), {.precision = Precision::Single});
    const double dt = 0.5 * one.dynamics.stable_step().dt;
    for (int k = 0; k < 200; ++k) {
        (void)one.step(dt);
        (void)two.step(dt);
    }
    EXPECT_LT((one.s.u - two.s.u).norm(), 1e-4 * one.s.u.norm());
}

TEST(ExplicitSafety, AWorkspaceMayServeSeveralStates) {
    const Damping damping{.stiffness = 1e-3};
    HangingBar alone(draggy(), {.damping = damping}), shared(draggy(), {.damping = damping});
    FemState other = shared.s;
    other.v = test::random_displacements(static_cast<int>(other.v.size()), 0.01, 1);
    for (int k = 0; k < 10; ++k) {
        (void)alone.step(1e-3);
        (void)shared.step(1e-3);
        (void)shared.dynamics.step(other, shared.load, 0.5e-3, shared.ws);
    }
    EXPECT_EQ(shared.s.u, alone.s.u);
    EXPECT_EQ(shared.s.v, alone.s.v);
    // the work of single steps loses an order, no more
    EXPECT_NEAR(shared.work.damping_work, alone.work.damping_work, 0.1 * alone.work.damping_work);
}

TEST(ExplicitSafety, TrajectoriesDoNotDependOnThreads) {
    const FemModel model(graded_box(22),
                         {draggy()});  // several ranges of unknowns and hanging nodes
    std::vector<FemState> states;
    std::vector<double> work;
    for (const int threads : {1, 2}) {
        set_num_threads(threads);
        FemSample body(model, {.damping = {.stiffness = 1e-5}});
        body.load = gravity_load(model, Vector3d(0, -9.81, 0));
        body.s.v = test::random_displacements(model.num_unknowns(), 0.1, 1);
        body.dynamics.set_acceleration(body.s, body.load, body.ws);
        for (int k = 0; k < 5; ++k)
            EXPECT_EQ(body.step(0.5 * body.dynamics.stable_step().dt).status, StepStatus::Ok);
        states.push_back(body.s);
        work.push_back(body.work.external_work + body.work.damping_work);
    }
    set_num_threads(0);
    EXPECT_EQ(states[0].u, states[1].u);
    EXPECT_EQ(states[0].v, states[1].v);
    EXPECT_EQ(work[0], work[1]);
}

TEST(ExplicitSafety, AllocatesNothingAfterConstruction) {
    set_num_threads(1);
    for (const VolumeMesh& mesh :
         {graded_box(10), test::distorted_tets(6), test::distorted_hexes(20)}) {
        const FemModel model(mesh, {draggy()});
        FemSample body(model, test::held(model),
                  {.damping = {.mass = 1, .stiffness = 1e-5, .shear_viscosity = 0.1}});
        const double dt = 0.1 * body.dynamics.stable_step().dt;
        VectorXd bad = body.load;
        bad[5] = kNan;
        AllocationGuard guard;
        body.dynamics.set_acceleration(body.s, body.load, body.ws);
        const ExplicitReport first = body.dynamics.step(body.s, body.load, dt, body.ws);
        const ExplicitReport second = body.dynamics.step(body.s, body.load, 0.5 * dt, body.ws);
        const ExplicitReport third = body.dynamics.step(body.s, bad, dt, body.ws);
        const ExplicitReport fourth = body.dynamics.step(body.s, body.load, 1e300, body.ws);
        const auto allocations = guard.count();
        EXPECT_EQ(first.status, StepStatus::Ok);
        EXPECT_EQ(second.status, StepStatus::Ok);
        EXPECT_EQ(third.status, StepStatus::InputIgnored);
        (void)fourth;
        EXPECT_EQ(allocations, 0u);
    }
    set_num_threads(0);
}

}  // namespace
}  // namespace pliant
