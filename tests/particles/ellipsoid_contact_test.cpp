#include "particles/ellipsoid_contact.h"

#include "particles/sample_particles.h"

#include <gmock/gmock.h>

namespace pliant {
namespace {

using Eigen::Matrix3f;
using Eigen::Vector3f;

Matrix3f ellipsoid(std::mt19937& random, double thinnest) {
    std::uniform_real_distribution<double> radius(thinnest, 1.0);
    const Eigen::Vector3d r(radius(random), radius(random), radius(random));
    const Eigen::Matrix3d Q = random_rotation(random).toRotationMatrix();
    return (Q * r.cwiseAbs2().asDiagonal() * Q.transpose()).cast<float>();
}

/// Largest gap over many directions, then refined: slow and sure.
double searched_gap(const Matrix3f& A, const Matrix3f& B, const Vector3f& apart) {
    const auto gap = [&](const Vector3f& n) { return apart.dot(n) - reach(A, n) - reach(B, n); };
    std::mt19937 random(5);
    Vector3f best = apart.normalized();
    for (int k = 0; k < 4000; ++k) {
        const Vector3f n = random_vector(random).normalized().cast<float>();
        if (gap(n) > gap(best)) best = n;
    }
    float step = 0.1f;
    for (int k = 0; k < 4000; ++k, step *= 0.997f) {
        const Vector3f n =
            (best + step * random_vector(random).normalized().cast<float>()).normalized();
        if (gap(n) > gap(best)) best = n;
    }
    return gap(best);
}

TEST(EllipsoidContact, SpheresAreExact) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> radius(0.1f, 2.0f);
    for (int k = 0; k < 1000; ++k) {
        const float a = radius(random), b = radius(random);
        const Vector3f apart = 2 * random_vector(random).cast<float>();
        const EllipsoidGap found =
            ellipsoid_gap(a * a * Matrix3f::Identity(), b * b * Matrix3f::Identity(), apart);
        EXPECT_NEAR(found.gap, apart.norm() - a - b, 2e-6);
        EXPECT_LT((found.normal - apart.normalized()).norm(), 2e-6);
    }
}

TEST(EllipsoidContact, GapNearTouchingMatchesASearchOverAllDirections) {
    std::mt19937 random(2);
    double worst = 0, sum = 0;
    for (int k = 0; k < 40; ++k) {
        const Matrix3f A = ellipsoid(random, 0.35), B = ellipsoid(random, 0.35);
        Vector3f apart = random_vector(random).normalized().cast<float>();
        // to where they touch, then 5 % of a radius in or out
        for (int round = 0; round < 60; ++round)
            apart -= 0.7f * static_cast<float>(ellipsoid_gap(A, B, apart).gap) * apart.normalized();
        apart *= k % 2 == 0 ? 0.97f : 1.03f;
        const double error = searched_gap(A, B, apart) - ellipsoid_gap(A, B, apart).gap;
        worst = std::max(worst, error);
        sum += error;
    }
    EXPECT_LT(worst, 2e-4);  // of radii up to 1
    EXPECT_LT(sum / 40, 1e-5);
}

TEST(EllipsoidContact, CentresInOnePlaceGiveADirection) {
    const EllipsoidGap found =
        ellipsoid_gap(Matrix3f::Identity(), Matrix3f::Identity(), Vector3f::Zero());
    EXPECT_NEAR(found.gap, -2, 1e-6);
    EXPECT_NEAR(found.normal.norm(), 1, 1e-6);
}

}  // namespace
}  // namespace pliant
