#include <algorithm>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "pliant/core/allocation_guard.h"
#include "pliant/greens/constraint_levels.h"
#include "pliant/greens/hierarchical_greens.h"
#include "tests/greens/synthetic_greens.h"
#include "tests/greens/wavelet_models.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::whole_nodes;

/// 642 vertices on four levels by boundary elements, with the columns of all levels.
const GreensModel& refined_model() {
    static const GreensModel model = with_coarser_columns(test::blob_model(3), 0);
    return model;
}

/// Columns of all levels, refined and then thresholded.
const std::shared_ptr<const WaveletGreensFunctions>& refined_wavelets() {
    static const auto wavelets = [] {
        const GreensModel& model = refined_model();
        RefinedColumnSource source(
            std::dynamic_pointer_cast<const DenseGreensFunctions>(model.reference.functions),
            model.reference.hierarchy);
        return compress_greens(source, model.surface, model.reference.kinds, model.reference.areas,
                               test::dense_functions(model).layout().columns, {});
    }();
    return wavelets;
}

std::vector<int> ids_looking_up(int level, double least) {
    const GreensModel& model = refined_model();
    const HierarchicalBasis& basis = *model.reference.hierarchy;
    std::vector<int> ids;
    for (int k = 0; k < basis.num_vertices(level); ++k)
        if (model.reference.functions->has_column(basis.id(level, k)) &&
            model.reference.positions[at(k)].normalized().y() > least)
            ids.push_back(basis.id(level, k));
    return ids;
}

/// Fast summation against dense columns with the same numbers.
TEST(HierarchicalWavelets, SolveAsDenseColumnsOnTheSameData) {
    const GreensModel& model = refined_model();
    const int n = model.num_nodes();
    const HierarchicalBasis& basis = *model.reference.hierarchy;
    ReferenceProblem sparse = model.reference, dense = model.reference;
    sparse.functions = refined_wavelets();
    dense.functions = test::reconstructed(*refined_wavelets());
    EXPECT_EQ(sparse.functions->num_column_levels(), 4);
    EXPECT_EQ(dense.functions->num_column_levels(), 4);
    EXPECT_LT(sparse.functions->mean_column_blocks(), 0.3 * n);
    EXPECT_EQ(dense.functions->mean_column_blocks(), n);
    CapacitanceSolver fast(sparse, UpdateCosts(), {.max_dofs = 300}),
        slow(dense, UpdateCosts(), {.max_dofs = 300});

    std::vector<int> mixed = ids_looking_up(3, 0.95);
    for (int k = 0; k < basis.num_vertices(1); ++k)
        if (dense.functions->has_column(basis.id(1, k)) &&
            dense.positions[at(k)].normalized().y() < -0.7)
            mixed.push_back(basis.id(1, k));
    const std::vector<int> loaded{ids_looking_up(3, -1).back(), ids_looking_up(0, -1).back()};
    const std::vector<Vector3d> loads{{10, -20, 30}, {-5, 4, 7}};
    const std::vector<double> gravity{0, 0.01, -0.05};
    for (const bool is_loaded : {false, true})
        for (const std::vector<int>& ids :
             {ids_looking_up(2, 0.8), ids_looking_up(1, 0.3), ids_looking_up(0, 0.3), mixed}) {
            ASSERT_GT(ids.size(), 2u);
            const auto dofs = whole_nodes(ids);
            const Eigen::VectorXd u =
                0.02 * test::random_matrix(static_cast<int>(dofs.size()), 1, 1);
            std::vector<std::vector<float>> fields;
            std::vector<Vector3d> forces;
            for (CapacitanceSolver* solver : {&fast, &slow}) {
                if (is_loaded) {
                    ASSERT_TRUE(solver->set_loads(loaded, loads));
                    ASSERT_TRUE(solver->set_body_loads(gravity));
                }
                AllocationGuard guard;
                const auto status = solver->solve(dofs, {u.data(), dofs.size()});
                solver->evaluate(n);
                const auto allocations = guard.count();
                ASSERT_FALSE(is_refused(status));
                EXPECT_EQ(allocations, 0u);
                fields.emplace_back(3 * at(n));
                solver->write_displacements(fields.back());
                forces.push_back(solver->force(ids));
            }
            const Eigen::Map<Eigen::VectorXf> a(fields[0].data(), 3 * n),
                b(fields[1].data(), 3 * n);
            // single precision times the condition of C
            EXPECT_LT((a - b).lpNorm<Eigen::Infinity>(), 1e-5f * b.lpNorm<Eigen::Infinity>());
            EXPECT_LT((forces[0] - forces[1]).norm(), 1e-4 * forces[1].norm());
            // and the conditions are met by the field
            for (std::size_t k = 0; k < ids.size(); ++k)
                EXPECT_LT((a.segment<3>(3 * basis.vertex_of(ids[k])).cast<double>() -
                           u.segment<3>(3 * static_cast<Eigen::Index>(k)))
                              .norm(),
                          2e-5 * u.norm());
        }
}

/// Largest and RMS error of columns of free nodes of a level, free rows.
std::pair<double, double> errors_of_level(int level,
                                          const std::function<Eigen::MatrixXd(int)>& approximate) {
    const GreensModel& model = refined_model();
    const HierarchicalBasis& basis = *model.reference.hierarchy;
    double largest = 0, squares = 0, whole = 0;
    for (const int id : ids_looking_up(level, -2)) {
        if (model.reference.kinds[at(basis.vertex_of(id))] == NodeKind::Fixed) continue;
        const Eigen::MatrixXd column = approximate(id);
        double amplitude = 0, error = 0;
        for (int i = 0; i < model.num_nodes(); ++i) {
            if (model.reference.kinds[at(i)] == NodeKind::Fixed) continue;
            Eigen::Matrix<float, 3, 3, Eigen::RowMajor> exact;
            model.reference.functions->element(i, id, exact.data());
            const double difference = (column.middleRows<3>(3 * i) - exact.cast<double>()).norm();
            amplitude = std::max(amplitude, double{exact.norm()});
            error = std::max(error, difference);
            squares += difference * difference;
            whole += double{exact.squaredNorm()};
        }
        largest = std::max(largest, error / amplitude);
    }
    return {largest, std::sqrt(squares / whole)};
}

TEST(HierarchicalWavelets, AreBetterThresholdedAfterRefining) {
    const GreensModel& model = refined_model();
    const HierarchicalBasis& basis = *model.reference.hierarchy;
    const int n = model.num_nodes();
    const auto dense = test::reconstructed(*refined_wavelets());
    const auto column_of = [&](int id) {
        Eigen::MatrixXd column(3 * n, 3);
        for (int i = 0; i < n; ++i) {
            Eigen::Matrix<float, 3, 3, Eigen::RowMajor> block;
            dense->element(i, id, block.data());
            column.middleRows<3>(3 * i) = block.cast<double>();
        }
        return column;
    };
    for (const int level : {1, 2}) {
        const auto after = errors_of_level(level, column_of);
        const auto before = errors_of_level(level, [&](int id) {
            Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(3 * n, 3);
            const WeightedVertices values = basis.values(id);
            for (std::size_t q = 0; q < values.vertices.size(); ++q)
                sum += values.weights[q] * column_of(values.vertices[q]);
            return sum;
        });
        // near the tolerance of 0.05
        EXPECT_LT(after.first, 1.25 * 0.05) << level;
        EXPECT_LT(after.first, before.first) << level;
        RecordProperty("after" + std::to_string(level), std::to_string(after.first));
        RecordProperty("before" + std::to_string(level), std::to_string(before.first));
    }
}

TEST(HierarchicalWavelets, AreNotRefinedFromCompressedColumns) {
    GreensModel model = refined_model();
    model.reference.functions = refined_wavelets();
    EXPECT_EQ(test::input_error([&] { (void)with_coarser_columns(model, 1); }),
              "coarser columns are refined from dense Green's functions; refine first, then "
              "compress");
}

TEST(HierarchicalWavelets, ServeConstraintLevels) {
    const GreensModel& model = refined_model();
    ReferenceProblem sparse = model.reference;
    sparse.functions = refined_wavelets();
    std::vector<HeldNode> held;
    for (const int id : ids_looking_up(3, 0.7)) held.push_back({id, {0, -0.02, 0}, 0});
    CapacitanceSolver first(sparse, UpdateCosts(), {.max_dofs = 300});
    ConstraintLevels unlimited(sparse, {.budget = 1});
    ASSERT_EQ(unlimited.solve(first, held), ConstraintLevels::Status::Solved);
    const double needed = unlimited.report().predicted;
    CapacitanceSolver solver(sparse, UpdateCosts(), {.max_dofs = 300});
    ConstraintLevels levels(sparse, {.budget = needed / 2});
    ASSERT_EQ(levels.solve(solver, held), ConstraintLevels::Status::Degraded);
    EXPECT_LE(levels.report().predicted, needed / 2);
    EXPECT_LT(levels.level(), 3);
    EXPECT_LT(levels.conditions().size(), held.size());
}

}  // namespace
}  // namespace pliant
