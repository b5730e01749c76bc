#include "pliant/reduction/sketch.h"

#include "fem/fem_samples.h"
#include "input_error.h"
#include "pliant/fem/mass.h"

#include <gtest/gtest.h>
#include <limits>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::input_error;

/// The reference bar, held at x = 0, with its lowest modes.
struct SketchedBar {
    FemModel model{test::reference_bar(), {isotropic(2e5, 0.3, 1000)}};
    Constraints constraints = test::held(model);
    LinearModes modes = compute_modes(model, constraints, {.num_modes = 10});
    int tip = test::vertices_where(model.mesh(), [](const Vector3d& x) {
                  return (x - Vector3d(0.8, 0.1, 0.1)).norm() < 1e-9;
              }).at(0);

    /// What a user records who pulls the tip down and aside: `count` loads.
    [[nodiscard]] std::vector<SketchLoad> pulls(int count, double force) const {
        std::vector<SketchLoad> loads;
        for (int i = 0; i < count; ++i) {
            const double s = (i + 1.0) / count;
            loads.push_back({{tip}, {force * s * Vector3d(0.1, -1, 0.4 * s)}});
        }
        return loads;
    }
    [[nodiscard]] VectorXd full_load(const SketchLoad& load) const {
        VectorXd f = VectorXd::Zero(model.num_unknowns());
        for (std::size_t i = 0; i < load.nodes.size(); ++i)
            f.segment<3>(3 * load.nodes[i]) += load.forces[i];
        return f;
    }
};

TEST(Sketch, LinearResponseSolvesTheStaticProblemInTheSpaceOfTheModes) {
    const SketchedBar bar;
    const SketchLoad load{{bar.tip, bar.tip - 1, bar.tip}, {{1, -2, 0.5}, {0, 3, 0}, {0.5, 0, 0}}};
    const VectorXd u = linear_modal_response(bar.modes, load);
    auto K = bar.model.make_matrix();
    bar.model.tangent(VectorXd::Zero(bar.model.num_unknowns()), K);
    const VectorXd f = bar.full_load(load);
    // Galerkin: the residual has no component along any mode
    const VectorXd residual = bar.modes.shapes.transpose() * (f - K * u);
    EXPECT_LT(residual.norm(), 1e-7 * (bar.modes.shapes.transpose() * f).norm());
    // ten modes carry nearly all of the deflection
    const VectorXd all = solve_linear_static(bar.model, bar.constraints, f);
    EXPECT_NEAR(u[3 * bar.tip + 1] / all[3 * bar.tip + 1], 1.0, 0.1);
}

TEST(Sketch, ShapesAreTheEquilibriaOfTheirLoads) {
    const SketchedBar bar;
    const std::vector<SketchLoad> loads = bar.pulls(40, 40);
    Progress progress;
    const Sketch sketch = solve_sketch(bar.model, bar.constraints, bar.modes, loads, {}, progress);
    EXPECT_TRUE(sketch.failed.empty());
    ASSERT_EQ(sketch.shapes.cols(), static_cast<int>(sketch.loads.size()));
    // a path as long as the largest response in parts of a tenth of it
    EXPECT_GE(sketch.loads.size(), 5u);
    EXPECT_LE(sketch.loads.size(), 12u);
    EXPECT_EQ(progress.fraction(), 1.0);
    VectorXd R(bar.model.num_unknowns());
    for (std::size_t i = 0; i < sketch.loads.size(); ++i) {
        const VectorXd u = sketch.shapes.col(static_cast<Eigen::Index>(i));
        const VectorXd f = bar.full_load(loads[sketch.loads[i]]);
        bar.model.internal_force(u, R);
        VectorXd residual = f - R;
        for (const int node : bar.constraints.held_nodes()) residual.segment<3>(3 * node).setZero();
        EXPECT_LT(residual.norm(), 1e-8 * f.norm());
    }
}

TEST(Sketch, KeptShapesDifferByTheirDistance) {
    const SketchedBar bar;
    const auto M = mass_matrix(bar.model);
    const std::vector<SketchLoad> loads = bar.pulls(30, 60);
    const SketchOptions options{.load_distance = 0.05, .shape_distance = 0.2};
    const Sketch sketch = solve_sketch(bar.model, bar.constraints, bar.modes, loads, options);
    const Sketch all = solve_sketch(bar.model, bar.constraints, bar.modes, loads,
                                    {.load_distance = 0.05, .shape_distance = 0});
    EXPECT_LT(sketch.loads.size(), all.loads.size());
    double largest = 0;
    for (int i = 0; i < all.shapes.cols(); ++i)
        largest = std::max(largest, all.shapes.col(i).dot(VectorXd(M * all.shapes.col(i))));
    for (int i = 0; i < sketch.shapes.cols(); ++i)
        for (int j = 0; j < i; ++j) {
            const VectorXd d = sketch.shapes.col(i) - sketch.shapes.col(j);
            EXPECT_GE(d.dot(VectorXd(M * d)), 0.04 * largest * (1 - 1e-6));
        }
}

TEST(Sketch, DistancesOfLoadsAreRelativeToTheLargestResponse) {
    const SketchedBar bar;
    const SketchOptions options{.load_distance = 0.15, .shape_distance = 0};
    const Sketch strong =
        solve_sketch(bar.model, bar.constraints, bar.modes, bar.pulls(30, 8), options);
    const Sketch weak =
        solve_sketch(bar.model, bar.constraints, bar.modes, bar.pulls(30, 0.008), options);
    EXPECT_EQ(strong.loads, weak.loads);
    EXPECT_LT(strong.loads.size(), 10u);
}

TEST(Sketch, RepeatedLoadsAreSolvedOnce) {
    const SketchedBar bar;
    std::vector<SketchLoad> loads = bar.pulls(1, 10);
    loads.resize(50, loads.front());
    const Sketch sketch = solve_sketch(bar.model, bar.constraints, bar.modes, loads);
    EXPECT_EQ(sketch.loads, std::vector<int>{0});
}

TEST(Sketch, BasisHoldsShapesBetweenThoseSketched) {
    const SketchedBar bar;
    const auto M = mass_matrix(bar.model);
    const Sketch sketch = solve_sketch(bar.model, bar.constraints, bar.modes, bar.pulls(30, 60));
    const Basis basis = mass_pca(sketch.shapes, M, 5);
    EXPECT_GT(basis.captured(), 0.9999);
    // a load of the same gesture that was not recorded
    const SketchLoad between{{bar.tip}, {60 * 0.715 * Vector3d(0.1, -1, 0.4 * 0.715)}};
    const StaticResult exact = solve_static(bar.model, bar.constraints, bar.full_load(between));
    ASSERT_TRUE(exact.has_converged());
    const VectorXd u = exact.u;
    const VectorXd rest = u - basis.U * (basis.U.transpose() * (M * u));
    const double lost = std::sqrt(rest.dot(VectorXd(M * rest)) / u.dot(VectorXd(M * u)));
    EXPECT_LT(lost, 0.005);
    // five linear modes lose many times as much of a shape that is bent over
    const MatrixXd linear = bar.modes.shapes.leftCols(5);
    const VectorXd linear_rest = u - linear * (linear.transpose() * (M * u));
    EXPECT_GT(std::sqrt(linear_rest.dot(VectorXd(M * linear_rest)) / u.dot(VectorXd(M * u))),
              10 * lost);
}

TEST(Sketch, LoadsWithoutEquilibriumAreLeftOut) {
    const SketchedBar bar;
    std::vector<SketchLoad> loads = bar.pulls(4, 20);
    // pushes the tip through the body: St. Venant–Kirchhoff gives way
    loads.push_back({{bar.tip}, {Vector3d(-3e4, 0, 0)}});
    const SketchOptions options{.load_distance = 0,
                                .shape_distance = 0,
                                .statics = {.max_halvings = 1, .max_iterations = 10}};
    const Sketch sketch = solve_sketch(bar.model, bar.constraints, bar.modes, loads, options);
    EXPECT_EQ(sketch.failed, std::vector<int>{4});
    EXPECT_EQ(sketch.loads, (std::vector<int>{0, 1, 2, 3}));
    EXPECT_NE(input_error([&] {
                  return solve_sketch(bar.model, bar.constraints, bar.modes, {loads.back()},
                                      options);
              }).find("no sketch load has an equilibrium that was found: "),
              std::string::npos);
}

TEST(Sketch, StopsWhenCancelled) {
    const SketchedBar bar;
    Progress progress;
    progress.cancel();
    EXPECT_THROW(
        (void)solve_sketch(bar.model, bar.constraints, bar.modes, bar.pulls(3, 5), {}, progress),
        Cancelled);
}

TEST(Sketch, BadInputIsRefusedInWords) {
    const SketchedBar bar;
    const auto error = [&](const std::vector<SketchLoad>& loads,
                           const SketchOptions& options = {}) {
        return input_error(
            [&] { return solve_sketch(bar.model, bar.constraints, bar.modes, loads, options); });
    };
    const auto expect = [](const std::string& text, const char* part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    expect(error({}), "none of the 0 sketch loads moves the body; pull at vertices");
    const int held = bar.constraints.held_nodes().front();
    expect(error({{{held}, {{0, 1, 0}}}}), "none of the 1 sketch loads moves the body");
    expect(error({{{81}, {{0, 1, 0}}}}), "sketch load node = 81 (expected 0 to 80)");
    expect(error({{{-1}, {{0, 1, 0}}}}), "sketch load node = -1 (expected 0 to 80)");
    expect(error({{{1, 2}, {{0, 1, 0}}}}), "has 2 nodes but 1 forces");
    const double nan = std::numeric_limits<double>::quiet_NaN();
    expect(error({{{3}, {{0, nan, 0}}}}), "the sketch force on node 3 is not finite");
    expect(error(bar.pulls(2, 1), {.load_distance = 1.5}),
           "load_distance = 1.5 (expected 0 <= value < 1)");
    expect(error(bar.pulls(2, 1), {.shape_distance = nan}), "shape_distance = nan");

    Constraints moved = bar.constraints;
    moved.prescribe(held, 1, 0.25);
    expect(input_error([&] { return solve_sketch(bar.model, moved, bar.modes, bar.pulls(2, 1)); }),
           "is moved by 0.25");
    expect(input_error([&] {
               return solve_sketch(bar.model, Constraints(bar.model.num_nodes()), bar.modes,
                                   bar.pulls(2, 1));
           }),
           "free to move");
}

}  // namespace
}  // namespace pliant
