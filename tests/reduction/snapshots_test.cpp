#include "pliant/reduction/snapshots.h"

#include "fem/fem_samples.h"
#include "input_error.h"
#include "pliant/fem/implicit_dynamics.h"
#include "pliant/fem/mass.h"
#include "pliant/reduction/basis.h"
#include "reduction/rigid_motions.h"

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <limits>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::input_error;

FemModel bar() { return FemModel(test::reference_bar(), {isotropic(2e5, 0.3, 1000)}); }
Constraints none(const FemModel& model) { return Constraints(model.num_nodes()); }

TEST(Snapshots, AreKeptOnceInAnInterval) {
    const FemModel model = bar();
    SnapshotRecorder recorder(model, test::held(model), 0.8);
    double time = 0;
    // eight tenths add up to less than 0.8 in floating point
    for (int step = 0; step <= 80; ++step, time += 0.1)
        recorder.record(time, VectorXd::Constant(model.num_unknowns(), step));
    ASSERT_EQ(recorder.size(), 11);
    const MatrixXd shapes = recorder.shapes();
    for (int i = 0; i <= 10; ++i) EXPECT_EQ(shapes(5, i), 8 * i);
    // a second run starts anew
    recorder.record(0.0, VectorXd::Zero(model.num_unknowns()));
    recorder.record(0.5, VectorXd::Zero(model.num_unknowns()));
    EXPECT_EQ(recorder.size(), 12);
}

TEST(Snapshots, OfAFullSimulationGiveABasisThatHoldsIt) {
    const FemModel model = bar();
    const Constraints constraints = test::held(model);
    const auto M = mass_matrix(model);
    ImplicitDynamics dynamics(model, constraints);
    FemState state = dynamics.make_state();
    SnapshotRecorder recorder(model, constraints, 0.02);
    VectorXd f = VectorXd::Zero(model.num_unknowns());
    for (const int node :
         test::vertices_where(model.mesh(), [](const Vector3d& x) { return x.x() > 0.79; }))
        f.segment<3>(3 * node) = Vector3d(0, -4, 1);
    VectorXd between;
    for (int step = 0; step < 100; ++step) {
        recorder.record(state.time, state.u);
        ASSERT_EQ(dynamics.step(state, f, 5e-3).status, StepStatus::Ok);
        if (step == 57) between = state.u;
    }
    ASSERT_EQ(recorder.size(), 25);
    const Basis basis = mass_pca(recorder.shapes(), M, 8);
    EXPECT_GT(basis.captured(), 0.99999);
    // a shape between two snapshots, bent by more than a tenth of the length
    EXPECT_GT(between.cwiseAbs().maxCoeff(), 0.08);
    const VectorXd rest = between - basis.U * (basis.U.transpose() * (M * between));
    EXPECT_LT(rest.dot(VectorXd(M * rest)), 1e-5 * between.dot(VectorXd(M * between)));
    // held nodes stay
    for (const int node : constraints.held_nodes())
        EXPECT_LT(basis.U.middleRows<3>(3 * node).cwiseAbs().maxCoeff(), 1e-12);
    // alike ones may be thinned out
    EXPECT_LT(recorder.shapes(0.1).cols(), 25);
    EXPECT_GT(recorder.shapes(0.1).cols(), 3);
}

TEST(Snapshots, LoseTheRigidMotionOfAFreeBody) {
    // two densities, so that the centre of mass is none of the box
    VolumeMesh mesh = test::reference_bar();
    mesh.regions.assign(static_cast<std::size_t>(mesh.num_elements()), 0);
    for (int e = 0; e < mesh.num_elements(); e += 3) mesh.regions[e] = 1;
    const FemModel model(mesh, {isotropic(2e5, 0.3, 1000), isotropic(2e5, 0.3, 4000)});
    const auto M = mass_matrix(model);
    const MatrixXd rigid = rigid_motions(mesh, M);
    MatrixXd deformation = test::random_displacements(model.num_unknowns(), 0.02, 3);
    remove_rigid(rigid, M, deformation);
    SnapshotRecorder recorder(model, none(model), 0);
    for (const double angle : {0.0, 1.0, 3.0, 5.5}) {
        const Eigen::Matrix3d R =
            Eigen::AngleAxisd(angle, Vector3d(1, -2, 0.5).normalized()).toRotationMatrix();
        VectorXd u(model.num_unknowns());
        for (int i = 0; i < model.num_nodes(); ++i)
            u.segment<3>(3 * i) = R * (mesh.vertices[i] + deformation.col(0).segment<3>(3 * i)) +
                                  Vector3d(1, 2, 3) * angle - mesh.vertices[i];
        recorder.record(angle, u);
    }
    const MatrixXd shapes = recorder.shapes();
    ASSERT_EQ(shapes.cols(), 4);
    for (int i = 0; i < 4; ++i)
        EXPECT_LT((shapes.col(i) - deformation).cwiseAbs().maxCoeff(), 1e-13) << i;
}

TEST(Snapshots, OfAFreeBodyAreMassOrthogonalToRigidMotionsWhateverItsShape) {
    const FemModel model = bar();
    const auto M = mass_matrix(model);
    SnapshotRecorder recorder(model, none(model), 0);
    for (unsigned seed = 1; seed <= 5; ++seed)
        recorder.record(seed, test::random_displacements(model.num_unknowns(), 0.3, seed));
    const MatrixXd overlap = rigid_motions(model.mesh(), M).transpose() * (M * recorder.shapes());
    EXPECT_LT(overlap.cwiseAbs().maxCoeff(), 1e-13);
}

TEST(Snapshots, OfAHeldBodyKeepTheirRotation) {
    const FemModel model = bar();
    SnapshotRecorder recorder(model, test::held(model), 0);
    const VectorXd u = test::random_displacements(model.num_unknowns(), 0.3, 1);
    recorder.record(0, u);
    EXPECT_TRUE(recorder.shapes().col(0) == u);
}

TEST(Snapshots, BadInputIsRefusedInWords) {
    const FemModel model = bar();
    const auto expect = [](const std::string& text, const char* part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    expect(input_error([&] { SnapshotRecorder(model, none(model), -1); }),
           "interval = -1 (expected value >= 0)");
    Constraints moved = test::held(model);
    moved.prescribe(7, 2, -0.5);
    expect(input_error([&] { SnapshotRecorder(model, moved, 0); }),
           "node 7 is moved by -0.500000 m along z; supports of a reduced model must stay");
    SnapshotRecorder recorder(model, none(model), 0);
    VectorXd u = VectorXd::Zero(model.num_unknowns());
    u[4] = std::numeric_limits<double>::infinity();
    expect(input_error([&] { recorder.record(0.5, u); }),
           "the shape at 0.500000 s is not finite: the simulation has failed");
    EXPECT_EQ(recorder.size(), 0);
    expect(input_error([&] { return recorder.shapes(1.5); }),
           "distance = 1.5 (expected 0 <= value < 1)");
}

}  // namespace
}  // namespace pliant
