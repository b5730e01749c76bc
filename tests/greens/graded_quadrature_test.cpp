#include "greens/graded_quadrature.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace pliant {
namespace {

using Eigen::Vector3d;

double rule_factorial(int n) { return n < 2 ? 1 : n * rule_factorial(n - 1); }

/// ∫ a^i b^j c^k over a triangle of area 1, in barycentric coordinates.
double monomial_integral(int i, int j, int k) {
    return 2 * rule_factorial(i) * rule_factorial(j) * rule_factorial(k) /
           rule_factorial(i + j + k + 2);
}

template <class Rule>
double largest_monomial_error(int degree) {
    double error = 0;
    for (int i = 0; i <= degree; ++i)
        for (int j = 0; j + i <= degree; ++j)
            for (int k = 0; k + j + i <= degree; ++k) {
                double sum = 0;
                for (const TriangleRulePoint& point : triangle_points<Rule>())
                    sum += point.weight * std::pow(point.barycentric[0], i) *
                           std::pow(point.barycentric[1], j) * std::pow(point.barycentric[2], k);
                error = std::max(error, std::abs(sum - monomial_integral(i, j, k)));
            }
    return error;
}

TEST(TriangleRules, IntegratePolynomialsOfTheirDegreeExactly) {
    EXPECT_LT(largest_monomial_error<ThreePointRule>(2), 1e-15);
    EXPECT_GT(largest_monomial_error<ThreePointRule>(3), 1e-4);
    EXPECT_LT(largest_monomial_error<SevenPointRule>(5), 1e-15);
    EXPECT_GT(largest_monomial_error<SevenPointRule>(6), 1e-6);
}

TEST(TriangleRules, GaussPointsIntegratePolynomialsTo23Exactly) {
    for (int power = 0; power <= 24; ++power) {
        double sum = 0;
        for (const LinePoint& point : gauss_points_12())
            sum += point.weight * std::pow(point.position, power);
        if (power <= 23)
            EXPECT_NEAR(sum, 1.0 / (power + 1), 1e-15);
        else
            EXPECT_GT(std::abs(sum - 1.0 / (power + 1)), 1e-16);
    }
}

/// Solid angle of a triangle seen from x, positive from behind; [VanOosteromStrackee1983].
double exact_solid_angle(const TriangleCorners& corners, const Vector3d& x) {
    const Vector3d a = corners[0] - x, b = corners[1] - x, c = corners[2] - x;
    const double la = a.norm(), lb = b.norm(), lc = c.norm();
    return 2 * std::atan2(a.dot(b.cross(c)),
                          la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb);
}

double quadrature_solid_angle(const TriangleCorners& corners, const Vector3d& x) {
    const Vector3d normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]) / 2;
    double sum = 0;
    for_each_point(corners, x, [&](const Vector3d& y, const Vector3d&, double w) {
        sum += w * normal.dot(y - x) / std::pow((y - x).norm(), 3);
    });
    return sum;
}

TEST(GradedQuadrature, PointsCoverTheTriangleOnce) {
    const TriangleCorners corners{Vector3d(0, 0, 0), Vector3d(1, 0, 0), Vector3d(0.2, 0.7, 0.1)};
    for (const double distance : {0.01, 0.3, 1.0, 5.0, 30.0}) {
        const Vector3d x = corners[0] + distance * Vector3d(0.1, -0.2, 0.97);
        double area = 0;
        Vector3d moment = Vector3d::Zero(), shape = Vector3d::Zero();
        for_each_point(corners, x, [&](const Vector3d& y, const Vector3d& phi, double w) {
            area += w;
            moment += w * y;
            shape += w * phi;
            const Vector3d place = phi[0] * corners[0] + phi[1] * corners[1] + phi[2] * corners[2];
            EXPECT_LT((place - y).norm(), 1e-14);
        });
        EXPECT_NEAR(area, 1, 1e-14);
        EXPECT_LT((moment - triangle_centroid(corners)).norm(), 1e-14);
        EXPECT_LT((shape - Vector3d::Constant(1.0 / 3)).norm(), 1e-14);
    }
}

TEST(GradedQuadrature, SolidAnglesAreGoodAtEveryDistance) {
    std::mt19937 generator(4);
    std::normal_distribution<double> normal;
    const TriangleCorners corners{Vector3d(0, 0, 0), Vector3d(1, 0, 0), Vector3d(0.3, 0.8, 0)};
    for (const double distance : {0.05, 0.2, 0.5, 1.0, 2.5, 6.0, 12.5, 40.0})
        for (int trial = 0; trial < 40; ++trial) {
            const Vector3d x =
                triangle_centroid(corners) +
                distance *
                    Vector3d(normal(generator), normal(generator), normal(generator)).normalized();
            // splits end at 1/256 of the triangle: what nearly touches it is beyond them
            if (std::abs(x.z()) < 0.015) continue;
            const double angle = exact_solid_angle(corners, x);
            // near its plane the angle itself goes to zero
            const double size = std::max(std::abs(angle), std::min(1.0, std::pow(distance, -2)));
            EXPECT_NEAR(quadrature_solid_angle(corners, x), angle, 2e-6 * size) << distance;
        }
}

TEST(GradedQuadrature, ErrorFallsWithTheSizeOfTheParts) {
    // the seven-point rule on ever smaller triangles: sixth order
    const Vector3d x(0.2, 0.1, 1.3);
    double errors[3];
    for (int level = 0; level < 3; ++level) {
        const int n = 1 << level;
        double sum = 0;
        for (int i = 0; i < n; ++i)
            for (int j = 0; i + j < n; ++j)
                for (int flip = 0; flip < (i + j + 1 < n ? 2 : 1); ++flip) {
                    const auto point = [&](int a, int b) {
                        return Vector3d(double(a) / n, double(b) / n, 0);
                    };
                    const TriangleCorners corners{flip ? point(i + 1, j + 1) : point(i, j),
                                                  flip ? point(i, j + 1) : point(i + 1, j),
                                                  flip ? point(i + 1, j) : point(i, j + 1)};
                    for (const TriangleRulePoint& p : triangle_points<SevenPointRule>()) {
                        const Vector3d y = p.barycentric[0] * corners[0] +
                                           p.barycentric[1] * corners[1] +
                                           p.barycentric[2] * corners[2];
                        sum -= p.weight / (2 * n * n) * x.z() / std::pow((y - x).norm(), 3);
                    }
                }
        const TriangleCorners whole{Vector3d(0, 0, 0), Vector3d(1, 0, 0), Vector3d(0, 1, 0)};
        errors[level] = std::abs(sum - exact_solid_angle(whole, x));
    }
    EXPECT_GT(std::log2(errors[0] / errors[1]), 5.5);
    EXPECT_GT(std::log2(errors[1] / errors[2]), 5.5);
}

}  // namespace
}  // namespace pliant
