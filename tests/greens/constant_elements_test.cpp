#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "greens/boundary_cases.h"
#include "greens/kelvin.h"
#include "greens/singular_integrals.h"
#include "tests/greens/boundary_shapes.h"

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// ∫ u* over a triangle from its centroid, as ordinary elements of constant values have it.
Matrix3d self_block(const TriangleCorners& corners, double nu) {
    const SingularIntegrals integrals = singular_integrals(corners, Vector3d::Constant(1.0 / 3));
    Matrix3d sum = Matrix3d::Zero();
    for (const Matrix3d& part : integrals.displacement) sum += part;
    return ((3 - 4 * nu) * sum.trace() * Matrix3d::Identity() + sum) /
           (16 * std::numbers::pi * (1 - nu));
}

/// The published closed form with angles at the centroid, its middle term and j₂ corrected.
Matrix3d published_self_block(const TriangleCorners& q, double nu) {
    const Vector3d centre = (q[0] + q[1] + q[2]) / 3;
    const Vector3d twice_area = (q[1] - q[0]).cross(q[2] - q[0]);
    const Vector3d X = (q[1] - centre).normalized(), Y = twice_area.normalized().cross(X);
    const auto angle = [](const Vector3d& at, const Vector3d& a, const Vector3d& b) {
        return std::acos((a - at).normalized().dot((b - at).normalized()));
    };
    double J[3] = {0, 0, 0}, passed = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        // sides q2q3, q3q1, q1q2
        const Vector3d &a = q[(k + 1) % 3], &b = q[(k + 2) % 3];
        const double theta = angle(centre, a, b), alpha = angle(a, centre, b);
        const double j1 = std::log(std::tan((theta + alpha) / 2) / std::tan(alpha / 2));
        const double beta = passed - alpha, middle = 2 * passed - alpha + theta / 2;
        const double factor = twice_area.norm() / 3 / (b - a).norm();
        J[0] += factor * j1;
        J[1] += factor * (std::sin(2 * beta) * j1 + 4 * std::cos(middle) * std::sin(theta / 2));
        J[2] += factor *
                (std::pow(std::sin(beta), 2) * j1 + 2 * std::sin(middle) * std::sin(theta / 2));
        passed += theta;
    }
    const Matrix3d XX = X * X.transpose(), YY = Y * Y.transpose();
    const Matrix3d XY = X * Y.transpose() + Y * X.transpose();
    return ((3 - 4 * nu) * J[0] * Matrix3d::Identity() + J[0] * XX + J[1] / 2 * XY +
            J[2] * (YY - XX)) /
           (16 * std::numbers::pi * (1 - nu));
}

/// In polar coordinates around the centroid the integrand is bounded: many points, no cleverness.
Matrix3d brute_force_self_block(const TriangleCorners& corners, double nu) {
    const KelvinFactors factors(nu);
    const Vector3d centre = (corners[0] + corners[1] + corners[2]) / 3;
    Matrix3d sum = Matrix3d::Zero();
    for (std::size_t k = 0; k < 3; ++k) {
        const Vector3d a = corners[k] - centre, b = corners[(k + 1) % 3] - centre;
        const double twice_area = a.cross(b).norm();
        // Gauss's rule on each of 200 pieces
        for (int piece = 0; piece < 200; ++piece)
            for (const LinePoint& point : gauss_points_12()) {
                const Vector3d rho = a + (piece + point.position) / 200 * (b - a);
                // ∫ τ dτ u*(τ ρ) = u*(ρ)
                sum += twice_area * point.weight / 200 * kelvin_displacement(factors, rho);
            }
    }
    return sum;
}

TEST(ConstantElements, SelfBlocksAgreeWithThePublishedFormAndWithBruteForce) {
    std::mt19937 random(11);
    std::normal_distribution<double> normal;
    for (int trial = 0; trial < 30; ++trial) {
        TriangleCorners corners;
        for (Vector3d& x : corners) x = Vector3d(normal(random), normal(random), normal(random));
        const double nu = trial % 3 == 0 ? 0.5 : trial % 3 == 1 ? 0.3 : 0.0;
        const Matrix3d block = self_block(corners, nu);
        EXPECT_LT((block - published_self_block(corners, nu)).norm(), 1e-10 * block.norm());
        EXPECT_LT((block - brute_force_self_block(corners, nu)).norm(), 1e-8 * block.norm());
    }
}

TEST(ConstantElements, RowsAreTheIntegralsOfTheKernelsOverFaces) {
    for (const double nu : {0.3, 0.5}) {
        BoundaryOptions options;
        options.elements = BoundaryElements::Constant;
        options.poisson_ratio = nu;
        const SurfaceMesh mesh = test::cube_surface(2);
        const BoundaryModel model(mesh, options);
        const int n = model.num_nodes();
        ASSERT_EQ(n, mesh.num_triangles());
        Eigen::MatrixXd G(3 * n, 3 * n), H(3 * n, 3 * n);
        model.assemble(0, n, G, H);
        const KelvinFactors factors(nu);
        for (int i = 0; i < n; i += 7) {
            const Vector3d x = model.positions()[at(i)];
            Matrix3d sum = Matrix3d::Zero();
            for (int t = 0; t < n; ++t) {
                const TriangleCorners corners{mesh.corner(t, 0), mesh.corner(t, 1),
                                              mesh.corner(t, 2)};
                Matrix3d g = self_block(corners, nu), h = Matrix3d::Zero();
                if (t != i) {
                    // 64² equal parts at their centroids
                    g.setZero();
                    const double part = model.areas()[at(t)] / (64 * 64);
                    for (int a = 0; a < 64; ++a)
                        for (int b = 0; b < 64; ++b) {
                            // the upper half of the square of cells is turned into the lower
                            const bool is_turned = a + b >= 64;
                            const double third = is_turned ? 2.0 / 3 : 1.0 / 3;
                            const double p = ((is_turned ? 63 - a : a) + third) / 64;
                            const double q = ((is_turned ? 63 - b : b) + third) / 64;
                            const Vector3d y = corners[0] + p * (corners[1] - corners[0]) +
                                               q * (corners[2] - corners[0]);
                            g += part * kelvin_displacement(factors, y - x);
                            h += part * kelvin_traction(factors, y - x, model.normals()[at(t)]);
                        }
                }
                EXPECT_LT((G.block<3, 3>(3 * i, 3 * t) - g).norm(), 2e-3 * g.norm())
                    << i << " " << t;
                if (t != i) {
                    EXPECT_LT((H.block<3, 3>(3 * i, 3 * t) - h).norm(), 2e-3 * (h.norm() + 0.01));
                }
                sum += H.block<3, 3>(3 * i, 3 * t);
            }
            EXPECT_LT(sum.norm(), 1e-13);
        }
    }
}

}  // namespace
}  // namespace pliant
