#include "greens/singular_integrals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/numbers.h"

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Radial integrals exact, then Gauss's rule along each side, graded towards the foot of the
/// perpendicular.
SingularIntegrals integrals_by_quadrature(const TriangleCorners& corners, const Vector3d& weights) {
    SingularIntegrals sums;
    for (int s = 0; s < 3; ++s) {
        sums.displacement[at(s)].setZero();
        sums.traction[at(s)].setZero();
    }
    const double twice_area = (corners[1] - corners[0]).cross(corners[2] - corners[0]).norm();
    const Vector3d x = weights[0] * corners[0] + weights[1] * corners[1] + weights[2] * corners[2];
    for (int k = 0; k < 3; ++k) {
        if (weights[k] == 0) continue;
        const int first = (k + 1) % 3, second = (k + 2) % 3;
        const Vector3d side = corners[at(second)] - corners[at(first)];
        const double foot =
            std::clamp((x - corners[at(first)]).dot(side) / side.squaredNorm(), 0.0, 1.0);
        const auto add_piece = [&](double from, double to) {
            for (const LinePoint& point : gauss_points_12()) {
                const double t = from + (to - from) * point.position;
                const double w = std::abs(to - from) * point.weight * twice_area * weights[k];
                Vector3d phi = Vector3d::Zero();
                phi[first] = 1 - t;
                phi[second] = t;
                const Vector3d d = corners[at(first)] + t * side - x;
                const double length = d.norm(), cube = length * length * length;
                for (int s = 0; s < 3; ++s) {
                    sums.displacement[at(s)] +=
                        w * (phi[s] + weights[s]) / 2 / cube * d * d.transpose();
                    sums.traction[at(s)] += w * (phi[s] - weights[s]) / cube * d;
                }
            }
        };
        for (const double end : {0.0, 1.0}) {
            double far = end;
            for (int piece = 0; piece < 20; ++piece) {
                const double near = piece == 19 ? foot : (far + foot) / 2;
                add_piece(near, far);
                far = near;
            }
        }
    }
    return sums;
}

void expect_same_integrals(const TriangleCorners& corners, const Vector3d& weights,
                           double tolerance = 1e-12) {
    const SingularIntegrals closed = singular_integrals(corners, weights);
    const SingularIntegrals expected = integrals_by_quadrature(corners, weights);
    double g = 0, h = 0;
    for (const Matrix3d& block : expected.displacement) g = std::max(g, block.norm());
    for (const Vector3d& block : expected.traction) h = std::max(h, block.norm());
    for (int s = 0; s < 3; ++s) {
        EXPECT_LT((closed.displacement[at(s)] - expected.displacement[at(s)]).norm(),
                  tolerance * g);
        EXPECT_LT((closed.traction[at(s)] - expected.traction[at(s)]).norm(), tolerance * h);
    }
}

TEST(SingularIntegrals, ClosedFormsAreThoseOfQuadrature) {
    std::mt19937 generator(8);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const auto vector = [&] {
        return Vector3d(uniform(generator), uniform(generator), uniform(generator));
    };
    for (int trial = 0; trial < 30; ++trial) {
        const TriangleCorners corners{vector(), vector(), vector()};
        for (int s = 0; s < 3; ++s) expect_same_integrals(corners, Vector3d::Unit(s));
        expect_same_integrals(corners, Vector3d(0.5, 0, 0.5));
        expect_same_integrals(corners, Vector3d(0.3, 0.7, 0));
        expect_same_integrals(corners, Vector3d::Constant(1.0 / 3));
        expect_same_integrals(corners, Vector3d(0.75, 0.05, 0.2));
    }
}

TEST(SingularIntegrals, ThinTrianglesLoseLittle) {
    // foot of the perpendicular within the side, near an end, and beyond it, where differences of
    // functions at its ends cancel
    for (const double height : {1e-2, 1e-4})
        for (const double place : {-0.5, 0.01, 0.4}) {
            const TriangleCorners corners{Vector3d(0, 0, 0), Vector3d(1, 0, 0),
                                          Vector3d(place, height, 0)};
            const Vector3d centroid = Vector3d::Constant(1.0 / 3);
            for (int s = 0; s < 3; ++s) expect_same_integrals(corners, Vector3d::Unit(s), 1e-9);
            expect_same_integrals(corners, centroid, 1e-9);
        }
}

TEST(SingularIntegrals, PotentialOfAnEquilateralTriangleAtItsCentroid) {
    // three congruent parts: ∫ 1/r = 3 h · 2 asinh(√3), h the distance to a side
    const TriangleCorners corners{Vector3d(1, 0, 0), Vector3d(-0.5, std::sqrt(0.75), 0),
                                  Vector3d(-0.5, -std::sqrt(0.75), 0)};
    const SingularIntegrals integrals = singular_integrals(corners, Vector3d::Constant(1.0 / 3));
    double potential = 0;
    for (const Matrix3d& block : integrals.displacement) potential += block.trace();
    EXPECT_NEAR(potential, 3 * std::asinh(std::sqrt(3.0)), 1e-14);
}

TEST(SingularIntegrals, ScaleAndTurnWithTheTriangle) {
    const TriangleCorners corners{Vector3d(0.1, 0.2, 0.3), Vector3d(1, 0, 0.5),
                                  Vector3d(0.4, 0.9, -0.2)};
    const Matrix3d R = Eigen::AngleAxisd(0.8, Vector3d(1, 2, -1).normalized()).toRotationMatrix();
    TriangleCorners turned;
    for (int s = 0; s < 3; ++s) turned[at(s)] = 3.0 * (R * corners[at(s)]);
    const Vector3d weights(0.2, 0.5, 0.3);
    const SingularIntegrals a = singular_integrals(corners, weights);
    const SingularIntegrals b = singular_integrals(turned, weights);
    for (int s = 0; s < 3; ++s) {
        EXPECT_LT((b.displacement[at(s)] - 3 * R * a.displacement[at(s)] * R.transpose()).norm(),
                  1e-14);
        EXPECT_LT((b.traction[at(s)] - R * a.traction[at(s)]).norm(), 1e-14);
    }
}

}  // namespace
}  // namespace pliant
