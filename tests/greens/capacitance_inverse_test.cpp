#include "pliant/greens/capacitance_inverse.h"

#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "pliant/core/allocation_guard.h"
#include "tests/greens/synthetic_greens.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::dense_inverse;
using test::some_nodes;
using test::SyntheticGreens;
using test::whole_nodes;

template <class Scalar>
std::vector<ChangedDof> listed(const BasicCapacitanceInverse<Scalar>& inverse) {
    std::vector<ChangedDof> dofs;
    for (const auto& entry : inverse.list()) dofs.push_back(entry.dof);
    return dofs;
}

/// ‖X − C⁻¹‖ / ‖C⁻¹‖ against a fresh inverse of the same list.
template <class Scalar>
double inverse_error(const BasicCapacitanceInverse<Scalar>& inverse,
                     const SyntheticGreens& greens) {
    const MatrixXd E =
        test::selector(listed(inverse), greens.functions->num_nodes(), greens.functions->block());
    const MatrixXd exact = dense_inverse(-E.transpose() * greens.Xi * E);
    MatrixXd stored(exact.rows(), exact.cols());
    const auto list = inverse.list();
    for (std::size_t a = 0; a < list.size(); ++a)
        for (std::size_t b = 0; b < list.size(); ++b)
            stored(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) =
                static_cast<double>(inverse.inverse_element(list[a].slot, list[b].slot));
    return exact.size() == 0 ? 0 : (stored - exact).norm() / exact.norm();
}

std::vector<ChangedDof> frame_of(int node, unsigned seed) {
    const MatrixXd random = test::random_matrix(3, 2, seed);
    const Vector3d x = Vector3d(random.col(0)).normalized();
    const Vector3d y = x.cross(Vector3d(random.col(1))).normalized();
    return {{node, x}, {node, y}, {node, x.cross(y)}};
}

TEST(CapacitanceInverse, FromScratchIsTheInverse) {
    const auto greens = test::random_greens(40, 1);
    for (const int count : {1, 2, 5, 6, 17, 40}) {
        BasicCapacitanceInverse<double> inverse(greens.functions, 120);
        ASSERT_EQ(inverse.reset(whole_nodes(some_nodes(40, 0, count, 2))), InverseStatus::Ok);
        EXPECT_LT(inverse_error(inverse, greens), 1e-13) << count;
    }
}

TEST(CapacitanceInverse, MatricesThatNeedPivotsAreInverted) {
    // zero diagonal blocks: no elimination without exchange of rows
    const int n = 9;
    MatrixXd Xi = 0.1 * test::random_matrix(3 * n, 3 * n, 3);
    Xi.diagonal().setZero();
    for (int k = 0; k < 3 * n; ++k) Xi(k, (k + 5) % (3 * n)) += 1;
    const auto greens = test::finish_synthetic(Xi, MatrixXd(3 * n, 0), 3, 4);
    BasicCapacitanceInverse<double> inverse(greens.functions, 3 * n);
    ASSERT_EQ(inverse.reset(whole_nodes(some_nodes(n, 0, n, 1))), InverseStatus::Ok);
    EXPECT_LT(inverse_error(inverse, greens), 1e-13);
}

TEST(CapacitanceInverse, RandomAdditionsAndDeletionsAgreeWithFreshInverses) {
    const auto greens = test::random_greens(60, 5);
    for (const int num_added : {0, 1, 2, 7, 20})
        for (const int num_removed : {0, 1, 3, 18, 20}) {
            const auto first = whole_nodes(some_nodes(60, 0, 20, 6)),
                       added = whole_nodes(some_nodes(60, 20, num_added, 6)),
                       removed = whole_nodes(some_nodes(60, 20 - num_removed, num_removed, 6));
            BasicCapacitanceInverse<double> direct(greens.functions, 180), redundant = direct;
            ASSERT_EQ(direct.reset(first), InverseStatus::Ok);
            redundant.copy_from(direct);
            ASSERT_EQ(direct.remove(removed), InverseStatus::Ok);
            ASSERT_EQ(direct.add(added), InverseStatus::Ok);
            ASSERT_EQ(redundant.exchange(added, removed), InverseStatus::Ok);
            ASSERT_EQ(direct.size(), 3 * (20 + num_added - num_removed));
            EXPECT_LT(inverse_error(direct, greens), 1e-12) << num_added << " " << num_removed;
            EXPECT_LT(inverse_error(redundant, greens), 1e-12) << num_added << " " << num_removed;
            EXPECT_EQ(listed(direct), listed(redundant));
        }
}

TEST(CapacitanceInverse, SingleDirectionsComeAndGo) {
    const auto greens = test::random_greens(20, 7);
    BasicCapacitanceInverse<double> inverse(greens.functions, 60);
    std::vector<ChangedDof> normals;
    for (int node = 0; node < 12; ++node) normals.push_back(frame_of(node, 20)[0]);
    ASSERT_EQ(inverse.reset(normals), InverseStatus::Ok);
    EXPECT_LT(inverse_error(inverse, greens), 1e-13);
    const auto frame = frame_of(4, 20);
    ASSERT_EQ(inverse.add(std::array{frame[1], frame[2]}), InverseStatus::Ok);
    EXPECT_LT(inverse_error(inverse, greens), 1e-13);
    ASSERT_EQ(inverse.remove(std::array{frame[0], normals[7]}), InverseStatus::Ok);
    EXPECT_EQ(inverse.size(), 12);
    EXPECT_LT(inverse_error(inverse, greens), 1e-13);
}

TEST(CapacitanceInverse, ScalarFieldsHaveOneConditionPerNode) {
    const auto greens = test::random_greens(30, 8, 1);
    BasicCapacitanceInverse<double> inverse(greens.functions, 30);
    std::vector<ChangedDof> dofs;
    for (const int node : some_nodes(30, 0, 12, 9)) dofs.push_back({node, Vector3d::UnitX()});
    ASSERT_EQ(inverse.add(dofs), InverseStatus::Ok);
    ASSERT_EQ(inverse.remove(std::span(dofs).first(5)), InverseStatus::Ok);
    EXPECT_LT(inverse_error(inverse, greens), 1e-13);
}

TEST(CapacitanceInverse, ListIsSortedAndSlotsStay) {
    const auto greens = test::random_greens(10, 10);
    CapacitanceInverse inverse(greens.functions, 30);
    ASSERT_EQ(inverse.add(whole_nodes({7, 2, 5})), InverseStatus::Ok);
    EXPECT_EQ(listed(inverse), whole_nodes({2, 5, 7}));
    EXPECT_EQ(inverse.dof(0).node, 7);
    EXPECT_EQ(inverse.dof(8).node, 5);
    // node 5 moves into the gap of node 7, node 2 stays
    ASSERT_EQ(inverse.remove(whole_nodes({7})), InverseStatus::Ok);
    EXPECT_EQ(listed(inverse), whole_nodes({2, 5}));
    EXPECT_EQ(inverse.dof(0).node, 5);
    EXPECT_EQ(inverse.dof(3).node, 2);
    for (const auto& entry : inverse.list()) EXPECT_EQ(inverse.dof(entry.slot), entry.dof);
}

/// Swaps of one node for another in single precision, docs/greens.md "Drift".
TEST(CapacitanceInverse, LongSwapSequencesStayAtRounding) {
    const auto greens = test::sphere_greens(130);
    CapacitanceInverse inverse(greens.functions, 183);
    auto nodes = some_nodes(130, 0, 130, 11);
    const int count = 60;
    ASSERT_EQ(inverse.reset(whole_nodes({nodes.begin(), nodes.begin() + count})),
              InverseStatus::Ok);
    std::mt19937 random(12);
    double largest = 0;
    for (int step = 1; step <= 2000; ++step) {
        const std::size_t out = random() % at(count), in = at(count) + random() % (130 - at(count));
        ASSERT_EQ(inverse.remove(whole_nodes({nodes[out]})), InverseStatus::Ok);
        ASSERT_EQ(inverse.add(whole_nodes({nodes[in]})), InverseStatus::Ok);
        std::swap(nodes[out], nodes[in]);
        if (step % 400 == 0) largest = std::max(largest, inverse_error(inverse, greens));
    }
    EXPECT_GT(inverse.condition(), 60);
    // the plateau of rounding at this condition; it does not grow with the number of swaps
    EXPECT_LT(largest, 2e-5);
    EXPECT_LT(inverse.probe(1), 1e-4);
    EXPECT_EQ(inverse.num_updates(), 4000);
    ASSERT_EQ(inverse.refresh(), InverseStatus::Ok);
    EXPECT_EQ(inverse.num_updates(), 0);
    // an inverse rounded once
    EXPECT_LT(inverse_error(inverse, greens), 1e-6);
}

TEST(CapacitanceInverse, ConditionIsThatOfTheOneNorm) {
    const auto greens = test::random_greens(12, 13);
    BasicCapacitanceInverse<double> inverse(greens.functions, 36);
    const auto dofs = whole_nodes(some_nodes(12, 0, 7, 1));
    const auto norm = [](const MatrixXd& M) { return M.cwiseAbs().colwise().sum().maxCoeff(); };
    const MatrixXd E = test::selector(dofs, 12), C = -E.transpose() * greens.Xi * E;
    ASSERT_EQ(inverse.reset(dofs), InverseStatus::Ok);
    EXPECT_NEAR(inverse.condition() / (norm(C) * norm(dense_inverse(C))), 1, 1e-12);
    ASSERT_EQ(inverse.remove(std::span(dofs).first(6)), InverseStatus::Ok);
    ASSERT_EQ(inverse.add(std::span(dofs).first(6)), InverseStatus::Ok);
    EXPECT_NEAR(inverse.condition() / (norm(C) * norm(dense_inverse(C))), 1, 1e-12);
}

TEST(CapacitanceInverse, IllConditionedSetsAreRefused) {
    // nodes 3 and 4 respond alike but for one part in 10⁷
    MatrixXd Xi = test::random_greens(8, 14).Xi;
    Xi.middleRows(12, 3) = Xi.middleRows(9, 3);
    Xi(12, 12) += 1e-7;
    const auto greens = test::finish_synthetic(Xi, MatrixXd(24, 0), 3, 1);
    CapacitanceInverse inverse(greens.functions, 24);
    ASSERT_EQ(inverse.reset(whole_nodes({1, 3})), InverseStatus::Ok);
    EXPECT_EQ(inverse.reset(whole_nodes({1, 3, 4})), InverseStatus::IllConditioned);
    // the old list stays when a new one is refused
    EXPECT_EQ(listed(inverse), whole_nodes({1, 3}));
    EXPECT_LT(inverse_error(inverse, greens), 1e-6);
    EXPECT_EQ(inverse.add(whole_nodes({4})), InverseStatus::IllConditioned);
    EXPECT_EQ(inverse.size(), 0);
}

TEST(CapacitanceInverse, ExchangePassesBySingularSetsInBetween) {
    // C of {0, 1} and {0, 2} is regular, that of {0} alone is singular
    MatrixXd Xi = MatrixXd::Identity(3, 3);
    Xi << 0, 1, 1, 1, 0.5, 0.25, 1, 0.25, 0.75;
    const auto greens = test::finish_synthetic(Xi, MatrixXd(3, 0), 1, 1);
    const auto dof = [](int node) { return std::array{ChangedDof{node, Vector3d::UnitX()}}; };
    BasicCapacitanceInverse<double> inverse(greens.functions, 3), copy = inverse;
    ASSERT_EQ(inverse.reset(std::array{dof(0)[0], dof(1)[0]}), InverseStatus::Ok);
    copy.copy_from(inverse);
    EXPECT_EQ(copy.remove(dof(1)), InverseStatus::IllConditioned);
    EXPECT_EQ(inverse.exchange(dof(2), dof(1)), InverseStatus::Ok);
    EXPECT_LT(inverse_error(inverse, greens), 1e-14);
}

TEST(CapacitanceInverse, WrongListsChangeNothing) {
    const auto greens = test::random_greens(10, 15);
    CapacitanceInverse inverse(greens.functions, 9);
    ASSERT_EQ(inverse.reset(whole_nodes({1, 2})), InverseStatus::Ok);
    EXPECT_EQ(inverse.add(whole_nodes({2})), InverseStatus::BadList);
    EXPECT_EQ(inverse.add(whole_nodes({3, 3})), InverseStatus::BadList);
    EXPECT_EQ(inverse.remove(whole_nodes({3})), InverseStatus::BadList);
    EXPECT_EQ(inverse.reset(whole_nodes({4, 3, 4})), InverseStatus::BadList);
    EXPECT_EQ(inverse.add(whole_nodes({3, 4})), InverseStatus::CapacityExceeded);
    EXPECT_EQ(inverse.reset(whole_nodes({1, 2, 3, 4})), InverseStatus::CapacityExceeded);
    EXPECT_EQ(listed(inverse), whole_nodes({1, 2}));
    EXPECT_LT(inverse_error(inverse, greens), 1e-6);
}

TEST(CapacitanceInverse, BadSizesAreNamed) {
    const auto greens = test::random_greens(2, 16);
    EXPECT_EQ(test::input_error([&] { CapacitanceInverse(greens.functions, 0); }),
              "capacitance.max_dofs = 0 (expected value >= 1)");
    EXPECT_EQ(test::input_error([&] { CapacitanceInverse(greens.functions, 3, 0.5); }),
              "capacitance.max_condition = 0.500000 (expected value > 1)");
}

TEST(CapacitanceInverse, AllocatesNothingAfterConstruction) {
    const auto greens = test::sphere_greens(110);
    CapacitanceInverse inverse(greens.functions, 330);
    const auto dofs = whole_nodes(some_nodes(110, 0, 100, 17)),
               more = whole_nodes(some_nodes(110, 100, 10, 17));
    std::vector<float> r(330, 1), g(330);
    AllocationGuard guard;
    const auto reset = inverse.reset(dofs);
    const auto added = inverse.add(more);
    const auto removed = inverse.remove(std::span(dofs).first(60));
    const auto exchanged = inverse.exchange(std::span(dofs).first(30), more);
    const auto refreshed = inverse.refresh();
    inverse.apply(std::span(r).first(at(inverse.size())), std::span(g).first(at(inverse.size())));
    const double error = inverse.probe(3);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    for (const auto status : {reset, added, removed, exchanged, refreshed})
        EXPECT_EQ(status, InverseStatus::Ok);
    EXPECT_LT(error, 1e-4);
}

}  // namespace
}  // namespace pliant
