#include "pliant/reduction/sketch_model.h"

#include "core/temporary_directory.h"
#include "input_error.h"
#include "pliant/fem/statics.h"
#include "pliant/reduction/reduced_dynamics.h"
#include "reduction/model_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::input_error;
using testing::HasSubstr;

/// The reference bar and what somebody does to its tip.
struct ModelBar {
    explicit ModelBar(const test::BarOptions& options = {.rank = 4, .elements = ElementFormulation::Plain})
        : model(test::bar_model(options)) {}

    ReducedModel model;
    FemModel fem{model.mesh(), model.materials(), {model.elements()}};
    Embedding embedding = model.embedding();
    SurfaceMesh surface = model.surface();
    /// A triangle of the free end, z up.
    int triangle = end_triangle();

    [[nodiscard]] int end_triangle() const {
        for (int t = 0; t < surface.num_triangles(); ++t) {
            const auto& corners = surface.triangles[static_cast<std::size_t>(t)];
            if (std::all_of(&corners[0], &corners[0] + 3, [&](int v) {
                    return surface.vertices[static_cast<std::size_t>(v)].x() > 0.79;
                }))
                return t;
        }
        return -1;
    }
    [[nodiscard]] SketchLoad pull(const Vector3d& force) const {
        const SurfaceForce one{triangle, Vector3d(0.2, 0.3, 0.5), force};
        return sketch_load(embedding, surface, std::span(&one, 1));
    }
    /// Pulls aside and down that grow, `count` of them.
    [[nodiscard]] std::vector<SketchLoad> pulls(int count, double force) const {
        std::vector<SketchLoad> loads;
        for (int i = 0; i < count; ++i) {
            const double s = (i + 1.0) / count;
            loads.push_back(pull(force * s * Vector3d(0.1, -1, 0.4 * s)));
        }
        return loads;
    }
    [[nodiscard]] VectorXd nodal(const SketchLoad& load) const {
        VectorXd f = VectorXd::Zero(fem.num_unknowns());
        for (std::size_t i = 0; i < load.nodes.size(); ++i)
            f.segment<3>(3 * load.nodes[i]) += load.forces[i];
        return f;
    }
    [[nodiscard]] VectorXd full_solution(const VectorXd& f) const {
        Constraints constraints(fem.num_nodes());
        constraints.fix(model.fixed_vertices());
        const StaticResult result = solve_static(fem, constraints, f);
        EXPECT_TRUE(result.has_converged()) << result.message;
        return result.u;
    }
};

VectorXd reduced_solution(const ReducedModel& model, const VectorXd& f) {
    const ReducedDynamics dynamics(model.make_force(), model.mass());
    ReducedState s = dynamics.make_state();
    const auto ws = dynamics.make_workspace();
    const VectorXd f_r = model.basis().transpose() * f;
    EXPECT_EQ(dynamics.solve_static(s, f_r, 200, *ws).status, StepStatus::Ok);
    return model.basis() * s.q;
}

TEST(SketchModel, ReachesThePulledShapeWhereDerivativesOfTheSameRankDoNot) {
    const ModelBar bar;
    SketchModelReport report;
    Progress progress;
    const ReducedModel rebuilt = sketch_model(bar.model, bar.pulls(30, 12), {}, progress, &report);
    EXPECT_EQ(rebuilt.rank(), 4);
    EXPECT_TRUE(rebuilt.has_polynomials());
    EXPECT_GT(report.captured, 0.999);
    EXPECT_GE(report.num_loads, 4);
    EXPECT_LE(report.num_loads, 8);
    EXPECT_EQ(report.num_failed, 0);

    // a pull of the same gesture that was not recorded
    const VectorXd f = bar.nodal(bar.pull(12 * 0.715 * Vector3d(0.1, -1, 0.4 * 0.715)));
    const VectorXd full = bar.full_solution(f);
    const auto error = [&](const ReducedModel& model) {
        return (reduced_solution(model, f) - full).norm() / full.norm();
    };
    const double before = error(bar.model), after = error(rebuilt);
    EXPECT_LT(after, 0.05);
    EXPECT_LT(after, before / 4);
}

TEST(SketchModel, KeepsTheLowestModesAndTheOldShapesAtALargerRank) {
    const ModelBar bar;
    const auto M = mass_matrix(bar.fem);
    Constraints constraints(bar.fem.num_nodes());
    constraints.fix(bar.model.fixed_vertices());
    const LinearModes modes = compute_modes(bar.fem, constraints, {.num_modes = 2});
    const auto lost = [&](const ReducedModel& model, const VectorXd& u) {
        const VectorXd rest = u - model.basis() * (model.basis().transpose() * (M * u));
        return std::sqrt(rest.dot(VectorXd(M * rest)) / u.dot(VectorXd(M * u)));
    };
    const ReducedModel same = sketch_model(bar.model, bar.pulls(10, 30));
    // two bending modes of one frequency, each way
    for (int mode = 0; mode < 2; ++mode) EXPECT_LT(lost(same, modes.shapes.col(mode)), 0.05);
    const ReducedModel larger = sketch_model(bar.model, bar.pulls(10, 30), {.rank = 7});
    EXPECT_EQ(larger.rank(), 7);
    for (int column = 0; column < 3; ++column)
        EXPECT_LT(lost(larger, bar.model.basis().col(column)), 1e-3);
    EXPECT_NEAR((larger.eigenvalues() - bar.model.eigenvalues()).norm(), 0,
                1e-6 * bar.model.eigenvalues().norm());
    EXPECT_GE(larger.expected_reach(), bar.model.expected_reach());
}

TEST(SketchModel, SavedModelIsTheSame) {
    const ModelBar bar;
    const test::TemporaryDirectory folder;
    const ReducedModel rebuilt = sketch_model(bar.model, bar.pulls(6, 15), {.rank = 5});
    rebuilt.save(folder / "bar.pliant");
    const ReducedModel loaded = ReducedModel::load(folder / "bar.pliant");
    EXPECT_EQ(MatrixXd(loaded.basis()), MatrixXd(rebuilt.basis()));
    EXPECT_EQ(loaded.fixed_vertices(), bar.model.fixed_vertices());
    loaded.require_surface(bar.surface);
}

TEST(SketchModel, FewLoadsAreSolvedHoweverManyWereRecorded) {
    const ModelBar bar;
    SketchModelOptions options;
    options.load_distance = 0;
    options.shape_distance = 0;
    options.max_loads = 4;
    SketchModelReport report;
    (void)sketch_model(bar.model, bar.pulls(200, 20), options, Progress::none(), &report);
    EXPECT_GE(report.num_loads, 2);
    EXPECT_LE(report.num_loads, 4);
}

TEST(SketchModel, LoadsBeyondAllMeasureAreWeakened) {
    const ModelBar bar;
    SketchModelReport report;
    const ReducedModel rebuilt =
        sketch_model(bar.model, bar.pulls(5, 1e6), {}, Progress::none(), &report);
    EXPECT_EQ(report.num_failed, 0);
    EXPECT_GE(report.num_loads, 1);
    EXPECT_LE(rebuilt.expected_reach(), std::max(bar.model.expected_reach(), 0.2));
}

TEST(SketchModel, SurfaceForcesKeepForceAndTorque) {
    const ModelBar bar;
    const std::array<SurfaceForce, 2> forces = {
        SurfaceForce{bar.triangle, Vector3d(0.2, 0.3, 0.5), Vector3d(1, 2, 3)},
        SurfaceForce{0, Vector3d(1, 0, 0), Vector3d(-4, 0, 1)}};
    const SketchLoad load = sketch_load(bar.embedding, bar.surface, forces);
    Vector3d force = Vector3d::Zero(), torque = force, expected = force, expected_torque = force;
    for (std::size_t i = 0; i < load.nodes.size(); ++i) {
        force += load.forces[i];
        torque +=
            bar.fem.mesh().vertices[static_cast<std::size_t>(load.nodes[i])].cross(load.forces[i]);
    }
    for (const SurfaceForce& f : forces) {
        Vector3d place = Vector3d::Zero();
        for (int corner = 0; corner < 3; ++corner)
            place += f.barycentric[corner] *
                     bar.surface.vertices[static_cast<std::size_t>(
                         bar.surface.triangles[static_cast<std::size_t>(f.triangle)][corner])];
        expected += f.force;
        expected_torque += place.cross(f.force);
    }
    EXPECT_LT((force - expected).norm(), 1e-12);
    EXPECT_LT((torque - expected_torque).norm(), 1e-12);
}

TEST(SketchModel, BadInputIsRefusedInWords) {
    const ModelBar bar;
    const auto error = [&](const std::vector<SketchLoad>& loads,
                           const SketchModelOptions& options = {}) {
        return input_error([&] { return sketch_model(bar.model, loads, options); });
    };
    EXPECT_THAT(error({}), HasSubstr("none of the 0 sketch loads moves the body"));
    EXPECT_THAT(error(bar.pulls(1, 10), {.rank = 40}),
                HasSubstr("rank = 40 (expected 1 to 5, what the 4 vectors of the model and 1 "
                          "sketched shapes span at most)"));
    EXPECT_THAT(error(bar.pulls(1, 10), {.rank = -1}), HasSubstr("rank = -1"));
    SketchModelOptions options;
    options.max_loads = 0;
    EXPECT_THAT(error(bar.pulls(1, 10), options), HasSubstr("max_loads = 0 (expected at least 1)"));
    EXPECT_THAT(error(bar.pulls(1, 10), {.max_response = 0}),
                HasSubstr("max_response = 0 (expected 0 < value < infinity)"));
    EXPECT_THAT(error(bar.pulls(1, 10), {.load_distance = 1}),
                HasSubstr("load_distance = 1 (expected 0 <= value < 1)"));

    const ReducedModel free = test::bar_model({.rank = 4, .is_free = true});
    EXPECT_THAT(input_error([&] { return sketch_model(free, bar.pulls(1, 10)); }),
                HasSubstr("a free body cannot be sketched"));
    const SurfaceForce outside{bar.surface.num_triangles(), Vector3d::UnitX(), Vector3d::UnitX()};
    EXPECT_THAT(input_error([&] {
                    return sketch_load(bar.embedding, bar.surface, std::span(&outside, 1));
                }),
                HasSubstr("sketch load triangle = 12 (expected 0 to 11)"));

    Progress progress;
    progress.cancel();
    EXPECT_THROW((void)sketch_model(bar.model, bar.pulls(1, 10), {}, progress), Cancelled);
}

}  // namespace
}  // namespace pliant
