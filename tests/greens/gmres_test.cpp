#include "greens/gmres.h"

#include "greens/block_preconditioner.h"
#include "tests/greens/boundary_shapes.h"
#include "tests/greens/large_bodies.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <Eigen/LU>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using test::exchanged_matrix;
using test::fixed_below;
using test::sphere_of_levels;

class MatrixOperator final : public BoundaryOperator {
public:
    explicit MatrixOperator(MatrixXd A) : A_(std::move(A)) {}
    [[nodiscard]] int num_unknowns() const noexcept override { return static_cast<int>(A_.rows()); }
    [[nodiscard]] std::int64_t num_bytes() const noexcept override { return 8 * A_.size(); }
    void apply(const Eigen::Ref<const MatrixXd>& X, Eigen::Ref<MatrixXd> Y) const override {
        Y.noalias() = A_ * X;
    }

private:
    MatrixXd A_;
};

int most_iterations(const GmresReport& report) {
    return *std::ranges::max_element(report.iterations);
}

/// Columns of G of some nodes.
MatrixXd some_loads(const BoundaryModel& model) {
    const int n = model.num_nodes();
    MatrixXd G(3 * n, 3 * n), H(3 * n, 3 * n), loads(3 * n, 12);
    model.assemble(0, n, G, H);
    for (int k = 0; k < 4; ++k) loads.middleCols<3>(3 * k) = G.middleCols<3>(3 * (k * n / 5));
    return loads;
}

TEST(Gmres, EndsInTheSpaceOfTheSolution) {
    std::srand(3);
    const MatrixXd A = MatrixXd::Random(20, 20) + 6 * MatrixXd::Identity(20, 20);
    MatrixXd B = MatrixXd::Random(20, 4), X(20, 4);
    B.col(1).setZero();
    B.col(2) = A.col(5);
    const GmresReport report = gmres(MatrixOperator(A), nullptr, B, X, {.tolerance = 1e-12});
    EXPECT_LT((X - A.partialPivLu().solve(B)).norm(), 1e-11);
    EXPECT_LE(most_iterations(report), 22);
    EXPECT_EQ(report.iterations[1], 0);
    EXPECT_TRUE(report.is_solved(1e-12));
    // the identity after one product, whatever else is solved for
    const GmresReport at_once =
        gmres(MatrixOperator(MatrixXd::Identity(20, 20)), nullptr, B, X, {.tolerance = 1e-12});
    EXPECT_EQ(at_once.iterations, (std::vector<int>{1, 0, 1, 1}));
    EXPECT_LT((X - B).norm(), 1e-14);
}

TEST(Gmres, TellsResidualsThatItCouldNotReach) {
    // a cyclic shift shows nothing until the last product
    MatrixXd A = MatrixXd::Zero(12, 12);
    for (int i = 0; i < 12; ++i) A(i, (i + 1) % 12) = 1;
    const MatrixXd B = MatrixXd::Identity(12, 12).leftCols(1);
    MatrixXd X(12, 1);
    const GmresReport report =
        gmres(MatrixOperator(A), nullptr, B, X, {.tolerance = 1e-6, .max_iterations = 11});
    EXPECT_EQ(report.iterations[0], 11);
    EXPECT_NEAR(report.residuals[0], 1, 1e-12);
    EXPECT_FALSE(report.is_solved(1e-6));
    EXPECT_TRUE(X.allFinite());
    EXPECT_TRUE(gmres(MatrixOperator(A), nullptr, B, X, {.tolerance = 1e-6}).is_solved(1e-6));
    // and one that cannot be: singular
    MatrixXd singular = MatrixXd::Identity(12, 12);
    singular(0, 0) = 0;
    const GmresReport never = gmres(MatrixOperator(singular), nullptr, B, X);
    EXPECT_FALSE(never.is_solved(1e-4));
    EXPECT_TRUE(X.allFinite());
}

TEST(Gmres, ColumnsAreThoseOfTheDirectSolver) {
    const BoundaryModel model(sphere_of_levels(2).mesh, {});
    const std::vector<NodeKind> kinds = fixed_below(model, -0.45);
    const auto dense = make_dense_operator(model, kinds);
    const BlockPreconditioner M(model, kinds, *dense, {.leaf_nodes = 40});
    const MatrixXd B = some_loads(model);
    const MatrixXd exact = exchanged_matrix(model, kinds).partialPivLu().solve(B);
    for (const double tolerance : {1e-3, 1e-6, 1e-10}) {
        MatrixXd X(B.rows(), B.cols());
        const GmresReport report = gmres(*dense, &M, B, X, {.tolerance = tolerance});
        EXPECT_TRUE(report.is_solved(tolerance));
        EXPECT_LT((X - exact).norm() / exact.norm(), 5 * tolerance);
    }
}

/// Spheres of 162 and 642 vertices held at a small cap: 48/56 products without preconditioner, 12
/// to 17 with that of the octree alone.
TEST(BlockPreconditioner, SavesProducts) {
    for (const int levels : {2, 3}) {
        const BoundaryModel model(sphere_of_levels(levels).mesh, {});
        const std::vector<NodeKind> kinds = fixed_below(model, -0.45);
        const auto matrix = make_hierarchical_operator(model, kinds);
        const MatrixXd B = some_loads(model);
        MatrixXd X(B.rows(), B.cols());
        const auto products = [&](const BlockPreconditioner* M) {
            const GmresReport report = gmres(*matrix, M, B, X, {.tolerance = 1e-3});
            EXPECT_TRUE(report.is_solved(1e-3));
            return most_iterations(report);
        };
        const int leaf = model.num_nodes() / 8;
        const BlockPreconditioner one_level(model, kinds, *matrix,
                                            {.leaf_nodes = leaf, .has_coarse = false});
        const BlockPreconditioner two_levels(model, kinds, *matrix, {.leaf_nodes = leaf});
        const int plain = products(nullptr), one = products(&one_level),
                  two = products(&two_levels);
        EXPECT_GT(plain, 35);
        EXPECT_LE(one, 22);
        EXPECT_LE(two, 9);
    }
}

/// The specification has 10 to 15 products on compressed columns, corrected or not, with clusters
/// alone.
TEST(BlockPreconditioner, SavesProductsOfWaveletColumnsAsWell) {
    for (const int levels : {2, 3}) {
        const SemiRegularMesh surface = sphere_of_levels(levels);
        const BoundaryModel model(surface.mesh, {});
        const std::vector<NodeKind> kinds = fixed_below(model, -0.45);
        const auto matrix = make_wavelet_operator(
            model, surface, kinds,
            {.tolerance = 0.01, .is_lifted = true, .has_rigid_correction = true}, Progress::none(),
            nullptr);
        const MatrixXd B = some_loads(model);
        MatrixXd X(B.rows(), B.cols());
        const int leaf = model.num_nodes() / 8;
        const BlockPreconditioner clusters(model, kinds, *matrix,
                                           {.leaf_nodes = leaf, .has_coarse = false});
        const BlockPreconditioner coarse(model, kinds, *matrix, {.leaf_nodes = leaf});
        const GmresReport plain = gmres(*matrix, nullptr, B, X, {.tolerance = 1e-3});
        EXPECT_GT(most_iterations(plain), 35);
        for (const auto& [M, most] : {std::pair(&clusters, 22), std::pair(&coarse, 15)}) {
            const GmresReport report = gmres(*matrix, M, B, X, {.tolerance = 1e-3});
            EXPECT_TRUE(report.is_solved(1e-3));
            EXPECT_LE(most_iterations(report), most) << levels;
        }
        // columns are those of the exact matrix, as well as they are compressed
        const MatrixXd exact = exchanged_matrix(model, kinds).partialPivLu().solve(B);
        EXPECT_LT((X - exact).norm() / exact.norm(), 0.1) << levels;
    }
}

TEST(BlockPreconditioner, OneClusterIsTheInverse) {
    const BoundaryModel model(test::cube_surface(3), {.crease_angle = 0.5});
    const std::vector<NodeKind> kinds = fixed_below(model, 0.1);
    const auto dense = make_dense_operator(model, kinds);
    for (const bool has_coarse : {false, true}) {
        const BlockPreconditioner M(model, kinds, *dense,
                                    {.leaf_nodes = 10000, .has_coarse = has_coarse});
        std::srand(5);
        const MatrixXd X = MatrixXd::Random(dense->num_unknowns(), 100);
        MatrixXd Y(X.rows(), X.cols()), Z(X.rows(), X.cols());
        dense->apply(X, Y);
        M.apply(Y, Z);
        EXPECT_LT((Z - X).norm() / X.norm(), 1e-4);
    }
}

}  // namespace
}  // namespace pliant
