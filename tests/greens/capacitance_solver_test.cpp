#include "pliant/greens/capacitance_solver.h"

#include <array>
#include <cmath>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "pliant/core/allocation_guard.h"
#include "tests/greens/elastic_box.h"
#include "tests/greens/synthetic_greens.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::elastic_box;
using test::ElasticBox;
using test::some_nodes;
using test::SyntheticGreens;
using test::whole_nodes;

/// Rounding of single precision times the condition of these problems.
constexpr double kSolverTolerance = 2e-5;

/// v of the problem with columns of A and Ā exchanged along the conditions, by elimination. `known`
/// are the values v̄ of that problem.
VectorXd swapped_solution(const SyntheticGreens& greens, const MatrixXd& E, const VectorXd& known,
                          const VectorXd& beta) {
    const MatrixXd difference = (greens.A_bar - greens.A) * E * E.transpose();
    return solve_dense(greens.A + difference,
                       VectorXd(greens.B * beta - (greens.A_bar - difference) * known));
}

std::vector<ChangedDof> tilted_normals(const std::vector<int>& nodes) {
    std::vector<ChangedDof> dofs;
    for (const int node : nodes)
        dofs.push_back({node, Vector3d(std::sin(node), std::cos(node), 0.5).normalized()});
    return dofs;
}

/// docs/greens.md eqs. (3)–(5) with plain matrices and the inverse in double.
TEST(CapacitanceAlgebra, AgreesWithTheSwappedSystem) {
    const int n = 40;
    const auto greens = test::random_greens(n, 1);
    for (unsigned seed = 0; seed < 6; ++seed) {
        auto dofs = whole_nodes(some_nodes(n, 0, 1 + 3 * static_cast<int>(seed), seed));
        for (const auto& dof : tilted_normals(some_nodes(n, 30, 6, seed))) dofs.push_back(dof);
        BasicCapacitanceInverse<double> inverse(greens.functions, 120);
        ASSERT_EQ(inverse.reset(dofs), InverseStatus::Ok);
        const MatrixXd E = test::selector(dofs, n);
        const VectorXd known = test::random_matrix(3 * n, 1, seed + 50),
                       beta = test::random_matrix(2, 1, seed + 60);

        const VectorXd along = E.transpose() * known;
        const VectorXd v0 =
            greens.Xi * (known - E * along) - E * along + solve_dense(greens.A, greens.B * beta);
        const VectorXd r = E.transpose() * v0;
        VectorXd g(r.size());
        inverse.apply({r.data(), dofs.size()}, {g.data(), dofs.size()});
        const VectorXd v = v0 + E * g + greens.Xi * (E * g);
        const VectorXd direct = swapped_solution(greens, E, known, beta);
        EXPECT_LT((v - direct).norm() / direct.norm(), 1e-12);
        // Eᵀv = C⁻¹Eᵀv⁽⁰⁾
        EXPECT_LT((E.transpose() * v - g).norm() / g.norm(), 1e-12);
    }
}

struct SolvedCase {
    std::vector<ChangedDof> dofs;
    std::vector<double> values;
    std::vector<int> load_nodes;
    std::vector<Vector3d> loads;
    double gravity = 0;
};

/// Displacements and tractions of the whole problem by elimination, in units of the box.
std::pair<VectorXd, VectorXd> direct_box(const ElasticBox& box, const SolvedCase& c) {
    const int n = static_cast<int>(box.kinds.size());
    const MatrixXd E = test::selector(c.dofs, n);
    VectorXd known = VectorXd::Zero(3 * n);
    for (std::size_t k = 0; k < c.load_nodes.size(); ++k)
        known.segment<3>(3 * c.load_nodes[k]) = c.loads[k];
    known -= E * (E.transpose() * known);
    known += E * Eigen::Map<const VectorXd>(c.values.data(), static_cast<Index>(c.values.size()));
    const VectorXd v = swapped_solution(box.greens, E, known, VectorXd::Constant(1, c.gravity));
    // along conditions, known and unknown have changed places
    const VectorXd u_like = v + E * (E.transpose() * (known - v)),
                   p_like = known + E * (E.transpose() * (v - known));
    VectorXd u(3 * n), p(3 * n);
    for (int node = 0; node < n; ++node) {
        const bool is_free = box.kinds[at(node)] == NodeKind::Free;
        u.segment<3>(3 * node) = (is_free ? u_like : p_like).segment<3>(3 * node);
        p.segment<3>(3 * node) = (is_free ? p_like : u_like).segment<3>(3 * node);
    }
    return {u, p};
}

std::vector<int> nodes_of_kind(const ElasticBox& box, NodeKind kind) {
    std::vector<int> nodes;
    for (int node = 0; node < static_cast<int>(box.kinds.size()); ++node)
        if (box.kinds[at(node)] == kind) nodes.push_back(node);
    return nodes;
}

/// Nodes captured whole, others along a normal only, some of the support released, loads and
/// gravity.
SolvedCase mixed_case(const ElasticBox& box) {
    const auto free = nodes_of_kind(box, NodeKind::Free),
               fixed = nodes_of_kind(box, NodeKind::Fixed);
    SolvedCase c;
    c.dofs = whole_nodes({free[40], free[3], fixed[2], fixed[9]});
    for (const auto& dof : tilted_normals({free[20], free[30], free[8]})) c.dofs.push_back(dof);
    for (std::size_t k = 0; k < c.dofs.size(); ++k)
        c.values.push_back(0.05 * std::sin(1.0 + static_cast<double>(k)));
    // loads at free nodes, one of which is held along its normal, and at a fixed and a released one
    c.load_nodes = {free[5], free[20], fixed[0], fixed[9]};
    c.loads = {{0.1, -0.2, 0.3}, {0.3, 0.1, -0.1}, {0.01, 0.02, -0.01}, {0.5, 0.5, 0.5}};
    c.gravity = 0.2;
    return c;
}

TEST(CapacitanceSolver, MixedChangesAgreeWithEliminationInSiUnits) {
    const ElasticBox box = elastic_box();
    const double length = 0.1, modulus = 2e4;
    CapacitanceSolver solver(box.reference(length, modulus), UpdateCosts());
    const SolvedCase c = mixed_case(box);
    const int n = static_cast<int>(box.kinds.size());
    const auto [u, p] = direct_box(box, c);

    std::vector<double> values = c.values;
    for (std::size_t k = 0; k < values.size(); ++k)
        values[k] *= box.kinds[at(c.dofs[k].node)] == NodeKind::Free ? length : modulus;
    std::vector<Vector3d> loads = c.loads;
    for (std::size_t k = 0; k < loads.size(); ++k)
        loads[k] *= box.kinds[at(c.load_nodes[k])] == NodeKind::Free ? modulus : length;
    ASSERT_TRUE(solver.set_loads(c.load_nodes, loads));
    ASSERT_TRUE(solver.set_body_loads(std::array{c.gravity}));
    ASSERT_EQ(solver.solve(c.dofs, values), CapacitanceStatus::Refactored);

    // selective
    std::vector<int> nodes;
    for (int node = 0; node < n; ++node) nodes.push_back(node);
    std::vector<Vector3d> moved(at(n)), pulled(at(n));
    solver.displacements(nodes, moved);
    solver.tractions(nodes, pulled);
    double u_error = 0, p_error = 0;
    for (int node = 0; node < n; ++node) {
        u_error = std::max(u_error, (moved[at(node)] / length - u.segment<3>(3 * node)).norm());
        p_error = std::max(p_error, (pulled[at(node)] / modulus - p.segment<3>(3 * node)).norm());
    }
    EXPECT_LT(u_error / u.lpNorm<Eigen::Infinity>(), kSolverTolerance);
    EXPECT_LT(p_error / p.lpNorm<Eigen::Infinity>(), 10 * kSolverTolerance);
    // what came out along the conditions
    for (const auto& [dof, slot] : solver.inverse().list()) {
        const bool is_free = box.kinds[at(dof.node)] == NodeKind::Free;
        const double expected = dof.direction.dot((is_free ? p : u).segment<3>(3 * dof.node)) *
                                (is_free ? modulus : length);
        EXPECT_NEAR(solver.unknown(slot), expected,
                    10 * kSolverTolerance * (is_free ? modulus : length) *
                        (is_free ? p : u).lpNorm<Eigen::Infinity>());
    }
    // global, whole and the first nodes only
    for (const int count : {n, 20}) {
        solver.evaluate(count);
        std::vector<float> field(3 * at(count));
        solver.write_displacements(field);
        double error = 0;
        for (int k = 0; k < 3 * count; ++k)
            error = std::max(error, std::abs(double{field[at(k)]} / length - u[k]));
        EXPECT_LT(error / u.lpNorm<Eigen::Infinity>(), kSolverTolerance);
    }
}

TEST(CapacitanceSolver, PatchStiffnessIsTheForceOfTheWholeSolution) {
    const ElasticBox box = elastic_box();
    const double length = 0.2, modulus = 1e4;
    CapacitanceSolver solver(box.reference(length, modulus), UpdateCosts());
    const auto free = nodes_of_kind(box, NodeKind::Free);
    const std::vector<int> first{free[1], free[2], free[7]}, second{free[40], free[41]};
    std::vector<int> both = first;
    both.insert(both.end(), second.begin(), second.end());
    const Vector3d push(1e-3, -2e-3, 3e-3), pull(-2e-3, 1e-3, 1e-3);
    SolvedCase c;
    c.dofs = whole_nodes(both);
    std::vector<double> values;
    for (std::size_t k = 0; k < c.dofs.size(); ++k) {
        values.push_back((k < 9 ? push : pull)[static_cast<Index>(k % 3)]);
        c.values.push_back(values.back() / length);
    }
    ASSERT_FALSE(is_refused(solver.solve(c.dofs, values)));
    const VectorXd p = direct_box(box, c).second;
    const auto integrated = [&](const std::vector<int>& patch) {
        Vector3d sum = Vector3d::Zero();
        for (const int node : patch)
            sum += box.M[3 * node] * length * length * modulus * p.segment<3>(3 * node);
        return sum;
    };
    for (const auto& patch : {first, second}) {
        const Vector3d exact = integrated(patch),
                       stiff = solver.patch_stiffness(patch, first) * push +
                               solver.patch_stiffness(patch, second) * pull;
        EXPECT_LT((stiff - exact).norm(), kSolverTolerance * exact.norm());
        EXPECT_LT((solver.force(patch) - exact).norm(), kSolverTolerance * exact.norm());
    }
    // the whole body is in balance: the support takes the rest
    Vector3d support = Vector3d::Zero();
    const auto fixed = nodes_of_kind(box, NodeKind::Fixed);
    std::vector<Vector3d> reactions(fixed.size());
    solver.tractions(fixed, reactions);
    for (std::size_t k = 0; k < fixed.size(); ++k)
        support += solver.reference().areas[at(fixed[k])] * reactions[k];
    const Vector3d on_patches = solver.force(both);
    EXPECT_LT((support + on_patches).norm(), 10 * kSolverTolerance * on_patches.norm());
}

TEST(CapacitanceSolver, ScalarFieldsAreSolved) {
    const int n = 30;
    const auto greens = test::random_greens(n, 3, 1);
    ReferenceProblem reference;
    reference.functions = greens.functions;
    reference.kinds.assign(at(n), NodeKind::Free);
    reference.kinds[4] = NodeKind::Fixed;
    reference.positions.assign(at(n), Vector3d::Zero());
    reference.areas.assign(at(n), 1.0);
    CapacitanceSolver solver(reference, UpdateCosts(), {.max_dofs = 12});
    std::vector<ChangedDof> dofs;
    for (const int node : {7, 2, 11}) dofs.push_back({node, Vector3d::UnitX()});
    ASSERT_FALSE(is_refused(solver.solve(dofs, std::array{1.0, -2.0, 0.5})));
    std::vector<Vector3d> out(3);
    solver.displacements(std::array{2, 7, 11}, out);
    EXPECT_NEAR(out[0].x(), -2, 1e-5);
    EXPECT_NEAR(out[1].x(), 1, 1e-5);
    EXPECT_NEAR(out[2].x(), 0.5, 1e-5);
    EXPECT_EQ(solver.solve(std::array{ChangedDof{4, Vector3d::UnitX()}}, std::array{0.0}),
              CapacitanceStatus::TooFewHeld);
}

struct BoxSolver {
    explicit BoxSolver(CapacitanceOptions options = {})
        : solver(box.reference(), UpdateCosts(), options) {}
    CapacitanceStatus capture(const std::vector<int>& nodes, double value = 0.01) {
        const auto dofs = whole_nodes(nodes);
        return solver.solve(dofs, std::vector<double>(dofs.size(), value));
    }
    /// Against a solver that has seen nothing else.
    double error_against_fresh(const std::vector<int>& nodes, double value = 0.01) {
        CapacitanceSolver fresh(box.reference(), UpdateCosts());
        const auto dofs = whole_nodes(nodes);
        EXPECT_FALSE(is_refused(fresh.solve(dofs, std::vector<double>(dofs.size(), value))));
        const auto field = [&](CapacitanceSolver& any) {
            std::vector<float> u(3 * box.kinds.size());
            any.evaluate(static_cast<int>(box.kinds.size()));
            any.write_displacements(u);
            return VectorXd(
                Eigen::Map<Eigen::VectorXf>(u.data(), static_cast<Index>(u.size())).cast<double>());
        };
        const VectorXd exact = field(fresh);
        return (field(solver) - exact).norm() / exact.norm();
    }
    ElasticBox box = elastic_box();
    std::vector<int> free = nodes_of_kind(box, NodeKind::Free),
                     fixed = nodes_of_kind(box, NodeKind::Fixed);
    CapacitanceSolver solver;
};

TEST(CapacitanceSolver, ChoosesAmongHitUpdateAndRefactor) {
    BoxSolver test;
    const std::vector<int> many(test.free.begin(), test.free.begin() + 24);
    std::vector<int> other = many;
    other[5] = test.free[30];
    EXPECT_EQ(test.capture(many), CapacitanceStatus::Refactored);
    EXPECT_EQ(test.capture(many, 0.02), CapacitanceStatus::Hit);
    EXPECT_EQ(test.solver.report().predicted, 0);
    EXPECT_EQ(test.capture(other), CapacitanceStatus::Updated);
    EXPECT_EQ(test.solver.report().added, 3);
    EXPECT_EQ(test.solver.report().removed, 3);
    EXPECT_LT(test.error_against_fresh(other), kSolverTolerance);
    EXPECT_EQ(test.capture(many), CapacitanceStatus::Hit);
    EXPECT_LT(test.error_against_fresh(many), kSolverTolerance);
    EXPECT_EQ(test.capture({test.free[34], test.free[35], test.free[36]}),
              CapacitanceStatus::Refactored);
    EXPECT_EQ(test.capture({}), CapacitanceStatus::Hit);
    EXPECT_EQ(test.solver.inverse().size(), 0);
}

TEST(CapacitanceSolver, UpdatedInversesAreRefreshedInTime) {
    // updates after which the inverse is made anew: every third, never, by the probe
    for (const auto& [interval, max_probe, most] :
         {std::tuple(3, 1.0, 2), std::tuple(1000, 1.0, 24), std::tuple(1000, 0.0, 0)}) {
        BoxSolver test({.refresh_interval = interval, .max_probe = max_probe});
        int largest = 0;
        for (int k = 0; k < 13; ++k) {
            const std::vector<int> nodes(test.free.begin() + k, test.free.begin() + k + 20);
            // one node deleted and one added: two updates
            EXPECT_EQ(test.capture(nodes),
                      k == 0 ? CapacitanceStatus::Refactored : CapacitanceStatus::Updated);
            largest = std::max(largest, test.solver.inverse().num_updates());
            EXPECT_LT(test.error_against_fresh(nodes), kSolverTolerance);
        }
        EXPECT_EQ(largest, most);
    }
}

TEST(CapacitanceSolver, OverBudgetKeepsTheLastSolution) {
    BoxSolver test;
    const std::vector<int> few{test.free[1], test.free[2]};
    ASSERT_FALSE(is_refused(test.capture(few)));
    test.solver.set_budget(1e-9);
    EXPECT_EQ(test.capture({test.free[7]}), CapacitanceStatus::OverBudget);
    EXPECT_GT(test.solver.report().predicted, 1e-9);
    EXPECT_LT(test.error_against_fresh(few), 1e-7);
    // an inverse that is there costs nothing
    EXPECT_EQ(test.capture(few), CapacitanceStatus::Hit);
}

TEST(CapacitanceSolver, IllConditionedSetsAreRefusedAndTheLastSolutionStays) {
    BoxSolver strict({.max_condition = 30});
    const std::vector<int> few{strict.free[1], strict.free[35]},
        many(strict.free.begin(), strict.free.begin() + 30);
    ASSERT_FALSE(is_refused(strict.capture(few)));
    EXPECT_EQ(strict.capture(many), CapacitanceStatus::IllConditioned);
    EXPECT_EQ(strict.solver.report().status, CapacitanceStatus::IllConditioned);
    EXPECT_EQ(strict.solver.inverse().size(), 6);
    EXPECT_LT(strict.error_against_fresh(few), 1e-6);
}

TEST(CapacitanceSolver, ReleasingTheSupportNeedsOtherNodesToHold) {
    BoxSolver test;
    ASSERT_FALSE(is_refused(test.capture({test.free[3]})));
    // all but two nodes of the support
    std::vector<int> support(test.fixed.begin() + 2, test.fixed.end());
    EXPECT_EQ(test.capture(support, 0), CapacitanceStatus::TooFewHeld);
    EXPECT_EQ(test.solver.inverse().size(), 3);
    // two on a line with a third: the body turns about it
    const auto& x = test.box.greens.positions;
    ASSERT_NEAR(x[at(test.fixed[0])].y(), x[at(test.fixed[2])].y(), 1e-12);
    support.erase(support.begin());
    EXPECT_EQ(test.capture(support, 0), CapacitanceStatus::TooFewHeld);
    // a captured node away from the line holds it
    auto held = whole_nodes(support);
    const std::vector<double> zeros(held.size() + 1, 0.0);
    held.push_back({test.free.back(), Vector3d::UnitY()});
    EXPECT_FALSE(is_refused(test.solver.solve(held, zeros)));
}

TEST(CapacitanceSolver, BadInputIsRefused) {
    BoxSolver test({.max_dofs = 9, .max_loads = 2});
    auto& solver = test.solver;
    const int node = test.free[1];
    const auto one = [&](ChangedDof dof, double value) {
        return solver.solve(std::array{dof}, std::array{value});
    };
    const Vector3d x = Vector3d::UnitX();
    ASSERT_EQ(one({node, x}, 0.5), CapacitanceStatus::Refactored);
    EXPECT_EQ(one({-1, x}, 0), CapacitanceStatus::BadInput);
    EXPECT_EQ(one({1000, x}, 0), CapacitanceStatus::BadInput);
    EXPECT_EQ(one({node, 1.1 * x}, 0), CapacitanceStatus::BadInput);
    EXPECT_EQ(one({node, kNan * x}, 0), CapacitanceStatus::BadInput);
    for (const double value : {kNan, kInfinity, -1e300})
        EXPECT_EQ(one({node, x}, value), CapacitanceStatus::BadInput);
    EXPECT_EQ(
        solver.solve(std::array{ChangedDof{node, x}, ChangedDof{node, x}}, std::array{0., 0.}),
        CapacitanceStatus::BadInput);
    EXPECT_EQ(solver.solve(std::array{ChangedDof{node, x}, ChangedDof{node, Vector3d(0.6, 0.8, 0)}},
                           std::array{0., 0.}),
              CapacitanceStatus::BadInput);
    EXPECT_EQ(solver.solve(std::array{ChangedDof{node, x}}, std::span<const double>()),
              CapacitanceStatus::BadInput);
    EXPECT_EQ(test.capture({2, 20, 21, 22}), CapacitanceStatus::CapacityExceeded);
    EXPECT_FALSE(solver.set_loads(std::array{node}, std::array{Vector3d(0, kNan, 0)}));
    EXPECT_FALSE(solver.set_loads(std::array{node, node}, std::array{x, x}));
    EXPECT_FALSE(solver.set_loads(std::array{node, 1000}, std::array{x, x}));
    EXPECT_FALSE(solver.set_loads(std::array{1, 2, 3}, std::array{x, x, x}));
    EXPECT_TRUE(solver.set_loads(std::array{node, 2}, std::array{x, x}));
    EXPECT_FALSE(solver.set_body_loads(std::array{kInfinity}));
    EXPECT_FALSE(solver.set_body_loads(std::array{1.0, 2.0}));
    // the solution of the beginning is still there
    Vector3d u;
    solver.displacements(std::array{node}, {&u, 1});
    EXPECT_NEAR(u.x(), 0.5, 1e-5);
    EXPECT_EQ(to_string(CapacitanceStatus::TooFewHeld), "too few held");
}

TEST(CapacitanceSolver, ReferenceProblemsThatDoNotStandAreNamed) {
    const ElasticBox box = elastic_box();
    const auto error = [&](auto&& spoil) {
        ReferenceProblem reference = box.reference();
        spoil(reference);
        return test::input_error([&] { CapacitanceSolver(reference, UpdateCosts()); });
    };
    const std::string nodes = std::to_string(box.kinds.size());
    EXPECT_EQ(error([](auto& r) { r.kinds.pop_back(); }),
              "reference.kinds = " + std::to_string(box.kinds.size() - 1) +
                  " (expected one for each of " + nodes + " nodes)");
    EXPECT_EQ(error([](auto& r) { r.modulus = -1; }),
              "reference.modulus = -1.000000 (expected value > 0)");
    EXPECT_EQ(error([](auto& r) { r.functions.reset(); }),
              "reference problem: no Green's functions");
    EXPECT_EQ(error([](auto& r) {
                  // the first row of the support: nodes on a line
                  std::fill(r.kinds.begin() + 5, r.kinds.end(), NodeKind::Free);
              }),
              "reference problem: 5 fixed nodes do not hold the body; fix at least three that are "
              "not on a line");
}

TEST(CapacitanceSolver, IncrementalEvaluationFollowsTheGlobalOne) {
    BoxSolver test;
    const int n = static_cast<int>(test.box.kinds.size());
    std::vector<float> field(3 * at(n)), whole(3 * at(n));
    test.solver.evaluate(n);
    int smallest = n;
    for (int step = 0; step < 600; ++step) {
        std::vector<int> nodes(test.free.begin() + step / 7 % 20,
                               test.free.begin() + step / 7 % 20 + 6);
        ASSERT_FALSE(is_refused(test.capture(nodes, 0.1 * std::sin(0.01 * step))));
        smallest = std::min(smallest, test.solver.advance(n, 1e-4));
        test.solver.write_displacements(field);
        if (step % 50) continue;
        CapacitanceSolver fresh(test.box.reference(), UpdateCosts());
        const auto dofs = whole_nodes(nodes);
        ASSERT_FALSE(is_refused(
            fresh.solve(dofs, std::vector<double>(dofs.size(), 0.1 * std::sin(0.01 * step)))));
        fresh.evaluate(n);
        fresh.write_displacements(whole);
        float error = 0;
        for (std::size_t k = 0; k < field.size(); ++k)
            error = std::max(error, std::abs(field[k] - whole[k]));
        // a dozen values may be off by the tolerance; responses are below one
        EXPECT_LT(error, 1.2e-3f) << step;
    }
    EXPECT_LT(smallest, 6);
    // nothing has changed: nothing is summed
    test.solver.advance(n, 0);
    EXPECT_EQ(test.solver.advance(n, 0), 0);
}

TEST(CapacitanceSolver, AllocatesNothingAfterConstruction) {
    BoxSolver test;
    const int n = static_cast<int>(test.box.kinds.size());
    std::vector<std::vector<ChangedDof>> sets;
    for (int k = 0; k < 12; ++k)
        sets.push_back(whole_nodes({test.free.begin() + k, test.free.begin() + k + 16}));
    const std::vector<double> values(sets[0].size(), 0.01);
    std::vector<float> field(3 * at(n));
    std::vector<Vector3d> u(4);
    int refused = 0;
    AllocationGuard guard;
    for (const auto& set : sets) {
        refused += !test.solver.set_loads(std::array{test.free[3]}, std::array{Vector3d(1, 2, 3)});
        refused += !test.solver.set_body_loads(std::array{0.1});
        refused += is_refused(test.solver.solve(set, values));
        test.solver.advance(n, 1e-6);
        test.solver.write_displacements(field);
        test.solver.displacements(std::array{0, 3, 9, 20}, u);
        (void)test.solver.patch_stiffness(std::array{test.free[12]}, std::array{test.free[13]});
        refused += !is_refused(test.solver.solve(set, {}));
    }
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_EQ(refused, 0);
    EXPECT_EQ(test.solver.cache().num_entries(), 13);
}

}  // namespace
}  // namespace pliant
