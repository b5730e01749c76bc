#include "pliant/greens/hierarchical_greens.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "greens/boundary_source.h"
#include "tests/greens/hierarchical_models.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

using Eigen::MatrixXd;

double relative_difference(const MatrixXd& a, const MatrixXd& b) {
    return (a - b).norm() / b.norm();
}

/// Refined from the columns of all nodes against solutions for φ(x_i) I, level by level.
void expect_refined_equals_solved(GreensColumnSource& source, const HierarchicalBasis& basis,
                                  double tolerance) {
    const int n = basis.num_vertices();
    MatrixXd refined(source.num_rows(), 3 * n);
    source.columns(test::first_numbers(n), refined);
    HierarchicalColumnSource hierarchical(
        std::shared_ptr<GreensColumnSource>(&source, [](auto*) {}),
        std::make_shared<const HierarchicalBasis>(basis));
    EXPECT_EQ(hierarchical.num_column_levels(), basis.num_levels() + 1);
    for (int level = basis.num_levels() - 1; level >= 0; --level) {
        basis.refine_up(level, 3, refined);
        std::vector<int> ids;
        for (int k = 0; k < basis.num_vertices(level); ++k) ids.push_back(basis.id(level, k));
        MatrixXd solved(source.num_rows(), 3 * static_cast<Eigen::Index>(ids.size()));
        hierarchical.columns(ids, solved);
        EXPECT_LT(relative_difference(refined.leftCols(solved.cols()), solved), tolerance) << level;
    }
}

TEST(HierarchicalColumns, RefinedEqualSolvedForFiniteElements) {
    const SemiRegularMesh surface = test::blob(2);
    FiniteProblem problem = test::filled_blob(surface);
    problem.readouts = {{ReadoutKind::Displacement, {0.05, 0.1, 0.03}},
                        {ReadoutKind::Stress, {0.01, -0.1, 0.07}}};
    const HierarchicalBasis basis(surface, problem.kinds);
    FiniteElementSource source(std::move(problem));
    source.prepare(Progress::none());
    expect_refined_equals_solved(source, basis, 1e-12);
}

TEST(HierarchicalColumns, RefinedEqualSolvedForBoundaryElements) {
    const SemiRegularMesh surface = test::blob(2);
    const auto kinds = test::standing_kinds(surface.mesh);
    const HierarchicalBasis basis(surface, kinds);
    const GreensReadout readout{ReadoutKind::Stress, {0.05, 0.1, 0.03}};
    BoundaryElementSource source(BoundaryModel(surface.mesh, {}), kinds,
                                 test::first_numbers(surface.mesh.num_vertices()), {&readout, 1});
    source.prepare(Progress::none());
    expect_refined_equals_solved(source, basis, 1e-12);

    // right-hand sides that are not kept are integrated again, to the same
    BoundaryElementSource bare(BoundaryModel(surface.mesh, {}), kinds, {}, {&readout, 1});
    bare.prepare(Progress::none());
    std::vector<SpreadKnown> spreads;
    for (const int id : {basis.id(0, 1), basis.id(0, 4), basis.id(1, 30), basis.id(1, 2)})
        spreads.push_back({basis.values(id).vertices, basis.values(id).weights});
    MatrixXd kept(source.num_rows(), 12), integrated(source.num_rows(), 12),
        summed(source.num_rows(), 12);
    source.spread_columns(spreads, kept);
    bare.spread_columns(spreads, integrated);
    EXPECT_LT(relative_difference(integrated, kept), 1e-14);
    // what sources without a system of their own do
    source.GreensColumnSource::spread_columns(spreads, summed);
    EXPECT_LT(relative_difference(summed, kept), 1e-12);
}

TEST(HierarchicalColumns, AreStoredBesideThoseOfNodes) {
    const auto blob = test::hierarchical_blob(2);
    const GreensFunctions& functions = *blob.model->reference.functions;
    EXPECT_EQ(functions.num_column_levels(), 3);
    EXPECT_EQ(functions.num_column_ids(), 3 * 162);
    EXPECT_EQ(functions.row_of(162 + 40), 40);
    EXPECT_TRUE(functions.has_column(161));
    EXPECT_TRUE(functions.has_column(162 + 41));
    EXPECT_FALSE(functions.has_column(162 + 42));
    EXPECT_FALSE(functions.has_column(3 * 162));
    // to single precision, elements and sums
    HierarchicalColumnSource source(blob.source, blob.basis);
    const std::vector<int> ids{blob.basis->id(1, 35), blob.basis->id(0, 3)};
    MatrixXd solved(3 * 162, 6);
    source.columns(ids, solved);
    const double largest = solved.cwiseAbs().maxCoeff();
    MatrixXd stored(3 * 162, 6);
    for (int i = 0; i < 162; ++i)
        for (int c = 0; c < 2; ++c) {
            float values[9];
            functions.element(i, ids[at(c)], values);
            stored.block<3, 3>(3 * i, 3 * c) =
                Eigen::Map<Eigen::Matrix<float, 3, 3, Eigen::RowMajor>>(values).cast<double>();
        }
    EXPECT_LT((stored - solved).cwiseAbs().maxCoeff(), 1e-6 * largest);
    std::vector<float> out(3 * 162, 0.0f);
    const std::vector<float> weights{1, 0, 2, 0, -1, 0.5f};
    functions.add_columns(ids, weights, out);
    const Eigen::VectorXd sum =
        stored * Eigen::Map<const Eigen::VectorXf>(weights.data(), 6).cast<double>();
    EXPECT_LT(
        (Eigen::Map<Eigen::VectorXf>(out.data(), 486).cast<double>() - sum).cwiseAbs().maxCoeff(),
        1e-6 * largest);
}

TEST(HierarchicalColumns, OnlyWhereAllNodesHaveColumns) {
    auto model = *test::kelvin_model(test::blob(2), 0.3);
    const HierarchicalBasis basis(model.surface, model.reference.kinds);
    const auto ids = refinable_ids(*model.reference.functions, basis, 1);
    ASSERT_FALSE(ids.empty());
    for (const int id : ids)
        EXPECT_EQ(model.reference.kinds[at(basis.vertex_of(id))], NodeKind::Free);
    const GreensModel refined = with_coarser_columns(model, 1);
    EXPECT_TRUE(refined.reference.functions->has_column(ids.front()));
    EXPECT_FALSE(refined.reference.functions->has_column(basis.id(0, 0)));
    EXPECT_EQ(refined.num_columns(), model.num_columns());

    EXPECT_EQ(test::input_error([&] { (void)with_coarser_columns(model, 2); }),
              "constraint level = 2 (expected 0 to 1, levels coarser than the surface)");
}

TEST(HierarchicalColumns, AreKeptInFiles) {
    const auto plain = test::kelvin_model(test::blob(2), 0.3);
    GreensModel model = with_coarser_columns(*plain, 0);
    // files have gravity
    DenseGreensLayout layout =
        dynamic_cast<const DenseGreensFunctions&>(*model.reference.functions).layout();
    layout.num_body_columns = 3;
    auto functions = std::make_shared<DenseGreensFunctions>(layout);
    RefinedColumnSource source(
        std::dynamic_pointer_cast<const DenseGreensFunctions>(plain->reference.functions),
        model.reference.hierarchy);
    MatrixXd column(3 * model.num_nodes(), 3);
    for (const int id : layout.columns) {
        source.columns({&id, 1}, column);
        functions->set_column(id, column);
    }
    model.reference.functions = functions;
    const auto path = std::filesystem::temp_directory_path() /
                      ("pliant_hierarchical_" + std::to_string(getpid()) + ".pliant");
    save_greens_model(model, path);
    {
        const GreensModel loaded = load_greens_model(path);
        EXPECT_EQ(loaded.reference.functions->num_column_levels(), 3);
        ASSERT_TRUE(loaded.reference.hierarchy);
        for (const int id : layout.columns) {
            float a[9], b[9];
            functions->element(5, id, a);
            loaded.reference.functions->element(5, id, b);
            EXPECT_TRUE(std::equal(a, a + 9, b));
        }
    }
    // ids that are no functions
    DenseGreensLayout bad = layout;
    bad.columns.back() = 2 * model.num_nodes() + 100;
    model.reference.functions = std::make_shared<DenseGreensFunctions>(bad);
    save_greens_model(model, path);
    EXPECT_NE(test::input_error([&] {
                  (void)load_greens_model(path);
              }).find("a node, or a function of a coarser level"),
              std::string::npos);
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace pliant
