#include "pliant/greens/reduced_zone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "core/numbers.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/pose.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/greens/fem_zone.h"
#include "pliant/greens/seam_system.h"

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::input_error;

/// A block of 2 × 1 × 1 cells, its seam at x = 0, in the subspace of its softest modes.
struct ReducedBlock {
    explicit ReducedBlock(Law law, int rank = 36)
        : model(tet_box(2, 1, 1, Box(Vector3d::Zero(), Vector3d(0.04, 0.02, 0.02))),
                {isotropic(2e4, 0.3, 1000, law)}, {ElementFormulation::Plain}) {
        FemModel::Matrix K = model.make_matrix();
        model.tangent(VectorXd::Zero(model.num_unknowns()), K);
        const Eigen::SelfAdjointEigenSolver<MatrixXd> modes{MatrixXd(K)};
        U = modes.eigenvectors().leftCols(rank);
        force = make_direct_force(model, U);
        for (int v = 0; v < model.num_nodes(); ++v)
            if (model.mesh().vertices[at(v)].x() < 1e-9) seam.push_back(v);
    }
    [[nodiscard]] std::shared_ptr<ReducedZone> zone(const ReducedZoneOptions& options = {}) const {
        return std::make_shared<ReducedZone>(force, U, model.mesh().vertices, seam, options);
    }
    /// Displacements of the seam for a motion of space.
    template <class Motion>
    [[nodiscard]] VectorXd seam_motion(const Motion& motion) const {
        VectorXd u(3 * static_cast<Eigen::Index>(seam.size()));
        for (std::size_t k = 0; k < seam.size(); ++k) {
            const Vector3d& x = model.mesh().vertices[at(seam[k])];
            u.segment<3>(3 * static_cast<Eigen::Index>(k)) = motion(x) - x;
        }
        return u;
    }

    FemModel model;
    MatrixXd U;
    std::shared_ptr<const ReducedForce> force;
    std::vector<int> seam;
};

/// All of its modes and a stiff layer: nothing is reduced.
TEST(ReducedZone, TheWholeSubspaceIsFiniteElements) {
    const ReducedBlock block(Law::SmallStrain);
    ASSERT_EQ(block.U.cols(), block.model.num_unknowns());
    const auto made = block.zone({.layer = 1e-6});
    const ReducedZone& reduced = *made;
    const FemZone whole(block.model, block.seam);
    const MatrixXd difference = reduced.seam_stiffness() - whole.seam_stiffness();
    EXPECT_LT(difference.norm(), 1e-4 * whole.seam_stiffness().norm());
    // what f(u) gives is what K says
    const VectorXd u = block.seam_motion([](const Vector3d& x) {
        return Vector3d(x + Vector3d(0.001 * std::sin(200 * x.y()), 0.002 * x.z(), 0.0005));
    });
    VectorXd f(u.size());
    reduced.seam_forces(u, f);
    EXPECT_LT((f - reduced.seam_stiffness() * u).norm(), 1e-6 * f.norm());  // of a stiff layer
}

/// Fewer modes are stiffer, never softer.
TEST(ReducedZone, FewerModesAreStiffer) {
    const ReducedBlock all(Law::SmallStrain), few(Law::SmallStrain, 20);
    const auto rich = all.zone();
    const double k = rich->layer_stiffness();
    // the same layer
    const auto poor = few.zone({.layer = 0.01 * few.zone()->layer_stiffness() / k});
    ASSERT_NEAR(poor->layer_stiffness(), k, 1e-9 * k);
    const MatrixXd more = poor->seam_stiffness() - rich->seam_stiffness();
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(more);
    EXPECT_GT(eigen.eigenvalues().minCoeff(), -1e-9 * k);
    EXPECT_GT(eigen.eigenvalues().maxCoeff(), 1e-3 * k);
}

/// What linear zones cannot: a seam that turns far takes the body along without a force.
TEST(ReducedZone, LargeRotationOfItsSeamNeedsNoForce) {
    const ReducedBlock block(Law::StVenantKirchhoff);
    const auto made = block.zone();
    const ReducedZone& zone = *made;
    const Eigen::Matrix3d R = rotation_from_vector(Vector3d(0.3, 0.5, -0.2)).toRotationMatrix();
    const VectorXd u =
        block.seam_motion([&](const Vector3d& x) { return Vector3d(R * x + Vector3d(0, 0, 0.1)); });
    VectorXd f(u.size());
    const AllocationGuard guard;
    zone.seam_forces(u, f);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    const VectorXd linear = zone.seam_stiffness() * u;
    EXPECT_GT(linear.norm(), 0.1);
    EXPECT_LT(f.norm(), 1e-6 * linear.norm());
    EXPECT_TRUE(zone.coordinates().allFinite());
    EXPECT_FALSE(zone.is_linear());
}

/// Forces are the gradient of the energy, so that seams can balance it.
TEST(ReducedZone, ForcesHaveAPotential) {
    const ReducedBlock block(Law::StVenantKirchhoff, 24);
    const auto made = block.zone();
    ReducedZone& zone = *made;
    ASSERT_TRUE(zone.set_load(VectorXd::Constant(24, 1e-3)));
    EXPECT_FALSE(zone.set_load(VectorXd::Constant(23, 1e-3)));
    EXPECT_FALSE(zone.set_load(VectorXd::Constant(24, kNan)));
    const VectorXd u = block.seam_motion([](const Vector3d& x) {
        return Vector3d(x + Vector3d(0.003 * std::sin(150 * x.y()), 0.1 * x.z(), -0.05 * x.y()));
    });
    const auto size = u.size();
    MatrixXd K(size, size);
    const double h = 1e-7;
    VectorXd ahead(size), behind(size);
    for (Eigen::Index i = 0; i < size; ++i) {
        VectorXd moved = u;
        moved[i] += h;
        zone.seam_forces(moved, ahead);
        moved[i] -= 2 * h;
        zone.seam_forces(moved, behind);
        K.col(i) = (ahead - behind) / (2 * h);
    }
    EXPECT_LT((K - K.transpose()).norm(), 1e-5 * K.norm());
    // and not that of rest
    EXPECT_GT((K - zone.seam_stiffness()).norm(), 1e-3 * K.norm());
}

/// Two halves of a bar, one of finite elements that is held, one reduced, under its load.
TEST(ReducedZone, IsBondedToOtherKinds) {
    const ReducedBlock block(Law::SmallStrain);
    const FemModel held(tet_box(2, 1, 1, Box(Vector3d(-0.04, 0, 0), Vector3d(0, 0.02, 0.02))),
                        {isotropic(2e4, 0.3, 1000, Law::SmallStrain)},
                        {ElementFormulation::Plain});
    const FemModel bar(tet_box(4, 1, 1, Box(Vector3d(-0.04, 0, 0), Vector3d(0.04, 0.02, 0.02))),
                       {isotropic(2e4, 0.3, 1000, Law::SmallStrain)},
                       {ElementFormulation::Plain});
    const auto at_x = [](const FemModel& model, double x) {
        std::vector<int> found;
        for (int v = 0; v < model.num_nodes(); ++v)
            if (std::abs(model.mesh().vertices[at(v)].x() - x) < 1e-9) found.push_back(v);
        return found;
    };
    const auto reduced = block.zone({.layer = 1e-5});
    VectorXd f = VectorXd::Zero(block.model.num_unknowns());
    const int tip = block.model.num_nodes() - 1;
    const Vector3d pull(0.01, 0.02, -0.03);
    f.segment<3>(3 * tip) = pull;
    ASSERT_TRUE(reduced->set_load(block.U.transpose() * f));
    const auto fixed = std::make_shared<FemZone>(held, at_x(held, 0), at_x(held, -0.04));
    SeamPairs pairs{0, 1, {0, 1, 2, 3}, {0, 1, 2, 3}};
    SeamSystem system({fixed, reduced}, {pairs}, std::vector<Pose>(2), {.max_iterations = 20});
    ASSERT_EQ(system.solve(), SeamSystem::Status::Solved);

    FemZone whole(bar, at_x(bar, 0), at_x(bar, -0.04));
    whole.set_loads(std::array{bar.num_nodes() - 1}, std::array{pull});
    VectorXd held_forces(12);
    whole.seam_forces(VectorXd::Zero(12), held_forces);
    const VectorXd exact = -whole.seam_stiffness().ldlt().solve(held_forces);
    EXPECT_GT(exact.norm(), 1e-5);
    EXPECT_LT((system.displacements(0) - exact).norm(), 1e-3 * exact.norm());
}

TEST(ReducedZone, SeamsThatCannotBeAreRefused) {
    const ReducedBlock block(Law::SmallStrain);
    const auto error = [&](std::vector<int> seam, const ReducedZoneOptions& options = {}) {
        return input_error([&] {
            (void)ReducedZone(block.force, block.U, block.model.mesh().vertices, std::move(seam),
                              options);
        });
    };
    EXPECT_EQ(error({}), "a reduced zone needs seam vertices");
    EXPECT_EQ(error({12}), "vertex 12 of a zone is not there; its mesh has 12");
    EXPECT_EQ(error({1, 1}), "vertex 1 of a zone is twice in its seam");
    EXPECT_EQ(error({1}, {.layer = 0}), "layer = 0.000000 (expected more than 0)");
    // of one point it turns freely
    EXPECT_THAT(error({0}), ::testing::HasSubstr("does not hold it"));
    MatrixXd held = block.U;
    held.middleRows(3, 3).setZero();
    EXPECT_THAT(
        input_error([&] {
            (void)ReducedZone(block.force, held, block.model.mesh().vertices, {0, 1});
        }),
        ::testing::HasSubstr("vertex 1 of the seam of a zone is held by the reduced model"));
}

}  // namespace
}  // namespace pliant
