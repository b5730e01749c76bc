#include "reduction/linear_force.h"

#include "reduction/dynamics_samples.h"
#include "reduction/force_samples.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(LinearForce, IsTheTangentOfTheRestShape) {
    const test::ReducedBar bar(8);
    const auto linear = linearized(*bar.force);
    ASSERT_EQ(linear->size(), 8);
    const auto ws = bar.force->make_workspace(), linear_ws = linear->make_workspace();
    const VectorXd q = test::random_vector(8, 1);
    VectorXd R(8), R_linear(8);
    MatrixXd K(8, 8), K_linear(8, 8);
    bar.force->force_and_stiffness(VectorXd::Zero(8), R, K, *ws);
    linear->force_and_stiffness(q, R_linear, K_linear, *linear_ws);
    EXPECT_EQ(K, K_linear);
    EXPECT_LE((R_linear - K * q).norm(), 1e-15 * R_linear.norm());
    // small coordinates: what is left of the difference is of second order
    bar.force->force(1e-6 * q, R, *ws);
    linear->force(1e-6 * q, R_linear, *linear_ws);
    EXPECT_LE((R - R_linear).norm(), 1e-4 * R.norm());
}

TEST(LinearForce, IsTheGradientOfItsEnergy) {
    const MatrixXd A = test::random_basis(5, 5, 1);
    const auto force = make_linear_force(A * A.transpose());
    const auto ws = force->make_workspace();
    const VectorXd q = test::random_vector(5, 2), d = test::random_vector(5, 3);
    VectorXd R(5);
    force->force(q, R, *ws);
    // central differences of a quadratic function are exact
    const double slope = (force->energy(q + d, *ws) - force->energy(q - d, *ws)) / 2;
    EXPECT_NEAR(slope, R.dot(d), 1e-13 * R.norm() * d.norm());
    EXPECT_EQ(force->energy(VectorXd::Zero(5), *ws), 0);
}

TEST(LinearForce, StaysFiniteForEveryCoordinate) {
    const auto force = make_linear_force(1e6 * MatrixXd::Identity(3, 3));
    const auto ws = force->make_workspace();
    VectorXd R(3);
    for (const double size : {1e150, 1e200, 1.7e308}) {
        const VectorXd q = VectorXd::Constant(3, -size);
        force->force(q, R, *ws);
        EXPECT_TRUE(R.allFinite());
        EXPECT_TRUE(std::isfinite(force->energy(q, *ws)));
    }
}

}  // namespace
}  // namespace pliant
