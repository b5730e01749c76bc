#include "pliant/fem/free_system.h"

#include "fem/fem_samples.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/fem/mass.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::input_error;

Material system_material() { return isotropic(1e4, 0.3, 1000); }

/// A graded cube with sliding and moved faces.
struct GradedCase {
    FemModel model{graded_box(6), {system_material()}};
    Constraints constraints{model.num_nodes()};

    GradedCase() {
        const VolumeMesh& mesh = model.mesh();
        for (int i = 0; i < mesh.num_vertices(); ++i) {
            if (mesh.vertices[i].x() < 1e-9) constraints.prescribe(i, 0, 0);
            if (mesh.vertices[i].z() > 1 - 1e-9) constraints.prescribe(i, 2, 0.1);
        }
    }
};

TEST(FreeSystem, FoldsLikeItsMatrix) {
    const GradedCase sample;
    const FreeSystem system(sample.model, sample.constraints);
    const int n = sample.model.num_unknowns();
    const VectorXd u = test::random_displacements(n, 0.03, 1);
    VectorXd R(n), R_free(system.num_unknowns());
    auto K = sample.model.make_matrix(), K_free = system.make_matrix();
    auto ws = system.make_workspace();
    sample.model.force_and_tangent(u, R, K);
    system.fold(R, R_free);
    system.fold(K, K_free, ws);
    const MatrixXd T = system.T();
    EXPECT_LT((R_free - T.transpose() * R).norm(), 1e-14 * R.norm());
    EXPECT_LT((MatrixXd(K_free) - T.transpose() * MatrixXd(K) * T).norm(), 1e-14 * K.norm());
    EXPECT_EQ(system.num_unknowns(), 3 * (317 - 72) - 2 * 49);
}

TEST(FreeSystem, SelectsLikeItsMatrixWhereNothingHangs) {
    const FemModel model(test::distorted_tets(3), {system_material()});
    Constraints some(model.num_nodes());
    some.fix(std::vector<int>{0, 5, 7});
    some.prescribe(12, 1, 0.1);
    some.prescribe(30, 2, 0);
    for (const Constraints& constraints : {some, Constraints(model.num_nodes())}) {
        const FreeSystem system(model, constraints);
        auto K = model.make_matrix(), K_free = system.make_matrix();
        auto ws = system.make_workspace();
        model.tangent(test::random_displacements(model.num_unknowns(), 0.03, 4), K);
        system.fold(K, K_free, ws);
        const MatrixXd T = system.T();
        EXPECT_EQ(MatrixXd(K_free), T.transpose() * MatrixXd(K) * T);
        EXPECT_EQ(system.is_whole(), system.num_unknowns() == model.num_unknowns());
    }
    EXPECT_FALSE(FreeSystem(model, some).is_whole());
    EXPECT_TRUE(FreeSystem(model, Constraints(model.num_nodes())).is_whole());
}

TEST(FreeSystem, ExpandsToPrescribedAndHangingNodes) {
    const GradedCase sample;
    const VolumeMesh& mesh = sample.model.mesh();
    const FreeSystem system(sample.model, sample.constraints);
    const VectorXd q = test::random_displacements(system.num_unknowns(), 0.1, 2);
    VectorXd u(sample.model.num_unknowns());
    system.expand(q, 0.5, u);
    for (int i = 0; i < mesh.num_vertices(); ++i)
        if (mesh.vertices[i].z() > 1 - 1e-9) {
            EXPECT_EQ(u[3 * i + 2], 0.05);
        }
    for (const HangingNode& h : mesh.hanging) {
        Vector3d mean = Vector3d::Zero();
        for (int m = 0; m < h.num_masters; ++m)
            mean += u.segment<3>(3 * h.masters[m]) / h.num_masters;
        EXPECT_LT((u.segment<3>(3 * h.vertex) - mean).norm(), 1e-15);
    }
}

TEST(FreeSystem, HomogeneousDeformationOfAGradedBlockIsBalancedWhenFolded) {
    const FemModel model(graded_box(10), {system_material()});
    const VolumeMesh& mesh = model.mesh();
    const FreeSystem system(model, Constraints(model.num_nodes()));
    Matrix3d A;
    A << 0.2, 0.1, -0.05, 0.3, -0.1, 0.15, 0.02, -0.2, 0.1;
    VectorXd R(model.num_unknowns()), folded(system.num_unknowns());
    model.internal_force(test::affine_displacements(mesh, A), R);
    system.fold(R, folded);
    const VectorXd spread = system.T() * folded;  // at free nodes: the folded force
    std::vector<char> is_hanging(mesh.vertices.size(), 0);
    for (const HangingNode& h : mesh.hanging) is_hanging[h.vertex] = 1;
    double worst_folded = 0, worst_unfolded = 0;
    for (int i = 0; i < mesh.num_vertices(); ++i) {
        if (is_hanging[i] || mesh.vertices[i].minCoeff() < 1e-9 ||
            mesh.vertices[i].maxCoeff() > 1 - 1e-9)
            continue;
        worst_folded = std::max(worst_folded, spread.segment<3>(3 * i).norm());
        worst_unfolded = std::max(worst_unfolded, R.segment<3>(3 * i).norm());
    }
    EXPECT_LT(worst_folded, 1e-14 * R.norm());
    EXPECT_GT(worst_unfolded, 1e-3 * R.norm());
}

TEST(FreeSystem, FoldingKeepsMassAndMomentum) {
    const FemModel model(graded_box(6), {system_material()});
    const FreeSystem system(model, Constraints(model.num_nodes()));
    VectorXd m(system.num_unknowns());
    system.fold(lumped_mass(model), m);
    EXPECT_NEAR(m.sum(), 3 * 1000, 1e-9);
    EXPECT_GT(m.minCoeff(), 0);
}

TEST(FreeSystem, ConditionsOnHangingNodesNeedThoseOfTheirMasters) {
    const GradedCase sample;
    const HangingNode& h = sample.model.mesh().hanging.front();
    Constraints c(sample.model.num_nodes());
    c.prescribe(h.vertex, 1, 0.5);
    const std::string text = input_error([&] { (void)FreeSystem(sample.model, c); });
    EXPECT_NE(text.find("vertex " + std::to_string(h.vertex) + " lies in the middle"),
              std::string::npos);
    EXPECT_NE(text.find("prescribe vertex " + std::to_string(h.masters[0])), std::string::npos);
    // with all masters held, it follows them
    for (int m = 0; m < h.num_masters; ++m) c.prescribe(h.masters[m], 1, 0.25);
    const FreeSystem system(sample.model, c);
    VectorXd u(sample.model.num_unknowns());
    system.expand(VectorXd::Zero(system.num_unknowns()), 1, u);
    EXPECT_EQ(u[3 * h.vertex + 1], 0.25);
}

TEST(FreeSystem, FoldingAllocatesNothing) {
    const GradedCase sample;
    const FreeSystem system(sample.model, sample.constraints);
    VectorXd u = test::random_displacements(sample.model.num_unknowns(), 0.03, 3);
    VectorXd q(system.num_unknowns());
    auto K = sample.model.make_matrix(), K_free = system.make_matrix();
    auto ws = system.make_workspace();
    AllocationGuard guard;
    system.fold(u, q);
    system.expand(q, 1, u);
    system.fold(K, K_free, ws);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
}

}  // namespace
}  // namespace pliant
