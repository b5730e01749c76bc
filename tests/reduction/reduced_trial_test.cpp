#include "pliant/reduction/reduced_trial.h"

#include "geometry/simple_surfaces.h"
#include "pliant/fem/mass.h"
#include "pliant/fem/statics.h"
#include "pliant/reduction/build_reduced.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

ReducedBuildOptions soft_bar(int rank) {
    ReducedBuildOptions options;
    options.material = isotropic(1e5, 0.3, 1000);
    options.fixed = "z > 97 %";
    options.mesh.resolution = 20;
    // told and done are compared, not a mesh with the beam
    options.elements = ElementFormulation::Plain;
    options.rank = rank;
    options.finds_errors = true;
    return options;
}
SurfaceMesh bar_surface() {
    return test::box_surface(Vector3d(-0.05, -0.05, -0.25), Vector3d(0.05, 0.05, 0.25));
}
SurfaceMesh cube() { return test::box_surface(Vector3d::Zero(), Vector3d::Constant(0.1)); }
ReducedBuildOptions free_cube(double modulus) {
    ReducedBuildOptions options;
    options.material = isotropic(modulus, 0.3, 1000);
    options.is_free = true;
    options.mesh.resolution = 8;
    options.num_modes = 10;
    return options;
}

/// Of a bar that hangs, all elements: the largest displacement.
double full_sag(const ReducedModel& model) {
    const FemModel fem(model.mesh(), model.materials(), {model.elements()});
    Constraints constraints(fem.num_nodes());
    constraints.fix(model.fixed_vertices());
    VectorXd g = VectorXd::Zero(fem.num_unknowns());
    for (Eigen::Index i = 2; i < g.size(); i += 3) g[i] = -9.81;
    const StaticResult result = solve_static(fem, constraints, mass_matrix(fem) * g);
    EXPECT_TRUE(result.has_converged());
    // of the drawn bar: nodes of cut cells lie outside it
    VectorXd drawn(3 * model.surface().num_vertices());
    model.embedding().transfer({result.u.data(), static_cast<std::size_t>(result.u.size())},
                               {drawn.data(), static_cast<std::size_t>(drawn.size())});
    double largest = 0;
    for (int v = 0; v < model.surface().num_vertices(); ++v)
        largest = std::max(largest, drawn.segment<3>(3 * v).norm());
    return largest;
}

TEST(ReducedTrial, AHangingBarSagsAsTheWholeMeshWhereTheBuildSaysSo) {
    // of the lowest modes of a bar none is longer: small bases do not hang
    for (const int rank : {10, 30, 0}) {
        ReducedBuildReport report;
        const ReducedModel model =
            build_reduced_model(bar_surface(), soft_bar(rank), Progress::none(), &report);
        const double sag = try_model(model).weight.displacement;
        // the error is of the mean over the weight, this the end of the bar
        const double full = full_sag(model);
        EXPECT_NEAR(sag, (1 - report.errors.weight) * full, 0.05 * full) << rank;
        if (rank == 0) EXPECT_NEAR(sag, full, 0.02 * full);
        if (rank == 10) EXPECT_GT(report.errors.weight, 0.5);
        if (rank == 0) EXPECT_LT(report.errors.weight, ReducedBuildOptions::kAimedError);
        EXPECT_LE(model.rank(), ReducedBuildOptions::kMostChosenRank);
    }
}

TEST(ReducedTrial, ErrorsArePositiveAndFallWithTheRank) {
    double weight = 1, press = 1;
    for (const int rank : {5, 10, 20, 40}) {
        ReducedBuildReport report;
        (void)build_reduced_model(bar_surface(), soft_bar(rank), Progress::none(), &report);
        EXPECT_GE(report.errors.weight, 0);
        EXPECT_LE(report.errors.weight, weight + 1e-9) << rank;
        EXPECT_LE(report.errors.press, press + 1e-9) << rank;
        weight = report.errors.weight;
        press = report.errors.press;
    }
    EXPECT_LT(press, 0.1);
}

TEST(ReducedTrial, ABodyThatItsOwnWeightCrushesIsSaidToBe) {
    const ReducedTrial soft = try_model(build_reduced_model(cube(), free_cube(1e3)));
    EXPECT_FALSE(soft.is_usable());
    EXPECT_NE(soft.warning().find("crushed by its own weight"), std::string::npos)
        << soft.warning();
    const ReducedTrial firm = try_model(build_reduced_model(cube(), free_cube(1e5)));
    EXPECT_TRUE(firm.is_usable()) << firm.warning();
    EXPECT_EQ(firm.warning(), "");
    EXPECT_LT(firm.weight.displacement, 0.02 * firm.size);
    EXPECT_GT(firm.weight.least_det_F, 0.9);
    EXPECT_NEAR(firm.weight.volume, 1, 0.01);
    EXPECT_NEAR(firm.mass, 1, 0.01);
}

TEST(ReducedTrial, ASlenderBodyThatHangsBeyondUseIsSaidToSag) {
    ReducedBuildOptions options = soft_bar(12);
    // stiff enough not to be crushed where it is held
    options.material = isotropic(1e6, 0.3, 1000);
    options.fixed = "x < 5 %";
    const ReducedModel model =
        build_reduced_model(test::box_surface(Vector3d::Zero(), Vector3d(0.9, 0.1, 0.1)), options);
    const ReducedTrial trial = try_model(model);
    EXPECT_FALSE(trial.is_usable());
    EXPECT_NE(trial.warning().find("under its own weight"), std::string::npos) << trial.warning();
}

}  // namespace
}  // namespace pliant
