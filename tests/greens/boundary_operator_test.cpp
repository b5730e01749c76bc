// Products of compressed boundary operators against the dense matrix.

#include "pliant/greens/boundary_operator.h"

#include "greens/dense_lu.h"
#include "greens/unknown_blocks.h"
#include "pliant/core/parallel.h"
#include "tests/greens/boundary_shapes.h"
#include "tests/greens/large_bodies.h"
#include "tests/input_error.h"

#include <algorithm>
#include <numbers>
#include <numeric>

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using test::exchanged_matrix;
using test::fixed_below;
using test::sphere_of_levels;

MatrixXd product(const BoundaryOperator& A, const MatrixXd& X) {
    MatrixXd Y(X.rows(), X.cols());
    A.apply(X, Y);
    return Y;
}

MatrixXd fixed_random(Eigen::Index rows, Eigen::Index columns) {
    std::srand(7);
    return MatrixXd::Random(rows, columns);
}

double relative_error(const MatrixXd& values, const MatrixXd& exact) {
    return (values - exact).norm() / exact.norm();
}

TEST(UnknownBlocks, AnyRowsAndColumnsAreThoseOfTheWholeMatrix) {
    // vertices, doubled nodes along creases, and centroids
    const BoundaryModel models[] = {
        {sphere_of_levels(1).mesh, {}},
        {test::cube_surface(3), {.crease_angle = 0.5}},
        {test::cube_surface(2), {.elements = BoundaryElements::Constant, .poisson_ratio = 0.45}}};
    for (const BoundaryModel& model : models) {
        const int n = model.num_nodes();
        const std::vector<NodeKind> kinds = fixed_below(model, model.positions()[0].z() - 0.1);
        MatrixXd G(3 * n, 3 * n), H(3 * n, 3 * n);
        model.assemble(0, n, G, H);
        UnknownBlocks blocks(model, kinds);
        blocks.set_own_blocks(blocks.integrated_own_blocks());
        UnknownBlocks::Workspace workspace(blocks);
        // every third column, rows in any order, and once more with others
        for (int start = 0; start < 3; ++start) {
            std::vector<int> columns, rows;
            for (int j = start; j < n; j += 3) columns.push_back(j);
            for (int i = n - 1 - start; i >= 0; i -= 2) rows.push_back(i);
            blocks.set_nodes(columns, workspace);
            MatrixXd unknowns, knowns;
            blocks.unknowns(rows, workspace, unknowns);
            blocks.knowns(rows, workspace, knowns);
            double error = 0;
            for (std::size_t r = 0; r < rows.size(); ++r)
                for (std::size_t c = 0; c < columns.size(); ++c) {
                    const bool is_free = kinds[at(columns[c])] == NodeKind::Free;
                    const Eigen::Matrix3d g = G.block<3, 3>(3 * rows[r], 3 * columns[c]),
                                          h = H.block<3, 3>(3 * rows[r], 3 * columns[c]);
                    const auto row = 3 * static_cast<Eigen::Index>(r),
                               column = 3 * static_cast<Eigen::Index>(c);
                    error = std::max(
                        {error, (unknowns.block<3, 3>(row, column) - (is_free ? h : -g)).norm(),
                         (knowns.block<3, 3>(row, column) - (is_free ? g : -h)).norm()});
                }
            EXPECT_LT(error, 1e-13);
        }
    }
}

TEST(UnknownBlocks, RigidMotionsAreOrthonormalAndTheirProductNeedsFixedColumnsAlone) {
    const BoundaryModel model(sphere_of_levels(2).mesh, {});
    const std::vector<NodeKind> kinds = fixed_below(model, -0.3);
    UnknownBlocks blocks(model, kinds);
    blocks.set_own_blocks(blocks.integrated_own_blocks());
    const MatrixXd Q = blocks.free_rigid_motions();
    EXPECT_LT((Q.transpose() * Q - MatrixXd::Identity(6, 6)).norm(), 1e-13);
    const MatrixXd exact = exchanged_matrix(model, kinds) * Q;
    // to the quadrature's error for rotations; translations to rounding
    EXPECT_LT(relative_error(blocks.product_with_rigid_motions(), exact), 1e-5);
    EXPECT_LT((blocks.product_with_rigid_motions() - exact).leftCols(3).norm(), 1e-12);
}

TEST(BoundaryOperator, DenseIsTheExchangedMatrix) {
    const BoundaryModel model(sphere_of_levels(1).mesh, {});
    const std::vector<NodeKind> kinds = fixed_below(model, -0.3);
    const auto dense = make_dense_operator(model, kinds);
    const MatrixXd X = fixed_random(dense->num_unknowns(), 5);
    EXPECT_LT(relative_error(product(*dense, X), exchanged_matrix(model, kinds) * X), 1e-13);
    EXPECT_EQ(dense->num_bytes(), 72 * 42 * 42);
}

TEST(BoundaryOperator, HierarchicalProductsMeetTheTolerance) {
    // a sphere with a small cap, and a box with doubled nodes and flat faces
    struct Case {
        BoundaryModel model;
        double z;
    };
    const Case cases[] = {{{sphere_of_levels(3).mesh, {}}, -0.45},
                          {{test::cube_surface(7), {.crease_angle = 0.5}}, 0.05}};
    for (const auto& [model, z] : cases) {
        const std::vector<NodeKind> kinds = fixed_below(model, z);
        const MatrixXd A = exchanged_matrix(model, kinds);
        const MatrixXd X = fixed_random(A.cols(), 20), exact = A * X;
        double last = 1;
        for (const double tolerance : {1e-2, 1e-3, 1e-4}) {
            HierarchicalReport report;
            const auto matrix =
                make_hierarchical_operator(model, kinds, {.tolerance = tolerance, .leaf_nodes = 16},
                                           Progress::none(), &report);
            EXPECT_GT(report.num_low_rank, 20);
            const double error = relative_error(product(*matrix, X), exact);
            EXPECT_LT(error, 0.5 * tolerance);
            EXPECT_LT(error, last);
            last = error;
        }
    }
}

TEST(BoundaryOperator, TheCorrectionMakesRigidMotionsExact) {
    const BoundaryModel model(sphere_of_levels(2).mesh, {});
    const std::vector<NodeKind> kinds = fixed_below(model, -0.4);
    const MatrixXd Q = UnknownBlocks(model, kinds).free_rigid_motions();
    const MatrixXd exact = exchanged_matrix(model, kinds) * Q;
    for (const bool corrected : {false, true}) {
        const auto hierarchical = make_hierarchical_operator(
            model, kinds, {.tolerance = 3e-2, .leaf_nodes = 8, .has_rigid_correction = corrected});
        const auto wavelet =
            make_wavelet_operator(model, sphere_of_levels(2), kinds,
                                  {.tolerance = 0.05, .has_rigid_correction = corrected});
        const double errors[] = {relative_error(product(*hierarchical, Q), exact),
                                 relative_error(product(*wavelet, Q), exact)};
        for (const double error : errors)
            if (corrected)
                EXPECT_LT(error, 2e-5);
            else
                EXPECT_GT(error, 1e-4);
    }
}

TEST(BoundaryOperator, WaveletColumnsWithoutThresholdAreExact) {
    const BoundaryModel model(sphere_of_levels(2).mesh, {});
    const std::vector<NodeKind> kinds = fixed_below(model, -0.45);
    const MatrixXd A = exchanged_matrix(model, kinds);
    // more than one pass of right-hand sides, the last not full
    const MatrixXd X = fixed_random(A.cols(), 21);
    for (const bool is_lifted : {false, true})
        for (const bool is_adaptive : {false, true}) {
            WaveletOperatorReport report;
            const auto matrix = make_wavelet_operator(
                model, sphere_of_levels(2), kinds,
                {.tolerance = 0, .is_lifted = is_lifted, .is_adaptive = is_adaptive},
                Progress::none(), &report);
            EXPECT_LT(relative_error(product(*matrix, X), A * X), 1e-5);
            EXPECT_EQ(report.num_integrated, 162 * 162);
        }
}

/// RMS error of displacements of free nodes under tractions at free nodes, for the exact solution
/// with an approximate matrix.
double rms_error(const MatrixXd& exact_columns, const MatrixXd& loads,
                 const std::vector<NodeKind>& kinds, const BoundaryOperator& A) {
    MatrixXd columns = loads;
    DenseLu(product(A, MatrixXd::Identity(A.num_unknowns(), A.num_unknowns())), Progress::none())
        .solve_in_place(columns);
    double error = 0, size = 0;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (kinds[i] == NodeKind::Fixed) continue;
        const auto row = 3 * static_cast<Eigen::Index>(i);
        error += (columns - exact_columns).middleRows<3>(row).squaredNorm();
        size += exact_columns.middleRows<3>(row).squaredNorm();
    }
    return std::sqrt(error / size);
}

/// docs/greens-large.md has the whole table.
TEST(BoundaryOperator, WaveletColumnsGiveTheErrorsOfTheSpecification) {
    const BoundaryModel model(sphere_of_levels(2).mesh, {});
    const std::vector<NodeKind> kinds = fixed_below(model, -0.45);
    const int n = model.num_nodes();
    MatrixXd G(3 * n, 3 * n), H(3 * n, 3 * n);
    model.assemble(0, n, G, H);
    MatrixXd loads(3 * n, 0);
    for (int j = 0; j < n; ++j)
        if (kinds[at(j)] == NodeKind::Free) {
            loads.conservativeResize(Eigen::NoChange, loads.cols() + 3);
            loads.rightCols<3>() = G.middleCols<3>(3 * j);
        }
    MatrixXd exact = loads;
    DenseLu(exchanged_matrix(model, kinds), Progress::none()).solve_in_place(exact);
    const auto error = [&](double tolerance, bool is_lifted, bool corrected, bool is_adaptive) {
        return rms_error(exact, loads, kinds,
                         *make_wavelet_operator(model, sphere_of_levels(2), kinds,
                                                {.tolerance = tolerance,
                                                 .is_lifted = is_lifted,
                                                 .has_rigid_correction = corrected,
                                                 .is_adaptive = is_adaptive}));
    };
    // corrected 0.011 and 0.032 lifted, 0.018 and 0.048 unlifted
    EXPECT_LT(error(0.01, true, true, false), 0.015);
    EXPECT_LT(error(0.04, true, true, false), 0.04);
    EXPECT_LT(error(0.01, false, true, false), 0.025);
    EXPECT_LT(error(0.04, false, true, false), 0.06);
    // where nothing is integrated without need
    EXPECT_LT(error(0.01, true, true, true), 0.02);
    // not corrected: several times as much
    EXPECT_GT(error(0.01, true, false, false), 2 * error(0.01, true, true, false));
}

TEST(BoundaryOperator, BitsDoNotDependOnThreads) {
    const BoundaryModel model(sphere_of_levels(2).mesh, {});
    const std::vector<NodeKind> kinds = fixed_below(model, -0.4);
    const MatrixXd X = fixed_random(3 * model.num_nodes(), 7);
    std::vector<MatrixXd> results;
    for (const int threads : {1, 2}) {
        set_num_threads(threads);
        results.push_back(
            product(*make_hierarchical_operator(model, kinds, {.leaf_nodes = 12}), X));
        results.push_back(product(*make_wavelet_operator(model, sphere_of_levels(2), kinds), X));
    }
    set_num_threads(0);
    EXPECT_EQ(results[0], results[2]);
    EXPECT_EQ(results[1], results[3]);
}

TEST(BoundaryOperator, SaysWhatItCannotTake) {
    const BoundaryModel model(sphere_of_levels(1).mesh, {});
    const std::vector<NodeKind> kinds = fixed_below(model, -0.3);
    const auto hierarchical = [&](const HierarchicalOptions& options) {
        return test::input_error([&] { (void)make_hierarchical_operator(model, kinds, options); });
    };
    EXPECT_EQ(hierarchical({.tolerance = 0}), "tolerance = 0 (expected 0 < value < 1)");
    EXPECT_EQ(hierarchical({.leaf_nodes = 0}), "leaf_nodes = 0 (expected 1 or more)");
    EXPECT_NE(test::input_error([&] {
                  (void)make_wavelet_operator(model, sphere_of_levels(2), kinds);
              }).find("a node at each vertex"),
              std::string::npos);
    SemiRegularMesh flat = sphere_of_levels(1);
    flat.num_vertices = {flat.mesh.num_vertices()};
    flat.triangles = {flat.mesh.triangles};
    flat.neighbourhood.clear();
    EXPECT_NE(test::input_error([&] {
                  (void)make_wavelet_operator(model, flat, kinds);
              }).find("pliant mesh --kind semiregular"),
              std::string::npos);
    const BoundaryModel outside(sphere_of_levels(1).mesh, {.is_exterior = true});
    EXPECT_NE(test::input_error([&] {
                  (void)make_dense_operator(outside, kinds);
              }).find("inside of elastic bodies"),
              std::string::npos);
}

}  // namespace
}  // namespace pliant
