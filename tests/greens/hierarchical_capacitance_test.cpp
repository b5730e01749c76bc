#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "pliant/core/allocation_guard.h"
#include "pliant/greens/capacitance_solver.h"
#include "pliant/greens/patch_stiffness.h"
#include "tests/greens/hierarchical_models.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::HierarchicalBlob;
using test::whole_nodes;

/// Rounding of single precision times the condition of these problems.
constexpr double kSinglePrecision = 2e-5;

const HierarchicalBlob& coarse_grid_blob() {
    static const HierarchicalBlob blob = test::hierarchical_blob(2, 10);
    return blob;
}

const HierarchicalBlob& elastic_blob() {
    static const HierarchicalBlob blob = test::hierarchical_blob(2);
    return blob;
}

/// Vertices of a level that look along a direction, as ids.
std::vector<int> looking(const HierarchicalBlob& blob, int level, const Vector3d& direction,
                         double least) {
    std::vector<int> ids;
    for (int k = 0; k < blob.basis->num_vertices(level); ++k)
        if (blob.model->reference.kinds[at(k)] == NodeKind::Free &&
            blob.surface.mesh.vertices[at(k)].normalized().dot(direction.normalized()) > least)
            ids.push_back(blob.basis->id(level, k));
    return ids;
}

std::vector<int> uniform_set(const HierarchicalBlob& blob, int level) {
    return looking(blob, level, {0.3, 0.2, 1}, level == 0 ? 0.3 : 0.6);
}

/// A patch on each level, apart from each other.
std::vector<int> mixed_set(const HierarchicalBlob& blob) {
    std::vector<int> ids = looking(blob, 2, {0.2, 0.1, 1}, 0.9);
    for (const int id : looking(blob, 1, {1, 0, 0.2}, 0.85)) ids.push_back(id);
    for (const int id : looking(blob, 0, {-1, 0.2, 0.2}, 0.8)) ids.push_back(id);
    return ids;
}

/// Columns φ(x_i) d of the conditions.
MatrixXd spread_selector(const HierarchicalBlob& blob, const std::vector<ChangedDof>& dofs) {
    MatrixXd Phi = MatrixXd::Zero(3 * blob.basis->num_vertices(), static_cast<Index>(dofs.size()));
    for (std::size_t k = 0; k < dofs.size(); ++k) {
        const WeightedVertices values = blob.basis->values(dofs[k].node);
        for (std::size_t q = 0; q < values.vertices.size(); ++q)
            Phi.col(static_cast<Index>(k)).segment<3>(3 * values.vertices[q]) =
                values.weights[q] * dofs[k].direction;
    }
    return Phi;
}

MatrixXd nodal_selector(const HierarchicalBlob& blob, std::vector<ChangedDof> dofs) {
    for (ChangedDof& dof : dofs) dof.node = blob.basis->vertex_of(dof.node);
    return test::selector(dofs, blob.basis->num_vertices());
}

/// The stored columns of all conditions.
MatrixXd stored_columns(const HierarchicalBlob& blob, const std::vector<ChangedDof>& dofs) {
    const int n = blob.basis->num_vertices();
    MatrixXd columns(3 * n, static_cast<Index>(dofs.size()));
    for (std::size_t k = 0; k < dofs.size(); ++k)
        for (int i = 0; i < n; ++i) {
            Eigen::Matrix<float, 3, 3, Eigen::RowMajor> block;
            blob.model->reference.functions->element(i, dofs[k].node, block.data());
            columns.col(static_cast<Index>(k)).segment<3>(3 * i) =
                block.cast<double>() * dofs[k].direction;
        }
    return columns;
}

VectorXd applied(const BasicCapacitanceInverse<double>& inverse, const VectorXd& r) {
    VectorXd g(r.size());
    inverse.apply({r.data(), static_cast<std::size_t>(r.size())},
                  {g.data(), static_cast<std::size_t>(r.size())});
    return g;
}

/// docs/greens-constraints.md eqs. (H6) and (H7) in double precision.
TEST(HierarchicalAlgebra, MeetsTheConditionsWithTheResponseToTheSpreadTractions) {
    const HierarchicalBlob& blob = coarse_grid_blob();
    const int n = blob.basis->num_vertices();
    for (const std::vector<int>& ids :
         {uniform_set(blob, 2), uniform_set(blob, 1), uniform_set(blob, 0), mixed_set(blob)}) {
        ASSERT_GT(ids.size(), 2u);
        const auto dofs = whole_nodes(ids);
        BasicCapacitanceInverse<double> inverse(blob.model->reference.functions, 300);
        ASSERT_EQ(inverse.reset(dofs), InverseStatus::Ok);
        const MatrixXd E = nodal_selector(blob, dofs), Phi = spread_selector(blob, dofs);
        const VectorXd prescribed = test::random_matrix(static_cast<int>(dofs.size()), 1, 3);
        VectorXd known = 0.1 * test::random_matrix(3 * n, 1, 4);
        known += E * (prescribed - E.transpose() * known);

        const VectorXd kept = known - E * (E.transpose() * known);
        const VectorXd v0 = blob.Xi * kept - E * prescribed;
        const VectorXd g = applied(inverse, E.transpose() * v0);
        const VectorXd v = v0 + E * g + stored_columns(blob, dofs) * g;
        // the response to base tractions and those spread over the functions
        const VectorXd response = blob.Xi * (kept + Phi * g);
        const double scale = response.cwiseAbs().maxCoeff();
        EXPECT_LT((E.transpose() * response - prescribed).cwiseAbs().maxCoeff(), 1e-12 * scale);
        EXPECT_LT((E.transpose() * v - g).norm(), 1e-12 * g.norm());
        const VectorXd elsewhere = v - E * (E.transpose() * v);
        const VectorXd expected = response - E * (E.transpose() * response);
        EXPECT_LT((elsewhere - expected).cwiseAbs().maxCoeff(), 1e-12 * scale);
    }
}

TEST(HierarchicalAlgebra, UpdatesEqualFreshInverses) {
    const HierarchicalBlob& blob = coarse_grid_blob();
    const std::vector<int> ids = mixed_set(blob);
    const std::vector<int> first(ids.begin(), ids.end() - 4), second(ids.begin() + 3, ids.end()),
        gone(ids.begin(), ids.begin() + 3), come(ids.end() - 4, ids.end());
    const auto expect_same = [&](BasicCapacitanceInverse<double>& updated) {
        BasicCapacitanceInverse<double> fresh(blob.model->reference.functions, 300);
        ASSERT_EQ(fresh.reset(whole_nodes(second)), InverseStatus::Ok);
        ASSERT_EQ(updated.size(), fresh.size());
        double largest = 0, difference = 0;
        for (std::size_t a = 0; a < fresh.list().size(); ++a)
            for (std::size_t b = 0; b < fresh.list().size(); ++b) {
                ASSERT_EQ(updated.list()[a].dof, fresh.list()[a].dof);
                const double x = fresh.inverse_element(fresh.list()[a].slot, fresh.list()[b].slot);
                largest = std::max(largest, std::abs(x));
                difference = std::max(
                    difference, std::abs(x - updated.inverse_element(updated.list()[a].slot,
                                                                     updated.list()[b].slot)));
            }
        EXPECT_LT(difference, 1e-12 * largest);
    };
    BasicCapacitanceInverse<double> updated(blob.model->reference.functions, 300);
    ASSERT_EQ(updated.reset(whole_nodes(first)), InverseStatus::Ok);
    ASSERT_EQ(updated.remove(whole_nodes(gone)), InverseStatus::Ok);
    ASSERT_EQ(updated.add(whole_nodes(come)), InverseStatus::Ok);
    expect_same(updated);
    ASSERT_EQ(updated.reset(whole_nodes(first)), InverseStatus::Ok);
    ASSERT_EQ(updated.exchange(whole_nodes(come), whole_nodes(gone)), InverseStatus::Ok);
    expect_same(updated);
}

/// K_S = −aᵀC⁻¹ against what the support answers, docs/greens-constraints.md eq. (H9): lumped
/// finite elements are in balance to rounding.
TEST(HierarchicalAlgebra, PatchForceIsInBalanceWithTheSupport) {
    const HierarchicalBlob& blob = elastic_blob();
    const auto& reference = blob.model->reference;
    const int n = blob.basis->num_vertices();
    const auto areas = blob.basis->areas(reference.areas);
    const auto centres = blob.basis->centres(reference.areas, reference.positions);
    for (const std::vector<int>& ids : {uniform_set(blob, 1), mixed_set(blob)}) {
        const auto dofs = whole_nodes(ids);
        const MatrixXd Phi = spread_selector(blob, dofs), E = nodal_selector(blob, dofs);
        // columns in double: those of the source
        const MatrixXd columns = blob.Xi * Phi;
        const VectorXd u = test::random_matrix(static_cast<int>(dofs.size()), 1, 5);
        const VectorXd g = solve_dense(E.transpose() * columns, u);
        Vector3d force = Vector3d::Zero(), torque = Vector3d::Zero();
        for (std::size_t k = 0; k < ids.size(); ++k) {
            const Vector3d f = areas[at(ids[k])] * g.segment<3>(3 * static_cast<Index>(k));
            force += f;
            torque += centres[at(ids[k])].cross(f);
        }
        const VectorXd y = columns * g;
        Vector3d reaction = Vector3d::Zero(), moment = Vector3d::Zero();
        for (int i = 0; i < n; ++i)
            if (reference.kinds[at(i)] == NodeKind::Fixed) {
                const Vector3d f = reference.areas[at(i)] * y.segment<3>(3 * i);
                reaction += f;
                moment += reference.positions[at(i)].cross(f);
            }
        EXPECT_LT((force + reaction).norm(), 1e-11 * force.norm());
        EXPECT_LT((torque + moment).norm(), 1e-11 * torque.norm());
    }
}

/// In metres and pascals, to see the units.
ReferenceProblem scaled_reference(const HierarchicalBlob& blob) {
    ReferenceProblem reference = blob.model->reference;
    reference.length = 2;
    reference.modulus = 500;
    for (Vector3d& x : reference.positions) x *= 2;
    for (double& a : reference.areas) a *= 4;
    return reference;
}

TEST(HierarchicalSolver, SolvesUniformAndMixedLevels) {
    const HierarchicalBlob& blob = elastic_blob();
    const ReferenceProblem reference = scaled_reference(blob);
    const int n = blob.basis->num_vertices();
    CapacitanceSolver solver(reference, UpdateCosts(), {.max_dofs = 200});
    const auto areas = blob.basis->areas(reference.areas);
    // one load within a coarse function, one on its own vertex, one coarse
    const std::vector<int> sets_of_loads{blob.free_nodes.back(),
                                         blob.basis->vertex_of(uniform_set(blob, 1)[0]),
                                         blob.basis->id(0, blob.free_nodes[1])};
    const std::vector<Vector3d> loads{{3, -4, 5}, {7, 2, -1}, {1, 1, 2}};
    ASSERT_TRUE(solver.set_loads(sets_of_loads, loads));
    for (const std::vector<int>& ids :
         {uniform_set(blob, 2), uniform_set(blob, 1), uniform_set(blob, 0), mixed_set(blob)}) {
        const auto dofs = whole_nodes(ids);
        const VectorXd u = 0.02 * test::random_matrix(static_cast<int>(dofs.size()), 1, 6);
        const auto status = solver.solve(dofs, {u.data(), dofs.size()});
        ASSERT_FALSE(is_refused(status)) << to_string(status);

        std::vector<int> vertices, all = test::first_numbers(n);
        for (const int id : ids) vertices.push_back(blob.basis->vertex_of(id));
        std::vector<Vector3d> held(vertices.size()), p(at(n)), selective(at(n));
        solver.displacements(vertices, held);
        for (std::size_t k = 0; k < ids.size(); ++k)
            EXPECT_LT((held[k] - u.segment<3>(3 * static_cast<Index>(k))).norm(),
                      kSinglePrecision * u.norm());

        // tractions of fine nodes: base loads but for those at captured vertices, and Σ φ g
        solver.tractions(all, p);
        VectorXd spread = VectorXd::Zero(3 * n);
        for (std::size_t k = 0; k < loads.size(); ++k) {
            const WeightedVertices values = blob.basis->values(sets_of_loads[k]);
            if (sets_of_loads[k] < n &&
                std::find(vertices.begin(), vertices.end(), sets_of_loads[k]) != vertices.end())
                continue;
            if (std::find(ids.begin(), ids.end(), sets_of_loads[k]) != ids.end()) continue;
            for (std::size_t q = 0; q < values.vertices.size(); ++q)
                spread.segment<3>(3 * values.vertices[q]) += values.weights[q] * loads[k];
        }
        Vector3d force = Vector3d::Zero();
        for (const auto& [dof, slot] : solver.inverse().list()) {
            const WeightedVertices values = blob.basis->values(dof.node);
            for (std::size_t q = 0; q < values.vertices.size(); ++q)
                spread.segment<3>(3 * values.vertices[q]) +=
                    values.weights[q] * solver.unknown(slot) * dof.direction;
            force += areas[at(dof.node)] * solver.unknown(slot) * dof.direction;
        }
        const double largest = spread.cwiseAbs().maxCoeff();
        for (const int node : blob.free_nodes)
            EXPECT_LT((p[at(node)] - spread.segment<3>(3 * node)).norm(), 1e-6 * largest);
        EXPECT_LT((solver.force(ids) - force).norm(), 1e-6 * largest * areas[at(ids[0])]);

        // the field is the response to these
        const VectorXd response = reference.length * blob.Xi * spread / reference.modulus;
        solver.evaluate(n);
        std::vector<float> field(3 * at(n));
        solver.write_displacements(field);
        solver.displacements(all, selective);
        const double size = response.cwiseAbs().maxCoeff();
        for (const int node : blob.free_nodes) {
            const Vector3d shown =
                Eigen::Map<const Eigen::Vector3f>(field.data() + 3 * node).cast<double>();
            EXPECT_LT((shown - response.segment<3>(3 * node)).norm(), kSinglePrecision * size);
            EXPECT_LT((selective[at(node)] - response.segment<3>(3 * node)).norm(),
                      kSinglePrecision * size);
        }
    }
}

TEST(HierarchicalSolver, SupportsMoveOnCoarserLevels) {
    const HierarchicalBlob& blob = elastic_blob();
    const int n = blob.basis->num_vertices();
    int support = 0;
    while (blob.model->reference.kinds[at(support)] == NodeKind::Free) ++support;
    ASSERT_LT(support, 12);
    CapacitanceSolver solver(blob.model->reference, UpdateCosts());
    const int id = blob.basis->id(0, support);
    const Vector3d lift(0.01, 0, 0.02);
    ASSERT_TRUE(solver.set_loads({&id, 1}, {&lift, 1}));
    ASSERT_FALSE(is_refused(solver.solve({}, {})));
    solver.evaluate(n);
    std::vector<float> field(3 * at(n));
    solver.write_displacements(field);
    std::vector<Vector3d> u(at(n));
    solver.displacements(test::first_numbers(n), u);
    const MatrixXd column = blob.Xi * spread_selector(blob, whole_nodes({id})) * lift;
    for (int i = 0; i < n; ++i) {
        const bool is_free = blob.model->reference.kinds[at(i)] == NodeKind::Free;
        const Vector3d expected = is_free ? Vector3d(column.col(0).segment<3>(3 * i))
                                          : Vector3d(blob.basis->value(id, i) * lift);
        EXPECT_LT((u[at(i)] - expected).norm(), 1e-7);
        EXPECT_LT(
            (Eigen::Map<Eigen::Vector3f>(field.data() + 3 * i).cast<double>() - expected).norm(),
            1e-7);
    }
}

TEST(HierarchicalSolver, RefusesTwoLevelsOfOneVertex) {
    const HierarchicalBlob& blob = elastic_blob();
    CapacitanceSolver solver(blob.model->reference, UpdateCosts(), {.max_dofs = 60});
    const int vertex = blob.basis->vertex_of(uniform_set(blob, 1)[0]);
    const int fine = vertex, coarse = blob.basis->id(1, vertex);
    const auto good = whole_nodes({coarse});
    const std::vector<double> u(9, 0.01);
    ASSERT_FALSE(is_refused(solver.solve(good, {u.data(), 3})));
    const Vector3d before = solver.force({&coarse, 1});
    const auto both = whole_nodes({fine, coarse});
    EXPECT_EQ(solver.solve(both, {u.data(), 6}), CapacitanceStatus::TwoLevels);
    EXPECT_EQ(to_string(solver.report().status), "two levels of one vertex");
    EXPECT_EQ(solver.force({&coarse, 1}), before);
    // not even one direction each
    const std::vector<ChangedDof> apart{{fine, Vector3d::UnitX()}, {coarse, Vector3d::UnitY()}};
    EXPECT_EQ(solver.solve(apart, {u.data(), 2}), CapacitanceStatus::TwoLevels);
    // the refusal leaves no marks
    EXPECT_EQ(solver.solve(good, {u.data(), 3}), CapacitanceStatus::Hit);
    BasicCapacitanceInverse<double> inverse(blob.model->reference.functions, 60);
    EXPECT_EQ(inverse.reset(both), InverseStatus::IllConditioned);
    // no such column
    const auto none = whole_nodes({blob.basis->id(0, 100)});
    EXPECT_EQ(solver.solve(none, {u.data(), 3}), CapacitanceStatus::BadInput);
}

/// docs/greens-constraints.md: what a coarse function consists of has its own vertex among it;
/// without that nothing depends on anything.
TEST(HierarchicalSolver, ACoarseFunctionAndAllItConsistsOfAreTwoLevelsOfAVertex) {
    const HierarchicalBlob& blob = elastic_blob();
    const HierarchicalBasis& basis = *blob.basis;
    // wholly free, its function of level 0 as a sum of those of level 1: values at their vertices
    const int vertex = basis.vertex_of(uniform_set(blob, 0)[0]), coarse = basis.id(0, vertex);
    std::vector<int> finer, others;
    VectorXd sum = VectorXd::Zero(basis.num_vertices());
    for (int k = 0; k < basis.num_vertices(1); ++k) {
        const double weight = basis.value(coarse, k);
        if (weight == 0) continue;
        finer.push_back(basis.id(1, k));
        if (k != vertex) others.push_back(basis.id(1, k));
        for (int i = 0; i < basis.num_vertices(); ++i)
            sum[i] += weight * basis.value(finer.back(), i);
    }
    ASSERT_GE(finer.size(), 5u);
    for (int i = 0; i < basis.num_vertices(); ++i)
        EXPECT_NEAR(sum[i], basis.value(coarse, i), 1e-14);

    // all of them: refused by the solver, and singular to whoever inverts them all the same
    CapacitanceSolver solver(blob.model->reference, UpdateCosts(), {.max_dofs = 60});
    std::vector<int> all = finer;
    all.push_back(coarse);
    const VectorXd u = 0.01 * test::random_matrix(3 * static_cast<int>(all.size()), 1, 8);
    EXPECT_EQ(solver.solve(whole_nodes(all), {u.data(), 3 * all.size()}),
              CapacitanceStatus::TwoLevels);
    BasicCapacitanceInverse<double> inverse(blob.model->reference.functions, 60);
    EXPECT_EQ(inverse.reset(whole_nodes(all)), InverseStatus::IllConditioned);

    // with the others alone: solved, every vertex where it is told to be
    std::vector<int> rest = others;
    rest.push_back(coarse);
    const auto dofs = whole_nodes(rest);
    const auto status = solver.solve(dofs, {u.data(), dofs.size()});
    ASSERT_FALSE(is_refused(status)) << to_string(status);
    EXPECT_LT(solver.report().condition, 1e3);
    std::vector<int> vertices;
    for (const int id : rest) vertices.push_back(basis.vertex_of(id));
    std::vector<Vector3d> held(vertices.size());
    solver.displacements(vertices, held);
    for (std::size_t k = 0; k < rest.size(); ++k)
        EXPECT_LT((held[k] - u.segment<3>(3 * static_cast<Index>(k))).norm(),
                  kSinglePrecision * u.norm());
    ASSERT_EQ(inverse.reset(dofs), InverseStatus::Ok);
    const MatrixXd Phi = spread_selector(blob, dofs), E = nodal_selector(blob, dofs);
    const VectorXd g = solve_dense(E.transpose() * blob.Xi * Phi, u.head(Phi.cols()));
    for (const auto& [dof, slot] : solver.inverse().list())
        for (std::size_t k = 0; k < dofs.size(); ++k)
            if (dofs[k] == dof)
                EXPECT_NEAR(solver.unknown(slot), g[static_cast<Index>(k)], 1e-4 * g.norm());
}

TEST(HierarchicalSolver, LevelsAreDifferentKeysOfTheCache) {
    const HierarchicalBlob& blob = elastic_blob();
    CapacitanceSolver solver(blob.model->reference, UpdateCosts(), {.max_dofs = 60});
    std::vector<int> coarse = uniform_set(blob, 1), fine;
    for (const int id : coarse) fine.push_back(blob.basis->vertex_of(id));
    const std::vector<double> u(3 * coarse.size(), 0.01);
    const auto first = solver.solve(whole_nodes(coarse), u);
    EXPECT_FALSE(is_refused(first) || first == CapacitanceStatus::Hit);
    const Vector3d force = solver.force(coarse);
    const auto second = solver.solve(whole_nodes(fine), u);
    EXPECT_FALSE(is_refused(second) || second == CapacitanceStatus::Hit);
    EXPECT_GT((solver.force(fine) - force).norm(), 0.05 * force.norm());
    EXPECT_EQ(solver.predict(whole_nodes(coarse)).seconds, 0);
    EXPECT_GT(solver.predict(whole_nodes({coarse[0], fine[1]})).seconds, 0);
    EXPECT_EQ(solver.predict(whole_nodes(std::vector<int>(21, 0))).seconds, kInfinity);
    EXPECT_EQ(solver.solve(whole_nodes(coarse), u), CapacitanceStatus::Hit);
    EXPECT_LT((solver.force(coarse) - force).norm(), 1e-6 * force.norm());
}

TEST(HierarchicalSolver, PatchStiffnessGivesForceAndTorque) {
    const HierarchicalBlob& blob = elastic_blob();
    const ReferenceProblem reference = scaled_reference(blob);
    const auto areas = blob.basis->areas(reference.areas);
    CapacitanceSolver solver(reference, UpdateCosts(), {.max_dofs = 120});
    const std::vector<int> ids = uniform_set(blob, 1);
    const Vector3d centre(0.1, 0.2, 0.9), shift(0.01, -0.02, 0.03), turn(0.02, 0.01, -0.01);
    std::vector<double> u;
    for (const int id : ids) {
        const Vector3d x = reference.positions[at(blob.basis->vertex_of(id))];
        const Vector3d move = shift + turn.cross(x - centre);
        u.insert(u.end(), move.data(), move.data() + 3);
    }
    ASSERT_FALSE(is_refused(solver.solve(whole_nodes(ids), u)));
    Vector3d force = Vector3d::Zero(), torque = Vector3d::Zero();
    std::vector<Vector3d> p(at(blob.basis->num_vertices()));
    solver.tractions(test::first_numbers(blob.basis->num_vertices()), p);
    for (const int node : blob.free_nodes) {
        const Vector3d f = reference.areas[at(node)] * p[at(node)];
        force += f;
        torque += (reference.positions[at(node)] - centre).cross(f);
    }
    const Matrix6d K = rigid_patch_stiffness(solver, {ids, centre}, {ids, centre});
    Eigen::Matrix<double, 6, 1> motion;
    motion << shift, turn;
    const Eigen::Matrix<double, 6, 1> wrench = K * motion;
    EXPECT_LT((wrench.head<3>() - force).norm(), kSinglePrecision * force.norm());
    EXPECT_LT((wrench.tail<3>() - torque).norm(), kSinglePrecision * torque.norm());
    EXPECT_LT((solver.force(ids) - force).norm(), kSinglePrecision * force.norm());
    const Eigen::Matrix3d translations = K.topLeftCorner(3, 3);
    EXPECT_LT((solver.patch_stiffness(ids, ids) - translations).norm(), 1e-5 * translations.norm());
}

TEST(HierarchicalSolver, AllocatesNothing) {
    const HierarchicalBlob& blob = elastic_blob();
    CapacitanceSolver solver(blob.model->reference, UpdateCosts(), {.max_dofs = 200});
    const auto mixed = whole_nodes(mixed_set(blob)), uniform = whole_nodes(uniform_set(blob, 1));
    const std::vector<double> u(200, 0.01);
    const std::vector<int> nodes = test::first_numbers(blob.basis->num_vertices());
    std::vector<Vector3d> out(nodes.size());
    std::vector<float> field(3 * nodes.size());
    AllocationGuard guard;
    const double predicted = solver.predict(mixed).seconds;
    const auto first = solver.solve(mixed, {u.data(), mixed.size()});
    solver.evaluate(static_cast<int>(nodes.size()));
    const auto second = solver.solve(uniform, {u.data(), uniform.size()});
    solver.advance(static_cast<int>(nodes.size()), 0);
    solver.write_displacements(field);
    solver.tractions(nodes, out);
    const auto allocations = guard.count();
    EXPECT_GT(predicted, 0);
    EXPECT_FALSE(is_refused(first) || is_refused(second));
    EXPECT_EQ(allocations, 0u);
}

TEST(HierarchicalSolver, NeedsTheHierarchyOfItsColumns) {
    ReferenceProblem reference = elastic_blob().model->reference;
    reference.hierarchy = nullptr;
    EXPECT_EQ(test::input_error([&] { CapacitanceSolver(reference, UpdateCosts()); }),
              "reference problem: Green's functions have columns of coarser levels; give their "
              "hierarchy");
    reference.hierarchy =
        std::make_shared<const HierarchicalBasis>(test::blob(1), std::vector<int>(42, 0));
    EXPECT_EQ(test::input_error([&] { CapacitanceSolver(reference, UpdateCosts()); }),
              "reference.hierarchy = 42 (expected one for each of 162 nodes)");
}

}  // namespace
}  // namespace pliant
