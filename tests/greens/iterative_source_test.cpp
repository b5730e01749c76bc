#include "greens/iterative_source.h"

#include "core/temporary_directory.h"
#include "greens/boundary_source.h"
#include "pliant/greens/build_greens.h"
#include "pliant/greens/hierarchical_basis.h"
#include "pliant/greens/hierarchical_greens.h"
#include "tests/greens/boundary_shapes.h"
#include "tests/greens/large_bodies.h"
#include "tests/input_error.h"

#include <numeric>

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using test::fixed_below;
using test::sphere_of_levels;

/// Small clusters, so that all parts have work on small bodies.
IterativeOptions small_clusters(double tolerance) {
    IterativeOptions options;
    options.tolerance = tolerance;
    options.matrix.leaf_nodes = 16;
    options.matrix.tolerance = 0.1 * tolerance;
    options.preconditioner.leaf_nodes = 40;
    return options;
}

const std::vector<GreensReadout> kInside{{ReadoutKind::Displacement, Eigen::Vector3d(0.05, 0, 0.1)},
                                         {ReadoutKind::Stress, Eigen::Vector3d(0, -0.1, 0.2)}};

std::vector<int> all_nodes(const BoundaryModel& model) {
    std::vector<int> nodes(at(model.num_nodes()));
    std::iota(nodes.begin(), nodes.end(), 0);
    return nodes;
}

TEST(IterativeSource, ColumnsAreThoseOfTheDirectSource) {
    // free and fixed columns, body forces and read-outs
    const BoundaryModel model(sphere_of_levels(2).mesh, {});
    const std::vector<NodeKind> kinds = fixed_below(model, -0.4);
    BoundaryElementSource direct(model, kinds, all_nodes(model), kInside);
    direct.prepare(Progress::none());
    const std::vector<int> nodes{0, 5, 3, 161, 77, 100, 140};
    MatrixXd exact(direct.num_rows(), 21), exact_body(direct.num_rows(), 3);
    direct.columns(nodes, exact);
    direct.body_columns(exact_body);
    for (const double tolerance : {1e-3, 1e-5}) {
        IterativeBoundarySource source(model, kinds, kInside, small_clusters(tolerance));
        source.prepare(Progress::none());
        ASSERT_EQ(source.num_rows(), direct.num_rows());
        MatrixXd values(source.num_rows(), 21), body(source.num_rows(), 3);
        source.columns(nodes, values);
        source.body_columns(body);
        for (int c = 0; c < 21; ++c)
            EXPECT_LT((values - exact).col(c).norm() / exact.col(c).norm(), 10 * tolerance) << c;
        EXPECT_LT((values - exact).bottomRows(9).norm() / exact.bottomRows(9).norm(),
                  10 * tolerance);
        EXPECT_LT((body - exact_body).norm() / exact_body.norm(), 10 * tolerance);
        EXPECT_EQ(source.report()->num_solved, 24);
        EXPECT_LE(source.report()->max_residual, tolerance);
    }
}

TEST(IterativeSource, TakesDoubledNodesAndConstantElements) {
    const BoundaryModel models[] = {
        {test::cube_surface(4), {.crease_angle = 0.5}},
        {test::cube_surface(3), {.elements = BoundaryElements::Constant}}};
    for (const BoundaryModel& model : models) {
        const std::vector<NodeKind> kinds = fixed_below(model, 0.05);
        BoundaryElementSource direct(model, kinds, all_nodes(model), {});
        direct.prepare(Progress::none());
        IterativeBoundarySource source(model, kinds, {}, small_clusters(1e-5));
        source.prepare(Progress::none());
        const std::vector<int> nodes{1, 40, model.num_nodes() - 1};
        MatrixXd exact(direct.num_rows(), 9), values(source.num_rows(), 9);
        direct.columns(nodes, exact);
        source.columns(nodes, values);
        EXPECT_LT((values - exact).norm() / exact.norm(), 1e-4);
    }
}

/// docs/greens-large.md eq. (L10): one solution for each coarse function.
TEST(IterativeSource, CoarseFunctionsAreSumsOfColumns) {
    const SemiRegularMesh surface = sphere_of_levels(2);
    const BoundaryModel model(surface.mesh, {});
    const std::vector<NodeKind> kinds = fixed_below(model, -0.4);
    auto source = std::make_shared<IterativeBoundarySource>(
        model, kinds, std::span<const GreensReadout>(kInside), small_clusters(1e-5));
    const auto basis = std::make_shared<const HierarchicalBasis>(surface, kinds);
    HierarchicalColumnSource hierarchical(source, basis);
    hierarchical.prepare(Progress::none());
    // node k on level 0 has the id k + L n
    const int id = 5 + 2 * model.num_nodes();
    ASSERT_EQ(kinds[5], NodeKind::Free);
    MatrixXd coarse(source->num_rows(), 3);
    hierarchical.columns({&id, 1}, coarse);

    BoundaryElementSource direct(model, kinds, all_nodes(model), kInside);
    direct.prepare(Progress::none());
    const std::vector<int> nodes = all_nodes(model);
    MatrixXd all(direct.num_rows(), 3 * model.num_nodes());
    direct.columns(nodes, all);
    const WeightedVertices function = basis->values(id);
    MatrixXd sum = MatrixXd::Zero(direct.num_rows(), 3);
    for (std::size_t k = 0; k < function.vertices.size(); ++k)
        sum += function.weights[k] * all.middleCols<3>(3 * function.vertices[k]);
    EXPECT_GT(function.vertices.size(), 10U);
    EXPECT_LT((coarse - sum).norm() / sum.norm(), 1e-4);
}

TEST(IterativeSource, NamesColumnsWhoseToleranceIsNotReached) {
    const BoundaryModel model(sphere_of_levels(2).mesh, {});
    IterativeOptions options = small_clusters(1e-5);
    options.max_iterations = 3;
    IterativeBoundarySource source(model, fixed_below(model, -0.4), {}, options);
    source.prepare(Progress::none());
    const std::vector<int> nodes{8, 30};
    MatrixXd values(source.num_rows(), 6);
    const std::string sentence = test::input_error([&] { source.columns(nodes, values); });
    EXPECT_NE(sentence.find("after 3 products, more than the tolerance 1e-05, at 6 right-hand "
                            "sides (node 8, node 30); loosen"),
              std::string::npos)
        << sentence;
    EXPECT_TRUE(values.allFinite());
}

TEST(IterativeSource, CanBeCancelledWhileItSolves) {
    const BoundaryModel model(sphere_of_levels(1).mesh, {});
    IterativeBoundarySource source(model, fixed_below(model, -0.4), {}, small_clusters(1e-5));
    Progress progress;
    source.prepare(progress);
    progress.cancel();
    const int node = 3;
    MatrixXd values(source.num_rows(), 3);
    EXPECT_THROW(source.columns({&node, 1}, values), Cancelled);
}

/// RMS of the difference of all columns, relative.
double column_difference(const GreensModel& model, const GreensModel& exact) {
    float a[9], b[9];
    double error = 0, size = 0;
    for (int j = 0; j < exact.num_nodes(); ++j) {
        if (!exact.reference.functions->has_column(j)) continue;
        for (int i = 0; i < exact.num_nodes(); ++i) {
            exact.reference.functions->element(i, j, a);
            model.reference.functions->element(i, j, b);
            for (int k = 0; k < 9; ++k) {
                error += (a[k] - b[k]) * (a[k] - b[k]);
                size += a[k] * a[k];
            }
        }
    }
    return std::sqrt(error / size);
}

GreensBuildOptions held_below() {
    GreensBuildOptions options;
    options.fixed = "z < 10 %";
    options.contactable = "z > 70 %";
    return options;
}

TEST(IterativeSource, BuildsTheModelOfTheDirectSolver) {
    const SemiRegularMesh surface = sphere_of_levels(2);
    GreensBuildOptions options = held_below();
    const GreensModel direct = build_greens_model(surface, options);
    options.solver = GreensSolver::Iterative;
    options.residual = 1e-5;
    GreensBuildReport report;
    const GreensModel iterative = build_greens_model(surface, options, Progress::none(), &report);
    EXPECT_TRUE(report.is_iterative);
    EXPECT_LE(report.max_residual, 1e-5);
    EXPECT_GT(report.mean_products, 0);
    ASSERT_EQ(iterative.num_columns(), direct.num_columns());
    EXPECT_LT(column_difference(iterative, direct), 2e-4);
    // the two never share columns that were kept, and errors name the option
    EXPECT_EQ(test::input_error([&] {
                  options.residual = 1;
                  (void)build_greens_model(surface, options);
              }),
              "residual = 1 (expected 1e-6 to 0.1, relative to the right-hand side)");
    EXPECT_EQ(test::input_error([] { (void)greens_solver("fast"); }),
              "solver = fast (expected auto, direct or iterative)");
}

TEST(IterativeSource, WaveletColumnsBuildTheModelToTheirTolerance) {
    const SemiRegularMesh surface = sphere_of_levels(2);
    GreensBuildOptions options = held_below();
    const test::TemporaryDirectory folder;
    options.cache = folder / "cache";
    const GreensModel direct = build_greens_model(surface, options);
    options.solver = GreensSolver::Iterative;
    const GreensModel hierarchical = build_greens_model(surface, options);
    options.matrix = GreensMatrix::Wavelet;
    // measured 0.070, 0.021 and 0.011, reactions of supports included
    struct Limit {
        double tolerance, error;
    };
    for (const auto& [tolerance, limit] :
         {Limit{0.04, 0.09}, Limit{0, 0.03}, Limit{0.0025, 0.015}}) {
        options.matrix_tolerance = tolerance;
        GreensBuildReport report;
        const GreensModel wavelet = build_greens_model(surface, options, Progress::none(), &report);
        EXPECT_TRUE(report.is_iterative);
        // kept columns of another matrix are none of its own
        EXPECT_EQ(report.num_cached, 0) << tolerance;
        EXPECT_LE(report.max_residual, options.residual);
        const double error = column_difference(wavelet, direct);
        EXPECT_LT(error, limit) << tolerance;
        EXPECT_GT(error, 0.3 * limit) << tolerance;
    }
    EXPECT_LT(column_difference(hierarchical, direct), 1e-3);
}

TEST(IterativeSource, ALooserHierarchicalMatrixTakesLessMemory) {
    const SemiRegularMesh surface = sphere_of_levels(3);
    GreensBuildOptions options = held_below();
    options.contactable = "z > 98 %";
    options.solver = GreensSolver::Iterative;
    GreensBuildReport tight, loose;
    (void)build_greens_model(surface, options, Progress::none(), &tight);
    options.matrix_tolerance = 0.02;
    (void)build_greens_model(surface, options, Progress::none(), &loose);
    EXPECT_LT(loose.matrix_bytes, 0.95 * tight.matrix_bytes);
}

TEST(IterativeSource, SaysWhichMatrixItCannotUse) {
    const SemiRegularMesh surface = sphere_of_levels(1);
    GreensBuildOptions options = held_below();
    options.matrix = GreensMatrix::Wavelet;
    const auto refused = [&](const SemiRegularMesh& body) {
        return test::input_error([&] { (void)build_greens_model(body, options); });
    };
    options.crease_angle = 0.5;
    EXPECT_EQ(refused(surface),
              "matrix = wavelet (expected hierarchical unless there is one node at each vertex of "
              "a subdivision surface: linear boundary elements without creases)");
    options.crease_angle = 0;
    EXPECT_EQ(refused(midpoint_subdivide(surface.mesh, 0)),
              "matrix = wavelet (expected hierarchical on this surface, which has a single level; "
              "pliant mesh --kind semiregular makes one with several)");
    options.matrix_tolerance = 0.5;
    EXPECT_EQ(refused(surface),
              "matrix_tolerance = 0.5 (expected 1e-6 to 0.1, or 0 for that of the matrix)");
    EXPECT_EQ(test::input_error([] { (void)greens_matrix("sparse"); }),
              "matrix = sparse (expected hierarchical or wavelet)");
}

}  // namespace
}  // namespace pliant
