#include "greens/kelvin.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>
#include <random>
#include <type_traits>
#include <vector>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

struct KelvinPair {
    Vector3d r, n;
};

std::vector<KelvinPair> kelvin_pairs() {
    std::mt19937 generator(11);
    std::normal_distribution<double> normal;
    std::vector<KelvinPair> pairs;
    for (int i = 0; i < 20; ++i) {
        const auto vector = [&] {
            return Vector3d(normal(generator), normal(generator), normal(generator)).normalized();
        };
        const Vector3d direction = vector();
        pairs.push_back({(0.5 + i * 0.1) * direction, vector()});
    }
    return pairs;
}

/// ∂f/∂r_k by central differences of fourth order: errors of about 1e-11.
template <class Function>
auto central_difference(const Function& function, const Vector3d& r, int k) {
    const double h = 1e-3;
    const Vector3d step = h * Vector3d::Unit(k);
    using Value = std::decay_t<decltype(function(r))>;
    const Value near = function(r + step) - function(r - step);
    const Value far = function(r + 2 * step) - function(r - 2 * step);
    return Value((8 * near - far) / (12 * h));
}

TEST(Kelvin, TractionIsThatOfTheDisplacement) {
    for (const double nu : {-0.2, 0.01, 0.3, 0.45}) {
        const KelvinFactors factors(nu);
        for (const auto& [r, n] : kelvin_pairs()) {
            Matrix3d gradients[3];  // [k](i, j): ∂u*_ij/∂y_k
            for (int k = 0; k < 3; ++k)
                gradients[k] = central_difference(
                    [&](const Vector3d& x) { return kelvin_displacement(factors, x); }, r, k);
            Matrix3d expected = Matrix3d::Zero();
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) {
                    double divergence = 0;
                    for (int k = 0; k < 3; ++k) {
                        expected(i, j) += (gradients[k](i, j) + gradients[j](i, k)) * n[k];
                        divergence += gradients[k](i, k);
                    }
                    expected(i, j) += 2 * nu / (1 - 2 * nu) * n[j] * divergence;
                }
            EXPECT_LT((kelvin_traction(factors, r, n) - expected).norm(), 1e-8 * expected.norm());
        }
    }
}

TEST(Kelvin, ForcesBalanceTheTractionsAroundThem) {
    // over a sphere around the load, midpoints of rings of equal area
    const KelvinFactors factors(0.5);
    Matrix3d total = Matrix3d::Zero();
    const int rings = 400, steps = 16;
    for (int a = 0; a < rings; ++a)
        for (int b = 0; b < steps; ++b) {
            const double z = -1 + (2 * a + 1.0) / rings, phi = 2 * std::numbers::pi * b / steps;
            const double ring = std::sqrt(1 - z * z);
            const Vector3d n(ring * std::cos(phi), ring * std::sin(phi), z);
            total += 4 * std::numbers::pi / (rings * steps) * kelvin_traction(factors, n, n);
        }
    EXPECT_LT((total + Matrix3d::Identity()).norm(), 1e-5);  // 1/rings²
}

TEST(Kelvin, IncompressibleDisplacementHasNoDivergence) {
    const KelvinFactors factors(0.5);
    for (const auto& [r, n] : kelvin_pairs())
        for (int i = 0; i < 3; ++i) {
            double divergence = 0;
            for (int k = 0; k < 3; ++k)
                divergence += central_difference(
                    [&](const Vector3d& x) { return kelvin_displacement(factors, x)(i, k); }, r, k);
            EXPECT_NEAR(divergence, 0, 1e-10);
        }
}

TEST(Kelvin, IncompressibleLimitIsReachedSmoothly) {
    const KelvinFactors limit(0.5), before(0.5 - 1e-9);
    for (const auto& [r, n] : kelvin_pairs()) {
        const Matrix3d u = kelvin_displacement(limit, r), p = kelvin_traction(limit, r, n);
        EXPECT_LT((kelvin_displacement(before, r) - u).norm(), 1e-8 * u.norm());
        // p* itself may vanish where r lies in the plane: compare with its size elsewhere
        EXPECT_LT((kelvin_traction(before, r, n) - p).norm(), 1e-8 / r.squaredNorm());
    }
}

TEST(Kelvin, LaplaceFluxIsTheDerivativeAlongTheNormal) {
    for (const auto& [r, n] : kelvin_pairs()) {
        double expected = 0;
        for (int k = 0; k < 3; ++k) expected += n[k] * central_difference(laplace_potential, r, k);
        EXPECT_NEAR(laplace_flux(r, n), expected, 1e-9);
    }
}

}  // namespace
}  // namespace pliant
